"""Objects that are known by their dissimilarities: rows of features under a metric, or rows of a given matrix.

A relational method validates its input with :func:`validate_objects`, measures among the training objects with
:class:`Dissimilarities`, starts from :func:`medoid_labels`, and keeps :class:`Landmarks` for new objects.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances
from sklearn.utils import Tags

from .._types import Array, Indices, Matrix, MatrixLike
from ..inputs.features import refuse_dask, validate_features
from ..inputs.gower import Gower
from ..inputs.mixed import validate_table
from ..inputs.pairwise import check_dissimilarities
from ..kernels import reference
from ..kernels.centers import center_distances
from .blocks import Block, Frame, make_blocks

_MEDOID_STEPS = 100
_CHUNK = 1 << 22  # numbers of a temporary array
_SIDE = 256  # of a square of a matrix that fits into the cache
_SAMPLE = 1 << 14  # values that bracket a quantile
# These metrics depend on differences alone, so the data may be shifted and scaled by a frame without loss of accuracy.
_OF_DIFFERENCES = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "minkowski": "euclidean",
    "cityblock": "cityblock",
    "manhattan": "cityblock",
    "l1": "cityblock",
    "chebyshev": "chebyshev",
}
_OF_SPARSE = ("euclidean", "l2", "minkowski", "cityblock", "manhattan", "l1", "cosine")
_FITTED_SCALE = ("seuclidean", "mahalanobis")  # scaled by the data of each call: new data get another metric

DissimilarityMetric = str | Callable[[Any, Any], float]
"""The name of a metric, ``'precomputed'``, ``'gower'``, or a function of two rows."""

KnownMetric = DissimilarityMetric | Gower
"""A metric that has seen the table in ``fit``, if that matters."""


def validate_objects(
    estimator: BaseEstimator, X: MatrixLike, metric: KnownMetric, *, reset: bool, accept_sparse: bool = False
) -> tuple[Any, KnownMetric]:
    """Validated features, and the metric for them.

    With ``metric='precomputed'`` a matrix of dissimilarities, which is square in ``fit``. With ``'gower'`` a table as a
    matrix of numbers and codes of categories, where NaN is missing; prediction needs the metric that ``fit`` got.

    ``accept_sparse``: whether features may be sparse, for the metrics that are defined for sparse rows.
    """
    refuse_dask(estimator, X)
    if metric == "gower" or isinstance(metric, Gower):
        known = metric.columns if isinstance(metric, Gower) else None
        table = validate_table(estimator, X, "from_dtype", known)
        return table.matrix, Gower(table.columns) if known is None else metric
    X = validate_features(estimator, X, reset=reset, accept_sparse=accept_sparse and metric != "precomputed")
    if sparse.issparse(X) and metric not in _OF_SPARSE:
        raise TypeError(f"metric must be one of {', '.join(_OF_SPARSE)} for a sparse X. Got {metric!r} instead.")
    if metric == "precomputed":
        check_dissimilarities(X, square=reset)
    elif metric in _FITTED_SCALE:
        raise ValueError(
            f"metric must not be scaled by the data, as new data would be measured by another metric. Got "
            f"{metric!r} instead: scale X and use 'euclidean'."
        )
    elif reset and metric not in _OF_DIFFERENCES:
        with np.errstate(all="ignore"):
            pairwise_distances(X[:1], metric=metric)  # refuses a name that it does not know
    return X, metric


def weight_of_known(X: Any, weight: Array | None, metric: KnownMetric) -> Array | None:
    """Weights of rows, 0 for those without any value, which say nothing about the clusters."""
    unknown = np.isnan(X).all(axis=1) if isinstance(metric, Gower) else np.zeros(0, dtype=bool)
    return np.where(unknown, 0.0, 1.0 if weight is None else weight) if unknown.any() else weight


def tag_metric(tags: Tags, metric: DissimilarityMetric) -> None:
    """Tell in the tags of an estimator what X is under a metric."""
    tags.input_tags.pairwise = metric == "precomputed"
    tags.input_tags.allow_nan = tags.input_tags.categorical = metric == "gower"


class Metric(NamedTuple):
    """A metric in units in which nothing overflows."""

    name: KnownMetric
    frame: Frame | None  # coordinates of the features, None for input units
    unit: float  # input dissimilarity of two objects whose measured one is 1
    of_sparse: bool = False  # whether the objects are CSR rows, in input units

    def objects(self, X: Any) -> Any:
        """Validated rows in these units."""
        if isinstance(self.name, Gower):
            return self.name.rows(X)
        if self.of_sparse:
            return sparse.csr_array(X)
        if sparse.issparse(X):
            X = X.toarray()
        if self.name == "precomputed":
            with np.errstate(over="ignore"):  # an infinite dissimilarity serves as a large one
                scaled: Array = np.divide(X, self.unit, dtype=np.float64)
            return scaled
        return X.astype(np.float64) if self.frame is None else self.frame.from_input(X)

    def measure(self, objects: Any, others: Any) -> Array:
        """Dissimilarities of objects to others: rows of features, or indices of columns of dissimilarities."""
        if self.name == "precomputed":
            given: Array = objects[:, others]
            return given
        if isinstance(self.name, Gower):
            return self.name.between(objects, others)
        if self.frame is not None:
            kind = _OF_DIFFERENCES[str(self.name)]
            if not self.of_sparse:
                return np.asarray(cdist(objects, others, kind))
            if kind == "euclidean":
                return self._between_sparse(objects, others)
            objects, others = objects * self.frame.scale, others * self.frame.scale
        with np.errstate(all="ignore"):
            D: Array = pairwise_distances(objects, others, metric=self.name)
        if not np.isfinite(D).all():
            raise ValueError(f"metric={self.name!r} is not defined, or not finite, between some rows of X.")
        if callable(self.name) and D.min(initial=0) < 0:
            raise ValueError(f"metric={self.name!r} must give numbers >= 0. Got {D.min():.3g} between two rows of X.")
        return np.maximum(D, 0)

    def _between_sparse(self, objects: Any, others: Any) -> Array:
        """Euclidean distances of CSR rows, some of the others at a time as dense rows."""
        assert self.frame is not None
        block, (n, d) = Block(objects, None, self.frame), others.shape
        step = max(1, _CHUNK // d)
        dense = (Block(others[lo : lo + step], None, self.frame).take(slice(None)) for lo in range(0, n, step))
        return np.sqrt(np.hstack([center_distances(block, V) for V in dense]))


class Landmarks(NamedTuple):
    """Some training objects, to measure new objects to."""

    metric: Metric
    others: Any  # rows of features, or indices of columns of dissimilarities

    def measure(self, X: Matrix) -> Array:
        """Dissimilarities of validated new rows to the landmarks."""
        return self.metric.measure(self.metric.objects(X), self.others)


class Dissimilarities:
    """The dissimilarities among training objects.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features), or ndarray (n_samples, n_samples) if precomputed
        Validated; a matrix of dissimilarities is replaced by the mean of itself and its transpose.
    metric : str, callable or Gower
    kept : ndarray of indices, default=None
        Which samples are the objects; None: all.

    Attributes
    ----------
    metric : Metric
        Its ``unit`` converts measured dissimilarities to input units.

    Examples
    --------
    >>> objects = Dissimilarities(np.array([[0.0], [1.0], [5.0]]), "euclidean")
    >>> objects.between([0, 1], [2])[:, 0] * objects.metric.unit
    array([5., 4.])
    >>> objects.landmarks([2]).measure(np.array([[3.0]])) * objects.metric.unit
    array([[2.]])
    """

    def __init__(self, X: Matrix, metric: KnownMetric, kept: NDArray[np.intp] | None = None) -> None:
        self._kept = kept
        if metric == "precomputed":
            X = X if kept is None else X[np.ix_(kept, kept)]
            self.metric = Metric(metric, None, float(X.max()) or 1.0)
            self._objects = symmetrised(self.metric.objects(X))
            np.fill_diagonal(self._objects, 0)
            return
        X = X if kept is None else X[kept]
        if isinstance(metric, Gower):
            metric = metric.fitted(X)
        frame = make_blocks(X).frame if metric in _OF_DIFFERENCES else None
        self.metric = Metric(metric, frame, 1.0 if frame is None else 1 / float(frame.scale), sparse.issparse(X))
        self._objects = self.metric.objects(X)

    def __len__(self) -> int:
        return int(self._objects.shape[0])

    def between(self, some: Indices, others: Indices) -> Array:
        """Dissimilarities of some objects to others, by indices or slices.

        With slices, precomputed dissimilarities are a view: writing into them changes the matrix.
        """
        columns = others if self.metric.name == "precomputed" else self._objects[others]
        return self.metric.measure(self._objects[some], columns)

    def landmarks(self, indices: Indices) -> Landmarks:
        """Some objects, to measure new ones to."""
        if self.metric.name == "precomputed":
            return Landmarks(self.metric, indices if self._kept is None else self._kept[indices])
        return Landmarks(self.metric, self._objects[indices])

    def n_distinct(self, most: int) -> int:
        """The number of distinct objects, up to ``most``; each next object is the farthest from all before."""
        nearest = np.full(len(self), np.inf)
        for count in range(most):
            farthest = int(nearest.argmax())
            if nearest[farthest] == 0:
                return count
            np.minimum(nearest, self.between(slice(None), [farthest])[:, 0], out=nearest)
        return most


def symmetrised(D: Array) -> Array:
    """The mean of a square matrix and its transpose, in its memory.

    Examples
    --------
    >>> symmetrised(np.array([[0.0, 1.0], [3.0, 0.0]]))
    array([[0., 2.],
           [2., 0.]])
    """
    for i, j in combinations_with_replacement(range(0, len(D), _SIDE), 2):
        here, there = D[i : i + _SIDE, j : j + _SIDE], D[j : j + _SIDE, i : i + _SIDE]
        mean = (here + there.T) / 2
        here[:], there[:] = mean, mean.T
    return D


def quantile(values: Array, level: float) -> float:
    """The quantile of NumPy, of values (n,) that may be many: a sample brackets it, and only the bracket is sorted.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0, 2.0]), 0.75)
    2.5
    """
    n = len(values)
    if n > 4 * _SAMPLE:
        sample = np.sort(values[np.random.RandomState(0).randint(n, size=_SAMPLE)])
        reach = 2 * np.sqrt(_SAMPLE)  # at least four standard deviations of the rank
        ends = np.clip([level * _SAMPLE - reach, level * _SAMPLE + reach], 0, _SAMPLE - 1).astype(np.intp)
        low, high = sample[ends]
        part, place = np.modf(level * (n - 1))
        rank = int(place) - np.count_nonzero(values < low)
        inside = values[(values >= low) & (values <= high)]
        if 0 <= rank < len(inside) - 1:
            inside.partition([rank, rank + 1])
            return float(inside[rank] + part * (inside[rank + 1] - inside[rank]))
    return float(np.quantile(values, level))


def medoid_labels(D: Array, n_clusters: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Labels (n,) of k-medoids by alternation, from seeds drawn as in k-means++."""
    n = len(D)
    medoids = np.empty(n_clusters, dtype=np.intp)
    nearest = np.ones(n)
    for k in range(n_clusters):
        medoids[k] = reference.draw(np.square(nearest), np.arange(n), rng.uniform(size=1))[0]
        nearest = np.minimum(nearest, D[medoids[k]]) if k else D[medoids[k]]
    for _ in range(_MEDOID_STEPS):
        labels: NDArray[np.intp] = D[:, medoids].argmin(axis=1)
        own = labels[:, None] == np.arange(n_clusters)
        cost = np.where(own, D @ own.astype(np.float64), np.inf)
        better = np.where(own.any(axis=0), cost.argmin(axis=0), medoids)
        if np.array_equal(better, medoids):
            break
        medoids = better
    return labels


