"""Matrices of all pairs of samples: affinities, kernels, dissimilarities."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from .._types import Kernel, MatrixLike
from .features import refuse_dask, validate_features

_SYMMETRIC = 1e-6  # a matrix and its transpose may differ by this share of the largest entry
_GROUP = 1 << 18  # entries of a matrix that are compared at once


def validate_affinity(estimator: BaseEstimator, X: MatrixLike) -> Any:
    """Return a symmetric non-negative (n, n) CSR array without a diagonal; float32 is kept.

    It is the mean of X and its transpose, with a warning if they differ.
    """
    X = validate_features(estimator, X, reset=True, accept_sparse=True)
    n = X.shape[0]
    if X.shape != (n, n):
        raise ValueError(
            f"X must be a square matrix (n_samples, n_samples) for affinity='precomputed'. Got shape {X.shape} instead."
        )
    given = sparse.coo_array(X)
    apart = (given.row != given.col) & (given.data != 0)
    S = sparse.csr_array((given.data[apart], (given.row[apart], given.col[apart])), shape=(n, n))
    if S.nnz == 0:
        raise ValueError("X must have positive entries off the diagonal for affinity='precomputed'. Got none.")
    if S.data.min() < 0:
        raise ValueError(
            f"X must have no negative entries for affinity='precomputed'. Got {S.data.min():.3g} as the smallest one."
        )
    if abs(S - S.T).max() > _SYMMETRIC * S.data.max():
        warnings.warn("X is not symmetric: the mean of X and its transpose is taken.", UserWarning, stacklevel=3)
    return sparse.csr_array(S * 0.5 + S.T * 0.5)


def validate_kernel_rows(
    estimator: BaseEstimator, X: MatrixLike, kernel: Kernel, *, reset: bool, accept_sparse: bool
) -> Any:
    """Return validated features; with ``kernel='precomputed'`` a kernel matrix, which must be symmetric in ``fit``."""
    refuse_dask(estimator, X)
    X = validate_features(estimator, X, reset=reset, accept_sparse=accept_sparse)
    if reset and kernel == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"X must be a square kernel matrix for kernel='precomputed'. Got shape {X.shape} instead.")
        gap = _asymmetry(X)
        if gap > _SYMMETRIC * max(float(X.max()), -float(X.min())):
            raise ValueError(
                "X must be a symmetric kernel matrix for kernel='precomputed'. Got entries that differ from those of "
                f"the transpose by {gap:.3g} instead."
            )
    return X


def check_dissimilarities(X: NDArray[Any], *, square: bool) -> None:
    """Raise an error if X is not a matrix of dissimilarities."""
    if X.min() < 0:
        raise ValueError(f"X must hold dissimilarities >= 0 for metric='precomputed'. Got {X.min():.3g} instead.")
    if not square:
        return
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"X must be a square matrix for metric='precomputed'. Got shape {X.shape} instead.")
    allowed = _SYMMETRIC * X.max()
    if X.diagonal().max() > allowed:
        raise ValueError(
            f"X must have a zero diagonal for metric='precomputed'. Got {X.diagonal().max():.3g} on it instead."
        )
    gap = _asymmetry(X)
    if gap > allowed:
        raise ValueError(f"X must be symmetric for metric='precomputed'. Got entries that differ by {gap:.3g}.")


def _asymmetry(X: NDArray[Any]) -> float:
    """Return the largest difference between a square matrix and its transpose."""
    step = max(1, _GROUP // len(X))
    with np.errstate(over="ignore"):
        return max(float(np.abs(X[lo : lo + step] - X[:, lo : lo + step].T).max()) for lo in range(0, len(X), step))
