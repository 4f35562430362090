"""Adjusted Rand index on the ten offline sets: raw features, true K, default settings.

``python benchmarks/quality.py [--seeds 3]`` prints a Markdown table of the mean over seeds, beside k-means.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial

import numpy as np
from offline_sets import offline_sets
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import soft_clustering
from soft_clustering._registry import REGISTRY


def build(model, **parameters):
    """An estimator with those of the parameters that it has."""
    known = model().get_params()
    return model(**{name: value for name, value in parameters.items() if name in known})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    sets = offline_sets()
    models = {row.name: partial(build, getattr(soft_clustering, row.name)) for row in REGISTRY}
    models["SCM (finds K)"] = lambda n_clusters, **kw: soft_clustering.SCM(**kw)
    models["FCM m=2"] = lambda **kw: soft_clustering.FCM(m=2.0, **kw)
    models["KMeans (scikit-learn)"] = lambda **kw: KMeans(n_init=10, **kw)
    print("| model | mean | spread | " + " | ".join(sets) + " |")
    print("|---" * (len(sets) + 3) + "|")
    for name, make in models.items():
        table = np.array(
            [
                [
                    adjusted_rand_score(y, make(n_clusters=len(np.unique(y)), random_state=seed).fit(X).labels_)
                    for X, y in sets.values()
                ]
                for seed in range(seeds)
            ]
        )
        means = table.mean(axis=1)
        cells = " | ".join(f"{value:.3f}" for value in table.mean(axis=0))
        print(f"| {name} | {means.mean():.4f} | {np.ptp(means):.4f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
