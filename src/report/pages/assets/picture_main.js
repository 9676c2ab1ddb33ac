// Puts the page of a picture together. Attention is drawn when it comes near the window.
drawPictureHeader();
drawPictureToolbar();
const inspector = new PatchInspector();
drawTextSide(document.getElementById("methods"));
const pictureGrid = new PictureGrid(document.getElementById("methods"), inspector);
document.getElementById("methods").classList.remove("methods");
if (data.methods.length) new ScoreTable(document.getElementById("comparison"));

const attention = maps.length ? new PictureAttention(document.getElementById("attention"), inspector) : null;
if (attention) {
  let drawn = false;
  const redraw = () => {
    attention.draw();
    drawn = true;
  };
  const observer = new IntersectionObserver((seen) => {
    if (!seen.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    redraw();
  }, {rootMargin: "600px"});
  observer.observe(document.getElementById("attention"));
  onChange(() => drawn && redraw());
  window.addEventListener("beforeprint", redraw);
} else if (data.attention.note) {
  document.getElementById("attention").append(
      el("p", {class: "small faint", id: "attention-note"}, data.attention.note));
}
document.getElementById("footer").append(
    "Made by Whyformer. This page is complete in itself: it loads nothing and sends nothing.");
