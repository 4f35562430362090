"""Rows that a mixture computes from those of the data, once for all passes if they are few."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .._types import Array
from ..engine.blocks import Block, Frame

_KEPT = 1 << 24  # entries: derived rows of larger blocks are computed anew in every pass, a piece at a time


def derived_blocks(block: Block, transform: Callable[[Array], Array]) -> Iterator[tuple[slice, Block]]:
    """Blocks of ``transform(rows)`` for the rows of a block in the coordinates of the frame, and where they are in it.

    There is one block, kept with the given one, or one for each of its pieces. The function must always be the same.
    """
    if block.n * block.d > _KEPT:
        for lo, Z, w in block.pieces():
            yield slice(lo, lo + len(Z)), _plain(transform(Z), w, block)
        return
    if "derived" not in vars(block):
        rows = [transform(Z) for _, Z, _ in block.pieces()]
        vars(block)["derived"] = _plain(rows[0] if len(rows) == 1 else np.concatenate(rows), block.weight, block)
    yield slice(0, block.n), vars(block)["derived"]


def _plain(rows: NDArray[np.float64], weight: Array | None, block: Block) -> Block:
    return Block(np.ascontiguousarray(rows), weight, Frame(np.zeros(rows.shape[1]), 1.0, block.frame.gaps))
