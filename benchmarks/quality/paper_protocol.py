"""The cross-family comparison: every estimator of a feature matrix on the eleven real and synthetic data sets.

``python -m benchmarks paper-protocol`` fits each with its default settings and the true number of classes (a method
that finds the number itself does so), in a process of its own: 60 s for the fit and its measures, at most 2000 rows.
Every finished run is written at once to ``benchmarks/results/main_benchmark.jsonl``; a benchmark that was stopped
continues there. From these records come ``main_benchmark.csv`` (all runs), ``main_benchmark_summary.csv`` (a row per
estimator) and ``main_benchmark_env.json`` (where it ran). With ``--models`` or ``--datasets`` the tables are called
``partial_benchmark*`` instead.

``--list-modalities`` lists all estimators by what they take. The Olivetti faces are fetched, or read from a folder that
the environment variable ``SOFT_CLUSTERING_DATA`` names; without them their runs are recorded as errors.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.benchmarking import ClusteringBenchmark, datasets_in_group, environment, summarize

MAX_SAMPLES = 2000


def by_modality() -> dict[str, list[str]]:
    """The registered estimators by what ``fit`` takes."""
    found: dict[str, list[str]] = {}
    for row in REGISTRY:
        found.setdefault(getattr(soft_clustering, row.name).modality, []).append(row.name)
    return found


def main() -> None:
    models, datasets = by_modality()["features"], datasets_in_group("real") + datasets_in_group("synthetic")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list-modalities", action="store_true", help="list all estimators by input and end")
    parser.add_argument("--models", nargs="+", choices=models, default=models, metavar="NAME")
    parser.add_argument("--datasets", nargs="+", choices=datasets, default=datasets, metavar="NAME")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per run")
    parser.add_argument("--memory-limit", type=int, help="MiB per run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; more than one disturbs the times")
    parser.add_argument("--fresh", action="store_true", help="forget the runs on record")
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parents[1] / "results", help="folder of the results"
    )
    arguments = parser.parse_args()
    if arguments.list_modalities:
        for modality, names in by_modality().items():
            print(f"{modality} ({len(names)}): {', '.join(names)}")
        return
    records = arguments.output / "main_benchmark.jsonl"
    if arguments.fresh:
        records.unlink(missing_ok=True)
    settings = {
        "random_state": arguments.seed,
        "max_samples": MAX_SAMPLES,
        "time_limit": arguments.time_limit,
        "memory_limit": arguments.memory_limit and arguments.memory_limit * 2**20,
        "n_jobs": arguments.jobs,
    }
    results = ClusteringBenchmark(
        {name: getattr(soft_clustering, name)() for name in arguments.models},
        arguments.datasets,
        results=records,
        **settings,
    ).run()
    whole = arguments.models == models and arguments.datasets == datasets
    table = arguments.output / ("main_benchmark" if whole else "partial_benchmark")
    summary = summarize(results)
    results.to_csv(f"{table}.csv", index=False)
    summary.to_csv(f"{table}_summary.csv", index=False)
    Path(f"{table}_env.json").write_text(json.dumps(environment() | {"settings": settings}, indent=2) + "\n")
    print(summary.to_string(index=False, float_format="{:.3f}".format))
    print(", ".join(f"{count} {status}" for status, count in results["status"].value_counts().items()))


if __name__ == "__main__":
    main()
