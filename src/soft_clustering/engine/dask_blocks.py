"""Rows of a Dask array: the same statistics, one task per thread of the cluster.

A task works through a group of chunks and merges their statistics along a fixed binary tree over the numbers of the
chunks; further tasks merge what the groups leave, so that one merged value reaches the client. The tree does not depend
on the grouping: the result is bitwise the same for any number of workers. Each group is described once, before the
first pass: by the chunks that a worker holds, or by the small graphs that read them one after the other. A pass then
sends the state to the groups and nothing that grows with the number of chunks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import dask
import dask.array
import dask.multiprocessing
import numpy as np
from dask.core import get_deps
from dask.local import get_sync
from dask.system import CPU_COUNT
from numpy.typing import NDArray

from .. import kernels
from .._types import Array
from .blocks import Block, Blocks, Extent, Frame, M, Moments, block_in_frame, extent, moments_of

if TYPE_CHECKING:
    from distributed import Client

_SAMPLE = 20_000  # rows to seed from
_SMALLEST_GROUP = 1 << 20  # numbers in a group: the work on fewer costs less than the task
_SMALLEST_BLOCK = 4096  # rows in a block: the statistics of fewer may be larger than the rows
_AT_ONCE = 8  # chunks whose memberships are in memory at the same time
_FAN_IN = 8  # groups that one task merges
_SHARED = 3  # graphs of chunks that add up to more than this times the whole graph share much of their work
_LOST = {"CancelledError", "CommClosedError", "FutureCancelledError"}  # what Dask says when its scheduler is gone
_LARGE = 1 << 20  # bytes of an array inside a graph that should not travel with every group


class DaskBlocks(Blocks):
    """The chunks of a Dask array (n, d), chunked along the rows, with weights (n,) or none."""

    def __init__(
        self,
        X: dask.array.Array,
        weight: Array | dask.array.Array | None,
        frame: Frame | None = None,
        mean_variance: float = np.nan,
        groups: Groups | None = None,
    ) -> None:
        self.X, self.weight, self.mean_variance = X, weight, mean_variance
        self.n_input, self.d = X.shape
        self.dtype, self.is_sparse, self.kept = X.dtype, False, None
        self.frame = frame or Frame(np.zeros(self.d), 1.0)
        self._groups = groups or Groups(X, weight)

    def in_subspace(self) -> Blocks:
        """The rows unchanged."""
        return self

    def in_frame(self, frame: Frame, mean_variance: float) -> DaskBlocks:
        """The same rows in other coordinates."""
        return DaskBlocks(self.X, self.weight, frame, mean_variance, self._groups)

    @property
    def n(self) -> int:
        """The number of rows of positive weight."""
        return self.n_input if self.weight is None else self._groups.survey.n

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.n_input) if self.weight is None else self._groups.survey.moments.weight

    def first_row(self) -> Array:
        """The first row of positive weight, in input units."""
        return self._groups.survey.origin

    def moments(self, frame: Frame) -> Moments:
        """Moments in the coordinates of a frame; those about the first row are known from the survey."""
        survey = self._groups.survey
        if np.array_equal(frame.shift, survey.origin) and np.all(frame.scale == 1):
            return survey.moments
        return super().moments(frame)

    def extent(self) -> Extent:
        """The extent of the rows, known from the survey."""
        return self._groups.survey.extent

    def reduce(self, function: Callable[..., M], *arguments: object) -> M:
        """Merge the results of ``function(block, *arguments)`` along the tree over the chunks."""
        merged: M = self._groups.reduce(function, arguments, self.frame)
        return merged

    def map_rows(self, function: Callable[..., NDArray[Any]], *arguments: object) -> Any:
        """The rows that ``function(block, *arguments)`` returns, as a lazy Dask array."""
        frame = self.frame
        like = function(block_in_frame(np.zeros((1, self.d), dtype=self.dtype), None, frame), *arguments)
        chunks = (self.X.chunks[0], *((size,) for size in like.shape[1:]))
        return self.X.map_blocks(
            _rows, frame, function, arguments, chunks=chunks, drop_axis=1 if like.ndim == 1 else None, meta=like[:0]
        )

    def row_parts(self, function: Callable[..., Any], *arguments: object) -> Iterator[Any]:
        """What ``function(block, *arguments)`` returns for each chunk, in their order, a few chunks at a time."""
        rows = [
            dask.delayed(_rows, pure=False)(chunk, self.frame, function, arguments)
            for chunk in self.X.to_delayed().ravel()
        ]
        for low in range(0, len(rows), _AT_ONCE):
            yield from dask.compute(*rows[low : low + _AT_ONCE])

    def local(self, rng: np.random.RandomState) -> Blocks:
        """A random sample of the rows, in memory: each chunk draws its share of it."""
        counts = self._groups.survey.counts.tolist()
        shares = {start: (count, 0) for start, count in counts}
        left, wanted = self.n, min(_SAMPLE, self.n)
        if wanted < left:  # all rows are drawn without chance, so that small data start as in memory
            for start, count in counts:
                share = (
                    wanted if left == count else int(rng.hypergeometric(count, left - count, wanted)) if wanted else 0
                )
                shares[start] = (share, int(rng.randint(2**31 - 1)))
                left, wanted = left - count, wanted - share
        sample = self.reduce(draw_rows, shares)
        order = np.argsort(sample.rows)
        weight = None if self.weight is None else sample.weight[order]
        return Blocks(
            [Block(sample.X[order], weight, self.frame)], self.mean_variance, sample.rows[order], n_input=self.n_input
        )

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[Block]:
        """Raise an error: chunks take the place of batches in Dask."""
        raise ValueError("batch_size must be None for Dask arrays: use partial_fit on their chunks instead.")


# What passes over the chunks ------------------------------------------------------------------------------------------


class Work:
    """What a task does with each chunk; no dataclass, in which Dask would look for collections."""

    __slots__ = ("arguments", "check", "frame", "function", "joined")

    def __init__(
        self, function: Callable[..., Any], arguments: tuple[object, ...], frame: Frame, check: bool, joined: int
    ) -> None:
        self.function, self.arguments, self.frame = function, arguments, frame
        self.check = check  # whether nobody has looked for NaN yet
        self.joined = joined  # consecutive chunks that are one block

    def on(self, X: NDArray[Any], weight: Array | None, start: int) -> Any:
        """The result of rows, the first of which is row ``start``; None if all their weights are 0."""
        rows = None
        if weight is not None and not weight.all():
            rows = np.flatnonzero(weight)
            X, weight = X[rows], weight[rows]
        if not len(X):
            return None
        block = block_in_frame(np.ascontiguousarray(X), weight, self.frame)
        block.start, block.kept = start, rows
        return self.function(block, *self.arguments)


class Survey(NamedTuple):
    """What is asked of the data before a fit, in one pass."""

    origin: Array  # the first row of positive weight
    moments: Moments  # about the origin
    extent: Extent
    counts: NDArray[np.int64]  # first row and rows of positive weight of each chunk
    heaviest: float  # the largest weight

    @property
    def n(self) -> int:
        """Rows of positive weight."""
        return int(self.counts[:, 1].sum())

    def merge(self, other: Survey) -> Survey:
        """That of both parts together, about the origin of the first."""
        moved = other.moments.about(other.origin - self.origin)
        return Survey(
            self.origin,
            self.moments.merge(moved),
            self.extent.merge(other.extent),
            np.concatenate([self.counts, other.counts]),
            max(self.heaviest, other.heaviest),
        )


def survey_of(block: Block) -> Survey:
    """The survey of a chunk."""
    origin = np.asarray(block.X[0], dtype=np.float64)
    heaviest = 1.0 if block.weight is None else float(block.weight.max())
    counts = np.array([[block.start, block.n]])
    return Survey(origin, moments_of(block, Frame(origin, 1.0)), extent(block), counts, heaviest)


def _check_rows(X: NDArray[Any], weight: Array | None, start: int | None) -> None:
    """Raise an error that names the rows of a chunk that are not finite, or have no proper weight.

    ``start`` is the row that the chunk begins with, None if it is not known. A row of weight 0 may be anything.
    """
    checks = [("Input X contains NaN or infinity", np.isfinite(X).all(axis=1))]
    if weight is not None:
        checks = [(checks[0][0], checks[0][1] | (weight == 0))]
        checks.append(("sample_weight must not be negative or NaN", np.isfinite(weight) & (weight >= 0)))
    for complaint, good in checks:
        if not good.all():
            rows = (start or 0) + np.flatnonzero(~good)
            named = ", ".join(map(str, rows[:5])) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
            where = "of a chunk" if start is None else f"in the chunk that begins with row {start}"
            raise ValueError(f"{complaint}: rows {named}, {where}.")


class Drawn(NamedTuple):
    """Rows that were drawn: their numbers, entries and weights."""

    rows: NDArray[np.int64]
    X: NDArray[Any]
    weight: Array

    def merge(self, other: Drawn) -> Drawn:
        """Those of both parts together."""
        return Drawn(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


def draw_rows(block: Block, shares: dict[int, tuple[int, int]]) -> Drawn:
    """The rows that a chunk contributes to a sample: ``shares`` has their number and a seed for its first row."""
    size, seed = shares[block.start]
    chosen = np.sort(np.random.RandomState(seed).permutation(block.n)[:size])
    rows = block.start + (chosen if block.kept is None else block.kept[chosen])
    weight = np.ones(size) if block.weight is None else block.weight[chosen]
    return Drawn(rows.astype(np.int64), np.asarray(block.X[chosen]), weight)


# Groups of chunks -----------------------------------------------------------------------------------------------------


class Tree:
    """Results of chunks, merged as far as they are complete subtrees of the binary tree over all chunks.

    A node is (level, number): chunk c is (0, c), and (l, i) holds (l - 1, 2 i) and (l - 1, 2 i + 1).
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, int], Any] = {}

    def add(self, level: int, number: int, value: Any) -> None:
        """Add a node, and merge it with its sibling if that is there, and so on."""
        while (level, number ^ 1) in self.nodes:
            pair = (
                (self.nodes.pop((level, number ^ 1)), value)
                if number % 2
                else (value, self.nodes.pop((level, number ^ 1)))
            )
            value, level, number = _joined(*pair), level + 1, number // 2
        self.nodes[level, number] = value

    def total(self) -> Any:
        """All of it merged, from the first chunk to the last."""
        in_order = sorted(self.nodes, key=lambda node: node[1] << node[0])
        value = None
        for node in in_order:
            value = _joined(value, self.nodes[node])
        return value


