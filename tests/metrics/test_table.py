"""The table of the indices against the functions, the names of the package, the documentation, and data."""

import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from soft_clustering import FCM, metrics
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("m", "metric", "max_samples", "random_state")
BESIDE = {
    "METRICS",
    "Metric",
    "clustering_metrics",
    "cover_metrics",
    "cover_table",
    "nonspecificity",
    "soft_clustering_metrics",
}


def test_number_of_indices():
    assert len(METRICS) == 41
    assert list(METRICS)[:12] == [
        *metrics.soft_clustering_metrics(None, [[1.0]]),
        *metrics.clustering_metrics(None, [0]),
    ]


def test_names_of_the_package():
    assert set(metrics.__all__) == set(METRICS) | BESIDE
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.function is getattr(metrics, name)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_needs_and_options_are_the_parameters(metric):
    parameters = inspect.signature(metric.function).parameters.values()
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    assert len(required) == len(metric.needs)
    if metric.function.__module__ != "soft_clustering.metrics.external":  # there the names are those of two equals
        assert tuple(required) == metric.needs
    keywords = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    assert metric.options == tuple(name for name in keywords if name in OPTIONS)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_docstrings(metric):
    text = inspect.getdoc(metric.function)
    assert all(section in text for section in ("Parameters\n---", "Returns\n---", "Notes\n---", "Examples\n---"))
    assert "References\n---" in text or metric.name == "separation"


def clustering(seed, spread):
    """What the indices of a fuzzy c-means fit need; the data get harder with their spread."""
    X, y = make_blobs(200, 3, centers=np.eye(3) * 20, cluster_std=spread, random_state=seed)
    model = FCM(3, m=2.0, random_state=0).fit(X)
    U = model.memberships_
    near = kneighbors_graph(X, 10)
    # a document per sample: the words of its class, and as many others as the data are hard
    rng = np.random.RandomState(seed)
    words = rng.uniform(size=(200, 9)) < np.where(y[:, None] == np.arange(9) // 3, 0.9, 0.05 * spread)
    return {
        "graph": near + near.T,
        "counts": words.astype(float),
        "topics": [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
        "X": X,
        "U": U,
        "centers": model.centers_,
        "labels": model.labels_,
        "cover": U >= 0.5,
        "y_true": y,
        "m": 2.0,
    }


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_sense_and_bounds(metric):
    """An index is better on clusters that are easier to tell apart, and within its bounds."""
    easy, hard = metric(**clustering(0, 1.0)), metric(**clustering(0, 8.0))
    low, high = metric.bounds
    assert low <= easy <= high and low <= hard <= high
    if metric.name == "node_coverage":  # a matter of the cover alone
        assert metric(cover=np.eye(3)) == 1 > metric(cover=np.eye(3)[:, :2])
    elif metric.name in ("internal_density", "triangle_participation"):  # high for few samples, however hard they are
        graph = make_overlapping_graph(200, 5, random_state=0)
        shuffled = np.random.RandomState(0).permutation(graph.cover)
        planted = metric(graph=graph.adjacency, cover=graph.cover)
        assert high >= planted > metric(graph=graph.adjacency, cover=shuffled) >= low
    elif metric.name == "separation":  # a matter of the prototypes alone
        assert metric(centers=[[0.0], [2.0]]) > metric(centers=[[0.0], [1.0]])
    elif metric.sense is not None:
        assert easy > hard if metric.sense == "max" else easy < hard


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_missing_data_make_an_index_nan(metric):
    data = clustering(0, 1.0)
    for name in metric.needs:
        assert math.isnan(metric(**{**data, name: None}))
        assert math.isnan(metric(**{key: value for key, value in data.items() if key != name}))


def test_options_are_passed_on():
    data = clustering(0, 3.0)
    arguments = [data[name] for name in ("X", "U", "centers")]
    assert METRICS["xie_beni"](**{**data, "m": 1.5}) == metrics.xie_beni(*arguments, m=1.5)
    del data["m"]
    assert METRICS["xie_beni"](**data) == metrics.xie_beni(*arguments)


def shown(metric):
    """The row of an index in the documentation."""
    low, high = (f"{bound:g}" for bound in metric.bounds)
    better = {"max": "larger", "min": "smaller", None: "(crispness)"}[metric.sense]
    options = [name for name in metric.options if name in ("m", "max_samples")]
    needs = ", ".join(f"`{name}`" for name in (*metric.needs, *options))
    return f"| `{metric.name}` | {metric.title} | {low} to {high} | {better} | {needs} |"


def test_documentation():
    page = ROOT / "docs" / "metrics.md"
    if not page.exists():
        pytest.skip("the documentation is not installed")
    text = page.read_text()
    rows = [line for line in text.splitlines() if re.match(r"\| `\w+` \|", line)]
    assert rows == [shown(metric) for metric in METRICS.values()]
    for name in set(metrics.__all__) - {"Metric"}:
        assert f"`{name}`" in text or f"`{name}(" in text, name


def test_the_package_does_not_import_them():
    code = "import sys, soft_clustering; print('soft_clustering.metrics' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.strip() == "False", run.stderr
