"""DBSCAN of weighted rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._types import Array
from ..engine.neighbors import Pairs


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
