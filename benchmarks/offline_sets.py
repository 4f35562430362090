"""The data sets of the quality tables."""

from __future__ import annotations

import numpy as np

from soft_clustering.datasets import available_datasets, dataset_info, get_dataset

HELD_OUT = ("glass", "ecoli", "vehicle", "yeast", "segment", "pendigits", "satimage", "optdigits", "letter")

Sets = dict[str, tuple[np.ndarray, np.ndarray]]


def offline_sets() -> Sets:
    """Name -> (X, y): the ten sets that need no network, raw features."""
    return {name: get_dataset(name) for name in available_datasets() if not dataset_info(name)["needs_network"]}


def held_out_sets(data_home: str, rows: int = 600) -> Sets:
    """Name -> (X, y): the nine sets that no default was chosen on, a fixed sample of their rows, raw features.

    Rows of optdigits that scikit-learn's digits have, too, are left out.
    """
    sets = {name: get_dataset(name, data_home=data_home) for name in HELD_OUT}
    known = {row.tobytes() for row in get_dataset("digits")[0]}
    X, y = sets["optdigits"]
    fresh = np.array([row.tobytes() not in known for row in np.ascontiguousarray(X)])
    sets["optdigits"] = X[fresh], y[fresh]
    return {name: sample(X, y, rows) for name, (X, y) in sets.items()}


def sample(X: np.ndarray, y: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """At most so many rows, the same every time."""
    if len(X) <= rows:
        return X, y
    kept = np.sort(np.random.RandomState(0).choice(len(X), rows, replace=False))
    return X[kept], y[kept]
