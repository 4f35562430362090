"""``soft-clustering compare``: many models on the same data."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from os import close
from pathlib import Path

import numpy as np

from ..base import BaseSoftClusterer
from ..benchmarking.measures import COLUMNS, MEASURES, ranking_measure
from ..benchmarking.records import Record, jsonable
from ..benchmarking.runner import FinishedRun
from ..recommendation import Recommendation
from ..report.html import check_path
from ..report.pipeline import CHOOSING, Comparison, ModelComparison, ReportRequest, Subject, run_comparison
from ..selection import CRITERIA
from .data import Data, check_n_clusters, default_n_clusters, load
from .errors import INTERRUPTED
from .models import configured, feature_models
from .runs import MODEL, N_CLUSTERS, SCORE, SECONDS, STATUS, LiveTable, measure_column, open_journal, outcome_of
from .tables import Column, table

#: Up to this many cells of data a fit is repeated and the second one is timed: the first also starts the threads.
_SMALL = 100_000
#: Of the samples on which the first and the second opinion differ, so many are listed.
_N_DIFFERING = 10


def compare(args: argparse.Namespace) -> int:
    """Run the command."""
    models = feature_models(args.models)
    if args.report:
        check_path(args.report)
    data = load(args)
    numbers = args.n_clusters or [default_n_clusters(data)]
    check_n_clusters(data, numbers[-1])
    benchmarks = [_benchmark(models, data, K, args) for K in numbers]
    measures = [
        measure_column(name) for name in COLUMNS[data.modality] if data.y is not None or not MEASURES[name].needs_truth
    ]
    columns = (MODEL, N_CLUSTERS, *measures, SECONDS, STATUS)
    many = f"K={numbers[0]}" if len(numbers) == 1 else f"K={numbers[0]} to {numbers[-1]}"
    path = args.output or _temporary()
    comparison, _ = run_comparison(
        benchmarks,
        _subject(data, numbers),
        open_journal(path),
        LiveTable(f"{data.describe()}; models: {len(models)}; {many}", columns),
        n_jobs=args.jobs,
        memberships=_memberships(args.output),
        stop_at_interrupt=True,
        rank_by=None if data.y is None else ranking_measure(data.modality, MEASURES),
        show=partial(_print_json, data, numbers, path) if args.json else partial(_print_tables, data, numbers, columns),
        report=ReportRequest(args.report, args.command) if args.report else None,
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
) -> ModelComparison:
    """Return the benchmark of all models at one K; a model that finds K itself is the same for every K."""
    estimators = {
        name: configured(model, K, given=args.n_clusters is not None, seed=0) for name, model in models.items()
    }
    return ModelComparison(
        estimators,
        {data.name: (data.X, data.y)},
        n_clusters=None,
        warm_up=data.X.size <= _SMALL,
        time_limit=args.time_limit,
    )


def _subject(data: Data, numbers: Sequence[int]) -> Subject:
    return Subject(
        data.X,
        data.y if data.y is None or data.classes is None else np.asarray(data.classes)[data.y],
        data.name,
        data.modality,
        data.columns,
        data.ids,
        data.original,
        data.preparation,
        n_clusters=numbers[0] if len(numbers) == 1 else None,
    )


def _memberships(output: str | None) -> Path | None:
    """Return the folder beside the output for the memberships, so that a comparison can be continued."""
    return None if output is None else Path(output).with_suffix(".memberships")


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
        "recommendation": _recommendation(comparison.recommendation),
        "results": [jsonable(_result(pair)) for pair in comparison.finished],
    }
    if len(numbers) > 1:
        document["chosen_k"] = comparison.choices
    print(json.dumps(document, indent=2, allow_nan=False))


def _recommendation(found: Recommendation) -> Record:
    return {
        "model": found.best,
        "second": found.second,
        "clear": found.clear,
        "reason": str(found),
        "differ": found.differing.tolist(),
        "groups": found.groups,
        "scores": {name: jsonable(entries) for name, entries in found.scores.items()},
    }


def _print_tables(data: Data, numbers: Sequence[int], columns: Sequence[Column], comparison: Comparison) -> None:
    found, several = comparison.recommendation, len(numbers) > 1
    ranking = None if data.y is None else ranking_measure(data.modality, MEASURES)
    order = "score" if ranking is None else MEASURES[ranking].title
    which = "each model at the K of its smallest Gaussian BIC; " if several else ""
    print(f"{data.describe()}; {which}best {order} first\n")
    scored = [*columns[:2], SCORE, *columns[2:]]
    results = [_result(pair) for pair in comparison.finished]
    shown = [
        _result(pair) | {"score": found.scores.get(pair.record["model"], {}).get("score")} for pair in comparison.shown
    ]
    print(_with_notes(scored, shown, results))
    if several:
        titles = [Column(CRITERIA[name].title, name, form=".0f") for name in CHOOSING.values()]
        print("\nK chosen by each index:\n")
        print(table([MODEL, *titles], [{"model": model} | choice for model, choice in comparison.choices.items()]))
    print(f"\n{found}")
    if len(found.differing):
        names = [str(row) if data.ids is None else data.ids[row] for row in found.differing[:_N_DIFFERING].tolist()]
        more = f" and {len(found.differing) - len(names)} more" if len(found.differing) > len(names) else ""
        print(f"They differ on: {', '.join(names)}{more}")


def _with_notes(columns: Sequence[Column], shown: list[Record], results: list[Record]) -> str:
    """A table; below it the warnings of what it shows and the failures of all, which are too long for it."""
    short = [result | {"outcome": "ok, warned" if _warned(result) else result["status"]} for result in shown]
    visible = {(result["model"], result["k"]) for result in shown}
    notes = [
        f"{result['model']}, K={result['n_clusters'] or '?'}: {outcome_of(result)}"
        for result in results
        if result["reason"] or (_warned(result) and (result["model"], result["k"]) in visible)
    ]
    return "\n".join([table(columns, short), *(["", *notes] if notes else [])])


def _warned(result: Record) -> bool:
    return result["status"] == "ok" and bool(result["warnings"])
