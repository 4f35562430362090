"""Bars of what sets the clusters apart: which, in which order, how long, with which intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from soft_clustering.explanation import explain_memberships
from soft_clustering.plotting import ClusterProfilesDisplay, cluster_colors


def explained(**kwargs):
    rng = np.random.default_rng(0)
    U = np.eye(3)[np.repeat([0, 1, 2], 50)]
    X = rng.normal(size=(150, 4)) + U @ [[0, 0, 5, 1], [4, 0, 0, 2], [0, 0, 0, 0]]
    return explain_memberships(U, X, feature_names=["a$", "b", "c", "d"], **kwargs)


def test_bars_are_the_differences():
    explanation = explained()
    display = explanation.plot()
    assert isinstance(display, ClusterProfilesDisplay) and len(display.axes_) == 3
    for k, (panel, bars) in enumerate(zip(display.axes_, display.bars_, strict=True)):
        top = explanation.profile.top(k, 5)
        np.testing.assert_allclose([bar.get_width() for bar in bars], explanation.profile.difference[k, top])
        names = [explanation.profile.names[j].replace("$", r"\$") for j in top]
        assert [label.get_text() for label in panel.get_yticklabels()] == names
        intervals = [line.get_xdata() for line in panel.lines if len(set(line.get_ydata())) == 1]
        ends = np.column_stack([explanation.profile.low[k, top], explanation.profile.high[k, top]])
        np.testing.assert_allclose(intervals, ends)
        np.testing.assert_allclose(bars[0].get_facecolor()[:3], cluster_colors(3)[k])
        bottom, upper = panel.get_ylim()
        assert bottom > upper
    assert len({panel.get_xlim() for panel in display.axes_}) == 1
    assert display.axes_[0].get_title() == "cluster 0: 33%"
    assert display.axes_[0].get_xlabel() == "difference from the rest, in standard deviations"
    display.figure_.canvas.draw()


def test_number_of_bars():
    assert [len(bars) for bars in ClusterProfilesDisplay(explained()).plot(n_top=1).bars_] == [1, 1, 1]
    assert max(len(bars) for bars in explained(n_top=2).plot().bars_) == 2
    with pytest.raises(ValueError, match="n_top"):
        explained().plot(n_top=0)


def test_in_given_axes():
    figure, ax = plt.subplots()
    display = explained().plot(ax)
    assert display.figure_ is figure and figure.axes == display.axes_.tolist()


def test_empty_and_single_clusters():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for U in (np.ones((20, 1)), np.zeros((20, 2)), np.column_stack([np.eye(2)[np.arange(20) % 2], np.zeros(20)])):
        display = explain_memberships(U, X).plot()
        display.figure_.canvas.draw()
        assert "nothing sets it apart" in [text.get_text() for text in display.axes_[-1].texts]


@pytest.mark.parametrize("modality", ["documents", "graph", "image", "distances", "similarities"])
def test_every_modality(modality):
    rng = np.random.default_rng(0)
    U = np.eye(2)[np.repeat([0, 1], 8)]
    X = (U @ U.T + rng.uniform(size=(16, 16)) / 2).round()
    X = rng.uniform(size=(4, 4, 3)) if modality == "image" else np.maximum(X, X.T)
    display = explain_memberships(U, X, modality=modality).plot()
    display.figure_.canvas.draw()
    assert len(display.axes_) == 2
    if modality != "image":
        assert all(len(bars) for bars in display.bars_)
