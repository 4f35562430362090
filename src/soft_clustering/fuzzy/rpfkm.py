"""Robust projected fuzzy k-means: fuzzy clusters in a projection that is learnt with them, by unsquared distances.

With centred rows x_i, minimise

    J = sum_i w_i (sum_k u_ik |W x_i - c_k| + gamma sum_k u_ik^2) + beta sum_i w_i |x_i - W'W x_i|^2

over memberships with sum_k u_ik = 1, prototypes C (K, q) and components W (q, d) with W W' = I. The distances are not
squared, so far rows pull little; the last term keeps W near the main directions of the data. With F_ik = |W x_i - c_k|:

* u_i is the point of the simplex nearest to -F_i / (2 gamma): rows with exact zeros;
* a distance f is at most f^2 / (2 F) + F / 2, so s_ik = w_i u_ik / (2 F_ik) makes the rest a problem of least squares:
  v_k = sum_i s_ik x_i / sum_i s_ik, c_k = W v_k, and the rows of W are the leading eigenvectors of
  beta sum_i w_i x_i x_i' - sum_ik s_ik (x_i - v_k)(x_i - v_k)'.

No step makes J larger. A prototype that lies on rows, as the first ones do, is released by the rule of Vardi and Zhang.

References
----------
Zhao et al. (2022). Improving projected fuzzy K-means clustering via robust learning. Neurocomputing.
Y. Vardi, C.-H. Zhang (2000). The multivariate L1-median and associated data depth. PNAS 97(4), 1423-1426.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, Seed
from ..engine.alternating import PARAMETERS, AlternatingClusterer, new_centers
from ..engine.blocks import Block, Blocks, Frame, Subspace, Sums
from ..engine.collapse import collapse
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, state_shift
from ..engine.neighbors import Search
from ..kernels import EMPTY
from ..kernels.centers import CenterStatistics, center_memberships, center_statistics

_NEIGHBORS = 10
_FAR = 10.0  # times the median distance to the tenth neighbour: rows beyond it are not seeds
_DENSE = 0.8  # least share of the rows that may be seeds
_SAMPLE = 20_000  # rows among which neighbours are looked for
_CANDIDATES, _CANDIDATES_EACH = 500, 20  # least number of rows that may be seeds, and per cluster
_NEAR = 1e-6  # of the mean distance to the nearest prototype: a row that is nearer is on the prototype
_TIE = 1e-9  # relative difference of two equal distances, by rounding
_EQUAL = 1e-12  # relative difference of two equal rows in the coordinates of their span, by rounding
_LEAST, _MOST = 1e-250, 1e200  # the weights of the terms, in the coordinates of the frame


class Terms(NamedTuple):
    """The weights of J and the smallest distance, in the coordinates of the frame."""

    fuzziness: float
    reconstruction: float
    least_distance: float


class Projected(NamedTuple):
    """The state: centres and components in the coordinates of the frame, and the terms, which all starts share."""

    centers: Array  # (K, d); the prototypes of J are their projections
    components: Array  # (q, d), orthonormal rows
    terms: Terms

    @property
    def prototypes(self) -> Array:
        """The projected centres (K, q)."""
        return self.centers @ self.components.T

    def drift(self, old: Projected, unit: float) -> float:
        """Movement of the prototypes, or turn of the projection, whichever is larger.

        The centres' coordinates outside the projection are left out: they depend on the few rows nearest to a
        prototype. The turn is the root of the summed squared sines of the angles to the old projection.
        """
        W, before = self.components, old.components
        shift = float(np.linalg.norm((self.centers - old.centers) @ W.T)) / unit
        return max(shift, float(np.linalg.norm(W - (W @ before.T) @ before)))

    def to_vector(self) -> Array:
        """The centres: the components soon follow from them, and mixed ones are not orthonormal."""
        return self.centers.ravel()

    def from_vector(self, vector: Array) -> Projected:
        """The same components with other centres."""
        return self._replace(centers=vector.reshape(self.centers.shape))


class ProjectedStatistics(NamedTuple):
    """What a block contributes: to new centres, to J, and to the scatter about the centres."""

    centers: CenterStatistics  # with the weights s_ik, of rows that are not on a prototype
    moment: Array  # (d, d) sum_ik s_ik x_i x_i'; (0, 0) if all directions are kept
    mass: Array  # (K,) summed memberships of the rows that are on the prototype
    sum: Array  # (K, d) weighted sum of these rows
    square: Array  # (d, d) weighted sum of their outer products, over all prototypes; (0, 0) as above

    @property
    def objective(self) -> float:
        """J."""
        return self.centers.objective

    def merge(self, other: ProjectedStatistics) -> ProjectedStatistics:
        """The statistics of both blocks together."""
        return ProjectedStatistics(
            self.centers.merge(other.centers),
            self.moment + other.moment,
            self.mass + other.mass,
            self.sum + other.sum,
            self.square + other.square,
        )


def leading_directions(A: Array, q: int) -> Array:
    """The q eigenvectors (q, d) of largest eigenvalue, the largest first, their largest entries positive.

    Examples
    --------
    >>> leading_directions(np.diag([1.0, 5.0, 3.0]), 2)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    d = len(A)
    _, vectors = eigh(A, subset_by_index=(d - q, d - 1), check_finite=False)
    W: Array = np.ascontiguousarray(vectors[:, ::-1].T)
    largest = np.abs(W).argmax(axis=1)[:, None]
    signs: Array = np.sign(np.take_along_axis(W, largest, axis=1))
    return W * signs + 0.0


