// Attention weights: unpacked when first needed, averaged, cut to what is shown, and their colours.
const maps = data.attention.maps;
const codesOfMap = new Map();

function codesOf(index) {
  if (!codesOfMap.has(index)) {
    const block = document.getElementById(`map-${index}`);
    const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
    block.remove();
    codesOfMap.set(index, maps[index].bits === 16 ? new Uint16Array(bytes.buffer) : bytes);
  }
  return codesOfMap.get(index);
}

// weight = top · (code / largest)²; the code after the largest says "not a number".
const largestCode = (map) => 2 ** map.bits - 2;
function weightTable(map) {
  const largest = largestCode(map);
  const table = new Float32Array(largest + 2);
  for (let code = 0; code <= largest; ++code) table[code] = map.top * (code / largest) ** 2;
  table[largest + 1] = NaN;
  return table;
}

// How far a shown weight can be from the computed one: half a step of the code.
const weightError = (map, weight) =>
    Math.sqrt(Math.max(weight, map.top / largestCode(map) ** 2) * map.top) / largestCode(map);

// The weights [queries, keys] of one head, or of the mean over heads (head -1).
function weightsOf(index, head) {
  const map = maps[index];
  const codes = codesOf(index);
  const table = weightTable(map);
  const size = map.queries * map.keys;
  const weights = new Float32Array(size);
  const first = head < 0 ? 0 : head;
  const last = head < 0 ? map.heads - 1 : head;
  for (let h = first; h <= last; ++h) {
    for (let i = 0; i < size; ++i) weights[i] += table[codes[h * size + i]];
  }
  const count = last - first + 1;
  if (count > 1)
    for (let i = 0; i < size; ++i) weights[i] /= count;
  return weights;
}

function largestWeight(weights) {
  let largest = 0;
  for (const weight of weights)
    if (weight > largest) largest = weight;
  return largest;
}

// Columns of a table that no token stands for follow those that have one.
const fitsUnits = (count) => count === data.pieces.length || (data.row && count < data.pieces.length);
const tokenName = (count, index) => (fitsUnits(count) ? data.pieces[index].text : `#${index}`);

// Which queries (or keys) are drawn: special tokens and the slice of a pair decide.
function shownIndices(count, segment) {
  const all = [...Array(count).keys()];
  if (!fitsUnits(count)) return all;
  return all.filter(
      (i) => (!data.pieces[i].special || state.special === "show") &&
          (segment === null || data.pieces[i].segment === segment));
}

const kSlices = {
  all: [null, null],
  "A→A": [0, 0],
  "B→B": [1, 1],
  "A→B": [0, 1],
  "B→A": [1, 0]
};

// The shown part of a map: rows and columns by their index in the text, and the weight that gets
// full colour. Weights are never renormalised.
function cutMap(index, weights, slice) {
  const {queries, keys} = maps[index];
  const rows = shownIndices(queries, kSlices[slice][0]);
  const columns = shownIndices(keys, kSlices[slice][1]);
  const cells = new Float32Array(rows.length * columns.length);
  rows.forEach((query, r) => columns.forEach((key, c) => {
    cells[r * columns.length + c] = weights[query * keys + key];
  }));
  const top = state.special === "hide" ? largestWeight(weights) : largestWeight(cells);
  return {rows, columns, cells, top};
}

const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const palette = () => data.palettes[darkScheme.matches && !printing ? "dark" : "light"];

// Colour follows the square root of the weight: attention is spread over many small weights.
const attentionShare = (weight, top) => (top > 0 && weight > 0 ? Math.sqrt(Math.min(1, weight / top)) : 0);

function rampColours() {
  const stops = palette().attention;
  const colours = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; ++i) {
    const position = (i / 255) * (stops.length - 1);
    const below = Math.min(Math.floor(position), stops.length - 2);
    for (let c = 0; c < 3; ++c)
      colours[3 * i + c] = stops[below][c] + (stops[below + 1][c] - stops[below][c]) * (position - below);
  }
  return colours;
}

// An off-screen picture of cells, one pixel each; NaN is transparent.
function cellPicture(cells, width, height, top) {
  const canvas = el("canvas", {width, height});
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const colours = rampColours();
  for (let i = 0; i < cells.length; ++i) {
    const level = Math.round(255 * attentionShare(cells[i], top));
    image.data[4 * i] = colours[3 * level];
    image.data[4 * i + 1] = colours[3 * level + 1];
    image.data[4 * i + 2] = colours[3 * level + 2];
    image.data[4 * i + 3] = Number.isNaN(cells[i]) ? 0 : 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// The largest weight in every block: a thumbnail keeps thin lines that a mean would wash out.
function shrunk(cells, width, height, size) {
  const w = Math.min(width, size);
  const h = Math.min(height, size);
  const small = new Float32Array(w * h);
  for (let y = 0; y < height; ++y) {
    const row = Math.floor((y * h) / height) * w;
    for (let x = 0; x < width; ++x) {
      const at = row + Math.floor((x * w) / width);
      if (cells[y * width + x] > small[at]) small[at] = cells[y * width + x];
    }
  }
  return {cells: small, width: w, height: h};
}
