"""What possibilistic c-means and possibilistic fuzzy c-means share: bandwidths, and prototypes that coincide."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .._types import Array
from ..engine.alternating import new_centers
from ..engine.blocks import Blocks, Frame
from ..engine.loop import Policy, state_shift
from ..kernels import EMPTY
from ..kernels.centers import center_scatter, center_statistics


class Typical(NamedTuple):
    """The state: centres, and bandwidths that stay as they are while the centres move."""

    centers: Array  # (K, d)
    bandwidth: Array  # (K,)

    def drift(self, old: Typical, unit: float) -> float:
        """Movement of the centres."""
        return float(np.linalg.norm(self.centers - old.centers)) / unit

    def to_vector(self) -> Array:
        """The centres."""
        return self.centers.ravel()

    def from_vector(self, vector: Array) -> Typical:
        """The same bandwidths with other centres."""
        return self._replace(centers=vector.reshape(self.centers.shape))


TYPICAL = Policy(residual=state_shift, place=attrgetter("centers"), sparse=True, missing=True)


def fuzzy_bandwidths(blocks: Blocks, V: Array, m: float, scale: float) -> Array:
    """``scale`` times the mean squared distance sum_i w u^m D / sum_i w u^m of each fuzzy cluster (K,).

    A given centre may be far from all rows, and its bandwidth would then reach over all of them: it is at most the
    variance of the data, or of the cluster about its own mean.
    """
    weight, scatter = blocks.reduce(center_scatter, V, "fcm", m)
    full, spread = weight >= EMPTY, blocks.mean_variance * blocks.d
    mean = np.divide(scatter, weight, out=np.full(len(V), spread), where=full)
    if (mean > spread).any():
        centers = new_centers(V, blocks.reduce(center_statistics, V, "fcm", m)._replace(worst=0.0))
        mean = np.minimum(mean, np.maximum(mean - ((centers - V) ** 2).sum(axis=1), spread))
    return bounded(np.minimum(scale, 1e100) * mean, blocks)


def bounded(bandwidth: Array, blocks: Blocks) -> Array:
    """Bandwidths between 1e-12 and 1e12 times the total variance; 1 if all rows are the same."""
    spread = blocks.mean_variance * blocks.d
    return np.clip(bandwidth, 1e-12 * spread, 1e12 * spread) if spread > 0 else np.ones_like(bandwidth)


def bandwidth_to_input(bandwidth: Array, frame: Frame) -> Array:
    """Bandwidths in squared input units; infinite if the squares of the data overflow."""
    with np.errstate(over="ignore", under="ignore"):
        return bandwidth / frame.scale / frame.scale


def distinct(V: Array, bandwidth: Array) -> NDArray[np.bool_]:
    """Which prototypes (K,) are not within a thousandth of the bandwidth of an earlier one.

    Examples
    --------
    >>> distinct(np.array([[0.0], [0.01], [1.0]]), np.ones(3))
    array([ True, False,  True])
    """
    close = cdist(V, V, "sqeuclidean") <= 1e-3 * np.minimum.outer(bandwidth, bandwidth)
    coincides: NDArray[np.bool_] = np.tril(close, -1).any(axis=1)
    return ~coincides
