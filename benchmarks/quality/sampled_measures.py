"""Error and time of the silhouette and its relatives on random samples, beside the exact values.

python -m benchmarks sampled-measures [--repeats 20]

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

from soft_clustering.metrics import fuzzy_rand, fuzzy_silhouette, omega_index, silhouette
from soft_clustering.metrics.partition import silhouettes


def timed(function, *arguments, **options):
    start = time.process_time()
    value = function(*arguments, **options)
    return value, time.process_time() - start


def within(X, labels, max_samples, random_state):
    rows = np.random.RandomState(random_state).choice(len(X), max_samples, replace=False)
    return silhouette(X[rows], labels[rows])


def show(name, n, reference, repeats, function, *arguments, size, stated=None):
    runs = [timed(function, *arguments, max_samples=size, random_state=seed) for seed in range(1, repeats + 1)]
    errors = np.array([value for value, _ in runs]) - reference
    says = "" if stated is None else f", stated {stated:.4f}"
    print(
        f"{name}, n={n}, s={size}: rms {np.sqrt((errors**2).mean()):.4f}, mean {errors.mean():+.4f}, largest "
        f"{np.abs(errors).max():.4f}{says}; {np.median([seconds for _, seconds in runs]):.3f} s",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    for n in (5_000, 50_000):
        X, y = make_blobs(n, 12, centers=6, cluster_std=6.0, random_state=0)
        model = KMeans(6, n_init=1, random_state=0).fit(X)
        U = model.transform(X) ** -2.0
        U /= U.sum(axis=1, keepdims=True)
        each, seconds = timed(silhouettes, X, model.labels_)
        exact, deviation = each.mean(), each.std(ddof=1)
        print(f"silhouette, n={n}, exact: {exact:.4f}, standard deviation {deviation:.3f}; {seconds:.2f} s")
        for size in (500, 1000, 2000, 4000):
            stated = deviation * np.sqrt((1 - size / n) / size)
            show("silhouette", n, exact, repeats, silhouette, X, model.labels_, size=size, stated=stated)
            show("silhouette within", n, exact, repeats, within, X, model.labels_, size=size)
        for function, arguments in (
            (fuzzy_silhouette, (X, U)),
            (fuzzy_rand, (U, y)),
            (omega_index, (U > 0.25, np.eye(6)[y])),
        ):
            options = {} if n <= 5_000 else {"max_samples": 10_000, "random_state": 0}
            reference, seconds = timed(function, *arguments, **options)
            print(f"{function.__name__}, n={n}, {options or 'exact'}: {reference:.4f}; {seconds:.2f} s")
            show(function.__name__, n, reference, repeats, function, *arguments, size=2000)


if __name__ == "__main__":
    main()
