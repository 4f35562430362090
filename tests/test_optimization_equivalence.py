"""The compiled kernels against their NumPy twins, and accelerated fits against plain ones."""

import itertools
import warnings

import mpmath
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from soft_clustering import FCM, kernels
from soft_clustering.engine import acceleration
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import centers, gauss

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")

ROWS = (1, 63, 64, 65, 1000)
FEATURES = (1, 2, 3, 5, 17, 257, 600)
CLUSTERS = (*range(1, 10), 13)
FUZZIFIERS = (2.0, 1.5, 1.7, 1.001, 50.0)
# Every n with every d, and every K with each of them in turn.
SHAPES = [(n, d, CLUSTERS[i % len(CLUSTERS)]) for i, (n, d) in enumerate(itertools.product(ROWS, FEATURES))]
SHAPES += [(65, d, K) for d in (1, 5, 257) for K in CLUSTERS] + [(1000, 3, K) for K in CLUSTERS]
KINDS = ("dense64", "dense32", "csr64", "csr32")


def make_block(rng, n, d, kind, weighted):
    """Rows about 5 with shift and scale; CSR ones with about a third of the entries."""
    dtype = np.float32 if kind.endswith("32") else np.float64
    X = rng.normal(size=(n, d)) * 3 + 5
    weight = rng.uniform(0, 2, n) if weighted else None
    if kind.startswith("csr"):
        X = sparse.csr_matrix(np.where(rng.uniform(size=(n, d)) < 0.3, X, 0).astype(dtype))
        return Block(X, weight, Frame(np.zeros(d), 0.5))
    return Block(X.astype(dtype), weight, Frame(np.full(d, 5.25), 0.5))


def centers_for(block, K, rng):
    """K centres in the coordinates of the frame, the first one on a row."""
    V = rng.normal(size=(K, block.d)).astype(block.X.dtype).astype(np.float64)
    V[0] = block.take([0])[0]
    return V


def close(found, expected, tolerance):
    """Equal up to the tolerance, relative to the largest entry."""
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)


def center_tolerance(kind, m):
    """Relative error of weights, totals and memberships: that of the distances times the power 1 / (m - 1) or m."""
    power = max(m, 1 / (m - 1))
    if kind == "dense32":
        return max(1e-5, 2e-6 * power)
    if kind == "dense64":
        return max(1e-13, 1e-14 * power)
    # CSR distances come from the expanded form, which loses digits where a row is close to a centre; u^m shows it.
    return 1e-9 if m > 10 else max(3e-13, 1e-14 * power)


# Centres --------------------------------------------------------------------------------------------------------------


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("m", FUZZIFIERS)
@pytest.mark.parametrize("kind", KINDS)
def test_center_kernels(kind, m, twin):
    tolerance = center_tolerance(kind, m)
    for i, (n, d, K) in enumerate(SHAPES):
        rng = np.random.RandomState(i)
        block = make_block(rng, n, d, kind, weighted=i % 2 == 0)
        V = centers_for(block, K, rng)
        found = centers.center_statistics(block, V, "fcm", m)
        expected = twin(centers.center_statistics, block, V, "fcm", m)
        full = expected.weight >= kernels.EMPTY
        np.testing.assert_array_equal(found.weight >= kernels.EMPTY, full)
        np.testing.assert_allclose(found.weight[full], expected.weight[full], rtol=tolerance)
        found_centers, expected_centers = (s.total[full] / s.weight[full, None] for s in (found, expected))
        np.testing.assert_allclose(found_centers, expected_centers, rtol=0, atol=tolerance)
        # The objective of a row is about the smallest of its distances: no power of it.
        objective = 1e-5 if kind == "dense32" else 3e-13
        assert found.objective == pytest.approx(expected.objective, rel=objective, abs=1e-300)
        assert found.worst == pytest.approx(expected.worst, rel=objective, abs=1e-300)
        assert (found.worst_row is None) == (expected.worst_row is None)
        if found.worst_row is not None:
            np.testing.assert_array_equal(found.worst_row, expected.worst_row)
        memberships = centers.center_memberships(block, V, "fcm", m)
        assert memberships.dtype == block.X.dtype
        np.testing.assert_array_equal(memberships[0], np.eye(K)[0])  # the first row is on the first centre
        close(memberships, twin(centers.center_memberships, block, V, "fcm", m), tolerance)


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("kind", KINDS)
def test_seeding_kernel(kind, twin):
    """The same uniforms draw the same rows; where all rows are covered, too."""
    for i, (n, d, K) in enumerate(SHAPES):
        rng = np.random.RandomState(i)
        block = make_block(rng, n, d, kind, weighted=i % 2 == 0)
        uniforms = rng.uniform(size=(K, 2 + i % 4))
        found, expected = (call(centers.seed, block, block.order, uniforms) for call in (run, twin))
        assert found.shape == (K, d)
        np.testing.assert_array_equal(found, expected)


