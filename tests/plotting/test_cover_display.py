"""Covers: the bars and dots are the scores of the communities."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import BIGCLAM
from soft_clustering.datasets import make_lfr_graph
from soft_clustering.metrics import cover_table
from soft_clustering.plotting import CoverDisplay

GRAPH = make_lfr_graph(400, overlap=0.3, random_state=0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_are_the_communities_from_the_largest(form):
    cover = GRAPH.cover.copy()
    cover[:5] = False
    display = CoverDisplay(GRAPH.adjacency, form(cover)).plot()
    order, table = display.shown_, cover_table(GRAPH.adjacency, cover)
    sizes = cover.sum(axis=0)
    assert (np.diff(sizes[order]) <= 0).all() and sorted(order) == list(range(len(sizes)))
    everyone, shared = ([bar.get_width() for bar in bars] for bars in display.bars_[:2])
    assert everyone == sizes[order].tolist()
    assert shared == pytest.approx([(cover[cover[:, k]].sum(axis=1) > 1).sum() for k in order])
    assert [bar.get_height() for bar in display.bars_[2]] == [5, *np.bincount(cover.sum(axis=1))[1:]]
    for dots, name in zip(display.dots_, ("internal_density", "conductance"), strict=True):
        np.testing.assert_array_equal(dots.get_xdata(), table[name][order])
    assert [label.get_text() for label in display.axes_[0].get_yticklabels()] == [str(k) for k in order]


def test_the_largest_of_many_communities_are_shown():
    display = CoverDisplay(GRAPH.adjacency, GRAPH.cover).plot(max_communities=3)
    assert len(display.bars_[0]) == 3 and display.note_.get_text().startswith("3 of ")
    assert len(display.table["size"]) == GRAPH.cover.shape[1]
    with pytest.raises(ValueError, match="max_communities"):
        display.plot(max_communities=0)


def test_of_an_estimator():
    model = BIGCLAM(4, random_state=0).fit(GRAPH.adjacency)
    display = CoverDisplay.from_estimator(model, GRAPH.adjacency)
    assert display.axes_[0].get_title() == "BIGCLAM: communities"
    np.testing.assert_array_equal(display.table["size"], model.get_cover().sum(axis=0))


@pytest.mark.filterwarnings("ignore:X has no link")
def test_covers_without_communities_or_links():
    for graph, cover in ((GRAPH.adjacency, np.zeros((400, 2))), (np.zeros((4, 4)), np.eye(4)), ([(0, 1)], [[0, 1]])):
        CoverDisplay(graph, cover).plot().figure_.canvas.draw()


def test_lists_hold_the_names_of_the_nodes():
    edges = [("d", "c"), ("c", "b"), ("b", "d"), ("b", "a")]
    display = CoverDisplay(edges, [["d", "c", "b"], ["b", "a"]]).plot()
    assert [bar.get_width() for bar in display.bars_[0]] == [3, 2]
    assert [bar.get_height() for bar in display.bars_[2]] == [0, 3, 1]


@pytest.mark.parametrize("communities", [0, 2])
def test_a_cover_without_members_is_drawn(communities):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = CoverDisplay(GRAPH.adjacency, np.zeros((400, communities), dtype=bool)).plot()
        display.figure_.canvas.draw()
    assert [bar.get_width() for bar in display.bars_[0]] == [0] * communities
    assert [bar.get_height() for bar in display.bars_[2]] == [400]
