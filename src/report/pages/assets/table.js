async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// All scores, tokens by methods: built when opened, sortable, copyable.
class ScoreTable {
  constructor(root) {
    this.order = {column: null, descending: true};
    this.frame = el("div", {class: "table-frame", tabindex: 0, role: "region", "aria-label": "All scores"});
    this.said = el("span", {class: "faint", role: "status"});
    const copy =
        el("button", {type: "button", id: "copy", onclick: () => this.copy()}, "Copy as tab-separated text");
    this.details =
        el("details", {ontoggle: () => this.draw()}, el("summary", {}, "All scores"),
           el("div", {class: "table-tools"}, copy, this.said), this.frame);
    root.append(this.details);
    onChange(() => this.draw());
  }

  rows() {
    const rows = entries()
                     .map(
                         (entry, index) =>
                             ({entry, index, scores: data.methods.map((method) => scoreOf(method, entry))}))
                     .filter(({entry}) => isShown(entry));
    const {column, descending} = this.order;
    if (column !== null) {
      const sign = descending ? -1 : 1;
      rows.sort(
          (a, b) => sign * ((a.scores[column] ?? -Infinity) - (b.scores[column] ?? -Infinity)) ||
              a.index - b.index);
    }
    return rows;
  }

  heading() {
    const sortBy = (column) => {
      this.order = {column, descending: this.order.column === column ? !this.order.descending : true};
      this.draw();
    };
    const head = (text, column) => {
      const sorted = this.order.column === column && column !== null;
      const arrow = sorted ? (this.order.descending ? " ↓" : " ↑") : "";
      return el(
          "th",
          {scope: "col", "aria-sort": sorted ? (this.order.descending ? "descending" : "ascending") : "none"},
          el("button", {type: "button", onclick: () => sortBy(column)}, text + arrow));
    };
    return el(
        "thead", {},
        el("tr", {}, head("#", null), el("th", {}, state.unit === "words" ? "word" : "token"),
           ...data.methods.map((method, column) => head(method.name, column))));
  }

  draw() {
    if (!this.details.open) return;
    const body = el("tbody", {});
    for (const {entry, scores} of this.rows()) {
      const row =
          el("tr", {}, el("td", {class: "number faint"}, String(entry.units[0])),
             el("td", {class: entry.special ? "special-name" : ""}, entry.text));
      data.methods.forEach((method, column) => {
        const score = scores[column];
        const cell = el(
            "td", {class: "number heat"},
            formatScore(score, scaleOf(method), method) + formatError(errorOf(method, entry), scaleOf(method)));
        paint(cell, 0.75 * strength(score, scaleOf(method)), hueClass(score, method));
        row.append(cell);
      });
      body.append(row);
    }
    this.frame.replaceChildren(el("table", {}, this.heading(), body));
  }

  // Full digits: what is pasted is what was computed.
  text() {
    const clean = (text) => text.replace(/[\t\n\r]/g, " ");
    const lines = [[
      "index", state.unit === "words" ? "word" : "token", ...data.methods.map((method) => clean(method.name))
    ]];
    for (const {entry, scores} of this.rows()) {
      lines.push([entry.units[0], clean(entry.text), ...scores.map((score) => score ?? "NaN")]);
    }
    return lines.map((line) => line.join("\t")).join("\n") + "\n";
  }

  async copy() {
    await copyText(this.text());
    this.said.textContent = "Copied.";
  }
}
