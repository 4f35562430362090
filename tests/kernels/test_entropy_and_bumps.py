"""The rules of entropy c-means and of subtractive clustering: against definitions, and compiled against NumPy."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.distance import cdist

from soft_clustering import kernels
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.kernels import centers, reference

needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
property_test = settings(max_examples=100, deadline=None, derandomize=True)
distances = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(0, 1e100))

KINDS = ("dense64", "dense32", "csr64", "csr32")
SHAPES = [(n, d, 1 + i % 9) for i, (n, d) in enumerate(itertools.product((1, 63, 64, 65, 1000), (1, 2, 3, 5, 17, 257)))]
SHAPES += [(65, 3, K) for K in (1, 2, 3, 4, 5, 8, 13)]


def make_block(rng, n, d, kind, weighted):
    """Rows about 5 with a shift and a unit per feature; CSR ones with about a third of the entries."""
    dtype = np.float32 if kind.endswith("32") else np.float64
    X = rng.normal(size=(n, d)) * 3 + 5
    weight = rng.uniform(0, 2, n) if weighted else None
    scale = rng.uniform(0.2, 0.6, d) / np.sqrt(d)
    if kind.startswith("csr"):
        X = sparse.csr_matrix(np.where(rng.uniform(size=(n, d)) < 0.3, X, 0).astype(dtype))
        return Block(X, weight, Frame(np.zeros(d), scale))
    return Block(X.astype(dtype), weight, Frame(np.full(d, 5.25), scale))


def parameters_of(rule, K, rng):
    """A temperature or width of the order of the distances, and one number per prototype."""
    return (
        (rng.uniform(0.3, 3), *np.log(rng.dirichlet(np.ones(K))))
        if rule == "entropy"
        else (
            rng.uniform(0.3, 3),
            *rng.uniform(0, 2, K),
        )
    )


def cases(kind):
    for i, (n, d, K) in enumerate(SHAPES):
        rng = np.random.RandomState(i)
        block = make_block(rng, n, d, kind, weighted=i % 2 == 0)
        V = rng.normal(size=(K, d)) / np.sqrt(d)
        V[0] = block.take([0])[0]
        yield rng, block, V


# Definitions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.1, 1.0, 7.0])
def test_entropy_rule_by_definition(weight):
    rng = np.random.RandomState(0)
    D, shares = rng.uniform(0, 5, (40, 4)), rng.dirichlet(np.ones(4))
    U, W, J = reference.entropy_rule(D, weight, *np.log(shares))
    for i in range(40):
        parts = [shares[k] * np.exp(-D[i, k] / weight) for k in range(4)]
        np.testing.assert_allclose(U[i], np.array(parts) / sum(parts), rtol=1e-13)
        # the same as the two aims: u D + weight u log(u / share)
        assert J[i] == pytest.approx(sum(U[i] * (D[i] + weight * np.log(U[i] / shares))), rel=1e-12, abs=1e-12)
    assert W is U


@property_test
@given(D=distances, weight=st.sampled_from([1e-100, 1e-3, 1.0, 1e100]))
def test_entropy_rule_is_always_a_partition(D, weight):
    U, _, J = reference.entropy_rule(D, weight, *np.zeros(D.shape[1]))
    assert np.isfinite(U).all()
    assert np.isfinite(J).all()
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)
    for u, d in zip(U, D, strict=True):
        assert np.all(np.diff(u[np.argsort(d, kind="stable")]) <= 0)


def test_bumps_rule_by_definition():
    rng = np.random.RandomState(0)
    D, weights = rng.uniform(0, 5, (40, 4)), rng.uniform(0, 2, 4)
    B, W, J = reference.bumps_rule(D, 0.7, *weights)
    for i, k in itertools.product(range(40), range(4)):
        assert B[i, k] == pytest.approx(weights[k] * np.exp(-0.7 * D[i, k]), rel=1e-14)
    assert W is B
    np.testing.assert_allclose(J, B.sum(axis=1), rtol=1e-15)


def test_bumps_far_away_are_zero():
    B, _, J = reference.bumps_rule(np.array([[1e100, 0.0], [1e10, 1e200]]), 1e100, 1.0, 3.0)
    np.testing.assert_array_equal(B, [[0, 3], [0, 0]])
    np.testing.assert_array_equal(J, [3, 0])


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_rows_by_definition(monkeypatch, compiled, container):
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    rng = np.random.RandomState(0)
    X, V, weights = rng.normal(size=(300, 3)), rng.normal(size=(70, 3)), rng.uniform(size=70)
    # the weights of the rows do not matter to a result per row
    block = Block(container(X), rng.uniform(0, 2, 300), Frame(np.zeros(3), np.array([1.0, 2.0, 0.5])))
    D = cdist(X * [1, 2, 0.5], V, "sqeuclidean")
    np.testing.assert_allclose(
        centers.center_rows(block, V, "bumps", 0.4, *weights), np.exp(-0.4 * D) @ weights, rtol=1e-13
    )
    np.testing.assert_allclose(centers.center_distances(block, V), D, rtol=1e-13, atol=1e-14)
    expected = -0.8 * np.log(np.exp(-D / 0.8).sum(axis=1))
    np.testing.assert_allclose(
        centers.center_rows(block, V, "entropy", 0.8, *np.zeros(70)), expected, rtol=0, atol=1e-13
    )


# Compiled against NumPy -----------------------------------------------------------------------------------------------


def same(found, expected, tolerance):
    """Equal up to the tolerance, relative to the largest entry."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-6))


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("rule", ["entropy", "bumps"])
@pytest.mark.parametrize("kind", KINDS)
def test_kernels(kind, rule, twin):
    tolerance = 1e-5 if kind == "dense32" else 1e-12
    for rng, block, V in cases(kind):
        arguments = (block, V, rule, *parameters_of(rule, len(V), rng))
        found, expected = centers.center_statistics(*arguments), twin(centers.center_statistics, *arguments)
        same(found.weight, expected.weight, tolerance)
        same(found.total, expected.total, tolerance)
        assert found.objective == pytest.approx(expected.objective, rel=tolerance, abs=tolerance * block.n)
        assert found.worst == pytest.approx(expected.worst, rel=tolerance, abs=tolerance)
        assert (found.worst_row is None) == (expected.worst_row is None)
        same(centers.center_rows(*arguments), twin(centers.center_rows, *arguments), tolerance)
        for a, b in zip(centers.center_scatter(*arguments), twin(centers.center_scatter, *arguments), strict=True):
            same(a, b, tolerance)
        U = centers.center_memberships(*arguments)
        assert U.dtype == block.X.dtype
        same(U, twin(centers.center_memberships, *arguments), 1e-5 if kind.endswith("32") else tolerance)


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("kind", KINDS)
def test_distances(kind, twin):
    for _, block, V in cases(kind):
        found, expected = centers.center_distances(block, V), twin(centers.center_distances, block, V)
        assert found.dtype == expected.dtype == np.float64  # whatever the type of the rows
        same(found, expected, 1e-5 if kind == "dense32" else 1e-12)
        assert found[0, 0] <= (1e-12 if kind == "dense32" else 1e-28)  # the first prototype is the first row
        # Fuzzy c-means with one prototype: the objective of a row is its squared distance.
        np.testing.assert_array_equal(centers.center_rows(block, V[-1:], "fcm", 2.0), found[:, -1])


