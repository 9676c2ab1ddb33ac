// Runs at the end of a sample page: does what a reader does and writes down what then stands there.
const pointAt = (canvas, type, x, y) => {
  const box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(
      new PointerEvent(type, {bubbles: true, clientX: box.left + x, clientY: box.top + y}));
};
const rowsOfTokens = () => all(".tokens[data-method]");

const readScores = (step) => {
  step("cards", () => rowsOfTokens().length);
  step("tokens", () => all(".token", rowsOfTokens()[0]).length);
  step("hover lights", () => {
    all(".token", rowsOfTokens()[0])[3].dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
    return all(".token.lit").length;
  });
  step("hover tells", () => document.getElementById("tip").textContent);
  step("hover shows the tip", () => !document.getElementById("tip").hidden);
  step("arrow moves to", () => {
    all(".token", rowsOfTokens()[0])[0].focus();
    document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
    return document.activeElement.dataset.entry;
  });
  step("enter pins", () => {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
    return all(".token.pinned[data-entry='1']").length - all("#row .pinned[data-entry='1']").length;
  });
  step("words", () => {
    document.querySelector("button[data-value=words]").click();
    const count = all(".token", rowsOfTokens()[0]).length;
    document.querySelector("button[data-value=pieces]").click();
    return count;
  });
  step(
      "first bar",
      () => all(".bar-row", document.querySelector(".method")).map((row) => row.textContent)[0]);
  step("first bar in text order", () => {
    choose("Bars", "position");
    return all(".bar-row", document.querySelector(".method")).map((row) => row.textContent)[0];
  });
  step("table rows", () => {
    document.querySelector("details").open = true;
    document.querySelector("details").dispatchEvent(new Event("toggle"));
    return all("tbody tr").length;
  });
  step("largest of the first method", () => {
    all("thead button")[1].click();
    return document.querySelector("tbody td:nth-child(3)").textContent;
  });
};

const readMaps = (step) => {
  step("map hover tells", () => {
    choose("Layer", "1");
    choose("Head", "2");
    const view = attention.view;
    pointAt(view.canvas, "pointermove", view.left + 2.5 * view.cell, view.top + 1.5 * view.cell);
    return document.getElementById("tip").textContent;
  });
  step("map click chooses", () => {
    const view = attention.view;
    pointAt(view.canvas, "click", view.left + 2.5 * view.cell, view.top + 1.5 * view.cell);
    return document.querySelector("#row .pinned").textContent;
  });
  step("overview click chooses", () => {
    const {x, y} = attention.overview.boxOf({index: 0, head: 3});
    pointAt(attention.overview.canvas, "click", x + 5, y + 5);
    return [attention.chosen.index, attention.chosen.head];
  });
  step("slice", () => {
    choose("Slice", "A→B");
    return [attention.view.cut.rows.length, attention.view.cut.columns.length];
  });
  step("special tokens left", () => {
    choose("Special tokens", "exclude");
    return all(".token.special").length;
  });
};

readPage((step) => {
  readScores(step);
  readMaps(step);
});
