"""Clusters of nodes by the leading eigenvectors of a graph."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackError
from sklearn.metrics import adjusted_rand_score

from soft_clustering.graphs import spectral
from soft_clustering.graphs.spectral import cluster_directions, spectral_labels


@pytest.mark.parametrize("sizes", [[10, 12], [60, 50, 40]], ids=["dense", "sparse"])
def test_spectral_labels(planted, sizes):
    links, y = planted(sizes, 0.6, 0.05)
    found = [spectral_labels(links, len(sizes), np.random.RandomState(0)) for _ in range(2)]
    assert adjusted_rand_score(y, found[0]) == 1
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(spectral_labels(links, 1, np.random.RandomState(0)), 0)


def test_small_components_do_not_take_the_eigenvectors(planted):
    A, y = planted([60, 60], 0.3, 0.03)
    pairs = np.kron(np.eye(5), [[0, 1], [1, 0]])
    links = sparse.block_diag([A, sparse.csr_array(pairs)], format="csr")
    labels = spectral_labels(links, 2, np.random.RandomState(0))
    assert adjusted_rand_score(y, labels[:120]) > 0.9


def test_eigenvectors_that_are_not_found_are_random(monkeypatch):
    def failing(*arguments, **keywords):
        raise ArpackError(-9999)

    monkeypatch.setattr(spectral, "eigsh", failing)
    A = sparse.csr_array(np.kron(np.eye(3), np.ones((40, 40))))
    labels = spectral_labels(A, 3, np.random.RandomState(0))
    assert set(labels) == {0, 1, 2}


@pytest.mark.filterwarnings("error")
def test_directions():
    angles = np.array([0.0, 0.1, 2.0, 2.1, 4.0, 4.1])
    lengths = np.array([1.0, 100.0, 3.0, 0.01, 50.0, 1.0])
    vectors = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    labels = cluster_directions(vectors, 3, 10, np.random.RandomState(0))
    assert adjusted_rand_score([0, 0, 1, 1, 2, 2], labels) == 1
    assert len(cluster_directions(np.zeros((6, 2)), 3, 1, np.random.RandomState(0))) == 6
