from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from soft_clustering import EgoSplitting, kernels
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph
from soft_clustering.graphs import ego_splitting
from soft_clustering.graphs.ego_splitting import persona_graph, personas
from soft_clustering.metrics import overlapping_nmi

KARATE = load_graph("karate").adjacency
WAYS = ["components", "propagation", "modularity"]


def two_cliques(a=6, b=6):
    """Cliques that share the node a - 1."""
    A = np.zeros((a + b - 1, a + b - 1))
    A[:a, :a] = A[a - 1 :, a - 1 :] = 1
    return A - np.eye(len(A))


def personas_of(A, way, seed=0):
    return personas(sparse.csr_array(A), way, np.random.RandomState(seed))


# Personas -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [1, 40, 1 << 20])
def test_personas_are_the_components_of_ego_networks(together, monkeypatch):
    networkx = pytest.importorskip("networkx")
    monkeypatch.setattr(ego_splitting, "_TOGETHER", together)
    for A in (KARATE, make_overlapping_graph(200, 5, random_state=0).adjacency, sparse.csr_array(np.zeros((4, 4)))):
        graph = networkx.from_scipy_sparse_array(A)
        expected = {
            (u, frozenset(component))
            for u in graph
            for component in networkx.connected_components(networkx.ego_graph(graph, u, center=False))
        }
        persona = personas_of(A, "components")
        nodes = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        found = {
            (int(nodes[persona == p][0]), frozenset(A.indices[persona == p].tolist()))
            for p in range(persona.max(initial=-1) + 1)
        }
        assert found == expected
        assert (np.diff(nodes[np.unique(persona, return_index=True)[1]]) >= 0).all()


@pytest.mark.parametrize("way", WAYS)
def test_a_node_of_two_cliques_has_two_personas(way):
    persona = personas_of(two_cliques(), way)
    nodes = np.repeat(np.arange(11), two_cliques().sum(axis=1).astype(int))
    counts = [len(np.unique(persona[nodes == u])) for u in range(11)]
    assert counts == [1] * 5 + [2] + [1] * 5


@pytest.mark.parametrize("way", WAYS)
def test_ego_networks_are_clustered_each_for_itself(way, monkeypatch):
    """However many are clustered together, the communities of one do not depend on the others."""
    A = make_overlapping_graph(150, 4, random_state=1).adjacency
    found = []
    for together in (1, 1 << 20):
        monkeypatch.setattr(ego_splitting, "_TOGETHER", together)
        found.append(personas_of(A, way))
    if way == "modularity":  # other random orders
        assert adjusted_rand_score(*found) > 0.9
    else:
        np.testing.assert_array_equal(*found)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@pytest.mark.parametrize("way", WAYS)
def test_compiled_equals_numpy(way, twin):
    A = make_overlapping_graph(60, 3, degree=8, random_state=0).adjacency
    A.data = np.random.default_rng(0).uniform(0.5, 2, A.nnz)
    A = sparse.csr_array(A + A.T)
    np.testing.assert_array_equal(personas_of(A, way), twin(personas_of, A, way))
    model, other = EgoSplitting(ego_clusters=way, random_state=0), EgoSplitting(ego_clusters=way, random_state=0)
    np.testing.assert_allclose(model.fit(A).memberships_, twin(other.fit, A).memberships_)


def test_the_persona_graph_by_loops():
    A = KARATE.copy()
    A.data = np.arange(1.0, A.nnz + 1)
    A = sparse.csr_array(A + A.T)
    persona = personas_of(A, "components")
    P = persona.max() + 1
    place = {(u, v): p for p, (u, v) in enumerate(zip(*A.nonzero(), strict=True))}
    expected = np.zeros((P, P))
    for (u, v), p in place.items():
        expected[persona[p], persona[place[v, u]]] += A[u, v]
    split = persona_graph(A, persona, P)
    np.testing.assert_array_equal(split.toarray(), expected)
    assert split.nnz == A.nnz


# The fit --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_two_cliques_that_share_a_node(way):
    model = EgoSplitting(ego_clusters=way, random_state=0).fit(two_cliques(7, 6))
    assert model.n_clusters_ == 2
    assert model.n_personas_ == 13
    np.testing.assert_array_equal(model.persona_nodes_, [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11])
    np.testing.assert_array_equal(model.persona_labels_, [0] * 7 + [1] * 6)
    np.testing.assert_array_equal(model.memberships_[:6], [[1, 0]] * 6)
    np.testing.assert_allclose(model.memberships_[6], [6 / 11, 5 / 11])
    np.testing.assert_array_equal(model.memberships_[7:], [[0, 1]] * 5)
    # Of the personas, two cliques without a link between them.
    assert model.modularity_ == pytest.approx(1 - (42 / 72) ** 2 - (30 / 72) ** 2)


def test_memberships_are_shares_of_links():
    """By loops, from the personas, with weights."""
    A = make_overlapping_graph(300, 6, random_state=2).adjacency
    weights = np.random.default_rng(0).uniform(0.5, 2, A.nnz)
    A = sparse.csr_array((weights, A.indices, A.indptr), shape=A.shape)
    A = sparse.csr_array(A + A.T)
    model = EgoSplitting(ego_clusters="propagation", min_share=0.0, min_size=1, random_state=0).fit(A)
    persona = personas_of(A, "propagation")
    expected = np.zeros((300, model.n_clusters_))
    for p, (u, v) in enumerate(zip(*A.nonzero(), strict=True)):
        expected[u, model.persona_labels_[persona[p]]] += A[u, v]
    np.testing.assert_array_equal(model.persona_nodes_[persona], A.nonzero()[0])
    np.testing.assert_allclose(model.memberships_, expected / expected.sum(axis=1, keepdims=True))
    sums = model.memberships_.sum(axis=0)
    assert (np.diff(sums) <= 1e-9).all()  # the largest community is the first one


