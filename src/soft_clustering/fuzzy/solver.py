"""Fuzzy c-means on blocks of rows: the starts and the solution, for methods that build on it."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._types import Array, Init
from ..engine.acceleration import first_mixed
from ..engine.alternating import is_drawn, new_centers
from ..engine.blocks import Blocks
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, iterate, run_starts
from ..kernels.centers import center_statistics


def fuzzy_start(
    blocks: Blocks,
    init: Init,
    K: int,
    rng: np.random.RandomState,
    m: float,
    rule: str,
    *parameters: float,
    most: float = np.inf,
) -> Array:
    """K starting centres for fuzzifier m; ``rule`` and ``parameters`` are those of a step with fuzzifier 2.

    A squared distance above ``most`` counts as ``most`` in the draws.
    """
    V = starting_centers(blocks, init, K, rng, most)
    if m > 3 and isinstance(init, str):
        # A centre on a row has u = 1 there, which for a large m outweighs all other rows: step off the seeds.
        V = new_centers(V, blocks.reduce(center_statistics, V, rule, *parameters))
    return V


def solve_fcm(
    blocks: Blocks,
    K: int,
    m: float,
    rng: np.random.RandomState,
    *,
    init: Init = "k-means++",
    n_init: int = 5,
    max_iter: int = 300,
    tol: float = 1e-5,
    accelerate: bool = True,
    noise: float = 0.0,
    most: float = np.inf,
) -> Array:
    """Centres (K, d) of fuzzy c-means, from the best of some starts.

    ``noise`` is the squared distance of a cluster of noise, 0 without one; distances above ``most`` do not count in the
    seeding.
    """
    statistics_of = partial(center_statistics, noise=noise)

    def step(V: Array) -> tuple[Array, float]:
        statistics = blocks.reduce(statistics_of, V, "fcm", m)
        return new_centers(V, statistics), statistics.objective

    n_starts = n_init if is_drawn(init) else 1
    starts = (fuzzy_start(blocks, init, K, rng, m, "fcm", 2.0, most=most) for _ in range(n_starts))
    loop = partial(
        iterate,
        step=step,
        policy=Policy(),
        max_iter=max_iter,
        tol=tol,
        scale=blocks,
        accelerate=accelerate,
        first_mixed=first_mixed(blocks.n * blocks.d * K),
    )
    return run_starts(starts, loop, "min", []).state
