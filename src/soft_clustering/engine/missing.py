"""Missing values of Gaussian rows, given the values that are there.

Let a row deviate from its mean by e, and let P = F^T F be the precision. The gaps g of the row, given the rest, have
the precision P_gg and deviate from their means by - P_gg^-1 (P e)_g in expectation, where e is 0 at the gaps. With the
R of a QR decomposition of the columns F_g, P_gg = R^T R: the condition of the factor is not squared.

References
----------
Z. Ghahramani, M. I. Jordan (1994). Supervised learning from incomplete data via an EM approach. Advances in Neural
Information Processing Systems 6, 120-127.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Array

_NUMBERS = 1 << 20  # in the matrices of a group of rows


class Gaps(NamedTuple):
    """Rows with equally many gaps."""

    rows: NDArray[np.intp]
    member: NDArray[np.intp]  # (rows,) the pattern of each
    columns: NDArray[np.intp]  # (patterns, q) the features that are missing

    @property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The index (rows, q) of the gaps in a matrix of all rows."""
        return self.rows[:, None], self.columns[self.member]


def gaps_of(missing: NDArray[np.bool_]) -> list[Gaps]:
    """The incomplete rows, by their number of gaps; several groups of the same number if they need much memory.

    Examples
    --------
    >>> [group] = gaps_of(np.array([[False, True], [False, False], [True, False], [False, True]]))
    >>> group.rows, group.columns[group.member].ravel()
    (array([0, 2, 3]), array([1, 0, 1]))
    """
    sizes = missing.sum(axis=1)
    groups = []
    for q in np.unique(sizes[sizes > 0]):
        rows = np.flatnonzero(sizes == q)
        step = max(1, _NUMBERS // int(q * missing.shape[1]))
        for own in np.split(rows, np.arange(step, len(rows), step)):
            columns = np.nonzero(missing[own])[1].reshape(-1, q)
            patterns, member = np.unique(columns, axis=0, return_inverse=True)
            groups.append(Gaps(own, member.ravel(), patterns))
    return groups


def conditional(E: Array, gaps: Gaps, factor: Array) -> tuple[Array, Array]:
    """Expected deviations (rows, q) of the gaps from the mean, and the inverses R^-1 (patterns, q, q).

    ``E`` are the deviations of all rows, 0 at their gaps; ``factor`` is F (d, d). The gaps of a pattern have the
    covariance R^-1 R^-T.

    Examples
    --------
    >>> E, missing = np.array([[2.0, 0.0]]), np.array([[False, True]])
    >>> factor = np.linalg.inv(np.linalg.cholesky([[1.0, 0.5], [0.5, 1.0]]))
    >>> expected, inverses = conditional(E, gaps_of(missing)[0], factor)
    >>> expected.round(6), (inverses @ inverses.swapaxes(1, 2)).round(6)  # 0.5 * 2, and 1 - 0.5^2
    (array([[1.]]), array([[[0.75]]]))
    """
    inverses: Array = np.linalg.inv(np.linalg.qr(factor.T[gaps.columns].swapaxes(1, 2), mode="r"))
    pull = np.take_along_axis(E[gaps.rows] @ factor.T @ factor, gaps.columns[gaps.member], axis=1)
    own = inverses[gaps.member]
    expected = -own @ (own.swapaxes(1, 2) @ pull[:, :, None])
    return expected[:, :, 0], inverses


def with_unseen(second: Array, weight: Array, seen: Array | None, variance: float) -> Array:
    """Second moments (K, d, d) of rows whose gaps were left out, as one step from a diagonal model completes them.

    ``weight`` (K,) is that of all rows, ``seen`` (K, d) that of the rows that have each feature. A gap counts with the
    variance of the values that are there, or with ``variance`` if there are none. The result is positive definite where
    that of complete rows would be: pairwise covariances need not be.

    Examples
    --------
    >>> with_unseen(np.array([[[4.0, 1.0], [1.0, 2.0]]]), np.array([4.0]), np.array([[4.0, 2.0]]), 1.0)
    array([[[4., 1.],
            [1., 4.]]])
    """
    if seen is None:
        return second
    diagonal = np.arange(second.shape[-1])
    variances = np.full(seen.shape, variance)
    np.divide(second[:, diagonal, diagonal], seen, out=variances, where=seen > 0)
    second = second.copy()
    second[:, diagonal, diagonal] = weight[:, None] * variances
    return second
