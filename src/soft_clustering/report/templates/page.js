// What the reader does: select samples, enlarge pictures, choose axes, download memberships, print.

const special = { classes: classesView, disputes: disputesView, data: dataView };
const panels = all(".panel").map((figure) => {
  const kind = figure.dataset.panel;
  const view = special[kind] ? special[kind]() : modelView(summary.models[Number(kind)]);
  return { figure, view, plot: new Plot(find("canvas", figure), view), readout: find(".readout", figure) };
});
const tooltip = find("#tooltip"), dialog = find("#large"), announcement = find("#announcement");
const large = new Plot(find("#large-canvas"), panels[0].view);
let enlarged = 0;

// A selected sample -------------------------------------------------------------------------------------------------

function select(i) {
  if (i === selected) return;
  selected = i;
  for (const node of all(".selected")) node.textContent = i < 0 ? "No sample is selected." : describe(i);
  for (const { view, plot, readout } of panels) {
    plot.mark();
    readout.replaceChildren();
    if (i < 0) continue;
    const entries = view.entries(i);
    if (entries.length) readout.append(bar(entries, Math.max(1, sum(entries))), words(entries, 1));
  }
  if (dialog.open) showLarge();
}

function showTooltip(view, event) {
  tooltip.replaceChildren(element("strong", {}, describe(selected)), shares(view.entries(selected)));
  tooltip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const right = event.clientX + 16 + width < innerWidth;
  const below = event.clientY + 16 + height < innerHeight;
  tooltip.style.left = `${Math.max(4, right ? event.clientX + 16 : event.clientX - 16 - width)}px`;
  tooltip.style.top = `${Math.max(4, below ? event.clientY + 16 : event.clientY - 16 - height)}px`;
}

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function listen(plot, enter) {
  const point = (event) => {
    const box = plot.canvas.getBoundingClientRect();
    const i = plot.at(event.clientX - box.left, event.clientY - box.top);
    if (i >= 0) select(i);
    if (i >= 0 && plot !== large) showTooltip(plot.view, event);
    else tooltip.hidden = true;
  };
  plot.canvas.addEventListener("pointermove", point);
  plot.canvas.addEventListener("pointerdown", point);
  plot.canvas.addEventListener("pointerleave", () => (tooltip.hidden = true));
  plot.canvas.addEventListener("keydown", (event) => {
    if (arrows[event.key]) select(plot.towards(arrows[event.key]));
    else if (event.key === "Home") select(plot.leftmost());
    else if (event.key === "Enter" && enter) enter();
    else return;
    event.preventDefault();
    if (selected < 0) return;
    const entries = words(plot.view.entries(selected), 3);
    announcement.textContent = describe(selected) + (entries && `: ${entries}`);
  });
}

for (const button of all("button.select")) {
  button.addEventListener("click", () => {
    select(Number(button.dataset.position));
    announcement.textContent = `${describe(selected)} is marked in the pictures`;
    find(button.closest("#answer") ? "#answer .panel" : "#pictures").scrollIntoView({ block: "nearest" });
  });
}

// Drawn when they come into view: a long page opens at once ----------------------------------------------------------

const visible = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const panel = panels.find(({ figure }) => figure === entry.target);
    if (entry.isIntersecting && !panel.plot.width) panel.plot.draw();
  }
}, { rootMargin: "300px" });
panels.forEach(({ figure, plot }, number) => {
  visible.observe(figure);
  listen(plot, () => enlarge(number));
  find(".enlarge", figure).addEventListener("click", () => enlarge(number));
  plot.canvas.addEventListener("dblclick", () => enlarge(number));
});

/** Draw again what has been drawn, or only what has another width by now. */
function redraw(whenResized = false) {
  for (const { plot } of panels) {
    if (plot.width && !(whenResized && plot.width === plot.canvas.clientWidth)) plot.draw();
  }
  if (dialog.open) large.draw();
}

let pause;
addEventListener("resize", () => {
  clearTimeout(pause);
  pause = setTimeout(() => redraw(true), 150);
});

