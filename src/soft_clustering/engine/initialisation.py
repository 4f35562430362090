"""Starting centres, over blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array, Init
from ..inputs.features import validate_matrix
from ..kernels import reference
from ..kernels.centers import center_statistics, seed
from .alternating import new_centers
from .blocks import Block, Blocks, Subspace
from .loop import center_shift

_LLOYD_STEPS, _LLOYD_TOL = 100, 1e-4  # a start needs no more


def starting_centers(blocks: Blocks, init: Init, K: int, rng: np.random.RandomState) -> Array:
    """K starting centres (K, d) in the coordinates of the frame.

    ``init`` is ``"k-means++"``, ``"kmeans"``, ``"random"`` (rows of the data), an array (K, d) in input units, or
    a callable ``init(X, K, rng)`` that returns one.
    """
    if isinstance(init, str):
        if K == 1:
            return _mean(blocks)
        return _SEEDINGS[init](blocks.local(rng), K, rng)
    centers = init(input_rows(blocks.local(rng)), K, rng) if callable(init) else init
    return blocks.frame.from_input(validate_matrix("init", centers, (K, blocks.n_features)))


def input_rows(blocks: Blocks) -> Any:
    """The rows in input units."""
    X = blocks.joined().X
    return blocks.frame.to_input(X) if isinstance(blocks.frame, Subspace) else X


def _mean(blocks: Blocks) -> Array:
    statistics = blocks.reduce(center_statistics, np.zeros((1, blocks.d)), "nearest")
    return statistics.total / statistics.weight


def random_rows(blocks: Blocks, K: int, rng: np.random.RandomState) -> Array:
    """K different rows, drawn with probability proportional to their weights."""
    block = blocks.joined()
    mass = np.ones(block.n) if block.weight is None else block.weight.copy()
    chosen = np.empty(K, dtype=np.intp)
    for k in range(K):
        chosen[k] = reference.draw(mass, block.order, rng.uniform(size=1))[0]
        mass[chosen[k]] = 0
    return block.take(chosen)


def kmeans_plusplus(blocks: Blocks, K: int, rng: np.random.RandomState) -> Array:
    """Greedy k-means++: each centre is the best of 2 + log K candidates drawn by squared distance.

    The draws invert the distribution along a fixed projection of the rows, so they do not depend on the order of the
    rows, and an integer weight is the same as repeated rows.

    References
    ----------
    D. Arthur, S. Vassilvitskii (2007). k-means++: the advantages of careful seeding. SODA, 1027-1035.
    """
    block = blocks.joined()
    return seed(block, block.order, rng.uniform(size=(K, 2 + int(np.log(K)))))


def further_rows(block: Block, V: Array, n: int, rng: np.random.RandomState) -> Array:
    """Rows (n, d) drawn as in k-means++: by weight times squared distance to V and to the rows drawn before."""
    weight = np.ones(block.n) if block.weight is None else block.weight
    closest = np.full(block.n, np.inf)
    for v in V:
        reference.update_closest(block, v[None], closest)
    chosen = np.empty((n, block.d))
    for k in range(n):
        mass = weight * closest if closest.any() else weight
        chosen[k] = block.take(reference.draw(mass, block.order, rng.uniform(size=1)))[0]
        reference.update_closest(block, chosen[[k]], closest)
    return chosen


def kmeans(blocks: Blocks, K: int, rng: np.random.RandomState) -> Array:
    """Centres of a k-means run from k-means++ seeds."""
    return lloyd(blocks, kmeans_plusplus(blocks, K, rng))


def lloyd(blocks: Blocks, V: Array) -> Array:
    """Centres of a k-means run from given ones."""
    return settle(blocks, V, _LLOYD_STEPS, _LLOYD_TOL, "nearest")[0]


def best_kmeans(
    blocks: Blocks,
    K: int,
    rng: np.random.RandomState,
    n_runs: int,
    max_passes: int = _LLOYD_STEPS,
    tol: float = _LLOYD_TOL,
) -> Array:
    """Centres of the run of least cost among some k-means runs."""
    seeds = [kmeans_plusplus(blocks, K, rng) for _ in range(n_runs)]
    runs = [settle(blocks, V, max_passes, tol, "nearest")[0] for V in seeds]
    costs = [blocks.reduce(center_statistics, V, "nearest").objective for V in runs]
    return runs[int(np.argmin(costs))]


def settle(blocks: Blocks, V: Array, max_passes: int, tol: float, rule: str, *parameters: float) -> tuple[Array, Array]:
    """Centres after plain passes under a rule of the kernels, until they move by at most ``tol``, and their weights."""
    for _ in range(max_passes):
        before, statistics = V, blocks.reduce(center_statistics, V, rule, *parameters)
        V = new_centers(V, statistics)
        if center_shift(before, V, [], blocks) <= tol:
            break
    return V, statistics.weight


_SEEDINGS = {"k-means++": kmeans_plusplus, "kmeans": kmeans, "random": random_rows}
