"""The NumPy kernels against plain definitions, what statistics do when merged, and how work is split."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import centers, reference
from soft_clustering.kernels.centers import CenterStatistics
from soft_clustering.kernels.gauss import GaussStatistics

property_test = settings(max_examples=100, deadline=None, derandomize=True)
distances = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(0, 1e100))


# Squared distances ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_squared_distances(container):
    rng = np.random.RandomState(0)
    Z, V = np.where(rng.uniform(size=(30, 7)) < 0.5, rng.normal(size=(30, 7)), 0), rng.normal(size=(4, 7))
    np.testing.assert_allclose(reference.squared_distances(container(Z), V), cdist(Z, V, "sqeuclidean"), rtol=1e-14)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_squared_distances_of_coinciding_points(container):
    Z = np.random.RandomState(0).normal(size=(30, 7)) * 1e3
    D = reference.squared_distances(container(Z), Z)
    np.testing.assert_array_equal(np.diag(D), np.zeros(30))
    assert np.all(D >= 0)
    # A centre at a relative distance of 1e-8: nothing of it is left in the expanded form.
    close = reference.squared_distances(container(Z), Z * (1 + 1e-8))
    np.testing.assert_allclose(np.diag(close), (Z * Z).sum(axis=1) * 1e-16, rtol=2e-7)


# The rule of fuzzy c-means --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1.1, 1.5, 1.7, 2.0, 3.0, 20.0])
def test_fcm_rule_by_definition(m):
    D = np.random.RandomState(0).uniform(0.1, 5, (40, 4))
    U, W, J = reference.fcm_rule(D, m)
    expected = D ** (-1 / (m - 1))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(U, expected, rtol=1e-13)
    np.testing.assert_allclose(W, expected**m, rtol=1e-13)
    np.testing.assert_allclose(J, (expected**m * D).sum(axis=1), rtol=1e-13)


@property_test
@given(D=distances, m=st.sampled_from([1.001, 1.01, 1.5, 1.7, 2.0, 50.0]))
def test_fcm_rule_is_always_a_partition(D, m):
    U, W, J = reference.fcm_rule(D, m)
    for result in (U, W, J):
        assert np.isfinite(result).all()
        assert np.all(result >= 0)
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)
    assert np.all(D.min(axis=1) >= J)
    # Nearer means more, equally near means the same.
    for u, d in zip(U, D, strict=True):
        order = np.argsort(d, kind="stable")
        assert np.all(np.diff(u[order]) <= 0)
        assert np.all(u[d == d.min()] == u.max())


@pytest.mark.parametrize("m", [1.001, 1.5, 1.7, 2.0, 50.0])
def test_fcm_rule_on_a_prototype(m):
    U, W, J = reference.fcm_rule(np.array([[0.0, 2.0, 3.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]), m)
    np.testing.assert_array_equal(U, [[1, 0, 0], [0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(W, U**m, rtol=1e-13)
    np.testing.assert_array_equal(J, 0)


@pytest.mark.parametrize("m", [1.001, 1.7, 50.0])
def test_fcm_rule_to_the_last_digits(m):
    mpmath.mp.dps = 50
    D = np.array([[1e-3, 7.0, 0.4], [1e80, 1e-80, 3.0], [2.0, 2.0 + 1e-9, 1e3]])
    U, W, J = reference.fcm_rule(D, m)
    power = 1 / (mpmath.mpf(m) - 1)
    for i in range(3):
        ratios = [mpmath.mpf(d) ** -power for d in D[i]]
        objective = sum(ratios) ** (1 - mpmath.mpf(m))
        assert abs(J[i] / objective - 1) < 1e-15 * (1 + m)
        for k in range(3):
            u = ratios[k] / sum(ratios)
            for found, exact in ((U[i, k], u), (W[i, k], u ** mpmath.mpf(m))):
                if exact > 1e-290:
                    # Errors of a base and of an exponent, as the power multiplies them.
                    assert abs(found / exact - 1) < 1e-15 * (3 + abs(mpmath.log(exact)) + power + m)
                else:
                    assert found < 1e-280


# Gaussian components --------------------------------------------------------------------------------------------------


def mixture(rng, K, d):
    """Means, covariances, weights, and their factors and constants."""
    means, weights = rng.normal(size=(K, d)), rng.dirichlet(np.ones(K))
    A = rng.normal(size=(K, d, d))
    covariances = A @ A.transpose(0, 2, 1) + np.eye(d)
    factors = np.stack([np.linalg.inv(np.linalg.cholesky(c)) for c in covariances])
    logdet = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    return means, covariances, weights, factors, np.log(weights) + logdet - 0.5 * d * np.log(2 * np.pi)


def test_full_densities():
    rng = np.random.RandomState(0)
    Z = rng.normal(size=(50, 3))
    means, covariances, weights, factors, constants = mixture(rng, 4, 3)
    expected = np.stack(
        [np.log(w) + multivariate_normal(v, c).logpdf(Z) for w, v, c in zip(weights, means, covariances, strict=True)],
        axis=1,
    )
    D = reference.log_densities(Z, means, factors, constants, True)
    np.testing.assert_allclose(D, expected, rtol=1e-14)
    R, rows = reference.posteriors(D)
    np.testing.assert_allclose(rows, logsumexp(expected, axis=1), rtol=1e-14)
    np.testing.assert_allclose(R, np.exp(expected - logsumexp(expected, axis=1)[:, None]), rtol=0, atol=1e-14)


def test_diagonal_densities_are_full_ones():
    rng = np.random.RandomState(0)
    Z, means, constants = rng.normal(size=(20, 3)), rng.normal(size=(2, 3)), rng.normal(size=2)
    scales = rng.uniform(0.5, 2, (2, 3))
    full = reference.log_densities(Z, means, np.stack([np.diag(s) for s in scales]), constants, True)
    np.testing.assert_allclose(reference.log_densities(Z, means, scales, constants, False), full, rtol=1e-15)


def test_posteriors_far_from_everything():
    R, rows = reference.posteriors(np.array([[-1e5, -1e5 - 1, -1e300], [0.0, -2000.0, -1.0]]))
    np.testing.assert_allclose(R[0], [1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0], rtol=1e-15)
    np.testing.assert_allclose(rows, [-1e5 + np.log1p(np.exp(-1)), np.log1p(np.exp(-1))], rtol=1e-15)
    assert R[1, 1] == 0


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("given_memberships", [True, False])
def test_gauss_statistics_by_definition(full, given_memberships):
    rng = np.random.RandomState(0)
    X, w = rng.normal(size=(40, 3)) + 4, rng.uniform(0, 2, 40)
    block = Block(X, w, Frame(np.full(3, 4.0), 2.0))
    Z = (X - 4) * 2
    means, _, _, factors, constants = mixture(rng, 2, 3)
    factors = factors if full else np.diagonal(factors, axis1=1, axis2=2)
    D = reference.log_densities(Z, means, factors, constants, full)
    R, rows = reference.posteriors(D)
    if given_memberships:
        R, rows = rng.dirichlet(np.ones(2), 40), np.zeros(40)
        found = reference.gauss_statistics(block, means, None, None, full, R, "posterior")
    else:
        found = reference.gauss_statistics(block, means, factors, constants, full, None, "posterior")
    weight, first, second = np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3, 3))
    for i in range(40):
        for k in range(2):
            c = Z[i] - means[k]
            weight[k] += w[i] * R[i, k]
            first[k] += w[i] * R[i, k] * c
            second[k] += w[i] * R[i, k] * np.outer(c, c)
    np.testing.assert_allclose(found[0], weight, rtol=1e-14)
    np.testing.assert_allclose(found[1], first, rtol=0, atol=3e-13)
    np.testing.assert_allclose(found[2], second if full else np.diagonal(second, axis1=1, axis2=2), rtol=0, atol=1e-12)
    assert found[3] == pytest.approx(w @ rows, rel=1e-14)


# Seeding --------------------------------------------------------------------------------------------------------------


def greedy(X, weight, order, uniforms):
    """Greedy k-means++ by the definition: candidates by inversion along the order, the best of them is taken."""
    chosen = []
    for k, row in enumerate(uniforms):
        closest = cdist(X, X[chosen], "sqeuclidean").min(axis=1) if k else np.ones(len(X))
        mass = weight * closest if closest.any() else weight
        steps = np.cumsum(mass[order])
        candidates = [order[np.flatnonzero(steps > u * steps[-1])[0]] for u in (row if k else row[:1])]
        left = [weight @ np.minimum(closest, cdist(X, X[[c]], "sqeuclidean")[:, 0]) for c in candidates]
        chosen.append(candidates[int(np.argmin(left))] if k else candidates[0])
    return chosen


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [True, False])
def test_seed_by_definition(monkeypatch, compiled, container, weighted):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    rng = np.random.RandomState(0)
    X = rng.normal(size=(90, 3))
    weight = rng.uniform(0.1, 2, 90) if weighted else None
    block = Block(container(X), weight, Frame(np.zeros(3), 1.0))
    for _ in range(20):
        uniforms = rng.uniform(size=(7, 3))
        chosen = greedy(X, np.ones(90) if weight is None else weight, block.order, uniforms)
        np.testing.assert_array_equal(centers.seed(block, block.order, uniforms), X[chosen])


@pytest.mark.parametrize("compiled", [True, False])
def test_seed_where_all_rows_are_covered(monkeypatch, compiled):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    X = np.array([[0.0], [0.0], [4.0], [4.0]])
    block = Block(X, np.array([1.0, 1.0, 1.0, 5.0]), Frame(np.zeros(1), 1.0))
    # 0 first, then 4; the third by weight alone: 2 of 8 are at 0
    for last, expected in ((0.1, 0.0), (0.24, 0.0), (0.26, 4.0), (0.9, 4.0)):
        uniforms = np.array([[0.0, 0.0], [0.5, 0.5], [last, last]])
        np.testing.assert_array_equal(centers.seed(block, block.order, uniforms), [[0.0], [4.0], [expected]])


@pytest.mark.parametrize("compiled", [True, False])
def test_seed_draws_no_row_without_mass(monkeypatch, compiled):
    """Where a uniform falls exactly on a step of the distribution function, the row after it is drawn."""
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    block = Block(X, None, Frame(np.zeros(1), 1.0))
    for u, expected in ((0.0, 0.0), (0.25, 1.0), (0.5, 2.0), (0.75, 3.0)):
        np.testing.assert_array_equal(centers.seed(block, np.arange(4), np.full((1, 2), u)), [[expected]])
    # The centre 0 has no mass any more, and is first in the order.
    np.testing.assert_array_equal(centers.seed(block, np.arange(4), np.zeros((2, 1))), [[0.0], [1.0]])


def test_draw():
    mass, order = np.array([0.0, 1.0, 0.0, 3.0]), np.array([2, 3, 0, 1])
    np.testing.assert_array_equal(reference.draw(mass, order, np.array([0.0, 0.74, 0.75, 0.99])), [3, 3, 1, 1])


# Merging --------------------------------------------------------------------------------------------------------------


def test_center_statistics_merge():
    row, other_row = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    a = CenterStatistics(np.array([1.0, 2.0]), np.ones((2, 2)), 5.0, 0.7, row)
    b = CenterStatistics(np.array([3.0, 1.0]), np.full((2, 2), 2.0), 6.0, 0.9, other_row)
    for one, two in ((a, b), (b, a)):
        merged = one.merge(two)
        np.testing.assert_array_equal(merged.weight, [4, 3])
        np.testing.assert_array_equal(merged.total, np.full((2, 2), 3.0))
        assert merged.objective == 11
        assert merged.worst == 0.9
        assert merged.worst_row is other_row
    np.testing.assert_array_equal(a.weight, [1, 2])
    assert a.merge(a._replace(worst_row=other_row)).worst_row is row  # of equals the first


def test_gauss_statistics_merge():
    a = GaussStatistics(np.array([1.0]), np.array([[2.0]]), np.array([[[3.0]]]), 4.0)
    b = GaussStatistics(np.array([10.0]), np.array([[20.0]]), np.array([[[30.0]]]), 40.0)
    assert a.merge(b).seen is None
    merged = a._replace(seen=np.array([[5.0]])).merge(b._replace(seen=np.array([[50.0]])))
    assert [np.asarray(value).item() for value in merged] == [11, 22, 33, 44, 55]


# The grid -------------------------------------------------------------------------------------------------------------


def block_of(n, d):
    return Block(np.broadcast_to(0.0, (n, d)), None, Frame(np.zeros(d), 1.0))


@pytest.fixture
def many_cores(monkeypatch):
    """More threads than any chunk number, so that the grid decides."""
    monkeypatch.setattr(kernels, "compiled", type("Compiled", (), {"max_threads": staticmethod(lambda: 1000)}))
    monkeypatch.setattr(kernels, "usable_cores", lambda: 1000)


@pytest.mark.usefixtures("many_cores")
@pytest.mark.parametrize(
    "n, d, K, width, chunks",
    [
        (100, 2, 3, 6, 1),
        (511, 10**4, 10, 10, 1),
        (512, 2, 3, 6, 2),
        (256 * 63, 2, 3, 6, 63),
        (10**7, 2, 3, 6, 64),
        (10**7, 2, 3, 1 << 18, 16),  # a chunk's result is large
        (10**7, 2, 3, 1 << 30, 4),
    ],
)
def test_chunks(n, d, K, width, chunks):
    assert kernels.row_grid(block_of(n, d), K, width)[0] == chunks


@pytest.mark.usefixtures("many_cores")
def test_small_work_has_one_thread():
    assert kernels.row_grid(block_of(1024, 2), 3, 6) == (4, 1)
    assert kernels.row_grid(block_of(1024, 100), 10, 6) == (4, 4)


def test_chunks_do_not_depend_on_the_threads(monkeypatch):
    grids = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(kernels, "compiled", type("C", (), {"max_threads": staticmethod(lambda t=threads: t)}))
        monkeypatch.setattr(kernels, "usable_cores", lambda: 4)
        grids.append(kernels.row_grid(block_of(10**5, 10), 10, 100))
    assert grids == [(64, 1), (64, 2), (64, 4)]  # at most the usable cores


def testusable_cores():
    assert kernels.usable_cores() >= 1


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_every_rule_has_a_twin():
    assert set(kernels.compiled.RULES) == set(reference.RULES)
    assert set(kernels.compiled.GAUSS_RULES) == set(reference.GAUSS_RULES)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_vector_bytes():
    widest = kernels.compiled.vector_bytes()
    assert widest in (8, 16, 32, 64)
    for limit in (16, 32):
        assert kernels.compiled.vector_bytes(limit) == min(widest, limit)
    assert kernels.compiled.vector_bytes(0) == widest
