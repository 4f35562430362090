"""The width of the RBF kernel exp(-gamma |x - y|^2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from ..engine.blocks import Blocks

_ROWS = 1000  # of which all pairs are looked at


def resolve_gamma(blocks: Blocks, gamma: Any, gamma_scale: float = 1.0) -> float:
    """The value of ``gamma`` in input units: a number as it is, else ``gamma_scale`` times a rule.

    ``'scale'`` is one over the summed variances of the features, ``'median'`` one over the median squared distance of
    two of (at most 1000) rows; 1 where that is no number.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    return gamma_scale * float(blocks.frame.scale) ** 2 / (_spread(blocks, gamma) or 1.0)


def frame_gamma(blocks: Blocks, gamma: Any, gamma_scale: float = 1.0) -> float:
    """The same in the coordinates of the frame, also where in input units it is no float.

    At most 1e100 over the mean variance, so that no product with a squared distance overflows, and at least 1e-100 over
    it: both are the limit already.
    """
    unit, variance = float(blocks.frame.scale), blocks.mean_variance or 1.0
    value = gamma_scale / (_spread(blocks, gamma) or 1.0) if isinstance(gamma, str) else float(gamma) / unit / unit
    return min(max(value, 1e-100 / variance), 1e100 / variance, 1e307)


def _spread(blocks: Blocks, rule: str) -> float:
    """A squared distance that is typical of the rows, in the coordinates of the frame."""
    if rule == "scale":
        return blocks.mean_variance * blocks.d
    block = blocks.local(np.random.RandomState(0)).joined()
    # Along a fixed projection: the same rows whatever their order.
    rows = block.order[np.unique(np.linspace(0, block.n - 1, _ROWS).astype(np.intp))]
    squared = pdist(block.take(rows), "sqeuclidean")
    return float(np.median(squared)) if len(squared) else 0.0
