"""Ego-splitting: overlapping communities from a partition of personas.

The ego network of node u is the graph of its neighbours, without u. Its clusters are the parts that u plays: u is
replaced by a persona for each of them. A link (u, v) joins the persona of u whose cluster holds v with the persona of v
whose cluster holds u, so the graph of personas has the same links. It is partitioned by the Louvain method, and

    p_uc = weight of the links of u whose persona is in community c / weight of all links of u

is the share of u in c. Shares below ``min_share`` and communities of few nodes are dropped; what remains, divided by
its sum, are the memberships.

References
----------
A. Epasto, S. Lattanzi, R. Paes Leme (2017). Ego-splitting framework: from non-overlapping to overlapping clusters. KDD,
145-154.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._rows import with_sum_1
from .._types import GraphLike, Seed
from ..engine.alternating import PARAMETERS
from ..engine.fitting import Fit, say
from ..kernels.communities import ego_links, majority_labels
from ..kernels.graphs import closed_wedges
from .louvain import Labels, louvain_labels, numbered
from .network import relative_weights, soft_modularity
from .shares import CommunityFinder, cut

if TYPE_CHECKING:
    from typing import Self

_SWEEPS = 10  # of label propagation in ego networks
_EGO_RESOLUTION = 0.5  # at 1, dense neighbourhoods without any structure fall into parts
_TOGETHER = 1 << 17  # links of ego networks that are clustered together: they fit into the cache
_APART = 0.8  # personas per end of a link, from which on the graph has fallen apart


class EgoSplitting(CommunityFinder):
    """Ego-splitting: nodes split into a persona for each group among their neighbours, and a partition of these.

    Two neighbours of a node that know each other are likely to know it from the same place. So overlapping communities
    become separate ones: of personas.

    Parameters
    ----------
    ego_clusters : {'modularity', 'propagation', 'components'}, default='modularity'
        How the neighbours of a node are grouped: by the Louvain method, at half the usual resolution; by label
        propagation, which draws no random numbers and is faster; or into connected components, which a single link
        joins.
    resolution : float, default=1.0
        Of the partition of the personas; the larger, the more communities. With hundreds of communities 1 joins some
        of them, and 2 to 4 are better.
    min_share : float, default=0.2
        A node belongs to a community from this share of its links on.
    min_size : int, default=3
        Communities of fewer nodes are dropped.
    random_state : int, RandomState or None, default=None
        Seed of the orders in which the Louvain method looks at nodes.
    verbose : int, default=0
        1 prints what was found.

    Attributes
    ----------
    memberships_ : ndarray or CSR array of shape (n_nodes, n_clusters_)
        Shares of the links, rows sum to 1; equal ones for a node without links. A CSR array if it has more than 1e8
        entries.
    labels_ : ndarray of shape (n_nodes,)
        Community of largest share.
    n_clusters_ : int
        Communities found; the largest is the first one. Also readable as ``n_clusters`` after ``fit``.
    n_personas_ : int
    persona_nodes_ : ndarray of shape (n_personas_,)
        The node of each persona; a node without links has none.
    persona_labels_ : ndarray of shape (n_personas_,)
        The community of each persona, -1 if it was dropped.
    modularity_ : float
        Of the partition of the personas.
    threshold_ : float
        ``min_share``, for ``get_cover``.
    node_names_ : ndarray of shape (n_nodes,)

    See Also
    --------
    soft_clustering.SLPA : label propagation with a memory, fewer communities.
    soft_clustering.BayesianNMF : strengths of communities, whose number it finds.

    Notes
    -----
    The framework of [1]_, which leaves both partitions open. ``min_share`` is ours; in the publication every persona
    makes its node a member. So is the resolution in ego networks: at 1, dense neighbourhoods without any structure fall
    into parts. Labels that fewer than ``min_size`` nodes hold are dropped; their nodes go to their other communities or
    take the mean of their neighbours, but separate parts of the graph keep theirs. A chance link becomes a persona of
    its own, so that sparse graphs with many of them get too many communities. A graph without triangles falls apart,
    with a warning.

    Time is O(sum of squared degrees) for the ego networks, O(nnz) for a pass over the personas. The rule for new nodes
    is ours, the mean of the rows of the nodes that they are linked to, without shares below 0.25.

    References
    ----------
    .. [1] A. Epasto, S. Lattanzi, R. Paes Leme (2017). Ego-splitting framework: from non-overlapping to overlapping
       clusters. KDD, 145-154.

    Examples
    --------
    Two groups of six that share a node:

    >>> import numpy as np
    >>> from soft_clustering import EgoSplitting
    >>> A = np.zeros((11, 11))
    >>> A[:6, :6] = A[5:, 5:] = 1
    >>> model = EgoSplitting(random_state=0).fit(A)
    >>> model.memberships_[5]
    array([0.5, 0.5])
    >>> int((model.persona_nodes_ == 5).sum())
    2
    """

    n_personas_: int
    persona_nodes_: NDArray[np.int64]
    persona_labels_: NDArray[np.int64]
    modularity_: float
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ego_clusters": [StrOptions({"modularity", "propagation", "components"})],
        "resolution": [Interval(Real, 0, None, closed="neither")],
        "min_share": [Interval(Real, 0, 1, closed="both")],
        "min_size": [Interval(Integral, 1, None, closed="left")],
        **{name: PARAMETERS[name] for name in ("random_state", "verbose")},
    }

    def __init__(
        self,
        *,
        ego_clusters: str = "modularity",
        resolution: float = 1.0,
        min_share: float = 0.2,
        min_size: int = 3,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.ego_clusters = ego_clusters
        self.resolution = resolution
        self.min_share = min_share
        self.min_size = min_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: GraphLike, y: object = None) -> Self:
        """Find the communities of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
            Weights are used.
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[None](self) as fit:
            A = self._graph(X)
            self.threshold_ = float(self.min_share)
            rng = check_random_state(self.random_state)
            links = relative_weights(A)
            nodes = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
            persona = personas(links, self.ego_clusters, rng)
            self.n_personas_ = int(persona.max(initial=-1)) + 1
            self.persona_nodes_ = np.empty(self.n_personas_, dtype=np.int64)
            self.persona_nodes_[persona] = nodes
            say(self, f"found {self.n_personas_} personas of {A.shape[0]} nodes")
            if A.nnz and self.n_personas_ > _APART * A.nnz:
                fit.warn(
                    f"EgoSplitting: the graph falls apart into {self.n_personas_} personas, nearly one for each end of "
                    f"its {A.nnz // 2} links, since the neighbours of its nodes are hardly linked. Take another method."
                )
            split = persona_graph(links, persona, self.n_personas_)
            labels = louvain_labels(split, self.resolution, rng)
            K = int(labels.max(initial=0)) + 1
            one_hot = sparse.csr_array((np.ones(len(labels)), (np.arange(len(labels)), labels)), (len(labels), K))
            self.modularity_ = soft_modularity(split, one_hot) if A.nnz else 0.0
            shares = sparse.csr_array((links.data, (nodes, labels[persona])), (A.shape[0], K))
            self.persona_labels_ = self._set_communities(A, cut(with_sum_1(shares), self.threshold_))[labels]
            say(self, f"found {self.n_clusters_} communities")
        return self


