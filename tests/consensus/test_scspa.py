"""SCSPA against the graph that it never forms, loops, and the figures of the planted cases."""

from __future__ import annotations

import numpy as np
import pytest
from planted import IMBALANCED, noisy_partitions
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SCSPA
from soft_clustering.consensus import scspa
from soft_clustering.consensus.partitioning import k_means_parts

WEIGHTS = np.array([1.0, 2.0, 0.5, 0.5, 1.0])  # of mean 1


def ensemble(seed=0):
    y = np.random.default_rng(seed).integers(3, size=80)
    return noisy_partitions(y, 5, noise=0.4, seed=seed)


def graph(X, weights, similarity):
    """All similarities, by a loop over pairs and partitions."""
    n = len(X[0])
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if similarity == "dot":
                S[i, j] = sum(w * (U[i] @ U[j]) for w, U in zip(weights, X, strict=True)) / len(X)
            else:
                S[i, j] = np.exp(-sum(w * np.square(U[i] - U[j]).sum() for w, U in zip(weights, X, strict=True)))
    return S


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_low_rank_vectors_are_those_of_the_graph(form, monkeypatch):
    X = ensemble()
    seen = []
    monkeypatch.setattr(
        scspa, "k_means_parts", lambda vectors, *rest: seen.append(vectors) or k_means_parts(vectors, *rest)
    )
    SCSPA(3, random_state=0).fit([form(U) for U in X], partition_weights=WEIGHTS)
    S = graph(X, WEIGHTS, "dot")
    root = np.sqrt(S.sum(axis=1))
    _, expected = np.linalg.eigh(S / root[:, None] / root)
    np.testing.assert_allclose(np.abs(seen[0]), np.abs(expected[:, -3:]), atol=1e-9)


@pytest.mark.parametrize(
    "partitioner, similarity", [("spectral", "euclidean"), ("metis", "dot"), ("metis", "euclidean")]
)
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_graph(partitioner, similarity, form, monkeypatch):
    X = ensemble()
    seen = []

    def look(self, S, rng):
        seen.append(S.toarray() if sparse.issparse(S) else S.copy())
        return np.arange(80) % 3

    monkeypatch.setattr(SCSPA, "_parts_of_graph", look)
    model = SCSPA(3, partitioner=partitioner, similarity=similarity)
    model.fit([form(U) for U in X], partition_weights=WEIGHTS)
    expected = graph(X, WEIGHTS, similarity)
    factor = 5 if similarity == "dot" else 1  # a constant factor does not matter
    np.testing.assert_allclose(seen[0], factor * expected, atol=1e-12)


@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_soft_consensus_is_the_mean_similarity(similarity):
    X = ensemble()
    model = SCSPA(3, similarity=similarity, random_state=0).fit(X, partition_weights=WEIGHTS)
    S = graph(X, WEIGHTS, "dot")
    means = np.column_stack([S[:, model.graph_labels_ == k].mean(axis=1) for k in range(3)])
    np.testing.assert_allclose(model.consensus_memberships_, means / means.sum(axis=1, keepdims=True), atol=1e-12)


def test_crisp_similarity_is_the_share_of_agreement():
    """Two groups that 4 of 5 partitions see: the soft consensus of their objects by hand."""
    right, wrong = [0, 0, 1, 1], [0, 1, 0, 1]
    model = SCSPA(2, random_state=0).fit([right] * 4 + [wrong])
    assert adjusted_rand_score(model.labels_, right) == 1
    # with its own group 1 (itself) and 4/5, with the other 1/5 and 0
    np.testing.assert_allclose(np.sort(model.consensus_memberships_, axis=1), [[0.1 / 1, 0.9 / 1]] * 4, atol=1e-12)


# Planted sizes of 600, 100 and 100 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_unequal_sizes(seed):
    X = noisy_partitions(IMBALANCED, 8, noise=0.1, seed=seed)
    model = SCSPA(random_state=0).fit(X)
    assert 0.98 <= adjusted_rand_score(IMBALANCED, model.graph_labels_) <= 1
    assert adjusted_rand_score(IMBALANCED, model.labels_) >= 0.99


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_unequal_sizes_by_metis(similarity):
    """It makes parts of equal size, whatever the graph says."""
    pytest.importorskip("pymetis")
    X = noisy_partitions(IMBALANCED, 8, noise=0.1)
    model = SCSPA(partitioner="metis", similarity=similarity, random_state=0).fit(X)
    assert adjusted_rand_score(IMBALANCED, model.graph_labels_) == pytest.approx(0.24, abs=0.02)
    sizes = np.bincount(model.graph_labels_)
    assert sizes.max() - sizes.min() <= 10


# Many objects -------------------------------------------------------------------------------------------------------


def test_all_pairs_of_many_objects_are_refused():
    y = np.arange(20001) % 3
    for setting in ({"similarity": "euclidean"}, {"partitioner": "metis"}):
        with pytest.raises(ValueError, match=r"at most 20000 objects\. Got 20001 objects in X"):
            SCSPA(**setting).fit([y, y])
    assert adjusted_rand_score(SCSPA(random_state=0, n_init=1).fit([y, y]).labels_, y) == 1


def test_many_objects_by_lanczos():
    y = np.random.default_rng(0).integers(3, size=1200)
    X = noisy_partitions(y, 6)
    model = SCSPA(3, similarity="euclidean", random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, y) > 0.95
