"""Passes over documents: against loops over their definition, and compiled against NumPy."""

import mpmath
import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, psi

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import topics

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")


def corpus(rng, n, V, *, weighted=False, dtype=np.float64, index=np.int32, empty=True):
    """Counts, explicit zeros and documents without words among them."""
    X = sparse.csr_matrix(rng.poisson(0.4, (n, V)).astype(dtype))
    if X.nnz:
        X.data[rng.integers(X.nnz)] = 0
    if empty:
        X = sparse.vstack([X[: n - 1], sparse.csr_matrix((1, V), dtype=dtype)]).tocsr()
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return Block(X, rng.uniform(0, 2, n) if weighted else None, Frame(np.zeros(V), 1.0))


def random_topics(rng, V, K, concentration=0.3):
    return np.ascontiguousarray(rng.dirichlet(np.full(V, concentration), K).T)


def e_step(x, B, alpha, gamma, max_iter, tol):
    """The E-step of one document, word by word: gamma, bound, x / s of each word."""
    for _ in range(max_iter if x.any() else 0):
        A = np.exp(psi(gamma) - psi(gamma.sum()))
        new = alpha.copy()
        for w in np.flatnonzero(x):
            new += x[w] * A * B[w] / (A @ B[w])
        change, gamma = np.abs(new - gamma).mean(), new
        if change < tol:
            break
    gamma = gamma if x.any() else alpha
    logs = psi(gamma) - psi(gamma.sum())
    s = B @ np.exp(logs)
    bound = sum(x[w] * np.log(s[w]) for w in np.flatnonzero(x))
    bound += (
        ((alpha - gamma) * logs + gammaln(gamma) - gammaln(alpha)).sum() + gammaln(alpha.sum()) - gammaln(gamma.sum())
    )
    return gamma, bound, np.where(x > 0, x / s, 0)


@pytest.mark.parametrize("given", [False, True])
def test_lda_is_its_definition(given):
    rng = np.random.default_rng(0)
    block = corpus(rng, 40, 30, weighted=True)
    B, alpha = random_topics(rng, 30, 5), rng.uniform(0.05, 1, 5)
    start = rng.gamma(100, 0.01, (40, 5)) if given else np.ones((40, 5))
    found = topics.lda_statistics(block, B, alpha, start if given else None, 20, 1e-3)
    words, logs, total = np.zeros((30, 5)), np.zeros(5), 0.0
    for x, gamma, weight in zip(block.X.toarray(), start, block.weight, strict=True):
        gamma, bound, ratio = e_step(x, B, alpha, gamma, 20, 1e-3)
        E = psi(gamma) - psi(gamma.sum())
        words += weight * np.outer(ratio, np.exp(E))
        logs += weight * E
        total += weight * bound
    np.testing.assert_allclose(found.words, words, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.log_shares, logs, rtol=1e-10)
    assert found.objective == pytest.approx(total, rel=1e-11)


def test_lda_memberships_are_normalised_gamma():
    rng = np.random.default_rng(1)
    block = corpus(rng, 12, 20)
    B, alpha = random_topics(rng, 20, 3), np.array([0.1, 0.5, 0.2])
    U, bound = topics.lda_memberships(block, B, alpha, 100, 1e-4)
    expected = [e_step(x, B, alpha, np.ones(3), 100, 1e-4) for x in block.X.toarray()]
    np.testing.assert_allclose(U, [gamma / gamma.sum() for gamma, _, _ in expected], rtol=1e-9)
    np.testing.assert_allclose(U[-1], alpha / alpha.sum(), rtol=1e-14)
    assert bound == pytest.approx(sum(part for _, part, _ in expected), rel=1e-11)


def test_plsi_step_is_its_definition():
    rng = np.random.default_rng(2)
    block = corpus(rng, 25, 18, weighted=True)
    A, B = rng.dirichlet(np.ones(4), 25), random_topics(rng, 18, 4)
    total, T, words = topics.plsi_step(block, A, B)
    X = block.X.toarray()
    s = A @ B.T
    R = np.where(X > 0, X / s, 0)
    expected = A * (R @ B)
    sums = expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(T, np.where(sums > 0, expected / np.where(sums > 0, sums, 1), 0), rtol=1e-11)
    np.testing.assert_allclose(words, (block.weight[:, None] * R).T @ A, rtol=1e-11)
    assert total == pytest.approx((block.weight[:, None] * X * np.log(s)).sum(), rel=1e-12)
    assert (T[-1] == 0).all()


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_fold_in_is_its_definition(beta):
    rng = np.random.default_rng(3)
    block = corpus(rng, 15, 20, weighted=True)
    B, weights = random_topics(rng, 20, 4), rng.dirichlet(np.ones(4))
    found, total = topics.fold_in(block, B, weights, beta, 30, 1e-8)
    likelihood = 0.0
    for x, weight, shares in zip(block.X.toarray(), block.weight, found, strict=True):
        T = np.full(4, 0.25) if x.any() else np.zeros(4)
        for _ in range(30 if x.any() else 0):
            A = T**beta * weights ** (1 - beta)
            new = A * (np.where(x > 0, x / (B @ A), 0) @ B)
            new /= new.sum()
            change, T = np.abs(new - T).max(), new
            if change <= 1e-8:
                break
        np.testing.assert_allclose(shares, T, rtol=1e-8, atol=1e-14)
        likelihood += weight * sum(x[w] * np.log(B[w] @ T) for w in np.flatnonzero(x))
    assert total == pytest.approx(likelihood, rel=1e-10)


