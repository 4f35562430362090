"""The report in a browser: nothing fetched, no complaint, sorting, pointing, keys, colours, narrow windows."""

import numpy as np
import pytest

from soft_clustering.plotting import membership_colors
from soft_clustering.report import summarize_comparison, write

EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
# far apart, so that each has its own pixels
X = np.array([[0.0, 0.0], [10.0, 1.0], [20.0, 0.0], [0.0, 10.0], [10.0, 11.0], [20.0, 10.0]])
U = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.4, 0], [0, 0, 0], [0.2, 0.2, 0.6]], dtype=float)


@pytest.fixture
def report(finish, tmp_path):
    """A report of five models, of which two failed."""
    V = U[:, [1, 2, 0]] * 0.9
    V[5] = [0.9, 0.05, 0.05]
    finished = finish(
        alpha=U,
        beta=V,
        Gamma=U[::-1].copy(),
        slow={"status": "timeout", "reason": "more than 1 s"},
        **{EVIL: {"status": "error", "reason": EVIL, "warnings": EVIL}},
    )
    for (_, record), ari, fit_time in zip(finished[:3], [0.5, 0.9, -0.1], [0.2, 0.03, 11.0], strict=True):
        record.update(ari=ari, fit_time=fit_time, xie_beni=np.inf if ari < 0 else ari)
    path = tmp_path / "report.html"
    y = ["<b>one</b>", "two", EVIL] * 2
    write(summarize_comparison(finished, X, y, name=EVIL, columns=[EVIL, "height"], command=EVIL), path)
    return path


@pytest.fixture
def page(browser, report):
    browser.visit(report)
    yield browser
    assert [entry for entry in browser.log("browser") if entry["level"] != "INFO"] == []
    assert browser.fetched() == [report.as_uri()]


def names(page):
    return page.run(
        "return [...document.querySelectorAll('#results tbody tr')].map(row => row.cells[0].textContent.trim())"
    )


def sort_buttons(page):
    return page.run("return [...document.querySelectorAll('#results thead button')].map(b => b.textContent)")


def click_sort(page, title):
    column = sort_buttons(page).index(title)
    return page.run(
        "const button = document.querySelectorAll('#results thead button')[arguments[0]];"
        "button.click(); return button.closest('th').ariaSort",
        column,
    )


def place(page, panel, i, points=X):
    """Where sample i of a plot is in the window."""
    page.run("document.querySelector(`[data-panel='${arguments[0]}']`).scrollIntoView({behavior: 'instant'})", panel)
    x, y, width, height = page.run(
        "const b = document.querySelector(`[data-panel='${arguments[0]}'] canvas`).getBoundingClientRect();"
        "return [b.x + 1, b.y + 1, b.width - 2, b.height - 2]",
        panel,
    )
    radius = min(5, max(1.6, width / 130))
    margin = 2 * radius + 4
    inner, lengths = np.array([width, height]) - 2 * margin, np.ptp(points, axis=0)
    scale = min(inner / lengths)  # one unit is as long on both axes
    across, up = (inner - scale * lengths) / 2 + scale * (points[i] - points.min(axis=0))
    return x + margin + across, y + height - margin - up


def readouts(page):
    return page.run("return [...document.querySelectorAll('.readout')].map(node => node.textContent)")


def test_what_users_name_does_nothing(page):
    assert page.run("return window.hacked === undefined")
    assert page.run("return document.querySelector('h1').textContent") == EVIL
    assert page.run("return document.images.length + document.querySelectorAll('section b').length") == 0
    assert page.run("return document.scripts.length") == 2
    page.point(*place(page, 0, 2))  # its class has that name
    assert EVIL in page.run("return document.querySelector('#tooltip').textContent")
    assert page.run("return window.hacked === undefined")


def test_only_our_script_may_run(browser, report):
    text = report.read_text().replace("<main>", "<main><script>window.hacked = 1</script>")
    report.write_text(text)
    browser.visit(report)
    assert browser.run("return window.hacked === undefined")
    assert any("Content Security Policy" in entry["message"] for entry in browser.log("browser"))


def test_sorting(page):
    assert names(page) == ["alpha", "beta", "Gamma", "slow", EVIL]
    assert click_sort(page, "ARI") == "descending"  # larger is better
    assert names(page) == ["beta", "alpha", "Gamma", "slow", EVIL]
    assert click_sort(page, "ARI") == "ascending"
    assert names(page) == ["Gamma", "alpha", "beta", "slow", EVIL]  # missing ones stay last
    assert click_sort(page, "Fit [s]") == "ascending"
    assert names(page) == ["beta", "alpha", "Gamma", "slow", EVIL]  # as numbers: 11 is not before 2
    assert click_sort(page, "Xie-Beni") == "ascending"
    assert names(page) == ["alpha", "beta", "Gamma", "slow", EVIL]  # infinity is a number
    assert click_sort(page, "Model") == "ascending"
    assert names(page) == [EVIL, "alpha", "beta", "Gamma", "slow"]


def test_sorting_by_keyboard(page):
    page.run("document.querySelectorAll('#results thead button')[0].focus()")
    page.press("Tab", "Tab", "Tab", "Enter")
    assert page.run("return document.activeElement.textContent") == "ARI"
    assert names(page)[:3] == ["beta", "alpha", "Gamma"]
    assert page.run("return document.querySelectorAll('#results [aria-sort=descending]').length") == 1


