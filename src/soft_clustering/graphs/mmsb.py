"""Mixed-membership stochastic blockmodel by variational inference.

Node p has shares pi_p ~ Dir(alpha). For each pair, p acts towards q as a member of one block g ~ pi_p, q towards p as
one of h ~ pi_q, and they are linked with probability B_gh. The posterior is approximated by Dir(gamma_p) for each node,
a joint distribution of (g, h) for each link, and one distribution phi_p that node p has towards all nodes that it is
not linked to. With E_p = E[log pi_p], a_p = exp(E_p), z_pq = a_p^T B a_q, n_p the number of those nodes and T_p the sum
of their phi, a pass maximises a bound of the likelihood:

* links: M_p = sum_q a_p * (B a_q) / z_pq, how often p acts as each block; N1 = sum_pq B * (a_p a_q^T) / z_pq;
* others, twice: phi_p = softmax(E_p + log(1 - B) T_p / n_p);
* gamma_p = alpha + M_p + n_p phi_p;
* B = N1 / (N1 + N0), N0 = sum_p phi_p T_p^T / 2, symmetrised.

References
----------
E. M. Airoldi, D. M. Blei, S. E. Fienberg, E. P. Xing (2008). Mixed membership stochastic blockmodels. J. Mach.
Learn. Res. 9, 1981-2014.
P. K. Gopalan, D. M. Blei (2013). Efficient discovery of overlapping communities in massive networks. PNAS 110(36).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import psi, softmax
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, GraphLike, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS, is_drawn
from ..engine.fitting import Fit, not_converged
from ..engine.loop import Policy, Run, Scale, finished, iterate, objective_change
from ..inputs.features import validate_matrix
from ..kernels.graphs import block_pass, ratio_rows
from .lpanni import found_labels
from .network import GraphClusterer
from .spectral import cluster_directions, spectral_labels

if TYPE_CHECKING:
    from typing import Self

_LEAST = 1e-9  # the least probability of a link, and of no link
_OWN = 0.9  # of a node's shares that start in its own block
_ROUNDS = 16  # of averaging over links that make random starts smooth
_PREDICTION_STEPS = 20


class Posterior(NamedTuple):
    """The state: the parameters of the approximate posterior, and the probabilities of links."""

    gamma: Array  # (n, K)
    phi: Array  # (n, K), towards nodes without a link
    near: Array  # (n, K), the sum of the phi of linked nodes
    B: Array  # (K, K)


def change(old: Posterior, new: Posterior, history: list[float], scale: Scale) -> float:
    """The mean change of a share or the relative one of the objective, whichever is smaller."""
    # The parameters of every node have the same sum: those of the prior, and 1 for each other node.
    share = float(np.abs(old.gamma - new.gamma).mean() / new.gamma[0].sum())
    return min(share, objective_change(old, new, history))


class MMSB(GraphClusterer):
    """Mixed-membership stochastic blockmodel: nodes with shares of several blocks, and how blocks are linked.

    By default blocks are communities, linked more inside than to each other. With ``assortative=False`` they may be
    linked in any way: nodes belong together that are linked to the same blocks.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of blocks K. None takes as many as :class:`~soft_clustering.LinkMixture` begins with: the communities of
        :class:`~soft_clustering.LPANNI`, or of modularity where labels run over these.
    alpha : float or None, default=None
        Dirichlet parameter of the shares; small values mean few blocks each. None is 1 / K.
    assortative : bool, default=True
        Whether blocks are linked only inside: links between blocks then have the fixed probability
        ``background_rate``. False estimates the probability of a link for each pair of blocks.
    background_rate : float or 'auto', default='auto'
        That probability, with ``assortative=True``. ``'auto'`` is a tenth of the density of the graph.
    init : {'spectral', 'propagation', 'random'} or array of shape (n_nodes, n_clusters), default='spectral'
        Starting shares: clusters of a spectral embedding; the communities that say K, where ``n_clusters`` is None;
        clusters of random numbers averaged over links, which need no eigenvectors but differ more, so that several
        starts are advised; or shares, which force one start.
    n_init : int, default=1
        Starts; the one of largest objective is kept.
    max_iter : int, default=200
        Passes per start.
    tol : float, default=1e-5
        Converged when the shares change by at most this in the mean, or the objective by this part of itself.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters)
        Shares of the blocks, rows sum to 1; equal ones for a node without links.
    labels_ : ndarray of shape (n_nodes,)
        Block of largest share.
    n_clusters_ : int
    block_matrix_ : ndarray of shape (n_clusters, n_clusters)
        B, symmetric: probability of a link between members of two blocks.
    concentrations_ : ndarray of shape (n_nodes, n_clusters)
        The Dirichlet parameters gamma; those of the prior for a node without links.
    threshold_ : float
        0.15: the share from which on a node is a member, for ``get_cover``, beside the largest one.
    node_names_ : ndarray of shape (n_nodes,)
    objective_ : float
        The bound of the log likelihood, maximised.
    objective_history_ : ndarray
        The bound in each pass.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.BIGCLAM : affiliations without a sum, for overlapping communities.

    Notes
    -----
    The model is that of [1]_ for undirected graphs. The approximation of the posterior is ours, chosen so that a pass
    looks at links only: it is tighter than the published one for links (joint instead of independent) and, after [2]_,
    coarser for pairs without one (one distribution per node). So are the threshold, the random start and the background
    rate. Links are there or not: different weights are refused. A pass costs O(nnz K + n K^2); memory is O(nnz + n K).

    Free links between blocks explain the nodes of two communities as a block of their own, so that few nodes overlap:
    therefore ``assortative=True`` is the default, in which the model is that of [2]_. An ``alpha`` of 1 or more mixes
    too much.
    Both starts look for dense blocks: one whose links all go to another block is found from shares given as ``init``.
    New nodes come as rows of links to the nodes of ``fit``, whose shares and B are kept.

    References
    ----------
    .. [1] E. M. Airoldi, D. M. Blei, S. E. Fienberg, E. P. Xing (2008). Mixed membership stochastic blockmodels.
       J. Mach. Learn. Res. 9, 1981-2014.
    .. [2] P. K. Gopalan, D. M. Blei (2013). Efficient discovery of overlapping communities in massive networks.
       PNAS 110(36).

    Examples
    --------
    >>> from soft_clustering import MMSB
    >>> from soft_clustering.datasets import load_graph
    >>> model = MMSB(n_clusters=2, random_state=0).fit(load_graph("karate").adjacency)
    >>> model.memberships_.shape
    (34, 2)
    >>> bool(model.block_matrix_[0, 0] > model.block_matrix_[0, 1])
    True
    """

    block_matrix_: Array
    concentrations_: NDArray[Any]
    threshold_: float
    _binary: ClassVar[bool] = True
    _policy = Policy(sense="max", residual=change, place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "alpha": [None, Interval(Real, 0, None, closed="neither")],
        "assortative": ["boolean"],
        "background_rate": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")],
        "init": [StrOptions({"spectral", "propagation", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        alpha: float | None = None,
        assortative: bool = True,
        background_rate: float | str = "auto",
        init: str | ArrayLike = "spectral",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.assortative = assortative
        self.background_rate = background_rate
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: GraphLike, y: object = None) -> Self:
        """Fit the blocks of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Posterior](self) as fit:
            A = self._graph(X)
            links = A.astype(np.float64)
            found, K = self._communities(links)
            n = A.shape[0]
            self.threshold_ = 0.15
            self._alpha = 1 / K if self.alpha is None else float(self.alpha)
            density = A.nnz / max(n * (n - 1), 1)
            rate = 0.1 * density if self.background_rate == "auto" else float(self.background_rate)
            self._background = min(max(rate, _LEAST), 1 - _LEAST)
            rng = check_random_state(self.random_state)
            degree = np.diff(A.indptr)[:, None]

            def step(state: Posterior) -> tuple[Posterior, float]:
                phi, near, M, N1, N0, bound = block_pass(links, *state, self._alpha)
                gamma = self._alpha + M + (n - 1 - degree) * phi
                return Posterior(gamma, phi, near, self._link_probabilities(N1, N0)), bound

            def starts() -> Iterator[Posterior]:
                for _ in range(self.n_init if is_drawn(self.init) and self.init != "propagation" else 1):
                    P = self._start(links, K, found, rng)
                    near = links @ P
                    N0 = P.T @ (P.sum(axis=0) - P - near)
                    B = self._link_probabilities(P.T @ near / 2, (N0 + N0.T) / 4)
                    yield Posterior(self._alpha + (n - 1) * P, P, near, B)

            def store(run: Run[Posterior]) -> list[str]:
                gamma, phi, _, B = run.state
                gamma = np.where(degree == 0, self._alpha, gamma)  # what is known of nodes without links: the prior
                self._state = gamma, phi, B
                self.block_matrix_, self.concentrations_ = B.copy(), gamma.astype(A.dtype)
                self._set_memberships(_shares(gamma).astype(A.dtype))
                return not_converged(self, run)

            fit.stores(store)
            if A.nnz == 0:
                even, none = np.full((n, K), 1 / K), np.zeros((n, K))
                fit.runs.append(finished(Posterior(none, even, none, np.full((K, K), _LEAST))))
                return self
            loop = partial(iterate, step=step, policy=self._policy, max_iter=self.max_iter, tol=self.tol)
            fit.run_starts(starts(), partial(loop, report=fit.report))
        return self

    def _communities(self, A: sparse.csr_array) -> tuple[NDArray[np.intp] | None, int]:
        """The communities to start from, if they or their number are asked for, and K."""
        if self.n_clusters is None and not is_drawn(self.init):
            return None, int(np.shape(self.init)[-1])
        if self.n_clusters is None:
            labels = found_labels(A)[0]
            return labels, int(labels.max()) + 1 if A.nnz else 1
        if is_drawn(self.init) and self.init == "propagation":
            raise ValueError(
                f"init='propagation' finds the number of blocks: n_clusters must be None. Got {self.n_clusters!r}."
            )
        return None, self.n_clusters

    def _start(self, A: sparse.csr_array, K: int, found: NDArray[np.intp] | None, rng: np.random.RandomState) -> Array:
        n = A.shape[0]
        if not isinstance(self.init, str):
            P = validate_matrix("init", self.init, (n, K))
            if (P < 0).any() or (P.sum(axis=1) == 0).any():
                raise ValueError("init must have entries >= 0, not all 0 in any row.")
            return _shares(np.maximum(_shares(P), _LEAST))
        if self.init == "propagation" and found is not None:
            labels = found
        else:
            labels = smooth_labels(A, K, rng) if self.init == "random" else spectral_labels(A, K, rng)
        P = np.full((n, K), (1 - _OWN) / K)
        nodes = np.flatnonzero(labels >= 0)
        P[nodes, labels[nodes]] += _OWN
        P[labels < 0] = 1 / K
        return P

    def _link_probabilities(self, N1: Array, N0: Array) -> Array:
        """B from the expected numbers of links and of pairs without one."""
        B = np.clip(N1 / np.maximum(N1 + N0, np.finfo(float).tiny), _LEAST, 1 - _LEAST)
        if self.assortative:
            B = np.where(np.eye(len(B), dtype=bool), B, self._background)
        symmetric: Array = (B + B.T) / 2
        return symmetric

    def _link_factors(self) -> tuple[Any, Any]:
        return self.memberships_ @ self.block_matrix_, self.memberships_

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Shares of new nodes, each for itself.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
        """
        links = self._links(X)
        A = links.astype(np.float64)
        gamma, phi, B = self._state
        E = psi(gamma)
        a = np.exp(E - E.max(axis=1, keepdims=True))
        degree = np.diff(A.indptr)[:, None]
        rest = A.shape[1] - degree
        towards = (phi.sum(axis=0) - A @ phi) @ np.log1p(-B) / np.maximum(rest, 1)
        new = np.ones((A.shape[0], self.n_clusters_))
        for _ in range(_PREDICTION_STEPS):
            E = _expected_logs(new)
            mine = np.exp(E - E.max(axis=1, keepdims=True))
            M = mine * (ratio_rows(A, mine @ B, a)[0] @ B)
            new = self._alpha + M + rest * softmax(E + towards, axis=1)
        shares = _shares(new)
        shares[degree[:, 0] == 0] = 1 / self.n_clusters_
        return shares.astype(links.dtype)

    @as_fitted
    def sample(self, n_nodes: int | None = None) -> tuple[Any, Array]:
        """Draw a graph from the fitted model.

        Parameters
        ----------
        n_nodes : int or None, default=None
            None draws new links among nodes with the shares of the fitted ones; for a number, the shares of this many
            nodes are drawn from those, with repetition.

        Returns
        -------
        adjacency : CSR array of shape (n_nodes, n_nodes)
            Symmetric, entries 1.
        memberships : ndarray of shape (n_nodes, n_clusters)
            The shares that the links were drawn from.
        """
        check_is_fitted(self, "memberships_")
        if n_nodes is not None and (not isinstance(n_nodes, Integral) or n_nodes < 1):
            raise ValueError(f"n_nodes must be an int >= 1 or None. Got {n_nodes!r} instead.")
        rng = check_random_state(self.random_state)
        pi = self.memberships_.astype(np.float64)
        if n_nodes is not None:
            pi = pi[rng.randint(len(pi), size=n_nodes)]
        return draw_links(pi, self.block_matrix_, rng), pi


def smooth_labels(A: sparse.csr_array, K: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Clusters of the nodes by random numbers, 2 K for each, after some rounds of averaging over links.

    The rounds take away what differs between linked nodes; what all nodes have in common is taken away at the end.
    """
    degree = np.maximum(np.diff(A.indptr), 1)[:, None]
    R = rng.normal(size=(A.shape[0], 2 * K))
    for _ in range(_ROUNDS):
        R = (R + A @ R / degree) / 2
    R -= (degree * R).sum(axis=0) / degree.sum()
    return cluster_directions(R, K, 1, rng)


