"""What a metric means for a hierarchy of densities: coordinates, dissimilarities, and levels in input units."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator

from .. import kernels
from .._types import Array, MatrixLike
from ..engine.blocks import Frame
from ..engine.dissimilarities import KnownMetric, Metric, validate_objects
from ..inputs.features import refuse_dask
from ..inputs.gower import Gower
from ..kernels.hierarchy import AllPairs, Boxes, Pairs
from .hierarchy import snapped

# Metrics that grow with the Euclidean distance, by the power of two of their unit if the features have the unit 2.
_OF_SQUARES: dict[KnownMetric, int] = {
    "euclidean": 1,
    "l2": 1,
    "minkowski": 1,
    "nan_euclidean": 1,
    "sqeuclidean": 2,
    "cosine": 0,
}
_OF_DIFFERENCES = ("cityblock", "manhattan", "l1", "chebyshev")
_MOST = 1e100  # coordinates whose squares do not overflow


def validate_rows(
    estimator: BaseEstimator, X: MatrixLike, metric: KnownMetric, *, reset: bool
) -> tuple[NDArray[Any], KnownMetric]:
    """As :func:`..engine.dissimilarities.validate_objects`, but some dissimilarities may be infinite."""
    if metric != "precomputed":
        return validate_objects(estimator, X, metric, reset=reset)
    refuse_dask(estimator, X)
    given = np.asarray(X)
    infinite = np.isposinf(given) if given.dtype.kind == "f" else np.zeros(given.shape, dtype=bool)
    if not infinite.any():
        return validate_objects(estimator, X, metric, reset=reset)
    finite = np.where(infinite, 0, given)
    # Twice the largest dissimilarity stands for infinity, so that it has to be there in the transpose, too.
    stand_in = 2 * (np.nanmax(finite) or 1)
    rows, _ = validate_objects(estimator, np.where(infinite, stand_in, given), metric, reset=reset)
    rows[infinite] = np.inf
    return rows, metric


class Space(NamedTuple):
    """A metric and the unit in which it is measured: a power of two, so that it costs no accuracy.

    Examples
    --------
    >>> space = Space.of(np.array([[0.0], [3.0], [12.0]]), "euclidean")
    >>> points = space.objects(np.array([[0.0], [3.0], [12.0]]))
    >>> squared, _ = space.pairs(points).nearest(points, 2)
    >>> space.in_input_units(space.levels(squared))[:, 1]
    array([3., 3., 9.])
    """

    metric: KnownMetric
    exponent: int  # the unit of the objects is 2^exponent

    @classmethod
    def of(cls, X: NDArray[Any], metric: KnownMetric) -> Space:
        """The space of validated training rows."""
        if isinstance(metric, Gower):
            metric = metric.fitted(X)
        extent = 0.0
        if metric == "precomputed":
            extent = float(X[np.isfinite(X)].max(initial=0.0))
        elif metric in _OF_DIFFERENCES or _OF_SQUARES.get(metric, 0) > 0:
            extent = float((X.max(axis=0) / 2 - X.min(axis=0) / 2).max())
        return cls(metric, int(np.frexp(extent)[1]))

    def objects(self, X: NDArray[Any]) -> Array:
        """Validated rows in the unit of the space."""
        if isinstance(self.metric, Gower):
            return self.metric.rows(X)
        with np.errstate(over="ignore", under="ignore"):
            rows: Array = np.ldexp(np.ascontiguousarray(X, dtype=np.float64), -self.exponent)
        if self.metric == "precomputed":
            return rows
        if self.metric == "cosine":
            # Half the squared distance of unit rows. A row of zeros has an axis of its own: 1 from any other.
            most = np.abs(rows).max(axis=1, keepdims=True)
            zero = most == 0
            rows = rows / np.where(zero, 1, most)
            rows /= np.where(zero, 1, np.sqrt(np.square(rows).sum(axis=1, keepdims=True)))
            return np.column_stack([rows, zero])
        return np.clip(rows, -_MOST, _MOST)

    def symmetric(self, D: Array) -> Array:
        """Dissimilarities among the training rows, as exactly symmetric as they are meant."""
        D = D / 2 + D.T / 2
        np.fill_diagonal(D, 0)
        return D

    def pairs(self, points: Array) -> Pairs:
        """Search among training objects; see :meth:`levels` for its unit."""
        if self.metric == "precomputed":
            return AllPairs(points, lambda rows: rows)
        if self.metric not in _OF_SQUARES:
            frame = Frame(np.zeros(1), 1.0) if self.metric in _OF_DIFFERENCES else None
            metric = Metric(self.metric, frame, 1.0)
            return AllPairs(points, lambda rows: metric.measure(rows, points))
        if kernels.use_compiled():
            return Boxes(points)
        return AllPairs(points, lambda rows: cdist(rows, points, "sqeuclidean"))

    def levels(self, found: Array) -> Array:
        """Levels of what a search has found, which are squared distances for some metrics."""
        if self.metric == "cosine":
            found = found / 2
        elif self._squared:
            found = np.sqrt(found)
        return snapped(found)

    def found(self, levels: Array) -> Array:
        """What a search finds at these levels; ``levels`` takes it back exactly."""
        if self.metric == "cosine":
            return 2 * levels
        return np.square(levels) if self._squared else levels

    def in_input_units(self, levels: Array) -> Array:
        """Levels in the unit of the metric."""
        with np.errstate(over="ignore", under="ignore"):
            converted: Array = np.ldexp(levels, self.level_exponent)
        return converted

    def level(self, value: float) -> float:
        """A level that is given in input units."""
        return float(np.ldexp(value, -self.level_exponent))

    @property
    def _squared(self) -> bool:
        """Whether a search finds squares of the levels."""
        return _OF_SQUARES.get(self.metric) == 1

    @property
    def level_exponent(self) -> int:
        """The power of two of a level 1 in input units."""
        return self.exponent * _OF_SQUARES.get(self.metric, 1)
