"""Scatter plots: which points, where, in which colours, and what the plot says."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors, membership_colors

X = load_iris().data
MODEL = FCM(3, random_state=0).fit(X)


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_points_and_colors_belong_together():
    display = MembershipScatterDisplay.from_memberships(MODEL.memberships_, X[:, :2])
    rows = display.shown_
    assert sorted(rows) == list(range(150))
    np.testing.assert_array_equal(display.points_.get_offsets(), X[rows, :2])
    np.testing.assert_allclose(display.points_.get_facecolors(), membership_colors(MODEL.memberships_)[rows])


def test_one_hot_rows_have_the_colors_of_the_palette():
    display = MembershipScatterDisplay(np.zeros((20, 2)), np.eye(20)).plot()
    colors = np.empty((20, 4))
    colors[display.shown_] = display.points_.get_facecolors()
    np.testing.assert_allclose(colors, np.column_stack([cluster_colors(20), np.ones(20)]), atol=1e-12)


def test_centers_are_projected_with_the_points():
    display = MembershipScatterDisplay.from_estimator(MODEL, X)
    inside = MembershipScatterDisplay.from_memberships(MODEL.memberships_, X, centers=X[:3])
    offsets = np.empty((150, 2))
    offsets[inside.shown_] = inside.points_.get_offsets()
    np.testing.assert_allclose(inside.centers_.get_offsets(), offsets[:3], atol=1e-10)
    np.testing.assert_allclose(display.centers_.get_facecolors()[:, :3], cluster_colors(3), atol=1e-12)
    assert MembershipScatterDisplay.from_memberships(MODEL.memberships_, X).centers_ is None


def test_labels():
    frame = pd.DataFrame(X[:, :2], columns=["length", "width"])
    display = MembershipScatterDisplay.from_estimator(FCM(3, random_state=0).fit(frame), frame)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
    assert display.ax_.get_title() == "FCM: memberships"
    assert texts(display.legend_) == ["cluster 0", "cluster 1", "cluster 2", "uncertain", "centre"]
    without = MembershipScatterDisplay(X[:, :2], np.eye(2)[[0] * 75 + [1] * 75] * (np.arange(150) > 3)[:, None]).plot()
    assert without.ax_.get_title() == "Memberships"
    assert texts(without.legend_) == ["cluster 0", "cluster 1", "no cluster", "uncertain"]


def test_many_points_are_sampled_and_the_plot_says_so():
    rng = np.random.RandomState(0)
    points, U = rng.normal(size=(100_000, 2)), rng.dirichlet([1, 1, 1], 100_000)
    display = MembershipScatterDisplay.from_memberships(U, points)
    assert len(display.points_.get_offsets()) == 20_000
    assert display.note_.get_text() == "20,000 of 100,000 samples shown"
    np.testing.assert_array_equal(display.points_.get_offsets(), points[display.shown_])
    again = MembershipScatterDisplay.from_memberships(U, points, max_points=500)
    np.testing.assert_array_equal(again.shown_, display.shown_[:500])
    assert MembershipScatterDisplay.from_memberships(U[:99], points[:99]).note_ is None


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_vector_files_stay_small(kind):
    rng = np.random.RandomState(0)
    display = MembershipScatterDisplay(rng.normal(size=(20_000, 2)), rng.dirichlet([1, 1], 20_000)).plot()
    file = io.BytesIO()
    display.figure_.savefig(file, format=kind)
    assert file.tell() < 500_000  # 20,000 shapes: 2.9 MB of SVG


def test_one_feature_gives_curves():
    model = FCM(3, random_state=0).fit(X[:, 2:3])
    display = MembershipScatterDisplay.from_estimator(model, X[:, 2:3])
    assert len(display.points_) == 3
    order = np.argsort(X[:, 2], kind="stable")
    for k, line in enumerate(display.points_):
        np.testing.assert_array_equal(line.get_xdata(), X[order, 2])
        np.testing.assert_allclose(np.sort(line.get_ydata()), np.sort(model.memberships_[:, k]), atol=1e-12)
        np.testing.assert_array_equal(line.get_color(), cluster_colors(3)[k])
    np.testing.assert_allclose(display.centers_.get_offsets(), np.column_stack([model.centers_, np.zeros(3)]))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("feature 0", "membership")


def test_keywords_reach_matplotlib():
    display = MembershipScatterDisplay.from_estimator(MODEL, X, s=7, marker="s")
    assert set(display.points_.get_sizes()) == {7}
    curve = MembershipScatterDisplay.from_memberships(MODEL.memberships_, X[:, :1], linestyle="none")
    assert curve.points_[0].get_linestyle() == "None"


def test_26_clusters_are_drawn_with_a_warning():
    U = np.eye(26)
    with pytest.warns(UserWarning, match="colours"):
        display = MembershipScatterDisplay(np.zeros((26, 2)), U).plot()
    assert len(display.points_.get_offsets()) == 26


def test_huge_coordinates():
    display = MembershipScatterDisplay.from_memberships(MODEL.memberships_, X * 1e300)
    display.figure_.canvas.draw()
    plt.close(display.figure_)


@pytest.mark.parametrize(
    "points, U, keywords, message",
    [
        (X[:, :3], np.ones((150, 1)), {}, "points must have 1 or 2 columns. Got 3"),
        (X[:, :2], np.ones((149, 2)), {}, r"memberships must have shape \(150, n_clusters\). Got shape \(149, 2\)"),
        (X[:, :2], np.ones((150, 2)), {"centers": np.ones((3, 2))}, r"centers must have shape \(2, 2\)"),
        (X[:, :2], np.ones((150, 2)), {"axis_names": ["a"]}, "axis_names must have 2 entries. Got 1"),
    ],
)
def test_wrong_data(points, U, keywords, message):
    with pytest.raises(ValueError, match=message):
        MembershipScatterDisplay(points, U, **keywords)
