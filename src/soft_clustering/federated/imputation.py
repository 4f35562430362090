"""Multiple imputation under one Gaussian: parameters by EM, then draws of what is missing given what is there.

The missing features of a row given the others are Gaussian; ``engine/missing.py`` has their means and covariances.

References
----------
A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm. J. Royal
Statistical Society B 39(1), 1-38.

D. B. Rubin (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.
"""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..engine.missing import Gaps, conditional, gaps_of
from ..engine.threads import single_threaded_blas
from ..kernels.gauss import inverse_cholesky

_PRIOR = 1.0  # rows that the prior, a covariance of identity, counts for: no covariance is singular
_MAX_ITER, _TOL = 100, 1e-4


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
        groups = gaps_of(missing)
        mean, factor = _gaussian(Z, groups)
        for gaps in groups:
            expected, inverses = conditional(np.nan_to_num(Z - mean), gaps, factor)
            for copy in copies:
                noise = inverses[gaps.member] @ rng.standard_normal((*expected.shape, 1))
                copy[gaps.places] = mean[gaps.places[1]] + expected + noise[:, :, 0]
    return copies


def _gaussian(Z: Array, groups: list[Gaps]) -> tuple[Array, Array]:
    """Mean of the rows, and the inverse Cholesky factor of their covariance, by EM."""
    n, d = Z.shape
    mean, covariance, factor = np.zeros(d), np.eye(d), np.eye(d)
    for _ in range(_MAX_ITER):
        scatter, centred = _PRIOR * np.eye(d), np.nan_to_num(Z - mean)
        for gaps in groups:
            expected, inverses = conditional(centred, gaps, factor)
            centred[gaps.places] = expected
            spread = inverses @ inverses.swapaxes(1, 2) * np.bincount(gaps.member)[:, None, None]
            np.add.at(scatter, (gaps.columns[:, :, None], gaps.columns[:, None, :]), spread)
        before = mean, covariance
        shift = centred.mean(axis=0)
        mean, centred = mean + shift, centred - shift
        covariance = (scatter + centred.T @ centred) / (n + _PRIOR)
        factor = inverse_cholesky(covariance[None])[0][0]
        if max(np.abs(mean - before[0]).max(), np.abs(covariance - before[1]).max()) <= _TOL:
            break
    return mean, factor
