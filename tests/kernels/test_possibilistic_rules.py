"""The rules of possibilistic and possibilistic fuzzy c-means and the scatter kernel: definitions, compiled twins."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import minimize_scalar

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import centers, reference
from soft_clustering.kernels.centers import Scatter

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
property_test = settings(max_examples=100, deadline=None, derandomize=True)
EXPONENTS = (1.001, 1.2, 1.5, 1.7, 2.0, 3.0, 50.0)


# Definitions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", EXPONENTS[1:-1])
def test_rational_rule_minimises_the_published_objective(m):
    rng = np.random.RandomState(0)
    D, bandwidth = rng.uniform(0.1, 5, (6, 3)), rng.uniform(0.5, 4, 3)
    T, W, J = reference.rational_rule(D, m, *bandwidth)
    np.testing.assert_allclose(T, 1 / (1 + (D / bandwidth) ** (1 / (m - 1))), rtol=1e-13)
    np.testing.assert_allclose(W, T**m, rtol=1e-13)
    np.testing.assert_allclose(J, (T**m * D + bandwidth * (1 - T) ** m).sum(axis=1), rtol=1e-12)
    for i, k in np.ndindex(D.shape):
        least = minimize_scalar(
            lambda t, d=D[i, k], b=bandwidth[k]: t**m * d + b * (1 - t) ** m, bounds=(0, 1), options={"xatol": 1e-10}
        )
        assert T[i, k] == pytest.approx(least.x, abs=1e-6)


def test_exponential_rule_minimises_the_published_objective():
    rng = np.random.RandomState(0)
    D, bandwidth = rng.uniform(0.1, 5, (6, 3)), rng.uniform(0.5, 4, 3)
    T, W, J = reference.exponential_rule(D, *bandwidth)
    np.testing.assert_allclose(T, np.exp(-D / bandwidth), rtol=1e-15)
    np.testing.assert_array_equal(W, T)
    np.testing.assert_allclose(J, (T * D + bandwidth * (T * np.log(T) - T)).sum(axis=1), rtol=1e-13)
    for i, k in np.ndindex(D.shape):
        least = minimize_scalar(
            lambda t, d=D[i, k], b=bandwidth[k]: t * d + b * (t * np.log(t) - t),
            bounds=(1e-12, 1),
            options={"xatol": 1e-10},
        )
        assert T[i, k] == pytest.approx(least.x, abs=1e-6)


@pytest.mark.parametrize("m", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("e", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("a, b", [(1.0, 1.0), (0.3, 2.5), (0.0, 2.0), (2.0, 0.0)])
def test_pfcm_rule_is_the_published_objective(m, e, a, b):
    rng = np.random.RandomState(0)
    D, bandwidth = rng.uniform(0.1, 5, (6, 3)), rng.uniform(0.5, 4, 3)
    U, W, J = reference.pfcm_rule(D, m, a, b, e, *bandwidth)
    ratio = D ** (-1 / (m - 1))
    np.testing.assert_allclose(U, ratio / ratio.sum(axis=1, keepdims=True), rtol=1e-13)
    T = 1 / (1 + (b * D / bandwidth) ** (1 / (e - 1)))
    np.testing.assert_allclose(W, a * U**m + b * T**e, rtol=1e-13)
    published = ((a * U**m + b * T**e) * D + bandwidth * (1 - T) ** e).sum(axis=1)
    np.testing.assert_allclose(J, published, rtol=1e-12)


@pytest.mark.parametrize("m", EXPONENTS)
@pytest.mark.parametrize("compiled", [True, False])
def test_rational_rule_to_the_last_digits(m, compiled):
    """Rows far beyond the bandwidth have t = 0 in doubles, but each adds its bandwidth to the objective."""
    if compiled and kernels.compiled is None:
        pytest.skip("the kernels were not built")
    mpmath.mp.dps = 50
    D = np.array([0.0, 1e-30, 1e-3, 0.7, 1.3, 1.3 + 1e-12, 2.0, 1e3, 1e6, 1e60])
    block, bandwidth = Block(np.sqrt(D)[:, None], None, Frame(np.zeros(1), 1.0)), 1.3
    V = np.zeros((1, 1))
    if compiled:
        T = centers.center_memberships(block, V, "rational", m, bandwidth)[:, 0]
        J = centers.center_rows(block, V, "rational", m, bandwidth)
    else:
        T, _, J = reference.rational_rule(reference.squared_distances(np.sqrt(D)[:, None], V), m, bandwidth)
        T = T[:, 0]
    for i, root in enumerate(np.sqrt(D)):
        d, power = mpmath.mpf(root) ** 2, 1 / (mpmath.mpf(m) - 1)
        t = 1 / (1 + (d / bandwidth) ** power)
        exact = d * t ** (mpmath.mpf(m) - 1)
        assert abs(J[i] - exact) <= 1e-14 * (1 + m) * exact
        assert abs(T[i] - t) <= max(1e-15 * (3 + abs(mpmath.log(t)) + power) * t, mpmath.mpf(10) ** -300)


distances = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(0, 1e100))


@property_test
@given(D=distances, m=st.sampled_from(EXPONENTS), b=st.sampled_from([1e-12, 1.0, 1e12]))
def test_rules_are_finite_and_in_range(D, m, b):
    bandwidth = np.full(D.shape[1], b)
    results = [
        reference.rational_rule(D, m, *bandwidth),
        reference.exponential_rule(D, *bandwidth),
        reference.pfcm_rule(D, 2.0, 1.0, 1.0, m, *bandwidth),
    ]
    for T, W, J in results:
        for result in (T, W, J):
            assert np.isfinite(result).all()
        assert np.all((T >= 0) & (T <= 1))
        assert np.all(W >= 0)
    for T, *_ in results[:2]:
        assert np.all(T[D == 0] == 1)


# Twins ----------------------------------------------------------------------------------------------------------------


def parameters_of(rule, m, rng, K, d):
    bandwidth = rng.uniform(0.2, 3, K) * d
    if rule == "fcm":
        return (m,)
    if rule == "rational":
        return (m, *bandwidth)
    if rule == "exponential":
        return tuple(bandwidth)
    return (2.0 if m == 2.0 else 1.4, *[(1.0, 1.0), (0.0, 2.0), (3.0, 0.0), (0.5, 0.1)][rng.randint(4)], m, *bandwidth)


SHAPES = [(n, d, K) for n in (1, 63, 64, 65) for d, K in ((1, 3), (2, 1), (5, 4), (17, 9))]
SHAPES += [(65, 257, 2), (65, 600, 5), (600, 3, 4)]


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("kind", ["dense64", "dense32", "csr64", "csr32"])
@pytest.mark.parametrize("rule", ["rational", "exponential", "pfcm", "fcm"])
@pytest.mark.parametrize("m", [1.2, 1.5, 2.0, 3.0, 20.0])
def test_compiled_rules(monkeypatch, kind, rule, m):
    dtype = np.float32 if kind.endswith("32") else np.float64
    # In float the distances are; a power of them multiplies the error.
    tolerance = 1e-5 * max(1, 0.5 / (m - 1), m / 10) if kind == "dense32" else 1e-11
    for i, (n, d, K) in enumerate(SHAPES):
        rng = np.random.RandomState(i)
        X = rng.normal(size=(n, d)) * 3 + 5
        weight = rng.uniform(0, 2, n) if i % 2 else None
        if kind.startswith("csr"):
            rows = sparse.csr_matrix(np.where(rng.uniform(size=(n, d)) < 0.3, X, 0).astype(dtype))
            block = Block(rows, weight, Frame(np.zeros(d), 0.5))
        else:
            block = Block(X.astype(dtype), weight, Frame(np.full(d, 5.25), 0.5))
        V = rng.normal(size=(K, d)).astype(dtype).astype(np.float64)
        V[0] = block.take([0])[0]
        arguments = block, V, rule, *parameters_of(rule, m, rng, K, d)

        def answers(arguments=arguments):
            statistics = centers.center_statistics(*arguments)
            scatter = centers.center_scatter(*arguments)
            return {
                "weight": statistics.weight,
                "total": statistics.total,
                "objective": np.float64(statistics.objective),
                "memberships": centers.center_memberships(*arguments),
                "rows": centers.center_rows(*arguments),
                "scattered weight": scatter.weight,
                "scatter": scatter.scatter,
            }

        found = answers()
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "compiled", None)
            expected = answers()
        assert found["memberships"].dtype == dtype
        for name, value in expected.items():
            rounding = 1e-6 if value.dtype == np.float32 else 0.0
            size = np.abs(value).max() + 1e-300
            np.testing.assert_allclose(found[name], value, rtol=0, atol=max(rounding, tolerance) * size, err_msg=name)
        np.testing.assert_allclose(found["scattered weight"], found["weight"], rtol=1e-12)


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("rule, first", [("rational", (1.001,)), ("exponential", ()), ("pfcm", (2.0, 1.0, 1.0, 1.001))])
def test_extreme_distances(rule, first, monkeypatch):
    """Rows on a prototype, rows at the edge of the coordinates, bandwidths at both ends."""
    X = np.array([[0.0, 0.0], [1e-140, 0.0], [1.0, 1.0], [1e50, 0.0], [1e90, -1e90]])
    block, V = Block(X, None, Frame(np.zeros(2), 1.0)), np.array([[0.0, 0.0], [1.0, 1.0], [1e80, 0.0]])
    for bandwidth in (1e-90, 1e-12, 1.0, 1e12, 1e90):
        arguments = block, V, rule, *first, *[bandwidth] * 3
        found = centers.center_memberships(*arguments), centers.center_rows(*arguments)
        statistics = centers.center_statistics(*arguments)
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "compiled", None)
            expected = centers.center_memberships(*arguments), centers.center_rows(*arguments)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-11, atol=1e-290)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-11)
        assert np.isfinite(statistics.total).all()


def test_center_scatter_by_definition():
    rng = np.random.RandomState(0)
    X, w, V = rng.normal(size=(40, 3)) + 4, rng.uniform(0, 2, 40), rng.normal(size=(2, 3))
    block = Block(X, w, Frame(np.full(3, 4.0), 2.0))
    Z = (X - 4) * 2
    weight, scatter = np.zeros(2), np.zeros(2)
    for i in range(40):
        D = [(Z[i] - v) @ (Z[i] - v) for v in V]
        for k in range(2):
            u = 1 / sum((D[k] / other) ** (1 / 0.7) for other in D)
            weight[k] += w[i] * u**1.7
            scatter[k] += w[i] * u**1.7 * D[k]
    for found in (
        centers.center_scatter(block, V, "fcm", 1.7),
        Scatter(*reference.center_scatter(block, V, "fcm", 1.7)),
    ):
        np.testing.assert_allclose(found.weight, weight, rtol=1e-13)
        np.testing.assert_allclose(found.scatter, scatter, rtol=1e-13)


def test_scatter_merges():
    merged = Scatter(np.array([1.0, 2.0]), np.array([3.0, 4.0])).merge(Scatter(np.array([10.0, 20.0]), np.zeros(2)))
    np.testing.assert_array_equal(merged.weight, [11, 22])
    np.testing.assert_array_equal(merged.scatter, [3, 4])


@needs_kernels
def test_threads_do_not_change_a_bit(monkeypatch):
    from threadpoolctl import threadpool_limits

    monkeypatch.setattr(kernels, "usable_cores", lambda: 3)
    rng = np.random.RandomState(0)
    block, V = Block(rng.normal(size=(20000, 8)), None, Frame(np.zeros(8), 1.0)), rng.normal(size=(5, 8))
    answers = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="openmp"):
            assert kernels.compiled.max_threads() == threads
            answers.append(centers.center_scatter(block, V, "pfcm", 1.5, 1.0, 2.0, 1.4, *np.arange(1.0, 6)))
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer.weight, answers[0].weight)
        np.testing.assert_array_equal(answer.scatter, answers[0].scatter)
