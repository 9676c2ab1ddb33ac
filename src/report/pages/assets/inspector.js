// Hovering, focusing or pinning a token lights it in all methods and tells its exact scores.
class Inspector {
  constructor(cards) {
    this.cards = cards;
    this.current = null;
    this.pinned = null;
  }

  light(index) {
    if (this.current === index) return;
    if (this.current !== null) this.cards.forEach((card) => card.light(this.current, false));
    this.current = index;
    if (index !== null) this.cards.forEach((card) => card.light(index, true));
  }

  show(index, node, methodIndex) {
    this.light(index);
    this.fillTip(entries()[index], methodIndex);
    const box = node.getBoundingClientRect();
    placeTip(box.left, box.bottom - 16);
  }

  leave() {
    hideTip();
    this.light(this.pinned);
  }

  pin(index) {
    this.markPinned(false);
    this.pinned = this.pinned === index ? null : index;
    this.markPinned(true);
    this.light(this.pinned);
  }

  markPinned(on) {
    if (this.pinned === null) return;
    this.cards.forEach((card) => {
      card.spans[this.pinned]?.classList.toggle("pinned", on);
      card.spans[this.pinned]?.setAttribute("aria-selected", on);
    });
  }

  forget() {
    this.current = this.pinned = null;
    hideTip();
  }

  fillTip(entry, methodIndex) {
    const tokens = entry.units.map((unit) => data.pieces[unit].token).join(" ");
    const place = entry.units.length > 1 ? `tokens ${entry.units[0]} to ${entry.units.at(-1)}` :
                                           `token ${entry.units[0]}`;
    const bars = el("div", {class: "bars"});
    data.methods.forEach((method, index) => {
      const score = scoreOf(method, entry);
      const scale = scaleOf(method);
      const axis = {zero: method.signed ? 0.5 : 0, range: method.signed ? 2 : 1};
      const share = score === null ? null : strength(score, scale);
      bars.append(
          el("div", {class: "bar-row"},
             el("span", {class: "bar-label" + (index === methodIndex ? " here" : "")}, method.name),
             scoreBar(share, axis, method),
             el("span", {class: "bar-value number" + (index === methodIndex ? " here" : "")},
                formatScore(score, scale, method) + formatError(errorOf(method, entry), scale))));
    });
    tip.replaceChildren(
        el("strong", {}, entry.text),
        el("span", {class: "faint"}, `  ${tokens === entry.text ? "" : tokens + " · "}${place}`), bars);
  }

  // One listener per card, however many tokens it has.
  watch(card, methodIndex) {
    const box = card.tokens;
    const indexOf = (event) => {
      const node = event.target.closest?.("[data-entry], [data-unit]");
      if (!node) return null;
      const index = node.dataset.entry ??
          entries().findIndex((entry) => entry.units.includes(Number(node.dataset.unit)));
      return {node: node.firstElementChild ?? node, index: Number(index)};
    };
    const show = (event) => {
      const hit = indexOf(event);
      if (hit)
        this.show(hit.index, hit.node, methodIndex);
      else
        this.leave();
    };
    for (const area of [box, card.bars]) {
      area.addEventListener("pointerover", show);
      area.addEventListener("pointerleave", () => this.leave());
      area.addEventListener("click", (event) => {
        const hit = indexOf(event);
        if (hit) this.pin(hit.index);
      });
    }
    box.addEventListener("focusin", show);
    box.addEventListener("focusout", () => this.leave());
    box.addEventListener("keydown", (event) => this.key(event, box));
  }

  key(event, box) {
    if (event.key === "Escape") return this.leave();
    const spans = [...box.querySelectorAll(".token")];
    const here = spans.indexOf(event.target);
    const moves = {
      ArrowRight: here + 1,
      ArrowDown: here + 1,
      ArrowLeft: here - 1,
      ArrowUp: here - 1,
      Home: 0,
      End: spans.length - 1
    };
    if (event.key === "Enter" || event.key === " ")
      this.pin(Number(event.target.dataset.entry));
    else if (!(event.key in moves))
      return undefined;
    event.preventDefault();
    const next = spans[moves[event.key]];
    if (next) {
      spans[here].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
    return undefined;
  }
}
