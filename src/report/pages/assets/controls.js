// Labels with their bars, and controls, as every page has them.
function formatAnswer(answer) {
  if (answer.probability !== null) return (100 * answer.probability).toFixed(1) + " %";
  return answer.value === null ? "not a number" : String(Number(answer.value.toPrecision(4)));
}

function answerRow(answer, widest) {
  const size = answer.probability ?? (widest > 0 ? Math.abs(answer.value ?? 0) / widest : 0);
  const bar = el("span", {class: "bar " + (answer.value < 0 && answer.probability === null ? "neg" : "pos")});
  bar.style.left = "0";
  bar.style.width = 100 * size + "%";
  if (!answer.target) bar.style.opacity = "0.45";
  const label =
      el("span", {class: "bar-label", title: answer.label}, (answer.target ? "▸ " : "") + answer.label);
  const value = el("span", {class: "bar-value number"}, formatAnswer(answer));
  return el(
      "div", {class: answer.target ? "bar-row target" : "bar-row", role: "listitem"}, label,
      el("span", {class: "bar-track"}, bar), value);
}

function answerBars() {
  const widest = Math.max(...data.answers.map((answer) => Math.abs(answer.value ?? 0)));
  const bars = el("div", {class: "bars", role: "list", "aria-label": "Labels"});
  data.answers.forEach((answer) => bars.append(answerRow(answer, widest)));
  const box = el("div", {}, bars);
  const more = data.label_count - data.answers.length;
  if (more > 0) box.append(el("p", {class: "more"}, `and ${more} more labels`));
  return box;
}

function notesList(notes) {
  return el("ul", {class: "notes"}, ...notes.map((note) => el("li", {}, note)));
}

function switchOf(name, key, choices) {
  const box = el("span", {class: "switch", role: "group", "aria-label": name});
  for (const [value, text] of choices) {
    box.append(
        el("button", {
          type: "button",
          "data-value": value,
          "aria-pressed": state[key] === value,
          onclick: () => change({[key]: value})
        },
           text));
  }
  onChange(
      () => box.querySelectorAll("button").forEach(
          (button) => button.setAttribute("aria-pressed", state[key] === button.dataset.value)));
  return el("label", {}, name, box);
}

function choice(name, options, selected, onchange) {
  const select = el("select", {"aria-label": name, onchange: () => onchange(select.value)});
  for (const [value, text] of options) select.append(el("option", {value}, text));
  select.value = selected;
  return el("label", {}, name, select);
}