def released(statistics: ProjectedStatistics, state: Projected, least: float) -> ProjectedStatistics:
    """The statistics with weights for the rows on a prototype, whose s_ik = u_ik / 0 would hold it there for ever.

    A prototype stays on rows of summed membership ``mass`` only if the pull of all others, sum_i u_ik e_ik with unit
    vectors e_ik, is not longer than that; else it goes the part 1 - mass / pull of the way to their weighted mean.
    Different rows may lie on one prototype; the projection must not tear them apart, as if they were ``least`` from it.

    References
    ----------
    Y. Vardi, C.-H. Zhang (2000). The multivariate L1-median and associated data depth. PNAS 97(4), 1423-1426.
    """
    weight, total, mass = statistics.centers.weight, statistics.centers.total, statistics.mass
    pull = 2 * np.linalg.norm((total - weight[:, None] * state.centers) @ state.components.T, axis=1)
    held = weight * mass / np.maximum(pull - mass, _NEAR * np.maximum(mass, EMPTY))
    held[weight < EMPTY] = mass[weight < EMPTY]  # nothing pulls
    rows = statistics.sum / np.maximum(mass, EMPTY)[:, None]
    moment = statistics.moment
    if len(moment):
        apart = statistics.square - (rows.T * mass) @ rows
        moment = moment + (rows.T * held) @ rows + apart / (2 * least)
    centers = statistics.centers._replace(weight=weight + held, total=total + held[:, None] * rows)
    return statistics._replace(centers=centers, moment=moment)


def distinct_rows(Z: Array, weight: Array) -> tuple[Array, Array]:
    """Rows with their weights, runs of equal ones as one row of their summed weight.

    Examples
    --------
    >>> distinct_rows(np.array([[2.0], [2.0], [7.0]]), np.ones(3))
    (array([[2.],
           [7.]]), array([2., 1.]))
    """
    first = np.ones(len(Z), dtype=bool)
    first[1:] = np.abs(np.diff(Z, axis=0)).max(axis=1) > _EQUAL * np.abs(Z[1:]).max(axis=1)
    return Z[first], np.add.reduceat(weight, np.flatnonzero(first))


def dense_rows(Y: Array, weight: Array, among: Array) -> NDArray[np.bool_]:
    """Which of some rows are not far from all others: by their tenth neighbour among distinct rows, against the median.

    At least 80 % are, by weight. Always to leave out 20 % would leave out small clusters.
    """
    # A row is the first neighbour of itself.
    radius = Search(among).nearest(Y, min(_NEIGHBORS + 1, len(among)))[0][:, -1]
    order = np.argsort(radius)
    share = np.cumsum(weight[order]) / weight.sum()
    half, most = radius[order[np.searchsorted(share, [0.5 * (1 - _TIE), _DENSE * (1 - _TIE)])]]
    dense: NDArray[np.bool_] = radius * (1 - _TIE) <= max(_FAR * half, most)
    return dense


