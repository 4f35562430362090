"""Agreement with classes of the methods on dissimilarities, for several fuzzifiers, exponents and solvers.

``python -m benchmarks dissimilarities [--rows 250]``

Adjusted Rand index of RelationalFCM and FuzzyCMedoids on Euclidean distances (exponents 1 and 2; moves alone, few
candidates, swaps; city-block distances) beside FCM and hard k-medoids from the same swaps (m = 1.0001). The sets: ten
that need no network, raw, and nine on which nothing was chosen, standardised; at most 250 rows each, a fixed sample. K
is the number of classes. Under "fuzzifiers", the distances are given as a matrix, so that ``m='auto'`` knows no number
of features.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.lib.markdown import table
from benchmarks.lib.records import Record
from benchmarks.lib.sets import Sets, held_out_sets, offline_sets, sample
from soft_clustering import FCM, FuzzyCMedoids, RelationalFCM

FUZZIFIERS = ("auto", 1.1, 1.2, 1.3, 1.5, 2.0)
METHODS: dict[str, Callable[[int], object]] = {
    "FCM": lambda K: FCM(K, random_state=0),
    "RelationalFCM": lambda K: RelationalFCM(K, random_state=0),
    "RelationalFCM, m=2": lambda K: RelationalFCM(K, m=2.0, random_state=0),
    "RelationalFCM, exponent 2": lambda K: RelationalFCM(K, exponent=2.0, random_state=0),
    "RelationalFCM, city-block": lambda K: RelationalFCM(K, metric="cityblock", random_state=0),
    "FuzzyCMedoids": lambda K: FuzzyCMedoids(K, random_state=0),
    "FuzzyCMedoids, exponent 2": lambda K: FuzzyCMedoids(K, exponent=2.0, random_state=0),
    "FuzzyCMedoids, moves alone, 5 starts": lambda K: FuzzyCMedoids(K, swap=False, n_init=5, random_state=0),
    "FuzzyCMedoids, 10 candidates, moves alone, 5 starts": lambda K: FuzzyCMedoids(
        K, n_candidates=10, swap=False, n_init=5, random_state=0
    ),
    "FuzzyCMedoids, m=1.0001 (hard)": lambda K: FuzzyCMedoids(K, m=1.0001, random_state=0),
}


def groups(rows: int) -> dict[str, Sets]:
    """The ten sets and the held-out ones."""
    ten = {name: sample(X, y, rows) for name, (X, y) in offline_sets().items()}
    held = {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in held_out_sets(rows).items()}
    return {"ten": ten, "held out": held}


def on_features(sets: Sets) -> dict[str, dict[str, float]]:
    """Method -> set -> index."""
    return {
        method: {name: index(make(len(np.unique(y))).fit(X).labels_, y) for name, (X, y) in sets.items()}
        for method, make in METHODS.items()
    }


def on_distances(sets: Sets) -> dict[str, dict[str, float]]:
    """Method, exponent and fuzzifier -> set -> index."""
    found: dict[str, dict[str, float]] = {}
    for name, (X, y) in sets.items():
        D, K = cdist(X, X), len(np.unique(y))
        for cls in (RelationalFCM, FuzzyCMedoids):
            for exponent in (1, 2):
                for m in FUZZIFIERS:
                    model = cls(K, m=m, metric="precomputed", exponent=float(exponent), random_state=0).fit(D)
                    key = f"{cls.__name__}, exponent {exponent}, m={m}"
                    found.setdefault(key, {})[name] = index(model.labels_, y)
    return found


def index(labels: np.ndarray, y: np.ndarray) -> float:
    return round(float(adjusted_rand_score(y, labels)), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=250)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("dissimilarities", partial=arguments != parser.parse_args([]))
    for group, sets in groups(arguments.rows).items():
        record[group] = {"features": on_features(sets), "fuzzifiers": on_distances(sets)}
    for part in ("features", "fuzzifiers"):
        methods = record["ten"][part]
        rows = [
            [method, *(f"{np.mean(list(record[group][part][method].values())):.3f}" for group in ("ten", "held out"))]
            for method in methods
        ]
        print(table(["", "ten", "held out"], rows), "\n")
    record.save()


if __name__ == "__main__":
    main()
