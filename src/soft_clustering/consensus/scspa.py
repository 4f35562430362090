"""Soft cluster-based similarity partitioning (sCSPA).

The objects are the nodes of a graph. Two objects are the more similar the more the partitions agree about them. With
U and w the partitions side by side and their weights (see ``ensemble.py``), Y = U diag(w)^(1/2), and y_i the row of
object i:

* ``'dot'``: S_ij = y_i . y_j / r, for crisp partitions the share of them that put both objects into one cluster;
* ``'euclidean'``: S_ij = exp(-|y_i - y_j|^2).

The graph is cut into K parts. With ``'dot'`` and the spectral cut S is never formed: D^(-1/2) S D^(-1/2) = Z Z^T with
Z = diag(Y Y^T 1)^(-1/2) Y, whose singular vectors come from a (t, t) matrix.

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
from .ensemble import PARAMETERS, ConsensusClusterer, one_hot, scaled
from .partitioning import k_means_parts, singular_vectors

_MAX_OBJECTS = 20000  # whose similarities fit into memory


class SCSPA(ConsensusClusterer):
    """Soft cluster-based similarity partitioning: objects on which the partitions agree belong together.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of consensus clusters K; it need not be that of any partition.
    partitioner : {'spectral', 'metis'}, default='spectral'
        How the graph is cut. ``'spectral'``: normalised cut. ``'metis'``: the published choice, parts of nearly equal
        size; right where equal sizes are wanted, wrong elsewhere. It needs pymetis,
        ``pip install "soft-clustering[metis]"``.
    similarity : {'dot', 'euclidean'}, default='dot'
        Of two rows of memberships: their inner product, or exp(-squared distance).
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
        Mean inner product with the objects of each part, rows scaled to sum to 1.
    graph_labels_ : ndarray of shape (n_objects,)
        The parts of the graph.
    n_clusters_ : int

    See Also
    --------
    soft_clustering.SHBGF : a graph of objects and base clusters, linear in the number of objects with METIS, too.
    soft_clustering.SMCLA : a graph of the base clusters only.

    Notes
    -----
    For r partitions with t clusters in all, O(n t^2) time and O(n t) memory with the defaults; crisp partitions stay
    sparse. ``similarity='euclidean'`` and METIS need all n^2 similarities and refuse more than 20000 objects.

    ``labels_`` may differ from ``graph_labels_`` for single objects: they follow the rule that also serves new
    objects. For unequal cluster sizes METIS gives poor results: it makes parts of equal size whatever the graph says.

    The inner product is the published similarity; the Euclidean form is written from memory. The spectral cut, the
    soft memberships, the weights of partitions and the rule for new objects are ours.

    References
    ----------
    .. [1] K. Punera, J. Ghosh (2008). Consensus-based ensembles of soft clusterings. Applied Artificial Intelligence
       22(7-8), 780-810.
    .. [2] A. Strehl, J. Ghosh (2002). Cluster ensembles: a knowledge reuse framework for combining multiple partitions.
       Journal of Machine Learning Research 3, 583-617.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM, GMM, SCSPA
    >>> X, _ = load_iris(return_X_y=True)
    >>> models = [FCM(3, random_state=0).fit(X), GMM(3, random_state=0).fit(X), FCM(4, random_state=0).fit(X)]
    >>> consensus = SCSPA(3, random_state=0).fit([model.memberships_ for model in models])
    >>> consensus.labels_.shape
    (150,)
    >>> new = [model.predict_memberships([[5.0, 3.4, 1.5, 0.2]]) for model in models]
    >>> bool(consensus.predict(new)[0] == consensus.labels_[0])
    True
    """

    graph_labels_: NDArray[np.intp]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "similarity": [StrOptions({"dot", "euclidean"})],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        partitioner: str = "spectral",
        similarity: str = "dot",
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
        K = self.n_clusters
        if self.partitioner == "spectral" and self.similarity == "dot":
            Z = scaled(U, 1 / np.sqrt(U @ (w * U.sum(axis=0))), np.sqrt(w))
            self.graph_labels_ = k_means_parts(singular_vectors(Z, K, rng)[0], K, self.n_init, rng)
        else:
            self.graph_labels_ = self._parts_of_graph(
                self._similarities(scaled(U, np.ones(U.shape[0]), np.sqrt(w))), rng
            )
        H = one_hot(self.graph_labels_, K)
        links: Array = w[:, None] * (U.T @ H) / np.maximum(H.sum(axis=0), 1)
        return links

    def _similarities(self, Y: Matrix) -> Any:
        """All n^2 of them; inner products without their constant factor."""
        if Y.shape[0] > _MAX_OBJECTS:
            raise ValueError(
                f"partitioner={self.partitioner!r} with similarity={self.similarity!r} needs the similarities of all "
                f"pairs of objects, for at most {_MAX_OBJECTS} objects. Got {Y.shape[0]} objects in X: use "
                "partitioner='spectral' with similarity='dot', or SHBGF or SMCLA."
            )
        S: Any = Y @ Y.T
        if self.similarity == "dot":
            return S
        S = S.toarray() if sparse.issparse(S) else S
        size = S.diagonal().copy()
        S *= 2
        S -= size[:, None]
        S -= size
        return np.exp(np.minimum(S, 0, out=S), out=S)
