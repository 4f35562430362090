"""Searches by trees of boxes: exact, the same for any vectors and threads, and as their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from soft_clustering import kernels
from soft_clustering.density.soft_hdbscan import members
from soft_clustering.kernels.hierarchy import AllPairs, Boxes

compiled_only = pytest.mark.skipif(kernels.compiled is None, reason="needs the compiled kernels")
SHAPES = [(1, 2), (2, 1), (31, 3), (33, 2), (500, 1), (700, 2), (640, 9), (300, 40)]


def rows(n, d, kind="continuous"):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) * np.linspace(0.2, 2, d)
    X[: n // 3] += 5
    return {"continuous": X, "grid": X.round(1), "copies": X[rng.integers(0, n, n)]}[kind]


def twin(X):
    return AllPairs(X, lambda part: cdist(part, X, "sqeuclidean"))


def lengths_of(D, core, ends):
    return np.maximum(D[tuple(ends.T)], np.maximum(core[ends[:, 0]], core[ends[:, 1]]))


@compiled_only
@pytest.mark.parametrize("kind", ["continuous", "grid", "copies"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
class TestAgainstAllPairs:
    def test_nearest(self, shape, kind):
        X = rows(*shape, kind)
        queries = np.ascontiguousarray(X[::3] + 0.3)
        for asked in (X, queries):
            D = cdist(asked, X, "sqeuclidean")
            near, which = Boxes(X).nearest(asked, min(7, len(X)))
            np.testing.assert_allclose(near, np.sort(D, axis=1)[:, : near.shape[1]], rtol=1e-13)
            np.testing.assert_allclose(np.take_along_axis(D, which, axis=1), near, rtol=1e-13)
            assert all(len(set(line)) == len(line) for line in which.tolist())

    def test_spanning_tree(self, shape, kind):
        X = rows(*shape, kind)
        n = len(X)
        D = cdist(X, X, "sqeuclidean")
        near, which = Boxes(X).nearest(X, min(5, n))
        core = near[:, -1].copy()
        # SciPy takes 0 for no edge: one added to all lengths changes nothing in the tree.
        full = np.maximum(np.maximum(core, core[:, None]), D) + 1
        expected = np.sort(minimum_spanning_tree(full).data) - 1
        for pairs in (Boxes(X), twin(X)):
            ends, lengths = pairs.spanning_tree(core, near, which)
            assert ends.shape == (n - 1, 2)
            np.testing.assert_allclose(np.sort(lengths), expected, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(lengths, lengths_of(D, core, ends), rtol=1e-12)
            links = coo_array((np.ones(n - 1), tuple(ends.T)), shape=(n, n))
            assert connected_components(links)[0] == 1

    def test_contacts(self, shape, kind):
        X = rows(*shape, kind)
        n, rng = len(X), np.random.default_rng(0)
        label = rng.permutation(np.arange(n) % 4 - 1) if n > 3 else np.zeros(n, dtype=int)
        K = label.max() + 1
        floor = rng.uniform(size=n)
        clusters = members(label, floor, K)
        for asked, member in ((X, label), (np.ascontiguousarray(X[::2] - 0.2), np.full(len(X[::2]), -1))):
            core = rng.uniform(size=len(asked))
            D = np.maximum(cdist(asked, X, "sqeuclidean"), floor)
            expected = np.maximum(core[:, None], np.stack([D[:, label == k].min(axis=1) for k in range(K)], axis=1))
            for pairs in (Boxes(X), twin(X)):
                found = pairs.contacts(asked, core, member, clusters)
                others = member[:, None] != np.arange(K)
                np.testing.assert_allclose(found[others], expected[others], rtol=1e-13)


def all_results(X):
    pairs = Boxes(X)
    near, which = pairs.nearest(X, 6)
    core = near[:, -1].copy()
    _, lengths = pairs.spanning_tree(core, near, which)
    clusters = members(np.arange(len(X)) % 3, core, 3)
    levels = pairs.contacts(X, core, np.full(len(X), -1), clusters)
    return near, np.sort(lengths), levels


@compiled_only
@pytest.mark.parametrize("d", [2, 9, 40])
def test_bitwise_the_same_for_any_vectors_and_threads(d, monkeypatch):
    X = rows(3000, d)
    expected = all_results(X)
    try:
        for limit in (16, 32, 64):
            kernels.compiled.vector_bytes(limit)
            for one, other in zip(all_results(X), expected, strict=True):
                np.testing.assert_array_equal(one, other)
    finally:
        kernels.compiled.vector_bytes(0)
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "threads_for", lambda work, chunks, threads=threads: threads)
        for one, other in zip(all_results(X), expected, strict=True):
            np.testing.assert_array_equal(one, other)


@compiled_only
def test_a_distance_is_the_same_from_both_sides_and_in_any_tree():
    X = rows(900, 5)
    near, which = Boxes(X).nearest(X, len(X))
    D = np.empty((len(X), len(X)))
    np.put_along_axis(D, which, near, axis=1)
    np.testing.assert_array_equal(D, D.T)
    part = np.ascontiguousarray(X[100:150])
    some, those = Boxes(part).nearest(X, len(part))
    again = np.empty((len(X), len(part)))
    np.put_along_axis(again, those, some, axis=1)
    np.testing.assert_array_equal(again, D[:, 100:150])
