"""Tables of plain text."""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    from ..benchmarking.records import Record


class Column(NamedTuple):
    """A column of a table of records: text, or numbers in a format, which are aligned to the right."""

    title: str
    name: str
    width: int = 0
    form: str | None = None

    def cell(self, record: Record) -> str:
        """Return the entry of a record as text; a dash if it is missing."""
        value = record.get(self.name)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "-"
        return str(value) if self.form is None else format(float(value), self.form)

    def set(self, text: str) -> str:
        """Pad a text to the width of this column."""
        width = max(self.width, len(self.title))
        return text.ljust(width) if self.form is None else text.rjust(width)


def heading(columns: Sequence[Column]) -> str:
    """Return the line of titles."""
    return "  ".join(column.set(column.title) for column in columns).rstrip()


def line(columns: Sequence[Column], record: Record) -> str:
    """Return the line of a record."""
    return "  ".join(column.set(column.cell(record)) for column in columns).rstrip()


def table(columns: Sequence[Column], records: Sequence[Record]) -> str:
    """Return a table as wide as its cells; on a terminal, long text in the last column is wrapped."""
    fitted = [column._replace(width=max([0, *(len(column.cell(record)) for record in records)])) for column in columns]
    indent = sum(max(column.width, len(column.title)) + 2 for column in fitted[:-1])
    lines = [heading(fitted)]
    for record in records:
        lines += wrap(line(fitted, record), indent)
    return "\n".join(lines)


def wrap(text: str, indent: int) -> list[str]:
    """Wrap a text on a terminal; leave it as one line if the output goes elsewhere, for programs to read."""
    width, _ = terminal_size(sys.stdout)
    if not sys.stdout.isatty() or width - indent < 20:
        return [text]
    first, *more = textwrap.wrap(text[indent:], width - indent) or [""]
    return [text[:indent] + first, *(" " * indent + part for part in more)]


def terminal_size(stream: TextIO) -> tuple[int, int]:
    """Return the numbers of columns and lines of a terminal."""
    try:
        width, height = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return (width or 80), (height or 24)
