"""Sammon's map: the stress by its definition, its derivatives, exact maps, landmarks."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.decomposition import PCA

from soft_clustering.federated import sammon
from soft_clustering.federated.sammon import place_by_landmarks, sammon_map


def stress_by_a_loop(D, Y):
    total = above = 0.0
    for i in range(len(D)):
        for j in range(i):
            total += D[i, j]
            if D[i, j] > 0:
                above += (D[i, j] - np.linalg.norm(Y[i] - Y[j])) ** 2 / D[i, j]
    return above / total


@pytest.mark.parametrize("seed", range(3))
def test_stress_and_improvement_on_principal_components(seed):
    X = np.random.default_rng(seed).standard_normal((15, 6))
    D = cdist(X, X)
    Y, stress = sammon_map(D)
    assert stress == pytest.approx(stress_by_a_loop(D, Y), rel=1e-9)
    start = PCA(2).fit_transform(X)
    assert stress < 0.8 * stress_by_a_loop(D, start)
    # a minimum: no point gains by a small step
    for i in range(15):
        for step in ([0.02, 0], [-0.02, 0], [0, 0.02], [0, -0.02]):
            moved = Y.copy()
            moved[i] += step
            assert stress_by_a_loop(D, moved) > stress - 1e-9


def test_start_is_principal_components():
    X = np.random.default_rng(0).standard_normal((12, 5))
    Y, expected = sammon._classical_scaling(cdist(X, X)), PCA(2).fit_transform(X)
    np.testing.assert_allclose(np.abs(Y), np.abs(expected), atol=1e-9)


def test_newton_step_by_differences():
    rng = np.random.default_rng(0)
    Y, D = rng.standard_normal((5, 2)), squareform(pdist(rng.standard_normal((5, 4))))
    weight = sammon._inverse(D)
    direction = sammon._newton(Y, Y, D, weight)
    h = 1e-4

    def loss(i, axis, step):
        moved = Y.copy()
        moved[i, axis] += step
        distance = np.linalg.norm(moved[i] - np.delete(Y, i, axis=0), axis=1)
        target = np.delete(D[i], i)
        return np.sum((target - distance) ** 2 / target)

    for i in range(5):
        for axis in range(2):
            low, mid, high = (loss(i, axis, step) for step in (-h, 0, h))
            first, second = (high - low) / (2 * h), (high - 2 * mid + low) / h**2
            assert direction[i, axis] == pytest.approx(first / abs(second), rel=1e-4)


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_plane_is_recovered_in_any_unit(unit):
    X = np.random.default_rng(0).standard_normal((10, 2))
    D = cdist(X, X)
    Y, stress = sammon_map(D * unit)
    np.testing.assert_allclose(cdist(Y / unit, Y / unit), D, atol=1e-6)
    assert stress < 1e-12


def test_coinciding_points_stay_together():
    X = np.random.default_rng(0).standard_normal((6, 4))
    X[3] = X[0]
    Y, _ = sammon_map(cdist(X, X))
    np.testing.assert_allclose(Y[3], Y[0], atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    X = np.arange(n, dtype=float)[:, None]
    Y, stress = sammon_map(cdist(X, X))
    assert Y.shape == (n, 2)
    np.testing.assert_allclose(cdist(Y, Y), cdist(X, X), atol=1e-9)
    assert stress < 1e-15


def test_all_points_in_one_place():
    Y, stress = sammon_map(np.zeros((4, 4)))
    np.testing.assert_array_equal(Y, 0)
    assert stress == 0


def test_landmarks_place_points_of_the_plane():
    rng = np.random.default_rng(0)
    L, X = rng.standard_normal((4, 2)), 3 * rng.standard_normal((50, 2))
    np.testing.assert_allclose(place_by_landmarks(cdist(X, L), L), X, atol=1e-6)


def test_placing_minimises_the_stress_of_each_point():
    rng = np.random.default_rng(0)
    X, centers = rng.standard_normal((30, 5)), rng.standard_normal((4, 5))
    L = sammon_map(cdist(centers, centers))[0]
    D = cdist(X, centers)
    Y = place_by_landmarks(D, L)

    def stress(Y):
        return ((D - cdist(Y, L)) ** 2 / D).sum(axis=1)

    for step in ([0.02, 0], [-0.02, 0], [0, 0.02], [0, -0.02]):
        assert (stress(Y + step) > stress(Y) - 1e-9).all()


def test_placing_does_not_depend_on_the_other_points():
    rng = np.random.default_rng(0)
    L, D = rng.standard_normal((3, 2)), rng.uniform(0.5, 3, (20, 3))
    together = place_by_landmarks(D, L)
    apart = np.vstack([place_by_landmarks(row[None], L) for row in D])
    np.testing.assert_allclose(together, apart, atol=1e-9)


@pytest.mark.parametrize("L", [np.zeros((1, 2)), np.zeros((3, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])])
def test_landmarks_without_a_plane(L):
    Y = place_by_landmarks(np.array([[1.0] * len(L), [0.0] * len(L)]), L)
    assert np.isfinite(Y).all()
