"""Joint mixture of a Gaussian view and a beta view.

Maximise the mean log likelihood of

    p(x, y) = sum_k pi_k N(x | mu_k, Sigma_k) prod_j Beta(y_j | a_kj, b_kj):

given the component, the two views are independent, and so are the features of the beta view.

* E: r_ik = pi_k N(x_i | k) prod_j Beta(y_ij | k) / p(x_i, y_i);
* M: pi_k, mu_k, Sigma_k as in a Gaussian mixture; (a_kj, b_kj) of largest likelihood for the weighted means of log y_j
  and log(1 - y_j), by Newton's method (``dirichlet.py``), or by their weighted moments.

With the logarithms of the beta features as columns of their own, which are computed once, a log density is that of a
Gaussian component plus a linear term, and both steps are one pass over the rows; no posterior is stored.

References
----------
X. Dai, T. Erkkila, O. Yli-Harja, H. Lahdesmaki (2009). A joint finite mixture model for clustering genes from
independent Gaussian and beta distributed data. BMC Bioinformatics 10, 165.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial, reduce
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, MatrixLike, Memberships, Seed
from ..base import as_fitted
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame, extent, make_blocks
from ..engine.loop import Policy
from ..inputs.features import validate_weights
from ..inputs.views import BetaView, Views, check_unit_interval, column_mask, validate_views
from ..kernels import EMPTY
from ..kernels.gauss import GaussStatistics, gauss_memberships, gauss_statistics
from .base import (
    EDGE,
    EMPTY_SHARE,
    LIKELIHOOD,
    InformationCriteria,
    component_means,
    count_distinct,
    smoothed_kmeans,
)
from .derived import derived_blocks
from .dirichlet import LEAST, MOST, log_normaliser, maximum_likelihood
from .gaussian import Components, GaussianClusterer

if TYPE_CHECKING:
    from typing import Self


_BY_LIKELIHOOD = replace(LIKELIHOOD, missing=True)
_BY_MOMENTS = replace(_BY_LIKELIHOOD, monotone=False, keeps="best")  # moments do not maximise the likelihood

_LEAST_CONCENTRATION = 0.1  # least a + b by moments, which entries at 0 and 1 alone would make 0


class JointComponents(NamedTuple):
    """The parameters, in the coordinates of the frame."""

    gaussian: Components
    shapes: Array  # (K, p, 2): a, b

    @property
    def weights(self) -> Array:
        """Mixing weights (K,)."""
        return self.gaussian.weights

    def to_vector(self) -> Array:
        """The vector of the Gaussian components, and the logarithms of the shapes."""
        return np.concatenate([self.gaussian.to_vector(), np.log(self.shapes).ravel()])

    def from_vector(self, vector: Array) -> JointComponents:
        """Components like these, from a vector."""
        gaussian, shapes = np.split(vector, [len(vector) - self.shapes.size])
        shapes = np.exp(np.clip(shapes, np.log(LEAST), np.log(MOST))).reshape(self.shapes.shape)
        return JointComponents(self.gaussian.from_vector(gaussian), shapes)


class BGMM(InformationCriteria[JointComponents, GaussStatistics], GaussianClusterer[JointComponents, GaussStatistics]):
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
    starting memberships is a copy of X (two views side by side, and the features of the start) and the logarithms of
    the beta features (beyond 16 million entries of X a part at a time). Entries of beta features nearer than 1e-6 to 0
    or 1 are moved to that distance.

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
        return _BY_LIKELIHOOD if self.beta_update == "ml" else _BY_MOMENTS

    @property
    def accelerate(self) -> bool:  # type: ignore[override]
        """Whether to accelerate: only if the likelihood shows which of two points is better."""
        return self._policy.monotone

    # The two views, side by side --------------------------------------------------------------------------------------

    def _blocks(self, X: Views, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        if frame is None and X.X_beta is not None and self.beta_features is not None:
            raise ValueError("beta_features must be None if X_beta is given: pass the beta features in one way only.")
        if frame is None:
            self._beta_view = None if X.X_beta is None else BetaView()
        joined, gaps = validate_views(self, X, self._beta_view, reset=frame is None)
        weight = validate_weights(sample_weight, joined)
        blocks = make_blocks(joined, weight, frame, gaps=gaps)
        if frame is None:
            self._is_beta = self._beta_columns(joined.shape[1])
            if self._is_beta.any():
                gaussian = make_blocks(joined[:, ~self._is_beta], weight, gaps=gaps)
                blocks = blocks.in_frame(self._joint_frame(gaussian.frame), gaussian.mean_variance)
        self._check_beta_entries(blocks)
        return blocks

    def _beta_columns(self, n_columns: int) -> NDArray[np.bool_]:
        """Which columns of both views are beta features."""
        is_beta = np.zeros(n_columns, dtype=bool)
        if self._beta_view is not None:
            is_beta[self.n_features_in_ :] = True
        elif self.beta_features is not None:
            is_beta = column_mask("beta_features", self.beta_features, self.n_features_in_)
        if is_beta.all():
            raise ValueError(
                f"beta_features must leave a Gaussian feature. Got all {n_columns} columns of X; MBMM has beta "
                "features only."
            )
        return is_beta

    def _joint_frame(self, gaussian: Frame) -> Frame:
        """Gaussian features in a frame of their own, beta features as they are."""
        shift, scale = np.zeros(len(self._is_beta)), np.ones(len(self._is_beta))
        shift[~self._is_beta], scale[~self._is_beta] = gaussian.shift, gaussian.scale
        return Frame(shift, scale, gaussian.gaps)

    def _check_beta_entries(self, blocks: Blocks) -> None:
        if self._is_beta.any():
            low, high = blocks.reduce(extent)
            name = "The columns beta_features of X" if self._beta_view is None else "X_beta"
            check_unit_interval(name, low[self._is_beta], high[self._is_beta])

    def _columns(self, Z: Array, gaps: bool) -> Array:
        """The columns x, log y, log(1 - y) of rows, and y for the moments: their moments are the statistics.

        If values may be missing, further columns say which y are there; the others are 0 in all of their columns.
        """
        y = np.clip(Z[:, self._is_beta], EDGE, 1 - EDGE)
        columns = [np.log(y), np.log1p(-y)] if self.beta_update == "ml" else [np.log(y), np.log1p(-y), y]
        if gaps:
            columns = [*map(np.nan_to_num, columns), (~np.isnan(y)).astype(np.float64)]
        return np.hstack([Z[:, ~self._is_beta], *columns])

    def _derived(self, block: Block) -> Iterator[tuple[slice, Block]]:
        """The columns of a block."""
        return derived_blocks(block, partial(self._columns, gaps=block.frame.gaps))

    # The method -----------------------------------------------------------------------------------------------------

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> JointComponents:
        def moments(means: Array) -> GaussStatistics:
            parts = zip(blocks.blocks, blocks.split(memberships), strict=True)
            each = (self._moments(block, self._padded(means, block), None, None, U) for block, U in parts)
            return reduce(GaussStatistics.merge, each)

        about_zero = moments(np.zeros((self.n_clusters, int(np.sum(~self._is_beta)))))
        sizes, about_zero = self._sizes(about_zero.weight, blocks), self._gaussian_part(about_zero)
        means = about_zero.first / (sizes[:, None] if about_zero.seen is None else np.maximum(about_zero.seen, EMPTY))
        statistics = moments(means)
        completed = self._with_unseen(self._gaussian_part(statistics), blocks)
        gaussian = self._maximise(means, completed, blocks, self._unit(blocks))
        sums, counts = self._beta_part(statistics)
        return JointComponents(gaussian, self._shapes(component_means(sums, counts)))

    def _seeded_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        block = blocks.joined()
        features = block.X
        if self._is_beta.any():
            features = np.empty(block.X.shape)
            for lo, Z, _ in block.pieces():
                y = np.clip(Z[:, self._is_beta], EDGE, 1 - EDGE)
                features[lo : lo + len(Z), ~self._is_beta] = Z[:, ~self._is_beta]
                features[lo : lo + len(Z), self._is_beta] = np.log(y) - np.log1p(-y)
        standardised = make_blocks(features, block.weight, scaling="standard", gaps=blocks.has_gaps)
        return smoothed_kmeans(standardised, self.n_clusters, rng)

    def _statistics(self, block: Block, state: JointComponents) -> GaussStatistics:
        return self._moments(block, *self._joint_densities(state, block))

    def _moments(
        self,
        block: Block,
        means: Array,
        factors: Array | None,
        constants: Array | None,
        memberships: Array | None = None,
        linear: Array | None = None,
    ) -> GaussStatistics:
        """Moments of the columns of a block about the means, under the posteriors or given memberships."""
        parts = (
            gauss_statistics(
                rows,
                means,
                factors,
                constants,
                full=self._full,
                memberships=None if memberships is None else np.ascontiguousarray(memberships[here]),
                linear=linear,
            )
            for here, rows in self._derived(block)
        )
        answer: GaussStatistics = reduce(GaussStatistics.merge, parts)
        return answer

    def _padded(self, gaussian: Array, block: Block) -> Array:
        """An array of the Gaussian features (K, d) or (K, d, d) with zeros for the other columns of ``_columns``."""
        K, d = gaussian.shape[:2]
        width = d + int(self._is_beta.sum()) * ((2 if self.beta_update == "ml" else 3) + block.frame.gaps)
        padded = np.zeros((K, *[width] * (gaussian.ndim - 1)))
        padded[(slice(None), *[slice(d)] * (gaussian.ndim - 1))] = gaussian
        return padded

    def _joint_densities(self, state: JointComponents, block: Block) -> tuple[Array, Array, Array, None, Array]:
        """Means, factors, constants and linear terms of the log densities of the columns."""
        means, factors, constants = self._densities(state.gaussian)
        linear = self._padded(np.zeros_like(means), block)
        d, p = means.shape[1], state.shapes.shape[1]
        linear[:, d : d + 2 * p] = np.swapaxes(state.shapes - 1, 1, 2).reshape(len(means), -1)
        normaliser = log_normaliser(state.shapes)
        if block.frame.gaps:
            linear[:, linear.shape[1] - p :] = normaliser
        else:
            constants = constants + normaliser.sum(axis=1)
        return self._padded(means, block), self._padded(factors, block), constants, None, linear

    def _gaussian_part(self, statistics: GaussStatistics) -> GaussStatistics:
        """The statistics of the Gaussian features."""
        weight, first, second, objective, seen = statistics
        d = int(np.sum(~self._is_beta))
        second = second[:, :d, :d] if self._full else second[:, :d]
        return GaussStatistics(weight, first[:, :d], second, objective, None if seen is None else seen[:, :d])

    def _beta_part(self, statistics: GaussStatistics) -> tuple[Array, Array]:
        """Sums (K, p, 2) of log y and log(1 - y), or of y and y^2 for the moments; weights (K, p) of the y summed."""
        p, first = int(self._is_beta.sum()), statistics.first
        d = len(self._is_beta) - p
        counts = np.broadcast_to(statistics.weight[:, None], (len(first), p))
        if statistics.seen is not None:
            first, counts = np.split(first, [first.shape[1] - p], axis=1)
        if self.beta_update == "ml":
            return np.stack([first[:, d : d + p], first[:, d + p :]], axis=-1), counts
        second = np.diagonal(statistics.second, axis1=1, axis2=2) if self._full else statistics.second
        of_y = slice(d + 2 * p, d + 3 * p)
        return np.stack([first[:, of_y], second[:, of_y]], axis=-1), counts

    def _update(self, state: JointComponents, statistics: GaussStatistics, blocks: Blocks) -> JointComponents:
        before = state.gaussian.factors if self.covariance_type == "diag" else None
        moments = self._gaussian_part(statistics)
        gaussian = self._maximise(state.gaussian.means, moments, blocks, self._unit(blocks), before)
        sums, counts = self._beta_part(statistics)
        full = (gaussian.weights >= EMPTY_SHARE)[:, None] & (counts > EMPTY)
        shapes = state.shapes.copy()
        shapes[full] = self._shapes(sums[full] / counts[full][:, None], state.shapes[full])
        return JointComponents(gaussian, shapes)

    def _shapes(self, means: Array, start: Array | None = None) -> Array:
        """Shapes (..., 2) from weighted means of the terms of the beta statistics."""
        if self.beta_update == "ml":
            first = None if start is None else start.reshape(-1, 2)
            return maximum_likelihood(means.reshape(-1, 2), first).reshape(means.shape)
        mean = means[..., 0]
        spread = mean * (1 - mean)
        variance = np.maximum(means[..., 1] - mean * mean, spread / MOST)
        concentration = np.maximum(spread / variance - 1, _LEAST_CONCENTRATION)
        shapes: Array = np.clip(concentration[..., None] * np.stack([mean, 1 - mean], axis=-1), LEAST, MOST)
        return shapes

    def _posteriors(self, block: Block, state: JointComponents) -> tuple[NDArray[Any], Array]:
        U, likelihoods = np.empty((block.n, self.n_clusters), dtype=block.X.dtype), np.empty(block.n)
        means, factors, constants, _, linear = self._joint_densities(state, block)
        for here, rows in self._derived(block):
            U[here], likelihoods[here] = gauss_memberships(
                rows, means, factors, constants, full=self._full, linear=linear
            )
        return U, likelihoods

    def _unit(self, blocks: Blocks) -> float:
        """The factors by which the frame multiplies the Gaussian features."""
        return float(np.broadcast_to(blocks.frame.scale, blocks.d)[np.argmin(self._is_beta)])

    def _store(self, state: JointComponents, statistics: GaussStatistics, blocks: Blocks) -> None:
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
        means, factors = state.gaussian.means, state.gaussian.all_factors
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
