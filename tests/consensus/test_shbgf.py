"""SHBGF against full decompositions, loops, scikit-learn's co-clustering, and the figures of the planted case."""

from __future__ import annotations

import numpy as np
import pytest
from planted import IMBALANCED, noisy_partitions
from scipy import sparse
from sklearn.cluster import SpectralCoclustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SHBGF
from soft_clustering.consensus import shbgf
from soft_clustering.consensus.partitioning import k_means_parts

WEIGHTS = np.array([1.0, 2.0, 0.5, 0.5, 1.0])


def ensemble(seed=0, noise=0.4):
    y = np.random.default_rng(seed).integers(3, size=80)
    return y, noisy_partitions(y, 5, noise=noise, seed=seed)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_vectors_are_those_of_the_bipartite_graph(form, monkeypatch):
    """The leading eigenvectors of the normalised graph of objects and base clusters, formed as a whole."""
    _, X = ensemble()
    seen = []
    monkeypatch.setattr(
        shbgf, "k_means_parts", lambda vectors, *rest: seen.append(vectors) or k_means_parts(vectors, *rest)
    )
    model = SHBGF(3, random_state=0).fit([form(U) for U in X], partition_weights=WEIGHTS)
    Y = np.hstack([w * U for w, U in zip(WEIGHTS, X, strict=True)])[:, np.argsort(model._merged)]
    S = np.block([[np.zeros((80, 80)), Y], [Y.T, np.zeros((15, 15))]])
    root = np.sqrt(S.sum(axis=1))
    _, expected = np.linalg.eigh(S / root[:, None] / root)
    # both halves have length 1 there, so the whole has the square root of 2
    np.testing.assert_allclose(np.abs(seen[0]), np.sqrt(2) * np.abs(expected[:, -3:]), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_spectral_coclustering(seed):
    _, X = ensemble(seed, noise=0.1)
    model = SHBGF(3, random_state=0).fit(X)
    oracle = SpectralCoclustering(3, random_state=0).fit(np.hstack(X))
    assert adjusted_rand_score(model.graph_labels_, oracle.row_labels_) == 1
    assert adjusted_rand_score(model.cluster_labels_, oracle.column_labels_) == 1
    np.testing.assert_array_equal(  # the parts of both sides have the same numbers
        [oracle.column_labels_[model.cluster_labels_ == k][0] for k in range(3)],
        [oracle.row_labels_[model.graph_labels_ == k][0] for k in range(3)],
    )


def test_soft_consensus():
    """The weighted mean membership in the base clusters of a part, by loops."""
    _, X = ensemble()
    model = SHBGF(3, random_state=0).fit(X, partition_weights=WEIGHTS)
    parts = model.cluster_labels_.reshape(5, 3)
    C = np.zeros((80, 3))
    for i in range(80):
        for k in range(3):
            inside = [(WEIGHTS[b], X[b][i, j]) for b in range(5) for j in range(3) if parts[b, j] == k]
            C[i, k] = sum(w * u for w, u in inside) / sum(w for w, _ in inside)
    np.testing.assert_allclose(model.consensus_memberships_, C / C.sum(axis=1, keepdims=True), atol=1e-12)


def test_partitions_that_say_nothing():
    """Of memberships nearly all alike the base clusters are in one part; it does not win by their number."""
    y, X = ensemble(noise=0.1)
    rng = np.random.default_rng(0)
    X = X[:3] + [1 / 3 + 0.01 * rng.uniform(size=(80, 3)) for _ in range(8)]
    model = SHBGF(3, random_state=0).fit(X)
    assert np.bincount(model.cluster_labels_).max() == 27
    assert adjusted_rand_score(model.labels_, y) > 0.9
    sums = np.hstack(X) @ np.eye(3)[model.cluster_labels_]
    assert adjusted_rand_score(sums.argmax(axis=1), y) < 0.5


def test_base_clusters_in_the_order_of_the_partitions():
    y = np.repeat([0, 1, 2], 10)
    model = SHBGF(3, random_state=0).fit([y, 2 - y, np.where(y == 1, -1, y + 5)])
    a, b, c = (model.labels_[y == k][0] for k in range(3))
    assert model.cluster_labels_.tolist() == [a, b, c, c, b, a, a, c]  # labels 0 1 2, 0 1 2, 5 7
    np.testing.assert_array_equal(model.graph_labels_, model.labels_)


def test_part_without_base_clusters():
    rng = np.random.default_rng(0)
    angle = rng.choice([0.0, 0.5, 1.0], size=60) + 0.02 * rng.uniform(size=60)
    U = np.column_stack([angle, 1.02 - angle])
    with pytest.warns(ConvergenceWarning, match="found 2 distinct clusters"):
        model = SHBGF(3, random_state=0).fit([U, U])
    assert set(model.graph_labels_) == {0, 1, 2}
    empty = np.setdiff1d(range(3), model.cluster_labels_)
    assert len(empty) == 1
    assert (model.consensus_memberships_[:, empty] == 0).all()


# Planted sizes of 600, 100 and 100 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_unequal_sizes(seed):
    X = noisy_partitions(IMBALANCED, 8, noise=0.1, seed=seed)
    model = SHBGF(random_state=0).fit(X)
    assert 0.95 <= adjusted_rand_score(IMBALANCED, model.graph_labels_) <= 0.98
    assert adjusted_rand_score(IMBALANCED, model.labels_) >= 0.99


def test_unequal_sizes_by_metis():
    pytest.importorskip("pymetis")
    X = noisy_partitions(IMBALANCED, 8, noise=0.1)
    model = SHBGF(partitioner="metis", random_state=0).fit(X)
    assert adjusted_rand_score(IMBALANCED, model.graph_labels_) == pytest.approx(0.10, abs=0.02)


def test_graph_for_metis(monkeypatch):
    _, X = ensemble()
    seen = []
    monkeypatch.setattr(
        shbgf, "metis_parts", lambda S, K, n_init, rng: seen.append((S.toarray(), K, n_init)) or np.arange(95) % 3
    )
    model = SHBGF(3, partitioner="metis", n_init=4).fit(X, partition_weights=WEIGHTS)
    Y = np.hstack([w * U for w, U in zip(WEIGHTS, X, strict=True)])[:, np.argsort(model._merged)]
    S, K, n_init = seen[0]
    np.testing.assert_allclose(S, np.block([[np.zeros((80, 80)), Y], [Y.T, np.zeros((15, 15))]]))
    assert (K, n_init) == (3, 4)
