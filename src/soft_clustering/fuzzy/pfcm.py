"""Possibilistic fuzzy c-means.

Memberships u_ik that sum to 1 and typicalities t_ik in [0, 1] that do not, together. With D_ik = |x_i - v_k|^2 and
fixed bandwidths g_k, minimise over U, T and the centres V

    J = sum_ik w_i (a u_ik^m + b t_ik^e) D_ik + sum_k g_k sum_i w_i (1 - t_ik)^e

by alternating the exact minimisations:

* u_ik = D_ik^(-1/(m-1)) / sum_l D_il^(-1/(m-1));
* t_ik = 1 / (1 + (b D_ik / g_k)^(1/(e-1)));
* v_k = sum_i w_i (a u_ik^m + b t_ik^e) x_i / sum_i w_i (a u_ik^m + b t_ik^e).

The start and the bandwidths come from fuzzy c-means. As a function of V alone the objective is
sum_i w_i [a (sum_k D_ik^(-1/(m-1)))^(1-m) + b sum_k D_ik t_ik^(e-1)].

References
----------
N. R. Pal, K. Pal, J. M. Keller, J. C. Bezdek (2005). A possibilistic fuzzy c-means clustering algorithm. IEEE Trans.
Fuzzy Systems 13(4), 517-530.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Init, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Block, Blocks
from ..engine.collapse import collapse
from ..engine.loop import Run
from ..engine.streaming import StreamingClusterer, moved_centers
from ..kernels.centers import CenterStatistics, center_memberships, center_statistics
from .fuzzifier import resolve_fuzzifier
from .possibilistic import TYPICAL, Typical, bandwidth_to_input, distinct, fuzzy_bandwidths
from .staged import StagedClusterer


class PFCM(StreamingClusterer[Typical, CenterStatistics], StagedClusterer[Typical, CenterStatistics]):
    """Possibilistic fuzzy c-means: memberships and typicalities, centres that outliers hardly pull.

    Memberships say which cluster a sample is in, typicalities how typical it is of it: both are used for the centres.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float or 'auto', default='auto'
        Fuzzifier of the memberships, > 1. ``'auto'``: the rule of :class:`FCM`, the customary 2 for few features.
    membership_weight : float, default=1.0
        Weight a of the memberships in the centres, >= 0. With 0 this is possibilistic c-means, and the centres may
        coincide.
    typicality_weight : float, default=1.0
        Weight b of the typicalities in the centres, >= 0; not both are 0. With 0 this is fuzzy c-means, and the
        typicalities are reported as if b were 1.
    typicality_exponent : float, default=2.0
        Exponent e of the typicalities, > 1.
    bandwidth_scale : float, default=1.0
        The bandwidth g_k of a cluster is this times the mean squared distance of its fuzzy cluster; fixed while
        iterating.
    init : 'fcm', array-like of shape (n_clusters, n_features) or callable, default='fcm'
        ``'fcm'``: a fuzzy c-means solution with the same m. Otherwise the centres to start from, which also settle the
        bandwidths; a callable gets ``(X, n_clusters, rng)``.
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
        Rows sum to 1.
    typicalities_ : ndarray of shape (n_samples, n_clusters)
        Each in [0, 1].
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features)
    bandwidth_ : ndarray of shape (n_clusters,)
        The bandwidths g_k used, in squared units of X: the typicality is 1/2 at the squared distance g_k / b.
    n_clusters_ : int
    m_ : float
        The fuzzifier used.
    objective_ : float
        J at ``centers_``.
    objective_history_ : ndarray
        J at each centre set visited, the last one included.
    n_iter_ : int
        Passes of the second stage.
    converged_ : bool

    See Also
    --------
    soft_clustering.PCM : typicalities alone.
    soft_clustering.FCM : memberships alone.

    Notes
    -----
    A pass costs O(n K d) time; memory beyond X, ``memberships_`` and ``typicalities_`` is O(n). ``score`` is minus the
    objective.

    ``partial_fit`` settles ``m_`` and ``bandwidth_`` on the first batch, and moves the centres by a streaming weighted
    mean [2]_: what they were computed from so far keeps its full weight.

    References
    ----------
    .. [1] N. R. Pal, K. Pal, J. M. Keller, J. C. Bezdek (2005). A possibilistic fuzzy c-means clustering algorithm.
       IEEE Trans. Fuzzy Systems 13(4), 517-530.
    .. [2] P. Hore, L. O. Hall, D. B. Goldgof (2007). Single pass fuzzy c means. FUZZ-IEEE.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import PFCM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = PFCM(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape, model.typicalities_.shape
    ((150, 3), (150, 3))
    >>> outlier = [[20.0, 20.0, 20.0, 20.0]]
    >>> model.predict_memberships(outlier).sum().round(6)
    np.float64(1.0)
    >>> bool(model.predict_typicalities(outlier).max() < 0.01)
    True
    """

    typicalities_: NDArray[Any]
    bandwidth_: Array
    m_: float
    _policy = replace(TYPICAL, rows={"typicalities_": "_typicalities"})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
        "membership_weight": [Interval(Real, 0, 1e100, closed="both")],
        "typicality_weight": [Interval(Real, 0, 1e100, closed="both")],
        "typicality_exponent": [Interval(Real, 1, 500, closed="right")],  # (1/2)^e must not underflow
        "bandwidth_scale": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"fcm"}), callable, "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float | str = "auto",
        membership_weight: float = 1.0,
        typicality_weight: float = 1.0,
        typicality_exponent: float = 2.0,
        bandwidth_scale: float = 1.0,
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
        self.membership_weight = membership_weight
        self.typicality_weight = typicality_weight
        self.typicality_exponent = typicality_exponent
        self.bandwidth_scale = bandwidth_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    def _resolve(self, blocks: Blocks) -> None:
        if max(self.membership_weight, self.typicality_weight) < 1e-100:
            raise ValueError(
                "membership_weight and typicality_weight must not both be 0 (or below 1e-100). "
                f"Got {self.membership_weight} and {self.typicality_weight} instead."
            )
        self.m_ = resolve_fuzzifier(self.m, blocks.n_counted, blocks.n_features, self.n_clusters)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Typical]:
        V = self._first_stage(blocks, rng, self.m_)
        yield Typical(V, fuzzy_bandwidths(blocks, V, self.m_, self.bandwidth_scale))

    def _statistics(self, block: Block, state: Typical) -> CenterStatistics:
        weights = self.membership_weight, self.typicality_weight
        rule = "pfcm", self.m_, *weights, self.typicality_exponent, *state.bandwidth
        return center_statistics(block, state.centers, *rule)

    def _update(self, state: Typical, statistics: CenterStatistics, blocks: Blocks) -> Typical:
        return state._replace(centers=new_centers(state.centers, statistics))

    def _moved(self, state: Typical, statistics: CenterStatistics, weight: Array, blocks: Blocks) -> Typical:
        return state._replace(centers=moved_centers(state.centers, statistics, weight))

    def _memberships(self, block: Block, state: Typical) -> NDArray[Any]:
        return center_memberships(block, state.centers, "fcm", self.m_)

    def _typicalities(self, block: Block, state: Typical) -> NDArray[Any]:
        half = state.bandwidth / (self.typicality_weight or 1.0)
        return center_memberships(block, state.centers, "rational", self.typicality_exponent, *half)

    @as_fitted
    def predict_typicalities(self, X: MatrixLike) -> NDArray[Any]:
        """Typicalities of new data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        typicalities : ndarray of shape (n_samples, n_clusters_)
        """
        return self._map_rows("_typicalities", self._new_blocks(X))

    def _store(self, state: Typical, statistics: CenterStatistics, blocks: Blocks) -> None:
        self.centers_ = blocks.frame.to_input(state.centers).astype(blocks.dtype)
        self.bandwidth_ = bandwidth_to_input(state.bandwidth, blocks.frame)

    def _complaints(self, run: Run[Typical], blocks: Blocks) -> list[str]:
        remedy = f"try a smaller m (it was {self.m_:g}), typicality_weight or bandwidth_scale"
        collapsed = collapse("PFCM", run.state.centers, self.memberships_, blocks, remedy, self.tol)
        n_distinct = int(distinct(*run.state).sum())
        if not collapsed and n_distinct < self.n_clusters:
            collapsed = [
                f"PFCM found {n_distinct} distinct prototypes, fewer than n_clusters={self.n_clusters}; {remedy}"
            ]
        return super()._complaints(run, blocks) + collapsed
