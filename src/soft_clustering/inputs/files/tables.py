"""Tables in files: text with any separator, Parquet, Feather, Excel, JSON Lines, NumPy archives."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..._extras import require
from ..._text import one_line
from .content import read_npz, reading
from .delimited import PROMISED, encoding_of, open_bytes, read_delimited, recognise

if TYPE_CHECKING:
    import pandas

#: The types of tables; those before Parquet may be compressed by gzip.
SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".feather", ".xlsx", ".npz")
_COMPRESSIBLE = SUFFIXES[: SUFFIXES.index(".parquet")]
#: The types of files that an option is for.
OPTIONS = {
    "separator": tuple(PROMISED),
    "decimal": tuple(PROMISED),
    "encoding": _COMPRESSIBLE,
    "header": (*PROMISED, ".xlsx"),
}


def read_table(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> pandas.DataFrame:
    r"""Read a table from a file; what is not given is recognised.

    Parameters
    ----------
    path : str or path
        The end of its name tells the type: ``.csv``, ``.tsv``, ``.txt``, ``.jsonl`` and ``.ndjson``, each also with
        ``.gz``; ``.parquet``, ``.feather``, ``.xlsx`` (the first sheet) and ``.npz`` (an array X, and y if there are
        classes; it is never unpickled).
    separator : str, default=None
        The character between cells of a text: one that splits all rows alike, of comma, semicolon, tab, ``|`` and
        space.
    decimal : {'.', ','}, default=None
        The decimal mark of a text. A comma is recognised if it does not separate the cells.
    encoding : str, default=None
        The encoding of a text: UTF-8, UTF-16, or else cp1252.
    header : bool, default=None
        Whether the first row of a text or a sheet holds names: it does if none of its cells is a number.

    Returns
    -------
    frame : pandas.DataFrame
        Its columns have str names. ``frame.attrs["notes"]`` lists in sentences what was recognised, and
        ``frame.attrs["label_column"]`` is ``"y"`` if the file says that this column holds classes, otherwise None.

    See Also
    --------
    soft_clustering.prepare : make features of the columns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from soft_clustering.inputs.files.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "prices.csv")
    ...     _ = path.write_text("city;price\nRome;1.250,5\nOslo;980\n")
    ...     frame = read_table(path)
    >>> frame
       city   price
    0  Rome  1250.5
    1  Oslo   980.0
    >>> frame.attrs["notes"][0].partition(": ")[2]
    "cells are separated by ';' (--separator) and the decimal mark is a comma (--decimal)"
    """
    pandas = require("pandas", "Reading and writing tables needs pandas")
    path = Path(path)
    suffix = table_suffix(path)
    _check_options(path, suffix, separator, decimal, encoding, header)
    notes: list[str] = []
    label_column = None
    if suffix in PROMISED:
        with _decompressing(path):
            form = recognise(path, suffix, separator, decimal, encoding)
            frame, more = read_delimited(path, form, header)
        notes = [*form.notes, *more]
    elif suffix in (".jsonl", ".ndjson"):
        with _decompressing(path):
            frame, notes = _read_json_lines(path, encoding)
    elif suffix == ".xlsx":
        frame, notes = _read_sheet(path, header)
    elif suffix == ".npz":
        frame = _read_arrays(path)
        label_column = "y" if "y" in frame.columns else None
    else:
        kind = {".parquet": "Parquet", ".feather": "Feather"}[suffix]
        require("pyarrow", f"{kind} files need pyarrow")
        with reading(path):
            frame = pandas.read_parquet(path, engine="pyarrow") if kind == "Parquet" else pandas.read_feather(path)
    frame.columns = _named(frame)
    frame.attrs = {"notes": notes, "label_column": label_column}
    return frame


def table_suffix(path: Path) -> str:
    """Return the type of a table by its name; that of a text may be followed by ``.gz``.

    Examples
    --------
    >>> table_suffix(Path("a.b.TSV.gz")), table_suffix(Path("a.parquet"))
    ('.tsv', '.parquet')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"] and suffixes[-2:-1] and suffixes[-2] in _COMPRESSIBLE:
        return suffixes[-2]
    return "".join(suffixes[-1:])


