"""Runs of a benchmark, shown as they finish and kept on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._progress import bar_of, live_console
from ..benchmarking.records import Journal, Record
from .errors import CommandError
from .tables import Column, heading, line, style_of

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

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
    remarks = "; ".join(filter(None, (record["reason"], record["warnings"])))
    return f"{record['status']}: {remarks}" if remarks else str(record["status"])


class LiveTable:
    """The records as they come, on standard error.

    On a terminal this is a table of those that fit, with a bar that shows the rate and the time left. It vanishes in
    the end, to make room for the final table. Elsewhere it is a line for each record.

    Parameters
    ----------
    title : str
        The first line.
    columns : list of Column
        What is shown of each record.
    """

    def __init__(self, title: str, columns: Sequence[Column]) -> None:
        self._title, self._columns = title, columns
        self._rows: list[Record] = []
        self._live: Live | None = None

    def begin(self, total: int, done: int) -> None:
        """Show the title, and the heading unless all runs are done."""
        resumed = [f"resuming, {done} of {total} runs are done"] if done else []
        console = live_console(sys.stderr)
        if console is None:
            more = [heading(self._columns)] if done < total else []
            print("\n".join([self._title, *resumed, *more]), file=sys.stderr)
            return
        from rich.live import Live

        self._console = console
        self._bar = bar_of(console, "runs", "Ctrl-C ends it and keeps what is finished")
        self._task = self._bar.add_task("", total=total, completed=done, begun=done)
        self._above = [self._title, *resumed]
        self._live = Live(get_renderable=self._screen, console=console, transient=True)
        self._live.start()

    def step(self, record: Record) -> None:
        """Show a run that has just finished."""
        row = record | {"outcome": outcome_of(record)}
        if self._live is None:
            print(line(self._columns, row), file=sys.stderr)
            return
        self._rows.append(row)
        self._bar.advance(self._task)
        self._live.refresh()

    def close(self) -> None:
        """Remove it from a terminal."""
        if self._live is not None:
            self._live.stop()

    def _screen(self) -> Group:
        """What the terminal shows; no line is wrapped, so that the height is known."""
        from rich.console import Group
        from rich.text import Text

        room = max(0, self._console.height - len(self._above) - 3)
        rows = [Text(line(self._columns, row), style_of(row["outcome"])) for row in self._rows[-room:] if room]
        texts = [*map(Text, self._above), Text(heading(self._columns), "bold"), *rows]
        for text in texts:
            text.truncate(self._console.width - 1)
        return Group(*texts, self._bar)
