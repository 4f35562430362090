"""Carry out one run: start a worker, watch its time and memory, end it and all it started, return the record."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import joblib

from .machine import environment
from .memory import resident
from .records import FITTED, SCHEMA, Journal, from_line

#: Seconds between two looks at a worker.
_INTERVAL = 0.02
#: Seconds for a worker to start: imports and data. They are not part of the time limit.
_START_LIMIT = 120.0


class Run(NamedTuple):
    """One model on one data set, once."""

    key: str
    known: dict[str, Any]  # columns of the record that are known before
    estimator: Any
    X: Any
    y: Any
    failure: str | None  # why there are no data
    measurements: tuple[str, ...]
    warm_up: bool
    time_limit: float | None
    memory_limit: int | None
    memberships: str | None = None  # the .npy file to save them in

    def is_done(self, journal: Journal) -> bool:
        """Whether the journal has the record, and the memberships are where they are wanted."""
        record = journal.records.get(self.key)
        if record is None or self.memberships is None or record["status"] not in FITTED:
            return record is not None
        return os.path.exists(self.memberships)


def carry_out(runs: Iterable[Run], journal: Journal, n_jobs: int | None) -> Iterator[dict[str, Any]]:
    """The records of the runs that are not done yet, as they finish; each is on disk when it comes."""
    todo = [run for run in runs if not run.is_done(journal)]
    if todo:
        journal.note({"environment": environment()})
    # Threads only wait for processes; a backend set by the user, such as Dask's, takes their place. The records come
    # back here one by one, so there is one writer.
    parallel = joblib.Parallel(n_jobs, prefer="threads", batch_size=1, return_as="generator_unordered")
    for record in parallel(joblib.delayed(execute)(run) for run in todo):
        journal.note(record)
        yield record


def execute(run: Run) -> dict[str, Any]:
    """The record of a run, always with every column of the schema."""
    record = {"key": run.key, **dict.fromkeys(SCHEMA), **run.known}
    if run.failure is not None:
        return record | {"status": "error", "reason": run.failure}
    with tempfile.TemporaryDirectory(prefix="soft-clustering-", ignore_cleanup_errors=True) as folder:
        task = {
            "estimator": run.estimator,
            "measurements": run.measurements,
            "warm_up": run.warm_up,
            "time_limit": run.time_limit,
            "memberships": None if run.memberships is None else os.path.abspath(run.memberships),
        }
        # wrapped: a plain pickle would only name the classes and functions of a script or a notebook
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


def _start(folder: str, log: Any) -> subprocess.Popen[bytes]:
    """Start a worker that imports what this process would, whatever the current folder holds."""
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    return subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.worker", folder, os.getcwd()],
        # ``-m`` puts the current folder first on the path of imports: let it be one without modules.
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths},
        stdin=subprocess.PIPE,  # stays open as long as this process lives
        stdout=subprocess.DEVNULL,  # whatever the estimator prints
        stderr=log,
        start_new_session=True,
    )


def _watch(worker: subprocess.Popen[bytes], report: Path, run: Run) -> dict[str, Any]:
    """What the worker reported until its end or its limits."""
    found: dict[str, Any] = {"stage": "start"}
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
            # a peak between two looks
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
    """The complete lines of a growing file, an empty one where there is none yet."""
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
        # it has ended and left nothing (on macOS: not permitted)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.pid, signal.SIGKILL)
    worker.communicate()


def _how_it_ended(code: int, stage: str, log: Any) -> str:
    names = {number.value: number.name for number in signal.Signals}
    how = f"killed by {names.get(-code, f'signal {-code}')}" if code < 0 else f"exit code {code}"
    log.seek(0)
    last = log.read().decode(errors="replace").strip().rpartition("\n")[2]
    return f"the worker ended in {stage}: {how}" + (f"; {last}" if last else "")
