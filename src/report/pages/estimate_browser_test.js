// Appended to the page of methods that hide tokens: points at force bars and pairs, and writes down what then
// stands there.
readPage((step) => {
  const pointAt = (node) => {
    node.dispatchEvent(new PointerEvent("pointerenter", {clientX: 50, clientY: 50}));
    return document.getElementById("tip").textContent;
  };
  const card = all(".method")[0];
  step("force bars", () => all(".force").length);
  step("lines", () => all(".estimate > p").map((line) => line.textContent));
  step("segments", () => all(".segment", card).map((segment) => ({
    unit: Number(segment.dataset.unit),
    x: Number(segment.getAttribute("x")),
    width: Number(segment.getAttribute("width"))
  })));
  step("marks", () => all(".mark", card).map((mark) => Number(mark.getAttribute("x1"))));
  step("mark names", () => all(".mark-name", card).map((name) => name.textContent));
  step("fills its card", () => {
    const drawn = card.querySelector(".force");
    return Number(drawn.querySelector(".axis").getAttribute("x2")) / drawn.getBoundingClientRect().width;
  });
  step("segment tells", () => pointAt(all(".segment", card)[0]));
  step("bar values", () => all(".bar-value", card).map((value) => value.textContent));
  step("whiskers", () => all(".whisker", card).length);
  step("widest whisker ends within its track", () => {
    const track = (node) => node.parentElement.getBoundingClientRect();
    return all(".whisker", card).every((node) => {
      const box = node.getBoundingClientRect();
      return box.left >= track(node).left - 1 && box.right <= track(node).right + 1;
    });
  });
  step("cells", () => all(".interactions td").length);
  step("first cell tells", () => pointAt(all(".interactions td")[1]));
});
