"""Rows of numbers and categories in one space: distances to prototypes, and sums for new ones.

The coordinates of a prototype are its p numbers and the shares of all C categories of the q columns that have them,
times sqrt(g / 2). So the squared distance of a complete row with indicators z to a prototype with shares p is

    sum_numbers (x - v)^2 + (g / 2) sum_categories |z - p|^2.

Indicators are never written out: |z - p|^2 depends on the category and the prototype only, and is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._types import Array
from ..engine.blocks import Block, Blocks, Frame, Scaling, make_blocks
from ..inputs.mixed import Columns
from ..kernels.centers import center_distances

_PART = 1 << 15  # rows whose distances are held at once
_RANGE = 1e-100, 1e100  # of the weight of a category


class Part(NamedTuple):
    """Consecutive rows of a block, as every pass reads them."""

    start: int
    weight: Array | None  # (n,)
    numbers: Block  # (n, p)
    categories: Any  # CSR (n, C + q): 1 at the category of each column; the last q are those that fit did not know
    factor: Array | None  # (n,) weight of all columns in that of those that the row has, None if no value is missing


@dataclass(frozen=True)
class MixedSpace:
    """The coordinates of rows and prototypes.

    Attributes
    ----------
    columns : Columns
    shares : ndarray of shape (C,)
        The shares of the categories in all rows.
    weight : float
        The weight g of a column of categories, in the coordinates of the frame.
    relative : float
        What a column of categories adds to the squared distances of rows, on average, in that of a column of numbers.
    by_mode : bool
        Whether a prototype stands for its most frequent categories, and not for the shares.
    """

    columns: Columns
    shares: Array
    weight: float
    relative: float
    by_mode: bool

    @property
    def unit(self) -> float:
        """The coordinate of a share of 1."""
        return float(np.sqrt(self.weight / 2))

    @cached_property
    def numeric(self) -> NDArray[np.bool_]:
        """Which columns are numbers."""
        return ~self.columns.is_categorical

    @cached_property
    def edges(self) -> NDArray[np.intp]:
        """Where the categories of each column begin, and at last their number."""
        return np.append(0, np.cumsum(self.columns.sizes)).astype(np.intp)

    @property
    def n_dimensions(self) -> int:
        """The dimension of the space that rows span: the shares of a column sum to 1."""
        return int(self.numeric.sum() + (self.columns.sizes - 1).sum())

    def numbers_frame(self, frame: Frame) -> Frame:
        """The frame of the columns of numbers."""
        scale = frame.scale if np.ndim(frame.scale) == 0 else np.asarray(frame.scale)[self.numeric]
        return Frame(frame.shift[self.numeric], scale, frame.gaps)

    def split(self, V: Array) -> tuple[Array, Array]:
        """The numbers (K, p) and the shares (K, C) of prototypes."""
        p = int(self.numeric.sum())
        return np.ascontiguousarray(V[:, :p]), V[:, p:] / self.unit

    def join(self, numbers: Array, shares: Array) -> Array:
        """Prototypes from their numbers and shares."""
        return np.hstack([numbers, self.unit * shares])

    def points(self, rows: NDArray[Any], frame: Frame) -> Array:
        """Rows as prototypes; a missing value becomes the mean of all rows."""
        numbers = np.nan_to_num(self.numbers_frame(frame).from_input(rows[:, self.numeric]))
        shares = np.tile(self.shares, (len(rows), 1))
        for codes, low, high in zip(rows[:, ~self.numeric].T, self.edges, self.edges[1:], strict=False):
            there = ~np.isnan(codes)
            shares[there, low:high] = codes[there, None] == np.arange(high - low)
        return self.join(numbers, shares)

    def modes(self, shares: Array) -> NDArray[np.intp]:
        """The most frequent category (K, q) of each column, the first of several."""
        pairs = zip(self.edges, self.edges[1:], strict=False)
        return np.stack([np.empty(0), *(shares[:, low:high].argmax(axis=1) for low, high in pairs)][1:], axis=1)

    def parts(self, block: Block) -> list[Part]:
        """The rows of a block; made once and kept with it."""
        if "parts" not in vars(block):
            starts = range(0, block.n, _PART)
            vars(block)["parts"] = [self._part(lo, block.part(slice(lo, lo + _PART))) for lo in starts]
        parts: list[Part] = vars(block)["parts"]
        return parts

    def _part(self, start: int, block: Block) -> Part:
        Z = np.ascontiguousarray(self.numbers_frame(block.frame).from_input(block.X[:, self.numeric]))
        codes = block.X[:, ~self.numeric]
        there, sizes = ~np.isnan(codes), self.columns.sizes
        unknown = self.edges[-1] + np.arange(len(sizes))
        places = np.where(codes < sizes, self.edges[:-1] + codes, unknown)[there].astype(np.int32)
        ends = np.append(0, np.cumsum(there.sum(axis=1))).astype(np.int32)
        categories = sparse.csr_array((np.ones(len(places)), places, ends), (block.n, self.edges[-1] + len(sizes)))
        factor = None
        if block.frame.gaps:
            seen = (~np.isnan(Z)).sum(axis=1) + self.relative * there.sum(axis=1)
            factor = (Z.shape[1] + self.relative * len(sizes)) / np.where(seen > 0, seen, np.inf)
        return Part(
            start, block.weight, Block(Z, None, Frame(np.zeros(Z.shape[1]), 1.0, block.frame.gaps)), categories, factor
        )

    def distances(self, part: Part, V: Array) -> Array:
        """Squared distances (n, K) of rows to prototypes; those of an incomplete row are scaled up."""
        numbers, shares = self.split(V)
        D = np.zeros((part.numbers.n, len(V)))
        if shares.size:
            D += part.categories @ self._mismatches(shares)
        if numbers.size:
            D += center_distances(part.numbers, numbers)
        return D if part.factor is None else D * part.factor[:, None]

    def _mismatches(self, shares: Array) -> Array:
        """(g / 2) |z - p|^2 (C + q, K) for each category, and for an unknown one of each column, to each prototype."""
        sizes, starts = self.columns.sizes, self.edges[:-1]
        if self.by_mode:
            places = self.modes(shares) + starts
            shares = np.zeros_like(shares)
            shares[np.arange(len(shares))[:, None], places] = 1
        p = np.ascontiguousarray(shares.T)
        squares = p * p
        # |p|^2 - p_c^2 would lose its digits where the category c has nearly all of |p|^2: the largest are left out.
        largest = np.maximum.reduceat(squares, starts)
        is_largest = squares == np.repeat(largest, sizes, axis=0)
        rest = np.add.reduceat(np.where(is_largest, 0, squares), starts)
        n_largest = np.add.reduceat(is_largest.astype(np.float64), starts)
        others = np.repeat(rest + (n_largest - 1) * largest, sizes, axis=0)
        others += np.where(is_largest, 0, np.repeat(largest, sizes, axis=0) - squares)
        found: Array = np.vstack([(1 - p) ** 2 + others, 1 + rest + n_largest * largest])
        return self.weight / 2 * found

    def totals(self, part: Part, W: Array) -> tuple[Array, Array | None]:
        """Weighted sums (K, p + C) of the coordinates of rows, and the weights of the rows that have each coordinate.

        The latter is None if no value is missing.
        """
        Z, gaps = part.numbers.X, part.numbers.frame.gaps
        counts = np.asarray(part.categories.T @ W)[: self.edges[-1]].T
        total = self.join(W.T @ (np.nan_to_num(Z) if gaps else Z), counts)
        if not gaps:
            return total, None
        columns = np.add.reduceat(counts, self.edges[:-1], axis=1) if counts.size else counts
        return total, np.hstack([W.T @ ~np.isnan(Z), np.repeat(columns, self.columns.sizes, axis=1)])


def mixed_blocks(
    blocks: Blocks, columns: Columns, scaling: Scaling | None, weight: float | str, by_mode: bool
) -> tuple[Blocks, MixedSpace]:
    """Rows in the coordinates of their numbers, and the space that they span with their categories.

    ``weight`` is g, in squared input units without ``scaling``. The mean squared distance of the rows to the shares of
    all rows is g / 2 times the probability that two rows differ: with ``'auto'`` it is the mean variance of the columns
    of numbers, for the mean probability; without numbers g is 1. Columns without variation do not count.
    """
    is_categorical, gaps = columns.is_categorical, blocks.frame.gaps
    if not is_categorical.any():
        return blocks, MixedSpace(columns, np.empty(0), 1.0, 1.0, by_mode)
    X, weights = blocks.blocks[0].X, blocks.blocks[0].weight
    frame, variances = Frame(np.zeros(blocks.d), 1.0, gaps), np.empty(0)
    if not is_categorical.all():
        numbers = make_blocks(X[:, ~is_categorical], weights, None, scaling, gaps)
        low, high = numbers.extent()
        variances = numbers.moments(numbers.frame).variance * (low < high)
        shift, scale = np.zeros(blocks.d), numbers.frame.scale
        shift[~is_categorical] = numbers.frame.shift
        if scaling is not None:
            scale = np.ones(blocks.d)
            scale[~is_categorical] = numbers.frame.scale
        frame = Frame(shift, scale, gaps)
    shares = [_shares(codes, weights, size) for codes, size in zip(X[:, is_categorical].T, columns.sizes, strict=True)]
    spreads = np.array([float(share @ (1 - share)) for share in shares])
    variance, spread = (float(v[v > 0].mean()) if v.any() else 1.0 for v in (variances, spreads))
    if not isinstance(weight, str):
        unit = 1.0 if scaling is not None or np.ndim(frame.scale) else float(frame.scale)
        g = float(weight) * unit * unit
    else:
        g = 2 * variance / spread if variances.any() and spreads.any() else 1.0
    g = min(max(g, _RANGE[0]), _RANGE[1])
    space = MixedSpace(columns, np.concatenate(shares), g, g / 2 * spread / variance, by_mode)
    return blocks.in_frame(frame, (variances.sum() + g / 2 * spreads.sum()) / blocks.d), space


def _shares(codes: NDArray[Any], weight: Array | None, size: int) -> Array:
    """The shares of the categories in the rows that have the column."""
    there = ~np.isnan(codes)
    counts = np.bincount(codes[there].astype(np.intp), None if weight is None else weight[there], size)
    shares: Array = counts / counts.sum()
    return shares
