// Scores as colours over the picture: the same steps as in the pictures that the program writes.
const picture = data.picture;
const kPatches = picture.rows * picture.columns;
const unitOfPatch = (patch) => picture.first + patch;
const bytesOf = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
const pictureBytes = bytesOf("picture");

// Where each of `to` pixels stands between two of `from`, without corner alignment.
function places(from, to) {
  return Array.from({length: to}, (_, i) => {
    const inside = Math.max(0, Math.min(from - 1, ((i + 0.5) * from) / to - 0.5));
    const low = Math.floor(inside);
    return {low, high: Math.min(low + 1, from - 1), share: inside - low};
  });
}

function bilinear(map, from, to) {
  const columns = places(from.columns, to.columns);
  const large = new Float64Array(to.rows * to.columns);
  let at = 0;
  for (const y of places(from.rows, to.rows)) {
    const above = y.low * from.columns, below = y.high * from.columns;
    for (const x of columns) {
      const top = map[above + x.low] + (map[above + x.high] - map[above + x.low]) * x.share;
      const bottom = map[below + x.low] + (map[below + x.high] - map[below + x.low]) * x.share;
      large[at++] = top + (bottom - top) * y.share;
    }
  }
  return large;
}

function nearest(map, from, to) {
  const large = new Float64Array(to.rows * to.columns);
  for (let y = 0; y < to.rows; ++y) {
    const row = Math.floor(((2 * y + 1) * from.rows) / (2 * to.rows)) * from.columns;
    for (let x = 0; x < to.columns; ++x)
      large[y * to.columns + x] = map[row + Math.floor(((2 * x + 1) * from.columns) / (2 * to.columns))];
  }
  return large;
}

// Strengths within [0, 1], signed ones within [-1, 1], and the scores at both ends of the colours.
function heatOf(map, from, to, isSigned, grain) {
  const large = grain === "smooth" ? bilinear(map, from, to) : nearest(map, from, to);
  let low = Infinity, high = -Infinity;
  for (const value of large) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (isSigned) {
    high = Math.max(Math.abs(low), Math.abs(high));
    low = -high;
    if (high > 0) for (let i = 0; i < large.length; ++i) large[i] /= high;
  } else {
    const range = high - low;
    for (let i = 0; i < large.length; ++i) large[i] = range > 0 ? (large[i] - low) / range : 0;
  }
  return {strengths: large, low, high, signed: isSigned};
}

// Otsu's threshold on 256 levels; of signed maps, of their positive part.
function otsuSegment(strengths) {
  const level = (strength) => (strength > 0 ? Math.floor(Math.min(1, strength) * 255) : 0);
  const counts = new Float64Array(256);
  let total = 0;
  for (const strength of strengths) {
    ++counts[level(strength)];
    total += level(strength);
  }
  let best = 0, largest = -1, below = 0, sumBelow = 0;
  for (let cut = 0; cut < 256; ++cut) {
    below += counts[cut];
    sumBelow += cut * counts[cut];
    const above = strengths.length - below;
    if (!below || !above) continue;
    const variance = below * above * (sumBelow / below - (total - sumBelow) / above) ** 2;
    if (variance > largest) {
      largest = variance;
      best = cut;
    }
  }
  return Uint8Array.from(strengths, (strength) => (level(strength) > best ? 1 : 0));
}

// The picture with its longer side at about this many pixels, in colour and in grey.
const bases = new Map();
function baseOf(side) {
  if (bases.has(side)) return bases.get(side);
  const scale = side / Math.max(picture.width, picture.height);
  const size = {
    columns: Math.max(1, Math.round(picture.width * scale)),
    rows: Math.max(1, Math.round(picture.height * scale))
  };
  const from = {columns: picture.width, rows: picture.height};
  const channel = (c) => Float32Array.from({length: from.rows * from.columns}, (_, i) => pictureBytes[3 * i + c]);
  const sharp = scale >= 4;  // the pixels of small pictures stay what they are
  const [red, green, blue] = [0, 1, 2].map((c) => (sharp ? nearest : bilinear)(channel(c), from, size));
  const grey = red.map((r, i) => Math.round(0.299 * r + 0.587 * green[i] + 0.114 * blue[i]));
  bases.set(side, {size, red, green, blue, grey});
  return bases.get(side);
}

// Colours and opacities at 256 strengths.
const rampOf = (isSigned, strength) =>
    (!isSigned ? data.overlay.magnitude : strength < 0 ? data.overlay.negative : data.overlay.positive);
const opacities = Float32Array.from({length: 256}, (_, i) => (i / 255) ** data.overlay.power);

function paintHeat(image, base, heat, opacity) {
  const {strengths} = heat;
  for (let i = 0; i < strengths.length; ++i) {
    const level = Math.round(255 * Math.abs(strengths[i])) || 0;
    const colours = rampOf(heat.signed, strengths[i]);
    const share = opacity * opacities[level];
    for (let c = 0; c < 3; ++c)
      image.data[4 * i + c] = base.grey[i] + (colours[3 * level + c] - base.grey[i]) * share;
    image.data[4 * i + 3] = 255;
  }
}

function paintPicture(image, base, inside) {
  for (let i = 0; i < base.grey.length; ++i) {
    const shown = !inside || inside[i];
    image.data[4 * i] = shown ? base.red[i] : 17 + 0.15 * base.grey[i];
    image.data[4 * i + 1] = shown ? base.green[i] : 17 + 0.15 * base.grey[i];
    image.data[4 * i + 2] = shown ? base.blue[i] : 17 + 0.15 * base.grey[i];
    image.data[4 * i + 3] = 255;
  }
}

// A light line with a dark rim along the inner edge of the segment.
function paintOutline(image, inside, {rows, columns}) {
  const line = Math.max(1, Math.floor(Math.max(rows, columns) / 160));
  const touchesOutside = (x, y, reach) => {
    for (let v = Math.max(0, y - reach); v <= Math.min(rows - 1, y + reach); ++v)
      for (let u = Math.max(0, x - reach); u <= Math.min(columns - 1, x + reach); ++u)
        if (!inside[v * columns + u]) return true;
    return false;
  };
  for (let y = 0; y < rows; ++y) {
    for (let x = 0; x < columns; ++x) {
      const i = y * columns + x;
      if (!inside[i] || !touchesOutside(x, y, 2 * line)) continue;
      image.data.fill(touchesOutside(x, y, line) ? 255 : 20, 4 * i, 4 * i + 3);
    }
  }
}

// A bar of the colours over a middling grey, as wide as it is put.
function rampCanvas(isSigned, opacity) {
  const canvas = el("canvas", {width: 256, height: 1, class: "ramp"});
  const context = canvas.getContext("2d");
  const image = context.createImageData(256, 1);
  const strengths = Float64Array.from({length: 256}, (_, i) => (isSigned ? (2 * i) / 255 - 1 : i / 255));
  paintHeat(image, {grey: new Uint8Array(256).fill(128)}, {strengths, signed: isSigned}, opacity);
  context.putImageData(image, 0, 0);
  return canvas;
}
