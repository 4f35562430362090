"""Hot loops: compiled where the extension was built, their NumPy twins of ``reference.py`` elsewhere.

Every kernel takes a block of rows (:class:`soft_clustering.engine.blocks.Block`) and gives statistics that merge over
blocks, or one result per row. ``compiled`` is the extension module, or None.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import reference

if TYPE_CHECKING:
    from ..engine.blocks import Block

try:
    compiled: Any = import_module("soft_clustering.kernels._compiled")
except ImportError as error:
    if os.environ.get("SOFT_CLUSTERING_REQUIRE_KERNELS") == "1":
        raise ImportError(
            "SOFT_CLUSTERING_REQUIRE_KERNELS=1, but the compiled kernels are missing: install a C compiler and "
            "reinstall soft-clustering"
        ) from error
    compiled = None
_silent = compiled is not None  # whether there is nothing, or nothing more, to tell about missing kernels

SOURCES = ("_compiled.pyx", "gauss.h", "graphs.h", "kernels.h", "rules.h", "tile.h", "topics.h")


def source_hash() -> str | None:
    """Hash of the kernel sources beside this file, None where they are not there (installed from a wheel)."""
    here = Path(__file__).parent
    if not all((here / name).exists() for name in SOURCES):
        return None
    return hashlib.sha256(b"".join((here / name).read_bytes() for name in SOURCES)).hexdigest()[:16]


if compiled is not None and source_hash() not in (None, compiled.source_hash):
    warnings.warn(
        "the compiled kernels are older than their sources: reinstall soft-clustering (pip install -e .)",
        RuntimeWarning,
        stacklevel=2,
    )


def use_compiled() -> bool:
    """Whether the compiled kernels serve. The first call without them warns, unless they were replaced on purpose."""
    global _silent
    if not _silent:
        _silent = True
        if os.environ.get("SOFT_CLUSTERING_NO_KERNEL_WARNING") != "1":
            warnings.warn(
                "the compiled kernels of soft-clustering are missing, NumPy stands in for them and fits are slower: "
                "install a C compiler and reinstall soft-clustering, or set SOFT_CLUSTERING_NO_KERNEL_WARNING=1 to "
                "silence this warning",
                UserWarning,
                stacklevel=2,
            )
    return compiled is not None


_ONE_THREAD: ContextVar[bool] = ContextVar("one_thread", default=False)
EMPTY = reference.EMPTY
_TRANSCENDENTAL = 8  # features that a distance and its membership cost besides those of the data
_FEW = 32  # features up to which a plain loop beats the calls of LAPACK
_SAMPLED = 16384  # pairs that bracket the median; 16 times as many are sorted at once


class CenterStatistics(NamedTuple):
    """What a block of rows contributes to new centres."""

    weight: NDArray[np.float64]  # (K,) summed weights of the centre update
    total: NDArray[np.float64]  # (K, d) weighted sum of the rows
    objective: float
    worst: float  # the largest objective of one row
    worst_row: NDArray[np.float64] | None  # (d,) that row, where some weight underflowed: a place to seed anew

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
        )


class Scatter(NamedTuple):
    """Summed weights of a block of rows, and summed weights times squared distances, per prototype."""

    weight: NDArray[np.float64]  # (K,)
    scatter: NDArray[np.float64]  # (K,)

    def merge(self, other: Scatter) -> Scatter:
        """The sums over both blocks together."""
        return Scatter(self.weight + other.weight, self.scatter + other.scatter)


class GaussStatistics(NamedTuple):
    """What a block of rows contributes to new Gaussian components: moments about the current means."""

    weight: NDArray[np.float64]  # (K,)
    first: NDArray[np.float64]  # (K, d)
    second: NDArray[np.float64]  # (K, d, d), or (K, d) for diagonal ones
    objective: float  # summed log likelihood; summed distances for the metric rule

    def merge(self, other: GaussStatistics) -> GaussStatistics:
        """The statistics of both blocks together."""
        pairs: Any = zip(self, other, strict=True)
        return GaussStatistics(*[a + b for a, b in pairs])


class TemperedStatistics(NamedTuple):
    """The same under the tempered rule, where the means have weights of their own."""

    weight: NDArray[np.float64]  # (K,) under u^exponent
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    objective: float  # summed log likelihood
    mean_weight: NDArray[np.float64]  # (K,) under u^m
    mean_first: NDArray[np.float64]
    share: NDArray[np.float64]  # (K,) summed memberships

    def merge(self, other: TemperedStatistics) -> TemperedStatistics:
        """The statistics of both blocks together."""
        pairs: Any = zip(self, other, strict=True)
        return TemperedStatistics(*[a + b for a, b in pairs])


def _grid(block: Block, K: int, width: int) -> tuple[int, int]:
    """Number of chunks, a function of the shapes only, and number of threads.

    At most 64 chunks of at least 256 rows, fewer where a chunk's result is large (32 MB for all of them).
    """
    chunks = max(1, min(64, block.n // 256, max(4, (1 << 22) // max(width, 1))))
    return chunks, _threads(block.n * (block.d + _TRANSCENDENTAL) * K, chunks)


def _pair_grid(Z: NDArray[np.float64]) -> tuple[int, int]:
    """The same for all pairs of rows; more chunks, as their work grows along the rows."""
    n, d = Z.shape
    chunks = min(64, -(-n // 64))
    return chunks, _threads(n * d * n // 2, chunks)


def _threads(work: int, chunks: int, most: int | None = None) -> int:
    return 1 if work < 100_000 else min(most_threads() if most is None else most, chunks)


def most_threads() -> int:
    """Threads that a kernel may run on."""
    return 1 if compiled is None or _ONE_THREAD.get() else min(compiled.max_threads(), usable_cores())


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which the kernels run on one thread: inside tasks that already share the cores."""
    token = _ONE_THREAD.set(True)
    try:
        yield
    finally:
        _ONE_THREAD.reset(token)


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def center_statistics(block: Block, V: NDArray[np.float64], rule: str, *parameters: float) -> CenterStatistics:
    """Statistics for new centres under a membership rule of ``reference.RULES``, one pass over the rows."""
    if not use_compiled():
        answer = reference.center_statistics(block, V, rule, *parameters)
    else:
        grid = _grid(block, len(V), len(V) * block.d)
        answer = compiled.center_statistics(block.rows, V, rule, np.array(parameters), EMPTY, *grid)
    weight, total, objective, worst, at = answer
    return CenterStatistics(weight, total, objective, worst, None if at is None else block.take([at])[0])


