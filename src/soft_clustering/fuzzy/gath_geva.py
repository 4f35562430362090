"""Gath-Geva: fuzzy maximum likelihood estimates of the components of a Gaussian mixture.

The rule of fuzzy c-means on an exponential distance, with priors P and covariances F:

* D_ik = sqrt(det F_k) / P_k exp((x_i - v_k)^T F_k^-1 (x_i - v_k) / 2), u_ik = D_ik^(-1/(m-1)) / sum_l D_il^(-1/(m-1));
* v_k = sum_i w_i u_ik^m x_i / sum_i w_i u_ik^m;
* F_k = sum_i w_i u_ik^q (x_i - v_k)(x_i - v_k)^T / sum_i w_i u_ik^q, P_k = sum_i w_i u_ik / sum_i w_i.

With m = 2 a membership is the posterior probability of the component. No function decreases along these steps (with
v_k weighted by u instead of u^m they would be those of EM); what is reported is the log likelihood of the mixture.
q = 1 is the original, as recalled from the papers and from secondary sources. The rows are standardised while they are
read: the method is affine equivariant, so this only gives the ridge and the fuzzy c-means of the start a unit.

References
----------
I. Gath, A. B. Geva (1989). Fuzzy clustering for the estimation of the parameters of the components of mixtures of
normal distributions. Pattern Recognition Letters 9(2), 77-86.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Init, Seed
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks
from ..engine.covariance import (
    all_log_determinants,
    covariances_about,
    floored,
    log_units,
    mean_likelihood,
    shape_collapse,
    shape_shift,
    sound_factors,
    to_input_units,
)
from ..engine.loop import Policy, Run
from ..engine.missing import with_unseen
from ..kernels import EMPTY
from ..kernels.centers import center_memberships
from ..kernels.gauss import TemperedStatistics, gauss_memberships, gauss_statistics
from .fuzzifier import auto_fuzzifier, resolve_fuzzifier
from .staged import StagedClusterer

_EMPTY_SHARE = 1e-8  # a component of less than this prior is seeded anew, once
_LONE = 1.5  # rows that a cluster should have
_LEAST_RIDGE = 1e-12  # if a covariance is singular
_MORE_RIDGE = 8  # times ten, before the eigenvalues are floored


class Components(NamedTuple):
    """The parameters, in the coordinates of the frame."""

    weights: Array  # (K,) priors
    means: Array  # (K, d)
    covariances: Array  # (K, d, d) with ridges
    factors: Array  # (K, d, d) their inverse Cholesky factors (lower)
    ridges: Array  # (K,)
    seeds: Array  # (K, d) centres of the fuzzy c-means
    fresh: NDArray[np.bool_]  # (K,) whether the component may still go back to its seed


class GathGeva(StagedClusterer[Components, TemperedStatistics]):
    """Gath-Geva: fuzzy clusters that are ellipsoids of any size, direction and weight.

    Fuzzy c-means comes first, as the publication prescribes (in standardised features); then the memberships follow a
    Gaussian density for each cluster.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    m : float, default=2.0
        Fuzzifier, > 1. With 2 a membership is a posterior probability; smaller values are harder.
    covariance_exponent : float, default=1.0
        The power q of the memberships in the covariances: 1 in the original, m in much of the later literature.
    reg_covar : float, default=1e-4
        Ridge on the covariances, relative to the variances of the features. The ridge of a cluster whose covariance is
        singular all the same is raised, with a warning.
    init : 'fcm', array of shape (n_clusters, n_features) or callable, default='fcm'
        Starting centres: those of fuzzy c-means with ``m='auto'``, given ones, or those of
        ``init(X, n_clusters, rng)``. The first memberships are those of fuzzy c-means there.
    n_init : int, default=5
        Starts of the fuzzy c-means; the method itself runs once, from the best of them.
    max_iter : int, default=300
        Passes over the data, of the method and of each start of the fuzzy c-means.
    tol : float, default=1e-5
        Converged when no centre moves and no covariance changes by more than this, in the metric of its cluster.
        Otherwise the parameters of largest likelihood are kept: the method may oscillate where clusters are far from
        Gaussian.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line at the end, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features)
    covariances_ : ndarray of shape (n_clusters, n_features, n_features)
        Fuzzy covariances F_k, with ridge.
    weights_ : ndarray of shape (n_clusters,)
        Priors P_k, sum 1.
    fuzzy_hypervolume_ : float
        sum_k sqrt(det F_k): the smaller, the tighter the clusters [2]_.
    n_clusters_ : int
    objective_ : float
        Mean log likelihood of the mixture of the normal densities (P_k, v_k, F_k).
    objective_history_ : ndarray
        Mean log likelihood at each parameter set visited, then at the one kept; it may fall.
    n_iter_ : int
        Passes of the method, without those of the fuzzy c-means.
    converged_ : bool

    See Also
    --------
    soft_clustering.GMM : EM, which climbs the likelihood.
    soft_clustering.GK : ellipsoids of equal volume, less sensitive to the start.

    Notes
    -----
    A pass costs O(n K d^2) time; memory beyond X, ``memberships_`` and the starting memberships is O(K d^2) per chunk
    of rows. ``score`` is the mean log likelihood.

    References
    ----------
    .. [1] I. Gath, A. B. Geva (1989). Fuzzy clustering for the estimation of the parameters of the components of
       mixtures of normal distributions. Pattern Recognition Letters 9(2), 77-86.
    .. [2] I. Gath, A. B. Geva (1989). Unsupervised optimal fuzzy clustering. IEEE Transactions on Pattern Analysis and
       Machine Intelligence 11(7), 773-781.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import GathGeva
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = GathGeva(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape
    (150, 3)
    >>> np.sort(model.weights_).round(2)
    array([0.3 , 0.33, 0.37])
    """

    weights_: Array
    fuzzy_hypervolume_: float
    _policy = Policy(
        sense="max",
        monotone=False,
        residual=shape_shift,
        keeps="best",
        place=None,
        units=mean_likelihood,
        missing=True,
        scaling="standard",
        subspace=True,
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "m": [Interval(Real, 1, None, closed="neither")],
        "covariance_exponent": [Interval(Real, 0, None, closed="neither")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"fcm"}), callable, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        m: float = 2.0,
        covariance_exponent: float = 1.0,
        reg_covar: float = 1e-4,
        init: Init = "fcm",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.covariance_exponent = covariance_exponent
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _resolve(self, blocks: Blocks) -> None:
        resolve_fuzzifier(self.m, blocks.n, blocks.n_features, self.n_clusters)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Components]:
        m = auto_fuzzifier(blocks.n_counted, blocks.n_features)
        V = self._first_stage(blocks, rng, m)
        K, d = V.shape
        balls = np.tile(np.eye(d), (K, 1, 1))
        start = Components(np.full(K, 1 / K), V, balls, balls, np.zeros(K), V, np.ones(K, dtype=bool))
        statistics = blocks.reduce(self._first_statistics, V, m)
        second = with_unseen(statistics.second, statistics.weight, statistics.seen, blocks.mean_variance)
        yield self._update(start, statistics._replace(second=second), blocks)

    def _first_statistics(self, block: Block, V: Array, m: float) -> TemperedStatistics:
        """The statistics of the memberships of fuzzy c-means."""
        U = center_memberships(block, V, "fcm", m).astype(np.float64)
        spread = gauss_statistics(block, V, None, None, full=True, memberships=U**self.covariance_exponent)
        middle = gauss_statistics(block, V, None, None, full=False, memberships=U**self.m)
        share = U.sum(axis=0) if block.weight is None else block.weight @ U
        weight, first, second, objective, seen = spread
        return TemperedStatistics(weight, first, second, objective, middle.weight, middle.first, share, seen)

    def _statistics(self, block: Block, state: Components) -> TemperedStatistics:
        answer: TemperedStatistics = gauss_statistics(block, *self._densities(state), full=True, rule="tempered")
        return answer

    def _update(self, state: Components, statistics: TemperedStatistics, blocks: Blocks) -> Components:
        weights = statistics.share / statistics.share.sum()
        shift = statistics.mean_first / np.maximum(statistics.mean_weight, EMPTY)[:, None]
        means, covariances = state.means + shift, covariances_about(shift, statistics)
        lost = state.fresh & (weights < _EMPTY_SHARE)
        if lost.any():
            means[lost], covariances[lost] = state.seeds[lost], np.average(covariances, axis=0, weights=weights)
            weights[lost] = 1 / self.n_clusters
            weights /= weights.sum()
        balls = np.tile(np.eye(means.shape[1]), (len(means), 1, 1))
        if statistics.seen is not None:
            # What is missing has the ridge of the covariance that it was completed by.
            balls *= (statistics.seen / np.maximum(statistics.weight, EMPTY)[:, None])[:, :, None]
        covariances, factors, ridges = self._factorise(covariances, balls)
        return Components(weights, means, covariances, factors, ridges, state.seeds, state.fresh & ~lost)

    def _factorise(self, covariances: Array, balls: Array) -> tuple[Array, Array, Array]:
        """Covariances with ridges, their inverse factors, and the ridges: times ten until there is a factor.

        ``balls`` (K, d, d) are what a ridge multiplies.
        """
        ridges = np.full(len(covariances), float(self.reg_covar))
        sound = sound_factors(covariances + self.reg_covar * balls)
        if sound is not None:
            return covariances + self.reg_covar * balls, sound, ridges
        covariances, factors = covariances.copy(), np.empty_like(covariances)
        for k, covariance in enumerate(covariances.copy()):
            for _ in range(1 + _MORE_RIDGE):
                covariances[k] = covariance + ridges[k] * balls[k]
                sound = sound_factors(covariances[k : k + 1])
                if sound is not None:
                    factors[k] = sound[0]
                    break
                ridges[k] = max(10 * ridges[k], _LEAST_RIDGE)
            else:
                covariances[k], factors[k] = floored(covariances[k])
        return covariances, factors, ridges

    def _memberships(self, block: Block, state: Components) -> NDArray[Any]:
        return gauss_memberships(block, *self._densities(state), full=True, rule="tempered")[0]

    def _store(self, state: Components, statistics: TemperedStatistics, blocks: Blocks) -> None:
        frame = blocks.frame
        self.weights_ = state.weights
        self.centers_ = frame.to_input(state.means).astype(blocks.dtype)
        with np.errstate(over="ignore"):
            halves = 0.5 * all_log_determinants(state, blocks.n_features)
            self.fuzzy_hypervolume_ = float(np.exp(halves - log_units(frame).sum()).sum())

    @property
    def covariances_(self) -> Array:
        """Fuzzy covariances F_k (K, d, d), formed when asked for."""
        check_is_fitted(self, "_state")
        return to_input_units(self._state.covariances, self._frame)

    def _complaints(self, run: Run[Components], blocks: Blocks) -> list[str]:
        complaints = super()._complaints(run, blocks)
        raised = int(np.sum(run.state.ridges > self.reg_covar))
        if raised:
            complaints.append(
                f"GathGeva raised the ridge of {raised} of {self.n_clusters} clusters, whose covariances are singular, "
                f"to at most {run.state.ridges.max():.2g}; increase reg_covar (got {self.reg_covar:g})"
            )
        lone = int(np.sum(run.state.weights * blocks.n_counted < _LONE))
        collapsed = shape_collapse("GathGeva", run.state, self.memberships_, "try a smaller m")
        if lone and not collapsed and blocks.n >= 2 * self.n_clusters:
            complaints.append(
                f"GathGeva shrank {lone} of {self.n_clusters} clusters onto a single row; increase reg_covar (got "
                f"{self.reg_covar:g}) or use fewer clusters"
            )
        return complaints + collapsed

    def _densities(self, state: Components) -> tuple[Any, ...]:
        """Means, factors, log(P_k N(v_k | v_k, F_k)), m, q."""
        d = int(self.n_features_in_)
        heights = np.log(np.maximum(state.weights, 1e-300)) - 0.5 * all_log_determinants(state, d)
        return state.means, state.factors, heights - 0.5 * d * np.log(2 * np.pi), self.m, self.covariance_exponent
