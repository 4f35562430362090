"""Joint mixture of a Gaussian view and a beta view.

Maximise the mean log likelihood of

    p(x, y) = sum_k pi_k N(x | mu_k, Sigma_k) prod_j Beta(y_j | a_kj, b_kj):

given the component, the two views are independent, and so are the features of the beta view.

* E: r_ik = pi_k N(x_i | k) prod_j Beta(y_ij | k) / p(x_i, y_i);
* M: pi_k, mu_k, Sigma_k as in a Gaussian mixture; (a_kj, b_kj) of largest likelihood for the weighted means of log y_j
  and log(1 - y_j), by Newton's method (``dirichlet.py``), or by their weighted moments.

Both steps are one pass over the rows, a piece at a time; no posterior is stored.

References
----------
X. Dai, T. Erkkila, O. Yli-Harja, H. Lahdesmaki (2009). A joint finite mixture model for clustering genes from
independent Gaussian and beta distributed data. BMC Bioinformatics 10, 165.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, Matrix, MatrixLike, Memberships, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, extent, make_blocks
from ..engine.loop import Policy
from ..inputs.features import validate_weights
from ..inputs.views import BetaView, Views, beta_columns, check_unit_interval, validate_views
from ..kernels.gauss import GaussStatistics, gauss_statistics
from ..kernels.reference import log_densities, posteriors
from .base import EDGE, EMPTY_SHARE, LIKELIHOOD, component_means, count_distinct, smoothed_kmeans
from .dirichlet import LEAST, MOST, log_normaliser, maximum_likelihood
from .gaussian import Components, GaussianClusterer

if TYPE_CHECKING:
    from typing import Self

    import dask.array

_BY_MOMENTS = replace(LIKELIHOOD, monotone=False, keeps="best")  # moments do not maximise the likelihood

_LEAST_CONCENTRATION = 0.1  # least a + b by moments, which entries at 0 and 1 alone would make 0


class Rows(NamedTuple):
    """Some rows: their Gaussian features, and their beta features inside (0, 1)."""

    x: Array
    y: Array
    log_y: Array
    log_rest: Array  # log(1 - y)


class JointComponents(NamedTuple):
    """The parameters, in the coordinates of the frame."""

    gaussian: Components
    shapes: Array  # (K, p, 2): a, b
    densities: tuple[Array, Array, Array]  # means, factors, and the constants of both densities (K,)

    @property
    def weights(self) -> Array:
        """Mixing weights (K,)."""
        return self.gaussian.weights


class JointStatistics(NamedTuple):
    """What a block of rows contributes to new components."""

    gaussian: GaussStatistics  # of the Gaussian view, but its objective is that of both views
    beta: Array  # (K, p, 2) summed posteriors times log y, log(1 - y); times y, y^2 for the moments

    @property
    def objective(self) -> float:
        """Summed log likelihood."""
        return self.gaussian.objective

    def merge(self, other: JointStatistics) -> JointStatistics:
        """The statistics of both blocks together."""
        return JointStatistics(self.gaussian.merge(other.gaussian), self.beta + other.beta)


class BGMM(GaussianClusterer[JointComponents, JointStatistics]):
    """Beta-Gaussian mixture: clusters of samples that are described by measurements and by proportions.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of components K.
    beta_features : array-like, default=None
        The columns of X that are beta distributed, with entries in [0, 1]: their indices, or a mask. They can also be
        given to ``fit`` as a matrix of their own, ``X_beta``. With neither, all columns are Gaussian.
    covariance_type : {'diag', 'full', 'spherical', 'tied'}, default='diag'
        Of the Gaussian features: axis-parallel covariances, a matrix for each component, balls, one matrix for all.
    beta_update : {'ml', 'moments'}, default='ml'
        New beta parameters by maximum likelihood, as in EM; or by moments, which is faster, but the likelihood may
        fall.
    reg_covar : float, default=1e-6
        Added to the diagonal of the covariances, in squared units of the data.
    init : {'kmeans', 'random'} or array of shape (n_samples, n_clusters), default='kmeans'
        Starting memberships: a k-means partition of the standardised features (of the log odds of beta features), with
        2 % of each membership spread over all components; random memberships; or an array whose rows sum to 1, which
        forces one start.
    n_init : int, default=3
        Starts; the one of largest likelihood is kept.
    max_iter : int, default=300
        EM passes per start.
    tol : float, default=1e-9
        Converged when the mean log likelihood changes by at most this.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Posterior probabilities; rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        Component of largest posterior.
    centers_ : ndarray of shape (n_clusters, n_features)
        Means of all features, a / (a + b) of a beta feature, in the order of the columns of X; the features of
        ``X_beta`` come last.
    weights_ : ndarray of shape (n_clusters,)
        Mixing weights, sum 1.
    means_ : ndarray of shape (n_clusters, n_gaussian_features)
        Means of the Gaussian features.
    covariances_ : ndarray
        Of the d Gaussian features: full (K, d, d), tied (d, d), diag (K, d), spherical (K,).
    beta_a_, beta_b_ : ndarray of shape (n_clusters, n_beta_features)
        Parameters of the beta distributions, between 1e-3 and 1e6.
    n_clusters_ : int
    objective_ : float
        Mean log likelihood at the stored parameters.
    objective_history_ : ndarray
        Mean log likelihood at each parameter set visited, the last one included.
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    soft_clustering.GMM : Gaussian features only.
    soft_clustering.MBMM : beta features only, correlated ones.

    Notes
    -----
    A pass costs O(n K d) time, with full and tied covariances O(n K d^2); memory beyond X, ``memberships_`` and the
    starting memberships is a copy of X (two views side by side, and the features of the start). Entries of beta
    features nearer than 1e-6 to 0 or 1 are moved to that distance.

    The publication names an EM, an approximated EM and a hybrid EM. We take ``'ml'`` to be the first and offer
    ``'moments'`` for the second; what the last two approximate, and the covariance structure, we could not confirm. The
    smoothed start is ours.

    References
    ----------
    .. [1] X. Dai, T. Erkkila, O. Yli-Harja, H. Lahdesmaki (2009). A joint finite mixture model for clustering genes
       from independent Gaussian and beta distributed data. BMC Bioinformatics 10, 165.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering import BGMM
    >>> rng = np.random.default_rng(0)
    >>> expression = np.concatenate([rng.normal(0, 1, 100), rng.normal(4, 1, 100)])
    >>> binding = np.concatenate([rng.beta(2, 8, 100), rng.beta(6, 3, 100)])
    >>> model = BGMM(n_clusters=2, random_state=0).fit(expression, X_beta=binding)
    >>> model.centers_[np.argsort(model.means_[:, 0])].round(1)
    array([[0.1, 0.2],
           [4. , 0.7]])
    >>> model.predict([3.0], X_beta=[0.6]) == model.labels_[-1]
    array([ True])
    """

    means_: NDArray[Any]
    covariances_: NDArray[Any]
    beta_a_: Array
    beta_b_: Array
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "beta_features": [None, "array-like"],
        "covariance_type": [StrOptions({"diag", "full", "spherical", "tied"})],
        "beta_update": [StrOptions({"ml", "moments"})],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"kmeans", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        beta_features: ArrayLike | None = None,
        covariance_type: str = "diag",
        beta_update: str = "ml",
        reg_covar: float = 1e-6,
        init: str | ArrayLike = "kmeans",
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-9,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.beta_features = beta_features
        self.covariance_type = covariance_type
        self.beta_update = beta_update
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _policy(self) -> Policy:  # type: ignore[override]
        return LIKELIHOOD if self.beta_update == "ml" else _BY_MOMENTS

    # The two views, side by side --------------------------------------------------------------------------------------

    def _blocks(self, X: Views, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        if frame is None and X.X_beta is not None and self.beta_features is not None:
            raise ValueError("beta_features must be None if X_beta is given: pass the beta features in one way only.")
        if frame is None:
            self._beta_view = None if X.X_beta is None else BetaView()
        joined = validate_views(self, X, self._beta_view, reset=frame is None)
        weight = validate_weights(sample_weight, joined)
        if frame is None:
            self._is_beta = self._beta_columns(joined.shape[1])
            frame = self._joint_frame(joined, weight) if self._is_beta.any() else None
        blocks = make_blocks(joined, weight, frame)
        self._check_beta_entries(blocks)
        return blocks

    def _beta_columns(self, n_columns: int) -> NDArray[np.bool_]:
        """Which columns of both views are beta features."""
        is_beta = np.zeros(n_columns, dtype=bool)
        if self._beta_view is not None:
            is_beta[self.n_features_in_ :] = True
        elif self.beta_features is not None:
            is_beta = beta_columns(self.beta_features, self.n_features_in_)
        if is_beta.all():
            raise ValueError(
                f"beta_features must leave a Gaussian feature. Got all {n_columns} columns of X; MBMM has beta "
                "features only."
            )
        return is_beta

    def _joint_frame(self, X: Matrix | dask.array.Array, weight: Array | None) -> Frame:
        """Gaussian features in a frame of their own, beta features as they are."""
        gaussian = make_blocks(X[:, ~self._is_beta], weight).frame
        shift, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        shift[~self._is_beta], scale[~self._is_beta] = gaussian.shift, gaussian.scale
        return Frame(shift, scale)

    def _check_beta_entries(self, blocks: Blocks) -> None:
        if self._is_beta.any():
            low, high = blocks.reduce(extent)
            name = "The columns beta_features of X" if self._beta_view is None else "X_beta"
            check_unit_interval(name, low[self._is_beta], high[self._is_beta])

    def _split(self, Z: Array) -> Rows:
        y = np.clip(Z[:, self._is_beta], EDGE, 1 - EDGE)
        return Rows(np.ascontiguousarray(Z[:, ~self._is_beta]), y, np.log(y), np.log1p(-y))

    # The method -----------------------------------------------------------------------------------------------------

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> JointComponents:
        def moments(means: Array) -> JointStatistics:
            parts = zip(blocks.blocks, blocks.split(memberships), strict=True)
            return reduce(JointStatistics.merge, (self._given_statistics(block, U, means) for block, U in parts))

        d = int(np.sum(~self._is_beta))
        about_zero = moments(np.zeros((self.n_clusters, d))).gaussian
        means = about_zero.first / self._sizes(about_zero, blocks)[:, None]
        statistics = moments(means)
        gaussian = self._maximise(means, statistics.gaussian, blocks, self._unit(blocks))
        return self._joint(gaussian, self._shapes(component_means(statistics.beta, statistics.gaussian.weight)))

    def _seeded_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        block = blocks.joined()
        features = block.X
        if self._is_beta.any():
            features = np.empty(block.X.shape)
            for lo, Z, _ in block.pieces():
                rows = self._split(Z)
                features[lo : lo + len(Z), ~self._is_beta] = rows.x
                features[lo : lo + len(Z), self._is_beta] = rows.log_y - rows.log_rest
        return smoothed_kmeans(make_blocks(features, block.weight, scaling="standard"), self.n_clusters, rng)

    def _statistics(self, block: Block, state: JointComponents) -> JointStatistics:
        def of_piece(Z: Array, w: Array) -> JointStatistics:
            rows = self._split(Z)
            R, likelihoods = posteriors(self._log_joint_of(rows, state))
            return self._sums(rows, R, w, state.gaussian.means, float(w @ likelihoods))

        return reduce(JointStatistics.merge, (of_piece(Z, w) for _, Z, w in block.pieces()))

    def _given_statistics(self, block: Block, memberships: Array, means: Array) -> JointStatistics:
        """The statistics under given memberships; there is no likelihood."""
        parts = (
            self._sums(self._split(Z), memberships[lo : lo + len(Z)], w, means, 0.0) for lo, Z, w in block.pieces()
        )
        return reduce(JointStatistics.merge, parts)

    def _sums(self, rows: Rows, R: Array, w: Array, means: Array, objective: float) -> JointStatistics:
        """The statistics of a piece: Gaussian moments about the means, and sums of the beta features."""
        block = Block(rows.x, w, Frame(np.zeros(rows.x.shape[1]), 1.0))
        gaussian = gauss_statistics(block, means, None, None, full=self._full, memberships=np.ascontiguousarray(R))
        terms = (rows.log_y, rows.log_rest) if self.beta_update == "ml" else (rows.y, rows.y * rows.y)
        weighted = R.T * w
        beta = np.stack([weighted @ term for term in terms], axis=-1)
        return JointStatistics(gaussian._replace(objective=objective), beta)

    def _update(self, state: JointComponents, statistics: JointStatistics, blocks: Blocks) -> JointComponents:
        gaussian = self._maximise(state.gaussian.means, statistics.gaussian, blocks, self._unit(blocks))
        shapes, full = state.shapes.copy(), gaussian.weights >= EMPTY_SHARE
        N = statistics.gaussian.weight[full, None, None]
        shapes[full] = self._shapes(statistics.beta[full] / N, state.shapes[full])
        return self._joint(gaussian, shapes)

    def _joint(self, gaussian: Components, shapes: Array) -> JointComponents:
        means, factors, constants = self._densities(gaussian)
        return JointComponents(gaussian, shapes, (means, factors, constants + log_normaliser(shapes).sum(axis=1)))

    def _shapes(self, means: Array, start: Array | None = None) -> Array:
        """Shapes (K, p, 2) from weighted means of the terms of the beta statistics."""
        if self.beta_update == "ml":
            first = None if start is None else start.reshape(-1, 2)
            return maximum_likelihood(means.reshape(-1, 2), first).reshape(means.shape)
        mean = means[..., 0]
        spread = mean * (1 - mean)
        variance = np.maximum(means[..., 1] - mean * mean, spread / MOST)
        concentration = np.maximum(spread / variance - 1, _LEAST_CONCENTRATION)
        shapes: Array = np.clip(concentration[..., None] * np.stack([mean, 1 - mean], axis=-1), LEAST, MOST)
        return shapes

    def _log_joint(self, Z: Array, state: JointComponents) -> Array:
        return self._log_joint_of(self._split(Z), state)

    def _log_joint_of(self, rows: Rows, state: JointComponents) -> Array:
        a, b = np.moveaxis(state.shapes, -1, 0)
        gaussian = log_densities(rows.x, *state.densities, self._full)
        joint: Array = gaussian + rows.log_y @ (a - 1).T + rows.log_rest @ (b - 1).T
        return joint

    def _unit(self, blocks: Blocks) -> float:
        """The factors by which the frame multiplies the Gaussian features."""
        return float(np.broadcast_to(blocks.frame.scale, blocks.d)[np.argmin(self._is_beta)])

    def _store(self, state: JointComponents, statistics: JointStatistics, blocks: Blocks) -> None:
        assert state.gaussian.covariances is not None
        unit = self._unit(blocks)
        self.weights_ = state.weights
        self.beta_a_, self.beta_b_ = state.shapes[..., 0], state.shapes[..., 1]
        with np.errstate(over="ignore"):  # the squares of data beyond 1e154 overflow
            self.covariances_ = state.gaussian.covariances / unit / unit
        centers = np.empty((self.n_clusters, blocks.d))
        centers[:, ~self._is_beta] = state.gaussian.means
        centers[:, self._is_beta] = self.beta_a_ / (self.beta_a_ + self.beta_b_)
        self.centers_ = blocks.frame.to_input(centers).astype(blocks.dtype)
        self.means_ = self.centers_[:, ~self._is_beta]

    def _n_distinct(self, state: JointComponents) -> int:
        means, factors, _ = state.densities
        factors = factors / np.maximum(np.abs(factors).max(axis=0), 1e-300)
        parts = (state.weights, means, factors, np.log(state.shapes))
        return count_distinct(np.column_stack([part.reshape(self.n_clusters, -1) for part in parts]))

    def _n_parameters(self) -> int:
        return self._n_gaussian_parameters(self.means_.shape[1]) + 2 * int(self.beta_a_.size) + self.n_clusters - 1

    # The protocol, with a second view ---------------------------------------------------------------------------------

    def fit(
        self,
        X: MatrixLike,
        y: object = None,
        *,
        X_beta: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Gaussian features, and beta features in the columns ``beta_features``. With ``X_beta`` also of shape
            (n_samples,): a single feature.
        y : ignored
        X_beta : array-like of shape (n_samples, n_beta_features) or (n_samples,), default=None
            Beta features as a matrix of their own, with entries in [0, 1]. Every later call then takes them, too.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        return self._fit(Views(X, X_beta), sample_weight)

    def fit_transform(
        self,
        X: MatrixLike,
        y: object = None,
        *,
        X_beta: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """Fit, and return the memberships as features.

        Parameters
        ----------
        X, y, X_beta, sample_weight : as in ``fit``

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        return self.fit(X, X_beta=X_beta, sample_weight=sample_weight).predict_memberships(X, X_beta=X_beta)

    @as_fitted
    def predict_memberships(
        self,
        X: MatrixLike,
        *,
        X_beta: MatrixLike | None = None,
        out: NDArray[Any] | None = None,
        top_k: int | None = None,
    ) -> Memberships:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        X_beta : array-like of shape (n_samples, n_beta_features), default=None
            As in ``fit``.
        out, top_k : as in ``FCM.predict_memberships``

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
            A ``scipy.sparse.csr_array`` with ``top_k``.
        """
        return super().predict_memberships(Views(X, X_beta), out=out, top_k=top_k)

    @as_fitted
    def score(
        self,
        X: MatrixLike,
        y: object = None,
        *,
        X_beta: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Mean log likelihood of new data.

        Parameters
        ----------
        X, X_beta : as in ``predict_memberships``
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        return super().score(Views(X, X_beta), sample_weight=sample_weight)

    @as_fitted
    def score_samples(self, X: MatrixLike, *, X_beta: MatrixLike | None = None) -> Array:
        """Log likelihood of each sample.

        Parameters
        ----------
        X, X_beta : as in ``predict_memberships``

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
        """
        return super().score_samples(Views(X, X_beta))

    @as_fitted
    def bic(self, X: MatrixLike, *, X_beta: MatrixLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Bayesian information criterion, smaller is better.

        Parameters
        ----------
        X, X_beta : as in ``predict_memberships``
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        bic : float
        """
        return super().bic(Views(X, X_beta), sample_weight=sample_weight)

    @as_fitted
    def aic(self, X: MatrixLike, *, X_beta: MatrixLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Akaike information criterion, smaller is better.

        Parameters
        ----------
        X, X_beta : as in ``predict_memberships``
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        aic : float
        """
        return super().aic(Views(X, X_beta), sample_weight=sample_weight)

    @as_fitted
    def aic3(self, X: MatrixLike, *, X_beta: MatrixLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Akaike information criterion with a penalty of 3 for each parameter, smaller is better.

        Parameters
        ----------
        X, X_beta : as in ``predict_memberships``
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        aic3 : float
        """
        return self.aic(X, X_beta=X_beta, sample_weight=sample_weight) + self._n_parameters()

    @as_fitted
    def icl(self, X: MatrixLike, *, X_beta: MatrixLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Integrated completed likelihood in its BIC form, smaller is better.

        It is BIC plus twice the entropy of the memberships, a penalty for components that overlap.

        Parameters
        ----------
        X, X_beta : as in ``predict_memberships``
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        icl : float
        """
        entropies = entr(self.predict_memberships(X, X_beta=X_beta).astype(np.float64)).sum(axis=1)
        weight = validate_weights(sample_weight, entropies)
        total = entropies.sum() if weight is None else entropies @ weight
        return self.bic(X, X_beta=X_beta, sample_weight=sample_weight) + 2 * float(total)
