// The text as coloured tokens: one card per method, and the row of an attention map.
const kManyEntries = 220;  // beyond these the text scrolls inside its card

// Fills `box` with one span per entry; spans know their entry by data-entry.
function layTokens(box, list) {
  const nodes = document.createDocumentFragment();
  const spans = [];
  let segment = null;
  list.forEach((entry, index) => {
    if (!isShown(entry)) {
      spans.push(null);
      return;
    }
    if (segment !== null && entry.segment !== segment) nodes.append(el("span", {class: "segment-break"}));
    segment = entry.segment;
    if (entry.gap) nodes.append(entry.gap);
    const span = el(
        "span",
        {class: entry.special ? "token special" : "token", "data-entry": index, tabindex: -1, role: "option"},
        entry.text);
    spans.push(span);
    nodes.append(span);
    if (entry.after) nodes.append(el("span", {class: "faint"}, entry.after));
  });
  box.replaceChildren(nodes);
  box.classList.toggle("scrolls", list.length > kManyEntries);
  const first = spans.find((span) => span);
  if (first) first.tabIndex = 0;
  return spans;
}

function legend(method) {
  const scale = scaleOf(method);
  if (!(scale > 0)) {
    const broken = method.scores.some((score) => score === null);
    return el("p", {class: "small faint"}, broken ? "The scores are not a number." : "All scores are zero.");
  }
  const ends = method.signed ?
      [
        `${formatScore(-scale, scale, method)} against`, `for the target ${formatScore(scale, scale, method)}`
      ] :
      ["0", formatScore(scale, scale, method)];
  const ramp = el("span", {class: "legend-ramp " + (method.signed ? "diverging" : "sequential")});
  return el("div", {class: "legend number"}, el("span", {}, ends[0]), ramp, el("span", {}, ends[1]));
}

class MethodCard {
  constructor(method, index) {
    this.method = method;
    this.tokens = el("div", {
      class: "tokens",
      dir: "auto",
      role: "listbox",
      "aria-label": `Scores by ${method.name}; arrow keys move`,
      "data-method": index
    });
    this.legend = el("div", {});
    this.bars = el("div", {});
    const head = el("div", {}, el("h3", {}, method.name));
    if (method.info) head.append(el("p", {class: "info"}, method.info));
    this.node = el("article", {class: "card method"}, head, this.tokens, this.legend);
    if (method.estimate) this.node.append(estimateBox(method));
    this.node.append(this.bars);
    const trust = trustBox(method);
    if (trust) this.node.append(trust);
    if (method.notes.length) this.node.append(notesList(method.notes));
    this.draw();
  }

  draw() {
    const method = this.method;
    const scale = scaleOf(method);
    this.spans = layTokens(this.tokens, entries());
    this.spans.forEach((span, index) => {
      if (!span) return;
      const entry = entries()[index];
      const score = scoreOf(method, entry);
      paint(span, strength(score, scale), hueClass(score, method));
      if (score === null) span.classList.add("broken");
      span.setAttribute("aria-label", `${entry.text}: ${formatScore(score, scale, method)}`);
    });
    this.legend.replaceChildren(legend(method));
    this.rows = drawBars(this.bars, method);
  }

  light(index, on) {
    this.spans[index]?.classList.toggle("lit", on);
    this.rows.get(wordOfUnit[entries()[index].units[0]])?.classList.toggle("lit", on);
  }
}