def _joined(first: Any, second: Any) -> Any:
    """Two results merged; None stands for a chunk without rows of positive weight."""
    return second if first is None else first if second is None else first.merge(second)


class Place(NamedTuple):
    """Which chunk this is, and what shape it should have."""

    number: int
    start: int  # its first row
    shape: tuple[int, int]


Part = tuple[Place, Any, Array | None]  # a chunk with its rows and their weights


class Held:
    """Chunks in the memory of a worker. It is no container to Dask, so their bytes are not counted twice."""

    __slots__ = ("parts",)

    def __init__(self, places: list[Place], chunks: list[Any], weights: list[Array | None]) -> None:
        self.parts = list(zip(places, chunks, weights, strict=True))

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)


class Read:
    """Chunks that are computed one after the other when they are needed, by small graphs of their own."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[tuple[Place, dict[Any, Any], list[Any]]]) -> None:
        self.parts = parts  # with the keys of the chunk and of its weights in the graph

    def __iter__(self) -> Iterator[Part]:
        for place, graph, keys in self.parts:
            try:
                X, *weight = get_sync(graph, keys)
            except Exception as error:
                raise RuntimeError(
                    f"chunk {place.number} of X (from row {place.start}) could not be computed: {error}"
                ) from error
            yield place, X, weight[0] if weight else None


def on_group(group: Iterable[Part], work: Work) -> Tree:
    """The merged results of the chunks of a group."""
    tree = Tree()
    with kernels.one_thread():
        for number, parts in groupby(group, key=lambda part: part[0].number // work.joined):
            start: int | None = None
            rows: list[Any] = []
            weights: list[Any] = []
            for place, X, weight in parts:
                if X.shape != place.shape:
                    raise ValueError(f"chunk {place.number} of X has shape {X.shape} instead of {place.shape}.")
                if work.check:
                    _check_rows(X, weight, place.start)
                start = place.start if start is None else start
                rows.append(X)
                weights.append(weight)
            X = rows[0] if len(rows) == 1 else np.concatenate(rows)
            weight = weights[0] if len(rows) == 1 or weights[0] is None else np.concatenate(weights)
            tree.add(0, number, work.on(X, weight, start or 0))
    return tree


def merged(trees: Sequence[Tree]) -> Tree:
    """The results of several groups together."""
    tree = Tree()
    for node, value in sorted((item for part in trees for item in part.nodes.items()), key=lambda item: item[0]):
        tree.add(*node, value)
    return tree


class Groups:
    """The chunks of an array and of its weights, in groups: one task a pass for each."""

    def __init__(self, X: dask.array.Array, weight: Array | dask.array.Array | None) -> None:
        self.X, self.sizes = X, X.chunks[0]
        self.starts = np.cumsum([0, *self.sizes]).tolist()
        self.weight: dask.array.Array | None = (
            _chunked(weight, self.starts) if isinstance(weight, np.ndarray) else weight
        )

    @cached_property
    def survey(self) -> Survey:
        """The survey of all rows; an error if they cannot be fitted."""
        survey: Survey | None = self.reduce(survey_of, (), Frame(np.zeros(self.X.shape[1]), 1.0))
        if survey is None:
            raise ValueError("sample_weight must have a positive entry. Got only zeros.")
        if not 1e-100 < survey.heaviest < 1e100:
            most = f"{survey.heaviest:.3g}"
            raise ValueError(f"sample_weight must have its largest entry between 1e-100 and 1e100. Got {most} instead.")
        return survey

    def reduce(self, function: Callable[..., Any], arguments: tuple[object, ...], frame: Frame) -> Any:
        """The merged results of all chunks."""
        work = Work(function, arguments, frame, "survey" not in vars(self), self._joined)
        parts = [dask.delayed(on_group, pure=False)(group, work) for group in self._described]
        while len(parts) > 1:
            batches = [parts[i : i + _FAN_IN] for i in range(0, len(parts), _FAN_IN)]
            parts = [dask.delayed(merged, pure=False)(batch) for batch in batches]
        try:
            (tree,) = dask.compute(*parts, optimize_graph=False)
        except Exception as error:
            if type(error).__name__ in _LOST:
                raise RuntimeError(
                    "the Dask cluster was lost during the fit: start one, persist the data on it and fit again."
                ) from error
            raise
        return tree.total()

    @cached_property
    def _described(self) -> list[Any]:
        """What a task needs to know of each group, made once."""
        client, held = _client(), _holders(self.X)
        groups = self._numbers(client, held)
        if not held:
            graphs = self._graphs(travels=client is not None or dask.base.get_scheduler() is dask.multiprocessing.get)
            if graphs is not None:
                parts = [Read([graphs[c] for c in group]) for group in groups]
                return parts if client is None else client.map(_same, parts, pure=False)
        chunks = self.X.to_delayed().ravel().tolist()
        weights = [None] * len(chunks) if self.weight is None else self.weight.to_delayed().ravel().tolist()
        described = [
            dask.delayed(Held, pure=False)(
                [self._place(c) for c in group], [chunks[c] for c in group], [weights[c] for c in group]
            )
            for group in groups
        ]
        return client.compute(described, optimize_graph=False) if held and client is not None else described

    def _numbers(self, client: Client | None, held: dict[int, str]) -> list[list[int]]:
        """The numbers of the chunks of each group: as many groups as threads, chunks of one worker together."""
        if client is None:
            threads = {"": int(dask.config.get("num_workers", None) or CPU_COUNT)}
        else:
            threads = dict(client.nthreads()) or {"": 1}
        most = max(1, self.X.shape[0] * self.X.shape[1] // _SMALLEST_GROUP)
        blocks = [list(range(len(self.sizes)))[i : i + self._joined] for i in range(0, len(self.sizes), self._joined)]
        by_worker: dict[str, list[list[int]]] = defaultdict(list)
        for block in blocks:
            by_worker[held.get(block[0], "")].append(block)
        groups = []
        for worker, numbers in by_worker.items():
            share = threads.get(worker, sum(threads.values()))
            parts = max(1, min(share, most * len(numbers) // len(blocks), len(numbers)))
            edges = np.linspace(0, len(numbers), parts + 1).astype(int).tolist()
            groups += [[c for block in numbers[low:high] for c in block] for low, high in pairwise(edges)]
        return groups

    @cached_property
    def _joined(self) -> int:
        """How many consecutive chunks are one block: as many as make it large enough to be worth its statistics."""
        return max(1, _SMALLEST_BLOCK * len(self.sizes) // int(self.X.shape[0]))

    def _place(self, number: int) -> Place:
        return Place(number, self.starts[number], (self.sizes[number], self.X.shape[1]))

    def _graphs(self, travels: bool) -> list[tuple[Place, dict[Any, Any], list[Any]]] | None:
        """A small graph for each chunk; None if chunks share much work, or large arrays that would travel with each."""
        arrays = dask.optimize(self.X) if self.weight is None else dask.optimize(self.X, self.weight)
        graph: dict[Any, Any] = {}
        for array in arrays:
            graph |= dict(array.__dask_graph__())
        dependencies, _ = get_deps(graph)
        if travels and any(_bytes_inside(task) > _LARGE for task in graph.values()):
            return None
        graphs, total = [], 0
        for c in range(len(self.sizes)):
            keys = [(array.name, c, 0) if array.ndim == 2 else (array.name, c) for array in arrays]
            wanted, part = list(keys), {}
            while wanted:
                name = wanted.pop()
                if name not in part:
                    part[name] = graph[name]
                    wanted += dependencies[name]
            total += len(part)
            if total > _SHARED * len(graph) + _SHARED:
                return None
            graphs.append((self._place(c), part, keys))
        return graphs


def _chunked(weight: Array, starts: list[int]) -> dask.array.Array:
    """Weights in memory as a Dask array whose chunks are separate pieces of the graph."""
    name = f"weight-{dask.base.tokenize(weight)}"
    graph = {(name, c): weight[low:high] for c, (low, high) in enumerate(pairwise(starts))}
    return dask.array.Array(graph, name, (tuple(np.diff(starts).tolist()),), dtype=np.float64)


def _bytes_inside(task: Any) -> int:
    """The bytes of an array that stands in a graph itself."""
    value = getattr(task, "value", task)
    return int(getattr(value, "nbytes", 0))


def _same(group: Read) -> Read:
    """The group: as the result of a task, the cluster keeps it and can make it again."""
    return group


def _client() -> Client | None:
    """The client of the cluster that computes, None if another scheduler does."""
    owner = getattr(dask.base.get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "who_has") else None


def _holders(X: dask.array.Array) -> dict[int, str]:
    """Number of a persisted chunk -> the worker that holds it; empty if the array is not persisted on a cluster."""
    client = _client()
    if client is None:
        return {}
    from distributed import futures_of, wait

    futures = futures_of(X)
    if not futures:
        return {}
    wait(futures)  # a pending chunk has no worker yet
    holders = client.who_has(futures)
    numbers = {(X.name, c, 0): c for c in range(X.numblocks[0])}
    return {
        numbers[future.key]: next(iter(holders[future.key]))
        for future in futures
        if future.key in numbers and holders.get(future.key)
    }


def _rows(
    X: NDArray[Any], frame: Frame, function: Callable[..., NDArray[Any]], arguments: tuple[object, ...]
) -> NDArray[Any]:
    """The rows that a function returns for a chunk."""
    _check_rows(X, None, None)
    with kernels.one_thread():
        return function(block_in_frame(np.ascontiguousarray(X), None, frame), *arguments)
