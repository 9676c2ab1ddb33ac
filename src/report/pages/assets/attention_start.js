// Attention maps are drawn when they come near the window.
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
