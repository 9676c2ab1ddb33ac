// What one token attends to, over the picture: one layer and head large, the layer's heads small.
const kThumbnailSide = 128;

class PictureAttention {
  constructor(root, inspector) {
    this.reader = data.pieces.findIndex((piece) => piece.special);
    this.chosen = {index: maps.length - 1, head: -1, patch: null};
    this.panel = new Panel("Attention over the picture; arrow keys move, Enter or a click chooses", kPanelSide);
    this.panel.frame.id = "attention-panel";
    inspector.watch(this.panel);
    inspector.onPin = (patch) => this.choose({patch});
    this.inspector = inspector;
    this.thumbnails = el("div", {class: "thumbnails"});
    this.said = el("p", {class: "small", id: "row-words", role: "status"});
    this.controls = el("div", {class: "controls"});
    root.append(el("h2", {}, "Attention"), this.body());
    this.addControls();
  }

  body() {
    const body = el(
        "div", {class: "attention"},
        el("div", {class: "card"}, this.controls, this.panel.node, this.said,
           el("p", {class: "small faint"},
              "Click a patch, here or above, to see what it attends to; click it again to return.")),
        el("div", {class: "card"}, this.thumbnailTitle = el("h3", {}), this.thumbnails));
    if (data.attention.note)
      body.append(el("p", {class: "small faint wide", id: "attention-note"}, data.attention.note));
    return body;
  }

  addControls() {
    const layers = maps.map((map, index) => [String(index), String(map.layer)]);
    this.controls.append(
        choice("Layer", layers, String(this.chosen.index), (value) => this.choose({index: Number(value)})),
        choice("Head", [], "-1", (value) => this.choose({head: Number(value)})));
    this.back = el(
        "button", {type: "button", onclick: () => this.inspector.pin(this.inspector.pinned)}, this.wholeName());
    this.controls.append(this.back);
  }

  wholeName() {
    return this.reader < 0 ? "all patches" : data.pieces[this.reader].text;
  }

  choose(update) {
    Object.assign(this.chosen, update);
    if (this.chosen.head >= maps[this.chosen.index].heads) this.chosen.head = -1;
    this.draw();
  }

  // The row of the map that stands for the chosen patch, or for the read-out token.
  rowIndex() {
    const {block, block_columns: across} = data.attention;
    const {patch} = this.chosen;
    if (patch === null) return this.reader < picture.first ? this.reader : this.rowAfterPatches();
    const row = Math.floor(Math.floor(patch / picture.columns) / block);
    return picture.first + row * across + Math.floor((patch % picture.columns) / block);
  }

  rowAfterPatches() {
    return this.reader - kPatches + data.attention.block_rows * data.attention.block_columns;
  }

  // Weights over all units; the mean over all patches where no token stands for the picture.
  row(head) {
    const {keys, queries} = maps[this.chosen.index];
    const weights = weightsOf(this.chosen.index, head);
    if (this.chosen.patch !== null || this.reader >= 0) {
      const first = this.rowIndex() * keys;
      return weights.subarray(first, first + keys);
    }
    return this.meanRow(weights, queries, keys);
  }

  // Blocks at the edge stand for fewer patches.
  meanRow(weights, queries, keys) {
    const {block, block_columns: across} = data.attention;
    const mean = new Float32Array(keys);
    for (let query = 0; query < queries; ++query) {
      const at = query - picture.first;
      const height = Math.min(block, picture.rows - Math.floor(at / across) * block);
      const width = Math.min(block, picture.columns - (at % across) * block);
      const share = (height * width) / kPatches;
      for (let key = 0; key < keys; ++key) mean[key] += share * weights[query * keys + key];
    }
    return mean;
  }

  heat(row, base) {
    const patches = Array.from(row.subarray(picture.first, picture.first + kPatches), (weight) => weight || 0);
    return heatOf(patches, picture, base.size, false, state.grain);
  }

  draw() {
    const {index, head, patch} = this.chosen;
    const map = maps[index];
    this.drawControls(map);
    const row = this.row(head);
    const heat = this.heat(row, this.panel.base);
    this.panel.heat(heat, state.opacity, state.segment);
    this.panel.scale(heat, {signed: false}, state.opacity);
    this.back.disabled = patch === null;
    this.say(row);
    this.drawThumbnails(map);
  }

  drawControls(map) {
    const heads = [["-1", map.heads > 1 || data.attention.averaged ? "mean over heads" : "only head"]];
    if (map.heads > 1)
      for (let h = 0; h < map.heads; ++h) heads.push([String(h), `head ${h}`]);
    const [layerSelect, headSelect] = this.controls.querySelectorAll("select");
    if (headSelect.options.length !== heads.length)
      headSelect.replaceChildren(...heads.map(([value, text]) => el("option", {value}, text)));
    layerSelect.value = String(this.chosen.index);
    headSelect.value = String(this.chosen.head);
  }

  say(row) {
    const {patch} = this.chosen;
    const name = patch === null ? this.wholeName() : data.pieces[unitOfPatch(patch)].text;
    const best = [...row.keys()].filter((i) => row[i] > 0).sort((a, b) => row[b] - row[a]).slice(0, 5);
    this.said.replaceChildren(
        el("strong", {}, name), patch === null && this.reader < 0 ? " attend most to " : " attends most to ",
        ...best.flatMap((unit, n) => [n ? "; " : "", el("strong", {}, data.pieces[unit].text), ` ${row[unit].toFixed(4)}`]));
  }

  // Buttons stay the same elements, so that the keyboard's focus stays on them.
  drawThumbnails(map) {
    const heads = map.heads > 1 ? [...Array(map.heads).keys()] : [-1];
    this.thumbnailTitle.textContent = map.heads > 1 ? `Heads of layer ${map.layer}` : `Layer ${map.layer}`;
    if (this.thumbnails.children.length !== heads.length) {
      this.small = heads.map((head) => this.thumbnail(head));
      this.thumbnails.replaceChildren(...this.small.map(({button}) => button));
    }
    const base = baseOf(kThumbnailSide);
    this.small.forEach(({canvas, button}, i) => {
      const context = canvas.getContext("2d");
      const image = context.createImageData(canvas.width, canvas.height);
      paintHeat(image, base, this.heat(this.row(heads[i]), base), state.opacity);
      context.putImageData(image, 0, 0);
      button.setAttribute("aria-pressed", heads[i] === this.chosen.head);
    });
  }

  thumbnail(head) {
    const {columns, rows} = baseOf(kThumbnailSide).size;
    const canvas = el("canvas", {width: columns, height: rows});
    const again = () => (head === this.chosen.head ? -1 : head);
    const button = el(
        "button", {type: "button", class: "thumbnail", onclick: () => this.choose({head: again()})}, canvas,
        el("span", {class: "small"}, head < 0 ? "mean over heads" : `head ${head}`));
    return {button, canvas};
  }
}
