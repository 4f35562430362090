"""DBSCAN of weighted rows, and the search for neighbours that it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import coo_array, triu
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from .._types import Array

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


class Search:
    """Neighbours among rows (n, d): by a tree, or by brute force, which is faster in many features but less exact."""

    def __init__(self, Z: Array, brute: bool = False, n_jobs: int | None = None) -> None:
        self.n, self._jobs = len(Z), effective_n_jobs(n_jobs)
        self._search: Any = NearestNeighbors(algorithm="brute", n_jobs=n_jobs).fit(Z) if brute else KDTree(Z)

    def nearest(self, rows: Array, k: int) -> tuple[Array, NDArray[np.intp]]:
        """Ascending distances (rows, k) to the nearest, and which they are."""
        if isinstance(self._search, KDTree):
            distances, indices = self._search.query(rows, np.arange(1, k + 1), workers=self._jobs)
        else:
            distances, indices = self._search.kneighbors(rows, k)
        return distances, indices

    def pairs(self, radius: float) -> Pairs:
        """The pairs i, j of different rows within a radius, each once."""
        if isinstance(self._search, KDTree):
            i, j = self._search.query_pairs(radius, output_type="ndarray").T
        else:
            i, j = triu(self._search.radius_neighbors_graph(radius=radius), 1).nonzero()
        return i, j


def density_clusters(pairs: Pairs, weight: Array, min_samples: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Labels (n,) of DBSCAN, -1 for noise, and its core samples, from the pairs of rows within the radius.

    A row is a core sample if it and its neighbours weigh at least ``min_samples``. Clusters are numbered by their first
    core sample; a row in reach of core samples of several clusters belongs to the first of them.

    Examples
    --------
    >>> pairs = np.array([0, 1, 3]), np.array([1, 2, 4])
    >>> density_clusters(pairs, np.ones(6), 3)
    (array([ 0,  0,  0, -1, -1, -1]), array([1]))
    """
    n, (i, j) = len(weight), pairs
    mass = weight + np.bincount(i, weight[j], n) + np.bincount(j, weight[i], n)
    core = mass >= min_samples
    inside = core[i] & core[j]
    links = coo_array((np.ones(np.count_nonzero(inside)), (i[inside], j[inside])), shape=(n, n))
    labels = np.full(n, n)
    labels[core] = np.unique(connected_components(links, directed=False)[1][core], return_inverse=True)[1]
    for one, other in ((i, j), (j, i)):
        edge = core[one] & ~core[other]
        np.minimum.at(labels, other[edge], labels[one[edge]])
    labels[labels == n] = -1
    return labels, np.flatnonzero(core)
