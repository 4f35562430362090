// The pictures: points in the plane, or segmented images, on canvases that are drawn when they come into view.

// Axes --------------------------------------------------------------------------------------------------------------

const isImage = Boolean(summary.image);
// beyond this ratio of the ranges, true proportions would leave a line
const LONGEST = 10;

/** The coordinates that can be axes: the plane first, then features. */
const coordinates = [
  ...[0, 1].map((axis) => ({ name: summary.plane.axes[axis], values: summary.points.map((point) => point[axis]) })),
  ...summary.plane.features,
];

function planeOf(across, up) {
  const axes = [coordinates[across], coordinates[up]];
  const ranges = axes.map((axis) => range(axis.values));
  const lengths = ranges.map(([low, high]) => high - low);
  const ratio = lengths[0] / lengths[1];
  const toScale = ratio <= LONGEST && ratio >= 1 / LONGEST;
  return { axes, ranges, toScale, aspect: toScale ? Math.min(2.2, Math.max(1, ratio)) : 4 / 3 };
}

let plane = planeOf(0, 1);
let selected = -1;

function proportions() {
  if (isImage || summary.links) return "";
  return plane.toScale
    ? "One unit is as long on both axes."
    : "Not to scale: the range of one axis is more than ten times that of the other.";
}

/** Round numbers between two values. */
function ticks(low, high, many) {
  const rough = (high - low) / many;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

// One picture -------------------------------------------------------------------------------------------------------

class Plot {
  constructor(canvas, view) {
    this.canvas = canvas;
    this.view = view;
    this.drawn = document.createElement("canvas");
    this.width = 0;
    this.hasAxes = canvas.hasAttribute("data-axes") && !isImage && !summary.links;
  }

  /** Draw in the size that the canvas has on the page; with a larger scale for paper. */
  draw(scale = devicePixelRatio || 1) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    Object.assign(this, { width, height, scale });
    for (const canvas of [this.canvas, this.drawn]) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    this.radius = Math.min(5, Math.max(1.6, width / 130)) * (n > 800 ? 0.8 : 1);
    this.place();
    const context = this.drawn.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    if (this.view.picture) this.drawPicture(context);
    else this.drawPoints(context);
    this.mark();
  }

  /** Find the place of each sample. */
  place() {
    const margin = 2 * this.radius + 4;
    const edges = this.hasAxes ? { left: 44, bottom: 44, top: margin, right: margin } : null;
    const { left, bottom, top, right } = edges || { left: margin, bottom: margin, top: margin, right: margin };
    const inner = [this.width - left - right, this.height - top - bottom];
    const lengths = isImage ? [summary.image.width, summary.image.height] : plane.ranges.map(([low, high]) => high - low);
    let scales = inner.map((length, axis) => length / lengths[axis]);
    if (plane.toScale || isImage) scales = scales.map(() => Math.min(...scales));
    const start = inner.map((length, axis) => (length - scales[axis] * lengths[axis]) / 2);
    if (isImage) {
      // a sample is the middle of its pixel; rows count downwards
      this.frame = [left + start[0], top + start[1], scales[0] * lengths[0], scales[1] * lengths[1]];
      this.toX = (value) => this.frame[0] + (value + 0.5) * scales[0];
      this.toY = (value) => this.frame[1] + (0.5 - value) * scales[1];
    } else {
      this.frame = [left, top, ...inner];
      this.toX = (value) => left + start[0] + (value - plane.ranges[0][0]) * scales[0];
      this.toY = (value) => top + inner[1] - start[1] - (value - plane.ranges[1][0]) * scales[1];
      this.scales = scales;
    }
    this.x = plane.axes[0].values.map(this.toX);
    this.y = plane.axes[1].values.map(this.toY);
  }

  drawPicture(context) {
    if (this.source !== this.view.picture) {
      this.source = this.view.picture;
      this.image = new Image();
      this.image.onload = () => this.draw(this.scale);
      this.image.src = this.view.picture;
    }
    if (!this.image.complete) return;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image, ...this.frame);
  }

  drawPoints(context) {
    if (this.hasAxes) this.drawAxes(context);
    context.strokeStyle = "rgba(128, 128, 128, 0.4)";
    context.lineWidth = 0.7;
    context.beginPath();
    for (const [i, j] of summary.links ? summary.links.pairs : []) {
      context.moveTo(this.x[i], this.y[i]);
      context.lineTo(this.x[j], this.y[j]);
    }
    context.stroke();
    for (let i = 0; i < n; i++) {
      context.fillStyle = this.view.color(i);
      context.beginPath();
      context.arc(this.x[i], this.y[i], this.radius, 0, 7);
      context.fill();
    }
  }

  drawAxes(context) {
    const [left, top, width, height] = this.frame;
    const [right, bottom] = [left + width, top + height];
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = "#404040";
    context.strokeStyle = "rgba(0, 0, 0, 0.1)";
    context.lineWidth = 1;
    // the whole frame has ticks, also beyond the range of the samples
    const lowX = plane.ranges[0][0] - (this.toX(plane.ranges[0][0]) - left) / this.scales[0];
    const lowY = plane.ranges[1][0] - (bottom - this.toY(plane.ranges[1][0])) / this.scales[1];
    context.textAlign = "center";
    for (const value of ticks(lowX, lowX + width / this.scales[0], Math.max(5, width / 90))) {
      const x = this.toX(value);
      context.strokeRect(x, top, 0, height);
      context.fillText(String(value), x, bottom + 15);
    }
    context.textAlign = "right";
    for (const value of ticks(lowY, lowY + height / this.scales[1], Math.max(4, height / 60))) {
      const y = this.toY(value);
      context.strokeRect(left, y, width, 0);
      context.fillText(String(value), left - 5, y + 4);
    }
    context.textAlign = "center";
    context.fillText(plane.axes[0].name, (left + right) / 2, this.height - 8, width);
    context.save();
    context.translate(12, (top + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(plane.axes[1].name, 0, 0, height);
    context.restore();
  }

  /** Show the points, and a ring around the selected one. */
  mark() {
    if (!this.width) return;
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.drawn, 0, 0);
    if (selected < 0) return;
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    for (const [color, lineWidth] of [["#ffffff", 5], ["#000000", 2]]) {
      context.strokeStyle = color;
      context.lineWidth = lineWidth;
      context.beginPath();
      context.arc(this.x[selected], this.y[selected], this.radius + 3.5, 0, 7);
      context.stroke();
    }
  }

  /** The sample nearest to a place, -1 if none is near. */
  at(x, y) {
    let best = -1, smallest = 24 ** 2;
    for (let i = 0; i < n; i++) {
      const distance = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (distance < smallest) [best, smallest] = [i, distance];
    }
    return best;
  }

  /** The nearest sample in the direction of an arrow key. */
  towards([dx, dy]) {
    if (selected < 0) return this.leftmost();
    let best = selected, smallest = Infinity;
    for (let i = 0; i < n; i++) {
      const [x, y] = [this.x[i] - this.x[selected], this.y[i] - this.y[selected]];
      const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
      const distance = along + 2 * across;
      if (along > 0 && across <= 2 * along && distance < smallest) [best, smallest] = [i, distance];
    }
    return best;
  }

  leftmost() {
    return this.x.indexOf(this.x.reduce((a, b) => Math.min(a, b)));
  }
}
