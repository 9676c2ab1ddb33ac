// The attention section: thumbnails of all layers and heads, one large map, one token's row as text.
class Overview {
  constructor(onPick) {
    this.canvas = el("canvas", { class: "clickable", role: "img", id: "overview", "aria-label": "All maps, one row per layer" });
    this.cells = maps.flatMap((map, index) => [...Array(map.heads).keys()].map((head) => ({ index, head })));
    this.heads = Math.max(...maps.map((map) => map.heads));
    this.canvas.addEventListener("click", (event) => { const cell = this.at(event); if (cell) onPick(cell.index, maps[cell.index].heads > 1 ? cell.head : -1); });
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", hideTip);
    this.pictures = new Map();
  }

  place() {
    const width = Math.max(200, this.canvas.parentElement.clientWidth);
    const perRow = this.heads > 1 ? this.heads : Math.min(this.cells.length, 4);
    this.margin = this.heads > 1 ? 26 : 0;
    this.pitch = Math.max(14, Math.min(110, (width - this.margin) / perRow));
    this.perRow = perRow;
    this.size = this.pitch - (this.pitch > 30 ? 5 : 2);
    const rows = this.heads > 1 ? maps.length : Math.ceil(this.cells.length / perRow);
    this.headRoom = 18;
    this.rowPitch = this.pitch + (this.heads > 1 ? 0 : 18);  // single maps carry their layer above
    this.width = this.margin + perRow * this.pitch;
    this.height = this.headRoom + rows * this.rowPitch;
  }

  boxOf(cell) {
    const column = this.heads > 1 ? cell.head : cell.index % this.perRow;
    const row = this.heads > 1 ? cell.index : Math.floor(cell.index / this.perRow);
    return { x: this.margin + column * this.pitch, y: this.headRoom + row * this.rowPitch };
  }

  draw(chosen) {
    this.place();
    this.chosen = chosen;
    this.context = sizedContext(this.canvas, this.width, this.height);
    this.labels();
    this.cells.forEach((cell) => this.thumbnail(cell));
    this.cells.filter((cell) => cell.index === chosen.index && (chosen.head < 0 || cell.head === chosen.head)).forEach((cell) => this.frame(cell));
  }

  labels() {
    this.context.font = "11px system-ui, sans-serif";
    this.context.fillStyle = palette().faint;
    this.context.textBaseline = "middle";
    if (this.heads < 2) {
      this.context.textAlign = "left";
      this.cells.forEach((cell) => { const { x, y } = this.boxOf(cell); this.context.fillText(`layer ${maps[cell.index].layer}`, x, y - 9); });
      return;
    }
    this.context.textAlign = "right";
    maps.forEach((map, index) => this.context.fillText(String(map.layer), this.margin - 6, this.headRoom + index * this.pitch + this.size / 2));
    this.context.textAlign = "center";
    const step = Math.ceil(18 / this.pitch);
    for (let head = 0; head < this.heads; head += step) this.context.fillText(String(head), this.margin + head * this.pitch + this.size / 2, 8);
  }

  thumbnail(cell) {
    const key = `${cell.index}/${cell.head}`;
    if (!this.pictures.has(key)) {
      const map = maps[cell.index];
      const pixels = Math.ceil(this.size * (window.devicePixelRatio || 1));
      const small = shrunk(weightsOf(cell.index, cell.head), map.keys, map.queries, pixels);
      this.pictures.set(key, cellPicture(small.cells, small.width, small.height, largestWeight(small.cells)));
    }
    const { x, y } = this.boxOf(cell);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.pictures.get(key), x, y, this.size, this.size);
  }

  frame(cell) {
    const { x, y } = this.boxOf(cell);
    this.context.strokeStyle = palette().negative;
    this.context.lineWidth = 2;
    this.context.strokeRect(x - 1, y - 1, this.size + 2, this.size + 2);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    return this.cells.find((cell) => { const at = this.boxOf(cell); return x >= at.x && x < at.x + this.pitch && y >= at.y && y < at.y + this.pitch; });
  }

  hover(event) {
    const cell = this.at(event);
    if (!cell) return hideTip();
    const map = maps[cell.index];
    tip.replaceChildren(el("strong", {}, map.heads > 1 ? `layer ${map.layer}, head ${cell.head}` : `layer ${map.layer}, mean over heads`), el("div", { class: "faint" }, map.name));
    return placeTip(event.clientX, event.clientY);
  }
}

class AttentionSection {
  constructor(root) {
    this.chosen = { index: maps.length - 1, head: -1, slice: "all", query: 0, direction: "row" };
    this.overview = new Overview((index, head) => this.choose({ index, head }));
    this.view = new MapView((hit, event) => this.tell(hit, event), (hit) => this.choose({ query: hit.query }));
    this.controls = el("div", { class: "controls" });
    this.scale = el("div", { class: "scale-line number" });
    this.row = el("div", { class: "tokens", dir: "auto", role: "listbox", id: "row", "aria-label": "One token's attention; click a token to choose it" });
    this.rowSaid = el("p", { class: "row-words small", id: "row-words", role: "status" });
    this.rowControls = el("div", { class: "controls" }, choice("Shown", [["row", "what the token attends to"], ["column", "what attends to the token"]], "row", (direction) => this.choose({ direction })));
    root.append(el("h2", {}, "Attention"), this.body());
    this.row.addEventListener("click", (event) => { const node = event.target.closest("[data-entry]"); if (node) this.choose({ query: Number(node.dataset.entry) }); });
    this.row.addEventListener("keydown", (event) => this.key(event));
  }

