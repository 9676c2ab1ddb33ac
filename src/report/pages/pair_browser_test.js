// Runs at the end of a sample page of a picture with a text, and writes down what stands there.
readPage((step) => {
  step("texts", () => all(".text-side .tokens").map((line) => line.textContent));
  step("names", () => all(".text-side h3").map((name) => name.textContent));
  step("strongest word", () => {
    const tokens = all(".token", document.querySelector(".text-side .tokens"));
    const share = (token) => parseFloat(token.style.getPropertyValue("--share"));
    return tokens.reduce((best, token) => (share(token) > share(best) ? token : best)).textContent;
  });
  step("says a score", () => document.querySelector(".text-side .token:nth-of-type(2)").title);
  step("text is above the picture", () => {
    const text = document.querySelector(".text-side").getBoundingClientRect();
    return text.bottom <= document.querySelector(".picture-grid").getBoundingClientRect().top;
  });
  step("panels", () => all(".picture-grid .panel-frame").length);
  step("eyebrow", () => document.querySelector(".eyebrow").textContent);
  step("class token attends", () => document.getElementById("row-words").textContent);
});
