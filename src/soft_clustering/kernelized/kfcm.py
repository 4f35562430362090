"""Kernel fuzzy c-means, prototypes in input space.

Fuzzy c-means with the distance that an RBF kernel induces. With K(x, v) = exp(-gamma |x - v|^2) the squared distance
of x and v in the feature space of the kernel is 2 (1 - K(x, v)), so minimise

    J = 2 sum_i w_i sum_k u_ik^m (1 - K(x_i, v_k))

over memberships with sum_k u_ik = 1 and over centres V, by alternating

* u_ik = D_ik^(-1/(m-1)) / sum_l D_il^(-1/(m-1)) with D_ik = 1 - K(x_i, v_k);
* v_k = sum_i w_i u_ik^m K(x_i, v_k) x_i / sum_i w_i u_ik^m K(x_i, v_k), the kernel at the previous centres.

The second step is one of mean shift: 1 - exp(-gamma t) is concave in t, so its tangent majorises J and J never
increases.

References
----------
D.-Q. Zhang, S.-C. Chen (2004). A novel kernelized fuzzy c-means algorithm with application in medical image
segmentation. Artificial Intelligence in Medicine 32(1), 37-50.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, Seed
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Block, Blocks
from ..engine.collapse import collapse
from ..engine.loop import Policy, Run
from ..engine.noise import NOISE, NoiseClusterer
from ..engine.streaming import StreamingClusterer, moved_centers
from ..fuzzy.fuzzifier import resolve_fuzzifier, smaller
from ..fuzzy.solver import fuzzy_start
from ..kernels.centers import (
    CenterStatistics,
    center_memberships,
    center_rows,
    center_statistics,
    memberships_and_noise,
)
from .gamma import frame_gamma, resolve_gamma


def feature_units(objective: Any, blocks: Blocks) -> Any:
    """The squared distance in feature space is twice 1 - K, and a kernel has no units."""
    return 2 * objective


class KFCM(NoiseClusterer[Array, CenterStatistics], StreamingClusterer[Array, CenterStatistics]):
    """Kernel fuzzy c-means: centres that far points hardly pull.

    Distances saturate: beyond a few kernel widths all are the same, so an outlier has equal memberships and next to no
    weight in the centres.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float or 'auto', default='auto'
        Fuzzifier, > 1. ``'auto'``: the rule of :class:`FCM`, the customary 2 for few features.
    gamma : float, 'scale' or 'median', default='scale'
        Width of the kernel exp(-gamma |x - v|^2), in inverse squared units of X; gamma = 1 / sigma^2 if a
        publication writes exp(-|x - v|^2 / sigma^2). ``'scale'`` is one over the summed variances of the features,
        ``'median'`` one over the median squared distance of two of (at most 1000) rows. Towards 0 this is fuzzy
        c-means.
    gamma_scale : float, default=1.0
        Multiplies ``'scale'`` and ``'median'``.
    noise_distance : float, 'auto' or None, default=None
        Distance in input space of all samples to one more cluster, which takes the outliers: noise clustering [3]_.
        ``'auto'``: the square is ``noise_scale`` times the median squared distance of a sample to its nearest centre,
        in a fit without noise. None: there is no such cluster.
    noise_scale : float, default=10.0
        For ``noise_distance='auto'``. Small values make more samples noise; below 4 they may take whole clusters.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Starting centres. A callable gets ``(X, n_clusters, rng)``. An array forces one start. Of more than 20,000
        rows on Dask, ``'k-means++'`` is ``'k-means||'``, and ``'random'`` draws from a sample of 20,000.
    n_init : int, default=10
        Starts; the one of smallest objective is kept.
    max_iter : int, default=300
        Passes over the data per start.
    tol : float, default=1e-4
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
    gamma_ : float
        The kernel width used.
    objective_ : float
        J at ``centers_``; it has no unit.
    objective_history_ : ndarray
        J at each centre set visited, the last one included.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : the same with Euclidean distances.
    soft_clustering.SKFCM : the same for images, where neighbouring pixels belong together.

    Notes
    -----
    A pass costs O(n K d) time; memory beyond X and ``memberships_`` is O(n). ``score`` is minus the objective.

    The prototypes are points of the input space, not of the feature space: clusters stay convex, and rings around each
    other are not found. Far points that lie close together are a cluster like any other. A centre beyond the reach of
    the kernel from all samples moves to the sample of largest objective, which cannot increase J.

    ``partial_fit`` settles ``m_``, ``gamma_`` and ``noise_distance_`` on the first batch, and moves the centres by a
    streaming weighted mean [2]_: what they were computed from so far keeps its full weight.

    The kernel distance, the memberships and the centres agree with public programs written after [1]_, whose text was
    not at hand.

    References
    ----------
    .. [1] D.-Q. Zhang, S.-C. Chen (2004). A novel kernelized fuzzy c-means algorithm with application in medical image
       segmentation. Artificial Intelligence in Medicine 32(1), 37-50.
    .. [2] P. Hore, L. O. Hall, D. B. Goldgof (2007). Single pass fuzzy c means. FUZZ-IEEE.
    .. [3] R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11),
       657-664.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import KFCM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = KFCM(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape
    (150, 3)
    >>> round(model.gamma_, 4), round(model.objective_, 3)
    (0.2201, 20.468)
    >>> model.predict_memberships([[1e3, 1e3, 1e3, 1e3]]).round(3)
    array([[0.333, 0.333, 0.333]])
    """

    m_: float
    gamma_: float
    _policy = Policy(units=feature_units, sparse=True, missing=True)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
        "gamma": [StrOptions({"scale", "median"}), Interval(Real, 0, None, closed="neither")],
        "gamma_scale": [Interval(Real, 0, None, closed="neither")],
        **NOISE,
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | str = "auto",
        gamma: float | str = "scale",
        gamma_scale: float = 1.0,
        noise_distance: Literal["auto"] | float | None = None,
        noise_scale: float = 10.0,
        init: Init = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        accelerate: bool = True,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.gamma = gamma
        self.gamma_scale = gamma_scale
        self.noise_distance = noise_distance
        self.noise_scale = noise_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    def _resolve(self, blocks: Blocks) -> None:
        self.m_ = resolve_fuzzifier(self.m, blocks.n_counted, blocks.n_features, self.n_clusters)
        self.gamma_ = resolve_gamma(blocks, self.gamma, self.gamma_scale)
        self._gamma = frame_gamma(blocks, self.gamma, self.gamma_scale)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Array]:
        for _ in range(self._n_starts()):
            rule = "kernel", 2.0, self._gamma
            yield fuzzy_start(blocks, self.init, self.n_clusters, rng, self.m_, *rule, most=self._most)

    def _statistics(self, block: Block, V: Array) -> CenterStatistics:
        return center_statistics(block, V, "kernel", self.m_, self._gamma, noise=self._noise)

    def _update(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> Array:
        return new_centers(V, statistics)

    def _moved(self, V: Array, statistics: CenterStatistics, weight: Array, blocks: Blocks) -> Array:
        return moved_centers(V, statistics, weight)

    def _memberships(self, block: Block, V: Array) -> NDArray[Any]:
        return center_memberships(block, V, "kernel", self.m_, self._gamma, noise=self._noise)

    def _noise_masses(self, block: Block, V: Array) -> NDArray[Any]:
        masses = memberships_and_noise(block, V, "kernel", self.m_, self._gamma, noise=self._noise)[1]
        return masses.astype(block.X.dtype)

    def _nearest(self, block: Block, V: Array) -> Array:
        return center_rows(block, V, "nearest")

    def _store(self, V: Array, statistics: CenterStatistics, blocks: Blocks) -> None:
        self.centers_ = blocks.frame.to_input(V).astype(blocks.dtype)

    def _complaints(self, run: Run[Array], blocks: Blocks) -> list[str]:
        advice = f"try {smaller('m', self.m)}, or a smaller gamma"
        remedy = f"m={self.m_:g} or gamma={self.gamma_:.3g} may be too large, {advice}"
        collapsed = collapse("KFCM", run.state, self.memberships_, blocks, remedy, self.tol)
        return super()._complaints(run, blocks) + collapsed
