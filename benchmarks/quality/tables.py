"""Adjusted Rand index with default settings and the true K, beside k-means.

``python -m benchmarks tables [--sets GROUP ...] [--models NAME ...] [--seeds 3]``

The groups: ``ten`` offline sets, raw features; ``held_out``: nine OpenML sets on which hardly any default was chosen,
at most 600 rows of each, raw and standardised; ``more``: six further tables; ``planted``: twelve mixtures of
overlapping clusters, both standardised. Prints Markdown tables of the means over the seeds and records the figures of
every seed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import soft_clustering
from benchmarks.lib.records import Record
from benchmarks.lib.sets import GROUPS, add_arguments, sample, tabulate
from soft_clustering._registry import REGISTRY

ROWS = {"SoftKSC": 1000, "EVCLUS": 800}  # methods whose cost grows with the square of the rows


class DensityClusters(soft_clustering.SoftDBSCANGM):
    """The density clusters from which SoftDBSCANGM starts, with noise as one more cluster."""

    def fit(self, X: Any) -> Any:
        """Fit, and set the labels to the density clusters."""
        super().fit(X)
        self.labels_ = self.dbscan_labels_
        return self


def models() -> dict[str, Callable[[int, int], Any]]:
    """Name -> constructor from K and seed."""

    def ours(name: str) -> Callable[[int, int], Any]:
        cls = getattr(soft_clustering, name)

        def make(K: int, seed: int) -> Any:
            settings = {"n_clusters": K, "random_state": seed}
            return cls(**{key: value for key, value in settings.items() if key in cls().get_params()})

        return make

    table = {row.name: ours(row.name) for row in REGISTRY if getattr(soft_clustering, row.name).modality == "features"}
    table["SCM (finds K)"] = lambda K, seed: soft_clustering.SCM(random_state=seed)
    table["SoftDBSCANGM (100 passes)"] = lambda K, seed: soft_clustering.SoftDBSCANGM(max_iter=100)
    table["DBSCAN of SoftDBSCANGM"] = lambda K, seed: DensityClusters()
    table["FCM m=2"] = lambda K, seed: soft_clustering.FCM(K, m=2.0, random_state=seed)
    table["KMeans (scikit-learn)"] = lambda K, seed: KMeans(K, n_init=10, random_state=seed)
    return table


def main() -> None:
    table = models()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, [*table], [*GROUPS])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    def score(name: str, X: np.ndarray, y: np.ndarray, seed: int) -> float:
        X, y = sample(X, y, ROWS.get(name, len(X)))
        return float(adjusted_rand_score(y, table[name](len(np.unique(y)), seed).fit(X).labels_))

    tabulate(Record("tables", partial=arguments != parser.parse_args([])), arguments, arguments.seeds, score)


if __name__ == "__main__":
    main()
