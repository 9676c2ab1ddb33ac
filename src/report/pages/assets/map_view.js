// One large attention map on a canvas: queries down, keys across.
const kLabelSize = 11;

function sizedContext(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function clipped(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const characters = [...text];
  while (characters.length > 1 && context.measureText(characters.join("") + "…").width > width)
    characters.pop();
  return characters.join("") + "…";
}

class MapView {
  constructor(onHover, onClick) {
    this.canvas = el("canvas", {class: "clickable", role: "img", id: "map"});
    this.cut = null;
    this.cross = null;
    this.canvas.addEventListener("pointermove", (event) => this.hover(event, onHover));
    this.canvas.addEventListener("pointerleave", () => {
      this.cross = null;
      this.paint();
      onHover(null);
    });
    this.canvas.addEventListener("click", (event) => {
      const hit = this.cellAt(event);
      if (hit) onClick(hit);
    });
  }

  draw(cut, counts, description) {
    this.cut = cut;
    this.counts = counts;
    this.canvas.setAttribute("aria-label", description);
    this.picture =
        cut.cells.length ? cellPicture(cut.cells, cut.columns.length, cut.rows.length, cut.top) : null;
    this.measure();
    this.paint();
  }

  // Cells are square and labels take as much as the longest needs, within bounds.
  measure() {
    const {rows, columns} = this.cut;
    const width = Math.max(240, Math.min(820, this.canvas.parentElement.clientWidth));
    const context = this.canvas.getContext("2d");
    context.font = this.font();
    const longest = (indices, count) =>
        Math.max(0, ...indices.map((i) => context.measureText(tokenName(count, i)).width));
    const limit = Math.min(96, width * 0.22);
    this.left = Math.min(limit, longest(rows, this.counts.queries)) + 10;
    this.top = Math.min(limit, longest(columns, this.counts.keys)) + 10;
    const most = Math.max(1, rows.length, columns.length);
    this.cell = Math.min(34, (width - this.left - 2) / most);
    this.width = width;
    this.height = this.top + this.cell * rows.length + 2;
  }

  font() {
    return `${kLabelSize}px system-ui, "Noto Sans", "DejaVu Sans", sans-serif`;
  }

  paint() {
    if (!this.cut) return;
    const context = sizedContext(this.canvas, this.width, this.height);
    const {rows, columns} = this.cut;
    if (!this.picture) return;
    context.imageSmoothingEnabled = this.cell * (window.devicePixelRatio || 1) < 1;
    context.drawImage(this.picture, this.left, this.top, this.cell * columns.length, this.cell * rows.length);
    context.strokeStyle = palette().faint;
    context.lineWidth = 0.5;
    context.strokeRect(this.left, this.top, this.cell * columns.length, this.cell * rows.length);
    this.labels(context);
    this.crosshair(context);
  }

  // Every n-th label, so that none overlap; the ones under the pointer always.
  labels(context) {
    const step = Math.max(1, Math.ceil((kLabelSize + 2) / this.cell));
    const {rows, columns} = this.cut;
    context.font = this.font();
    context.textBaseline = "middle";
    const near = (i, chosen) => chosen !== undefined && i !== chosen && Math.abs(i - chosen) < step;
    rows.forEach((query, r) => {
      const chosen = this.cross?.row === r;
      if ((r % step || near(r, this.cross?.row)) && !chosen) return;
      context.fillStyle = chosen ? palette().ink : palette().faint;
      context.textAlign = "right";
      context.fillText(
          clipped(context, tokenName(this.counts.queries, query), this.left - 8), this.left - 5,
          this.top + (r + 0.5) * this.cell);
    });
    columns.forEach((key, c) => {
      const chosen = this.cross?.column === c;
      if ((c % step || near(c, this.cross?.column)) && !chosen) return;
      context.save();
      context.translate(this.left + (c + 0.5) * this.cell, this.top - 5);
      context.rotate(-Math.PI / 2);
      context.fillStyle = chosen ? palette().ink : palette().faint;
      context.textAlign = "left";
      context.fillText(clipped(context, tokenName(this.counts.keys, key), this.top - 8), 0, 0);
      context.restore();
    });
  }

  crosshair(context) {
    if (!this.cross) return;
    const {rows, columns} = this.cut;
    context.strokeStyle = palette().negative;
    context.lineWidth = 1;
    context.strokeRect(
        this.left, this.top + this.cross.row * this.cell, this.cell * columns.length, this.cell);
    context.strokeRect(
        this.left + this.cross.column * this.cell, this.top, this.cell, this.cell * rows.length);
  }

  // The labels of the rows count as their rows.
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.width / box.width;
    const row = Math.floor(((event.clientY - box.top) * scale - this.top) / this.cell);
    const column = Math.floor(((event.clientX - box.left) * scale - this.left) / this.cell);
    if (row < 0 || row >= this.cut.rows.length || column >= this.cut.columns.length) return null;
    return {
      row,
      column: Math.max(0, column),
      query: this.cut.rows[row],
      key: column < 0 ? null : this.cut.columns[column]
    };
  }

  hover(event, onHover) {
    const hit = this.cellAt(event);
    const cross = hit && hit.key !== null ? hit : null;
    if (cross?.row !== this.cross?.row || cross?.column !== this.cross?.column) {
      this.cross = cross;
      this.paint();
    }
    onHover(cross, event);
  }
}
