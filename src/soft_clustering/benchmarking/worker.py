"""One run in a process of its own: ``python -m soft_clustering.benchmarking.worker FOLDER CWD``.

The runner starts it, with the task in FOLDER and a pipe as standard input. The worker writes what it does and finds to
``report.jsonl`` there, line by line: however it ends, the runner knows what was measured before, and in which stage.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import shutil
import signal
import sys
import threading
import time
import warnings
from typing import Any, TextIO, TypedDict, TypeVar

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .._estimators import Estimator
from .._text import one_line
from .._types import DataLike
from .memory import peak, reset_peak
from .quality import labels_of, memberships_of, quality
from .records import QUALITY, Record, to_line

Number = TypeVar("Number", bool, int)

#: Seconds after the time limit at which the worker ends itself, if the runner has not done so.
_GRACE = 10


class Task(TypedDict):
    """What the runner asks of a worker."""

    estimator: Estimator
    measurements: tuple[str, ...]
    warm_up: bool
    time_limit: float | None
    memberships: str | None  # the .npy file to save them in


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


def fit(estimator: Estimator, X: DataLike) -> Record:
    """Fit, and return the time, the memory and the warnings."""
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


def scalar(value: Any, kind: type[Number]) -> Number | None:
    """Return the value as a plain number; None if it is missing or an array."""
    return None if value is None or np.ndim(value) else kind(value)


def predict_time(estimator: Estimator, X: DataLike) -> float | None:
    """Return the seconds to predict the training data; None for a method that cannot predict."""
    for method in ("predict_memberships", "predict"):
        if hasattr(estimator, method):
            start = time.perf_counter()
            getattr(estimator, method)(X)
            return time.perf_counter() - start
    return None


def save_memberships(path: str, estimator: Estimator, X: DataLike, labels: NDArray[Any]) -> None:
    """Write the memberships of the training data; those of a hard clusterer are 0 and 1."""
    memberships = memberships_of(estimator, X)
    if memberships is None:
        memberships = labels[:, None] == np.unique(labels[labels >= 0])
    np.save(path, np.asarray(memberships, dtype=np.float32))


def measure(task: Task, X: DataLike, y: ArrayLike | None, report: Report) -> None:
    """Fit, predict and evaluate, as the task asks."""
    estimator, wanted = task["estimator"], task["measurements"]
    rounds = 2 if task["warm_up"] and "fit_time" in wanted else 1
    for number in range(rounds):
        estimator = clone(estimator)
        report(stage="fit")
        if task["time_limit"] is not None:
            # This needs no interpreter lock, so it ends a worker whose runner is gone and whose fit holds the lock.
            faulthandler.dump_traceback_later(task["time_limit"] + _GRACE, exit=True)
        found = fit(estimator, X)
        if number > 0:
            del found["peak_memory"]  # keep that of the first fit: the second one reuses its memory
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
        for name, value in quality(estimator, X, y, labels):
            report(**{name: value})
    if task["memberships"] is not None:
        report(stage="saving the memberships")
        save_memberships(task["memberships"], estimator, X, labels)
    if n_found < 2:
        reason = "all labels are the same cluster" if n_found else "no sample belongs to a cluster"
        report(stage="done", status="degenerate", reason=reason)
    else:
        report(stage="done", status="ok")


def attempt(folder: str, report: Report) -> None:
    """Carry out the task of the folder, and report an exception as its result."""
    try:
        with open(os.path.join(folder, "task"), "rb") as file:
            task: Task = pickle.load(file)
        X, y = joblib.load(os.path.join(folder, "data"))
        measure(task, X, y, report)
    except Exception as error:
        status = "memory" if isinstance(error, MemoryError) else "error"
        report(stage="done", status=status, reason=one_line(f"{type(error).__name__} in {report.stage}: {error}"))


def end_with_runner(folder: str) -> None:
    """Wait until standard input ends, which means that the runner is gone; then remove all traces of this run."""
    while os.read(0, 4096):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def main(folder: str, cwd: str) -> None:
    """Run the process."""
    threading.Thread(target=end_with_runner, args=(folder,), daemon=True).start()
    os.chdir(cwd)
    with open(os.path.join(folder, "report.jsonl"), "w", encoding="utf-8") as lines:
        attempt(folder, Report(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
