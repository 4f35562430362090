"""Documents: a folder of text files, a column of a table, or JSON Lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from ..._extras import require
from .content import PathLike, decode, read_text, suffix_of

if TYPE_CHECKING:
    import pandas

_JSON_LINES = (".jsonl", ".ndjson")


def read_texts(path: PathLike | pandas.DataFrame, text_column: str | None = None) -> Bunch:
    r"""Read texts, one for each document.

    Parameters
    ----------
    path : str, path or data frame
        * A folder: its files ``*.txt``, also those in folders below, in the order of their names. If all of them are in
          folders of their own, these are the classes.
        * A ``.jsonl`` file: a JSON object, or a string, per line; it may be compressed, with ``.gz`` at the end.
        * A data frame with a column of texts.
    text_column : str, default=None
        The column, or key, of the texts. None takes the column whose texts are longest on average, and a note says
        which one.

    Returns
    -------
    documents : Bunch
        ``texts`` : list of str.

        ``names`` : list of str, names of the files or the index of the data frame.

        ``labels`` : ndarray of str, the folders of the files if all are in folders of their own, otherwise None.

        ``frame`` : the data frame, of a table or of JSON objects; otherwise None.

        ``notes`` : list of str, what was recognised, a sentence each.

    Raises
    ------
    FileNotFoundError, ValueError
        In one line, with what to do.

    Notes
    -----
    Files that are not in UTF-8 are read as cp1252, and a note says how many. A missing text counts as an empty one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from soft_clustering.inputs import read_texts
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "b.txt").write_text("stars and planets")
    ...     _ = Path(folder, "a.txt").write_text("salmon and trout")
    ...     documents = read_texts(folder)
    >>> documents.texts, documents.names
    (['salmon and trout', 'stars and planets'], ['a.txt', 'b.txt'])
    """
    if hasattr(path, "columns"):
        return _of_frame(path, text_column, "The table")
    path = Path(path)
    if path.is_dir():
        return _of_folder(path)
    if suffix_of(path) in _JSON_LINES:
        return _of_json_lines(path, text_column)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}: check the name.")
    raise ValueError(
        f"{path} is neither a folder of .txt files nor a .jsonl file: read a table as a data frame, and pass it."
    )


def _of_folder(folder: Path) -> Bunch:
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() == ".txt" and file.is_file())
    if not files:
        raise ValueError(f"{folder} has no files *.txt: name a folder of text files, or a table and its text column.")
    texts, encodings = zip(*[decode(file.read_bytes()) for file in files], strict=True)
    parts = [file.relative_to(folder).parts for file in files]
    labels = np.array([part[0] for part in parts]) if min(map(len, parts)) > 1 else None
    if labels is not None and not 1 < len(np.unique(labels)) < len(labels):
        labels = None
    notes = [f"{folder.name} has {len(files)} texts."]
    if labels is not None:
        notes.append(f"The {len(np.unique(labels))} folders in {folder.name} are the classes.")
    other = [file.name for file, encoding in zip(files, encodings, strict=True) if encoding is not None]
    if other:
        notes.append(f"{len(other)} files are not in UTF-8, such as {other[0]}: they were read as cp1252 or UTF-16.")
    return _documents(list(texts), ["/".join(part) for part in parts], notes, labels=labels)


def _of_json_lines(path: Path, text_column: str | None) -> Bunch:
    text, notes = read_text(path)
    found: list[Any] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, (dict, str)):
            raise ValueError(f"{path} must have a JSON object or string per line: correct line {number}.")
        found.append(value)
    if all(isinstance(value, str) for value in found):
        return _documents(found, [str(i) for i in range(len(found))], [f"{path.name} has {len(found)} texts.", *notes])
    if not all(isinstance(value, dict) for value in found):
        raise ValueError(f"{path} has JSON objects and strings: make all lines objects, or all strings.")
    pandas = require("pandas", "Reading JSON objects needs pandas")
    documents = _of_frame(pandas.DataFrame(found), text_column, path.name)
    documents.notes += notes
    return documents


def _of_frame(frame: Any, text_column: str | None, name: str) -> Bunch:
    notes = []
    if text_column is None:
        text_column = _longest(frame, name)
        notes.append(f"The texts are the column {text_column!r}, the one with the longest texts.")
    elif text_column not in frame.columns:
        raise ValueError(
            f"{name} has no column {text_column!r}: its columns are {', '.join(map(str, frame.columns))[:200]}."
        )
    column = frame[text_column]
    missing = column.isna().to_numpy()
    texts = ["" if gone else value for value, gone in zip(column, missing, strict=True)]
    wrong = next((value for value in texts if not isinstance(value, str)), None)
    if wrong is not None:
        raise ValueError(
            f"The column {text_column!r} must hold texts. Got {wrong!r:.40}: name another column as the text column."
        )
    if missing.any():
        notes.append(f"{int(missing.sum())} texts are missing: they count as empty.")
    names = [str(label) for label in frame.index]
    return _documents(texts, names, [f"{name} has {len(texts)} texts.", *notes], frame=frame)


def _longest(frame: Any, name: str) -> str:
    """Return the column whose texts are longest on average."""
    lengths = {}
    for column in frame.columns:
        known = frame[column].dropna()
        if len(known) and all(isinstance(value, str) for value in known):
            lengths[column] = sum(map(len, known)) / len(known)
    if not lengths:
        raise ValueError(f"{name} has no column of texts: its columns are {', '.join(map(str, frame.columns))[:200]}.")
    longest: str = max(lengths, key=lambda column: lengths[column])
    return longest


def _documents(texts: list[str], names: list[str], notes: list[str], labels: Any = None, frame: Any = None) -> Bunch:
    empty = sum(not text.strip() for text in texts)
    if empty == len(texts):
        raise ValueError(f"All of the {len(texts)} texts are empty: check the files or the name of the text column.")
    if empty:
        notes.append(f"{empty} texts are empty.")
    return Bunch(texts=texts, names=names, labels=labels, frame=frame, notes=notes)
