// Pointing at a patch marks it on every panel and tells its score by every method; a click or Enter
// keeps the mark and makes the patch the one whose attention is shown.
class PatchInspector {
  constructor() {
    this.current = null;
    this.pinned = null;
    this.onPin = () => {};
  }

  light(patch) {
    if (patch === this.current) return;
    this.current = patch;
    panels.forEach((panel) => Panel.put(panel.mark, patch));
  }

  tell(patch, x, y, here) {
    this.light(patch);
    const unit = unitOfPatch(patch);
    const bars = el("div", {class: "bars"});
    data.methods.forEach((method) => {
      const score = method.scores[unit];
      const axis = {zero: method.signed ? 0.5 : 0, range: method.signed ? 2 : 1};
      const share = score === null ? null : strength(score, scaleOf(method));
      const name = method === here ? " here" : "";
      bars.append(
          el("div", {class: "bar-row"}, el("span", {class: "bar-label" + name}, method.name),
             scoreBar(share, axis, method),
             el("span", {class: "bar-value number" + name}, formatScore(score, scaleOf(method), method))));
    });
    tip.replaceChildren(el("strong", {}, data.pieces[unit].text), bars);
    placeTip(x, y);
  }

  leave() {
    hideTip();
    this.light(null);
  }

  pin(patch) {
    this.pinned = this.pinned === patch ? null : patch;
    panels.forEach((panel) => Panel.put(panel.pin, this.pinned));
    this.onPin(this.pinned);
  }

  watch(panel, method = null) {
    const {frame} = panel;
    frame.addEventListener("pointermove", (event) => {
      const patch = panel.patchAt(event);
      if (patch === null) return this.leave();
      return this.tell(patch, event.clientX, event.clientY, method);
    });
    frame.addEventListener("pointerleave", () => this.leave());
    frame.addEventListener("click", (event) => {
      const patch = panel.patchAt(event);
      if (patch !== null) this.pin(patch);
    });
    frame.addEventListener("blur", () => this.leave());
    frame.addEventListener("keydown", (event) => this.key(event, panel, method));
  }

  key(event, panel, method) {
    if (event.key === "Escape") return this.leave();
    const at = this.current ?? this.pinned;
    if ((event.key === "Enter" || event.key === " ") && at !== null) {
      event.preventDefault();
      return this.pin(at);
    }
    const moves = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]};
    if (!(event.key in moves)) return undefined;
    event.preventDefault();
    const [down, right] = at === null ? [0, 0] : moves[event.key];
    const within = (value, count) => Math.max(0, Math.min(count - 1, value));
    const row = within(Math.floor((at ?? 0) / picture.columns) + down, picture.rows);
    const column = within(((at ?? 0) % picture.columns) + right, picture.columns);
    const patch = row * picture.columns + column;
    const {x, y} = panel.placeOf(patch);
    return this.tell(patch, x, y, method);
  }
}
