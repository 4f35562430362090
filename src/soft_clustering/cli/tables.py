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
    width, _ = terminal_size(sys.stdout)
    if not sys.stdout.isatty() or width - indent < 20:
        return [text]
    first, *more = textwrap.wrap(text[indent:], width - indent) or [""]
    return [text[:indent] + first, *(" " * indent + part for part in more)]


def terminal_size(stream: TextIO) -> tuple[int, int]:
    """Columns and lines of a terminal."""
    try:
        width, height = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 80, 24
    return (width or 80), (height or 24)
