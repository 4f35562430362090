"""Sums over the samples, weighted by the clusters: all that the comparison of a cluster with the rest needs.

A pass over rows in chunks costs O(n d K) and keeps no (n, K, d) array; sparse rows stay sparse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._types import Array
from ..engine.threads import single_threaded_blas

_CHUNK = 1 << 19  # numbers of a temporary array
_FLAT = 1e-13  # a feature whose range is a smaller part of its mean is constant up to rounding


class Sums(NamedTuple):
    """Sums of q z^r over the samples for r = 0, 1, 2, where q runs over products of two weights.

    z = (x - centre) / unit. Each array is (5, K, d), for q = w_k, o_k, w_k^2, o_k^2 and w_k o_k, where
    o_k = sum_(l != k) w_l.
    """

    total: Array  # r = 0: a missing value is left out
    first: Array
    second: Array
    centre: Array  # (d,)
    unit: Array  # (d,)
    missing: NDArray[np.intp]  # (d,), number of samples without a value


def sums_of_rows(W: Array, X: Any) -> Sums:
    """Return the sums for a matrix (n, d) of numbers, an array with NaN for missing values or CSR."""
    return _sums_of_sparse(W, X) if sparse.issparse(X) else _sums_of_dense(W, X)


def sums_of_codes(W: Array, codes: NDArray[np.intp], n_values: int) -> Sums:
    """Return the sums of the indicators of 0, 1, ..., n_values - 1.

    The code -1 stands for a missing value; a code of at least ``n_values`` for a further value without an indicator.
    """
    n, K = W.shape
    count, first = np.zeros(5 * K), np.zeros((5 * K, n_values))
    with single_threaded_blas():
        for part in _chunks(n, 5 * K):
            Q, code = _products(W[part]), codes[part]
            here = (code >= 0) & (code < n_values)
            positions = np.concatenate([[0], np.cumsum(here)])
            indicators = sparse.csr_array(
                (np.ones(positions[-1]), code[here], positions), shape=(len(code), n_values), dtype=np.float64
            )
            count += Q[code >= 0].sum(axis=0)
            first += (indicators.T @ Q).T
    whole = np.repeat(count[:, None], n_values, axis=1)
    missing = np.full(n_values, int((codes < 0).sum()))
    whole, first = whole.reshape(5, K, n_values), first.reshape(5, K, n_values)
    return Sums(whole, first, first, np.zeros(n_values), np.ones(n_values), missing)


def _chunks(n: int, width: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, width))
    return (slice(start, start + step) for start in range(0, n, step))


def _products(W: Array) -> Array:
    elsewhere = np.maximum(W.sum(axis=1, keepdims=True) - W, 0)
    return np.hstack([W, elsewhere, W * W, elsewhere * elsewhere, W * elsewhere])


def _sums_of_dense(W: Array, X: NDArray[Any]) -> Sums:
    (n, d), K = X.shape, W.shape[1]
    count, first, second = (np.zeros((5 * K, d)) for _ in range(3))
    centre, unit, missing = _frame(X)
    flat = unit <= _FLAT * np.abs(centre)
    divisor = np.where(flat, np.inf, unit)  # z = 0 for a constant feature
    with single_threaded_blas():
        for part in _chunks(n, d + 5 * K):
            Q = _products(W[part])
            z = (X[part].astype(np.float64) - centre) / divisor
            if missing.any():
                gaps = np.isnan(z)
                z[gaps] = 0
                count += Q.T @ ~gaps
            else:
                count += Q.sum(axis=0)[:, None]
            first += Q.T @ z
            z *= z
            second += Q.T @ z
    count, first, second = (sums.reshape(5, K, d) for sums in (count, first, second))
    return Sums(count, first, second, centre, np.where(flat, 1.0, unit), missing)


def _frame(X: NDArray[Any]) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return the mean and the largest deviation from it of each feature, 0 and 0 if it has no values, and the gaps."""
    n, d = X.shape
    low, high, total = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d)
    missing = np.zeros(d, dtype=np.intp)
    for part in _chunks(n, d):
        x = X[part].astype(np.float64)
        missing += np.isnan(x).sum(axis=0)
        low, high = np.fmin(low, np.fmin.reduce(x)), np.fmax(high, np.fmax.reduce(x))
        total += np.nansum(x / n, axis=0)  # the sum itself might overflow
    known = missing < n
    centre = np.where(known, total * (n / np.maximum(n - missing, 1)), 0.0)
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    centre = np.clip(centre, low, high)
    return centre, np.maximum(high - centre, centre - low), missing


def _sums_of_sparse(W: Array, X: Any) -> Sums:
    (n, d), K = X.shape, W.shape[1]
    count, first, second = (np.zeros((5 * K, d)) for _ in range(3))
    X = sparse.csr_array(X)
    gaps = np.isnan(X.data)
    missing = np.bincount(X.indices[gaps], minlength=d)
    unit = np.zeros(d)
    np.maximum.at(unit, X.indices[~gaps], np.abs(X.data[~gaps]).astype(np.float64))
    unit[unit == 0] = 1.0
    with single_threaded_blas():
        for part in _chunks(n, 5 * K):
            Q, rows = _products(W[part]), X[part]
            z = np.nan_to_num(rows.data / unit[rows.indices])
            count += Q.sum(axis=0)[:, None]
            first += _product(rows, z, Q)
            second += _product(rows, z * z, Q)
            if missing.any():
                count -= _product(rows, np.isnan(rows.data).astype(np.float64), Q)
    count, first, second = (sums.reshape(5, K, d) for sums in (count, first, second))
    return Sums(count, first, second, np.zeros(d), unit, missing)


def _product(rows: Any, data: Array, Q: Array) -> Array:
    """Q^T times the sparse rows with other data."""
    product: Array = (sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape).T @ Q).T
    return product
