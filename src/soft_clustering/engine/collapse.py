"""Warnings about fits that went wrong: prototypes that coincide, or rows that all have the same memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .._types import Array
from .blocks import Blocks, distinct_rows
from .loop import NEAR

_ACCURACY = 100  # distance of the centres from where they would end, in units of the movement at which they stop
_ALIKE = 0.05  # part of the largest membership: rows or clusters that differ by less are the same


def rows_alike(memberships: NDArray[Any]) -> bool:
    """Whether all rows have the same memberships, up to a twentieth of the largest in each column."""

    def alike(rows: NDArray[Any]) -> bool:
        return all(bool(column.min() >= (1 - _ALIKE) * column.max()) for column in rows.T)

    # A thousand rows show the difference, except in the worst fits.
    return alike(np.asarray(memberships[:: max(1, len(memberships) // 1000)])) and alike(memberships)


def columns_alike(memberships: NDArray[Any], k: int, other: int) -> bool:
    """Whether two clusters have the same rows, up to a twentieth of the largest membership."""
    a, b = memberships[:, k], memberships[:, other]
    return bool(abs(a - b).max() <= _ALIKE * a.max())


def coinciding(
    name: str, V: Array, memberships: NDArray[Any], spread: float, remedy: str, tol: float = 0.0
) -> list[str]:
    """A complaint when all rows have the same memberships, or when all or some prototypes coincide.

    Two prototypes coincide if only rounding tells them apart, or if they are within a hundredth of the root mean
    variance and have the same memberships. A large ``tol`` widens the hundredth to the distance that the centres may
    still have from their limits.

    Parameters
    ----------
    name : str
        The estimator, for the message.
    V : ndarray of shape (K, d)
        The prototypes.
    memberships : array of shape (n, K)
        In memory or a Dask array.
    spread : float
        The variance of the data, summed over the d features.
    remedy : str
        What to try, with the cause if the estimator knows it.
    tol : float, default=0.0
        The tolerance of a method that stops by :func:`.loop.center_shift`.
    """
    finding = _finding(V, memberships, spread, tol)
    return [f"{name} {finding}; {remedy}"] if finding else []


def collapse(
    name: str, V: Array, memberships: NDArray[Any], blocks: Blocks, remedy: str, tol: float = 0.0
) -> list[str]:
    """:func:`coinciding` for prototypes of some blocks; names duplicate rows as the cause if there are such rows."""
    finding = _finding(V, memberships, blocks.mean_variance * blocks.d, tol)
    return [f"{name} {finding}; {duplicates(blocks, len(V)) or remedy}"] if finding else []


def duplicates(blocks: Blocks, K: int) -> str:
    """A remedy if fewer than K samples are distinct, otherwise an empty string."""
    n = blocks.reduce(distinct_rows, K).n
    return f"X has duplicates and only {n} distinct samples: use fewer clusters" if n < K else ""


def _finding(V: Array, memberships: NDArray[Any], spread: float, tol: float) -> str:
    """What is wrong with the prototypes and memberships, or an empty string."""
    K = len(V)
    if K == 1:
        return ""
    D = cdist(V, V, "sqeuclidean")
    if D.max() < 1e-6 * spread:
        return "collapsed: the prototypes coincide"
    if rows_alike(memberships):
        return "collapsed: all samples have the same memberships"
    near = max(NEAR, _ACCURACY * tol) ** 2 * spread / V.shape[1]
    twins = 0
    for k in range(1, K):
        other = int(D[k, :k].argmin())
        twins += bool(D[k, other] <= 1e-12 * spread or (D[k, other] <= near and columns_alike(memberships, k, other)))
    return f"found {K - twins} distinct prototypes, fewer than n_clusters={K}, which may be too many" if twins else ""
