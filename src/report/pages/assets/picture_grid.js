// The header, the controls, and the picture once per class and method.
Object.assign(state, {grain: "smooth", segment: "none", opacity: 0.85});
const kPanelSide = 448;  // pixels of a canvas, enough for sharp screens

function drawPictureHeader() {
  const best = data.answers[0] ?? data.classes[0];
  const facts = [
    data.file, [data.model, data.architecture].filter(Boolean).join(" · "), `${picture.rows} × ${picture.columns} patches`
  ];
  if (data.seen) facts.push(data.seen);
  const box =
      el("div", {}, el("p", {class: "eyebrow"}, data.answers.length ? "Predicted" : `Explained ${data.space}`),
         el("h1", {}, best.label, el("span", {class: "percent number"}, formatAnswer(best))),
         el("p", {class: "facts"}, facts.join(" · ")));
  if (data.notes.length) box.append(notesList(data.notes));
  const card = el("div", {class: "card prediction"}, box);
  if (data.answers.length) card.append(answerBars());
  document.getElementById("header").append(card);
}

function drawPictureToolbar() {
  const toolbar = document.getElementById("toolbar");
  if (!data.methods.length) {
    toolbar.append(el("span", {class: "faint"}, "No method was run, so there are no scores to show."));
    return;
  }
  const slider = el("input", {
    type: "range",
    min: 0,
    max: 100,
    value: 100 * state.opacity,
    "aria-label": "Opacity",
    oninput: () => change({opacity: slider.value / 100})
  });
  toolbar.append(
      el("label", {}, "Opacity", slider),
      switchOf("Map", "grain", [["smooth", "Smooth"], ["blocks", "Patches"]]),
      choice(
          "Otsu's threshold", [["none", "not shown"], ["outline", "as a line"], ["mask", "as a mask"]],
          state.segment, (segment) => change({segment})));
}

// The scores of a method as a map: of pixels where it has them, otherwise of patches.
const patchMapOf = (method) => ({
  map: method.scores.slice(picture.first, picture.first + kPatches).map((score) => score ?? 0),
  size: picture
});
const pixelMaps = new Map();
function mapOf(method) {
  if (method.pixels === null) return patchMapOf(method);
  if (!pixelMaps.has(method)) {
    const {low, high} = method.pixels;
    const map = Float64Array.from(
        bytesOf(`pixels-${method.pixels.block}`),
        (code) => (method.signed ? ((code - 127) / 127) * high : low + (code / 255) * (high - low)));
    pixelMaps.set(method, map);
  }
  return {map: pixelMaps.get(method), size: {rows: picture.height, columns: picture.width}};
}

class ScorePanel {
  constructor(method) {
    this.method = method;
    this.panel = new Panel(`Scores by ${method.name} over the picture; arrow keys move, Enter keeps`, kPanelSide);
    this.grain = null;
    this.draw();
  }

  heatOf({map, size}) {
    return heatOf(map, size, this.panel.base.size, this.method.signed, state.grain);
  }

  draw() {
    if (this.grain !== state.grain) {
      this.heat = this.heatOf(mapOf(this.method));
      // The segment of pixels would be speckles.
      this.parted = this.method.pixels === null ? this.heat : this.heatOf(patchMapOf(this.method));
      this.grain = state.grain;
    }
    this.panel.heat(this.heat, state.opacity, state.segment, this.parted);
    this.panel.scale(this.heat, this.method, state.opacity);
  }
}

// A row per class: its name with the picture, then a panel per method.
class PictureGrid {
  constructor(root, inspector) {
    this.scored = [];
    const grid = el("div", {class: "picture-grid card"});
    grid.style.setProperty("--across", data.columns.length + 1);
    grid.append(el("h3", {}, "picture"));
    data.columns.forEach((name) => grid.append(el("h3", {}, name)));
    data.classes.forEach((answer, row) => this.addRow(grid, answer, row, inspector));
    root.append(grid);
    this.addNotes(root);
    onChange(() => this.scored.forEach((scored) => scored.draw()));
  }

  addRow(grid, answer, row, inspector) {
    const plain = new Panel("The picture", kPanelSide);
    plain.picture();
    inspector.watch(plain);
    plain.legend.replaceWith(el(
        "figcaption", {class: "class-name"}, el("strong", {}, answer.label),
        el("span", {class: "faint number"}, " " + formatAnswer(answer))));
    grid.append(plain.node);
    data.columns.forEach((_, column) => {
      const method = data.methods.find((one) => one.row === row && one.column === column);
      if (!method) return grid.append(el("span", {}));
      const scored = new ScorePanel(method);
      this.scored.push(scored);
      inspector.watch(scored.panel, method);
      return grid.append(scored.panel.node);
    });
  }

  addNotes(root) {
    const list = el("ul", {class: "notes"});
    data.methods.forEach((method) => {
      const said = [method.info, method.estimate?.line, ...method.notes].filter((text) => text);
      const trust = trustBox(method);
      if (said.length || trust)
        list.append(el("li", {}, el("strong", {}, method.name), " " + said.join(" · "), ...(trust ? [trust] : [])));
    });
    const signed = data.methods.some((method) => method.signed) ?
        "Blue is evidence for the class, orange against it; " :
        "";
    const magnitude = data.methods.some((method) => !method.signed) ? "yellow is strongest where there is no sign; " : "";
    if (data.methods.length)
      list.prepend(el("li", {}, `${signed}${magnitude}each map has its own scale.`));
    root.append(list);
  }
}
