"""Gaussian mixture by variational inference.

The weights have a Dirichlet prior or a stick-breaking process; each component has a Gaussian-Wishart prior of mean m_0,
precision beta_0, nu_0 degrees of freedom and matrix S_0. The posterior is approximated by a product of memberships r_ik
and distributions of the same forms, which increase a lower bound of the log evidence in turns:

* memberships: log r_ik = E log pi_k + 1/2 E log |Lambda_k| - d/2 log(2 pi) - 1/2 (d / beta_k + nu_k |x_i - m_k|^2) up
  to a constant, with the distance in the metric W_k;
* parameters, from N_k, xbar_k and S_k as in a Gaussian mixture (reg_covar included): beta_k = beta_0 + N_k,
  m_k = (beta_0 m_0 + N_k xbar_k) / beta_k, nu_k = nu_0 + N_k, and
  W_k^-1 = S_0 + N_k S_k + N_k beta_0 / beta_k (xbar_k - m_0)(xbar_k - m_0)^T; for the weights the Dirichlet parameters
  alpha + N_k, or for each stick the beta parameters 1 + N_k and alpha + sum_{l>k} N_l.

With the covariances W_k^-1 / nu_k a membership is that of a Gaussian mixture with other constants, so both steps are
one pass over the rows.

References
----------
C. M. Bishop (2006). Pattern Recognition and Machine Learning, chapter 10. Springer.
D. M. Blei, M. I. Jordan (2006). Variational inference for Dirichlet process mixtures. Bayesian Analysis 1(1), 121-143.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, MatrixLike, Seed
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, Moments, Sums
from ..engine.collapse import duplicates
from ..engine.covariance import COND_MAX, floored, log_units, sound_factors
from ..engine.loop import Policy, Run, Scale, no_units
from ..inputs.features import is_dask, validate_matrix
from ..kernels.gauss import GaussStatistics, gauss_memberships, gauss_statistics
from .elliptic import EllipticClusterer
from .gaussian import TINY
from .gaussian_posterior import Posterior, Prior, posterior


@dataclass(frozen=True)
class Evidence:
    """What rows contribute to the next posterior."""

    state: Posterior  # at which the memberships are
    moments: GaussStatistics  # about its means
    entropy: float  # of the memberships

    def merge(self, other: Evidence) -> Evidence:
        """That of both blocks together."""
        return Evidence(self.state, self.moments.merge(other.moments), self.entropy + other.entropy)

    @cached_property
    def posterior(self) -> Posterior:
        """The parameters that are best for the memberships."""
        return posterior(self.state.prior, self.state.gaussian.means, self.moments)

    @property
    def objective(self) -> float:
        """The lower bound of the log evidence at the memberships and the parameters that are best for them."""
        return self.posterior.bound + self.entropy


def bound_change(old: object, new: object, history: list[float], scale: Scale) -> float:
    """Absolute change of the bound of all rows together."""
    return abs(history[-1] - history[-2]) if len(history) > 1 else np.inf


class BayesianGMM(EllipticClusterer[Posterior, Evidence]):
    """Bayesian Gaussian mixture: components that the data do not need stay empty.

    It has the updates and the stopping rule of scikit-learn's ``BayesianGaussianMixture``, whose memberships it
    reproduces to 1e-8 from the same start. It is faster, takes sample weights and Dask arrays, and follows the
    library's protocol.

    Parameters
    ----------
    n_clusters : int, default=10
        Largest number of components K; some may stay empty.
    weight_prior : {'process', 'distribution'}, default='process'
        Prior of the weights: a Dirichlet process cut off at K components, or a symmetric Dirichlet distribution
        (``'dirichlet_process'`` and ``'dirichlet_distribution'`` in scikit-learn).
    weight_concentration : float, default=None
        Concentration alpha of the prior of the weights: the smaller it is, the more components stay empty. None: 1 / K.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        A covariance matrix of its own for each component, one for all, axis-parallel ones, or balls.
    mean_prior : array-like of shape (n_features,), default=None
        m_0, to which the centres are drawn. None: the mean of X.
    mean_precision : float, default=1.0
        beta_0: ``mean_prior`` counts as so many samples.
    dof_prior : float, default=None
        nu_0 > n_features - 1: ``covariance_prior`` counts as about so many samples. None: n_features.
    covariance_prior : array-like, default=None
        S_0, nu_0 times the covariance that is expected of a component: full and tied (d, d), diag (d,), spherical a
        number. None: the covariance of X, or its diagonal, or the mean of that.
    reg_covar : float, default=1e-6
        Added to the diagonal of the covariances of the samples, in squared units of the data; not to the prior.
    init : {'kmeans', 'trimmed', 'k-means++', 'random', 'random_from_data'} or array (n_samples, n_clusters), \
            default='kmeans'
        Starting memberships: a k-means partition, the same without the 5 % of the samples that are farthest from their
        10th neighbour (``'trimmed'``), one sample per component (drawn by k-means++ or at random), random memberships,
        or an array whose rows sum to 1. An array forces one start.
    n_init : int, default=1
        Starts; the one of largest bound is kept.
    max_iter : int, default=100
        Passes per start.
    tol : float, default=1e-3
        Converged when the lower bound changes by at most this. The bound is that of all samples together, as in
        scikit-learn: the more samples, the more passes.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of ``sample``.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Approximate posterior probabilities; rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Component of largest membership.
    centers_ : ndarray of shape (n_clusters, n_features)
        Expected means m_k.
    weights_ : ndarray of shape (n_clusters,)
        Expected mixing weights, sum 1.
    n_effective_clusters_ : int
        Number of components that are the label of a sample.
    covariances_ : ndarray
        W_k^-1 / nu_k: full (K, d, d), tied (d, d), diag (K, d), spherical (K,).
    precisions_ : ndarray
        Their inverses, the expected precisions.
    precisions_cholesky_ : ndarray
        Upper Cholesky factors of the precisions, in the same shapes.
    mean_precision_ : ndarray of shape (n_clusters,)
        beta_k.
    dof_ : ndarray of shape (n_clusters,) or float
        nu_k; one number for a tied covariance.
    weight_concentration_ : ndarray of shape (2, n_clusters) or (n_clusters,)
        Parameters of the beta distributions of the sticks (``weight_prior='process'``), or of the Dirichlet
        distribution.
    n_clusters_ : int
        K, the number of columns of ``memberships_``.
    objective_ : float
        Lower bound of the log evidence at ``memberships_``, without constants that depend on the prior alone.
    objective_history_ : ndarray
        The bound at the memberships of each pass, and ``objective_``. scikit-learn's ``lower_bound_`` is that of the
        last pass, the last but one here.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    soft_clustering.GMM : largest likelihood, BIC, missing values, noise.

    Notes
    -----
    A pass costs O(n K d^2) time for full and tied covariances, O(n K d) otherwise; memory beyond X, ``memberships_``
    and the starting memberships is O(K d^2) per chunk of rows.

    It is no method to find the number of clusters of real tables. A component is given up only if another one explains
    its samples as well: with 20 components all 20 stay on the ten digits. On the other hand, the default prior expects
    clusters as wide as all of X, so that clusters of about 20 samples and less are joined with their neighbours: pass
    a ``covariance_prior`` of their own size. ``choose_n_clusters`` compares numbers of clusters.

    The order of the components matters with ``weight_prior='process'``: the prior prefers large ones in front. They
    stay in the order of the start, as in scikit-learn. For tied, diagonal, and spherical covariances some terms are
    scikit-learn's, not a textbook's: a tied one has 1 / K of the samples and of their scatter, diagonal and spherical
    ones have the expectations of a full Wishart matrix. The bound can then fall, and so it can because of
    ``reg_covar``.

    Sample weights count repetitions, against which the prior is weighed; weights that sum to less than the number of
    samples are scaled to that sum. If the covariance of X is singular, because of constant or dependent features,
    ``reg_covar`` is added to its diagonal for the prior: components without samples would be infinitely thin
    otherwise.

    References
    ----------
    .. [1] C. M. Bishop (2006). Pattern Recognition and Machine Learning, chapter 10. Springer.
    .. [2] D. M. Blei, M. I. Jordan (2006). Variational inference for Dirichlet process mixtures. Bayesian Analysis
       1(1), 121-143.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import BayesianGMM
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(200, 2)), rng.normal([6.0, 3.0], size=(100, 2))])
    >>> model = BayesianGMM(n_clusters=6, max_iter=500, random_state=0).fit(X)
    >>> model.memberships_.shape
    (300, 6)
    >>> model.n_effective_clusters_
    2
    >>> np.sort(model.weights_)[-2:].round(1)
    array([0.3, 0.7])
    """

    n_effective_clusters_: int
    mean_precision_: Array
    dof_: Array | float
    weight_concentration_: Array
    _prior: Prior
    _policy = Policy(sense="max", monotone=False, residual=bound_change, by_objective=True, place=None, units=no_units)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "weight_prior": [StrOptions({"process", "distribution"})],
        "weight_concentration": [None, Interval(Real, 0, None, closed="neither")],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "mean_prior": [None, "array-like"],
        "mean_precision": [Interval(Real, 0, None, closed="neither")],
        "dof_prior": [None, Interval(Real, 0, None, closed="neither")],
        "covariance_prior": [None, "array-like", Interval(Real, 0, None, closed="neither")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"kmeans", "trimmed", "k-means++", "random", "random_from_data"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 10,
        *,
        weight_prior: str = "process",
        weight_concentration: float | None = None,
        covariance_type: str = "full",
        mean_prior: ArrayLike | None = None,
        mean_precision: float = 1.0,
        dof_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        reg_covar: float = 1e-6,
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.weight_prior = weight_prior
        self.weight_concentration = weight_concentration
        self.covariance_type = covariance_type
        self.mean_prior = mean_prior
        self.mean_precision = mean_precision
        self.dof_prior = dof_prior
        self.covariance_prior = covariance_prior
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The prior ------------------------------------------------------------------------------------------------------

    def _resolve(self, blocks: Blocks) -> None:
        d, weight, unit = blocks.d, blocks.total_weight, blocks.frame.unit
        dof = float(d if self.dof_prior is None else self.dof_prior)
        if dof <= d - 1:
            raise ValueError(f"dof_prior must be greater than n_features - 1 = {d - 1}. Got {dof:g} instead.")
        moments = blocks.moments(blocks.frame)
        center = moments.mean
        if self.mean_prior is not None:
            center = blocks.frame.from_input(validate_matrix("mean_prior", self.mean_prior, (d,)))
        self._prior = Prior(
            process=self.weight_prior == "process",
            concentration=1 / self.n_clusters if self.weight_concentration is None else self.weight_concentration,
            mean=center,
            mean_precision=self.mean_precision,
            dof=dof,
            covariance=self._covariance(blocks, moments) if self.covariance_prior is None else self._given(d) * unit**2,
            covariance_type=self.covariance_type,
            ridge=self.reg_covar * unit**2,
            weight=weight,
            least=TINY * weight / blocks.n,
            log_unit=float(log_units(blocks.frame).sum()),
        )

    def _given(self, d: int) -> Array:
        """The covariance of the prior that the user gave."""
        shape = {"full": (d, d), "tied": (d, d), "diag": (d,), "spherical": (1,)}[self.covariance_type]
        given = validate_matrix("covariance_prior", np.atleast_1d(np.asarray(self.covariance_prior)), shape)
        matrix = given if self._full else np.diag(given)
        if not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] <= 0:
            raise ValueError("covariance_prior must be symmetric and positive definite.")
        return given.reshape(()) if self.covariance_type == "spherical" else given

    def _blocks(self, X: MatrixLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        blocks = super()._blocks(X, sample_weight, frame)
        times = blocks.n_counted / blocks.total_weight
        if times == 1:
            return blocks
        weight = sample_weight if is_dask(sample_weight) else np.asarray(sample_weight, dtype=np.float64)
        return super()._blocks(X, weight * times, frame)  # shares are no counts

    def _covariance(self, blocks: Blocks, moments: Moments) -> Array:
        """The covariance of the rows in the shape of the prior; with a ridge if it is singular."""
        weight, mean, ridge = moments.weight, moments.mean, self.reg_covar * blocks.frame.unit**2
        if weight <= 1:
            raise ValueError("BayesianGMM needs at least 2 samples (n_samples=1), or covariance_prior.")
        if self._full:
            covariance: Array = (blocks.second_moment - weight * np.outer(mean, mean)) / (weight - 1)
            if sound_factors(covariance[None]) is not None:
                return covariance
            return floored(covariance + ridge * np.eye(blocks.d))[0]
        variances: Array = moments.variance * (weight / (weight - 1))
        if self.covariance_type == "spherical":
            variances = np.asarray(variances.mean())
        return variances if variances.min() > variances.max() / COND_MAX else variances + ridge

    # The method -------------------------------------------------------------------------------------------------------

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> Posterior:
        means, moments = self._given_moments(blocks, memberships)
        share = self._prior.weight / blocks.total_weight  # the rows may be a sample
        sums = GaussStatistics(moments.weight * share, moments.first * share, moments.second * share, 0.0)
        return posterior(self._prior, means, sums)

    def _expected_densities(self, state: Posterior) -> tuple[Array, Array, Array]:
        """Means, factors, and the constants of the log memberships."""
        means, factors = state.gaussian.means, state.gaussian.distinct_factors
        return np.ascontiguousarray(means), np.ascontiguousarray(factors), state.log_constants

    def _statistics(self, block: Block, state: Posterior) -> Evidence:
        means, factors, constants = self._expected_densities(state)
        moments: GaussStatistics = gauss_statistics(block, means, factors, constants, full=self._full)
        precisions = np.swapaxes(factors, 1, 2) @ factors if self._full else factors**2
        # Of each row the log normaliser, minus the sum of r log rho.
        entropy = moments.objective - constants @ moments.weight + 0.5 * (precisions * moments.second).sum()
        return Evidence(state, moments, float(entropy))

    def _update(self, state: Posterior, statistics: Evidence, blocks: Blocks) -> Posterior:
        return statistics.posterior

    def _posteriors(self, block: Block, state: Posterior) -> tuple[NDArray[Any], Array]:
        return gauss_memberships(block, *self._expected_densities(state), full=self._full)

    def _store(self, state: Posterior, statistics: Evidence, blocks: Blocks) -> None:
        self.weights_ = state.weights
        self.centers_ = blocks.frame.to_input(state.gaussian.means).astype(blocks.dtype)
        self.mean_precision_, self.weight_concentration_ = state.mean_precision, state.concentration
        self.dof_ = float(state.dof[0]) if self.covariance_type == "tied" else state.dof
        if blocks.lazy:
            n_winners = int(np.sum(blocks.reduce(self._wins, state).values > 0))
        else:
            n_winners = len(np.unique(self.labels_ if blocks.kept is None else self.labels_[blocks.kept]))
        self.n_effective_clusters_ = n_winners

    def _wins(self, block: Block, state: Posterior) -> Sums:
        """How many rows each component is the label of."""
        labels = self._memberships(block, state).argmax(axis=1)
        return Sums(np.bincount(labels, minlength=self.n_clusters).astype(np.float64))

    def _n_empty(self, state: Posterior, blocks: Blocks) -> int:
        return 0  # to leave components empty is what the prior is for

    def _complaints(self, run: Run[Posterior], blocks: Blocks) -> list[str]:
        remedy = duplicates(blocks, self.n_clusters)
        return super()._complaints(run, blocks) or ([f"BayesianGMM: {remedy}"] if remedy else [])
