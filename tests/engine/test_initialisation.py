"""Starting centres: distribution, weights, ties, and independence of the order of the rows."""

from functools import reduce

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.utils import check_random_state

from soft_clustering import kernels
from soft_clustering.engine import initialisation
from soft_clustering.engine.blocks import Block, Frame, make_blocks
from soft_clustering.engine.initialisation import (
    Candidates,
    candidates,
    center_statistics,
    further_rows,
    greedy_seeds,
    kmeans,
    kmeans_parallel,
    kmeans_plusplus,
    lloyd,
    random_rows,
    starting_centers,
    trimmed_rows,
)
from soft_clustering.kernels import reference

IRIS = load_iris().data


def seed(seeding, X, K, state, weight=None):
    """Centres in input units, drawn by the seeding function."""
    blocks = make_blocks(X, weight)
    return blocks.frame.to_input(seeding(blocks, K, check_random_state(state)))


def parallel(blocks, K, rng):
    """Seeds of k-means||."""
    return kmeans_parallel(blocks, random_rows(blocks, 1, rng), K, rng)


def frequencies(seeding, X, K, weight=None, repeats=2000):
    """How often each row of X (all different) is the first centre, and how often it is any."""
    rng = np.random.RandomState(0)
    first, chosen = np.zeros(len(X)), np.zeros(len(X))
    blocks = make_blocks(X, weight)
    rows = blocks.blocks[0].take(np.arange(blocks.n))
    kept = np.arange(len(X)) if blocks.kept is None else blocks.kept
    for _ in range(repeats):
        at = kept[cdist(seeding(blocks, K, rng), rows).argmin(axis=1)]
        first[at[0]] += 1
        chosen[at] += 1
    return first / repeats, chosen / repeats


# What is drawn --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeding", [kmeans_plusplus, random_rows])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_centers_are_different_rows(seeding, container):
    for state in range(5):
        centers = seed(seeding, container(IRIS), 7, state)
        D = cdist(centers, IRIS)
        assert D.min(axis=1).max() < 1e-14
        if seeding is kmeans_plusplus:
            assert cdist(centers, centers)[~np.eye(7, dtype=bool)].min() > 0


