"""The comparison of models, step by step: plan, execute, choose K, recommend, show, explain, summarise, write.

``soft-clustering compare`` and :func:`soft_clustering.report.compare` both call :func:`run_comparison`. Its arguments
say where the records are kept, how progress is shown, what Ctrl-C does and whether there is a report.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .._types import Array
from ..benchmarking import ClusteringBenchmark
from ..benchmarking.measures import EVIDENCE, MEASURES
from ..benchmarking.records import FITTED, Journal, jsonable
from ..benchmarking.runner import FinishedRun, PlannedRun, Progress, execute_missing
from ..explanation import explain_memberships
from ..plotting.data import sample_rows
from ..recommendation import EVIDENCE as EXPLANATIONS
from ..recommendation import Recommendation, recommend
from ..recommendation.recommend import EVENNESS
from ..selection.criteria import choice_of
from .html import write
from .summary import Summary, clusters_and_noise, saved_memberships, summarize_comparison

#: The measures of a record that can choose K without classes, by the kind of data; the first one that chooses decides.
CHOOSING = {
    "features": ("gain", "silhouette", "calinski_harabasz", "davies_bouldin", "xie_beni"),
    "graph": ("overlapping_modularity", "modularity"),
    "documents": ("coherence",),
    "image": ("silhouette", "calinski_harabasz", "davies_bouldin"),
    "distances": ("gain", "silhouette"),
}

#: The K that each measure chooses for each model, by the names of the model and the measure.
Choices = dict[str, dict[str, int | None]]


class ModelComparison(ClusteringBenchmark):
    """A benchmark that also measures what a recommendation needs.

    Parameters are those of :class:`soft_clustering.benchmarking.ClusteringBenchmark`.
    """

    measurements: ClassVar[tuple[str, ...]] = (*ClusteringBenchmark.measurements, *EVIDENCE)


class Subject(NamedTuple):
    """The data that are compared on, and how they are shown; see :func:`summarize_comparison`."""

    X: Any
    y: Any = None
    name: str = "X"
    modality: str = "features"
    columns: Sequence[str] | None = None
    ids: Sequence[str] | None = None
    original: Any = None  # what the clusters are explained by, such as the table before its preparation; None: X
    preparation: Summary | None = None
    image: Summary | None = None
    n_clusters: int | None = None  # the number of clusters that was asked for, or chosen
    curves: Summary | None = None  # how the number was chosen


class ReportRequest(NamedTuple):
    """The report to write: its file, the command that makes it, and how many samples it shows."""

    path: str | os.PathLike[str]
    command: str
    max_points: int = 2000


class Comparison(NamedTuple):
    """What a comparison found."""

    n_planned: int  # how many runs there are, finished or not
    finished: list[FinishedRun]  # in the order of the ranking
    interrupted: bool
    choices: Choices  # empty if the models were compared at one K
    shown: list[FinishedRun]  # of several K of a model the one to show
    recommendation: Recommendation


def run_comparison(
    benchmarks: Sequence[ClusteringBenchmark],
    subject: Subject,
    journal: Journal,
    progress: Progress,
    *,
    n_jobs: int | None,
    memberships: str | os.PathLike[str] | None = None,
    stop_at_interrupt: bool = False,
    rank_by: str | None = None,
    show: Callable[[Comparison], None] | None = None,
    report: ReportRequest | None = None,
) -> tuple[Comparison, Summary]:
    """Fit the models, compare them, recommend one, and write the report.

    Parameters
    ----------
    benchmarks : list of ModelComparison
        They plan the runs on the same data: one benchmark, or one for each K.
    subject : Subject
        The data of the runs.
    journal : Journal
        Holds the records; runs that it already has, with their memberships, are not repeated.
    progress : Progress
        Shows the runs as they finish.
    n_jobs : int or None
        Runs at the same time.
    memberships : path, default=None
        The folder for the memberships; None takes one that is removed in the end.
    stop_at_interrupt : bool, default=False
        Whether Ctrl-C ends the fits and the finished ones are compared; otherwise KeyboardInterrupt is raised.
    rank_by : str, default=None
        The column of the records by which the largest comes first; None ranks by the score of the recommendation.
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
    with (
        tempfile.TemporaryDirectory(prefix="soft-clustering-")
        if memberships is None
        else nullcontext(os.fspath(memberships)) as folder
    ):
        os.makedirs(folder, exist_ok=True)
        runs = saving_memberships(_plan(benchmarks), folder)
        if report is not None:
            _summary([], subject, report)  # raises before the work if the data cannot be shown
        finished, interrupted = execute_missing(runs, journal, n_jobs, progress, stop_at_interrupt=stop_at_interrupt)
        choices = choices_of_k(finished, subject.modality) if len(benchmarks) > 1 else {}
        shown = at_chosen_k(finished, choices) if choices else finished
        recommendation = recommend_among(shown, usual_k(choices) if choices else subject.n_clusters)
        known = recommendation.scores
        scores = {run.key: known[record["model"]]["score"] for run, record in shown if record["model"] in known}
        finished = _ranked(finished, rank_by, scores)
        keys = {run.key for run, _ in shown}
        shown = [pair for pair in finished if pair.run.key in keys]
        comparison = Comparison(len(runs), finished, interrupted, choices, shown, recommendation)
        if show is not None:
            show(comparison)
        if report is None:
            return comparison, {}
        summary = _summary(_shown_or_failed(comparison), subject, report, comparison)
        write(summary, report.path)
    return comparison, summary


