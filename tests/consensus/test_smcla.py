"""SMCLA: the graph of base clusters, association and ties by loops, empty meta-clusters, the planted case."""

from __future__ import annotations

import numpy as np
import pytest
from planted import IMBALANCED, noisy_partitions
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SMCLA
from soft_clustering.consensus.smcla import fill_empty


def ensemble(seed=0):
    y = np.random.default_rng(seed).integers(3, size=80)
    return noisy_partitions(y, 5, noise=0.4, seed=seed)


@pytest.mark.parametrize("similarity", ["euclidean", "jaccard"])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("weights", [None, [1, 5, 1, 1, 1]])
def test_graph(similarity, form, weights, monkeypatch):
    X = ensemble()
    seen = []
    monkeypatch.setattr(SMCLA, "_parts_of_graph", lambda self, S, rng, w: seen.append((S, w)) or np.arange(15) % 3)
    model = SMCLA(3, similarity=similarity).fit([form(U) for U in X], partition_weights=weights)
    S, w = seen[0]
    columns, counts = np.hstack(X).T, np.repeat(weights or [1] * 5, 3)
    for a, u in enumerate(columns):
        for b, v in enumerate(columns):
            expected = (
                np.exp(-np.square(u - v).sum() / 80) if similarity == "euclidean" else u @ v / (u @ u + v @ v - u @ v)
            )
            expected *= counts[a] * counts[b] / counts.mean() ** 2
            assert S[model._merged[a], model._merged[b]] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(w[model._merged], counts / counts.mean(), atol=1e-12)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1], [1, 5, 1, 2, 1]])
def test_association(weights):
    X = ensemble()
    model = SMCLA(3, random_state=0).fit(X, partition_weights=weights)
    meta = model.cluster_labels_.reshape(5, 3)
    C = np.zeros((80, 3))
    for i in range(80):
        for k in range(3):
            inside = [(weights[b], X[b][i, j]) for b in range(5) for j in range(3) if meta[b, j] == k]
            C[i, k] = sum(w * u for w, u in inside) / sum(w for w, _ in inside)
    np.testing.assert_allclose(model.consensus_memberships_, C / C.sum(axis=1, keepdims=True), atol=1e-12)
    assert set(model.cluster_labels_) == {0, 1, 2}


def test_ties_go_to_the_first_meta_cluster():
    """The last object is in both groups to the same degree, in numbers that no sum keeps."""
    U = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0.1, 0.1]])
    X = [U, U[:, ::-1], 0.3 * U, 0.7 * U[:, ::-1], [0, 0, 1, 1, -1]]
    for seed in range(5):
        model = SMCLA(2, random_state=seed).fit(X)
        np.testing.assert_allclose(model.consensus_memberships_[4], 0.5)
        assert model.labels_[4] == 0
        assert model.predict([part[4:] for part in X])[0] == 0


def test_number_of_members_does_not_matter():
    """Group 0 is one cluster in each partition, group 1 is split in three by half of them: means, not sums, decide."""
    y = np.repeat([0, 1], 30)
    split = np.where(y == 0, 0, 1 + np.arange(60) % 3)
    model = SMCLA(2, random_state=0).fit([y, y, y, split, split])
    assert adjusted_rand_score(model.labels_, y) == 1


# Empty meta-clusters ------------------------------------------------------------------------------------------------


def test_empty_meta_cluster_takes_the_least_similar():
    rng = np.random.default_rng(0)
    for _ in range(20):
        S = rng.uniform(size=(8, 8))
        S = (S + S.T) / 2
        labels = rng.integers(3, size=8)
        w = rng.integers(1, 4, size=8).astype(float)
        found = fill_empty(labels, S, 4, w)
        own = {}
        for a in range(8):
            others = [b for b in range(8) if b != a and labels[b] == labels[a]]
            if others:
                own[a] = np.average([S[a, b] for b in others], weights=[w[b] for b in others])
        expected = labels.copy()
        if len(set(labels)) == 3:
            expected[min(own, key=own.get)] = 3
            np.testing.assert_array_equal(found, expected)
        assert set(found) == {0, 1, 2, 3}


def test_fill_many():
    S = np.ones((5, 5))
    assert sorted(fill_empty(np.zeros(5, dtype=np.intp), S, 5, np.ones(5))) == [0, 1, 2, 3, 4]
    labels = np.array([1, 0, 1])
    np.testing.assert_array_equal(fill_empty(labels, np.ones((3, 3)), 2, np.ones(3)), labels)


def test_equal_base_clusters_stay_together():
    y = np.repeat([0, 1], 20)
    with pytest.warns(ConvergenceWarning, match="found 2 distinct clusters"):
        model = SMCLA(3, random_state=0).fit([y, 1 - y, y])
    assert model.cluster_labels_[[0, 3, 4]].tolist() == [model.cluster_labels_[0]] * 3
    assert model.cluster_labels_[[1, 2, 5]].tolist() == [1 - model.cluster_labels_[0]] * 3
    assert adjusted_rand_score(model.labels_, y) == 1


def test_no_meta_cluster_stays_empty():
    y = np.repeat([0, 1], 20)
    near = 0.999 * np.eye(2)[y] + 0.0005
    with pytest.warns(ConvergenceWarning, match="found 2 distinct clusters"):
        model = SMCLA(3, random_state=0).fit([y, near])
    assert set(model.cluster_labels_) == {0, 1, 2}


def test_fewer_base_clusters_than_meta_clusters():
    y = np.repeat([0, 1], 20)
    with pytest.raises(ValueError, match=r"n_clusters=5 must be at most the number of clusters .*\. Got 4"):
        SMCLA(5).fit([y, 1 - y])
    with pytest.raises(ValueError, match="Got 2 in X"):
        SMCLA(3).fit([np.column_stack([y, 1 - y, np.zeros((40, 5))])])  # clusters without members do not count


# Planted sizes of 600, 100 and 100 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("similarity", ["euclidean", "jaccard"])
@pytest.mark.parametrize("seed", range(3))
def test_unequal_sizes(similarity, seed):
    """The graph holds base clusters, not objects: METIS and the spectral cut agree."""
    pytest.importorskip("pymetis")
    X = noisy_partitions(IMBALANCED, 8, noise=0.1, seed=seed)
    fits = [SMCLA(similarity=similarity, partitioner=p, random_state=0).fit(X) for p in ("spectral", "metis")]
    assert adjusted_rand_score(fits[0].labels_, fits[1].labels_) == 1
    assert adjusted_rand_score(IMBALANCED, fits[0].labels_) >= 0.99