def distinct_draws(rng: np.random.RandomState, rows: int, size: int, k: int) -> NDArray[np.intp]:
    """Draw, for each of some rows, k different integers below ``size`` >= k, uniformly and independently.

    Repetitions are drawn again; if there would be many, random keys are sorted instead, for a bounded number of rows at
    once.
    """
    if 2 * k > size:
        step = max(1, _CHUNK // size)
        parts = [
            np.argpartition(rng.uniform(size=(min(step, rows - lo), size)), k - 1, axis=1)[:, :k]
            for lo in range(0, rows, step)
        ]
        return np.concatenate(parts)
    draws = np.sort(rng.randint(size, size=(rows, k)), axis=1)
    while True:
        again = np.zeros(draws.shape, dtype=bool)
        again[:, 1:] = draws[:, 1:] == draws[:, :-1]
        if not again.any():
            return draws.astype(np.intp)
        draws[again] = rng.randint(size, size=int(again.sum()))
        draws.sort(axis=1)


def classical_scaling(D: Array, n_axes: int) -> Array:
    """Return points whose distances are close to those given, in units of the largest distance [1]_.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_samples)
        Distances, symmetric.
    n_axes : int
        The largest number of coordinates; axes without extent are left out.

    References
    ----------
    .. [1] W. S. Torgerson (1952). Multidimensional scaling: I. Theory and method. Psychometrika 17(4), 401-419.

    Examples
    --------
    >>> import numpy as np
    >>> classical_scaling(np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), 2).shape  # on a line
    (3, 1)
    """
    squares = (D / (float(D.max()) or 1.0)) ** 2
    means = squares.mean(axis=0)
    values, vectors = eigh(-0.5 * (squares - means - means[:, None] + means.mean()))
    values, vectors = values[::-1][:n_axes], vectors[:, ::-1][:, :n_axes]
    kept = values > 1e-6 * max(values.max(initial=0.0), 1e-300)
    points: Array = vectors[:, kept] * np.sqrt(values[kept])
    return points
