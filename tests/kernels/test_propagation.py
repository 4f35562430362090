"""Kernels of label propagation: walks against products of dense matrices, compiled against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import kernels
from soft_clustering.kernels import propagation

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")


def random_graph(n=60, density=0.15, seed=0):
    """A symmetric CSR matrix with weights; the last node has no link."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) < density, 1) * rng.uniform(0.5, 2, (n, n))
    A[:, -1] = 0
    return sparse.csr_array(A + A.T)


def with_index(A, index):
    A = A.copy()
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    return A


@pytest.mark.parametrize("share", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_walks_are_products_of_matrices(share, compiled, twin):
    A = random_graph()
    passable = np.random.default_rng(1).uniform(size=60) < share
    D, P = A.toarray(), np.diag(passable.astype(float))
    back = np.diag(np.diag(D @ P @ D)) @ P  # u, over some node, to u, which must be passable itself
    expected = D @ P @ D, D @ P @ D @ P @ D - back @ D
    found = (propagation.walks if compiled else lambda *a: twin(propagation.walks, *a))(A, passable)
    nodes = np.repeat(np.arange(60), np.diff(A.indptr))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs[nodes, A.indices], rtol=1e-12, atol=1e-12)


def test_walks_count_paths_of_a_small_graph():
    """A triangle 0, 1, 2 with a tail 2, 3."""
    D = np.zeros((4, 4))
    for u, v in ((0, 1), (0, 2), (1, 2), (2, 3)):
        D[u, v] = D[v, u] = 1
    two, three = propagation.walks(sparse.csr_array(D), np.ones(4, dtype=bool))
    # Links 01 02 10 12 20 21 23 32; three steps without a return to the first node, as 0-1-2-1, and 0-2-3-2.
    np.testing.assert_array_equal(two, [1, 1, 1, 1, 1, 1, 0, 0])
    np.testing.assert_array_equal(three, [1, 2, 1, 2, 1, 1, 0, 2])


@pytest.mark.parametrize("wedges", [1, 50, 10**6])
def test_walks_from_other_nodes_in_any_portions(wedges, monkeypatch):
    A, X = random_graph(), sparse.csr_array(random_graph(seed=2)[:11])
    monkeypatch.setattr(propagation, "_WEDGES", wedges)
    two, three = propagation.walks_from(X, A, np.ones(60, dtype=bool))
    nodes, D = np.repeat(np.arange(11), np.diff(X.indptr)), A.toarray()
    np.testing.assert_allclose(two, (X.toarray() @ D)[nodes, X.indices], rtol=1e-12)
    np.testing.assert_allclose(three, (X.toarray() @ D @ D)[nodes, X.indices], rtol=1e-12)


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_walks_do_not_depend_on_threads(index, three_threads):
    A = with_index(random_graph(2000, 0.03), index)
    passable = np.ones(2000, dtype=bool)
    several = propagation.walks(A, passable)
    with kernels.one_thread():
        for ours, same in zip(several, propagation.walks(A, passable), strict=True):
            np.testing.assert_array_equal(ours, same)


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_compiled_sweeps_equal_numpy(index, twin):
    A = with_index(random_graph(200, 0.1), index)
    rng = np.random.default_rng(0)
    influence, order = A.data * rng.uniform(0.1, 1, A.nnz), rng.permutation(200)
    ours, theirs = propagation.Labels.of_nodes(A), propagation.Labels.of_nodes(A)
    for _ in range(6):
        changed = propagation.propagate(A, influence, order, ours)
        assert changed == twin(propagation.propagate, A, influence, order, theirs)
        np.testing.assert_array_equal(ours.count, theirs.count)
        expected = theirs.rows(A).toarray()
        np.testing.assert_allclose(ours.rows(A).toarray(), expected, rtol=1e-12)
        np.testing.assert_allclose(expected.sum(axis=1)[:-1], 1)
    assert (ours.count[:-1] >= 1).all()
    assert ours.count[-1] == 0


def test_equal_labels():
    """Of equal labels the present one stays, or the one heard first comes; all that are equal are kept."""
    A = sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    labels = propagation.Labels.of_nodes(A)
    order = np.array([3])
    assert propagation.propagate(A, np.full(12, 0.1), order, labels) == 1
    np.testing.assert_allclose(labels.rows(A).toarray()[3], [1 / 3, 1 / 3, 1 / 3, 0])
    assert labels.label[9] == 0
    labels.label[9:12] = 2, 0, 1
    assert propagation.propagate(A, np.full(12, 0.1), order, labels) == 0
    assert labels.label[9] == 2
