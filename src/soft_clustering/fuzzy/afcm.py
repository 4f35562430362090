"""Adaptive fuzzy c-means with graph embedding.

Entropy c-means that learns its entropy weight (see :mod:`soft_clustering.fuzzy.afcm_simple`), not on the samples but
on an embedding Y (n, q) of a neighbour graph that is learnt with it. With D_ik = |y_i - v_k|^2 and L = I - A the
Laplacian of the graph, minimise

    J = (sum_ik u_ik D_ik + gamma tr(Y^T L Y)) / lambda + sum_ik u_ik log u_ik + (n q / 2) log lambda

over memberships with sum_k u_ik = 1, centres V, the entropy weight lambda > 0 and Y with Y^T Y = I:

* v_k = sum_i u_ik y_i / sum_i u_ik;
* lambda = 2 (sum_ik u_ik D_ik + gamma tr(Y^T L Y)) / (n q);
* u_ik = exp(-D_ik / lambda) / sum_l exp(-D_il / lambda);
* Y spans the leading eigenvectors of gamma A + U diag(U^T 1)^-1 U^T: a few steps of orthogonal iteration from the Y
  before. With gamma added, which changes no eigenvector, no eigenvalue is negative, so that no step makes J larger.

The graph: sample i is joined to its k nearest others with the weights s_ij = a_ij / 2 + 1 / (2 k), where
a_ij = (d_k+1 - d_j) / sum_l (d_k+1 - d_l), d_j the squared distance to the j-th nearest; those with d_j = d_k+1 have no
weight and do not count in k. S is the mean of that matrix and its transpose. The weights a alone leave a tight group of
at most k samples hardly any edge to the others, and such a group is then a cluster; with the equal share it keeps at
most (1 + its part of the k neighbours) / 2 of its weight. With the degrees g = S 1 and tau a part of their mean,
A = (diag(g) + tau)^-1/2 (S + (tau / n) 1 1^T) (diag(g) + tau)^-1/2: all samples are joined weakly, so that samples of
small degree do not become a cluster. The start is the spectral clustering of that graph.

The degrees: Y is learnt with U, so that it moves to the centres and U is nearly hard, whatever the overlap. What
``memberships_`` holds is 0.51 U + 0.49 diag(g)^-1 S U, a step of a lazy random walk on the graph: half of it is the
sample's own, half the share that each cluster has among its neighbours.

References
----------
Q. Chen, W. Yu, F. Nie, X. Li (2024). Adaptive fuzzy c-means with graph embedding. arXiv:2405.13427.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, svd
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Matrix, MatrixLike, Seed
from ..base import InductiveSoftClusterer
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Frame, make_blocks
from ..engine.collapse import collapse
from ..engine.fitting import Fit, not_converged
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, Scale, iterate
from ..engine.neighbors import Neighbors, graph_weights
from ..inputs.features import check_enough_samples, refuse_dask, validate_features
from ..inputs.pairwise import validate_affinity
from ..kernels.centers import center_memberships
from ..kernels.reference import posteriors, squared_distances

if TYPE_CHECKING:
    from typing import Self

    from scipy import sparse

_DENSE = 300  # samples up to which all eigenvectors are computed
_EIGEN_TOL = 1e-5  # of the start: with 1e-4 the seed was seen to change the clusters
_STEPS = 4  # of orthogonal iteration in a pass
_AUTO, _LEAST_TRACE = 0.3, 1e-3  # graph_weight='auto' is the first over the trace, which counts at least the second
_OWN = 0.51  # part of a sample's own memberships: more than half, so that its label is that of the objective
_EMPTY = 1e-12  # share of the samples below which a cluster is empty
_LEAST = 1e-12  # n lambda is at least this, where every sample is on a centre
_WEAKEST, _STRONGEST = 1e-100, 1e100  # graph weights beyond which nothing changes any more


class Solution(NamedTuple):
    """What a pass leaves behind; a start has no centres and no entropy weight yet."""

    embedding: Array  # Y (n, q), orthonormal columns
    image: Array  # A Y
    memberships: Array  # U (n, K)
    centers: Array | None = None  # V (K, q)
    entropy_weight: float = np.inf  # lambda


def membership_change(old: Solution, new: Solution, history: list[float], scale: Scale) -> float:
    """The largest change of a membership, infinite in the first pass, which changes the hard ones of the start."""
    return float(np.abs(new.memberships - old.memberships).max()) if len(history) > 1 else np.inf


class RegularisedAffinity(LinearOperator):
    """A = (diag(g) + tau)^-1/2 (S + (tau / n) 1 1^T) (diag(g) + tau)^-1/2, g = S 1, tau a part of the mean of g.

    Eigenvalues between -1 and 1; the largest is 1, once.
    """

    def __init__(self, S: sparse.csr_array, regularization: float) -> None:
        super().__init__(np.float64, S.shape)
        S = S.astype(np.float64)
        S.data /= S.data.max(initial=5e-324)  # the unit of the affinities does not matter
        degrees = np.asarray(S.sum(axis=1)).ravel()
        S.data /= degrees.mean()
        self._S, self._tau = S, regularization
        self._root = 1 / np.sqrt(degrees / (degrees.mean() or 1.0) + regularization)[:, None]

    def _matmat(self, Y: Array) -> Array:
        Y = self._root * Y
        product: Array = self._root * (self._S @ Y + Y.sum(axis=0) * (self._tau / len(Y)))
        return product


def leading_eigenvectors(A: RegularisedAffinity, q: int, rng: np.random.RandomState) -> Array:
    """Eigenvectors (n, q) of the largest eigenvalues."""
    n = A.shape[0]
    if n <= max(_DENSE, q + 1):
        return np.asarray(eigh(A @ np.eye(n), subset_by_index=(n - q, n - 1))[1])
    start, size = rng.uniform(-1, 1, n), min(n, max(4 * q, 30))
    try:
        return np.asarray(eigsh(A, q, which="LA", v0=start, ncv=size, tol=_EIGEN_TOL)[1])
    except ArpackNoConvergence as stopped:
        # What was found, completed at random: the loop goes on from there.
        found = stopped.eigenvectors
        return np.linalg.qr(np.column_stack([found, rng.standard_normal((n, q - found.shape[1]))]))[0]


def pivot_labels(Y: Array, K: int) -> NDArray[np.intp]:
    """Clusters of an embedding (n, q >= K): pivoted QR finds K rows in different directions, the nearest of which wins.

    References
    ----------
    A. Damle, V. Minden, L. Ying (2019). Simple, direct and efficient multi-way spectral clustering. Information and
    Inference 8(1), 181-203.
    """
    _, pivots = qr(Y.T, mode="r", pivoting=True)
    left, _, right = svd(Y[pivots[:K]].T, full_matrices=False)
    labels: NDArray[np.intp] = np.abs(Y @ (left @ right)).argmax(axis=1)
    return labels


def weighted_means(U: Array, Y: Array) -> Array:
    """Centres (K, q). That of an empty cluster is the row that is farthest from the centres before it."""
    size = U.sum(axis=0)
    full = size > _EMPTY * len(Y)
    V = (U.T @ Y) / np.where(full, size, 1.0)[:, None]
    for k in np.flatnonzero(~full):
        V[k] = Y[squared_distances(Y, V[full]).min(axis=1).argmax()]
        full[k] = True
    return V


def copies_mean(values: Array, which: NDArray[np.intp], count: NDArray[np.intp]) -> Array:
    """Means of the rows (n, c) over the copies of each distinct sample: those of sample i are ``which`` = i."""
    return np.column_stack([np.bincount(which, column) for column in values.T]) / count[:, None]


def lazy_step(S: sparse.csr_array, U: Array) -> Array:
    """0.51 U + 0.49 diag(S 1)^-1 S U: the memberships of a node and of its neighbours; U for a node without an edge.

    Examples
    --------
    >>> from scipy import sparse
    >>> S = sparse.csr_array(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]))
    >>> lazy_step(S, np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).round(4)
    array([[0.6325, 0.3675],
           [1.    , 0.    ],
           [0.49  , 0.51  ]])
    """
    shares = S.astype(np.float64) / (S.data.max(initial=0.0) or 1.0) @ U
    total = shares.sum(axis=1, keepdims=True)
    return _OWN * U + (1 - _OWN) * np.where(total > 0, shares / np.where(total > 0, total, 1.0), U)


def _inductive(estimator: InductiveSoftClusterer) -> bool:
    return bool(estimator.affinity != "precomputed")


def _predicts(estimator: InductiveSoftClusterer) -> bool:
    return _inductive(estimator._as_fitted())


class AFCM(InductiveSoftClusterer):
    """Adaptive fuzzy c-means with graph embedding: clusters of any shape, with a fuzziness learnt from the data.

    Spectral clustering and fuzzy c-means in one objective: the embedding of a neighbour graph, the clusters in it and
    their softness are learnt together.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    affinity : {'adaptive', 'precomputed'}, default='adaptive'
        ``'adaptive'``: the graph joins each sample to its nearest neighbours with weights that need no scale [2]_.
        ``'precomputed'``: ``fit`` takes a graph, a symmetric non-negative (n_samples, n_samples) matrix, sparse or
        not, whose diagonal does not count. There is no rule for new samples then: the predicting methods do not exist.
    n_neighbors : int, default=30
        Neighbours k of a sample; at most n_samples - 2. Clusters of fewer samples are hardly found.
    graph_weight : float or 'auto', default='auto'
        gamma > 0: how much the embedding follows the graph rather than the clusters. ``'auto'``: 0.3 over
        tr(Y^T L Y) of the spectral embedding Y. From 1 over that trace on equal memberships are a minimum of J, too,
        and a warning says so.
    regularization : float, default=0.1
        Weak affinity of each sample to all others, > 0, as a part of the mean degree of the graph. It keeps a few
        samples of small degree from being a cluster.
    n_components : int or None, default=None
        Dimensions q of the embedding; ``n_clusters`` if None; at most n_samples.
    n_init : int, default=1
        Starts; the one of smallest objective is kept. The first is a pivoted QR factorisation of the spectral embedding
        [3]_, which draws nothing. Further ones, and at least one where q differs from K, are k-means on the embedding
        with rows of length 1; for q < K all are.
    max_iter : int, default=100
        Passes per start.
    tol : float, default=1e-6
        Converged when no membership changes by more than this.
    random_state : int, RandomState or None, default=None
        Seed of the eigenvector computation, and of k-means starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Half ``embedding_memberships_``, half the share that each cluster has among the neighbours of a sample. Rows sum
        to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    embedding_memberships_ : ndarray of shape (n_samples, n_clusters)
        U, the memberships of J in the embedding, nearly hard with the default weight. Rows sum to 1.
    centers_ : ndarray of shape (n_clusters, n_features)
        Means of the samples, weighted by ``embedding_memberships_``; of curved clusters they need not be near any
        sample. Not with ``affinity='precomputed'``.
    embedding_ : ndarray of shape (n_samples, n_components)
        Y. Its columns are orthonormal; but copies of a sample get the mean of their rows.
    embedding_centers_ : ndarray of shape (n_clusters, n_components)
        V.
    entropy_weight_ : float
        The learnt lambda, in squared units of the embedding.
    graph_weight_ : float
        The gamma used.
    affinity_matrix_ : CSR array of shape (n_samples, n_samples)
        S, without the weak affinity of ``regularization``.
    n_clusters_ : int
    objective_ : float
        J, minimised, a sum over the samples; of the embedding with orthonormal columns. The unit of the data does not
        matter.
    objective_history_ : ndarray
        J after each pass of the best start.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.AFCMSimple : the same without the graph, for round clusters; faster, with sample weights.
    sklearn.cluster.SpectralClustering : the start of this method, without memberships and prediction.

    Notes
    -----
    Follows the abstract and public summaries of [1]_ in its ingredients: a learnt fuzziness, an embedding from an
    eigenproblem, alternating updates, a simplified Gaussian mixture without the graph. The equations were not available
    to us: the exact form of J, the graph, its regularisation, the solver and the degrees from the neighbours are ours.
    That lambda also divides the graph term keeps J bounded.

    A pass costs O(n q (k + K + q)) time; memory is O(n (k + K + q)), and no (n, n) matrix is formed beyond 300 samples.

    The embedding is learnt with its clusters, so that ``embedding_memberships_`` are nearly hard however much the
    clusters overlap. ``memberships_`` are a step of the lazy random walk on the graph from there, and tell where
    clusters meet. The largest one is at least 1/2 where the former are hard.

    On tables where the classes are neither dense nor connected, a graph of neighbours follows other structure: there
    the labels may be worse than those of k-means. A sample of which there are more than ``n_neighbors`` copies is
    joined to copies only.

    A new sample gets the mean of ``embedding_memberships_`` of its nearest distinct training samples, with the weights
    of the graph; a copy of a training sample gets the memberships of that one.

    References
    ----------
    .. [1] Q. Chen, W. Yu, F. Nie, X. Li (2024). Adaptive fuzzy c-means with graph embedding. arXiv:2405.13427.
    .. [2] F. Nie, X. Wang, H. Huang (2014). Clustering and projected clustering with adaptive neighbors. KDD, 977-986.
    .. [3] A. Damle, V. Minden, L. Ying (2019). Simple, direct and efficient multi-way spectral clustering. Information
       and Inference 8(1), 181-203.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from soft_clustering import AFCM
    >>> X, y = make_moons(400, noise=0.05, random_state=0)
    >>> model = AFCM(n_clusters=2, random_state=0).fit(X)
    >>> adjusted_rand_score(y, model.labels_)
    1.0
    >>> graph = AFCM(n_clusters=2, affinity="precomputed", random_state=0).fit(model.affinity_matrix_)
    >>> bool((abs(graph.memberships_ - model.memberships_) < 1e-9).all())
    True
    >>> hasattr(graph, "predict")
    False
    """

    embedding_memberships_: NDArray[Any]
    centers_: NDArray[Any]
    embedding_: NDArray[Any]
    embedding_centers_: NDArray[Any]
    entropy_weight_: float
    graph_weight_: float
    affinity_matrix_: Any
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    _frame: Frame
    _policy = Policy(residual=membership_change, place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "affinity": [StrOptions({"adaptive", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "graph_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        affinity: str = "adaptive",
        n_neighbors: int = 30,
        graph_weight: float | str = "auto",
        regularization: float = 0.1,
        n_components: int | None = None,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.graph_weight = graph_weight
        self.regularization = regularization
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With ``affinity='precomputed'`` an array or sparse matrix of shape (n_samples, n_samples).
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Solution](self) as fit:
            refuse_dask(self, X)
            features = _inductive(self)
            X = validate_features(self, X, reset=True, accept_sparse=False) if features else validate_affinity(self, X)
            check_enough_samples(X.shape[0], self.n_clusters)
            Z = neighbors = None
            if features:
                self._frame = make_blocks(X).frame
                Z = self._frame.from_input(X)
                neighbors = Neighbors(Z, self.n_neighbors)
            self.affinity_matrix_ = X if neighbors is None else neighbors.graph()
            A = RegularisedAffinity(self.affinity_matrix_, self.regularization)
            rng = check_random_state(self.random_state)
            q = min(self.n_components or self.n_clusters, A.shape[0])
            Y = leading_eigenvectors(A, q, rng)
            trace = max(q - float(np.vdot(Y, A @ Y)), 0.0)
            weight = _AUTO / max(trace, _LEAST_TRACE) if self.graph_weight == "auto" else float(self.graph_weight)
            self.graph_weight_ = min(max(weight, _WEAKEST), _STRONGEST)

            def store(run: Run[Solution]) -> Iterator[str]:
                self._store(run.state, X, Z, neighbors)
                return self._complaints(run, trace)

            fit.stores(store)
            step = partial(self._step, A=A)
            loop = partial(iterate, step=step, policy=self._policy, max_iter=self.max_iter, tol=self.tol)
            starts = (Solution(Y, A @ Y, U) for U in self._starts(Y, rng))
            fit.run_starts(starts, partial(loop, report=fit.report))
        return self

    @available_if(_predicts)  # type: ignore[untyped-decorator]
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data; not with ``affinity='precomputed'``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self, "memberships_")
        refuse_dask(self, X)
        X = validate_features(self, X, reset=False, accept_sparse=False)
        indices, D = self._neighbors.nearest(self._frame.from_input(X))
        U: Array = self._neighbors.rows(indices, graph_weights(D)) @ self._neighbor_memberships
        with np.errstate(over="ignore"):  # a copy in the precision of X is a copy
            same = (D[:, 0] == 0) | (self._rows[indices[:, 0]].astype(X.dtype) == X).all(axis=1)
        U[same] = self._own_memberships[indices[same, 0]]
        return U.astype(X.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.pairwise = not _inductive(self)
        return tags

    # The method -----------------------------------------------------------------------------------------------------

    def _starts(self, Y: Array, rng: np.random.RandomState) -> Iterator[Array]:
        """Hard memberships to start from."""
        q, K = Y.shape[1], self.n_clusters
        if q >= K:
            yield np.eye(K)[pivot_labels(Y, K)]
        draws = self.n_init if q < K else max(self.n_init - 1, int(q > K))
        length = np.linalg.norm(Y, axis=1, keepdims=True)
        blocks = make_blocks(np.ascontiguousarray(Y / np.where(length > 0, length, 1.0)))
        for _ in range(draws):
            V = starting_centers(blocks, "kmeans", K, rng)
            yield center_memberships(blocks.blocks[0], V, "nearest")

    def _step(self, state: Solution, A: RegularisedAffinity) -> tuple[Solution, float]:
        """A pass, and J after it; the first one keeps the embedding, as its memberships are those of a start."""
        Y, AY, U, *_ = state
        (n, q), gamma = Y.shape, self.graph_weight_
        if state.centers is not None:
            shares = U / np.maximum(U.sum(axis=0), _EMPTY * n)
            for _ in range(_STEPS):
                Y = np.linalg.qr(gamma * (AY + Y) + shares @ (U.T @ Y))[0]
                AY = A @ Y
        V = weighted_means(U, Y)
        D = squared_distances(Y, V)
        graph = gamma * max(q - float(np.vdot(Y, AY)), 0.0)
        weight = max(2 * (float(np.vdot(U, D)) + graph) / (n * q), _LEAST / n)
        U, log_sums = posteriors(-D / weight)
        objective = graph / weight - float(log_sums.sum()) + n * q / 2 * math.log(weight)
        return Solution(Y, AY, U, V, weight), objective

    def _store(self, state: Solution, X: Matrix, Z: Array | None, neighbors: Neighbors | None) -> None:
        """Set the fitted attributes."""
        Y, _, U, V, weight = state
        assert V is not None
        copies = neighbors is not None and neighbors.may_have_copies
        if Z is not None and copies:
            # Copies of a row are one point to prediction, so they are one point here.
            _, first, which, count = np.unique(Z, axis=0, return_index=True, return_inverse=True, return_counts=True)
            which = which.ravel()
            Y = copies_mean(Y, which, count)[which]
            V = weighted_means(U, Y)
            U = posteriors(-squared_distances(Y, V) / weight)[0]
        memberships = lazy_step(self.affinity_matrix_, U)
        if Z is not None and neighbors is not None:
            self._rows, self._neighbor_memberships, self._own_memberships = X, U, memberships
            if copies:
                own = copies_mean(memberships, which, count)
                self._rows, self._neighbor_memberships, self._own_memberships = X[first], U[first], own
                memberships, neighbors = own[which], Neighbors(Z[first], self.n_neighbors)
            self._neighbors = neighbors
            means = (U.T @ Z) / np.maximum(U.sum(axis=0), np.finfo(float).tiny)[:, None]
            self.centers_ = self._frame.to_input(means).astype(X.dtype)
        self.embedding_, self.embedding_centers_ = Y.astype(X.dtype), V.astype(X.dtype)
        self.embedding_memberships_ = U.astype(X.dtype)
        self.entropy_weight_ = weight
        self._set_memberships(memberships.astype(X.dtype))

    def _complaints(self, run: Run[Solution], trace: float) -> Iterator[str]:
        """What to warn of after a fit; ``trace`` is tr(Y^T L Y) of the spectral embedding."""
        yield from not_converged(self, run)
        if self.n_clusters > 1 and self.graph_weight_ * trace > 1:
            yield (
                f"AFCM: with graph_weight={self.graph_weight_:.4g} equal memberships are a minimum of the objective, "
                f"too; use less than {1 / trace:.4g}, or 'auto'."
            )
        if _inductive(self) and len(self._rows) < self.n_clusters:
            yield (
                f"AFCM got {len(self._rows)} distinct samples, fewer than n_clusters={self.n_clusters}: there are "
                "duplicate points in X; use fewer clusters"
            )
            return
        blocks = make_blocks(self.embedding_)
        V = blocks.frame.from_input(self.embedding_centers_)
        remedy = "use fewer clusters or a smaller graph_weight"
        yield from collapse("AFCM", V, self.embedding_memberships_, blocks, remedy)


# A graph has no rule for new samples, so these methods do not exist then. From outside of the class: scikit-learn
# wraps a ``transform`` that it finds inside, and its wrapper hides the condition.
for _method in ("predict", "predict_proba", "transform", "fit_transform"):
    setattr(AFCM, _method, available_if(_predicts)(getattr(AFCM, _method)))
