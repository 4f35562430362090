"""Warnings of fits that went wrong: prototypes that coincide, memberships that tell no row from another."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .._types import Array
from .blocks import Blocks, distinct_rows
from .loop import NEAR

_ACCURACY = 100  # distance of the centres from where they would end, in units of the movement at which they stop
_ALIKE = 0.05  # of the largest membership: smaller differences tell neither two rows nor two clusters apart


def rows_alike(memberships: NDArray[Any]) -> bool:
    """Whether all rows have the same memberships, up to a twentieth of the largest in each column."""

    def alike(rows: NDArray[Any]) -> bool:
        return bool((rows.min(axis=0) >= (1 - _ALIKE) * rows.max(axis=0)).all())

    # A thousand rows settle it in all but the worst fits.
    return alike(memberships[:: max(1, len(memberships) // 1000)]) and alike(memberships)


def columns_alike(memberships: NDArray[Any], k: int, other: int) -> bool:
    """Whether two clusters have the same rows, up to a twentieth of the largest membership."""
    a, b = memberships[:, k], memberships[:, other]
    return bool(abs(a - b).max() <= _ALIKE * a.max())


def coinciding(
    name: str, V: Array, memberships: NDArray[Any], spread: float, remedy: str, tol: float = 0.0
) -> list[str]:
    """A complaint when all rows have the same memberships, or when all or some prototypes coincide.

    Two prototypes coincide if only rounding tells them apart, or if they are within a hundredth of the root mean
    variance and have the same memberships. A large ``tol`` widens the hundredth to what the centres may still be away
    from where they would end.

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
        What to try, with the cause that the estimator can know.
    tol : float, default=0.0
        The tolerance of a method that stops by :func:`.loop.center_shift`.
    """
    finding = _finding(V, memberships, spread, tol)
    return [f"{name} {finding}; {remedy}"] if finding else []


def collapse(
    name: str, V: Array, memberships: NDArray[Any], blocks: Blocks, remedy: str, tol: float = 0.0
) -> list[str]:
    """:func:`coinciding` for prototypes of some blocks; where their rows are duplicates, that is the cause it names."""
    finding = _finding(V, memberships, blocks.mean_variance * blocks.d, tol)
    return [f"{name} {finding}; {duplicates(blocks, len(V)) or remedy}"] if finding else []


def duplicates(blocks: Blocks, K: int) -> str:
    """A remedy where fewer than K samples differ from each other, empty elsewhere."""
    n = blocks.reduce(distinct_rows, K).n
    return f"X has duplicates and only {n} distinct samples: use fewer clusters" if n < K else ""


def _finding(V: Array, memberships: NDArray[Any], spread: float, tol: float) -> str:
    """What is wrong with prototypes and memberships; empty if nothing is."""
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
