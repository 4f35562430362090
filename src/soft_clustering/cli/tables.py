"""Tables: laid out by rich on a terminal, plain lines elsewhere, for programs to read."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .._extras import require
from .._progress import is_terminal

require("rich", "The tables of the commands need rich")

from rich.console import Console  # noqa: E402, the error must come first
from rich.table import Table  # noqa: E402
from rich.text import Text  # noqa: E402

if TYPE_CHECKING:
    from ..benchmarking.records import Record

#: The least room for the last column of a table; on a narrower terminal the lines are left to it.
_ROOM = 20
#: Between two columns.
_GAP = 2
#: What a run looks like that has no result.
_STYLES = {"ok": "", "degenerate": "yellow", "skipped": "yellow"}


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
    return (" " * _GAP).join(column.set(column.title) for column in columns).rstrip()


def line(columns: Sequence[Column], record: Record) -> str:
    """Return the line of a record."""
    return (" " * _GAP).join(column.set(column.cell(record)) for column in columns).rstrip()


def table(columns: Sequence[Column], records: Sequence[Record]) -> str:
    """Return a table as wide as its cells; on a terminal, long text in the last column is wrapped."""
    fitted = [column._replace(width=max([0, *(len(column.cell(record)) for record in records)])) for column in columns]
    indent = sum(max(column.width, len(column.title)) + _GAP for column in fitted[:-1])
    if not _lays_out(indent):
        return "\n".join([heading(fitted), *(line(fitted, record) for record in records)])
    return _rendered(layout(fitted, records))


def listing(texts: Mapping[str, str], indent: int = 0) -> str:
    """Return lines of a name and a text each; on a terminal, long texts are wrapped."""
    margin, width = " " * indent, max(map(len, texts)) + _GAP
    if not _lays_out(indent + width):
        return "\n".join(f"{margin}{name:<{width}}{text}".rstrip() for name, text in texts.items())
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True, style="bold")
    for name, text in texts.items():
        grid.add_row(Text(margin + name), Text(text))
    return _rendered(grid)


def paragraphs(texts: Iterable[str], indent: int) -> str:
    """Return indented texts, each on a line of its own; on a terminal, long ones are wrapped."""
    margin = " " * indent
    if not _lays_out(indent):
        return "\n".join(margin + text for text in texts)
    grid = Table.grid(padding=0)
    for text in texts:
        grid.add_row(margin, Text(text))
    return _rendered(grid)


def layout(columns: Sequence[Column], records: Sequence[Record]) -> Table:
    """Return a table of rich's; only the last column may be wrapped, and the others are as wide as they must be."""
    grid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for column in columns:
        last = column is columns[-1]
        width = None if last else max(column.width, len(column.title))
        grid.add_column(
            column.title, justify="left" if column.form is None else "right", no_wrap=not last, min_width=width
        )
    for record in records:
        cells = [column.cell(record) for column in columns]
        styles = [
            style_of(text) if column.name == "outcome" else "" for column, text in zip(columns, cells, strict=True)
        ]
        grid.add_row(*(Text(text, style) for text, style in zip(cells, styles, strict=True)))
    return grid


def style_of(outcome: str) -> str:
    """Return the style of rich's for how a run ended."""
    return "yellow" if outcome == "ok, warned" else _STYLES.get(outcome.partition(":")[0], "red")


def _lays_out(indent: int) -> bool:
    return is_terminal(sys.stdout) and _console().width - indent >= _ROOM


def _console() -> Console:
    return Console(file=sys.stdout, highlight=False, force_jupyter=False)


def _rendered(renderable: Table) -> str:
    console = _console()
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().removesuffix("\n")
