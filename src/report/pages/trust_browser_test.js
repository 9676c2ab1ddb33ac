// Appended to the page of an explanation whose methods were measured: reads the verdicts and the curves as drawn.
readPage((step) => {
  const card = all(".method")[0];
  const points = (node) => node.getAttribute("points").split(" ").map((point) => point.split(",").map(Number));
  step("boxes", () => all(".trust").length);
  step("lines", () => all(".trust p", card).map((line) => line.textContent));
  step("plots", () => all(".trust-plot .title", card).map((title) => title.textContent));
  step("own curves", () => all(".trust-plot .own", card).map(points));
  step("bands", () => all(".trust-plot .band", card).map((band) => points(band).length));
  step("stays within its card", () => {
    const box = card.getBoundingClientRect();
    return all(".trust-plot", card).every((plot) => plot.getBoundingClientRect().right <= box.right + 1);
  });
  step("setting", () => document.body.textContent.includes("hiding by mask"));
});
