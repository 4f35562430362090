"""The steps of a comparison: what is ranked, chosen, shown and reported."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM, SCM
from soft_clustering.benchmarking import ClusteringBenchmark
from soft_clustering.benchmarking.records import SCHEMA, Journal
from soft_clustering.benchmarking.runner import FinishedRun, PlannedRun
from soft_clustering.report import pipeline
from soft_clustering.report.pipeline import (
    ReportRequest,
    Subject,
    at_chosen_k,
    choices_of_k,
    run_comparison,
    usual_k,
)

X, Y = load_iris(return_X_y=True)


def finished_run(model, k, silhouette=None, **columns):
    """A run of a model that is asked for k clusters; None for one that finds them."""
    run = PlannedRun(f"{model} {k}", {}, SCM() if k is None else FCM(k), X, None, None, (), False, None, None)
    return FinishedRun(run, dict.fromkeys(SCHEMA) | {"model": model, "silhouette": silhouette, **columns})


class Silent:
    """Progress that shows nothing, and the numbers it was told."""

    def begin(self, total, done):
        self.total, self.done, self.closed = total, done, False

    def step(self, record):
        self.done += 1

    def close(self):
        self.closed = True


def test_choices_of_k():
    finished = [
        finished_run("A", 3, 0.4, calinski_harabasz=1.0, davies_bouldin=0.9, xie_beni=0.2, gain=0.1),
        finished_run("A", 2, 0.3, calinski_harabasz=1.0, davies_bouldin=0.8, xie_beni=np.inf, gain=0.4),
        finished_run("B", None, 0.5, calinski_harabasz=1.0, davies_bouldin=0.5),
    ]
    nothing = dict.fromkeys(["gain", "silhouette", "calinski_harabasz", "davies_bouldin", "xie_beni"])
    chosen = {"gain": 2, "silhouette": 3, "davies_bouldin": 2, "xie_beni": 3}
    assert choices_of_k(finished) == {"A": nothing | chosen, "B": nothing}


def test_models_are_shown_at_the_first_choice_or_the_smallest_number():
    finished = [finished_run(model, K, 0.5, status="ok") for model in "ab" for K in (4, 2, 3)]
    finished += [finished_run("failed", 2, status="error"), finished_run("finds", None, 0.4, status="ok")]
    nothing = {"gain": None, "silhouette": None}
    choices = {"a": nothing, "b": {"gain": None, "silhouette": 3}, "failed": nothing, "finds": nothing}
    shown = at_chosen_k(finished, choices)
    assert [(record["model"], run.n_clusters) for run, record in shown] == [("a", 2), ("b", 3), ("finds", None)]


def test_the_usual_number_of_clusters():
    choices = {name: {"gain": K, "silhouette": 9} for name, K in zip("abcde", [4, 3, 4, 3, None], strict=True)}
    assert usual_k(choices) == 3  # as often as 4, and smaller; the model without a first choice has 9
    assert usual_k({"a": {"gain": None}}) is None


def benchmarks(*numbers):
    return [
        ClusteringBenchmark({"FCM": FCM(K), "SCM": SCM()}, {"iris": (X, Y)}, n_clusters=None, verbose=0)
        for K in numbers
    ]


def record_of(run):
    """The record of a run without a process: SCM fails, FCM is the better the more clusters it has."""
    found = {"status": "error", "reason": "no"} if run.n_clusters is None else {"status": "ok", "ari": run.n_clusters}
    quality = {} if run.n_clusters is None else {"silhouette": run.n_clusters / 10}
    return {"key": run.key, **dict.fromkeys(SCHEMA), **run.known, **found, **quality}


def test_several_numbers_of_clusters(monkeypatch, tmp_path):
    monkeypatch.setattr("soft_clustering.benchmarking.runner.execute", record_of)
    reported, shown, path = [], [], tmp_path / "report.html"

    def write(summary, target):
        assert shown  # the table comes first
        reported.append((summary, target))

    monkeypatch.setattr(pipeline, "write", write)
    comparison, summary = run_comparison(
        benchmarks(2, 3),
        Subject(X, Y, "iris"),
        Journal(None),
        Silent(),
        n_jobs=1,
        rank_by="ari",
        show=shown.append,
        report=ReportRequest(path, "the command"),
    )
    # SCM finds K itself, so it is fitted once; without a value it comes last
    assert comparison.n_planned == 3
    assert [run.n_clusters for run, _ in comparison.finished] == [3, 2, None]
    assert [run.n_clusters for run, _ in comparison.shown] == [3, None]
    assert shown == [comparison]
    assert reported == [(summary, path)]
    assert [model["name"] for model in summary["models"]] == ["FCM", "SCM"]
    assert summary["command"] == "the command"


@pytest.mark.parametrize("name", [None, "runs.jsonl"])
def test_interruption_keeps_what_is_finished(name, monkeypatch, tmp_path):
    def interrupted(run):
        if run.n_clusters is None:
            raise KeyboardInterrupt
        return record_of(run)

    monkeypatch.setattr("soft_clustering.benchmarking.runner.execute", interrupted)
    progress, path = Silent(), name and tmp_path / name
    comparison, summary = run_comparison(
        benchmarks(2), Subject(X), Journal(path), progress, n_jobs=1, stop_at_interrupt=True
    )
    assert [run.n_clusters for run, _ in comparison.finished] == [2]
    assert (comparison.interrupted, comparison.n_planned, summary) == (True, 2, {})
    assert (progress.total, progress.done, progress.closed) == (2, 1, True)
    progress = Silent()
    with pytest.raises(KeyboardInterrupt):
        run_comparison(benchmarks(2), Subject(X), Journal(None), progress, n_jobs=1)
    assert progress.closed