def test_small_shares_and_small_communities_are_dropped():
    """A clique of six and a triangle that share a node, and a clique of twenty around another node of the first."""
    A = np.zeros((27, 27))
    A[:6, :6] = A[np.ix_([5, 6, 7], [5, 6, 7])] = 1
    A[np.ix_([0, *range(8, 27)], [0, *range(8, 27)])] = 1
    rows = {}
    for min_share in (0.0, 0.25, 0.4):
        model = EgoSplitting(min_share=min_share, random_state=0).fit(A)
        assert model.threshold_ == min_share
        rows[min_share] = model.memberships_[[0, 5]]
    np.testing.assert_allclose(np.sort(rows[0.0], axis=1), [[0, 5 / 24, 19 / 24], [0, 2 / 7, 5 / 7]])
    np.testing.assert_allclose(np.sort(rows[0.25], axis=1), [[0, 0, 1], [0, 2 / 7, 5 / 7]])
    np.testing.assert_allclose(np.sort(rows[0.4], axis=1)[:, -1], 1)
    few = EgoSplitting(min_size=4, random_state=0).fit(A)
    assert few.n_clusters_ == 2
    assert set(few.persona_labels_) == {-1, 0, 1}
    np.testing.assert_array_equal(few.memberships_[[6, 7]], few.memberships_[[5, 5]])  # their neighbours' mean


def test_weights_count():
    """In the ego network of node 0, faint links between two triangles count less than theirs."""
    A = 1 - np.eye(7)
    y = np.array([0, 1, 1, 1, 2, 2, 2])
    A[1:, 1:] *= np.where(y[1:, None] == y[1:], 1, 0.01)
    for way, parts in (("modularity", 2), ("components", 1)):
        assert len(np.unique(personas_of(A, way)[:6])) == parts
    one, seven = (EgoSplitting(random_state=0).fit(unit * KARATE) for unit in (1, 7.3))
    np.testing.assert_array_equal(one.memberships_, seven.memberships_)


@pytest.mark.parametrize("way", WAYS)
def test_links_that_vanish_beside_the_heaviest_count(way):
    """A clique whose weights are 0 in units of the heaviest link is a community like any other."""
    A = sparse.block_diag([1e-300 * (1 - np.eye(6)), 1e89 * (1 - np.eye(6))], format="csr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = EgoSplitting(ego_clusters=way, random_state=0).fit(A)
    np.testing.assert_array_equal(model.memberships_, np.repeat(np.eye(2), 6, axis=0))


@pytest.mark.parametrize("side", [2, 6])
def test_a_graph_without_triangles_falls_apart(side):
    networkx = pytest.importorskip("networkx")
    model = EgoSplitting(random_state=0)
    with pytest.warns(UserWarning, match="EgoSplitting: the graph falls apart into"):
        model.fit(networkx.grid_2d_graph(side, side))
    assert model.n_personas_ == 4 * side * (side - 1)  # one for each end of a link
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)


def test_nothing_is_said_of_usual_graphs():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for A in (KARATE, make_lfr_graph(mixing=0.3, overlap=0.3, random_state=0).adjacency):
            assert EgoSplitting(random_state=0).fit(A).n_clusters_ > 1


def test_a_seed_gives_one_result():
    A = make_lfr_graph(mixing=0.3, overlap=0.3, random_state=0).adjacency
    models = [EgoSplitting(random_state=0).fit(A) for _ in range(2)]
    np.testing.assert_array_equal(models[0].memberships_, models[1].memberships_)


def test_new_nodes():
    A = two_cliques()
    model = EgoSplitting(random_state=0).fit(A)
    links = np.zeros((3, 11))
    links[0, :3] = links[1, [0, 1, 8, 9]] = 1
    first, second = model.labels_[[0, 10]]
    np.testing.assert_allclose(model.predict_memberships(links)[:, [first, second]], [[1, 0], [0.5, 0.5], [0.5, 0.5]])


# Quality --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mixing, overlap, least", [(0.1, 0.1, 0.93), (0.1, 0.3, 0.87), (0.3, 0.1, 0.82)])
def test_overlapping_communities_are_found(mixing, overlap, least):
    graphs = [make_lfr_graph(mixing=mixing, overlap=overlap, random_state=seed) for seed in range(2, 10)]
    covers = [EgoSplitting(random_state=0).fit(graph.adjacency).get_cover() for graph in graphs]
    assert np.mean(list(map(overlapping_nmi, [graph.cover for graph in graphs], covers))) >= least


def test_small_shares_are_chance_links():
    """On graphs with many links by chance ``min_share`` is worth much."""
    graphs = [make_lfr_graph(mixing=0.3, overlap=0.1, random_state=seed) for seed in range(2, 6)]
    scores = [
        [
            overlapping_nmi(graph.cover, EgoSplitting(min_share=least, random_state=0).fit(graph.adjacency).get_cover())
            for graph in graphs
        ]
        for least in (0.0, 0.2)
    ]
    assert np.mean(scores[1]) > np.mean(scores[0]) + 0.05


def test_ego_networks_without_a_number_of_circles(read_graph):
    """The mean overlapping NMI on six ego networks of Facebook."""
    names = ["fb_348", "fb_414", "fb_686", "fb_698", "fb_1684", "fb_1912"]
    scores = []
    for name in names:
        A, _, cover = read_graph(name)
        scores.append([overlapping_nmi(cover, EgoSplitting(random_state=seed).fit(A).get_cover()) for seed in range(3)])
    assert np.mean(scores) >= 0.34
