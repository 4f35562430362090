"""The Gaussian rules but "posterior": their NumPy form against the definition, the compiled form against it."""

import itertools

import mpmath
import numpy as np
import pytest

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import gauss, reference
from soft_clustering.kernels.gauss import TemperedStatistics

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")

# Rows about the width of a tile, every d modulo the 4 rows of a whitening block, and many K.
SHAPES = [(n, d, 1 + (i % 7)) for i, (n, d) in enumerate(itertools.product((1, 63, 64, 65, 700), (1, 2, 3, 5, 8, 17)))]
SHAPES += [(65, 3, K) for K in (2, 9, 13)] + [(100, 70, 5)]
RULES = [
    *[("metric", m) for m in (2.0, 1.5, 1.05, 20.0)],
    *[("metric", m, noise) for m, noise in ((2.0, 3.0), (1.3, 0.1))],
    *[("tempered", m, q) for m, q in ((2.0, 1.0), (2.0, 2.0), (1.5, 1.0), (1.05, 1.7), (6.0, 0.5))],
    *[("background", value) for value in (-1.0, -30.0, 40.0)],
]


@pytest.fixture
def both(monkeypatch):
    """A function that calls a kernel, compiled and in NumPy."""

    def call(kernel, *arguments, **keywords):
        found = kernel(*arguments, **keywords)
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "compiled", None)
            return found, kernel(*arguments, **keywords)

    return call


def problem(seed, n, d, K, rule, dtype=np.float64, weighted=True):
    """A block with a unit per feature, and the arguments of a rule."""
    rng = np.random.RandomState(seed)
    name, *parameters = rule
    X = (rng.normal(size=(n, d)) * 3 + 5).astype(dtype)
    block = Block(X, rng.uniform(0, 2, n) if weighted else None, Frame(np.full(d, 5.25), rng.uniform(0.2, 0.5, d)))
    means, factors = rng.normal(size=(K, d)), np.tril(rng.normal(size=(K, d, d))) / np.sqrt(d)
    constants = np.zeros(K) if name == "metric" else rng.normal(size=K)
    keywords = {"full": True, "rule": name}
    if name == "metric":
        m, *noise = parameters
        parameters = [m, *rng.uniform(0.2, 3, K)]
        if noise:
            parameters, keywords["noise"] = [*parameters, 1.0], np.append(-noise[0] / 2, np.zeros(d))
    elif name == "background":
        parameters, keywords["noise"] = [], np.append(parameters, np.zeros(d))
    return block, (means, factors, constants, *parameters), keywords


def by_definition(block, means, factors, constants, *parameters, full, rule, noise=None):
    """Memberships, objective of each row, weights of covariances and means, by loops; noise is a last column."""
    Z = (block.X - block.frame.shift) * block.frame.scale
    n, K, noisy = len(Z), len(means), noise is not None
    m = noise[0] if rule == "background" else parameters[0]
    U, W, rows = np.zeros((n, K + noisy)), np.zeros((n, K)), np.zeros(n)
    for i in range(n):
        squares = [float(np.sum((factors[k] @ (Z[i] - means[k])) ** 2)) for k in range(K)]
        if rule == "background":
            densities = [mpmath.exp(constants[k] - squares[k] / 2) for k in range(K)]
            U[i, :K] = [density / sum(densities) for density in densities]
            U[i, K] = mpmath.exp(m) / (sum(densities) + mpmath.exp(m))
            W[i] = [density / (sum(densities) + mpmath.exp(m)) for density in densities]
            rows[i] = mpmath.log(sum(densities) + mpmath.exp(m))
        elif rule == "metric":
            D = [parameters[1 + k] * squares[k] for k in range(K)] + ([-2 * noise[0]] if noisy else [])
            for k in range(K + noisy):
                U[i, k] = 1 / sum((D[k] / other) ** (1 / (m - 1)) for other in D)
            rows[i] = sum(U[i, k] ** m * D[k] for k in range(K + noisy))
        else:
            densities = [mpmath.exp(constants[k] - squares[k] / 2) for k in range(K)]
            rows[i] = mpmath.log(sum(densities))
            powers = [density ** (1 / mpmath.mpf(m - 1)) for density in densities]
            U[i] = [float(power / sum(powers)) for power in powers]
    if rule == "background":
        return Z, U, rows, W, W
    return Z, U, rows, U[:, :K] ** (m if rule == "metric" else parameters[1]), U[:, :K] ** m


