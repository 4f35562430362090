// Light and dark, tables that sort, the heat map, links that open what they lead to.

const theme = find("#theme");
const isDark = () => theme.getAttribute("aria-pressed") === "true";
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.setAttribute("aria-pressed", String(dark));
}
theme.setAttribute("aria-pressed", String(matchMedia("(prefers-color-scheme: dark)").matches));
theme.addEventListener("click", () => setTheme(!isDark()));

/** Sort by a column, in the other direction the second time; missing values stay at the end. */
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
  const sign = order === "ascending" ? 1 : -1;
  const keyed = [...table.tBodies[0].rows].map((row) => ({ row, key: key(row) }));
  keyed.sort((a, b) => {
    const missing = [Number.isNaN(a.key), Number.isNaN(b.key)];
    if (missing[0] || missing[1]) return missing[0] - missing[1];
    return a.key < b.key ? -sign : a.key > b.key ? sign : 0;
  });
  table.tBodies[0].append(...keyed.map((entry) => entry.row));
  for (const other of all("th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", order);
}
for (const button of all("table.sortable thead button")) {
  button.addEventListener("click", () => sortTable(button.closest("th")));
}

// On a narrow page the cells of the heat map have no room for numbers: the line below names the one pointed at.
for (const table of all("table.heat")) {
  const line = find(".heat-line");
  const heads = all("thead th", table);
  const show = (event) => {
    const cell = event.target.closest("td");
    if (!cell || cell.closest("thead")) return;
    const [first, second] = [cell.parentNode.firstElementChild, heads[cell.cellIndex - 1]];
    line.textContent = `${first.title} and ${second.title}: ${cell.textContent}`;
  };
  table.addEventListener("pointermove", show);
  table.addEventListener("pointerdown", show);
}

/** A link to a model opens its description. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") target.open = true;
}
addEventListener("hashchange", openTarget);
for (const link of all('a[href^="#model-"]')) link.addEventListener("click", () => setTimeout(openTarget));
openTarget();
