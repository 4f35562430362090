"""Weights, sizes, typical and borderline samples."""

import numpy as np
import pytest

from soft_clustering.explanation import borderline_samples, cluster_sizes, cluster_weights, typical_samples


def test_weights_of_a_partition_are_the_memberships():
    U = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    np.testing.assert_allclose(cluster_weights(U), U, rtol=1e-14)


def test_strengths_are_divided_by_their_sum_and_outliers_keep_small_weights():
    U = np.array([[4.0, 12.0], [0.5, 0.5], [0.02, 0.01], [0.0, 0.0]])
    np.testing.assert_allclose(cluster_weights(U), [[0.25, 0.75], [0.5, 0.5], [0.02, 0.01], [0, 0]])


@pytest.mark.parametrize("factor", [1e-300, 1e-3, 1.0])
def test_unit_of_small_strengths_does_not_matter(factor):
    U = np.random.default_rng(0).dirichlet(np.ones(3), 20) * np.linspace(0.1, 1, 20)[:, None]
    np.testing.assert_allclose(cluster_weights(U * factor), cluster_weights(U), rtol=1e-12)


def test_huge_strengths():
    np.testing.assert_allclose(cluster_weights([[1.5e308, 0.5e308], [1e-5, 1e300]]), [[0.75, 0.25], [0, 1]], atol=1e-12)


def test_sizes():
    U = [[1.0, 0.0, 0], [1.0, 0.0, 0], [0.55, 0.45, 0], [0.0, 1.0, 0], [0.0, 0.0, 0]]
    sizes = cluster_sizes(U)
    np.testing.assert_array_equal(sizes.size, [3, 1, 0])
    np.testing.assert_allclose(sizes.share, [2.55 / 4, 1.45 / 4, 0])
    np.testing.assert_allclose(sizes.effective_size, [2.55**2 / (2 + 0.55**2), 1.45**2 / (1 + 0.45**2), 0])
    np.testing.assert_allclose(sizes.doubtful, [1 / 3, 0, 0])


def test_doubt_is_about_shares():
    sizes = cluster_sizes([[0.03, 0.01], [0.011, 0.01], [20.0, 19.0], [1.0, 100.0]])
    np.testing.assert_allclose(sizes.doubtful, [2 / 3, 0])


def test_sizes_of_no_members():
    sizes = cluster_sizes(np.zeros((3, 2)))
    assert all((values == 0).all() for values in sizes)


def test_typical_samples_of_a_crisp_partition_are_nearest():
    U = np.repeat(np.eye(2), 3, axis=0)
    rows = typical_samples(U, [3, 1, 2, 0.3, 0.1, 0.2], 2)
    assert [row.tolist() for row in rows] == [[1, 2], [4, 5]]


def test_a_membership_far_out_is_not_typical():
    """In a mixture the most certain samples are often those farthest from all other clusters."""
    U = np.array([[1.0, 0.0], [0.999, 0.001], [0.6, 0.4], [0.0, 1.0]])
    assert [row.tolist() for row in typical_samples(U, [9.0, 0.5, 0.1, 0.0])] == [[1, 0, 2], [3]]


def test_samples_without_a_cluster_are_neither_typical_nor_borderline():
    U = np.array([[0.0, 0.0], [0.6, 0.4]])
    assert [row.tolist() for row in typical_samples(U, [0.0, 1.0])] == [[1], []]
    assert [row.tolist() for row in borderline_samples(U)] == [[1], []]


def test_borderline_samples_have_the_smallest_gap():
    U = np.array([[0.5, 0.4, 0.1], [0.46, 0.45, 0.09], [0.9, 0.1, 0.0], [0.3, 0.2, 0.5], [0.1, 0.7, 0.2]])
    assert [row.tolist() for row in borderline_samples(U)] == [[1, 0], [4], [3]]
    assert [row.tolist() for row in borderline_samples(U, 1)] == [[1], [4], [3]]


def test_no_borders():
    assert [row.tolist() for row in borderline_samples(np.eye(3))] == [[], [], []]
    assert [row.tolist() for row in borderline_samples(np.ones((3, 1)))] == [[]]


def test_wrong_costs():
    with pytest.raises(ValueError, match="cost must have one entry per sample, 2 entries"):
        typical_samples(np.eye(2), [1.0])


@pytest.mark.parametrize("U", [[[-1.0, 2.0]], [[np.nan, 1.0]], [1.0, 0.0]])
def test_wrong_memberships(U):
    with pytest.raises(ValueError, match="U"):
        cluster_weights(U)
