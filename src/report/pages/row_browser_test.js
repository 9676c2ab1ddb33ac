// Appended to the page of a row: sorts its table, points at the waterfall, and writes down what then stands there.
readPage((step) => {
  const names = () => all(".row-table tbody th").map((cell) => cell.textContent);
  const row = (name) => all(".row-table tbody tr").find((one) => one.firstElementChild.textContent === name);
  step("facts", () => document.querySelector(".facts").textContent);
  step("columns", names);
  step("cells", () => all(".row-table .cell").map((cell) => cell.textContent));
  step("missing", () => all(".row-table .is-missing").length);
  step("hatched", () => all(".row-table .hatched").length);
  step("age says", () => all("td .number", row("age")).map((said) => said.textContent));
  step("age lies at", () => row("age").querySelector(".place").style.left);
  step("town has", () => row("town").querySelector(".share").style.width);
  step("sorted by gae", () => {
    all(".row-table thead button")[2].click();
    return names();
  });
  step("as in the table", () => {
    all(".row-table thead button")[0].click();
    return names();
  });
  step("steps", () => all(".waterfall .step-name").map((name) => name.textContent));
  step("marks", () => all(".waterfall .mark-name").map((name) => name.textContent));
  step("step tells", () => {
    document.querySelector(".waterfall .step").dispatchEvent(new PointerEvent("pointerenter", {clientX: 9, clientY: 9}));
    return document.getElementById("tip").textContent;
  });
  step("fits", () => document.documentElement.scrollWidth <= window.innerWidth);
});
