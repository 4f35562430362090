"""Contours: at the levels, in the colours, from predictions or from samples."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM, GMM
from soft_clustering.base import BaseSoftClusterer
from soft_clustering.plotting import MembershipContourDisplay, cluster_colors

X = load_iris().data[:, 2:]
MODEL = GMM(3, random_state=0).fit(X)


def vertices(contour, level):
    """The points of the contour lines at a level."""
    segments = contour.allsegs[list(contour.levels).index(level)]
    return np.concatenate([segment for segment in segments if len(segment)])


def test_memberships_on_the_lines_are_the_levels():
    """Between grid points the surface is linear: a fine grid."""
    display = MembershipContourDisplay.from_estimator(MODEL, X, grid_resolution=400)
    for k, contour in enumerate(display.contours_):
        np.testing.assert_array_equal(contour.levels, [0.5, 0.7, 0.9])
        for level in contour.levels:
            on_the_line = MODEL.predict_memberships(vertices(contour, level))[:, k]
            np.testing.assert_allclose(on_the_line, level, atol=0.03)


def test_colors_and_widths():
    display = MembershipContourDisplay.from_estimator(MODEL, X, grid_resolution=50)
    for k, contour in enumerate(display.contours_):
        lines, _ = contour.legend_elements()
        drawn = [np.ravel(line.get_color())[:3] for line in lines]
        np.testing.assert_allclose(drawn, cluster_colors(3)[[k] * 3])
        assert np.all(np.diff(np.ravel([line.get_linewidth() for line in lines])) > 0)
    labels = [text.get_text() for text in display.legend_.get_texts()]
    assert labels[-3:] == ["membership 0.5", "membership 0.7", "membership 0.9"]


def test_background_is_the_mixture():
    x, y = np.arange(3.0), np.arange(2.0)
    U = np.zeros((2, 3, 2))
    U[0, 0] = [1, 0]
    U[0, 1] = [0, 1]
    U[0, 2] = [0.5, 0.5]
    U[1, 0] = np.nan
    picture = MembershipContourDisplay(x, y, U).plot().background_.get_array()
    np.testing.assert_allclose(picture[0, :2, :3], cluster_colors(2), atol=1e-12)
    np.testing.assert_allclose(picture[0, :, 3], [0.45, 0.45, 0])
    np.testing.assert_array_equal(picture[1, :, 3], 0)  # unknown, and no cluster
    assert MembershipContourDisplay(x, y, U).plot().background_.get_extent() == [-0.5, 2.5, -0.5, 1.5]


def test_grid_goes_beyond_the_samples():
    display = MembershipContourDisplay.from_estimator(MODEL, X, grid_resolution=30)
    assert display.memberships.shape == (30, 30, 3)
    np.testing.assert_allclose([display.x[0], display.x[-1]], [1 - 0.59, 6.9 + 0.59])
    np.testing.assert_allclose(
        display.memberships[4, 7], MODEL.predict_memberships([[display.x[7], display.y[4]]])[0], atol=1e-12
    )


def test_points_and_centers():
    display = MembershipContourDisplay.from_estimator(MODEL, X, grid_resolution=20, max_points=60)
    np.testing.assert_array_equal(display.points_.get_offsets(), X[display.shown_])
    assert display.note_.get_text() == "60 of 150 samples shown"
    np.testing.assert_allclose(display.centers_.get_offsets(), MODEL.centers_)


def test_data_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=["petal length", "petal width"])
    model = FCM(3, random_state=0).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = MembershipContourDisplay.from_estimator(model, frame, grid_resolution=20)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("petal length", "petal width")


def test_level_that_no_cluster_reaches():
    model = FCM(3, m=6.0, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = MembershipContourDisplay.from_estimator(model, X, grid_resolution=20, levels=[0.3, 0.999999])
    assert all(contour is not None for contour in display.contours_)
    flat = MembershipContourDisplay([0, 1], [0, 1], np.full((2, 2, 2), 0.5)).plot(levels=[0.5])
    assert flat.contours_ == [None, None]


def test_interpolation_of_samples():
    """Linear memberships are interpolated exactly inside the hull and unknown outside."""
    rng = np.random.RandomState(0)
    points = rng.uniform(0, 1, (300, 2))
    U = np.column_stack([points[:, 0], 1 - points[:, 0]])
    display = MembershipContourDisplay.from_memberships(U, points, grid_resolution=41)
    inside = (display.x > 0.1) & (display.x < 0.9)
    known = display.memberships[np.ix_((display.y > 0.1) & (display.y < 0.9), inside)]
    np.testing.assert_allclose(known[..., 0], np.broadcast_to(display.x[inside], known.shape[:2]), atol=1e-9)
    assert np.isnan(display.memberships[0]).all()
    np.testing.assert_allclose(vertices(display.contours_[0], 0.7)[:, 0], 0.7, atol=1e-9)


def test_estimator_that_cannot_predict():
    class Transductive(BaseSoftClusterer):
        def fit(self, X, y=None):
            self._set_memberships(np.ones((len(X), 1)))
            return self

    with pytest.raises(TypeError, match=r"must be able to predict\. Got a Transductive"):
        MembershipContourDisplay.from_estimator(Transductive().fit(X), X)


def test_samples_on_a_line():
    line = np.column_stack([np.arange(9.0), np.arange(9.0)])
    for points in (line, line[:2], np.ones((9, 2))):
        with pytest.raises(ValueError, match="X must have at least three different samples, not all on a line"):
            MembershipContourDisplay.from_memberships(np.ones((len(points), 2)), points)


def test_samples_in_one_place():
    display = MembershipContourDisplay.from_estimator(MODEL, X[:1], grid_resolution=5)
    assert np.all(np.diff(display.x) > 0) and np.all(np.diff(display.y) > 0)


@pytest.mark.parametrize("data, features", [(load_iris().data, 4), (X[:, :1], 1)])
def test_only_two_features(data, features):
    with pytest.raises(ValueError, match=f"X must have 2 features, the axes of the plot. Got {features}"):
        MembershipContourDisplay.from_estimator(FCM(2, random_state=0).fit(data), data)


@pytest.mark.parametrize(
    "x, y, shape, message",
    [
        ([0.0], [0.0, 1.0], (2, 1, 2), "x must have at least two numbers"),
        ([0.0, 1.0], [1.0, 0.0], (2, 2, 2), "y must have at least two numbers that increase by equal steps"),
        ([0.0, 1.0, 3.0], [0.0, 1.0], (2, 3, 2), "x must have at least two numbers that increase by equal steps"),
        ([0.0, 1.0], [0.0, 1.0, 2.0], (2, 3, 2), r"memberships must have shape \(3, 2, n_clusters\)"),
    ],
)
def test_wrong_grid(x, y, shape, message):
    with pytest.raises(ValueError, match=message):
        MembershipContourDisplay(x, y, np.ones(shape))


@pytest.mark.parametrize(
    "wrong, message", [(-1.0, "memberships must be non-negative"), (np.inf, "memberships contains inf")]
)
def test_wrong_surface(wrong, message):
    with pytest.raises(ValueError, match=message):
        MembershipContourDisplay([0.0, 1.0], [0.0, 1.0], np.full((2, 2, 2), wrong))


@pytest.mark.parametrize("levels", [[], [0.7, 0.5], [0.5, 0.5]])
def test_wrong_levels(levels):
    with pytest.raises(ValueError, match="levels must be increasing numbers"):
        MembershipContourDisplay.from_estimator(MODEL, X, grid_resolution=5, levels=levels)
