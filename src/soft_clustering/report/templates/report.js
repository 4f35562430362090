"use strict";
(() => {
  const summary = JSON.parse(document.getElementById("summary").textContent);
  const find = (selector, root = document) => root.querySelector(selector);
  // Math.min(...values) fails for very many values.
  const smallestOf = (values) => values.reduce((a, b) => Math.min(a, b));
  const largestOf = (values) => values.reduce((a, b) => Math.max(a, b));
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  function element(tag, properties = {}, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  // Light and dark ----------------------------------------------------------------------------------------------------

  const theme = find("#theme");
  function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(dark));
  }
  theme.setAttribute("aria-pressed", String(matchMedia("(prefers-color-scheme: dark)").matches));
  theme.addEventListener("click", () => setTheme(theme.getAttribute("aria-pressed") !== "true"));

  // Tables ------------------------------------------------------------------------------------------------------------

  // Missing values stay at the end in both directions.
  function sortTable(header) {
    const table = header.closest("table");
    const column = [...header.parentNode.children].indexOf(header);
    const numeric = header.classList.contains("number");
    const first = find("button", header).dataset.first || "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = header.getAttribute("aria-sort") === first ? second : first;
    const key = (row) => {
      const cell = row.children[column];
      if (!numeric) return cell.textContent.trim().toLowerCase();
      return cell.dataset.value === "" ? NaN : Number(cell.dataset.value.replace("inf", "Infinity"));
    };
    const missing = (value) => Number.isNaN(value);
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: key(row) }));
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      if (missing(a.key) || missing(b.key)) return missing(a.key) - missing(b.key);
      return a.key < b.key ? -sign : a.key > b.key ? sign : 0;
    });
    table.tBodies[0].append(...rows.map((entry) => entry.row));
    for (const other of all("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", order);
  }
  for (const button of all("table.sortable thead button")) {
    button.addEventListener("click", () => sortTable(button.closest("th")));
  }

  // A link to a model opens its description.
  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  }
  addEventListener("hashchange", openTarget);
  for (const link of all('a[href^="#model-"]')) link.addEventListener("click", () => setTimeout(openTarget));
  openTarget();

  const figures = all(".panel");
  if (!figures.length) return;

  // Memberships and colours -------------------------------------------------------------------------------------------

  const n = summary.rows.length;
  const range = (values) => {
    const low = smallestOf(values), high = largestOf(values);
    return high > low ? [low, high] : [low - 1, high + 1];
  };
  const toLight = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const toScreen = (light) => (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
  const lightOf = (hex) => [1, 3, 5].map((i) => toLight(parseInt(hex.slice(i, i + 2), 16) / 255));
  const paletteLight = summary.palette.map(lightOf);

  /** A view of the samples: for each its memberships, its colour and words. */
  function modelView(model) {
    const { n_clusters: K, largest, levels } = model.memberships;
    const bytes = Uint8Array.from(atob(levels), (character) => character.charCodeAt(0));
    const colorOf = (k) => summary.palette[model.colors[k] % summary.palette.length];
    // in the order of the colours, which models share
    const clusters = Array.from({ length: K }, (_, k) => k).sort((a, b) => model.colors[a] - model.colors[b]);
    return {
      name: model.name,
      entries(i) {
        return clusters.map((k) => ({
          name: `cluster ${k}`,
          value: (bytes[i * K + k] / 255) * largest[i],
          color: colorOf(k),
        }));
      },
      color(i) {
        let sum = 0, top = 0, bounded = 0;
        const light = [0, 0, 0];
        for (let k = 0; k < K; k++) {
          const value = bytes[i * K + k];
          sum += value;
          top = Math.max(top, value);
          bounded += Math.min((value / 255) * largest[i], 1);
          const own = paletteLight[model.colors[k] % paletteLight.length];
          for (let c = 0; c < 3; c++) light[c] += value * own[c];
        }
        if (sum === 0) return summary.unassigned;
        const certainty = (K > 1 ? ((top / sum) * K - 1) / (K - 1) : 1) * Math.min(1, bounded);
        const rgb = light.map((value) => Math.round(255 * toScreen(value / sum)));
        return `rgba(${rgb.join(",")},${(0.25 + 0.75 * certainty).toFixed(3)})`;
      },
    };
  }

  function classesView() {
    const color = (i) => summary.palette[summary.classes[i] % summary.palette.length];
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

  const className = (i) => summary.dataset.classes[summary.classes[i]].name;

  function describe(i) {
    const parts = [`Row ${summary.rows[i]}`];
    if (summary.classes) parts.push(`class ${className(i)}`);
    if (summary.disputes) parts.push(`dispute ${summary.disputes.values[i].toFixed(3)}`);
    return parts.join(", ");
  }

  const strongest = (entries) => [...entries].sort((a, b) => b.value - a.value);

  /** A membership as text; those of outliers in a possibilistic model are tiny, but not 0. */
  const amount = (value) => (value > 0 && value < 0.005 ? value.toPrecision(1) : value.toFixed(2));

  function words(entries, many) {
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

  const sum = (entries) => entries.reduce((total, entry) => total + entry.value, 0);

  function shares(entries) {
    const node = element("div", { className: "shares" });
    const whole = Math.max(1, ...entries.map((entry) => entry.value));
    for (const entry of strongest(entries).slice(0, 8)) {
      node.append(element("span", {}, entry.name), bar([entry], whole), element("span", {}, amount(entry.value)));
    }
    if (entries.length > 8) node.append(element("span", {}, `and ${entries.length - 8} smaller ones`));
    return node;
  }

  // Plots -------------------------------------------------------------------------------------------------------------

  const ranges = [0, 1].map((axis) => range(summary.points.map((point) => point[axis])));
  let selected = -1;

  class Plot {
    constructor(canvas, view) {
      this.canvas = canvas;
      this.view = view;
      this.drawn = document.createElement("canvas");
      this.width = 0;
    }

    draw() {
      const scale = devicePixelRatio || 1;
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (!width || !height) return;
      [this.width, this.height, this.scale] = [width, height, scale];
      for (const canvas of [this.canvas, this.drawn]) {
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
      }
      this.radius = Math.min(5, Math.max(1.6, width / 130)) * (n > 800 ? 0.8 : 1);
      const margin = 2 * this.radius + 4;
      const place = (value, [low, high], length) => margin + ((value - low) / (high - low)) * (length - 2 * margin);
      this.x = summary.points.map((point) => place(point[0], ranges[0], width));
      this.y = summary.points.map((point) => height - place(point[1], ranges[1], height));
      const context = this.drawn.getContext("2d");
      context.setTransform(scale, 0, 0, scale, 0, 0);
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
      this.mark();
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
      return this.x.indexOf(smallestOf(this.x));
    }
  }

  const views = { classes: classesView, disputes: disputesView };
  const panels = figures.map((figure) => {
    const kind = figure.dataset.panel;
    const view = views[kind] ? views[kind]() : modelView(summary.models[Number(kind)]);
    return { figure, view, plot: new Plot(find("canvas", figure), view), readout: find(".readout", figure) };
  });

  const tooltip = find("#tooltip"), dialog = find("#large"), announcement = find("#announcement");
  const large = new Plot(find("#large-canvas"), panels[0].view);
  let enlarged = 0;

  function select(i) {
    if (i === selected) return;
    selected = i;
    find("#sample").textContent = i < 0 ? "No sample is selected." : describe(i);
    for (const { view, plot, readout } of panels) {
      plot.mark();
      readout.replaceChildren();
      if (i < 0) continue;
      const entries = view.entries(i);
      readout.append(bar(entries, Math.max(1, sum(entries))), words(entries, 1));
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
      if (selected >= 0) announcement.textContent = `${describe(selected)}: ${words(plot.view.entries(selected), 3)}`;
    });
  }

  // Drawn when they come into view: a long page opens at once.
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

  let pause;
  addEventListener("resize", () => {
    clearTimeout(pause);
    pause = setTimeout(() => {
      for (const { plot } of panels) if (plot.width && plot.width !== plot.canvas.clientWidth) plot.draw();
      if (dialog.open) large.draw();
    }, 150);
  });

  // One model, large --------------------------------------------------------------------------------------------------

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
    find("#plots").append(announcement);
    panels[enlarged].plot.canvas.focus();
  });

  for (const button of all("button.select")) {
    button.addEventListener("click", () => {
      select(Number(button.dataset.position));
      find("#plots").scrollIntoView();
    });
  }
})();
