"""Objects known by their dissimilarities, as a relational method uses them."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from soft_clustering import EVCLUS
from soft_clustering.engine.dissimilarities import (
    Dissimilarities,
    classical_scaling,
    distinct_draws,
    medoid_labels,
    quantile,
    validate_objects,
)

IRIS = load_iris().data


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "cosine", "precomputed"])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e150])
def test_all_kinds_measure_the_same(metric, scale):
    """Among training objects and from new ones, in units in which nothing overflows."""
    name = "euclidean" if metric == "precomputed" else metric
    expected = cdist(IRIS, IRIS, name)
    scale = 1.0 if metric == "cosine" else scale
    objects = Dissimilarities((expected if metric == "precomputed" else IRIS) * scale, metric)
    some, others = np.array([3, 70, 149]), np.array([0, 99])
    for measured in (objects.between(some, others), objects.between(slice(None), slice(None))[np.ix_(some, others)]):
        assert measured.max() < 1e3
        np.testing.assert_allclose(measured * objects.metric.unit / scale, expected[np.ix_(some, others)], rtol=1e-9)
    new = (expected if metric == "precomputed" else IRIS)[some] * scale
    np.testing.assert_allclose(objects.landmarks(others).measure(new), objects.between(some, others), rtol=1e-12)


def test_a_given_matrix_becomes_symmetric_with_a_zero_diagonal():
    D = np.array([[1.0, 2.0], [4.0, 0.0]])
    objects = Dissimilarities(D, "precomputed")
    np.testing.assert_array_equal(objects.between(slice(None), slice(None)) * objects.metric.unit, [[0, 3], [3, 0]])


def test_undefined_metrics_are_refused():
    with pytest.raises(ValueError, match="metric='correlation' is not defined, or not finite, between some rows of X"):
        Dissimilarities(np.array([[1.0, 1.0], [1.0, 2.0]]), "correlation").between(slice(None), [0])


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "precomputed"])
def test_distinct_objects_are_counted_up_to_a_limit(metric):
    X = np.repeat([[0.0], [1.0], [4.0]], 5, axis=0)
    objects = Dissimilarities(cdist(X, X) if metric == "precomputed" else X, metric)
    assert [objects.n_distinct(most) for most in (1, 2, 3, 4, 10)] == [1, 2, 3, 3, 3]


def test_medoids():
    X, y = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    for seed in range(5):
        assert adjusted_rand_score(y, medoid_labels(cdist(X, X), 3, np.random.RandomState(seed))) == 1
    labels = medoid_labels(np.zeros((6, 6)), 3, np.random.RandomState(0))
    np.testing.assert_array_equal(labels, 0)


@pytest.mark.parametrize("size, k", [(50, 5), (50, 30), (7, 7)])
def test_draws_in_a_row_are_distinct(size, k):
    draws = distinct_draws(np.random.RandomState(0), 2000, size, k)
    assert draws.shape == (2000, k)
    assert all(len(set(row)) == k for row in draws.tolist())
    expected = 2000 * k / size
    assert np.abs(np.bincount(draws.ravel(), minlength=size) - expected).max() < 6 * np.sqrt(expected)


def test_sparse_objects_are_refused():
    X = np.eye(6)
    for metric in ("euclidean", "precomputed"):
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            validate_objects(EVCLUS(2, metric=metric), sparse.csr_array(X), metric, reset=True)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_classical_scaling_gives_the_distances_back(scale):
    D = cdist(IRIS, IRIS)
    points = classical_scaling(D * scale, 10)
    assert points.shape == (150, 4)
    np.testing.assert_allclose(cdist(points, points), D / D.max(), atol=1e-7)
    np.testing.assert_array_equal(classical_scaling(D, 2), classical_scaling(D, 10)[:, :2])


def test_equal_objects_have_no_axis():
    assert classical_scaling(np.zeros((5, 5)), 2).shape == (5, 0)


@pytest.mark.parametrize("n", [1, 2, 1000, 200_000])
@pytest.mark.parametrize("kind", ["distances", "ties", "equal", "far"])
def test_quantile_is_that_of_numpy(n, kind):
    values = np.random.default_rng(0).exponential(size=n)
    values = {
        "distances": values,
        "ties": np.round(values, 1),
        "equal": np.full(n, 2.5),
        "far": np.where(values < values.max(), values, 1e300),
    }[kind]
    for level in (0.0, 1e-6, 0.1, 0.5, 0.6, 1 - 1e-6, 1.0):
        assert quantile(values, level) == pytest.approx(np.quantile(values, level), rel=1e-13)
