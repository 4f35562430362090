"""What all displays share: no matplotlib on import, given axes, text of users, pictures that draw."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM
from soft_clustering.plotting import (
    CoverDisplay,
    GraphDisplay,
    IndexCurvesDisplay,
    MembershipContourDisplay,
    MembershipHeatmapDisplay,
    MembershipScatterDisplay,
    ObjectiveHistoryDisplay,
    SegmentationDisplay,
    TernaryDisplay,
    TopicWordsDisplay,
)

X = load_iris().data
MODEL = FCM(3, random_state=0).fit(X)
PLANE = FCM(3, random_state=0).fit(X[:, 2:])
U = MODEL.memberships_
RING = np.roll(np.eye(10), 1, axis=0)

DISPLAYS = {
    "scatter": lambda **to: MembershipScatterDisplay.from_estimator(MODEL, X, **to),
    "line": lambda **to: MembershipScatterDisplay.from_memberships(U, X[:, :1], **to),
    "heatmap": lambda **to: MembershipHeatmapDisplay.from_estimator(MODEL, **to),
    "ternary": lambda **to: TernaryDisplay.from_estimator(MODEL, **to),
    "contour": lambda **to: MembershipContourDisplay.from_estimator(PLANE, X[:, 2:], grid_resolution=20, **to),
    "index": lambda **to: IndexCurvesDisplay([2, 3], {"a": [1, 2], "b": [2, 1]}).plot(**to),
    "history": lambda **to: ObjectiveHistoryDisplay.from_estimator(MODEL, **to),
    "graph": lambda **to: GraphDisplay.from_memberships(U[:10], RING, **to),
    "cover": lambda **to: CoverDisplay(RING + RING.T, U[:10] > 0.1).plot(**to),
    "topics": lambda **to: TopicWordsDisplay(U[:4], ["x", "y", "z"]).plot(**to),
    "segmentation": lambda **to: SegmentationDisplay.from_memberships(U[:6], np.ones((2, 3)), **to),
}
displays = pytest.mark.parametrize("make", DISPLAYS.values(), ids=DISPLAYS)


def axes_of(display):
    return list(display.axes_) if hasattr(display, "axes_") else [display.ax_]


@displays
def test_new_figure(make):
    display = make()
    assert display.figure_.number in plt.get_fignums()
    assert all(ax.figure is display.figure_ for ax in axes_of(display))
    display.figure_.canvas.draw()


@displays
def test_given_axes_keep_their_place(make):
    figure, axes = plt.subplots(1, 2, layout="constrained")
    display = make(ax=axes[1])
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()
    boxes = [ax.get_position() for ax in axes_of(display)]
    assert min(box.x0 for box in boxes) > axes[0].get_position().x1
    assert axes[0] in figure.axes


@displays
def test_axes_outside_of_a_grid(make):
    figure = plt.figure()
    display = make(ax=figure.add_axes((0.6, 0.1, 0.3, 0.3)))
    figure.canvas.draw()
    boxes = [ax.get_position() for ax in axes_of(display)]
    assert min(box.x0 for box in boxes) > 0.59
    assert max(box.y1 for box in boxes) < 0.41


@displays
def test_plot_returns_the_display_and_can_be_repeated(make):
    display = make()
    first = display.figure_
    assert display.plot() is display
    assert display.figure_ is not first


@displays
def test_wrong_axes(make):
    with pytest.raises(TypeError, match=r"ax must be matplotlib Axes or None\. Got 'here'"):
        make(ax="here")


NAME = "a_$b$ <x> ^{ US$ \\"


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: MembershipScatterDisplay(X[:, :2], U, axis_names=[NAME, NAME]), lambda d: d.ax_.yaxis.label),
        (lambda: MembershipScatterDisplay(X[:, :2], U, name=NAME), lambda d: d.ax_.title),
        (lambda: IndexCurvesDisplay([2], {NAME: [1]}), lambda d: d.axes_[0].title),
        (lambda: ObjectiveHistoryDisplay([1, 2], name=NAME), lambda d: d.ax_.get_legend().get_texts()[0]),
        (lambda: ObjectiveHistoryDisplay([1, 2], name="_x$y$"), lambda d: d.ax_.get_legend().get_texts()[0]),
        (lambda: TopicWordsDisplay([[1.0]], ["$x_1$"]), lambda d: d.axes_[0].get_yticklabels()[0]),
        (lambda: GraphDisplay(RING, U[:10], node_names=[NAME] * 10), lambda d: d.ax_.texts[0]),
        (lambda: CoverDisplay(RING + RING.T, U[:10] > 0.1, name=NAME), lambda d: d.axes_[0].title),
    ],
)
def test_text_of_users_is_no_formula(make, text):
    display = make().plot()
    artist = text(display)
    artist.set_fontsize(10)
    # matplotlib's own reading of the text: as it is, or as a formula
    shown, is_formula = artist._preprocess_math(artist.get_text())
    assert "$" in shown and not is_formula
    display.figure_.canvas.draw()


def test_missing_matplotlib():
    """The package imports without matplotlib; a picture says what to install."""
    code = """
import sys
sys.modules["matplotlib"] = None
from soft_clustering.plotting import *
import soft_clustering.plotting
from soft_clustering.explanation import explain_memberships
displays = [name for name in soft_clustering.plotting.__all__ if name.endswith("Display")]
made = [
    MembershipScatterDisplay([[0.0, 1.0]], [[1.0]]), MembershipHeatmapDisplay([[1.0]]), TernaryDisplay([[1.0, 0, 0]]),
    MembershipContourDisplay([0, 1], [0, 1], [[[1.0], [1.0]], [[1.0], [1.0]]]), IndexCurvesDisplay([2], {"a": [1.0]}),
    ObjectiveHistoryDisplay([1.0]), GraphDisplay([[0, 1], [1, 0]], [[1.0], [1.0]]), TopicWordsDisplay([[1.0]], ["a"]),
    CoverDisplay([[0, 1], [1, 0]], [[1], [1]]), SegmentationDisplay([[1.0]], [[1.0]]),
    ClusterProfilesDisplay(explain_memberships([[1.0]], [[1.0]])),
]
assert sorted(type(display).__name__ for display in made) == sorted(displays)
for display in made:
    try:
        display.plot()
    except ImportError as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ['Plotting needs matplotlib: pip install "soft-clustering[app]"'] * 11
