import numpy as np
import pytest
from scipy import sparse

from soft_clustering import kernels
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.graphs.louvain import (
    chance_modularity,
    clearly_better_labels,
    joined,
    louvain_labels,
    numbered,
    partition_modularity,
)
from soft_clustering.graphs.network import soft_modularity

SHIPPED = ["karate", "dolphins", "football", "polbooks", "fb_348", "fb_414", "fb_698"]


def labels_of(A, seed=0, resolution=1.0, parts=None):
    return louvain_labels(sparse.csr_array(A), resolution, np.random.RandomState(seed), parts)


def modularity(A, labels):
    return soft_modularity(A, sparse.csr_array((np.ones(len(labels)), (np.arange(len(labels)), labels))))


def cliques(*sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return (y[:, None] == y) * 1.0 - np.eye(len(y)), y


@pytest.mark.parametrize("seed", range(5))
def test_two_cliques_with_a_link(seed):
    A, y = cliques(6, 8)
    A[0, 10] = A[10, 0] = 1
    np.testing.assert_array_equal(labels_of(A, seed), y)


def test_a_ring_of_cliques():
    """Thirty cliques of five in a ring: modularity joins neighbours, a higher resolution does not (Fortunato, 2007)."""
    A, y = cliques(*[5] * 30)
    ends = 5 * np.arange(30)
    A[ends, (ends + 6) % 150] = A[(ends + 6) % 150, ends] = 1
    assert labels_of(A).max() + 1 < 30
    np.testing.assert_array_equal(labels_of(A, resolution=3.0), y)


@pytest.mark.parametrize("name", SHIPPED)
def test_modularity_is_that_of_networkx(name, read_graph):
    networkx = pytest.importorskip("networkx")
    A = read_graph(name)[0]
    graph = networkx.from_scipy_sparse_array(A)
    theirs = [
        networkx.community.modularity(graph, networkx.community.louvain_communities(graph, seed=seed))
        for seed in range(5)
    ]
    ours = [modularity(A, labels_of(A, seed)) for seed in range(25)]
    assert np.median(ours) >= np.median(theirs) - np.std(theirs)


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
def test_no_move_is_left(resolution):
    """In the end no node gains by joining another community that it is linked to."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.uniform(0.5, 2, (60, 60)) * (rng.uniform(size=(60, 60)) < 0.2), 1)
    A += A.T
    d = A.sum(axis=1)

    def modularity(labels):
        return ((A - resolution * np.outer(d, d) / d.sum()) * (labels[:, None] == labels)).sum() / d.sum()

    labels = labels_of(A, resolution=resolution)
    best = modularity(labels)
    assert best > modularity(np.arange(60)) + 0.1
    for u, v in np.argwhere(A):
        moved = labels.copy()
        moved[u] = labels[v]
        assert modularity(moved) <= best + 1e-9


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_compiled_equals_numpy(twin, planted):
    A, _ = planted([20, 30, 25], 0.4, 0.05)
    A.data = np.random.default_rng(0).uniform(0.5, 2, A.nnz)
    A = sparse.csr_array(A + A.T)
    np.testing.assert_array_equal(labels_of(A), twin(labels_of, A))


def test_a_seed_gives_one_result():
    A = make_overlapping_graph(500, 10, random_state=0).adjacency
    np.testing.assert_array_equal(labels_of(A, 3), labels_of(A, 3))
    long = A.copy()
    long.indices, long.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    np.testing.assert_array_equal(labels_of(A, 3), louvain_labels(long, 1.0, np.random.RandomState(3)))


def test_weights_decide():
    A, y = cliques(4, 4)
    A += (y[:, None] != y) * 0.05
    np.testing.assert_array_equal(labels_of(A), y)
    np.testing.assert_array_equal(labels_of(8 * A), labels_of(A))
    A[np.ix_(range(4), range(4, 8))] = A[np.ix_(range(4, 8), range(4))] = 1
    assert not np.array_equal(labels_of(A), y)


def test_nodes_without_links_stay_alone():
    A, y = cliques(5, 1, 5, 1)
    np.testing.assert_array_equal(labels_of(A), y)
    np.testing.assert_array_equal(labels_of(np.zeros((3, 3))), [0, 1, 2])


def test_resolution_changes_the_number_of_communities():
    A = make_overlapping_graph(400, 8, random_state=0).adjacency
    K = [labels_of(A, resolution=resolution).max() + 1 for resolution in (0.1, 1.0, 20.0)]
    assert K[0] < K[1] < K[2]


def test_graphs_side_by_side_are_clustered_each_for_itself():
    """Two triangles with a link are two communities, also beside a graph so large that together they would be one."""
    small, two = cliques(3, 3)
    small[2, 3] = small[3, 2] = 1
    large = cliques(40)[0]
    A = sparse.block_diag([small, large], format="csr")
    parts = np.repeat([0, 1], [6, 40])
    np.testing.assert_array_equal(labels_of(A, parts=parts), np.append(two, np.full(40, 2)))
    assert labels_of(A)[:6].max() == 0


def test_the_graph_of_communities():
    A, _ = cliques(3, 2)
    A[0, 4] = A[4, 0] = 7
    sums = joined(sparse.csr_array(A), numbered(np.array([5, 5, 5, 1, 1])), 2)
    np.testing.assert_array_equal(sums.toarray(), [[6, 7], [7, 2]])


# Better than chance? --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, degree", [(500, 10), (1000, 20), (1000, 100)])
def test_chance_is_the_modularity_of_random_graphs(planted, n, degree):
    A, _ = planted([n], degree / n, 0.0)
    found = partition_modularity(A, louvain_labels(A, 1.0, np.random.RandomState(0)))
    assert chance_modularity(A) == pytest.approx(found, rel=0.15)
    assert chance_modularity(1e-200 * A) == pytest.approx(chance_modularity(A))


def test_modularity_of_a_partition(planted):
    A, y = planted([5, 9, 7], 0.8, 0.1)
    W = sparse.csr_array(A * np.add.outer(np.arange(21), np.arange(21)))
    assert partition_modularity(W, y) == pytest.approx(soft_modularity(W, np.eye(3)[y]))
    isolated = sparse.csr_array(sparse.block_diag([np.zeros((2, 2)), W]))
    assert partition_modularity(isolated, np.append([-1, -1], y)) == pytest.approx(partition_modularity(W, y))


def test_better_labels_leave_nodes_without_links_out(planted):
    A, y = planted([30, 30], 0.5, 0.02)
    isolated = sparse.csr_array(sparse.block_diag([sparse.csr_array((2, 2)), A, sparse.csr_array((1, 1))]))
    linked = np.diff(isolated.indptr) > 0
    found = clearly_better_labels(isolated, np.where(linked, 0, -1))
    assert (found[~linked] == -1).all()
    np.testing.assert_array_equal(found[linked], y)
    assert clearly_better_labels(isolated, found) is None
    assert clearly_better_labels(sparse.csr_array((4, 4)), np.full(4, -1)) is None
