"""``soft-clustering benchmark``: models on a suite of data sets; it can be stopped and resumed at any time."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ..benchmarking import ClusteringBenchmark, datasets_in_group, summarize
from ..benchmarking.records import Journal, from_line, require_pandas, to_frame
from ..benchmarking.runner import execute_missing
from .errors import INTERRUPTED, CommandError
from .models import models_for
from .runs import ARI, MODEL, NMI, SECONDS, STATUS, LiveTable, open_journal
from .tables import Column, table

_DATASET = Column("data set", "dataset", 22)
_SUMMARY = (
    Column("model", "algorithm"),
    Column("data sets", "datasets", form=".0f"),
    Column("completed", "completed", form=".0f"),
    Column("errors", "errors", form=".0f"),
    Column("skipped", "skipped", form=".0f"),
    Column("mean ARI", "ari", form=".3f"),
    Column("mean NMI", "nmi", form=".3f"),
    Column("mean ms", "mean_time_ms", form=".1f"),
)


def benchmark(args: argparse.Namespace) -> int:
    """Run the command."""
    require_pandas()  # fail before the work, not after it
    path = Path(args.output or f"benchmark-{args.suite}.jsonl")
    if args.fresh:
        _check_removable(path)
    models = {name: model() for name, model in models_for("features", args.models).items()}
    suite = ClusteringBenchmark(models, datasets_in_group(args.suite), time_limit=args.time_limit)
    print(f"reading {len(suite.datasets)} data sets", file=sys.stderr)
    runs = list(suite.plan())
    title = f"{args.suite}: {len(runs)} runs of {len(models)} models; measurements go to {path}"
    if args.fresh:
        path.unlink(missing_ok=True)
    progress = LiveTable(title, (MODEL, _DATASET, ARI, NMI, SECONDS, STATUS))
    finished, interrupted = execute_missing(runs, open_journal(path), args.jobs, progress, stop_at_interrupt=True)

    summary = summarize(to_frame((record for _, record in finished), suite.measurements)) if finished else None
    rows = [] if summary is None else json.loads(summary.to_json(orient="records"))
    if args.json:
        document = {"suite": args.suite, "interrupted": interrupted, "output": str(path), "summary": rows}
        print(json.dumps(document, indent=2))
    else:
        print(f"{args.suite}: {len(finished)} of {len(runs)} runs, means over those that completed; best ARI first\n")
        # no run, or no skipped one: then the summary has no such column
        columns = [column for column in _SUMMARY if column.name != "skipped" or any("skipped" in row for row in rows)]
        print(table(columns, rows))
    if interrupted:
        again = "the same command" + (" without --fresh" if args.fresh else "")
        print(f"interrupted: {len(finished)} of {len(runs)} runs are in {path}; {again} continues", file=sys.stderr)
        return INTERRUPTED
    return 0 if any(record["status"] == "ok" for _, record in finished) else 1


def _check_removable(path: Path) -> None:
    """Refuse a file that no benchmark has written."""
    if not path.exists():
        return
    Journal(path)
    with open(path, "rb") as file:
        first = file.readline()
    if first and not {"environment", "key"} & set(from_line(first)):
        raise CommandError(f"{path} holds no runs of a benchmark, so --fresh does not remove it: give another -o.")
