"""Rules for the radius of DBSCAN: core distances, how well a radius separates its clusters, and G-means.

Weights count as repetitions throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import log_ndtr

from .._types import Array
from ..engine.blocks import Block, Blocks, Frame
from ..engine.initialisation import lloyd
from ..engine.neighbors import Search
from ..kernels.hierarchy import Pairs
from ..kernels.pairs import reachability_linkage

CRITICAL = 1.8692  # of the Anderson-Darling statistic of G-means, at the level 0.0001
_FEWEST = 8  # samples that the statistic is for
_NOISE = 1.4  # power of the share of core samples in ``separation``
_GROUP = 1 << 22  # neighbours that are looked at together


def core_distances(Z: Array, weight: Array, min_samples: int, search: Search | Pairs | None = None) -> Array:
    """The distance of each row (n,) within which the rows, itself included, weigh ``min_samples``, or all of them do.

    ``search`` finds neighbours among the rows, if there is one already, or among others, to which the weights belong.

    Examples
    --------
    >>> core_distances(np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 1.0, 2.0]), 2)
    array([1., 1., 0.])
    """
    search = search or Search(Z)
    enough = min(min_samples, weight.sum()) * (1 - 1e-12)
    reach, left, k = np.empty(len(Z)), np.arange(len(Z)), min(min_samples, len(weight))
    while len(left):
        # Rows that weigh less than 1 may need more neighbours than that.
        undecided = []
        for group in np.array_split(left, -(-len(left) * k // _GROUP)):
            distance, index = search.nearest(Z[group], k)
            there = np.cumsum(weight[index], axis=1) >= enough
            there[:, -1] |= k == len(weight)
            found = there.any(axis=1)
            reach[group[found]] = distance[found, there[found].argmax(axis=1)]
            undecided.append(group[~found])
        left, k = np.concatenate(undecided), min(2 * k, len(weight))
    return reach


def quantile(values: Array, weight: Array, q: float | Array) -> Any:
    """The quantiles of NumPy, linear between two values, of values repeated as their weights say.

    Examples
    --------
    >>> quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), np.array([0.25, 0.75]))
    array([1.75, 2.25])
    """
    order = np.argsort(values)
    past = np.cumsum(weight[order])
    part, place = np.modf(np.maximum(q * (past[-1] - 1), 0.0))
    ends = np.searchsorted(past, np.stack([place, place + 1]), side="right")
    low, high = values[order[np.minimum(ends, len(values) - 1)]]
    return low + part * (high - low)


def separation(Z: Array, weight: Array, reach: Array, radii: Array) -> Array:
    """How well DBSCAN separates the rows at each radius: c^1.4 times the mean gap between two core samples.

    c is the share of core samples. The gap of two core samples is 1 - radius / (joining radius), where the joining
    radius is the least one at which they are in the same cluster; it is 0 if they are in the same cluster already.
    ``reach`` are the core distances (n,). A radius that is too large joins everything, one that is too small leaves few
    core samples, and clusters that a slightly larger radius would join count little. The power of c says what noise
    costs: with c^2, the mean over all pairs in which noise counts 0, the rule joins clusters that touch to have less
    noise; with c, it leaves too few core samples in many features. Single linkage of the mutual reachability distances
    max(|z_i - z_j|, reach_i, reach_j) knows the clusters of all radii. Time is O(n^2).

    Examples
    --------
    >>> Z = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> separation(Z, np.ones(4), np.ones(4), np.array([0.5, 1.0, 2.0, 4.0]))
    array([0.   , 0.375, 0.25 , 0.   ])
    """
    n = len(Z)
    if n < 2:
        return np.zeros(len(radii))
    nodes, level = reachability_linkage(Z, reach)
    mass = np.zeros((2 * n - 1, len(radii)))  # of the core samples in each node of the tree
    mass[:n] = weight[:, None] * (reach[:, None] <= radii)
    for step, (a, b) in enumerate(nodes.tolist(), n):
        np.add(mass[a], mass[b], out=mass[step])
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(level[:, None] > radii, 1 - radii / level[:, None], 0.0)
    total = weight.sum()
    core = np.maximum(mass[-1] / total, np.finfo(float).tiny)
    pairs = mass[nodes[:, 0]] * mass[nodes[:, 1]]
    answer: Array = 2 * (pairs * gap).sum(axis=0) * core ** (_NOISE - 2) / total**2
    return answer


def anderson_darling(values: Array, weight: Array) -> float:
    """The statistic of Anderson and Darling against normality, mean and variance estimated, with its correction.

    Examples
    --------
    >>> round(anderson_darling(np.arange(50.0) ** 3, np.ones(50)), 3)
    3.473
    """
    order = np.argsort(values)
    x, w = values[order], weight[order]
    n = w.sum()
    x = x - w @ x / n
    z = x / np.sqrt(w @ x**2 / (n - 1))
    above = np.cumsum(w)
    below = above - w
    summed = (above**2 - below**2) @ log_ndtr(z) + ((n - below) ** 2 - (n - above) ** 2) @ log_ndtr(-z)
    return float((-n - summed / n) * (1 + 4 / n - 25 / n**2))


def gaussian_means(Z: Array, weight: Array) -> NDArray[np.intp]:
    """The clusters (n,) of G-means: k-means whose clusters are split until each looks Gaussian.

    A split starts from two points on the principal axis, so there is nothing to draw.

    References
    ----------
    G. Hamerly, C. Elkan (2003). Learning the k in k-means. NIPS 16.
    """
    labels, K = np.zeros(len(Z), dtype=np.intp), 1
    while True:
        centers = np.concatenate([_parts(Z[labels == k], weight[labels == k]) for k in range(K)])
        if len(centers) == K:
            return labels
        centers = lloyd(_as_blocks(Z, weight), centers)
        labels = np.unique(cdist(Z, centers).argmin(axis=1), return_inverse=True)[1]
        if labels.max() < K:  # copies of few points cannot be split
            return labels
        K = int(labels.max()) + 1


def _parts(Z: Array, weight: Array) -> Array:
    """The centre of a cluster that looks Gaussian along the line between its halves, else those of its halves."""
    n = weight.sum()
    mean: Array = weight @ Z / n
    C = Z - mean
    values, vectors = np.linalg.eigh((C.T * weight) @ C / n)
    if n < _FEWEST or not values[-1] > 0:
        return mean[None]
    step = vectors[:, -1] * np.sqrt(2 * values[-1] / np.pi)
    halves = lloyd(_as_blocks(Z, weight), np.stack([mean + step, mean - step]))
    projected = C @ (halves[0] - halves[1])
    if np.ptp(projected) == 0 or anderson_darling(projected, weight) <= CRITICAL:
        return mean[None]
    return halves


def _as_blocks(Z: Array, weight: Array) -> Blocks:
    mean = weight @ Z / weight.sum()
    variance = float(np.mean(weight @ (Z - mean) ** 2 / weight.sum()))
    return Blocks([Block(Z, weight, Frame(np.zeros(Z.shape[1]), 1.0))], variance)
