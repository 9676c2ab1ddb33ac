// One picture with something painted over it, on which patches can be pointed at.
const panels = [];

class Panel {
  constructor(description, side) {
    this.base = baseOf(side);
    const {columns, rows} = this.base.size;
    this.canvas = el("canvas", {width: columns, height: rows, role: "img", "aria-label": description});
    this.mark = el("span", {class: "patch-mark", hidden: ""});
    this.pin = el("span", {class: "patch-mark pinned", hidden: ""});
    this.frame = el("div", {class: "panel-frame", tabindex: 0}, this.canvas, this.mark, this.pin);
    this.legend = el("div", {class: "legend number"});
    this.node = el("figure", {class: "panel"}, this.frame, this.legend);
    panels.push(this);
  }

  show(paint) {
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.canvas.width, this.canvas.height);
    paint(image);
    context.putImageData(image, 0, 0);
  }

  picture() {
    this.show((image) => paintPicture(image, this.base, null));
  }

  // `parted` is the heat whose segment is shown.
  heat(heat, opacity, segment, parted = heat) {
    this.show((image) => {
      const inside = segment === "none" ? null : otsuSegment(parted.strengths);
      if (segment === "mask") return paintPicture(image, this.base, inside);
      paintHeat(image, this.base, heat, opacity);
      if (inside) paintOutline(image, inside, this.base.size);
      return undefined;
    });
  }

  scale(heat, method, opacity) {
    if (!(heat.high > heat.low)) return this.legend.replaceChildren("the same everywhere");
    const scale = Math.max(Math.abs(heat.low), Math.abs(heat.high));
    return this.legend.replaceChildren(
        el("span", {}, formatScore(heat.low, scale, method)), rampCanvas(heat.signed, opacity),
        el("span", {}, formatScore(heat.high, scale, method)));
  }

  patchAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * picture.columns);
    const row = Math.floor(((event.clientY - box.top) / box.height) * picture.rows);
    if (row < 0 || column < 0 || row >= picture.rows || column >= picture.columns) return null;
    return row * picture.columns + column;
  }

  // Where a patch is on the screen, for the tip of the keyboard.
  placeOf(patch) {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: box.left + (((patch % picture.columns) + 1) / picture.columns) * box.width,
      y: box.top + ((Math.floor(patch / picture.columns) + 1) / picture.rows) * box.height
    };
  }

  static put(mark, patch) {
    mark.hidden = patch === null;
    if (patch === null) return;
    mark.style.left = (100 * (patch % picture.columns)) / picture.columns + "%";
    mark.style.top = (100 * Math.floor(patch / picture.columns)) / picture.rows + "%";
    mark.style.width = 100 / picture.columns + "%";
    mark.style.height = 100 / picture.rows + "%";
  }
}
