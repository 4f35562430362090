"""Runs of a benchmark, shown as they finish and kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..benchmarking import runner
from ..benchmarking.records import Journal
from ..benchmarking.runner import Run
from .errors import CommandError
from .tables import Column, Progress, Record

#: Widths that any model has room in: rows are shown before all of them are known.
MODEL = Column("model", "model", 12)
N_CLUSTERS = Column("K", "n_clusters", 3, ".0f")
ARI = Column("ARI", "ari", 6, ".3f")
NMI = Column("NMI", "nmi", 6, ".3f")
SILHOUETTE = Column("silhouette", "silhouette", 10, ".3f")
XIE_BENI = Column("Xie-Beni", "xie_beni", 8, ".3g")
SECONDS = Column("seconds", "fit_time", 8, ".3f")
STATUS = Column("status", "outcome")


def carry_out(
    title: str, runs: Sequence[Run], path: Any, n_jobs: int, columns: Sequence[Column]
) -> tuple[list[tuple[Run, Record]], bool]:
    """Carry out the runs that the file does not hold yet, until Ctrl-C.

    Parameters
    ----------
    title : str
        What to say first.
    runs : list of Run
    path : path
        The JSON Lines file.
    n_jobs : int
        Processes at the same time.
    columns : list of Column
        What to show of a record.

    Returns
    -------
    finished : list of (Run, record)
    interrupted : bool
    """
    try:
        journal, interrupted = Journal(path), False
        with open(path, "ab"):  # now rather than after the first run
            pass
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}. Give another -o.") from error
    progress = Progress(title, columns, len(runs), sum(run.is_done(journal) for run in runs))
    try:
        for record in runner.carry_out(runs, journal, n_jobs):
            progress.step(record | {"outcome": outcome_of(record)})
    except KeyboardInterrupt:
        interrupted = True
        journal = Journal(path)  # exactly what is on disk
    finally:
        progress.close()
    return [(run, journal.records[run.key]) for run in runs if run.key in journal.records], interrupted


def outcome_of(record: Record) -> str:
    """How a run ended, and why."""
    reason = record["reason"] or record["warnings"]
    return f"{record['status']}: {reason}" if reason else str(record["status"])
