"""What the estimators of graphs share, and what holds for each of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import get_tags

from soft_clustering import BIGCLAM, MMSB, BayesianNMF
from soft_clustering.datasets import load_graph
from soft_clustering.graphs import bayesian_nmf, bigclam, mmsb
from soft_clustering.graphs.network import mean_weight, neighbour_means
from soft_clustering.metrics import overlapping_nmi

KARATE = load_graph("karate")
each = pytest.mark.parametrize("cls", [BIGCLAM, BayesianNMF, MMSB])
unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def links_of(A, kept):
    """(Graph of the kept nodes, links of the others to them)."""
    return A[kept][:, kept], A[~kept][:, kept]


# New nodes ----------------------------------------------------------------------------------------------------------


@unconverged
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cls, least", [(BIGCLAM, 0.75), (BayesianNMF, 0.9), (MMSB, 0.9)])
def test_new_nodes_of_planted_blocks(planted, cls, least, seed):
    A, y = planted([50] * 4, 0.3, 0.03, seed)
    kept = np.random.default_rng(seed).permutation(200) < 160
    inside, links = links_of(A, kept)
    model = cls(4, random_state=0).fit(inside)
    labels = model.predict(links)
    assert len(labels) == 40
    assert adjusted_rand_score(y[~kept], labels) >= least
    # Groups of new nodes are those of the nodes of fit.
    joined = np.concatenate([model.labels_, labels])
    assert adjusted_rand_score(np.concatenate([y[kept], y[~kept]]), joined) >= least


@unconverged
@each
def test_new_nodes_of_football(read_graph, cls):
    A, y, _ = read_graph("football")
    fitted, predicted = [], []
    for seed in range(5):
        kept = np.random.default_rng(seed).permutation(len(y)) >= 23
        inside, links = links_of(A, kept)
        model = cls(12, random_state=0).fit(inside)
        fitted.append(adjusted_rand_score(y[kept], model.labels_))
        predicted.append(adjusted_rand_score(y[~kept], model.predict(links)))
    assert np.mean(predicted) >= 0.75
    assert np.mean(predicted) >= np.mean(fitted) - 0.1  # as good as the fit is


@unconverged
@each
def test_new_nodes_of_a_cover(read_graph, cls):
    A, _, cover = read_graph("fb_414")

    def members(memberships, threshold):
        if cls is BayesianNMF:
            memberships = memberships / memberships.sum(axis=1, keepdims=True).clip(1e-300)
        return memberships >= threshold

    whole = overlapping_nmi(cls(7, random_state=0).fit(A).get_cover(), cover)
    joined = []
    for seed in range(3):
        kept = np.random.default_rng(seed).permutation(len(cover)) >= 30
        inside, links = links_of(A, kept)
        model = cls(7, random_state=0).fit(inside)
        found = np.zeros_like(cover)
        found[kept], found[~kept] = model.get_cover(), members(model.predict_memberships(links), model.threshold_)
        joined.append(overlapping_nmi(found, cover))
    assert np.mean(joined) >= whole - 0.06


@unconverged
@each
def test_new_nodes_do_not_depend_on_each_other(cls):
    model = cls(3, random_state=0).fit(KARATE.adjacency)
    links = (np.random.default_rng(0).uniform(size=(6, 34)) < 0.2).astype(float)
    together = model.predict_memberships(links)
    alone = np.vstack([model.predict_memberships(row[None]) for row in links])
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-12)


@unconverged
@each
def test_links_of_another_width_are_refused(cls):
    model = cls(2, random_state=0).fit(KARATE.adjacency)
    with pytest.raises(ValueError, match="X has 33 features"):
        model.predict(np.ones((2, 33)))
    with pytest.raises(ValueError, match=">= 0"):
        model.predict(-np.ones((2, 34)))


# Graphs at the edge -------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("n, K", [(1, 1), (5, 1), (5, 3), (5, 5)])
def test_graphs_without_links(cls, n, K):
    with pytest.warns(UserWarning, match="no link"):
        model = cls(K).fit(np.zeros((n, n), dtype=np.float32))
    assert model.converged_
    assert model.memberships_.shape == (n, K)
    assert model.memberships_.dtype == np.float32
    expected = 1 / K if cls is MMSB else 0
    np.testing.assert_allclose(model.memberships_, expected, rtol=1e-6)
    assert (model.labels_ == (0 if cls is MMSB else -1)).all()
    assert model.get_cover().any() == (cls is MMSB)
    np.testing.assert_allclose(model.predict_memberships(np.zeros((2, n))), expected, rtol=1e-6)
    assert np.isfinite(model.predict_memberships(np.ones((2, n)))).all()


HOSTILE = {
    "complete": np.ones((9, 9)),
    "one link": np.eye(2)[::-1],
    "one link and isolated nodes": np.pad(np.eye(2)[::-1], (0, 4)),
    "star": np.pad(np.ones((1, 8)), ((0, 7), (0, 0))) + np.pad(np.ones((8, 1)), ((0, 0), (0, 7))),
    "cycle": np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0),
    "components": np.kron(np.eye(4), np.ones((3, 3))),
    "bipartite": np.kron([[0, 1], [1, 0]], np.ones((5, 5))),
}


@unconverged
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", HOSTILE)
@each
def test_hostile_graphs(cls, name, kind):
    A = HOSTILE[name].astype(kind)
    n = len(A)
    for K in sorted({1, 2, n}):
        options = [{}] if cls is BayesianNMF else [{}, {"init": "random"}]
        for setting in options + ([{"n_clusters": None}] if cls is BayesianNMF else []):
            model = cls(**({"n_clusters": K, "random_state": 0} | setting)).fit(A)
            assert model.memberships_.dtype == kind
            assert np.isfinite(model.memberships_).all()
            assert np.isfinite(model.objective_history_).all()
            assert model.memberships_.shape == (n, model.n_clusters_)
            assert np.isfinite(model.predict_memberships((A > 0) * 1.0)).all()
            isolated = A.sum(axis=1) == A.diagonal()
            if isolated.any() and cls is not MMSB:
                assert (model.memberships_[isolated] == 0).all()
                assert (model.labels_[isolated] == -1).all()


@unconverged
@each
def test_isolated_nodes_change_nothing_else(cls):
    A = KARATE.adjacency
    wider = sparse.block_diag([A, sparse.csr_array((1, 1))], format="csr")
    labels = [cls(2, random_state=0).fit(graph).labels_[:34] for graph in (A, wider)]
    assert adjusted_rand_score(*labels) > 0.8


@each
def test_more_clusters_than_nodes_are_refused(cls):
    with pytest.raises(ValueError, match="n_samples=34 should be >= n_clusters=35"):
        cls(35).fit(KARATE.adjacency)


@unconverged
@each
def test_named_nodes(cls):
    networkx = pytest.importorskip("networkx")
    graph = networkx.relabel_nodes(networkx.path_graph(6), dict(enumerate("abcdef")))
    model = cls(2, random_state=0).fit(graph)
    assert list(model.node_names_) == list("abcdef")
    assert model.n_features_in_ == 6
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")]
    np.testing.assert_array_equal(model.memberships_, cls(2, random_state=0).fit(edges).memberships_)


@unconverged
@each
def test_a_failed_fit_is_no_fit(cls):
    model = cls(2, random_state=0).fit(KARATE.adjacency)
    with pytest.raises(ValueError, match="square"):
        model.fit(np.ones((3, 4)))
    with pytest.raises(NotFittedError):
        model.predict(KARATE.adjacency)


@unconverged
@pytest.mark.parametrize(
    "cls, module, function, calls_per_pass",
    [
        (BIGCLAM, bigclam, "affiliation_likelihood", 1),
        (BayesianNMF, bayesian_nmf, "factor_step", 2),
        (MMSB, mmsb, "block_pass", 1),
    ],
)
def test_an_interrupted_fit_keeps_what_it_has(cls, module, function, calls_per_pass, monkeypatch):
    original, calls = getattr(module, function), []

    def interrupted(*arguments, **keywords):
        calls.append(1)
        if len(calls) > 3 * calls_per_pass:
            raise KeyboardInterrupt
        return original(*arguments, **keywords)

    expected = cls(2, n_init=1, max_iter=3, tol=0.0, random_state=0).fit(KARATE.adjacency)
    monkeypatch.setattr(module, function, interrupted)
    model = cls(2, n_init=4, tol=0.0, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(KARATE.adjacency)
    monkeypatch.undo()
    assert model.n_iter_ == len(model.objective_history_) == 3
    assert not model.converged_
    if cls is not BIGCLAM:  # whose sweep is over before its likelihood is asked for
        np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    assert model.predict(KARATE.adjacency).shape == (34,)


@each
def test_an_interrupt_before_the_first_pass_leaves_nothing(cls, monkeypatch):
    def interrupted(*arguments, **keywords):
        raise KeyboardInterrupt

    module, function = {
        BIGCLAM: (bigclam, "affiliation_sweep"),
        BayesianNMF: (bayesian_nmf, "factor_step"),
        MMSB: (mmsb, "block_pass"),
    }[cls]
    monkeypatch.setattr(module, function, interrupted)
    model = cls(2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(KARATE.adjacency)
    assert not hasattr(model, "memberships_")


@unconverged
@each
def test_words(cls, capsys):
    cls(2, n_init=2, max_iter=3, random_state=0, verbose=2, **({} if cls is BayesianNMF else {"init": "random"})).fit(
        KARATE.adjacency
    )
    shown = capsys.readouterr().out
    assert len(re.findall(rf"{cls.__name__} start [12]: objective", shown)) == 2
    assert len(re.findall(rf"{cls.__name__} pass \d: objective", shown)) == 6


@unconverged
@pytest.mark.parametrize("cls", [BIGCLAM, MMSB])
def test_a_given_start_is_one(cls, capsys):
    cls(2, init=np.random.default_rng(0).uniform(size=(34, 2)), n_init=7, max_iter=3, verbose=1).fit(KARATE.adjacency)
    assert re.findall(r"start \d", capsys.readouterr().out) == ["start 1"]


def test_neighbour_means():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
    links = sparse.csr_array(np.array([[1.0, 0, 3.0], [0, 0, 0], [0, 2.0, 0]]))
    np.testing.assert_allclose(neighbour_means(links, rows), [[4.0, 0.5], [0, 0], [3.0, 4.0]])


def test_mean_of_weights_that_overflow_in_single_precision():
    A = sparse.csr_array(np.array([[0, 3e38, 1e38], [3e38, 0, 2e38], [1e38, 2e38, 0]], dtype=np.float32))
    assert mean_weight(A) == pytest.approx(2e38, rel=1e-6)


@each
def test_tags_say_what_is_refused(cls):
    tags = get_tags(cls()).input_tags
    assert tags.positive_only and tags.pairwise and tags.sparse
    A = KARATE.adjacency.toarray()
    with pytest.raises(ValueError, match=">= 0"):
        cls(2).fit(-A)
    with pytest.raises(ValueError, match=r"square|n_nodes"):
        cls(2).fit(A[:, :5])


@unconverged
@each
def test_warnings_point_at_the_caller(cls):
    A = np.triu(np.ones((6, 6)), 1)
    with pytest.warns(UserWarning, match="not symmetric") as told:
        cls(1, random_state=0).fit(A)
    assert {warning.filename for warning in told} == {__file__}
