"""A default fit with the true number of clusters warns only if something is wrong with its result."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets, some_rows

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.datasets import load_graph, make_overlapping_graph, make_phantom, make_topic_corpus

ROWS = 300  # of each table: enough for the rules that look at the data, and quick
EXTRAS = {"deep": "torch"}


def of_modality(modality):
    return [row for row in REGISTRY if getattr(soft_clustering, row.name).modality == modality]


def is_poor(model):
    """Whether a cluster has fewer than two members, or all samples have the same memberships."""
    sizes = np.bincount(model.labels_[model.labels_ >= 0], minlength=model.n_clusters_)
    return sizes.min() < 2 or np.ptp(model.memberships_, axis=0).max() < 0.01


def fit_without_warning(row, X, K):
    """Fit with defaults; a warning is only allowed where the result is poor."""
    if row.extra is not None:
        pytest.importorskip(EXTRAS[row.extra])
    estimator = getattr(soft_clustering, row.name)()
    given = {"n_clusters": K, "random_state": 0}
    estimator.set_params(**{name: value for name, value in given.items() if name in estimator.get_params()})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = estimator.fit(X)
    for warning in caught:
        assert "converge" not in str(warning.message), warning.message
        assert is_poor(model), warning.message
    return model


@pytest.fixture(scope="module")
def tables():
    return {name: some_rows(X, y, ROWS) for name, (X, y) in offline_sets().items()}


@pytest.mark.parametrize("row", of_modality("features"), ids=lambda row: row.name)
def test_tables(row, tables):
    names = ["iris", "digits"] if row.extra == "deep" else list(tables)  # a network takes seconds
    for name in names:
        X, y = tables[name]
        model = fit_without_warning(row, X, len(np.unique(y)))
        assert len(np.unique(model.labels_)) > 1, f"{name}: one cluster holds every row"


@pytest.mark.parametrize("row", of_modality("graph"), ids=lambda row: row.name)
@pytest.mark.parametrize("name", ["karate", "dolphins", "football", "polbooks", "planted"])
def test_graphs(row, name, request):
    if name == "planted":
        graph = make_overlapping_graph(200, 4, random_state=0)
    else:
        home = None if name == "karate" else request.getfixturevalue("shared_data") / "graphs"
        graph = load_graph(name, data_home=home)
    fit_without_warning(row, graph.adjacency, graph.cover.shape[1])


@pytest.mark.parametrize("row", of_modality("documents"), ids=lambda row: row.name)
def test_documents(row):
    corpus = make_topic_corpus(300, 4, random_state=0)
    fit_without_warning(row, corpus.counts, 4)


@pytest.mark.parametrize("row", of_modality("image"), ids=lambda row: row.name)
@pytest.mark.parametrize("bias", [0.0, 0.4])
def test_images(row, bias):
    phantom = make_phantom((48, 48), bias=bias, random_state=0)
    fit_without_warning(row, phantom.image, 3)


@pytest.mark.parametrize("row", of_modality("partitions"), ids=lambda row: row.name)
def test_partitions(row):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 40)
    draws = [np.where(rng.uniform(size=y.size) < 0.2, rng.integers(3, size=y.size), y) for _ in range(8)]
    fit_without_warning(row, draws, 3)


@pytest.mark.parametrize("row", of_modality("clients"), ids=lambda row: row.name)
def test_clients(row, tables):
    X, _ = tables["iris"]
    rows = np.random.default_rng(0).permutation(len(X))
    fit_without_warning(row, [X[part] for part in np.array_split(rows, 3)], None)
