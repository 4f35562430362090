"""Rows of a Dask array: the same statistics, one grouped task per few chunks.

A Dask task costs milliseconds, so the chunks of a pass are grouped into about eight tasks. Persisted chunks are grouped
by the worker that holds them. Each task returns the statistics of its chunks one by one, and they are merged here in
the order of the chunks, so the result does not depend on the grouping. The state is sent with the task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property, reduce
from typing import Any

import dask
import dask.array
import numpy as np
from numpy.typing import NDArray

from .. import kernels
from .._types import Array
from .blocks import Block, Blocks, Frame, M, block_in_frame, extent

_GROUPS = 8
_SAMPLE = 20_000  # rows to seed from


class DaskBlocks(Blocks):
    """The chunks of a Dask array (n, d), chunked along the rows, with weights in memory or none."""

    def __init__(
        self, X: dask.array.Array, weight: Array | None, frame: Frame | None = None, mean_variance: float = np.nan
    ) -> None:
        self.X, self.weight, self.mean_variance = X, weight, mean_variance
        self.n = X.shape[0] if weight is None else int(np.count_nonzero(weight))
        self.n_input, self.d = X.shape
        self.dtype, self.is_sparse, self.kept = X.dtype, False, None
        self.frame = frame or Frame(np.zeros(self.d), 1.0)
        if frame is None:
            low, high = self.reduce(extent)
            if not (np.isfinite(low).all() and np.isfinite(high).all()):
                raise ValueError("Input X contains NaN or infinity.")

    def in_subspace(self) -> Blocks:
        """The rows unchanged."""
        return self

    def in_frame(self, frame: Frame, mean_variance: float) -> DaskBlocks:
        """The same rows in other coordinates."""
        return DaskBlocks(self.X, self.weight, frame, mean_variance)

    def first_row(self) -> Array:
        """The first row of positive weight, in input units."""
        first = 0 if self.weight is None else int(np.flatnonzero(self.weight)[0])
        return np.asarray(self.X[first].compute(), dtype=np.float64)

    def reduce(self, function: Callable[..., M], *arguments: object) -> M:
        """Merge the results of ``function(block, *arguments)``, chunk after chunk."""
        tasks = [
            dask.delayed(_each, pure=False)(
                [self._chunks[c] for c in group], [self._weights(c) for c in group], self.frame, function, arguments
            )
            for group in self._groups
        ]
        answers: dict[int, M] = {}
        for group, parts in zip(self._groups, dask.compute(*tasks), strict=True):
            answers |= {c: part for c, part in zip(group, parts, strict=True) if part is not None}
        ordered: Any = (answers[c] for c in sorted(answers))
        merged: M = reduce(lambda a, b: a.merge(b), ordered)
        return merged

    def map_rows(self, function: Callable[..., NDArray[Any]], *arguments: object) -> Any:
        """The rows that ``function(block, *arguments)`` returns, as a lazy Dask array."""
        frame = self.frame
        like = function(block_in_frame(np.zeros((1, self.d), dtype=self.dtype), None, frame), *arguments)
        chunks = (self.X.chunks[0], *((size,) for size in like.shape[1:]))
        return self.X.map_blocks(
            _rows, frame, function, arguments, chunks=chunks, drop_axis=1 if like.ndim == 1 else None, meta=like[:0]
        )

    def local(self, rng: np.random.RandomState) -> Blocks:
        """A random sample of the rows, in memory."""
        candidates = np.arange(self.X.shape[0]) if self.weight is None else np.flatnonzero(self.weight)
        size = min(_SAMPLE, len(candidates))
        chosen = np.sort(candidates[rng.permutation(len(candidates))[:size]])
        rows = np.ascontiguousarray(self.X[chosen].compute())
        block = Block(rows, None if self.weight is None else self.weight[chosen], self.frame)
        return Blocks([block], self.mean_variance, chosen, n_input=self.n_input)

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[Block]:
        """Raise an error: chunks take the place of batches in Dask."""
        raise ValueError("batch_size must be None for Dask arrays: use partial_fit on their chunks instead.")

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.n if self.weight is None else self.weight.sum())

    @cached_property
    def _chunks(self) -> list[Any]:
        return list(self.X.to_delayed().ravel())

    @cached_property
    def _edges(self) -> NDArray[np.intp]:
        return np.cumsum([0, *self.X.chunks[0]])

    def _weights(self, chunk: int) -> Array | None:
        return None if self.weight is None else self.weight[self._edges[chunk] : self._edges[chunk + 1]]

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The chunks of each task; persisted chunks of one worker are together."""
        by_worker: dict[Any, list[int]] = defaultdict(list)
        holders = _holders(self.X)
        for c, chunk in enumerate(self._chunks):
            by_worker[holders.get(chunk.key)].append(c)
        share = max(1, _GROUPS // len(by_worker))
        return [
            [int(c) for c in part]
            for chunks in by_worker.values()
            for part in np.array_split(chunks, min(share, len(chunks)))
        ]


def _holders(X: dask.array.Array) -> dict[Any, str]:
    """Key of a persisted chunk -> the worker that holds it; empty without a cluster."""
    try:
        from distributed import futures_of, get_client, wait

        client = get_client()
    except (ImportError, ValueError):
        return {}
    futures = futures_of(X)
    if not futures:
        return {}
    wait(futures)  # a pending chunk has no worker yet
    holders = client.who_has(futures)
    return {future.key: next(iter(holders[future.key])) for future in futures if holders.get(future.key)}


def _each(
    chunks: list[Any],
    weights: list[Array | None],
    frame: Frame,
    function: Callable[..., Any],
    arguments: tuple[object, ...],
) -> list[Any]:
    """The statistics of each chunk of a task; None for a chunk whose weights are all 0."""
    answers = []
    with kernels.one_thread():
        for X, weight in zip(chunks, weights, strict=True):
            if weight is not None and not weight.all():
                X, weight = X[weight > 0], weight[weight > 0]
            block = block_in_frame(np.ascontiguousarray(X), weight, frame)
            answers.append(function(block, *arguments) if len(X) else None)
    return answers


def _rows(
    X: NDArray[Any], frame: Frame, function: Callable[..., NDArray[Any]], arguments: tuple[object, ...]
) -> NDArray[Any]:
    with kernels.one_thread():
        return function(block_in_frame(np.ascontiguousarray(X), None, frame), *arguments)
