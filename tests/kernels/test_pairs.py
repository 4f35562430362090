"""Sums and the median over all pairs of rows: against definitions, and compiled against NumPy."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from soft_clustering import kernels
from soft_clustering.kernels import pairs, reference

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")


def rows(kind, n, d):
    rng = np.random.RandomState(n + d)
    Z = rng.normal(size=(n, d))
    if kind == "copies":
        Z = Z[rng.randint(max(1, n // 3), size=n)]
    elif kind == "integers":  # so many equal distances that the bracket holds too many
        Z = np.round(Z)
    elif kind == "sorted":
        Z = np.sort(Z, axis=0) * 10
    elif kind == "far":  # nearly all pairs are within the first rows or across
        Z[n // 2 :] += 1e6
    return np.ascontiguousarray(Z)


@needs_kernels
@pytest.mark.parametrize("d", [1, 3, 8, 300])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 128, 777])
def test_sums_over_pairs(n, d, vectors):
    Z, weight = rows("plain", n, d), np.random.RandomState(0).uniform(0, 2, n)
    weight[: n // 4] = 0
    expected = np.exp(-0.7 / d * cdist(Z, Z, "sqeuclidean")) @ weight
    np.testing.assert_allclose(pairs.pair_bumps(Z, 0.7 / d, weight), expected, rtol=1e-12)
    np.testing.assert_allclose(reference.pair_bumps(Z, 0.7 / d, weight), expected, rtol=1e-12)


@needs_kernels
@pytest.mark.parametrize("d", [1, 3, 8, 300])
@pytest.mark.parametrize("n, m, k", [(1, 1, 1), (64, 65, 5), (65, 40, 40), (130, 777, 11)])
def test_nearest_points(n, m, k, d, vectors):
    """Whole numbers have many equal distances, the first of which count, and no rounding."""
    points, own = rows("integers", m, d), rows("integers", n, d)
    squared = cdist(own, points, "sqeuclidean")
    expected = np.argsort(squared, axis=1, kind="stable")[:, :k]
    for found in (pairs.nearest(points, own, k), reference.nearest(points, own, k)):
        np.testing.assert_array_equal(found[1], expected)
        np.testing.assert_array_equal(found[0], np.take_along_axis(squared, expected, axis=1))


@needs_kernels
@pytest.mark.usefixtures("three_threads")
def test_nearest_points_do_not_depend_on_the_threads():
    Z = rows("plain", 1500, 5)
    with kernels.one_thread():
        alone = pairs.nearest(Z, Z, 7)
    np.testing.assert_array_equal(pairs.nearest(Z, Z, 7), alone)


@needs_kernels
def test_nearest_points_of_rows_of_any_layout():
    Z = rows("integers", 130, 3)
    expected = pairs.nearest(Z, Z, 5)
    for same in (np.asfortranarray(Z), Z.astype(np.float32), np.repeat(Z, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(pairs.nearest(Z, same, 5), expected)


@needs_kernels
@pytest.mark.usefixtures("three_threads")
def test_sums_do_not_depend_on_the_threads():
    Z, weight = rows("plain", 1500, 5), np.ones(1500)
    with kernels.one_thread():
        alone = pairs.pair_bumps(Z, 0.3, weight)
    np.testing.assert_array_equal(pairs.pair_bumps(Z, 0.3, weight), alone)


@needs_kernels
@pytest.mark.parametrize("kind", ["plain", "copies", "integers", "sorted", "far"])
@pytest.mark.parametrize("n, d", [(725, 4), (301, 1), (1000, 8), (1001, 3), (800, 1000)])
def test_median_over_pairs(kind, n, d, vectors):
    Z = rows(kind, n, d)
    distances = pdist(Z)
    expected = np.median(distances[distances > 0])
    assert pairs.pair_median(Z) == pytest.approx(expected, rel=1e-14)
    assert reference.pair_median(Z) == pytest.approx(expected, rel=1e-14)


@needs_kernels
def test_median_comes_from_the_bracket(monkeypatch):
    """The pairs are sorted only where the bracket fails: too many equal distances."""
    calls = []
    monkeypatch.setattr(reference, "pair_median", lambda Z: calls.append(1) or np.nan)
    assert pairs.pair_median(rows("plain", 1000, 8)) > 0
    assert calls == []
    pairs.pair_median(np.round(rows("plain", 1000, 1)))
    assert calls == [1]


@needs_kernels
def test_window(vectors):
    Z = rows("copies", 400, 3)
    squared = pdist(Z, "sqeuclidean")
    steps = np.unique(np.round(squared, 9))
    low, high = (steps[[200, 400]] + steps[[201, 401]]) / 2  # between two distances
    zeros, below, inside = kernels.compiled.pair_window(Z, low, high, 10_000, 7, 2)
    assert (zeros, below) == ((squared == 0).sum(), (squared < low).sum())
    np.testing.assert_allclose(np.sort(inside), np.sort(squared[(squared > low) & (squared < high)]), rtol=1e-12)
    assert kernels.compiled.pair_window(Z, low, high, 10, 7, 2)[2] is None


@pytest.mark.parametrize("n", [1, 2, 300])
def test_median_of_equal_rows(n):
    assert np.isnan(pairs.pair_median(np.ones((n, 2))))


@pytest.mark.parametrize("n, d", [(2, 1), (3, 2), (63, 3), (64, 3), (65, 40), (400, 8)])
@pytest.mark.parametrize("largest", [0.0, 1.0, 100.0])
def test_linkage_of_reachabilities(n, d, largest):
    rng = np.random.RandomState(n)
    Z, reach = rng.normal(size=(n, d)), rng.uniform(0, largest, n)
    Z[n // 2] = Z[0]  # a copy
    nodes, levels = pairs.reachability_linkage(Z, reach)
    np.testing.assert_allclose(levels, reference.reachability_linkage(Z, reach)[1], rtol=1e-14)
    # The rows in a node of the tree are within its level, and no other row is.
    D = np.maximum(cdist(Z, Z), np.maximum(reach, reach[:, None]))
    members = [{i} for i in range(n)]
    for (a, b), level in zip(nodes, levels, strict=True):
        assert not members[a] & members[b]
        assert D[np.ix_(list(members[a]), list(members[b]))].min() == pytest.approx(level, rel=1e-14)
        members.append(members[a] | members[b])
    assert len(members[-1]) == n
