"""Coordinates in the plane for samples of every modality."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from soft_clustering.plotting import plane
from soft_clustering.plotting.plane import plane_of

RNG = np.random.RandomState(0)
X = RNG.normal(size=(60, 4)) * [5, 3, 1, 1]


def test_features_are_projected_on_principal_components():
    points, axes, variance = plane_of(X)
    centred = X - X.mean(axis=0)
    squares = np.linalg.svd(centred, compute_uv=False) ** 2
    assert variance == pytest.approx(squares[:2] / squares.sum())
    assert (points**2).sum(axis=0) == pytest.approx(squares[:2])
    assert axes == [f"PC {i} ({share:.0%} of the variance)" for i, share in enumerate(variance, 1)]


def test_rows_are_those_asked_for_in_their_order():
    rows = np.array([7, 3, 50])
    assert plane_of(X[:, :2], rows=rows).points == pytest.approx(X[rows, :2])
    assert plane_of(cdist(X, X), "distances", rows).points.shape == (3, 2)


def test_two_features_are_the_axes():
    pandas = pytest.importorskip("pandas")
    points, axes, variance = plane_of(pandas.DataFrame(X[:, :2], columns=["age", "size"]))
    assert (points == X[:, :2]).all() and axes == ["age", "size"] and variance is None


def test_one_feature_is_spread_along_the_second_axis():
    points, axes, _ = plane_of(X[:, :1])
    assert (points[:, 0] == X[:, 0]).all() and len(np.unique(points[:, 1])) == 60
    assert axes == ["feature 0", "spread at random, to be seen"]


def test_distances_of_a_plane_are_kept():
    Y = X[:, :2]
    points, _, variance = plane_of(cdist(Y, Y), "distances")
    assert pdist(points) == pytest.approx(pdist(Y))
    assert sum(variance) == pytest.approx(1)


def test_euclidean_distances_give_the_principal_components():
    scaled, projected = plane_of(cdist(X, X), "distances"), plane_of(X)
    assert np.abs(scaled.points) == pytest.approx(np.abs(projected.points))
    assert scaled.variance == pytest.approx(projected.variance)


def test_landmarks_place_the_others(monkeypatch):
    monkeypatch.setattr(plane, "_LANDMARKS", 20)
    Y = X[:, :2]
    points = plane_of(cdist(Y, Y), "distances").points
    assert pdist(points) == pytest.approx(pdist(Y))


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_extreme_distances(unit):
    plain, extreme = plane_of(cdist(X, X), "distances"), plane_of(cdist(X, X) * unit, "distances")
    assert extreme.variance == pytest.approx(plain.variance)
    assert extreme.points / unit == pytest.approx(plain.points)


def test_samples_at_one_place():
    assert plane_of(np.zeros((5, 5)), "distances").variance == (0, 0)
    assert plane_of(np.full((5, 4), 0.1)).variance == (0, 0)
    same = sparse.csr_array(np.tile(RNG.uniform(size=3000), (400, 1)))
    assert plane_of(same).variance == (0, 0)


def test_texts_by_topic():
    fish = ["the salmon and the trout swim", "a trout and a salmon and a pike", "pike swim, salmon swim"]
    stars = ["the comet and the planet shine", "a planet and a comet and a moon", "moon shine, planet shine"]
    points, _, variance = plane_of([*fish, *stars], "documents")
    assert (np.sign(points[:3, 0]) != np.sign(points[3:, 0])).all()
    assert variance[0] > variance[1] > 0


def test_counts_and_texts_agree():
    texts = ["aa bb", "bb cc cc", "cc dd", "aa dd dd"]
    counts = sparse.csr_array([[1, 1, 0, 0], [0, 1, 2, 0], [0, 0, 1, 1], [1, 0, 0, 2]])
    assert plane_of(texts, "documents").points == pytest.approx(plane_of(counts, "documents").points)


def test_pixels():
    image = RNG.uniform(size=(4, 5, 3))
    assert plane_of(image, "image").points == pytest.approx(plane_of(image.reshape(-1, 3)).points)
    assert plane_of(image[..., 0], "image").axes[0] == "grey level"


def test_graph_is_laid_out():
    A = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    points, axes, variance = plane_of(A, "graph", np.arange(6))
    assert points.shape == (6, 2) and axes == ["springs along the links"] and variance is None


@pytest.mark.parametrize(
    "X, modality, message",
    [
        (X, "sounds", "modality must be 'features'"),
        (X, "distances", r"X must have shape \(60, 60\)"),
        (np.zeros((2, 2)), "distances", "at least 3 samples"),
        (-np.ones((4, 4)), "distances", "non-negative"),
    ],
)
def test_refused(X, modality, message):
    with pytest.raises(ValueError, match=message):
        plane_of(X, modality)
