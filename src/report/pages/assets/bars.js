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
// Errors get room to both sides, at most as much as the longest bar.
function barAxis(scores, scale, errors = []) {
  const longest = Math.max(0, ...scores.map((score) => Math.abs(score ?? 0)));
  if (!(longest > 0)) return {zero: 0, range: 0};
  const room = (index) => (Number.isFinite(errors[index] ?? 0) ? Math.min(longest, errors[index] ?? 0) : 0);
  const below = Math.max(0, ...scores.map((score, index) => room(index) - (score ?? 0)));
  const above = Math.max(0, ...scores.map((score, index) => (score ?? 0) + room(index)));
  return {zero: below / (below + above), range: (below + above) * Math.max(1, scale / longest)};
}

// From the score to both sides, cut at the ends of the track.
function whisker(score, error, axis) {
  const place = (value) => Math.max(0, Math.min(1, axis.zero + value / axis.range));
  const line = el("span", {class: "whisker"});
  line.style.left = 100 * place(score - error) + "%";
  line.style.width = 100 * (place(score + error) - place(score - error)) + "%";
  return line;
}

function scoreBar(score, axis, method, error = null) {
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
    if (error && Number.isFinite(error)) track.append(whisker(score, error, axis));
  }
  return track;
}

function drawBars(box, method) {
  const {top, more} = chosenBars(method);
  const scale = scaleOf(method, "words");
  const errors = top.map(({entry}) => errorOf(method, entry));
  const axis = barAxis(top.map(({score}) => score), scale, errors);
  const rows = new Map();
  const bars = el("div", {class: "bars", role: "list", "aria-label": `Strongest by ${method.name}`});
  top.forEach(({entry, index, score}, place) => {
    const error = errors[place];
    const row = el(
        "div",
        {class: entry.special ? "bar-row special" : "bar-row", role: "listitem", "data-unit": entry.units[0]},
        el("span", {class: "bar-label", title: entry.text}, entry.text),
        scoreBar(score, axis, method, error),
        el("span", {class: "bar-value number"}, formatScore(score, scale, method) + formatError(error, scale)));
    rows.set(index, row);
    bars.append(row);
  });
  box.replaceChildren(bars);
  if (more > 0) box.append(el("p", {class: "more"}, `and ${more} more`));
  return rows;
}
