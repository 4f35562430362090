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
centres is that of all rows less that between the centres: one look at the rows gives everything. Only where clusters
are small against their distances a second look is needed for the digits.

References
----------
Q. Chen, W. Yu, F. Nie, X. Li (2024). Adaptive fuzzy c-means with graph embedding. arXiv:2405.13427.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._types import Array
from ..engine.alternating import PARAMETERS, AlternatingClusterer, Run, collapse, new_centers, state_shift
from ..engine.blocks import Block, Blocks, Frame
from ..engine.initialisation import starting_centers
from ..kernels.centers import CenterStatistics, Scatter, center_memberships, center_scatter, center_statistics

_TIGHT = 1e-4  # share of the variance that is within clusters, below which a difference of variances is inexact
_LEAST = 1e-12  # of the total variance: the entropy weight where every row is on a centre
_MOST = 1e100  # an accelerated point may lie anywhere


class Adaptive(NamedTuple):
    """The state: centres, and the logarithm of the entropy weight, in the coordinates of the frame."""

    centers: Array  # (K, d)
    log_weight: Array  # (); acceleration may move it anywhere

    @property
    def weight(self) -> float:
        """The entropy weight lambda."""
        return math.exp(self.log_weight)

    def drift(self, old: Adaptive, unit: float) -> float:
        """Movement of the centres, or relative change of the entropy weight, whichever is larger."""
        shift = float(np.linalg.norm(self.centers - old.centers)) / unit
        return max(shift, abs(float(self.log_weight - old.log_weight)))


def least_weight(blocks: Blocks) -> float:
    """The smallest entropy weight: a tiny part of the total variance, or of 1 where all rows are the same."""
    return _LEAST * (blocks.mean_variance * blocks.d or 1.0)


def adaptive_statistics(statistics: CenterStatistics, state: Adaptive) -> CenterStatistics:
    """Statistics of the entropy rule at the state, with J in the place of its objective."""
    volume = statistics.weight.sum() * state.centers.shape[1] / 2 * state.log_weight
    return statistics._replace(objective=float(statistics.objective / state.weight + volume))


def adaptive_update(
    state: Adaptive, statistics: CenterStatistics, blocks: Blocks, scatter: Callable[[Block, Adaptive], Scatter]
) -> Adaptive:
    """New centres, and the entropy weight that suits them; ``scatter`` is that of a block about the old centres."""
    V, size = new_centers(state.centers, statistics), statistics.weight
    mean = statistics.total.sum(axis=0) / size.sum()
    within = blocks.mean_variance - _mean_square(V - mean, size)
    if within < _TIGHT * blocks.mean_variance:
        # Of that difference few digits are left: look at the rows again.
        about = blocks.reduce(scatter, state).scatter.sum() / (size.sum() * blocks.d)
        within = about - _mean_square(V - state.centers, size)
    return Adaptive(V, np.log(max(2 * within, least_weight(blocks))))


def _mean_square(rows: Array, size: Array) -> float:
    """Weighted mean of the squared entries."""
    return float(np.einsum("k,kj,kj->", size, rows, rows) / (size.sum() * rows.shape[1]))


def unit_term(weight: float, frame: Frame) -> float:
    """What J of the data has beyond J in the frame, for rows of a summed weight: (n d / 2) log of the squared unit."""
    return -weight * len(frame.shift) * math.log(frame.scale)


class AFCMSimple(AlternatingClusterer):
    """Adaptive fuzzy c-means without the graph: fuzzy c-means whose fuzziness is learnt from the data.

    Memberships are a softmax of the squared distances, as in :class:`soft_clustering.ENTROPYFCM`; how soft they are
    is no parameter but comes from the spread of the clusters.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    init : {'k-means++', 'random'}, array of shape (n_clusters, n_features) or callable, default='k-means++'
        Starting centres. A callable gets ``(X, n_clusters, rng)``. An array forces one start.
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

    _accepts_sparse: ClassVar[bool] = True
    _remedy: ClassVar[str] = "use fewer clusters or another init"  # where the clusters coincide
    _residual = staticmethod(state_shift)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-6,
        accelerate: bool = True,
        random_state: Any = None,
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

    def _resolve(self, blocks: Blocks) -> None:
        self._total_weight, self._least = blocks.total_weight, least_weight(blocks)
        self._log_shares = (0.0,) * self._K

    def _init_state(self, blocks: Blocks, rng: np.random.RandomState) -> Adaptive:
        V = self._starting_centers(blocks, rng)
        scatter = blocks.reduce(center_statistics, V, "nearest").objective
        weight = 2 * scatter / (blocks.total_weight * blocks.d)
        return Adaptive(V, np.log(min(max(weight, self._least), _MOST)))

    def _starting_centers(self, blocks: Blocks, rng: np.random.RandomState) -> Array:
        return starting_centers(blocks, self.init, self._K, rng)

    def _sums(self, block: Block, state: Adaptive) -> CenterStatistics:
        return center_statistics(block, state.centers, "entropy", state.weight, *self._log_shares)

    def _statistics(self, block: Block, state: Adaptive) -> CenterStatistics:
        return adaptive_statistics(self._sums(block, state), state)

    def _scatter(self, block: Block, state: Adaptive) -> Scatter:
        return center_scatter(block, state.centers, "entropy", state.weight, *self._log_shares)

    def _update(self, state: Adaptive, statistics: CenterStatistics, blocks: Blocks) -> Adaptive:
        return adaptive_update(state, statistics, blocks, self._scatter)

    def _memberships(self, block: Block, state: Adaptive) -> NDArray[Any]:
        return center_memberships(block, state.centers, "entropy", state.weight, *self._log_shares)

    def _in_input_units(self, objective: float, weight: float, frame: Frame) -> float:
        """J of the data as they came, for rows of a summed weight."""
        return objective + unit_term(weight, frame)

    def _objective_in_input_units(self, objective: float, frame: Frame) -> float:
        return self._in_input_units(objective, self._total_weight, frame)

    def _place(self, state: Adaptive) -> Array:
        return state.centers

    def _from_vector(self, vector: Array, like: Adaptive) -> Adaptive:
        state: Adaptive = super()._from_vector(vector, like)
        return state._replace(log_weight=np.clip(state.log_weight, math.log(self._least), math.log(_MOST)))

    def _store(self, state: Adaptive, statistics: CenterStatistics, blocks: Blocks) -> None:
        frame = blocks.frame
        self.centers_ = frame.to_input(state.centers).astype(blocks.dtype)
        self.entropy_weight_ = state.weight / float(frame.scale) / float(frame.scale)

    def _complaints(self, run: Run, blocks: Blocks) -> list[str]:
        collapsed = collapse(type(self).__name__, run.state.centers, self.memberships_, blocks, self._remedy)
        return super()._complaints(run, blocks) + collapsed

    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Minus the objective on new data, greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        blocks = self._new_blocks(X, sample_weight)
        statistics = blocks.reduce(self._statistics, self._state)
        return -self._in_input_units(self._objective(statistics, blocks), blocks.total_weight, blocks.frame)
