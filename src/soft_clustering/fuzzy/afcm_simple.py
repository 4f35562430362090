"""Adaptive fuzzy c-means without the graph: entropy c-means that learns its own entropy weight.

Minimise, with D_ik = |x_i - v_k|^2, n the summed weights and d features,

    J = sum_i w_i sum_k u_ik (D_ik / lambda + log u_ik) + (n d / 2) log lambda

over memberships with sum_k u_ik = 1, centres V and the entropy weight lambda > 0, by alternating the three exact
minimisations:

* u_ik = exp(-D_ik / lambda) / sum_l exp(-D_il / lambda);
* v_k = sum_i w_i u_ik x_i / sum_i w_i u_ik;
* lambda = 2 sum_ik w_i u_ik |x_i - v_k|^2 / (n d).

This is expectation maximisation for K balls of equal weight and of one common variance lambda / 2. As a function of V
and lambda alone J = -sum_i w_i log sum_k exp(-D_ik / lambda) + (n d / 2) log lambda, and the scatter about the new
centres is that of all rows less that between the centres: one look at the rows gives everything. Only if the clusters
are small against their distances a second look is needed for the digits.

References
----------
Q. Chen, W. Yu, F. Nie, X. Li (2024). Adaptive fuzzy c-means with graph embedding. arXiv:2405.13427.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._types import Array, Init, Seed
from ..engine.alternating import PARAMETERS, AlternatingClusterer, new_centers
from ..engine.blocks import Block, Blocks
from ..engine.collapse import collapse
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, state_shift
from ..kernels.centers import CenterStatistics, Scatter, center_memberships, center_scatter, center_statistics

_TIGHT = 1e-4  # share of the variance that is within clusters, below which a difference of variances is inexact
_LEAST = 1e-12  # of the total variance: the entropy weight if every row is on a centre
_MOST = 1e100  # the largest entropy weight: an accelerated point may lie anywhere


class Adaptive(NamedTuple):
    """The state: centres, and the logarithm of the entropy weight, in the coordinates of the frame."""

    centers: Array  # (K, d)
    log_weight: float
    bounds: tuple[float, float]  # of the logarithm; both are the same if the entropy weight is given

    @property
    def learnt(self) -> bool:
        """Whether the entropy weight is learnt."""
        return self.bounds[0] < self.bounds[1]

    @property
    def weight(self) -> float:
        """The entropy weight lambda."""
        return math.exp(self.log_weight)

    def drift(self, old: Adaptive, unit: float) -> float:
        """Movement of the centres, or relative change of the entropy weight, whichever is larger."""
        shift = float(np.linalg.norm(self.centers - old.centers)) / unit
        return max(shift, abs(self.log_weight - old.log_weight))

    def to_vector(self) -> Array:
        """Centres and logarithm."""
        return np.append(self.centers, self.log_weight)

    def from_vector(self, vector: Array) -> Adaptive:
        """The state of a vector; acceleration may propose any weight, so it is moved into its bounds."""
        centers, log_weight = vector[:-1].reshape(self.centers.shape), float(vector[-1])
        return self._replace(centers=centers, log_weight=min(max(log_weight, self.bounds[0]), self.bounds[1]))


def least_weight(blocks: Blocks) -> float:
    """The smallest entropy weight, > 0: a tiny part of the total variance, or of 1 if all rows are the same."""
    least = _LEAST * (blocks.mean_variance * blocks.d or 1.0)
    return max(least, float(np.finfo(np.float64).smallest_subnormal))  # the variance of denormal data is tiny


def adaptive_start(blocks: Blocks, V: Array) -> Adaptive:
    """Starting centres, with the entropy weight that suits hard memberships."""
    scatter = blocks.reduce(center_statistics, V, "nearest").objective
    weight, least = 2 * scatter / blocks.n_values, least_weight(blocks)
    return Adaptive(V, math.log(min(max(weight, least), _MOST)), (math.log(least), math.log(_MOST)))


def adaptive_statistics(statistics: CenterStatistics, state: Adaptive) -> CenterStatistics:
    """Statistics of the entropy rule at the state, with J in the place of their objective if the weight is learnt."""
    if not state.learnt:
        return statistics
    volume = statistics.entries / 2 * state.log_weight
    return statistics._replace(objective=float(statistics.objective / state.weight + volume))


def adaptive_update(
    state: Adaptive, statistics: CenterStatistics, blocks: Blocks, scatter: Callable[[Block, Adaptive], Scatter]
) -> Adaptive:
    """New centres, and the entropy weight that suits them; ``scatter`` is that of a block about the old centres."""
    V = new_centers(state.centers, statistics)
    if not state.learnt:
        return state._replace(centers=V)
    mean = statistics.total.sum(axis=0) / statistics.mass.sum(axis=0)
    within = blocks.mean_variance - _mean_square(V - mean, statistics)
    if statistics.seen is not None or within < _TIGHT * blocks.mean_variance:
        # That difference has few correct digits left, or features weigh differently: look at the rows again.
        about = blocks.reduce(scatter, state).scatter.sum() / statistics.entries
        within = about - _mean_square(V - state.centers, statistics)
    return state._replace(centers=V, log_weight=math.log(max(2 * within, least_weight(blocks))))


def _mean_square(rows: Array, statistics: CenterStatistics) -> float:
    """Weighted mean of the squared entries."""
    if statistics.seen is None:
        squares = np.einsum("k,kj,kj->", statistics.weight, rows, rows)
    else:
        squares = np.einsum("kj,kj,kj->", statistics.seen, rows, rows)
    return float(squares / statistics.entries)


def adaptive_units(objective: Any, blocks: Blocks) -> Any:
    """J in input units: J in the frame plus n d / 2 times the logarithm of the squared unit."""
    return objective - blocks.n_values * math.log(blocks.frame.unit)


class AFCMSimple(AlternatingClusterer[Adaptive, CenterStatistics]):
    """Adaptive fuzzy c-means without the graph: fuzzy c-means whose fuzziness is learnt from the data.

    Memberships are a softmax of the squared distances, as in :class:`soft_clustering.ENTROPYFCM`; how soft they are
    is not a parameter but follows from the spread of the clusters.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting centres. A callable gets ``(X, n_clusters, rng)``. An array forces one start. Of more than 20,000
        rows on Dask, ``'k-means++'`` is ``'k-means||'``, and ``'random'`` draws from a sample of 20,000.
    n_init : int, default=5
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Passes over the data per start.
    tol : float, default=1e-6
        Converged when the centres move by at most ``tol`` times the root mean variance of the features, and the
        entropy weight changes by at most this part of itself.
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
    n_clusters_ : int
    entropy_weight_ : float
        The learnt lambda, in squared units of the data: twice the variance of a cluster along a feature.
    objective_ : float
        J at ``centers_`` and ``entropy_weight_``, minimised; a sum over the samples, with lambda in squared units of
        the data (so that other units add a constant).
    objective_history_ : ndarray
        J at each state visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.AFCM : the same with an embedding of a neighbour graph, for clusters of any shape.
    soft_clustering.ENTROPYFCM : the entropy weight is given.
    soft_clustering.GMM : clusters with weights and covariances of their own.

    Notes
    -----
    Follows [1]_, which names this case, a simplified Gaussian mixture, as what is left without the graph; the constants
    of J are our reading.

    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is O(n). ``score`` is minus the objective. The
    entropy weight is at least 1e-12 of the total variance, which it reaches where every sample is on a centre. In many
    features memberships are almost hard, and the clusters are those of k-means.

    References
    ----------
    .. [1] Q. Chen, W. Yu, F. Nie, X. Li (2024). Adaptive fuzzy c-means with graph embedding. arXiv:2405.13427.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import AFCMSimple
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = AFCMSimple(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape
    (150, 3)
    >>> round(model.entropy_weight_, 2)
    0.27
    """

    entropy_weight_: float
    _policy = Policy(residual=state_shift, place=attrgetter("centers"), units=adaptive_units, sparse=True, missing=True)
    _remedy: ClassVar[str] = "use fewer clusters or another init"  # if the clusters coincide
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        init: Init = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-6,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Adaptive]:
        for _ in range(self._n_starts()):
            yield adaptive_start(blocks, starting_centers(blocks, self.init, self.n_clusters, rng))

    def _sums(self, block: Block, state: Adaptive) -> CenterStatistics:
        return center_statistics(block, *_entropy_rule(state))

    def _scatter(self, block: Block, state: Adaptive) -> Scatter:
        return center_scatter(block, *_entropy_rule(state))

    def _statistics(self, block: Block, state: Adaptive) -> CenterStatistics:
        return adaptive_statistics(self._sums(block, state), state)

    def _update(self, state: Adaptive, statistics: CenterStatistics, blocks: Blocks) -> Adaptive:
        return adaptive_update(state, statistics, blocks, self._scatter)

    def _memberships(self, block: Block, state: Adaptive) -> NDArray[Any]:
        return center_memberships(block, *_entropy_rule(state))

    def _store(self, state: Adaptive, statistics: CenterStatistics, blocks: Blocks) -> None:
        frame = blocks.frame
        self.centers_ = frame.to_input(state.centers).astype(blocks.dtype)
        self.entropy_weight_ = state.weight / float(frame.scale) / float(frame.scale)

    def _complaints(self, run: Run[Adaptive], blocks: Blocks) -> list[str]:
        collapsed = collapse(type(self).__name__, run.state.centers, self.memberships_, blocks, self._remedy)
        return super()._complaints(run, blocks) + collapsed


def _entropy_rule(state: Adaptive) -> tuple[Any, ...]:
    """Centres, and the rule of the kernels with its parameters: the clusters have equal shares."""
    return state.centers, "entropy", state.weight, *np.zeros(len(state.centers))
