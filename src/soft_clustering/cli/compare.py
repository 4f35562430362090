"""``soft-clustering compare``: many models on the same data."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import compress
from os import close
from typing import Any

import numpy as np

from ..benchmarking import ClusteringBenchmark
from ..benchmarking.records import FITTED, to_line
from ..benchmarking.runner import Run
from ..report.comparison import saving_memberships
from ..report.html import check_path, write
from ..report.summary import summarize
from ..selection import CRITERIA, NClustersResult
from .data import Data, check_n_clusters, default_n_clusters, load
from .errors import INTERRUPTED
from .models import configured, feature_models
from .runs import ARI, MODEL, N_CLUSTERS, NMI, SECONDS, SILHOUETTE, STATUS, XIE_BENI, carry_out, outcome_of
from .tables import Column, Record, table

#: Up to so many cells of data a fit is repeated and the second one is timed: the first also pays for its threads.
_SMALL = 100_000
#: Measures of a run that can choose K without classes.
_CHOOSING = ("silhouette", "calinski_harabasz", "davies_bouldin", "xie_beni")


def compare(args: argparse.Namespace) -> int:
    """Run the command."""
    models = feature_models(args.models)
    if args.report:
        check_path(args.report)
    data = load(args)
    numbers = args.n_clusters or [default_n_clusters(data)]
    check_n_clusters(data, numbers[-1])
    runs = _plan(models, data, numbers, args)
    path = args.output or _temporary()
    with_classes = (ARI, NMI) if data.y is not None else ()
    columns = (MODEL, N_CLUSTERS, *with_classes, SILHOUETTE, XIE_BENI, SECONDS, STATUS)
    many = f"K={numbers[0]}" if len(numbers) == 1 else f"K={numbers[0]} to {numbers[-1]}"
    title = f"{data.describe()}; models: {len(models)}; {many}"
    with ExitStack() as stack:
        if args.report:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="soft-clustering-"))
            runs = saving_memberships(runs, folder)
        finished, interrupted = carry_out(title, runs, path, args.jobs, columns)
        finished = _ranked(finished, "silhouette" if data.y is None else "ari")
        results = [_result(run, record) for run, record in finished]
        if args.json:
            _print_json(data, numbers, results, path, interrupted)
        else:
            _print_tables(data, numbers, results, columns)
        if args.report:
            _write_report(args, data, numbers, finished, results)
    if interrupted:
        again = "the same command" + ("" if args.output else f" with --output {path}")
        print(f"interrupted: {len(finished)} of {len(runs)} runs are in {path}; {again} goes on", file=sys.stderr)
        return INTERRUPTED
    print(f"all measurements are in {path}", file=sys.stderr)
    return 0 if any(result["status"] == "ok" for result in results) else 1


def _plan(models: dict[str, Any], data: Data, numbers: Sequence[int], args: argparse.Namespace) -> list[Run]:
    """A run of every model for every K; one run where a model finds K itself."""
    runs: dict[str, Run] = {}
    for K in numbers:
        estimators = {
            name: configured(model, K, given=args.n_clusters is not None, seed=0) for name, model in models.items()
        }
        benchmark = ClusteringBenchmark(
            estimators,
            {data.name: (data.X, data.y)},
            n_clusters=None,
            warm_up=data.X.size <= _SMALL,
            time_limit=args.time_limit,
        )
        runs |= {run.key: run for run in benchmark.plan()}
    return list(runs.values())


def _temporary() -> str:
    handle, path = tempfile.mkstemp(prefix="soft-clustering-compare-", suffix=".jsonl")
    close(handle)
    return path


def _result(run: Run, record: Record) -> Record:
    """A record with the K that was asked for, None where the model finds it."""
    asked = run.estimator.get_params(deep=False).get("n_clusters")
    result = {name: value for name, value in record.items() if name != "key"} | {"k": asked}
    return result | {"n_clusters": asked} if record["n_clusters"] is None else result


def _ranked(finished: list[tuple[Run, Record]], name: str) -> list[tuple[Run, Record]]:
    """The best first, those without a value last."""
    return sorted(finished, key=lambda pair: -math.inf if pair[1][name] is None else float(pair[1][name]), reverse=True)


def _at_chosen_k(results: list[Record], choices: dict[str, dict[str, int | None]]) -> list[bool]:
    """Which results to show of a range of K: each model at its best silhouette, of equal ones at the smallest K."""
    shown = {model: choice["silhouette"] for model, choice in choices.items()}
    for model in [model for model, K in shown.items() if K is None]:
        equal = [result["k"] for result in results if result["model"] == model and result["silhouette"] is not None]
        shown[model] = min((K for K in equal if K is not None), default=None)
    return [result["k"] == shown[result["model"]] for result in results]


# Output ---------------------------------------------------------------------------------------------------------------


def _print_json(data: Data, numbers: Sequence[int], results: list[Record], path: str, interrupted: bool) -> None:
    document = {
        "dataset": data.name,
        "n_samples": data.X.shape[0],
        "n_features": data.X.shape[1],
        "n_classes": data.n_classes,
        "k": list(numbers),
        "interrupted": interrupted,
        "output": str(path),
        "results": [json.loads(to_line(result)) for result in results],  # JSON has no infinity
    }
    if len(numbers) > 1:
        document["chosen_k"] = _choices(results)
    print(json.dumps(document, indent=2, allow_nan=False))


def _print_tables(data: Data, numbers: Sequence[int], results: list[Record], columns: Sequence[Column]) -> None:
    order = "silhouette" if data.y is None else "ARI"
    if len(numbers) == 1:
        print(f"{data.describe()}; best {order} first\n")
        print(_with_notes(columns, results, results))
        return
    choices = _choices(results)
    shown = list(compress(results, _at_chosen_k(results, choices)))
    print(f"{data.describe()}; each model at the K of its best silhouette, best {order} first\n")
    print(_with_notes(columns, shown, results))
    titles = [Column(CRITERIA[name].title, name, form=".0f") for name in _CHOOSING]
    print("\nK chosen by each index:\n")
    print(table([MODEL, *titles], [{"model": model} | choice for model, choice in choices.items()]))


def _write_report(
    args: argparse.Namespace,
    data: Data,
    numbers: Sequence[int],
    finished: list[tuple[Run, Record]],
    results: list[Record],
) -> None:
    """The report: of a range of K what the table shows, and all failures."""
    if len(numbers) > 1:
        chosen = _at_chosen_k(results, _choices(results))
        finished = [
            pair for pair, keep in zip(finished, chosen, strict=True) if keep or pair[1]["status"] not in FITTED
        ]
    summary = summarize(
        finished,
        data.X,
        data.y if data.classes is None else np.asarray(data.classes)[data.y],
        name=data.name,
        columns=data.columns,
        command=args.command,
    )
    write(summary, args.report)
    print(f"the report is {args.report}", file=sys.stderr)


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


def _choices(results: list[Record]) -> dict[str, dict[str, int | None]]:
    """The K that each index chooses for each model that was fitted for several."""
    choices = {}
    for model in dict.fromkeys(result["model"] for result in results):
        fits = {result["k"]: result for result in results if result["model"] == model and result["k"] is not None}
        numbers = sorted(fits)
        scores = {
            name: np.array([float("nan" if fits[K][name] is None else fits[K][name]) for K in numbers])
            for name in _CHOOSING
        }
        choices[model] = NClustersResult(
            np.array(numbers, dtype=np.intp), scores, agreements=None, estimators={}, errors={}, warnings={}
        ).best
    return choices
