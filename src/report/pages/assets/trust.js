// How far a method can be trusted: its verdict, and the answer along its ranking beside the band of random rankings.
const kTrust = {width: 260, height: 150, left: 34, right: 18, top: 18, bottom: 30};

class TrustPlot {
  constructor(title, band, shares, own, range) {
    this.range = range;
    this.node = svg("svg", {
      class: "trust-plot",
      viewBox: `0 0 ${kTrust.width} ${kTrust.height}`,
      role: "img",
      "aria-label": `${title}: ${own.map((value) => value.toFixed(3)).join(", ")}`
    });
    this.axes(title);
    const edge = (values) => band.shares.map((share, i) => `${this.x(share)},${this.y(values[i])}`);
    this.node.append(svg("polygon", {class: "band", points: [...edge(band.high), ...edge(band.low).reverse()].join(" ")}));
    this.node.append(svg("polyline", {class: "band-mean", points: edge(band.mean).join(" ")}));
    this.node.append(
        svg("polyline", {class: "own", points: shares.map((share, i) => `${this.x(share)},${this.y(own[i])}`).join(" ")}));
  }

  x(share) {
    return kTrust.left + share * (kTrust.width - kTrust.left - kTrust.right);
  }

  y(value) {
    const [low, high] = this.range;
    return kTrust.height - kTrust.bottom - ((value - low) / (high - low)) * (kTrust.height - kTrust.top - kTrust.bottom);
  }

  axes(title) {
    const [low, high] = this.range;
    const bottom = kTrust.height - kTrust.bottom;
    this.node.append(
        svg("text", {class: "title", x: kTrust.left, y: 11}, title),
        svg("line", {x1: kTrust.left, x2: kTrust.width - kTrust.right, y1: bottom, y2: bottom}),
        svg("line", {x1: kTrust.left, x2: kTrust.left, y1: kTrust.top, y2: bottom}),
        svg("text", {class: "tick end", x: kTrust.left - 4, y: kTrust.top + 4}, high.toFixed(2)),
        svg("text", {class: "tick end", x: kTrust.left - 4, y: bottom}, low.toFixed(2)));
    [0, 0.5, 1].forEach(
        (share) => this.node.append(
            svg("text", {class: "tick", x: this.x(share), y: bottom + 14}, `${100 * share} %`)));
  }
}

// Nothing where trust was not measured.
function trustBox(method) {
  if (!method.trust || !data.trust) return null;
  const {curve, lines, notes} = method.trust;
  const {band} = data.trust;
  const values = [...curve.removed, ...curve.kept, ...band.removed.low, ...band.removed.high, ...band.kept.low, ...band.kept.high];
  const low = Math.min(...values), high = Math.max(...values);
  const range = high > low ? [low, high] : [low - 0.5, high + 0.5];
  const plots = [
    new TrustPlot(
        "highest-ranked units hidden", {shares: band.shares, ...band.removed}, curve.shares, curve.removed, range),
    new TrustPlot("only they are kept", {shares: band.shares, ...band.kept}, curve.shares, curve.kept, range)
  ];
  return el(
      "div", {class: "trust"}, ...lines.map((line) => el("p", {class: "small"}, line)),
      el("div", {class: "trust-plots"}, ...plots.map((plot) => plot.node)), notesList(notes));
}
