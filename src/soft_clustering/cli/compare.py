"""``soft-clustering compare``: many models on the same data."""

from __future__ import annotations

import argparse
import json
import shutil
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
from ..inputs.features import has_gaps, takes_missing
from ..recommendation import Recommendation
from ..report.html import check_path
from ..report.pictures import picture_of
from ..report.pipeline import (
    CHOOSING,
    Comparison,
    ModelComparison,
    ReportRequest,
    Subject,
    run_comparison,
    title_of,
)
from .choosing import Choice, default_n_clusters
from .data import Data, check_n_clusters, kind_of, load
from .errors import INTERRUPTED, say
from .models import configured, models_for, takes_weights
from .runs import MODEL, N_CLUSTERS, SCORE, SECONDS, STATUS, LiveTable, measure_column, open_journal, outcome_of
from .tables import Column, table

#: Up to this many cells of data a fit is repeated and the second one is timed: the first also starts the threads.
_SMALL = 100_000
#: Of the samples on which the first and the second opinion differ, so many are listed.
_N_DIFFERING = 10


def compare(args: argparse.Namespace) -> int:
    """Run the command."""
    kind = kind_of(args)
    models = models_for(kind, args.models)
    if args.report:
        check_path(args.report)
    takers = [name for name, model in models.items() if takes_missing(model())]
    data = load(args, kind, "keep" if takers else "median")
    if has_gaps(data.X) and len(takers) < len(models):
        say(f"{', '.join(takers)} take the missing values as they are; the other models, and the measures, medians")
    if kind == "image" and data.X.ndim == 3 and args.models is None:
        grey = [name for name, model in models.items() if not getattr(model, "takes_color", True)]
        models = {name: model for name, model in models.items() if name not in grey}
        if grey:
            say(f"{', '.join(grey)}: for grey images, left out")
    if data.is_weighted and args.models is None:
        without = [name for name, model in models.items() if not takes_weights(model)]
        models = {name: model for name, model in models.items() if name not in without}
        say(f"{', '.join(without)}: for links without weights, left out")
    choice: Choice | None = None
    numbers = args.n_clusters
    if numbers is None:
        K, choice = default_n_clusters(data)
        numbers = [K]
    check_n_clusters(data, numbers[-1])
    benchmarks = [_benchmark(models, data, K, args) for K in numbers]
    measured = _measures(data)
    columns = (
        MODEL,
        N_CLUSTERS,
        *(measure_column(name) for name in COLUMNS[kind] if name in measured),
        SECONDS,
        STATUS,
    )
    rank_by = None if data.y is None else ranking_measure(kind, measured)
    many = f"K={numbers[0]}" if len(numbers) == 1 else f"K={numbers[0]} to {numbers[-1]}"
    path = args.output or _temporary()
    memberships = Path(path).with_suffix(".memberships")  # beside the records, so that the comparison can be continued
    comparison, _ = run_comparison(
        benchmarks,
        _subject(data, numbers, choice),
        open_journal(path),
        LiveTable(f"{data.describe()}; models: {len(models)}; {many}", columns),
        n_jobs=args.jobs,
        memberships=memberships,
        stop_at_interrupt=True,
        rank_by=rank_by,
        show=partial(_print_json, data, numbers, path, choice)
        if args.json
        else partial(_print_tables, data, numbers, columns, rank_by),
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
    if args.output is None:
        shutil.rmtree(memberships, ignore_errors=True)
    print(f"all measurements are in {path}", file=sys.stderr)
    return 0 if any(record["status"] == "ok" for _, record in finished) else 1


def _benchmark(
    models: dict[str, type[BaseSoftClusterer]], data: Data, K: int, args: argparse.Namespace
) -> ModelComparison:
    """Return the benchmark of all models at one K; a model that finds K itself is the same for every K."""
    estimators = {
        name: configured(model, data.modality, K, given=args.n_clusters is not None, seed=0)
        for name, model in models.items()
    }
    return ModelComparison(
        estimators,
        {data.name: (data.X, data.y)},
        n_clusters=None,
        warm_up=_n_cells(data) <= _SMALL,
        exact=args.exact,
        time_limit=args.time_limit,
    )


def _n_cells(data: Data) -> int:
    """Return the size of the data: cells, links, words."""
    if data.modality == "documents":
        return sum(len(text.split()) for text in data.X)
    return int(data.X.nnz if data.modality == "graph" else data.X.size)


def _measures(data: Data) -> set[str]:
    """Return the measures that such data have."""
    known = data.y is not None
    return {
        name for name, each in MEASURES.items() if each.applies_to(data.modality) and (known or not each.needs_truth)
    }


def _subject(data: Data, numbers: Sequence[int], choice: Choice | None) -> Subject:
    """Return the data as the comparison and its report take them."""
    classes = data.y
    if data.truth is not None:
        classes = None  # a node may be in several communities
    elif classes is not None and data.classes is not None:
        classes = np.asarray(data.classes)[classes]
    plan = data.preparation
    return Subject(
        data.complete,
        classes,
        data.name,
        data.modality,
        data.columns,
        data.ids,
        None if plan is None else data.explained,
        None if plan is None else {"notes": plan.notes_, "columns": plan.plan_},
        picture_of(data.X) if data.modality == "image" else None,
        numbers[0] if len(numbers) == 1 else None,
        None if choice is None else choice.curves(),
    )


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


def _print_json(data: Data, numbers: Sequence[int], path: str, choice: Choice | None, comparison: Comparison) -> None:
    document = {
        "dataset": data.name,
        "modality": data.modality,
        "n_samples": data.n_samples,
        "n_features": data.n_features,
        "n_classes": data.n_classes,
        "k": list(numbers),
        "interrupted": comparison.interrupted,
        "output": str(path),
        "recommendation": _recommendation(comparison.recommendation),
        "results": [jsonable(_result(pair)) for pair in comparison.finished],
    }
    if len(numbers) > 1:
        document["chosen_k"] = comparison.choices
    if choice is not None:
        document["choice_of_k"] = choice.curves()
    if data.preparation is not None:
        document["preparation"] = {"notes": data.preparation.notes_, "columns": data.preparation.plan_}
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


def _print_tables(
    data: Data, numbers: Sequence[int], columns: Sequence[Column], rank_by: str | None, comparison: Comparison
) -> None:
    found, several = comparison.recommendation, len(numbers) > 1
    choosing = CHOOSING[data.modality]
    which = [f"each model at the K of its best {title_of(choosing[0])}"] if several else []
    which.append(f"best {'score' if rank_by is None else MEASURES[rank_by].title} first")
    print(f"{data.describe()}; {', '.join(which)}\n")
    scores = {model: entries["score"] for model, entries in found.scores.items()}
    shown = [_result(pair) | {"score": scores.get(pair.record["model"])} for pair in comparison.shown]
    print(_with_notes([*columns[:2], SCORE, *columns[2:]], shown, [*map(_result, comparison.finished)]))
    if several:
        titles = [Column(title_of(name), name, form=".0f") for name in choosing]
        print("\nK chosen by each index:\n")
        print(table([MODEL, *titles], [{"model": model} | choice for model, choice in comparison.choices.items()]))
    print(f"\n{found}")
    if len(found.differing):
        rows = found.differing[:_N_DIFFERING].tolist()
        more = len(found.differing) - len(rows)
        names = ", ".join(str(row) if data.ids is None else data.ids[row] for row in rows)
        print(f"They differ on {data.id_title} {names}{f' and {more} more' if more else ''}.")


def _with_notes(columns: Sequence[Column], shown: list[Record], results: list[Record]) -> str:
    """A table; below it the warnings of what it shows and the failures of all, which are too long for it."""
    short = [result | {"outcome": "ok, warned" if _warned(result) else result["status"]} for result in shown]
    visible = {(result["model"], result["k"]) for result in shown}
    notes = [
        f"{result['model']}, K={'?' if result['n_clusters'] is None else result['n_clusters']}: {outcome_of(result)}"
        for result in results
        if result["reason"] or (_warned(result) and (result["model"], result["k"]) in visible)
    ]
    return "\n".join([table(columns, short), *(["", *notes] if notes else [])])


def _warned(result: Record) -> bool:
    return result["status"] == "ok" and bool(result["warnings"])
