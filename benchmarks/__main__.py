"""``python -m benchmarks``: the index; ``all``, ``write`` or the name of a benchmark."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from benchmarks import pages
from benchmarks.index import BENCHMARKS, Benchmark, readme
from benchmarks.lib.records import ROOT, state


def show() -> None:
    """List the benchmarks with the states of their records."""
    for row in BENCHMARKS:
        print(f"{row.folder:9} {row.name:17} {state(row.script):8} {row.minutes:3} min  {row.question}")


def run(benchmark: Benchmark, *arguments: str) -> bool:
    """Run a benchmark in a process of its own; whether it succeeded."""
    return subprocess.run([sys.executable, "-m", benchmark.module, *arguments], cwd=ROOT).returncode == 0


def run_all(folder: str | None) -> None:
    """Run one after the other; a failure does not stop the others."""
    failed = []
    for row in BENCHMARKS:
        if folder in (None, row.folder):
            print(f"\n{row.name}: {row.question} (about {row.minutes} min)", flush=True)
            start = time.perf_counter()
            failed += [] if run(row) else [row.name]
            print(f"{row.name}: {(time.perf_counter() - start) / 60:.1f} min", flush=True)
    write()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def write() -> None:
    """Write what is made from the index and the records."""
    (ROOT / "benchmarks" / "README.md").write_text(readme(), encoding="utf-8")
    path = ROOT / "README.md"
    path.write_text(pages.with_table(path.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Read the command."""
    names = {row.name: row for row in BENCHMARKS}
    if len(sys.argv) == 1:
        return show()
    if sys.argv[1] in names:  # its own arguments follow, --help among them
        sys.exit(not run(names[sys.argv[1]], *sys.argv[2:]))
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar=f"{{all,write,{','.join(names)}}}")
    everything = commands.add_parser("all", help="run all benchmarks, then write")
    everything.add_argument("--only", choices=sorted({row.folder for row in BENCHMARKS}), help="those of a folder")
    commands.add_parser("write", help="write benchmarks/README.md and the table of the README")
    arguments = parser.parse_args()
    return run_all(arguments.only) if arguments.command == "all" else write()


if __name__ == "__main__":
    main()
