// Puts the page together.
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
document.getElementById("footer").append(
    "Made by Whyformer. This page is complete in itself: it loads nothing and sends nothing.");