def run(kernel, *arguments, **keywords):
    return kernel(*arguments, **keywords)


@needs_kernels
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_index_types_do_not_change_a_bit(index, dtype):
    rng = np.random.RandomState(0)
    X = sparse.random(200, 30, 0.2, "csr", dtype=dtype, random_state=0)
    V = rng.normal(size=(4, 30))
    expected = centers.center_statistics(Block(X, None, Frame(np.zeros(30), 2.0)), V, "fcm", 1.7)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    found = centers.center_statistics(Block(X, None, Frame(np.zeros(30), 2.0)), V, "fcm", 1.7)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@needs_kernels
def test_empty_rows_of_a_sparse_matrix(twin):
    X = sparse.csr_matrix((70, 3))
    block, V = Block(X, None, Frame(np.zeros(3), 1.0)), np.array([[1.0, 0, 0], [0, 2, 0]])
    found, expected = (call(centers.center_statistics, block, V, "fcm", 2.0) for call in (run, twin))
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-14)
    np.testing.assert_array_equal(found.total, np.zeros((2, 3)))
    assert found.objective == pytest.approx(70 * 0.8, rel=1e-14, abs=0)


# Gaussian components --------------------------------------------------------------------------------------------------


GAUSS_SHAPES = [
    (n, d, CLUSTERS[i % len(CLUSTERS)]) for i, (n, d) in enumerate(itertools.product(ROWS, (1, 2, 3, 5, 17)))
]
GAUSS_SHAPES += [(65, d, K) for d in (1, 5, 6, 7) for K in CLUSTERS] + [(65, 257, 2), (100, 70, 5)]


def components(rng, K, d, full):
    """Means, inverse Cholesky factors or inverse standard deviations, constants."""
    factors = np.tril(rng.normal(size=(K, d, d))) / np.sqrt(d) if full else rng.uniform(0.5, 2, (K, d)) / np.sqrt(d)
    return rng.normal(size=(K, d)), factors, rng.normal(size=K)


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("kind", ["dense64", "dense32"])
@pytest.mark.parametrize("full", [True, False])
def test_gauss_kernels(kind, full, twin):
    for i, (n, d, K) in enumerate(GAUSS_SHAPES):
        rng = np.random.RandomState(i)
        block = make_block(rng, n, d, kind, weighted=i % 2 == 0)
        means, factors, constants = components(rng, K, d, full)
        found, expected = (
            call(gauss.gauss_statistics, block, means, factors, constants, full=full) for call in (run, twin)
        )
        assert found.seen is None and expected.seen is None
        for a, b in zip(found[:-1], expected[:-1], strict=True):
            close(a, b, 1e-13)
        (U, rows), (U_twin, rows_twin) = (
            call(gauss.gauss_memberships, block, means, factors, constants, full=full) for call in (run, twin)
        )
        assert U.dtype == block.X.dtype
        # The arithmetic is in double for both types: a float result differs by one rounding at most.
        np.testing.assert_allclose(U, U_twin, rtol=0, atol=3e-13 if kind == "dense64" else 6e-8)
        close(rows, rows_twin, 4e-14)


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("kind", ["dense64", "dense32"])
@pytest.mark.parametrize("full", [True, False])
def test_gauss_kernels_with_given_memberships(kind, full, twin):
    for i, (n, d, K) in enumerate(GAUSS_SHAPES):
        rng = np.random.RandomState(i)
        block = make_block(rng, n, d, kind, weighted=i % 2 == 0)
        means, memberships = rng.normal(size=(K, d)), rng.dirichlet(np.ones(K), n)
        memberships[:, 0] = i % 3 > 0  # sometimes a component that nobody belongs to
        found, expected = (
            call(gauss.gauss_statistics, block, means, None, None, full=full, memberships=memberships)
            for call in (run, twin)
        )
        for a, b in zip(found[:-1], expected[:-1], strict=True):
            close(a, b, 2e-14)
        assert found.objective == 0


# Chunks and threads ---------------------------------------------------------------------------------------------------


