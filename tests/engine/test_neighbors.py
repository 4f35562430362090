"""Nearest neighbours by direct differences, and the graph of their weights, by loops."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from soft_clustering import kernels
from soft_clustering.engine import neighbors
from soft_clustering.engine.neighbors import Neighbors, Search, graph_weights


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("new", [False, True])
def test_nearest_in_ascending_order(points, new):
    Z = points[:7] + 0.1 if new else None
    indices, D = Neighbors(points, 4).nearest(Z)
    expected = cdist(points if Z is None else Z, points, "sqeuclidean")
    if Z is None:
        np.fill_diagonal(expected, np.inf)  # no point is its own neighbour
    np.testing.assert_array_equal(indices, expected.argsort(axis=1)[:, :5])
    np.testing.assert_allclose(D, np.sort(expected, axis=1)[:, :5], rtol=1e-13)


def test_distances_far_from_the_origin_are_ascending():
    """Distances by products would be rounding errors here; ours are differences."""
    points = np.random.default_rng(0).normal(size=(30, 20)) * 1e-3 + 1e5
    indices, D = Neighbors(points, 8).nearest()
    assert (np.diff(D, axis=1) >= 0).all()
    np.testing.assert_allclose(D, ((points[:, None] - points[indices]) ** 2).sum(axis=2), rtol=1e-14)


def test_fewer_points_than_neighbours():
    points = np.array([[0.0], [1.0], [3.0]])
    indices, D = Neighbors(points, 9).nearest()
    np.testing.assert_array_equal(indices, [[1, 2], [0, 2], [1, 0]])
    np.testing.assert_array_equal(D, [[1.0, 9.0], [1.0, 4.0], [4.0, 9.0]])
    indices, D = Neighbors(points, 9).nearest(np.array([[2.5]]))
    np.testing.assert_array_equal(indices, [[2, 1, 0]])


def test_graph_by_loops(points):
    neighbors = Neighbors(points, 4)
    indices, D = neighbors.nearest()
    expected = np.zeros((30, 30))
    for i, weights in enumerate(graph_weights(D)):
        for j, weight in zip(indices[i], weights, strict=False):
            expected[i, j] += weight / 2
            expected[j, i] += weight / 2
    graph = neighbors.graph()
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-14)
    assert graph.indices.dtype == np.int32
    assert graph.nnz == np.count_nonzero(expected)
    assert not neighbors.may_have_copies


def test_copies_are_noticed(points):
    neighbors = Neighbors(np.concatenate([points, points[:1]]), 4)
    neighbors.graph()
    assert neighbors.may_have_copies


def test_one_point_has_no_neighbour():
    graph = Neighbors(np.zeros((1, 2)), 3).graph()
    assert graph.shape == (1, 1)
    assert graph.nnz == 0


def test_neighbours_of_weight_zero_are_no_links():
    """Of the four neighbours of 0 the last three are equally far, so that only the first is a link."""
    graph = Neighbors(np.array([[0.0, 0], [0.1, 0], [2, 0], [-2, 0], [0, 2], [0, -2.0]]), 3).graph()
    assert graph.nnz == np.count_nonzero(graph.toarray())
    assert (graph.data > 0).all()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("at_once", [1, 1000, 1 << 21])
def test_pairs_within_a_radius(monkeypatch, at_once, compiled):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
        monkeypatch.setattr(kernels, "_silent", True)
    monkeypatch.setattr(neighbors, "_AT_ONCE", at_once)
    Z = np.random.default_rng(0).integers(0, 6, size=(150, 3)).astype(float)
    close = np.triu(cdist(Z, Z, "sqeuclidean") <= 4, 1)
    assert sorted(zip(*Search(Z).pairs(2.0), strict=True)) == sorted(zip(*np.nonzero(close), strict=True))
