"""Processes that carry out runs: started with the first run, kept for the next ones, and ended with the last.

A worker imports once what the runs need. On Linux it then forks for every run, so that a run finds a process in which
nothing was fitted before: its results, time and memory do not depend on earlier runs, and whatever becomes of it, the
worker lives on. The worker itself fits nothing, because a process that has used OpenMP must not fork. Elsewhere forking
is unsafe (macOS) or impossible (Windows): there a worker carries out one run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

#: Whether a worker forks for every run, so that it can carry out several.
FORKS = sys.platform == "linux"
#: Seconds that a killed process has to end; only one that the system cannot end takes longer.
_PATIENCE = 10.0


class Worker:
    """A process of :mod:`soft_clustering.benchmarking.worker`. It ends if this process ends, however that happens.

    Attributes
    ----------
    run : Path
        The folder of the present run, for its files.
    """

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="soft-clustering-")
        self._runs = 0
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        with open(Path(self._folder, "log"), "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.worker", self._folder, os.getcwd()],
                # ``-m`` puts the current folder first on the path of imports: start it in a folder without modules.
                cwd=self._folder,
                env=os.environ | {"PYTHONPATH": paths},
                stdin=subprocess.PIPE,  # it stays open as long as this process lives
                stdout=subprocess.DEVNULL,  # an estimator may print
                stderr=log,
                start_new_session=True,
            )

    def prepare(self) -> None:
        """Make the folder of the next run."""
        self._runs += 1
        self.run = Path(self._folder, str(self._runs))
        self.run.mkdir()

    def begin(self, imports: Sequence[str]) -> None:
        """Begin the run whose files are in the folder; ``imports`` are the modules to keep for later runs, too."""
        assert self._process.stdin is not None
        order = json.dumps({"folder": str(self.run), "imports": list(imports)})
        with contextlib.suppress(BrokenPipeError):  # it has ended: ``ended`` will tell
            self._process.stdin.write(f"{order}\n".encode())
            self._process.stdin.flush()

    @property
    def group(self) -> int:
        """The process group of the run; that of the worker itself until the run has begun, or if it does not fork."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.run / "pid").read_text())
        return self._process.pid

    def ended(self) -> int | None:
        """Return the exit code of the run, negative for a signal; None while it is going on."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.run / "exit").read_text())
        return self._process.poll()

    def stop(self) -> int:
        """Kill every process of the run that is left, and return the exit code of the run."""
        deadline = time.monotonic() + _PATIENCE
        _kill(self.group)
        while (code := self.ended()) is None:
            if time.monotonic() > deadline:
                _kill(self._process.pid)
                return self._process.wait()
            time.sleep(0.001)
        return code

    def last_words(self) -> str:
        """Return the last line that the run wrote to standard error; that of the worker, if it ended before the run."""
        log = self.run / "log"
        text = (log if log.exists() else Path(self._folder, "log")).read_text(errors="replace")
        return text.strip().rpartition("\n")[2]

    def can_go_on(self) -> bool:
        """Remove the files of the run, and return whether the worker can carry out another one."""
        shutil.rmtree(self.run, ignore_errors=True)
        return FORKS and self._process.poll() is None

    def dismiss(self) -> None:
        """Let the worker, its run and their files vanish, without waiting for it."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def end(self) -> None:
        """Kill the worker, and remove its files."""
        _kill(self._process.pid)
        self._process.wait()
        self.dismiss()
        shutil.rmtree(self._folder, ignore_errors=True)


def _kill(group: int) -> None:
    """Kill all processes of a group; on Windows a process and those that it has started."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(group)], capture_output=True)
    else:
        # the error if all its processes have ended (on macOS: PermissionError)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


class Workers:
    """The workers of this process. A worker is kept for later runs only inside ``keep``, otherwise it is ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._keepers = 0

    @contextlib.contextmanager
    def keep(self) -> Iterator[None]:
        """Keep workers between runs; in the end, dismiss those that still work, and end the others."""
        with self._lock:
            self._keepers += 1
        try:
            yield
        finally:
            with self._lock:
                self._keepers -= 1
                idle, busy = ([], []) if self._keepers else (self._idle, self._busy)
                self._idle = self._idle if self._keepers else []
                for worker in busy:
                    worker.dismiss()
            for worker in idle:
                worker.end()

    @contextlib.contextmanager
    def borrow(self) -> Iterator[Worker]:
        """Take an idle worker, or start one."""
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or Worker()
        with self._lock:
            self._busy.append(worker)
        try:
            worker.prepare()
            yield worker
        except BaseException:
            self._give_back(worker, reuse=False)
            raise
        else:
            self._give_back(worker, reuse=worker.can_go_on())

    def _give_back(self, worker: Worker, reuse: bool) -> None:
        with self._lock:
            self._busy.remove(worker)
            reuse = reuse and self._keepers > 0
            if reuse:
                self._idle.append(worker)
        if not reuse:
            worker.end()
