"""Gaussian mixture by expectation maximisation.

Maximise the mean log likelihood of p(x) = sum_k pi_k N(x | mu_k, Sigma_k):

* E: r_ik = pi_k N(x_i | mu_k, Sigma_k) / p(x_i);
* M: N_k = sum_i w_i r_ik, pi_k = N_k / sum_l N_l, mu_k = sum_i w_i r_ik x_i / N_k,
  Sigma_k = sum_i w_i r_ik (x_i - mu_k)(x_i - mu_k)^T / N_k + reg_covar I, or its tied, diagonal, spherical form.

Both steps are one pass over the rows: a row's posterior is used for the moments at once and never stored. The moments
are taken about the current means, so no precision is lost if clusters are small compared with their distances.

References
----------
A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm. Journal
of the Royal Statistical Society B 39(1), 1-38.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, Subspace
from ..engine.covariance import to_input_units
from ..engine.initialisation import input_rows
from ..engine.streaming import StreamingClusterer
from ..engine.threads import threads_that_pay
from ..inputs.features import validate_matrix
from ..kernels.gauss import GaussStatistics, gauss_memberships, gauss_statistics
from .gaussian import Components, GaussianClusterer

_DECAY = 0.6  # of the step sizes of online EM: between 1/2 and 1 they converge, and small ones forget the start soon


class GMM(StreamingClusterer[Components, GaussStatistics], GaussianClusterer[Components, GaussStatistics]):
    """Gaussian mixture: elliptic clusters with their own weights and covariances.

    It has the updates and the stopping rule of scikit-learn's ``GaussianMixture``, whose memberships it reproduces to
    1e-10 from the same start. It is faster, takes sample weights, and follows the library's protocol.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of components K.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        A covariance matrix of its own for each component, one for all, axis-parallel ones, or balls.
    reg_covar : float, default=1e-6
        Added to the diagonal of the covariances, in squared units of the data.
    weights_init : array-like of shape (n_clusters,), default=None
    means_init : array-like of shape (n_clusters, n_features), default=None
    precisions_init : array-like, default=None
        Starting precisions (inverse covariances), in the shape of ``covariances_``. What is not given comes from
        ``init``.
    init : {'kmeans', 'k-means++', 'random', 'random_from_data'} or array (n_samples, n_clusters), default='kmeans'
        Starting memberships: a k-means partition, one sample per component (drawn by k-means++ or at random), random
        memberships, or an array whose rows sum to 1. An array forces one start.
    n_init : int, default=1
        Starts; the one of largest likelihood is kept.
    max_iter : int, default=100
        EM passes per start.
    tol : float, default=1e-3
        Converged when the mean log likelihood changes by at most this. The default is scikit-learn's and is enough for
        the likelihood; memberships of single samples may still change in further passes, by less than 1e-3 with 1e-8.
    accelerate : bool, default=False
        Anderson acceleration: fewer passes to a given likelihood on slow problems, but other iterates than plain EM.
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
        Means.
    weights_ : ndarray of shape (n_clusters,)
        Mixing weights, sum 1.
    covariances_ : ndarray
        full (K, d, d), tied (d, d), diag (K, d), spherical (K,).
    precisions_cholesky_ : ndarray
        Upper Cholesky factors of the precisions, in the same shapes.
    n_clusters_ : int
    objective_ : float
        Mean log likelihood at the stored parameters.
    objective_history_ : ndarray
        Mean log likelihood at each parameter set visited, the last one included.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    soft_clustering.FCM : faster, round clusters, no likelihood.
    soft_clustering.BGMM : some features are proportions.
    soft_clustering.MBMM : all features are proportions.

    Notes
    -----
    A pass costs O(n K d^2) time for full and tied covariances, O(n K d) otherwise; memory beyond X, ``memberships_``
    and the starting memberships is O(K d^2) per chunk of rows. If there are fewer rows than features, full and tied
    covariances are held in the span of the rows, with n in the place of d. Outside it they are ``reg_covar``, so the
    result is the same.

    ``partial_fit`` is online EM [2]_: the moments s that the components are computed from become (1 - r) s + r s' for
    the moments s' of a batch, both per unit of weight, with the step size r = (weight of the batch / weight of all rows
    seen)^0.6. For batches of equal weight that is t^-0.6 in the t-th: earlier rows, whose memberships were worse, are
    slowly forgotten. Full and tied covariances need a first batch of at least as many rows as features.

    References
    ----------
    .. [1] A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM
       algorithm. Journal of the Royal Statistical Society B 39(1), 1-38.
    .. [2] O. Cappe, E. Moulines (2009). On-line expectation-maximization algorithm for latent data models. Journal of
       the Royal Statistical Society B 71(3), 593-613.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import GMM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = GMM(n_clusters=3, random_state=0).fit(X)
    >>> model.memberships_.shape
    (150, 3)
    >>> round(model.bic(X), 2)
    580.86
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "weights_init": [None, "array-like"],
        "means_init": [None, "array-like"],
        "precisions_init": [None, "array-like"],
        "init": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"}), "array-like"],
        "accelerate": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        covariance_type: str = "full",
        reg_covar: float = 1e-6,
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        accelerate: bool = False,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
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
        given = frame is not None or self.precisions_init is not None
        return blocks if given or not self._full or self.reg_covar == 0 else blocks.in_subspace()

    def _resolve(self, blocks: Blocks) -> None:
        self._n_beyond = blocks.n_features - blocks.d

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Components]:
        for start in range(self._n_starts()):
            yield self._start(blocks, rng, start)

    def _start(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Components:
        K, d, frame = self.n_clusters, blocks.n_features, blocks.frame
        weights = means = factors = None
        if self.weights_init is not None:
            weights = validate_matrix("weights_init", self.weights_init, (K,))
            if weights.min() < 0 or abs(weights.sum() - 1) > 1e-6:
                raise ValueError(f"weights_init must be non-negative and sum to 1. Got {weights} instead.")
        if self.means_init is not None:
            means = frame.from_input(validate_matrix("means_init", self.means_init, (K, d)))
        if self.precisions_init is not None:
            shape = {"full": (K, d, d), "tied": (d, d), "diag": (K, d), "spherical": (K,)}[self.covariance_type]
            precisions = validate_matrix("precisions_init", self.precisions_init, shape)
            factors = self._factors_of_precisions(precisions) / frame.scale
        if weights is not None and means is not None and factors is not None:
            return Components(weights, means, None, factors, self._full)
        local = blocks.local(rng)
        drawn = self._from_memberships(local, self._starting_memberships(local, rng, start))
        return Components(
            drawn.weights if weights is None else weights,
            drawn.means if means is None else means,
            None,
            drawn.factors if factors is None else factors,
            self._full,
        )

    def _statistics(self, block: Block, state: Components) -> GaussStatistics:
        statistics: GaussStatistics = gauss_statistics(block, *self._densities(state), full=self._full)
        return statistics

    def _update(self, state: Components, statistics: GaussStatistics, blocks: Blocks) -> Components:
        return self._maximise(state.means, statistics, blocks, blocks.frame.unit)

    def _moved(self, state: Components, statistics: GaussStatistics, weight: Array, blocks: Blocks) -> Components:
        new = statistics.weight.sum()
        rate = (new / weight.sum()) ** _DECAY
        pairs = zip(self._moments(state, blocks.frame.unit), statistics, strict=True)
        mixed = GaussStatistics(*[(1 - rate) * new * past + rate * batch for past, batch in pairs])
        return self._maximise(state.means, mixed, blocks, blocks.frame.unit)

    def _check_stream(self, blocks: Blocks) -> None:
        if isinstance(blocks.frame, Subspace):
            raise ValueError(
                f"partial_fit with covariance_type={self.covariance_type!r} needs at least as many rows in the first "
                f"batch (or in fit) as there are features, {blocks.n_features}: use a larger one, or 'diag'."
            )

    def _posteriors(self, block: Block, state: Components) -> tuple[NDArray[Any], Array]:
        return gauss_memberships(block, *self._densities(state), full=self._full)

    def _store(self, state: Components, statistics: GaussStatistics, blocks: Blocks) -> None:
        self.weights_ = state.weights
        self.centers_ = blocks.frame.to_input(state.means).astype(blocks.dtype)

    # Its steps ------------------------------------------------------------------------------------------------------

    def _factors_of_precisions(self, precisions: Array) -> Array:
        """Lower triangular L with L^T L = precision; square roots for diagonal ones."""
        if not self._full:
            if precisions.min() <= 0:
                raise ValueError("precisions_init must be positive.")
            return np.sqrt(precisions)
        if not np.allclose(precisions, np.swapaxes(precisions, -1, -2)):
            raise ValueError("precisions_init must be symmetric.")
        try:
            # The Cholesky factor of the matrix with rows and columns reversed is the factor of the other order.
            return np.swapaxes(np.linalg.cholesky(precisions[..., ::-1, ::-1])[..., ::-1, ::-1], -1, -2)
        except np.linalg.LinAlgError:
            raise ValueError("precisions_init must be positive definite.") from None

    def _moments(self, state: Components, unit: float) -> GaussStatistics:
        """The moments about the means, of total weight 1, from which the M-step makes the state."""
        N, shape, covariances = state.weights, state.means.shape, state.covariances
        assert covariances is not None
        ridge = self.reg_covar * unit * unit
        if self._full:
            second = N[:, None, None] * (covariances - ridge * np.eye(shape[1]))
        else:
            second = N[:, None] * np.broadcast_to(covariances.reshape(len(N), -1) - ridge, shape)
        return GaussStatistics(N, np.zeros(shape), second, 0.0)

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> Components:
        """The M-step of given memberships (n, K): means first, then moments about them."""

        def moments(means: Array, full: bool) -> GaussStatistics:
            parts = zip(blocks.blocks, blocks.split(memberships), strict=True)
            each = (gauss_statistics(block, means, None, None, full=full, memberships=part) for block, part in parts)
            merged: GaussStatistics = reduce(GaussStatistics.merge, each)
            return merged

        about_zero = moments(np.zeros((self.n_clusters, blocks.d)), False)
        means = about_zero.first / self._sizes(about_zero, blocks)[:, None]
        return self._maximise(means, moments(means, self._full), blocks, blocks.frame.unit)

    def _seeded_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        n, K = blocks.n, self.n_clusters
        memberships = np.zeros((n, K))
        X, weight = input_rows(blocks), blocks.blocks[0].weight
        if weight is not None and np.ptp(weight) == 0:
            weight = None  # the same draws as without weights
        reach = 1e140 if X.dtype == np.float64 else 1e15
        if not (1 / reach < blocks.frame.unit < reach and -reach < X.min() <= X.max() < reach):
            X = blocks.frame.from_input(X)  # the squares of X itself are out of range
        if self.init == "kmeans":
            with threads_that_pay(n * X.shape[1] * K):
                labels = KMeans(K, n_init=1, random_state=rng).fit(X, sample_weight=weight).labels_
            memberships[np.arange(n), labels] = 1
        elif self.init == "k-means++":
            memberships[kmeans_plusplus(X, K, random_state=rng, sample_weight=weight)[1], np.arange(K)] = 1
        else:
            share = None if weight is None else weight / weight.sum()
            memberships[rng.choice(n, size=K, replace=False, p=share), np.arange(K)] = 1
        return memberships

    # Derived attributes and draws -----------------------------------------------------------------------------------

    @property
    @as_fitted
    def covariances_(self) -> Array:
        """Covariances: full (K, d, d), tied (d, d), diag (K, d), spherical (K,). Formed when asked for."""
        check_is_fitted(self, "_state")
        covariances, frame = self._state.covariances, self._frame
        assert covariances is not None
        if self.covariance_type == "tied":
            tied: Array = to_input_units(covariances[None], frame)[0]
            return tied
        if self.covariance_type == "full":
            return to_input_units(covariances, frame)
        with np.errstate(over="ignore"):  # the squares of data beyond 1e154 overflow
            scaled: Array = covariances / frame.scale / frame.scale
            return scaled

    @property
    @as_fitted
    def precisions_cholesky_(self) -> Array:
        """Upper Cholesky factors of the precisions, in the shapes of ``covariances_``. Formed when asked for."""
        check_is_fitted(self, "_state")
        if isinstance(self._frame, Subspace):
            return np.swapaxes(self._factors_of_covariances(self.covariances_), -1, -2)
        factors = self._state.factors * self._frame.scale
        return np.swapaxes(factors, -1, -2) if self._full else factors

    @property
    @as_fitted
    def precisions_(self) -> Array:
        """Inverses of ``covariances_``."""
        P = self.precisions_cholesky_
        return P @ np.swapaxes(P, -1, -2) if self._full else P * P

    def _n_parameters(self) -> int:
        return self._n_gaussian_parameters(self.centers_.shape[1]) + self.n_clusters - 1

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.intp]]:
        """Draw from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        labels : ndarray of shape (n_samples,)
            The component that each row was drawn from.
        """
        rng, labels = self._draw_components(n_samples)
        noise = rng.standard_normal((n_samples, self.centers_.shape[1]))
        _, factors, _ = self._densities(self._state)
        means, frame = self._state.means, self._frame
        if not isinstance(frame, Subspace):
            return frame.to_input(means[labels] + self._scaled(noise, factors, labels)), labels
        # The noise has the covariance of its component within the span, and is a ball outside it.
        within = noise @ frame.basis.T
        ball = (noise - within @ frame.basis) / factors[labels, -1, -1][:, None]
        Z = means[labels, :-1] + self._scaled(within, factors[:, :-1, :-1], labels)
        return frame.inner.to_input(Z @ frame.basis + ball), labels

    def _scaled(self, noise: Array, factors: Array, labels: NDArray[np.intp]) -> Array:
        """Standard normal rows scaled to the covariances of their components."""
        if not self._full:
            return noise / factors[labels]
        for k in range(self.n_clusters_):
            noise[labels == k] = np.linalg.solve(factors[k], noise[labels == k].T).T
        return noise