def _plan(benchmarks: Iterable[ClusteringBenchmark]) -> list[PlannedRun]:
    """List the runs of all benchmarks; a model that finds K itself has the same run in each, which is kept once."""
    return list({run.key: run for benchmark in benchmarks for run in benchmark.plan()}.values())


def saving_memberships(runs: Iterable[PlannedRun], folder: str) -> list[PlannedRun]:
    """Return the runs with a file of the folder for the memberships of each."""
    return [run._replace(memberships=str(Path(folder, f"{run.key}.npy"))) for run in runs]


# Recommending ---------------------------------------------------------------------------------------------------------


def recommend_among(shown: Iterable[FinishedRun], n_clusters: int | None) -> Recommendation:
    """Recommend one of the runs that ended well; each is called by the name of its model."""
    good = {pair.record["model"]: pair for pair in shown if pair.record["status"] == "ok"}
    saved = {name: saved_memberships(run) for name, (run, _) in good.items()}
    memberships = {name: np.asarray(U, dtype=np.float64) for name, U in saved.items() if U is not None}
    return recommend(memberships, {name: pair.record for name, pair in good.items()}, n_clusters)


def _ranked(finished: list[FinishedRun], column: str | None, scores: dict[str, float]) -> list[FinishedRun]:
    """Sort by a column, or else by the score, the largest first and missing values last."""

    def value(pair: FinishedRun) -> tuple[float, float]:
        score = scores.get(pair.run.key, -math.inf)
        if column is None:
            return score, 0.0
        return (-math.inf if pair.record[column] is None else float(pair.record[column])), score

    return sorted(finished, key=value, reverse=True)


def _summary(
    finished: Sequence[FinishedRun], subject: Subject, report: ReportRequest, comparison: Comparison | None = None
) -> Summary:
    """Return what the report shows of these runs."""
    profiles, recommendation, curves = None, None, subject.curves
    if comparison is not None:
        found = comparison.recommendation
        models = {record["model"]: number for number, (_, record) in enumerate(finished) if record["status"] == "ok"}
        recommendation = recommendation_in_report(found, models, report.max_points)
        if found.best is not None:
            profiles = _profiles(finished[models[found.best]], subject, found.best)
            if comparison.choices:
                curves = _curves(comparison, found.best)
    return summarize_comparison(
        finished,
        subject.X,
        subject.y,
        name=subject.name,
        columns=subject.columns,
        max_points=report.max_points,
        command=report.command,
        modality=subject.modality,
        ids=subject.ids,
        preparation=subject.preparation,
        recommendation=recommendation,
        profiles=profiles,
        curves=curves,
        image=subject.image,
    )


def recommendation_in_report(found: Recommendation, models: Mapping[str, int], max_points: int) -> Summary:
    """Return a recommendation as the report shows it: a model is its number, a sample its position among those shown.

    Parameters
    ----------
    found : Recommendation
    models : dict of str to int
        The numbers of the models.
    max_points : int
        The report shows at most this many samples.
    """
    shown = {row: place for place, row in enumerate(sample_rows(found.n_samples, max_points).tolist())}
    return {
        "clear": found.clear,
        "model": None if found.best is None else models[found.best],
        "second": None if found.second is None else models[found.second],
        "reason": found.reason,
        "differ": [shown[row] for row in found.differing.tolist() if row in shown],
        "n_differ": len(found.differing),
        "groups": [
            {
                "models": [models[name] for name in group],
                "representative": models[group[0]],
                "agreement": agreement,
            }
            for group, agreement in zip(found.groups, found.agreement, strict=True)
        ],
        "scores": {str(models[name]): jsonable(entries) for name, entries in found.scores.items()},
        "evidence": {**EXPLANATIONS, "evenness": EVENNESS},
    }