@needs_kernels
@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("weight", [1e-100, 1e-8, 1e100])
def test_extreme_temperatures(weight, twin):
    rng = np.random.RandomState(0)
    block = make_block(rng, 130, 3, "dense64", weighted=True)
    V = np.vstack([rng.normal(size=(3, 3)), np.full((1, 3), 1e100)])
    arguments = (block, V, "entropy", weight, *np.zeros(4))
    U = centers.center_memberships(*arguments)
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(U, twin(centers.center_memberships, *arguments), rtol=0, atol=1e-7)
    np.testing.assert_allclose(centers.center_rows(*arguments), twin(centers.center_rows, *arguments), rtol=1e-13)
    if weight < 1:
        D = reference.squared_distances(block.take(slice(None)), V)
        np.testing.assert_array_equal(U.argmax(axis=1), D.argmin(axis=1))


@needs_kernels
@pytest.mark.usefixtures("vectors")
def test_worst_row_where_a_weight_underflows(twin):
    X = np.array([[0.0], [1.0], [10.0], [11.0], [13.0]])
    block = Block(X, None, Frame(np.zeros(1), 1.0))
    arguments = (block, np.array([[0.5], [10.5], [1e4]]), "entropy", 0.1, *np.zeros(3))
    for found in (centers.center_statistics(*arguments), twin(centers.center_statistics, *arguments)):
        np.testing.assert_array_equal(found.worst_row, [13.0])
        assert found.weight[2] < kernels.EMPTY


@needs_kernels
@pytest.mark.usefixtures("vectors")
def test_bumps_are_accurate():
    """exp of the kernels against 40 digits, over the range of a double."""
    mpmath.mp.dps = 40
    x = np.concatenate([np.linspace(0, 26, 200), [100.0, 1e50, 1e100]])
    found = centers.center_rows(Block(x[:, None], None, Frame(np.zeros(1), 1.0)), np.zeros((1, 1)), "bumps", 1.0, 3.0)
    for value, bump in zip(x, found, strict=True):
        exact = 3 * mpmath.exp(-(mpmath.mpf(value) ** 2))
        assert abs(bump - exact) <= 1e-15 * (1 + value**2) * exact if value < 100 else bump == 0


@needs_kernels
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["entropy", "bumps"])
def test_threads_do_not_change_a_bit(monkeypatch, kind, rule):
    rng = np.random.RandomState(0)
    block, V = make_block(rng, 4321, 6, kind, weighted=True), rng.normal(size=(5, 6))
    arguments = (block, V, rule, *parameters_of(rule, 5, rng))
    results = []
    for chunks, threads in ((16, 1), (16, 2), (16, 8), (3, 2)):
        monkeypatch.setattr(kernels, "row_grid", lambda block, K, width, grid=(chunks, threads): grid)
        results.append(
            [
                centers.center_rows(*arguments),
                centers.center_memberships(*arguments),
                *centers.center_scatter(*arguments),
                *centers.center_statistics(*arguments)[:4],
            ]
        )
    for other in results[1:3]:
        for a, b in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(results[3][:2], results[0][:2], strict=True):  # a result per row does not see the chunks
        np.testing.assert_array_equal(a, b)
    for a, b in zip(results[3][2:], results[0][2:], strict=True):
        same(a, b, 3e-14)
