"""Gaussian mixture by expectation maximisation.

Maximise the mean log likelihood of p(x) = sum_k pi_k N(x | mu_k, Sigma_k):

With noise there is one more term, pi_0 / V, a constant density in a box of volume V.

* E: r_ik = pi_k N(x_i | mu_k, Sigma_k) / p(x_i);
* M: N_k = sum_i w_i r_ik, pi_k = N_k / sum_l N_l, mu_k = sum_i w_i r_ik x_i / N_k,
  Sigma_k = sum_i w_i r_ik (x_i - mu_k)(x_i - mu_k)^T / N_k + reg_covar I, or its tied, diagonal, spherical form.

Both steps are one pass over the rows: a row's posterior is used for the moments at once and never stored. The moments
are taken about the current means, so no precision is lost if clusters are small compared with their distances. With
noise pi_k = N_k / sum_i w_i, and pi_0 is the rest.

References
----------
A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM algorithm. Journal
of the Royal Statistical Society B 39(1), 1-38.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._types import Array, MatrixLike, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Extent, Frame, Subspace
from ..engine.covariance import log_units
from ..engine.initialisation import TRIMMED
from ..engine.loop import Policy, Run
from ..engine.streaming import StreamingClusterer
from ..inputs.features import validate_matrix
from ..kernels.gauss import GaussStatistics, gauss_memberships, gauss_memberships_and_masses, gauss_statistics
from .base import LIKELIHOOD, InformationCriteria
from .elliptic import EllipticClusterer
from .gaussian import Components, beside_background

_DECAY = 0.6  # of the step sizes of online EM: between 1/2 and 1 they converge, and small ones forget the start soon
_TOO_NOISY = 0.5  # a larger share of noise says that the clusters are not Gaussian
_WITHOUT_NOISE = replace(LIKELIHOOD, missing=True)
_WITH_NOISE = replace(_WITHOUT_NOISE, rows=MappingProxyType({"outlier_mass_": "_outlier_masses"}))


def _has_noise(estimator: GMM) -> bool:
    return estimator._as_fitted().noise is not None


class GMM(
    InformationCriteria[Components, GaussStatistics],
    StreamingClusterer[Components, GaussStatistics],
    EllipticClusterer[Components, GaussStatistics],
):
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
    noise : {None, 'auto'} or float, default=None
        A background of constant density 1 / V beside the components, for outliers [3]_, [4]_. ``'auto'``: V is the
        volume of the axis-parallel box of the data, in which constant features do not count. A float is V itself, in
        units of the data; the box is then that of the data, grown or shrunk about its middle. It makes no cluster of
        its own: ``memberships_`` are conditional on not being noise, and ``outlier_mass_`` is the probability of noise.
    init : {'kmeans', 'trimmed', 'k-means++', 'random', 'random_from_data'} or array (n_samples, n_clusters), \
            default='kmeans'
        Starting memberships: a k-means partition, the same without the 5 % of the samples that are farthest from their
        10th neighbour (``'trimmed'``), one sample per component (drawn by k-means++ or at random), random memberships,
        or an array whose rows sum to 1. An array forces one start. With ``noise``, ``'kmeans'`` means ``'trimmed'``,
        and the noise starts with a weight of 0.05.
    n_init : int, default=1
        Starts; the one of largest likelihood is kept.
    max_iter : int, default=100
        EM passes per start.
    tol : float, default=1e-3
        Converged when the mean log likelihood changes by at most this. The default is scikit-learn's and is enough for
        the likelihood; memberships of single samples may still change in further passes, by less than 1e-3 with 1e-8.
        The weight of the noise moves slowly: take 1e-5 if it matters.
    accelerate : bool, default=False
        Anderson acceleration: fewer passes to a given likelihood on slow problems, but other iterates than plain EM.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of ``sample``.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Posterior probabilities, with ``noise`` those of a sample that is not noise; rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Component of largest posterior.
    centers_ : ndarray of shape (n_clusters, n_features)
        Means.
    weights_ : ndarray of shape (n_clusters,)
        Mixing weights, sum 1; with ``noise``, 1 - ``noise_weight_``.
    noise_weight_ : float
        Mixing weight of the noise, if there is ``noise``.
    noise_volume_ : float
        V; 0 or infinity if it is out of the range of floats, which does not matter to the fit.
    outlier_mass_ : ndarray of shape (n_samples,)
        Posterior probability that a sample is noise, if there is ``noise``. Outliers have more than 0.5.
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
    slowly forgotten. Full and tied covariances need a first batch of at least as many rows as features. With ``noise``,
    the box is that of the first batch, and the weight of rows is the weight that is not noise.

    The density of the noise is the same outside the box, so a new sample that is far from all components is noise. If
    clusters are not Gaussian, noise may take most of their samples; a warning says so if it has more than half. A full
    or tied fit with ``noise`` does not use the span of few rows, as the box is parallel to the features.

    References
    ----------
    .. [1] A. P. Dempster, N. M. Laird, D. B. Rubin (1977). Maximum likelihood from incomplete data via the EM
       algorithm. Journal of the Royal Statistical Society B 39(1), 1-38.
    .. [2] O. Cappe, E. Moulines (2009). On-line expectation-maximization algorithm for latent data models. Journal of
       the Royal Statistical Society B 71(3), 593-613.
    .. [3] J. D. Banfield, A. E. Raftery (1993). Model-based Gaussian and non-Gaussian clustering. Biometrics 49(3),
       803-821.
    .. [4] C. Fraley, A. E. Raftery (2002). Model-based clustering, discriminant analysis, and density estimation.
       Journal of the American Statistical Association 97(458), 611-631.

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

    Noise takes the sample that belongs to no cluster:

    >>> import numpy as np
    >>> model = GMM(n_clusters=3, noise="auto", random_state=0).fit(np.vstack([X, [9.0, 0.0, 7.0, 0.0]]))
    >>> np.flatnonzero(model.outlier_mass_ > 0.5)
    array([150])
    """

    noise_weight_: float
    noise_volume_: float
    outlier_mass_: NDArray[Any]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "covariance_type": [StrOptions({"full", "tied", "diag", "spherical"})],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "weights_init": [None, "array-like"],
        "means_init": [None, "array-like"],
        "precisions_init": [None, "array-like"],
        "noise": [None, StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="neither")],
        "init": [StrOptions({"kmeans", "trimmed", "k-means++", "random", "random_from_data"}), "array-like"],
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
        noise: Literal["auto"] | float | None = None,
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
        self.noise = noise
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
        # The box of the noise is parallel to the features, not to the coordinates of the span.
        given = frame is not None or self.precisions_init is not None or self.noise is not None
        return blocks if given else self._in_span(blocks)

    @property
    def _policy(self) -> Policy:  # type: ignore[override]
        return _WITHOUT_NOISE if self.noise is None else _WITH_NOISE

    def _resolve(self, blocks: Blocks) -> None:
        super()._resolve(blocks)
        if self.noise is not None:
            self._box, self._log_volume = noise_box(blocks.extent(), self.noise)
            units, edges = log_units(blocks.frame), self._box.high - self._box.low
            self._log_uniform = float(-self._log_volume - units.sum())
            self._log_edges = np.log(np.where(edges > 0, edges, 1)) + units

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Components]:
        for start in range(self._n_starts()):
            state = self._start(blocks, rng, start)
            yield state if self.noise is None else beside_background(state, TRIMMED)

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
        statistics: GaussStatistics = gauss_statistics(block, *self._densities(state), **self._rule(state))
        return statistics

    def _update(self, state: Components, statistics: GaussStatistics, blocks: Blocks) -> Components:
        before = state.factors if self.covariance_type == "diag" else None
        new = self._maximise(state.means, statistics, blocks, blocks.frame.unit, before)
        if self.noise is None:
            return new
        return beside_background(new, 1 - statistics.weight.sum() / blocks.total_weight)

    def _moved(self, state: Components, statistics: GaussStatistics, weight: Array, blocks: Blocks) -> Components:
        new = statistics.weight.sum()
        rate = (new / weight.sum()) ** _DECAY
        if self.noise is not None:
            new = blocks.total_weight  # the moments of the state are those of a total weight of 1, noise included
        past = self._moments(state, blocks.frame.unit)
        if statistics.seen is not None:  # the moments of the state are those of complete rows
            past = past._replace(seen=np.broadcast_to(past.weight[:, None], state.means.shape))
        pairs: Any = zip(past, statistics, strict=True)
        sums: list[Any] = [None if b is None else (1 - rate) * new * a + rate * b for a, b in pairs]
        mixed = GaussStatistics(*sums)
        return self._update(state, mixed, blocks)

    def _check_stream(self, blocks: Blocks) -> None:
        if isinstance(blocks.frame, Subspace):
            raise ValueError(
                f"partial_fit with covariance_type={self.covariance_type!r} needs at least as many rows in the first "
                f"batch (or in fit) as there are features, {blocks.n_features}: use a larger one, or 'diag'."
            )

    def _posteriors(self, block: Block, state: Components) -> tuple[NDArray[Any], Array]:
        return gauss_memberships(block, *self._densities(state), **self._rule(state))

    def _outlier_masses(self, block: Block, state: Components) -> NDArray[Any]:
        return gauss_memberships_and_masses(block, *self._densities(state), **self._rule(state))[2].astype(
            block.X.dtype
        )

    def _store(self, state: Components, statistics: GaussStatistics, blocks: Blocks) -> None:
        self.weights_ = state.weights
        if state.noise is not None:
            with np.errstate(over="ignore", under="ignore"):
                self.noise_weight_, self.noise_volume_ = state.noise, float(np.exp(self._log_volume))
        self.centers_ = blocks.frame.to_input(state.means).astype(blocks.dtype)

    def _complaints(self, run: Run[Components], blocks: Blocks) -> list[str]:
        complaints, share = super()._complaints(run, blocks), run.state.noise
        if share is not None and share > _TOO_NOISY:
            complaints.append(
                f"GMM: the clusters are not Gaussian: noise took {share:.0%} of the rows; use noise=None, more "
                "clusters, or a method for clusters of other shapes"
            )
        return complaints

    # Its steps ------------------------------------------------------------------------------------------------------

    def _rule(self, state: Components) -> dict[str, Any]:
        """The rule of the kernels, and the noise: log(pi_0 / V), and the edges of the box, which gaps leave out."""
        if state.noise is None:
            return {"full": self._full}
        density = np.log(state.noise) + self._log_uniform
        return {"full": self._full, "rule": "background", "noise": np.append(density, self._log_edges)}

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
        return self._given_components(blocks, memberships)

    def _init_of(self, start: int) -> str:
        return "trimmed" if self.noise is not None and self.init == "kmeans" else str(self.init)

    # Derived attributes and draws -----------------------------------------------------------------------------------

    def _n_parameters(self) -> int:
        return self._n_gaussian_parameters(self.centers_.shape[1]) + self.n_clusters - (self.noise is None)

    @available_if(_has_noise)  # type: ignore[untyped-decorator]
    @as_fitted
    def predict_outlier_mass(self, X: MatrixLike) -> NDArray[Any]:
        """Posterior probability that each sample is noise; only with ``noise``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        outlier_mass : ndarray of shape (n_samples,)
        """
        return self._map_rows("_outlier_masses", self._new_blocks(X))

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.intp]]:
        """Draw from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        labels : ndarray of shape (n_samples,)
            The component that each row was drawn from; -1 for noise, which is uniform in its box.
        """
        check_is_fitted(self)
        rng, labels = self._draw_components(n_samples, self._state.shares)
        if self._state.noise is not None:
            n_noise, d = int(np.sum(labels == self.n_clusters_)), self.centers_.shape[1]
            labels = labels[: n_samples - n_noise]
            uniform = rng.uniform(*self._box, size=(n_noise, d))
            return np.concatenate([self._rows_of(labels, rng), uniform]), np.append(labels, np.full(n_noise, -1))
        return self._rows_of(labels, rng), labels


def noise_box(extent: Extent, volume: Literal["auto"] | float) -> tuple[Extent, float]:
    """The box of the noise in input units, and the logarithm of its volume, in which constant features do not count.

    It is the box of the data, grown or shrunk about its middle if a volume is given.

    Examples
    --------
    >>> box, log_volume = noise_box(Extent(np.array([0.0, 0.0, 7.0]), np.array([2.0, 4.0, 7.0])), 32.0)
    >>> box.low, box.high, float(np.exp(log_volume).round(9))
    (array([-1., -2.,  7.]), array([3., 6., 7.]), 32.0)
    """
    half = (extent.high - extent.low) / 2
    edges = 2 * half[half > 0]
    log_volume = float(np.log(edges).sum())
    if volume == "auto":
        return extent, log_volume
    half = half * np.exp((np.log(volume) - log_volume) / max(len(edges), 1))
    middle = extent.low + (extent.high - extent.low) / 2
    return Extent(middle - half, middle + half), float(np.log(volume))
