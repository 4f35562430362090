"""Possibilistic c-means.

Typicalities t_ik in [0, 1] need not sum to 1, so that an outlier can have a low typicality in every cluster. With
D_ik = |x_i - v_k|^2 and fixed bandwidths b_k, minimise over T and the centres V

* J = sum_ik w_i t_ik^m D_ik + sum_k b_k sum_i w_i (1 - t_ik)^m (1993): t = 1 / (1 + (D / b)^(1/(m-1)));
* J = sum_ik w_i t_ik D_ik + sum_k b_k sum_i w_i (t_ik log t_ik - t_ik) (1996): t = exp(-D / b);

by alternating T with v_k = sum_i w_i t_ik^m x_i / sum_i w_i t_ik^m (1996: weights t). The start and the bandwidths
come from fuzzy c-means. As functions of V alone the objectives are sum_ik w_i D_ik t_ik^(m-1) and
- sum_ik w_i b_k t_ik.

References
----------
R. Krishnapuram, J. M. Keller (1993). A possibilistic approach to clustering. IEEE Trans. Fuzzy Systems 1(2), 98-110.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, Seed
from ..base import MembershipKind
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Block, Blocks
from ..engine.fitting import Fit
from ..engine.loop import Run
from ..engine.streaming import StreamingClusterer, moved_centers
from ..inputs.features import validate_matrix
from ..kernels import EMPTY
from ..kernels.centers import CenterStatistics, Scatter, center_memberships, center_statistics
from .fuzzifier import auto_fuzzifier
from .possibilistic import TYPICAL, Typical, bandwidth_to_input, bounded, distinct, fuzzy_bandwidths
from .staged import StagedClusterer


class PCM(StreamingClusterer[Typical, CenterStatistics], StagedClusterer[Typical, CenterStatistics]):
    """Possibilistic c-means: degrees of typicality, with outliers typical of no cluster.

    Each cluster looks for a dense region by itself, starting from a fuzzy c-means solution. Typicalities do not sum to
    1: ``1 - memberships_.max(axis=1)`` is an outlier score.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float, default=1.5
        Fuzzifier of the rational typicality, > 1; the exponential one has none. 1.5 is our choice.
    typicality : {'exponential', 'rational'}, default='exponential'
        ``'exponential'``: exp(-D / b), the objective of 1996 [2]_; ``'rational'``: 1 / (1 + (D / b)^(1/(m-1))), that
        of 1993 [1]_, with longer tails.
    bandwidth : 'auto' or array-like of shape (n_clusters,), default='auto'
        Squared distance b_k at which the typicality is 1/e (exponential) or 1/2 (rational); fixed while iterating.
        ``'auto'``: ``bandwidth_scale`` times the mean squared distance of the fuzzy cluster.
    bandwidth_scale : float, default=0.1
        Factor of ``bandwidth='auto'``. Small values keep the prototypes apart, but then most members have a low
        typicality; take 1 if typicalities are read as degrees or as an outlier score.
    n_refine : int, default=0
        How many times to estimate the bandwidths again after convergence, as the mean squared distance over the rows of
        typicality at least ``alpha_cut``, and to iterate again.
    alpha_cut : float, default=0.5
        Typicality, between 0 and 1, from which a row counts in a refinement. A cluster with fewer than two such rows
        keeps its bandwidth.
    init : 'fcm', array-like of shape (n_clusters, n_features) or callable, default='fcm'
        ``'fcm'``: a fuzzy c-means solution with ``m='auto'``. Otherwise the centres to start from, which also settle
        the bandwidths; a callable gets ``(X, n_clusters, rng)``.
    n_init : int, default=5
        Starts of fuzzy c-means.
    max_iter : int, default=300
        Passes over the data, for each of the two stages.
    tol : float, default=1e-5
        Converged when the centres move by at most ``tol`` times the root mean variance of the features.
    accelerate : bool, default=True
        Anderson acceleration: the same optimum in fewer passes.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per fit, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Typicalities, each in [0, 1].
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest typicality, -1 where all of them are 0 (exponential form, far outliers).
    centers_ : ndarray of shape (n_clusters, n_features)
    bandwidth_ : ndarray of shape (n_clusters,)
        The bandwidths b_k used, in squared units of X.
    n_clusters_ : int
    n_effective_clusters_ : int
        Prototypes that have rows and do not coincide with another one (a squared distance below a thousandth of the
        bandwidth). Clusters are independent, so coinciding ones are a property of the method; a warning says so.
    objective_ : float
        J at ``centers_``.
    objective_history_ : ndarray
        J at each centre set visited, the last one included; after the last refinement.
    n_iter_ : int
        Passes of the second stage, after the last refinement.
    converged_ : bool

    See Also
    --------
    soft_clustering.PFCM : memberships and typicalities together; prototypes do not coincide.
    soft_clustering.FCM : memberships that sum to 1.

    Notes
    -----
    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is O(n). ``score`` is minus the objective.

    ``partial_fit`` settles ``bandwidth_`` on the first batch, refinements included, and moves the centres by a
    streaming weighted mean [3]_: what they were computed from so far keeps its full weight.

    References
    ----------
    .. [1] R. Krishnapuram, J. M. Keller (1993). A possibilistic approach to clustering. IEEE Trans. Fuzzy Systems 1(2),
       98-110.
    .. [2] R. Krishnapuram, J. M. Keller (1996). The possibilistic C-means algorithm: insights and recommendations. IEEE
       Trans. Fuzzy Systems 4(3), 385-393.
    .. [3] P. Hore, L. O. Hall, D. B. Goldgof (2007). Single pass fuzzy c means. FUZZ-IEEE.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import PCM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = PCM(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape
    (150, 3)
    >>> model.n_effective_clusters_
    3
    >>> bool(model.predict_memberships([[9.0, 9.0, 9.0, 9.0]]).max() < 1e-9)  # an outlier
    True
    """

    membership_kind: ClassVar[MembershipKind] = "possibilistic"
    bandwidth_: Array
    n_effective_clusters_: int
    _policy = TYPICAL
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [Interval(Real, 1, 500, closed="right")],  # (1/2)^m must not underflow
        "typicality": [StrOptions({"exponential", "rational"})],
        "bandwidth": [StrOptions({"auto"}), "array-like"],
        "bandwidth_scale": [Interval(Real, 0, None, closed="neither")],
        "n_refine": [Interval(Integral, 0, None, closed="left")],
        "alpha_cut": [Interval(Real, 0, 1, closed="neither")],
        "init": [StrOptions({"fcm"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float = 1.5,
        typicality: str = "exponential",
        bandwidth: str | ArrayLike = "auto",
        bandwidth_scale: float = 0.1,
        n_refine: int = 0,
        alpha_cut: float = 0.5,
        init: Init = "fcm",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-5,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.typicality = typicality
        self.bandwidth = bandwidth
        self.bandwidth_scale = bandwidth_scale
        self.n_refine = n_refine
        self.alpha_cut = alpha_cut
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Typical]:
        m, given = auto_fuzzifier(blocks.n_counted, blocks.n_features), self._given_bandwidth(blocks)
        V = self._first_stage(blocks, rng, m)
        yield Typical(V, fuzzy_bandwidths(blocks, V, m, self.bandwidth_scale) if given is None else given)

    def _given_bandwidth(self, blocks: Blocks) -> Array | None:
        """The bandwidths of the user in the coordinates of the frame, None for ``'auto'``."""
        if isinstance(self.bandwidth, str):
            return None
        bandwidth = validate_matrix("bandwidth", self.bandwidth, (self.n_clusters,))
        if not (bandwidth > 0).all():
            raise ValueError(f"bandwidth must be positive. Got a least entry of {bandwidth.min():g} instead.")
        with np.errstate(over="ignore", under="ignore"):
            return np.clip(bandwidth * blocks.frame.scale * blocks.frame.scale, 1e-90, 1e90)

    def _rule(self, state: Typical) -> tuple[Any, ...]:
        """The rule of the kernels, and its parameters."""
        form = ("exponential",) if self.typicality == "exponential" else ("rational", self.m)
        return (*form, *state.bandwidth)

    def _statistics(self, block: Block, state: Typical) -> CenterStatistics:
        return center_statistics(block, state.centers, *self._rule(state))

    def _update(self, state: Typical, statistics: CenterStatistics, blocks: Blocks) -> Typical:
        # No row has to belong anywhere, so a prototype without rows stays instead of moving to the worst row.
        return state._replace(centers=new_centers(state.centers, statistics._replace(worst=0.0)))

    def _moved(self, state: Typical, statistics: CenterStatistics, weight: Array, blocks: Blocks) -> Typical:
        return state._replace(centers=moved_centers(state.centers, statistics, weight))

    def _memberships(self, block: Block, state: Typical) -> NDArray[Any]:
        return center_memberships(block, state.centers, *self._rule(state))

    def _run(self, fit: Fit[Typical], blocks: Blocks, rng: np.random.RandomState) -> None:
        loop = self._loop(fit, blocks, self.n_clusters)
        run = fit.run_starts(self._starts(blocks, rng), loop)
        for _ in range(self.n_refine):
            run = Run(self._refined(run.state, blocks), n_iter=run.n_iter)
            fit.runs[:] = [run]  # objectives of different bandwidths do not compare
            loop(run)

    def _refined(self, state: Typical, blocks: Blocks) -> Typical:
        """The state with the bandwidths that its own typicalities suggest."""
        weight, scatter = blocks.reduce(self._cut, state)
        # Weights that count repetitions add up to at least the number of rows; others are shares of it.
        rows = weight * max(1.0, blocks.n / blocks.total_weight)
        mean = np.divide(scatter, weight, out=state.bandwidth.copy(), where=rows > 2 - 1e-9)
        return state._replace(bandwidth=bounded(mean, blocks))

    def _cut(self, block: Block, state: Typical) -> Scatter:
        """Weights and scatter of the rows of typicality at least ``alpha_cut``: D by inverting t(D)."""
        T = self._memberships(block, state).astype(np.float64, copy=False)
        W = (self.alpha_cut <= T) * (1.0 if block.weight is None else block.weight[:, None])
        T = np.maximum(T, self.alpha_cut)
        D = -np.log(T) if self.typicality == "exponential" else (1 / T - 1) ** (self.m - 1)
        return Scatter(W.sum(axis=0), (W * D).sum(axis=0) * state.bandwidth)

    def _store(self, state: Typical, statistics: CenterStatistics, blocks: Blocks) -> None:
        self.centers_ = blocks.frame.to_input(state.centers).astype(blocks.dtype)
        self.bandwidth_ = bandwidth_to_input(state.bandwidth, blocks.frame)
        self.n_effective_clusters_ = int((distinct(*state) & (self._seen.max(axis=1) >= EMPTY)).sum())

    def _complaints(self, run: Run[Typical], blocks: Blocks) -> list[str]:
        complaints = super()._complaints(run, blocks)
        if self.n_effective_clusters_ < self.n_clusters:
            complaints.append(
                f"PCM found {self.n_effective_clusters_} distinct prototypes, fewer than n_clusters={self.n_clusters}: "
                "the others coincide or have no rows. Try a smaller bandwidth_scale, fewer clusters, or PFCM"
            )
        return complaints
