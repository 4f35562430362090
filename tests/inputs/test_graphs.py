"""Graphs as they come: matrices, networkx graphs, lists of edges, links of new nodes."""

import networkx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from soft_clustering.inputs.graphs import validate_graph, validate_links

PATH = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0.0]])


class Model:
    """What the input layer writes to."""


def read(X, binary=False):
    model = Model()
    return validate_graph(model, X, binary=binary), model


@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, np.ndarray.tolist, sparse.csr_matrix, sparse.coo_array])
def test_matrices(kind):
    A, model = read(kind(PATH))
    np.testing.assert_array_equal(A.toarray(), PATH)
    assert A.dtype == np.float64
    assert A.has_canonical_format
    np.testing.assert_array_equal(model.node_names_, [0, 1, 2])
    assert model.n_features_in_ == 3


def test_single_precision_stays():
    assert read(sparse.csr_array(PATH.astype(np.float32)))[0].dtype == np.float32
    assert read(PATH.astype(int))[0].dtype == np.float64


def test_networkx_graphs_keep_their_nodes():
    G = networkx.Graph([("b", "a"), ("c", "a", {"weight": 3.0})])
    A, model = read(G)
    assert list(model.node_names_) == ["b", "a", "c"]
    np.testing.assert_array_equal(A.toarray(), [[0, 1, 0], [1, 0, 3], [0, 3, 0]])
    G.add_node((1, 2))
    _, model = read(G)
    assert model.node_names_[3] == (1, 2)
    np.testing.assert_array_equal(read(networkx.Graph([(5, 3), (3, 9)]))[1].node_names_, [5, 3, 9])
    with pytest.raises(ValueError, match="at least one node"):
        read(networkx.Graph())


def test_tables_name_their_nodes():
    nodes = ["a", "b", "c"]
    A, model = read(pd.DataFrame(PATH, index=nodes, columns=nodes))
    np.testing.assert_array_equal(A.toarray(), PATH)
    assert list(model.node_names_) == nodes
    assert list(read(pd.DataFrame(PATH, columns=nodes))[1].node_names_) == nodes
    np.testing.assert_array_equal(read(pd.DataFrame(PATH))[1].node_names_, [0, 1, 2])
    with pytest.raises(ValueError, match="the same nodes as rows and as columns"):
        read(pd.DataFrame(PATH, index=["b", "a", "c"], columns=nodes))


def test_tables_of_links_name_the_same_nodes():
    nodes = ["a", "b", "c"]
    _, model = read(networkx.Graph([("a", "b"), ("b", "c")]))
    links = pd.DataFrame([[1.0, 0, 0]], columns=nodes)
    np.testing.assert_array_equal(validate_links(model, links, binary=False).toarray(), [[1, 0, 0]])
    np.testing.assert_array_equal(validate_links(model, links.to_numpy(), binary=False).toarray(), [[1, 0, 0]])
    for other in (links[["b", "a", "c"]], links[["a", "b"]]):
        with pytest.raises(ValueError, match="in the order of node_names_"):
            validate_links(model, other, binary=False)
    _, model = read(PATH)  # nodes without names
    np.testing.assert_array_equal(validate_links(model, links, binary=False).toarray(), [[1, 0, 0]])


def test_weights_that_are_no_numbers():
    with pytest.raises(ValueError, match="X must be numeric"):
        read(networkx.Graph([(0, 1, {"weight": "heavy"})]))


def test_directed_networkx_graphs_become_undirected():
    with pytest.warns(UserWarning, match="not symmetric"):
        A, _ = read(networkx.DiGraph([(0, 1), (1, 2)]))
    np.testing.assert_array_equal(A.toarray(), PATH > 0)


@pytest.mark.parametrize("edges", [[("a", "b"), ("b", "c", 2)], (("a", "b"), ("c", "b", 2.0))])
def test_lists_of_edges(edges):
    A, model = read(edges)
    found = dict(zip(model.node_names_, range(3), strict=True))
    order = [found[name] for name in "abc"]
    np.testing.assert_array_equal(A.toarray()[np.ix_(order, order)], PATH)


def test_edges_listed_twice_are_one():
    A, _ = read([(0, 1), (1, 0), (0, 1, 3.0), (2, 2)])
    np.testing.assert_array_equal(A.toarray(), [[0, 3, 0], [3, 0, 0], [0, 0, 0]])


def test_asymmetric_matrices_take_the_larger_weight():
    with pytest.warns(UserWarning, match="not symmetric: the larger"):
        A, _ = read([[0, 1, 0], [4, 0, 0], [0, 2, 0]])
    np.testing.assert_array_equal(A.toarray(), [[0, 4, 0], [4, 0, 2], [0, 2, 0]])


