"""Gaussian mixture by expectation maximisation.

Maximise the mean log likelihood of p(x) = sum_k pi_k N(x | mu_k, Sigma_k):

* E: r_ik = pi_k N(x_i | mu_k, Sigma_k) / p(x_i);
* M: N_k = sum_i w_i r_ik, pi_k = N_k / sum_l N_l, mu_k = sum_i w_i r_ik x_i / N_k,
  Sigma_k = sum_i w_i r_ik (x_i - mu_k)(x_i - mu_k)^T / N_k + reg_covar I, or its tied, diagonal, spherical form.

Both steps are one pass over the rows: a row's posterior is used for the moments at once and never stored. The moments
are taken about the current means, so no precision is lost where clusters are small against their distances.

References
----------
A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm. Journal
of the Royal Statistical Society B 39(1), 1-38.
"""

from __future__ import annotations

from functools import reduce
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..engine.alternating import PARAMETERS, AlternatingClusterer, Run, likelihood_change
from ..engine.blocks import Array, Block, Blocks, Frame
from ..inputs.features import validate_matrix
from ..kernels import GaussStatistics, gauss_memberships, gauss_statistics, inverse_cholesky

_TINY = 10 * np.finfo(np.float64).eps


class Components(NamedTuple):
    """The parameters, in the coordinates of the frame and in the shapes of the covariance type."""

    weights: Array  # (K,)
    means: Array  # (K, d)
    covariances: Array | None  # full (K, d, d), tied (d, d), diag (K, d), spherical (K,); None at an accelerated point
    factors: Array  # inverse Cholesky factors (lower), in the same shapes


