"""The page that a report with a recommendation is, in a browser: what is seen first, on demand, on paper, by whom."""

import base64
import io
import json
import shutil
import subprocess
import time

import numpy as np
import pandas
import pytest
import realistic
from PIL import Image
from sklearn.datasets import load_iris

from soft_clustering.datasets import load_graph
from soft_clustering.plotting.palette import membership_shares
from soft_clustering.report import summarize_comparison, write
from soft_clustering.report.html import memberships_in

X = load_iris().data
PAPER = 703  # the width of A4 between its margins, in pixels of CSS
# whether a canvas has anything on it
DRAWN = """const drawn = canvas => {
  const blank = document.createElement('canvas');
  [blank.width, blank.height] = [canvas.width, canvas.height];
  return canvas.toDataURL() !== blank.toDataURL();
};
"""


@pytest.fixture
def show(browser, tmp_path):
    """Open a summary in the browser, in a window of some width."""

    def show(summary, width=1400, height=900, scheme="light", media=""):
        path = tmp_path / "page.html"
        write(summary, path)
        browser.look(width, height, scheme, media)
        browser.visit(path)
        return browser

    yield show
    assert [entry for entry in browser.log("browser") if entry["level"] != "INFO"] == []
    browser.look_as_before()


def many_models(found, many=25):
    """Memberships of many models: the given ones, then mixtures of the first one with noise."""
    first = next(iter(found.values()))
    noise = np.random.RandomState(0)
    more = {
        f"a model with a name, {number}": 0.6 * first + 0.4 * noise.dirichlet(np.ones(first.shape[1]), len(first))
        for number in range(many)
    }
    return dict([*((name, U) for name, U in found.items() if not isinstance(U, dict)), *more.items()][:many])


# What is seen first ---------------------------------------------------------------------------------------------------


def test_first_screen(show, iris):
    page = show(iris())
    bottoms = page.run(
        "return ['.facts', '#answer h2', '.reason', '.legend', '#answer canvas', '.card h3', '.card .difference']"
        ".map(selector => document.querySelector(selector).getBoundingClientRect().bottom)"
    )
    assert max(bottoms) <= 900
    assert page.run(DRAWN + "return drawn(document.querySelector('#answer canvas'))")


def test_nothing_clear_shows_the_samples_without_a_model(show, iris, fits):
    unclear = {"clear": False, "model": None, "second": None, "reason": "No.", "differ": [], "n_differ": 0}
    page = show(iris(recommendation={**unclear, "groups": [], "scores": {}, "evidence": {}}, profiles=None))
    assert page.run("return document.querySelector('#answer h2').textContent") == "No clear structure"
    assert page.run("return document.querySelector('#answer .panel').dataset.panel") == "classes"


def test_typical_samples_are_shown_in_the_picture(show, iris):
    page = show(iris())
    name = page.run("const b = document.querySelector('.card button.select'); b.click(); return b.textContent")
    assert page.run("return document.querySelector('.selected').textContent").startswith(f"{name}, class ")
    assert name in page.run("return document.querySelector('#announcement').textContent")


# Axes -----------------------------------------------------------------------------------------------------------------


def picture(page, selector="#answer canvas"):
    return page.run(f"return document.querySelector('{selector}').toDataURL()")


def test_features_as_axes_by_keyboard(show, iris):
    summary = iris()
    page = show(summary)
    options = page.run("return [...document.querySelector('select.axis').options].map(o => o.textContent)")
    assert options[0] == "first principal component, 92.5 % of the variance"
    assert options[2:] == [feature["name"] for feature in summary["plane"]["features"]]
    before = picture(page)
    page.run("document.querySelector('select.axis').focus()")
    page.press("Down", "Down")
    places = page.run("return document.querySelector('.places').textContent")
    assert places.startswith(f"Across: {options[2]}. Up: second principal component, 5.3 % of the variance. ")
    assert picture(page) != before
    page.press("Tab")
    page.press("Down")
    assert f"Up: {options[2]}. " in page.run("return document.querySelector('.places').textContent")
    # pictures that come into view later have the new axes, too
    page.run("document.querySelector('#pictures').scrollIntoView({behavior: 'instant'})")
    page.run("return new Promise(done => setTimeout(done, 200))")
    assert page.run(DRAWN + "return drawn(document.querySelector('#pictures canvas'))")


def test_ranges_that_differ_too_much_are_not_to_scale(show, finish, fits):
    finished = finish(**{name: fits[name] for name in ("GMM", "two")})
    page = show(summarize_comparison(finished, X * [1, 1, 1, 1000]))
    words = "return document.querySelector('.proportions').textContent"
    assert page.run(words).startswith("Not to scale: ")
    # 1000 petal widths are in the first component; both axes the same feature are to scale
    page.run(
        "for (const s of document.querySelectorAll('select.axis')) {"
        "s.value = '2'; s.dispatchEvent(new Event('change')); }"
    )
    assert page.run(words) == "One unit is as long on both axes."


