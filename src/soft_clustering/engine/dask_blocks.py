"""Rows of a Dask array: the same statistics, one task per thread of the cluster.

A task works through a group of chunks and merges their statistics along a fixed binary tree over the numbers of the
chunks; further tasks merge what the groups leave, so that one merged value reaches the client. The tree does not depend
on the grouping: the result is bitwise the same for any number of workers. Each group is described once, before the
first pass: by the chunks that a worker holds, or by the small graphs that read them one after the other. A pass then
sends the state to the groups and nothing that grows with the number of chunks.
"""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby, islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import dask
import dask.array
import dask.multiprocessing
import numpy as np
from dask.core import get_deps
from dask.local import get_sync
from dask.sizeof import sizeof
from dask.system import CPU_COUNT
from numpy.typing import NDArray
from scipy import sparse

from .. import kernels
from .._text import listed
from .._types import Array
from ..inputs.features import canonical
from .blocks import (
    NO_ROWS,
    Block,
    Blocks,
    Extent,
    Frame,
    M,
    Moments,
    block_in_frame,
    extent,
    first_values,
    join_rows,
    moments_of,
    rows_to_keep,
)

if TYPE_CHECKING:
    from distributed import Client

_SAMPLE = 20_000  # rows to seed from
_SMALLEST_GROUP = 1 << 20  # numbers in a group: the work on fewer costs less than the task
_SMALLEST_BLOCK = 4096  # rows in a block: the statistics of fewer may be larger than the rows
_AT_ONCE = 8  # chunks whose memberships are in memory at the same time
_FAN_IN = 8  # groups that one task merges
_SHARED = 3  # graphs of chunks that add up to more than this times the whole graph share much of their work
_LOST = {"CancelledError", "CommClosedError", "FutureCancelledError"}  # what Dask says when its scheduler is gone
_PATIENCE = 60.0  # seconds of a pass between looks for paused workers
_LARGE = 1 << 20  # bytes of an array inside a graph that should not travel with every group


class DaskBlocks(Blocks):
    """The chunks of a Dask array (n, d), chunked along the rows, with weights (n,) or none."""

    lazy = True

    def __init__(
        self,
        X: dask.array.Array,
        weight: Array | dask.array.Array | None,
        frame: Frame | None = None,
        mean_variance: float = np.nan,
        groups: Groups | None = None,
        *,
        fitting: bool = False,
    ) -> None:
        self.X, self.weight, self.mean_variance = X, weight, mean_variance
        self.n_input, self.d = X.shape
        self.kept = None
        self.frame = frame or Frame(np.zeros(self.d), 1.0)
        self._groups = groups or Groups(X, weight, self.frame.gaps, fitting)
        self.dtype, self.is_sparse = self._groups.kind

    def in_subspace(self) -> Blocks:
        """The rows unchanged."""
        return self

    def in_frame(self, frame: Frame, mean_variance: float) -> DaskBlocks:
        """The same rows in other coordinates."""
        return DaskBlocks(self.X, self.weight, frame, mean_variance, self._groups)

    @property
    def n(self) -> int:
        """The number of rows of positive weight."""
        return self._groups.survey.n if self._groups.leaves_out else self.n_input

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return self._groups.survey.moments.weight if self._groups.leaves_out else float(self.n_input)

    def origin(self) -> Array:
        """The first value of each feature in rows of positive weight, in input units; NaN if it has none."""
        return self._groups.survey.origin

    @property
    def has_gaps(self) -> bool:
        """Whether values of the rows are missing, known from the survey."""
        return self.frame.gaps and self._groups.survey.gaps

    def moments(self, frame: Frame) -> Moments:
        """Moments in the coordinates of a frame; those about the first row are known from the survey."""
        survey = self._groups.survey
        if type(frame) is Frame and np.array_equal(frame.shift, survey.origin) and np.all(frame.scale == 1):
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
        kind = self._groups.kind
        zeros: Any = np.zeros((1, self.d), dtype=kind.dtype)
        row = sparse.csr_array(zeros) if kind.is_sparse else zeros
        like = function(block_in_frame(row, None, self.frame), *arguments)
        chunks = (self.X.chunks[0], *((size,) for size in like.shape[1:]))
        return self.X.map_blocks(
            _lazy_rows,
            kind,
            (self.frame, function, arguments),
            chunks=chunks,
            drop_axis=1 if like.ndim == 1 else None,
            meta=like[:0],
        )

    def row_parts(self, function: Callable[..., Any], *arguments: object) -> Iterator[Any]:
        """What ``function(block, *arguments)`` returns for each chunk, in their order, a few chunks at a time."""
        chunks = self._groups.described([[c] for c in range(self.X.numblocks[0])])
        rows = [dask.delayed(_rows, pure=False)(chunk, self.frame, function, arguments) for chunk in chunks]
        for low in range(0, len(rows), _AT_ONCE):
            yield from dask.compute(*rows[low : low + _AT_ONCE], optimize_graph=False)

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

    __slots__ = ("arguments", "check", "fitting", "frame", "function", "joined")

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: tuple[object, ...],
        frame: Frame,
        fitting: bool,
        check: bool,
        joined: int,
    ) -> None:
        self.function, self.arguments, self.frame = function, arguments, frame
        self.fitting = fitting  # whether rows without any value are left out
        self.check = check  # whether nobody has looked for NaN yet
        self.joined = joined  # consecutive chunks that are one block

    def on(self, X: Any, weight: Array | None, start: int) -> Any:
        """The result of rows, the first of which is row ``start``; None if all of them are left out."""
        keep = rows_to_keep(X, weight, self.fitting and self.frame.gaps)
        rows = None if keep is None else np.flatnonzero(keep)
        if rows is not None:
            X, weight = X[rows], None if weight is None else weight[rows]
        if not X.shape[0]:
            return None
        block = block_in_frame(X, weight, self.frame)
        block.start, block.kept = start, rows
        return self.function(block, *self.arguments)


