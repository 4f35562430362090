"""All pairs of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from . import reference

_SAMPLED = 16384  # pairs that bracket the median; up to 16 times as many are sorted directly


def pair_bumps(Z: NDArray[np.float64], alpha: float, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each row (n,): sum_j weight_j exp(-alpha |z_i - z_j|^2), each distance computed once."""
    if not kernels.use_compiled():
        return reference.pair_bumps(Z, alpha, weight)
    answer: NDArray[np.float64] = kernels.compiled.pair_bumps(Z, np.concatenate([[alpha], weight]), *_pair_grid(Z))
    return answer


def pair_median(Z: NDArray[np.float64]) -> float:
    """Median distance between two rows that are not equal; nan if all are equal.

    A sample of the pairs brackets the median. One pass over all pairs then counts the distances below the bracket and
    keeps the distances inside it, among which the median is found. The result is exact, whatever the sample: if the
    bracket misses the median, all distances are sorted.
    """
    n = len(Z)
    if not kernels.use_compiled() or not 32 * _SAMPLED <= n * n <= _SAMPLED**2:
        return reference.pair_median(Z)
    # Each row is paired with the next few of a random order, so that all rows occur equally often.
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


def nearest(
    points: NDArray[np.float64], rows: NDArray[np.float64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The squared distances (n, k) of rows to the nearest points, ascending, and which: the first ones among equals."""
    if not kernels.use_compiled():
        return reference.nearest(points, rows, k)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    chunks = min(64, -(-len(rows) // 64))
    threads = kernels.threads_for(points.size * len(rows), chunks)
    distances, which = kernels.compiled.nearest(points, rows, k, chunks, threads)
    return distances, which


def reachability_linkage(
    Z: NDArray[np.float64], reach: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Single linkage of at least two rows by their mutual reachability distances max(|z_i - z_j|, reach_i, reach_j).

    Gives the nodes (n - 1, 2) that are merged, of which the rows are the first n, and the levels (n - 1,), ascending.
    """
    twin = kernels.compiled if kernels.use_compiled() else reference
    nodes, levels = twin.reachability_linkage(Z, reach)
    return nodes, levels


def _squared(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    answer: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows)
    return answer


def _pair_grid(Z: NDArray[np.float64]) -> tuple[int, int]:
    """Chunks and threads for all pairs of rows; there are more chunks, as later rows have more pairs."""
    n, d = Z.shape
    chunks = min(64, -(-n // 64))
    return chunks, kernels.threads_for(n * d * n // 2, chunks)