def personas(A: sparse.csr_array, ego_clusters: str, rng: np.random.RandomState) -> Labels:
    """For each link (u, v), in their order, the persona of u whose cluster holds v; those of a node are consecutive."""
    sizes = closed_wedges(A).astype(np.int64)
    steps = np.unique(np.cumsum(sizes) // _TOGETHER, return_index=True)[1]
    found, P = [], 0
    for lo, hi in zip(steps, np.append(steps[1:], len(sizes)), strict=True):
        egos = ego_links(A, lo, hi, int(sizes[lo:hi].sum()))
        if ego_clusters == "components":
            labels = connected_components(egos, directed=False)[1]
        elif ego_clusters == "propagation":
            labels = majority_labels(egos, _SWEEPS)
        else:
            ego = np.repeat(np.arange(hi - lo), np.diff(A.indptr[lo : hi + 1]))
            labels = louvain_labels(egos, _EGO_RESOLUTION, rng, ego)
        found.append(P + numbered(labels))
        P = int(found[-1].max(initial=P - 1)) + 1
    return np.concatenate(found)


def persona_graph(A: sparse.csr_array, persona: Labels, P: int) -> sparse.csr_array:
    """The graph of the P personas: the links of A, each between the personas that its ends have for it."""
    # In a symmetric matrix the entries by columns are the links (v, u) in the order of the links (u, v).
    back = sparse.csr_array((persona, A.indices, A.indptr), shape=A.shape).tocsc().data
    split = sparse.csr_array((A.data, (persona, back)), shape=(P, P))
    split.sort_indices()
    return split
