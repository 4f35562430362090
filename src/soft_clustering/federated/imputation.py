"""Multiple imputation under one Gaussian: parameters by EM, then draws of what is missing given what is there.

With mean mu and precision P of all features, the missing features M of a row given the observed ones O are Gaussian
with precision P_MM and mean mu_M - P_MM^-1 P_MO (x_O - mu_O).

References
----------
A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm. J. Royal
Statistical Society B 39(1), 1-38.

D. B. Rubin (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Array
from ..engine.threads import single_threaded_blas
from ..kernels.gauss import inverse_cholesky

_PRIOR = 1.0  # rows that the prior, a covariance of identity, counts for: no covariance is singular
_MAX_ITER, _TOL = 100, 1e-4
_NUMBERS = 1 << 20  # in the matrices of a piece of rows


class _Piece(NamedTuple):
    """Some incomplete rows and their patterns, each padded to as many gaps as the largest one has."""

    rows: NDArray[np.intp]
    member: NDArray[np.intp]  # the pattern of each row
    columns: NDArray[np.intp]  # (P, q) columns of the gaps, then others
    gaps: NDArray[np.bool_]  # (P, q) whether it is a gap


def impute(Z: Array, n_imputations: int, rng: np.random.RandomState) -> list[Array]:
    """Completed copies of standardised data; one copy if no value is missing.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Columns of mean 0 and standard deviation 1, NaN where a value is missing.
    n_imputations : int
    rng : RandomState

    Returns
    -------
    copies : list of ndarrays of shape (n, d)

    Examples
    --------
    >>> Z = np.array([[-1.0, -1.0], [1.0, 1.0], [1.0, np.nan], [-1.0, -1.0]])
    >>> copies = impute(Z, 3, np.random.RandomState(0))
    >>> len(copies), bool(np.isnan(copies[0]).any())
    (3, False)
    """
    missing = np.isnan(Z)
    if not missing.any():
        return [Z]
    copies = [Z.copy() for _ in range(n_imputations)]
    with single_threaded_blas():
        pieces = _pieces(missing)
        mean, precision = _gaussian(Z, pieces)
        for piece in pieces:
            expected, factors = _conditional(Z, piece, mean, precision)
            for copy in copies:
                noise = _transposed(factors[piece.member]) @ rng.standard_normal((*expected.shape, 1))
                _fill(copy, piece, expected + noise[:, :, 0])
    return copies


def _pieces(missing: NDArray[np.bool_]) -> list[_Piece]:
    """The incomplete rows, ordered by the number of gaps and by pattern, in pieces whose matrices fit into memory."""
    incomplete = np.flatnonzero(missing.any(axis=1))
    patterns, pattern = np.unique(missing[incomplete], axis=0, return_inverse=True)
    size, pattern = patterns.sum(axis=1), pattern.ravel()
    order = np.lexsort((pattern, size[pattern]))
    numbers = np.cumsum(size[pattern[order]] ** 2) // _NUMBERS
    pieces = []
    for own in np.split(order, np.flatnonzero(np.diff(numbers)) + 1):
        used, member = np.unique(pattern[own], return_inverse=True)
        columns = np.argsort(~patterns[used], axis=1, kind="stable")[:, : size[used].max()]
        gaps = np.take_along_axis(patterns[used], columns, axis=1)
        pieces.append(_Piece(incomplete[own], member, columns, gaps))
    return pieces


def _conditional(Z: Array, piece: _Piece, mean: Array, precision: Array) -> tuple[Array, Array]:
    """Expected values of the gaps (rows, q), and per pattern the inverse factor F of their precision (P, q, q)."""
    both = piece.gaps[:, :, None] & piece.gaps[:, None, :]
    blocks = precision[piece.columns[:, :, None], piece.columns[:, None, :]]
    factors = inverse_cholesky(np.where(both, blocks, np.eye(both.shape[1])))[0]
    columns = piece.columns[piece.member]
    deviation = np.nan_to_num(Z[piece.rows] - mean)
    pull = np.take_along_axis(-deviation @ precision, columns, axis=1) * piece.gaps[piece.member]
    own = factors[piece.member]
    step = _transposed(own) @ (own @ pull[:, :, None])
    return mean[columns] + step[:, :, 0], factors


def _transposed(matrices: Array) -> Array:
    return np.swapaxes(matrices, 1, 2)


def _fill(Z: Array, piece: _Piece, values: Array) -> None:
    """Write the values of the gaps into their rows."""
    here = piece.gaps[piece.member]
    rows = np.broadcast_to(piece.rows[:, None], here.shape)
    Z[rows[here], piece.columns[piece.member][here]] = values[here]


def _gaussian(Z: Array, pieces: list[_Piece]) -> tuple[Array, Array]:
    """Mean and precision of the rows, by EM."""
    n, d = Z.shape
    mean, covariance, precision = np.zeros(d), np.eye(d), np.eye(d)
    filled = Z.copy()
    for _ in range(_MAX_ITER):
        scatter = _PRIOR * np.eye(d)
        for piece in pieces:
            expected, factors = _conditional(Z, piece, mean, precision)
            _fill(filled, piece, expected)
            factors = factors * piece.gaps[:, None, :]
            spread = _transposed(factors) @ factors * np.bincount(piece.member)[:, None, None]
            np.add.at(scatter, (piece.columns[:, :, None], piece.columns[:, None, :]), spread)
        before = mean, covariance
        mean = filled.mean(axis=0)
        centred = filled - mean
        covariance = (scatter + centred.T @ centred) / (n + _PRIOR)
        factor = inverse_cholesky(covariance[None])[0][0]
        precision = factor.T @ factor
        if max(np.abs(mean - before[0]).max(), np.abs(covariance - before[1]).max()) <= _TOL:
            break
    return mean, precision
