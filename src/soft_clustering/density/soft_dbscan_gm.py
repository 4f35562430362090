"""Soft DBSCAN-GM: density clusters, then fuzzy degrees in the metric of each of them.

DBSCAN gives the first memberships: u_ik = 1 where x_i is in density cluster k. From then on, with weights w_i,

* v_k = sum_i w_i u_ik^m x_i / sum_i w_i u_ik^m;
* S_k = (1 - g_k) sum_i w_i u_ik^m (x_i - v_k)(x_i - v_k)^T / sum_i w_i u_ik^m + (g_k + reg_covar) s I, s the mean
  variance of the features and g_k the shrinkage;
* u_ik = D_ik^(-1/(m-1)) / sum_l D_il^(-1/(m-1)) with D_ik = (x_i - v_k)^T S_k^-1 (x_i - v_k).

J = sum_ik w_i u_ik^m D_ik is the objective, but nothing fixes the volume of S_k: no pass is sure to lower it.

Noise has no first memberships. Its degrees come with the last formula, or each noise sample is a prototype of its own,
with the pooled covariance of the density clusters.

References
----------
A. Smiti, Z. Elouedi (2016). Fuzzy density based clustering method: Soft DBSCAN-GM. IEEE International Conference on
Intelligent Systems.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike
from ..engine.alternating import PARAMETERS, AlternatingClusterer
from ..engine.blocks import Block, Blocks, Frame
from ..engine.covariance import (
    Ellipsoids,
    covariances_about,
    factorised,
    prior_share,
    shape_collapse,
    to_input_units,
)
from ..engine.fitting import Fit, say
from ..engine.loop import Policy, Run, no_units, state_shift
from ..engine.neighbors import Search
from ..fuzzy.fuzzifier import resolve_fuzzifier
from ..inputs.features import refuse_dask
from ..kernels import EMPTY, reference
from ..kernels.gauss import GaussStatistics, gauss_memberships, gauss_statistics
from .dbscan import density_clusters
from .eps import core_distances, gaussian_means, quantile, separation

_PERCENTILES = np.arange(1, 96) / 100  # of the core distances; beyond them isolated samples decide on the radius
_NEARLY = 0.95  # of the best separation: smaller differences say little, and a larger radius has less noise
_RULED = 2000  # rows on which 'auto' chooses
_IN_GAUSSIAN = 0.9  # quantile of the core distances within a cluster of G-means
_TIE = 1e-9  # a distance beyond eps by less (relatively) is within: ties do not depend on the rounding
_LEAST, _MOST = 1e-150, 1e150  # radii between which no square overflows or underflows


class Prototypes(NamedTuple):
    """The state: an ellipsoid per density cluster (one if there is none), then those of the noise samples."""

    means: Array  # (K, d)
    covariances: Array  # (K, d, d) with their ridge
    factors: Array  # (K, d, d) their inverse Cholesky factors (lower)
    n_density: int  # density clusters

    def drift(self, old: Prototypes, unit: float) -> float:
        """Movement of the centres, in units of the root mean variance of the features."""
        return float(np.linalg.norm(self.means - old.means) / unit)


class SoftDBSCANGM(AlternatingClusterer[Prototypes, GaussStatistics]):
    """Soft DBSCAN-GM: finds the clusters by density, then gives every sample degrees, noise included.

    Parameters
    ----------
    eps : float, 'auto' or 'gmeans', default='auto'
        Radius of a neighbourhood, in the units of X. ``'auto'`` (our rule): of the percentiles 1 to 95 of the core
        distances (of every sample to its ``min_samples``-th neighbour, itself counted) the largest one that separates
        the core samples at least 0.95 times as well as the best. Two of them count 1 - eps / r, r the radius at which
        DBSCAN joins them, and nothing if they are in the same cluster; the mean over all pairs of core samples is
        multiplied by c^1.4, c the share of core samples. ``'gmeans'``: the mean, over the clusters of G-means [3]_, of
        the 0.9 quantile of the core distances (our reading of the publication).
    min_samples : int, default=5
        Samples (their weight) in the neighbourhood of a core sample, itself included.
    m : float, default=2.0
        Fuzzifier, > 1.
    noise : {'absorb', 'singleton'}, default='absorb'
        What becomes of noise. ``'absorb'``: it gets degrees in the density clusters, which alone are columns (our
        choice). ``'singleton'``: every distinct noise sample is one more column, as we recall the publication.
    reg_covar : float, default=1e-6
        Ridge on the covariances, relative to the mean variance of the features.
    shrinkage : float or 'auto', default='auto'
        In [0, 1]: moves each covariance towards a ball of the mean variance of the features. ``'auto'``: the ball
        counts as (d + 1) / 2 samples, as many as determine a covariance, beside the samples of the cluster.
    max_iter : int, default=1
        Passes. 1 takes prototypes from the density clusters and memberships from these (our choice). 100 iterates, as
        we recall the publication.
    tol : float, default=1e-4
        Converged when the centres move by at most ``tol`` times the root mean variance of the features.
    n_jobs : int or None, default=None
        Jobs of the search for neighbours, as in scikit-learn.
    verbose : int, default=0
        1 prints a line on the density clusters and one on the passes, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters_)
        Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest membership; may differ from ``dbscan_labels_``.
    dbscan_labels_ : ndarray of shape (n_samples,)
        Density clusters, the largest first, -1 for noise (and for rows of weight 0, which take no part).
    core_sample_indices_ : ndarray
        Core samples of DBSCAN.
    eps_ : float
        The radius used.
    centers_ : ndarray of shape (n_clusters_, n_features)
    covariances_ : ndarray of shape (n_clusters_, n_features, n_features)
        S_k, with shrinkage and ridge.
    n_clusters_ : int
        Density clusters, and with ``noise='singleton'`` the noise samples. Also readable as ``n_clusters`` after
        ``fit``; it cannot be prescribed.
    objective_ : float
        J at the stored prototypes.
    objective_history_ : ndarray
        J at the prototypes of each pass.
    n_iter_ : int
        Passes.
    converged_ : bool
        False after a single pass, which does not warn.

    See Also
    --------
    soft_clustering.SoftHDBSCAN : clusters of all radii, with memberships that follow their shapes.
    soft_clustering.SCM : also finds the number of clusters; every sample is a candidate centre.
    soft_clustering.GK : ellipsoids of a given number and volume.

    Notes
    -----
    Look at ``dbscan_labels_`` before you trust the degrees. On the ten data sets of our quality tables one pass has a
    mean adjusted Rand index of 0.66, below the 0.69 of DBSCAN at the same radius with noise as a cluster of its own: a
    prototype cannot follow a curved cluster. The full loop has 0.54: nothing keeps a cluster from growing, and with
    many passes they may all become one.

    The rule of ``'auto'`` weighs two errors: a radius that is too large joins everything, one that is too small leaves
    no core samples; clusters that a slightly larger radius would join count little. The hierarchy of all radii (single
    linkage of the mutual reachability distances) is computed once, on at most 2000 rows, which give the percentile for
    all of them. Without shrinkage a small cluster has a flat covariance and no other sample belongs to it, so that all
    noise falls to the largest cluster. Both rules together raise the mean on nine standardised tables from 0.16 to 0.34
    (k-means with the true number: 0.34).

    One radius for all clusters has limits. On 24 planted mixtures that overlap, the best of 48 radii, chosen with the
    true classes, has 0.68 in 5 and 10 features and 0.43 in 20 and 40, where k-means with the true number of clusters
    has 0.79 and 0.68; the rule has 0.45 and 0.33. In many features distances are alike, and a radius that leaves enough
    core samples joins clusters that overlap. On six tables of weak classes (k-means 0.12) the best radius has 0.13 and
    the rule 0.04. Gaussian
    information criteria choose better radii for the mixtures, but split curved clusters. Prefer a method that is told
    the number of clusters for such data. ``benchmarks/quality/best_radius.py`` has the experiments.

    The full text of the publication was not at hand. Abstracts of the same authors say that DBSCAN-GM combines DBSCAN
    with Gaussian means, and that Soft DBSCAN takes its degrees from fuzzy c-means; that noise enters as singletons,
    that distances are Mahalanobis ones, and that the loop iterates are from memory. Rows are taken along a fixed
    projection, so that the result does not depend on their order, samples in reach of two clusters included.

    The search for neighbours is by a tree in few features, or else it looks at all pairs: O(n log n) or O(n^2 d) time,
    and memory of the order of all pairs within the radius; ``'auto'`` runs it twice.
    A pass costs O(n K d^2) time and O(K d^2) memory beyond X and ``memberships_``, K with the singletons; if there are
    fewer rows than features, it works in their span.
    ``score`` is minus the objective. Weights count as samples against ``min_samples``, so their unit matters.

    References
    ----------
    .. [1] A. Smiti, Z. Elouedi (2016). Fuzzy density based clustering method: Soft DBSCAN-GM. IEEE International
       Conference on Intelligent Systems.
    .. [2] A. Smiti, Z. Elouedi (2013). Soft DBSCAN: improving DBSCAN clustering method using fuzzy set theory. HSI.
    .. [3] G. Hamerly, C. Elkan (2003). Learning the k in k-means. NIPS 16.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from soft_clustering import SoftDBSCANGM
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.6, random_state=2)
    >>> model = SoftDBSCANGM().fit(X)
    >>> model.n_clusters_
    3
    >>> noise = model.dbscan_labels_ == -1
    >>> model.memberships_[noise].max(axis=1).round(2)
    array([0.65, 0.75, 0.93, 0.83, 0.81, 0.91, 0.76, 0.81])
    """

    dbscan_labels_: NDArray[np.intp]
    core_sample_indices_: NDArray[np.intp]
    eps_: float
    random_state: Any = None  # nothing is drawn
    _policy = Policy(monotone=False, residual=state_shift, place=None, units=no_units, subspace=True, needs_rows=False)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "eps": [StrOptions({"auto", "gmeans"}), Interval(Real, 0, None, closed="neither")],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "m": [Interval(Real, 1, None, closed="neither")],
        "noise": [StrOptions({"absorb", "singleton"})],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "n_jobs": [None, Integral],
    } | {name: PARAMETERS[name] for name in ("max_iter", "tol", "verbose")}

    def __init__(
        self,
        eps: float | str = "auto",
        *,
        min_samples: int = 5,
        m: float = 2.0,
        noise: str = "absorb",
        reg_covar: float = 1e-6,
        shrinkage: float | str = "auto",
        max_iter: int = 1,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.m = m
        self.noise = noise
        self.reg_covar = reg_covar
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def n_clusters(self) -> int:
        """The number of clusters found, ``n_clusters_``; an AttributeError before ``fit``."""
        check_is_fitted(self, "n_clusters_")
        return self.n_clusters_

    def _blocks(self, X: MatrixLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        if frame is None:
            refuse_dask(self, X)
        return super()._blocks(X, sample_weight, frame)

    def _run(self, fit: Fit[Prototypes], blocks: Blocks, rng: np.random.RandomState) -> None:
        run = Run(self._start(blocks), n_iter=1)
        fit.runs.append(run)
        self._loop(fit, blocks, len(run.state.means))(run, done=1)
        fit.report_start(1, run)

    # The density clusters -------------------------------------------------------------------------------------------

    def _start(self, blocks: Blocks) -> Prototypes:
        """Prototypes of the first pass; sets the fitted attributes of DBSCAN."""
        block = blocks.blocks[0]
        order = block.order
        Z, weight = block.take(order), np.ones(block.n) if block.weight is None else block.weight[order]
        found, core, radius = self._dbscan(Z, weight, blocks.frame.unit)
        K = int(found.max()) + 1
        parts = [_moments(Z[found == k], weight[found == k]) for k in range(K)]
        # Largest first, which neither the order of the rows nor the direction of the axes changes.
        rank = sorted(range(K), key=lambda k: (-parts[k][0], -np.trace(parts[k][2])))
        parts = [parts[k] for k in rank] or [_moments(Z, weight)]
        labels = np.append(np.argsort(rank), -1).astype(np.intp)[found]
        singletons = np.unique(Z[labels == -1], axis=0) if K and self.noise == "singleton" else np.empty((0, blocks.d))
        weights, means, covariances = (np.stack(values) for values in zip(*parts, strict=True))
        resolve_fuzzifier(self.m, block.n, blocks.n_features, len(means) + len(singletons))
        rows = order if blocks.kept is None else blocks.kept[order]
        self.dbscan_labels_ = np.full(blocks.n_input, -1)
        self.dbscan_labels_[rows] = labels
        self.core_sample_indices_ = np.sort(rows[core])
        self.eps_ = radius / blocks.frame.unit if isinstance(self.eps, str) else float(self.eps)
        say(self, f"eps {self.eps_:.4g}: {K} density clusters, {np.sum(labels == -1)} noise samples")
        return Prototypes(*self._ellipsoids(weights, np.vstack([means, singletons]), covariances, blocks), K)

    def _dbscan(self, Z: Array, weight: Array, unit: float) -> tuple[NDArray[np.intp], NDArray[np.intp], float]:
        """Labels and core samples of DBSCAN, and its radius in the coordinates of Z."""
        search = Search(Z, self.n_jobs)
        if not isinstance(self.eps, str):
            radius = float(self.eps) * unit
        else:
            reach = core_distances(Z, weight, self.min_samples, search)
            if self.eps == "gmeans":
                parts = gaussian_means(Z, weight)
                inside = [parts == k for k in range(parts.max() + 1)]
                radius = float(np.mean([quantile(reach[k], weight[k], _IN_GAUSSIAN) for k in inside]))
            else:
                radius = float(quantile(reach, weight, self._best_percentile(Z, weight, reach)))
        radius = min(max(radius, _LEAST), _MOST)
        return *density_clusters(search.pairs(radius * (1 + _TIE)), weight, self.min_samples), radius

    def _best_percentile(self, Z: Array, weight: Array, reach: Array) -> float:
        """The largest percentile of the core distances that separates nearly as well as the best one."""
        if len(Z) > _RULED:
            # A sample is sparser, but its percentiles are at the same places.
            middles = (np.arange(_RULED) + 0.5) / _RULED
            Z = Z[reference.draw(weight, np.arange(len(Z)), middles)]
            weight = np.full(_RULED, min(weight.sum() / len(weight), 1.0))
            reach = core_distances(Z, weight, self.min_samples, Search(Z, self.n_jobs))
        found = separation(Z, weight, reach, quantile(reach, weight, _PERCENTILES) * (1 + _TIE))
        if not found.any():
            return float(_PERCENTILES[-1])
        return float(_PERCENTILES[np.flatnonzero(found >= _NEARLY * found.max() * (1 - _TIE))[-1]])

    # The fuzzy stage ------------------------------------------------------------------------------------------------

    def _ellipsoids(self, weights: Array, means: Array, covariances: Array, blocks: Blocks) -> Ellipsoids:
        """Prototypes, with shrinkage and ridge; all beyond those that have a covariance get the pooled one."""
        auto = isinstance(self.shrinkage, str)
        share = prior_share(weights, blocks.n_features) if auto else np.full(len(weights), self.shrinkage)
        share = share[:, None, None]
        covariances = (1 - share) * covariances + share * blocks.mean_variance * np.eye(blocks.d)
        pooled = np.average(covariances, axis=0, weights=np.maximum(weights, EMPTY))
        rest = np.broadcast_to(pooled, (len(means) - len(covariances), blocks.d, blocks.d))
        ridge = self.reg_covar * blocks.mean_variance * np.eye(blocks.d)
        return Ellipsoids(means, *factorised(np.concatenate([covariances, rest]) + ridge))

    def _statistics(self, block: Block, state: Prototypes) -> GaussStatistics:
        statistics: GaussStatistics = gauss_statistics(block, *self._metric(state), full=True, rule="metric")
        return statistics

    def _update(self, state: Prototypes, statistics: GaussStatistics, blocks: Blocks) -> Prototypes:
        shift = statistics.first / np.maximum(statistics.weight, EMPTY)[:, None]
        own = slice(max(state.n_density, 1))  # the others are singletons
        covariances = covariances_about(shift, statistics)[own]
        ellipsoids = self._ellipsoids(statistics.weight[own], state.means + shift, covariances, blocks)
        return Prototypes(*ellipsoids, state.n_density)

    def _memberships(self, block: Block, state: Prototypes) -> NDArray[Any]:
        return gauss_memberships(block, *self._metric(state), full=True, rule="metric")[0]

    def _metric(self, state: Prototypes) -> tuple[Any, ...]:
        """Squared Mahalanobis distances as they are: volumes 1."""
        K = len(state.means)
        return state.means, state.factors, np.zeros(K), self.m, *np.ones(K)

    def _store(self, state: Prototypes, statistics: GaussStatistics, blocks: Blocks) -> None:
        self.centers_ = blocks.frame.to_input(state.means).astype(blocks.dtype)

    @property
    def covariances_(self) -> Array:
        """Covariances S_k (K, d, d), formed when asked for."""
        check_is_fitted(self, "_state")
        return to_input_units(self._state.covariances, self._frame)

    def _complaints(self, run: Run[Prototypes], blocks: Blocks) -> list[str]:
        if run.state.n_density == 0:
            return [
                f"SoftDBSCANGM found no cluster and put all samples into one: no sample has min_samples="
                f"{self.min_samples} neighbours within eps={self.eps_:.3g}; increase eps or decrease min_samples"
            ]
        own = slice(run.state.n_density)
        density = Ellipsoids(*(part[own] for part in run.state[:3]))
        remedy = "use fewer passes (max_iter=1) or a smaller m"
        collapsed = shape_collapse("SoftDBSCANGM", density, self.memberships_[:, own], remedy)
        return super()._complaints(run, blocks) + collapsed


def _moments(Z: Array, weight: Array) -> tuple[float, Array, Array]:
    """Weight, mean and covariance of some rows."""
    total = float(weight.sum())
    mean = weight @ Z / total
    C = Z - mean
    return total, mean, (C.T * weight) @ C / total
