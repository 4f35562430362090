"""The ten offline data sets of the quality tables, raw features: five scikit-learn sets less one, six synthetic."""

from __future__ import annotations

import numpy as np
from sklearn import datasets


def offline_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name -> (X, y)."""
    X, y = datasets.make_blobs(1500, centers=4, random_state=42)
    real = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "digits": datasets.load_digits(return_X_y=True),
        "breast_cancer": datasets.load_breast_cancer(return_X_y=True),
    }
    synthetic = {
        "blobs": datasets.make_blobs(1000, 2, centers=5, random_state=42),
        "moons": datasets.make_moons(1000, noise=0.05, random_state=42),
        "circles": datasets.make_circles(1000, factor=0.5, noise=0.05, random_state=42),
        "anisotropic_blobs": (X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y),
        "varied_blobs": datasets.make_blobs(1500, centers=4, cluster_std=[1, 2.5, 0.5, 3], random_state=42),
        "high_dimensional_blobs": datasets.make_blobs(3000, 100, centers=10, random_state=42),
    }
    return real | synthetic
