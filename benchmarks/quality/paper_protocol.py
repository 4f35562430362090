"""The cross-family comparison of the paper: 20 estimators of a feature matrix on eleven data sets, from five seeds.

``python -m benchmarks paper-protocol [--models NAME ...] [--datasets NAME ...] [--seeds 5]`` follows the protocol of
the paper: default settings, the true number of classes (SCM and SoftDBSCANGM find the number themselves), at most 2000
rows of a data set, a process of its own and 60 s for each fit and its measures. A run is *completed* if it ends with at
least two clusters. Prints a row per estimator: completed runs, and the mean adjusted Rand index over the
data sets with its standard deviation over the seeds, beside the figures that the paper prints. The Olivetti faces are
read from the shared data.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import pandas

import soft_clustering
from benchmarks.lib.records import Record
from benchmarks.lib.sets import shared
from soft_clustering.benchmarking import ClusteringBenchmark, datasets_in_group
from soft_clustering.datasets import get_dataset


class Published(NamedTuple):
    """A row of the paper's table, from one seed: completed runs of 11, and means over those."""

    completed: int
    ari: float
    nmi: float
    ms: float


#: Table "Cross-family comparison" of the appendix of the paper, for the older package of our name.
PAPER = {
    "GMM": Published(10, 0.661, 0.673, 57.8),
    "GathGeva": Published(10, 0.601, 0.643, 3839.7),
    "RPFKM": Published(8, 0.601, 0.636, 503.6),
    "CAFCM": Published(10, 0.589, 0.614, 113.5),
    "GK": Published(10, 0.572, 0.588, 227.9),
    "FCM": Published(10, 0.525, 0.569, 11.9),
    "PFCM": Published(10, 0.497, 0.539, 28.6),
    "FCC": Published(4, 0.486, 0.577, 1873.2),
    "ECM": Published(10, 0.478, 0.537, 531.2),
    "ENTROPYFCM": Published(10, 0.475, 0.534, 17.1),
    "AFCMSimple": Published(11, 0.453, 0.506, 185.0),
    "CAFHFCM": Published(10, 0.389, 0.430, 9.9),
    "PCM": Published(10, 0.385, 0.476, 62.4),
    "KFCM": Published(10, 0.353, 0.365, 9.5),
    "SCM": Published(10, 0.322, 0.544, 21.3),
    "EVCLUS": Published(11, 0.317, 0.399, 332.0),
    "SoftDBSCANGM": Published(8, 0.303, 0.540, 2216.8),
    "RoughKMeans": Published(11, 0.137, 0.294, 802.7),
    "AFCM": Published(11, 0.101, 0.174, 9028.0),
    "KFCCL": Published(4, -0.002, 0.109, 341.9),
}
KEPT = ["model", "dataset", "repeat", "status", "reason", "n_clusters", "fit_time", "ari", "nmi"]


def load(name: str) -> tuple[Any, Any]:
    return get_dataset(name, data_home=shared("tabular") if name == "olivetti_faces" else None)


def model(name: str) -> Any:
    """An estimator with default settings; CAFHFCM finds the number of clusters unless one is set, as is done here."""
    return soft_clustering.CAFHFCM(n_clusters=2) if name == "CAFHFCM" else getattr(soft_clustering, name)()


def summary(runs: pandas.DataFrame) -> dict[str, dict[str, float]]:
    """A row per model: its runs, and means over the completed ones; the deviation is that of the means of the seeds."""
    rows = {}
    for name, mine in runs.groupby("model", sort=False):
        done = mine[mine["status"] == "ok"]
        by_seed = done.groupby("repeat")["ari"].mean()
        rows[str(name)] = {
            "runs": len(mine),
            "completed": len(done),
            "ari": float(done["ari"].mean()),
            "deviation": float(by_seed.std()) if len(by_seed) > 1 else 0.0,
            "nmi": float(done["nmi"].mean()),
            "ms": 1e3 * float(done["fit_time"].mean()),
        }
    return rows


def main() -> None:
    datasets = datasets_in_group("real") + datasets_in_group("synthetic")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=PAPER, default=[*PAPER], metavar="NAME")
    parser.add_argument("--datasets", nargs="+", choices=datasets, default=datasets, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    runs = ClusteringBenchmark(
        {name: model(name) for name in arguments.models},
        {name: load(name) for name in arguments.datasets},
        n_repeats=arguments.seeds,
        max_samples=2000,
        time_limit=60.0,
    ).run()
    rows = summary(runs)
    print("| | completed | ARI | deviation | paper: completed of 11 | ARI |\n" + "|---" * 6 + "|")
    for name, row in rows.items():
        mine = f"{row['completed']} of {row['runs']} | {row['ari']:.3f} | {row['deviation']:.3f}"
        print(f"| {name} | {mine} | {PAPER[name].completed} | {PAPER[name].ari:.3f} |")
    record = Record("paper_protocol", partial=arguments != parser.parse_args([]))
    record["seeds"] = arguments.seeds
    record["datasets"] = datasets
    record["models"] = {name: row | {"paper": PAPER[name]._asdict()} for name, row in rows.items()}
    record["runs"] = runs[KEPT].astype(object).where(runs[KEPT].notna(), None).to_dict(orient="records")
    record.save()


if __name__ == "__main__":
    main()
