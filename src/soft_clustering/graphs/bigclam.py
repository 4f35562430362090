"""BIGCLAM: overlapping communities as a non-negative factorisation of a graph.

Node u has affiliations F_uk >= 0, and u and v are linked with probability 1 - exp(-F_u . F_v - e), where e is a small
background rate. Maximise

    log L = sum_links log(1 - exp(-F_u . F_v - e)) - sum_others (F_u . F_v + e)

over the rows of F, one at a time, by projected gradient steps with a line search. With the sum of all rows at hand the
pairs without a link cost nothing: a step costs the links of the node only.

References
----------
J. Yang, J. Leskovec (2013). Overlapping community detection at scale: a nonnegative matrix factorization approach.
WSDM, 587-596.
"""

from __future__ import annotations

import math
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, GraphLike, MatrixLike, Seed
from ..base import MembershipKind, as_fitted
from ..engine.alternating import PARAMETERS, is_drawn
from ..engine.fitting import Fit, not_converged
from ..engine.loop import Policy, Run, Scale, finished, iterate
from ..inputs.features import validate_matrix
from ..kernels.graphs import affiliation_likelihood, affiliation_rows, affiliation_sweep, closed_wedges, padded
from .network import GraphClusterer, neighbour_means
from .spectral import spectral_labels

if TYPE_CHECKING:
    from typing import Self

_MOST = 1000.0  # the largest affiliation
_LEAST_SHARE = 0.2  # of the affiliations of a node, in a community of which it is a member
_PREDICTION_STEPS = 50
_RANDOM_NODES = 10  # in a community that no neighbourhood seeds


def gain(before: Array, now: Array, history: list[float], scale: Scale) -> float:
    """Change of the log likelihood relative to its size, or to 1 if that is larger: a complete graph reaches 0."""
    return abs(history[-1] - history[-2]) / max(abs(history[-1]), 1.0) if len(history) > 1 else math.inf


