"""Carry out planned runs: give each to a worker, watch its time and memory, and keep its record."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import joblib

from .._estimators import Estimator
from .._extras import MODULES, is_installed, pip_line
from .._registry import REGISTRY, Row
from .machine import environment
from .memory import resident
from .records import FITTED, SCHEMA, Journal, Record, ending, from_line
from .workers import Worker, Workers

if TYPE_CHECKING:
    from .worker import Task

#: The workers of the runs that this process executes.
WORKERS = Workers()
#: Seconds between two looks at a worker.
_INTERVAL = 0.02
#: Seconds that a worker has to start (imports and data); the time limit begins after them.
_START_LIMIT = 120.0


class PlannedRun(NamedTuple):
    """One model on one data set, once: what to fit, what to measure, and the limits."""

    key: str
    known: Record  # the columns of the record that are known before the run
    estimator: Estimator
    X: Any
    y: Any
    failure: str | None  # why the data could not be loaded
    measurements: tuple[str, ...]
    warm_up: bool
    time_limit: float | None
    memory_limit: int | None
    memberships: str | None = None  # the .npy file to save them in
    exact: bool = False  # whether measures of all pairs are not sampled

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters that the model is asked for; None if it finds the number itself."""
        asked: int | None = self.estimator.get_params(deep=False).get("n_clusters")
        return asked

    def is_done(self, journal: Journal) -> bool:
        """Whether the journal has the record, and the memberships are in their file if they are wanted.

        A run that was skipped is not done: what it needs may have been installed since.
        """
        record = journal.records.get(self.key)
        if record is not None and record["status"] == "skipped":
            return False
        if record is None or self.memberships is None or record["status"] not in FITTED:
            return record is not None
        return os.path.exists(self.memberships)


class FinishedRun(NamedTuple):
    """A run and its record."""

    run: PlannedRun
    record: Record


class Progress(Protocol):
    """What shows the runs as they finish."""

    def begin(self, total: int, done: int) -> None:
        """Show how many runs there are, and how many the journal already holds."""

    def step(self, record: Record) -> None:
        """Show the record of a run that has just finished."""

    def close(self) -> None:
        """Tidy up: no run will follow."""


def execute_missing(
    runs: Sequence[PlannedRun],
    journal: Journal,
    n_jobs: int | None,
    progress: Progress,
    *,
    stop_at_interrupt: bool = False,
) -> tuple[list[FinishedRun], bool]:
    """Execute the runs that the journal does not hold yet, and show each as it finishes.

    Parameters
    ----------
    runs : list of PlannedRun
    journal : Journal
        A record is in its file before ``progress`` shows it.
    n_jobs : int or None
        Runs at the same time, through joblib.
    progress : Progress
    stop_at_interrupt : bool, default=False
        Whether Ctrl-C ends the work and the runs finished so far are returned; otherwise KeyboardInterrupt is raised.

    Returns
    -------
    finished : list of FinishedRun
        The runs that the journal holds in the end, in the order of ``runs``.
    interrupted : bool
        Whether Ctrl-C ended the work.
    """
    todo = [run for run in runs if not run.is_done(journal)]
    interrupted = False
    progress.begin(len(runs), len(runs) - len(todo))
    try:
        if todo:
            journal.note({"environment": environment()})
        # Threads only wait for processes; a backend set by the user, such as Dask's, takes their place. The records
        # come back here one by one, so there is one writer.
        parallel = joblib.Parallel(n_jobs, prefer="threads", batch_size=1, return_as="generator_unordered")
        with WORKERS.keep():
            for record in parallel(joblib.delayed(_execute_on)(run._replace(X=None), run.X) for run in todo):
                journal.note(record)
                progress.step(record)
    except KeyboardInterrupt:
        if not stop_at_interrupt:
            raise
        interrupted = True
        if journal.path is not None:
            journal = Journal(journal.path)  # the interrupt may have come before the last record was on disk
    finally:
        progress.close()
    return [FinishedRun(run, journal.records[run.key]) for run in runs if run.key in journal.records], interrupted


