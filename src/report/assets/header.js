// The prediction, the labels, and the controls that apply to the whole page.
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

function headline() {
  const predicted = data.answers[0];
  const explainsPrediction = !predicted || predicted.target;
  const box = el("div", {});
  const main = predicted ?? data.target;
  box.append(
      el("p", {class: "eyebrow"},
         predicted ? (explainsPrediction ? "Predicted and explained" : "Predicted") :
                     `Explained ${data.space}`),
      el("h1", {}, main.label, el("span", {class: "percent number"}, formatAnswer(main))));
  if (!explainsPrediction) {
    box.append(
        el("p", {}, "Explained here: ", el("strong", {}, data.target.label),
           ` (${formatAnswer(data.target)}), which is not the prediction.`));
  }
  const count = data.pieces.length;
  box.append(
      el("p", {class: "facts"},
         `${data.model} · ${data.architecture} · ${count} token${count === 1 ? "" : "s"}`));
  if (data.notes.length) box.append(notesList(data.notes));
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

function drawHeader() {
  const card = el("div", {class: "card prediction"}, headline());
  if (data.answers.length) card.append(answerBars());
  document.getElementById("header").append(card);
  const toolbar = document.getElementById("toolbar");
  if (!data.methods.length) {
    toolbar.append(el("span", {class: "faint"}, "No method was run, so there are no scores to show."));
  } else {
    toolbar.append(
        switchOf("Units", "unit", [["pieces", "Tokens"], ["words", "Words"]]),
        choice(
            "Bars",
            [["strength", "strongest first"], ["score", "highest first"], ["position", "in text order"]],
            state.sort, (sort) => change({sort})));
  }
  if (data.pieces.some((piece) => piece.special)) {
    toolbar.append(choice(
        "Special tokens",
        [["show", "shown"], ["hide", "hidden, counted in the scale"], ["exclude", "left out of the scale"]],
        state.special, (special) => change({special})));
  }
}
