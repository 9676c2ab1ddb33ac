// The small box beside the pointer.
const tip = document.getElementById("tip");

function placeTip(x, y) {
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 14, window.innerWidth - box.width - 8));
  const below = y + 22;
  const top = below + box.height > window.innerHeight - 8 ? Math.max(8, y - box.height - 14) : below;
  tip.style.left = left + "px";
  tip.style.top = top + "px";
}
const hideTip = () => {
  tip.hidden = true;
};
