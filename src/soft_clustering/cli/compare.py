"""``soft-clustering compare``: many models on the same data."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from os import close

import numpy as np

from ..base import BaseSoftClusterer
from ..benchmarking import ClusteringBenchmark
from ..benchmarking.records import Record, jsonable
from ..benchmarking.runner import FinishedRun
from ..report.html import check_path
from ..report.pipeline import CHOOSING, Comparison, ReportRequest, run_comparison
from ..selection import CRITERIA
from .data import Data, check_n_clusters, default_n_clusters, load
from .errors import INTERRUPTED
from .models import configured, feature_models
from .runs import (
    ARI,
    MODEL,
    N_CLUSTERS,
    NMI,
    SECONDS,
    SILHOUETTE,
    STATUS,
    XIE_BENI,
    LiveTable,
    open_journal,
    outcome_of,
)
from .tables import Column, table

#: Up to this many cells of data a fit is repeated and the second one is timed: the first also starts the threads.
_SMALL = 100_000


def compare(args: argparse.Namespace) -> int:
    """Run the command."""
    models = feature_models(args.models)
    if args.report:
        check_path(args.report)
    data = load(args)
    numbers = args.n_clusters or [default_n_clusters(data)]
    check_n_clusters(data, numbers[-1])
    benchmarks = [_benchmark(models, data, K, args) for K in numbers]
    with_classes = (ARI, NMI) if data.y is not None else ()
    columns = (MODEL, N_CLUSTERS, *with_classes, SILHOUETTE, XIE_BENI, SECONDS, STATUS)
    many = f"K={numbers[0]}" if len(numbers) == 1 else f"K={numbers[0]} to {numbers[-1]}"
    path = args.output or _temporary()
    comparison, _ = run_comparison(
        benchmarks,
        open_journal(path),
        LiveTable(f"{data.describe()}; models: {len(models)}; {many}", columns),
        n_jobs=args.jobs,
        stop_at_interrupt=True,
        rank_by="silhouette" if data.y is None else "ari",
        show=partial(_print_json, data, numbers, path) if args.json else partial(_print_tables, data, numbers, columns),
        report=_report(args, data) if args.report else None,
    )
    if args.report:
        print(f"the report is {args.report}", file=sys.stderr)
    finished = comparison.finished
    if comparison.interrupted:
        again = "the same command" + ("" if args.output else f" with --output {path}")
        done = f"{len(finished)} of {comparison.n_planned} runs are in {path}"
        print(f"interrupted: {done}; {again} continues", file=sys.stderr)
        return INTERRUPTED
    print(f"all measurements are in {path}", file=sys.stderr)
    return 0 if any(record["status"] == "ok" for _, record in finished) else 1


def _benchmark(
    models: dict[str, type[BaseSoftClusterer]], data: Data, K: int, args: argparse.Namespace
) -> ClusteringBenchmark:
    """Return the benchmark of all models at one K; a model that finds K itself is the same for every K."""
    estimators = {
        name: configured(model, K, given=args.n_clusters is not None, seed=0) for name, model in models.items()
    }
    return ClusteringBenchmark(
        estimators,
        {data.name: (data.X, data.y)},
        n_clusters=None,
        warm_up=data.X.size <= _SMALL,
        time_limit=args.time_limit,
    )


def _report(args: argparse.Namespace, data: Data) -> ReportRequest:
    classes = data.y if data.y is None or data.classes is None else np.asarray(data.classes)[data.y]
    return ReportRequest(args.report, data.X, classes, data.name, args.command, data.columns)


def _temporary() -> str:
    handle, path = tempfile.mkstemp(prefix="soft-clustering-compare-", suffix=".jsonl")
    close(handle)
    return path


# Output ---------------------------------------------------------------------------------------------------------------


def _result(pair: FinishedRun) -> Record:
    """Return the record of a run with the K that was asked for: None if the model finds it."""
    run, record = pair
    result = {name: value for name, value in record.items() if name != "key"} | {"k": run.n_clusters}
    return result | {"n_clusters": run.n_clusters} if record["n_clusters"] is None else result


def _print_json(data: Data, numbers: Sequence[int], path: str, comparison: Comparison) -> None:
    document = {
        "dataset": data.name,
        "n_samples": data.X.shape[0],
        "n_features": data.X.shape[1],
        "n_classes": data.n_classes,
        "k": list(numbers),
        "interrupted": comparison.interrupted,
        "output": str(path),
        "results": [jsonable(_result(pair)) for pair in comparison.finished],
    }
    if len(numbers) > 1:
        document["chosen_k"] = comparison.choices
    print(json.dumps(document, indent=2, allow_nan=False))


def _print_tables(data: Data, numbers: Sequence[int], columns: Sequence[Column], comparison: Comparison) -> None:
    order = "silhouette" if data.y is None else "ARI"
    several = len(numbers) > 1
    which = f"each model at the K of its best silhouette, best {order} first" if several else f"best {order} first"
    print(f"{data.describe()}; {which}\n")
    print(_with_notes(columns, [*map(_result, comparison.shown)], [*map(_result, comparison.finished)]))
    if several:
        titles = [Column(CRITERIA[name].title, name, form=".0f") for name in CHOOSING]
        print("\nK chosen by each index:\n")
        print(table([MODEL, *titles], [{"model": model} | choice for model, choice in comparison.choices.items()]))


def _with_notes(columns: Sequence[Column], shown: list[Record], results: list[Record]) -> str:
    """A table; below it the warnings of what it shows and the failures of all, which are too long for it."""
    short = [result | {"outcome": "ok, warned" if _warned(result) else result["status"]} for result in shown]
    notes = [
        f"{result['model']}, K={result['n_clusters'] or '?'}: {outcome_of(result)}"
        for result in results
        if result["reason"] or (_warned(result) and result in shown)
    ]
    return "\n".join([table(columns, short), *(["", *notes] if notes else [])])


def _warned(result: Record) -> bool:
    return result["status"] == "ok" and bool(result["warnings"])