class BIGCLAM(GraphClusterer):
    """BIGCLAM: overlapping communities of large graphs.

    Every node has a strength of affiliation with every community, none where it is 0; the more two nodes share, the
    more likely they are linked. Communities overlap as the links ask for, and the overlaps are denser than the rest.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of communities K.
    n_nodes : int or None, default=None
        Where given, the number of nodes that the graph must have.
    background_rate : float or 'auto', default='auto'
        Rate of links between nodes that share no community: these have probability 1 - exp(-rate). ``'auto'`` is
        1 / n_nodes. It keeps the likelihood finite.
    min_degree : int, default=5
        Links that a node must have for its neighbourhood to start a community.
    init : {'conductance', 'spectral', 'random'} or array of shape (n_nodes, n_clusters), default='conductance'
        Starting affiliations: neighbourhoods that few links leave, compared with those around; clusters of a spectral
        embedding, from which the likelihood becomes larger, and the covers of sparse graphs better, but not those of
        dense ones with nested communities; random numbers, for which several starts are advised; or affiliations, which
        force one start.
    n_init : int, default=1
        Starts; the one of largest likelihood is kept.
    max_iter : int, default=1000
        Sweeps over the nodes per start.
    tol : float, default=3e-4
        Converged when a sweep gains at most this part of the log likelihood, or of 1 where that is larger.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of the order of the nodes.
    verbose : int, default=0
        1 prints a line per start, 2 a line per sweep.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters)
        The affiliations F: non-negative, unbounded. A node without links has zeros.
    labels_ : ndarray of shape (n_nodes,)
        Community of strongest affiliation, -1 if there is none.
    n_clusters_ : int
    threshold_ : float
        Half the affiliation sqrt(-log(1 - density)) with which two nodes with one community in common are linked as
        often as two nodes of the graph are. For ``get_cover`` a node is a member of the communities to which its
        affiliation is at least this and a fifth of the sum of its affiliations. A node without such communities is a
        member of its strongest one, as ``labels_`` says.
    n_seeds_ : int
        Communities that started from a neighbourhood; the others from random nodes.
    node_names_ : ndarray of shape (n_nodes,)
    objective_ : float
        log L of all pairs of nodes, maximised.
    objective_history_ : ndarray
        log L after each sweep.
    n_iter_ : int
        Sweeps of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.NOCD : the same likelihood, with affiliations from a graph neural network.
    soft_clustering.MMSB : shares that sum to 1.

    Notes
    -----
    Follows [1]_; the floor of the link probability and the largest entry of a gradient are those of the authors'
    program, the constants of the line search (0.05, 0.3) too, as remembered; ties among neighbourhoods are ours to
    break. The published rule of membership is an affiliation of at least twice ``threshold_``, one number for hubs and
    for nodes of few links. Half of it together with the share is ours, and finds planted overlaps better. So is that
    every node with an affiliation is a member somewhere: the published rule alone leaves out 24 of the 34 nodes of the
    karate club. Links are there or not: different weights are refused. A sweep costs O(nnz K) time; memory is O(nnz + n
    K). The sweeps run on one thread: each node sees what the ones before it became.

    The likelihood creeps towards its maximum: a hundred sweeps and more may be needed on small dense graphs. A smaller
    ``tol`` raises it by a few per cent there, but the covers do not get better.

    New nodes come as rows of links to the nodes of ``fit``, for which their likelihood is maximised.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2013). Overlapping community detection at scale: a nonnegative matrix factorization
       approach. WSDM, 587-596.

    Examples
    --------
    Two groups of six that share a node:

    >>> import numpy as np
    >>> from soft_clustering import BIGCLAM
    >>> A = np.zeros((11, 11))
    >>> A[:6, :6] = A[5:, 5:] = 1
    >>> model = BIGCLAM(n_clusters=2, random_state=0).fit(A)
    >>> model.get_cover().sum(axis=1)
    array([1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1])
    """

    threshold_: float
    n_seeds_: int
    membership_kind: ClassVar[MembershipKind] = "affiliation"
    _binary: ClassVar[bool] = True
    _policy = Policy(sense="max", residual=gain, place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "n_nodes": [None, Interval(Integral, 1, None, closed="left")],
        "background_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "min_degree": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"conductance", "spectral", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_nodes: int | None = None,
        background_rate: float | str = "auto",
        min_degree: int = 5,
        init: str | ArrayLike = "conductance",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 3e-4,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_nodes = n_nodes
        self.background_rate = background_rate
        self.min_degree = min_degree
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: GraphLike, y: object = None) -> Self:
        """Fit the affiliations of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Array](self) as fit:
            A = self._graph(X)
            n = A.shape[0]
            if self.n_nodes is not None and self.n_nodes != n:
                raise ValueError(f"n_nodes={self.n_nodes}, but X has {n} nodes.")
            self._rate = 1 / n if self.background_rate == "auto" else float(self.background_rate)
            self.threshold_ = member_threshold(A) / 2
            rng = check_random_state(self.random_state)

            def sweep(F: Array) -> tuple[Array, float]:
                F = F.copy()
                affiliation_sweep(A, F, F.sum(axis=0), rng.permutation(n), self._rate, _MOST)
                return F, affiliation_likelihood(A, F, self._rate)

            def store(run: Run[Array]) -> list[str]:
                self._affiliations = run.state[:, : self.n_clusters].copy()
                self._set_memberships(self._affiliations.astype(A.dtype))
                return not_converged(self, run)

            fit.stores(store)
            if A.nnz == 0:
                self.n_seeds_ = 0
                fit.runs.append(finished(padded(np.zeros((n, self.n_clusters)))))
                return self
            loop = partial(iterate, step=sweep, policy=self._policy, max_iter=self.max_iter, tol=self.tol)
            n_starts = self.n_init if is_drawn(self.init) else 1
            fit.run_starts((self._start(A, rng) for _ in range(n_starts)), partial(loop, report=fit.report))
        return self

    def _start(self, A: sparse.csr_array, rng: np.random.RandomState) -> Array:
        """Affiliations to start from; a node without links has none."""
        F = padded(self._seeded(A, rng))
        F[np.diff(A.indptr) == 0] = 0
        return F

    def _seeded(self, A: sparse.csr_array, rng: np.random.RandomState) -> Array:
        n, K = A.shape[0], self.n_clusters
        if not isinstance(self.init, str):
            F = validate_matrix("init", self.init, (n, K))
            if (F < 0).any():
                raise ValueError(f"init must have entries >= 0. Got {F.min():.3g}.")
            self.n_seeds_ = 0
            return np.minimum(F, _MOST)
        if self.init == "random":
            self.n_seeds_ = 0
            return rng.uniform(size=(n, K))
        if self.init == "spectral":
            self.n_seeds_ = 0
            return np.eye(K)[spectral_labels(A.astype(np.float64), K, rng)]
        seeds = neighbourhood_seeds(A, self.min_degree)[:K]
        self.n_seeds_ = len(seeds)
        F = np.zeros((n, K))
        for k, u in enumerate(seeds):
            F[u, k] = 1
            F[A.indices[A.indptr[u] : A.indptr[u + 1]], k] = 1
        for k in range(len(seeds), K):
            nodes = rng.choice(n, min(_RANDOM_NODES, n), replace=False)
            F[nodes, k] = rng.uniform(size=len(nodes))
        return F

    def _least_strengths(self) -> Any:
        sums = self.memberships_.sum(axis=1, keepdims=True)
        return np.maximum(self.threshold_, _LEAST_SHARE * sums)

    def _link_factors(self) -> tuple[Any, Any]:
        return self.memberships_, self.memberships_

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Affiliations of new nodes, each for itself.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
        """
        links = self._links(X)
        F = padded(self._affiliations)
        f = neighbour_means(links, F)
        affiliation_rows(links, F, f, self._rate, _MOST, _PREDICTION_STEPS)
        f[np.diff(links.indptr) == 0] = 0
        return f[:, : self.n_clusters].astype(links.dtype)