def test_random_rows_are_drawn_without_replacement():
    X = np.arange(6.0)[:, None]
    for state in range(20):
        np.testing.assert_allclose(np.sort(seed(random_rows, X, 6, state)[:, 0]), X[:, 0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("seeding", [kmeans_plusplus, random_rows])
def test_first_centre_is_drawn_by_weight(seeding):
    weight = np.array([1.0, 2.0, 0.0, 5.0, 2.0])
    X = np.random.RandomState(0).normal(size=(5, 2))
    first, _ = frequencies(seeding, X, 2, weight)
    # Four standard deviations of a frequency.
    np.testing.assert_allclose(first, weight / 10, rtol=0, atol=4 * np.sqrt(0.25 / 2000))
    assert first[2] == 0


def test_random_rows_by_weight():
    weight = np.array([1.0, 1.0, 1.0, 100.0])
    _, chosen = frequencies(random_rows, np.arange(4.0)[:, None], 2, weight)
    assert chosen[3] > 0.98
    np.testing.assert_allclose(chosen[:3], chosen[:3].mean(), rtol=0, atol=4 * np.sqrt(0.25 / 2000))


def test_second_centre_is_drawn_by_squared_distance():
    """Given 0, a draw among 1 and 3 is 3 with probability 0.9, and the better of two draws with 0.99."""
    X = np.array([[0.0], [1.0], [3.0]])
    weight = np.array([1e9, 1.0, 1.0])  # the first centre is 0
    _, chosen = frequencies(kmeans_plusplus, X, 2, weight)
    # Two trials; of 1 and 3 the better one is 3 (leaves 1 of 0 and 1; the other leaves 4).
    assert chosen[1] == pytest.approx(0.1**2, abs=4 * np.sqrt(0.01 / 2000))
    assert chosen[2] == pytest.approx(1 - 0.1**2, abs=4 * np.sqrt(0.01 / 2000))


def test_rows_of_weight_zero_are_never_drawn():
    X = np.vstack([IRIS, IRIS + 100])
    weight = np.repeat([1.0, 0.0], 150)
    for seeding in (kmeans_plusplus, random_rows):
        for state in range(5):
            assert seed(seeding, X, 5, state, weight).max() < 10


def test_candidates_are_judged_by_weight():
    """The third centre of two covered groups goes to the heavy one."""
    X = np.array([[0.0], [10.0], [12.0], [100.0], [102.0]])
    _, chosen = frequencies(kmeans_plusplus, X, 3, np.array([1.0, 1.0, 1.0, 1000.0, 1000.0]), repeats=500)
    assert chosen[3] > 0.99
    assert chosen[4] > 0.99


def test_separated_groups_are_all_found():
    X, y = make_blobs(400, 3, centers=8, cluster_std=0.1, random_state=2)
    for state in range(10):
        nearest = cdist(seed(kmeans_plusplus, X, 8, state), X).argmin(axis=1)
        assert sorted(y[nearest]) == list(range(8))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_fewer_distinct_rows_than_centers(container):
    X = np.repeat([[0.0, 1.0], [3.0, 1.0]], 5, axis=0)
    centers = seed(kmeans_plusplus, container(X), 4, 0)
    np.testing.assert_allclose(np.unique(centers.round(12), axis=0), [[0.0, 1.0], [3.0, 1.0]], rtol=0, atol=1e-14)
    assert len(centers) == 4
    np.testing.assert_array_equal(seed(kmeans_plusplus, container(np.ones((3, 2))), 3, 0), np.ones((3, 2)))


def test_fewer_distinct_rows_than_centers_with_weights():
    X = np.array([[0.0], [0.0], [1.0], [5.0]])
    for state in range(10):
        # 5 has no weight: nothing but 0 and 1 can be drawn, also when all rows are covered.
        centers = seed(kmeans_plusplus, X, 3, state, np.array([1.0, 2.0, 1.0, 0.0]))
        assert set(centers[:, 0].round(12)) == {0.0, 1.0}


# What does not matter -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeding", [kmeans_plusplus, random_rows])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_order_of_the_rows(seeding, container):
    X, _ = make_blobs(200, 4, centers=3, random_state=0)
    weight = np.random.RandomState(0).uniform(0.5, 2, 200)
    for state in range(5):
        order = np.random.RandomState(state).permutation(200)
        centers = seed(seeding, container(X), 5, state, weight)
        permuted = seed(seeding, container(X[order]), 5, state, weight[order])
        np.testing.assert_allclose(permuted, centers, rtol=0, atol=1e-13)


@pytest.mark.parametrize("state", range(5))
def test_weights_are_repetitions(state):
    rng = np.random.RandomState(state)
    X = rng.normal(size=(60, 3))
    weight = rng.randint(0, 4, 60).astype(float)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    np.testing.assert_allclose(
        seed(kmeans_plusplus, X, 5, state, weight), seed(kmeans_plusplus, repeated, 5, state), rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("state", range(5))
def test_unit_and_container(state):
    X, _ = make_blobs(200, 4, centers=3, random_state=0)
    centers = seed(kmeans_plusplus, X, 5, state)
    np.testing.assert_allclose(seed(kmeans_plusplus, X * 1e-150, 5, state) * 1e150, centers, rtol=0, atol=1e-13)
    np.testing.assert_allclose(seed(kmeans_plusplus, X + 1e6, 5, state) - 1e6, centers, rtol=0, atol=1e-9)
    np.testing.assert_allclose(seed(kmeans_plusplus, sparse.csr_matrix(X), 5, state), centers, rtol=0, atol=1e-13)


@pytest.mark.parametrize("state", range(3))
def test_seeding_with_the_twins(monkeypatch, state):
    centers = seed(kmeans_plusplus, IRIS, 6, state)
    monkeypatch.setattr(kernels, "compiled", None)
    np.testing.assert_array_equal(seed(kmeans_plusplus, IRIS, 6, state), centers)


def test_seeding_is_reproducible():
    np.testing.assert_array_equal(seed(kmeans_plusplus, IRIS, 4, 3), seed(kmeans_plusplus, IRIS, 4, 3))
    assert not np.array_equal(seed(kmeans_plusplus, IRIS, 4, 3), seed(kmeans_plusplus, IRIS, 4, 4))


# starting_centers -----------------------------------------------------------------------------------------------------


def start(init, K, X=IRIS, weight=None):
    blocks = make_blocks(X, weight)
    return blocks.frame.to_input(starting_centers(blocks, init, K, check_random_state(0)))


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_one_centre_is_the_mean(init, container):
    weight = np.random.RandomState(0).uniform(0.5, 2, 150)
    expected = np.average(IRIS, axis=0, weights=weight)
    np.testing.assert_allclose(start(init, 1, container(IRIS), weight), [expected], rtol=1e-14)


def test_names_array_and_callable():
    np.testing.assert_array_equal(start("k-means++", 3), seed(kmeans_plusplus, IRIS, 3, 0))
    np.testing.assert_array_equal(start("random", 3), seed(random_rows, IRIS, 3, 0))
    np.testing.assert_allclose(start(IRIS[:3].tolist(), 3), IRIS[:3], rtol=1e-15)
    np.testing.assert_allclose(start(lambda X, K, rng: X[K : 2 * K], 3), IRIS[3:6], rtol=1e-15)


def test_callable_draws_from_the_generator():
    first, second = (start(lambda X, K, rng: rng.normal(size=(K, 4)), 3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("init", [IRIS[:2], IRIS[:3, :3], lambda X, K, rng: X])
def test_wrong_shape(init):
    with pytest.raises(ValueError, match=r"init must have shape \(3, 4\). Got shape"):
        start(init, 3)


def test_further_rows_are_drawn_by_squared_distance():
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    blocks = make_blocks(X, np.array([5.0, 5.0, 3.0, 1.0]))
    V = blocks.frame.from_input([[0.0]])
    rng = np.random.RandomState(0)
    drawn = np.array([blocks.frame.to_input(further_rows(blocks.joined(), V, 1, rng))[0, 0] for _ in range(2000)])
    assert set(drawn.round(9)) == {1, 3}
    assert (drawn > 2).mean() == pytest.approx(9 / 12, abs=0.03)
    both = blocks.frame.to_input(further_rows(blocks.joined(), V, 2, rng)).ravel()
    np.testing.assert_allclose(np.sort(both), [1, 3])
    more = further_rows(blocks.joined(), V, 4, rng)  # more than there are distinct rows
    assert np.isfinite(more).all()


def test_further_rows_are_rows():
    blocks = make_blocks(IRIS)
    drawn = further_rows(blocks.joined(), blocks.frame.from_input(IRIS[:1]), 5, np.random.RandomState(0))
    assert cdist(blocks.frame.to_input(drawn), IRIS).min(axis=1).max() < 1e-12
    assert len(np.unique(drawn, axis=0)) == 5


def test_lloyd_goes_on_until_the_centres_are_means_and_no_longer(monkeypatch):
    blocks, passes = make_blocks(IRIS), []
    original = center_statistics
    monkeypatch.setattr(initialisation, "center_statistics", lambda *given: passes.append(given) or original(*given))
    V = blocks.frame.to_input(lloyd(blocks, blocks.frame.from_input(IRIS[:3])))
    labels = cdist(IRIS, V).argmin(axis=1)
    means = np.stack([IRIS[labels == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(V, means, rtol=0, atol=1e-3)
    assert 2 < len(passes) < 30


# k-means|| ------------------------------------------------------------------------------------------------------------


def test_candidates_are_drawn_by_mass_whatever_the_blocks():
    """Each row with probability wanted * weight * distance / cost, from one block or merged from three."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
    weight = np.array([4.0, 4.0, 1.0, 0.5, 0.25])
    whole = make_blocks(X, weight)
    V = whole.frame.from_input([[0.0]])
    block = whole.joined()
    parts = [block.part(slice(0, 2)), block.part(slice(2, 4)), block.part(slice(4, 5))]
    for start, part in zip((0, 2, 4), parts, strict=True):
        part.start = start
    mass = weight * X[:, 0] ** 2
    expected = np.minimum(1, 2 * mass / mass.sum())
    for pieces in ([block], parts):
        drawn, cost = np.zeros(5), 0.0
        for seed in range(2000):
            found = reduce(Candidates.merge, (candidates(piece, V, 2, seed) for piece in pieces))
            drawn[np.searchsorted(X[:, 0] - 0.5, whole.frame.to_input(found.rows)[:, 0]) - 1] += 1
            cost = found.cost
        np.testing.assert_allclose(drawn / 2000, expected, rtol=0, atol=4 * np.sqrt(0.25 / 2000))
        np.testing.assert_allclose(cost, mass.sum() * whole.frame.scale**2, rtol=1e-12)


def test_parallel_seeds_are_as_good_as_those_of_kmeans():
    X = make_blobs(5000, 4, centers=20, cluster_std=0.3, random_state=0)[0]
    blocks = make_blocks(X)

    def cost(seeding, state):
        return blocks.reduce(center_statistics, seeding(blocks, 20, check_random_state(state)), "nearest").objective

    # The rounds see all clusters; 20 rows at random miss a third of them.
    ratio = np.mean([cost(parallel, s) for s in range(5)]) / np.mean([cost(kmeans, s) for s in range(5)])
    assert ratio < 1.1
    assert np.mean([cost(random_rows, s) for s in range(5)]) / cost(kmeans, 0) > 5


def test_parallel_seeds_with_few_distinct_rows_and_with_few_rows():
    two = np.repeat([[0.0, 1.0], [2.0, 3.0]], 50, axis=0)
    centers = seed(parallel, two, 4, 0)
    assert {tuple(row) for row in centers.round(12)} == {(0.0, 1.0), (2.0, 3.0)}
    assert seed(parallel, np.ones((5, 2)), 3, 0).tolist() == [[1.0, 1.0]] * 3
    X = np.random.RandomState(0).normal(size=(12, 2))
    assert len(np.unique(seed(parallel, X, 10, 0), axis=0)) == 10


def test_parallel_seeds_count_weights():
    """Rows of weight 0 are nowhere, and a heavy one is a centre."""
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(size=(200, 2)), [[50.0, 0.0]], [[0.0, 1e6]]])
    weight = np.concatenate([np.ones(200), [1e4], [0.0]])
    for state in range(5):
        centers = seed(parallel, X, 3, state, weight)
        assert cdist([[50.0, 0.0]], centers).min() < 1e-9
        assert centers.max() < 51


# Trimmed starts -------------------------------------------------------------------------------------------------------


def trimmed_out(X, K=2, weight=None):
    blocks = make_blocks(X, weight)
    kept = trimmed_rows(blocks, K, np.random.RandomState(0))
    return np.setdiff1d(np.arange(len(X)), kept)


def test_trimmed_rows_are_far_from_their_tenth_neighbour():
    X = np.random.default_rng(0).standard_t(2, size=(200, 3))
    distances = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 10]
    np.testing.assert_array_equal(trimmed_out(X), np.sort(np.argsort(distances)[-10:]))


def test_trimmed_rows_of_many_are_found_in_a_sample():
    rng = np.random.default_rng(0)
    far = rng.uniform(50, 500, size=(300, 2)) * rng.choice([-1, 1], (300, 2))
    X = np.concatenate([rng.normal(size=(5700, 2)), far])
    assert np.isin(np.arange(5700, 6000), trimmed_out(X)).all()


def test_a_trimmed_start_leaves_out_a_share_of_the_weight():
    X = np.concatenate([np.linspace(0, 1, 38), [50.0, 100.0]])[:, None]
    np.testing.assert_array_equal(trimmed_out(X), [38, 39])
    weight = np.where(np.arange(40) == 39, 20.0, 10.0)  # 20 of 410 are less than 5 %, 30 are more
    np.testing.assert_array_equal(trimmed_out(X, weight=weight), [39])


@pytest.mark.parametrize("n", [1, 5, 19, 20])
def test_a_trimmed_start_keeps_enough_rows(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    assert len(trimmed_out(X, K=n)) == 0
    assert len(trimmed_out(X, K=1)) == (n == 20)


@pytest.mark.parametrize("most", [np.inf, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_seeds_by_distances_are_those_of_features(weighted, most):
    rng = np.random.RandomState(0)
    X, uniforms = rng.normal(size=(80, 3)), rng.uniform(size=(6, 3))
    weight = rng.uniform(0.5, 2, 80) if weighted else np.ones(80)
    order = rng.permutation(80)
    expected = reference.seed(Block(X, weight, Frame(np.zeros(3), 1.0)), order, uniforms, most)
    rows = greedy_seeds(
        lambda drawn: cdist(X, X[drawn], "sqeuclidean"), weight, order, [uniforms[0, :1], *uniforms[1:]], most
    )
    np.testing.assert_allclose(X[rows], expected)


def test_seeds_of_equal_objects_are_different_ones():
    uniforms = np.random.RandomState(0).uniform(size=(5, 3))
    rows = greedy_seeds(
        lambda drawn: np.zeros((5, len(drawn))), np.ones(5), np.arange(5), [uniforms[0, :1], *uniforms[1:]]
    )
    assert sorted(rows.tolist()) == [0, 1, 2, 3, 4]
