"""The content of a file, before it means anything: bytes, text, arrays. No file is unpickled."""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._text import one_line

PathLike = str | os.PathLike[str]

_GZIP = b"\x1f\x8b"
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn all errors of reading a damaged file into one ValueError that names the file."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"{path} is damaged or not what its name says: {one_line(error) or type(error).__name__}"
        ) from error


def suffix_of(path: PathLike) -> str:
    """Return the type of a file by its name, in lower case; ``.gz`` at the end does not count.

    Examples
    --------
    >>> suffix_of("links.TSV.gz")
    '.tsv'
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return "".join([suffix for suffix in suffixes if suffix != ".gz"][-1:])


def read_bytes(path: PathLike) -> bytes:
    """Return the content of a file, decompressed if it is gzipped; raise an error if there is none."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}: check the name and the folder.")
    content = path.read_bytes()
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is damaged: it cannot be decompressed ({one_line(error)}).") from error
    if not content.strip():
        raise ValueError(f"{path} is empty: check that it was saved completely.")
    return content


def decode(content: bytes) -> tuple[str, str | None]:
    """Return a text, and its encoding if it is not UTF-8.

    Examples
    --------
    >>> decode("café".encode("cp1252"))
    ('café', 'cp1252')
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="replace"), None if encoding == "utf-8-sig" else encoding
    try:
        return content.decode(), None
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace"), "cp1252"


def read_text(path: PathLike) -> tuple[str, list[str]]:
    """Return the text of a file, and a note if it is not in UTF-8."""
    text, encoding = decode(read_bytes(path))
    notes = [] if encoding is None else [f"{Path(path).name} is not in UTF-8: it was read as {encoding}."]
    return text, notes


def data_lines(text: str) -> list[str]:
    r"""Return the lines of a text that are neither blank nor comments, which begin with # or %.

    Examples
    --------
    >>> data_lines("# nodes\na b\r\n\nc d")
    ['a b', 'c d']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line for line in lines if line.strip() and line.lstrip(" ")[0] not in "#%"]


def line_number(path: PathLike, line: str) -> int:
    """Return the number of a line of a file, from 1, for an error about it: the first one of equal lines."""
    lines = read_text(path)[0].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines.index(line) + 1


def separator_of(line: str) -> str | None:
    """Return what separates the fields of a line: a tab, a semicolon or a comma; None for blanks.

    Examples
    --------
    >>> separator_of("New York,Boston"), separator_of("1 2")
    (',', None)
    """
    return next((separator for separator in "\t;," if separator in line), None)


def read_npz(path: Path, keys: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return some arrays of an ``.npz`` file; an array of Python objects raises an error."""
    content = path.read_bytes()
    with reading(path):
        _check_sums(content)
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            missing = [key for key in keys if key not in archive.files]
            if missing:
                raise ValueError(f"it has no array {missing[0]!r}, only {archive.files}.")
            return {key: archive[key] for key in keys}


def npz_keys(path: Path) -> list[str]:
    """Return the names of the arrays of an ``.npz`` file."""
    with reading(path), zipfile.ZipFile(path) as members:
        return [name.removesuffix(".npy") for name in members.namelist()]


def _check_sums(content: bytes) -> None:
    # NumPy reads only as far as the header says, so it may never reach the checksum of an altered array.
    with zipfile.ZipFile(BytesIO(content)) as members:
        altered = members.testzip()
    if altered is not None:
        raise ValueError(f"the checksum of {altered!r} does not match.")
