"""NSGA-II: its steps against their definitions, and fronts that are known."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kstest

from soft_clustering.fuzzy.nsga2 import (
    Population,
    crossover,
    crowding_distance,
    mutate,
    nsga2,
    ranks,
    survivors,
    tournament,
)

property_test = settings(max_examples=60, deadline=None, derandomize=True)


def dominates(a, b):
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


def is_front(points):
    return not any(dominates(a, b) for a in points for b in points)


# Ranks and crowding ---------------------------------------------------------------------------------------------------


@property_test
@given(
    points=st.tuples(st.integers(1, 30), st.integers(1, 3)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(-4, 4).map(float))
    )
)
def test_ranks_by_definition(points):
    expected, left, number = np.full(len(points), -1), set(range(len(points))), 0
    while left:
        front = {i for i in left if not any(dominates(points[j], points[i]) for j in left)}
        expected[list(front)] = number
        left, number = left - front, number + 1
    np.testing.assert_array_equal(ranks(points), expected)


def test_crowding_by_hand():
    front = np.array([[4.0, 1.0], [0.0, 9.0], [1.0, 6.0], [10.0, 0.0], [2.0, 5.0]])
    # sorted: (0, 9) (1, 6) (2, 5) (4, 1) (10, 0), ranges 10 and 9
    expected = [8 / 10 + 5 / 9, np.inf, 2 / 10 + 4 / 9, np.inf, 3 / 10 + 5 / 9]
    np.testing.assert_allclose(crowding_distance(front), expected, rtol=1e-14)


def test_crowding_of_few_and_of_equal_points():
    for n in (1, 2):
        np.testing.assert_array_equal(crowding_distance(np.ones((n, 2))), np.full(n, np.inf))
    equal = crowding_distance(np.ones((5, 2)))
    assert np.sort(equal).tolist() == [0, 0, 0, np.inf, np.inf]
    # a copy of an inner point leaves a smaller gap for both
    front = np.array([[0.0, 4.0], [1.0, 3.0], [1.0, 3.0], [4.0, 0.0]])
    np.testing.assert_allclose(crowding_distance(front), [np.inf, 1 / 4 + 3 / 4, 3 / 4 + 1 / 4, np.inf])


def test_survivors():
    """The first front as a whole, of the second the ends and then the loneliest."""
    first = [[0.0, 5.0], [3.0, 1.0]]
    second = [[0.0, 9.0], [1.0, 8.0], [2.0, 7.0], [5.0, 6.0], [6.0, 5.0], [9.0, 1.0]]
    third = [[9.0, 9.0]]
    objectives = np.array(third + second + first)
    genes = np.arange(9.0)[:, None]
    kept = survivors(genes, objectives, 5)
    assert sorted(kept.genes[:2, 0]) == [7, 8]
    assert sorted(kept.genes[2:4, 0]) == [1, 6]
    assert kept.genes[4, 0] == 5  # (6, 5): 4 / 9 + 5 / 8, more than the 4 / 9 + 2 / 8 of (5, 6)
    np.testing.assert_array_equal(kept.rank, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(kept.objectives, objectives[kept.genes[:, 0].astype(int)])
    assert kept.crowding[4] == pytest.approx(4 / 9 + 5 / 8)
    assert len(survivors(genes, objectives, 9).genes) == 9


# Parents and children -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["rank", "crowding"])
def test_tournament_prefers_the_better(by):
    n = 2001
    order = np.random.RandomState(0).permutation(n)  # 0 is the best
    rank, crowding = (order, np.zeros(n)) if by == "rank" else (np.zeros(n, dtype=int), -order.astype(float))
    parents = tournament(Population(order[:, None], np.zeros((n, 2)), rank, crowding), np.random.RandomState(1))
    assert parents.shape == (2002, 1)
    # the smaller of two of 0 ... n - 1 has the density 2 (n - x) / n^2
    assert kstest(parents[:, 0] / n, lambda x: 1 - (1 - x) ** 2).pvalue > 0.01


def test_rank_counts_before_crowding():
    population = Population(np.arange(2)[:, None], np.zeros((2, 2)), np.array([0, 1]), np.array([0.0, np.inf]))
    parents = np.concatenate([tournament(population, np.random.RandomState(seed)) for seed in range(1000)])
    assert np.mean(parents == 0) == pytest.approx(3 / 4, abs=0.03)


def parents_in(low, high, n, seed):
    return np.random.RandomState(seed).uniform(low, high, (n, len(low)))


@property_test
@given(seed=st.integers(0, 10**6), size=st.integers(1, 20), exponent=st.integers(-200, 200))
def test_crossover_keeps_mean_and_bounds(seed, size, exponent):
    rng = np.random.RandomState(seed)
    low = rng.normal(size=5) * 10.0**exponent
    high = low + rng.uniform(size=5) * 10.0**exponent
    high[0] = low[0]
    parents = parents_in(low, high, 2 * size, seed)
    parents[rng.uniform(size=parents.shape) < 0.1] = np.nan
    parents = np.where(np.isnan(parents), low, parents)  # some on the bounds
    children = crossover(parents, low, high, rng)
    assert children.shape == parents.shape
    assert np.all((children >= low) & (children <= high))
    np.testing.assert_allclose(
        children[::2] + children[1::2], parents[::2] + parents[1::2], rtol=0, atol=1e-14 * 10.0**exponent
    )


def test_crossover_distribution():
    """Far from the bounds: the distribution function of the spread is beta^11 / 2 below 1, 1 - beta^-11 / 2 above."""
    rng = np.random.RandomState(0)
    parents = np.tile([[-1.0] * 10, [1.0] * 10], (2000, 1))
    children = crossover(parents, np.full(10, -1e9), np.full(10, 1e9), rng)
    beta = (children[1::2] - children[::2]) / 2
    crossed = beta != 1
    assert crossed.any(axis=1).mean() == pytest.approx(0.95 * (1 - 0.5**10), abs=0.02)
    assert crossed.mean() == pytest.approx(0.95 / 2, abs=0.02)
    np.testing.assert_array_equal(children[::2][~crossed], -1)
    assert kstest(beta[crossed], lambda b: np.where(b <= 1, b**11 / 2, 1 - b**-11.0 / 2)).pvalue > 0.01


def test_crossover_distribution_within_bounds():
    """Cut off at the widest spread, 1 + 2 * 0.1 / 2."""
    rng = np.random.RandomState(0)
    parents = np.tile([[1.0] * 10, [-1.0] * 10], (2000, 1))
    children = crossover(parents, np.full(10, -1.1), np.full(10, 3.0), rng)
    beta = (children[::2] - children[1::2]) / 2
    beta = beta[beta != 1]
    assert 1.09 < beta.max() <= 1.1 + 1e-15
    whole = 1 - 1.1**-11 / 2
    assert kstest(beta, lambda b: np.where(b <= 1, b**11 / 2, 1 - b**-11.0 / 2) / whole).pvalue > 0.01


def test_crossover_of_parents_that_coincide():
    parents = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-16, 5e-324]])
    low, high = np.full(3, -1e300), np.full(3, 1e300)
    for seed in range(50):
        np.testing.assert_array_equal(
            crossover(parents[[0, 0]], low, high, np.random.RandomState(seed)), parents[[0, 0]]
        )
        np.testing.assert_allclose(crossover(parents, low, high, np.random.RandomState(seed)), parents, atol=1e-300)


@property_test
@given(seed=st.integers(0, 10**6), exponent=st.integers(-200, 200))
def test_mutation_keeps_bounds(seed, exponent):
    rng = np.random.RandomState(seed)
    low = rng.normal(size=4) * 10.0**exponent
    high = low + rng.uniform(size=4) * 10.0**exponent
    high[0] = low[0]
    genes = parents_in(low, high, 30, seed)
    genes[0], genes[1] = low, high
    mutants = mutate(genes, low, high, rng)
    assert np.all((mutants >= low) & (mutants <= high))
    np.testing.assert_array_equal(mutants[:, 0], genes[:, 0])
    assert np.any(mutants[:, 1:] != genes[:, 1:])


def test_mutation_distribution():
    """One of n coordinates, half of them down, by a part delta of the range: 1 - (1 - delta)^11, up to the bound."""
    rng = np.random.RandomState(0)
    genes = np.full((20_000, 5), 3.0)
    mutants = mutate(genes, np.full(5, 1.0), np.full(5, 9.0), rng)
    moved = mutants != genes
    assert moved.mean() == pytest.approx(1 / 5, abs=0.01)
    down, up = (3 - mutants[mutants < 3]) / 8, (mutants[mutants > 3] - 3) / 8
    assert len(down) / moved.sum() == pytest.approx(0.5, abs=0.02)
    for part, reach in ((down, 2 / 8), (up, 6 / 8)):
        assert part.max() <= reach
        assert kstest(part, lambda x, whole=1 - (1 - reach) ** 11: (1 - (1 - x) ** 11) / whole).pvalue > 0.01


# The search -----------------------------------------------------------------------------------------------------------


def two_squares(x):
    """The front is the segment between 0 and the point (1, ..., 1)."""
    return np.column_stack([(x**2).sum(axis=1), ((x - 1) ** 2).sum(axis=1)])


def bent(x):
    """A test problem of E. Zitzler, K. Deb, L. Thiele (2000): the front is f2 = 1 - sqrt(f1), where x_2, ... are 0."""
    g = 1 + 9 * x[:, 1:].mean(axis=1)
    return np.column_stack([x[:, 0], g * (1 - np.sqrt(x[:, 0] / g))])


def search(function, size, low, high, seed=0):
    rng = np.random.RandomState(seed)
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    return nsga2(function, rng.uniform(low, high, (size, len(low))), low, high, rng)


def test_bent_front():
    first, last = (next(islice(search(bent, 40, np.zeros(10), np.ones(10)), n, None)) for n in (0, 250))
    away = [np.abs(f2 - (1 - np.sqrt(f1))).mean() for f1, f2 in (first.objectives.T, last.objectives.T)]
    assert away[0] > 3
    assert away[1] < 0.03  # of four seeds 0.006 to 0.014
    assert np.all(last.rank == 0)
    assert is_front(last.objectives)
    # from end to end, evenly
    f1 = last.objectives[:, 0]
    assert f1.min() < 1e-3
    assert f1.max() > 0.99
    assert np.diff(np.sort(f1)).max() < 0.1


def test_segment():
    last = next(islice(search(two_squares, 40, [-3.0] * 4, [3.0] * 4), 100, None))
    along = last.genes.mean(axis=1)
    assert np.linalg.norm(last.genes - along[:, None], axis=1).mean() < 0.2  # at first 2.8
    assert along.min() < 0.05
    assert along.max() > 0.95


@pytest.mark.parametrize("size", [4, 7, 40])
def test_generations(size):
    asked = []

    def objectives(x):
        asked.append(x)
        return two_squares(x)

    low, high = np.array([0.2, -1.0, 0.0]), np.array([0.6, 2.0, 0.0])
    generations = list(islice(search(objectives, size, low, high), 12))
    assert [len(x) for x in asked] == [size] * 12
    assert all(np.all((x >= low) & (x <= high)) for x in asked)
    assert np.unique(asked[0], axis=0).tolist() == np.unique(generations[0].genes, axis=0).tolist()
    for before, children, after in zip(generations, asked[1:], generations[1:], strict=False):
        np.testing.assert_array_equal(after.objectives, two_squares(after.genes))
        candidates = np.concatenate([before.objectives, two_squares(children)])
        # elitist: nothing that was there is better than what is first now
        first = after.objectives[after.rank == 0]
        assert is_front(first)
        assert not any(dominates(old, new) for old in candidates for new in first)
        # and no better front was given up
        assert (ranks(candidates) == 0).sum() >= len(first) == min(size, (ranks(candidates) == 0).sum())


def test_one_function():
    """One aim: the best is never lost, and found."""
    generations = list(
        islice(search(lambda x: ((x - 0.3) ** 2).sum(axis=1, keepdims=True), 20, [-1.0] * 3, [1.0] * 3), 80)
    )
    least = [population.objectives.min() for population in generations]
    assert np.all(np.diff(least) <= 0)
    assert least[-1] < 1e-4
    np.testing.assert_allclose(generations[-1].genes[0], 0.3, atol=0.01)


def test_same_seed_same_search():
    for seed in (0, 1):
        first, again = (next(islice(search(bent, 10, np.zeros(4), np.ones(4), seed), 20, None)) for _ in range(2))
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)
