"""What the mixtures share: starting memberships, means of components, complaints."""

import numpy as np
import pytest

from soft_clustering import MBMM
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.mixture.base import (
    InformationCriteria,
    component_means,
    count_distinct,
    given_memberships,
    smoothed_kmeans,
)

X = np.array([[0.0], [0.1], [5.0], [5.2], [9.0]])


def test_given_memberships_are_those_of_the_rows_with_weight():
    U = np.random.default_rng(0).dirichlet([1, 1], 5)
    np.testing.assert_array_equal(given_memberships(U, make_blocks(X), 2), U)
    weighted = make_blocks(X, np.array([1.0, 0, 2, 0, 1]))
    np.testing.assert_array_equal(given_memberships(U, weighted, 2), U[[0, 2, 4]])
    for wrong in (U[:3], np.vstack([U, U])):
        with pytest.raises(ValueError, match=r"init must have shape \(5, 2\)"):
            given_memberships(wrong, weighted, 2)


def test_given_memberships_are_those_of_a_sample():
    da = pytest.importorskip("dask.array")
    rows = np.arange(50_000.0)[:, None]
    blocks = make_blocks(da.from_array(rows, chunks=(10_000, 1)), np.where(rows[:, 0] % 5 == 0, 0.0, 1.0))
    local = blocks.local(np.random.RandomState(0))
    assert local.n == 20_000
    U = np.hstack([rows, 50_000 - rows]) / 50_000
    np.testing.assert_allclose(given_memberships(U, local, 2)[:, 0], local.blocks[0].X[:, 0] / 50_000, rtol=1e-15)


def test_smoothed_kmeans_is_a_partition_with_a_share_for_all():
    U = smoothed_kmeans(make_blocks(X), 2, np.random.RandomState(0))
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.sort(U, axis=1), [[0.01, 0.99]] * 5, rtol=1e-9)
    assert len(set(U.argmax(axis=1)[:2])) == 1
    assert len(set(U.argmax(axis=1)[2:])) == 1


def test_centres_at_one_place_share():
    np.testing.assert_allclose(smoothed_kmeans(make_blocks(np.ones((6, 2))), 3, np.random.RandomState(0)), 1 / 3)


def test_random_memberships_sum_to_one_in_each_row():
    U = MBMM(3, init="random")._starting_memberships(make_blocks(X), np.random.RandomState(0), 0)
    assert U.shape == (5, 3) and U.min() > 0
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)
    square = MBMM(5, init="random")._starting_memberships(make_blocks(X), np.random.RandomState(0), 0)
    np.testing.assert_allclose(square.sum(axis=1), 1, rtol=1e-14)


def test_means_of_components():
    sums, weight = np.arange(12.0).reshape(3, 2, 2), np.array([2.0, 0.0, 4.0])
    means = component_means(sums, weight)
    np.testing.assert_allclose(means[0], sums[0] / 2)
    np.testing.assert_allclose(means[2], sums[2] / 4)
    np.testing.assert_allclose(means[1], sums.sum(axis=0) / 6)


@pytest.mark.parametrize("share, mean", [(0.9e-8, 5.0), (1.1e-8, 2.0)])
def test_a_share_of_less_than_a_hundred_millionth_is_empty(share, mean):
    """Two components hold the rest, about a mean of 5; the third has a mean of 2."""
    weight = np.array([0.5, 0.5, share]) * 100 / (1 + share)
    means = component_means(weight[:, None] * [[4.0], [6.0], [2.0]], weight)
    np.testing.assert_allclose(means, [[4.0], [6.0], [mean]], rtol=1e-7)


@pytest.mark.parametrize("rows, distinct", [([[1], [1], [1]], 1), ([[1], [2], [1 + 1e-7]], 2), ([[1], [2], [3]], 3)])
def test_distinct_components(rows, distinct):
    assert count_distinct(np.array(rows, dtype=float)) == distinct


def test_methods_must_be_written():
    model = InformationCriteria()
    for call in (
        lambda: model._log_joint(None, None),
        lambda: model._n_parameters(),
        lambda: model._seeded_memberships(None, None, 0),
        lambda: model._from_memberships(None, None),
    ):
        with pytest.raises(NotImplementedError):
            call()
