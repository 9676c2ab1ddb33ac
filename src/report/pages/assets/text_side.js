// The text that the picture was compared with, in the colours of every method.
function colouredText(method) {
  const line = el("div", {class: "tokens", dir: "auto"});
  const scale = method.scale.pieces;
  data.text_side.pieces.forEach((piece, unit) => {
    if (piece.special) return;
    const score = method.scores[unit];
    const span = el("span", {class: "token", title: `${piece.text}: ${formatScore(score, scale, method)}`}, piece.text);
    paint(span, strength(score, scale), hueClass(score, method));
    if (score === null) span.classList.add("broken");
    if (piece.gap) line.append(piece.gap);
    line.append(span);
    if (piece.after) line.append(el("span", {class: "faint"}, piece.after));
  });
  return line;
}

function drawTextSide(root) {
  if (!data.text_side) return;
  const card = el("div", {class: "card text-side"});
  data.text_side.methods.forEach(
      (method) => card.append(el("div", {class: "text-row"}, el("h3", {}, method.name), colouredText(method))));
  root.append(card);
}