def member_threshold(A: sparse.csr_array) -> float:
    """The affiliation whose square makes a link as likely as it is in the whole graph."""
    n = A.shape[0]
    density = A.nnz / max(n * (n - 1), 1)
    return math.sqrt(-math.log1p(-min(density, 1 - 1 / n))) if density > 0 else 0.0


def conductances(A: sparse.csr_array, min_degree: int) -> Array:
    """Conductance of the neighbourhood of each node, itself included; 1 for nodes of fewer than ``min_degree`` links.

    Of the links at the nodes of a set, the part that leaves it.
    """
    degree = np.diff(A.indptr).astype(np.float64)
    ones = sparse.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    volume = degree + ones @ degree
    cut = volume - 2 * degree - closed_wedges(A)
    smaller = np.minimum(volume, degree.sum() - volume)
    found = np.ones(len(degree))
    counts = (degree >= min_degree) & (smaller > 0)
    found[counts] = cut[counts] / smaller[counts]
    return found


def neighbourhood_seeds(A: sparse.csr_array, min_degree: int) -> NDArray[np.intp]:
    """Nodes whose neighbourhood has a lower conductance than those of all neighbours, lowest first.

    Of equal ones the first counts as lower: the nodes of a clique all have the same neighbourhood, which starts once.
    """
    phi = conductances(A, min_degree)
    nodes = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    beaten = (phi[A.indices] < phi[nodes]) | ((phi[A.indices] == phi[nodes]) & (A.indices < nodes))
    minimal = np.diff(A.indptr) > 0
    minimal[nodes[beaten]] = False
    seeds = np.flatnonzero(minimal)
    return seeds[np.argsort(phi[seeds], kind="stable")]
