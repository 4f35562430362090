"""Rows that are non-negative and sum to 1: projection, and least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._types import Array


def project_rows(Y: Array) -> Array:
    """The nearest point of the simplex for each row: max(y - t, 0) with the t that makes it sum to 1.

    Examples
    --------
    >>> project_rows(np.array([[0.5, 0.9], [3.0, 0.0]]))
    array([[0.3, 0.7],
           [1. , 0. ]])
    """
    ordered = np.sort(Y, axis=1)[:, ::-1]
    # Shifted rows have the same projection, and their sums lose no digits.
    top = ordered[:, :1]
    excess = (np.cumsum(ordered - top, axis=1) - 1) / np.arange(1, Y.shape[1] + 1)
    # The mean excess of the j largest entries grows with j as long as these are above it: t is the largest one.
    projected: Array = np.maximum(Y - top - excess.max(axis=1, keepdims=True), 0)
    return projected


def least_squares_on_simplex(H: Array, B: Array) -> Array:
    """The m on the simplex that minimises m' H m / 2 - b' m, for each row b of B; H is positive definite.

    This is an active-set method for all rows at once: it minimises over the faces of a growing support, from which
    entries that would become negative are dropped again. Each row ends at its solution.

    Examples
    --------
    >>> least_squares_on_simplex(np.eye(3), np.array([[0.5, 0.5, 0.9], [2.0, 0.0, 0.0]]))
    array([[0.2, 0.2, 0.6],
           [1. , 0. , 0. ]])
    """
    n, f = B.shape
    rows = np.arange(n)
    M = np.zeros((n, f))
    M[rows, np.argmin(H.diagonal() / 2 - B, axis=1)] = 1
    support = M > 0
    tolerance = 1e-13 * (np.abs(H).max() + np.abs(B).max(axis=1, initial=0))
    for _ in range(20 * f):
        best = _on_support(H, B[rows], support[rows])
        blocked = support[rows] & (best < 0)
        stuck = blocked.any(axis=1)
        # Move towards the minimiser of the face as far as the row stays non-negative.
        reach = np.where(blocked, M[rows], 1) / np.where(blocked, M[rows] - best, 1)
        M[rows] = np.maximum(M[rows] + reach.min(axis=1, keepdims=True) * (best - M[rows]), 0)
        M[rows[stuck], reach[stuck].argmin(axis=1)] = 0
        support[rows[stuck]] &= M[rows[stuck]] > 0
        # At the minimiser of a face, the entry that gains most joins the support, if any gains.
        free = rows[~stuck]
        slope = M[free] @ H - B[free]
        level = np.where(support[free], slope, -np.inf).max(axis=1)
        outside = np.where(support[free], np.inf, slope)
        candidate = outside.argmin(axis=1)
        gains = outside.min(axis=1) < level - tolerance[free]
        support[free[gains], candidate[gains]] = True
        rows = np.concatenate([rows[stuck], free[gains]])
        if len(rows) == 0:
            break
    return M


def _on_support(H: Array, B: Array, support: NDArray[np.bool_]) -> Array:
    """The minimiser over the rows that sum to 1 and are 0 outside the support, of any sign."""
    n = len(B)
    width = int(support.sum(axis=1).max())
    chosen = np.argsort(~support, axis=1, kind="stable")[:, :width]  # the support, then entries to be ignored
    inside = np.take_along_axis(support, chosen, axis=1)
    system = np.zeros((n, width + 1, width + 1))
    both = inside[:, :, None] & inside[:, None, :]
    system[:, :-1, :-1] = np.where(both, H[chosen[:, :, None], chosen[:, None, :]], np.eye(width) * ~inside[:, None, :])
    system[:, :-1, -1] = system[:, -1, :-1] = inside
    right = np.ones((n, width + 1))
    right[:, :-1] = np.where(inside, np.take_along_axis(B, chosen, axis=1), 0)
    solution = np.linalg.solve(system, right[:, :, None])[:, :-1, 0]
    best = np.zeros_like(B)
    np.put_along_axis(best, chosen, np.where(inside, solution, 0), axis=1)
    return best
