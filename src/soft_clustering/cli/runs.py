"""Runs of a benchmark, shown as they finish and kept on disk."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from ..benchmarking.records import Journal, Record
from .errors import CommandError
from .tables import Column, heading, line, terminal_size

#: The widths have room for any model: rows are shown before all of them are known.
MODEL = Column("model", "model", 12)
N_CLUSTERS = Column("K", "n_clusters", 3, ".0f")
ARI = Column("ARI", "ari", 6, ".3f")
NMI = Column("NMI", "nmi", 6, ".3f")
SILHOUETTE = Column("silhouette", "silhouette", 10, ".3f")
XIE_BENI = Column("Xie-Beni", "xie_beni", 8, ".3g")
SECONDS = Column("seconds", "fit_time", 8, ".3f")
STATUS = Column("status", "outcome")


def open_journal(path: str | os.PathLike[str]) -> Journal:
    """Open or make the JSON Lines file of the measurements, and find out now whether it can be written."""
    try:
        journal = Journal(path)
        with open(path, "ab"):
            pass
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}. Give another -o.") from error
    return journal


def outcome_of(record: Record) -> str:
    """Say how a run ended, and why."""
    reason = record["reason"] or record["warnings"]
    return f"{record['status']}: {reason}" if reason else str(record["status"])


class LiveTable:
    """The records as they come, on standard error.

    On a terminal a last line counts them, and in the end all lines are erased to make room for the final table, if they
    are still on the screen.

    Parameters
    ----------
    title : str
        The first line.
    columns : list of Column
        What is shown of each record.
    """

    def __init__(self, title: str, columns: Sequence[Column]) -> None:
        self._title, self._columns = title, columns
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._printed = 0

    def begin(self, total: int, done: int) -> None:
        """Print the title, and the heading unless all runs are done."""
        self._total, self._done = total, done
        self._start = time.monotonic()
        self._print(self._title)
        if done:
            self._print(f"resuming, {done} of {total} runs are done")
        if done < total:
            self._print(heading(self._columns))
            self._count()

    def step(self, record: Record) -> None:
        """Print the line of a run that has just finished."""
        self._done += 1
        self._print(line(self._columns, record | {"outcome": outcome_of(record)}))
        self._count()

    def close(self) -> None:
        """Erase the lines from a terminal."""
        if self._live:
            up = f"\x1b[{self._printed}A" if self._printed < terminal_size(sys.stderr)[1] else ""
            sys.stderr.write(f"\r{up}\x1b[J")
            sys.stderr.flush()

    def _print(self, text: str) -> None:
        if self._live:
            # a line that the terminal wraps could not be erased as one
            text = "\r\x1b[K" + text[: terminal_size(sys.stderr)[0] - 1]
        print(text, file=sys.stderr)
        self._printed += 1

    def _count(self) -> None:
        if self._live:
            seconds = time.monotonic() - self._start
            text = f"{self._done} of {self._total} runs, {seconds:.0f} s; Ctrl-C ends it and keeps what is finished"
            sys.stderr.write(text[: terminal_size(sys.stderr)[0] - 1])
            sys.stderr.flush()
