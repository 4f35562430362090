"""How often K is found in tables with categories: by all columns, and by the continuous ones, as ``choose`` does it.

``python -m benchmarks choose-k-mixed [--sets 24] [--first-seed 0]``

The tables have 600 rows, 2 to 7 clusters, 2 to 6 numbers in different units, a boolean and 1 to 3 categories of 2 to 5
values; ``soft_clustering.prepare`` makes features of them, and FCM is fitted for K = 2 to 10.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas

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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", type=int, default=24)
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    found = {"all columns": 0, "continuous columns": 0}
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.sets):
        frame, K = mixed_table(seed)
        X = prepare(frame, scale="standard").transform(frame)
        for name, part in (("all columns", X), ("continuous columns", X[:, are_continuous(X)])):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = choose_n_clusters(FCM(), part, range(2, 11), random_state=0, keep_estimators=False)
            found[name] += result.best["gaussian_bic"] == K
    for name, count in found.items():
        print(f"{name}: K found in {count} of {arguments.sets}")


if __name__ == "__main__":
    main()
