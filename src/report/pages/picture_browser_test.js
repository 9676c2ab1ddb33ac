// Runs at the end of a sample page of a picture: does what a reader does and writes down what then
// stands there.
const pointAt = (frame, type, row, column) => {
  const box = frame.getBoundingClientRect();
  const x = box.left + ((column + 0.5) / picture.columns) * box.width;
  const y = box.top + ((row + 0.5) / picture.rows) * box.height;
  frame.dispatchEvent(new PointerEvent(type, {bubbles: true, clientX: x, clientY: y}));
};
const framesOfGrid = () => all(".picture-grid .panel-frame");
// Read from a copy: browsers complain about canvases that are read often.
const pixelsOf = (canvas) => {
  const copy = el("canvas", {width: canvas.width, height: canvas.height});
  const context = copy.getContext("2d", {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  return context.getImageData(0, 0, canvas.width, canvas.height).data;
};
// The colour in the middle of a patch.
const colourAt = (frame, row, column) => {
  const canvas = frame.querySelector("canvas");
  const x = Math.floor(((column + 0.5) / picture.columns) * canvas.width);
  const y = Math.floor(((row + 0.5) / picture.rows) * canvas.height);
  return [...pixelsOf(canvas).subarray(4 * (y * canvas.width + x)).slice(0, 3)];
};
const press = (key) =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const isGrey = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) < 3;

const readHeat = (step) => {
  const frames = framesOfGrid();
  step("panels", () => frames.length);
  step("classes", () => all(".class-name strong").map((node) => node.textContent));
  step("plain colour", () => colourAt(frames[0], 2, 2));
  step("blocks colour", () => {
    document.querySelector("button[data-value=blocks]").click();
    return [colourAt(frames[1], 7, 4), colourAt(frames[1], 0, 13)];
  });
  step("no opacity is grey", () => {
    const slider = document.querySelector("input[type=range]");
    slider.value = 0;
    slider.dispatchEvent(new Event("input"));
    const grey = isGrey(colourAt(frames[1], 7, 4));
    slider.value = 85;
    slider.dispatchEvent(new Event("input"));
    return [grey, isGrey(colourAt(frames[1], 7, 4))];
  });
  step("outline whites", () => {
    choose("Otsu's threshold", "outline");
    const pixels = pixelsOf(frames[1].querySelector("canvas"));
    let whites = 0;
    for (let i = 0; i < pixels.length; i += 4)
      whites += pixels[i] === 255 && pixels[i + 1] === 255 && pixels[i + 2] === 255;
    return whites;
  });
  step("segment of the first method", () => {
    const inside = otsuSegment(pictureGrid.scored[0].heat.strengths);
    const columns = pictureGrid.scored[0].panel.base.size.columns;
    const cell = columns / picture.columns;
    const patches = [];
    for (let patch = 0; patch < kPatches; ++patch) {
      const x = Math.floor(((patch % picture.columns) + 0.5) * cell);
      const y = Math.floor((Math.floor(patch / picture.columns) + 0.5) * cell);
      if (inside[y * columns + x]) patches.push(patch);
    }
    choose("Otsu's threshold", "none");
    document.querySelector("button[data-value=smooth]").click();
    return patches;
  });
};

const readPatches = (step) => {
  const frames = framesOfGrid();
  step("hover marks", () => {
    pointAt(frames[1], "pointermove", 3, 5);
    return all(".patch-mark:not(.pinned):not([hidden])").length;
  });
  step("hover tells", () => document.getElementById("tip").textContent);
  step("arrows move to", () => {
    frames[2].focus();
    press("ArrowDown");
    press("ArrowRight");
    return document.querySelector("#tip strong").textContent;
  });
  step("class token attends", () => document.getElementById("row-words").textContent);
  step("enter asks for attention of", () => {
    press("Enter");
    return document.querySelector("#row-words strong").textContent;
  });
  step("click in the attention panel", () => {
    choose("Layer", "1");
    choose("Head", "2");
    pointAt(document.getElementById("attention-panel"), "click", 6, 7);
    return document.getElementById("row-words").textContent;
  });
  step("thumbnails", () => all(".thumbnail").length);
  step("thumbnail chooses", () => {
    all(".thumbnail")[3].click();
    return document.querySelector("select[aria-label=Head]").value;
  });
  step("back to the class token", () => {
    all("#attention .controls button")[0].click();
    return document.querySelector("#row-words strong").textContent;
  });
  step("table rows", () => {
    document.querySelector("details").open = true;
    document.querySelector("details").dispatchEvent(new Event("toggle"));
    return all("tbody tr").length;
  });
};

readPage((step) => {
  readHeat(step);
  readPatches(step);
});
