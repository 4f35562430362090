"""Tables that are text: which characters they are written in, and what separates their cells."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections import Counter
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ..._extras import require
from ..._text import one_line
from ..cells import is_number, number_pattern, numbers_of, texts_of

if TYPE_CHECKING:
    import pandas

#: The separator that the end of a name promises; another one is recognised and told.
PROMISED = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
#: What may separate cells. Of several that fit equally well the first is taken.
_SEPARATORS = ("\t", ";", "|", ",", " ")
_HEAD = 2**18  # bytes that are looked at to recognise a file
_ROWS = 200  # rows of them
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # it begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Delimited(NamedTuple):
    """How a table is written as text."""

    encoding: str
    separator: str
    decimal: str
    names: tuple[str, ...]  # the cells of its first row
    notes: list[str]


def recognise(path: Path, suffix: str, separator: str | None, decimal: str | None, encoding: str | None) -> Delimited:
    """Return how a file is written; what is given is not looked for."""
    notes = []
    if encoding is None:
        encoding, note = encoding_of(path)
        notes += [note] if note else []
    text, complete = _head_of(path, encoding)
    if not text.strip():
        raise ValueError(f"{path} is empty.")
    told = []
    if separator is None:
        separator = _separator_of(text, complete, PROMISED[suffix])
        if separator != PROMISED[suffix]:
            told.append(f"cells are separated by {_name(separator)} (--separator)")
    rows = _rows_of(text, complete, separator) or [[""]]
    if decimal is None:
        decimal = _decimal_of(rows, separator)
        if decimal == ",":
            told.append("the decimal mark is a comma (--decimal)")
    if told:
        notes.append(f"{path}: {' and '.join(told)}")
    return Delimited(encoding, separator, decimal, tuple(cell.strip() for cell in rows[0]), notes)


def read_delimited(path: Path, form: Delimited, header: bool | None) -> tuple[pandas.DataFrame, list[str]]:
    """Return the table and what there is to say about its names."""
    pandas = require("pandas", "Reading and writing tables needs pandas")
    names, notes = list(form.names), []
    if header is None:
        header = _are_names(names)
        if not header:
            notes.append(
                f"{path} has no row of names, its columns are 0 to {len(names) - 1}; if it has one, use --header"
            )
    # before 3.1, pandas rounds the last digit unless it is asked not to; since then it is asked no more
    exact = {"float_precision": "round_trip"} if pandas.__version__ < "3.1" else {}
    try:
        frame = pandas.read_csv(
            path,
            sep=r"\s+" if form.separator == " " else form.separator,
            decimal=form.decimal,
            encoding=form.encoding,
            header=0 if header else None,
            skipinitialspace=True,
            low_memory=False,
            **exact,
        )
    except pandas.errors.EmptyDataError:
        raise ValueError(f"{path} is empty.") from None
    except UnicodeError as error:
        raise ValueError(f"{path} is not text in {form.encoding}: give its --encoding. ({one_line(error)})") from error
    except Exception as error:  # pandas raises many types of errors for text that is not a table
        raise ValueError(
            f"{path} is not a table of cells separated by {form.separator!r}: {one_line(error)} (--separator gives "
            "another one)"
        ) from error
    unnamed = bool(header) and not names[0] and frame.shape[1] == len(names) > 1
    if unnamed:
        frame = frame.drop(columns=frame.columns[0])  # pandas and R write the row numbers there
    if unnamed or not isinstance(frame.index, pandas.RangeIndex):
        notes.append(f"{path}: the first column has no name and is taken as the numbers of the rows, not as a feature")
        frame = frame.reset_index(drop=True)
    if form.decimal == ",":
        _read_thousands(frame)
    return frame, notes


# Characters -----------------------------------------------------------------------------------------------------------


def encoding_of(path: Path) -> tuple[str, str]:
    """Return the encoding of a text, and what there is to say about it."""
    with open_bytes(path) as file:
        head = file.read(_HEAD)
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if marked is not None:
        return marked, "" if marked == "utf-8-sig" else f"{path} is written in {marked.upper()} (--encoding)"
    if b"\0" in head:
        for name, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
            if head[offset::2].count(0) > 0.3 * len(head[offset::2]) and head[1 - offset :: 2].count(0) == 0:
                return name, f"{path} is written in {name.upper()} (--encoding)"
        raise ValueError(f"{path} is not text, it has zero bytes: check its type, or give its --encoding.")
    if _decodes(path, "utf-8"):
        return "utf-8", ""
    if _decodes(path, "cp1252"):
        return "cp1252", f"{path} is not written in UTF-8 and is read as cp1252, Western European (--encoding)"
    raise ValueError(f"{path} is not text in UTF-8 or cp1252: check its type, or give its --encoding.")


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file that may be compressed by gzip."""
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else open(path, "rb")


