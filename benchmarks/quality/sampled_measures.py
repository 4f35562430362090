"""Error and time of the silhouette and its relatives on random samples, beside the exact values.

``python -m benchmarks sampled-measures [--repeats 20]``

Data: Gaussian clusters that touch, 12 features, 6 clusters, labels of k-means. For each size s of the sample: the root
mean square error, the mean error and the largest one over the repeats, the standard error that the documentation
states, and the seconds of processor time of one call. "within" is the variant that was not taken: distances within the
sample only. Of 50,000 samples, the reference of the measures on pairs is their value on 10,000.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks.lib.records import Record
from soft_clustering.metrics import fuzzy_rand, fuzzy_silhouette, omega_index, silhouette
from soft_clustering.metrics.partition import silhouettes


def timed(function, *arguments, **options):
    start = time.process_time()
    value = function(*arguments, **options)
    return value, time.process_time() - start


def within(X, labels, max_samples, random_state):
    rows = np.random.RandomState(random_state).choice(len(X), max_samples, replace=False)
    return silhouette(X[rows], labels[rows])


def errors(reference, repeats, function, *arguments, size):
    """Errors of the values on samples of a size, and the seconds of a call."""
    runs = [timed(function, *arguments, max_samples=size, random_state=seed) for seed in range(1, repeats + 1)]
    found = np.array([value for value, _ in runs]) - reference
    return {
        "rms": float(np.sqrt((found**2).mean())),
        "mean": float(found.mean()),
        "largest": float(np.abs(found).max()),
        "seconds": float(np.median([seconds for _, seconds in runs])),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    arguments = parser.parse_args()
    repeats = arguments.repeats
    record = Record("sampled_measures", partial=arguments != parser.parse_args([]))
    for n in (5_000, 50_000):
        found = record[str(n)] = {}
        X, y = make_blobs(n, 12, centers=6, cluster_std=6.0, random_state=0)
        model = KMeans(6, n_init=1, random_state=0).fit(X)
        U = model.transform(X) ** -2.0
        U /= U.sum(axis=1, keepdims=True)
        each, seconds = timed(silhouettes, X, model.labels_)
        exact, deviation = float(each.mean()), float(each.std(ddof=1))
        found["silhouette"] = {"exact": exact, "deviation": deviation, "seconds": seconds}
        for size in (500, 1000, 2000, 4000):
            stated = {"stated": deviation * np.sqrt((1 - size / n) / size)}
            found[f"silhouette, {size}"] = errors(exact, repeats, silhouette, X, model.labels_, size=size) | stated
            found[f"within, {size}"] = errors(exact, repeats, within, X, model.labels_, size=size)
        for function, given in (
            (fuzzy_silhouette, (X, U)),
            (fuzzy_rand, (U, y)),
            (omega_index, (U > 0.25, np.eye(6)[y])),
        ):
            options = {} if n <= 5_000 else {"max_samples": 10_000, "random_state": 0}
            reference, seconds = timed(function, *given, **options)
            found[function.__name__] = {"reference": reference, "of": options or "all samples", "seconds": seconds}
            found[f"{function.__name__}, 2000"] = errors(reference, repeats, function, *given, size=2000)
        for name, row in found.items():
            print(f"n={n}, {name}: {row}", flush=True)
    record.save()


if __name__ == "__main__":
    main()