@needs_kernels
@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 50])
def test_compiled_lda_equals_numpy(K, vectors, twin):
    rng = np.random.default_rng(K)
    kind = {"dtype": np.float32 if K % 2 else np.float64, "index": np.int64 if K % 3 else np.int32}
    block = corpus(rng, 70, 40, weighted=K % 2 == 0, **kind)
    B, alpha = random_topics(rng, 40, K), rng.uniform(0.02, 2, K)
    for max_iter in (1, 7):
        ours = topics.lda_statistics(block, B, alpha, None, max_iter, 1e-9)
        theirs = twin(topics.lda_statistics, block, B, alpha, None, max_iter, 1e-9)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
        U, bound = topics.lda_memberships(block, B, alpha, max_iter, 1e-9)
        V, other = twin(topics.lda_memberships, block, B, alpha, max_iter, 1e-9)
        assert U.dtype == V.dtype == kind["dtype"]
        np.testing.assert_allclose(U, V, rtol=1e-6 if K % 2 else 1e-9, atol=1e-12)
        assert bound == pytest.approx(other, rel=1e-10)


@needs_kernels
@pytest.mark.parametrize("K", [3, 50])
def test_a_topic_that_was_set_aside_comes_back(K, vectors):
    # At first topic 1 explains word 0 better than topic 2 by many orders; then topic 0 takes the other words from it.
    x = np.array([1e-3, 5.0, 5.0, 5.0])
    B = np.full((4, K), 1e-30)
    B[:, 0], B[:, 1], B[0, 2] = [1e-30, 0.3, 0.3, 0.3], [1e-5, 0.1, 0.1, 0.1], 1.0
    alpha, start = np.full(K, 0.02), np.full(K, 0.02)
    start[:2] = 1.0, 5.0
    block = Block(sparse.csr_array(x[None]), None, Frame(np.zeros(4), 1.0))
    for max_iter in (5, 1000):
        found = topics.lda_statistics(block, B, alpha, start[None], max_iter, 1e-12)
        gamma, bound, _ = e_step(x, B, alpha, start, max_iter, 1e-12)
        assert found.objective == pytest.approx(bound, rel=1e-12)
        np.testing.assert_allclose(found.log_shares, psi(gamma) - psi(gamma.sum()), rtol=1e-9)
    assert gamma[2] == pytest.approx(0.021, rel=1e-3)


@needs_kernels
@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 50])
def test_compiled_plsi_equals_numpy(K, vectors, twin):
    rng = np.random.default_rng(K)
    block = corpus(rng, 70, 40, weighted=K % 2 == 0)
    A, B = rng.dirichlet(np.ones(K), 70), random_topics(rng, 40, K)
    for a, b in zip(topics.plsi_step(block, A, B), twin(topics.plsi_step, block, A, B), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    for beta in (1.0, 0.6):
        arguments = (block, B, rng.dirichlet(np.ones(K)), beta, 9, 1e-9)
        for a, b in zip(topics.fold_in(*arguments), twin(topics.fold_in, *arguments), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@needs_kernels
@pytest.mark.usefixtures("three_threads")
def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    block = corpus(rng, 500, 300)
    B, alpha = random_topics(rng, 300, 10), np.full(10, 0.1)
    many = topics.lda_statistics(block, B, alpha, None, 50, 1e-4)
    with kernels.one_thread():
        one = topics.lda_statistics(block, B, alpha, None, 50, 1e-4)
    assert all(np.array_equal(a, b) for a, b in zip(many, one, strict=True))


@needs_kernels
def test_digamma_has_its_digits(vectors):
    """E[log theta] of single documents without words is psi(alpha) - psi(sum alpha)."""
    rng = np.random.default_rng(0)
    block = corpus(rng, 1, 3)
    for alpha in np.concatenate([10.0 ** rng.uniform(-6, 6, (40, 2)), [[5.999, 6.001], [1.0, 6.0], [1e-3, 1e3]]]):
        found = topics.lda_statistics(block, np.full((3, 2), 0.3), alpha, None, 5, 1e-3)
        total = mpmath.digamma(mpmath.mpf(alpha[0]) + mpmath.mpf(alpha[1]))
        expected = [float(mpmath.digamma(mpmath.mpf(a)) - total) for a in alpha]
        np.testing.assert_allclose(found.log_shares, expected, rtol=1e-11, atol=2e-12)
        assert found.objective == pytest.approx(0, abs=1e-11 * (1 + abs(gammaln(alpha)).sum()))


def test_unheard_words_say_nothing():
    """A word that no topic has does not make NaN, and leaves the shares to the other words."""
    block = Block(sparse.csr_matrix([[1.0, 2.0, 1e90], [0.0, 0.0, 4.0]]), None, Frame(np.zeros(3), 1.0))
    B = np.array([[0.9, 0.1], [0.1, 0.9], [0.0, 0.0]])
    U, bound = topics.lda_memberships(block, B, np.array([0.5, 0.5]), 100, 1e-6)
    alone = Block(block.X[:, :2].copy(), None, Frame(np.zeros(2), 1.0))
    np.testing.assert_allclose(U[0], topics.lda_memberships(alone, B[:2], np.array([0.5, 0.5]), 100, 1e-6)[0][0])
    assert np.isfinite(bound)
    T, likelihood = topics.fold_in(block, B, np.array([0.5, 0.5]), 1.0, 50, 1e-6)
    assert np.isfinite(T).all() and np.isfinite(likelihood)
