"""The kernel of mixtures over links: against its definition, and compiled against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import kernels
from soft_clustering.kernels import graphs, links

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")


def random_rows(n, K, density, seed):
    """Rows of positive entries, the last one empty; each has the first column, so that all have one in common."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(0.1, 1, (n, K)) * (rng.uniform(size=(n, K)) < density)
    rows[:, 0] += 0.1
    rows[-1] = 0
    return sparse.csr_array(rows)


def random_links(m, n, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.5, 2, (m, n)) * (rng.uniform(size=(m, n)) < 0.1)
    A[-1] = A[:, -1] = 0
    return sparse.csr_array(A)


@pytest.mark.parametrize("density", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_link_rows_are_their_definition(density, compiled, twin):
    A, P, Q = random_links(50, 60), random_rows(50, 7, density, 1), random_rows(60, 7, density, 2)
    k, logs = (links.link_rows if compiled else lambda *a: twin(links.link_rows, *a))(A, P, Q)
    D, p, q = A.toarray(), P.toarray(), Q.toarray()
    s = np.where(D > 0, p @ q.T, 1.0)
    np.testing.assert_allclose(sparse.csr_array((k, P.indices, P.indptr), P.shape).toarray(), p * ((D / s) @ q))
    np.testing.assert_allclose(logs, (D * np.log(s)).sum(axis=1), rtol=1e-12, atol=1e-12)
    assert k.sum() == pytest.approx(D.sum(), rel=1e-12)  # each link comes from some community


def test_full_rows_are_those_of_the_dense_kernel():
    A, P, Q = random_links(60, 60), *(np.random.default_rng(i).uniform(0.1, 1, (60, 5)) for i in (1, 2))
    k, logs = links.link_rows(A, sparse.csr_array(P), sparse.csr_array(Q))
    ratios, total = graphs.ratio_rows(A, P, Q)
    np.testing.assert_allclose(k.reshape(60, 5), P * ratios, rtol=1e-9)
    assert logs.sum() == pytest.approx(total, rel=1e-9)


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_compiled_link_rows_equal_numpy(index, twin, three_threads):
    A, P = random_links(2000, 2000), random_rows(2000, 30, 0.2, 1)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    ours = links.link_rows(A, P, P)
    for mine, reference in zip(ours, twin(links.link_rows, A, P, P), strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-10, atol=1e-13)
    with kernels.one_thread():
        for mine, same in zip(ours, links.link_rows(A, P, P), strict=True):
            np.testing.assert_array_equal(mine, same)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_links_without_a_common_column(compiled, twin):
    A = sparse.csr_array(np.ones((2, 2)) - np.eye(2))
    P = sparse.csr_array(np.eye(2))
    k, logs = (links.link_rows if compiled else lambda *a: twin(links.link_rows, *a))(A, P, P)
    np.testing.assert_array_equal(k, 0)
    np.testing.assert_allclose(logs, np.log(np.finfo(float).tiny))