def center_memberships(block: Block, V: NDArray[np.float64], rule: str, *parameters: float) -> NDArray[Any]:
    """Memberships (n, K) under a rule of ``reference.RULES``, in the type of the rows."""
    if not use_compiled():
        return reference.center_memberships(block, V, rule, *parameters)
    return compiled.center_memberships(block.rows, V, rule, np.array(parameters), *_grid(block, len(V), 0))


def seed(block: Block, order: NDArray[np.intp], uniforms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows (K, d) drawn by greedy k-means++ with given uniforms (K, trials), by inversion along ``order``."""
    if not use_compiled():
        return reference.seed(block, order, uniforms)
    return compiled.seed(block.rows, order, uniforms, *_grid(block, uniforms.shape[1], 0))


def center_scatter(block: Block, V: NDArray[np.float64], rule: str, *parameters: float) -> Scatter:
    """Summed weights (K,) under a rule, and summed weights times squared distances (K,)."""
    if not use_compiled():
        return Scatter(*reference.center_scatter(block, V, rule, *parameters))
    grid = _grid(block, len(V), 2 * len(V))
    return Scatter(*compiled.center_scatter(block.rows, V, rule, np.array(parameters), *grid))


def center_rows(block: Block, V: NDArray[np.float64], rule: str, *parameters: float) -> NDArray[np.float64]:
    """The objective of each row under a rule, (n,)."""
    if not use_compiled():
        return reference.center_rows(block, V, rule, *parameters)
    out = np.zeros(block.n)
    compiled.center_rows(block.rows, V, rule, np.array(parameters), out, *_grid(block, len(V), 0))
    return out


def pair_bumps(Z: NDArray[np.float64], alpha: float, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each row (n,): sum_j weight_j exp(-alpha |z_i - z_j|^2), each distance computed once."""
    if not use_compiled():
        return reference.pair_bumps(Z, alpha, weight)
    return compiled.pair_bumps(Z, np.concatenate([[alpha], weight]), *_pair_grid(Z))


def pair_median(Z: NDArray[np.float64]) -> float:
    """Median distance between two rows that are not equal; nan where all are equal.

    A sample of the pairs brackets the median; one pass over all of them then counts those below the bracket and keeps
    those inside, among which it is found. Exact, whatever the sample; without a bracket that holds, all are sorted.
    """
    n = len(Z)
    if not use_compiled() or not 32 * _SAMPLED <= n * n <= _SAMPLED**2:
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
        zeros, below, inside = compiled.pair_window(Z, low, high, n * n // (8 * grid[0]), *grid)
        apart = n * (n - 1) // 2 - zeros
        lower, upper = (apart - 1) // 2 - (below - zeros), apart // 2 - (below - zeros)
        if inside is not None and lower >= 0 and upper < len(inside):
            inside.partition(lower)
            return float(np.sqrt(inside[lower]) + np.sqrt(inside[upper:].min())) / 2
    return reference.pair_median(Z)


def _squared(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.einsum("ij,ij->i", rows, rows)


def gauss_statistics(
    block: Block,
    means: NDArray[np.float64],
    factors: NDArray[np.float64] | None,
    constants: NDArray[np.float64] | None,
    *parameters: float,
    full: bool,
    rule: str = "posterior",
    memberships: NDArray[np.float64] | None = None,
) -> Any:
    """Moments about ``means`` under a rule of ``reference.GAUSS_RULES``, or under given memberships.

    ``factors`` are the inverse Cholesky factors, (K, d, d) lower triangular, or (K, d) inverse standard deviations;
    they are not needed with given memberships. Gives :class:`TemperedStatistics` for the tempered rule, else
    :class:`GaussStatistics`.
    """
    if not use_compiled():
        answer = reference.gauss_statistics(block, means, factors, constants, full, memberships, rule, *parameters)
    else:
        K, d = means.shape
        grid = _grid(block, K * d if full else K, K * d * d if full else K * d)
        numbers = np.array(parameters or (0.0,))
        answer = compiled.gauss_statistics(
            block.rows, means, factors, constants, full, memberships, rule, numbers, *grid
        )
    return TemperedStatistics(*answer) if rule == "tempered" else GaussStatistics(*answer)


def gauss_memberships(
    block: Block,
    means: NDArray[np.float64],
    factors: NDArray[np.float64],
    constants: NDArray[np.float64],
    *parameters: float,
    full: bool,
    rule: str = "posterior",
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Memberships (n, K) in the type of the rows, and the log likelihood (metric rule: objective) of each row."""
    if not use_compiled():
        return reference.gauss_memberships(block, means, factors, constants, full, rule, *parameters)
    K, d = means.shape
    numbers = np.array(parameters or (0.0,))
    grid = _grid(block, K * d if full else K, 0)
    return compiled.gauss_memberships(block.rows, means, factors, constants, full, rule, numbers, *grid)


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
    if not use_compiled() or covariances.shape[-1] > _FEW:
        return reference.inverse_cholesky(covariances)
    return compiled.inverse_cholesky(np.ascontiguousarray(covariances), reference.PIVOT)
