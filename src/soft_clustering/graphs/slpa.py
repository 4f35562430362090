"""Speaker-listener label propagation.

Every node has a memory of labels, at first its own number. In a round every node listens: each of its neighbours says
a label drawn from its own memory, and the listener writes down the label that it hears most often, links counted by
their weights, of equal ones any. After T rounds the share of label c in the memory of node u is

    p_uc = (how often c was written down) / (T + 1).

Shares below r are dropped, then communities inside other ones and communities of few nodes; what remains, divided by
its sum, are the memberships.

References
----------
J. Xie, B. K. Szymanski, X. Liu (2011). SLPA: uncovering overlapping communities in social networks via a
speaker-listener interaction dynamic process. ICDM Workshops, 344-349.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._types import GraphLike, Seed
from ..engine.alternating import PARAMETERS
from ..engine.fitting import Fit, say
from ..kernels.communities import listen
from .network import relative_weights
from .shares import CommunityFinder, cut, without_nested

if TYPE_CHECKING:
    from typing import Self


class SLPA(CommunityFinder):
    """Speaker-listener label propagation: nodes tell each other labels, and remember what they hear most.

    It finds the number of communities, uses weights, and takes time linear in the number of links.

    Parameters
    ----------
    n_rounds : int, default=100
        Rounds of listening. With ``asynchronous=True`` 20 to 30 are enough.
    min_share : float, default=0.1
        A node belongs to a community from this share of its memory on.
    min_size : int, default=3
        Communities of fewer nodes are dropped.
    asynchronous : bool, default=False
        Whether nodes listen one after the other, and hear what those before them have heard in the same round, as
        published. Otherwise they listen all at once.
    random_state : int, RandomState or None, default=None
        Seed of the draws.
    verbose : int, default=0
        1 prints a line at the end and shows the rounds of a long fit, 2 prints a line per round.

    Attributes
    ----------
    memberships_ : ndarray or CSR array of shape (n_nodes, n_clusters_)
        Shares of the memory, rows sum to 1; equal ones for a node without links. A CSR array if it has more than 1e8
        entries.
    labels_ : ndarray of shape (n_nodes,)
        Community of largest share.
    n_clusters_ : int
        Communities found; the largest is the first one. Also readable as ``n_clusters`` after ``fit``.
    threshold_ : float
        ``min_share``, for ``get_cover``.
    node_names_ : ndarray of shape (n_nodes,)

    See Also
    --------
    soft_clustering.EgoSplitting : overlapping communities from the neighbourhoods of the nodes.
    soft_clustering.BayesianNMF : strengths of communities, whose number it finds.

    Notes
    -----
    The method of [1]_. By default speakers draw from what they remember of earlier rounds, and not of the present one,
    which is ours: a round then does not depend on the order of the nodes. It runs on several threads, and the result
    depends on the seed only, not on their number. Labels mix more slowly, so that more rounds are needed; the
    communities are a little better. Ours, too, are the weights, a neighbour's label counting as much as the
    link, and what becomes of nodes whose labels are all dropped: they keep the largest, or take the mean of their
    neighbours. Separate parts of the graph with fewer than ``min_size`` nodes keep their labels.

    Time is O(nnz n_rounds); memory is O(nnz + n n_rounds). The rule for new nodes is ours, the mean of the rows of the
    nodes that they are linked to, without shares below 0.25. It is weak where many nodes are in several communities.

    References
    ----------
    .. [1] J. Xie, B. K. Szymanski, X. Liu (2011). SLPA: uncovering overlapping communities in social networks via a
       speaker-listener interaction dynamic process. ICDM Workshops, 344-349.

    Examples
    --------
    Two groups of six with one link between them:

    >>> import numpy as np
    >>> from soft_clustering import SLPA
    >>> A = np.kron(np.eye(2), np.ones((6, 6)))
    >>> A[5, 6] = A[6, 5] = 1
    >>> SLPA(random_state=0).fit(A).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "min_share": [Interval(Real, 0, 1, closed="both")],
        "min_size": [Interval(Integral, 1, None, closed="left")],
        "asynchronous": ["boolean"],
        **{name: PARAMETERS[name] for name in ("random_state", "verbose")},
    }

    def __init__(
        self,
        *,
        n_rounds: int = 100,
        min_share: float = 0.1,
        min_size: int = 3,
        asynchronous: bool = False,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.min_share = min_share
        self.min_size = min_size
        self.asynchronous = asynchronous
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
        with Fit[None](self):
            A = self._graph(X)
            self.threshold_ = float(self.min_share)
            rng = check_random_state(self.random_state)
            n = A.shape[0]
            links = relative_weights(A)
            memory = np.empty((n, self.n_rounds + 1), dtype=np.int32)
            memory[:, 0] = np.arange(n)
            for past in range(1, self.n_rounds + 1):
                order = rng.permutation(n) if self.asynchronous else None
                listen(links, memory, past, int(rng.randint(2**64, dtype=np.uint64)), order)
                say(self, f"round {past} of {self.n_rounds}", level=2)
            self._set_communities(A, without_nested(cut(shares_of_labels(memory), self.threshold_)))
            say(self, f"found {self.n_clusters_} communities")
        return self


def shares_of_labels(memory: NDArray[np.int32]) -> sparse.csr_array:
    """How often each label is in each row, as a part of the row: (n, n), for labels below n.

    Examples
    --------
    >>> shares_of_labels(np.array([[0, 1, 1, 1], [0, 1, 0, 1]], dtype=np.int32)).toarray()
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    n, T = memory.shape
    ordered = np.sort(memory, axis=1)
    begins = np.ones((n, T), dtype=bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    counts = np.diff(np.append(np.flatnonzero(begins), n * T))
    ends = np.append(0, np.cumsum(begins.sum(axis=1)))
    return sparse.csr_array((counts / T, ordered[begins].astype(ends.dtype), ends), shape=(n, n))
