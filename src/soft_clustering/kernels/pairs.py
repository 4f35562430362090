"""All pairs of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from . import reference

_SAMPLED = 16384  # pairs that bracket the median; 16 times as many are sorted at once


def pair_bumps(Z: NDArray[np.float64], alpha: float, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each row (n,): sum_j weight_j exp(-alpha |z_i - z_j|^2), each distance computed once."""
    if not kernels.use_compiled():
        return reference.pair_bumps(Z, alpha, weight)
    answer: NDArray[np.float64] = kernels.compiled.pair_bumps(Z, np.concatenate([[alpha], weight]), *_pair_grid(Z))
    return answer


def pair_median(Z: NDArray[np.float64]) -> float:
    """Median distance between two rows that are not equal; nan where all are equal.

    A sample of the pairs brackets the median; one pass over all of them then counts those below the bracket and keeps
    those inside, among which it is found. Exact, whatever the sample; without a bracket that holds, all are sorted.
    """
    n = len(Z)
    if not kernels.use_compiled() or not 32 * _SAMPLED <= n * n <= _SAMPLED**2:
        return reference.pair_median(Z)
    # Every row meets the next few of a random order: all rows equally often, which random pairs do not.
    shuffled = Z[np.random.RandomState(0).permutation(n)]
    shifts = range(1, 1 + _SAMPLED // n)
    sample = np.concatenate([_squared(shuffled - np.roll(shuffled, shift, axis=0)) for shift in shifts])
    sample = sample[sample > 0]
    if len(sample):
        reach = 1.5 * np.sqrt(len(sample))  # three standard deviations of the rank of the median
        ranks = [int(max(len(sample) / 2 - reach, 0)), int(min(len(sample) / 2 + reach, len(sample) - 1))]
        low, high = np.partition(sample, ranks)[ranks]
        grid = _pair_grid(Z)
        zeros, below, inside = kernels.compiled.pair_window(Z, low, high, n * n // (8 * grid[0]), *grid)
        apart = n * (n - 1) // 2 - zeros
        lower, upper = (apart - 1) // 2 - (below - zeros), apart // 2 - (below - zeros)
        if inside is not None and lower >= 0 and upper < len(inside):
            inside.partition(lower)
            return float(np.sqrt(inside[lower]) + np.sqrt(inside[upper:].min())) / 2
    return reference.pair_median(Z)


def _squared(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    answer: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows)
    return answer


def _pair_grid(Z: NDArray[np.float64]) -> tuple[int, int]:
    """The same for all pairs of rows; more chunks, as their work grows along the rows."""
    n, d = Z.shape
    chunks = min(64, -(-n // 64))
    return chunks, kernels.threads_for(n * d * n // 2, chunks)
