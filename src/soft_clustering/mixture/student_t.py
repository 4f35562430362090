"""Mixture of multivariate t distributions by expectation maximisation.

Maximise the mean log likelihood of p(x) = sum_k pi_k t(x | mu_k, S_k, nu_k). A t distribution of nu degrees of freedom
is a Gaussian whose precision is multiplied by a random factor, which is small for outliers. With D_ik the squared
distance (x_i - mu_k)^T S_k^-1 (x_i - mu_k):

* E: r_ik = pi_k t(x_i | mu_k, S_k, nu_k) / p(x_i), and the expected factor u_ik = (nu_k + d) / (nu_k + D_ik);
* M: N_k = sum_i w_i r_ik, pi_k = N_k / sum_l N_l, mu_k = sum_i w_i r_ik u_ik x_i / sum_i w_i r_ik u_ik,
  S_k = sum_i w_i r_ik u_ik (x_i - mu_k)(x_i - mu_k)^T / N_k + reg_covar I, or its tied, diagonal, spherical form;
* nu_k solves log(nu/2) - digamma(nu/2) + 1 + sum_i w_i r_ik (E log factor_ik - u_ik) / N_k = 0, where
  E log factor = log u + digamma((nu_k + d) / 2) - log((nu_k + d) / 2) with the nu_k before.

All is one pass over the rows. A row with gaps counts by the t distribution of what it has, so d is the number of its
values; the covariance of the gaps given the rest adds to S_k with the weight r, not r u.

References
----------
D. Peel, G. J. McLachlan (2000). Robust mixture modelling using the t distribution. Statistics and Computing 10(4),
339-348.
C. Liu, D. B. Rubin (1995). ML estimation of the t distribution using EM and its extensions, ECM and ECME. Statistica
Sinica 5(1), 19-39.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, zeta
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, MatrixLike, Seed
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame
from ..engine.loop import Run
from ..kernels.gauss import (
    TailStatistics,
    gauss_memberships_and_masses,
    gauss_statistics,
    student_tails,
)
from .base import LIKELIHOOD, InformationCriteria
from .elliptic import EllipticClusterer, nearest_memberships
from .gaussian import Components

LEAST, MOST = 0.5, 200.0  # range of the degrees of freedom that are learned
_GIVEN = Interval(Real, 1e-6, 1e6, closed="both")  # beyond it, distances are lost in rounding
_START = 30.0  # almost Gaussian
_NEWTON_STEPS = 3  # from a start within 2 %


class TailedComponents(NamedTuple):
    """The state."""

    gaussian: Components  # weights, centres and scale matrices
    dof: Array  # nu (K,)
    learned: bool  # whether the degrees of freedom are free

    @property
    def weights(self) -> Array:
        """Mixing weights (K,)."""
        return self.gaussian.weights

    def to_vector(self) -> Array:
        """The vector of the components, and the logarithms of what is learned of the degrees of freedom."""
        return np.concatenate([self.gaussian.to_vector(), np.log(self.dof[: len(self.dof) * self.learned])])

    def from_vector(self, vector: Array) -> TailedComponents:
        """Components like these, from a vector."""
        if not self.learned:
            return self._replace(gaussian=self.gaussian.from_vector(vector))
        own, log_dof = np.split(vector, [-len(self.dof)])
        dof = np.exp(np.clip(log_dof, np.log(LEAST), np.log(MOST)))
        return self._replace(gaussian=self.gaussian.from_vector(own), dof=dof)


class StudentTMixture(
    InformationCriteria[TailedComponents, TailStatistics], EllipticClusterer[TailedComponents, TailStatistics]
):
    """Mixture of multivariate t distributions: a Gaussian mixture that outliers do not pull away.

    Each component has degrees of freedom nu. The smaller they are, the heavier its tails, and the less a sample far
    from the centre counts in it. Above about 50 a component is almost Gaussian.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of components K.
    dof : {'auto', 'tied'} or float, default='auto'
        Degrees of freedom: learned for each component, one learned for all, or given. Learned ones are from 0.5 to 200,
        a given number is from 1e-6 to 1e6.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        A scale matrix of its own for each component, one for all, axis-parallel ones, or balls.
    reg_covar : float, default=1e-6
        Added to the diagonal of the scale matrices, in squared units of the data.
    init : {'kmeans', 'trimmed', 'random'} or array of shape (n_samples, n_clusters), default='kmeans'
        Starting memberships: a k-means partition, the same without the 5 % of the samples that are farthest from their
        10th neighbour (``'trimmed'``), random memberships, or an array whose rows sum to 1. An array forces one start.
        With ``'kmeans'`` every second start is a trimmed one.
    n_init : int, default=2
        Starts; the one of largest likelihood is kept.
    max_iter : int, default=1000
        EM passes per start.
    tol : float, default=1e-7
        Converged when the mean log likelihood changes by at most this. The degrees of freedom move slowly, and with
        them the memberships of overlapping clusters: with 1e-5 these may still change by 0.2.
    accelerate : bool, default=False
        Anderson acceleration. It saves most of the passes if the components fit well, and takes more if ``reg_covar``
        is large beside their variances.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of ``sample``.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Posterior probabilities; rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Component of largest posterior.
    centers_ : ndarray of shape (n_clusters, n_features)
    weights_ : ndarray of shape (n_clusters,)
        Mixing weights, sum 1.
    dof_ : ndarray of shape (n_clusters,)
        Degrees of freedom nu.
    covariances_ : ndarray
        Scale matrices S: full (K, d, d), tied (d, d), diag (K, d), spherical (K,). The covariance of a component is
        nu / (nu - 2) S if nu > 2; below that there is none.
    precisions_cholesky_ : ndarray
        Upper Cholesky factors of the inverses of ``covariances_``, in the same shapes.
    outlier_weights_ : ndarray of shape (n_samples,)
        How much each sample counts in the centres and scale matrices, sum_k r u: about 1 for most samples, near 0 for
        outliers.
    n_clusters_ : int
    objective_ : float
        Mean log likelihood at the stored parameters.
    objective_history_ : ndarray
        Mean log likelihood at each parameter set visited, the last one included.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    soft_clustering.GMM : no tails; with ``noise``, outliers are a component of constant density.
    soft_clustering.SoftHDBSCAN : clusters of any shape among noise.

    Notes
    -----
    Missing values are allowed: a sample counts by the t distribution of the values that it has.

    Where the ridge is a large part of the scale matrices (constant features, or components of fewer samples than
    features + 1), learned degrees of freedom end at 0.5 and ``outlier_weights_`` are far above 1. Drop constant
    features, or compare the weights within the fit only.

    The likelihood may prefer a component of its own for gross outliers, so the start of largest likelihood is not
    always the partition that ignores them. If many samples are outliers, ``init='trimmed'`` is the better choice.
    The ridge ``reg_covar`` may make the likelihood fall a little from one pass to the next.

    A pass costs as much as one of :class:`GMM`, and a logarithm per sample and component.

    References
    ----------
    .. [1] D. Peel, G. J. McLachlan (2000). Robust mixture modelling using the t distribution. Statistics and Computing
       10(4), 339-348.
    .. [2] C. Liu, D. B. Rubin (1995). ML estimation of the t distribution using EM and its extensions, ECM and ECME.
       Statistica Sinica 5(1), 19-39.

    Examples
    --------
    Two clusters and a sample far from both, which counts little:

    >>> import numpy as np
    >>> from soft_clustering import StudentTMixture
    >>> rng = np.random.RandomState(0)
    >>> X = np.vstack([rng.normal(5, 1, (50, 2)), rng.normal(13, 1, (50, 2)), [[40.0, -30.0]]])
    >>> model = StudentTMixture(n_clusters=2, random_state=0).fit(X)
    >>> model.centers_[np.argsort(model.centers_[:, 0])].round()
    array([[ 5.,  5.],
           [13., 13.]])
    >>> int(model.outlier_weights_.argmin())
    100
    """

    dof_: Array
    outlier_weights_: NDArray[Any]
    _policy = replace(LIKELIHOOD, missing=True, rows=MappingProxyType({"outlier_weights_": "_outlier_weights"}))
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "dof": [StrOptions({"auto", "tied"}), _GIVEN],
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"kmeans", "trimmed", "random"}), "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        dof: Literal["auto", "tied"] | float = "auto",
        covariance_type: str = "full",
        reg_covar: float = 1e-6,
        init: str | ArrayLike = "kmeans",
        n_init: int = 2,
        max_iter: int = 1000,
        tol: float = 1e-7,
        accelerate: bool = False,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.dof = dof
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.verbose = verbose

    # The method -----------------------------------------------------------------------------------------------------

    def _blocks(self, X: MatrixLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        blocks = super()._blocks(X, sample_weight, frame)
        return self._in_span(blocks) if frame is None else blocks

    def _seeded_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        init = "trimmed" if start % 2 else str(self.init)
        return nearest_memberships(blocks, init, self.n_clusters, rng)

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> TailedComponents:
        learned = isinstance(self.dof, str)
        dof = np.full(self.n_clusters, _START if learned else float(self.dof))
        return TailedComponents(self._given_components(blocks, memberships), dof, learned)

    def _statistics(self, block: Block, state: TailedComponents) -> TailStatistics:
        statistics: TailStatistics = gauss_statistics(block, *self._densities(state.gaussian), **self._tails(state))
        return statistics

    def _update(self, state: TailedComponents, statistics: TailStatistics, blocks: Blocks) -> TailedComponents:
        before = state.gaussian.factors if self.covariance_type == "diag" else None
        gaussian = self._maximise(state.gaussian.means, statistics, blocks, blocks.frame.unit, before)
        return TailedComponents(gaussian, self._next_dof(state, statistics), state.learned)

    def _next_dof(self, state: TailedComponents, statistics: TailStatistics) -> Array:
        size, score = statistics.size, statistics.score
        if not state.learned:
            return state.dof
        if self.dof == "tied":
            size, score = np.broadcast_to(size.sum(), size.shape), np.broadcast_to(score.sum(), score.shape)
        full = size > 0  # an empty component keeps its own
        return np.where(full, dof_of(-1 - score / np.where(full, size, 1)), state.dof)

    def _posteriors(self, block: Block, state: TailedComponents) -> tuple[NDArray[Any], Array]:
        return self._posteriors_and_weights(block, state)[:2]

    def _outlier_weights(self, block: Block, state: TailedComponents) -> NDArray[Any]:
        return self._posteriors_and_weights(block, state)[2].astype(block.X.dtype)

    def _store(self, state: TailedComponents, statistics: TailStatistics, blocks: Blocks) -> None:
        self.weights_, self.dof_ = state.weights, state.dof
        self.centers_ = blocks.frame.to_input(state.gaussian.means).astype(blocks.dtype)

    def _complaints(self, run: Run[TailedComponents], blocks: Blocks) -> list[str]:
        complaints, least = super()._complaints(run, blocks), blocks.n_features + 1
        few = (run.state.weights * blocks.total_weight < least) & (run.state.dof <= LEAST)
        # Where components of equal size would be as small, there are too many features, not too many outliers.
        if run.state.learned and few.any() and blocks.total_weight >= least * self.n_clusters:
            complaints.append(
                f"StudentTMixture: {few.sum()} of {self.n_clusters} components hold fewer than {least} samples, which "
                "may be outliers: too few to learn their degrees of freedom; use fewer clusters or init='trimmed'"
            )
        return complaints

    # Its steps ------------------------------------------------------------------------------------------------------

    def _tails(self, state: TailedComponents) -> dict[str, Any]:
        d = state.gaussian.means.shape[1]
        return {"full": self._full, "tails": student_tails(state.dof, d + self._n_beyond, d)}

    def _posteriors_and_weights(self, block: Block, state: TailedComponents) -> tuple[NDArray[Any], Array, Array]:
        """Posteriors (n, K), and of each row its log likelihood and sum_k r u."""
        return gauss_memberships_and_masses(block, *self._densities(state.gaussian), **self._tails(state))

    # Derived attributes and draws -----------------------------------------------------------------------------------

    def _n_parameters(self) -> int:
        learned = {"auto": self.n_clusters, "tied": 1}.get(str(self.dof), 0)
        return int(self._n_gaussian_parameters(self.centers_.shape[1]) + self.n_clusters - 1 + learned)

    def _standard_rows(self, labels: NDArray[np.intp], rng: np.random.RandomState) -> Array:
        factors = rng.chisquare(self.dof_[labels]) / self.dof_[labels]
        rows: Array = super()._standard_rows(labels, rng) / np.sqrt(factors)[:, None]
        return rows


def dof_of(excess: Array) -> Array:
    """The degrees of freedom nu with log(nu/2) - digamma(nu/2) = excess, from 0.5 to 200.

    Examples
    --------
    >>> from scipy.special import digamma
    >>> nu = np.array([1.0, 4.5, 150.0])
    >>> dof_of(np.log(nu / 2) - digamma(nu / 2)).round(9)
    array([  1. ,   4.5, 150. ])
    """
    excess = np.maximum(excess, 1e-4)  # beyond the upper end, where the difference is rounding
    half = (1 + np.sqrt(1 + 4 / 3 * excess)) / (4 * excess)
    # Steps in log half, of the logarithm of the difference; zeta(2, x) is the trigamma function.
    for _ in range(_NEWTON_STEPS):
        left = np.log(half) - digamma(half)
        half = half * np.exp(left * np.log(left / excess) / (half * zeta(2, half) - 1))
    return np.clip(2 * half, LEAST, MOST)
