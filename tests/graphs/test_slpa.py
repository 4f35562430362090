from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SLPA, kernels
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph
from soft_clustering.graphs.shares import communities, cut, without_nested
from soft_clustering.graphs.slpa import shares_of_labels
from soft_clustering.metrics import overlapping_nmi

KARATE = load_graph("karate").adjacency


def cliques(*sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return (y[:, None] == y) * 1.0 - np.eye(len(y)), y


# The rule -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_two_cliques_with_a_link(asynchronous, seed):
    A, y = cliques(6, 8)
    A[0, 10] = A[10, 0] = 1
    model = SLPA(asynchronous=asynchronous, random_state=seed).fit(A)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(model.labels_, y) == 1
    assert model.labels_[-1] == 0  # the largest community is the first one


def test_shares_are_frequencies():
    memory = np.random.default_rng(0).integers(30, size=(30, 11)).astype(np.int32)
    shares = shares_of_labels(memory).toarray()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(shares, [np.bincount(row, minlength=30) / 11 for row in memory], rtol=1e-12)


def test_a_node_of_two_cliques_is_in_both():
    A = np.zeros((13, 13))
    A[:7, :7] = A[6:, 6:] = 1
    members = [SLPA(random_state=seed).fit(A).get_cover().sum(axis=1) for seed in range(10)]
    alone, shared = np.delete(members, 6, axis=1), np.array(members)[:, 6]
    assert (shared == 2).mean() >= 0.8
    assert (alone == 1).mean() >= 0.9


def test_min_share_is_the_threshold():
    A = make_lfr_graph(300, mixing=0.3, overlap=0.3, random_state=0).adjacency
    covers = []
    for min_share in (0.05, 0.1, 0.3, 1.0):
        model = SLPA(min_share=min_share, random_state=0).fit(A)
        assert model.threshold_ == min_share
        assert (model.memberships_[model.get_cover()] >= min(min_share, 1) * (1 - 1e-6)).all()
        covers.append(model.get_cover().sum())
    assert covers == sorted(covers, reverse=True)
    assert covers[-1] == 300  # only the largest label of each node is left


def test_weights_count():
    """A clique of faint links is torn by heavy ones, and equal weights are those of no weights."""
    A, _ = cliques(8)
    y = np.repeat([0, 1], 4)
    heavy = A * np.where(y[:, None] == y, 1.0, 1e-3)
    model = SLPA(random_state=0).fit(heavy)
    assert adjusted_rand_score(model.labels_, y) == 1
    assert SLPA(random_state=0).fit(A).n_clusters_ == 1
    one, seven = (SLPA(random_state=0).fit(unit * KARATE) for unit in (1, 7.3))
    np.testing.assert_array_equal(one.memberships_, seven.memberships_)


# What becomes of small labels -----------------------------------------------------------------------------------------


def test_the_largest_share_is_never_cut():
    rows = sparse.csr_array([[0.5, 0.3, 0.2], [0.04, 0.06, 0.05], [0.05, 0.05, 0.0]])
    kept = cut(rows, 0.25).toarray()
    np.testing.assert_array_equal(kept, [[0.5, 0.3, 0], [0, 0.06, 0], [0.05, 0.05, 0]])


def test_nested_communities_by_loops():
    rng = np.random.default_rng(1)
    member = rng.uniform(size=(40, 60)) < rng.uniform(0.02, 0.4, 60)
    member[:, 7] = member[:, 3]
    rows = sparse.csr_array(member * 1.0)
    kept = without_nested(rows).toarray().any(axis=0)
    expected = member.any(axis=0)
    for a in range(60):
        for b in range(60):
            larger = member[:, b].sum() > member[:, a].sum() or (b < a and member[:, a].sum() == member[:, b].sum())
            if larger and not (member[:, a] & ~member[:, b]).any():
                expected[a] = False
    np.testing.assert_array_equal(kept, expected)
    assert 0 < expected.sum() < 60
    assert kept[3] or not kept[7]


def test_nodes_of_small_labels_take_the_mean_of_their_neighbours():
    """A path 0 - 1 - ... - 6 whose first three nodes have a label, and a pair of its own that keeps its label."""
    A = sparse.block_diag([np.eye(7, k=1) + np.eye(7, k=-1), 1 - np.eye(2), np.zeros((1, 1))], format="csr")
    A.eliminate_zeros()
    rows = np.zeros((10, 10))
    rows[:3, 4] = 1
    rows[[3, 4], [1, 2]] = 1  # labels of one node each
    rows[[5, 6], 6] = 1  # of two
    rows[[7, 8], 8] = 1
    rows[9, 9] = 1
    kept, columns = communities(A, sparse.csr_array(rows), 3)
    np.testing.assert_array_equal(columns, [-1, -1, -1, -1, 0, -1, -1, -1, 1, -1])
    np.testing.assert_array_equal(kept.toarray(), [[1, 0]] * 7 + [[0, 1]] * 2 + [[0, 0]])
    star = sparse.csr_array(np.array([[0.0, 2, 1, 1], [2, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]))
    of_two = sparse.csr_array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    answer, columns = communities(star, of_two, 1)
    np.testing.assert_array_equal(columns, [1, 0, 2])
    answer = communities(star, of_two[:, :2], 1)[0]
    np.testing.assert_allclose(answer.toarray()[0], [0.5, 0.5])  # weights 2 against 1 + 1


def test_groups_below_min_size_are_dropped_unless_they_are_apart():
    A, _ = cliques(9, 4)
    A[0, 9] = A[9, 0] = 1
    apart = cliques(9, 4)[0]
    for min_size, joined in ((4, 2), (5, 1)):
        assert SLPA(min_size=min_size, random_state=0).fit(A).n_clusters_ == joined
        assert SLPA(min_size=min_size, random_state=0).fit(apart).n_clusters_ == 2


def test_nodes_without_links():
    A = np.pad(cliques(5, 5)[0], (0, 3))
    model = SLPA(random_state=0).fit(A)
    assert model.n_clusters_ == 2
    np.testing.assert_array_equal(model.memberships_[10:], np.full((3, 2), 0.5))


# Randomness and threads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_seed_gives_one_result(asynchronous):
    A = make_overlapping_graph(600, 10, random_state=0).adjacency
    models = [SLPA(n_rounds=20, asynchronous=asynchronous, random_state=seed).fit(A) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(models[0].memberships_, models[1].memberships_)
    assert not np.array_equal(models[0].memberships_, models[2].memberships_)


def test_threads_do_not_change_the_result(three_threads):
    A = make_overlapping_graph(3000, 30, random_state=0).adjacency
    several = SLPA(n_rounds=10, random_state=0).fit(A)
    with kernels.one_thread():
        one = SLPA(n_rounds=10, random_state=0).fit(A)
    np.testing.assert_array_equal(several.memberships_, one.memberships_)


def test_the_order_of_the_nodes_does_not_matter_much():
    """Draws depend on the places of links, so that only their distribution is the same."""
    graph = make_lfr_graph(mixing=0.1, overlap=0.1, random_state=1)
    order = np.random.default_rng(0).permutation(1000)
    plain = SLPA(random_state=0).fit(graph.adjacency).get_cover()
    permuted = SLPA(random_state=0).fit(graph.adjacency[order][:, order]).get_cover()
    assert overlapping_nmi(plain[order], permuted) > 0.9


# Quality --------------------------------------------------------------------------------------------------------------

SETTINGS = [(0.1, 0.1), (0.1, 0.3), (0.3, 0.1), (0.3, 0.3)]


@pytest.fixture(scope="module")
def scores():
    """Mean overlapping NMI of fits of eight graphs, for each setting of the LFR graphs."""
    found = {}
    for mixing, overlap in SETTINGS:
        graphs = [make_lfr_graph(mixing=mixing, overlap=overlap, random_state=seed) for seed in range(2, 10)]
        covers = [SLPA(random_state=0).fit(graph.adjacency).get_cover() for graph in graphs]
        found[mixing, overlap] = np.mean(list(map(overlapping_nmi, [graph.cover for graph in graphs], covers)))
    return found


def test_overlapping_communities_are_found(scores):
    assert scores[0.1, 0.1] >= 0.93
    assert scores[0.3, 0.1] >= 0.86
    assert np.mean(list(scores.values())) >= 0.85


def test_new_nodes():
    """New nodes with links to one community belong to it; with links to two, to both; small shares do not count."""
    A, _ = cliques(8, 8)
    model = SLPA(random_state=0).fit(A)
    links = np.zeros((4, 16))
    links[0, :4] = links[1, [0, 1, 8, 9]] = links[2, [0, 1, 2, 3, 4, 8]] = 1
    first, second = model.labels_[[0, 8]]
    U = model.predict_memberships(links)
    np.testing.assert_allclose(U[:, [first, second]], [[1, 0], [0.5, 0.5], [1, 0], [0.5, 0.5]])