def test_pointing_shows_memberships(page):
    page.point(*place(page, 0, 3))
    words = page.run("return document.querySelector('#tooltip').innerText")
    assert "Row 3, class <b>one</b>" in words
    assert words.split()[-9:] == ["cluster", "0", "0.60", "cluster", "1", "0.40", "cluster", "2", "0.00"]
    assert page.run("return document.querySelector('.selected').textContent").startswith("Row 3, ")
    # the same sample in all plots: the classes, twice, three models, the dispute
    assert readouts(page)[1:5] == ["class <b>one</b> 1.00", "cluster 0 0.60", "cluster 2 0.54", "cluster 2 1.00"]
    page.point(*place(page, 0, 4))
    assert readouts(page)[2] == "no cluster"
    page.point(2, 2)
    assert page.run("return document.querySelector('#tooltip').hidden")


def test_one_unit_is_as_long_on_both_axes(browser, finish, tmp_path):
    flat = X * [1, 0.2]  # the picture is less flat than 20 : 2.2
    path = tmp_path / "flat.html"
    write(summarize_comparison(finish(alpha=U, beta=U), flat), path)
    browser.visit(path)
    for i in range(len(X)):
        browser.point(*place(browser, 0, i, flat))
        assert browser.run("return document.querySelector('.selected').textContent").startswith(f"Row {i},")
    assert (
        browser.run("return document.querySelector('.proportions').textContent") == "One unit is as long on both axes."
    )


def test_keys_go_from_sample_to_sample(page):
    page.run("document.querySelector(\"[data-panel='0'] canvas\").focus()")
    announced = []
    for key in ["Right", "Right", "Right", "Up", "Left", "Left", "Down"]:
        page.press(key)
        announced.append(page.run("return document.querySelector('#announcement').textContent").partition(",")[0])
    assert announced[0] in ("Row 0", "Row 3")  # both are leftmost
    assert announced[2] in ("Row 2", "Row 5")
    assert announced[3:] == ["Row 5", "Row 4", "Row 3", "Row 0"]
    assert page.run("return document.querySelector('#announcement').textContent").endswith(": cluster 0 1.00")


def test_enlarged(page):
    page.run("document.querySelector(\"[data-panel='0'] canvas\").focus()")
    page.press("Enter")
    title = "return document.querySelector('#large').open && document.querySelector('#large-title').textContent"
    assert page.run(title) == "alpha"
    page.press("Home", "Right")
    assert page.run("return document.activeElement.id") == "large-canvas"
    assert page.run("return document.querySelector('#large-sample').textContent").startswith("Row ")
    page.run("document.querySelector('#next').click()")
    assert page.run(title) == "beta"
    # the page hears of the end a moment after it
    heard = "new Promise(done => document.querySelector('#large').addEventListener('close', done, {once: true}))"
    page.run(f"window.heard = {heard}")
    page.press("Escape")
    assert page.run(title) is False
    panel = "document.activeElement.closest('figure').dataset.panel"
    assert page.run(f"return window.heard.then(() => {panel})") == "1"


def test_disputed_samples_lead_to_the_plots(page):
    row = page.run("const b = document.querySelector('#disputed tbody button'); b.click(); return b.textContent")
    assert page.run("return document.querySelector('.selected').textContent").startswith(f"Row {row}, ")


def test_colours_are_those_of_the_plots_in_python(page):
    # the clusters have the colours of their classes, which are in the order of their names: EVIL, one, two
    expected = membership_colors(U[:, [2, 0, 1]]) * 255
    places = np.array([place(page, 0, i) for i in range(len(U))])
    # one reading of all pixels: the browser warns of many
    pixels, width, left, top = page.run(
        "const canvas = document.querySelector(\"[data-panel='0'] canvas\"), b = canvas.getBoundingClientRect();"
        "const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
        "return [[...image.data], canvas.width, b.x + 1, b.y + 1]"
    )
    columns, lines = np.rint(places - [left, top]).astype(int).T
    found = np.reshape(pixels, (-1, width, 4))[lines, columns]
    np.testing.assert_allclose(found, expected, atol=4)  # levels of memberships, and of colours times opacity


def test_links_open_the_model(page):
    page.run("document.querySelector('#results tbody a').click()")
    page.run("return new Promise(done => setTimeout(done, 50))")
    assert page.run("return document.querySelector('#model-0').open")


def luminance(page, selector):
    color = page.run(f"return getComputedStyle(document.querySelector('{selector}')).backgroundColor")
    return np.mean([float(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]])


def test_light_and_dark(browser, report):
    for scheme, is_dark in [("light", False), ("dark", True)]:
        browser.emulate("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.visit(report)
        pressed = "return document.querySelector('#theme').ariaPressed"
        assert (luminance(browser, "body") < 60, browser.run(pressed) == "true") == (is_dark, is_dark)
        assert luminance(browser, "canvas") > 220  # the colours of the clusters need light paper
        browser.run("document.querySelector('#theme').click()")
        assert (luminance(browser, "body") < 60, browser.run(pressed) == "true") == (not is_dark, not is_dark)
    browser.emulate("Emulation.setEmulatedMedia", features=[])


def test_phone(browser, report):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.emulate("Emulation.setDeviceMetricsOverride", **size)
    browser.visit(report)
    assert browser.run("return innerWidth") == 360
    assert browser.run("return document.documentElement.scrollWidth") == 360  # only tables scroll sideways
    assert browser.run("const s = document.querySelector('.scroll'); return s.scrollWidth > s.clientWidth")
    widths = browser.run("return [...document.querySelectorAll('.panel canvas')].map(c => c.clientWidth)")
    assert min(widths) > 140
    browser.emulate("Emulation.clearDeviceMetricsOverride")
