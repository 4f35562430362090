"""The records of the benchmarks: JSON files that say with which code, where and when their figures were made.

The benchmark ``benchmarks/FOLDER/NAME.py`` has the record ``benchmarks/results/NAME.json``, which a run without
arguments writes. A record is *stale* if ``src/`` or the script has changed since its commit, or had changes that were
not committed when it was made. The registry does not count: its rows describe methods, and a fit does not read
them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from soft_clustering.benchmarking import environment

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def path_of(name: str) -> Path:
    """The file of a record."""
    return RESULTS / f"{name}.json"


def read(name: str) -> dict[str, Any]:
    """The record of a benchmark; empty if there is none."""
    return json.loads(path_of(name).read_text()) if path_of(name).exists() else {}


def state(name: str) -> str:
    """Whether the figures of a record are those of the code as it is: 'fresh', 'stale' or 'missing'."""
    if not path_of(name).exists():
        return "missing"
    stamp = read(name)["stamp"]
    same = stamp["commit"] and not stamp["dirty"] and not _differs(stamp["commit"], name)
    return "fresh" if same else "stale"


def stamp(name: str) -> dict[str, Any]:
    """Commit (with whether the code differs from it), date, machine and versions, for the record of a benchmark."""
    found = environment()
    commit = (found.pop("commit") or "").removesuffix("-dirty") or None
    return {"commit": commit, "dirty": bool(commit and _differs(commit, name)), **found}


def describe(name: str) -> str:
    """A sentence: with which commit, when and where a record was made, and whether it is stale."""
    found = read(name).get("stamp")
    if found is None:
        return f"`{name}`: not recorded yet; `python -m benchmarks {name.replace('_', '-')}` measures it."
    commit = f"commit `{found['commit']}`" if found["commit"] else "commit not recorded"
    if found["dirty"]:
        commit += " with changes"
    machine = f"{found['cpu']}, {found['usable_cores']} cores" if found.get("cpu") else "machine not recorded"
    stale = "; **stale**: the code has changed since" if state(name) == "stale" else ""
    return f"`{name}`: {commit}, {found['date'][:10]}, {machine}{stale}."


class Record(dict[str, Any]):
    """The figures of a benchmark that runs now; they are written when all of them are known.

    Parameters
    ----------
    name : str
        That of the script.
    partial : bool
        Whether arguments ask for something else than the whole benchmark. Nothing is written then: a record holds the
        figures of one run, with one state of the code.
    """

    def __init__(self, name: str, partial: bool = False) -> None:
        super().__init__()
        self.name, self.partial = name, partial

    def save(self) -> None:
        """Write the figures with their stamp."""
        if self.partial:
            print(f"Not recorded: only a run of {self.name} without arguments is.", file=sys.stderr)
            return
        content = {"stamp": stamp(self.name), **self}
        RESULTS.mkdir(exist_ok=True)
        path_of(self.name).write_text(json.dumps(content, indent=1, default=float) + "\n")


def _differs(commit: str, name: str) -> bool:
    """Whether ``src/`` or the script of a benchmark differs from a commit; True if the commit is unknown."""
    scripts = [str(path) for path in (ROOT / "benchmarks").glob(f"*/{name}.py")]
    paths = ["src", ":!src/soft_clustering/_registry.py", *scripts]
    command = ["git", "-C", str(ROOT), "diff", "--quiet", commit, "--", *paths]
    return subprocess.run(command, capture_output=True).returncode != 0
