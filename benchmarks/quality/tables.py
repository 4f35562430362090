"""Adjusted Rand index with default settings and the true K, beside k-means.

``python -m benchmarks tables [--seeds 3] [--models NAME ...]`` takes the ten offline sets, raw features;
``--varied-std S S S S`` gives the clusters of varied_blobs other spreads than 1, 2.5, 0.5, 3 (and writes to
``quality_varied.json``).
``--held-out DATA_HOME [--rows 600]`` takes nine OpenML sets instead on which no default was chosen, at most this many
rows of each, raw and standardised; DATA_HOME is a folder of their ``.npz`` files. ``--more DATA_HOME`` takes the six
tables of its folder ``more``, ``--planted SEED`` twelve mixtures of overlapping clusters, both standardised.

Prints a Markdown table of the means over the seeds and writes the figures of every seed to ``quality.json``,
``quality_held_out.json``, ``quality_held_out_ROWS.json``, ``quality_more.json`` or ``quality_planted_SEED.json`` in
``benchmarks/results/``, where the figures of other models stay.
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
from benchmarks.lib.sets import add_set_arguments, chosen_sets, record_path, sample, tabulate
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
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--models", nargs="+", choices=[*table], default=[*table], metavar="NAME")
    add_set_arguments(parser, 600)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    def score(name: str, X: np.ndarray, y: np.ndarray, seed: int) -> float:
        X, y = sample(X, y, ROWS.get(name, len(X)))
        return float(adjusted_rand_score(y, table[name](len(np.unique(y)), seed).fit(X).labels_))

    path = record_path("quality", arguments, 600)
    ways = 2 if arguments.held_out else 1
    tabulate(path, chosen_sets(arguments), arguments.models, arguments.seeds, score, ways)


if __name__ == "__main__":
    main()