  body() {
    const body = el("div", { class: "attention" });
    const note = data.attention.note ? el("p", { class: "small faint wide", id: "attention-note" }, data.attention.note) : "";
    const many = this.overview.cells.length > 1;
    if (many) body.append(el("div", { class: "card" }, el("h3", {}, this.overview.heads > 1 ? "Layers (down) and heads (across)" : "Layers"), el("p", { class: "small faint" }, "Each on its own scale; choose one."), this.overview.canvas));
    body.append(el("div", { class: many ? "card" : "card wide" }, this.controls, el("div", {}, this.view.canvas), this.scale));
    if (fitsUnits(maps[0].queries) && fitsUnits(maps[0].keys)) body.append(el("div", { class: "card wide" }, this.rowControls, this.row, this.rowSaid));
    if (note) body.append(note);
    return body;
  }

  drawControls() {
    const { index, head, slice } = this.chosen;
    const map = maps[index];
    const heads = map.heads > 1 ? [["-1", "mean over heads"], ...[...Array(map.heads).keys()].map((h) => [String(h), `head ${h}`])] : [["-1", data.attention.averaged ? "mean over heads" : "only head"]];
    this.controls.replaceChildren(
      choice("Layer", maps.map((m, i) => [String(i), `${m.layer}`]), String(index), (value) => this.choose({ index: Number(value) })),
      choice("Head", heads, String(head), (value) => this.choose({ head: Number(value) })));
    if (data.pair) this.controls.append(choice("Slice", Object.keys(kSlices).map((name) => [name, name === "all" ? "all" : name]), slice, (value) => this.choose({ slice: value })));
  }

  choose(update) {
    Object.assign(this.chosen, update);
    if (this.chosen.head >= maps[this.chosen.index].heads) this.chosen.head = -1;
    this.draw();
  }

  draw() {
    const { index, head, slice } = this.chosen;
    const map = maps[index];
    this.weights = weightsOf(index, head);
    this.drawControls();
    const title = `layer ${map.layer}, ${head < 0 ? "mean over heads" : "head " + head}`;
    const cut = cutMap(index, this.weights, slice);
    this.view.draw(cut, map, `Attention map of ${title}: queries down, keys across, largest weight ${cut.top.toFixed(4)}`);
    if (this.overview.cells.length > 1) this.overview.draw(this.chosen);
    this.drawScale(cut.top);
    this.drawRow();
  }

  drawScale(top) {
    const ramp = el("canvas", { width: 256, height: 1 });
    ramp.getContext("2d").drawImage(cellPicture(Float32Array.from({ length: 256 }, (_, i) => (i / 255) ** 2), 256, 1, 1), 0, 0);
    const map = maps[this.chosen.index];
    const precision = weightError(map, map.top);
    const said = precision < 5e-5 ? "" : ` · weights are stored in 8 bits: exact to ${precision.toFixed(4)} or better`;
    this.scale.replaceChildren("0", ramp, top.toFixed(4), el("span", {}, ` colour follows the square root${said}`));
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
      el("strong", {}, tokenName(map.queries, hit.query)), " → ", el("strong", {}, tokenName(map.keys, hit.key)),
      el("div", { class: "number" }, this.sayWeight(this.weightBetween(hit.query, hit.key))),
      el("div", { class: "faint" }, `query ${hit.query}, key ${hit.key}`));
    return placeTip(event.clientX, event.clientY);
  }

  drawRow() {
    const { query, direction } = this.chosen;
    if (!this.row.isConnected) return;
    const list = entryLists.pieces;
    const weights = list.map((_, i) => (direction === "row" ? this.weightBetween(query, i) : this.weightBetween(i, query)));
    const spans = layTokens(this.row, list);
    const top = Math.max(...weights.filter((weight, i) => !Number.isNaN(weight) && (state.special === "hide" || spans[i])), 0);
    spans.forEach((span, i) => {
      if (!span) return;
      paint(span, attentionShare(weights[i], top), "att");
      span.setAttribute("aria-label", `${list[i].text}: ${this.sayWeight(weights[i])}`);
      span.classList.toggle("pinned", i === query);
      span.setAttribute("aria-selected", i === query);
    });
    const best = [...weights.keys()].filter((i) => spans[i] && weights[i] > 0).sort((a, b) => weights[b] - weights[a]).slice(0, 5);
    const verb = direction === "row" ? "attends most to" : "is attended to most by";
    this.rowSaid.replaceChildren(el("strong", {}, list[query].text), ` ${verb} `, ...best.flatMap((i, n) => [n ? ", " : "", el("strong", {}, list[i].text), ` ${this.sayWeight(weights[i])}`]));
  }

  key(event) {
    const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 };
    const spans = [...this.row.querySelectorAll(".token")];
    const next = event.key in moves ? spans[spans.indexOf(event.target) + moves[event.key]] : null;
    if (!next) return;
    event.preventDefault();
    this.choose({ query: Number(next.dataset.entry) });
    this.row.querySelector(".pinned")?.focus();
  }
}
