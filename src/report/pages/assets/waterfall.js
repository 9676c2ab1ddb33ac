// A waterfall: a row per step, the value on top and the base at the bottom.
const kFall = {row: 28, bar: 18, mark: 22, axis: 44, tip: 5, gap: 8};

class Waterfall {
  constructor(method) {
    this.fall = method.estimate.waterfall;
    this.method = method;
    const height = kFall.mark + kFall.row * this.fall.steps.length + kFall.axis;
    this.node = svg("svg", {
      class: "waterfall",
      height,
      role: "img",
      "aria-label": `${method.name}: ${method.estimate.line}`
    });
    this.bottom = height - kFall.axis;
    this.largest = Math.max(0, ...this.fall.steps.map(({score}) => Math.abs(score)));
    this.draw(420);
    // Letters keep their size: a wider card gives longer bars, not larger ones.
    new ResizeObserver(([{contentRect: {width}}]) => width > 0 && width !== this.width && this.draw(width))
        .observe(this.node);
  }

  draw(width) {
    this.width = width;
    const longest = Math.max(0, ...this.fall.steps.map(({text}) => textWidth(text, 12)));
    this.left = Math.min(longest, width * 0.38) + kFall.gap;
    this.node.replaceChildren();
    this.addAxis();
    this.fall.steps.forEach((step, index) => this.addStep(step, index));
    this.addMark(this.fall.value, "f(x) = " + this.fall.value_text, 12);
    this.addMark(this.fall.base, "base = " + this.fall.base_text, this.bottom + 14);
  }

  x(place) {
    const {low, high} = this.fall;
    return this.left + ((place - low) / (high - low)) * (this.width - this.left);
  }

  addAxis() {
    const y = this.bottom + 22, base = this.x(this.fall.base);
    this.node.append(
        svg("line", {class: "grid", x1: base, y1: kFall.mark, x2: base, y2: this.bottom + 2}),
        svg("line", {class: "axis", x1: this.left, y1: y, x2: this.width, y2: y}));
    // Where they would touch, only some have their number.
    const {ticks} = this.fall;
    const apart = ticks.length > 1 ? this.x(ticks[1]) - this.x(ticks[0]) : Infinity;
    const every = Math.ceil(44 / apart);
    ticks.forEach((tick, index) => {
      const x = this.x(tick);
      this.node.append(svg("line", {class: "axis", x1: x, y1: y, x2: x, y2: y + 4}));
      if (index % every) return;
      this.node.append(svg("text", {class: "tick number", x, y: y + 16}, String(Number(tick.toPrecision(4)))));
    });
  }

  addMark(place, name, y) {
    const half = textWidth(name, 12) / 2;
    const x = Math.min(Math.max(this.x(place), this.left + half), this.width - half);
    this.node.append(svg("text", {class: "mark-name number", x, y}, name));
  }

  addStep(step, index) {
    const middle = kFall.mark + kFall.row * (index + 0.5);
    const from = this.x(step.from), to = this.x(step.to);
    const tell = (event) => this.tell(step, event);
    const group = svg("g", {class: "step", onpointerenter: tell, onpointermove: tell, onpointerleave: hideTip});
    if (index + 1 < this.fall.steps.length)
      group.append(svg("line", {
        class: "link",
        x1: from,
        y1: middle - kFall.bar / 2,
        x2: from,
        y2: middle + kFall.row + kFall.bar / 2
      }));
    const letters = Math.max(1, Math.floor((this.left - kFall.gap) / (12 * 0.6)));
    const characters = [...step.text];
    const shown = characters.length > letters ? characters.slice(0, letters - 1).join("") + "…" : step.text;
    group.append(
        svg("text", {class: "step-name", x: this.left - kFall.gap, y: middle + 4}, shown),
        svg("path", {class: "arrow " + (step.score < 0 ? "neg" : "pos"), d: this.arrow(from, to, middle)}));
    this.node.append(group);
    this.addNumber(group, step, from, to, middle);
  }

  arrow(from, to, middle) {
    const way = to >= from ? 1 : -1;
    const neck = to - way * Math.min(kFall.tip, Math.abs(to - from));
    const top = middle - kFall.bar / 2, bottom = middle + kFall.bar / 2;
    return `M${from} ${top}H${neck}L${to} ${middle}L${neck} ${bottom}H${from}Z`;
  }

  addNumber(group, step, from, to, middle) {
    const text = formatScore(step.score, this.largest, this.method), wide = textWidth(text, 11);
    const inside = Math.abs(to - from) > wide + 2 * kFall.tip;
    const right = Math.max(from, to) + 5 + wide <= this.width;
    const x = inside ? (from + to) / 2 : right ? Math.max(from, to) + 5 : Math.min(from, to) - 5;
    const anchor = inside ? "middle" : right ? "start" : "end";
    group.append(svg(
        "text", {class: "number step-score" + (inside ? " inside" : ""), x, y: middle + 4, "text-anchor": anchor},
        text));
  }

  tell(step, event) {
    tip.replaceChildren(
        el("strong", {}, step.text),
        el("span", {class: "number"}, "  " + formatScore(step.score, this.largest, this.method)));
    placeTip(event.clientX, event.clientY);
  }
}