def test_self_loops_and_explicit_zeros_go():
    X = sparse.csr_array(([5.0, 1.0, 0.0, 1.0, 0.0], ([0, 0, 0, 1, 2], [0, 1, 2, 0, 0])), shape=(3, 3))
    A, _ = read(X)
    np.testing.assert_array_equal(A.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert A.nnz == 2
    assert X.nnz == 5


def test_weights_are_refused_where_only_links_count():
    with pytest.raises(ValueError, match=r"links of equal weight: .* Pass X > 0 .* BayesianNMF, CDCGS or DMoN"):
        read(PATH, binary=True)
    _, model = read(PATH > 0, binary=True)
    with pytest.raises(ValueError, match="links of equal weight"):
        validate_links(model, [[0, 1, 2]], binary=True)
    # Equal weights say no more than links do.
    for X in (PATH > 0, 7 * (PATH > 0), sparse.csr_array(PATH) > 0):
        np.testing.assert_array_equal(read(X, binary=True)[0].toarray(), PATH > 0)
    np.testing.assert_array_equal(validate_links(model, [[0, 3, 3]], binary=True).toarray(), [[0, 1, 1]])


@pytest.mark.filterwarnings("error")
def test_plain_graphs_give_no_warning():
    read((PATH > 0) * 1.0, binary=True)
    read(PATH)


def test_no_links():
    with pytest.warns(UserWarning, match="no link"):
        A, _ = read(np.eye(3))
    assert A.nnz == 0


def changed(value):
    A = 1 - np.eye(6)
    A[2, 5] = A[5, 2] = value
    return A


@pytest.mark.parametrize(
    "X, error, message",
    [
        (np.ones((3, 4)), ValueError, r"X must be a square adjacency matrix. Got shape \(3, 4\)"),
        (sparse.csr_array(np.ones((4, 3))), ValueError, r"X must be a square adjacency matrix. Got shape \(4, 3\)"),
        (np.zeros((5, 2)), ValueError, "list of tuples"),
        (changed(-1.0), ValueError, r"X must have entries >= 0. Got -1"),
        (sparse.csr_array(changed(-0.5)), ValueError, r"X must have entries >= 0. Got -0.5"),
        (changed(np.nan), ValueError, "X.*NaN"),
        (sparse.csr_array(changed(np.nan)), ValueError, "X.*NaN"),
        (changed(np.inf), ValueError, "X.*infinity"),
        (sparse.csr_array(changed(np.inf)), ValueError, "X.*infinity"),
        (changed(1e200), ValueError, r"X must have entries below 1e\+90. Got 1e\+200"),
        (np.ones(5), ValueError, "X has the wrong shape: Expected 2D array"),
        (np.ones((2, 2, 2)), ValueError, "X has the wrong shape: .*dim 3"),
        (np.empty((0, 0)), ValueError, r"0 sample\(s\)"),
        (sparse.csr_array((0, 0)), ValueError, r"0 sample\(s\)"),
        ([], ValueError, "X has the wrong shape: Expected 2D array"),
        (np.array([["a", "b"], ["b", "a"]]), ValueError, "X must be numeric"),
        (np.eye(3) * 1j, ValueError, "X must be numeric: Complex"),
        ("karate", ValueError, "X must be numeric"),
        (None, ValueError, "X has the wrong shape: Expected 2D array"),
        (3, ValueError, "X has the wrong shape: Expected 2D array"),
        (networkx.Graph(), ValueError, "X must have at least one node"),
        ([(0, 1), (1,)], ValueError, r"X as a list of edges must hold .* Got \(1,\) at 1"),
        ([(0, 1, -2.0), (1, 2)], ValueError, r"X must have entries >= 0. Got -2"),
        ([(0, 1, np.nan), (1, 2)], ValueError, "X.*NaN"),
        ([(0, 1, "heavy")], (ValueError, TypeError), "X"),
        ([(0, [1])], TypeError, "X as a list of edges must hold hashable nodes"),
    ],
)
@pytest.mark.parametrize("binary", [False, True])
def test_what_is_no_graph_is_refused(X, error, message, binary):
    with pytest.raises(error, match=message):
        read(X, binary)


def test_links_of_new_nodes():
    _, model = read(PATH)
    links = validate_links(model, [[0, 1, 0], [0, 0, 0]], binary=True)
    assert links.shape == (2, 3)


@pytest.mark.parametrize(
    "links, message",
    [
        (np.ones((2, 2)), "X has 2 features, but Model is expecting 3 features"),
        (sparse.csr_array(np.ones((2, 4))), "X has 4 features, but Model is expecting 3 features"),
        (np.ones(3), "Expected 2D array"),
        (np.full((1, 3), np.nan), "X.*NaN"),
        (np.full((1, 3), np.inf), "X.*infinity"),
        (-np.ones((1, 3)), "X must have entries >= 0. Got -1"),
        (np.full((1, 3), 1e100), r"X must have entries below 1e\+90"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.full((1, 3), "a"), "X"),
        (None, "X|Expected 2D array"),
        (networkx.path_graph(3), "X must be the links of new nodes"),
    ],
)
@pytest.mark.parametrize("binary", [False, True])
def test_what_are_no_links_is_refused(links, message, binary):
    _, model = read(PATH)
    with pytest.raises((ValueError, TypeError), match=message):
        validate_links(model, links, binary=binary)
