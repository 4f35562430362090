"""Spectral vectors against full decompositions, k-means of them, and what METIS is given."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackError
from sklearn.metrics import adjusted_rand_score

from soft_clustering.consensus import partitioning
from soft_clustering.consensus.partitioning import cut_vectors, k_means_parts, metis_parts, singular_vectors


def rng(seed=0):
    return np.random.RandomState(seed)


def similar(n, seed=0):
    """A symmetric similarity matrix of three groups."""
    random = np.random.default_rng(seed)
    points = 3.0 * np.eye(3)[np.arange(n) % 3] + random.normal(scale=0.7, size=(n, 3))
    return np.exp(-np.square(points[:, None] - points).sum(axis=2))


# Spectral -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("K", [1, 3, 8])
def test_singular_vectors(K, form):
    Z = np.random.default_rng(0).uniform(size=(40, 8)) ** 3
    left, right = singular_vectors(form(Z), K, rng())
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    np.testing.assert_allclose(np.abs(left[:, ::-1]), np.abs(U[:, :K]), atol=1e-9)
    np.testing.assert_allclose(np.abs(right[:, ::-1]), np.abs(Vt[:K].T), atol=1e-9)
    np.testing.assert_allclose(Z @ right, left * s[:K][::-1], atol=1e-9)  # the signs of both belong together


def test_vectors_of_zero_are_left_out():
    Z = np.random.default_rng(0).uniform(size=(30, 2)) @ np.random.default_rng(1).uniform(size=(2, 6))
    left, right = singular_vectors(Z, 5, rng())
    assert left.shape == (30, 2)
    assert right.shape == (6, 2)
    assert singular_vectors(Z[:, :1], 5, rng())[0].shape == (30, 1)
    assert cut_vectors(np.ones((10, 10)), 3, rng()).shape == (10, 1)


def test_cut_vectors():
    S = similar(30)
    root = np.sqrt(S.sum(axis=1))
    _, expected = np.linalg.eigh(S / root[:, None] / root)
    found = cut_vectors(S.copy(), 4, rng())
    np.testing.assert_allclose(np.abs(found), np.abs(expected[:, -4:]), atol=1e-9)
    np.testing.assert_allclose(found[:, -1], root / np.linalg.norm(root))  # positive, so its sign is right


def test_signs_do_not_depend_on_the_solver(monkeypatch):
    S = similar(30)
    expected = cut_vectors(S.copy(), 4, rng())
    solve = partitioning.eigh
    monkeypatch.setattr(partitioning, "eigh", lambda *a, **k: (solve(*a, **k)[0], solve(*a, **k)[1] * [1, -1, -1, -1]))
    np.testing.assert_allclose(cut_vectors(S.copy(), 4, rng()), expected)


def test_lanczos(monkeypatch):
    S = similar(120)
    expected = cut_vectors(S.copy(), 3, rng())
    monkeypatch.setattr(partitioning, "_DENSE", 50)
    used = []
    solve = partitioning.eigsh
    monkeypatch.setattr(partitioning, "eigsh", lambda *a, **k: used.append(1) or solve(*a, **k))
    np.testing.assert_allclose(cut_vectors(S.copy(), 3, rng()), expected, atol=1e-9)
    cut_vectors(S.copy(), 30, rng())  # too many for Lanczos
    assert used == [1]


def test_lanczos_that_fails(monkeypatch):
    def fail(*arguments, **keywords):
        raise ArpackError(3)

    S = similar(120)
    expected = cut_vectors(S.copy(), 3, rng())
    monkeypatch.setattr(partitioning, "_DENSE", 50)
    monkeypatch.setattr(partitioning, "eigsh", fail)
    np.testing.assert_array_equal(cut_vectors(S.copy(), 3, rng()), expected)


@pytest.mark.filterwarnings("error")
def test_k_means_of_directions():
    vectors = np.array([[1.0, 0.1], [100.0, 10.0], [1e-3, 1e-4], [-1.0, 3.0], [-10.0, 30.0]])
    labels = k_means_parts(vectors, 2, 3, rng())
    assert adjusted_rand_score(labels, [0, 0, 0, 1, 1]) == 1
    # rounding does not make rows distinct, zero rows stay together
    noise = 1 + 1e-13 * np.random.default_rng(0).normal(size=(20, 2))
    vectors = np.vstack([noise, np.zeros((3, 2)), 1e-17 * noise[:3]])
    labels = k_means_parts(vectors, 5, 3, rng())
    assert adjusted_rand_score(labels, [0] * 20 + [1] * 6) == 1


# METIS --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def given(monkeypatch):
    """What a stand-in for pymetis is called with."""
    calls = types.SimpleNamespace(index=np.dtype(np.int64))

    def part_graph(nparts, adjacency, *, eweights, options):
        calls.nparts, calls.weights, calls.options = nparts, eweights, options
        shape = (len(adjacency.adj_starts) - 1,) * 2
        calls.types = {adjacency.adj_starts.dtype, adjacency.adjacent.dtype, eweights.dtype}
        calls.graph = sparse.csr_array((eweights, adjacency.adjacent, adjacency.adj_starts), shape=shape).toarray()
        return types.SimpleNamespace(vertex_part=[0] * shape[0])

    module = types.ModuleType("pymetis")
    module.part_graph = part_graph
    module.zero_copy_dtype = lambda: calls.index
    module.CSRAdjacency = lambda adj_starts, adjacent: types.SimpleNamespace(adj_starts=adj_starts, adjacent=adjacent)
    module.Options = lambda **options: options
    monkeypatch.setitem(sys.modules, "pymetis", module)
    return calls


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_graph_for_metis(given, form):
    S = np.array([[9, 4, 0.001], [4, 9, 1], [0.001, 1, 9]])
    assert metis_parts(form(S), 2, 7, rng(5)).tolist() == [0, 0, 0]
    np.testing.assert_array_equal(given.graph, [[0, 1000, 0], [1000, 0, 250], [0, 250, 0]])
    assert (given.weights > 0).all()
    assert len(given.weights) == 4  # no loops, no edges of weight 0
    assert given.types == {np.dtype(np.int64)}
    assert given.nparts == 2
    assert given.options == {"seed": rng(5).randint(2**31 - 1), "ncuts": 7}


def test_weights_within_the_integers_of_metis(given):
    given.index = np.dtype(np.int32)
    metis_parts(np.ones((1600, 1600)), 2, 1, rng())
    assert given.types == {np.dtype(np.int32)}
    assert 0 < given.weights.sum(dtype=np.int64) < 2**31


def test_graph_without_edges(given):
    metis_parts(np.eye(3), 2, 1, rng())
    assert len(given.weights) == 0


def test_metis():
    pytest.importorskip("pymetis")
    y = np.arange(90) % 3
    S = np.where(y[:, None] == y, 1.0, 0.1)
    for seed in range(3):
        assert adjusted_rand_score(metis_parts(S, 3, 1, rng(seed)), y) == 1
    np.testing.assert_array_equal(metis_parts(S, 7, 1, rng(1)), metis_parts(S, 7, 1, rng(1)))
    assert np.bincount(metis_parts(np.eye(9), 3, 1, rng())).tolist() == [3, 3, 3]
    assert metis_parts(S, 1, 1, rng()).tolist() == [0] * 90


def test_metis_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(ImportError, match=r'partitioner=.metis. needs pymetis: pip install "soft-clustering\[metis\]"'):
        metis_parts(np.ones((4, 4)), 2, 1, rng())
