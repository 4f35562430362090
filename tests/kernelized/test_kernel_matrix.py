"""Kernels of rows with fixed rows: by the definition, at the ends of the range, in pieces, hostile functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel

from soft_clustering.engine.blocks import Frame, make_blocks
from soft_clustering.inputs.pairwise import validate_kernel_rows
from soft_clustering.kernelized.kernel_matrix import FunctionRows, GivenRows, RBFRows, pieces, rbf

PLAIN = Frame(np.zeros(3), 1.0)


def by_definition(X, Y, gamma):
    return np.array([[np.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, y, strict=True))) for y in Y] for x in X])


# RBF ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1e-3, 0.7, 40.0])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_by_the_definition(gamma, container):
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(20, 3)) * (rng.uniform(size=(20, 3)) < 0.6)
    kernel = RBFRows(container(Y), PLAIN, gamma)(container(X))
    assert isinstance(kernel, np.ndarray)
    np.testing.assert_allclose(kernel, by_definition(X, Y, gamma), rtol=0, atol=1e-14)


@pytest.mark.parametrize("fixed, new", [(np.asarray, sparse.csr_array), (sparse.csr_matrix, np.asarray)])
def test_dense_rows_with_sparse_ones(fixed, new):
    rng = np.random.RandomState(0)
    X, Y = 3 + rng.normal(size=(30, 3)), 3 + rng.normal(size=(20, 3))
    kernel = RBFRows(fixed(Y), make_blocks(fixed(Y)).frame, 0.7)
    frame_gamma = 0.7 * make_blocks(fixed(Y)).frame.scale ** 2
    np.testing.assert_allclose(kernel(new(X)), by_definition(X, Y, frame_gamma), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(RBFRows(fixed(Y), PLAIN, 1e9)(new(Y)), np.eye(20))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    far=st.sampled_from([0, 1e2, 1e6, 1e12, 1e90]),
    gamma=st.sampled_from([1e-6, 1e-2, 1, 1e3, 1e8]),
)
def test_exact_however_far(seed, far, gamma):
    """Clusters of rows far from the origin, distances of all sizes: against direct differences."""
    rng = np.random.RandomState(seed)
    places = far * rng.normal(size=(4, 3)) * rng.uniform(size=(4, 1)) ** 4
    X, Y = (
        places[rng.randint(4, size=n)] + rng.normal(size=(n, 3)) * 10 ** rng.uniform(-6, 1, (n, 1)) for n in (25, 30)
    )
    X[:5] = Y[:5]
    kernel = RBFRows(Y, PLAIN, gamma)(X)
    with np.errstate(under="ignore", over="ignore"):
        exact = np.exp(-gamma * cdist(X, Y, "sqeuclidean"))
    np.testing.assert_allclose(kernel, exact, rtol=0, atol=2e-12)
    np.testing.assert_allclose(np.diagonal(kernel)[:5], 1, rtol=0, atol=2e-13)


def test_units_and_origin():
    rng = np.random.RandomState(0)
    X = np.round(16 * rng.normal(size=(40, 3))) / 16
    expected = RBFRows(X, make_blocks(X).frame, 0.3)(X)
    for scale, offset in ((2.0**400, 0), (2.0**-400, 0), (1, 1e8), (-1, 0)):
        moved = X * scale + offset
        kernel = RBFRows(moved, make_blocks(moved).frame, 0.3)(moved)
        np.testing.assert_allclose(kernel, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("size", [1e-160, 1.0, 1e150])
def test_copies_of_a_row_have_kernel_one(container, size):
    X = np.repeat(np.random.RandomState(0).normal(size=(5, 3)), 3, axis=0) * size
    blocks = make_blocks(container(X))
    kernel = RBFRows(container(X), blocks.frame, 1e3)(container(X))
    np.testing.assert_allclose(kernel[np.arange(15)[:, None] // 3 == np.arange(15) // 3], 1, rtol=0, atol=1e-12)


def test_overflow_is_zero():
    X = np.array([[0.0, 0, 0], [1e300, 0, 0], [-1e300, 5, 0]])
    np.testing.assert_array_equal(RBFRows(X, PLAIN, 1e300)(X), np.eye(3))
    assert rbf(np.array([1e200]), 1e200) == 0


# Pieces ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, width", [(1, 1), (5, 10**7), (1000, 10), (100_000, 30), (1000, 1000), (130, 10**9)])
def test_pieces_are_all_rows(n, width):
    parts = list(pieces(n, width))
    np.testing.assert_array_equal(np.concatenate([np.arange(n)[part] for part in parts]), np.arange(n))
    for part in parts:
        assert part.stop - part.start <= 64 or (part.stop - part.start) * width <= 1 << 18


# Given matrices and functions -----------------------------------------------------------------------------------------


def test_columns_of_a_given_matrix():
    K = np.arange(12.0).reshape(3, 4).astype(np.float32)
    rows = GivenRows(np.array([2, 0]))(K)
    np.testing.assert_array_equal(rows, K[:, [2, 0]])
    assert rows.dtype == np.float64


class Estimator(BaseEstimator):
    """Something that remembers its features."""


def test_fitted_matrix_must_be_symmetric():
    K = np.eye(4) + 0.1
    np.testing.assert_array_equal(
        validate_kernel_rows(Estimator(), K, "precomputed", reset=True, accept_sparse=False), K
    )
    with pytest.raises(ValueError, match=r"X must be a square kernel matrix .* Got shape \(3, 4\)"):
        validate_kernel_rows(Estimator(), K[:3], "precomputed", reset=True, accept_sparse=False)
    K[1, 2] += 0.01
    with pytest.raises(ValueError, match=r"X must be a symmetric kernel matrix .* by 0.01 instead"):
        validate_kernel_rows(Estimator(), K, "precomputed", reset=True, accept_sparse=False)
    big = np.array([[1.0, 1e308], [-1e308, 1.0]])
    with pytest.raises(ValueError, match="X must be a symmetric kernel matrix"):
        validate_kernel_rows(Estimator(), big, "precomputed", reset=True, accept_sparse=False)
    rough = (np.eye(300) + 0.1).astype(np.float32)
    rough[5, 200] += 1e-7
    validate_kernel_rows(Estimator(), rough, "precomputed", reset=True, accept_sparse=False)


def test_new_rows_need_not_be_square():
    estimator = Estimator()
    validate_kernel_rows(estimator, np.eye(4), "precomputed", reset=True, accept_sparse=False)
    assert validate_kernel_rows(estimator, np.ones((2, 4)), "precomputed", reset=False, accept_sparse=False).shape == (
        2,
        4,
    )
    with pytest.raises(ValueError, match="3 features"):
        validate_kernel_rows(estimator, np.ones((2, 3)), "precomputed", reset=False, accept_sparse=False)


def test_dask_is_refused():
    lazy = pytest.importorskip("dask.array").ones((6, 2))
    with pytest.raises(TypeError, match="Estimator compares rows with each other and takes no Dask array"):
        validate_kernel_rows(Estimator(), lazy, "rbf", reset=True, accept_sparse=True)


def test_function():
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(30, 3))
    rows = FunctionRows(laplacian_kernel, Y)
    np.testing.assert_array_equal(rows(X), laplacian_kernel(X, Y))
    np.testing.assert_allclose(FunctionRows(linear_kernel, Y).diagonal(X), (X**2).sum(axis=1), rtol=1e-13)


@pytest.mark.parametrize(
    "function, error, message",
    [
        (lambda X, Y: np.ones(len(X)), ValueError, r"shape \(len\(X\), len\(Y\)\) = \(3, 2\). Got shape \(3,\)"),
        (lambda X, Y: np.ones((len(Y), len(X))), ValueError, r"Got shape \(2, 3\)"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), ValueError, "finite numbers. Got NaN or infinity"),
        (lambda X, Y: [["a"] * len(Y)] * len(X), TypeError, "a matrix of numbers. Got list"),
        (lambda X, Y: None, ValueError, r"Got shape \(\)"),
        (lambda X, Y: sparse.eye(3, 2), TypeError, "a matrix of numbers. Got dia_matrix"),
    ],
)
def test_functions_that_give_no_kernel(function, error, message):
    with pytest.raises(error, match=rf"kernel\(X, Y\) must give .*{message}"):
        FunctionRows(function, np.ones((2, 2)))(np.ones((3, 2)))
