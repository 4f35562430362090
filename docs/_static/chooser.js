// The chooser: ranks the methods by the answers and shows the best three with the reason and the code.
"use strict";

(function () {
  const box = document.querySelector(".chooser");
  if (!box) return;
  const facts = JSON.parse(document.getElementById("chooser-data").textContent);
  const form = box.querySelector("form");
  const answers = box.querySelector(".answers");
  const summary = box.querySelector(".summary"); // on a phone it leads to the answers, which are far below

  function element(tag, properties, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  // The question and the trait of every answer that asks for something, among the questions put for this data.
  function wishes(kind) {
    return facts.questions
      .filter((question) => question.data.includes(kind))
      .map((question) => ({ ...question, trait: form.elements[question.key].value }))
      .filter((wish) => wish.trait);
  }

  // Methods for this data, best first: by the weight of the wishes they fulfil, then by the benchmarks.
  function rank(kind, wanted) {
    const scored = facts.methods
      .filter((method) => method.kinds.includes(kind))
      .map((method) => ({
        method,
        score: wanted.reduce((sum, wish) => sum + (method.suits.includes(wish.trait) ? wish.weight : 0), 0),
      }));
    scored.sort((a, b) => b.score - a.score); // stable: among equals the order of the benchmarks stays
    const best = scored.length ? scored[0].score : 0;
    // Two methods to compare, and a third if it fulfils nearly as much as the first.
    return scored.filter((entry, place) => place < 2 || (place < 3 && entry.score > best - 2)).map((entry) => entry.method);
  }

  function reasons(method, wanted) {
    const list = element("ul", { className: "reasons" });
    for (const wish of wanted) {
      const has = method.suits.includes(wish.trait);
      const words = has ? facts.traits[wish.trait] : facts.lacking[`${wish.key} ${wish.trait}`];
      list.append(element("li", { className: has ? "yes" : "no" }, element("span", { className: "verdict", textContent: has ? "fits: " : "but: " }), words));
    }
    return list;
  }

  function card(method, kind, wanted) {
    const asks = (trait) => Number(wanted.some((wish) => wish.trait === trait));
    const code = method.code[kind][["unknown_k", "missing", "labels", "outliers"].map(asks).join("")];
    const copy = element("button", { type: "button", textContent: "Copy the code" });
    copy.addEventListener("click", () => {
      navigator.clipboard.writeText(code).then(() => {
        copy.textContent = "Copied";
        setTimeout(() => (copy.textContent = "Copy the code"), 1500);
      });
    });
    const links = element("p", { className: "links" });
    links.append(
      element("a", { href: method.page, textContent: "Reference" }), " · ",
      element("a", { href: method.example, textContent: "Example" }), " · ",
      element("a", { href: method.guide, textContent: "Guide" }), " ",
      copy
    );
    const article = element("article", {}, element("h3", {}, element("a", { href: method.page, textContent: method.name })));
    article.append(element("p", { className: "citation", textContent: method.citation + (method.reconstructed ? " · reconstructed" : "") }));
    article.append(reasons(method, wanted));
    article.append(element("p", {}, element("strong", { textContent: "For " }), method.use + "."));
    if (method.avoid) article.append(element("p", {}, element("strong", { textContent: "Not " }), method.avoid + "."));
    if (method.extra) article.append(element("p", {}, "It needs ", element("code", { textContent: `pip install -c constraints.txt ".[${method.extra}]"` }), "."));
    article.append(element("pre", { tabIndex: 0 }, element("code", { textContent: code })), links);
    return article;
  }

  function update() {
    const kind = form.elements.data.value;
    for (const group of form.querySelectorAll("fieldset[data-for]")) {
      group.hidden = !group.dataset.for.split(" ").includes(kind);
    }
    const wanted = wishes(kind);
    const found = rank(kind, wanted);
    const number = { 1: "One method to try", 2: "Two methods to try", 3: "Three methods to try" }[found.length];
    answers.replaceChildren(element("h2", { textContent: number }), ...found.map((method) => card(method, kind, wanted)));
    summary.textContent = `Try ${found.map((method) => method.name).join(", ")}`;
    const state = new URLSearchParams({ data: kind });
    for (const wish of wanted) state.set(wish.key, wish.trait);
    history.replaceState(null, "", "#" + state);
  }

  // The answers stand in the address, so that they can be sent on.
  function read() {
    for (const group of form.querySelectorAll("fieldset")) group.querySelector("input").checked = true;
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const button = form.querySelector(`input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`);
      if (button) button.checked = true;
    }
    update();
  }

  summary.addEventListener("click", () => answers.scrollIntoView());
  form.addEventListener("change", update);
  form.addEventListener("reset", () => setTimeout(update));
  window.addEventListener("hashchange", read);
  read();
})();
