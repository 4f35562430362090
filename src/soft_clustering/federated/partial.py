"""Points with missing coordinates: partial distances, and k-means of a few weighted points.

The partial squared distance of two points is the sum over the coordinates that both have, times the number of all
coordinates over the number of shared ones.

References
----------
R. J. Hathaway, J. C. Bezdek (2001). Fuzzy c-means clustering of incomplete data. IEEE Trans. Systems, Man, and
Cybernetics B 31(5), 735-744.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Array
from ..kernels import reference

_STARTS = 20
_MAX_ITER = 100


def partial_distances(points: Array, centers: Array) -> Array:
    """Partial squared distances (n, K); infinite where two points share no coordinate.

    Examples
    --------
    >>> partial_distances(np.array([[3.0, np.nan], [0.0, 4.0]]), np.zeros((1, 2)))
    array([[18.],
           [16.]])
    """
    shared = (~np.isnan(points)).astype(np.float64) @ (~np.isnan(centers)).T
    D = points.shape[1] * reference.squared_distances(points, centers)
    distances: Array = np.full(D.shape, np.inf)
    np.divide(D, shared, out=distances, where=shared > 0)
    return distances


class KMeansResult(NamedTuple):
    """The best of several starts."""

    centers: Array  # (K, d), NaN where no point of a cluster has the coordinate
    labels: NDArray[np.intp]  # (n,)
    history: list[float]  # weighted sum of the partial distances, per pass


def partial_kmeans(points: Array, weight: Array, K: int, rng: np.random.RandomState) -> KMeansResult:
    """k-means of weighted points, some of their coordinates NaN: the best of 20 starts from k-means++ seeds.

    Every two points must share a coordinate.
    """
    runs = [_lloyd(points, weight, _seeds(points, weight, K, rng)) for _ in range(_STARTS)]
    return min(runs, key=lambda run: run.history[-1])


def _seeds(points: Array, weight: Array, K: int, rng: np.random.RandomState) -> Array:
    """K different points, each drawn by weight times the distance to the nearest seed so far."""
    everything = np.arange(len(points))
    chosen: list[int] = []
    mass, nearest = weight, np.full(len(points), np.inf)
    for _ in range(K):
        chosen.append(int(reference.draw(mass, everything, rng.uniform(size=1))[0]))
        nearest = np.minimum(nearest, partial_distances(points, points[chosen[-1:]])[:, 0])
        mass = weight * nearest
        mass[chosen] = 0
        if not mass.any():  # the others coincide with seeds
            mass = np.where(np.isin(everything, chosen), 0.0, 1.0)
    return points[chosen]


def _lloyd(points: Array, weight: Array, centers: Array) -> KMeansResult:
    labels = np.full(len(points), -1)
    history: list[float] = []
    for _ in range(_MAX_ITER):
        D = partial_distances(points, centers)
        before, labels = labels, D.argmin(axis=1)
        cost = weight * D[np.arange(len(D)), labels]
        history.append(float(cost.sum()))
        if np.array_equal(labels, before):
            break
        for k in np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0):
            worst = int(cost.argmax())
            if cost[worst] > 0:
                labels[worst], cost[worst] = k, 0
        centers = _means(points, weight, labels, centers)
    return KMeansResult(centers, labels, history)


def _means(points: Array, weight: Array, labels: NDArray[np.intp], centers: Array) -> Array:
    """Means per cluster and coordinate, of the points that have it; the centre of a cluster without points stays.

    A point counts by its weight over the share of coordinates that it has, as it does in the partial distance: then no
    pass makes the sum of the distances larger, once every centre has every coordinate.
    """
    there = ~np.isnan(points)
    mass = (weight / there.mean(axis=1))[:, None] * (labels[:, None] == np.arange(len(centers)))
    total, known = mass.T @ np.where(there, points, 0.0), mass.T @ there
    means = np.divide(total, known, out=np.full_like(total, np.nan), where=known > 0)
    return np.where(mass.any(axis=0)[:, None], means, centers)
