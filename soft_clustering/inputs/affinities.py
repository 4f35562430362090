"""Affinity matrices: non-negative weights between all pairs of samples, most of them 0."""

from __future__ import annotations

import warnings
from typing import Any

from scipy import sparse
from sklearn.base import BaseEstimator

from .features import validate_features

_SYMMETRIC = 1e-6  # part of the largest entry by which a matrix and its transpose may differ


def validate_affinity(estimator: BaseEstimator, X: Any) -> Any:
    """A symmetric non-negative (n, n) CSR array without a diagonal, float32 kept, from an array or a sparse matrix.

    It is the mean of X and its transpose, with a warning where they differ.
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
            f"X must have no negative entries for affinity='precomputed'. Got entries from {S.data.min():.3g} instead."
        )
    if abs(S - S.T).max() > _SYMMETRIC * S.data.max():
        warnings.warn("X is not symmetric: the mean of X and its transpose is taken.", UserWarning, stacklevel=3)
    return sparse.csr_array(S * 0.5 + S.T * 0.5)
