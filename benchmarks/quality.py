"""Adjusted Rand index with default settings and the true K, beside k-means.

``python benchmarks/quality.py [--seeds 3] [--models NAME ...]`` takes the ten offline sets, raw features.
``--held-out DATA_HOME [--rows 600]`` takes nine OpenML sets instead that no default was chosen on, at most so many rows
of each, raw and standardised; DATA_HOME is a folder of their ``.npz`` files. Prints a Markdown table of the means over
the seeds and writes the figures of every seed to ``benchmarks/results/quality.json``, ``quality_held_out.json`` or
``quality_held_out_ROWS.json``, where those of models that were not asked for stay.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from offline_sets import held_out_sets, offline_sets, sample
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import soft_clustering
from soft_clustering._registry import REGISTRY

RESULTS = Path(__file__).parent / "results"
ROWS = {"SoftKSC": 1000, "EVCLUS": 800}  # methods whose cost grows with the square of the rows


class DensityClusters(soft_clustering.SoftDBSCANGM):
    """What SoftDBSCANGM starts from, noise as one more cluster."""

    def fit(self, X: Any) -> Any:
        """Fit, and let the density clusters be the labels."""
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
    parser.add_argument("--held-out", metavar="DATA_HOME")
    parser.add_argument("--rows", type=int, default=600, help="of each held-out set")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = offline_sets()
    if arguments.held_out:
        raw = held_out_sets(arguments.held_out, arguments.rows)
        scaled = {f"{name} (std)": (StandardScaler().fit_transform(X), y) for name, (X, y) in raw.items()}
        sets = raw | scaled
    held_out = "_held_out" + ("" if arguments.rows == 600 else f"_{arguments.rows}") if arguments.held_out else ""
    path = RESULTS / f"quality{held_out}.json"
    record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"ari": {}, "seconds": {}}
    print("| model | mean | spread | " + " | ".join(sets) + " |")
    print("|---" * (len(sets) + 3) + "|")
    for name in arguments.models:
        data = {key: sample(X, y, ROWS.get(name, len(X))) for key, (X, y) in sets.items()}
        start = time.perf_counter()
        found = np.array(
            [
                [adjusted_rand_score(y, table[name](len(np.unique(y)), seed).fit(X).labels_) for X, y in data.values()]
                for seed in range(arguments.seeds)
            ]
        )
        record["ari"][name] = {key: found[:, i].tolist() for i, key in enumerate(data)}
        record["seconds"][name] = time.perf_counter() - start
        parts = np.split(found, 2, axis=1) if arguments.held_out else [found]
        means = [part.mean(axis=1) for part in parts]  # raw and standardised, or the one
        cells = " | ".join(f"{value:.3f}" for value in found.mean(axis=0))
        shown = " / ".join(f"{mean.mean():.4f}" for mean in means)
        spread = " / ".join(f"{np.ptp(mean):.4f}" for mean in means)
        print(f"| {name} | {shown} | {spread} | {cells} |", flush=True)
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
