"""The file: what it says, that it is one and small, that what users name stays text."""

import json
import re
import sys
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
import realistic

from soft_clustering.report import render, summarize_comparison, write
from soft_clustering.report.html import check_path

X = np.random.RandomState(0).normal(size=(40, 2))
Y = np.repeat([0, 1], 20)
EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>&amp;\"'"


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of scripts and styles."""

    void = ("meta", "link", "br", "img", "col")

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
    text = text[text.index('<section id="results"') : text.index('<section id="failures"')]
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
    assert text.count('data-panel="') == 1 + 3  # the samples without a model; two models and the dispute


def test_first_screen_says_what_to_take_and_why(iris):
    summary = iris()
    words = Page(render(summary)).words()
    assert "150 samples, 4 features, 3 classes; 5 models, 1 without a result" in words
    start = words.index("Recommended: GMM")
    recommendation = summary["recommendation"]
    for expected in (
        recommendation["reason"],
        f"A second opinion is FCM, m = 1.5 . The two differ on {recommendation['n_differ']} of 150 samples:",
        *(cluster["sentence"].partition(": ")[2] for cluster in summary["profiles"]["clusters"]),
        "Memberships as CSV",
        "city = Paris",
        "\N{MULTIPLICATION SIGN} 3",
    ):
        assert words.index(expected) > start, expected
    ids = summary["dataset"]["ids"]
    assert all(ids[position] in words for position in recommendation["differ"][:12])
    assert f"and {recommendation['n_differ'] - 12} more" in words
    typical = summary["profiles"]["clusters"][0]["typical"]
    assert all(f"flower {row}" in words for row in typical)


def test_profiles_with_dates_and_what_is_not_known(iris):
    profiles = iris()["profiles"]
    interval = {"low": float("nan"), "high": float("inf")}
    profiles["clusters"][0]["features"] = [
        {
            **{"name": "since", "kind": "date", "mean": "2020-01", "elsewhere": "2021-06", "difference": -0.5},
            **interval,
        },
        {**{"name": "city", "kind": "category", "value": "Rome", "share": 0.5, "elsewhere": 0.0}, **interval}
        | {"lift": float("inf")},
    ]
    words = Page(render(iris(profiles=profiles))).words()
    assert "since -0.5 2020-01 2021-06" in words
    assert "city = Rome \N{MULTIPLICATION SIGN}\N{NARROW NO-BREAK SPACE}inf".replace("\u202f", " ") in words


def test_no_clear_structure(iris, fits):
    words = Page(render(iris(recommendation=realistic.recommendation(fits, 150, clear=False), profiles=None))).words()
    assert "No clear structure The indices contradict each other" in words
    assert "Take " not in words
    assert "second opinion" not in words


def test_curves_with_their_choices(iris):
    summary = iris()
    page = Page(render(summary))
    words = page.words()
    assert "K = 2. Two of three measures choose it" in words
    assert "Silhouette larger is better; chooses 2" in words
    charts = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("role") == "img"]
    assert len(charts) == 4  # the measure without a value is only in the table
    assert words.count("Gap statistic") == 1
    assert all(
        attributes["aria-label"].startswith(("Silhouette", "Calinski", "Davies", "Xie")) for attributes in charts
    )


def test_groups_have_one_picture_and_all_are_on_demand(iris):
    summary = iris()
    text = render(summary)
    shown = re.findall(r'data-panel="(\w+)"', text[: text.index('<details class="every">')])
    representatives = [str(group["representative"]) for group in summary["recommendation"]["groups"]]
    assert shown == ["0", *representatives]
    assert len(representatives) < 4
    every = text[text.index('<details class="every">') :]
    assert re.findall(r'data-panel="(\w+)"', every) == ["classes", "0", "1", "2", "3", "disputes"]


def test_scores_come_first_and_evidence_is_explained(iris):
    text = render(iris())
    table = text[text.index('<section id="results"') :]
    assert re.findall(r"<button[^>]*>([^<]*)</button></th>", table)[:4] == ["Model", "Score", "Status", "K"]
    assert '<td class="number best" data-value="0.9">0.900</td>' in table
    assert "Agreement of fits to resampled data." in table


def test_what_was_done_to_the_columns(iris):
    words = Page(render(iris())).words()
    assert "3 missing values are replaced by medians." in words
    assert "remark text no left out: 171 different texts in 178 rows" in words


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


def evil(value):
    """The value with EVIL after each text in it; keys and what the page reads as code stay."""
    if isinstance(value, str):
        return value + EVIL
    if isinstance(value, list):
        return [evil(entry) for entry in value]
    if isinstance(value, dict):
        kept = ("kind", "sense", "modality")
        return {key: entry if key in kept else evil(entry) for key, entry in value.items()}
    return value


def test_what_the_steps_before_name_stays_text(iris, fits):
    parts = {name: evil(iris()[name]) for name in ("preparation", "recommendation", "profiles", "curves")}
    harmless, page = Page(render(iris())), Page(render(iris(**parts, ids=[EVIL] * 150)))
    assert page.open == []
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in harmless.tags]
    assert page.words().count(EVIL) > 50


def test_headings_are_in_order(iris):
    levels = [int(tag[1]) for tag, _ in Page(render(iris())).tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_size_of_a_large_report(finish):
    n = 2000
    found = {f"model {number}": np.random.RandomState(number).dirichlet(np.ones(10), n) for number in range(25)}
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
