"""Kernels of graphs: passes over links against loops over their definition, random draws, compiled against NumPy."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import kernels
from soft_clustering.kernels import graphs

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")


def random_graph(rng, n, density=0.15, weighted=False):
    """A symmetric CSR matrix; the last node has no link."""
    A = np.triu(rng.uniform(size=(n, n)) < density, 1).astype(float)
    if weighted:
        A *= rng.uniform(0.5, 2, (n, n))
    A[:, -1] = 0
    return sparse.csr_array(A + A.T)


def likelihood(A, F, rate):
    """The sum over all pairs of nodes."""
    A, n = A.toarray(), A.shape[0]
    total = 0.0
    for u in range(n):
        for v in range(u + 1, n):
            z = F[u] @ F[v]
            total += np.log(-np.expm1(-z - rate)) if A[u, v] else -z - rate
    return total


@pytest.mark.parametrize("K", [1, 3, 4, 9, 20])
def test_ratio_rows_are_their_definition(K):
    rng = np.random.default_rng(K)
    A = random_graph(rng, 40, weighted=True)
    P, Q = rng.uniform(0.1, 1, (40, K)), rng.uniform(0.1, 1, (40, K))
    out, total = graphs.ratio_rows(A, P, Q)
    dense = A.toarray()
    s = P @ Q.T
    np.testing.assert_allclose(out, (dense / s) @ Q, rtol=1e-9)
    assert total == pytest.approx((dense * np.log(s)).sum(), rel=1e-9)
    assert (out[-1] == 0).all()


@needs_kernels
@pytest.mark.parametrize("K", [1, 2, 4, 5, 13, 50])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_compiled_ratio_rows_equal_numpy(K, index, vectors, twin):
    rng = np.random.default_rng(K)
    A = random_graph(rng, 300, 0.05, weighted=True)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    P, Q = rng.uniform(size=(300, K)), rng.uniform(size=(300, K))
    for ours, theirs in zip(graphs.ratio_rows(A, P, Q), twin(graphs.ratio_rows, A, P, Q), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    with kernels.one_thread():
        np.testing.assert_array_equal(graphs.ratio_rows(A, P, Q)[0], graphs.ratio_rows(A, P, Q)[0])


@needs_kernels
@pytest.mark.parametrize("K", [1, 4, 5, 50])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_compiled_factor_step_equals_numpy(K, index, vectors, twin):
    rng = np.random.default_rng(K)
    V = random_graph(rng, 300, 0.05, weighted=True)
    V.indices, V.indptr = V.indices.astype(index), V.indptr.astype(index)
    P, Q = (graphs.Factor.of(graphs.padded(rng.uniform(size=(300, K)))) for _ in range(2))
    beta, out, other = rng.uniform(1, 9, len(P.sums)), np.empty_like(P.rows), np.empty_like(P.rows)
    ours, logs = graphs.factor_step(V, P, Q, beta, out)
    theirs, expected = twin(graphs.factor_step, V, P, Q, beta, other)
    for mine, reference in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-10)
    assert ours.rows is out
    assert logs == pytest.approx(expected, rel=1e-10)
    with kernels.one_thread():
        np.testing.assert_array_equal(graphs.factor_step(V, P, Q, beta, other)[0].rows, out)


@needs_kernels
@pytest.mark.parametrize("K", [1, 3, 4, 9, 20])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_compiled_block_pass_equals_numpy(K, index, vectors, twin):
    rng = np.random.default_rng(K)
    A = random_graph(rng, 300, 0.1)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    phi, B = rng.dirichlet(np.full(K, 0.2), 300), rng.uniform(0.01, 0.9, (K, K))
    arguments = A, 1e-3 + rng.gamma(0.3, 100, (300, K)), phi, A @ phi, (B + B.T) / 2, 0.2
    ours = graphs.block_pass(*arguments)
    for mine, reference in zip(ours, twin(graphs.block_pass, *arguments), strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-9, atol=1e-12)
    with kernels.one_thread():
        for mine, same in zip(ours, graphs.block_pass(*arguments), strict=True):
            np.testing.assert_array_equal(mine, same)


def test_likelihood_is_its_definition():
    rng = np.random.default_rng(0)
    A, F = random_graph(rng, 30), graphs.padded(rng.uniform(size=(30, 4)))
    assert graphs.affiliation_likelihood(A, F, 0.03) == pytest.approx(likelihood(A, F, 0.03), rel=1e-12)


def test_sweeps_climb():
    rng = np.random.default_rng(1)
    A, F = random_graph(rng, 50), graphs.padded(rng.uniform(size=(50, 3)))
    total = F.sum(axis=0)
    values = [graphs.affiliation_likelihood(A, F, 0.02)]
    for _ in range(15):
        graphs.affiliation_sweep(A, F, total, rng.permutation(50), 0.02, 1000.0)
        np.testing.assert_allclose(total, F.sum(axis=0), atol=1e-10)
        values.append(graphs.affiliation_likelihood(A, F, 0.02))
    assert np.diff(values).min() > -1e-10
    assert values[-1] > values[0] + 10
    assert (F >= 0).all()
    assert (F[:, 3:] == 0).all()
    assert (F[-1] == 0).all()  # nothing but pairs without a link


def test_step_follows_the_gradient():
    """At a maximum over a row no finite difference of the likelihood is positive."""
    rng = np.random.default_rng(2)
    A, F = random_graph(rng, 25), graphs.padded(rng.uniform(0.1, 1, (25, 4)))
    total = F.sum(axis=0)
    for _ in range(300):
        graphs.affiliation_sweep(A, F, total, np.array([7]), 0.05, 1000.0)
    best = likelihood(A, F, 0.05)
    for k in range(4):
        for move in (1e-4, -1e-4):
            other = F.copy()
            other[7, k] = max(other[7, k] + move, 0)
            assert likelihood(A, other, 0.05) <= best + 1e-7


@needs_kernels
def test_compiled_sweep_equals_numpy(vectors, twin):
    rng = np.random.default_rng(3)
    A = random_graph(rng, 60)
    F = graphs.padded(np.where(rng.uniform(size=(60, 6)) < 0.5, rng.uniform(size=(60, 6)), 0))
    G, order = F.copy(), rng.permutation(60)
    total, other = F.sum(axis=0), F.sum(axis=0)
    for _ in range(3):
        graphs.affiliation_sweep(A, F, total, order, 0.02, 1000.0)
        twin(graphs.affiliation_sweep, A, G, other, order, 0.02, 1000.0)
    np.testing.assert_allclose(F, G, atol=1e-9)
    assert graphs.affiliation_likelihood(A, F, 0.02) == pytest.approx(
        twin(graphs.affiliation_likelihood, A, F, 0.02), rel=1e-11
    )
    links = A[:5, :]
    f = graphs.padded(rng.uniform(size=(5, 6)))
    g = f.copy()
    graphs.affiliation_rows(links, F, f, 0.02, 1000.0, 50)
    twin(graphs.affiliation_rows, links, F, g, 0.02, 1000.0, 50)
    np.testing.assert_allclose(f, g, atol=1e-7)


@needs_kernels
def test_affiliations_take_indices_of_either_size():
    rng = np.random.default_rng(4)
    A, start, order = random_graph(rng, 40), graphs.padded(rng.uniform(size=(40, 3))), rng.permutation(40)
    results = []
    for dtype in (np.int32, np.int64):
        B = sparse.csr_array((A.data, A.indices.astype(dtype), A.indptr.astype(dtype)), shape=A.shape)
        B.indices, B.indptr = B.indices.astype(dtype, copy=False), B.indptr.astype(dtype, copy=False)
        assert B.indices.dtype == B.indptr.dtype == dtype
        F = start.copy()
        graphs.affiliation_sweep(B, F, F.sum(axis=0), order, 0.02, 1000.0)
        f = start[:5].copy()
        graphs.affiliation_rows(B[:5], F, f, 0.02, 1000.0, 20)
        results.append((F, f, graphs.affiliation_likelihood(B, F, 0.02)))
    for narrow, wide in zip(*results, strict=True):
        np.testing.assert_array_equal(narrow, wide)


@needs_kernels
def test_a_sweep_copies_no_indices():
    rng = np.random.default_rng(5)
    A = sparse.csr_array((rng.uniform(size=(500, 500)) < 0.4).astype(np.float64))
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    F = graphs.padded(rng.uniform(size=(500, 2)))
    total, order = F.sum(axis=0), rng.permutation(500)
    tracemalloc.start()
    graphs.affiliation_sweep(A, F, total, order, 0.02, 1000.0)
    graphs.affiliation_likelihood(A, F, 0.02)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < A.indices.nbytes / 10


def test_no_entry_exceeds_the_limit():
    A = sparse.csr_array(np.ones((6, 6)) - np.eye(6))
    F = graphs.padded(np.full((6, 2), 0.5))
    total = F.sum(axis=0)
    for _ in range(50):
        graphs.affiliation_sweep(A, F, total, np.arange(6), 1e-6, 3.0)
    assert F.max() <= 3.0
    assert np.isfinite(graphs.affiliation_likelihood(A, F, 1e-6))


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_closed_wedges_are_their_definition(index, twin):
    A = random_graph(np.random.default_rng(6), 60)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    dense = A.toarray()
    expected = np.einsum("uv,vw,wu->u", dense, dense, dense)
    np.testing.assert_array_equal(graphs.closed_wedges(A), expected)
    np.testing.assert_array_equal(twin(graphs.closed_wedges, A), expected)


@needs_kernels
def test_extreme_rates_and_affiliations(vectors, twin):
    """Chances of links from the smallest numbers to 1, and nodes of many links."""
    A = sparse.csr_array(np.ones((70, 70)) - np.eye(70))
    for rate in (1e-290, 1e-6, 1.0, 900.0):
        for size in (0.0, 1e-150, 1e-8, 1.0, 40.0):
            F = graphs.padded(np.full((70, 3), size))
            ours, theirs = graphs.affiliation_likelihood(A, F, rate), twin(graphs.affiliation_likelihood, A, F, rate)
            assert ours == pytest.approx(theirs, rel=1e-12)


# Gumbel draws ---------------------------------------------------------------------------------------------------------


def gumbel(W, keys, t, threads=1):
    out = np.full((*keys.shape, *W.shape[1:]), np.nan, dtype=np.float32)
    mean = graphs.gumbel_softmax(W, keys, t, out, threads)
    np.testing.assert_allclose(mean, out.mean(axis=1, dtype=np.float64), rtol=1e-12, atol=1e-300)
    return out


def make_keys(*shape, seed=0):
    return np.random.default_rng(seed).integers(2**64, size=shape, dtype=np.uint64)


@needs_kernels
@pytest.mark.parametrize("t", [4.0, 0.5, 0.1, 1e-6])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 64), (3, 7, 65), (1, 50, 200)])
def test_compiled_gumbel_draws_equal_numpy(shape, t, vectors, twin):
    W = np.random.default_rng(1).normal(scale=5, size=shape)
    keys = make_keys(shape[0], 4)
    ours = gumbel(W, keys, t)
    np.testing.assert_allclose(ours, twin(gumbel, W, keys, t), atol=1e-6)
    np.testing.assert_array_equal(gumbel(W, keys, t, threads=3), ours)


@needs_kernels
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 64), (3, 7, 65), (1, 50, 200)])
def test_compiled_gumbel_slope_equals_numpy(shape, vectors, twin):
    rng = np.random.default_rng(2)
    draws = rng.dirichlet(np.ones(shape[1]), size=(shape[0], 4, shape[2])).swapaxes(2, 3).astype(np.float32, order="C")
    mean, slope = draws.mean(axis=1, dtype=np.float64), rng.normal(size=shape)
    ours = graphs.gumbel_slope(draws, mean, slope, 0.5, threads=1)
    np.testing.assert_allclose(ours, twin(graphs.gumbel_slope, draws, mean, slope, 0.5, 1), rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(graphs.gumbel_slope(draws, mean, slope, 0.5, threads=3), ours)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_gumbel_draws_have_the_probabilities_of_the_softmax(compiled, twin):
    """At a low temperature a draw is one of the clusters."""
    W = np.log([[[0.5], [0.3], [0.2]]]) * np.ones(20_000)
    draws = (gumbel if compiled else lambda *arguments: twin(gumbel, *arguments))(W, make_keys(1, 5), 1e-3)
    assert ((draws < 1e-3) | (draws > 0.999)).mean() > 0.99
    np.testing.assert_allclose(draws.mean((0, 1, 3)), [0.5, 0.3, 0.2], atol=0.005)


def test_gumbel_numbers_are_independent():
    """Differences of two Gumbel numbers are logistic; places, draws, starts and keys of few bits share nothing."""
    keys = np.concatenate([make_keys(1, 3), [[1, 2, 1 << 32]]]).astype(np.uint64)
    draws = gumbel(np.zeros((2, 2, 50_000)), keys, 1.0).astype(np.float64)
    logits = (np.log(draws[:, :, 0]) - np.log(draws[:, :, 1])).reshape(6, -1)
    np.testing.assert_allclose(logits.mean(axis=1), 0, atol=4 * np.pi / np.sqrt(3 * 50_000))
    np.testing.assert_allclose(logits.var(axis=1), np.pi**2 / 3, rtol=0.04)
    quantiles = np.quantile(logits, [0.01, 0.25, 0.5, 0.75, 0.99], axis=1).T
    np.testing.assert_allclose(quantiles, np.tile(np.log([1 / 99, 1 / 3, 1, 3, 99]), (6, 1)), atol=0.25)
    between = np.corrcoef(logits)[~np.eye(6, dtype=bool)]
    along = [np.corrcoef(row[:-lag], row[lag:])[0, 1] for row in logits for lag in (1, 2, 64, 1000)]
    assert np.abs(between).max() < 0.02
    assert np.abs(along).max() < 0.02