# On demand ------------------------------------------------------------------------------------------------------------


def test_pictures_of_all_models_are_drawn_when_they_are_opened(show, iris):
    page = show(iris())
    drawn = DRAWN + "return [...document.querySelectorAll('.every canvas')].map(drawn)"
    assert set(page.run(drawn)) == {False}
    page.run("document.querySelector('.every').open = true; document.querySelector('.every').scrollIntoView()")
    page.run("return new Promise(done => setTimeout(done, 300))")
    assert set(page.run(drawn)) == {True}


def downloaded(page, folder, selector):
    """The table that a button downloads."""
    page.emulate("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    page.run(f"document.querySelector('{selector}').click()")
    end = time.monotonic() + 20
    while not (found := list(folder.glob("*.csv"))):
        assert time.monotonic() < end, "nothing was downloaded"
        time.sleep(0.05)
    return found[0], pandas.read_csv(found[0])


def test_memberships_of_the_recommended_model(show, iris, fits, tmp_path):
    ids = [f'a "name", {row}' for row in range(150)]
    page = show(iris(ids=ids))
    path, table = downloaded(page, tmp_path, "#answer .download")
    assert path.name == "iris_GMM_memberships.csv"
    assert list(table.columns) == ["row", "id", "cluster_0", "cluster_1", "cluster_2", "label"]
    assert table["row"].tolist() == list(range(150))
    assert table["id"].tolist() == ids
    U = fits["GMM"].astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(table.filter(like="cluster"), U, rtol=1e-6)
    np.testing.assert_array_equal(table["label"], U.argmax(axis=1))


def test_memberships_of_another_model(show, iris, fits, tmp_path):
    recommended = realistic.recommendation(fits, 150, max_points=60)
    summary = iris(ids=None, max_points=60, recommendation=recommended)
    page = show(summary)
    page.run("document.querySelector('#download-model').value = '3'")
    _, table = downloaded(page, tmp_path, "#pictures .download")
    assert list(table.columns) == ["row", "cluster_0", "cluster_1", "label"]
    order = np.argsort(summary["rows"])
    assert table["row"].tolist() == sorted(summary["rows"])
    np.testing.assert_allclose(table.filter(like="cluster"), memberships_in(summary, 3)[order], rtol=5e-4)
    assert "rounded to 1/255 of the largest" in page.run("return document.querySelector('#pictures').textContent")


# The heat map ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [390, 1400])
def test_agreement_of_many_models_fits_the_page(show, iris, fits, width):
    page = show(iris(many_models(fits)), width=width)
    box, table, cell = page.run(
        "return ['.heat-box', '.heat', '.heat tbody td']"
        ".map(selector => document.querySelector(selector).getBoundingClientRect().width)"
    )
    assert table <= box <= width
    assert cell >= 10
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    size = page.run("return getComputedStyle(document.querySelector('.heat td span')).fontSize")
    assert (size == "0px") == (width == 390)  # numbers need room
    x, y = page.run(
        "document.querySelector('.heat').scrollIntoView({behavior: 'instant'});"
        "const b = document.querySelector('.heat tbody tr:nth-child(2) td:nth-child(4)').getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]"
    )
    page.point(x, y)
    line = page.run("return document.querySelector('.heat-line').textContent")
    assert line.startswith("GMM and ") and line[-4:].replace(".", "").isdigit()


# Paper ----------------------------------------------------------------------------------------------------------------


def test_printing_opens_and_draws_everything(show, iris):
    page = show(iris())
    page.run("document.querySelector('#model-1').open = true")
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("return document.querySelectorAll('details:not([open])').length") == 0
    assert set(page.run(DRAWN + "return [...document.querySelectorAll('.panel canvas')].map(drawn)")) == {True}
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("return [...document.querySelectorAll('details[open]')].map(d => d.id)") == ["model-1"]


def test_nothing_is_wider_than_paper(show, iris, fits):
    page = show(iris(many_models(fits)), width=PAPER, scheme="dark", media="print")
    page.run("dispatchEvent(new Event('beforeprint'))")
    wide = page.run(
        "return [...document.querySelectorAll('main *')].filter(node => "
        "node.getBoundingClientRect().right > innerWidth + 1 && !node.closest('.hidden')).map(node => node.outerHTML)"
    )
    assert wide == []
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = page.run(
        "return ['nav', '.controls', '.readout', '.selected']"
        ".map(selector => getComputedStyle(document.querySelector(selector)).display)"
    )
    assert set(hidden) == {"none"}
    # a picture drawn for the screen keeps its proportions, and nobody can point at the heat map
    fit, size = page.run(
        "const style = selector => getComputedStyle(document.querySelector(selector));"
        "return [style('.panel canvas').objectFit, style('.heat td span').fontSize]"
    )
    assert (fit, float(size.removesuffix("px")) > 7) == ("contain", True)
    page.run("dispatchEvent(new Event('afterprint'))")


@pytest.mark.skipif(
    not shutil.which("pdftotext"), reason="pdftotext is not installed (Debian: apt-get install poppler-utils)"
)
def test_pdf_is_complete(show, iris, tmp_path):
    summary = iris()
    page = show(summary)
    pdf = tmp_path / "report.pdf"
    data = page.emulate("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
    pdf.write_bytes(base64.b64decode(data))
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True).stdout
    words = " ".join(text.split())
    for expected in (
        summary["recommendation"]["reason"],
        "Pictures of all models",
        "Agreement of fits to resampled data.",  # the evidence
        "171 different texts",  # the preparation
        summary["command"],
        "thread variables",  # the environment
        *(model["class"] for model in summary["models"]),
        *(summary["dataset"]["ids"][position] for position in summary["disputes"]["top"]),
    ):
        assert expected in words, expected
    assert words.count("random_state") == len(summary["models"])


# Other modalities -----------------------------------------------------------------------------------------------------


def center_of(page, selector):
    return page.run(
        f"const b = document.querySelector('{selector}').getBoundingClientRect();return [b.x, b.y, b.width, b.height]"
    )


def test_a_segmented_image_is_a_picture(show, finish):
    labels = np.zeros((30, 60), dtype=int)
    labels[:, 30:] = 1
    file = io.BytesIO()
    Image.fromarray((200 * labels).astype(np.uint8)).save(file, "PNG")
    image = {
        "height": 30,
        "width": 60,
        "picture": f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}",
    }
    U = np.eye(2)[labels.ravel()]
    recommendation = {"clear": True, "model": 0, "second": None, "reason": "Yes.", "differ": [], "n_differ": 0}
    recommendation |= {
        "groups": [{"models": [0, 1], "representative": 0, "agreement": 1.0}],
        "scores": {},
        "evidence": {},
    }
    finished = finish(A=U, B=U)
    page = show(summarize_comparison(finished, labels, modality="image", image=image, recommendation=recommendation))
    page.run("return new Promise(done => setTimeout(done, 300))")
    x, y, width, height = center_of(page, "#answer canvas")
    assert width / height == pytest.approx(2, rel=0.15)
    drawn = Image.open(io.BytesIO(base64.b64decode(picture(page).partition(",")[2])))
    places = [(int(share * drawn.width), drawn.height // 2) for share in (0.25, 0.75)]
    assert [drawn.getpixel(place) for place in places] == [(0, 114, 178, 255), (230, 159, 0, 255)]
    page.point(x + 0.75 * width, y + height / 2)
    tooltip = page.run("return document.querySelector('#tooltip').innerText")
    column, row = json.loads(tooltip.splitlines()[0].replace("(", "[").replace(")", "]").partition("]")[0] + "]")
    assert (abs(column - 44) <= 3, abs(row - 15) <= 3) == (True, True)
    assert "cluster 1\n1.00" in tooltip


def test_nodes_have_their_names(show, finish):
    graph = load_graph("karate")
    U = membership_shares(np.random.RandomState(0).dirichlet(np.ones(2), 34))
    ids = [f"member {row}" for row in range(34)]
    page = show(summarize_comparison(finish(A=U), graph.adjacency, modality="graph", ids=ids))
    page.run("document.querySelector('#answer canvas').focus()")
    page.press("Home")
    assert page.run("return document.querySelector('.selected').textContent").startswith("member ")
    assert not page.run("return document.querySelectorAll('select.axis').length")


# For everybody --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_axe_finds_no_serious_violation(show, iris, fits, width, scheme):
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed: pip install axe-core-python")
    page = show(iris(many_models(fits)), width=width, scheme=scheme)
    page.run("for (const node of document.querySelectorAll('details')) node.open = true")
    assert page.serious_barriers() == []


def test_everything_can_be_reached_by_keyboard(show, iris):
    page = show(iris())
    # what a pointer can do something with is an element that takes the focus
    mute = page.run(
        "return [...document.querySelectorAll('button, a[href], select, summary, canvas, .scroll, pre')]"
        ".filter(node => node.tabIndex < 0).length"
    )
    assert mute == 0
    page.press("Tab", "Tab")
    assert (
        page.run("const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.outlineWidth")
        == "solid3px"
    )
