"""The file: what it says, that it is one and small, that what users name stays text."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from soft_clustering.report import render, summarize_comparison, write
from soft_clustering.report.html import check_path

X = np.random.RandomState(0).normal(size=(40, 2))
Y = np.repeat([0, 1], 20)
EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>&amp;\"'"


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of scripts and styles."""

    void = ("meta", "link", "br", "img")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text, self.data = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.data.append(data)
        else:
            self.text.append(data)

    def words(self):
        return " ".join(" ".join(self.text).split())


def shares(seed=0, K=2):
    return np.random.RandomState(seed).dirichlet(np.ones(K), 40)


@pytest.fixture
def summary(finish):
    finished = finish(
        Good=shares(),
        Other=shares(1, 3),
        Slow={"status": "timeout", "reason": "more than 60 s, in fit", "warnings": "UserWarning: look out"},
    )
    finished[0][1].update(ari=0.75, silhouette=0.5, xie_beni=np.inf, fit_time=0.25, peak_memory=3 * 2**20, n_iter=7)
    finished[1][1].update(ari=0.5, silhouette=0.625, xie_beni=0.25, fit_time=0.125, converged=False, n_iter=100)
    return summarize_comparison(finished, X, Y, name="mine", command="soft-clustering compare mine.csv --report r.html")


def test_page_is_well_formed_and_complete(summary):
    page = Page(render(summary))
    assert page.open == []
    words = page.words()
    for expected in (
        "40 samples, 2 features, 2 classes",
        "3 models, 1 without a result",
        "timeout more than 60 s, in fit",
        "UserWarning: look out",
        "soft-clustering compare mine.csv --report r.html",
        "100, not converged",
        "random_state 0",
        "n_init 5 default",
        "numpy " + np.__version__,
        "Disputed samples",
    ):
        assert expected in words
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert links <= {f"#{name}" for name in ids}


def test_table_of_results(summary):
    text = render(summary)
    rows = re.findall(r"<tr>\s*<th scope=\"row\"><a.*?</tr>", text, re.DOTALL)
    cells = [re.findall(r'<td class="number( best)?" data-value="(.*?)">(.*?)</td>', row) for row in rows]
    titles = re.findall(r"<button[^>]*>([^<]*)</button></th>", text)[2:]
    table = [dict(zip(titles, row, strict=False)) for row in cells]
    assert [row["ARI"] for row in table] == [(" best", "0.75", "0.750"), ("", "0.5", "0.500"), ("", "", "-")]
    assert [row["Silhouette"][0] for row in table] == ["", " best", ""]
    assert [row["Fit [s]"][0] for row in table] == ["", " best", ""]  # smaller is better
    assert [row["Xie-Beni"][2] for row in table] == ["inf", "0.25", "-"]
    assert table[0]["Memory [MiB]"][1:] == ("3145728", "3.0")
    assert [row["K"][2] for row in table] == ["2", "3", "-"]


def test_there_are_no_classes(finish):
    text = render(summarize_comparison(finish(A=shares(), B=shares(1)), X))
    assert "ARI" not in re.findall(r"<button[^>]*>([^<]*)</button>", text)
    assert 'data-panel="classes"' not in text
    assert text.count("<canvas") == 3 + 1


def test_nothing_but_failures(finish):
    page = Page(render(summarize_comparison(finish(A={"status": "error", "reason": "ValueError in fit: no"}), X, Y)))
    assert "A error ValueError in fit: no" in page.words()
    assert not [tag for tag, _ in page.tags if tag == "canvas"]


def test_nothing_is_fetched(summary):
    page = Page(render(summary))
    for tag, attributes in page.tags:
        assert tag not in ("iframe", "object", "embed", "img", "form", "base")
        for name in ("src", "srcset", "action", "data", "poster"):
            assert name not in attributes
        assert not (tag == "link" and attributes["href"] != "data:,")
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in "".join(page.data)
    assert not re.search(r"url\(|https?:|//\w+\.\w", "".join(page.data[:1]))  # the style sheet
    (policy,) = [a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert re.search(r"script-src 'sha256-[\w+/=]{44}';", policy)


def test_what_users_name_stays_text(finish):
    y = np.where(Y == 0, EVIL, "other")
    finished = finish(**{EVIL: shares(), "B": shares(1), "C": {"status": "error", "reason": EVIL, "warnings": EVIL}})
    finished[0][0].estimator.set_params(init=EVIL)
    harmless = Page(
        render(
            summarize_comparison(
                finish(A=shares(), B=shares(1), C={"status": "error", "warnings": "W"}), X, Y, command="c"
            )
        )
    )
    page = Page(render(summarize_comparison(finished, X, y, name=EVIL, columns=[EVIL, "<b>"], command=EVIL)))
    assert page.open == []
    kinds = {tag for tag, _ in page.tags}
    assert kinds == {tag for tag, _ in harmless.tags}
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert page.words().count(EVIL) >= 8
    (data,) = [data for data in page.data if data.startswith("{")]
    assert not set("<>&'") & set(data)
    assert json.loads(data)["dataset"]["name"] == EVIL


def test_size_of_a_large_report(finish):
    n = 2000
    found = {f"model {number}": np.random.RandomState(number).dirichlet(np.ones(10), n) for number in range(20)}
    finished = finish(**found)
    text = render(summarize_comparison(finished, np.random.RandomState(0).normal(size=(n, 20)), np.arange(n) % 10))
    assert len(text.encode()) <= 3_000_000


def test_written_in_one_go(summary, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="Out of range float"):
        write({**summary, "points": [[np.nan, 0.0]]}, path)
    assert path.read_text() == "old"
    write(summary, path)
    assert path.read_text(encoding="utf-8") == render(summary)
    assert [entry.name for entry in tmp_path.iterdir() if entry.suffix == ".html"] == ["report.html"]


@pytest.mark.parametrize(
    "name, message",
    [
        ("report.txt", r"must end in \.html\. Got '.*report\.txt' instead"),
        ("folder.html", "'.*folder.html' is a folder"),
        ("none/report.html", "report.html' cannot be written: No such file"),
    ],
)
def test_paths_that_cannot_be(tmp_path, name, message):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ValueError, match=message):
        check_path(tmp_path / name)


def test_missing_jinja2_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'A report needs jinja2: pip install "soft-clustering\[app\]"'):
        check_path("report.html")
