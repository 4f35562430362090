"""Covariance matrices by their Cholesky factors, and what prototypes with a shape of their own share."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .._types import Array, Indices
from ..kernels import EMPTY
from ..kernels.gauss import inverse_cholesky
from .blocks import Blocks, Frame, Subspace
from .collapse import columns_alike, rows_alike
from .loop import NEAR, Scale

COND_MAX = 1e15  # largest condition number of a covariance: smaller eigenvalues are raised
_LEAST = 1e-200  # the floor if there is no variance at all
_SAME = 1e-6  # two prototypes that differ by less are one


class Shaped(Protocol):
    """A state of prototypes with a shape of their own."""

    @property
    def means(self) -> Array:
        """The centres (K, d)."""

    @property
    def covariances(self) -> Array:
        """The covariances (K, d, d), with their ridges."""

    @property
    def factors(self) -> Array:
        """The inverse Cholesky factors (K, d, d) of the covariances, lower triangles."""


class MomentSums(Protocol):
    """Weighted sums over the rows of each cluster, about the current means."""

    @property
    def weight(self) -> Array:
        """The weights (K,)."""

    @property
    def first(self) -> Array:
        """The sums (K, d)."""

    @property
    def second(self) -> Array:
        """The sums of the outer products (K, d, d)."""


class Ellipsoids(NamedTuple):
    """Prototypes with a metric of their own, in the coordinates of the frame."""

    means: Array  # (K, d)
    covariances: Array  # (K, d, d) with their ridge
    factors: Array  # (K, d, d) their inverse Cholesky factors (lower)

    def to_vector(self) -> Array:
        """Means and covariances: the factors follow from them."""
        return np.concatenate([self.means.ravel(), self.covariances.ravel()])

    def from_vector(self, vector: Array) -> Ellipsoids:
        """Prototypes like these, from a vector."""
        means, covariances = np.split(vector, [self.means.size])
        return Ellipsoids(means.reshape(self.means.shape), *factorised(covariances.reshape(self.covariances.shape)))


def sound_factors(covariances: Array) -> Array | None:
    """Inverse Cholesky factors (K, d, d), None if a condition number is beyond ``COND_MAX``."""
    factors, failed = inverse_cholesky(covariances)
    if failed is not None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        # The product of the norms is at least the condition number, and NaN if one of them underflowed.
        squares, inverse = (np.einsum("kij,kij->k", A, A) for A in (covariances, factors))
        return factors if (np.sqrt(squares) * inverse).max() <= COND_MAX else None


def floored(covariance: Array) -> tuple[Array, Array]:
    """A covariance (d, d) with its eigenvalues raised to the largest over ``COND_MAX``, and its inverse factor.

    Examples
    --------
    >>> covariance, factor = floored(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> bool(np.linalg.eigvalsh(covariance)[0] > 0), bool(np.isfinite(factor).all())
    (True, True)
    """
    factors = sound_factors(covariance[None])
    if factors is not None:
        return covariance, factors[0]
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, max(values[-1] / COND_MAX, _LEAST))
    # F = (Q S)(Q S)^T: the factor by QR, as a Cholesky step might fail again.
    upper: Array = np.linalg.qr((vectors * np.sqrt(values)).T)[1]
    lower = upper.T * np.sign(np.diag(upper))
    return (vectors * values) @ vectors.T, lapack.dtrtri(lower, lower=1)[0]


def factorised(covariances: Array) -> tuple[Array, Array]:
    """Covariances (K, d, d), those beyond ``COND_MAX`` floored, and their inverse factors."""
    factors = sound_factors(covariances)
    if factors is not None:
        return covariances, factors
    pairs = [floored(covariance) for covariance in covariances]
    return np.stack([F for F, _ in pairs]), np.stack([L for _, L in pairs])


def covariances_about(shift: Array, statistics: MomentSums) -> Array:
    """Covariances (K, d, d) about the current means plus ``shift``, from moments about the current means."""
    weight = np.maximum(statistics.weight, EMPTY)[:, None]
    mean = statistics.first / weight
    off = mean - shift
    covariances: Array = statistics.second / weight[..., None] - _outer(mean) + _outer(off)
    return covariances


def prior_share(weight: Array, n_features: int) -> Array:
    """Share (K,) of a prior guess in covariances estimated from samples of total weight ``weight`` (K,).

    The guess counts as (d + 1) / 2 samples: a covariance has d (d + 1) / 2 free entries and a sample has d numbers, so
    that many samples are needed to determine it. The share vanishes as samples are added.

    Examples
    --------
    >>> prior_share(np.array([0.0, 1.5, 28.5]), 2)
    array([1.  , 0.5 , 0.05])
    """
    counted = (n_features + 1) / 2
    share: Array = counted / (weight + counted)
    return share


def _outer(vectors: Array) -> Array:
    return vectors[:, :, None] * vectors[:, None, :]


def log_determinants(factors: Array) -> Array:
    """Logarithms of the determinants of the covariances (K,), from their inverse factors.

    Examples
    --------
    >>> log_determinants(np.array([[[0.5, 0.0], [0.0, 1.0]]])).round(4)
    array([1.3863])
    """
    logarithms: Array = -2 * np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1)
    return logarithms


def all_log_determinants(state: Shaped, n_features: int) -> Array:
    """Log det of the covariances (K,) in all features, even if a :class:`Subspace` holds the rows.

    Outside the span of the rows, a covariance has the variance of the last coordinate in every direction.
    """
    beyond = n_features - state.means.shape[1]
    determinants = log_determinants(state.factors)
    return determinants + beyond * np.log(state.covariances[:, -1, -1]) if beyond else determinants


def to_input_units(covariances: Array, frame: Frame) -> Array:
    """Covariances of the frame in input units."""
    if isinstance(frame, Subspace):
        basis = frame.basis
        beyond = covariances[:, -1, -1][:, None, None]
        covariances = basis.T @ covariances[:, :-1, :-1] @ basis + beyond * (np.eye(basis.shape[1]) - basis.T @ basis)
        frame = frame.inner
    scale = np.broadcast_to(frame.scale, frame.shift.shape)
    with np.errstate(over="ignore"):  # the squares of data beyond 1e154 overflow
        answer: Array = covariances / scale / scale[:, None]
    return answer


def log_units(frame: Frame) -> Array:
    """Logarithm of the scale of each feature (d,)."""
    if isinstance(frame, Subspace):
        frame = frame.inner
    logarithms: Array = np.log(np.broadcast_to(frame.scale, frame.shift.shape))
    return logarithms


def mean_likelihood(objective: Any, blocks: Blocks) -> Any:
    """The mean log likelihood of the data in input units, from the sum in the coordinates of the frame."""
    units = log_units(blocks.frame)
    if blocks.has_gaps:  # a density has the unit of the values that are there
        return objective / blocks.total_weight + blocks.seen @ units / blocks.total_weight
    return objective / blocks.total_weight + units.sum()


def _differences(a: Shaped, k: int | Indices, b: Shaped, at: int | Indices) -> Array:
    """The distance of prototypes ``at`` of b from prototypes k of a, in the metric of a and hence without units."""
    factors = a.factors[k]
    step = factors @ (b.means[at] - a.means[k])[..., None]
    ratio = factors @ b.covariances[at] @ np.swapaxes(factors, -1, -2) - np.eye(step.shape[-2])
    answer: Array = np.sqrt(np.maximum((step**2).sum(axis=(-2, -1)), (ratio**2).sum(axis=(-2, -1))))
    return answer


def shape_shift(old: Shaped, new: Shaped, history: list[float], scale: Scale) -> float:
    """Relative change of the state: the largest movement of a mean, or change of a covariance, in its own metric."""
    with np.errstate(over="ignore", invalid="ignore"):
        change = float(_differences(old, slice(None), new, slice(None)).max())
    return change if np.isfinite(change) else np.inf


def shape_collapse(name: str, state: Shaped, memberships: NDArray[Any], remedy: str) -> list[str]:
    """A complaint when all rows have the same memberships, when clusters are empty, or when prototypes coincide.

    Prototypes coincide if their means and covariances do: two clusters may cross at a common mean. If the memberships
    are the same, prototypes within a hundredth in their own metric coincide, too: a converged fit may leave that much.
    """
    K = len(state.means)
    if K == 1:
        return []
    if rows_alike(memberships):
        return [f"{name} collapsed: all samples have the same memberships; {remedy}"]
    empty = int(np.sum(np.asarray(memberships.sum(axis=0, dtype=np.float64)) < 1e-8 * len(memberships)))
    if empty:
        return [f"{name} left {empty} of {K} clusters empty; use fewer clusters or another init"]
    twins = 0
    for k in range(1, K):
        with np.errstate(over="ignore", invalid="ignore"):
            differences = _differences(state, k, state, slice(k))
        other = int(differences.argmin())
        same = differences[other] < _SAME
        twins += bool(same or (differences[other] < NEAR and columns_alike(memberships, k, other)))
    if twins:
        return [
            f"{name} found {K - twins} distinct prototypes, fewer than n_clusters={K}: there may be duplicate points "
            f"in X; use fewer clusters, or {remedy}"
        ]
    return []
