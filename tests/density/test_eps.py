"""Radii of DBSCAN: core distances, weighted quantiles, the Anderson-Darling statistic, G-means."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from soft_clustering.density import eps
from soft_clustering.density.eps import CRITICAL, anderson_darling, core_distances, gaussian_means, quantile

property_test = settings(max_examples=40, deadline=None, derandomize=True)
seeds = st.integers(0, 10**6)


@property_test
@given(seed=seeds, min_samples=st.integers(1, 12))
def test_core_distances_by_definition(seed, min_samples):
    rng = np.random.RandomState(seed)
    Z = rng.normal(size=(30, 2))
    weight = rng.uniform(0.05, 2, 30)
    D = cdist(Z, Z)
    expected = []
    for i in range(30):
        order = np.argsort(D[i])
        within = np.cumsum(weight[order])
        enough = np.flatnonzero(within >= min_samples)
        expected.append(D[i, order[enough[0]]] if len(enough) else D[i].max())
    np.testing.assert_allclose(core_distances(Z, weight, min_samples), expected, rtol=1e-12)


@property_test
@given(seed=seeds)
def test_core_distances_of_repetitions(seed):
    rng = np.random.RandomState(seed)
    Z, weight = rng.normal(size=(20, 3)), rng.randint(1, 4, 20)
    copies = np.repeat(np.arange(20), weight)
    repeated = core_distances(Z[copies], np.ones(len(copies)), 5)
    np.testing.assert_allclose(core_distances(Z, weight.astype(float), 5)[copies], repeated, rtol=1e-12)


def test_core_distances_in_groups(monkeypatch):
    Z, weight = np.random.RandomState(0).normal(size=(50, 2)), np.full(50, 0.3)
    expected = core_distances(Z, weight, 4)
    monkeypatch.setattr(eps, "_GROUP", 40)
    np.testing.assert_array_equal(core_distances(Z, weight, 4), expected)


def test_more_samples_asked_for_than_there_are():
    Z = np.array([[0.0], [1.0], [5.0]])
    np.testing.assert_array_equal(core_distances(Z, np.ones(3), 10), [5, 4, 5])
    np.testing.assert_array_equal(core_distances(Z, np.full(3, 1e-12), 10), [5, 4, 5])


@property_test
@given(seed=seeds, q=st.floats(0, 1))
def test_quantile_is_that_of_repetitions(seed, q):
    rng = np.random.RandomState(seed)
    values, weight = rng.normal(size=15), rng.randint(1, 5, 15)
    expected = np.quantile(np.repeat(values, weight), q)
    assert quantile(values, weight.astype(float), q) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_quantile_of_little_weight():
    assert quantile(np.array([2.0, 1.0]), np.array([1e-9, 1e-9]), 0.9) == 1.0


@property_test
@given(seed=seeds)
def test_statistic_against_scipy(seed):
    rng = np.random.RandomState(seed)
    x, weight = rng.gamma(3, size=40), rng.randint(1, 4, 40)
    repeated = np.repeat(x, weight)
    n = len(repeated)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = stats.anderson(repeated).statistic * (1 + 4 / n - 25 / n**2)
    assert anderson_darling(x, weight.astype(float)) == pytest.approx(expected, rel=1e-9)
    assert anderson_darling(3 * x - 7, weight.astype(float)) == pytest.approx(expected, rel=1e-9)


def test_statistic_far_in_the_tails():
    assert anderson_darling(np.r_[np.zeros(10**4), 1e6], np.ones(10**4 + 1)) > 100
    assert np.isfinite(anderson_darling(np.r_[np.zeros(10**4), 1e6], np.ones(10**4 + 1)))


@pytest.mark.parametrize("seed", range(5))
def test_g_means_finds_gaussian_clusters(seed):
    X, y = make_blobs(600, 3, centers=[[0, 0, 0], [12, 0, 0], [0, 12, 0], [12, 12, 12]], random_state=seed)
    labels = gaussian_means(X, np.ones(600))
    assert adjusted_rand_score(y, labels) > 0.99
    assert labels.max() == 3
    one = gaussian_means(X[y == 0], np.ones(150))
    assert one.max() == 0


def test_g_means_splits_what_is_not_gaussian():
    X = np.random.RandomState(0).uniform(size=(2000, 1))
    labels = gaussian_means(X, np.ones(2000))
    assert labels.max() >= 1
    for k in range(labels.max() + 1):
        inside = X[labels == k, 0]
        assert anderson_darling(inside, np.ones(len(inside))) <= CRITICAL


def test_g_means_of_repetitions_and_copies():
    rng = np.random.RandomState(0)
    X = make_blobs(200, 2, centers=3, random_state=1)[0]
    weight = rng.randint(1, 4, 200)
    copies = np.repeat(np.arange(200), weight)
    weighted, repeated = gaussian_means(X, weight.astype(float)), gaussian_means(X[copies], np.ones(len(copies)))
    assert adjusted_rand_score(weighted[copies], repeated) == 1
    for points in (np.zeros((30, 2)), np.repeat(np.eye(3), 20, axis=0)):
        labels = gaussian_means(points, np.ones(len(points)))
        assert len(np.unique(points, axis=0)) >= labels.max() + 1
    assert gaussian_means(X[:5], np.ones(5)).max() == 0  # too few to tell
