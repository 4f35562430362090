"""Entropy c-means.

Two aims: the compactness f1 = sum_i w_i sum_k u_ik D_ik with D_ik = |x_i - v_k|^2, to be small, and the entropy of the
memberships f2 = -sum_i w_i sum_k u_ik log u_ik, to be large. Minimise J = f1 - lambda f2 over memberships with
sum_k u_ik = 1 and over centres V, by alternating the two exact minimisations:

* u_ik = exp(-D_ik / lambda) / sum_l exp(-D_il / lambda);
* v_k = sum_i w_i u_ik x_i / sum_i w_i u_ik.

As a function of V alone J = -lambda sum_i w_i log sum_k exp(-D_ik / lambda). At lambda = 2 (largest eigenvalue of the
covariance) all centres fall together; towards 0 the method becomes k-means. A minimum of J is a point on the Pareto
front of (f1, f2), so the front can be followed by varying lambda.

References
----------
A. Gupta, S. Datta, S. Das (2021). Fuzzy clustering to identify clusters at different levels of fuzziness: an
evolutionary multiobjective optimization approach. IEEE Transactions on Cybernetics 51(5), 2601-2611.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import pdist
from scipy.special import entr, logsumexp
from sklearn.utils._param_validation import Interval, StrOptions

from ..engine.alternating import (
    PARAMETERS,
    AlternatingClusterer,
    Run,
    Starts,
    alternate,
    center_shift,
    collapse,
    new_centers,
)
from ..engine.blocks import Array, Block, Blocks, Frame, make_blocks
from ..engine.initialisation import starting_centers
from ..kernels import (
    EMPTY,
    CenterStatistics,
    center_memberships,
    center_rows,
    center_scatter,
    center_statistics,
)

# In the coordinates of the frame, where the data have about unit size: beyond these nothing changes any more.
_LEAST, _MOST = 1e-100, 1e100
_PATH = 1e-3  # the path starts at this part of the critical weight


class Prototypes(NamedTuple):
    """The state where the weights of the clusters are learnt."""

    centers: Array  # (K, d)
    log_weights: Array  # (K,)


class Parts(NamedTuple):
    """What a partition of a block of rows is judged by."""

    compactness: float
    entropy: float
    size: Array  # (K,) summed memberships
    squared: Array  # (K,) summed u^2 D

    def merge(self, other: Parts) -> Parts:
        """Those of both blocks together."""
        pairs: Any = zip(self, other, strict=True)
        return Parts(*[a + b for a, b in pairs])


class ENTROPYFCM(AlternatingClusterer):
    """Entropy c-means: fuzzy clusters whose softness is one temperature.

    Memberships are a softmax of the squared distances, so that far clusters have exponentially small ones: unlike those
    of fuzzy c-means, which fall only as a power, they do not draw the centres of many features together.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    entropy_weight : float or 'auto', default='auto'
        lambda > 0, in squared units of the data that the method works on (see ``scaling``). ``'auto'``: a quarter of
        the mean variance of their features.
    solver : {'alternating', 'path'}, default='alternating'
        ``'alternating'``: one entropy weight. ``'path'``: ``n_path_steps`` weights from a thousandth of the critical
        one up to it, each started from the solution before; the solution of smallest Wu-Li index [5]_ is kept, and the
        front of all is in ``pareto_front_``. The path chooses the weight itself: leave ``entropy_weight`` at 'auto'
        and ``learn_weights`` at False.
    scaling : {'minmax', None}, default='minmax'
        ``'minmax'`` maps each feature to [-1, 1] first, as the authors of [1]_ do. None takes the data as they are.
    learn_weights : bool, default=False
        Learn weights of the clusters, too: u_ik proportional to weight_k exp(-D_ik / lambda), weight_k the mean
        membership. This is a mixture of balls of the fixed variance lambda / 2.
    n_path_steps : int, default=12
        Entropy weights on the path.
    init : {'k-means++', 'random'}, array of shape (n_clusters, n_features) or callable, default='k-means++'
        Starting centres, in input units. A callable gets ``(X, n_clusters, rng)``. An array forces one start.
    n_init : int, default=5
        Starts; the one of smallest objective is kept. On a path, the starts of its first step.
    max_iter : int, default=300
        Passes over the data per start, and per step of a path.
    tol : float, default=1e-5
        Converged when the centres move by at most ``tol`` times the root mean variance of the features (and the
        learnt weights by at most ``tol``).
    accelerate : bool, default=True
        Anderson acceleration: the same optimum in fewer passes.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features)
        In input units.
    n_clusters_ : int
    entropy_weight_ : float
        The lambda used.
    compactness_, entropy_ : float
        f1 and f2 at ``centers_``; without learnt weights ``objective_`` = f1 - lambda f2.
    weights_ : ndarray of shape (n_clusters,)
        The learnt weights, sum 1; only with ``learn_weights=True``.
    pareto_front_ : ndarray of shape (n_points, 2)
        Compactness and entropy of the solutions of the path, but for those that another one beats in both aims; only
        with ``solver='path'``, as the next two.
    pareto_centers_ : ndarray of shape (n_points, n_clusters, n_features)
        In input units.
    pareto_weights_ : ndarray of shape (n_points,)
        The entropy weights.
    objective_ : float
        J at ``centers_``; with learnt weights sum_i w_i [sum_k u_ik D_ik + lambda sum_k u_ik log(u_ik / weight_k)].
    objective_history_ : ndarray
        J at each state visited, the last one included.
    n_iter_ : int
        Passes of the best start (of the chosen step of a path).
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : memberships by a power of the distance.
    soft_clustering.GMM : elliptic clusters.

    Notes
    -----
    Distances, and with them ``entropy_weight_``, ``compactness_`` and the objective, are those of the coordinates that
    the method works in: of the scaled data with ``scaling='minmax'``, in squared input units with ``scaling=None``.
    Sparse rows are scaled but not shifted, which changes no distance.

    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is O(n). ``score`` is minus the objective.

    The scalar form is that of [2]_ and [3]_, the critical weight that of [4]_. [1]_ searches the front by an
    evolutionary algorithm at lambda = 2 s^2, s the standard deviation of the squared distances to the mean, which does
    not suit many features; that the solution of smallest Wu-Li index is to be chosen is our reading of their program.

    References
    ----------
    .. [1] A. Gupta, S. Datta, S. Das (2021). Fuzzy clustering to identify clusters at different levels of fuzziness: an
       evolutionary multiobjective optimization approach. IEEE Transactions on Cybernetics 51(5), 2601-2611.
    .. [2] R.-P. Li, M. Mukaidono (1995). A maximum-entropy approach to fuzzy clustering. FUZZ-IEEE.
    .. [3] S. Miyamoto, M. Mukaidono (1997). Fuzzy c-means as a regularization and maximum entropy approach. IFSA.
    .. [4] K. Rose, E. Gurewitz, G. C. Fox (1990). Statistical mechanics and phase transitions in clustering. Physical
       Review Letters 65(8), 945-948.
    .. [5] C.-H. Wu, C.-S. Ouyang, L.-W. Chen, L.-W. Lu (2015). A new fuzzy clustering validity index with a median
       factor for centroid-based clustering. IEEE Transactions on Fuzzy Systems 23(3), 701-718.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from soft_clustering import ENTROPYFCM
    >>> X, _ = load_wine(return_X_y=True)
    >>> model = ENTROPYFCM(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape
    (178, 3)
    >>> bool(abs(model.compactness_ - model.entropy_weight_ * model.entropy_ - model.objective_) < 1e-9)
    True
    >>> path = ENTROPYFCM(n_clusters=3, solver="path", random_state=0).fit(X)
    >>> compactness, entropy = path.pareto_front_.T
    >>> bool((compactness[1:] > compactness[:-1]).all() and (entropy[1:] > entropy[:-1]).all())
    True
    """

    _accepts_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "entropy_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"alternating", "path"})],
        "scaling": [StrOptions({"minmax"}), None],
        "learn_weights": ["boolean"],
        "n_path_steps": [Interval(Integral, 2, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        entropy_weight: float | str = "auto",
        solver: str = "alternating",
        scaling: str | None = "minmax",
        learn_weights: bool = False,
        n_path_steps: int = 12,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-5,
        accelerate: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.entropy_weight = entropy_weight
        self.solver = solver
        self.scaling = scaling
        self.learn_weights = learn_weights
        self.n_path_steps = n_path_steps
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    # The method -----------------------------------------------------------------------------------------------------

    def _make_blocks(self, X: Any, weight: Array | None) -> Blocks:
        return make_blocks(X, weight, scaling="minmax" if self.scaling == "minmax" else None)

    def _resolve(self, blocks: Blocks) -> None:
        for name in ("weights_", "pareto_front_", "pareto_centers_", "pareto_weights_"):
            self.__dict__.pop(name, None)  # of a fit with other parameters
        given = None if self.entropy_weight == "auto" else float(self.entropy_weight)
        if self.solver == "path" and (given is not None or self.learn_weights):
            raise ValueError(
                "solver='path' chooses the entropy weight itself, for clusters of equal weight: it needs "
                f"entropy_weight='auto' and learn_weights=False. Got entropy_weight={self.entropy_weight!r} and "
                f"learn_weights={self.learn_weights!r} instead."
            )
        weight = 0.25 * (blocks.mean_variance or 1.0)
        if given is not None:
            unit = 1.0 if self.scaling else float(blocks.frame.scale)
            weight = given * unit * unit
        self._lambda = min(max(weight, _LEAST), _MOST)

    def _init_state(self, blocks: Blocks, rng: np.random.RandomState) -> Array | Prototypes:
        centers = starting_centers(blocks, self.init, self.n_clusters, rng)
        return Prototypes(centers, np.full(len(centers), -np.log(len(centers)))) if self.learn_weights else centers

    def _statistics(self, block: Block, state: Array | Prototypes) -> CenterStatistics:
        V, rule = self._rule(state)
        return center_statistics(block, V, *rule)

    def _update(self, state: Array | Prototypes, statistics: CenterStatistics, blocks: Blocks) -> Array | Prototypes:
        if not isinstance(state, Prototypes):
            return new_centers(state, statistics)
        size = statistics.weight
        # A cluster that is seeded anew gets an equal share.
        size = np.where(size < EMPTY, size.mean(), size)
        return Prototypes(new_centers(state.centers, statistics), np.log(size / size.sum()))

    def _memberships(self, block: Block, state: Array | Prototypes) -> NDArray[Any]:
        V, rule = self._rule(state)
        return center_memberships(block, V, *rule)

    def _objective_in_input_units(self, objective: float, frame: Frame) -> float:
        """Of the scaled data, or in input units where there is no scaling."""
        return float(objective) if self.scaling else super()._objective_in_input_units(objective, frame)

    def _store(self, state: Array | Prototypes, statistics: CenterStatistics, blocks: Blocks) -> None:
        V, _ = self._rule(state)
        self.centers_ = blocks.frame.to_input(V).astype(blocks.dtype)
        self.entropy_weight_ = self._objective_in_input_units(self._lambda, blocks.frame)
        self.compactness_, self.entropy_ = self._aims(blocks.reduce(self._parts, state), blocks.frame)
        if isinstance(state, Prototypes):
            self.weights_ = np.exp(state.log_weights)

    def _complaints(self, run: Run, blocks: Blocks) -> list[str]:
        V, _ = self._rule(run.state)
        complaints = collapse("ENTROPYFCM", V, self.memberships_, blocks, "use a smaller entropy weight")
        if complaints:  # only now: the critical weight takes a few passes
            critical = self._objective_in_input_units(critical_weight(blocks), blocks.frame)
            complaints[0] += (
                f" (entropy weight {self.entropy_weight_:.4g}; from {critical:.4g} on all prototypes coincide)"
            )
        return super()._complaints(run, blocks) + complaints

    @property
    def _residual(self) -> Callable[..., float]:  # type: ignore[override]
        return prototype_shift if self.learn_weights else center_shift

    def _to_vector(self, state: Array | Prototypes) -> Array:
        return np.concatenate([part.ravel() for part in state]) if isinstance(state, Prototypes) else state.ravel()

    def _from_vector(self, vector: Array, like: Array | Prototypes) -> Array | Prototypes:
        if not isinstance(like, Prototypes):
            return vector.reshape(like.shape)
        centers, log_weights = np.split(vector, [like.centers.size])
        return Prototypes(centers.reshape(like.centers.shape), log_weights - logsumexp(log_weights))

    # Its steps ------------------------------------------------------------------------------------------------------

    def _rule(self, state: Array | Prototypes) -> tuple[Array, tuple[Any, ...]]:
        """Centres, and the membership rule with its parameters."""
        V, log_weights = state if isinstance(state, Prototypes) else (state, np.zeros(len(state)))
        return V, ("entropy", self._lambda, *log_weights)

    def _parts(self, block: Block, state: Array | Prototypes) -> Parts:
        V, rule = self._rule(state)
        weight = np.ones(block.n) if block.weight is None else block.weight
        size, scatter = center_scatter(block, V, *rule)
        U = center_memberships(block, V, *rule).astype(np.float64, copy=False)
        # fuzzy c-means with one prototype: the objective of a row is its squared distance
        squared = [weight @ (u * u * center_rows(block, v[None], "fcm", 2.0)) for u, v in zip(U.T, V, strict=True)]
        return Parts(float(scatter.sum()), float(weight @ entr(U).sum(axis=1)), size, np.array(squared))

    def _aims(self, parts: Parts, frame: Frame) -> tuple[float, float]:
        """Compactness and entropy in the units of the objective."""
        return self._objective_in_input_units(parts.compactness, frame), parts.entropy

    def _run(self, starts: Starts) -> None:
        if self.solver == "alternating":
            starts.run()
            return
        blocks = starts.blocks
        critical = critical_weight(blocks) or 1.0
        path = np.maximum(critical * np.geomspace(_PATH, 1, self.n_path_steps), _LEAST)
        points: list[tuple[float, Run, Parts]] = []
        for self._lambda in path.tolist():
            if not points:
                run = starts.run()
            else:
                run = Run(run.state, n_iter=1)  # an interruption keeps the solution it starts from
                starts.runs[:] = [run]
                alternate(self, blocks, run)
            points.append((self._lambda, run, blocks.reduce(self._parts, run.state)))
        points = not_dominated(points)
        indices = [wu_li_index(run.state, parts) for _, run, parts in points]
        self._lambda, starts.runs[0], _ = points[int(np.argmin(indices))]
        frame = blocks.frame
        self.pareto_front_ = np.array([self._aims(parts, frame) for _, _, parts in points])
        self.pareto_centers_ = np.array([frame.to_input(run.state).astype(blocks.dtype) for _, run, _ in points])
        self.pareto_weights_ = np.array([self._objective_in_input_units(weight, frame) for weight, _, _ in points])


def not_dominated(points: list[tuple[float, Run, Parts]]) -> list[tuple[float, Run, Parts]]:
    """The points to which no other is preferable: more compact, beyond rounding, and no less entropy.

    A step of the path may end in a poor local minimum, and a later one leave it.
    """
    aims = [(parts.compactness, parts.entropy) for _, _, parts in points]
    return [
        point
        for point, (f1, f2) in zip(points, aims, strict=True)
        if not any(other < f1 * (1 - 1e-9) and entropy >= f2 for other, entropy in aims)
    ]


def prototype_shift(old: Prototypes, new: Prototypes, history: list[float], blocks: Blocks) -> float:
    """Movement of the centres in units of the root mean variance, or of the weights, whichever is larger."""
    weights = np.linalg.norm(np.exp(new.log_weights) - np.exp(old.log_weights))
    return max(center_shift(old.centers, new.centers, history, blocks), float(weights))


def wu_li_index(V: Array, parts: Parts) -> float:
    """Fuzzy scatter within the clusters over minimum plus median of the squared distances between them."""
    within = parts.squared / np.maximum(parts.size, EMPTY)
    between = pdist(V, "sqeuclidean") if len(V) > 1 else np.ones(1)
    separation = between.min() + np.median(between)
    return float(within.sum() / separation) if separation > 1e-12 * within.sum() else np.inf


class _Product(NamedTuple):
    """Sums over rows r_i = w_i (z_i - mean)^T v: of r_i, and of r_i z_i."""

    total: float
    rows: Array

    def merge(self, other: _Product) -> _Product:
        return _Product(self.total + other.total, self.rows + other.rows)


def _product(block: Block, mean: Array, direction: Array) -> _Product:
    answer = _Product(0.0, np.zeros(block.d))
    for _, Z, w in block.pieces():
        r = w * (Z @ direction - mean @ direction)
        answer = answer.merge(_Product(float(r.sum()), Z.T @ r))
    return answer


def critical_weight(blocks: Blocks) -> float:
    """Twice the largest eigenvalue of the covariance: with this entropy weight or a larger one all centres coincide.

    By the Lanczos method, a pass over the rows per step; no (d, d) matrix is formed.
    """
    if not blocks.mean_variance > 0:
        return 0.0
    moments = blocks.reduce(center_statistics, np.zeros((1, blocks.d)), "entropy", 1.0, 0.0)
    mean = moments.total[0] / moments.weight[0]

    def covariance_times(direction: Array) -> Array:
        product = blocks.reduce(_product, mean, direction.ravel())
        return (product.rows - product.total * mean) / blocks.total_weight

    if blocks.d == 1:
        return 2 * float(covariance_times(np.ones(1))[0])
    operator = LinearOperator((blocks.d, blocks.d), matvec=covariance_times, dtype=np.float64)
    # a fixed start, so that the result is reproducible
    largest = eigsh(operator, 1, which="LA", v0=np.cos(np.arange(1, blocks.d + 1)), return_eigenvectors=False)
    return 2 * float(largest[0])