def close(found, expected, tolerance):
    """Equal up to the tolerance, relative to the largest entry."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("n, d", [(30, 3), (200, 4), (200, 9)])
@pytest.mark.parametrize(
    "rule, tails, gaps",
    [
        (("metric", 1.5), False, False),
        *[(rule, False, gaps) for rule in (("posterior",), ("background", -1.0)) for gaps in (False, True)],
        *[(("posterior",), True, gaps) for gaps in (False, True)],
    ],
    ids=str,
)
def test_one_factor_for_all_components(both, rule, tails, gaps, n, d):
    """It gives what a copy of the factor for each component does."""
    block, (means, factors, *parameters), keywords = problem(1, n, d, 4, rule)
    if tails:
        keywords["tails"] = gauss.student_tails(np.array([1.0, 3.0, 9.0, 40.0]), d, d)
    if gaps:
        X = np.where(np.random.RandomState(0).uniform(size=block.X.shape) < 0.2, np.nan, block.X)
        block = Block(X, block.weight, Frame(block.frame.shift, block.frame.scale, gaps=True))
    factor = np.tril(np.abs(factors[:1]) + np.eye(d))
    repeated = np.ascontiguousarray(np.broadcast_to(factor, factors.shape))
    for kernel in (gauss.gauss_statistics, gauss.gauss_memberships_and_masses):
        expected = kernel(block, means, repeated, *parameters, **keywords)
        for found in both(kernel, block, means, factor, *parameters, **keywords):
            for one, other in zip(found, expected, strict=True):
                if other is not None:
                    close(np.asarray(one), np.asarray(other), 1e-12)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rules_by_definition(monkeypatch, rule):
    monkeypatch.setattr(kernels, "compiled", None)
    block, arguments, keywords = problem(0, 30, 3, 4, rule)
    Z, U, rows, W, M = by_definition(block, *arguments, **keywords)
    found, found_rows, noise = gauss.gauss_memberships_and_masses(block, *arguments, **keywords)
    K = found.shape[1]
    np.testing.assert_allclose(found, U[:, :K], rtol=0, atol=1e-13)
    np.testing.assert_allclose(noise, U[:, K] if "noise" in keywords else 0, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found_rows, rows, rtol=1e-13)
    statistics = gauss.gauss_statistics(block, *arguments, **keywords)
    assert statistics.objective == pytest.approx(block.weight @ rows, rel=1e-13)
    C = Z[:, None, :] - arguments[0]
    w = block.weight
    np.testing.assert_allclose(statistics.weight, w @ W, rtol=1e-12)
    close(statistics.first, np.einsum("i,ik,ikj->kj", w, W, C), 1e-12)
    close(statistics.second, np.einsum("i,ik,ikj,ikl->kjl", w, W, C, C), 1e-12)
    assert isinstance(statistics, TemperedStatistics) == (rule[0] == "tempered")
    if rule[0] == "tempered":
        np.testing.assert_allclose(statistics.mean_weight, w @ M, rtol=1e-12)
        close(statistics.mean_first, np.einsum("i,ik,ikj->kj", w, M, C), 1e-12)
        np.testing.assert_allclose(statistics.share, w @ U, rtol=1e-12)


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_compiled_rules_are_their_twins(both, rule, dtype):
    # The power 1 / (m - 1) multiplies the error of the distances.
    tolerance = 2e-13 * (1 if rule[0] == "background" else max(1, 1 / (rule[1] - 1)))
    for i, (n, d, K) in enumerate(SHAPES):
        block, arguments, keywords = problem(i, n, d, K, rule, dtype, weighted=i % 2 == 0)
        found, expected = both(gauss.gauss_statistics, block, *arguments, **keywords)
        assert len(found) == (8 if rule[0] == "tempered" else 5)
        assert found.seen is None and expected.seen is None  # all values are there
        for a, b in zip(found[:-1], expected[:-1], strict=True):
            close(a, b, tolerance)
        results = both(gauss.gauss_memberships_and_masses, block, *arguments, **keywords)
        (U, rows, noise), (U_twin, rows_twin, noise_twin) = results
        np.testing.assert_allclose(noise, noise_twin, rtol=0, atol=tolerance)
        assert U.dtype == U_twin.dtype == dtype
        # The arithmetic is in double for both types: a float result differs by one rounding at most.
        np.testing.assert_allclose(U, U_twin, rtol=0, atol=tolerance if dtype == np.float64 else 6e-8)
        close(rows, rows_twin, tolerance)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_statistics_merge_over_blocks(monkeypatch, compiled, rule):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block, arguments, keywords = problem(0, 200, 4, 3, rule)
    parts = [Block(block.X[at], block.weight[at], block.frame) for at in (slice(0, 71), slice(71, None))]
    one, two = (gauss.gauss_statistics(part, *arguments, **keywords) for part in parts)
    merged, whole = one.merge(two), gauss.gauss_statistics(block, *arguments, **keywords)
    assert merged.seen is None and whole.seen is None
    for a, b in zip(merged[:-1], whole[:-1], strict=True):
        close(a, b, 1e-13)


@needs_kernels
@pytest.mark.parametrize("rule", RULES[:1] + RULES[-1:], ids=str)
def test_threads_do_not_change_a_bit(monkeypatch, rule):
    block, arguments, keywords = problem(0, 3000, 6, 5, rule)
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "row_grid", lambda block, K, width, threads=threads: (11, threads))
        results.append(
            [
                *gauss.gauss_statistics(block, *arguments, **keywords),
                *gauss.gauss_memberships(block, *arguments, **keywords),
            ]
        )
    for other in results[1:]:
        for a, b in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_metric_rule_on_a_mean_is_one_hot(monkeypatch, compiled):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block, (means, factors, constants, *_), keywords = problem(0, 5, 3, 4, ("metric", 1.7))
    means[2] = block.take([3])[0]
    U, rows = gauss.gauss_memberships(block, means, factors, constants, 1.7, 1.0, 2.0, 3.0, 4.0, **keywords)
    np.testing.assert_array_equal(U[3], [0, 0, 1, 0])
    assert rows[3] == 0


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_tempered_rule_far_out_and_nearly_hard(monkeypatch, compiled):
    """No infinite minus infinite: the largest density is taken out before the division by m - 1."""
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block = Block(np.array([[1e100], [0.0]]), None, Frame(np.zeros(1), 1.0))
    arguments = np.array([[0.0], [1.0]]), np.array([[[1e120]], [[1.0]]]), np.zeros(2), 1 + 1e-12, 1.0
    U, _ = gauss.gauss_memberships(block, *arguments, full=True, rule="tempered")
    np.testing.assert_array_equal(U, [[0, 1], [1, 0]])
    statistics = gauss.gauss_statistics(block, *arguments, full=True, rule="tempered")
    np.testing.assert_array_equal(statistics.share, [1, 1])


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
@pytest.mark.parametrize("background", [-5.0, -1e299, -np.inf])
def test_background_takes_rows_whose_densities_underflow(monkeypatch, compiled, background):
    """Such a row has finite memberships, and belongs to the background unless that has no weight at all."""
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block = Block(np.array([[1e100], [-1e100], [0.0]]), None, Frame(np.zeros(1), 1.0))
    arguments = np.array([[0.0], [1.0]]), np.array([[[1e120]], [[1e120]]]), np.zeros(2)
    keywords = {"full": True, "rule": "background", "noise": np.array([background, 0.0])}
    U, rows, noise = gauss.gauss_memberships_and_masses(block, *arguments, **keywords)
    np.testing.assert_array_equal(U, [[0.5, 0.5], [0.5, 0.5], [1, 0]])
    np.testing.assert_allclose(rows[:2], max(background, -1e300))
    assert rows[2] == pytest.approx(np.log1p(np.exp(background)), abs=1e-15)
    np.testing.assert_allclose(noise[2], np.exp(background) / (1 + np.exp(background)), rtol=1e-14)
    np.testing.assert_array_equal(noise[:2], 0 if np.isinf(background) else 1)
    statistics = gauss.gauss_statistics(block, *arguments, **keywords)
    far = 1.0 if np.isinf(background) else 0.0
    np.testing.assert_allclose(statistics.weight, [far + 1 / (1 + np.exp(background)), far], rtol=1e-14)


@needs_kernels
@pytest.mark.usefixtures("vectors")
def test_background_of_no_weight_is_the_posterior(both):
    block, arguments, keywords = problem(0, 300, 5, 3, ("posterior",))
    noise = np.append(-np.inf, np.zeros(block.d))
    for part in both(gauss.gauss_memberships, block, *arguments, full=True, rule="background", noise=noise):
        expected = gauss.gauss_memberships(block, *arguments, **keywords)
        for a, b in zip(part, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_given_memberships_are_used_as_they_are():
    block, (means, *_), _ = problem(0, 40, 3, 2, ("metric", 2.0))
    U = np.random.RandomState(1).dirichlet(np.ones(2), 40)
    plain = reference.gauss_statistics(block, means, None, None, True, U, "posterior")
    metric = reference.gauss_statistics(block, means, None, None, True, U, "metric", 2.0, 1.0, 1.0)
    for a, b in zip(plain, metric, strict=True):
        np.testing.assert_array_equal(a, b)


@needs_kernels
@pytest.mark.parametrize("d", [1, 2, 5, 32])
def test_inverse_cholesky_twins(d):
    rng = np.random.RandomState(d)
    A = rng.normal(size=(4, d, d + 3))
    covariances = A @ np.swapaxes(A, 1, 2) * 10.0 ** rng.uniform(-6, 6, (4, 1, 1))
    factors, failed = gauss.inverse_cholesky(covariances)
    theirs, _ = reference.inverse_cholesky(covariances)
    assert failed is None
    np.testing.assert_allclose(factors, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())
    np.testing.assert_array_equal(factors, np.tril(factors))


@needs_kernels
@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan])
def test_inverse_cholesky_names_the_first_failure(bad):
    covariances = np.tile(np.eye(3), (4, 1, 1))
    covariances[2, 1, 1] = bad
    assert gauss.inverse_cholesky(covariances)[1] == reference.inverse_cholesky(covariances)[1] == 2
