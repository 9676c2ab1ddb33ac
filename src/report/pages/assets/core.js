"use strict";
// Data, state, and the few helpers that everything else draws with. User strings only ever become
// text nodes and attribute values.
const data = JSON.parse(document.getElementById("data").textContent);
const state = {
  unit: "pieces",
  special: data.special,
  sort: "strength"
};

const unitName = data.row ? data.unit : "token";

function el(tag, properties = {}, ...children) {
  return dressed(document.createElement(tag), properties, children);
}
// The parser knows the name of the space: the page then holds no address of anything outside it.
const svgSpace = new DOMParser().parseFromString("<svg></svg>", "text/html").body.firstChild.namespaceURI;
function svg(tag, properties = {}, ...children) {
  return dressed(document.createElementNS(svgSpace, tag), properties, children);
}

function dressed(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class")
      node.setAttribute("class", value);
    else if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else
      node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// Consecutive pieces of one word; a special token, or a piece without a word, stands alone.
const groups = (() => {
  const list = [];
  data.pieces.forEach((piece, unit) => {
    const last = list[list.length - 1];
    if (last && piece.word >= 0 && last.word === piece.word)
      last.units.push(unit);
    else
      list.push({word: piece.word, units: [unit]});
  });
  return list;
})();

function entryOf(units, word) {
  const first = data.pieces[units[0]];
  const text = units.map((unit, i) => (i ? data.pieces[unit].gap : "") + data.pieces[unit].text).join("");
  const after = data.pieces[units[units.length - 1]].after;
  return {units, word, text, after, gap: first.gap, special: first.special, segment: first.segment};
}
const entryLists = {
  pieces: data.pieces.map((piece, unit) => entryOf([unit], piece.word)),
  words: groups.map((group) => entryOf(group.units, group.word)),
};

// The word entry that a token belongs to.
const wordOfUnit = [];
entryLists.words.forEach((entry, index) => entry.units.forEach((unit) => {
  wordOfUnit[unit] = index;
}));

// What is drawn now: pieces or words, each with its place in the text.
const entries = () => entryLists[state.unit];
const isShown = (entry) => !entry.special || state.special === "show";

function scoreOf(method, entry, unit = state.unit) {
  if (unit === "words" && method.words && entry.word >= 0) return method.words[entry.word] ?? null;
  return method.scores[entry.units[0]];
}

// The standard error, null where there is none, Infinity where it is not known. That of several tokens is at most the
// sum of theirs.
function errorOf(method, entry) {
  const all = method.estimate?.errors;
  if (!all?.length) return null;
  const errors = entry.units.map((unit) => all[unit]).filter((error) => error !== "none");
  return errors.length ? errors.reduce((sum, error) => sum + (error ?? Infinity), 0) : null;
}

// All scales come with the data, so that this page agrees with the other reports.
function scaleOf(method, unit = state.unit) {
  return (state.special === "exclude" ? method.scale_of_text : method.scale)[unit];
}

function strength(score, scale) {
  if (score === null || !(scale > 0)) return 0;
  return Math.max(-1, Math.min(1, score / scale));
}

const hueClass = (score, method) => (score < 0 ? "neg" : method.signed ? "pos" : "mag");

// Four significant digits of the scale.
function formatScore(score, scale, method) {
  if (score === null) return "–";
  const sign = method.signed && score > 0 ? "+" : "";
  if (!(scale > 0)) return sign + String(Number(score.toPrecision(4)));
  if (scale >= 1e5 || scale < 1e-3) return sign + score.toExponential(2);
  const decimals = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(scale))));
  return sign + score.toFixed(decimals);
}

function formatError(error, scale) {
  if (error === null) return "";
  if (!Number.isFinite(error)) return " ± ?";
  return " ± " + (error >= 1e5 ? error.toExponential(1) : formatScore(error, scale, {signed: false}));
}

// Paints a background of this strength, with ink that can be read on it.
function paint(node, share, hue) {
  const size = Math.abs(share);
  node.classList.remove("pos", "neg", "mag", "att", "dark", "middling");
  node.style.setProperty("--share", (100 * size).toFixed(1) + "%");
  if (size < 0.01) return;
  node.classList.add(hue);
  if (size > 0.78)
    node.classList.add("dark", "middling");
  else if (size > 0.6)
    node.classList.add("middling");
}

const listeners = [];
const onChange = (listener) => listeners.push(listener);
function change(update) {
  Object.assign(state, update);
  listeners.forEach((listener) => listener());
}