def _decodes(path: Path, encoding: str) -> bool:
    """Whether all of a file is text in this encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with open_bytes(path) as file:
        try:
            while chunk := file.read(2**20):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _head_of(path: Path, encoding: str) -> tuple[str, bool]:
    """Return the beginning of a text, and whether it is all of it."""
    with open_bytes(path) as file:
        head = file.read(_HEAD)
        complete = not file.read(1)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, final=complete)
    except LookupError:
        raise ValueError(f"Unknown encoding {encoding!r}: give one that Python knows, such as cp1252.") from None
    except UnicodeError as error:
        raise ValueError(f"{path} is not text in {encoding}: give its --encoding. ({one_line(error)})") from error
    return text, complete


# Cells ----------------------------------------------------------------------------------------------------------------


def _rows_of(text: str, complete: bool, separator: str) -> list[list[str]]:
    """Return the cells of the first rows. The last row of a part of a file may be cut, so it does not count."""
    lines = text.splitlines(keepends=True)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=separator, skipinitialspace=True):
            if any(cell.strip() for cell in row):
                rows.append([cell for cell in row if cell.strip()] if separator == " " else row)
            if len(rows) > _ROWS:
                return rows[:-1]
    except csv.Error:  # such as a cell that is too long
        pass
    return rows if complete or len(rows) < 2 else rows[:-1]


def _separator_of(text: str, complete: bool, promised: str) -> str:
    """Return what separates the cells: it splits most rows alike, into cells that are numbers if possible."""
    ranking = {}
    for separator in _SEPARATORS:
        rows = _rows_of(text, complete, separator)
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        alike = count / max(len(rows), 1)
        # sentences have spaces, too: only rows that are all alike are cells separated by spaces
        if width > 1 and (separator != " " or alike == 1.0):
            cells = [cell.strip() for row in rows for cell in row]
            ranking[separator] = (alike, sum(map(is_number, cells)) / len(cells), separator == promised)
    return max(ranking, key=lambda separator: ranking[separator]) if ranking else promised


def _decimal_of(rows: list[list[str]], separator: str) -> str:
    """Return the decimal mark: a comma if some cells are numbers only by a comma, and none only by a point."""
    if separator == ",":
        return "."
    point, comma = re.compile(number_pattern(".")), re.compile(number_pattern(","))
    votes = Counter(
        (bool(point.fullmatch(cell.strip())), bool(comma.fullmatch(cell.strip())))
        for row in rows
        for cell in row
        if "," in cell or "." in cell
    )
    if votes[False, True]:
        return "," if votes[False, True] > votes[True, False] else "."
    # 1,234 may be either; people write semicolons between cells because the comma is their decimal mark
    ambiguous = any(
        cell.count(",") == 1 and "." not in cell and is_number(cell.strip()) for row in rows for cell in row
    )
    return "," if separator == ";" and ambiguous and not votes[True, False] else "."


def _are_names(cells: list[str]) -> bool:
    """Whether the first row holds names: no cell is a number, or they are 0, 1, 2, ..., as pandas writes them."""
    named = cells[1:] if len(cells) > 1 and not cells[0] else cells
    return not any(map(is_number, named)) or named == [str(i) for i in range(len(named))]


def _read_thousands(frame: pandas.DataFrame) -> None:
    """Turn columns of numbers such as 1.234,5, which pandas leaves as text, into numbers."""
    types = require("pandas", "Reading and writing tables needs pandas").api.types
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype):
            continue
        texts = texts_of(column)
        numbers = numbers_of(texts, ",")
        if texts.notna().any() and np.isfinite(numbers[texts.notna().to_numpy()]).all():
            frame.isetitem(position, numbers)


def _name(separator: str) -> str:
    return {"\t": "tabs", " ": "spaces"}.get(separator, repr(separator))
