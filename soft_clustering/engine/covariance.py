"""Covariance matrices by their Cholesky factors."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from .blocks import Array


def inverse_cholesky(covariances: Array) -> tuple[Array, int | None]:
    """Inverses (K, d, d) of the lower Cholesky factors, and the first matrix that is not positive definite, if any.

    Examples
    --------
    >>> factors, failed = inverse_cholesky(np.array([[[4.0, 0.0], [2.0, 2.0]]]))
    >>> factors
    array([[[ 0.5,  0. ],
            [-0.5,  1. ]]])
    >>> failed is None
    True
    """
    factors = np.empty_like(covariances)
    for k, covariance in enumerate(covariances):
        lower, failed = lapack.dpotrf(covariance, lower=1, clean=1)
        # A diagonal entry that is not a positive normal number cannot be inverted safely.
        if failed or not np.all(np.diag(lower) > 1e-290):
            return factors, k
        factors[k], _ = lapack.dtrtri(lower, lower=1)
    return factors, None
