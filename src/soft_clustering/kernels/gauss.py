"""Gaussian components: moments and memberships, and the inverse Cholesky factors that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from .. import kernels
from . import reference

if TYPE_CHECKING:
    from ..engine.blocks import Block

_FEW = 32  # up to this many features a plain loop is faster than calls of LAPACK


class GaussStatistics(NamedTuple):
    """What a block of rows contributes to new Gaussian components: moments about the current means."""

    weight: NDArray[np.float64]  # (K,)
    first: NDArray[np.float64]  # (K, d)
    second: NDArray[np.float64]  # (K, d, d), or (K, d) for diagonal ones
    objective: float  # summed log likelihood; summed distances for the metric rule
    seen: NDArray[np.float64] | None = None  # (K, d) weights of the rows that have each feature; None if all have all

    @property
    def mass(self) -> NDArray[np.float64]:
        """The weights."""
        return self.weight

    @property
    def size(self) -> NDArray[np.float64]:
        """The weights: each row counts as much in the moments as in the shares."""
        return self.weight

    @property
    def seen_size(self) -> NDArray[np.float64] | None:
        """The same of each feature."""
        return self.seen

    def merge(self, other: GaussStatistics) -> GaussStatistics:
        """The statistics of both blocks together."""
        return GaussStatistics(*_sums(self, other))


class TemperedStatistics(NamedTuple):
    """The same under the tempered rule, where the means have weights of their own."""

    weight: NDArray[np.float64]  # (K,) under u^exponent
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    objective: float  # summed log likelihood
    mean_weight: NDArray[np.float64]  # (K,) under u^m
    mean_first: NDArray[np.float64]
    share: NDArray[np.float64]  # (K,) summed memberships
    seen: NDArray[np.float64] | None = None  # (K, d) weights under u^exponent of the rows that have each feature

    def merge(self, other: TemperedStatistics) -> TemperedStatistics:
        """The statistics of both blocks together."""
        return TemperedStatistics(*_sums(self, other))


class TailStatistics(NamedTuple):
    """The same for Student components, whose moments have the weights r u: posterior by expected precision."""

    weight: NDArray[np.float64]  # (K,) summed r u
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    objective: float  # summed log likelihood
    size: NDArray[np.float64]  # (K,) summed r
    score: NDArray[np.float64]  # (K,) summed r (E log precision - u)
    seen_size: NDArray[np.float64] | None  # (K, d) summed r of the rows that have each feature
    seen: NDArray[np.float64] | None  # (K, d) summed r u of them

    def merge(self, other: TailStatistics) -> TailStatistics:
        """The statistics of both blocks together."""
        return TailStatistics(*_sums(self, other))


def _sums(first: tuple[Any, ...], second: tuple[Any, ...]) -> list[Any]:
    return [None if a is None else a + b for a, b in zip(first, second, strict=True)]


def gauss_statistics(
    block: Block,
    means: NDArray[np.float64],
    factors: NDArray[np.float64] | None,
    constants: NDArray[np.float64] | None,
    *parameters: float,
    full: bool,
    rule: str = "posterior",
    memberships: NDArray[np.float64] | None = None,
    linear: NDArray[np.float64] | None = None,
    noise: NDArray[np.float64] | None = None,
    tails: NDArray[np.float64] | None = None,
) -> Any:
    """Moments about ``means`` under a rule of ``reference.GAUSS_RULES``, or under given memberships.

    ``factors`` are the inverse Cholesky factors, (K, d, d) lower triangular or (1, d, d) where all components have the
    same, or (K, d) inverse standard deviations; they are not needed with given memberships. ``linear`` (K, d) adds the
    log densities linear_k . z; with None for the factors these are all. Gives :class:`TemperedStatistics` for the
    tempered rule, :class:`TailStatistics` with ``tails``, else :class:`GaussStatistics`.

    Missing values of a row are filled with their means given its other values, and the covariance of these adds to the
    second moments (full factors); without full factors, or with given memberships, they are left out.

    ``noise`` (1 + d) makes one more component of constant density, which the rule sees as the last one and which has no
    moments: its log density, and what this gains for each missing feature of a row.

    ``tails`` makes Student components of the Gaussian ones: see :func:`student_tails`.
    """
    factors, white = _factors(block, means, factors)
    if not kernels.use_compiled():
        answer = reference.gauss_statistics(
            block,
            means,
            factors,
            constants,
            full,
            memberships,
            rule,
            *parameters,
            linear=linear,
            noise=noise,
            tails=tails,
        )
    else:
        K, d = means.shape
        grid = kernels.row_grid(block, K * (d // 2 + 1) if full else K, K * d * d if full else K * d)
        answer = kernels.compiled.gauss_statistics(
            block.rows,
            means,
            factors,
            white,
            constants,
            linear,
            _unseen(block, factors, full),
            noise,
            tails,
            full,
            memberships,
            rule,
            np.array(parameters),
            *grid,
        )
    if tails is not None:
        return TailStatistics(*answer)
    return TemperedStatistics(*answer) if rule == "tempered" else GaussStatistics(*answer)


def gauss_memberships(
    block: Block, *arguments: Any, full: bool, **keywords: Any
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Memberships (n, K) in the type of the rows, and the log likelihood (metric rule: objective) of each row."""
    return gauss_memberships_and_masses(block, *arguments, full=full, **keywords)[:2]


