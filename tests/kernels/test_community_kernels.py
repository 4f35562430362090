"""Kernels of label propagation: compiled against NumPy, against loops over their definition, and on threads."""

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import kernels
from soft_clustering.kernels import communities
from soft_clustering.kernels.graphs import closed_wedges

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")


def random_graph(n, density=0.15, weighted=False, index=np.int32, seed=0):
    """A symmetric CSR matrix; the last node has no link."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) < density, 1).astype(float)
    if weighted:
        A *= rng.uniform(0.5, 2, (n, n))
    A[:, -1] = 0
    A = sparse.csr_array(A + A.T)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    return A


def memory_after(A, rounds, order=None, threads=None, listen=communities.listen):
    memory = np.zeros((A.shape[0], rounds + 1), dtype=np.int32)
    memory[:, 0] = np.arange(A.shape[0])
    for past in range(1, rounds + 1):
        listen(A, memory, past, 0x123456789ABCDEF0 + past, order, threads)
    return memory


def strengths_and_pull(A, resolution=1.0):
    strengths = A.sum(axis=1)
    return strengths, np.full(A.shape[0], resolution / strengths.sum())


# Listening ------------------------------------------------------------------------------------------------------------


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("in_turn", [False, True])
def test_compiled_listening_equals_numpy(index, weighted, in_turn, twin):
    A = random_graph(90, weighted=weighted, index=index)
    order = np.random.default_rng(1).permutation(90) if in_turn else None
    ours, theirs = memory_after(A, 12, order), twin(memory_after, A, 12, order)
    np.testing.assert_array_equal(ours, theirs)


@needs_kernels
def test_threads_do_not_change_what_is_heard(three_threads):
    A = random_graph(2000, 0.01)
    np.testing.assert_array_equal(memory_after(A, 5), memory_after(A, 5, threads=1))


def test_the_heaviest_label_is_heard():
    """In the first round a neighbour can only say its own number."""
    A = random_graph(40, weighted=True)
    memory, dense = memory_after(A, 1), A.toarray()
    alone = np.diff(A.indptr) == 0  # such a node hears itself
    np.testing.assert_array_equal(memory[:, 1], np.where(alone, np.arange(40), dense.argmax(axis=1)))
    assert alone[-1]


def test_labels_are_drawn_as_often_as_they_are_remembered():
    """A speaker with many listeners of one link each: what they hear is a sample of its memory."""
    n = 4001
    star = sparse.csr_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
    star = sparse.csr_array(star + star.T)
    memory = np.zeros((n, 5), dtype=np.int32)
    memory[0, :4] = [7, 7, 7, 9]
    communities.listen(star, memory, 4, 99)
    heard = memory[1:, 4]
    assert set(heard) == {7, 9}
    assert np.mean(heard == 7) == pytest.approx(0.75, abs=0.02)  # three standard deviations


def test_equal_labels_are_heard_equally_often():
    """A node in the middle of three others hears each of their numbers, over many keys."""
    A = sparse.csr_array(np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], dtype=float))
    memory = np.zeros((4, 2), dtype=np.int32)
    memory[:, 0] = np.arange(4)
    counts = np.zeros(4)
    for key in np.random.default_rng(0).integers(2**63, size=3000):
        communities.listen(A, memory, 1, int(key))
        counts[memory[0, 1]] += 1
    assert counts[0] == 0
    np.testing.assert_allclose(counts[1:] / 3000, 1 / 3, atol=0.03)


@pytest.mark.parametrize("in_turn", [False, True])
def test_only_those_who_listen_in_turn_hear_this_round(in_turn):
    """On a path 0 - 1 - 2 node 1 has heard the label 0 after its turn, and may pass it on in the same round."""
    A = sparse.csr_array(np.array([[0, 5, 0], [5, 0, 1], [0, 1, 0]], dtype=float))
    heard = set()
    for key in range(200):
        memory = np.zeros((3, 2), dtype=np.int32)
        memory[:, 0] = np.arange(3)
        communities.listen(A, memory, 1, key * 0x9E3779B97F4A7C15 % 2**64, np.array([1, 0, 2]) if in_turn else None)
        heard.add(int(memory[2, 1]))
    assert heard == ({0, 1} if in_turn else {1})


# Moves ----------------------------------------------------------------------------------------------------------------


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_moves_equal_numpy(index, weighted, twin):
    A = random_graph(120, weighted=weighted, index=index)
    A = sparse.csr_array(A + sparse.diags_array(np.arange(120) % 3.0))  # loops, as in a graph of communities
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    rng = np.random.default_rng(2)
    for labels in (np.arange(120), rng.integers(9, size=120)):
        given = (A, *strengths_and_pull(A, 1.3), rng.permutation(120), labels)
        before = labels.copy()
        np.testing.assert_array_equal(communities.move_nodes(*given), twin(communities.move_nodes, *given))
        np.testing.assert_array_equal(labels, before)


# Ego networks ---------------------------------------------------------------------------------------------------------


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("lo, hi", [(0, 60), (20, 35), (59, 60)])
def test_compiled_ego_networks_equal_numpy(index, lo, hi, twin):
    A = random_graph(60, weighted=True, index=index)
    size = int(closed_wedges(A)[lo:hi].sum())
    ours, theirs = communities.ego_links(A, lo, hi, size), twin(communities.ego_links, A, lo, hi, size)
    assert ours.shape == theirs.shape
    assert ours.nnz == size
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())


def test_ego_networks_are_their_definition():
    A = random_graph(25, 0.3, weighted=True)
    dense, (u, v) = A.toarray(), A.nonzero()
    egos = communities.ego_links(A, 0, 25, int(closed_wedges(A).sum()))
    expected = dense[np.ix_(v, v)] * (u[:, None] == u)
    np.testing.assert_array_equal(egos.toarray(), expected)


@needs_kernels
def test_compiled_ego_networks_at_a_hub_equal_numpy(twin):
    """Two nodes with hundreds of links, which all others share, and a few links among these."""
    n = 600
    A = np.zeros((n, n))
    A[:2] = np.random.default_rng(0).uniform(0.5, 2, (2, n))
    A[10, 11] = A[20, 500] = 3
    A[0, 300] = 0
    A = sparse.csr_array(np.triu(A, 1) + np.triu(A, 1).T)
    sizes = closed_wedges(A)
    np.testing.assert_array_equal(sizes, twin(closed_wedges, A))
    for lo, hi in ((0, 1), (2, n)):
        size = int(sizes[lo:hi].sum())
        ours, theirs = communities.ego_links(A, lo, hi, size), twin(communities.ego_links, A, lo, hi, size)
        assert ours.nnz == size
        assert abs(ours - theirs).nnz == 0


@needs_kernels
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sweeps", [1, 10])
def test_compiled_majorities_equal_numpy(weighted, sweeps, twin):
    A = random_graph(120, 0.05, weighted=weighted)
    ours = communities.majority_labels(A, sweeps)
    np.testing.assert_array_equal(ours, twin(communities.majority_labels, A, sweeps))


def test_majorities_hold():
    """In the end every node has one of the labels that most weight of its links leads to."""
    A = random_graph(80, 0.1, weighted=True)
    labels = communities.majority_labels(A, 1000)
    sums = A @ (labels[:, None] == np.arange(80))
    linked = np.diff(A.indptr) > 0
    assert (sums[np.arange(80), labels] >= sums.max(axis=1) - 1e-12)[linked].all()
    assert labels[-1] == 79  # no link
    assert 1 < len(np.unique(labels)) < 79
