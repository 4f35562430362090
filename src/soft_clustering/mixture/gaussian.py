"""Gaussian components in four shapes of covariance, for the mixtures that have them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from .._types import Array
from ..engine.alternating import T
from ..engine.blocks import Blocks
from ..engine.missing import with_unseen
from ..kernels import EMPTY
from ..kernels.gauss import GaussStatistics, TailStatistics, inverse_cholesky
from .base import MixtureClusterer, S

TINY = 10 * np.finfo(np.float64).eps


class Moments(Protocol):
    """Sums over the rows of each component, about an origin."""

    @property
    def first(self) -> Array:
        """The sums (K, d)."""

    @property
    def second(self) -> Array:
        """The sums of the outer products (K, d, d), or of the squares (K, d)."""


class Components(NamedTuple):
    """The parameters, in the coordinates of the frame and in the shapes of the covariance type."""

    weights: Array  # (K,); they sum to 1 - noise
    means: Array  # (K, d)
    covariances: Array | None  # full (K, d, d), tied (d, d), diag (K, d), spherical (K,); None at an accelerated point
    factors: Array  # inverse Cholesky factors (lower), in the same shapes
    full: bool  # whether the factors are matrices
    noise: float | None = None  # weight of a background of constant density; None if there is none

    @property
    def gaussian(self) -> Components:
        """Itself: a state of these components alone has nothing else."""
        return self

    @property
    def shares(self) -> Array:
        """The weights, and behind them that of the background if there is one; they sum to 1."""
        return self.weights if self.noise is None else np.append(self.weights, self.noise)

    @property
    def scales(self) -> Array:
        """The diagonals of the factors."""
        return np.diagonal(self.factors, axis1=-2, axis2=-1) if self.full else self.factors

    @property
    def all_factors(self) -> Array:
        """The factors of each component, (K, d, d) or (K, d)."""
        K, d = self.means.shape
        if self.full:
            return np.broadcast_to(self.factors, (K, d, d))
        return np.broadcast_to(self.factors.reshape(K, -1), (K, d))

    @property
    def distinct_factors(self) -> Array:
        """The same, but one matrix (1, d, d) if all components have it."""
        return self.factors[None] if self.full and self.factors.ndim == 2 else self.all_factors

    def log_volumes(self, n_beyond: int = 0) -> Array:
        """Logarithms of the determinants of the factors (K,), whose last entry holds for further features, too."""
        factors = self.all_factors
        logarithms = np.log(np.diagonal(factors, axis1=-2, axis2=-1) if self.full else factors)
        volumes: Array = logarithms.sum(axis=1) + n_beyond * logarithms[:, -1]
        return volumes

    def to_vector(self) -> Array:
        """Logarithms of weights and scales, the means, and what the factors have below their diagonals."""
        rest = np.tril(self.factors, -1) if self.full else np.zeros(0)
        return np.concatenate([np.log(self.shares), self.means.ravel(), np.log(self.scales).ravel(), rest.ravel()])

    def from_vector(self, vector: Array) -> Components:
        """Components like these, from a vector."""
        parts = np.split(vector, np.cumsum([self.shares.size, self.means.size, self.scales.size]))
        shares = np.exp(parts[0] - parts[0].max())
        shares /= shares.sum()
        # A proposal may lie anywhere: clip it to the range in which the exponential is finite.
        factors = scales = np.exp(np.clip(parts[2], -300, 300)).reshape(self.scales.shape)
        if self.full:
            factors = parts[3].reshape(self.factors.shape).copy()
            diagonal = np.arange(self.means.shape[1])
            factors[..., diagonal, diagonal] = scales
        weights, noise = (shares, None) if self.noise is None else (shares[:-1], float(shares[-1]))
        return Components(weights, parts[1].reshape(self.means.shape), None, factors, self.full, noise)


def beside_background(state: Components, share: float) -> Components:
    """Components whose weights sum to 1, beside a background that has a share of the rows; the share is never quite 0.

    A background of weight 0 would stay at 0, and rows far from all clusters would not belong to it.
    """
    noise = max(float(share), TINY)
    return state._replace(weights=(1 - noise) * state.weights, noise=noise)


class GaussianClusterer(MixtureClusterer[S, T]):
    """Base of the mixtures with the parameters ``covariance_type`` and ``reg_covar``."""

    covariance_type: str
    reg_covar: float

    _n_beyond = 0  # features that the coordinates leave out: every covariance is reg_covar there, as in the last one

    @property
    def _full(self) -> bool:
        """Whether the factors are matrices."""
        return self.covariance_type in ("full", "tied")

    def _remedy(self, blocks: Blocks) -> str:
        variance = blocks.mean_variance / np.mean(np.square(blocks.frame.unit))
        if self.reg_covar < variance:
            return super()._remedy(blocks)
        return f"reg_covar={self.reg_covar:g} exceeds the mean variance of the features, {variance:.2g}: scale X"

    def _densities(self, state: Components) -> tuple[Array, Array, Array]:
        """Means, distinct factors, and log(pi_k) + log |factor_k| - d/2 log(2 pi) in all features (K,)."""
        d = state.means.shape[1] + self._n_beyond
        with np.errstate(divide="ignore"):  # a weight of 0 given in weights_init
            constants = np.log(state.weights) + state.log_volumes(self._n_beyond) - 0.5 * d * np.log(2 * np.pi)
        factors = np.ascontiguousarray(state.distinct_factors)
        return np.ascontiguousarray(state.means), factors, np.maximum(constants, -1e300)

    def _sizes(self, weight: Array, blocks: Blocks) -> Array:
        """N_k, never quite 0: an empty component keeps finite parameters, as in scikit-learn."""
        sizes: Array = weight + TINY * blocks.total_weight / blocks.n
        return sizes

    def _maximise(
        self,
        origin: Array,
        statistics: GaussStatistics | TailStatistics,
        blocks: Blocks,
        unit: float | Array,
        before: Array | None = None,
    ) -> Components:
        """The M-step, from moments about ``origin`` in coordinates that are ``unit`` times the input.

        Means are sums over the weights of the moments, covariances sums over the sizes of the components.

        Diagonal and spherical components are those of the values that are there. Of a feature that a component has no
        value of, its mean stays, and so does the variance of which ``before`` (K, d) is the inverse root (the mean
        variance of the features without it). With full components, the ridge is multiplied by the share of the values
        that are there: the rest of the covariance comes from the components before, which have their ridge already.
        """
        N, seen = self._sizes(statistics.size, blocks), statistics.seen_size
        mass, count, ridge = self._sizes(statistics.weight, blocks)[:, None], N[:, None], self.reg_covar * unit * unit
        if seen is not None and self._full:
            tied = self.covariance_type == "tied"
            ridge = ridge * (seen.sum(axis=0) / N.sum() if tied else seen / N[:, None])
        elif seen is not None:
            assert statistics.seen is not None
            mass, count = np.maximum(statistics.seen, EMPTY), np.maximum(seen, EMPTY)
        shift, covariances = shift_and_covariances(self.covariance_type, statistics, mass, count, ridge)
        if seen is not None and self.covariance_type == "diag":
            unknown = blocks.mean_variance if before is None else 1 / before**2
            covariances = np.where(seen > EMPTY, covariances, unknown)
        factors = self._factors_of_covariances(covariances)
        return Components(N / N.sum(), origin + shift, covariances, factors, self._full)

    def _with_unseen(self, statistics: GaussStatistics, blocks: Blocks) -> GaussStatistics:
        """Moments about means of given memberships, in which a full covariance takes variances for the gaps."""
        if not self._full or statistics.seen is None:
            return statistics
        sizes = self._sizes(statistics.weight, blocks)
        second = with_unseen(statistics.second, sizes, statistics.seen, blocks.mean_variance)
        return statistics._replace(second=second, seen=None)

    def _factors_of_covariances(self, covariances: Array) -> Array:
        factors, failed = factors_of(self.covariance_type, covariances)
        if failed is not None:
            raise ValueError(
                f"The covariance of component {failed} is not positive definite: it holds too few distinct points. "
                f"Increase reg_covar (got {self.reg_covar:g}), decrease n_clusters (got {self.n_clusters}), or scale X."
            )
        return factors

    def _n_gaussian_parameters(self, d: int) -> int:
        """Free parameters of K means and covariances of d features."""
        K = int(self.n_clusters)
        covariance = {"full": K * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": K * d, "spherical": K}
        return K * d + covariance[self.covariance_type]


def shift_and_covariances(
    covariance_type: str, moments: Moments, mass: Array, count: Array, ridge: float | Array
) -> tuple[Array, Array]:
    """Means (K, d) about the origin of the moments, and covariances about these means with a ridge.

    The first moments are divided by ``mass``, the second ones by ``count``: (K, 1) of all rows, or (K, d) of those that
    have each feature (not with full matrices).
    """
    shift = moments.first / mass
    if covariance_type in ("full", "tied"):
        scatter = moments.second - mass[:, :, None] * shift[:, :, None] * shift[:, None, :]
        covariances = scatter.sum(axis=0) / count.sum() if covariance_type == "tied" else scatter / count[:, :, None]
        diagonal = np.arange(shift.shape[1])
        covariances[..., diagonal, diagonal] += ridge
        return shift, covariances
    scatter = np.maximum(moments.second - mass * shift * shift, 0)
    if covariance_type == "spherical":
        return shift, scatter.sum(axis=1) / np.broadcast_to(count, scatter.shape).sum(axis=1) + ridge
    return shift, scatter / count + ridge


def factors_of(covariance_type: str, covariances: Array) -> tuple[Array, int | None]:
    """Inverse Cholesky factors of covariances in their shape, and the first that is not positive definite, if any.

    Examples
    --------
    >>> factors_of("diag", np.array([[4.0, 0.25]]))
    (array([[0.5, 2. ]]), None)
    """
    if covariance_type == "full":
        return inverse_cholesky(covariances)
    if covariance_type == "tied":
        factors, failed = inverse_cholesky(covariances[None])
        return factors[0], failed
    bad = np.argwhere(~(covariances > 1e-300))
    return 1 / np.sqrt(np.maximum(covariances, 1e-300)), int(bad[0, 0]) if len(bad) else None
