"""Bayesian non-negative matrix factorisation of a graph, which finds the number of communities.

Links V_ij are Poisson with rate (W H^T)_ij; W_ik and H_ik are half-normal with a precision beta_k for each community,
and beta_k has a gamma prior of shape a and rate b. Minimise the energy (minus the log posterior, up to constants)

    U = sum_ij [V_ij log(V_ij / R_ij) - V_ij + R_ij] + sum_k [beta_k (|w_k|^2 + |h_k|^2) / 2 - (n + a - 1) log beta_k
        + b beta_k],    R = W H^T,

by alternating

* H_jk <- H_jk (sum_i V_ij / R_ij W_ik) / (sum_i W_ik + beta_k H_jk);
* beta_k = (n + a - 1) / (b + (|w_k|^2 + |h_k|^2) / 2);
* W as H.

A community that explains little gets a large precision, which shrinks it to nothing.

References
----------
I. Psorakis, S. Roberts, M. Ebden, B. Sheldon (2011). Overlapping community detection using Bayesian non-negative matrix
factorization. Physical Review E 83, 066114.
V. Y. F. Tan, C. Fevotte (2009). Automatic relevance determination in nonnegative matrix factorization. SPARS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, GraphLike, MatrixLike, Seed
from ..base import MembershipKind
from ..engine.alternating import PARAMETERS
from ..engine.fitting import Fit, not_converged
from ..engine.loop import Policy, Run, finished, iterate, objective_change
from ..kernels.graphs import Factor, factor_step, padded, ratio_rows
from .network import GraphClusterer, mean_weight, row_sums

if TYPE_CHECKING:
    from typing import Self

_FIRST = 100  # most communities to begin with where their number is to be found
_EPS = math.sqrt(np.finfo(float).eps)
_PREDICTION_STEPS = 200


class State(NamedTuple):
    """The strengths and the precisions of the communities, filled up to the width of the kernels."""

    W: Factor  # (n, wide)
    H: Factor
    beta: Array  # (wide,)
    spare: tuple[Array, Array]  # the memory of the next state


class Factors(NamedTuple):
    """The same after the fit."""

    W: Array  # (n, K)
    H: Array  # (n, K)
    beta: Array  # (K,)


class BayesianNMF(GraphClusterer):
    """Bayesian non-negative matrix factorisation: overlapping communities, and how many there are.

    Every node has a non-negative strength in every community. Communities that the links do not ask for are shrunk to
    nothing and dropped.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of communities K; those that are shrunk away remain as columns of zeros. None finds the number, from
        half as many as there are nodes, at most 100.
    prior_shape : float, default=5.0
        Shape a of the gamma prior of the precisions.
    prior_rate : float, default=2.0
        Its rate b.
    self_loops : {'auto', 'degree', 'unit'} or None, default='auto'
        The diagonal: the degrees, the mean weight of a link, or zeros. ``'auto'`` is 'degree' if ``n_clusters`` is
        given and 'unit' if it is found.
    prune_tol : float, default=1e-6
        A community is dropped when its largest entry is at most this part of the largest one of all.
    n_init : int, default=5
        Random starts; the one of smallest energy is kept.
    max_iter : int, default=500
        Passes per start.
    tol : float, default=1e-6
        Converged when the energy changes by at most this part of itself.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_nodes, n_clusters)
        The strengths W: non-negative, unbounded. A node without links has zeros.
    labels_ : ndarray of shape (n_nodes,)
        Community of largest strength, -1 if there is none.
    n_clusters_ : int
    n_effective_clusters_ : int
        Communities that were not shrunk away when the energy came to rest.
    components_ : ndarray of shape (n_clusters, n_nodes)
        H transposed.
    precisions_ : ndarray of shape (n_clusters,)
        The precisions beta.
    community_shares_ : ndarray of shape (n_nodes, n_clusters)
        ``memberships_`` with rows that sum to 1.
    threshold_ : float
        0.25: the share from which on a node is a member, for ``get_cover``, beside the largest one.
    node_names_ : ndarray of shape (n_nodes,)
    objective_ : float
        The energy U, minimised.
    objective_history_ : ndarray
        U after each pass.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.BIGCLAM : a likelihood of links that are there or not, for large graphs.

    Notes
    -----
    Follows [1]_ with the shrinkage of [2]_; the order of the steps, the start from half of the nodes and the degrees on
    the diagonal are those of the authors' program, the limit of 100 and the threshold of 0.25 are ours. The matrix is
    divided by its largest entry. A pass costs O(nnz K) time; memory is O(nnz + n K).

    The number found grows with the diagonal: with degrees it is too large on sparse graphs. ``get_cover`` without a
    threshold compares shares; a threshold is one of strengths. New nodes come as rows of links to the nodes of
    ``fit``, whose factors are kept.

    References
    ----------
    .. [1] I. Psorakis, S. Roberts, M. Ebden, B. Sheldon (2011). Overlapping community detection using Bayesian
       non-negative matrix factorization. Physical Review E 83, 066114.
    .. [2] V. Y. F. Tan, C. Fevotte (2009). Automatic relevance determination in nonnegative matrix factorization.
       SPARS.

    Examples
    --------
    >>> from soft_clustering import BayesianNMF
    >>> from soft_clustering.datasets import load_graph
    >>> graph = load_graph("karate")
    >>> model = BayesianNMF(n_clusters=2, random_state=0).fit(graph.adjacency)
    >>> int((model.labels_ == model.labels_[0]).sum())
    16
    """

    n_effective_clusters_: int
    components_: NDArray[Any]
    precisions_: Array
    community_shares_: NDArray[Any]
    threshold_: float
    membership_kind: ClassVar[MembershipKind] = "affiliation"
    _policy = Policy(residual=objective_change, place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "prior_shape": [Interval(Real, 0, None, closed="neither")],
        "prior_rate": [Interval(Real, 0, None, closed="neither")],
        "self_loops": [None, StrOptions({"auto", "degree", "unit"})],
        "prune_tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        prior_shape: float = 5.0,
        prior_rate: float = 2.0,
        self_loops: str | None = "auto",
        prune_tol: float = 1e-6,
        n_init: int = 5,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.prior_shape = prior_shape
        self.prior_rate = prior_rate
        self.self_loops = self_loops
        self.prune_tol = prune_tol
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: GraphLike, y: object = None) -> Self:
        """Fit the communities of a graph.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
            Weights are used.
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[State](self) as fit:
            A = self._graph(X)
            self.threshold_ = 0.25
            linked = np.flatnonzero(np.diff(A.indptr))
            store = partial(self._store, linked=linked, A=A)
            if len(linked) == 0:
                self._unit, nothing = 1.0, Factor.of(np.zeros((0, self.n_clusters or 1)))
                fit.stores(partial(store, K=nothing.rows.shape[1], energy=lambda state: 0.0))
                fit.runs.append(finished(State(nothing, nothing, np.ones_like(nothing.sums), (nothing.rows,) * 2)))
                return self
            V = self._target(A[linked][:, linked].astype(np.float64))
            rng = check_random_state(self.random_state)
            K = self.n_clusters or min(-(-len(linked) // 2), _FIRST)
            own = float(V.data @ (np.log(V.data) - 1))

            def step(state: State) -> tuple[State, float]:
                W, H, beta, spare = state
                new_H, logs = factor_step(V, H, W, beta, out=spare[1])
                new_beta = self._precisions(W, new_H)
                new_W, _ = factor_step(V, W, new_H, new_beta, out=spare[0])
                return State(new_W, new_H, new_beta, (W.rows, H.rows)), self._energy(state, K, own - logs)

            def energy(state: State) -> float:
                return self._energy(state, K, own - ratio_rows(V, state.H.rows, state.W.rows)[1])

            def starts() -> Iterator[State]:
                for _ in range(self.n_init):
                    W, H = (padded(rows) for rows in rng.uniform(size=(2, len(linked), K)))
                    spare = padded(W), padded(H)
                    yield State(Factor.of(W), Factor.of(H), np.ones(W.shape[1]), spare)

            fit.stores(partial(store, K=K, energy=energy))
            loop = partial(iterate, step=step, policy=self._policy, max_iter=self.max_iter, tol=self.tol)
            fit.run_starts(starts(), partial(loop, report=fit.report))
        return self

    def _store(
        self,
        run: Run[State],
        linked: NDArray[np.intp],
        A: sparse.csr_array,
        K: int,
        energy: Callable[[State], float],
    ) -> list[str]:
        """Drop what was shrunk away, and give the nodes without links zeros."""
        # The loop knows the energies before its passes.
        run.history[:] = [*run.history[1:], energy(run.state)]
        complaints = not_converged(self, run)
        W, H, beta, _ = run.state
        factors = Factors(W.rows[:, :K], H.rows[:, :K], beta[:K])
        kept = self._kept(factors)
        if len(linked) and not kept.any():
            complaints.append("All communities were shrunk away: the strongest is kept")
            kept[np.argmax(factors.W.max(axis=0) * factors.H.max(axis=0))] = True
        self.n_effective_clusters_ = int(kept.sum())
        if self.n_clusters is None and kept.any():
            factors = Factors(*(part[..., kept] for part in factors))
        W, H = np.zeros((2, A.shape[0], factors.W.shape[1]))
        W[linked], H[linked] = factors.W, factors.H
        if self.n_clusters is not None:
            W, H = W * kept, H * kept
        self._state = Factors(W, H, factors.beta)
        self._set_memberships(W.astype(A.dtype))
        self.components_ = H.T.astype(A.dtype)
        self.precisions_ = factors.beta.copy()
        sums = self.memberships_.sum(axis=1, keepdims=True)
        self.community_shares_ = self.memberships_ / np.where(sums > 0, sums, 1)
        return complaints

    def _target(self, A: sparse.csr_array) -> Any:
        """The matrix to factorise: the links and a diagonal, largest entry 1."""
        kind = self.self_loops
        if kind == "auto":
            kind = "unit" if self.n_clusters is None else "degree"
        if kind is not None:
            unit = np.full(A.shape[0], mean_weight(A)) if kind == "unit" else row_sums(A)
            A = sparse.csr_array(A + sparse.diags_array(unit))
        self._unit = float(A.data.max())
        V = A / self._unit
        V.eliminate_zeros()  # what is too small beside the largest entry
        return V

    def _precisions(self, W: Factor, H: Factor) -> Array:
        precisions: Array = (len(W.rows) + self.prior_shape - 1) / (self.prior_rate + (W.squares + H.squares) / 2)
        return precisions

    def _energy(self, state: State, K: int, misfit: float) -> float:
        """U, of which ``misfit`` is sum V log(V / R) - V."""
        W, H, beta, _ = state
        prior = beta * (self.prior_rate + (W.squares + H.squares) / 2)
        prior -= (len(W.rows) + self.prior_shape - 1) * np.log(beta)
        return float(misfit + W.sums @ H.sums + prior[:K].sum())

    def _kept(self, factors: Factors) -> NDArray[np.bool_]:
        """Communities that were not shrunk away; if the number is found, only those that are the first of some node."""
        W, H = factors.W.max(axis=0, initial=0.0), factors.H.max(axis=0, initial=0.0)
        kept: NDArray[np.bool_] = (self.prune_tol * W.max() < W) & (self.prune_tol * H.max() < H)
        if self.n_clusters is None:
            kept &= np.bincount(np.where(kept, factors.W, -1).argmax(axis=1), minlength=len(kept)) > 0
        return kept

    def _strengths(self) -> NDArray[Any]:
        return self.community_shares_

    def _link_factors(self) -> tuple[Any, Any]:
        return self.memberships_, self.components_.T

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Strengths of new nodes, each for itself.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
        """
        links = self._links(X)
        W, H, beta = self._state
        V = links.astype(np.float64) / self._unit
        w = np.tile(W.mean(axis=0), (links.shape[0], 1))
        for _ in range(_PREDICTION_STEPS):
            w = w * ratio_rows(V, w, H)[0] / (H.sum(axis=0) + w * beta + _EPS)
        return w.astype(links.dtype)