def _profiles(finished: FinishedRun, subject: Subject, name: str) -> Summary | None:
    saved = saved_memberships(finished.run)
    if saved is None:
        return None
    U, noise = clusters_and_noise(np.asarray(saved, dtype=np.float64), finished.record)
    original = subject.X if subject.original is None else subject.original
    names = subject.columns if subject.original is None else None
    explanation = explain_memberships(
        U,
        original,
        noise_mass=noise,
        modality=subject.modality,
        feature_names=None if names is None or hasattr(original, "columns") else list(names),
        sample_names=None if subject.ids is None else list(subject.ids),
        name=name,
    )
    return explanation.to_dict()


def _curves(comparison: Comparison, model: str) -> Summary:
    """Return the measures over K for a model, as the report shows them."""
    fits = {
        pair.run.n_clusters: pair
        for pair in comparison.finished
        if pair.record["model"] == model and pair.run.n_clusters is not None
    }
    chosen = comparison.choices[model]
    deciding, K = next(((name, K) for name, K in chosen.items() if K is not None), ("", None))
    return {
        "k": sorted(fits),
        "criteria": {
            name: {
                "title": title_of(name),
                "sense": sense_of(name),
                "choice": choice,
                "values": [value if math.isfinite(value) else None for value in values_over_k(fits, name).tolist()],
            }
            for name, choice in chosen.items()
        },
        "model": model,
        "recommended": K,
        "reason": "" if K is None else f"{title_of(deciding)} chooses it.",
    }


# Choosing K -----------------------------------------------------------------------------------------------------------


def title_of(name: str) -> str:
    """Return the title of a measure that chooses K."""
    return "Gain over one cluster" if name == "gain" else MEASURES[name].title


def sense_of(name: str) -> Literal["max", "min"] | None:
    """Return whether the largest or the smallest value of a measure chooses K."""
    return "max" if name == "gain" else MEASURES[name].sense


def choices_of_k(finished: Iterable[FinishedRun], modality: str = "features") -> Choices:
    """Return the K that each measure of ``CHOOSING`` chooses for each model; None if it chooses none."""
    fits: dict[str, dict[int, FinishedRun]] = {}
    for pair in finished:
        of_model = fits.setdefault(pair.record["model"], {})
        if pair.run.n_clusters is not None:
            of_model[pair.run.n_clusters] = pair
    return {
        model: {
            name: choice_of(name, np.array(sorted(of_model)), values_over_k(of_model, name), sense_of(name))
            for name in CHOOSING[modality]
        }
        for model, of_model in fits.items()
    }


def values_over_k(fits: dict[int, FinishedRun], name: str) -> Array:
    """Return a measure of the fits in the order of K, NaN where it is missing."""
    found = [fits[K].record[name] for K in sorted(fits)]
    return np.array([math.nan if value is None else float(value) for value in found])


def at_chosen_k(finished: Sequence[FinishedRun], choices: Choices) -> list[FinishedRun]:
    """Keep each model at the K that the first measure with a choice chooses; at the smallest K if none has one."""
    chosen = {model: next((K for K in of_model.values() if K is not None), None) for model, of_model in choices.items()}
    for model in [model for model, K in chosen.items() if K is None]:
        fitted = [
            run.n_clusters
            for run, record in finished
            if record["model"] == model and record["status"] in FITTED and run.n_clusters is not None
        ]
        chosen[model] = min(fitted, default=None)
    return [pair for pair in finished if pair.run.n_clusters == chosen[pair.record["model"]]]


def usual_k(choices: Choices) -> int | None:
    """Return the K that most models are shown at, the smallest of several; None if there is none."""
    counts = Counter(next((K for K in of_model.values() if K is not None), None) for of_model in choices.values())
    counts.pop(None, None)
    return min(counts, key=lambda K: (-counts[K], K)) if counts else None


def _shown_or_failed(comparison: Comparison) -> list[FinishedRun]:
    """Return the runs that the report shows: those of the table, and all that failed."""
    keys = {run.key for run, _ in comparison.shown}
    return [pair for pair in comparison.finished if pair.run.key in keys or pair.record["status"] not in FITTED]
