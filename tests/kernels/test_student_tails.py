"""Student components of the Gaussian kernels: NumPy against SciPy's densities, compiled against NumPy."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import gauss

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
each_shape_of_factors = pytest.mark.parametrize("full", [True, False], ids=["full", "diag"])
with_and_without_gaps = pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])


def problem(seed, n, d, K, full, gaps, dtype=np.float64):
    """A weighted block, and the arguments of the kernels."""
    rng = np.random.RandomState(seed)
    X = (3 * rng.standard_t(2, size=(n, d)) + 5).astype(dtype)
    if gaps:
        X[rng.uniform(size=X.shape) < 0.3] = np.nan
    block = Block(X, rng.uniform(0, 2, n), Frame(np.full(d, 5.25), rng.uniform(0.2, 0.5, d), gaps=gaps))
    factors = rng.uniform(0.5, 2, (K, d))
    if full:
        factors = np.tril(rng.normal(size=(K, d, d))) / np.sqrt(d)
        factors[:, range(d), range(d)] = rng.uniform(0.5, 2, (K, d))
    dof = np.exp(rng.uniform(np.log(0.5), np.log(200), K))
    keywords = {"full": full, "tails": gauss.student_tails(dof, d, d)}
    return block, (rng.normal(size=(K, d)), factors, rng.normal(size=K)), keywords, dof


def by_definition(block, means, factors, constants, full, dof):
    """Sums and rows by loops over rows and components, with SciPy's densities of the values that are there."""
    Z = next(block.pieces())[1]
    (n, d), K = Z.shape, len(means)
    L, u, extra = np.zeros((3, n, K))
    filled, spread = np.zeros((n, K, d)), np.zeros((n, K, d, d))
    for i, k in itertools.product(range(n), range(K)):
        F = factors[k] if full else np.diag(factors[k])
        S, there = np.linalg.inv(F.T @ F), ~np.isnan(Z[i])
        o, away = int(there.sum()), Z[i] - means[k]
        log_scale = constants[k] - np.log(np.abs(np.diagonal(F))).sum() + 0.5 * d * np.log(2 * np.pi)
        distance, L[i, k] = 0.0, log_scale
        if o:
            part = S[np.ix_(there, there)]
            distance = away[there] @ np.linalg.solve(part, away[there])
            L[i, k] += stats.multivariate_t.logpdf(Z[i][there], means[k][there], part, dof[k])
            filled[i, k] = S[:, there] @ np.linalg.solve(part, away[there])
            spread[i, k] = S - S[:, there] @ np.linalg.solve(part, S[there])
        else:
            spread[i, k] = S
        if not full:
            filled[i, k][~there], spread[i, k] = 0, 0
        u[i, k] = (dof[k] + o) / (dof[k] + distance)
        extra[i, k] = np.log(u[i, k]) + digamma((dof[k] + o) / 2) - np.log((dof[k] + o) / 2) - u[i, k]
    top = L.max(axis=1, keepdims=True)
    R = np.exp(L - top)
    likelihood = top[:, 0] + np.log(R.sum(axis=1))
    R /= R.sum(axis=1, keepdims=True)
    W = R * block.weight[:, None]
    second = np.einsum("ik,ika,ikb->kab", W * u, filled, filled) + np.einsum("ik,ikab->kab", W, spread)
    sums = {
        "weight": (W * u).sum(axis=0),
        "first": np.einsum("ik,ika->ka", W * u, filled),
        "second": second if full else np.diagonal(second, axis1=1, axis2=2),
        "objective": block.weight @ likelihood,
        "size": W.sum(axis=0),
        "score": (W * extra).sum(axis=0),
        "seen_size": W.T @ ~np.isnan(Z),
        "seen": (W * u).T @ ~np.isnan(Z),
    }
    return sums, R, likelihood, (R * u).sum(axis=1)


