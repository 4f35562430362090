"""NSGA-II: an evolutionary search for the front of several functions, all to be minimised.

A population of vectors within bounds. Each generation draws parents by binary tournaments, makes as many children by
simulated binary crossover and polynomial mutation, and keeps the best of parents and children: by the rank of their
front, and within a front by their distance from the others. Nothing here knows what the vectors mean.

References
----------
K. Deb, A. Pratap, S. Agarwal, T. Meyarivan (2002). A fast and elitist multiobjective genetic algorithm: NSGA-II. IEEE
Transactions on Evolutionary Computation 6(2), 182-197.

K. Deb (2000). An efficient constraint handling method for genetic algorithms. Computer Methods in Applied Mechanics and
Engineering 186, 311-338. (Crossover and mutation within bounds.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Array

_CROSSOVER, _SPREAD = 0.95, 10.0  # probability of a pair, and index of the distribution
_MUTATION = 10.0  # index of the distribution


class Population(NamedTuple):
    """Vectors and what they were judged by, the best first."""

    genes: Array  # (P, n)
    objectives: Array  # (P, m)
    rank: NDArray[np.intp]  # (P,) 0: dominated by none
    crowding: Array  # (P,)


def nsga2(
    objectives: Callable[[Array], Array], genes: Array, low: Array, high: Array, rng: np.random.RandomState
) -> Iterator[Population]:
    """The given population, then one generation after the other, without an end.

    Parameters
    ----------
    objectives : callable
        Takes vectors (P, n), gives the functions to be minimised (P, m).
    genes : ndarray of shape (P, n)
        The first population, within the bounds.
    low, high : ndarray of shape (n,)
        The bounds.
    rng : RandomState

    Yields
    ------
    population : Population

    Examples
    --------
    The front of x^2 and (x - 2)^2 is 0 <= x <= 2.

    >>> rng = np.random.RandomState(0)
    >>> low, high = np.array([-9.0]), np.array([9.0])
    >>> search = nsga2(lambda x: np.hstack([x**2, (x - 2) ** 2]), rng.uniform(low, high, (20, 1)), low, high, rng)
    >>> for _, population in zip(range(30), search):
    ...     pass
    >>> bool((population.genes > -0.1).all() and (population.genes < 2.1).all())
    True
    """
    population = survivors(genes, objectives(genes), len(genes))
    while True:
        yield population
        parents = tournament(population, rng)
        children = mutate(crossover(parents, low, high, rng), low, high, rng)[: len(genes)]
        population = survivors(
            np.concatenate([population.genes, children]),
            np.concatenate([population.objectives, objectives(children)]),
            len(genes),
        )


def survivors(genes: Array, objectives: Array, size: int) -> Population:
    """So many vectors of lowest rank, within a rank those of largest crowding distance."""
    rank, crowding = ranks(objectives), np.empty(len(genes))
    for front in range(rank.max() + 1):
        crowding[rank == front] = crowding_distance(objectives[rank == front])
    kept = np.lexsort((-crowding, rank))[:size]
    return Population(genes[kept], objectives[kept], rank[kept], crowding[kept])


def ranks(objectives: Array) -> NDArray[np.intp]:
    """The number of the front of each point: 0 if none dominates it, 1 if only points of front 0 do, and so on.

    A point dominates another if it is worse in no aim and better in at least one.

    Examples
    --------
    >>> ranks(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 4.0], [3.0, 5.0]]))
    array([0, 0, 1, 2])
    """
    no_worse = np.ones((len(objectives), len(objectives)), dtype=bool)
    for f in objectives.T:
        no_worse &= f[:, None] <= f
    dominates = no_worse & ~no_worse.T
    above = dominates.sum(axis=0)  # how many points of fronts to come dominate each point
    rank = np.full(len(objectives), -1)
    while (rank < 0).any():
        front = (above == 0) & (rank < 0)
        rank[front] = rank.max() + 1
        above -= dominates[front].sum(axis=0)
    return rank


def crowding_distance(front: Array) -> Array:
    """Sum over the objectives of the gap between the two neighbours of a point, in units of the range of the front.

    Infinite at both ends of an objective.

    Examples
    --------
    >>> crowding_distance(np.array([[0.0, 8.0], [1.0, 4.0], [4.0, 0.0]]))
    array([inf,  2., inf])
    """
    distance = np.zeros(len(front))
    for f in front.T:
        order = np.argsort(f, kind="stable")
        ordered = f[order]
        width = ordered[-1] - ordered[0]
        distance[order[1:-1]] += (ordered[2:] - ordered[:-2]) / (width if width > 0 else 1.0)
        distance[order[[0, -1]]] = np.inf
    return distance


def tournament(population: Population, rng: np.random.RandomState) -> Array:
    """An even number of parents, at least one per member: each the better of two drawn at random."""
    size = len(population.genes)
    first, second = rng.randint(size, size=(2, size + size % 2))
    rank, crowding = population.rank, population.crowding
    wins = (rank[first] < rank[second]) | ((rank[first] == rank[second]) & (crowding[first] > crowding[second]))
    parents: Array = population.genes[np.where(wins, first, second)]
    return parents


def crossover(parents: Array, low: Array, high: Array, rng: np.random.RandomState) -> Array:
    """Simulated binary crossover of consecutive parents a, b: children (a + b) / 2 -+ beta (b - a) / 2.

    The spread beta has the density (eta + 1) / 2 times beta^eta below 1 and beta^-(eta + 2) above, cut off where a
    child would leave the bounds. A pair is crossed with probability 0.95, and then each of its coordinates with
    probability 1/2. The coordinates of a child are all on the side of the same parent: vectors may consist of parts
    that belong together.
    """
    a, b = parents[::2], parents[1::2]
    gap = np.abs(b - a)
    room = np.minimum(np.minimum(a, b) - low, high - np.maximum(a, b))
    with np.errstate(over="ignore"):  # parents that almost coincide
        widest = 1 + 2 * np.divide(room, gap, out=np.zeros_like(gap), where=gap > 0)
    # twice the distribution function at beta, uniform up to its value at the widest spread
    u = (2 - widest ** -(_SPREAD + 1)) * rng.uniform(size=a.shape)
    beta = np.where(u <= 1, u, 1 / (2 - u)) ** (1 / (_SPREAD + 1))
    crossed = (rng.uniform(size=(len(a), 1)) < _CROSSOVER) & (rng.uniform(size=a.shape) < 0.5)
    middle, half = (a + b) / 2, beta * (b - a) / 2
    children = np.empty_like(parents)
    children[::2], children[1::2] = np.where(crossed, middle - half, a), np.where(crossed, middle + half, b)
    return np.clip(children, low, high)  # rounding


def mutate(genes: Array, low: Array, high: Array, rng: np.random.RandomState) -> Array:
    """Polynomial mutation: with probability 1 / n a coordinate moves up or down by a part delta of its range.

    delta has the density (eta + 1) (1 - delta)^eta, cut off at the bound.
    """
    up = rng.uniform(size=genes.shape) < 0.5
    width, room = high - low, np.where(up, high - genes, genes - low)
    reach = np.minimum(np.divide(room, width, out=np.zeros_like(genes), where=width > 0), 1)
    u = (1 - (1 - reach) ** (_MUTATION + 1)) * rng.uniform(size=genes.shape)  # the distribution function at delta
    step = np.where(up, width, -width) * (1 - (1 - u) ** (1 / (_MUTATION + 1)))
    mutated = rng.uniform(size=genes.shape) < 1 / genes.shape[1]
    return np.clip(genes + np.where(mutated, step, 0), low, high)  # rounding
