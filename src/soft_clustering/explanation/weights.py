"""The weights of the samples in each cluster, how large and how doubtful the clusters are, and which samples show them.

All profiles weigh sample i in cluster k by

    w_ik = u_ik / max(1, sum_l u_il),

the same rule for every kind of membership. Memberships that sum to 1 are weights as they are. Strengths that exceed 1
together are divided by their sum, and an outlier whose typicalities are all small keeps its small weight. Elsewhere,
sample i has the weight sum_(l != k) w_il, so a sample without a cluster counts nowhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._types import Array
from ..base import labels_from_memberships
from ..metrics._validation import check_matrix
from ..plotting.palette import membership_shares

DOUBTFUL = 0.6  # a member is doubtful if its largest share is smaller
BORDERLINE = 0.5  # a sample is on a border if its two largest shares differ by at most this
_FULL = 0.95  # a membership of at least this part of the cluster's largest is as good as the largest

Rows = list[NDArray[np.intp]]


class Sizes(NamedTuple):
    """How large and how doubtful the clusters are, an entry per cluster."""

    size: NDArray[np.intp]  # samples whose label it is
    share: Array  # part of the sum of all weights
    effective_size: Array  # (sum w)^2 / sum w^2, 0 for an empty cluster
    doubtful: Array  # part of its members whose largest share is below DOUBTFUL


def cluster_weights(U: ArrayLike) -> Array:
    """Return the weight of each sample in each cluster, in units of the largest sum of a row.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships of any kind, non-negative.

    Returns
    -------
    W : ndarray of shape (n_samples, n_clusters)
        The sum of a row is at most 1; it is 0 for a sample without a cluster.

    Examples
    --------
    >>> from soft_clustering.explanation import cluster_weights
    >>> cluster_weights([[0.75, 0.25], [2.0, 6.0], [0.1, 0.1], [0.0, 0.0]])
    array([[0.75, 0.25],
           [0.25, 0.75],
           [0.1 , 0.1 ],
           [0.  , 0.  ]])
    """
    U = check_matrix("U", U, "n_clusters")
    total = np.minimum(U, 1).sum(axis=1).clip(max=1)  # of huge entries the sum would overflow
    largest = float(total.max())
    W: Array = membership_shares(U) * (total / largest if largest > 0 else total)[:, None]
    return W


def _shares(W: Array) -> Array:
    mass = W.sum(axis=0)
    shares: Array = mass / (mass.sum() or 1.0)
    return shares


def cluster_sizes(U: ArrayLike) -> Sizes:
    """Return the size, the share, the effective size and the doubtful part of each cluster.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)

    Returns
    -------
    sizes : Sizes
        Arrays with an entry per cluster: ``size``, the number of samples whose label it is; ``share`` of the sum of all
        weights; ``effective_size`` (sum w)^2 / sum w^2, the number of samples with equal weights whose mean is as
        exact; ``doubtful``, the part of the ``size`` members whose largest share is below 0.6.

    Examples
    --------
    >>> from soft_clustering.explanation import cluster_sizes
    >>> sizes = cluster_sizes([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> sizes.size, sizes.share, sizes.doubtful.round(2)
    (array([3, 1]), array([0.625, 0.375]), array([0.33, 0.  ]))
    """
    U = check_matrix("U", U, "n_clusters")
    W = cluster_weights(U)
    K = U.shape[1]
    labels = labels_from_memberships(U)
    found = labels >= 0
    size = np.bincount(labels[found], minlength=K)
    vague = found & (membership_shares(U).max(axis=1) < DOUBTFUL)
    doubtful = np.bincount(labels[vague], minlength=K) / np.maximum(size, 1)
    relative = W / np.where(W.max(axis=0) > 0, W.max(axis=0), 1.0)  # squares of tiny weights would underflow
    squares = (relative**2).sum(axis=0)
    effective = np.divide(relative.sum(axis=0) ** 2, squares, out=np.zeros(K), where=squares > 0)
    return Sizes(size, _shares(W), effective, doubtful)


def typical_samples(U: ArrayLike, cost: ArrayLike, n_samples: int = 5) -> Rows:
    """Return the samples that show best what each cluster is.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
    cost : array-like of shape (n_samples,)
        How far each sample is from the middle of the cluster that is its label.
    n_samples : int, default=5
        Largest number of samples of a cluster.

    Returns
    -------
    rows : list of ndarray
        For each cluster numbers of samples with its label, the most typical first: the samples whose membership is at
        least 0.95 times the largest of the cluster come before the others, and among them the smallest cost counts.
        So a crisp partition is decided by the cost, and so is a mixture, whose largest memberships are often those of
        samples far out, away from all other clusters.

    Examples
    --------
    >>> from soft_clustering.explanation import typical_samples
    >>> typical_samples([[1.0, 0.0], [1.0, 0.0], [0.6, 0.4], [0.0, 1.0]], [2.0, 1.0, 0.0, 0.0])
    [array([1, 0, 2]), array([3])]
    """
    U, labels, cost = _with_labels(U, cost)
    rows = []
    for k in range(U.shape[1]):
        members = np.flatnonzero(labels == k)
        own = U[members, k]
        partial = own < _FULL * own.max(initial=0.0)
        rows.append(members[np.lexsort((cost[members], partial))[:n_samples]])
    return rows


def borderline_samples(U: ArrayLike, n_samples: int = 5) -> Rows:
    """Return the samples of each cluster that might as well belong to another.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
    n_samples : int, default=5
        Largest number of samples of a cluster.

    Returns
    -------
    rows : list of ndarray
        For each cluster the numbers of the samples with its label whose two largest shares differ least, the smallest
        difference first. A difference above 0.5 is no border, so that crisp clusters have none.

    Examples
    --------
    >>> from soft_clustering.explanation import borderline_samples
    >>> borderline_samples([[0.6, 0.4], [0.5, 0.5], [1.0, 0.0], [0.3, 0.7]])
    [array([1, 0]), array([3])]
    """
    U, labels, _ = _with_labels(U, None)
    K = U.shape[1]
    if K < 2:
        return [np.empty(0, dtype=np.intp)]
    top = np.partition(membership_shares(U), K - 2, axis=1)[:, K - 2 :]
    gap = top[:, 1] - top[:, 0]
    near = np.flatnonzero((gap <= BORDERLINE) & (labels >= 0))
    near = near[np.argsort(gap[near], kind="stable")]
    return [near[labels[near] == k][:n_samples] for k in range(K)]


def _with_labels(U: ArrayLike, cost: ArrayLike | None) -> tuple[Array, NDArray[np.intp], Array]:
    U = check_matrix("U", U, "n_clusters")
    costs = np.zeros(len(U)) if cost is None else np.asarray(cost, dtype=np.float64)
    if costs.shape != (len(U),):
        raise ValueError(f"cost must have one entry per sample, {len(U)} entries. Got shape {costs.shape} instead.")
    return U, labels_from_memberships(U), costs
