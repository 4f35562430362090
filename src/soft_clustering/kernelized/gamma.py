"""The width of the RBF kernel exp(-gamma |x - y|^2)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from .._types import Array
from ..engine.blocks import Blocks

_ROWS = 1000  # of which all pairs are looked at
_MEAN_SIMILARITY = 1 / 9  # of two samples at gamma='auto': in two dimensions that is 4 times 'scale'


def resolve_gamma(blocks: Blocks, gamma: float | str, gamma_scale: float = 1.0) -> float:
    """The value of ``gamma`` in input units: a number as it is, else ``gamma_scale`` times a rule.

    ``'scale'`` is one over the summed variances of the features, ``'median'`` one over the median squared distance of
    two of (at most 1000) rows; 1 if that distance is 0. ``'auto'`` is ``'scale'`` times a factor from the effective
    number of features (of at most 1000 rows), see :func:`dimension_factor`.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    return gamma_scale * float(blocks.frame.scale) ** 2 / (_spread(blocks, gamma) or 1.0)


def frame_gamma(blocks: Blocks, gamma: float | str, gamma_scale: float = 1.0) -> float:
    """The same in the coordinates of the frame, which is finite even if the value in input units overflows.

    At most 1e100 over the mean variance, so that no product with a squared distance overflows, and at least 1e-100 over
    it: both are the limit already.
    """
    unit, variance = float(blocks.frame.scale), blocks.mean_variance or 1.0
    value = gamma_scale / (_spread(blocks, gamma) or 1.0) if isinstance(gamma, str) else float(gamma) / unit / unit
    return min(max(value, 1e-100 / variance), 1e100 / variance, 1e307)


def dimension_factor(d: float) -> float:
    """Gamma times the summed variances at which two samples of a Gaussian cloud have the mean similarity 1/9.

    With the variance v / d in each of d dimensions that mean is (1 + 4 gamma v / d)^(-d / 2). Two dimensions at least:
    the factor grows without bound below.

    Examples
    --------
    >>> [round(dimension_factor(d), 2) for d in (1, 2, 5, 10, 100)]
    [4.0, 4.0, 1.76, 1.38, 1.12]
    """
    d = max(d, 2.0)
    return float(d / 4 * (_MEAN_SIMILARITY ** (-2 / d) - 1))


def _spread(blocks: Blocks, rule: str) -> float:
    """A squared distance that is typical of the rows, in the coordinates of the frame."""
    total = float(blocks.mean_variance * blocks.d)
    if rule == "scale":
        return total
    block = blocks.local(np.random.RandomState(0)).joined()
    # Along a fixed projection: the same rows whatever their order.
    Z = block.take(block.order[np.unique(np.linspace(0, block.n - 1, _ROWS).astype(np.intp))])
    if rule == "auto":
        return total / dimension_factor(_effective_dimensions(Z))
    squared = pdist(Z, "sqeuclidean")
    return float(np.median(squared)) if len(squared) else 0.0


def _effective_dimensions(Z: Array) -> float:
    """(tr C)^2 / tr(C^2) of the covariance C: d for d features of equal variance, 1 where one has all of it."""
    Z = Z - Z.mean(axis=0)
    Z /= np.abs(Z).max() or 1.0
    C = Z.T @ Z if Z.shape[1] <= len(Z) else Z @ Z.T
    return float(np.trace(C) ** 2 / (np.vdot(C, C) or 1.0))
