// How the scores lead from the base to the value: a sentence, and the force bar where there is one.
const kForce = {height: 66, mark: 18, bar: 22};

function textWidth(text, size) {
  return text.length * size * 0.6;
}

class ForceBar {
  constructor(method) {
    this.force = method.estimate.force;
    this.method = method;
    this.node = svg("svg", {
      class: "force",
      height: kForce.height,
      role: "img",
      "aria-label": `${method.name}: ${method.estimate.line}`
    });
    this.draw(420);
    // Letters keep their size: a wider card gives a wider bar, not a larger one.
    new ResizeObserver(([{contentRect: {width}}]) => width > 0 && width !== this.width && this.draw(width))
        .observe(this.node);
  }

  draw(width) {
    this.width = width;
    this.node.replaceChildren();
    this.force.segments.forEach((segment) => this.addSegment(segment));
    this.addAxis();
    this.addMarks();
  }

  x(place) {
    const {low, high} = this.force;
    return ((place - low) / (high - low)) * this.width;
  }

  addSegment(segment) {
    const width = this.x(segment.to) - this.x(segment.from);
    const block = svg("rect", {
      class: "segment " + (segment.score > 0 ? "pos" : "neg"),
      x: this.x(segment.from),
      y: kForce.mark,
      width,
      height: kForce.bar,
      "data-unit": segment.unit,
      onpointerenter: (event) => this.tell(segment, event),
      onpointermove: (event) => this.tell(segment, event),
      onpointerleave: hideTip
    });
    this.node.append(block);
    if (textWidth(segment.text, 11) > width - 4) return;
    this.node.append(
        svg("text", {class: "word", x: this.x(segment.from) + width / 2, y: kForce.mark + kForce.bar / 2 + 4},
            segment.text));
  }

  tell(segment, event) {
    const scale = Math.max(...this.force.segments.map(({score}) => Math.abs(score)));
    tip.replaceChildren(
        el("strong", {}, segment.text),
        el("span", {class: "number"}, "  " + formatScore(segment.score, scale, this.method)));
    placeTip(event.clientX, event.clientY);
  }

  addAxis() {
    const y = kForce.mark + kForce.bar + 4;
    this.node.append(svg("line", {class: "axis", x1: 0, y1: y, x2: this.width, y2: y}));
    for (const tick of this.force.ticks) {
      const x = this.x(tick);
      const {decimals} = this.force;
      const plain = decimals >= -5 && decimals <= 6;
      this.node.append(
          svg("line", {class: "axis", x1: x, y1: y, x2: x, y2: y + 4}),
          svg("text", {class: "tick number", x, y: y + 16},
              plain ? tick.toFixed(Math.max(0, decimals)) : tick.toExponential(2)));
    }
  }

  // The two labels lean away from each other where they would meet.
  addMarks() {
    const {base, value} = this.force;
    const names = ["base " + this.force.base_text, "f(x) " + this.force.value_text];
    const room = (textWidth(names[0], 11) + textWidth(names[1], 11)) / 2 + 10;
    const close = Math.abs(this.x(base) - this.x(value)) < room;
    const anchors = !close ? ["middle", "middle"] : base <= value ? ["end", "start"] : ["start", "end"];
    this.addMark(base, names[0], anchors[0], "base");
    this.addMark(value, names[1], anchors[1], "value");
  }

  addMark(place, name, anchor, kind) {
    const x = this.x(place);
    const wide = textWidth(name, 11);
    const from = x - {start: 0, middle: wide / 2, end: wide}[anchor];
    const shift = Math.max(0, -from) - Math.max(0, from + wide - this.width);
    this.node.append(
        svg("line", {class: "mark " + kind, x1: x, y1: kForce.mark - 4, x2: x, y2: kForce.mark + kForce.bar + 4}),
        svg("text", {class: "mark-name number " + kind, x: x + shift, y: 10, "text-anchor": anchor}, name));
  }
}

function estimateBox(method) {
  const box = el("div", {class: "estimate"}, el("p", {class: "small"}, method.estimate.line));
  if (method.estimate.force?.segments.length) box.append(new ForceBar(method).node);
  if (method.estimate.interactions) box.append(interactionTable(method));
  return box;
}
