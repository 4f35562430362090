"""Kernel fuzzy c-means, the nearest prototype, balls and unsquared distances: twins, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame, Sphere, make_blocks
from soft_clustering.engine.initialisation import kmeans
from soft_clustering.kernels import centers, reference

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not compiled")
RULES = [
    *[("kernel", 2.0, 0.3), ("kernel", 1.4, 5.0), ("kernel", 2.5, 1e-6), ("nearest",)],
    *[("ball", 2.0, 1.2), ("ball", 1.3, 2.5), ("ball", 2.0, 1e150)],
    *[("sparse", 0.3, 1e-3), ("sparse", 1e-5, 1e-3), ("sparse", 50.0, 0.8), ("pull", 0.3, 1e-3)],
    ("sets", 2.0, 3.0, 1.0, 1.0, 1.0, 4.0, 0.0, 0.0, 0.0, 1.0),
    ("sets", 1.5, np.inf, 1.0, 1.0, 4.0, 1.0, 0.0, 1e-9, 2.0, 0.0),
    ("rough", 1.5, 0.0, 1.0, 0.0),
    ("rough", 1.0, 0.3, 1.0, 1.0),
    ("softmax", 0.5, 0.0, 2.0, 30.0, -1.0, 0.0, -690.0, 3.0),
]


def rows_of(X, dtype, as_csr):
    return sparse.csr_array(X.astype(dtype)) if as_csr else X.astype(dtype)


def block_of(X, weight=None):
    return Block(X, weight, Frame(np.zeros(X.shape[1]), 1.0))


@needs_kernels
@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-12), (np.float32, 2e-5)])
@pytest.mark.parametrize("as_csr", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_twins(rule, as_csr, dtype, rtol):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 5)).astype(dtype)
    X[rng.uniform(size=X.shape) < 0.3] = 0
    V = rng.normal(size=(4, 5)).astype(dtype).astype(np.float64)
    V[0] = X[0]
    if rule[0] == "rough":
        V[2:] = V[:2]  # it wants each centre twice
    weight = rng.uniform(0.5, 2, len(X))
    block = block_of(rows_of(X, dtype, as_csr), weight)
    expected = reference.center_statistics(block, V, *rule)
    found = centers.center_statistics(block, V, *rule)
    for got, want in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())
    U = centers.center_memberships(block, V, *rule)
    assert U.dtype == dtype
    np.testing.assert_allclose(U, reference.memberships_and_noise(block, V, *rule)[0], rtol=0, atol=rtol)


def test_softmax_rule():
    rng = np.random.default_rng(2)
    X, V, rate, share = rng.normal(size=(100, 3)), rng.normal(size=(4, 3)), rng.uniform(0, 3, 4), rng.normal(size=4)
    parts = np.exp(share - rate * cdist(X, V, "sqeuclidean"))
    expected = parts / parts.sum(axis=1, keepdims=True)
    U = centers.center_memberships(block_of(X), V, "softmax", *rate, *share)
    np.testing.assert_allclose(U, expected, rtol=1e-12)
    rows = centers.center_rows(block_of(X), V, "softmax", *rate, *share)
    np.testing.assert_allclose(rows, -np.log(parts.sum(axis=1)), rtol=1e-12)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-12), (np.float32, 2e-5)])
@pytest.mark.parametrize("as_csr", [False, True])
@pytest.mark.parametrize("d", [5, 700])
def test_rows_on_the_sphere(monkeypatch, compiled, as_csr, dtype, rtol, d):
    """Every kernel for prototypes sees the rows divided by their lengths."""
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(130, d)) * 10.0 ** rng.uniform(-30, 30, (130, 1))
    X[rng.uniform(size=X.shape) < 0.3] = 0
    X[7], X[9] = 0, X[8] * 3
    X = X.astype(dtype)
    lengths = np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
    unit = X / np.where(lengths > 0, lengths, 1)
    V = np.vstack([unit[0], unit[20], rng.normal(size=d) / np.sqrt(d)]).astype(dtype).astype(np.float64)
    weight = rng.uniform(0.5, 2, 130)
    block = Block(rows_of(X, dtype, as_csr), weight, Sphere(np.zeros(d), 1.0))
    D = cdist(unit, V, "sqeuclidean")
    np.testing.assert_allclose(centers.center_distances(block, V), D, rtol=rtol, atol=rtol)
    found = centers.center_statistics(block, V, "entropy", 0.5, 0.0, 0.0, 0.0)
    U = np.exp(-2 * D) / np.exp(-2 * D).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        centers.center_memberships(block, V, "entropy", 0.5, 0.0, 0.0, 0.0), U, rtol=0, atol=rtol
    )
    np.testing.assert_allclose(found.weight, weight @ U, rtol=rtol)
    np.testing.assert_allclose(found.total, (U * weight[:, None]).T @ unit, rtol=rtol, atol=130 * rtol)
    np.testing.assert_allclose(block.take([3, 7]), unit[[3, 7]], rtol=rtol)
    seeds = centers.seed(block, np.arange(130), rng.uniform(size=(4, 3)))
    assert cdist(seeds, unit).min(axis=1).max() <= rtol


def test_kernel_rule_keeps_small_distances():
    """1 - exp(-x) by its series where x is small; by the difference it would have no digit left."""
    x = np.array([1e-300, 1e-20, 1e-12, 1e-5, 0.3, 0.36, 1.0, 30.0, 709.0, 1e10])
    found = centers.center_rows(block_of(np.sqrt(x)[:, None]), np.zeros((1, 1)), "kernel", 2.0, 1.0)
    np.testing.assert_allclose(found, -np.expm1(-x), rtol=1e-14)


def test_kernel_rule_far_from_everything():
    block = block_of(np.array([[1e6, 0.0], [0.0, 0.0]]))
    V = np.array([[0.0, 1.0], [1.0, 3.0]])
    U = centers.center_memberships(block, V, "kernel", 2.0, 1.0)
    np.testing.assert_allclose(U[0], 0.5)
    statistics = centers.center_statistics(block, V, "kernel", 2.0, 1.0)
    np.testing.assert_allclose(statistics.total, 0, atol=1e-300)
    np.testing.assert_allclose(statistics.weight, U[1] ** 2 * np.exp(-np.array([1.0, 10.0])), rtol=1e-12)


def test_nearest_rule():
    rng = np.random.default_rng(1)
    X, V = rng.normal(size=(300, 3)), rng.normal(size=(6, 3))
    V[4] = V[2]  # of two equal ones the first
    D = cdist(X, V, "sqeuclidean")
    U = centers.center_memberships(block_of(X), V, "nearest")
    np.testing.assert_array_equal(U, np.eye(6)[D.argmin(axis=1)])
    statistics = centers.center_statistics(block_of(X), V, "nearest")
    np.testing.assert_array_equal(statistics.weight, U.sum(axis=0))
    np.testing.assert_allclose(statistics.total, U.T @ X, atol=1e-12)
    assert statistics.objective == pytest.approx(D.min(axis=1).sum(), rel=1e-13)
    assert statistics.worst_row is not None


def test_kmeans_start_is_a_k_means_solution():
    X, _ = load_iris(return_X_y=True)
    blocks = make_blocks(X)
    V = blocks.frame.to_input(kmeans(blocks, 3, np.random.RandomState(0)))
    inertia = cdist(X, V, "sqeuclidean").min(axis=1).sum()
    assert inertia == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(X).inertia_, rel=1e-3)


def test_kmeans_start_takes_weights_as_repetitions():
    rng = np.random.default_rng(2)
    X, times = rng.normal(size=(60, 2)), rng.integers(1, 4, 60)
    weighted, repeated = make_blocks(X, times.astype(float)), make_blocks(np.repeat(X, times, axis=0))
    V, W = (b.frame.to_input(kmeans(b, 4, np.random.RandomState(3))) for b in (weighted, repeated))
    np.testing.assert_allclose(V, W, atol=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("K, gamma", [(1, 1.0), (2, 0.1), (5, 0.5), (40, 2.0)])
def test_sparse_rule_is_the_projection_onto_the_simplex(monkeypatch, K, gamma, compiled):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    rng = np.random.default_rng(K)
    X, V = rng.normal(size=(300, 3)), rng.normal(size=(K, 3))
    F = cdist(X, V)
    U = centers.center_memberships(block_of(X), V, "sparse", gamma, 0.0)
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=0, atol=1e-14)
    # A minimum of sum_k u F + gamma u^2 has the same slope F + 2 gamma u where u > 0, and no smaller one elsewhere.
    slope = F + 2 * gamma * U
    level = slope.min(axis=1, keepdims=True)
    assert np.all((slope - level)[U > 0] <= 1e-12)
    weights = centers.center_memberships(block_of(X), V, "pull", gamma, 0.5)
    np.testing.assert_allclose(weights, np.where(F > 0.5, U / (2 * F), -U), rtol=1e-12, atol=1e-15)
    rows = centers.center_rows(block_of(X), V, "sparse", gamma, 0.0)
    np.testing.assert_allclose(rows, (U * (F + gamma * U)).sum(axis=1), rtol=1e-13)


@needs_kernels
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("K", [2, 3, 5, 8, 9, 13])
def test_types_of_indices_give_the_same_bits(K, dtype):
    X = sparse.csr_array(np.random.default_rng(K).poisson(0.7, size=(700, 17)).astype(dtype))
    V = np.random.default_rng(0).gamma(1.0, size=(K, 17))
    found = []
    for index in (np.int32, np.int64):
        rows = sparse.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), X.shape)
        assert rows.indices.dtype == index
        found.append(centers.center_statistics(block_of(rows), V, "fcm", 1.7))
    assert found[0].total.tobytes() == found[1].total.tobytes()
    assert found[0].objective == found[1].objective
