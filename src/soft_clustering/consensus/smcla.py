"""Soft meta-clustering (sMCLA).

The base clusters are the nodes of a graph. With U (n, t) the partitions side by side (see ``ensemble.py``) and u_a the
column of base cluster a, two of them are the more similar the more they hold the same objects:

* ``'euclidean'``: exp(-|u_a - u_b|^2 / n);
* ``'jaccard'``: u_a . u_b / (|u_a|^2 + |u_b|^2 - u_a . u_b).

The graph is cut into K meta-clusters. A base cluster of weight w (see ``ensemble.py``) stands for w equal nodes, so the
edge between two of them counts w_a w_b times. An object's association with a meta-cluster is the mean of the columns in
it, weighted by their partitions, and it belongs to the one of largest association.

References
----------
K. Punera, J. Ghosh (2008). Consensus-based ensembles of soft clusterings. Applied Artificial Intelligence 22(7-8),
780-810.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from .._types import Array, Matrix, Seed
from .ensemble import PARAMETERS, ConsensusClusterer, mean_links, one_hot


class SMCLA(ConsensusClusterer):
    """Soft meta-clustering: base clusters of the same objects are merged, and objects follow them.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of consensus clusters K, at most the number of base clusters.
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. ``'spectral'``: normalised cut. ``'metis'``: the published choice, meta-clusters of
        nearly equal numbers of base clusters. It needs pymetis, ``pip install "soft-clustering[metis]"``.
    similarity : {'euclidean', 'jaccard'}, default='euclidean'
        Of two base clusters: exp(-mean squared difference of their memberships), or the extended Jaccard index.
    n_init : int, default=10
        Starts of k-means on the spectral vectors; cuts of which METIS keeps the best.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line about the result.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_objects, n_clusters)
        0 and 1: the cluster of largest ``consensus_memberships_``, the first of equal ones.
    labels_ : ndarray of shape (n_objects,)
    consensus_memberships_ : ndarray of shape (n_objects, n_clusters)
        Association with each meta-cluster, rows scaled to sum to 1.
    cluster_labels_ : ndarray of shape (n_base_clusters,)
        The meta-clusters of the base clusters, in the order of the partitions and of their columns (labels in
        ascending order); -1 for one without members.
    n_clusters_ : int

    See Also
    --------
    soft_clustering.SCSPA : a graph of the objects.
    soft_clustering.SHBGF : a graph of objects and base clusters.

    Notes
    -----
    For r partitions with t clusters in all, O(n t^2 + t^3) time and O(n t + t^2) memory; crisp partitions stay sparse.
    Because the graph holds base clusters, unequal numbers of objects are no problem for METIS here.

    A meta-cluster that the cut leaves empty takes the base cluster that is least similar to its own meta-cluster; equal
    base clusters stay together, so it stays empty if fewer than K differ.

    The division by n in ``'euclidean'`` is ours: without it nearly every edge is below the rounding of METIS. The
    spectral cut and the weights of partitions are ours, too. METIS balances the numbers of different base clusters,
    whatever their weights. The association is the method's own rule and serves new objects as it is.

    References
    ----------
    .. [1] K. Punera, J. Ghosh (2008). Consensus-based ensembles of soft clusterings. Applied Artificial Intelligence
       22(7-8), 780-810.
    .. [2] A. Strehl, J. Ghosh (2002). Cluster ensembles: a knowledge reuse framework for combining multiple partitions.
       Journal of Machine Learning Research 3, 583-617.

    Examples
    --------
    >>> from soft_clustering import SMCLA
    >>> partitions = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [[1, 0], [1, 0], [0.4, 0.6], [0, 1], [0, 1], [0, 1]]]
    >>> consensus = SMCLA(2, random_state=0).fit(partitions)
    >>> consensus.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    >>> float(consensus.consensus_memberships_[2].max().round(2))
    0.8
    """

    cluster_labels_: NDArray[np.intp]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "similarity": [StrOptions({"euclidean", "jaccard"})],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        partitioner: str = "spectral",
        similarity: str = "euclidean",
        n_init: int = 10,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.similarity = similarity
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    def _cut(self, U: Matrix, w: Array, rng: np.random.RandomState) -> Array:
        K, (n, t) = self.n_clusters, U.shape
        total = len(self._columns)
        if total < K:
            raise ValueError(
                f"n_clusters={K} must be at most the number of clusters in the partitions. Got {total} in X."
            )
        G: Any = U.T @ U
        G = G.toarray() if sparse.issparse(G) else G
        size = G.diagonal()
        if self.similarity == "euclidean":
            S = np.exp(-np.maximum(size[:, None] + size - 2 * G, 0) / n)
        else:
            S = G / (size[:, None] + size - G)
        meta = fill_empty(self._parts_of_graph(w[:, None] * S * w, rng, w), S, K, w) if t > K else np.arange(t)
        self.cluster_labels_ = self._of_base_clusters(meta)
        return mean_links(meta, w, K)


def fill_empty(labels: NDArray[np.intp], S: Array, K: int, w: Array) -> NDArray[np.intp]:
    """Give each empty meta-cluster the node that is least similar to the others of its own, whose weights are w.

    Examples
    --------
    >>> import numpy as np
    >>> S = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> fill_empty(np.array([0, 0, 0]), S, 2, np.ones(3))
    array([0, 0, 1])
    """
    labels = labels.copy()
    S = S * (1 - np.eye(len(S)))
    for k in np.setdiff1d(np.arange(K), labels):
        H = one_hot(labels, K)
        alone = H.sum(axis=0)[labels] == 1
        weight = w[:, None] * H
        others = np.where(alone, 1, weight.sum(axis=0)[labels] - w)
        similarity = (S @ weight)[np.arange(len(S)), labels] / others
        labels[np.argmin(np.where(alone, np.inf, similarity))] = k
    return labels
