"""Graphs that are wrong, degenerate or extreme: a clear error or a valid result, from every estimator of graphs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.testing import quick

ROWS = [row for row in REGISTRY if row.family == "graphs"]

pytestmark = [
    pytest.mark.filterwarnings("error::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture(params=[pytest.param(row, id=row.name) for row in ROWS])
def make(request):
    """Makes an estimator with a number of communities, unless it always finds them."""
    row = request.param
    if row.extra == "deep":
        pytest.importorskip("torch", reason=f"{row.name} needs the extra 'deep'")
    cls = getattr(soft_clustering, row.name)

    def estimator(n_clusters):
        settings = {"n_clusters": n_clusters, "random_state": 0}
        return quick(cls(**{name: value for name, value in settings.items() if name in parameters(row)}))

    return estimator


def parameters(row):
    """The parameters of an estimator and their constraints."""
    return getattr(soft_clustering, row.name)._parameter_constraints


def finds(row):
    """Whether the number of communities can be left to the method."""
    return None in parameters(row).get("n_clusters", [None])


given = pytest.mark.parametrize(
    "make", [pytest.param(row, id=row.name) for row in ROWS if "n_clusters" in parameters(row)], indirect=True
)


def random_graph(n=14, density=0.5, seed=0):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) < density, 1)
    return (A | A.T) * 1.0


def blocks(*sizes):
    """Cliques without links between them."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    return (y[:, None] == y) * 1.0 - np.eye(len(y))


def star(n):
    A = np.zeros((n, n))
    A[0, 1:] = A[1:, 0] = 1
    return A