class Survey(NamedTuple):
    """What is asked of the data before a fit, in one pass."""

    origin: Array  # the first value of each feature, NaN if it has none; 0 of CSR rows, which are not shifted
    moments: Moments  # about the origin
    extent: Extent
    counts: NDArray[np.int64]  # first row and rows of positive weight of each chunk
    heaviest: float  # the largest weight
    gaps: bool  # whether values are missing

    @property
    def n(self) -> int:
        """Rows that are not left out."""
        return int(self.counts[:, 1].sum())

    def merge(self, other: Survey) -> Survey:
        """That of both parts together, about the origin of the first."""
        origin = np.where(np.isnan(self.origin), other.origin, self.origin)
        moved = other.moments.about(np.nan_to_num(other.origin - origin))
        return Survey(
            origin,
            self.moments.merge(moved),
            self.extent.merge(other.extent),
            np.concatenate([self.counts, other.counts]),
            max(self.heaviest, other.heaviest),
            self.gaps or other.gaps,
        )


def survey_of(block: Block) -> Survey:
    """The survey of a chunk."""
    origin = np.zeros(block.d) if sparse.issparse(block.X) else first_values(block)
    heaviest = 1.0 if block.weight is None else float(block.weight.max())
    counts = np.array([[block.start, block.n]])
    moments = moments_of(block, Frame(np.nan_to_num(origin), 1.0))
    gaps = block.frame.gaps and bool(np.any(moments.seen < moments.weight))
    return Survey(origin, moments, extent(block), counts, heaviest, gaps)


def _check_rows(X: Any, weight: Array | None, start: int, gaps: bool) -> None:
    """Raise an error that names the rows of a chunk that are not finite, or have no proper weight.

    ``start`` is the row that the chunk begins with; NaN is a missing value if there may be ``gaps``. A row of weight 0
    may be anything.
    """
    if gaps:
        checks = [("Input X contains infinity", ~np.isinf(X).any(axis=1))]
    else:
        checks = [("Input X contains NaN or infinity", _finite_rows(X))]
    if weight is not None:
        checks = [(checks[0][0], checks[0][1] | (weight == 0))]
        checks.append(("sample_weight must not be negative or NaN", np.isfinite(weight) & (weight >= 0)))
    for complaint, good in checks:
        if not good.all():
            rows = (start + np.flatnonzero(~good)).tolist()
            raise ValueError(f"{complaint}: rows {listed(rows)}, in the chunk that begins with row {start}.")


