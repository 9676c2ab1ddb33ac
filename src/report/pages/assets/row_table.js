// The columns of a row with their cells, the scores of all methods, and where each cell lies in the background.
class RowTable {
  constructor(root) {
    this.sorted = data.methods.length ? 0 : null;  // by strength in this method; null: as in the table
    this.frame = el("div", {class: "table-frame row-frame", tabindex: 0, role: "region", "aria-label": "Columns"});
    this.said = el("span", {class: "faint", role: "status"});
    const copy = el(
        "button", {
          type: "button",
          id: "copy",
          onclick: async () => {
            await copyText(this.text());
            this.said.textContent = "Copied.";
          }
        },
        "Copy as tab-separated text");
    this.hasBackground = data.row.some((column) => column.background);
    root.append(this.frame, el("div", {class: "table-tools row-tools"}, copy, this.said));
    this.draw();
  }

  rows() {
    const {sorted} = this;
    if (sorted === null) return data.row;
    const weight = (column) => Math.abs(data.methods[sorted].scores[column.unit] ?? -0.5e-300);
    const missing = (column) => data.methods[sorted].scores[column.unit] === null;
    return [...data.row].sort((a, b) => missing(a) - missing(b) || weight(b) - weight(a) || a.unit - b.unit);
  }

  heading() {
    const head = (text, sorted) => el(
        "th", {scope: "col", "aria-sort": this.sorted === sorted ? "descending" : "none"},
        el("button", {
          type: "button",
          onclick: () => {
            this.sorted = sorted;
            this.draw();
          }
        },
           text + (this.sorted === sorted && sorted !== null ? " ↓" : "")));
    const cells =
        [head(unitName, null), el("th", {scope: "col"}, "value"), ...data.methods.map((method, i) => head(method.name, i))];
    if (this.hasBackground) cells.push(el("th", {scope: "col"}, "in the background"));
    return el("thead", {}, el("tr", {}, ...cells));
  }

  draw() {
    const axes = data.methods.map((method) => {
      const scores = data.row.map(({unit}) => method.scores[unit]);
      const errors = data.row.map(({unit}) => errorOf(method, {units: [unit]}));
      return barAxis(scores, 0, errors);
    });
    const body = el("tbody", {});
    for (const column of this.rows()) {
      const cells = data.methods.map((method, i) => RowTable.score(method, column, axes[i]));
      if (this.hasBackground) cells.push(el("td", {}, RowTable.background(column)));
      body.append(
          el("tr", {}, el("th", {scope: "row", title: column.name}, column.name), RowTable.cell(column), ...cells));
    }
    this.frame.replaceChildren(el("table", {class: "row-table"}, this.heading(), body));
  }

  static cell(column) {
    const name = "cell " + (column.missing ? "is-missing" : column.kind);
    return el("td", {class: name, title: `${column.cell} (${column.kind})`}, column.cell);
  }

  static score(method, column, axis) {
    const score = method.scores[column.unit], scale = method.scale_of_text.pieces;
    const error = errorOf(method, {units: [column.unit]});
    const track = scoreBar(score, axis, method, error);
    if (score === null) {
      track.classList.add("hatched");
      track.setAttribute("title", "no score by this method");
    }
    const said = formatScore(score, scale, method) + (score === null ? "" : formatError(error, scale));
    return el(
        "td", {},
        el("span", {class: "score-cell"}, track, el("span", {class: "number"}, said)));
  }

  // Numbers: the share of rows below, with a mark as wide as the share of equal ones. Words: their share.
  static background(column) {
    const {background} = column;
    if (!background) return "–";
    const number = column.kind === "number" && !column.missing;
    const mark = el("span", {class: number ? "place" : "share"});
    mark.style.left = number ? 100 * background.below + "%" : "0";
    mark.style.width = 100 * background.equal + "%";
    const track = el("span", {class: "background-track"}, mark);
    return el("span", {class: "background-cell"}, track, el("span", {class: "number faint"}, background.said));
  }

  // Full digits: what is pasted is what was computed.
  text() {
    const clean = (text) => text.replace(/[\t\n\r]/g, " ");
    const lines = [[unitName, "value", ...data.methods.map((method) => clean(method.name))]];
    for (const column of this.rows())
      lines.push([
        clean(column.name), clean(column.cell), ...data.methods.map((method) => method.scores[column.unit] ?? "NaN")
      ]);
    return lines.map((line) => line.join("\t")).join("\n") + "\n";
  }
}

// What a method says besides its scores.
function rowMethodCard(method) {
  const card = el("article", {class: "card method"}, el("h3", {}, method.name));
  if (method.info) card.append(el("p", {class: "info"}, method.info));
  if (method.estimate) {
    const box = el("div", {class: "estimate"}, el("p", {class: "small"}, method.estimate.line));
    if (method.estimate.waterfall?.steps.length) box.append(new Waterfall(method).node);
    if (method.estimate.interactions) box.append(interactionTable(method));
    card.append(box);
  }
  const trust = trustBox(method);
  if (trust) card.append(trust);
  if (method.notes.length) card.append(notesList(method.notes));
  return card;
}
