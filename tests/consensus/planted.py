"""Partitions with a planted truth."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score

IMBALANCED = np.repeat([0, 1, 2], [600, 100, 100])


def noisy_partitions(y, n_partitions=10, *, noise=0.25, softness=0.4, seed=0):
    """Soft partitions of the classes y: a share of objects anywhere, uncertain memberships, clusters in any order."""
    rng = np.random.default_rng(seed)
    K, n = y.max() + 1, len(y)
    partitions = []
    for _ in range(n_partitions):
        z = np.where(rng.uniform(size=n) < noise, rng.integers(K, size=n), y)
        U = (1 - softness) * np.eye(K)[z] + softness * rng.dirichlet(np.ones(K), n)
        partitions.append(U[:, rng.permutation(K)])
    return partitions


def mean_base_ari(y, partitions):
    return np.mean([adjusted_rand_score(y, U.argmax(axis=1)) for U in partitions])
