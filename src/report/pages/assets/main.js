// Puts the page together. Attention maps are drawn when they come near the window.
drawHeader();
const cards = data.methods.map((method, index) => new MethodCard(method, index));
document.getElementById("methods").append(...cards.map((card) => card.node));
if (!cards.length) {
  const text = el("div", {class: "tokens", dir: "auto"});
  const draw = () => layTokens(text, entries());
  draw();
  onChange(draw);
  document.getElementById("methods").append(el("article", {class: "card"}, text));
}
const inspector = new Inspector(cards);
cards.forEach((card, index) => inspector.watch(card, index));
onChange(() => {
  inspector.forget();
  cards.forEach((card) => card.draw());
});
if (data.methods.length) new ScoreTable(document.getElementById("comparison"));

const attention = maps.length ? new AttentionSection(document.getElementById("attention")) : null;
if (attention) {
  let drawn = false;
  const redraw = (keepThumbnails) => {
    if (!keepThumbnails) attention.overview.pictures.clear();
    attention.draw();
    drawn = true;
  };
  const observer = new IntersectionObserver((seen) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    redraw(false);
  }, {rootMargin: "600px"});
  observer.observe(document.getElementById("attention"));
  onChange(() => drawn && redraw(true));
  darkScheme.addEventListener("change", () => drawn && redraw(false));
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (drawn && window.innerWidth !== width) redraw(false);
    width = window.innerWidth;
  });
  window.addEventListener("beforeprint", () => {
    printing = true;
    redraw(false);
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    redraw(false);
  });
}
document.getElementById("footer").append(
    "Made by Whyformer. This page is complete in itself: it loads nothing and sends nothing.");
