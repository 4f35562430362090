"""How often K is found in tables with categories: by all columns, and by the continuous ones, as ``choose`` does it.

``python -m benchmarks choose-k-mixed [--sets 24]`` takes tables of the seeds from 0 on and from 100 on.

The tables have 600 rows, 2 to 7 clusters, 2 to 6 numbers in different units, a boolean and 1 to 3 categories of 2 to 5
values; ``soft_clustering.prepare`` makes features of them, and FCM is fitted for K = 2 to 10.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas

from benchmarks.lib.records import Record
from soft_clustering import FCM, prepare
from soft_clustering.selection import choose_n_clusters
from soft_clustering.selection.gaussian import are_continuous


def mixed_table(seed: int, n: int = 600) -> tuple[pandas.DataFrame, int]:
    rng = np.random.default_rng(seed)
    K, d, n_categories = int(rng.integers(2, 8)), int(rng.integers(2, 7)), int(rng.integers(1, 4))
    y = rng.choice(K, n, p=rng.dirichlet(np.full(K, 5.0)))
    centers = rng.normal(size=(K, d)) * 2.2
    columns = {f"x{j}": (centers[y, j] + rng.normal(size=n)) * 10 ** rng.uniform(-2, 3) for j in range(d)}
    frame = pandas.DataFrame(columns | {"flag": rng.random(n) < rng.random(K)[y]})
    for j in range(n_categories):
        m = int(rng.integers(2, 6))
        shares = rng.dirichlet(np.full(m, 0.5), K)
        frame[f"c{j}"] = ["abcdef"[rng.choice(m, p=shares[k])] for k in y]
    return frame, K


def found(first_seed: int, n_sets: int) -> dict[str, int]:
    """How often K is found by all columns, and by the continuous ones."""
    counts = {"all columns": 0, "continuous columns": 0}
    for seed in range(first_seed, first_seed + n_sets):
        frame, K = mixed_table(seed)
        X = prepare(frame, scale="standard").transform(frame)
        for name, part in (("all columns", X), ("continuous columns", X[:, are_continuous(X)])):
            result = choose_n_clusters(FCM(), part, range(2, 11), random_state=0, keep_estimators=False)
            counts[name] += bool(result.best["gaussian_bic"] == K)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", type=int, default=24)
    arguments = parser.parse_args()
    n_sets = arguments.sets
    warnings.simplefilter("ignore")
    record = Record("choose_k_mixed", partial=arguments != parser.parse_args([]))
    record["sets"] = n_sets
    for first in (0, 100):
        record[f"seeds from {first}"] = found(first, n_sets)
        print(f"seeds from {first}: K found in {record[f'seeds from {first}']} of {n_sets}", flush=True)
    record.save()


if __name__ == "__main__":
    main()
