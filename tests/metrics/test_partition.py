"""Validity of hard partitions: scikit-learn and brute force, digits, degenerate and bad input."""

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as sklearn_metrics
from sklearn.datasets import load_digits, load_iris, make_blobs

from soft_clustering.metrics import (
    ari,
    calinski_harabasz,
    clustering_metrics,
    davies_bouldin,
    nmi,
    partition,
    silhouette,
)

INTERNAL = [silhouette, calinski_harabasz, davies_bouldin]
SCHEMA = ["silhouette", "calinski_harabasz", "davies_bouldin", "ari", "nmi"]
property_test = settings(max_examples=40, deadline=None, derandomize=True)


# The formulas as plain loops ------------------------------------------------------------------------------------------


def distance(x, y):
    return math.sqrt(sum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True)))


def groups(X, labels):
    return {label: [x for x, own in zip(X, labels, strict=True) if own == label] for label in set(labels)}


def centroid(rows):
    """Relative to the first row, so that the sum keeps its digits wherever the rows are."""
    first = rows[0]
    return [
        float(first[j]) + math.fsum(float(x[j]) - float(first[j]) for x in rows) / len(rows) for j in range(len(first))
    ]


def brute_silhouette(X, labels):
    values = []
    for k in range(len(X)):
        found = {}
        for j in range(len(X)):
            if j != k:
                found.setdefault(labels[j], []).append(distance(X[k], X[j]))
        means = {label: math.fsum(values) / len(values) for label, values in found.items()}
        inside = means.pop(labels[k], None)
        outside = min(means.values())
        widest = max(inside or 0, outside)
        values.append(0.0 if inside is None or widest == 0 else (outside - inside) / widest)
    return math.fsum(values) / len(values)


def brute_calinski_harabasz(X, labels):
    clusters, center = groups(X, labels), centroid(X)
    between = math.fsum(len(rows) * distance(centroid(rows), center) ** 2 for rows in clusters.values())
    within = math.fsum(distance(x, centroid(rows)) ** 2 for rows in clusters.values() for x in rows)
    return between / (len(clusters) - 1) / (within / (len(X) - len(clusters)))


def brute_davies_bouldin(X, labels):
    clusters = groups(X, labels)
    centers = {label: centroid(rows) for label, rows in clusters.items()}
    extents = {
        label: math.fsum(distance(x, centers[label]) for x in clusters[label]) / len(clusters[label])
        for label in clusters
    }
    worst = [
        max((extents[i] + extents[j]) / distance(centers[i], centers[j]) for j in clusters if j != i) for i in clusters
    ]
    return math.fsum(worst) / len(worst)


BRUTE = {
    silhouette: brute_silhouette,
    calinski_harabasz: brute_calinski_harabasz,
    davies_bouldin: brute_davies_bouldin,
}


def random_case(seed, n, d, K):
    rng = np.random.RandomState(seed)
    labels = np.concatenate([np.arange(K), rng.randint(K, size=n - K)])
    return rng.normal(size=(n, d)) + 2 * labels[:, None], labels


def tight(seed, d):
    """Clusters of size 1e-3 at distances of 1e3, with duplicates."""
    X, labels = random_case(seed, 40, d, 4)
    X = 1e-3 * np.random.RandomState(seed).normal(size=X.shape) + 1e3 * labels[:, None]
    X[5] = X[np.flatnonzero(labels == labels[5])[0]]
    return X, labels