def gauss_memberships_and_masses(
    block: Block,
    means: NDArray[np.float64],
    factors: NDArray[np.float64] | None,
    constants: NDArray[np.float64],
    *parameters: float,
    full: bool,
    rule: str = "posterior",
    linear: NDArray[np.float64] | None = None,
    noise: NDArray[np.float64] | None = None,
    tails: NDArray[np.float64] | None = None,
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """The same, and a mass of each row: its membership in the noise, with ``tails`` its mean precision, 0 else."""
    factors, white = _factors(block, means, factors)
    if not kernels.use_compiled():
        return reference.gauss_memberships_and_masses(
            block, means, factors, constants, full, rule, *parameters, linear=linear, noise=noise, tails=tails
        )
    K, d = means.shape
    grid = kernels.row_grid(block, K * (d // 2 + 1) if full else K, 0)
    answer: tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]] = kernels.compiled.gauss_memberships(
        block.rows,
        means,
        factors,
        white,
        constants,
        linear,
        _unseen(block, factors, full),
        noise,
        tails,
        full,
        rule,
        np.array(parameters),
        *grid,
    )
    return answer


def student_tails(dof: NDArray[np.float64], n_features: int, d: int) -> NDArray[np.float64]:
    """What makes Student components of Gaussian ones in d coordinates that stand for ``n_features`` (K, 2 d + 4).

    For nu degrees of freedom and the squared distance D to the mean in the metric of the component, a row of o values
    has the expected precision u = (nu + o) / (nu + D) and the log density

        log Gamma((nu + o) / 2) - log Gamma(nu / 2) - o / 2 log(nu pi) + log |factor| - (nu + o) / 2 log(1 + D / nu).

    Columns: nu; nu + n_features; for each number of gaps 0 .. d what this has more than the Gaussian constant, and the
    expected log precision of a row at the mean, digamma((nu + o) / 2) - log(nu / 2); elsewhere log(1 + D / nu) less.
    """
    nu = dof[:, None]
    values = np.maximum(n_features - np.arange(d + 1), 0)
    halves = 0.5 * (nu + values)
    peaks = gammaln(halves) - gammaln(0.5 * nu) - 0.5 * values * np.log(0.5 * nu)
    return np.ascontiguousarray(np.hstack([nu, nu + n_features, peaks, digamma(halves) - np.log(0.5 * nu)]))


def _factors(
    block: Block, means: NDArray[np.float64], factors: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """The factors, and the means times the one factor that all components have, if it is one.

    Rows are then multiplied by it once instead of once per component. The factor is repeated where this does not serve:
    for rows with gaps and in the NumPy twins.
    """
    if factors is None or factors.ndim == 2 or len(factors) == len(means):
        return factors, None
    if kernels.use_compiled() and not block.frame.gaps:
        return factors, means @ factors[0].T
    return np.ascontiguousarray(np.broadcast_to(factors, (len(means), *factors.shape[1:]))), None


def _unseen(block: Block, factors: NDArray[np.float64] | None, full: bool) -> NDArray[np.float64] | None:
    """What rows with gaps need: precisions (K, d, d), or log densities (K, d) of single features at their means."""
    if not block.frame.gaps or factors is None:
        return None
    return reference.precisions(factors) if full else reference.log_peaks(factors)


def inverse_cholesky(covariances: NDArray[np.float64]) -> tuple[NDArray[np.float64], int | None]:
    """Inverses (K, d, d) of the lower Cholesky factors, and the first matrix that is not positive definite, if any.

    Examples
    --------
    >>> factors, failed = inverse_cholesky(np.array([[[4.0, 0.0], [2.0, 2.0]]]))
    >>> factors
    array([[[ 0.5,  0. ],
            [-0.5,  1. ]]])
    >>> failed is None
    True
    """
    if not kernels.use_compiled() or covariances.shape[-1] > _FEW:
        return reference.inverse_cholesky(covariances)
    answer: tuple[NDArray[np.float64], int | None] = kernels.compiled.inverse_cholesky(
        np.ascontiguousarray(covariances), reference.PIVOT
    )
    return answer
