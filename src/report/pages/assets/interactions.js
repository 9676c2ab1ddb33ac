// Pairwise interactions: the lower triangle of a matrix, effects of tokens alone on its diagonal.
const kMostNumberedNames = 8;  // more cells are too narrow for numbers, which the pointer tells

function interactionTable(method) {
  const {names, values, scale} = method.estimate.interactions;
  const signed = {signed: true};
  const body = el("tbody", {});
  let next = 0;
  names.forEach((name, row) => {
    const line = el("tr", {}, el("th", {scope: "row"}, name));
    for (let column = 0; column <= row; ++column) {
      const value = values[next++];
      const said = formatScore(value, scale, signed);
      const pair = row === column ? `${name} alone` : `${names[column]} × ${name}`;
      const tell = (event) => {
        tip.replaceChildren(el("strong", {}, pair), el("span", {class: "number"}, "  " + said));
        placeTip(event.clientX, event.clientY);
      };
      const cell = el(
          "td", {
            class: "number heat",
            "aria-label": `${pair}: ${said}`,
            onpointerenter: tell,
            onpointermove: tell,
            onpointerleave: hideTip
          },
          names.length > kMostNumberedNames ? "" : shortNumber(value, scale));
      paint(cell, strength(value, scale), value < 0 ? "neg" : "pos");
      line.append(cell);
    }
    body.append(line);
  });
  const foot = el(
      "tfoot", {}, el("tr", {}, el("th", {}), ...names.map((name) => el("th", {scope: "col"}, el("span", {}, name)))));
  return el(
      "div", {class: "interactions"}, el("table", {"aria-label": `Interactions by ${method.name}`}, body, foot),
      el("p", {class: "small faint"}, "Diagonal: effect of a token alone. Elsewhere: interaction of a pair."));
}

// Two digits, and none where they would be too long for a cell.
function shortNumber(value, scale) {
  if (value === null || scale < 0.01 || scale >= 1000) return "";
  return value.toFixed(scale < 0.1 ? 3 : scale < 100 ? 2 : 1).replace(/^-(0\.0*)$/, "$1");
}