// Axes --------------------------------------------------------------------------------------------------------------

function showPlane() {
  document.documentElement.style.setProperty("--aspect", isImage ? summary.image.width / summary.image.height : plane.aspect);
  for (const node of all(".proportions")) node.textContent = proportions();
  if (!proportions()) return;
  const [across, up] = plane.axes.map((axis) => axis.name);
  for (const node of all(".places")) node.textContent = `Across: ${across}. Up: ${up}. ${proportions()}`;
}

const choices = all("select.axis");
for (const choice of choices) {
  choice.addEventListener("change", () => {
    plane = planeOf(...choices.map((other) => Number(other.value)));
    showPlane();
    redraw();
  });
}
showPlane();

// One picture, large ------------------------------------------------------------------------------------------------

function showLarge() {
  large.mark();
  find("#large-sample").replaceChildren(
    ...(selected < 0 ? [] : [element("strong", {}, describe(selected)), shares(large.view.entries(selected))]),
  );
}

function enlarge(number) {
  enlarged = (number + panels.length) % panels.length;
  large.view = panels[enlarged].view;
  find("#large-title").textContent = large.view.name;
  large.canvas.setAttribute("aria-label", `${large.view.name}. Arrow keys go from sample to sample.`);
  tooltip.hidden = true;
  if (!dialog.open) {
    dialog.append(announcement); // what is behind an open dialog is not read aloud
    dialog.showModal();
    large.canvas.focus();
  }
  large.draw();
  showLarge();
}

listen(large, null);
find("#previous").addEventListener("click", () => enlarge(enlarged - 1));
find("#next").addEventListener("click", () => enlarge(enlarged + 1));
find("#close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => {
  find("main").append(announcement);
  const { plot, figure } = panels[enlarged];
  const hidden = figure.closest("details");
  if (hidden) hidden.open = true;
  plot.canvas.focus();
});

// Memberships as CSV ------------------------------------------------------------------------------------------------

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A line per sample shown, in the order of the rows: row, id, memberships, label, as soft-clustering fit writes them. */
function csvOf(model) {
  const { K, value } = membershipsOf(model);
  const { exact } = model.memberships;
  const view = exact && new DataView(bytesOf(exact).buffer);
  const text = (i, k) => String(exact ? Number(view.getFloat32(4 * (i * K + k), true).toPrecision(7)) : Number(value(i, k).toPrecision(4)));
  const clusters = Array.from({ length: K }, (_, k) => k);
  const lines = [["row", ...(dataset.ids ? ["id"] : []), ...clusters.map((k) => (isNoise(model, k) ? "noise" : `cluster_${k}`)), "label"].join(",")];
  const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => rows[a] - rows[b]);
  for (const i of order) {
    const texts = clusters.map((k) => text(i, k));
    const values = texts.map(Number);
    const top = Math.max(...values);
    const first = values.indexOf(top);
    const noise = isNoise(model, K - 1) && values[K - 1] === top; // a tie is noise
    const label = top > 0 && !noise ? first : -1;
    lines.push([rows[i], ...(dataset.ids ? [quoted(dataset.ids[i])] : []), ...texts, label].join(","));
  }
  return `${lines.join("\n")}\n`;
}

function download(model) {
  const address = URL.createObjectURL(new Blob([csvOf(model)], { type: "text/csv" }));
  const name = `${dataset.name} ${model.name} memberships`.replace(/[^\p{L}\p{N}._-]+/gu, "_");
  element("a", { href: address, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

for (const button of all("button.download")) {
  button.addEventListener("click", () => {
    const number = button.dataset.model ?? find("#download-model").value;
    download(summary.models[Number(number)]);
  });
}

// Paper shows what a screen shows on demand --------------------------------------------------------------------------

let opened = [];
addEventListener("beforeprint", () => {
  opened = all("details:not([open])");
  for (const node of opened) node.open = true;
  for (const { plot } of panels) plot.draw(3);
});
addEventListener("afterprint", () => {
  for (const node of opened) node.open = false;
  redraw();
});
