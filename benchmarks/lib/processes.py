"""Processes with our own package, so that their peak memory is their own."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.lib.environments import Interpreter
from soft_clustering.benchmarking import memory


def ours() -> Interpreter:
    """A fresh process with our package, and the functions that read its memory."""
    process = Interpreter(sys.executable)
    process.run(f"import sys\nsys.path[:] = {sys.path}")
    process.run(Path(memory.__file__).read_text())
    return process
