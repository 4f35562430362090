"""Gaussian components: moments and memberships, and the inverse Cholesky factors that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
) -> Any:
    """Moments about ``means`` under a rule of ``reference.GAUSS_RULES``, or under given memberships.

    ``factors`` are the inverse Cholesky factors, (K, d, d) lower triangular, or (K, d) inverse standard deviations;
    they are not needed with given memberships. ``linear`` (K, d) adds the log densities linear_k . z; with None for the
    factors these are all. Gives :class:`TemperedStatistics` for the tempered rule, else
    :class:`GaussStatistics`.

    Missing values of a row are filled with their means given its other values, and the covariance of these adds to the
    second moments (full factors); without full factors, or with given memberships, they are left out.

    ``noise`` (1 + d) makes one more component of constant density, which the rule sees as the last one and which has no
    moments: its log density, and what this gains for each missing feature of a row.
    """
    if not kernels.use_compiled():
        answer = reference.gauss_statistics(
            block, means, factors, constants, full, memberships, rule, *parameters, linear=linear, noise=noise
        )
    else:
        K, d = means.shape
        grid = kernels.row_grid(block, K * (d // 2 + 1) if full else K, K * d * d if full else K * d)
        answer = kernels.compiled.gauss_statistics(
            block.rows,
            means,
            factors,
            constants,
            linear,
            _unseen(block, factors, full),
            noise,
            full,
            memberships,
            rule,
            np.array(parameters),
            *grid,
        )
    return TemperedStatistics(*answer) if rule == "tempered" else GaussStatistics(*answer)


def gauss_memberships(
    block: Block, *arguments: Any, full: bool, **keywords: Any
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Memberships (n, K) in the type of the rows, and the log likelihood (metric rule: objective) of each row."""
    return gauss_memberships_and_noise(block, *arguments, full=full, **keywords)[:2]


def gauss_memberships_and_noise(
    block: Block,
    means: NDArray[np.float64],
    factors: NDArray[np.float64] | None,
    constants: NDArray[np.float64],
    *parameters: float,
    full: bool,
    rule: str = "posterior",
    linear: NDArray[np.float64] | None = None,
    noise: NDArray[np.float64] | None = None,
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """The same, and the membership of each row in the noise, which is 0 if there is none."""
    if not kernels.use_compiled():
        return reference.gauss_memberships_and_noise(
            block, means, factors, constants, full, rule, *parameters, linear=linear, noise=noise
        )
    K, d = means.shape
    grid = kernels.row_grid(block, K * (d // 2 + 1) if full else K, 0)
    answer: tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]] = kernels.compiled.gauss_memberships(
        block.rows,
        means,
        factors,
        constants,
        linear,
        _unseen(block, factors, full),
        noise,
        full,
        rule,
        np.array(parameters),
        *grid,
    )
    return answer


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
