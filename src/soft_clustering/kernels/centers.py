"""Prototypes: memberships, statistics for new centres and distances under a rule, and the seeds of k-means++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from . import reference

if TYPE_CHECKING:
    from ..engine.blocks import Block


class CenterStatistics(NamedTuple):
    """What a block of rows contributes to new centres."""

    weight: NDArray[np.float64]  # (K,) summed weights of the centre update
    total: NDArray[np.float64]  # (K, d) weighted sum of the rows
    objective: float
    worst: float  # the largest objective of one row
    worst_row: NDArray[np.float64] | None  # (d,) that row if some weight underflowed: a new seed
    seen: NDArray[np.float64] | None = None  # (K, d) weights of the rows that have each feature; None if all have all

    @property
    def mass(self) -> NDArray[np.float64]:
        """What divides the totals: (K, 1), or (K, d) if values are missing."""
        return self.weight[:, None] if self.seen is None else self.seen

    @property
    def entries(self) -> float:
        """The summed weight of all values."""
        return float(self.weight.sum() * self.total.shape[1] if self.seen is None else self.seen.sum())

    def merge(self, other: CenterStatistics) -> CenterStatistics:
        """The statistics of both blocks together."""
        first = self if self.worst >= other.worst else other
        underflow = self.worst_row is not None and other.worst_row is not None
        return CenterStatistics(
            self.weight + other.weight,
            self.total + other.total,
            self.objective + other.objective,
            first.worst,
            first.worst_row if underflow else None,
            None if self.seen is None else self.seen + other.mass,
        )


class Scatter(NamedTuple):
    """Summed weights of a block of rows, and summed weights times squared distances, per prototype."""

    weight: NDArray[np.float64]  # (K,)
    scatter: NDArray[np.float64]  # (K,)

    def merge(self, other: Scatter) -> Scatter:
        """The sums over both blocks together."""
        return Scatter(self.weight + other.weight, self.scatter + other.scatter)


def center_statistics(
    block: Block, V: NDArray[np.float64], rule: str, *parameters: float, noise: float = 0.0
) -> CenterStatistics:
    """Statistics for new centres under a membership rule of ``reference.RULES``, one pass over the rows.

    ``noise`` > 0 is the squared distance of all rows to one more cluster, which has memberships and a part in the
    objective, but no centre.
    """
    if not kernels.use_compiled():
        answer = reference.center_statistics(block, V, rule, *parameters, noise=noise)
    else:
        grid = kernels.row_grid(block, len(V), len(V) * block.d)
        answer = kernels.compiled.center_statistics(
            block.rows, V, rule, np.array(parameters), noise, kernels.EMPTY, *grid
        )
    weight, total, objective, worst, at, seen = answer
    return CenterStatistics(weight, total, objective, worst, None if at is None else block.take([at])[0], seen)


def center_memberships(
    block: Block, V: NDArray[np.float64], rule: str, *parameters: float, noise: float = 0.0
) -> NDArray[Any]:
    """Memberships (n, K) under a rule of ``reference.RULES``, in the type of the rows."""
    return memberships_and_noise(block, V, rule, *parameters, noise=noise)[0]


def memberships_and_noise(
    block: Block, V: NDArray[np.float64], rule: str, *parameters: float, noise: float
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Memberships (n, K) and those (n,) in the noise, which are 0 if there is none."""
    if not kernels.use_compiled():
        return reference.memberships_and_noise(block, V, rule, *parameters, noise=noise)
    answer: tuple[NDArray[Any], NDArray[np.float64]] = kernels.compiled.center_memberships(
        block.rows, V, rule, np.array(parameters), noise, *kernels.row_grid(block, len(V), 0)
    )
    return answer


def seed(
    block: Block, order: NDArray[np.intp], uniforms: NDArray[np.float64], most: float = np.inf
) -> NDArray[np.float64]:
    """Rows (K, d) drawn by greedy k-means++ with given uniforms (K, trials), by inversion along ``order``.

    A squared distance above ``most`` counts as ``most``.
    """
    if not kernels.use_compiled():
        return reference.seed(block, order, uniforms, most)
    answer: NDArray[np.float64] = kernels.compiled.seed(
        block.rows, order, uniforms, most, *kernels.row_grid(block, uniforms.shape[1], 0)
    )
    return answer


def center_scatter(block: Block, V: NDArray[np.float64], rule: str, *parameters: float, noise: float = 0.0) -> Scatter:
    """Summed weights (K,) under a rule, and summed weights times squared distances (K,)."""
    if not kernels.use_compiled():
        return Scatter(*reference.center_scatter(block, V, rule, *parameters, noise=noise))
    grid = kernels.row_grid(block, len(V), 2 * len(V))
    return Scatter(*kernels.compiled.center_scatter(block.rows, V, rule, np.array(parameters), noise, *grid))


def center_rows(block: Block, V: NDArray[np.float64], rule: str, *parameters: float) -> NDArray[np.float64]:
    """The objective of each row under a rule, (n,)."""
    if not kernels.use_compiled():
        return reference.center_rows(block, V, rule, *parameters)
    answer: NDArray[np.float64] = kernels.compiled.center_rows(
        block.rows, V, rule, np.array(parameters), *kernels.row_grid(block, len(V), 0)
    )
    return answer


def center_distances(block: Block, V: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared distances (n, K) of the rows to the points V, in the coordinates of the frame."""
    if not kernels.use_compiled():
        return reference.center_distances(block, V)
    answer: NDArray[np.float64] = kernels.compiled.center_distances(block.rows, V, *kernels.row_grid(block, len(V), 0))
    return answer
