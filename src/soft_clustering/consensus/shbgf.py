"""Soft hybrid bipartite graph formulation (sHBGF).

Objects and base clusters together are the nodes of a graph, and the edges are the memberships. With U and w the
partitions side by side and their weights (see ``ensemble.py``) and Y = U diag(w), an edge of weight Y_ij joins object i
and base cluster j, and there are no others. The graph is cut into K parts, each of objects and of the base clusters
that they belong to.

The spectral cut takes the leading singular vectors of Z = D_r^(-1/2) Y D_c^(-1/2), D_r and D_c the sums of rows and
columns; the left ones stand for objects, the right ones for base clusters. In the k-means that follows a base cluster
counts w_j times, an object once.

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

from .._types import Array, Matrix, Seed
from .ensemble import PARAMETERS, ConsensusClusterer, mean_links, scaled
from .partitioning import k_means_parts, metis_parts, singular_vectors


class SHBGF(ConsensusClusterer):
    """Soft hybrid bipartite graph formulation: objects and base clusters are cut at the same time.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of consensus clusters K; it need not be that of any partition.
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. ``'spectral'``: normalised cut. ``'metis'``: the published choice, parts of nearly equal
        size; right where equal sizes are wanted, wrong elsewhere. It needs pymetis,
        ``pip install "soft-clustering[metis]"``.
    n_init : int, default=10
        Starts of k-means on the spectral vectors; cuts of which METIS keeps the best.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line about the result.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_objects, n_clusters)
        0 and 1: the cluster of largest ``consensus_memberships_``.
    labels_ : ndarray of shape (n_objects,)
    consensus_memberships_ : ndarray of shape (n_objects, n_clusters)
        An object's mean membership in the base clusters of each part, rows scaled to sum to 1. The column of a part
        without base clusters is zero.
    graph_labels_ : ndarray of shape (n_objects,)
        The parts of the objects.
    cluster_labels_ : ndarray of shape (n_base_clusters,)
        The parts of the base clusters, in the order of the partitions and of their columns (labels in ascending
        order); -1 for one without members.
    n_clusters_ : int

    See Also
    --------
    soft_clustering.SCSPA : a graph of the objects only.
    soft_clustering.SMCLA : a graph of the base clusters only.

    Notes
    -----
    For r partitions with t clusters in all, O(n t^2) time and O(n t) memory; crisp partitions stay sparse.

    ``labels_`` may differ from ``graph_labels_``: they follow the memberships in the base clusters, the rule that also
    serves new objects. If a part holds no base cluster, no object has its label, and a warning says so. For unequal
    cluster sizes METIS gives poor results: it makes parts of equal size whatever the graph says.

    The graph is the published one. The spectral cut, the soft memberships, the weights of partitions and the rule for
    new objects are ours.

    References
    ----------
    .. [1] K. Punera, J. Ghosh (2008). Consensus-based ensembles of soft clusterings. Applied Artificial Intelligence
       22(7-8), 780-810.
    .. [2] X. Z. Fern, C. E. Brodley (2004). Solving cluster ensemble problems by bipartite graph partitioning. ICML.
    .. [3] I. S. Dhillon (2001). Co-clustering documents and words using bipartite spectral graph partitioning. KDD.

    Examples
    --------
    >>> from soft_clustering import SHBGF
    >>> partitions = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, -1, 1, 1, 1]]
    >>> consensus = SHBGF(2, random_state=0).fit(partitions)
    >>> consensus.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    >>> consensus.cluster_labels_.shape
    (6,)
    """

    graph_labels_: NDArray[np.intp]
    cluster_labels_: NDArray[np.intp]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        partitioner: str = "spectral",
        n_init: int = 10,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    def _cut(self, U: Matrix, w: Array, rng: np.random.RandomState) -> Array:
        K, n = self.n_clusters, U.shape[0]
        if self.partitioner == "metis":
            edges = sparse.csr_array(scaled(U, np.ones(n), w))
            parts = metis_parts(sparse.bmat([[None, edges], [edges.T, None]]), K, self.n_init, rng)
        else:
            Z = scaled(U, 1 / np.sqrt(U @ w), np.sqrt(w / U.sum(axis=0)))
            nodes = np.vstack(singular_vectors(Z, K, rng))
            parts = k_means_parts(nodes, K, self.n_init, rng, np.concatenate([np.ones(n), w]))
        self.graph_labels_ = parts[:n]
        self.cluster_labels_ = self._of_base_clusters(parts[n:])
        return mean_links(parts[n:], w, K)
