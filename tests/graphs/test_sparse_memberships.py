"""Memberships as CSR arrays, where an array would be too large."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from soft_clustering import LPANNI, SLPA, EgoSplitting, _rows
from soft_clustering.base import labels_from_memberships
from soft_clustering.datasets import load_graph, make_lfr_graph
from soft_clustering.graphs.network import GraphClusterer
from soft_clustering.metrics import modularity, node_coverage, overlapping_modularity, overlapping_nmi


class Given(GraphClusterer):
    """Memberships that are given, as a method with sparse rows would store them."""

    def __init__(self, rows=None):
        self.rows = rows

    def fit(self, X, y=None):
        self.n_clusters = None
        self._graph(X)
        self.threshold_ = 0.25
        self._set_memberships(_rows.dense_unless_large(self.rows))
        return self

    def predict_memberships(self, X):
        return _rows.dense_unless_large(self.rows[: self._links(X).shape[0]])


@pytest.fixture
def both(monkeypatch):
    """The same model with an array and with a CSR array."""
    rng = np.random.default_rng(0)
    U = rng.choice([0, 0, 0, 0.25, 0.3, 0.5], size=(34, 6))
    U[3] = 0
    U[4, :2] = 0.3, 0.3
    A = load_graph("karate").adjacency
    rows = sparse.csr_array(U)
    dense = Given(rows).fit(A)
    monkeypatch.setattr(_rows, "_MOST_DENSE", 10)
    return A, dense, Given(rows).fit(A)


def test_large_memberships_are_sparse(both):
    _, dense, thin = both
    assert isinstance(dense.memberships_, np.ndarray)
    assert isinstance(thin.memberships_, sparse.csr_array)
    np.testing.assert_array_equal(thin.memberships_.toarray(), dense.memberships_)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    assert dense.labels_[3] == -1
    assert thin.n_clusters_ == dense.n_clusters_ == 6


@pytest.mark.parametrize("threshold", [None, 0.0, 0.25, 0.3, 2.0])
@pytest.mark.parametrize("top_k", [None, 1, 2, 9])
def test_covers_of_sparse_memberships(both, threshold, top_k):
    _, dense, thin = both
    cover = thin.get_cover(threshold, top_k)
    assert isinstance(cover, sparse.csr_array)
    assert cover.dtype == bool
    np.testing.assert_array_equal(cover.toarray(), dense.get_cover(threshold, top_k))
    assert thin.get_communities(threshold, top_k) == dense.get_communities(threshold, top_k)


def test_prediction_is_sparse_by_its_own_size(both):
    A, dense, thin = both
    assert isinstance(thin.predict_memberships(A[:1]), np.ndarray)
    assert isinstance(thin.predict_proba(A[:20]), sparse.csr_array)
    np.testing.assert_array_equal(thin.transform(A[:20]).toarray(), dense.memberships_[:20])
    np.testing.assert_array_equal(thin.predict(A[:20]), dense.labels_[:20])


def test_measures_take_sparse_memberships_and_covers(both):
    A, dense, thin = both
    truth = load_graph("karate").cover
    assert modularity(A, thin.memberships_) == pytest.approx(modularity(A, dense.memberships_), rel=1e-12)
    for measure in (overlapping_modularity, lambda A, cover: overlapping_nmi(truth, cover)):
        assert measure(A, thin.get_cover()) == pytest.approx(measure(A, dense.get_cover()), rel=1e-12)
    assert node_coverage(thin.get_cover()) == node_coverage(dense.get_cover()) < 1


@pytest.mark.parametrize("shape", [(4, 0), (4, 3)])
def test_rows_without_entries(shape):
    rows = sparse.csr_array(shape)
    assert (labels_from_memberships(rows) == -1).all()
    assert (_rows.row_maxima(rows) == 0).all()
    assert _rows.only_largest(_rows.at_least(rows, 0.1), rows, 1).nnz == 0


@pytest.mark.parametrize("model", [SLPA(random_state=0), EgoSplitting(random_state=0), LPANNI()])
def test_methods_with_sparse_rows(model, monkeypatch):
    A = make_lfr_graph(300, random_state=0).adjacency
    dense, thin = clone(model).fit(A), clone(model)
    expected = dense.predict_memberships(A[:9])
    monkeypatch.setattr(_rows, "_MOST_DENSE", 10)
    thin.fit(A)
    assert isinstance(thin.memberships_, sparse.csr_array)
    np.testing.assert_array_equal(thin.memberships_.toarray(), dense.memberships_)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    np.testing.assert_array_equal(thin.get_cover().toarray(), dense.get_cover())
    np.testing.assert_allclose(thin.predict_memberships(A[:9]).toarray(), expected, rtol=1e-12)
