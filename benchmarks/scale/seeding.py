"""Where to begin on Dask: k-means|| among all rows, or k-means++ on a sample of 20,000 of them.

``python -m benchmarks seeding [--seeds 10]``

One start each, of fuzzy c-means with m = 1.2 (nearly hard, so that starts matter) and of the default m, on rows that a
sample represents well (blobs, photographs, colours of skin) and on rows where it does not (connections of a network,
clusters of a few rows in a million, heavy tails). A line
shows the mean objective of the seeds at the start (of k-means) and at the end (of the fit), each divided by the best
end, and the seconds of a start.
"""

from __future__ import annotations

import argparse
import time
import warnings

import dask
import dask.array as da
import numpy as np
from sklearn.datasets import load_sample_image, make_blobs
from sklearn.exceptions import ConvergenceWarning

from benchmarks.lib.records import Record
from benchmarks.lib.sets import shared
from soft_clustering import FCM
from soft_clustering.engine.blocks import Blocks, make_blocks
from soft_clustering.engine.initialisation import (
    center_statistics,
    kmeans,
    kmeans_parallel,
    kmeans_plusplus,
    random_rows,
)

INITS = ("sample", "k-means of sample", "all in memory", "k-means||")


def blobs() -> tuple[np.ndarray, int]:
    """Fifty clusters that overlap, of equal size."""
    return make_blobs(1_000_000, 8, centers=50, cluster_std=2.0, random_state=0)[0], 50


def photograph() -> tuple[np.ndarray, int]:
    """The colours of two photographs."""
    pictures = [load_sample_image(name).reshape(-1, 3) for name in ("china.jpg", "flower.jpg")]
    return np.concatenate(pictures) / 255, 20


def rare() -> tuple[np.ndarray, int]:
    """Ten large clusters, and ten of 30 rows each in a million, which a sample of 20,000 mostly misses."""
    rng = np.random.RandomState(0)
    sizes = [100_000] * 10 + [30] * 10
    places = rng.uniform(-30, 30, size=(20, 8))
    places[10:] *= 10
    return np.concatenate([place + rng.normal(size=(size, 8)) for place, size in zip(places, sizes, strict=True)]), 20


def heavy_tails() -> tuple[np.ndarray, int]:
    """Twenty clusters of Student's t with two degrees of freedom: some rows are far from all others."""
    rng = np.random.RandomState(0)
    places = rng.uniform(-20, 20, size=(20, 6))
    return places[rng.randint(20, size=500_000)] + rng.standard_t(2, size=(500_000, 6)), 20


def drawn(blocks: Blocks, in_memory: Blocks, init: str, K: int, rng: np.random.RandomState) -> np.ndarray:
    """Starting centres; the frames of both kinds of blocks differ by rounding errors only."""
    if init == "k-means||":
        return kmeans_parallel(blocks, random_rows(blocks.local(rng), 1, rng), K, rng)
    if init == "all in memory":
        return kmeans_plusplus(in_memory, K, rng)
    return (kmeans if init == "k-means of sample" else kmeans_plusplus)(blocks.local(rng), K, rng)


def table(name: str, K: int) -> tuple[np.ndarray, int]:
    """A table of the shared data, standardised."""
    X = np.load(shared("tabular", "scale", f"{name}.npz"))["X"].astype(np.float64)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), K


def kddcup99() -> tuple[np.ndarray, int]:
    """Connections of a network: half a million rows, most of them nearly equal, a few far from all others."""
    return table("kddcup99_10pct", 20)


def skin() -> tuple[np.ndarray, int]:
    """The colours of 245,057 pixels."""
    return table("skin_nonskin", 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    seeds = arguments.seeds
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'data':12} {'m':>5} {'seeds':17} {'start':>9} {'end':>9} {'worst end':>9} {'seconds':>8}")
    record = Record("seeding", partial=arguments != parser.parse_args([]))
    for make in (blobs, photograph, skin, kddcup99, rare, heavy_tails):
        X, K = make()
        rows = da.from_array(X, chunks=(50_000, X.shape[1]))
        with dask.config.set(scheduler="threads"):
            blocks, in_memory = make_blocks(rows), make_blocks(X)
            for m in (1.2, "auto"):
                found = {}
                for init in INITS:
                    starts, ends, seconds = [], [], []
                    for seed in range(seeds):
                        began = time.perf_counter()
                        V = drawn(blocks, in_memory, init, K, np.random.RandomState(seed))
                        seconds.append(time.perf_counter() - began)
                        starts.append(blocks.reduce(center_statistics, V, "nearest").objective)
                        fit = FCM(K, m=m, init=blocks.frame.to_input(V), max_iter=100).fit(rows)
                        ends.append(fit.objective_)
                    found[init] = starts, ends, seconds
                best = min(min(ends) for _, ends, _ in found.values())
                cost = min(min(starts) for starts, _, _ in found.values())
                for init, (starts, ends, seconds) in found.items():
                    line = {
                        "start": float(np.mean(starts) / cost),
                        "end": float(np.mean(ends) / best),
                        "worst end": float(np.max(ends) / best),
                        "seconds": float(np.median(seconds)),
                    }
                    record.setdefault(f"{make.__name__}, m={m}", {})[init] = line
                    shown = " ".join(f"{value:9.4f}" for value in line.values())
                    print(f"{make.__name__:12} {m:>5} {init:17} {shown}", flush=True)
    record.save()


if __name__ == "__main__":
    main()
