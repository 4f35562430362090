"""Indices that look at all pairs, on random samples: unbiased, with the error that is stated."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_samples, silhouette_score

from soft_clustering import FCM
from soft_clustering.metrics import METRICS, fuzzy_rand, fuzzy_silhouette, omega_index, silhouette

X, Y = make_blobs(600, 3, centers=3, cluster_std=4.0, random_state=0)
LABELS = FCM(3, random_state=0).fit(X).labels_
U = FCM(3, m=2.0, random_state=0).fit(X).memberships_
MANY = 60


def mean_and_error(values):
    return np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("data", [X, sparse.csr_array(X), np.tile(X, 15)], ids=["direct", "sparse", "product"])
def test_silhouette_is_unbiased_with_the_stated_error(data):
    each = silhouette_samples(X, LABELS)
    values = [silhouette(data, LABELS, max_samples=50, random_state=seed) for seed in range(MANY)]
    mean, error = mean_and_error(values)
    assert abs(mean - each.mean()) < 4 * error
    stated = each.std(ddof=1) * np.sqrt((1 - 50 / 600) / 50)
    # the estimate of a standard deviation from 60 values is within 40 % but for 1 in 100,000
    assert stated * 0.6 < np.std(values, ddof=1) < stated * 1.4


def test_drawn_samples_have_their_silhouettes():
    """The mean of the silhouettes, to all samples, of the samples that the generator draws."""
    drawn = np.random.RandomState(3).choice(600, 50, replace=False)
    expected = silhouette_samples(X, LABELS)[drawn].mean()
    assert silhouette(X, LABELS, max_samples=50, random_state=3) == pytest.approx(expected, abs=1e-12)


def test_distances():
    D = cdist(X, X)
    exact = silhouette_score(X, LABELS)
    assert silhouette(D, LABELS, metric="precomputed") == pytest.approx(exact, abs=1e-12)
    sampled = silhouette(D, LABELS, metric="precomputed", max_samples=50, random_state=0)
    assert sampled == pytest.approx(silhouette(X, LABELS, max_samples=50, random_state=0), abs=1e-12)
    for wrong, message in ((D[:, :5], "square"), (D + 1, "zero diagonal"), (np.triu(D), "symmetric")):
        with pytest.raises(ValueError, match=message):
            silhouette(wrong, LABELS, metric="precomputed")
    with pytest.raises(ValueError, match="metric must be 'euclidean' or 'precomputed'"):
        silhouette(X, LABELS, metric="cosine")


@pytest.mark.parametrize(
    "measure",
    [
        lambda **options: fuzzy_silhouette(X, U, **options),
        lambda **options: fuzzy_rand(U, Y, **options),
        lambda **options: omega_index(U > 0.3, np.eye(3)[Y], **options),
    ],
    ids=["fuzzy silhouette", "fuzzy rand", "omega"],
)
def test_others_are_close(measure):
    values = [measure(max_samples=100, random_state=seed) for seed in range(MANY)]
    mean, error = mean_and_error(values)
    assert abs(mean - measure()) < 5 * error
    assert np.std(values) < 0.1  # 1 / sqrt(s)


@pytest.mark.parametrize("name", ["silhouette", "fuzzy_silhouette", "fuzzy_rand", "adjusted_fuzzy_rand", "omega_index"])
def test_through_the_table(name):
    data = {"X": X, "U": U, "labels": LABELS, "cover": U > 0.3, "y_true": Y}
    exact, sampled = METRICS[name](**data), METRICS[name](**data, max_samples=100, random_state=0)
    assert sampled != exact
    assert sampled == METRICS[name](**data, max_samples=100, random_state=0)
    assert METRICS[name](**data, max_samples=600) == exact
    with pytest.raises(ValueError, match=r"The 'max_samples' parameter.*range \[2, inf\)"):
        METRICS[name](**data, max_samples=1)
