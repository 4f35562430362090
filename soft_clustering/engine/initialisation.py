"""Starting centres, over blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..inputs.features import validate_matrix
from .blocks import Array, Block, Blocks


def starting_centers(blocks: Blocks, init: Any, K: int, rng: np.random.RandomState) -> Array:
    """K starting centres (K, d) in the coordinates of the frame.

    ``init`` is ``"k-means++"``, ``"random"`` (rows of the data), an array (K, d) in input units, or a callable
    ``init(X, K, rng)`` that returns one.
    """
    if isinstance(init, str):
        if K == 1:
            return _mean(blocks)
        seed = kmeans_plusplus if init == "k-means++" else random_rows
        return seed(blocks.local(rng), K, rng)
    centers = init(blocks.local(rng).blocks[0].X, K, rng) if callable(init) else init
    return blocks.frame.from_input(validate_matrix("init", centers, (K, blocks.d)))


def _mean(blocks: Blocks) -> Array:
    statistics = blocks.reduce(kernels.center_statistics, np.zeros((1, blocks.d)), "fcm", 2.0)
    return statistics.total / statistics.weight


def _rows(blocks: Blocks, indices: NDArray[np.intp]) -> Array:
    """Some rows in the coordinates of the frame."""
    if len(blocks.blocks) == 1:
        return blocks.blocks[0].take(indices)
    rows = np.empty((len(indices), blocks.d))
    first = 0
    for block in blocks.blocks:
        here = (first <= indices) & (indices < first + block.n)
        rows[here] = block.take(indices[here] - first)
        first += block.n
    return rows


def _draw(blocks: Blocks, mass: Array, uniforms: Array) -> NDArray[np.intp]:
    """Rows drawn with probability proportional to ``mass``, by inversion along ``blocks.order``."""
    cumulated = mass[blocks.order]
    np.cumsum(cumulated, out=cumulated)
    at = np.searchsorted(cumulated, uniforms * cumulated[-1], side="right")
    drawn: NDArray[np.intp] = blocks.order[np.minimum(at, blocks.n - 1)]
    return drawn


def random_rows(blocks: Blocks, K: int, rng: np.random.RandomState) -> Array:
    """K different rows, drawn with probability proportional to their weights."""
    mass = blocks.weigh(np.ones(blocks.n))
    chosen = np.empty(K, dtype=np.intp)
    for k in range(K):
        chosen[k] = _draw(blocks, mass, rng.uniform(size=1))[0]
        mass[chosen[k]] = 0
    return _rows(blocks, chosen)


def kmeans_plusplus(blocks: Blocks, K: int, rng: np.random.RandomState) -> Array:
    """Greedy k-means++: each centre is the best of 2 + log K candidates drawn by squared distance.

    References
    ----------
    D. Arthur, S. Vassilvitskii (2007). k-means++: the advantages of careful seeding. SODA, 1027-1035.
    """
    trials = 2 + int(np.log(K))
    centers = np.empty((K, blocks.d))
    closest = np.ones(blocks.n)
    centers[:1] = _rows(blocks, _draw(blocks, blocks.weigh(closest), rng.uniform(size=1)))
    closest.fill(np.inf)
    parts: list[tuple[Block, Array]] = list(zip(blocks.blocks, blocks.split(closest), strict=True))
    for k in range(1, K):
        for block, part in parts:
            kernels.update_closest(block, centers[k - 1 : k], part)
        # Fewer distinct points than centres: nothing is left to cover, so draw by weight.
        mass = blocks.weigh(closest if closest.any() else np.ones(blocks.n))
        candidates = _rows(blocks, _draw(blocks, mass, rng.uniform(size=trials)))
        left = sum(kernels.potentials(block, candidates, part) for block, part in parts)
        centers[k] = candidates[np.argmin(left)]
    return centers
