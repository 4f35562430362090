"""Rows in blocks, with a lazy shift and unit.

A :class:`Frame` is the coordinate system that the engine works in: z = (x - shift) * scale with the data's mean as
shift and a power of two as scale, applied while the kernels read the rows. Centring and units then cost no copy of the
data, and offsets of 1e8 or units of 1e-150 cost no accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .. import kernels
from .._text import listed
from .._types import Array, Indices, Matrix
from ..inputs.features import is_dask

if TYPE_CHECKING:
    import dask.array

Scaling = Literal["standard", "minmax"]
_PIECE = 1 << 14  # numbers in a piece of rows: malloc maps larger arrays anew each time, and NumPy is slow on smaller
_PART = 1 << 22  # numbers in the result of a part of rows: little memory, but enough work for all threads
_PART_ROWS = 1 << 10, 1 << 15  # least and most rows of a part
_IN_SPAN = 1e-12  # a point whose distance from the span is below this part of its length lies in the span
NO_ROWS = "X has no values: all entries of the rows of positive weight are NaN."
_SMALLEST = 1e-280  # squared lengths between this and its inverse have all their digits
_LIMIT = 1e100  # no coordinate of the frame is larger: squares and their sums stay finite


M = TypeVar("M")


@dataclass(frozen=True)
class Frame:
    """The coordinates z = (x - shift) * scale."""

    shift: Array
    scale: float | Array  # one unit, or one per feature
    gaps: bool = False  # whether values of the rows may be missing (NaN)

    @property
    def unit(self) -> Any:
        """The factor that multiplies each feature of the input."""
        return self.scale

    def from_input(self, points: ArrayLike) -> Array:
        """Points in input units (a dense array), in the coordinates of the frame; a missing value stays NaN."""
        with np.errstate(over="ignore"):
            z: Array = (np.asarray(points) - self.shift) * self.scale
        np.minimum(z, _LIMIT, out=z)
        return np.maximum(z, -_LIMIT, out=z)

    def to_input(self, points: Array) -> Array:
        """Points of the frame in input units."""
        return self.shift + points / self.scale

    def factors(self, rows: Matrix) -> Array | None:
        """What each of some rows is multiplied with before it is shifted and scaled, (n,); None: nothing."""
        return None


@dataclass(frozen=True)
class Sphere(Frame):
    """The unit sphere: each row is divided by its length. Rows of zeros stay what they are."""

    def from_input(self, points: ArrayLike) -> Array:
        """The directions of dense points."""
        rows = np.asarray(points)
        directions: Array = rows * unit_factors(rows)[:, None]
        return directions

    def factors(self, rows: Matrix) -> Array:
        """1 / length for each row, 0 for rows of zeros."""
        return unit_factors(rows)


@dataclass(frozen=True)
class Subspace(Frame):
    """Coordinates of ``inner`` within the span of the data, for fewer rows than features.

    The last coordinate is the distance from the span: 0 for the data themselves. Distances to points of the span are
    the same as in ``inner``.
    """

    inner: Frame = field(kw_only=True)
    basis: Array = field(kw_only=True)  # (r, d), orthonormal rows

    @property
    def unit(self) -> Any:
        """The factor that multiplies each feature of the input."""
        return self.inner.scale

    def from_input(self, points: ArrayLike) -> Array:
        """Points in input units, in the coordinates of the span."""
        if np.isnan(points).any():
            raise ValueError(
                "X contains NaN. A model that was fitted to fewer samples than features needs complete rows, as its "
                "coordinates mix the features; impute first (sklearn.impute)."
            )
        z = self.inner.from_input(points)
        within = z @ self.basis.T
        beyond = np.linalg.norm(z - within @ self.basis, axis=1)
        beyond[beyond <= _IN_SPAN * np.linalg.norm(within, axis=1)] = 0  # only rounding
        return np.column_stack([within, beyond])

    def to_input(self, points: Array) -> Array:
        """Points of the span in input units."""
        return self.inner.to_input(points[:, :-1] @ self.basis)


class Block:
    """Consecutive rows: a C-ordered array (in memory or a memory map) or a CSR matrix, with optional weights."""

    X: Any  # a Matrix; who uses it knows of which kind
    start: int = 0  # the row of the data that the block begins with
    kept: NDArray[np.intp] | None = None  # which rows from there on it has; None: all
    divisible = True  # False if the result of a row depends on other rows

    def __init__(self, X: Matrix, weight: Array | None, frame: Frame) -> None:
        self.X, self.weight, self.frame = X, weight, frame
        self.n, self.d = X.shape

    @cached_property
    def rows(self) -> Any:
        """The block as the compiled kernels see it."""
        scale, factor = np.full(self.d, self.frame.scale), self.factor
        if sparse.issparse(self.X):
            indices = self.X.indices.astype(self.X.indptr.dtype, copy=False)
            return kernels.compiled.Rows(
                self.X.data, self.frame.shift, scale, self.weight, indices, self.X.indptr, self.d, factor=factor
            )
        return kernels.compiled.Rows(self.X, self.frame.shift, scale, self.weight, gaps=self.frame.gaps, factor=factor)

    @cached_property
    def factor(self) -> Array | None:
        """What the frame multiplies each row with (n,), None if with nothing."""
        step = self._rows_of_piece()
        parts = [self.frame.factors(self.X[lo : lo + step]) for lo in range(0, self.n, step)]
        return None if parts[0] is None else np.concatenate([part for part in parts if part is not None])

    def take(self, indices: Indices) -> Array:
        """Some rows in the coordinates of the frame, dense; a missing value becomes 0, the mean."""
        rows = self.X[indices]
        Z = self.frame.from_input(rows.toarray() if sparse.issparse(rows) else rows)
        return np.nan_to_num(Z, copy=False) if self.frame.gaps else Z

    def part(self, rows: slice) -> Block:
        """Consecutive rows as a block of their own."""
        return Block(self.X[rows], None if self.weight is None else self.weight[rows], self.frame)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Rows in the order of a fixed projection: draws along it do not depend on the order of the rows."""
        direction = np.cos(np.arange(1, self.d + 1))
        keys = [
            np.asarray((np.nan_to_num(Z) if self.frame.gaps else Z) @ direction).ravel() for _, Z, _ in self.pieces()
        ]
        return np.argsort(np.concatenate(keys))

    def pieces(self, width: int = 0) -> Iterator[tuple[int, Any, Array]]:
        """(first row, rows in the coordinates of the frame, weights), a cache-sized piece at a time.

        ``width``: how many numbers the caller computes per row, if these may be more than the features.
        """
        step = self._rows_of_piece(width)
        for lo in range(0, self.n, step):
            piece = self.X[lo : lo + step]
            if sparse.issparse(piece):
                Z = piece.astype(np.float64)
                if self.factor is not None:
                    Z.data *= np.repeat(self.factor[lo : lo + step], np.diff(Z.indptr))
                Z = Z.multiply(np.full((1, self.d), self.frame.scale)).tocsr()
                np.clip(Z.data, -_LIMIT, _LIMIT, out=Z.data)
            else:
                Z = self.frame.from_input(piece)
            yield lo, Z, np.ones(Z.shape[0]) if self.weight is None else self.weight[lo : lo + step]

    def _rows_of_piece(self, width: int = 0) -> int:
        entries = -(-self.X.nnz // self.n) if sparse.issparse(self.X) else self.d  # of a row
        return max(1, int(_PIECE // max(entries, width, 1)))


def block_in_frame(X: Matrix, weight: Array | None, frame: Frame) -> Block:
    """A block of rows in the coordinates of a frame; the rows are copied for a :class:`Subspace`."""
    if not isinstance(frame, Subspace):
        return Block(X, weight, frame)
    return Block(frame.from_input(X).astype(X.dtype), weight, Frame(np.zeros(len(frame.basis) + 1), 1.0))


class Blocks:
    """All rows of a data set: one block in memory, several if the data come in parts."""

    lazy = False  # whether results per row are computed later

    def __init__(
        self,
        blocks: list[Block],
        mean_variance: float = np.nan,
        kept: NDArray[np.intp] | None = None,
        frame: Frame | None = None,
        n_input: int | None = None,
    ) -> None:
        self.blocks = blocks
        self.kept = kept  # which rows of the input these are; None: all
        self.mean_variance = mean_variance  # of the features, in the coordinates of the frame
        self.frame = frame or blocks[0].frame
        self.n = sum(block.n for block in blocks)
        self.n_input = self.n if n_input is None else n_input  # rows of the input, kept or not
        self.d = blocks[0].d
        self.dtype = blocks[0].X.dtype
        self.is_sparse = sparse.issparse(blocks[0].X)

    def in_frame(self, frame: Frame, mean_variance: float) -> Blocks:
        """The same rows in other coordinates."""
        blocks = [block_in_frame(block.X, block.weight, frame) for block in self.blocks]
        return Blocks(blocks, mean_variance, self.kept, frame, self.n_input)

    @property
    def n_features(self) -> int:
        """The number of features of the input, even if fewer coordinates hold the rows."""
        return int(self.frame.basis.shape[1]) if isinstance(self.frame, Subspace) else self.d

    def in_subspace(self) -> Blocks:
        """The rows in coordinates of their span if they are fewer than the features, otherwise unchanged.

        For methods whose cost grows with the square of the number of coordinates.
        """
        if self.d <= self.n + 1 or self.is_sparse or self.frame.gaps:
            return self
        whole = Blocks([self.joined()], self.mean_variance, self.kept, n_input=self.n_input)
        basis = np.linalg.qr(self.frame.from_input(whole.blocks[0].X).T)[0].T
        frame = Subspace(np.zeros(len(basis) + 1), 1.0, inner=self.frame, basis=np.ascontiguousarray(basis))
        projected = whole.in_frame(frame, self.mean_variance)
        projected.blocks[0].order = whole.blocks[0].order  # the same draws as in all features
        return projected

    def origin(self) -> Array:
        """A point near the dense rows, in input units: the first value of each feature, NaN if it has none."""
        return first_values(self.blocks[0])

    @property
    def has_gaps(self) -> bool:
        """Whether values of the rows are missing."""
        return self.frame.gaps

    def local(self, rng: np.random.RandomState) -> Blocks:
        """Rows in memory to seed from: all of them, or a sample if the data are not in memory."""
        return self

    def reduce(self, function: Callable[..., M], *arguments: object) -> M:
        """Merge the results of ``function(block, *arguments)``, block after block, by their method ``merge``."""
        if len(self.blocks) == 1:
            return function(self.blocks[0], *arguments)
        parts: Any = (function(block, *arguments) for block in self.blocks)
        merged: M = reduce(lambda a, b: a.merge(b), parts)
        return merged

    def map_rows(self, function: Callable[..., NDArray[Any]], *arguments: object) -> NDArray[Any]:
        """Stack the rows that ``function(block, *arguments)`` returns for each block."""
        parts = [function(block, *arguments) for block in self.blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def write_rows(self, out: NDArray[Any], function: Callable[..., NDArray[Any]], *arguments: object) -> None:
        """Write the rows that ``function(block, *arguments)`` returns to ``out``, a part at a time.

        After an error or an interruption the rows that were not written are NaN, so that no old ones pass for results.
        """
        done = 0
        try:
            for rows in self.row_parts(function, *arguments):
                out[done : done + len(rows)] = rows
                done += len(rows)
                del rows  # before the next part is made
        except BaseException:
            out[done:] = np.nan
            raise

    def row_parts(self, function: Callable[..., Any], *arguments: object) -> Iterator[Any]:
        """What ``function(block, *arguments)`` returns for all rows in their order, a part of the rows at a time.

        The result of a part is an array or a CSR matrix with as many rows.
        """
        for block in self.blocks:
            step = part_length(block, function, *arguments) if block.divisible else block.n
            for lo in range(0, block.n, step):
                yield function(block if step >= block.n else block.part(slice(lo, lo + step)), *arguments)

    def joined(self) -> Block:
        """All rows as one block, to seed from."""
        return self.blocks[0] if len(self.blocks) == 1 else self.take(np.arange(self.n))

    def split(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """An array with one entry per row, as a view per block."""
        return np.split(rows, np.cumsum([block.n for block in self.blocks])[:-1])

    def moments(self, frame: Frame) -> Moments:
        """Moments of the rows in the coordinates of a frame."""
        return self.reduce(moments_of, frame)

    def extent(self) -> Extent:
        """The extent of the rows."""
        return self.reduce(extent)

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[Block]:
        """Every row once, in random batches."""
        order = rng.permutation(self.n)
        for lo in range(0, self.n, size):
            yield self.take(order[lo : lo + size])

    def take(self, indices: NDArray[np.intp]) -> Block:
        """Some rows, in their order in the data, as a block of their own."""
        indices = np.sort(indices)
        parts: list[Any] = []
        weights: list[Array] = []
        first = 0
        for block in self.blocks:
            here = indices[np.searchsorted(indices, first) : np.searchsorted(indices, first + block.n)] - first
            parts.append(block.X[here])
            weights.append(np.ones(len(here)) if block.weight is None else block.weight[here])
            first += block.n
        return Block(join_rows(parts), np.concatenate(weights), self.blocks[0].frame)

    @cached_property
    def length(self) -> float:
        """The unit of lengths: the root mean variance of the features, 1 if they are constant."""
        return math.sqrt(self.mean_variance) or 1.0

    @property
    def n_counted(self) -> float:
        """Effective number of rows: the sum of the weights if they are counts, at least n."""
        return max(float(self.n), self.total_weight)

    @cached_property
    def second_moment(self) -> Array:
        """The weighted sum (d, d) of the outer products of dense rows with themselves."""
        return self.reduce(_outer_products).values

    @cached_property
    def seen(self) -> Array:
        """The weight (d,) of the rows that have each feature."""
        return np.broadcast_to(self.moments(self.frame).seen if self.has_gaps else self.total_weight, (self.d,))

    @property
    def n_values(self) -> float:
        """The summed weight of all values."""
        return float(self.seen.sum()) if self.has_gaps else self.total_weight * self.d

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(sum(b.n if b.weight is None else b.weight.sum() for b in self.blocks))


def unit_factors(rows: Any) -> Array:
    """1 / length of each row (n,): 0 for rows without an entry above the least normal number, NaN if one is not finite.

    Examples
    --------
    >>> unit_factors(np.array([[3.0, 4.0], [0.0, 0.0], [3e-200, 4e-200]]))
    array([2.e-001, 0.e+000, 2.e+199])
    """
    tiny = float(np.finfo(rows.dtype).tiny)
    least = max(_SMALLEST, tiny * tiny)
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        squares = _squared_lengths(rows)
        factors: Array = 1 / np.sqrt(np.maximum(squares, least))
        extreme = np.flatnonzero(~((squares > least) & (squares < 1 / _SMALLEST)))
        if len(extreme):  # their squares overflow or underflow
            few = rows[extreme]
            peaks = abs(few).max(axis=1)
            peaks = (peaks.toarray().ravel() if sparse.issparse(few) else peaks).astype(np.float64)
            empty = peaks < tiny
            inverse = np.where(empty, 0.0, 1 / peaks)
            scaled = few.multiply(inverse[:, None]).tocsr() if sparse.issparse(few) else few * inverse[:, None]
            factors[extreme] = inverse / np.sqrt(np.where(empty, 1.0, _squared_lengths(scaled)))
    return factors


def _squared_lengths(rows: Any) -> Array:
    if sparse.issparse(rows):
        data = rows.data.astype(np.float64)
        squares = sparse.csr_array((data * data, rows.indices, rows.indptr), shape=rows.shape)
        return np.asarray(squares.sum(axis=1))
    dense: Array = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return dense


def join_rows(parts: Sequence[Any]) -> Any:
    """Arrays, or CSR matrices, one below the other; a single one is not copied."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def part_length(block: Block, function: Callable[..., Any], *arguments: object) -> int:
    """How many rows are a part, by the width of what ``function(block, *arguments)`` returns for a row."""
    least, most = _PART_ROWS
    if block.n <= least:
        return least
    width: int = math.prod(function(block.part(slice(0, 1)), *arguments).shape)
    return max(least, min(_PART // width, most))


class Sums(NamedTuple):
    """Sums over the rows of a block."""

    values: Array

    def merge(self, other: Sums) -> Sums:
        """Those of both blocks together."""
        return Sums(self.values + other.values)


class Moments(NamedTuple):
    """Weight, weighted sums and sums of squares (d,) of rows, in the coordinates of their frame."""

    weight: float
    total: Array
    square: Array
    seen: float | Array  # the weight, or the weights (d,) of the rows that have each feature

    def merge(self, other: Moments) -> Moments:
        """Those of both blocks together."""
        pairs: Any = zip(self, other, strict=True)
        return Moments(*[a + b for a, b in pairs])

    def about(self, shift: Array) -> Moments:
        """Those of the same rows with ``shift`` added to them."""
        total = self.total + self.seen * shift
        return Moments(self.weight, total, self.square + 2 * shift * self.total + self.seen * shift**2, self.seen)

    @property
    def mean(self) -> Array:
        """Mean (d,)."""
        return self.total / self.seen

    @property
    def variance(self) -> Array:
        """Variance (d,)."""
        return np.maximum(self.square / self.seen - self.mean**2, 0)


class Extent(NamedTuple):
    """Least and largest entry of each feature, in input units; the implicit zeros of CSR rows count."""

    low: Array
    high: Array

    def merge(self, other: Extent) -> Extent:
        """That of both blocks together."""
        return Extent(np.fmin(self.low, other.low), np.fmax(self.high, other.high))


def moments_of(block: Block, frame: Frame) -> Moments:
    """Moments of a block in the coordinates of a frame."""
    answer = Moments(0.0, np.zeros(block.d), np.zeros(block.d), 0.0)
    for _, Z, w in Block(block.X, block.weight, frame).pieces():
        weight = float(w.sum())
        seen = w @ ~np.isnan(Z) if block.frame.gaps else weight
        Z = np.nan_to_num(Z, copy=False) if block.frame.gaps else Z
        squares = Z.multiply(Z) if sparse.issparse(Z) else Z * Z
        answer = answer.merge(Moments(weight, Z.T @ w, squares.T @ w, seen))
    return answer


def first_values(block: Block) -> Array:
    """The first value (d,) of each feature of dense rows, in input units; NaN if a feature has none."""
    at = (~np.isnan(block.X)).argmax(axis=0) if block.frame.gaps else 0
    return np.asarray(block.X[at, np.arange(block.d)], dtype=np.float64)


def _outer_products(block: Block) -> Sums:
    """sum_i w_i z_i z_i'."""
    moment = np.zeros((block.d, block.d))
    for _, Z, w in block.pieces():
        rows = Z * np.sqrt(w)[:, None]
        moment += rows.T @ rows
    return Sums(moment)


def extent(block: Block) -> Extent:
    """The extent of a block."""
    if block.frame.gaps:
        ends = np.fmin.reduce(block.X, axis=0), np.fmax.reduce(block.X, axis=0)
    else:
        ends = block.X.min(axis=0), block.X.max(axis=0)
    low, high = (end.toarray().ravel() if sparse.issparse(end) else np.asarray(end).ravel() for end in ends)
    return Extent(low.astype(np.float64), high.astype(np.float64))


class DistinctRows(NamedTuple):
    """Rows that differ from each other, up to a limit."""

    rows: Array
    limit: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def merge(self, other: DistinctRows) -> DistinctRows:
        """Those of both blocks together."""
        return DistinctRows(np.unique(np.vstack([self.rows, other.rows]), axis=0)[: self.limit], self.limit)


def distinct_rows(block: Block, limit: int) -> DistinctRows:
    """The distinct rows of a block; it is read until ``limit`` of them are found."""
    answer = DistinctRows(np.empty((0, block.d)), limit)
    for _, Z, _ in block.pieces():
        answer = answer.merge(DistinctRows(Z.toarray() if sparse.issparse(Z) else np.nan_to_num(Z), limit))
        if answer.n == limit:
            break
    return answer


def fit_frame(blocks: Blocks, scaling: Scaling | None) -> tuple[Frame, float]:
    """The frame of some data, and the mean variance of the features in it.

    Shift to the weighted mean; scale to a mean variance near 1 by a power of two. With ``scaling`` one unit per feature
    instead: standard deviation 1, or the range [-1, 1]. A constant feature keeps the unit 1, and CSR rows are not
    shifted.
    """
    origin, unit = np.zeros(blocks.d), 1.0
    if not blocks.is_sparse:
        # About a row of the data the relative error of the variance is at most n eps, whatever the offset.
        origin = blocks.origin()
        if np.isnan(origin).any():
            columns = np.flatnonzero(np.isnan(origin)).tolist()
            raise ValueError(f"X has no values in the columns {listed(columns)}: all are NaN. Drop them.")
    moments = blocks.moments(Frame(origin, unit))
    limit = 1e307 if blocks.dtype == np.float64 else 1e37
    variance = float(moments.variance.mean())
    if not 1e-90 < variance < min(1e90, limit * limit / 1e4):
        # The data are constant, or their squares overflow or underflow: measure in units of the largest entry.
        ends = blocks.extent()
        most = float(max(np.abs(ends.low).max(), np.abs(ends.high).max()))
        if most > limit:
            raise ValueError(f"X must have entries below {limit:g} in absolute value. Got {most:.3g} instead.")
        unit = 2.0 ** min(-math.frexp(most)[1], 1000) if most > 0 else 1.0
        moments = blocks.moments(Frame(origin, unit))
        variance = float(moments.variance.mean())
    # The shift has the type of the data, as the kernels subtract it in that type.
    shift = (origin if blocks.is_sparse else origin + moments.mean / unit).astype(blocks.dtype).astype(np.float64)
    gaps = blocks.has_gaps
    if variance == 0:
        return Frame(shift, 1.0, gaps), 0.0
    if scaling is not None:
        return _scaled_frame(blocks, shift, scaling)
    power = round(0.5 * math.log2(variance))
    scale = min(max(unit * 2.0**-power, 2.0**-1000), 2.0**500 if blocks.dtype == np.float64 else 2.0**100)
    return Frame(shift, scale, gaps), variance * (scale / unit) ** 2


def _scaled_frame(blocks: Blocks, mean: Array, scaling: Scaling) -> tuple[Frame, float]:
    low, high = blocks.extent()
    spread = high - low
    scale = 2 / np.where(spread > 1e-300, spread, 2.0)  # 1 / spread would overflow: treat the feature as constant
    if scaling == "minmax":
        middle = mean if blocks.is_sparse else (low + (high - low) / 2).astype(blocks.dtype).astype(np.float64)
        frame = Frame(middle, scale, blocks.has_gaps)
        return frame, float(blocks.moments(frame).variance.mean())
    deviation = np.sqrt(blocks.moments(Frame(mean, scale)).variance)
    scale = scale / np.where(deviation > 0, deviation, 1.0)
    return Frame(mean, scale, blocks.has_gaps), float((deviation > 0).mean())


def rows_to_keep(X: Matrix, weight: Array | None, gaps: bool) -> NDArray[np.bool_] | None:
    """Rows of positive weight and, if there may be ``gaps``, with at least one value; None if these are all."""
    keep = None if weight is None else weight > 0
    if gaps:
        has_values = np.asarray(~np.isnan(X).all(axis=1))
        keep = has_values if keep is None else keep & has_values
    return None if keep is None or keep.all() else keep


def make_blocks(
    X: Matrix | dask.array.Array,
    weight: Array | None = None,
    frame: Frame | None = None,
    scaling: Scaling | None = None,
    gaps: bool = False,
) -> Blocks:
    """Validated features as blocks, in their own frame unless one is given (then no variance is measured).

    Rows of weight 0 are left out, so that they cannot matter, and of those that a frame is made for, rows without any
    value. ``gaps`` says whether values of dense rows may be missing.
    """
    if is_dask(X):
        from .dask_blocks import DaskBlocks

        blocks: Blocks = DaskBlocks(X, weight, Frame(np.zeros(X.shape[1]), 1.0, gaps), fitting=frame is None)
    else:
        keep, n_input = rows_to_keep(X, weight, gaps and frame is None), X.shape[0]
        kept = None if keep is None else np.flatnonzero(keep)
        if kept is not None:
            X, weight = X[kept], None if weight is None else weight[kept]
            if not len(kept):
                raise ValueError(NO_ROWS)
        blocks = Blocks([Block(X, weight, Frame(np.zeros(X.shape[1]), 1.0, gaps))], kept=kept, n_input=n_input)
    if frame is not None:
        return blocks.in_frame(frame if frame.gaps == blocks.frame.gaps else replace(frame, gaps=gaps), np.nan)
    return blocks.in_frame(*fit_frame(blocks, scaling))