def _finite_rows(X: Any) -> NDArray[np.bool_]:
    """Which rows of a chunk have no NaN and no infinity."""
    if not sparse.issparse(X):
        return np.asarray(np.isfinite(X).all(axis=1))
    bad_before = np.append(0, np.cumsum(~np.isfinite(X.data)))[X.indptr]
    return np.asarray(np.diff(bad_before) == 0)


class Drawn(NamedTuple):
    """Rows that were drawn: their numbers, entries and weights."""

    rows: NDArray[np.int64]
    X: Any
    weight: Array

    def merge(self, other: Drawn) -> Drawn:
        """Those of both parts together."""
        return Drawn(*(join_rows(pair) for pair in zip(self, other, strict=True)))


def draw_rows(block: Block, shares: dict[int, tuple[int, int]]) -> Drawn:
    """The rows that a chunk contributes to a sample: ``shares`` has their number and a seed for its first row."""
    size, seed = shares[block.start]
    chosen = np.sort(np.random.RandomState(seed).permutation(block.n)[:size])
    rows = block.start + (chosen if block.kept is None else block.kept[chosen])
    weight = np.ones(size) if block.weight is None else block.weight[chosen]
    return Drawn(rows.astype(np.int64), block.X[chosen], weight)


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


def bytes_of_tree(tree: Tree) -> int:
    """The size of all results: Dask counts the memory of its workers, and what they send, by it."""
    return int(sizeof(tree.nodes))


sizeof.register(Tree, bytes_of_tree)


def _joined(first: Any, second: Any) -> Any:
    """Two results merged; None stands for a chunk without rows of positive weight."""
    return second if first is None else first if second is None else first.merge(second)


class Kind(NamedTuple):
    """What the rows of all chunks are read as: C-ordered arrays or CSR matrices of this type."""

    dtype: np.dtype[Any]
    is_sparse: bool


class Place(NamedTuple):
    """Which chunk this is, and what it should be."""

    number: int
    start: int  # its first row
    shape: tuple[int, int]
    kind: Kind

    def rows(self, X: Any) -> Any:
        """The rows of the chunk as the kernels read them; an error if they are not what Dask was told."""
        if sparse.issparse(X) != self.kind.is_sparse:
            told, meta = ("dense", "scipy.sparse.csr_array((0, 0))")
            if self.kind.is_sparse:
                told, meta = ("sparse", "numpy.empty((0, 0))")
            raise ValueError(
                f"chunk {self.number} of X is a {type(X).__name__}, but Dask was told that it is {told}: where the "
                f"array is made, by map_blocks or from_delayed, pass meta={meta}."
            )
        if X.shape != self.shape:
            raise ValueError(f"chunk {self.number} of X has shape {X.shape} instead of {self.shape}.")
        X = canonical(X) if self.kind.is_sparse else np.ascontiguousarray(X)
        return X.astype(self.kind.dtype, copy=False)


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
                rows.append(place.rows(X))
                weights.append(weight)
                if work.check:
                    _check_rows(rows[-1], weight, place.start, work.frame.gaps)
                start = place.start if start is None else start
            weight = None if weights[0] is None else join_rows(weights)
            tree.add(0, number, work.on(join_rows(rows), weight, start or 0))
    return tree


def merged(trees: Sequence[Tree]) -> Tree:
    """The results of several groups together."""
    tree = Tree()
    for node, value in sorted((item for part in trees for item in part.nodes.items()), key=lambda item: item[0]):
        tree.add(*node, value)
    return tree


