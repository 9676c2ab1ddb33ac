// Thumbnails of all layers and heads on one canvas.
class Overview {
  constructor(onPick) {
    this.canvas =
        el("canvas",
           {class: "clickable", role: "img", id: "overview", "aria-label": "All maps, one row per layer"});
    this.cells = maps.flatMap((map, index) => [...Array(map.heads).keys()].map((head) => ({index, head})));
    this.heads = Math.max(...maps.map((map) => map.heads));
    this.canvas.addEventListener("click", (event) => {
      const cell = this.at(event);
      if (cell) onPick(cell.index, maps[cell.index].heads > 1 ? cell.head : -1);
    });
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
    return {x: this.margin + column * this.pitch, y: this.headRoom + row * this.rowPitch};
  }

  draw(chosen) {
    this.place();
    this.chosen = chosen;
    this.context = sizedContext(this.canvas, this.width, this.height);
    this.labels();
    this.cells.forEach((cell) => this.thumbnail(cell));
    this.cells.filter((cell) => cell.index === chosen.index && (chosen.head < 0 || cell.head === chosen.head))
        .forEach((cell) => this.frame(cell));
  }

  labels() {
    this.context.font = "11px system-ui, sans-serif";
    this.context.fillStyle = palette().faint;
    this.context.textBaseline = "middle";
    if (this.heads < 2) {
      this.context.textAlign = "left";
      this.cells.forEach((cell) => {
        const {x, y} = this.boxOf(cell);
        this.context.fillText(`layer ${maps[cell.index].layer}`, x, y - 9);
      });
      return;
    }
    this.context.textAlign = "right";
    maps.forEach(
        (map, index) => this.context.fillText(
            String(map.layer), this.margin - 6, this.headRoom + index * this.pitch + this.size / 2));
    this.context.textAlign = "center";
    const step = Math.ceil(18 / this.pitch);
    for (let head = 0; head < this.heads; head += step)
      this.context.fillText(String(head), this.margin + head * this.pitch + this.size / 2, 8);
  }

  thumbnail(cell) {
    const key = `${cell.index}/${cell.head}`;
    if (!this.pictures.has(key)) {
      const map = maps[cell.index];
      const pixels = Math.ceil(this.size * (window.devicePixelRatio || 1));
      const small = shrunk(weightsOf(cell.index, cell.head), map.keys, map.queries, pixels);
      this.pictures.set(key, cellPicture(small.cells, small.width, small.height, largestWeight(small.cells)));
    }
    const {x, y} = this.boxOf(cell);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.pictures.get(key), x, y, this.size, this.size);
  }

  frame(cell) {
    const {x, y} = this.boxOf(cell);
    this.context.strokeStyle = palette().negative;
    this.context.lineWidth = 2;
    this.context.strokeRect(x - 1, y - 1, this.size + 2, this.size + 2);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    return this.cells.find((cell) => {
      const at = this.boxOf(cell);
      return x >= at.x && x < at.x + this.pitch && y >= at.y && y < at.y + this.pitch;
    });
  }

  hover(event) {
    const cell = this.at(event);
    if (!cell) return hideTip();
    const map = maps[cell.index];
    tip.replaceChildren(
        el("strong", {},
           map.heads > 1 ? `layer ${map.layer}, head ${cell.head}` : `layer ${map.layer}, mean over heads`),
        el("div", {class: "faint"}, map.name));
    return placeTip(event.clientX, event.clientY);
  }
}
