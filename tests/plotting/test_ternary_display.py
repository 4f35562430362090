"""Ternary plots: corners, edges, the middle, and who has no place."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM
from soft_clustering.plotting import TernaryDisplay, cluster_colors
from soft_clustering.plotting.ternary import CORNERS


def places(display):
    """The place of each row."""
    place = np.full((len(display.memberships), 2), np.nan)
    place[display.shown_] = display.points_.get_offsets()
    return place


def test_triangle_is_equilateral():
    sides = np.linalg.norm(CORNERS - np.roll(CORNERS, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 1)


def test_corners_edges_and_middle():
    U = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    display = TernaryDisplay.from_memberships(U)
    expected = [[0, 0], [1, 0], [0.5, np.sqrt(3) / 2], [0.5, 0], [0.5, np.sqrt(3) / 6]]
    np.testing.assert_allclose(places(display), expected, atol=1e-12)
    colors = np.empty((5, 4))
    colors[display.shown_] = display.points_.get_facecolors()
    np.testing.assert_allclose(colors[:3, :3], cluster_colors(3), atol=1e-12)


def test_scale_of_a_cluster():
    """The numbers beside an edge are the share at the end of the line that begins there."""
    display = TernaryDisplay.from_memberships(np.eye(3))
    for text in display.ax_.texts:
        if not text.get_text().startswith("0."):
            continue
        share = float(text.get_text())
        # barycentric coordinates of the place where the number stands, just outside the triangle
        weights = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), [*text.get_position(), 1])
        k = (int(weights.argmin()) + 1) % 3
        assert weights[k] == pytest.approx(share, abs=0.03)
        np.testing.assert_allclose(text.get_color(), 0.8 * cluster_colors(3)[k])
    assert sum(text.get_text().startswith("0.") for text in display.ax_.texts) == 12


def test_names_stand_at_the_corners():
    display = TernaryDisplay.from_memberships(np.eye(3))
    names = {text.get_text(): text.get_position() for text in display.ax_.texts}
    for k in range(3):
        assert np.linalg.norm(names[f"cluster {k}"] - CORNERS, axis=1).argmin() == k


def test_unnormalised_memberships_and_no_cluster():
    U = np.array([[4.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.01, 0.0, 0.0]])
    display = TernaryDisplay.from_memberships(U)
    np.testing.assert_allclose(places(display)[[0, 2]], [[0.5, 0], [0, 0]], atol=1e-12)
    assert sorted(display.shown_) == [0, 2]
    assert display.note_.get_text() == "1 samples of no cluster left out"


def test_many_points_are_sampled_and_the_plot_says_so():
    U = np.random.RandomState(0).dirichlet([1, 1, 1], 30_000)
    U[:1000] = 0
    display = TernaryDisplay.from_memberships(U)
    assert len(display.points_.get_offsets()) == 20_000
    assert display.shown_.min() >= 1000
    assert display.note_.get_text() == "20,000 of 29,000 samples shown\n1,000 samples of no cluster left out"
    assert TernaryDisplay.from_memberships(U[2000:3000]).note_ is None


def test_estimator():
    X = load_iris().data
    model = FCM(3, random_state=0).fit(X)
    np.testing.assert_allclose(places(TernaryDisplay.from_estimator(model)), model.memberships_ @ CORNERS, atol=1e-12)
    np.testing.assert_allclose(
        places(TernaryDisplay.from_estimator(model, X[:9])), model.memberships_[:9] @ CORNERS, atol=1e-9
    )


def test_only_three_clusters():
    with pytest.raises(ValueError, match=r"memberships must have shape \(n_samples, 3\). Got shape \(4, 4\)"):
        TernaryDisplay(np.eye(4))


def test_nobody_has_a_place():
    with pytest.raises(ValueError, match=r"memberships must have a positive entry\. Got only zeros"):
        TernaryDisplay(np.zeros((4, 3)))