def path(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def with_isolated(A, n):
    B = np.zeros((len(A) + n, len(A) + n))
    B[: len(A), : len(A)] = A
    return B


def spread_weights(n=14):
    """Weights from 1e-80 to 1e80 in one graph."""
    A = random_graph(n)
    weights = 10.0 ** np.random.default_rng(1).uniform(-80, 80, (n, n))
    return A * (np.triu(weights, 1) + np.triu(weights, 1).T)


def require_valid(model, memberships, n, dtype=np.float64):
    assert memberships.shape == (n, model.n_clusters_)
    assert memberships.dtype == dtype
    assert np.isfinite(memberships).all()
    assert (memberships >= 0).all()
    if model.partition_constrained:
        np.testing.assert_allclose(memberships.sum(axis=1), 1, rtol=1e-5 if dtype == np.float32 else 1e-9)


def fit_valid(model, X, n, dtype=np.float64):
    """Fit without other warnings than those for the user, and look at all that is fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # of input and of convergence
        model.fit(X)
        require_valid(model, model.memberships_, n, dtype)
        assert model.labels_.shape == (n,)
        assert model.n_features_in_ == n
        assert model.node_names_.shape == (n,)
        assert model.get_cover().shape == model.memberships_.shape
        for name, value in vars(model).items():
            if name.endswith("_") and isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind == "f":
                assert np.isfinite(value).all(), name
        links = np.vstack([np.zeros(n), np.ones(n), np.eye(n)]).astype(dtype)
        require_valid(model, model.predict_memberships(links), n + 2, dtype)
        assert model.predict(sparse.csr_array(links)).shape == (n + 2,)
    return model


# Errors ---------------------------------------------------------------------------------------------------------------


@given
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.filterwarnings("ignore:X has no link")
def test_more_communities_than_nodes(make, n):
    with pytest.raises(ValueError, match=rf"n_samples={n} should be >= n_clusters={n + 1}"):
        make(n + 1).fit(1 - np.eye(n))


@given
@pytest.mark.parametrize("n_clusters", [0, -1, 1.5, "two"])
def test_wrong_numbers_of_communities(make, n_clusters):
    with pytest.raises((ValueError, TypeError), match="n_clusters"):
        make(n_clusters).fit(random_graph())


def test_graph_for_links(make):
    networkx = pytest.importorskip("networkx")
    with pytest.raises(TypeError, match="X must be the links of new nodes"):
        make(2).fit(random_graph()).predict(networkx.path_graph(14))


def test_prediction_before_fit(make):
    with pytest.raises(NotFittedError):
        make(2).predict(np.ones((1, 3)))


# Degenerate graphs ----------------------------------------------------------------------------------------------------


GRAPHS = {
    "complete": blocks(9),
    "star": star(9),
    "path": path(9),
    "two nodes": blocks(2),
    "pairs": blocks(2, 2, 2, 2, 2),
    "components": blocks(5, 4, 3),
    "component and isolated nodes": with_isolated(blocks(5), 4),
    "one link": with_isolated(blocks(2), 6),
    "no links": np.zeros((6, 6)),
    "one node": np.zeros((1, 1)),
    "only self loops": np.eye(5),
    "bipartite": np.kron([[0, 1], [1, 0]], np.ones((4, 4))),
}


@pytest.mark.parametrize(
    "name, K", [(name, K) for name, A in GRAPHS.items() for K in sorted({1, 2, 3, len(A)}) if len(A) >= K]
)
def test_degenerate_graphs(make, name, K):
    fit_valid(make(K), GRAPHS[name], len(GRAPHS[name]))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("make", [pytest.param(row, id=row.name) for row in ROWS if finds(row)], indirect=True)
def test_number_of_communities_to_be_found(make, name):
    fit_valid(make(None), GRAPHS[name], len(GRAPHS[name]))


def test_no_links_is_said(make):
    with pytest.warns(UserWarning, match="X has no link between different nodes") as caught:
        model = make(3).fit(np.zeros((5, 5)))
    assert caught[0].filename == __file__
    assert getattr(model, "converged_", True)  # SLPA and EgoSplitting do not converge
    # Nothing tells the communities apart: equal shares, or none.
    K = model.n_clusters_
    np.testing.assert_array_equal(model.memberships_, np.full((5, K), 1 / K if model.partition_constrained else 0.0))


def test_isolated_nodes(make):
    model = fit_valid(make(2), with_isolated(blocks(6, 6), 2), 14)
    np.testing.assert_array_equal(model.memberships_[12:], np.full((2, 2), 0.5 if model.partition_constrained else 0))
    np.testing.assert_array_equal(model.labels_[12:], 0 if model.partition_constrained else -1)
    assert model.memberships_[:12].max() > 0


def test_self_loops_do_not_count(make):
    A = random_graph()
    plain, looped = (fit_valid(make(3), B, 14) for B in (A, A + 5 * np.eye(14)))
    np.testing.assert_array_equal(looped.memberships_, plain.memberships_)


def test_direction_does_not_count(make):
    A = random_graph()
    one_way = np.triu(A)
    with pytest.warns(UserWarning, match="X is not symmetric") as caught:
        model = make(3).fit(one_way)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(model.memberships_, make(3).fit(A).memberships_)


# Weights and precision ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-80, 1e-30, 1e30, 1e80])
def test_extreme_weights(make, unit):
    A = random_graph() * unit
    fit_valid(make(3), A, 14)
    fit_valid(make(3), sparse.coo_array(A), 14)


def test_weights_of_all_sizes(make):
    weighted = spread_weights()
    if make(3)._binary:
        with pytest.raises(ValueError, match="X must have links of equal weight"):
            make(3).fit(weighted)
        with pytest.raises(ValueError, match="X must have links of equal weight"):
            make(2).fit(blocks(7, 7)).predict_memberships(weighted)
        return
    fit_valid(make(3), weighted, 14)
    model = fit_valid(make(2), blocks(7, 7), 14)
    require_valid(model, model.predict_memberships(weighted), 14)


@pytest.mark.parametrize("unit", [1e-150, 1e-4, 3.0, 1e80])
def test_unit_of_weights_does_not_count(make, unit):
    A = random_graph(30, 0.3)
    if not make(2)._binary:
        weights = np.random.default_rng(1).uniform(0.5, 2, A.shape)
        A = A * (weights + weights.T)
    for K in (2, None) if None in make(2)._parameter_constraints.get("n_clusters", [2]) else (2,):
        expected, model = make(K).fit(A), make(K).fit(unit * A)
        np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.get_cover(), expected.get_cover())
        np.testing.assert_allclose(
            model.predict_memberships(unit * A[:3]), expected.predict_memberships(A[:3]), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("unit", [1e-40, 1e-30, 1.0, 1e30, 1e38])
def test_single_precision(make, unit):
    A = (random_graph() * unit).astype(np.float32)
    fit_valid(make(3), A, 14, np.float32)
    fit_valid(make(3), sparse.csr_array(A), 14, np.float32)


# Covers ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("A", [random_graph(30, 0.15), with_isolated(blocks(6, 6), 2), star(9)])
def test_cover_holds_the_label(make, A):
    """Every node with a label is in that community of the cover, and no other node is in any.

    The threshold of the authors of NOCD may leave out nodes; those that it keeps are in the community of the label.
    """
    model = fit_valid(make(3), A, len(A))
    cover, labelled = model.get_cover(), model.labels_ >= 0
    kept = cover.any(axis=1)
    assert labelled[kept].all()
    assert cover[kept, model.labels_[kept]].all()
    if not isinstance(model, soft_clustering.NOCD):
        np.testing.assert_array_equal(kept, labelled)


def test_communities_hold_the_names(make):
    networkx = pytest.importorskip("networkx")
    A = random_graph()
    names = ["a", ("b", 1), frozenset("c"), 7, *"defghijklm"]
    graph = networkx.relabel_nodes(networkx.from_numpy_array((A > 0) * 1), dict(enumerate(names)))
    model = make(3).fit(graph)
    cover = model.get_cover()
    assert model.get_communities() == [[names[i] for i in range(14) if cover[i, k]] for k in range(model.n_clusters_)]
    hard = model.get_cover(top_k=1)
    assert model.get_communities(top_k=1) == [[names[i] for i in range(14) if hard[i, k]] for k in range(len(cover.T))]
    assert model.get_communities(threshold=1e9) == [[]] * model.n_clusters_
    of_edges = make(3).fit([(f"v{i}", f"v{j}") for i, j in np.argwhere(np.triu(A))]).get_communities(0.0)
    assert {type(node) for community in of_edges for node in community} == {str}
    of_matrix = make(3).fit(A).get_communities(0.0)
    assert {type(node) for community in of_matrix for node in community} == {int}
    with pytest.raises(NotFittedError):
        make(3).get_communities()


# Containers -----------------------------------------------------------------------------------------------------------


def test_names_of_networkx_nodes(make):
    networkx = pytest.importorskip("networkx")
    A = random_graph()
    names = [f"node {i}" for i in range(14)]
    order = np.random.default_rng(3).permutation(14)
    graph = networkx.Graph()
    graph.add_nodes_from(names[i] for i in order)
    graph.add_edges_from((names[i], names[j]) for i, j in np.argwhere(np.triu(A)))
    model = fit_valid(make(3), graph, 14)
    assert model.node_names_.tolist() == [names[i] for i in order]
    expected = make(3).fit(A[order][:, order])
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    mixed = networkx.relabel_nodes(graph, {"node 0": 0, "node 1": (1, "b")})
    assert fit_valid(make(3), mixed, 14).node_names_.dtype == object


def test_list_of_edges(make):
    A = random_graph()
    edges = [(f"v{i}", f"v{j}") for i, j in np.argwhere(np.triu(A))]
    model = fit_valid(make(3), edges, 14)
    order = [int(name[1:]) for name in model.node_names_]
    assert sorted(order) == list(range(14))
    np.testing.assert_array_equal(model.memberships_, make(3).fit(A[order][:, order]).memberships_)
    for same in (edges + edges[:5], [(b, a) for a, b in edges[:5]] + edges, tuple(edges)):
        other = fit_valid(make(3), same, 14)
        assert sorted(other.node_names_) == sorted(model.node_names_)


def test_other_containers(make):
    A = random_graph()
    expected = make(3).fit(A).memberships_
    double = sparse.coo_array(
        (np.full(2 * int(A.sum()), 0.5), np.tile(np.nonzero(A), 2)), shape=A.shape
    )  # each link in two halves
    long = sparse.csr_array(A)
    long = sparse.csr_array((long.data, long.indices.astype(np.int64), long.indptr.astype(np.int64)), shape=A.shape)
    fixed = A.copy()
    fixed.setflags(write=False)
    for X in (
        A.astype(bool),
        A.astype(np.int8),
        A.tolist(),
        sparse.csr_matrix(A),
        sparse.lil_array(A),
        double,
        long,
        fixed,
    ):
        np.testing.assert_array_equal(fit_valid(make(3), X, 14).memberships_, expected)


def test_dask_is_refused(make):
    lazy = pytest.importorskip("dask.array").ones((4, 4))
    with pytest.raises(TypeError, match=r"X must be in memory: pass X.compute\(\)"):
        make(2).fit(lazy)
