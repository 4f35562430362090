"""A cluster of noise, as far from every row: kernels against loops over rows, and against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import reference
from soft_clustering.kernels.centers import (
    center_memberships,
    center_rows,
    center_scatter,
    center_statistics,
    memberships_and_noise,
    seed,
)

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels are not compiled")
DELTA = 2.5  # squared
RULES = [
    ("fcm", 2.0),
    ("fcm", 1.4),
    ("kernel", 2.0, 0.3),
    ("kernel", 1.6, 0.3),
    ("entropy", 0.7, *np.log([0.2, 0.5, 0.3, 0.25])),
]
every_rule = pytest.mark.parametrize("rule", RULES, ids=str)
K = 3


def problem(n=300, d=4, dtype=np.float64, kind="dense"):
    rng = np.random.RandomState(0)
    X = (3 + rng.standard_normal((n, d))).astype(dtype)
    if kind == "gaps":
        X[rng.uniform(size=X.shape) < 0.2] = np.nan
    if kind == "csr":
        X = sparse.csr_array(np.where(X > 3, X, 0))
    frame = Frame(np.full(d, 0.0 if kind == "csr" else 3.0), 1.0, gaps=kind == "gaps")
    return Block(X, rng.uniform(0, 2, n), frame), rng.standard_normal((K, d)) + 3.0 * (kind == "csr")


def memberships(d, rule, *parameters):
    """Memberships, weights and objective of one row with the squared distances d, the noise last, by definition."""
    if rule == "entropy":
        weight, *log_shares = parameters
        terms = [np.exp(share - each / weight) for share, each in zip(log_shares, d, strict=True)]
        U = np.array(terms) / sum(terms)
        return U, U, -weight * np.log(sum(terms))
    m = parameters[0]
    costs = d if rule == "fcm" else 1 - np.exp(-parameters[1] * d)
    U = np.array([1 / sum((a / b) ** (1 / (m - 1)) for b in costs) for a in costs])
    slope = 1 if rule == "fcm" else np.exp(-parameters[1] * d)
    return U, U**m * slope, float(np.sum(U**m * costs))


@every_rule
@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
@pytest.mark.parametrize("kind", ["dense", "gaps", "csr"])
def test_by_definition(monkeypatch, rule, compiled, kind):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block, V = problem(40, kind=kind)
    X = block.X.toarray() if kind == "csr" else block.X - block.frame.shift
    weight, total, objective, rows = np.zeros(K), np.zeros_like(V), 0.0, []
    U, noise = memberships_and_noise(block, V, *rule, noise=DELTA)
    for i, x in enumerate(X):
        d = np.append(np.nansum((x - V) ** 2, axis=1), DELTA)
        u, w, J = memberships(d, *rule)
        np.testing.assert_allclose(np.append(U[i], noise[i]), u, rtol=1e-10, atol=1e-13)
        weight += block.weight[i] * w[:K]
        total += block.weight[i] * w[:K, None] * np.nan_to_num(x)
        objective += block.weight[i] * J
        rows.append(J)
    np.testing.assert_array_equal(U, center_memberships(block, V, *rule, noise=DELTA))
    statistics = center_statistics(block, V, *rule, noise=DELTA)
    np.testing.assert_allclose(statistics.weight, weight, rtol=1e-10)
    np.testing.assert_allclose(statistics.total, total, rtol=1e-10, atol=1e-12)
    assert statistics.objective == pytest.approx(objective, rel=1e-12)
    assert statistics.worst == pytest.approx(max(rows), rel=1e-10)
    scatter = center_scatter(block, V, *rule, noise=DELTA)
    np.testing.assert_allclose(scatter.weight, weight, rtol=1e-10)


@needs_kernels
@every_rule
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_twins(monkeypatch, rule, dtype, width):
    if kernels.compiled.vector_bytes(width) != width:
        kernels.compiled.vector_bytes(0)
        pytest.skip(f"the processor has no vectors of {width} bytes")
    try:
        for n in (1, 63, 65, 700):
            block, V = problem(n, dtype=dtype)
            tolerance = 1e-12 if dtype == np.float64 else 2e-5
            for found, expected in zip(
                memberships_and_noise(block, V, *rule, noise=DELTA),
                reference.memberships_and_noise(block, V, *rule, noise=DELTA),
                strict=True,
            ):
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    finally:
        kernels.compiled.vector_bytes(0)


@every_rule
def test_far_noise_is_none(rule):
    block, V = problem()
    without = rule if rule[0] != "entropy" else rule[:-1]
    U, noise = memberships_and_noise(block, V, *rule, noise=1e200)
    assert noise.max() <= (1 if rule[0] == "kernel" else 1e-90)  # the kernel distance is at most 1
    if rule[0] != "kernel":
        np.testing.assert_allclose(U, center_memberships(block, V, *without), rtol=1e-12)
        statistics = center_statistics(block, V, *rule, noise=1e200), center_statistics(block, V, *without)
        np.testing.assert_allclose(*(found.total for found in statistics), rtol=1e-12)
    U, noise = memberships_and_noise(block, V, *without, noise=0.0)
    np.testing.assert_array_equal(noise, 0)
    np.testing.assert_array_equal(U, center_memberships(block, V, *without))


@needs_kernels
def test_threads_do_not_change_a_bit(monkeypatch):
    block, V = problem(3000)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "row_grid", lambda block, K, width, threads=threads: (11, threads))
        found.append((*memberships_and_noise(block, V, "fcm", 1.7, noise=DELTA), center_rows(block, V, "nearest")))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_seeds_with_capped_distances(monkeypatch, compiled):
    """A far row is drawn nearly always without a cap, and with a cap as seldom as any other."""
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    rng = np.random.RandomState(0)
    X = np.vstack([rng.standard_normal((200, 2)), [[1e3, 0]]])
    block, counts = Block(X, None, Frame(np.zeros(2), 1.0)), np.zeros(2)
    for draw in range(60):
        uniforms = np.random.RandomState(draw).uniform(size=(2, 2))
        for i, most in enumerate((np.inf, 4.0)):
            counts[i] += seed(block, block.order, uniforms, most).max() > 100
    assert counts[0] == 60
    assert counts[1] <= 6
