// The prediction, the labels, and the controls that apply to the whole page.
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
  const count = (data.row ?? data.pieces).length;
  box.append(
      el("p", {class: "facts"},
         [data.model, data.architecture, `${count} ${unitName}${count === 1 ? "" : "s"}`].filter(Boolean).join(" · ")));
  if (data.notes.length) box.append(notesList(data.notes));
  return box;
}

function drawHeader() {
  const card = el("div", {class: "card prediction"}, headline());
  if (data.answers.length) card.append(answerBars());
  document.getElementById("header").append(card);
  const toolbar = document.getElementById("toolbar");
  if (!data.methods.length) {
    toolbar.append(el("span", {class: "faint"}, "No method was run, so there are no scores to show."));
  } else if (!data.row) {
    toolbar.append(
        switchOf("Units", "unit", [["pieces", "Tokens"], ["words", "Words"]]),
        choice(
            "Bars",
            [["strength", "strongest first"], ["score", "highest first"], ["position", "in text order"]],
            state.sort, (sort) => change({sort})));
  }
  if (data.pieces.some((piece) => piece.special) && (!data.row || data.attention.maps.length)) {
    toolbar.append(choice(
        "Special tokens",
        [["show", "shown"], ["hide", "hidden, counted in the scale"], ["exclude", "left out of the scale"]],
        state.special, (special) => change({special})));
  }
}