def results_on_grid(monkeypatch, block, chunks, threads):
    """What every kernel gives for a number of chunks and threads."""
    monkeypatch.setattr(kernels, "row_grid", lambda block, K, width: (chunks, threads))
    rng = np.random.RandomState(1)
    V = rng.normal(size=(5, block.d))
    far = np.vstack([V[:4], np.full((1, block.d), 1e5)])
    results = [
        *centers.center_statistics(block, V, "fcm", 1.7)[:4],
        # the weight of a centre underflows: the worst row is given
        *centers.center_statistics(block, far, "fcm", 1.02)[:5],
        centers.center_memberships(block, V, "fcm", 1.7),
        centers.seed(block, block.order, rng.uniform(size=(9, 4))),
    ]
    if not sparse.issparse(block.X):
        for full in (True, False):
            means, factors, constants = components(rng, 5, block.d, full)
            results += gauss.gauss_statistics(block, means, factors, constants, full=full)[:-1]
            results += gauss.gauss_memberships(block, means, factors, constants, full=full)
    return results


@needs_kernels
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n, chunks", [(1000, 1), (1000, 3), (1000, 16), (4321, 64), (10, 4)])
def test_threads_do_not_change_a_bit(monkeypatch, kind, n, chunks):
    block = make_block(np.random.RandomState(0), n, 6, kind, weighted=True)
    expected = results_on_grid(monkeypatch, block, chunks, 1)
    for threads in (2, 3, 8):
        for a, b in zip(results_on_grid(monkeypatch, block, chunks, threads), expected, strict=True):
            np.testing.assert_array_equal(a, b)


@needs_kernels
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n, chunks", [(1, 2), (63, 4), (65, 2), (1000, 7), (1000, 16), (4321, 64)])
def test_chunks_change_only_the_rounding(monkeypatch, kind, n, chunks):
    block = make_block(np.random.RandomState(0), n, 6, kind, weighted=True)
    split, whole = (results_on_grid(monkeypatch, block, number, 1) for number in (chunks, 1))
    for a, b in zip(split, whole, strict=True):
        if np.ndim(a) and len(a) == n:
            np.testing.assert_array_equal(a, b)  # one result per row
        else:
            close(a, b, 3e-14)


# Accuracy of the power ------------------------------------------------------------------------------------------------


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("m", [1.7, 1.05, 9.0])
def test_power_is_accurate(m):
    """The memberships of points on a line with two centres, to the last digits, over the range of a double."""
    mpmath.mp.dps = 40
    power = 1 / (mpmath.mpf(m) - 1)
    x = np.concatenate([10.0 ** -np.arange(1, 140, 7), np.linspace(0.05, 0.95, 37)])
    block = Block(x[:, None], None, Frame(np.zeros(1), 1.0))
    found = centers.center_memberships(block, np.array([[0.0], [1.0]]), "fcm", m)
    for value, memberships in zip(x, found, strict=True):
        near, far = mpmath.mpf(value) ** 2, (1 - mpmath.mpf(value)) ** 2
        smaller = min(near, far) / max(near, far)
        low = smaller**power / (1 + smaller**power)
        exact = (1 - low, low) if near < far else (low, 1 - low)
        for k in range(2):
            if exact[k] < 1e-300:
                assert memberships[k] < 1e-300
                continue
            # The roundings of the ratio and of its logarithm, multiplied by the power.
            size = 1 + (1 + abs(mpmath.log(smaller))) * power
            assert abs(memberships[k] / exact[k] - 1) < 4e-16 * size


@needs_kernels
@pytest.mark.usefixtures("vectors")
def test_likelihood_is_accurate():
    """Log likelihoods of two unit Gaussians on a line: log and exp of the kernels against 40 digits."""
    mpmath.mp.dps = 40
    x = np.linspace(-30, 30, 241)
    block = Block(x[:, None], None, Frame(np.zeros(1), 1.0))
    means, factors, constants = np.array([[-1.0], [2.5]]), np.ones((2, 1)), np.log([0.3, 0.7])
    memberships, rows = gauss.gauss_memberships(block, means, factors, constants, full=False)
    for i, value in enumerate(x):
        parts = [
            mpmath.mpf(c) - (mpmath.mpf(value) - mpmath.mpf(v)) ** 2 / 2
            for c, v in zip(constants, means[:, 0], strict=True)
        ]
        total = mpmath.log(mpmath.exp(parts[0]) + mpmath.exp(parts[1]))
        assert abs(rows[i] - total) <= 1e-15 * max(1, abs(total))
        for k in range(2):
            share = mpmath.exp(parts[k] - total)
            # An exponent of size e is known to e half-digits.
            assert abs(memberships[i, k] - share) <= 2e-16 * share * (2 + max(abs(part) for part in parts))


# Whole fits -----------------------------------------------------------------------------------------------------------


