"""The ten data sets of the quality tables that need no network, raw features."""

from __future__ import annotations

import numpy as np

from soft_clustering.datasets import available_datasets, dataset_info, get_dataset


def offline_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name -> (X, y)."""
    return {name: get_dataset(name) for name in available_datasets() if not dataset_info(name)["needs_network"]}
