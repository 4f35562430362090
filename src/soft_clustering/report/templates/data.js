// The data of the page, and how memberships become colours, bars and words.

const summary = JSON.parse(document.getElementById("summary").textContent);
const { rows, dataset, palette } = summary;
const n = rows.length;

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** The smallest and the largest value; Math.min(...values) fails for very many values. */
function range(values) {
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  return high > low ? [low, high] : [low - 1, high + 1];
}

// Samples -----------------------------------------------------------------------------------------------------------

const sampleName = (i) => (dataset.ids ? dataset.ids[i] : `Row ${rows[i]}`);
const className = (i) => dataset.classes[summary.classes[i]].name;

function describe(i) {
  const parts = [sampleName(i)];
  if (summary.classes) parts.push(`class ${className(i)}`);
  if (summary.disputes) parts.push(`dispute ${summary.disputes.values[i].toFixed(3)}`);
  return parts.join(", ");
}

// Colours -----------------------------------------------------------------------------------------------------------

// Mixtures are taken in amounts of light, as in the pictures of the Python package.
const toLight = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const toScreen = (light) => (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
const lightOf = (hex) => [1, 3, 5].map((i) => toLight(parseInt(hex.slice(i, i + 2), 16) / 255));
const paletteLight = palette.map(lightOf);
const unassignedLight = lightOf(summary.unassigned);

// The last column of a model may be noise, whose colour has the number -1.
const isNoise = (model, k) => model.colors[k] < 0;
const colorOf = (model, k) => (isNoise(model, k) ? summary.unassigned : palette[model.colors[k] % palette.length]);
const lightOfColumn = (model, k) => (isNoise(model, k) ? unassignedLight : paletteLight[model.colors[k] % palette.length]);

// Views: for each sample a colour, and entries with a name, a value and a colour --------------------------------------

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Memberships of a model; they are decoded when they are first needed. */
function membershipsOf(model) {
  const { n_clusters: K, largest, levels } = model.memberships;
  const bytes = (model.bytes ||= bytesOf(levels));
  return { K, level: (i, k) => bytes[i * K + k], value: (i, k) => (bytes[i * K + k] / 255) * largest[i] };
}

function modelView(model) {
  const K = model.memberships.n_clusters;
  // in the order of the colours, which models share
  const clusters = Array.from({ length: K }, (_, k) => k).sort((a, b) => model.colors[a] - model.colors[b]);
  return {
    name: model.name,
    picture: model.picture,
    entries(i) {
      const { value } = membershipsOf(model);
      return clusters.map((k) => ({
        name: isNoise(model, k) ? "noise" : `cluster ${k}`,
        value: value(i, k),
        color: colorOf(model, k),
      }));
    },
    color(i) {
      const { level, value } = membershipsOf(model);
      let total = 0, top = 0, bounded = 0;
      const light = [0, 0, 0];
      for (let k = 0; k < K; k++) {
        const share = level(i, k);
        total += share;
        top = Math.max(top, share);
        bounded += Math.min(value(i, k), 1);
        const own = lightOfColumn(model, k);
        for (let c = 0; c < 3; c++) light[c] += share * own[c];
      }
      if (total === 0) return summary.unassigned;
      const certainty = (K > 1 ? ((top / total) * K - 1) / (K - 1) : 1) * Math.min(1, bounded);
      const rgb = light.map((amount) => Math.round(255 * toScreen(amount / total)));
      return `rgba(${rgb.join(",")},${(0.25 + 0.75 * certainty).toFixed(3)})`;
    },
  };
}

function classesView() {
  const color = (i) => palette[summary.classes[i] % palette.length];
  return {
    name: "Classes",
    color,
    entries: (i) => [{ name: `class ${className(i)}`, value: 1, color: color(i) }],
  };
}

function disputesView() {
  const values = summary.disputes.values;
  const [low, high] = range(values);
  return {
    name: "Dispute",
    color: (i) => `rgba(164,38,44,${(0.06 + (0.94 * (values[i] - low)) / (high - low)).toFixed(3)})`,
    entries: (i) => [{ name: "dispute", value: values[i], color: "#a4262c" }],
  };
}

/** The samples without the colours of a model. */
const dataView = () => ({
  name: "Samples",
  picture: summary.image && summary.image.picture,
  color: () => "rgba(0,95,158,0.55)",
  entries: () => [],
});

// Bars and words ----------------------------------------------------------------------------------------------------

const strongest = (entries) => [...entries].sort((a, b) => b.value - a.value);
const sum = (entries) => entries.reduce((total, entry) => total + entry.value, 0);

/** A membership as text; those of outliers in a possibilistic model are tiny, but not 0. */
const amount = (value) => (value > 0 && value < 0.005 ? value.toPrecision(1) : value.toFixed(2));

function words(entries, many) {
  if (!entries.length) return "";
  const positive = strongest(entries).filter((entry) => entry.value > 0);
  return positive.slice(0, many).map((entry) => `${entry.name} ${amount(entry.value)}`).join(", ") || "no cluster";
}

function bar(entries, whole) {
  const node = element("span", { className: "bar" });
  for (const entry of entries) {
    const part = element("i");
    part.style.width = `${(100 * entry.value) / whole}%`;
    part.style.background = entry.color;
    node.append(part);
  }
  return node;
}

function shares(entries) {
  const node = element("div", { className: "shares" });
  const whole = Math.max(1, ...entries.map((entry) => entry.value));
  for (const entry of strongest(entries).slice(0, 8)) {
    node.append(element("span", {}, entry.name), bar([entry], whole), element("span", {}, amount(entry.value)));
  }
  if (entries.length > 8) node.append(element("span", {}, `and ${entries.length - 8} smaller ones`));
  return node;
}
