"""Heat maps: order of the samples, means of many, the strip of colours."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM
from soft_clustering.plotting import MembershipHeatmapDisplay, cluster_colors

U = np.array([[0.1, 0.9], [0.8, 0.2], [0.0, 0.0], [0.6, 0.4], [0.3, 0.7], [1.0, 0.0]])


def cells(display):
    """The lines of the picture; matplotlib before 3.8 flattens them."""
    return display.heatmap_.get_array().reshape(-1, display.memberships.shape[1])


def test_samples_are_sorted_by_cluster_then_by_share():
    display = MembershipHeatmapDisplay.from_memberships(U)
    assert display.order_.tolist() == [5, 1, 3, 0, 4, 2]
    np.testing.assert_array_equal(cells(display), U[[5, 1, 3, 0, 4, 2]])
    np.testing.assert_array_equal(display.edges_, range(7))
    assert display.ax_.get_ylim() == (6, 0)


def test_share_counts_not_strength():
    display = MembershipHeatmapDisplay.from_memberships([[2.0, 1.0], [0.5, 0.1]])
    assert display.order_.tolist() == [1, 0]
    assert display.heatmap_.get_clim() == (0, 2)
    assert MembershipHeatmapDisplay.from_memberships([[0.5, 0.1]]).heatmap_.get_clim() == (0, 1)


def test_strip_has_the_colors_of_the_clusters():
    display = MembershipHeatmapDisplay.from_memberships(U)
    colors = display.strip_.get_array()[:, 0]
    np.testing.assert_allclose(colors, [*cluster_colors(2)[[0, 0, 0, 1, 1]], [0.6, 0.6, 0.6]])


def test_many_samples_are_averaged_within_clusters():
    rng = np.random.RandomState(0)
    many = rng.dirichlet([0.3] * 4, 100_000)
    display = MembershipHeatmapDisplay.from_memberships(many)
    lines = cells(display)
    assert 500 <= len(lines) <= 504
    assert "a line is the mean of up to 200" in display.ax_.get_ylabel()
    labels = many.argmax(axis=1)[display.order_]
    for i, line in enumerate(lines):
        rows = slice(display.edges_[i], display.edges_[i + 1])
        np.testing.assert_allclose(line, many[display.order_[rows]].mean(axis=0), atol=1e-12)
        assert len(set(labels[rows])) == 1
    few = MembershipHeatmapDisplay.from_memberships(many[:30])
    assert few.ax_.get_ylabel() == "samples, sorted by cluster"


def test_max_lines():
    display = MembershipHeatmapDisplay.from_memberships(U, max_lines=1)
    np.testing.assert_array_equal(display.edges_, [0, 3, 5, 6])
    np.testing.assert_allclose(cells(display), [[0.8, 0.2], [0.2, 0.8], [0, 0]])
    with pytest.raises(ValueError, match="max_lines"):
        display.plot(max_lines=0)


def test_estimator():
    X = load_iris().data
    model = FCM(3, random_state=0).fit(X)
    training = MembershipHeatmapDisplay.from_estimator(model)
    np.testing.assert_array_equal(training.memberships, model.memberships_)
    np.testing.assert_allclose(
        MembershipHeatmapDisplay.from_estimator(model, X[::5]).memberships, model.memberships_[::5], atol=1e-9
    )
    assert training.ax_.get_title() == "FCM: memberships"
    assert training.colorbar_.ax.get_ylabel() == "membership"


def test_keywords_reach_matplotlib():
    assert MembershipHeatmapDisplay.from_memberships(U, cmap="cividis").heatmap_.get_cmap().name == "cividis"