class GMM(AlternatingClusterer):
    """Gaussian mixture: elliptic clusters with their own weights and covariances.

    The same updates and the same stopping as scikit-learn's ``GaussianMixture``, whose memberships it reproduces to
    1e-10 from the same start; faster, with sample weights and with all of the library's protocol.

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
        Converged when the mean log likelihood changes by at most this.
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

    Notes
    -----
    A pass costs O(n K d^2) time for full and tied covariances, O(n K d) otherwise; memory beyond X, ``memberships_``
    and the starting memberships is O(K d^2) per chunk of rows.

    References
    ----------
    .. [1] A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM
       algorithm. Journal of the Royal Statistical Society B 39(1), 1-38.

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

    _objective_sense = "max"
    _residual = staticmethod(likelihood_change)
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
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        init: Any = "kmeans",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        accelerate: bool = False,
        random_state: Any = None,
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

    def _init_state(self, blocks: Blocks, rng: np.random.RandomState) -> Components:
        K, d, frame = self.n_clusters, blocks.d, blocks.frame
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
            return Components(weights, means, None, factors)
        local = blocks.local(rng)
        start = self._from_memberships(local, self._starting_memberships(local, rng))
        return Components(
            start.weights if weights is None else weights,
            start.means if means is None else means,
            None,
            start.factors if factors is None else factors,
        )

    def _statistics(self, block: Block, state: Components) -> GaussStatistics:
        return gauss_statistics(block, *self._densities(state), full=self._full)

    def _update(self, state: Components, statistics: GaussStatistics, blocks: Blocks) -> Components:
        return self._maximise(state.means, statistics, blocks)

    def _memberships(self, block: Block, state: Components) -> NDArray[Any]:
        return gauss_memberships(block, *self._densities(state), full=self._full)[0]

    def _objective(self, statistics: GaussStatistics, blocks: Blocks) -> float:
        return statistics.objective / blocks.total_weight

    def _objective_in_input_units(self, objective: float, frame: Frame) -> float:
        return objective + len(frame.shift) * float(np.log(frame.scale))

    def _store(self, state: Components, statistics: GaussStatistics, blocks: Blocks) -> None:
        frame = blocks.frame
        assert state.covariances is not None
        self.weights_ = state.weights
        self.centers_ = frame.to_input(state.means).astype(blocks.dtype)
        with np.errstate(over="ignore"):  # of data beyond 1e154 the squares have no float
            self.covariances_ = state.covariances / frame.scale / frame.scale
        upper = np.swapaxes(state.factors, -1, -2) if self._full else state.factors
        self.precisions_cholesky_ = upper * frame.scale

    def _complaints(self, run: Run, blocks: Blocks) -> list[str]:
        complaints, K = super()._complaints(run, blocks), self.n_clusters
        empty = int(np.sum(run.state.weights * blocks.n < 1e-8))
        if empty:
            complaints.append(f"GMM left {empty} of {K} components empty; use fewer clusters or another init")
        elif K > 1 and float(self.memberships_.max()) - 1 / K < 1e-3:
            complaints.append(f"GMM collapsed: all memberships are 1/{K}; use fewer clusters or another init")
        return complaints

    def _to_vector(self, state: Components) -> Array:
        scales = np.log(self._diagonals(state.factors))
        rest = np.tril(state.factors, -1) if self._full else np.zeros(0)
        return np.concatenate([np.log(state.weights), state.means.ravel(), scales.ravel(), rest.ravel()])

    def _from_vector(self, vector: Array, like: Components) -> Components:
        scales = self._diagonals(like.factors)
        parts = np.split(vector, np.cumsum([like.weights.size, like.means.size, scales.size]))
        weights = np.exp(parts[0] - parts[0].max())
        # A proposal may lie anywhere: keep it where the exponential is finite.
        diagonals = np.exp(np.clip(parts[2], -300, 300)).reshape(scales.shape)
        factors = diagonals
        if self._full:
            factors = parts[3].reshape(like.factors.shape).copy()
            factors[..., np.arange(scales.shape[-1]), np.arange(scales.shape[-1])] = diagonals
        return Components(weights / weights.sum(), parts[1].reshape(like.means.shape), None, factors)

    # Its steps ------------------------------------------------------------------------------------------------------

    @property
    def _full(self) -> bool:
        """Whether the factors are matrices."""
        return self.covariance_type in ("full", "tied")

    def _diagonals(self, factors: Array) -> Array:
        return np.diagonal(factors, axis1=-2, axis2=-1) if self._full else factors

    def _densities(self, state: Components) -> tuple[Array, Array, Array]:
        """Means, factors (K, d, d) or (K, d), and log(pi_k) + log |factor_k| - d/2 log(2 pi)."""
        K, d = state.means.shape
        factors = state.factors
        if self.covariance_type == "tied":
            factors = np.broadcast_to(factors, (K, d, d))
        elif self.covariance_type == "spherical":
            factors = np.broadcast_to(factors[:, None], (K, d))
        with np.errstate(divide="ignore"):  # a weight of 0 given in weights_init
            constants = (
                np.log(state.weights) + np.log(self._diagonals(factors)).sum(axis=1) - 0.5 * d * np.log(2 * np.pi)
            )
        return np.ascontiguousarray(state.means), np.ascontiguousarray(factors), np.maximum(constants, -1e300)

    def _sizes(self, statistics: GaussStatistics, blocks: Blocks) -> Array:
        """N_k, never quite 0: an empty component keeps finite parameters, as in scikit-learn."""
        return statistics.weight + _TINY * blocks.total_weight / blocks.n

    def _maximise(self, origin: Array, statistics: GaussStatistics, blocks: Blocks) -> Components:
        """The M-step, from moments about ``origin``."""
        N = self._sizes(statistics, blocks)
        shift = statistics.first / N[:, None]
        ridge = self.reg_covar * blocks.frame.scale * blocks.frame.scale
        if self._full:
            scatter = statistics.second - N[:, None, None] * shift[:, :, None] * shift[:, None, :]
            tied = self.covariance_type == "tied"
            covariances = scatter.sum(axis=0) / N.sum() if tied else scatter / N[:, None, None]
            covariances[..., np.arange(origin.shape[1]), np.arange(origin.shape[1])] += ridge
        else:
            covariances = np.maximum(statistics.second / N[:, None] - shift * shift, 0) + ridge
            if self.covariance_type == "spherical":
                covariances = covariances.mean(axis=1)
        return Components(N / N.sum(), origin + shift, covariances, self._factors_of_covariances(covariances))

    def _factors_of_covariances(self, covariances: Array) -> Array:
        if self.covariance_type == "full":
            factors, failed = inverse_cholesky(covariances)
        elif self.covariance_type == "tied":
            factors, failed = inverse_cholesky(covariances[None])
            factors = factors[0]
        else:
            bad = np.argwhere(~(covariances > 1e-300))
            failed = int(bad[0, 0]) if len(bad) else None
            factors = 1 / np.sqrt(np.maximum(covariances, 1e-300))
        if failed is not None:
            raise ValueError(
                f"The covariance of component {failed} is not positive definite: it holds too few distinct points. "
                f"Increase reg_covar (got {self.reg_covar:g}), decrease n_clusters (got {self.n_clusters}), or scale X."
            )
        return factors

    def _factors_of_precisions(self, precisions: Array) -> Array:
        """Lower triangular L with L^T L = precision; square roots for diagonal ones."""
        if not self._full:
            if precisions.min() <= 0:
                raise ValueError("precisions_init must be positive.")
            return np.sqrt(precisions)
        if not np.allclose(precisions, np.swapaxes(precisions, -1, -2)):
            raise ValueError("precisions_init must be symmetric.")
        try:
            # Cholesky of the matrix turned by 180 degrees gives the factor of the other order.
            return np.swapaxes(np.linalg.cholesky(precisions[..., ::-1, ::-1])[..., ::-1, ::-1], -1, -2)
        except np.linalg.LinAlgError:
            raise ValueError("precisions_init must be positive definite.") from None

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> Components:
        """The M-step of given memberships (n, K): means first, then moments about them."""

        def moments(means: Array, full: bool) -> GaussStatistics:
            parts = zip(blocks.blocks, blocks.split(memberships), strict=True)
            each = (gauss_statistics(block, means, None, None, full=full, memberships=part) for block, part in parts)
            return reduce(GaussStatistics.merge, each)

        about_zero = moments(np.zeros((self.n_clusters, blocks.d)), False)
        means = about_zero.first / self._sizes(about_zero, blocks)[:, None]
        return self._maximise(means, moments(means, self._full), blocks)

    def _starting_memberships(self, blocks: Blocks, rng: np.random.RandomState) -> Array:
        n, K = blocks.n, self.n_clusters
        if not isinstance(self.init, str):
            rows = n if blocks.kept is None else len(np.asarray(self.init))
            memberships = validate_matrix("init", self.init, (rows, K))
            memberships = memberships if blocks.kept is None else memberships[blocks.kept]
            if memberships.min() < 0 or np.abs(memberships.sum(axis=1) - 1).max() > 1e-6:
                raise ValueError("init must be non-negative with rows that sum to 1.")
            return memberships
        if self.init == "random":
            memberships = rng.uniform(size=(n, K))
            return memberships / memberships.sum(axis=1, keepdims=True)
        memberships = np.zeros((n, K))
        X, weight = blocks.blocks[0].X, blocks.blocks[0].weight
        if weight is not None and np.ptp(weight) == 0:
            weight = None  # the same draws as without weights
        reach = 1e140 if X.dtype == np.float64 else 1e15
        if not (1 / reach < blocks.frame.scale < reach and -reach < X.min() <= X.max() < reach):
            X = blocks.frame.from_input(X)  # the squares of X itself are out of range
        if self.init == "kmeans":
            labels = KMeans(K, n_init=1, random_state=rng).fit(X, sample_weight=weight).labels_
            memberships[np.arange(n), labels] = 1
        elif self.init == "k-means++":
            memberships[kmeans_plusplus(X, K, random_state=rng, sample_weight=weight)[1], np.arange(K)] = 1
        else:
            share = None if weight is None else weight / weight.sum()
            memberships[rng.choice(n, size=K, replace=False, p=share), np.arange(K)] = 1
        return memberships

    # What a mixture can do besides ----------------------------------------------------------------------------------

    @property
    def precisions_(self) -> Array:
        """Inverses of ``covariances_``."""
        check_is_fitted(self)
        P = self.precisions_cholesky_
        return P @ np.swapaxes(P, -1, -2) if self._full else P * P

    def score_samples(self, X: Any) -> Array:
        """Log likelihood of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
        """
        blocks = self._new_blocks(X)
        rows = blocks.map_rows(
            lambda block: gauss_memberships(block, *self._densities(self._state), full=self._full)[1]
        )
        return rows + self._objective_in_input_units(0.0, blocks.frame)

    def _n_parameters(self) -> int:
        K, d = self.centers_.shape
        covariance = {"full": K * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": K * d, "spherical": K}
        return K * d + K - 1 + covariance[self.covariance_type]

    def bic(self, X: Any, *, sample_weight: Any = None) -> float:
        """Bayesian information criterion, smaller is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        bic : float
        """
        n = self._new_blocks(X, sample_weight).total_weight
        return -2 * n * self.score(X, sample_weight=sample_weight) + self._n_parameters() * float(np.log(n))

    def aic(self, X: Any, *, sample_weight: Any = None) -> float:
        """Akaike information criterion, smaller is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        aic : float
        """
        n = self._new_blocks(X, sample_weight).total_weight
        return -2 * n * self.score(X, sample_weight=sample_weight) + 2 * self._n_parameters()

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
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"n_samples must be >= 1. Got {n_samples} instead.")
        rng = check_random_state(self.random_state)
        labels = np.repeat(np.arange(self.n_clusters_), rng.multinomial(n_samples, self.weights_))
        Z = rng.standard_normal((n_samples, self.centers_.shape[1]))
        _, factors, _ = self._densities(self._state)
        if self._full:
            for k in range(self.n_clusters_):
                Z[labels == k] = np.linalg.solve(factors[k], Z[labels == k].T).T
        else:
            Z /= factors[labels]
        return self._frame.to_input(self._state.means[labels] + Z), labels
