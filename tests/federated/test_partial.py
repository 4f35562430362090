"""Partial distances and k-means of weighted points with missing coordinates."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from soft_clustering.federated import partial
from soft_clustering.federated.partial import partial_distances, partial_kmeans


def with_gaps(X, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    gaps = rng.uniform(size=X.shape) < share
    gaps[:, 0] = False
    return np.where(gaps, np.nan, X)


def test_distances_by_a_loop():
    rng = np.random.default_rng(0)
    points, centers = with_gaps(rng.standard_normal((12, 4))), with_gaps(rng.standard_normal((5, 4)), 1)
    points[0, :2], centers[0, 2:] = np.nan, np.nan
    D = partial_distances(points, centers)
    for i, x in enumerate(points):
        for k, v in enumerate(centers):
            shared = [j for j in range(4) if not np.isnan(x[j]) and not np.isnan(v[j])]
            expected = sum((x[j] - v[j]) ** 2 for j in shared) * 4 / len(shared) if shared else np.inf
            assert D[i, k] == pytest.approx(expected, rel=1e-14)


def test_distances_of_complete_points_are_euclidean():
    rng = np.random.default_rng(0)
    X, V = rng.standard_normal((20, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(partial_distances(X, V), cdist(X, V, "sqeuclidean"), rtol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_complete_points_as_scikit_learn(seed):
    X, _ = make_blobs(60, 3, centers=5, cluster_std=3, random_state=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 20, 60)
    oracle = KMeans(5, n_init=50, tol=0, random_state=0).fit(X, sample_weight=weight)
    result = partial_kmeans(X, weight, 5, np.random.RandomState(0))
    assert result.history[-1] <= oracle.inertia_ * 1.01
    for k in range(5):
        mine = result.labels == k
        np.testing.assert_allclose(result.centers[k], np.average(X[mine], axis=0, weights=weight[mine]), rtol=1e-10)


def test_history_falls_once_the_centers_have_all_coordinates():
    for seed in range(6):
        X = with_gaps(make_blobs(80, 4, centers=4, cluster_std=3, random_state=seed)[0], seed)
        result = partial_kmeans(X, np.ones(80), 3, np.random.RandomState(seed))
        assert np.isfinite(result.centers).all()
        assert len(result.history) > 2
        assert np.all(np.diff(result.history[1:]) <= 1e-9 * result.history[0])


def test_as_many_clusters_as_points():
    X = np.random.default_rng(0).standard_normal((6, 2))
    result = partial_kmeans(X, np.arange(1.0, 7), 6, np.random.RandomState(0))
    assert sorted(result.labels) == list(range(6))
    np.testing.assert_allclose(result.centers[result.labels], X, rtol=1e-14)
    assert result.history[-1] == pytest.approx(0, abs=1e-28)


def test_coinciding_points_are_still_all_used():
    result = partial_kmeans(np.ones((4, 2)), np.ones(4), 3, np.random.RandomState(0))
    np.testing.assert_array_equal(result.centers, 1)


def test_empty_cluster_takes_the_worst_point():
    X = np.array([[0.0], [0.1], [10.0], [30.0]])
    start = np.array([[0.0], [12.0], [100.0]])
    result = partial._lloyd(X, np.ones(4), start)
    assert len(set(result.labels)) == 3
    assert result.labels[3] not in result.labels[:3]


def test_coordinate_that_no_point_of_a_cluster_has():
    X = np.array([[0.0, 0.0], [0.2, 0.1], [9.0, np.nan], [9.1, np.nan]])
    result = partial_kmeans(X, np.ones(4), 2, np.random.RandomState(0))
    far = result.labels[2]
    assert np.isnan(result.centers[far, 1])
    assert np.isfinite(result.centers[1 - far]).all()