@with_and_without_gaps
@each_shape_of_factors
@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_sums_and_memberships_are_those_of_the_definition(monkeypatch, compiled, full, gaps):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block, arguments, keywords, dof = problem(0, 40, 3, 4, full, gaps)
    sums, R, likelihood, masses = by_definition(block, *arguments, full, dof)
    found = gauss.gauss_statistics(block, *arguments, **keywords)
    for name, expected in sums.items():
        if name.startswith("seen") and not gaps:
            assert getattr(found, name) is None
        else:
            np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-10, atol=1e-10, err_msg=name)
    U, rows, weights = gauss.gauss_memberships_and_masses(block, *arguments, **keywords)
    np.testing.assert_allclose(U, R, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows, likelihood, rtol=1e-11)
    np.testing.assert_allclose(weights, masses, rtol=1e-11)


@needs_kernels
@pytest.mark.usefixtures("vectors")
@with_and_without_gaps
@each_shape_of_factors
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_compiled_form_is_its_twin(monkeypatch, full, gaps, dtype):
    for seed, (n, d) in enumerate(itertools.product((1, 63, 64, 65, 300), (1, 2, 4, 5, 9))):
        block, arguments, keywords, _ = problem(seed, n, d, 1 + seed % 5, full, gaps, dtype)
        statistics = gauss.gauss_statistics(block, *arguments, **keywords)
        U, rows, masses = gauss.gauss_memberships_and_masses(block, *arguments, **keywords)
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "compiled", None)
            twin = gauss.gauss_statistics(block, *arguments, **keywords)
            expected = gauss.gauss_memberships_and_masses(block, *arguments, **keywords)
        for name, a, b in zip(statistics._fields, statistics, twin, strict=True):
            if b is None:
                assert a is None
            else:
                scale = max(1.0, float(np.abs(b).max()))
                np.testing.assert_allclose(np.divide(a, scale), np.divide(b, scale), rtol=0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(U, expected[0], rtol=0, atol=1e-12 if dtype == np.float64 else 6e-8)
        np.testing.assert_allclose(rows, expected[1], rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(masses, expected[2], rtol=1e-11)


@needs_kernels
@with_and_without_gaps
def test_threads_do_not_change_a_bit(monkeypatch, gaps):
    block, arguments, keywords, _ = problem(0, 3000, 5, 4, True, gaps)
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "row_grid", lambda block, K, width, threads=threads: (11, threads))
        results.append(
            [
                *gauss.gauss_statistics(block, *arguments, **keywords),
                *gauss.gauss_memberships_and_masses(block, *arguments, **keywords),
            ]
        )
    for other in results[1:]:
        for a, b in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_statistics_merge_over_blocks(monkeypatch, compiled):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block, arguments, keywords, _ = problem(0, 200, 4, 3, True, True)
    parts = [Block(block.X[at], block.weight[at], block.frame) for at in (slice(0, 71), slice(71, None))]
    one, two = (gauss.gauss_statistics(part, *arguments, **keywords) for part in parts)
    for a, b in zip(one.merge(two), gauss.gauss_statistics(block, *arguments, **keywords), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_rows_beyond_all_measure_stay_finite(monkeypatch, compiled):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    X = np.array([[1e300, 0.0], [0.0, 0.0], [-1e200, 1e200]])
    block, means = Block(X, None, Frame(np.zeros(2), np.ones(2))), np.array([[0.0, 0.0], [1.0, 1.0]])
    tails = gauss.student_tails(np.array([0.5, 200.0]), 2, 2)
    arguments = (means, np.stack([np.eye(2) * 1e120, np.eye(2)]), np.zeros(2))
    statistics = gauss.gauss_statistics(block, *arguments, full=True, tails=tails)
    U, rows, masses = gauss.gauss_memberships_and_masses(block, *arguments, full=True, tails=tails)
    for values in (*statistics[:6], U, rows, masses):
        assert np.isfinite(values).all()
    np.testing.assert_allclose(U.sum(axis=1), 1)
