"""The process of the runs: ``python -m soft_clustering.benchmarking.worker FOLDER CWD``.

:class:`~soft_clustering.benchmarking.workers.Worker` starts it, with a pipe as standard input: a line of JSON begins a
run. The run writes what it does and finds to ``report.jsonl`` in a folder of its own, line by line: however it ends,
the runner knows what was measured before, and in which stage.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import pickle
import shutil
import signal
import sys
import threading
import time
import warnings
from importlib import import_module
from itertools import islice
from typing import Any, TextIO, TypedDict, TypeVar

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .._estimators import Estimator
from .._text import one_line
from .._types import DataLike
from ..inputs.features import takes_missing, with_medians
from ..metrics._validation import check_matrix
from ..recommendation.evidence import evidence_of
from .measures import EVIDENCE
from .memory import mapped, peak, reset_peak
from .quality import labels_of, memberships_of, modality_of, quality
from .records import QUALITY, Record, ending, to_line
from .workers import FORKS

Number = TypeVar("Number", bool, int)

#: Seconds after the time limit at which the worker ends itself, if the runner has not done so.
_GRACE = 10


class Task(TypedDict):
    """What the runner asks of a worker."""

    estimator: Estimator
    measurements: tuple[str, ...]
    warm_up: bool
    time_limit: float | None
    exact: bool  # whether measures of all pairs are not sampled
    memberships: str | None  # the .npy file to save them in


class Report:
    """Lines for the runner; ``found`` is what they say so far, its ``stage`` what the worker is doing."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.found: Record = {"stage": "start"}

    def __call__(self, **entries: Any) -> None:
        """Write one line."""
        self.found |= entries
        self._file.write(to_line(entries))
        self._file.flush()


def fit(estimator: Estimator, X: DataLike) -> Record:
    """Fit, and return the time, the memory and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        reset_peak()
        before, files = peak(), mapped()
        start = time.perf_counter()
        estimator.fit(X)
        elapsed = time.perf_counter() - start
        after = peak()
    messages = dict.fromkeys(f"{entry.category.__name__}: {one_line(entry.message)}" for entry in caught)
    return {
        "fit_time": elapsed,
        "peak_memory": None if before is None or after is None else max(0, after - before - (mapped() - files)),
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


def save_memberships(path: str, estimator: Any, X: DataLike, labels: NDArray[Any]) -> None:
    """Write the memberships of the training data; those of a hard clusterer are 0 and 1. Noise is a last column."""
    memberships = memberships_of(estimator, X)
    if memberships is None:
        memberships = labels[:, None] == np.unique(labels[labels >= 0])
    if memberships.shape[1] and getattr(estimator, "membership_kind", None) == "subpartition":
        memberships = np.column_stack([memberships, estimator.noise_mass_])
    np.save(path, np.asarray(memberships, dtype=np.float32))


def measure(task: Task, X: DataLike, y: ArrayLike | None, report: Report) -> None:
    """Fit, predict and evaluate, as the task asks.

    Estimators that take no missing values get medians in their place, and so does what measures them.
    """
    estimator, wanted = task["estimator"], task["measurements"]
    complete = with_medians(X)
    X = X if takes_missing(estimator) else complete
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
    report(stage="labels")
    labels = labels_of(estimator, X)
    n_found = len(np.unique(labels[labels >= 0]))
    n_clusters = scalar(getattr(estimator, "n_clusters_", n_found), int)
    if hasattr(estimator, "memberships_") and n_clusters:
        check_matrix("memberships", estimator.memberships_, "n_clusters", len(labels))
    if task["memberships"] is not None:
        report(stage="memberships")
        save_memberships(task["memberships"], estimator, X, labels)
    reason = None if n_found > 1 else "all labels are the same cluster" if n_found else "no sample belongs to a cluster"
    report(
        n_clusters=n_clusters,
        n_iter=scalar(getattr(estimator, "n_iter_", None), int),
        converged=scalar(getattr(estimator, "converged_", None), bool),
        # from here on the run has a result, which nothing that follows can take away
        status="ok" if reason is None else "degenerate",
        reason=reason,
    )
    if "predict_time" in wanted:
        report(stage="predict")
        report(predict_time=predict_time(estimator, X))
    if set(QUALITY) & set(wanted):
        values = quality(estimator, complete, y, labels, exact=task["exact"])
        for name in QUALITY:
            report(stage=name)  # before the measure is computed, so that one that does not end can be named
            report(**dict(islice(values, 1)))
    if set(EVIDENCE) & set(wanted) and n_found > 1:
        values = evidence_of(task["estimator"], complete, labels, modality_of(estimator))
        for name in EVIDENCE:
            report(stage=name)
            report(**dict(islice(values, 1)))
    report(stage="done")


def attempt(folder: str, report: Report) -> None:
    """Carry out the task of the folder, and report an exception as its result."""
    try:
        with open(os.path.join(folder, "task"), "rb") as file:
            task: Task = pickle.load(file)
        X, y = joblib.load(os.path.join(folder, "data"))
        measure(task, X, y, report)
    except Exception as error:
        status, kind = "memory" if isinstance(error, MemoryError) else "error", type(error).__name__
        stage = report.found["stage"]
        how, why = one_line(f"{kind} in {stage}: {error}"), one_line(f"{kind}: {error}")
        report(**ending(report.found, status, how, why), stage="done")


# The process ----------------------------------------------------------------------------------------------------------


def end_with_runner(folder: str) -> None:
    """Wait until standard input ends, which means that the runner is gone; then remove all traces of this run."""
    while os.read(0, 4096):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def carry_out(folder: str, run: str) -> None:
    """Carry out a run in this process, which ends with it."""
    threading.Thread(target=end_with_runner, args=(folder,), daemon=True).start()
    with open(os.path.join(run, "log"), "wb") as log:
        os.dup2(log.fileno(), 2)
    with open(os.path.join(run, "report.jsonl"), "w", encoding="utf-8") as lines:
        attempt(run, Report(lines))


def carry_out_in_a_fork(folder: str, run: str) -> None:
    """Carry out a run in a fork of this process, and write its process and its exit code to files."""
    with warnings.catch_warnings():
        # Python 3.12 warns of the threads that BLAS starts when it is loaded; BLAS itself takes care of forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        np.random.seed()  # noqa: NPY002, the global generator: otherwise every run would begin with the same numbers
        carry_out(folder, run)
        os._exit(0)
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpgid(child, child)  # the child does the same: whoever is first
    write(run, "pid", child)
    _, status = os.waitpid(child, 0)
    write(run, "exit", os.waitstatus_to_exitcode(status))


def read_line() -> bytes:
    """Return the next line of standard input, without a buffer that a fork would share; nothing if it has ended."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(0, 4096)
        if not more:
            return b""
        line += more
    return line


def write(run: str, name: str, number: int) -> None:
    """Write a number to a file of the run's folder, which is complete as soon as it can be read."""
    path = os.path.join(run, name)
    with contextlib.suppress(FileNotFoundError):  # the runner is gone, and so is the folder
        with open(f"{path}.new", "w") as file:
            file.write(str(number))
        os.replace(f"{path}.new", path)


def main(folder: str, cwd: str) -> None:
    """Carry out runs until standard input ends; where processes cannot be forked, one run."""
    os.chdir(cwd)
    while order := read_line():
        run, imports = json.loads(order).values()
        for name in imports:
            import_module(name)
        if not FORKS:
            carry_out(folder, run)
            return
        carry_out_in_a_fork(folder, run)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
