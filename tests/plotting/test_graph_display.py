"""Graphs: pies proportional to memberships, edges, and the layout."""

from itertools import pairwise

import networkx
import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from soft_clustering.base import BaseSoftClusterer
from soft_clustering.datasets import load_graph, make_overlapping_graph
from soft_clustering.plotting import GraphDisplay, cluster_colors, graph_layout

KARATE = load_graph("karate")
A = KARATE.adjacency
U = np.random.RandomState(0).dirichlet([0.5] * 3, 34)


def test_wedges_are_proportional_to_memberships():
    strengths = U * np.random.RandomState(1).uniform(0.1, 9, (34, 1))
    display = GraphDisplay.from_memberships(strengths, A)
    for node, wedges in enumerate(display.wedges_):
        turns = [wedge.theta2 - wedge.theta1 for wedge in wedges]
        np.testing.assert_allclose(turns, 360 * U[node], atol=1e-9)
        assert wedges[0].theta2 == 90  # the first begins at the top
        for earlier, later in pairwise(wedges):
            assert earlier.theta1 == later.theta2
        np.testing.assert_array_equal([wedge.center for wedge in wedges], display.positions_[[node] * 3])


def test_colors_of_the_wedges():
    memberships = np.array([[1.0, 0, 0], [0, 0.5, 0.5], [0, 0, 0]])
    display = GraphDisplay.from_memberships(memberships, np.ones((3, 3)))
    assert [len(wedges) for wedges in display.wedges_] == [1, 2, 0]
    np.testing.assert_allclose(display.pies_.get_facecolor()[:, :3], cluster_colors(3)[[0, 1, 2]])
    assert [text.get_text() for text in display.legend_.get_texts()][-1] == "no cluster"


def test_edges():
    display = GraphDisplay.from_memberships(U, A)
    segments = np.array(display.edges_.get_segments())
    assert len(segments) == 78
    ends = squareform(pdist(display.positions_))
    lengths = np.linalg.norm(segments[:, 0] - segments[:, 1], axis=1)
    np.testing.assert_allclose(np.sort(lengths), np.sort(ends[sparse.triu(A).nonzero()]))


def test_forms_of_a_graph():
    directed = sparse.triu(A).toarray() + np.eye(34)
    for graph in (A.toarray(), directed, sparse.csc_matrix(A), networkx.from_scipy_sparse_array(A)):
        display = GraphDisplay(graph, U)
        np.testing.assert_array_equal(display.adjacency.toarray(), A.toarray())


def test_given_positions_and_names():
    positions = np.random.RandomState(0).uniform(0, 9, (34, 2))
    display = GraphDisplay.from_memberships(U, A, positions=positions, node_names=KARATE.node_names)
    np.testing.assert_array_equal(display.positions_, positions)
    assert [text.get_text() for text in display.ax_.texts] == [str(i) for i in range(1, 35)]
    assert len(GraphDisplay.from_memberships(U, A).ax_.texts) == 0


def test_large_graphs_show_the_nodes_of_largest_degree():
    display = GraphDisplay.from_memberships(U, A, max_nodes=10, node_names=KARATE.node_names)
    degrees = A.sum(axis=1)
    assert len(display.shown_) == len(display.wedges_) == 10
    assert degrees[display.shown_].min() >= np.delete(degrees, display.shown_).max()
    assert display.note_.get_text() == "10 of 34 nodes shown, those of largest degree"
    assert GraphDisplay.from_memberships(U, A).note_ is None
    names = [text.get_text() for text in display.ax_.texts if text is not display.note_]
    assert names == KARATE.node_names[display.shown_].tolist()


def test_node_size():
    small, large = (GraphDisplay.from_memberships(U, A, node_size=size).wedges_[0][0].r for size in (1.0, 1.5))
    assert large == pytest.approx(1.5 * small)


def test_estimator():
    class Communities(BaseSoftClusterer):
        modality = "graph"

        def fit(self, X, y=None):
            self._set_memberships(U)
            return self

    display = GraphDisplay.from_estimator(Communities().fit(A), A)
    np.testing.assert_array_equal(display.memberships, U)
    assert display.ax_.get_title() == "Communities: memberships"


def test_layout_shows_communities():
    """Linked nodes are nearer than others, and communities apart, as far as the graph has them."""
    graph = make_overlapping_graph(120, 3, overlap=0, degree=12, background_degree=0.2, random_state=0)
    positions = graph_layout(graph.adjacency)
    d = squareform(pdist(positions))
    labels = graph.cover.argmax(axis=1)
    same = labels[:, None] == labels
    assert d[same].mean() < 0.4 * d[~same].mean()
    np.testing.assert_array_equal(positions, graph_layout(graph.adjacency))
    np.testing.assert_allclose([positions.min(), positions.max()], [0, 1], atol=1e-12)
    assert positions[:, 0].max() >= positions[:, 1].max()


@pytest.mark.parametrize("n_parts", [1, 5])
def test_discs_do_not_overlap(n_parts):
    """Also of nodes without links, and of a star."""
    star = np.zeros((30, 30))
    star[0, 1:] = star[1:, 0] = 1
    adjacency = sparse.block_diag([star] * n_parts + [np.zeros((10, 10))])
    display = GraphDisplay.from_memberships(np.ones((30 * n_parts + 10, 1)), adjacency)
    radius = display.wedges_[0][0].r
    assert pdist(display.positions_).min() > 1.9 * radius


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_graphs(n):
    display = GraphDisplay.from_memberships(np.ones((n, 1)), np.zeros((n, n)))
    assert np.isfinite(display.positions_).all()
    display.figure_.canvas.draw()


@pytest.mark.parametrize(
    "graph, memberships, keywords, message",
    [
        (np.ones((3, 2)), np.ones((3, 1)), {}, r"adjacency must be square. Got shape \(3, 2\)"),
        (-np.ones((3, 3)), np.ones((3, 1)), {}, "adjacency must be non-negative. Got -1"),
        (np.full((3, 3), np.nan), np.ones((3, 1)), {}, "adjacency contains NaN"),
        ([["a"]], np.ones((1, 1)), {}, "adjacency must be numeric"),
        (np.ones((3, 3)), np.ones((2, 1)), {}, r"memberships must have shape \(3, n_clusters\)"),
        (np.ones((3, 3)), np.ones((3, 1)), {"positions": np.ones((3, 3))}, r"positions must have shape \(3, 2\)"),
        (np.ones((3, 3)), np.ones((3, 1)), {"node_names": "ab"}, "node_names must have one entry per node: 3. Got 2"),
    ],
)
def test_wrong_graphs(graph, memberships, keywords, message):
    with pytest.raises(ValueError, match=message):
        GraphDisplay(graph, memberships, **keywords)


@pytest.mark.parametrize("keyword", ["max_nodes", "node_size"])
def test_wrong_sizes(keyword):
    with pytest.raises(ValueError, match=keyword):
        GraphDisplay(A, U).plot(**{keyword: 0})
