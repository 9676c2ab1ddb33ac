// The attention section: all maps small, one large, and one token's row as text.
class AttentionSection {
  constructor(root) {
    this.chosen = {index: maps.length - 1, head: -1, slice: "all", query: 0, direction: "row"};
    this.overview = new Overview((index, head) => this.choose({index, head}));
    this.view = new MapView((hit, event) => this.tell(hit, event), (hit) => this.choose({query: hit.query}));
    this.controls = el("div", {class: "controls"});
    this.scale = el("div", {class: "scale-line number"});
    this.row = el("div", {
      class: "tokens",
      dir: "auto",
      role: "listbox",
      id: "row",
      "aria-label": `One ${unitName}'s attention; click a ${unitName} to choose it`
    });
    this.rowSaid = el("p", {class: "row-words small", id: "row-words", role: "status"});
    this.rowControls =
        el("div", {class: "controls"},
           choice(
               "Shown", [["row", `what the ${unitName} attends to`], ["column", `what attends to the ${unitName}`]],
               "row", (direction) => this.choose({direction})));
    root.append(el("h2", {}, "Attention"), this.body());
    this.row.addEventListener("click", (event) => {
      const node = event.target.closest("[data-entry]");
      if (node) this.choose({query: Number(node.dataset.entry)});
    });
    this.row.addEventListener("keydown", (event) => this.key(event));
  }

  body() {
    const body = el("div", {class: "attention"});
    const note = data.attention.note ?
        el("p", {class: "small faint wide", id: "attention-note"}, data.attention.note) :
        "";
    const many = this.overview.cells.length > 1;
    if (many)
      body.append(
          el("div", {class: "card"},
             el("h3", {}, this.overview.heads > 1 ? "Layers (down) and heads (across)" : "Layers"),
             el("p", {class: "small faint"}, "Each on its own scale; choose one."),
             el("div", {}, this.overview.canvas)));
    body.append(
        el("div", {class: many ? "card" : "card wide"}, this.controls, el("div", {}, this.view.canvas),
           this.scale));
    if (fitsUnits(maps[0].queries) && fitsUnits(maps[0].keys))
      body.append(el("div", {class: "card wide"}, this.rowControls, this.row, this.rowSaid));
    if (note) body.append(note);
    return body;
  }

  // The selects stay the same elements, so that the keyboard's focus stays on them.
  drawControls() {
    const {index, head, slice} = this.chosen;
    const map = maps[index];
    const heads = [["-1", map.heads > 1 || data.attention.averaged ? "mean over heads" : "only head"]];
    if (map.heads > 1)
      for (let h = 0; h < map.heads; ++h) heads.push([String(h), `head ${h}`]);
    if (!this.controls.firstChild) this.addControls();
    const [layerSelect, headSelect, sliceSelect] = this.controls.querySelectorAll("select");
    if (headSelect.options.length !== heads.length) {
      headSelect.replaceChildren(...heads.map(([value, text]) => el("option", {value}, text)));
    }
    layerSelect.value = String(index);
    headSelect.value = String(head);
    if (sliceSelect) sliceSelect.value = slice;
  }

  addControls() {
    const layers = maps.map((map, index) => [String(index), String(map.layer)]);
    this.controls.append(
        choice("Layer", layers, "0", (value) => this.choose({index: Number(value)})),
        choice("Head", [], "-1", (value) => this.choose({head: Number(value)})));
    if (!data.pair) return;
    const slices = Object.keys(kSlices).map((name) => [name, name]);
    this.controls.append(choice("Slice", slices, "all", (value) => this.choose({slice: value})));
  }

  choose(update) {
    Object.assign(this.chosen, update);
    if (this.chosen.head >= maps[this.chosen.index].heads) this.chosen.head = -1;
    this.draw();
  }

  draw() {
    const {index, head, slice} = this.chosen;
    const map = maps[index];
    this.weights = weightsOf(index, head);
    this.drawControls();
    const title = `layer ${map.layer}, ${head < 0 ? "mean over heads" : "head " + head}`;
    const cut = cutMap(index, this.weights, slice);
    this.view.draw(
        cut, map,
        `Attention map of ${title}: queries down, keys across, largest weight ${cut.top.toFixed(4)}`);
    if (this.overview.cells.length > 1) this.overview.draw(this.chosen);
    this.drawScale(cut.top);
    this.drawRow();
  }

  drawScale(top) {
    const ramp = el("canvas", {width: 256, height: 1});
    ramp.getContext("2d").drawImage(
        cellPicture(Float32Array.from({length: 256}, (_, i) => (i / 255) ** 2), 256, 1, 1), 0, 0);
    const map = maps[this.chosen.index];
    const precision = weightError(map, map.top);
    const said =
        precision < 5e-5 ? "" : ` · weights are stored in 8 bits: exact to ${precision.toFixed(4)} or better`;
    this.scale.replaceChildren(
        "0", ramp, top.toFixed(4), el("span", {}, ` colour follows the square root${said}`));
  }

  weightBetween(query, key) {
    return this.weights[query * maps[this.chosen.index].keys + key];
  }

  sayWeight(weight) {
    if (Number.isNaN(weight)) return "not a number";
    const error = weightError(maps[this.chosen.index], weight);
    return weight.toFixed(4) + (error < 5e-5 ? "" : ` ± ${error.toFixed(4)}`);
  }

  tell(hit, event) {
    if (!hit) return hideTip();
    const map = maps[this.chosen.index];
    tip.replaceChildren(
        el("strong", {}, tokenName(map.queries, hit.query)), " → ",
        el("strong", {}, tokenName(map.keys, hit.key)),
        el("div", {class: "number"}, this.sayWeight(this.weightBetween(hit.query, hit.key))),
        el("div", {class: "faint"}, `query ${hit.query}, key ${hit.key}`));
    return placeTip(event.clientX, event.clientY);
  }

  drawRow() {
    const {query, direction} = this.chosen;
    if (!this.row.isConnected) return;
    const list = entryLists.pieces.slice(0, maps[this.chosen.index].keys);
    const weights = list.map(
        (_, i) => (direction === "row" ? this.weightBetween(query, i) : this.weightBetween(i, query)));
    const spans = layTokens(this.row, list);
    const top = Math.max(
        ...weights.filter((weight, i) => !Number.isNaN(weight) && (state.special === "hide" || spans[i])), 0);
    spans.forEach((span, i) => {
      if (!span) return;
      paint(span, attentionShare(weights[i], top), "att");
      span.setAttribute("aria-label", `${list[i].text}: ${this.sayWeight(weights[i])}`);
      span.classList.toggle("pinned", i === query);
      span.setAttribute("aria-selected", i === query);
    });
    const best = [...weights.keys()]
                     .filter((i) => spans[i] && weights[i] > 0)
                     .sort((a, b) => weights[b] - weights[a])
                     .slice(0, 5);
    const verb = direction === "row" ? "attends most to" : "is attended to most by";
    this.rowSaid.replaceChildren(
        el("strong", {}, list[query].text), ` ${verb} `,
        ...best.flatMap(
            (i, n) => [n ? ", " : "", el("strong", {}, list[i].text), ` ${this.sayWeight(weights[i])}`]));
  }

  key(event) {
    const moves = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1};
    const spans = [...this.row.querySelectorAll(".token")];
    const next = event.key in moves ? spans[spans.indexOf(event.target) + moves[event.key]] : null;
    if (!next) return;
    event.preventDefault();
    this.choose({query: Number(next.dataset.entry)});
    this.row.querySelector(".pinned")?.focus();
  }
}