def _execute_on(run: PlannedRun, X: Any) -> Record:
    """Execute a run on X: joblib sends an argument that several runs share to a Dask cluster once."""
    return execute(run._replace(X=X))


def execute(run: PlannedRun) -> Record:
    """Execute one run and return its record, always with every column of the schema."""
    record = {"key": run.key, **dict.fromkeys(SCHEMA), **run.known}
    if run.failure is not None:
        return record | {"status": "error", "reason": run.failure}
    rows = _rows_of(run.estimator)
    for row in rows:
        if row.extra is not None and not is_installed(row.extra):
            reason = f"{row.name} needs {MODULES[row.extra]}: {pip_line(row.extra)}"
            return record | {"status": "skipped", "reason": reason}
    with WORKERS.borrow() as worker:
        task: Task = {
            "estimator": run.estimator,
            "measurements": run.measurements,
            "warm_up": run.warm_up,
            "time_limit": run.time_limit,
            "exact": run.exact,
            "memberships": None if run.memberships is None else os.path.abspath(run.memberships),
        }
        # Wrapped, because a plain pickle stores the classes and functions of a script or a notebook only by name.
        Path(worker.run, "task").write_bytes(pickle.dumps(joblib.wrap_non_picklable_objects(task, keep_wrapper=False)))
        joblib.dump((run.X, run.y), Path(worker.run, "data"))
        worker.begin([row.module for row in rows] + [MODULES[row.extra] for row in rows if row.extra is not None])
        found = _watch(worker, run)
        code = worker.stop()
        if found["stage"] != "done":
            how = "; ".join(filter(None, (_how_it_ended(code), worker.last_words())))
            found |= ending(found, "error", f"the worker ended in {found['stage']}: {how}", f"the worker ended: {how}")
    return record | {name: value for name, value in found.items() if name in SCHEMA}


def _rows_of(estimator: Estimator) -> list[Row]:
    """Return the registry's rows of the estimator and of those inside it."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    classes = {(type(part).__module__, type(part).__name__) for part in parts}
    return [row for row in REGISTRY if (row.module, row.name) in classes]


def _watch(worker: Worker, run: PlannedRun) -> Record:
    """Return what the worker reported until the run ended or exceeded a limit; then its stage is "done"."""
    found: Record = {"stage": "start"}
    lines = _lines(worker.run / "report.jsonl")
    limit: float | None = _START_LIMIT
    begin = time.monotonic()

    def exceeds(size: int | None) -> bool:
        return run.memory_limit is not None and size is not None and size > run.memory_limit

    def stopped(status: str, why: str, where: str = "") -> Record:
        return found | ending(found, status, why + where, why) | {"stage": "done"}

    while True:
        ended = worker.ended() is not None
        too_large = run.memory_limit is not None and exceeds(resident(worker.group))
        for line in lines:
            if not line:
                break
            entries = from_line(line)
            # the peak of the fit may have been between two looks
            too_large = too_large or exceeds(entries.pop("resident", None))
            if too_large:
                break
            if entries.get("stage") == "fit":
                limit, begin = run.time_limit, time.monotonic()
            found |= entries
        if too_large and run.memory_limit is not None:
            return stopped("memory", f"more than {run.memory_limit / 2**20:g} MiB resident")
        if found["stage"] == "done" or ended:
            return found
        if limit is not None and time.monotonic() - begin > limit:
            return stopped("timeout", f"more than {limit:g} s", f", in {found['stage']}")
        time.sleep(_INTERVAL)


def _lines(report: Path) -> Iterator[str]:
    """Yield the complete lines of a growing file, and an empty string whenever there is none yet."""
    while not report.exists():
        yield ""
    with open(report, encoding="utf-8") as file:
        begun = ""
        while True:
            begun += file.readline()
            if begun.endswith("\n"):
                yield begun
                begun = ""
            else:
                yield ""


def _how_it_ended(code: int) -> str:
    names = {number.value: number.name for number in signal.Signals}
    return f"killed by {names.get(-code, f'signal {-code}')}" if code < 0 else f"exit code {code}"