CASES = {
    "plain": random_case(0, 30, 3, 4),
    "one feature": random_case(1, 20, 1, 2),
    "many features": random_case(2, 25, 40, 3),
    "as many features as samples": random_case(3, 20, 20, 3),
    "clusters of one sample": random_case(4, 9, 2, 7),
    "duplicates": tuple(np.repeat(part, 3, axis=0) for part in random_case(5, 10, 2, 3)),
    "duplicates in many features": tuple(np.repeat(part, 3, axis=0) for part in random_case(6, 9, 50, 3)),
    "tight": tight(7, 3),
    "tight in many features": tight(8, 40),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("index", INTERNAL)
def test_by_brute_force(index, case):
    X, labels = CASES[case]
    assert index(X, labels) == pytest.approx(BRUTE[index](X, labels), rel=1e-12, abs=1e-14)


def test_product_and_differences_are_both_in_use(monkeypatch):
    calls = []
    monkeypatch.setattr(
        partition, "cdist", lambda A, B: calls.append(A.shape) or sklearn_metrics.pairwise_distances(A, B)
    )
    silhouette(*CASES["many features"])
    assert not calls
    silhouette(*CASES["duplicates in many features"])
    silhouette(*CASES["plain"])
    assert len(calls) == 2
    X, labels = CASES["many features"]
    # Each feature has an origin of its own: rows about their mean keep the digits of a product.
    assert silhouette(X + 1e3 * np.cos(np.arange(X.shape[1])), labels) == pytest.approx(silhouette(X, labels), rel=1e-9)
    assert len(calls) == 2


def test_one_close_pair_in_many_features():
    """Among rows far from each other two are nearly the same: a product would lose the digits of their distance."""
    X = np.random.default_rng(0).normal(size=(6, 50))
    X[1] = X[0] + 1e-9
    labels = np.array([0, 0, 1, 1, 2, 2])
    assert silhouette(X, labels) == pytest.approx(brute_silhouette(X, labels), rel=1e-12)


# scikit-learn ---------------------------------------------------------------------------------------------------------

ORACLES = {
    silhouette: sklearn_metrics.silhouette_score,
    calinski_harabasz: sklearn_metrics.calinski_harabasz_score,
    davies_bouldin: sklearn_metrics.davies_bouldin_score,
}


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer", "moons", "high_dimensional_blobs"])
@pytest.mark.parametrize("index", INTERNAL)
def test_scikit_learn(index, name):
    X, y = offline_sets()[name]
    assert index(X, y) == pytest.approx(ORACLES[index](X, y), rel=1e-9)


@property_test
@given(seed=st.integers(0, 10**6), n=st.integers(4, 40), d=st.integers(1, 40), K=st.integers(2, 3))
def test_scikit_learn_on_random_data(seed, n, d, K):
    X, labels = random_case(seed, n, d, K)
    y = np.random.RandomState(seed).randint(3, size=n)
    values = clustering_metrics(X, labels, y_true=y)
    expected = {index.__name__: ORACLES[index](X, labels) for index in INTERNAL}
    expected["ari"] = sklearn_metrics.adjusted_rand_score(y, labels)
    expected["nmi"] = sklearn_metrics.normalized_mutual_info_score(y, labels)
    # its distances are expanded squares, which leave about 1e-8 of a distance that is 0
    assert values == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_silhouette_in_chunks(monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    whole = silhouette(X, y)
    for chunk in (1, 500 * 7, 500 * 499):  # rows that share no divisor with n, and a last chunk of one row
        monkeypatch.setattr(partition, "_CHUNK", chunk)
        assert silhouette(X, y) == pytest.approx(whole, rel=1e-13)


def test_memory_of_the_silhouette(monkeypatch):
    monkeypatch.setattr(partition, "_CHUNK", 1 << 17)  # 1 MB
    X, y = make_blobs(3000, 4, centers=5, random_state=0)
    tracemalloc.start()
    try:
        silhouette(X, y)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    assert peak < 4  # all distances together are 69 MB


# Digits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", INTERNAL)
@pytest.mark.parametrize("scale", [1e-170, 1e-9, 1e170, 1e300])
def test_units_do_not_matter(index, scale):
    X, y = load_iris(return_X_y=True)
    assert index(X * scale, y) == pytest.approx(index(X, y), rel=1e-11)


@pytest.mark.parametrize("index", INTERNAL)
@pytest.mark.parametrize("n_features", [4, 64])
def test_offset(index, n_features):
    X, y = load_digits(return_X_y=True)  # integers, so that the shifted data are exact
    X, y = X[:300, 10 : 10 + n_features], y[:300]
    assert index(X + 2.0**30, y) == pytest.approx(index(X, y), rel=1e-7)


@pytest.mark.parametrize("index", INTERNAL)
def test_order_of_samples_and_names_of_labels_do_not_matter(index):
    X, labels = CASES["plain"]
    order = np.random.RandomState(0).permutation(len(X))
    expected = pytest.approx(index(X, labels), rel=1e-12)
    assert index(X[order], labels[order]) == expected
    assert index(X, np.array(["d", "b", "a", "c"])[labels]) == expected
    assert index(X, labels - 1) == expected  # -1 is a label like any other
    assert index(X, -2.5 * labels) == expected


# Where an index is not defined ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", INTERNAL)
def test_number_of_labels(index):
    X = np.random.RandomState(0).normal(size=(5, 2))
    assert math.isnan(index(X, np.zeros(5)))
    assert math.isnan(index(X, np.arange(5)))
    assert math.isnan(index(X[:1], [0]))
    assert math.isfinite(index(X, [0, 1, 2, 3, 3]))


def test_samples_on_their_centroids():
    X, labels = [[0.0], [0.0], [4.0], [4.0]], [0, 0, 1, 1]
    values = clustering_metrics(X, labels)
    assert values["silhouette"] == 1
    assert values["calinski_harabasz"] == math.inf
    assert values["davies_bouldin"] == 0


def test_coinciding_centroids():
    X, labels = [[-1.0], [1.0], [-2.0], [2.0]], [0, 0, 1, 1]
    assert calinski_harabasz(X, labels) == 0
    assert davies_bouldin(X, labels) == math.inf


def test_all_samples_equal():
    values = clustering_metrics(np.full((6, 2), 0.1), [0, 0, 0, 1, 1, 1])
    assert values["silhouette"] == 0
    assert math.isnan(values["calinski_harabasz"])
    assert math.isnan(values["davies_bouldin"])


# All of them together -------------------------------------------------------------------------------------------------


def test_together_as_alone():
    X, y = load_iris(return_X_y=True)
    labels = np.random.RandomState(0).randint(3, size=150)
    expected = {index.__name__: index(X, labels) for index in INTERNAL}
    expected |= {"ari": ari(labels, y), "nmi": nmi(labels, y)}
    values = clustering_metrics(X, labels, y_true=y)
    assert values == expected
    assert list(values) == SCHEMA
    assert all(type(value) is float for value in values.values())


def undefined(values):
    assert list(values) == SCHEMA
    return [name for name, value in values.items() if math.isnan(value)]


def test_what_does_not_apply_is_nan():
    X, labels = CASES["plain"]
    assert undefined(clustering_metrics(X, labels, y_true=labels)) == []
    assert undefined(clustering_metrics(X, labels)) == SCHEMA[3:]
    assert undefined(clustering_metrics(None, labels, y_true=labels)) == SCHEMA[:3]
    assert undefined(clustering_metrics(X, np.zeros(len(X)), y_true=labels)) == SCHEMA[:3]
    assert undefined(clustering_metrics(None, labels)) == SCHEMA


@pytest.mark.parametrize("index", [ari, nmi])
def test_agreement_of_equal_partitions(index):
    labels = [0, 0, 1, 2, 2]
    assert index(labels, ["x", "x", "z", "y", "y"]) == pytest.approx(1)
    assert index([0, 0, 0, 0, 0], labels) == 0


# What may come in -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.ndarray.tolist, pd.DataFrame, np.asfortranarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("index", INTERNAL)
def test_kinds_of_data(index, kind):
    X, labels = CASES["plain"]
    X = np.round(X * 16) / 16  # the same numbers in float32
    assert index(kind(X), labels) == pytest.approx(index(X, labels), rel=1e-9)


@pytest.mark.parametrize("kind", [list, pd.Series, np.float64, lambda y: pd.Series(y).astype("category")])
def test_kinds_of_labels(kind):
    X, labels = CASES["plain"]
    assert clustering_metrics(X, kind(labels), y_true=kind(labels)) == clustering_metrics(X, labels, y_true=labels)


def test_dask():
    da = pytest.importorskip("dask.array")
    X, labels = CASES["plain"]
    lazy = da.from_array(X, chunks=(7, 3)), da.from_array(labels, chunks=7)
    assert clustering_metrics(*lazy, y_true=lazy[1]) == clustering_metrics(X, labels, y_true=labels)


def test_arguments_are_not_changed():
    X, labels = (part.copy() for part in CASES["many features"])
    clustering_metrics(X, labels, y_true=labels)
    np.testing.assert_array_equal(X, CASES["many features"][0])
    np.testing.assert_array_equal(labels, CASES["many features"][1])


@pytest.mark.parametrize(
    "X, labels, y_true, error, message",
    [
        (
            np.ones((3, 2)),
            [0, 1],
            None,
            ValueError,
            r"labels must have one entry per sample, 3 entries\. Got 2 instead",
        ),
        (
            np.ones((3, 2)),
            [[0], [1], [1]],
            None,
            ValueError,
            r"labels must have shape \(n_samples,\)\. Got shape \(3, 1\)",
        ),
        (np.ones((3, 2)), [0, 1, np.nan], None, ValueError, "Input labels contains NaN"),
        (np.ones((3, 2)), [0, 1, "a", None][1:], None, TypeError, "labels must hold labels of one type"),
        (np.ones((3, 2)), [], None, ValueError, "0 sample"),
        (np.ones((3, 2)), [0, 1, 1], [0, 1], ValueError, r"y_true must have one entry per sample, 3 entries\. Got 2"),
        (np.ones((3, 2)), [0, 1, 1], [0, 1, np.nan], ValueError, "Input y_true contains NaN"),
        ([[1.0], [np.nan], [2.0]], [0, 1, 1], None, ValueError, "Input X contains NaN"),
        ([1.0, 2.0, 3.0], [0, 1, 1], None, ValueError, "Expected 2D array, got 1D array instead"),
        ([["a"], ["b"], ["c"]], [0, 1, 1], None, ValueError, "X must be numeric"),
    ],
)
def test_bad_input(X, labels, y_true, error, message):
    with pytest.raises(error, match=message):
        clustering_metrics(X, labels, y_true=y_true)
