// What readers of a page in the browser tests share: steps that are done one after the other, and what each found,
// written down at the end of the page.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const choose = (label, value) => {
  const select = document.querySelector(`select[aria-label="${label}"]`);
  select.value = value;
  select.dispatchEvent(new Event("change"));
};
// Attention is drawn when it comes into view, which takes a busy machine a while.
const isDrawn = () => typeof attention === "undefined" || !attention || document.querySelector("#attention canvas");
const readPage = (read, patience = 60) => {
  if (document.readyState !== "complete" || (!isDrawn() && patience > 0)) {
    setTimeout(() => readPage(read, patience - 1), 100);
    return;
  }
  const result = {};
  read((name, action) => {
    try {
      result[name] = action();
    } catch (error) {
      result[name] = String(error);
    }
  });
  document.body.append(el("pre", {id: "result"}, JSON.stringify(result)));
};
