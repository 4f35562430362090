"""Planted Gaussian mixtures of several kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

SETTINGS: dict[str, dict[str, Any]] = {
    "planted": {"widest": 20, "most": 7, "gap": (4.0, 7.0), "shape": 0.0, "rows": (300, 1000)},
    "fresh": {"widest": 32, "most": 12, "gap": (4.0, 7.0), "shape": 0.3, "rows": (600, 1000)},
    "overlap": {"widest": 32, "most": 12, "gap": (3.0, 5.0), "shape": 0.3, "rows": (600, 1000)},
}


def mixture(
    seed: int, *, widest: int, most: int, gap: tuple[float, float], shape: float, rows: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, int]:
    """X, the components of the rows and their number: each new centre is ``gap`` away from one of the others."""
    rng = np.random.default_rng(seed)
    d, K, n = int(rng.integers(2, widest + 1)), int(rng.integers(2, most + 1)), int(rng.integers(*rows))
    y = rng.choice(K, n, p=0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0)))
    centers = [np.zeros(d)]
    while len(centers) < K:
        direction = rng.normal(size=d)
        center = centers[rng.integers(len(centers))] + direction / np.linalg.norm(direction) * rng.uniform(*gap)
        if min(np.linalg.norm(center - other) for other in centers) >= gap[0]:
            centers.append(center)
    X = np.array(centers)[y]
    for k in range(K):
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
        deviations = np.exp(rng.uniform(-shape, shape, d)) * np.exp(rng.uniform(-shape, shape) / 2)
        X[y == k] += (rng.normal(size=(int((y == k).sum()), d)) * deviations) @ axes.T
    return X, y, K


def scattered_mixture(seed: int, n: int = 600) -> tuple[np.ndarray, np.ndarray, int]:
    """The same for centres that are drawn at random and then moved apart."""
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(2, 21)), int(rng.integers(2, 8))
    y = rng.choice(K, n, p=0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0)))
    centers = rng.normal(size=(K, d))
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(K, 1)]
    centers *= rng.uniform(4, 7) / gaps.min()
    return centers[y] + rng.normal(size=(n, d)), y, K
