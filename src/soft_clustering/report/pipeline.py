"""The comparison of models, step by step: plan, execute, rank, choose K, show, summarise, write.

``soft-clustering compare`` and :func:`soft_clustering.report.compare` both call :func:`run_comparison`. Its arguments
say where the records are kept, how progress is shown, what Ctrl-C does and whether there is a report.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .._types import Array
from ..benchmarking import ClusteringBenchmark
from ..benchmarking.measures import MEASURES
from ..benchmarking.quality import modality_of
from ..benchmarking.records import FITTED, Journal
from ..benchmarking.runner import FinishedRun, PlannedRun, Progress, execute_missing
from ..selection.criteria import choice_of
from .html import write
from .summary import Summary, summarize_comparison

#: The measures of a record that can choose K without classes, by the kind of data; the first one decides.
CHOOSING = {
    "features": ("silhouette", "calinski_harabasz", "davies_bouldin", "xie_beni"),
    "graph": ("overlapping_modularity", "modularity"),
    "documents": ("coherence",),
    "image": ("silhouette", "calinski_harabasz", "davies_bouldin"),
    "distances": ("silhouette",),
}

#: The K that each measure chooses for each model, by the names of the model and the measure.
Choices = dict[str, dict[str, int | None]]


class ReportRequest(NamedTuple):
    """The report to write: its file, and the data as it shows them (see :func:`summarize_comparison`)."""

    path: str | os.PathLike[str]
    X: Any
    y: Any
    name: str
    command: str
    columns: Sequence[str] | None = None
    max_points: int = 2000
    details: Mapping[str, Any] = MappingProxyType({})  # further arguments of summarize_comparison

    def summary_of(self, finished: Sequence[FinishedRun], **more: Any) -> Summary:
        """Return what the report shows of these runs; ``more`` is what was found in them."""
        return summarize_comparison(
            finished,
            self.X,
            self.y,
            name=self.name,
            columns=self.columns,
            max_points=self.max_points,
            command=self.command,
            **{**self.details, **more},
        )


class Comparison(NamedTuple):
    """What a comparison found."""

    n_planned: int  # how many runs there are, finished or not
    finished: list[FinishedRun]  # in the order of the ranking
    interrupted: bool
    choices: Choices  # empty if the models were compared at one K
    shown: list[FinishedRun]  # of several K of a model the one to show


def run_comparison(
    benchmarks: Sequence[ClusteringBenchmark],
    journal: Journal,
    progress: Progress,
    *,
    n_jobs: int | None,
    stop_at_interrupt: bool = False,
    rank_by: str | None = None,
    show: Callable[[Comparison], None] | None = None,
    report: ReportRequest | None = None,
) -> tuple[Comparison, Summary]:
    """Fit the models, compare them, and write the report.

    Parameters
    ----------
    benchmarks : list of ClusteringBenchmark
        They plan the runs on the same data: one benchmark, or one for each K.
    journal : Journal
        Holds the records; runs that it already has are not repeated.
    progress : Progress
        Shows the runs as they finish.
    n_jobs : int or None
        Runs at the same time.
    stop_at_interrupt : bool, default=False
        Whether Ctrl-C ends the fits and the finished ones are compared; otherwise KeyboardInterrupt is raised.
    rank_by : str, default=None
        The column of the records by which the largest comes first; None keeps the order of the plan.
    show : callable, default=None
        Called with the comparison before the report is written, so that it is seen even if writing fails.
    report : ReportRequest, default=None
        None writes no report.

    Returns
    -------
    comparison : Comparison
    summary : dict
        What the report shows; empty if there is none.
    """
    with tempfile.TemporaryDirectory(prefix="soft-clustering-") as folder:
        runs = _plan(benchmarks)
        if report is not None:
            runs = saving_memberships(runs, folder)
            report.summary_of([])  # raises before the work if the data cannot be shown
        finished, interrupted = execute_missing(runs, journal, n_jobs, progress, stop_at_interrupt=stop_at_interrupt)
        if rank_by is not None:
            finished = _ranked(finished, rank_by)
        choices = choices_of_k(finished) if len(benchmarks) > 1 else {}
        shown = at_chosen_k(finished, choices) if choices else finished
        comparison = Comparison(len(runs), finished, interrupted, choices, shown)
        if show is not None:
            show(comparison)
        if report is None:
            return comparison, {}
        curves = {"curves": curves_of_k(comparison)} if choices and shown else {}
        summary = report.summary_of(_shown_or_failed(comparison), **curves)
        write(summary, report.path)
    return comparison, summary


def _plan(benchmarks: Iterable[ClusteringBenchmark]) -> list[PlannedRun]:
    """List the runs of all benchmarks; a model that finds K itself has the same run in each, which is kept once."""
    return list({run.key: run for benchmark in benchmarks for run in benchmark.plan()}.values())


def saving_memberships(runs: Iterable[PlannedRun], folder: str) -> list[PlannedRun]:
    """Return the runs with a file of the folder for the memberships of each."""
    return [run._replace(memberships=str(Path(folder, f"{run.key}.npy"))) for run in runs]


def _ranked(finished: list[FinishedRun], column: str) -> list[FinishedRun]:
    """Sort by a column, the largest first and missing values last."""

    def value(pair: FinishedRun) -> float:
        return -math.inf if pair.record[column] is None else float(pair.record[column])

    return sorted(finished, key=value, reverse=True)


def choices_of_k(finished: Iterable[FinishedRun]) -> Choices:
    """Return the K that each measure of ``CHOOSING`` chooses for each model; None if it chooses none."""
    fits: dict[str, dict[int, FinishedRun]] = {}
    names: tuple[str, ...] = ()
    for pair in finished:
        names = CHOOSING[modality_of(pair.run.estimator)]
        of_model = fits.setdefault(pair.record["model"], {})
        if pair.run.n_clusters is not None:
            of_model[pair.run.n_clusters] = pair

    def choice(name: str, of_model: dict[int, FinishedRun]) -> int | None:
        return choice_of(name, np.array(sorted(of_model)), _values(of_model, name), MEASURES[name].sense)

    return {model: {name: choice(name, of_model) for name in names} for model, of_model in fits.items()}


def _values(fits: dict[int, FinishedRun], name: str) -> Array:
    """Return a measure of the fits in the order of K, NaN where it is missing."""
    found = [fits[K].record[name] for K in sorted(fits)]
    return np.array([math.nan if value is None else float(value) for value in found])


def at_chosen_k(finished: Sequence[FinishedRun], choices: Choices) -> list[FinishedRun]:
    """Keep each model at the K of its best value of the first measure, at the smallest K if all values are equal."""
    first = next(iter(next(iter(choices.values()), {})), "silhouette")
    chosen = {model: choice[first] for model, choice in choices.items()}
    for model in [model for model, K in chosen.items() if K is None]:
        measured = [
            run.n_clusters
            for run, record in finished
            if record["model"] == model and record[first] is not None and run.n_clusters is not None
        ]
        chosen[model] = min(measured, default=None)
    return [pair for pair in finished if pair.run.n_clusters == chosen[pair.record["model"]]]


def curves_of_k(comparison: Comparison) -> dict[str, Any]:
    """Return the measures that choose K for the model that is shown first, ready for JSON."""
    model = comparison.shown[0].record["model"]
    fits = {
        pair.run.n_clusters: pair
        for pair in comparison.finished
        if pair.record["model"] == model and pair.run.n_clusters is not None
    }
    choices = comparison.choices[model]
    first = next(iter(choices))
    criteria = {
        name: {
            "title": MEASURES[name].title,
            "sense": MEASURES[name].sense,
            "choice": choice,
            "values": [None if math.isnan(value) else float(value) for value in _values(fits, name)],
        }
        for name, choice in choices.items()
    }
    extreme = "largest" if MEASURES[first].sense == "max" else "smallest"
    return {
        "k": sorted(fits),
        "criteria": criteria,
        "model": model,
        "recommended": choices[first],
        "reason": "" if choices[first] is None else f"{MEASURES[first].title} is {extreme} there.",
    }


def _shown_or_failed(comparison: Comparison) -> list[FinishedRun]:
    """Return the runs that the report shows: those of the table, and all that failed."""
    keys = {run.key for run, _ in comparison.shown}
    return [pair for pair in comparison.finished if pair.run.key in keys or pair.record["status"] not in FITTED]
