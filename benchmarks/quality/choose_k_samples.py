"""What ``choose_n_clusters`` takes for many rows, and what a sample of the rows changes.

``python -m benchmarks choose-k-samples`` measures the time for GMM on 50,000 rows of 12 features with the default
criteria, with and without the silhouettes; and for planted sets the K that the silhouettes of all rows and of a sample
choose, with the largest difference between their values.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks.lib.records import Record
from soft_clustering import GMM
from soft_clustering.selection import choose_n_clusters
from soft_clustering.selection.criteria import default_criteria

PAIRS = ["silhouette", "fuzzy_silhouette"]
K_RANGE = range(2, 9)


def planted(seed, n):
    """Round clusters of different spread, some of which overlap."""
    rng = np.random.RandomState(seed)
    K, d = rng.randint(2, 8), rng.randint(2, 13)
    centers = rng.normal(size=(K, d)) * rng.uniform(1.5, 3)
    X, _ = make_blobs(n, d, centers=centers, cluster_std=rng.uniform(0.5, 1.2, size=K), random_state=seed)
    return X, K


def measure_time(n=50_000, d=12):
    """Wall and CPU seconds for clusters set apart, overlapping clusters, and none, with and without the silhouettes."""
    rng = np.random.RandomState(0)
    centers = rng.normal(size=(6, d))
    sets = {
        "apart": make_blobs(n, d, centers=5 * centers, random_state=0)[0],
        "overlapping": make_blobs(n, d, centers=0.9 * centers, random_state=0)[0],
        "uniform": rng.uniform(size=(n, d)),
    }
    default = default_criteria("features", has_bic=True)
    found = {}
    for name, X in sets.items():
        found[name] = {}
        for what, criteria in (("default", default), ("with silhouettes", [*default, *PAIRS])):
            wall, cpu = time.perf_counter(), time.process_time()
            result = choose_n_clusters(GMM(), X, K_RANGE, criteria=criteria, random_state=0)
            seconds = {"seconds": time.perf_counter() - wall, "CPU seconds": time.process_time() - cpu}
            found[name][what] = seconds | {"recommended": result.recommended}
            print(name, what, found[name][what], flush=True)
    return found


def compare_samples(n_sets, n):
    """What the silhouettes choose by all rows and by a sample, and the largest difference of their values."""
    found = []
    for seed in range(n_sets):
        X, K = planted(seed, n)
        all_rows, sample = (
            choose_n_clusters(KMeans(n_init=1), X, K_RANGE, criteria=PAIRS, max_samples=max_samples, random_state=0)
            for max_samples in (None, 10_000)
        )
        gap = max(np.abs(all_rows.scores[name] - sample.scores[name]).max() for name in PAIRS)
        found.append({"planted": K, "all rows": dict(all_rows.best), "sample": dict(sample.best), "difference": gap})
        print(found[-1], flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=8)
    parser.add_argument("--rows", type=int, default=20_000)
    arguments = parser.parse_args()
    record = Record("choose_k_samples", partial=arguments != parser.parse_args([]))
    record["times"] = measure_time()
    record["samples"] = compare_samples(arguments.sets, arguments.rows)
    record.save()


if __name__ == "__main__":
    main()
