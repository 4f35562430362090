"""Centroid auto-fused hierarchical fuzzy c-means.

Fuzzy c-means with a penalty that pulls centroids together, at first many of them:

    J = sum_ik u_ik^m |x_i - v_k|^2 + lambda sum_{j<l} |v_j - v_l|

The norm is not squared, so that centroids do not only come near each other but coincide. With a_k = sum_i u_ik^m and
b_k = sum_i u_ik^m x_i / a_k, the centroids of fuzzy c-means, two of them taken alone coincide from

    lambda = t_jl = 2 a_j a_l / (a_j + a_l) |b_j - b_l|

on. The path: starting from c centroids, fuse the pair of smallest t into its mean weighted by a, let a few passes of
fuzzy c-means undo the shrinkage, and go on. Every number of clusters from c down is visited once, and the result are
centroids of fuzzy c-means.

A single lambda: minimise J, over the number of clusters as well. From each stage of the path, memberships and centroids
are minimised over in turns, the latter under the penalty, and those that coincide become one; the smallest J is kept.
Starting from many clusters alone would not do: a lambda that is large enough to leave a few fuses many into one.

References
----------
Y. Lin, S. Chen (2020). A centroid auto-fused hierarchical fuzzy c-means clustering. IEEE Transactions on Fuzzy Systems;
arXiv:2004.12756.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike, Seed
from ..base import InductiveSoftClusterer
from ..engine.acceleration import first_mixed
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Block, Blocks, Frame, make_blocks
from ..engine.collapse import collapse
from ..engine.fitting import Fit, not_converged, say
from ..engine.initialisation import kmeans_plusplus, settle
from ..engine.loop import Policy, Run, center_shift, iterate, squared_units
from ..inputs.features import check_enough_samples, refuse_dask, validate_features
from ..kernels import reference
from ..kernels.centers import CenterStatistics, center_memberships, center_rows, center_statistics
from .fuzzifier import resolve_fuzzifier, smaller
from .solver import fuzzy_start

if TYPE_CHECKING:
    from typing import Self

_PASSES = 5  # of fuzzy c-means at the beginning of a path and after a fusion; more of them gain nothing
_SETTLED = 1e-3  # movement of the centroids, in units of the spread, that ends these passes
_CORESET = 5000  # most rows of the path, or ten times its first clusters; more are replaced by a coreset of this size
_MOST = 100  # of n_initial_clusters='auto', unless more are asked for
_FEW = 20  # samples below which halves are too small to compare
_SMOOTH, _SOLVED, _STEPS = 1e-5, 1e-8, 500  # of the penalised problem: norms and solution in diameters, steps


class Tree:
    """What was fused: by whom, at which lambda."""

    def __init__(self, n_leaves: int) -> None:
        self._names, self._sizes = list(range(n_leaves)), [1] * n_leaves
        self.rows: list[tuple[int, int, float, int]] = []  # two names, lambda, leaves in both; as SciPy's linkage
        self.path: list[tuple[float, int]] = [(0.0, n_leaves)]  # lambda, clusters left

    def fuse(self, first: int, second: int, fusion_weight: float) -> None:
        """Fuse the clusters at two places; the later place goes."""
        weight = max(fusion_weight, self.path[-1][0])
        self._sizes[first] += self._sizes.pop(second)
        self.rows.append((self._names[first], self._names.pop(second), weight, self._sizes[first]))
        self._names[first] = len(self._names) + 2 * len(self.rows) - 1
        self.path.append((weight, len(self._names)))


class Candidate(NamedTuple):
    """Centroids, J there, and what was fused for them."""

    objective: float
    centers: Array
    tree: Tree


def fusion_thresholds(mass: Array, V: Array) -> Array:
    """For each pair of centroids the lambda (K, K) from which on the two, taken alone, coincide.

    Examples
    --------
    >>> fusion_thresholds(np.array([1.0, 3.0]), np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[0. , 7.5],
           [7.5, 0. ]])
    """
    total = np.maximum(mass[:, None] + mass, np.finfo(float).tiny)
    return np.asarray(2 * mass[:, None] * (mass / total) * cdist(V, V))


def fused_centers(mass: Array, B: Array, fusion_weight: float, start: Array) -> Array:
    """The minimum over V of sum_k a_k |v_k - b_k|^2 + lambda sum_{j<l} |v_j - v_l|, norms smoothed.

    A quadratic bound of each norm at the V before makes a step a linear system with the Laplacian of 1 / |v_j - v_l|.
    No step from ``start`` makes it larger.
    """
    share = mass / mass.sum()
    weight, mean = fusion_weight / mass.sum(), share @ B
    pull = 2 * share[:, None] * (B - mean)
    if weight * len(B) >= cdist(pull, pull).max():
        # All coincide: (pull_j - pull_l) / (weight K) is then a subgradient of each norm at 0, and these balance.
        return np.tile(mean, (len(B), 1))
    V, diameter = start, cdist(B, B).max()
    for _ in range(_STEPS):
        before = V
        laplacian = -weight / 2 / np.hypot(cdist(V, V), _SMOOTH * diameter)
        np.fill_diagonal(laplacian, 0)
        np.fill_diagonal(laplacian, share - laplacian.sum(axis=1))
        V = cho_solve(cho_factor(laplacian), share[:, None] * B)
        if np.abs(V - before).max() <= _SOLVED * diameter:
            break
    return V


def merged(V: Array, mass: Array, groups: NDArray[np.intp]) -> Array:
    """A centroid per group: the mean of its members by mass, their plain mean where none has any."""
    tiny = np.finfo(float).tiny
    share = (mass + tiny) * (groups == np.arange(groups.max() + 1)[:, None])
    return np.asarray(share @ V / share.sum(axis=1, keepdims=True))


def fused_pair(V: Array, mass: Array, first: int, second: int) -> tuple[Array, Array]:
    """Centroids and masses with a pair as one, at the first of its places."""
    pair = [first, second]
    share = mass[pair] + np.finfo(float).tiny  # equal shares if neither has any mass
    kept = np.arange(len(V)) != second
    centers, masses = V[kept], mass[kept]
    centers[first], masses[first] = share @ V[pair] / share.sum(), mass[first] + mass[second]
    return centers, masses


def fusion_groups(V: Array, reach: float) -> NDArray[np.intp]:
    """For each centroid the number of its group; those within reach of each other, or of a third, are one group."""
    groups: NDArray[np.intp] = connected_components(cdist(V, V) <= reach)[1].astype(np.intp)
    return groups


class Penalised(NamedTuple):
    """Fuzzy c-means with the penalty on some rows; lambda is in the coordinates of the frame."""

    blocks: Blocks
    m: float
    fusion_weight: float

    def evaluate(self, V: Array) -> tuple[CenterStatistics, float]:
        """What the rows contribute at some centroids, and J there."""
        statistics = self.blocks.reduce(center_statistics, V, "fcm", self.m)
        return statistics, statistics.objective + self.penalty(V)

    def penalty(self, V: Array) -> float:
        """The penalty of some centroids."""
        return self.fusion_weight * float(pdist(V).sum())

    def step(self, V: Array) -> tuple[Array, float]:
        """The next centroids, and J at the given ones."""
        statistics, objective = self.evaluate(V)
        B = new_centers(V, statistics)
        return fused_centers(statistics.weight, B, self.fusion_weight, V) if self.fusion_weight else B, objective


def fusion_path(blocks: Blocks, V: Array, m: float, last: int, careful: int, tree: Tree) -> Iterator[Array]:
    """Centroids from all of them down to ``last``, one fusion at a time, each recorded in the tree.

    Passes follow a fusion from ``careful`` centroids on; before that the masses add up. The clusters that are found in
    the end are the same as with passes all along, in half of the time.
    """
    V, mass = settle(blocks, V, _PASSES, _SETTLED, "fcm", m)
    yield V
    while len(V) > last:
        thresholds = fusion_thresholds(mass, V)
        np.fill_diagonal(thresholds, np.inf)
        first, second = sorted(divmod(int(thresholds.argmin()), len(V)))
        tree.fuse(first, second, float(thresholds[first, second]))
        V, mass = fused_pair(V, mass, first, second)
        if len(V) <= careful:
            V, mass = settle(blocks, V, _PASSES, _SETTLED, "fcm", m)
        yield V


def coreset(blocks: Blocks, size: int, n_seeds: int, rng: np.random.RandomState) -> Blocks:
    """So many weighted rows in place of all: half of them drawn evenly, half by squared distance to k-means++ seeds."""
    block = blocks.joined()
    distance = center_rows(block, kmeans_plusplus(blocks, n_seeds, rng), "nearest")
    even = np.full(block.n, 1 / block.n)
    chance = (even + distance / distance.sum()) / 2 if distance.any() else even
    drawn = np.sort(reference.draw(chance, block.order, (np.arange(size) + rng.uniform(size=size)) / size))
    return Blocks([Block(block.X[drawn], 1 / (size * chance[drawn]), block.frame)], blocks.mean_variance)


def halves(blocks: Blocks, rng: np.random.RandomState) -> tuple[Blocks, Blocks]:
    """The rows in two random halves, which do not depend on their order."""
    block = blocks.joined()
    order = block.order[rng.permutation(block.n)]
    first, second = (blocks.take(half) for half in np.array_split(order, 2))
    return Blocks([first], blocks.mean_variance), Blocks([second], blocks.mean_variance)


def prediction_strength(block: Block, V: Array, others: Array) -> float:
    """How well other centroids keep the clusters of V (K, d) together: the worst share of the pairs of a cluster.

    A cluster of one row has no pair and does not count; clusters without any row are none, and the strength is 0.

    References
    ----------
    R. Tibshirani, G. Walther (2005). Cluster validation by prediction strength. J. Comput. Graph. Stat. 14(3), 511-528.
    """
    own, foreign = (center_memberships(block, W, "nearest").argmax(axis=1) for W in (V, others))
    weight, K = np.ones(block.n) if block.weight is None else block.weight, len(V)
    rows = np.bincount(own, minlength=K)
    table = np.bincount(own * K + foreign, weight, K * K).reshape(K, K)
    single = np.bincount(own, weight**2, K)  # a row and itself do not count as a pair
    if (rows == 0).any() or not (rows > 1).any():
        return 0.0
    kept, pairs = (table**2).sum(axis=1) - single, table.sum(axis=1) ** 2 - single
    return float((kept[rows > 1] / pairs[rows > 1]).min())


def simplified_silhouette(block: Block, V: Array) -> float:
    """Mean of 1 - d_1 / d_2 over the rows, distances to the two nearest of K >= 2 centroids."""
    # With fuzzifier 3 memberships are inverse to distances.
    two = np.partition(center_memberships(block, V, "fcm", 3.0), -2, axis=1)[:, -2:].astype(np.float64)
    return float(np.average(1 - two[:, 0] / two[:, 1], weights=block.weight))


def lifetimes(path: Array) -> dict[int, float]:
    """For each K >= 2 reached by a fusion, the logarithm of the range of lambda over which it lasts."""
    logarithm = np.log(np.maximum(path[:, 0], np.finfo(float).tiny))
    spans = zip(path[1:-1, 1], np.diff(logarithm)[1:], strict=True)
    return {int(K): float(span) for K, span in spans}


class CAFHFCM(InductiveSoftClusterer):
    """Centroid auto-fused hierarchical fuzzy c-means: many clusters, fused until the number asked for, or found.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Where the hierarchy stops. None: the number of clusters is found, see ``selection``.
    m : float or 'auto', default='auto'
        Fuzzifier, > 1; ``'auto'`` as in :class:`~soft_clustering.FCM`.
    n_initial_clusters : int or 'auto', default='auto'
        Clusters c before the first fusion. ``'auto'``: the root of n_samples, rounded up, at most 100; but twice
        ``n_clusters`` if that is more.
    fusion_weight : float or None, default=None
        None: the whole path of fusions. A float: lambda of the published model, in units of X times samples; J, which
        Notes state, is minimised. It alone decides how many clusters remain, so that ``n_clusters`` must be None. 0 is
        fuzzy c-means.
    selection : {'strength', 'silhouette', 'lifetime'}, default='strength'
        How the number of clusters is found. ``'strength'``: the largest one of at least ``min_strength``. Prediction
        strength [2]_ asks of random halves of the data whether the path of one half keeps together what is together on
        the path of the other. ``'silhouette'``: the largest mean of 1 - d_1 / d_2, distances to the two nearest
        centroids. ``'lifetime'``: the number that lasts over the largest range of log lambda.
    min_strength : float, default=0.8
        Between 0 and 1. If no number of clusters reaches it, there are 2.
    n_splits : int, default=5
        Random halvings for ``selection='strength'``.
    max_clusters : int, default=30
        The largest number of clusters to find, >= 2.
    fuse_tol : float, default=1e-2
        With a ``fusion_weight``, centroids within this part of the root of the total variance are fused.
    max_iter : int, default=100
        Passes of fuzzy c-means after the last fusion.
    tol : float, default=1e-5
        Converged when the centres move by at most ``tol`` times the root mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed of the start and of the halves.
    verbose : int, default=0
        1 prints a line per step of the method, 2 also a line per pass after the last fusion.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters_)
        Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters_, n_features)
        That of largest sum of u^m first. Centroids of fuzzy c-means: what was fused stays fused, but nothing is
        shrunken; with a ``fusion_weight``, centroids of smallest J, which the penalty draws together.
    n_clusters_ : int
    m_ : float
        The fuzzifier used.
    fusion_weight_ : float
        The lambda at which ``n_clusters_`` clusters were reached, or the one given.
    fusion_path_ : ndarray of shape (n_stages, 2)
        lambda and the number of clusters from there on; down to ``n_clusters``, or to 1 if it is None. Above twice
        ``n_clusters`` or ``max_clusters``, centroids are fused without passes in between, and lambda is rougher.
    hierarchy_ : ndarray of shape (n_fusions, 4)
        Fusions in the form of :func:`scipy.cluster.hierarchy.linkage`: the two clusters, lambda, and how many of the
        first ``c`` clusters are in both. The k-th fusion makes cluster c + k.
    selection_scores_ : dict
        Number of clusters -> its score, if the number was to be found.
    objective_ : float
        sum_ik u_ik^m |x_i - v_k|^2 at ``centers_``, with a ``fusion_weight`` plus the penalty: J.
    objective_history_ : ndarray
        The same after each pass that follows the last fusion.
    n_iter_ : int
        These passes.
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : one number of clusters, many starts; with sample weights.
    soft_clustering.SCM : finds the number of clusters from densities.

    Notes
    -----
    With K clusters left of the first c, the published model is

        J = sum_ik u_ik^m |x_i - v_k|^2 + lambda sum_{j<l} |v_j - v_l|.

    Centroids that coincide count as one: with copies, J would favour twelve centroids in one place over six apart,
    because memberships divided among copies have smaller powers. Among all numbers of clusters on the path the one of
    smallest J is kept.

    Penalty, hierarchy and start follow the abstract of [1]_. The path of fusions and the solver of the single lambda
    are our reading; the choice of the number of clusters by resampling is a departure: the publication promises one
    without a validity index, by a rule that we could not read.

    The number found is the number of groups that reappear in both halves of the data, not the number of classes: if
    classes overlap or features are many, it is too small (3 for handwritten digits). With ``n_clusters`` given the
    result hardly depends on the seed; of 40 random mixtures 35 ended in the best of ten starts of fuzzy c-means, which
    one start finds in 28 and five in 39.

    A larger ``fusion_weight`` leaves fewer clusters: with m = 2, of the 13 first ones of iris 6 at 0.5, 4 at 1 and 2, 3
    at 5 and 8, 2 at 20.

    The path costs O(n c^2 d) time, the halves about as much again for each halving; memory beyond X and
    ``memberships_`` is O(n + c^2). Of more than 5000 samples a weighted sample of 5000, half of it drawn by squared
    distance to k-means++ seeds, stands in for all until the last fusion. Fewer than 20 samples are not halved:
    ``selection='strength'`` is then ``'silhouette'``.

    References
    ----------
    .. [1] Y. Lin, S. Chen (2020). A centroid auto-fused hierarchical fuzzy c-means clustering. IEEE Transactions on
       Fuzzy Systems; arXiv:2004.12756.
    .. [2] R. Tibshirani, G. Walther (2005). Cluster validation by prediction strength. Journal of Computational and
       Graphical Statistics 14(3), 511-528.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from soft_clustering import CAFHFCM
    >>> X, _ = make_blobs(300, centers=4, cluster_std=0.5, random_state=3)
    >>> model = CAFHFCM(random_state=0).fit(X)
    >>> model.n_clusters_
    4
    >>> model.fusion_path_[:2, 1], model.hierarchy_.shape
    (array([18., 17.]), (17, 4))
    >>> CAFHFCM(n_clusters=2, random_state=0).fit(X).memberships_.shape
    (300, 2)
    """

    centers_: NDArray[Any]
    m_: float
    fusion_weight_: float
    fusion_path_: Array
    hierarchy_: Array
    selection_scores_: dict[int, float]
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    _state: Array
    _frame: Frame
    _policy = Policy()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
        "n_initial_clusters": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "fusion_weight": [None, Interval(Real, 0, None, closed="left")],
        "selection": [StrOptions({"strength", "silhouette", "lifetime"})],
        "min_strength": [Interval(Real, 0, 1, closed="both")],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "max_clusters": [Interval(Integral, 2, None, closed="left")],
        "fuse_tol": [Interval(Real, 0, None, closed="left")],
    } | {name: PARAMETERS[name] for name in ("max_iter", "tol", "random_state", "verbose")}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        m: float | str = "auto",
        n_initial_clusters: int | str = "auto",
        fusion_weight: float | None = None,
        selection: str = "strength",
        min_strength: float = 0.8,
        n_splits: int = 5,
        max_clusters: int = 30,
        fuse_tol: float = 1e-2,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.n_initial_clusters = n_initial_clusters
        self.fusion_weight = fusion_weight
        self.selection = selection
        self.min_strength = min_strength
        self.n_splits = n_splits
        self.max_clusters = max_clusters
        self.fuse_tol = fuse_tol
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fuse, and settle what is left.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Array](self) as fit:
            X = self._validated(X, reset=True)
            self._check_numbers(X.shape[0])
            rng = check_random_state(self.random_state)
            blocks = make_blocks(X)
            c = self._n_initial(blocks.n)
            self.m_ = resolve_fuzzifier(self.m, blocks.n, blocks.d, c)
            size = max(_CORESET, 10 * c)
            rows = coreset(blocks, size, c, rng) if blocks.n > size else blocks
            tree = Tree(c)
            V = self._start(rows, c, rng)
            if self.fusion_weight is None:
                found = [Candidate(0.0, self._fused(rows, V, tree, rng), tree)]
            else:
                found = self._candidates(rows, V, tree)
            problem = self._problem(blocks)

            def store(run: Run[Array]) -> Iterator[str]:
                self._store(run, problem, tree)
                return self._complaints(run, blocks)

            fit.stores(store, lambda J: squared_units(J, blocks))
            while True:
                best = min(found, key=lambda candidate: candidate.objective)
                V, tree = best.centers, best.tree
                run = Run(V)
                fit.runs = [run]
                iterate(
                    run,
                    step=problem.step,
                    policy=self._policy,
                    max_iter=self.max_iter,
                    tol=self.tol,
                    scale=blocks,
                    accelerate=True,
                    first_mixed=first_mixed(blocks.n * blocks.d * len(V)),
                    report=fit.report,
                )
                distinct = self._distinct(run.state, tree, blocks)
                if len(distinct) == len(V):
                    break
                # J is larger with fewer clusters: another candidate may be better now.
                found = [other for other in found if other is not best] + [self._shrunken(rows, distinct, tree)]
        return self

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        return center_memberships(self._new_block(X), self._state, "fcm", self.m_)

    def score(self, X: MatrixLike, y: object = None) -> float:
        """Minus the objective on new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        score : float
        """
        block = self._new_block(X)
        objective = center_statistics(block, self._state, "fcm", self.m_).objective + self._penalty
        return -float(objective / block.frame.scale / block.frame.scale)

    def _validated(self, X: MatrixLike, *, reset: bool) -> Any:
        refuse_dask(self, X)
        return validate_features(self, X, reset=reset, accept_sparse=False)

    def _new_block(self, X: MatrixLike) -> Block:
        check_is_fitted(self, "_state")
        return make_blocks(self._validated(X, reset=False), None, self._frame).joined()

    def _check_numbers(self, n: int) -> None:
        """Refuse numbers of clusters that contradict each other or the data."""
        check_enough_samples(n, self.n_clusters or 1)
        if self.n_clusters is not None and self.fusion_weight is not None:
            raise ValueError(
                "fusion_weight decides how many clusters there are: n_clusters must be None with it. "
                f"Got n_clusters={self.n_clusters} and fusion_weight={self.fusion_weight} instead."
            )
        if not isinstance(self.n_initial_clusters, str) and not (self.n_clusters or 1) <= self.n_initial_clusters <= n:
            raise ValueError(
                f"n_initial_clusters must be between n_clusters={self.n_clusters or 1} and n_samples={n}. "
                f"Got {self.n_initial_clusters} instead."
            )

    # The method -----------------------------------------------------------------------------------------------------

    def _n_initial(self, n: int) -> int:
        """Clusters to start from with n rows."""
        if not isinstance(self.n_initial_clusters, str):
            return min(int(self.n_initial_clusters), n)
        return min(max(min(math.ceil(math.sqrt(n)), _MOST), 2 * (self.n_clusters or 0)), n)

    def _start(self, blocks: Blocks, c: int, rng: np.random.RandomState) -> Array:
        return fuzzy_start(blocks, "k-means++", c, rng, self.m_, "fcm", 2.0)

    def _stages(self, blocks: Blocks, V: Array, tree: Tree) -> dict[int, Array]:
        """The centroids at those numbers of clusters that may be asked for."""
        last, most = (1, self.max_clusters) if self.n_clusters is None else (self.n_clusters, self.n_clusters)
        path = fusion_path(blocks, V, self.m_, last, 2 * most, tree)
        return {len(V): V for V in path if len(V) <= most}

    def _fused(self, blocks: Blocks, V: Array, tree: Tree, rng: np.random.RandomState) -> Array:
        """Centroids of the path: at the number of clusters given, or at the one found."""
        stages = self._stages(blocks, V, tree)
        highest = tree.path[-1][0] / float(blocks.frame.scale)
        say(self, f"path from {len(V)} to {min(stages)} clusters, fusion weights up to {highest:.4g}")
        self.selection_scores_ = {}
        if self.n_clusters is not None:
            return stages[self.n_clusters]
        if blocks.mean_variance == 0 or max(stages) == 1:
            return stages[1]
        self.selection_scores_ = self._scores(blocks, stages, np.array(tree.path), rng)
        say(self, "scores " + ", ".join(f"{K}: {score:.3g}" for K, score in self.selection_scores_.items()))
        return stages[self._select(blocks.n)]

    def _strong(self, n: int) -> bool:
        return self.selection == "strength" and n >= _FEW

    def _select(self, n: int) -> int:
        """The number of clusters that the scores speak for."""
        scores = self.selection_scores_
        if self._strong(n):
            return max((K for K, strength in scores.items() if strength >= self.min_strength), default=2)
        return max(scores, key=lambda K: scores[K], default=2)

    def _scores(
        self, blocks: Blocks, stages: dict[int, Array], path: Array, rng: np.random.RandomState
    ) -> dict[int, float]:
        """Number of clusters -> score, from 2 on."""
        candidates = sorted(K for K in stages if K > 1)
        if self._strong(blocks.n):
            splits = [self._strengths(blocks, rng) for _ in range(self.n_splits)]
            return {K: float(np.mean([split[K] for split in splits])) for K in candidates if K in splits[0]}
        if self.selection == "lifetime":
            return {K: span for K, span in sorted(lifetimes(path).items()) if K in candidates}
        return {K: simplified_silhouette(blocks.joined(), stages[K]) for K in candidates}

    def _strengths(self, blocks: Blocks, rng: np.random.RandomState) -> dict[int, float]:
        """Prediction strength of each number of clusters, from one random halving, both ways."""
        parts = halves(blocks, rng)
        c = self._n_initial(min(part.n for part in parts))
        one, two = (self._stages(part, self._start(part, c, rng), Tree(c)) for part in parts)
        first, second = (part.joined() for part in parts)
        return {
            K: (prediction_strength(first, one[K], two[K]) + prediction_strength(second, two[K], one[K])) / 2
            for K in one
        }

    def _problem(self, blocks: Blocks) -> Penalised:
        """The problem at the given lambda, without penalty if there is none."""
        return Penalised(blocks, self.m_, float(self.fusion_weight or 0.0) * float(blocks.frame.scale))

    def _distinct(self, V: Array, tree: Tree, blocks: Blocks) -> Array:
        """The centroids, those that coincide as one, unless their number is given."""
        if self.n_clusters is not None or self.fusion_weight == 0:
            return V
        if self.fusion_weight is None:
            reach = _SETTLED * math.sqrt(blocks.mean_variance)
        else:
            reach = self.fuse_tol * math.sqrt(blocks.mean_variance * blocks.d)
        groups = fusion_groups(V, reach)
        if self.fusion_weight is not None:  # else the path is recorded to its end
            for second in range(len(V) - 1, 0, -1):
                first = int(np.argmax(groups == groups[second]))
                if first < second:
                    tree.fuse(first, second, self.fusion_weight)
        return merged(V, np.ones(len(V)), groups)

    def _candidates(self, blocks: Blocks, V: Array, tree: Tree) -> list[Candidate]:
        """From each stage of the path, what is left of it at the one lambda."""
        self.selection_scores_ = {}
        stages = fusion_path(blocks, V, self.m_, 1, len(V), tree)
        found = [self._shrunken(blocks, stage, deepcopy(tree)) for stage in stages]
        say(self, "clusters left of each stage of the path: " + ", ".join(str(len(one.centers)) for one in found))
        return found

    def _shrunken(self, blocks: Blocks, V: Array, tree: Tree) -> Candidate:
        """The centroids after a few passes under the penalty."""
        problem = self._problem(blocks)
        for _ in range(_PASSES):
            before, V = V, self._distinct(problem.step(V)[0], tree, blocks)
            if len(V) == len(before) and center_shift(before, V, [], blocks) <= _SETTLED:
                break
        return Candidate(problem.evaluate(V)[1], V, tree)

    def _store(self, run: Run[Array], problem: Penalised, tree: Tree) -> None:
        """Set the fitted attributes; one last look at the data makes memberships, objective and centres agree."""
        blocks, (statistics, objective) = problem.blocks, problem.evaluate(run.state)
        scale = float(blocks.frame.scale)
        # The path leaves them in an order that means nothing.
        run.state = run.state[np.argsort(-statistics.weight, kind="stable")]
        run.history.append(objective)
        self._state, self._frame = run.state, blocks.frame
        self._penalty = problem.penalty(run.state)
        self.centers_ = blocks.frame.to_input(run.state).astype(blocks.dtype)
        self._set_memberships(center_memberships(blocks.joined(), run.state, "fcm", self.m_))
        # What the fusions leave behind, lambda in input units.
        unit = np.array([1.0, 1.0, 1 / scale, 1.0])
        self.hierarchy_ = np.array(tree.rows, dtype=np.float64).reshape(-1, 4) * unit
        self.fusion_path_ = np.array(tree.path, dtype=np.float64) * unit[2:]
        if self.fusion_weight is None:
            self.fusion_weight_ = float(next(w for w, left in self.fusion_path_ if left == len(run.state)))
        else:
            self.fusion_weight_ = self.hierarchy_[:, 2] = self.fusion_path_[1:, 0] = float(self.fusion_weight)
        text = f"objective {squared_units(objective, blocks):.8g} after {run.n_iter} passes"
        say(self, f"{text} with {len(run.state)} clusters")

    def _complaints(self, run: Run[Array], blocks: Blocks) -> Iterator[str]:
        """What to warn of after a fit."""
        yield from not_converged(self, run, passes="passes after the last fusion")
        if self.fusion_weight and len(run.state) == 1 and len(self.hierarchy_):
            yield f"CAFHFCM fused all clusters into one; decrease fusion_weight={self.fusion_weight:g}, or use None."
        remedy = f"use fewer clusters or {smaller('m', self.m)}"
        yield from collapse("CAFHFCM", run.state, self.memberships_, blocks, remedy, self.tol)
