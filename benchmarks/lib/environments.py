"""Other packages, each in a virtual environment of its own: their versions, or their import names, clash with ours.

``Interpreter`` keeps one Python process and runs snippets in it, so that two sides can be timed in turns.
``PeerProcess`` is one with the older package of our name.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path

REQUIREMENT = "soft-clustering==0.2.0"
# What a snippet prints is discarded: standard output is for answers.
_SERVER = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
names = {}
for line in sys.stdin:
    code = json.loads(line)
    names["answer"] = error = None
    start = time.perf_counter()
    try:
        exec(code, names)
    except Exception as problem:
        error = " ".join(f"{type(problem).__name__}: {problem}".split())
    answers.write(json.dumps([time.perf_counter() - start, names["answer"], error]) + "\\n")
    answers.flush()
"""


def venv_python(name: str, *requirements: list[str]) -> str:
    """The interpreter of the environment ``name``, which is made on first use: one ``pip install`` per list."""
    root = Path(tempfile.gettempdir()) / f"soft-clustering-{name}"
    python = root / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = root / "ready"
    if not ready.exists():
        venv.create(root, with_pip=True, clear=True)
        for arguments in requirements:
            subprocess.run([python, "-m", "pip", "install", "-q", *arguments], check=True)
        ready.touch()
    return str(python)


def peer_python(deep: bool = False) -> str:
    """The interpreter of the older package's environment, which is large as its torch models need much."""
    if deep:
        constraints = str(Path(__file__).parents[2] / "constraints.txt")
        return venv_python("older-deep", ["-c", constraints, REQUIREMENT, "torch", "torch_geometric"])
    return venv_python("older", ["--no-deps", REQUIREMENT], ["numpy", "scipy", "scikit-learn", "typeguard"])


class Interpreter:
    """Run snippets in a process of the given command: ``run(code)`` returns (seconds, value of ``answer``)."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            [*command, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, code: str, time_limit: float | None = None) -> tuple[float, object]:
        """Time one snippet. A RuntimeError says how it failed; a TimeoutError says that the process was ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        clock = threading.Timer(time_limit, self._process.kill) if time_limit is not None else None
        if clock:
            clock.start()
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if clock:
            clock.cancel()
        if not line:
            if clock and clock.finished.is_set() and self._process.wait() < 0:
                raise TimeoutError(f"more than {time_limit:g} s")
            raise RuntimeError(f"the process ended with code {self._process.wait()}")
        seconds, answer, error = json.loads(line)
        if error:
            raise RuntimeError(error)
        return seconds, answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class PeerProcess(Interpreter):
    """Run snippets in the environment of the older package."""

    def __init__(self, deep: bool = False) -> None:
        # -I leaves out this folder and PYTHONPATH: otherwise it would import our package
        super().__init__(peer_python(deep), "-I")
        version = "from importlib.metadata import version\nanswer = version('soft-clustering')"
        assert self.run(version)[1] == REQUIREMENT.partition("==")[2]
        assert self.run("import soft_clustering\nanswer = hasattr(soft_clustering, '_registry')")[1] is False