@needs_kernels
@pytest.mark.parametrize("m", [1.001, 1.7, 2.0])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_fit_with_the_twins(monkeypatch, m, container):
    X, _ = make_blobs(700, 5, centers=4, cluster_std=3, random_state=0)
    weight = np.random.RandomState(0).uniform(0, 2, 700)
    compiled = FCM(4, m=m, n_init=1, random_state=0).fit(container(X), sample_weight=weight)
    monkeypatch.setattr(kernels, "compiled", None)
    numpy = FCM(4, m=m, n_init=1, random_state=0).fit(container(X), sample_weight=weight)
    assert numpy.n_iter_ == compiled.n_iter_
    np.testing.assert_allclose(numpy.memberships_, compiled.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(numpy.centers_, compiled.centers_, rtol=4e-12)
    np.testing.assert_allclose(numpy.objective_history_, compiled.objective_history_, rtol=1e-12)
    np.testing.assert_allclose(numpy.predict_memberships(container(X)), compiled.memberships_, rtol=0, atol=1e-12)


@needs_kernels
def test_fit_with_the_twins_in_float32(monkeypatch):
    X = load_iris().data.astype(np.float32)
    compiled = FCM(3, init=X[[0, 60, 120]], accelerate=False).fit(X)
    monkeypatch.setattr(kernels, "compiled", None)
    numpy = FCM(3, init=X[[0, 60, 120]], accelerate=False).fit(X)
    assert numpy.memberships_.dtype == np.float32
    np.testing.assert_allclose(numpy.memberships_, compiled.memberships_, rtol=0, atol=4e-6)


@needs_kernels
def test_reseeding_with_the_twins(monkeypatch):
    X = np.array([[0.0], [1.0], [10.0], [11.0], [13.0]])
    monkeypatch.setattr(kernels, "compiled", None)
    model = FCM(3, m=1.02, init=[[0.5], [10.5], [1e7]]).fit(X)
    np.testing.assert_allclose(model.centers_, [[0.5], [10.5], [13.0]], rtol=1e-14)


# Acceleration ---------------------------------------------------------------------------------------------------------


def slow_sets():
    """Data, number of clusters, by how much acceleration shortens the loop at least."""
    yield "iris", load_iris().data, 3, 1.4
    yield "wine", load_wine().data, 3, 2.0
    yield "breast cancer", load_breast_cancer().data, 2, 1.6
    yield "blobs", make_blobs(1000, 2, centers=5, random_state=42)[0], 5, 1.5
    yield "moons", make_moons(1000, noise=0.05, random_state=42)[0], 2, 1.2
    yield "circles", make_circles(1000, factor=0.5, noise=0.05, random_state=42)[0], 2, 20.0
    yield "varied", make_blobs(1500, 2, centers=4, cluster_std=[1, 2.5, 0.5, 3], random_state=42)[0], 4, 1.1
    yield "overlapping", make_blobs(3000, 8, centers=3, cluster_std=6, random_state=42)[0], 3, 2.5


@pytest.mark.parametrize("name, X, K, factor", [pytest.param(*row, id=row[0]) for row in slow_sets()])
def test_acceleration_reaches_the_same_optimum_sooner(monkeypatch, name, X, K, factor):
    monkeypatch.setattr(acceleration, "_CHEAP_PASS", 0)  # accelerate small data, too
    plain_passes = fast_passes = 0
    for seed in range(3):
        start = X[np.random.RandomState(seed).choice(len(X), K, replace=False)]
        options = {"m": 2, "init": start, "tol": 1e-6, "max_iter": 5000}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            plain = FCM(K, accelerate=False, **options).fit(X)
            fast = FCM(K, **options).fit(X)
        assert plain.converged_
        assert fast.converged_
        assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        plain_passes += plain.n_iter_
        fast_passes += fast.n_iter_
    assert plain_passes >= factor * fast_passes


def test_acceleration_from_the_default_starts():
    X = make_circles(1000, factor=0.5, noise=0.05, random_state=42)[0]
    for seed in range(3):
        plain, fast = (
            FCM(2, m=2, n_init=1, tol=1e-6, max_iter=5000, accelerate=on, random_state=seed).fit(X)
            for on in (False, True)
        )
        assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        assert fast.n_iter_ < plain.n_iter_ / 2


def test_acceleration_with_many_clusters():
    X = scale(load_breast_cancer().data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain, fast = (
            FCM(8, m=2, n_init=1, tol=1e-6, max_iter=5000, accelerate=on, random_state=0).fit(X) for on in (False, True)
        )
    assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert fast.n_iter_ < plain.n_iter_ / 4
