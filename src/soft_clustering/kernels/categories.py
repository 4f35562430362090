"""Categorical features beside numeric ones, all independent given the component: moments, counts and memberships."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from . import reference

if TYPE_CHECKING:
    from ..engine.blocks import Block


class Densities(NamedTuple):
    """The components as the kernels read them; the rows have p numbers, then codes of categories."""

    means: NDArray[np.float64]  # (K, p)
    factors: NDArray[np.float64]  # (K, p) inverse standard deviations
    constants: NDArray[np.float64]  # (K,)
    table: NDArray[np.float64]  # (categories, K) log probabilities
    edges: NDArray[np.int64]  # where the categories of each column begin in the table, and at last their number

    def padded(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """An array (K, p) of the numbers with zeros for the codes."""
        wide = np.zeros((len(self.constants), self.means.shape[1] + len(self.edges) - 1))
        wide[:, : numbers.shape[1]] = numbers
        return wide


class CategoryStatistics(NamedTuple):
    """What a block of rows contributes to new components."""

    weight: NDArray[np.float64]  # (K,)
    counts: NDArray[np.float64]  # (categories, K) summed weights of the rows that have each category
    first: NDArray[np.float64]  # (K, p) moments of the numbers about the current means
    second: NDArray[np.float64]  # (K, p)
    objective: float  # summed log likelihood
    seen: NDArray[np.float64] | None = None  # (K, p) weights of the rows that have each number; None if all have all

    def merge(self, other: CategoryStatistics) -> CategoryStatistics:
        """The statistics of both blocks together."""
        pairs: Any = zip(self, other, strict=True)
        sums: Any = [None if a is None else a + b for a, b in pairs]
        return CategoryStatistics(*sums)


def category_statistics(
    block: Block, densities: Densities, memberships: NDArray[np.float64] | None = None
) -> CategoryStatistics:
    """Counts of the categories and moments of the numbers, under the posteriors or given memberships.

    Missing values (NaN) are left out.
    """
    if not kernels.use_compiled():
        return CategoryStatistics(*reference.category_statistics(block, densities, memberships))
    K, p = densities.means.shape
    grid = kernels.row_grid(block, K, K * (3 * block.d + len(densities.table)))
    return CategoryStatistics(
        *kernels.compiled.category_statistics(
            block.rows, *_arguments(block, densities), p, densities.edges, densities.table, memberships, *grid
        )
    )


def category_memberships(block: Block, densities: Densities) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Posteriors (n, K) in the type of the rows, and the log likelihood of each row."""
    if not kernels.use_compiled():
        return reference.category_memberships(block, densities)
    K, p = densities.means.shape
    answer: tuple[NDArray[Any], NDArray[np.float64]] = kernels.compiled.category_memberships(
        block.rows,
        *_arguments(block, densities),
        p,
        densities.edges,
        densities.table,
        *kernels.row_grid(block, K, 0),
    )
    return answer


def _arguments(block: Block, densities: Densities) -> tuple[Any, ...]:
    """Means, factors, constants, and what rows with gaps need of the numbers, as the compiled kernels read them."""
    means, factors = densities.means, densities.factors
    if not means.shape[1]:
        return densities.padded(means), None, densities.constants, None
    unseen = densities.padded(reference.log_peaks(factors)) if block.frame.gaps else None
    return densities.padded(means), densities.padded(factors), densities.constants, unseen