def length_units(objective: Any, blocks: Blocks) -> Any:
    """J in input units: a sum of distances."""
    return objective / float(blocks.frame.unit)


class RPFKM(AlternatingClusterer[Projected, ProjectedStatistics]):
    """Robust projected fuzzy k-means: clusters in a projection that is learnt with them, little moved by outliers.

    Distances to the prototypes are not squared, memberships have exact zeros, and the projection is that of principal
    components, turned towards directions in which the clusters are tight.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    n_components : int or None, default=None
        Dimensions q of the projection, at most the samples and the features. None takes K, or all features where
        these are fewer.
    fuzziness_weight : float or 'auto', default='auto'
        Weight gamma > 0 of the squared memberships, in units of the data: a sample whose second nearest prototype is
        farther than the nearest by 2 gamma or more belongs to one cluster alone. ``'auto'`` takes half the mean of
        that difference at the starts.
    reconstruction_weight : float, default=10.0
        Weight of the part of the data that the projection loses, without unit: beta is this over twice the mean
        distance to the nearest prototype at the starts. Large values give principal components. Below 1 the
        projection may leave the data for directions in which nothing varies.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting centres. ``'k-means++'`` draws them in the projection, and not among samples that are far from all
        others: whose tenth neighbour (equal samples count as one) is ten times as far as the median of that distance.
        At most 20 % are left out. A callable gets ``(X, n_clusters, rng)``. An array forces one start.
        ``'k-means||'`` draws among all samples, wherever they are.
    n_init : int, default=3
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Passes over the data per start.
    tol : float, default=1e-5
        Converged when the prototypes move by at most ``tol`` times the root mean variance of the features, and the
        projection turns by at most this angle.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1, with exact zeros.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features)
        Weighted means of the samples, whose projections are the prototypes.
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows W: ``(X - mean_) @ components_.T`` is the projection.
    embedding_centers_ : ndarray of shape (n_clusters, n_components)
        Prototypes c_k in the projection.
    mean_ : ndarray of shape (n_features,)
    n_clusters_ : int
    fuzziness_weight_ : float
        The gamma used.
    reconstruction_weight_ : float
        The beta used, in inverse units of the data.
    objective_ : float
        J at the stored prototypes.
    objective_history_ : ndarray
        J at each state visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : squared distances in all features, faster.
    soft_clustering.PFCM : outliers by typicalities.

    Notes
    -----
    Follows the abstract of [1]_: memberships in a projection, distances that are not squared, the term for what the
    projection loses, and reweighting. The squares of the memberships, the automatic weights and the seeding are ours:
    the publication's own were not at hand.

    A pass costs O(n d (K + q) + n d^2 + d^3) time, without the last two terms if q is the number of features; d
    is the number of samples if that is smaller. Memory beyond X and ``memberships_`` is O(d^2 + n q). Seeds are
    drawn among 500 distinct samples, or 20 for each cluster if these are more, and their neighbours are those among at
    most 20,000. ``score`` is minus the objective.

    A prototype that lies on samples is released from them by the rule of [2]_. The first projection is that of
    principal components, which outliers may turn: the method is robust in the prototypes, less so in the directions.
    On clean round clusters it finds about what k-means does.

    References
    ----------
    .. [1] Zhao et al. (2022). Improving projected fuzzy K-means clustering via robust learning. Neurocomputing.
    .. [2] Y. Vardi, C.-H. Zhang (2000). The multivariate L1-median and associated data depth. PNAS 97(4), 1423-1426.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from soft_clustering import RPFKM
    >>> X, _ = load_wine(return_X_y=True)
    >>> model = RPFKM(n_clusters=3, random_state=0).fit(X)
    >>> model.components_.shape
    (3, 13)
    >>> bool((model.memberships_ == 0).any())
    True
    """

    accelerate = True  # no parameter here
    components_: NDArray[Any]
    embedding_centers_: NDArray[Any]
    mean_: NDArray[Any]
    fuzziness_weight_: float
    reconstruction_weight_: float
    _policy = Policy(residual=state_shift, place=attrgetter("centers"), units=length_units, subspace=True)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "fuzziness_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "reconstruction_weight": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        n_components: int | None = None,
        fuzziness_weight: float | str = "auto",
        reconstruction_weight: float = 10.0,
        init: Init = "k-means++",
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.fuzziness_weight = fuzziness_weight
        self.reconstruction_weight = reconstruction_weight
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Projected]:
        most = min(blocks.n, blocks.n_features)
        q = min(self.n_clusters, most) if self.n_components is None else int(self.n_components)
        if q > most:
            raise ValueError(
                f"n_components must be at most min(n_samples, n_features)={most}. Got {self.n_components!r} instead."
            )
        W = _directions(blocks.second_moment, q, blocks)
        draw = self._seeding(blocks, W, rng)
        # All starts at once: the weights of the terms are theirs together, so that their objectives compare.
        starts = [draw() for _ in range(self._n_starts())]
        terms = self._settle(starts, W, blocks)
        for V in starts:
            yield Projected(V, W, terms)

    def _seeding(self, blocks: Blocks, W: Array, rng: np.random.RandomState) -> Callable[[], Array]:
        """What draws starting centres (K, d).

        Seeds of k-means++ are prototypes among rows that are not far, or among all if fewer than K of those differ.
        """
        K = self.n_clusters
        if not (isinstance(self.init, str) and self.init == "k-means++") or K == 1:
            return lambda: starting_centers(blocks, self.init, K, rng)
        block = blocks.local(rng).joined()
        # Equal rows are neighbours along the order of the draws, and nothing depends on the order of the input.
        chosen = block.order if block.n <= _SAMPLE else block.order[np.sort(rng.permutation(block.n)[:_SAMPLE])]
        weight = np.ones(len(chosen)) if block.weight is None else block.weight[chosen]
        Z, weight = distinct_rows(block.take(chosen), weight)
        Y = Z @ W.T
        some, most = np.arange(len(Y)), max(_CANDIDATES, _CANDIDATES_EACH * K)
        if len(some) > most:
            some = np.sort(rng.permutation(some)[:most])
        some = some[dense_rows(Y[some], weight[some], Y)]
        dense_part, everything = _ordered(Y[some], weight[some]), _ordered(Y, weight)

        def draw() -> Array:
            seeds = starting_centers(dense_part, "k-means++", K, rng)
            if len(np.unique(seeds, axis=0)) < K:
                seeds = starting_centers(everything, "k-means++", K, rng)
            return seeds @ W

        return draw

    def _settle(self, starts: list[Array], W: Array, blocks: Blocks) -> Terms:
        """The weights of the terms, from the distances at the starts."""
        sums = np.mean([blocks.reduce(_mean_distances, V, W).values for V in starts], axis=0)
        nearest, gap = (float(value) for value in sums / blocks.total_weight)
        spread = float(np.sqrt(blocks.mean_variance * blocks.n_features)) or 1.0
        nearest = max(nearest, _NEAR * spread)  # 0 if every row is on a prototype
        gamma = (
            (gap / 2 or spread) if self.fuzziness_weight == "auto" else float(self.fuzziness_weight) * blocks.frame.unit
        )
        beta = float(self.reconstruction_weight) / (2 * nearest)
        return Terms(min(max(gamma, _LEAST), _MOST), min(beta, _MOST), _NEAR * nearest)

    def _statistics(self, block: Block, state: Projected) -> ProjectedStatistics:
        parts = (_piece_statistics(Z, w, state) for _, Z, w in block.pieces(len(state.centers)))
        return reduce(ProjectedStatistics.merge, parts)

    def _update(self, state: Projected, statistics: ProjectedStatistics, blocks: Blocks) -> Projected:
        if statistics.mass.any():
            statistics = released(statistics, state, state.terms.least_distance)
        V, W = new_centers(state.centers, statistics.centers), state.components
        if len(statistics.moment):
            weight, total = statistics.centers.weight, statistics.centers.total
            between = total / np.sqrt(np.maximum(weight, EMPTY))[:, None]
            within = statistics.moment - between.T @ between
            W = _directions(state.terms.reconstruction * blocks.second_moment - within, len(W), blocks)
        return state._replace(centers=V, components=W)

    def _memberships(self, block: Block, state: Projected) -> NDArray[Any]:
        C, rule = state.prototypes, ("sparse", state.terms.fuzziness, 0.0)
        pieces = (Z @ state.components.T for _, Z, _ in block.pieces(len(C)))
        return np.concatenate([center_memberships(_block(Y), C, *rule) for Y in pieces]).astype(block.X.dtype)

    def _store(self, state: Projected, statistics: ProjectedStatistics, blocks: Blocks) -> None:
        frame, W = blocks.frame, state.components
        if isinstance(frame, Subspace):
            W, shift = W[:, :-1] @ frame.basis, frame.inner.shift
        else:
            shift = frame.shift
        self.centers_ = frame.to_input(state.centers).astype(blocks.dtype)
        self.components_ = W.astype(blocks.dtype)
        self.embedding_centers_ = (state.prototypes / frame.unit).astype(blocks.dtype)
        self.mean_ = shift.astype(blocks.dtype)
        self.fuzziness_weight_ = state.terms.fuzziness / frame.unit
        self.reconstruction_weight_ = state.terms.reconstruction * frame.unit

    def _complaints(self, run: Run[Projected], blocks: Blocks) -> list[str]:
        remedy = "try a smaller fuzziness_weight, a larger reconstruction_weight or fewer clusters"
        collapsed = collapse("RPFKM", run.state.prototypes, self.memberships_, blocks, remedy)
        return super()._complaints(run, blocks) + collapsed


