"""Carry out planned runs: start a worker for each, watch its time and memory, end it, and keep its record."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

import joblib

from .._estimators import Estimator
from .machine import environment
from .memory import resident
from .records import FITTED, SCHEMA, Journal, Record, from_line

if TYPE_CHECKING:
    from .worker import Task

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

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters that the model is asked for; None if it finds the number itself."""
        asked: int | None = self.estimator.get_params(deep=False).get("n_clusters")
        return asked

    def is_done(self, journal: Journal) -> bool:
        """Whether the journal has the record, and the memberships are in their file if they are wanted."""
        record = journal.records.get(self.key)
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
        for record in parallel(joblib.delayed(execute)(run) for run in todo):
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


def execute(run: PlannedRun) -> Record:
    """Execute one run and return its record, always with every column of the schema."""
    record = {"key": run.key, **dict.fromkeys(SCHEMA), **run.known}
    if run.failure is not None:
        return record | {"status": "error", "reason": run.failure}
    with tempfile.TemporaryDirectory(prefix="soft-clustering-", ignore_cleanup_errors=True) as folder:
        task: Task = {
            "estimator": run.estimator,
            "measurements": run.measurements,
            "warm_up": run.warm_up,
            "time_limit": run.time_limit,
            "memberships": None if run.memberships is None else os.path.abspath(run.memberships),
        }
        # Wrapped, because a plain pickle stores the classes and functions of a script or a notebook only by name.
        Path(folder, "task").write_bytes(pickle.dumps(joblib.wrap_non_picklable_objects(task, keep_wrapper=False)))
        joblib.dump((run.X, run.y), Path(folder, "data"))
        with open(Path(folder, "log"), "w+b") as log:
            worker = _start(folder, log)
            try:
                found = _watch(worker, Path(folder, "report.jsonl"), run)
            finally:
                _end(worker)
            if "status" not in found:
                found |= {"status": "error", "reason": _how_it_ended(worker.returncode, found["stage"], log)}
    return record | {name: value for name, value in found.items() if name in SCHEMA}


def _start(folder: str, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a worker that imports the same modules as this process, whatever the current folder contains."""
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    return subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.worker", folder, os.getcwd()],
        # ``-m`` puts the current folder first on the path of imports: start it in a folder without modules.
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        stdin=subprocess.PIPE,  # it stays open as long as this process lives
        stdout=subprocess.DEVNULL,  # the estimator may print
        stderr=log,
        start_new_session=True,
    )


def _watch(worker: subprocess.Popen[bytes], report: Path, run: PlannedRun) -> Record:
    """Return what the worker reported until it ended or exceeded a limit."""
    found: Record = {"stage": "start"}
    lines = _lines(report)
    limit: float | None = _START_LIMIT
    begin = time.monotonic()
    while True:
        ended = worker.poll() is not None
        sizes = [0 if run.memory_limit is None else resident(worker.pid)]
        for line in lines:
            if not line:
                break
            entries = from_line(line)
            # the peak may have been between two looks
            sizes.append(entries.pop("resident", None) or 0)
            if entries.get("stage") == "fit":
                limit, begin = run.time_limit, time.monotonic()
            found |= entries
        if run.memory_limit is not None and max(sizes) > run.memory_limit:
            return found | {"status": "memory", "reason": f"more than {run.memory_limit / 2**20:g} MiB resident"}
        if found["stage"] == "done":
            return found
        if limit is not None and time.monotonic() - begin > limit:
            return found | {"status": "timeout", "reason": f"more than {limit:g} s, in {found['stage']}"}
        if ended:
            return found
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


def _end(worker: subprocess.Popen[bytes]) -> None:
    """Kill the worker and every process that it has started."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(worker.pid)], capture_output=True)
    else:
        # the error if all its processes have ended (on macOS: PermissionError)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.pid, signal.SIGKILL)
    worker.communicate()


def _how_it_ended(code: int, stage: str, log: IO[bytes]) -> str:
    """Say how a worker without a result ended, with the last line of its log."""
    names = {number.value: number.name for number in signal.Signals}
    how = f"killed by {names.get(-code, f'signal {-code}')}" if code < 0 else f"exit code {code}"
    log.seek(0)
    last = log.read().decode(errors="replace").strip().rpartition("\n")[2]
    return f"the worker ended in {stage}: {how}" + (f"; {last}" if last else "")
