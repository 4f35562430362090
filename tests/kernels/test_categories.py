"""Categories beside numbers: the NumPy form against the definition, the compiled form against it."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels.categories import Densities, category_memberships, category_statistics

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")

# rows about the width of a tile; numbers alone, categories alone, both
SHAPES = [
    (n, p, q, 1 + i % 5) for i, (n, p, q) in enumerate(itertools.product((1, 63, 64, 65, 700), (0, 1, 3), (0, 1, 4)))
]
SHAPES = [shape for shape in SHAPES if shape[1] + shape[2]]


def problem(seed, n, p, q, K, gaps, dtype=np.float64):
    """A block of p numbers and q codes, and components."""
    rng = np.random.RandomState(seed)
    levels = rng.randint(1, 5, q)
    X = np.hstack([rng.normal(size=(n, p)), np.floor(rng.uniform(size=(n, q)) * levels)]).astype(dtype)
    if gaps:
        X[rng.uniform(size=X.shape) < 0.3] = np.nan
    block = Block(X, rng.uniform(0, 2, n) if seed % 2 else None, Frame(np.zeros(p + q), 1.0, gaps))
    table = [np.log(rng.dirichlet(np.ones(size), K).T) for size in levels]
    edges = np.append(0, np.cumsum(levels)).astype(np.int64)
    factors, weights = rng.uniform(0.5, 2, (K, p)), rng.dirichlet(np.ones(K))
    constants = np.log(weights) + np.log(factors / np.sqrt(2 * np.pi)).sum(axis=1)
    table = np.ascontiguousarray(np.concatenate(table)) if q else np.empty((0, K))
    return block, Densities(rng.normal(size=(K, p)), factors, constants, table, edges), weights


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("p, q", [(0, 3), (2, 0), (2, 3)])
def test_by_definition(monkeypatch, p, q, gaps):
    monkeypatch.setattr(kernels, "compiled", None)
    block, densities, weights = problem(1, 40, p, q, 3, gaps)
    joint = np.tile(weights, (40, 1))
    for i, k, j in itertools.product(range(40), range(3), range(p + q)):
        x = block.X[i, j]
        if np.isnan(x):
            continue
        if j < p:
            joint[i, k] *= norm.pdf(x, densities.means[k, j], 1 / densities.factors[k, j])
        else:
            joint[i, k] *= np.exp(densities.table[densities.edges[j - p] + int(x), k])
    U = joint / joint.sum(axis=1, keepdims=True)
    found, rows = category_memberships(block, densities)
    np.testing.assert_allclose(found, U, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rows, np.log(joint.sum(axis=1)), rtol=1e-12, atol=1e-14)
    statistics, W = category_statistics(block, densities), block.weight[:, None] * U
    assert statistics.objective == pytest.approx(block.weight @ rows, rel=1e-13)
    np.testing.assert_allclose(statistics.weight, W.sum(axis=0), rtol=1e-12)
    for j, edge in enumerate(densities.edges[:-1]):
        for code in range(densities.edges[j + 1] - edge):
            np.testing.assert_allclose(
                statistics.counts[edge + code], W[block.X[:, p + j] == code].sum(axis=0), atol=1e-12
            )
    for k, j in itertools.product(range(3), range(p)):
        there = ~np.isnan(block.X[:, j])
        e, w = block.X[there, j] - densities.means[k, j], W[there, k]
        assert statistics.first[k, j] == pytest.approx(w @ e, abs=1e-12)
        assert statistics.second[k, j] == pytest.approx(w @ e**2, abs=1e-12)
        assert statistics.seen is None or statistics.seen[k, j] == pytest.approx(w.sum(), rel=1e-12)
    assert (statistics.seen is None) != gaps


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_form_is_its_twin(twin, dtype, gaps, given):
    for i, (n, p, q, K) in enumerate(SHAPES):
        block, densities, _ = problem(i, n, p, q, K, gaps, dtype)
        U = np.random.RandomState(i).dirichlet(np.ones(K), n) if given else None
        found, expected = category_statistics(block, densities, U), twin(category_statistics, block, densities, U)
        for name, a, b in zip(found._fields, found, expected, strict=True):
            assert (a is None) == (b is None), name
            if a is not None:
                np.testing.assert_allclose(
                    a, b, rtol=0, atol=1e-12 * max(1, np.max(np.abs(b), initial=0)), err_msg=name
                )
        (U, rows), (U_twin, rows_twin) = (
            category_memberships(block, densities),
            twin(category_memberships, block, densities),
        )
        assert U.dtype == U_twin.dtype == dtype
        np.testing.assert_allclose(U, U_twin, rtol=0, atol=1e-13 if dtype == np.float64 else 6e-8)
        np.testing.assert_allclose(rows, rows_twin, rtol=1e-12, atol=1e-14)


@needs_kernels
def test_threads_do_not_change_a_bit(monkeypatch):
    block, densities, _ = problem(0, 3000, 2, 4, 5, True)
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "row_grid", lambda block, K, width, threads=threads: (11, threads))
        results.append([*category_statistics(block, densities), *category_memberships(block, densities)])
    for result in results[1:]:
        for a, b in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(a, b)


def test_statistics_merge_over_blocks():
    block, densities, _ = problem(1, 200, 2, 3, 3, True)
    parts = [Block(block.X[at], block.weight[at], block.frame) for at in (slice(0, 71), slice(71, None))]
    one, two = (category_statistics(part, densities) for part in parts)
    for a, b in zip(one.merge(two), category_statistics(block, densities), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