class Groups:
    """The chunks of an array and of its weights, in groups: one task a pass for each."""

    def __init__(
        self,
        X: dask.array.Array,
        weight: Array | dask.array.Array | None,
        gaps: bool = False,
        fitting: bool = False,
    ) -> None:
        self.X, self.sizes = X, X.chunks[0]
        self.gaps, self.fitting = gaps, fitting
        self.leaves_out = weight is not None or (gaps and fitting)  # whether there may be rows that do not count
        dtype = X.dtype if X.dtype in (np.float64, np.float32) else np.dtype(np.float64)
        self.kind = Kind(dtype, sparse.issparse(X._meta))
        self.starts = np.cumsum([0, *self.sizes]).tolist()
        self.weight: dask.array.Array | None = (
            _chunked(weight, self.starts) if isinstance(weight, np.ndarray) else weight
        )

    @cached_property
    def survey(self) -> Survey:
        """The survey of all rows; an error if they cannot be fitted."""
        survey: Survey | None = self.reduce(survey_of, (), Frame(np.zeros(self.X.shape[1]), 1.0, self.gaps))
        if survey is None:
            raise ValueError(
                NO_ROWS if self.weight is None else "sample_weight must have a positive entry. Got only zeros."
            )
        if not 1e-100 < survey.heaviest < 1e100:
            most = f"{survey.heaviest:.3g}"
            raise ValueError(f"sample_weight must have its largest entry between 1e-100 and 1e100. Got {most} instead.")
        return survey

    def reduce(self, function: Callable[..., Any], arguments: tuple[object, ...], frame: Frame) -> Any:
        """The merged results of all chunks."""
        work = Work(function, arguments, frame, self.fitting, "survey" not in vars(self), self._joined)
        parts = [dask.delayed(on_group, pure=False)(group, work) for group in self._described]
        while len(parts) > 1:
            batches = [parts[i : i + _FAN_IN] for i in range(0, len(parts), _FAN_IN)]
            parts = [dask.delayed(merged, pure=False)(batch) for batch in batches]
        try:
            with _naming_paused_workers():
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
        """What a task of a pass needs to know of each group, made once."""
        return self.described(self._numbers(_client(), self._holders))

    def described(self, groups: list[list[int]]) -> list[Any]:
        """What a task needs to know of groups of chunks, given by their numbers."""
        client, lazy = _client(), not (_futures(self.X) or _futures(self.weight))
        if lazy:
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
        # What is only made of persisted chunks is made again in each pass: it may be larger than they are.
        return client.compute(described, optimize_graph=False) if self._persisted and client is not None else described

    @cached_property
    def _persisted(self) -> bool:
        """Whether the chunks themselves are in the memory of a cluster."""
        return {future.key for future in _futures(self.X)} >= {(self.X.name, c, 0) for c in range(len(self.sizes))}

    @cached_property
    def _holders(self) -> dict[int, str]:
        """Number of a chunk -> a worker that holds it, or a persisted chunk that it is made of; empty if nothing is."""
        client, futures = _client(), _futures(self.X)
        if client is None or not futures:
            return {}
        from distributed import wait

        wait(futures)  # a pending chunk has no worker yet
        workers = {key: next(iter(found)) for key, found in client.who_has(futures).items() if found}
        graph = dict(self.X.__dask_graph__())
        dependencies, _ = get_deps(graph)
        behind = {c: _ancestors([(self.X.name, c, 0)], dependencies) for c in range(len(self.sizes))}
        first = {c: next((workers[key] for key in keys if key in workers), None) for c, keys in behind.items()}
        return {c: worker for c, worker in first.items() if worker is not None}

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
        if self._persisted and by_worker.keys() <= threads.keys() and sum(threads.values()) <= min(most, len(blocks)):
            by_worker = _evened_out(by_worker, threads)
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
        return Place(number, self.starts[number], (self.sizes[number], self.X.shape[1]), self.kind)

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
            part = {key: graph[key] for key in _ancestors(keys, dependencies)}
            total += len(part)
            if total > _SHARED * len(graph) + _SHARED:
                return None
            graphs.append((self._place(c), part, keys))
        return graphs


