// Bars of a method's strongest words, keyed by their place among the words.
const kMostBars = 12;

function chosenBars(method) {
  const all = entryLists.words.map((entry, index) => ({entry, index, score: scoreOf(method, entry, "words")}))
                  .filter(({entry}) => isShown(entry));
  const weight = ({score}) => (score === null ? -1 : Math.abs(score));
  const top = [...all].sort((a, b) => weight(b) - weight(a) || a.index - b.index).slice(0, kMostBars);
  if (state.sort === "score") top.sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity));
  if (state.sort === "position") top.sort((a, b) => a.index - b.index);
  return {top, more: all.length - top.length};
}

// Zero stands where the longest bars of both signs just fit; a hidden stronger token shortens all.
function barAxis(scores, scale) {
  const below = Math.max(0, ...scores.map((score) => -(score ?? 0)));
  const above = Math.max(0, ...scores.map((score) => score ?? 0));
  const longest = Math.max(below, above);
  if (!(longest > 0)) return {zero: 0, range: 0};
  return {zero: below / (below + above), range: (below + above) * Math.max(1, scale / longest)};
}

function scoreBar(score, axis, method) {
  const track = el("span", {class: "bar-track"});
  if (axis.zero > 0) {
    const line = el("span", {class: "bar-axis"});
    line.style.left = 100 * axis.zero + "%";
    track.append(line);
  }
  if (score !== null && axis.range > 0) {
    const bar = el("span", {class: "bar " + hueClass(score, method)});
    const size = Math.abs(score) / axis.range;
    bar.style.left = 100 * (score < 0 ? axis.zero - size : axis.zero) + "%";
    bar.style.width = 100 * size + "%";
    track.append(bar);
  }
  return track;
}

function drawBars(box, method) {
  const {top, more} = chosenBars(method);
  const scale = scaleOf(method, "words");
  const axis = barAxis(top.map(({score}) => score), scale);
  const rows = new Map();
  const bars = el("div", {class: "bars", role: "list", "aria-label": `Strongest by ${method.name}`});
  for (const {entry, index, score} of top) {
    const row = el(
        "div",
        {class: entry.special ? "bar-row special" : "bar-row", role: "listitem", "data-unit": entry.units[0]},
        el("span", {class: "bar-label", title: entry.text}, entry.text), scoreBar(score, axis, method),
        el("span", {class: "bar-value number"}, formatScore(score, scale, method)));
    rows.set(index, row);
    bars.append(row);
  }
  box.replaceChildren(bars);
  if (more > 0) box.append(el("p", {class: "more"}, `and ${more} more`));
  return rows;
}
