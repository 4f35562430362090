"""The built site as a reader meets it: links, barriers, phones, search, the chooser. It is built by Sphinx before."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from soft_clustering._registry import REGISTRY

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
PAGES = (
    "index.html",
    "choose.html",
    "guide/families/fuzzy.html",
    "gallery/index.html",
    "gallery/fuzzy/plot_fcm.html",
    "api/generated/soft_clustering.FCM.html",
    "results.html",
)

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="the site is not built: sphinx-build docs docs/_build/html"
)


class Links(HTMLParser):
    """What a page refers to, and the places in it that can be referred to."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.places = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.targets |= {given[key] for key in ("href", "src") if given.get(key)}
        self.places |= {given[key] for key in ("id", "name") if given.get(key)}


def test_no_link_is_broken():
    paths = [path for path in SITE.rglob("*.html") if "_static" not in path.parts]  # the theme's templates
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in paths}
    broken = set()
    for page, links in pages.items():
        for target in links.targets:
            scheme, host, path, _, place = urlsplit(target)
            if scheme or host:
                continue
            there = (page.parent / unquote(path)).resolve() if path else page
            known = pages[there].places if there in pages else set()
            if not there.exists() or (place and there in pages and unquote(place) not in known):
                broken.add((str(page.relative_to(SITE)), target))
    assert len(pages) > 150
    assert broken == set()


@pytest.fixture
def open_page(browser):
    """Open a page of the site, on a screen of some width, for a reader who prefers light or dark."""

    def open_page(name, width=1400, scheme="light", answers=""):
        browser.look(width, 900, scheme)
        browser.visit(SITE / name, answers=answers)
        return browser

    yield open_page
    browser.look_as_before()


def wait_for(page, script, seconds=20):
    """What a script returns, once it is true."""
    return page.run(
        "const [script, seconds] = arguments, end = Date.now() + 1000 * seconds, ask = new Function(script);"
        "return new Promise(done => (function again() {"
        "  const answer = ask(); answer || Date.now() > end ? done(answer) : setTimeout(again, 50); })())",
        script,
        seconds,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_for_everybody(open_page, name, width, scheme):
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed: pip install axe-core-python")
    page = open_page(name, width, scheme)
    assert wait_for(page, "return document.documentElement.dataset.theme") == scheme
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.serious_barriers() == []
    assert [url for url in page.fetched() if not url.startswith(("file:", "data:"))] == []  # it works offline


def test_formulas_are_set(open_page):
    page = open_page("guide/families/fuzzy.html")
    assert wait_for(page, "return document.querySelectorAll('mjx-container').length") >= 5


def test_search_works_offline(open_page):
    page = open_page("search.html")
    page.run("location.search = '?q=fuzzifier'")
    found = "#search-results a[href*='guide/families/fuzzy.html']"
    assert wait_for(page, f'return document.querySelector("{found}") !== null')


# The chooser ----------------------------------------------------------------------------------------------------------

SHOWN = "return [...document.querySelectorAll('.answers h3')].map(node => node.textContent)"


def test_answers_change_the_methods(open_page):
    page = open_page("choose.html")
    first = page.run(SHOWN)
    assert len(first) == 3
    page.run("document.querySelector(\"input[name='data'][value='features']\").focus()")
    page.press("Right", "Right")  # a graph: the arrows choose among the buttons of a question
    of_graphs = page.run(SHOWN)
    assert len(of_graphs) == 3
    assert set(of_graphs) <= {row.name for row in REGISTRY if row.family == "graphs"}
    hidden = "return [...document.querySelectorAll('.chooser fieldset')].filter(node => node.hidden).length"
    assert page.run(hidden) > 0
    assert page.run("return location.hash") == "#data=graph"
    page.run("document.querySelector('.chooser button[type=reset]').click()")
    assert wait_for(page, f"return ({SHOWN.removeprefix('return ')}).join() === {json.dumps(','.join(first))}")


def test_address_holds_the_answers(open_page):
    page = open_page("choose.html", answers="data=features&labels=labels&k=unknown_k")
    assert set(page.run(SHOWN)) == {"SFCMEP", "SoftKSC"}
    assert "fits: uses labels of a few samples" in page.run("return document.querySelector('.reasons').innerText")
    code = page.run("return document.querySelector('.answers pre').innerText")
    assert ".fit(X, y)" in code


def test_phone_shows_the_methods_beside_the_questions(open_page):
    page = open_page("choose.html", width=390)
    place = page.run(
        "const button = document.querySelector('.chooser .summary'), place = button.getBoundingClientRect();"
        "return [button.textContent, place.top, place.bottom, innerHeight]"
    )
    assert place[0] == "Try " + ", ".join(page.run(SHOWN))
    assert 0 < place[1] < place[2] <= place[3]  # in the window, although the answers are far below
    page.run("document.querySelector('.chooser .summary').click()")
    assert wait_for(page, "return document.querySelector('.answers').getBoundingClientRect().top < innerHeight / 2")


def test_every_method_is_an_answer(open_page):
    """Every method is among the first three for some answers; questions that do not concern the data are left out."""
    page = open_page("choose.html")
    found = page.run(
        """
        const form = document.querySelector(".chooser form"), shown = new Set();
        for (const data of [...form.elements.data].map(button => button.value)) {
          form.elements.data.value = data;
          form.dispatchEvent(new Event("change"));
          const groups = [...form.querySelectorAll("fieldset[data-for]")].filter(node => !node.hidden);
          const choose = rest => {
            if (!rest.length) {
              form.dispatchEvent(new Event("change"));
              for (const node of document.querySelectorAll(".answers h3")) shown.add(node.textContent);
              return;
            }
            for (const button of rest[0].querySelectorAll("input")) { button.checked = true; choose(rest.slice(1)); }
            rest[0].querySelector("input").checked = true;
          };
          choose(groups);
        }
        return [...shown];
        """
    )
    assert set(found) == {row.name for row in REGISTRY}


def test_map_leads_to_every_method():
    links = Links((SITE / "choose.html").read_text(encoding="utf-8")).targets
    assert {f"api/generated/soft_clustering.{row.name}.html" for row in REGISTRY} <= links