def _evened_out(by_worker: dict[str, list[list[int]]], threads: dict[str, int]) -> dict[str, list[list[int]]]:
    """The same blocks, moved from workers that hold more than the share of their threads to those that hold less.

    The slowest worker sets the pace of every pass, while a block travels once.
    """
    edges = np.cumsum([0, *threads.values()]) * sum(map(len, by_worker.values())) // sum(threads.values())
    shares = dict(zip(threads, np.diff(edges).tolist(), strict=True))
    kept = {worker: by_worker.get(worker, [])[:share] for worker, share in shares.items()}
    surplus = iter([block for worker, blocks in by_worker.items() for block in blocks[shares[worker] :]])
    return {
        worker: sorted([*blocks, *islice(surplus, shares[worker] - len(blocks))]) for worker, blocks in kept.items()
    }


def _chunked(weight: Array, starts: list[int]) -> dask.array.Array:
    """Weights in memory as a Dask array whose chunks are separate pieces of the graph."""
    name = f"weight-{dask.base.tokenize(weight)}"
    graph = {(name, c): weight[low:high] for c, (low, high) in enumerate(pairwise(starts))}
    return dask.array.Array(graph, name, (tuple(np.diff(starts).tolist()),), dtype=np.float64)


def _ancestors(keys: Iterable[Any], dependencies: dict[Any, Any]) -> Iterator[Any]:
    """Keys of a graph, and all that they depend on, each once."""
    wanted, seen = list(keys), set()
    while wanted:
        key = wanted.pop()
        if key not in seen:
            seen.add(key)
            yield key
            wanted += dependencies[key]


def _bytes_inside(task: Any) -> int:
    """The bytes of an array or a sparse matrix that stands in a graph itself."""
    value = getattr(task, "value", task)
    return int(getattr(value.data if sparse.issparse(value) else value, "nbytes", 0))


def _same(group: Read) -> Read:
    """The group: as the result of a task, the cluster keeps it and can make it again."""
    return group


def _client() -> Client | None:
    """The client of the cluster that computes, None if another scheduler does."""
    owner = getattr(dask.base.get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "who_has") else None


@contextmanager
def _naming_paused_workers() -> Iterator[None]:
    """Warn if the block takes long while workers are paused: their tasks wait, and only their own logs say so."""
    client = _client()
    if client is None:
        yield
        return
    over = threading.Event()
    threading.Thread(target=_watch, args=[client, over], daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(client: Client, over: threading.Event) -> None:
    """Look for paused workers now and then until a pass is over, and warn if there are any, once."""
    while not over.wait(_PATIENCE):
        try:
            workers = client.scheduler_info()["workers"]
        except Exception:  # the cluster is lost, as the pass itself will say
            return
        paused = [address for address, worker in workers.items() if worker["status"] == "paused"]
        if paused:
            warnings.warn(
                f"a pass over X has taken more than {_PATIENCE:g} s, and {len(paused)} of {len(workers)} Dask workers "
                f"are paused, because their memory is nearly full: {listed(paused)}. It may wait until they resume: "
                "free memory on them, or start workers with more of it.",
                UserWarning,
                stacklevel=2,
            )
            return


def _futures(X: dask.array.Array | None) -> list[Any]:
    """The persisted parts in the graph of an array; none without a cluster."""
    if X is None or _client() is None:
        return []
    from distributed import futures_of

    futures: list[Any] = futures_of(X)
    return futures


def _rows(
    chunk: Iterable[Part], frame: Frame, function: Callable[..., NDArray[Any]], arguments: tuple[object, ...]
) -> NDArray[Any]:
    """The rows that a function returns for a group of one chunk."""
    ((place, X, _),) = chunk
    X = place.rows(X)
    _check_rows(X, None, place.start, frame.gaps)
    with kernels.one_thread():
        return function(block_in_frame(X, None, frame), *arguments)


def _lazy_rows(X: Any, kind: Kind, task: tuple[Any, Any, Any], block_info: Any) -> NDArray[Any]:
    """The rows that a function returns for a chunk that Dask has computed; ``block_info`` is what it says of it."""
    (start, end), (_, width) = block_info[0]["array-location"]
    place = Place(block_info[0]["chunk-location"][0], start, (end - start, width), kind)
    return _rows([(place, X, None)], *task)
