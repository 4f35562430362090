"""Plain text: tables on standard output, progress on standard error."""

from __future__ import annotations

import math
import os
import sys
import textwrap
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, TextIO

Record = dict[str, Any]


class Column(NamedTuple):
    """A column of records: text, or numbers in a format, which are set to the right."""

    title: str
    name: str
    width: int = 0
    form: str | None = None

    def cell(self, record: Record) -> str:
        """The entry of a record, a dash where it has none."""
        value = record.get(self.name)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "-"
        return str(value) if self.form is None else format(float(value), self.form)

    def set(self, text: str) -> str:
        """A text in this column."""
        width = max(self.width, len(self.title))
        return text.ljust(width) if self.form is None else text.rjust(width)


def heading(columns: Sequence[Column]) -> str:
    """The line of titles."""
    return "  ".join(column.set(column.title) for column in columns).rstrip()


def line(columns: Sequence[Column], record: Record) -> str:
    """The line of a record."""
    return "  ".join(column.set(column.cell(record)) for column in columns).rstrip()


def table(columns: Sequence[Column], records: Sequence[Record]) -> str:
    """A table as wide as its cells; on a terminal, text of the last column goes on in the next line."""
    fitted = [column._replace(width=max([0, *(len(column.cell(record)) for record in records)])) for column in columns]
    indent = sum(max(column.width, len(column.title)) + 2 for column in fitted[:-1])
    lines = [heading(fitted)]
    for record in records:
        lines += wrap(line(fitted, record), indent)
    return "\n".join(lines)


def wrap(text: str, indent: int) -> list[str]:
    """The lines of a text on the terminal; one line where the output goes elsewhere, for other programs to read."""
    width, _ = _size(sys.stdout)
    if not sys.stdout.isatty() or width - indent < 20:
        return [text]
    first, *more = textwrap.wrap(text[indent:], width - indent) or [""]
    return [text[:indent] + first, *(" " * indent + part for part in more)]


def _size(stream: TextIO) -> tuple[int, int]:
    """Columns and lines of a terminal."""
    try:
        width, height = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return (width or 80), (height or 24)


class Progress:
    """Records as they come, on standard error.

    On a terminal a last line counts, and at the end all of it gives way to the table, if it still is on the screen.
    """

    def __init__(self, title: str, columns: Sequence[Column], total: int, done: int) -> None:
        self._columns, self._total, self._done = columns, total, done
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._start = time.monotonic()
        self._printed = 0
        self._print(title)
        if done:
            self._print(f"resuming, {done} of {total} runs are done")
        if done < total:
            self._print(heading(columns))
            self._count()

    def step(self, record: Record) -> None:
        """One more has finished."""
        self._done += 1
        self._print(line(self._columns, record))
        self._count()

    def close(self) -> None:
        """There is no more to come."""
        if self._live:
            up = f"\x1b[{self._printed}A" if self._printed < _size(sys.stderr)[1] else ""
            sys.stderr.write(f"\r{up}\x1b[J")
            sys.stderr.flush()

    def _print(self, text: str) -> None:
        if self._live:
            # a line that goes on in the next one could not be taken away again
            text = "\r\x1b[K" + text[: _size(sys.stderr)[0] - 1]
        print(text, file=sys.stderr)
        self._printed += 1

    def _count(self) -> None:
        if self._live:
            seconds = time.monotonic() - self._start
            text = f"{self._done} of {self._total} runs, {seconds:.0f} s; Ctrl-C ends it and keeps what is finished"
            sys.stderr.write(text[: _size(sys.stderr)[0] - 1])
            sys.stderr.flush()