def _directions(A: Array, q: int, blocks: Blocks) -> Array:
    """Leading eigenvectors within the span of the rows: the last coordinate, the distance from it, is no direction."""
    if not isinstance(blocks.frame, Subspace):
        return leading_directions(A, q)
    return np.pad(leading_directions(A[:-1, :-1], q), ((0, 0), (0, 1)))


def _piece_statistics(Z: Array, w: Array, state: Projected) -> ProjectedStatistics:
    """What some rows contribute."""
    gamma, beta, least = state.terms
    W, C, d = state.components, state.prototypes, Z.shape[1]
    Y = Z @ W.T
    projected = _block(Y, w)
    centers = center_statistics(projected, C, "sparse", gamma, least)
    S = center_memberships(projected, C, "pull", gamma, least) * w[:, None]
    mass, near = np.zeros(len(C)), np.zeros((len(C), d))
    moment, square = np.zeros((2, d, d) if len(W) < d else (2, 0, 0))
    if S.min() < 0:  # rows on a prototype
        held = np.maximum(-S, 0)
        mass, near, S = held.sum(axis=0), held.T @ Z, np.maximum(S, 0)
        if len(W) < d:
            square = _weighted_moment(Z, held)
    objective = centers.objective
    if len(W) < d:
        lost = Z - Y @ W
        objective += beta * float(w @ np.einsum("ij,ij->i", lost, lost))
        moment = _weighted_moment(Z, S)
    worst = None if centers.worst_row is None else centers.worst_row @ W
    centers = centers._replace(total=S.T @ Z, objective=objective, worst_row=worst)
    return ProjectedStatistics(centers, moment, mass, near, square)


def _weighted_moment(Z: Array, S: Array) -> Array:
    """sum_ik s_ik z_i z_i'."""
    rows = Z * np.sqrt(S @ np.ones(S.shape[1]))[:, None]
    moment: Array = rows.T @ rows
    return moment


def _block(Y: Array, weight: Array | None = None) -> Block:
    """Rows as they are."""
    return Block(np.ascontiguousarray(Y), weight, Frame(np.zeros(Y.shape[1]), 1.0))


def _ordered(Y: Array, weight: Array) -> Blocks:
    """Rows to draw from along their own order."""
    block = _block(Y, weight)
    block.order = np.arange(len(Y))
    return Blocks([block])


def _mean_distances(block: Block, V: Array, W: Array) -> Sums:
    """Weighted sums of the distance to the nearest prototype, and of how much farther the second one is."""
    answer = np.zeros(2)
    for _, Z, w in block.pieces(len(V)):
        F = np.sort(cdist(Z @ W.T, V @ W.T), axis=1)
        answer += w @ F[:, 0], w @ (F[:, min(1, F.shape[1] - 1)] - F[:, 0])
    return Sums(answer)
