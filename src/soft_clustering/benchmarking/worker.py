"""One run in a process of its own: ``python -m soft_clustering.benchmarking.worker FOLDER CWD``.

The runner starts it, with the task in FOLDER and a pipe as standard input. The worker tells what it does and finds line
by line in ``report.jsonl`` there: whatever ends it, what was measured before is known, and where it was.
"""

from __future__ import annotations

import faulthandler
import math
import os
import pickle
import shutil
import signal
import sys
import threading
import time
import warnings
from typing import Any, TextIO

import joblib
import numpy as np
from sklearn.base import clone

from ..metrics import clustering_metrics, soft_clustering_metrics
from .memory import peak, reset_peak
from .records import QUALITY, to_line

#: Seconds after the time limit when the worker ends itself: only where the runner could not.
_GRACE = 10


class Report:
    """Lines for the runner; ``stage`` is what the worker is doing."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.stage = "start"

    def __call__(self, **entries: Any) -> None:
        """Write one line."""
        self.stage = entries.get("stage", self.stage)
        self._file.write(to_line(entries))
        self._file.flush()


def fit(estimator: Any, X: Any) -> dict[str, Any]:
    """Fit, with what it took."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        reset_peak()
        before = peak()
        start = time.perf_counter()
        estimator.fit(X)
        elapsed = time.perf_counter() - start
        after = peak()
    messages = dict.fromkeys(f"{entry.category.__name__}: {one_line(entry.message)}" for entry in caught)
    return {
        "fit_time": elapsed,
        "peak_memory": None if before is None or after is None else after - before,
        "resident": after,
        "warnings": "; ".join(messages) or None,
    }


def one_line(message: object) -> str:
    """A message without line breaks."""
    return " ".join(str(message).split())


def scalar(value: Any, kind: type) -> Any:
    """The value as a plain number, None where it is missing or an array."""
    return None if value is None or np.ndim(value) else kind(value)


def labels_of(estimator: Any, X: Any) -> Any:
    """Labels of the training data: the attribute of a clusterer, the prediction of a mixture or a pipeline."""
    return np.asarray(estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(X))


def predict_time(estimator: Any, X: Any) -> float | None:
    """Seconds to predict the training data; None for a method that cannot predict."""
    for method in ("predict_memberships", "predict"):
        if hasattr(estimator, method):
            start = time.perf_counter()
            getattr(estimator, method)(X)
            return time.perf_counter() - start
    return None


def memberships_of(estimator: Any, X: Any) -> Any:
    """Memberships of the training data, None for a hard clusterer."""
    if hasattr(estimator, "memberships_"):
        return estimator.memberships_
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None


def quality(estimator: Any, X: Any, y: Any, labels: Any) -> dict[str, float]:
    """The twelve measures; NaN where one does not apply."""
    features = getattr(estimator, "modality", "features") == "features"
    # no distances between the nodes of a graph, texts or partitions
    found = dict.fromkeys(QUALITY, math.nan) | clustering_metrics(X if features else None, labels, y_true=y)
    memberships = memberships_of(estimator, X)
    if memberships is None:
        return found
    return found | soft_clustering_metrics(
        X if features else None,
        memberships,
        centers=getattr(estimator, "centers_", None) if features else None,
        m=2.0,  # one for all models: what they are compared by must not depend on their own fuzzifier
        partition_constrained=getattr(estimator, "partition_constrained", True),
    )


def save_memberships(path: str, estimator: Any, X: Any, labels: Any) -> None:
    """Write the memberships of the training data; those of a hard clusterer are 0 and 1."""
    memberships = memberships_of(estimator, X)
    if memberships is None:
        memberships = labels[:, None] == np.unique(labels[labels >= 0])
    np.save(path, np.asarray(memberships, dtype=np.float32))


def measure(task: dict[str, Any], X: Any, y: Any, report: Report) -> None:
    """Fit, predict, evaluate: whatever the task asks for."""
    estimator, wanted = task["estimator"], task["measurements"]
    rounds = 2 if task["warm_up"] and "fit_time" in wanted else 1
    for number in range(rounds):
        estimator = clone(estimator)
        report(stage="fit")
        if task["time_limit"] is not None:
            # Runs without the interpreter lock: the end of a worker whose runner is gone and whose fit holds the lock.
            faulthandler.dump_traceback_later(task["time_limit"] + _GRACE, exit=True)
        found = fit(estimator, X)
        if number > 0:
            del found["peak_memory"]  # the first fit shows it: the second one reuses the memory of the first
        report(**found)
    labels = labels_of(estimator, X)
    n_found = len(np.unique(labels[labels >= 0]))
    report(
        n_clusters=scalar(getattr(estimator, "n_clusters_", n_found), int),
        n_iter=scalar(getattr(estimator, "n_iter_", None), int),
        converged=scalar(getattr(estimator, "converged_", None), bool),
    )
    if "predict_time" in wanted:
        report(stage="predict")
        report(predict_time=predict_time(estimator, X))
    if set(QUALITY) & set(wanted):
        report(stage="metrics")
        report(**quality(estimator, X, y, labels))
    if task["memberships"] is not None:
        report(stage="saving the memberships")
        save_memberships(task["memberships"], estimator, X, labels)
    if n_found < 2:
        reason = "all labels are the same cluster" if n_found else "no sample belongs to a cluster"
        report(stage="done", status="degenerate", reason=reason)
    else:
        report(stage="done", status="ok")


def attempt(folder: str, report: Report) -> None:
    """Carry out the task of the folder; an exception becomes its result."""
    try:
        with open(os.path.join(folder, "task"), "rb") as file:
            task = pickle.load(file)
        X, y = joblib.load(os.path.join(folder, "data"))
        measure(task, X, y, report)
    except Exception as error:
        status = "memory" if isinstance(error, MemoryError) else "error"
        report(stage="done", status=status, reason=one_line(f"{type(error).__name__} in {report.stage}: {error}"))


def end_with_runner(folder: str) -> None:
    """Wait for the end of standard input: the runner is gone, then nothing of this run shall stay."""
    while os.read(0, 4096):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def main(folder: str, cwd: str) -> None:
    """What the process does."""
    threading.Thread(target=end_with_runner, args=(folder,), daemon=True).start()
    os.chdir(cwd)
    with open(os.path.join(folder, "report.jsonl"), "w", encoding="utf-8") as lines:
        attempt(folder, Report(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
