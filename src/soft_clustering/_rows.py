"""Rows of memberships: an array or, where that would be too large, a CSR array of their positive entries.

Graphs may have thousands of communities, and a node belongs to few of them. A method that computes sparse rows gives
them to :func:`dense_unless_large`; the other functions take both kinds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_MOST_DENSE = 10**8  # entries of the largest array: 800 MB in double precision


def dense_unless_large(rows: sparse.csr_array) -> Any:
    """These rows, with sorted columns and without explicit zeros: an array, or themselves if it were too large."""
    return rows.toarray() if rows.shape[0] * rows.shape[1] <= _MOST_DENSE else rows


def row_maxima(rows: Any) -> NDArray[Any]:
    """The largest entry of each row, (n, 1); 0 for an empty row.

    Examples
    --------
    >>> row_maxima(sparse.csr_array([[0.2, 0.8], [0, 0]]))
    array([[0.8],
           [0. ]])
    """
    if not sparse.issparse(rows):
        found: NDArray[Any] = rows.max(axis=1, keepdims=True)
        return found
    found = np.zeros((rows.shape[0], 1), dtype=rows.dtype)
    filled = np.diff(rows.indptr) > 0
    found[filled, 0] = np.maximum.reduceat(rows.data, rows.indptr[:-1][filled]) if filled.any() else 0
    return found


def largest_columns(rows: sparse.csr_array) -> NDArray[np.intp]:
    """The column of the largest entry of each row, the first one of equals; -1 for an empty row.

    Examples
    --------
    >>> largest_columns(sparse.csr_array([[0.2, 0.8], [0, 0], [0.5, 0.5]]))
    array([ 1, -1,  0])
    """
    labels = np.full(rows.shape[0], -1)
    places = np.flatnonzero(rows.data == np.repeat(row_maxima(rows)[:, 0], np.diff(rows.indptr)))[::-1]
    labels[np.searchsorted(rows.indptr, places, side="right") - 1] = rows.indices[places]
    return labels


def at_least(rows: Any, least: Any) -> Any:
    """Which entries are positive and at least ``least``, a number or (n, 1); as an array or CSR array like the rows.

    Examples
    --------
    >>> at_least(np.array([[0.2, 0.8], [0.0, 0.0]]), 0.0)
    array([[ True,  True],
           [False, False]])
    """
    if not sparse.issparse(rows):
        return (rows >= least) & (rows > 0)
    least = np.repeat(np.broadcast_to(least, (rows.shape[0], 1))[:, 0], np.diff(rows.indptr))
    return entries(rows, (rows.data >= least) & (rows.data > 0)).astype(bool)


def only_largest(cover: Any, rows: Any, top_k: int) -> Any:
    """The cover without entries that are not among the ``top_k`` largest of their row, the first ones of equals.

    Examples
    --------
    >>> only_largest(np.array([[True, True], [False, False]]), np.array([[0.2, 0.8], [0.0, 0.0]]), 1)
    array([[False,  True],
           [False, False]])
    """
    if not sparse.issparse(rows):
        kept = cover.copy()
        np.put_along_axis(kept, np.argsort(-rows, axis=1, kind="stable")[:, top_k:], False, axis=1)
        return kept
    counts = np.diff(rows.indptr)
    order = np.lexsort((-rows.data, np.repeat(np.arange(len(counts)), counts)))
    first = np.empty(rows.nnz, dtype=bool)
    first[order] = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], counts) < top_k
    return sparse.csr_array(cover.multiply(entries(rows, first).astype(bool)))


def entries(rows: sparse.csr_array, kept: NDArray[np.bool_]) -> sparse.csr_array:
    """Some of the entries of a CSR array.

    Examples
    --------
    >>> entries(sparse.csr_array([[1, 2], [3, 0]]), np.array([False, True, True])).toarray()
    array([[0, 2],
           [3, 0]])
    """
    ends = np.append(0, np.cumsum(kept))[rows.indptr]
    return sparse.csr_array((rows.data[kept], rows.indices[kept], ends), shape=rows.shape)


def entries_at(M: sparse.csr_array, X: sparse.csr_array) -> NDArray[Any]:
    """The entries of a matrix in the places of those of another one with sorted columns, zeros included.

    Examples
    --------
    >>> entries_at(sparse.csr_array([[1.0, 2.0], [3.0, 0.0]]), sparse.csr_array([[1, 0], [1, 1]]))
    array([1., 3., 0.])
    """
    M.sort_indices()
    places, wanted = (np.repeat(np.arange(m.shape[0]), np.diff(m.indptr)) * m.shape[1] + m.indices for m in (M, X))
    at = np.minimum(np.searchsorted(places, wanted), max(M.nnz - 1, 0))
    found: NDArray[Any] = np.where(places[at] == wanted, M.data[at], 0.0) if M.nnz else np.zeros(X.nnz)
    return found


def with_sum_1(rows: sparse.csr_array) -> sparse.csr_array:
    """The rows divided by their sums; empty ones stay so.

    Examples
    --------
    >>> with_sum_1(sparse.csr_array([[1.0, 3.0], [0.0, 0.0]])).toarray()
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    data = rows.data / np.repeat(row_maxima(rows)[:, 0], np.diff(rows.indptr))  # sums might overflow
    rows = sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
    rows.data /= np.repeat(np.asarray(rows.sum(axis=1)).ravel(), np.diff(rows.indptr))
    return rows


def with_even_rows(rows: sparse.csr_array) -> sparse.csr_array:
    """The rows with equal shares in place of empty ones.

    Examples
    --------
    >>> with_even_rows(sparse.csr_array([[0.25, 0.75], [0.0, 0.0]])).toarray()
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    n, K = rows.shape
    empty = np.flatnonzero(np.diff(rows.indptr) == 0)
    if len(empty) == 0:
        return rows
    places = np.repeat(empty, K), np.tile(np.arange(K), len(empty))
    return sparse.csr_array(rows + sparse.csr_array((np.full(len(empty) * K, 1 / K), places), shape=(n, K)))
