"""Tables of features with known classes."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.preprocessing import StandardScaler

from soft_clustering.datasets import available_datasets, dataset_info, get_dataset


@cache
def _loaded():
    return {name: get_dataset(name) for name in available_datasets() if not dataset_info(name)["needs_network"]}


def offline_sets():
    """Name -> (X, y): the ten sets that need no network, raw features; the arrays are new in every call."""
    return {name: (X.copy(), y.copy()) for name, (X, y) in _loaded().items()}


def some_rows(X, y, rows):
    """At most so many rows, the same every time."""
    if len(X) <= rows:
        return X, y
    kept = np.sort(np.random.RandomState(0).choice(len(X), rows, replace=False))
    return X[kept], y[kept]


def planted_mixture(seed, n=600):
    """Overlapping elliptic Gaussians of unequal sizes, in 5 to 40 features, standardised.

    Neighbouring means are 3 to 5 standard deviations apart.
    """
    rng = np.random.default_rng(seed)
    d, K = (5, 10, 20, 40)[seed % 4], int(rng.integers(2, 8))
    shares = 0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0))
    y = rng.choice(K, n, p=shares)
    means = rng.normal(size=(K, d))
    gaps = np.linalg.norm(means[:, None] - means[None], axis=2)[np.triu_indices(K, 1)]
    means *= rng.uniform(3, 5) / gaps.min()
    X = means[y]
    for k in range(K):
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
        deviations = np.exp(rng.uniform(-0.6, 0.6, d))
        X[y == k] += (rng.normal(size=(int((y == k).sum()), d)) * deviations) @ axes.T
    return StandardScaler().fit_transform(X), y
