"""Fuzzy c-means.

Minimise J = sum_i w_i sum_k u_ik^m |x_i - v_k|^2 over memberships with sum_k u_ik = 1 and over centres V, by
alternating the two exact minimisations. With D_ik = |x_i - v_k|^2:

* u_ik = D_ik^(-1/(m-1)) / sum_l D_il^(-1/(m-1));
* v_k = sum_i w_i u_ik^m x_i / sum_i w_i u_ik^m.

The memberships are never stored while iterating: J as a function of V alone is sum_i w_i (sum_k D_ik^(-1/(m-1)))^(1-m).

References
----------
J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, Seed
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Block, Blocks
from ..engine.collapse import collapse
from ..engine.fitting import Fit
from ..engine.loop import Policy, Run, Scale, center_shift, iterate, objective_change
from ..engine.noise import NOISE, NoiseClusterer
from ..engine.streaming import StreamingClusterer, moved_centers
from ..kernels.centers import (
    CenterStatistics,
    center_memberships,
    center_rows,
    center_statistics,
    memberships_and_noise,
)
from .fuzzifier import resolve_fuzzifier, smaller
from .solver import fuzzy_start, solve_fcm


class Stream(NamedTuple):
    """The state of mini-batches: centres, and the weight that each was computed from."""

    centers: Array  # (K, d)
    weight: Array  # (K, 1), or (K, d) if values are missing
    epoch: int

    def after(self, statistics: CenterStatistics) -> Stream:
        """The state after one more batch: centres are the running weighted mean of all rows seen."""
        weight = self.weight + statistics.mass
        return self._replace(centers=moved_centers(self.centers, statistics, weight), weight=weight)


def epoch_change(old: Stream, new: Stream, history: list[float], scale: Scale) -> float:
    """Movement of the centres or relative change of the objective: random batches never come quite to rest."""
    return min(center_shift(old.centers, new.centers, history, scale), objective_change(old, new, history))


def centers_of(state: Array | Stream) -> Array:
    """The centres of either state."""
    return state.centers if isinstance(state, Stream) else state


class FCM(NoiseClusterer[Array, CenterStatistics], StreamingClusterer[Array, CenterStatistics]):
    """Fuzzy c-means: k-means with degrees of membership.

    Each sample belongs to every cluster to a degree that falls with its distance to the cluster's centre.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float or 'auto', default='auto'
        Fuzzifier, > 1: near 1 the memberships are almost hard, large values make them equal. ``'auto'`` takes the rule
        of Schwaemmle and Jensen [3]_ but at most the customary 2: 2 for up to about 5 features, falling towards 1 as
        features are added. Pass ``m=2.0`` to compare with other implementations.
    noise_distance : float, 'auto' or None, default=None
        Distance of all samples to one more cluster, which takes the outliers: noise clustering [5]_. ``'auto'``: the
        square is ``noise_scale`` times the median squared distance of a sample to its nearest centre, in a fit without
        noise. None: there is no such cluster.
    noise_scale : float, default=10.0
        For ``noise_distance='auto'``. Small values make more samples noise; below 4 they may take whole clusters.
    batch_size : int or None, default=None
        None: every pass uses all rows. An int: ``fit`` solves a first batch, then runs epochs of random batches of so
        many rows, each batch moving the centres by a streaming weighted mean [4]_ that forgets all but the last two
        epochs; ``max_iter`` then counts epochs, ``n_init`` the starts on the first batch, and a relative change of
        the objective by at most ``tol`` is convergence, too.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting centres. A callable gets ``(X, n_clusters, rng)``. An array forces one start. Of more than 20,000
        rows on Dask, ``'k-means++'`` is ``'k-means||'``, and ``'random'`` draws from a sample of 20,000.
    n_init : int, default=5
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Passes over the data per start.
    tol : float, default=1e-5
        Converged when the centres move by at most ``tol`` times the root mean variance of the features.
    accelerate : bool, default=True
        Anderson acceleration: the same optimum in fewer passes.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1; with noise to 1 - ``noise_mass_``.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership; -1 for noise.
    noise_mass_ : ndarray of shape (n_samples,)
        Membership in the noise, if there is a ``noise_distance``.
    noise_distance_ : float
        The distance used.
    centers_ : ndarray of shape (n_clusters, n_features)
    n_clusters_ : int
    m_ : float
        The fuzzifier used.
    objective_ : float
        J at ``centers_``.
    objective_history_ : ndarray
        J at each centre set visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.GMM : elliptic clusters of different sizes, with a likelihood.

    Notes
    -----
    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is O(n). ``score`` is minus the objective.

    ``partial_fit`` settles ``m_`` and ``noise_distance_`` on the first batch, and moves the centres by a streaming
    weighted mean [4]_: what they were computed from so far keeps its full weight.

    References
    ----------
    .. [1] J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.
    .. [2] J. C. Dunn (1973). A fuzzy relative of the ISODATA process and its use in detecting compact well-separated
       clusters. J. Cybernetics 3(3), 32-57.
    .. [3] V. Schwaemmle, O. N. Jensen (2010). A simple and fast method to determine the parameters for fuzzy c-means
       cluster analysis. Bioinformatics 26(22), 2841-2848.
    .. [4] P. Hore, L. O. Hall, D. B. Goldgof (2007). Single pass fuzzy c means. FUZZ-IEEE.
    .. [5] R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
       657-664.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = FCM(n_clusters=3, m=2.0, random_state=0).fit(X)
    >>> model.memberships_.shape
    (150, 3)
    >>> round(model.objective_, 3)
    60.506
    >>> model.predict_memberships([[5.0, 3.4, 1.5, 0.2]]).max().round(2)
    np.float64(1.0)

    With noise, an outlier belongs to no cluster, and moves no centre:

    >>> import numpy as np
    >>> model = FCM(n_clusters=3, noise_distance="auto", random_state=0).fit(np.vstack([X, [30.0, 30.0, 30.0, 30.0]]))
    >>> model.labels_[-1], model.noise_mass_[-1].round(2)
    (np.int64(-1), np.float64(0.99))
    """

    m_: float
    _policy = Policy(sparse=True, missing=True, final=centers_of)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
        **NOISE,
        "batch_size": [None, Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | str = "auto",
        noise_distance: Literal["auto"] | float | None = None,
        noise_scale: float = 10.0,
        batch_size: int | None = None,
        init: Init = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-5,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.noise_distance = noise_distance
        self.noise_scale = noise_scale
        self.batch_size = batch_size
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    def _resolve(self, blocks: Blocks) -> None:
        self.m_ = resolve_fuzzifier(self.m, blocks.n_counted, blocks.n_features, self.n_clusters)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Array]:
        for _ in range(self._n_starts()):
            yield fuzzy_start(blocks, self.init, self.n_clusters, rng, self.m_, "fcm", 2.0, most=self._most)

    def _statistics(self, block: Block, V: Array) -> CenterStatistics:
        return center_statistics(block, V, "fcm", self.m_, noise=self._noise)

    def _update(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> Array:
        return new_centers(V, statistics)

    def _moved(self, V: Array, statistics: CenterStatistics, weight: Array, blocks: Blocks) -> Array:
        return moved_centers(V, statistics, weight)

    def _memberships(self, block: Block, V: Array) -> NDArray[Any]:
        return center_memberships(block, V, "fcm", self.m_, noise=self._noise)

    def _noise_masses(self, block: Block, V: Array) -> NDArray[Any]:
        return memberships_and_noise(block, V, "fcm", self.m_, noise=self._noise)[1].astype(block.X.dtype)

    def _nearest(self, block: Block, V: Array) -> Array:
        return center_rows(block, V, "nearest")

    def _store(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> None:
        self.centers_ = blocks.frame.to_input(V).astype(blocks.dtype)

    def _complaints(self, run: Run[Array], blocks: Blocks) -> list[str]:
        remedy = f"m={self.m_:g} may be too large for {blocks.d} features, try {smaller('m', self.m)}"
        collapsed = collapse("FCM", run.state, self.memberships_, blocks, remedy, self.tol)
        return super()._complaints(run, blocks) + collapsed

    def _runs(self, fit: Fit[Any], blocks: Blocks, rng: np.random.RandomState) -> None:
        batch_size = self.batch_size
        if batch_size is None:
            super()._runs(fit, blocks, rng)
            return
        size = min(max(batch_size, 10 * self.n_clusters), blocks.n)
        first = Blocks([next(blocks.batches(size, rng))], blocks.mean_variance)
        # The first batch is a pass that an interruption may keep, and so is each batch after it.
        run = Run(Stream(self._solve(first, rng), np.zeros((self.n_clusters, 1)), 0), n_iter=1)
        fit.runs.append(run)

        def epoch(state: Stream) -> tuple[Stream, float]:
            # Half of what two epochs weigh: the centres forget all but the last two.
            weight = state.weight / 2 if state.epoch >= 2 else state.weight
            run.state, objective = Stream(state.centers, weight, state.epoch + 1), 0.0
            for batch in blocks.batches(batch_size, rng):
                statistics = self._statistics(batch, run.state.centers)
                run.state, objective = run.state.after(statistics), objective + statistics.objective
            return run.state, objective

        fit.unit, policy = "epoch", Policy(residual=epoch_change)
        iterate(run, step=epoch, policy=policy, max_iter=self.max_iter, tol=self.tol, scale=blocks, report=fit.report)
        fit.report_start(1, run)

    def _solution(self, batch: Blocks, rng: np.random.RandomState) -> Array:
        self._settle_noise(batch, rng, lambda: self._solve(batch, rng))
        return self._solve(batch, rng)

    def _solve(self, batch: Blocks, rng: np.random.RandomState) -> Array:
        """Centres of a first batch, all of whose rows take part in each pass."""
        settings = {name: getattr(self, name) for name in ("init", "n_init", "max_iter", "tol", "accelerate")}
        return solve_fcm(batch, self.n_clusters, self.m_, rng, noise=self._noise, most=self._most, **settings)