def draw_links(pi: Array, B: Array, rng: np.random.RandomState) -> Any:
    """A graph in which p and q are linked with probability pi_p^T B pi_q, in O(K (n + links)).

    Pairs are proposed at Poisson rates c pi_p^T B pi_q, block by block, with c so large that a pair is proposed at all
    with at least the probability of its link; the others are dropped again.
    """
    n = len(pi)
    most = float(B.max())
    c = -math.log1p(-most) / most
    size = pi.sum(axis=0)
    counts = rng.poisson(c * B * np.outer(size, size) / 2)
    p, q = (_draw_nodes(pi, np.repeat(side.ravel(), counts.ravel()), rng) for side in np.indices(counts.shape))
    pairs = np.unique(np.stack([np.minimum(p, q), np.maximum(p, q)])[:, p != q], axis=1)
    chance = np.einsum("ij,ij->i", pi[pairs[0]] @ B, pi[pairs[1]])
    p, q = pairs[:, rng.uniform(size=len(chance)) * -np.expm1(-c * chance) < chance]
    return sparse.csr_array((np.ones(2 * len(p)), (np.append(p, q), np.append(q, p))), shape=(n, n))


def _draw_nodes(pi: Array, blocks: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[np.intp]:
    """A node for each of the given blocks, drawn by the shares of the block."""
    nodes = np.empty(len(blocks), dtype=np.intp)
    for k in np.unique(blocks):
        drawn = blocks == k
        nodes[drawn] = rng.choice(len(pi), int(drawn.sum()), p=pi[:, k] / pi[:, k].sum())
    return nodes


def _expected_logs(gamma: Array) -> Array:
    E: Array = psi(gamma)
    E -= psi(gamma.sum(axis=1, keepdims=True))
    return E


def _shares(gamma: Array) -> Array:
    shares: Array = gamma / gamma.sum(axis=1, keepdims=True)
    return shares