def _check_options(
    path: Path, suffix: str, separator: str | None, decimal: str | None, encoding: str | None, header: bool | None
) -> None:
    if suffix not in SUFFIXES:
        raise ValueError(f"{path} does not end in one of {', '.join(SUFFIXES)}: save it as one of these types.")
    if separator is not None and len(separator) != 1:
        raise ValueError(f"separator must be one character. Got {separator!r} instead.")
    if decimal is not None and decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ','. Got {decimal!r} instead.")
    if decimal is not None and decimal == separator:
        raise ValueError(f"separator and decimal cannot both be {decimal!r}: give another separator.")
    given = {"separator": separator, "decimal": decimal, "encoding": encoding, "header": header}
    for name, suffixes in OPTIONS.items():
        if given[name] is not None and suffix not in suffixes:
            raise ValueError(f"{name} is for files {', '.join(suffixes)}, not for {path}: leave it out.")


@contextmanager
def _decompressing(path: Path) -> Iterator[None]:
    """Turn errors of a damaged compressed file into one that names the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged or not compressed by gzip: {one_line(error)}") from error


def _named(frame: pandas.DataFrame) -> list[str]:
    """Return the names of the columns as text, without spaces around them if they stay different."""
    names = [str(name) for name in frame.columns]
    stripped = [name.strip() for name in names]
    return stripped if len(set(stripped)) == len(names) and all(stripped) else names


# Types of files -------------------------------------------------------------------------------------------------------


def _read_json_lines(path: Path, encoding: str | None) -> tuple[pandas.DataFrame, list[str]]:
    """Return a row per line, which holds an object: names and values."""
    note = ""
    if encoding is None:
        encoding, note = encoding_of(path)
    with open_bytes(path) as file:
        try:
            lines = file.read().decode(encoding).split("\n")
        except (UnicodeError, LookupError) as error:
            raise ValueError(f"{path} is not text in {encoding}: give its --encoding. ({one_line(error)})") from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path} is not JSON Lines: line {number}: {one_line(error)}.") from error
        if not isinstance(row, dict):
            raise ValueError(f'{path} is not a table: line {number} must be a JSON object such as {{"age": 31}}.')
        rows.append(row)
    if not rows:
        raise ValueError(f"{path} is empty.")
    return require("pandas", "Reading and writing tables needs pandas").DataFrame(rows), [note] if note else []


def _read_sheet(path: Path, header: bool | None) -> tuple[pandas.DataFrame, list[str]]:
    """Return the first sheet of a workbook."""
    pandas = require("pandas", "Reading and writing tables needs pandas")
    require("openpyxl", "Excel files need openpyxl")
    with reading(path), pandas.ExcelFile(path, engine="openpyxl") as book:
        sheets = book.sheet_names
        cells = pandas.read_excel(book, sheet_name=sheets[0], header=None)
    if cells.empty:
        raise ValueError(f"{path} is empty: its first sheet, {sheets[0]}, has no cells.")
    notes = [] if len(sheets) == 1 else [f"{path} has {len(sheets)} sheets, the first is read: {sheets[0]}"]
    first = cells.iloc[0]
    if header is None:
        header = not any(isinstance(cell, int | float) and not pandas.isna(cell) for cell in first)
        if not header:
            notes.append(
                f"{path} has no row of names, its columns are 0 to {len(first) - 1}; if it has one, use --header"
            )
    if header:
        names = [f"Unnamed: {i}" if pandas.isna(name) else str(name) for i, name in enumerate(first)]
        counted = [f"{name}.{names[:i].count(name)}" if name in names[:i] else name for i, name in enumerate(names)]
        cells = cells.iloc[1:].reset_index(drop=True).set_axis(counted, axis=1)
    return cells.infer_objects(), notes


def _read_arrays(path: Path) -> pandas.DataFrame:
    """Return the array X of an archive, and its array y as one more column."""
    with reading(path), zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    arrays = read_npz(path, ["X", "y"] if "y.npy" in names else ["X"])
    X, y = arrays["X"], arrays.get("y")
    if X.ndim != 2 or (y is not None and y.shape != X.shape[:1]):
        shapes = f"{X.shape}" if y is None else f"{X.shape} and {y.shape}"
        raise ValueError(f"{path}: X must have shape (n, d) and y, if any, (n,). Got {shapes}.")
    frame: pandas.DataFrame = require("pandas", "Reading and writing tables needs pandas").DataFrame(X)
    frame.columns = frame.columns.astype(str)
    return frame if y is None else frame.assign(y=y)
