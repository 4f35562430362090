"""SoftHDBSCAN against hdbscan: fits with memberships, in turns.

``python -m benchmarks hierarchy [--sizes 1000,10000]``

Ten round clusters and 5 % uniform noise, ``min_cluster_size=20``, ``min_samples=10``. Ours computes memberships in
``fit``; theirs is timed alone (``fit``) and with the soft vectors of its rows (``soft``). Best of three; from 100,000
rows one run each, and not in 32 features.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.lib.environments import peer
from benchmarks.lib.markdown import duration, factor
from benchmarks.lib.processes import ours
from benchmarks.lib.records import Record

FIT = {
    "ours": "from soft_clustering import SoftHDBSCAN\nSoftHDBSCAN(20, min_samples=10).fit(X)",
    "fit": "import hdbscan\nhdbscan.HDBSCAN(min_cluster_size=20, min_samples=10).fit(X)",
    "soft": "import hdbscan\nmodel = hdbscan.HDBSCAN(min_cluster_size=20, min_samples=10, prediction_data=True)\n"
    "hdbscan.all_points_membership_vectors(model.fit(X))",
}
SIZES, FEATURES, LARGE = "1000,10000,100000", (2, 8, 32), 100_000


def data(n: int, d: int) -> np.ndarray:
    """Clusters, then noise."""
    X, _ = make_blobs(round(0.95 * n), d, centers=10, random_state=0)
    return np.vstack([X, np.random.default_rng(0).uniform(-15, 15, (n - len(X), d))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=SIZES, help="rows, separated by commas")
    arguments = parser.parse_args()
    record = Record("hierarchy", arguments.sizes != SIZES)
    processes = {"ours": ours(), "theirs": peer("hdbscan")}
    for n in map(int, arguments.sizes.split(",")):
        for d in FEATURES if n < LARGE else FEATURES[:2]:
            X = data(n, d)
            for process in processes.values():
                process.put(X=X[:200])
            seconds: dict[str, float] = {}
            for turn in range(2 if n >= LARGE else 4):  # the first one warms up, on a few rows
                for name, code in FIT.items():
                    process = processes["ours" if name == "ours" else "theirs"]
                    took, _ = process.run(code)
                    if turn:
                        seconds[name] = min(took, seconds.get(name, np.inf))
                if not turn:
                    for process in processes.values():
                        process.put(X=X)
            record[f"{n} x {d}"] = seconds
            ratios = [factor(seconds[name] / seconds["ours"]) for name in ("fit", "soft")]
            print(
                f"{n} x {d}: {duration(seconds['ours'])}; hdbscan {ratios[0]}, with soft vectors {ratios[1]}",
                flush=True,
            )
    record.save()


if __name__ == "__main__":
    main()
