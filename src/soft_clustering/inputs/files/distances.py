"""Files of distances between all pairs of samples."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from ..._types import Array
from ..pairwise import check_dissimilarities
from .content import PathLike, data_lines, npz_keys, read_bytes, read_npz, read_text, reading, separator_of, suffix_of
from .graphs import is_number

_KEYS = ("distances", "dissimilarities", "D", "X")


def read_distances(path: PathLike) -> Bunch:
    r"""Read a square matrix of distances.

    Parameters
    ----------
    path : str or path
        * ``.csv``, ``.tsv``, ``.txt``: a row per line, separated by commas, semicolons, tabs or blanks, with or without
          a first line and a first column of names; numbers with a decimal comma if semicolons separate them. It may be
          compressed, with ``.gz`` at the end.
        * ``.npz``: an array ``distances``, ``dissimilarities``, ``D`` or ``X``, or a single array; ``names`` if it has
          them. ``.npy``: the array. Nothing is unpickled.

    Returns
    -------
    found : Bunch
        ``distances`` : ndarray of shape (n, n), float64: symmetric, >= 0, with a zero diagonal.

        ``names`` : list of str, of the samples, or None.

        ``notes`` : list of str, what was recognised, a sentence each.

    Raises
    ------
    FileNotFoundError, ValueError
        In one line, with what to do: if the matrix is not square, not finite, has negative entries or a diagonal that
        is not zero, or if it is not symmetric. Differences of up to 1e-6 times the largest entry count as rounding.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from soft_clustering.inputs import read_distances
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "cities.csv")
    ...     _ = path.write_text(",Bern,Basel\nBern,0,70\nBasel,70,0\n")
    ...     found = read_distances(path)
    >>> found.names, found.distances[0]
    (['Bern', 'Basel'], array([ 0., 70.]))
    """
    path, suffix = Path(path), suffix_of(path)
    notes: list[str] = []
    if suffix in (".npz", ".npy"):
        D, names = _of_arrays(path, suffix)
    elif suffix in (".csv", ".tsv", ".txt"):
        D, names = _of_text(path, notes)
    else:
        raise ValueError(f"{path} does not end in .csv, .tsv, .txt, .npz or .npy: save the distances as one of these.")
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"{path} has shape {D.shape}: distances are a square matrix, a row and a column per sample.")
    if len(D) < 2:
        raise ValueError(f"{path} has one sample: distances need at least 2.")
    if not np.isfinite(D).all():
        row, column = np.argwhere(~np.isfinite(D))[0]
        raise ValueError(f"{path} has no number in row {row + 1}, column {column + 1} of the distances: fill it in.")
    if (D.diagonal() > 0).all() and D.max() == D.diagonal().min():
        raise ValueError(
            f"{path} has its largest entries, {D.max():g}, on the diagonal, like similarities: pass distances, such as "
            f"{D.max():g} minus them."
        )
    try:
        check_dissimilarities(D, square=True)
    except ValueError as error:
        complaint = str(error).replace(" for metric='precomputed'", "")
        raise ValueError(f"{path} does not hold distances: {complaint}") from error
    if not np.array_equal(D, D.T) or D.diagonal().any():
        notes.append("The matrix is symmetric up to rounding: the mean of both directions is taken.")
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    what = f"{path.name} holds the distances of {len(D)} samples{'' if names is None else ', with their names'}."
    return Bunch(distances=D, names=names, notes=[what, *notes])


def _of_arrays(path: Path, suffix: str) -> tuple[Array, list[str] | None]:
    read_bytes(path)  # raises an error if there is no such file
    if suffix == ".npy":
        with reading(path):
            return np.load(path, allow_pickle=False).astype(np.float64), None
    keys = npz_keys(path)
    key = next((key for key in _KEYS if key in keys), keys[0] if len(keys) == 1 else None)
    if key is None:
        raise ValueError(f"{path} has the arrays {', '.join(keys)[:80]}: name the distances 'distances'.")
    arrays = read_npz(path, [key, "names"] if "names" in keys else [key])
    with reading(path):
        D = arrays[key].astype(np.float64)
    names = [str(name) for name in arrays["names"]] if "names" in arrays else None
    if names is not None and len(names) != len(D):
        raise ValueError(f"{path} has {len(names)} names for {len(D)} rows of distances: correct the names.")
    return D, names


def _of_text(path: Path, notes: list[str]) -> tuple[Array, list[str] | None]:
    text, other = read_text(path)
    notes += other
    lines = data_lines(text)
    if not lines:
        raise ValueError(f"{path} has only comments: distances are a row per line.")
    separator = separator_of(lines[-1])
    if separator == ";" and "," in lines[-1]:
        notes.append("Numbers have a decimal comma.")
        lines = [line.replace(",", ".") for line in lines]
    first, last = (_fields(line, separator) for line in (lines[0], lines[-1]))
    square = len(lines) == len(last)
    short = len(first) == len(last) - 1  # a first line without a corner, as R writes it
    corner = not first[0] or (square and _is_word(first[0]))
    header = short or corner or any(map(_is_word, first[1:]))
    named = short or _is_word(last[0]) or (header and square)
    body = lines[1:] if header else lines
    if not body:
        raise ValueError(f"{path} has one line, and it is not of numbers: distances are a square matrix.")
    rows = [_fields(line, separator) for line in body] if named else []
    names = [row[0] for row in rows] if named else first if header else None
    if names is not None and header and named:
        heads = first if short else first[1:]
        if heads != names:
            raise ValueError(f"{path} has other names in its first line than in its first column: make them the same.")
    try:
        columns = range(1, len(last)) if named else None
        D = np.loadtxt(body, delimiter=separator, usecols=columns, ndmin=2, comments=None, quotechar='"')
    except ValueError as error:
        raise ValueError(f"{path} is not a matrix of numbers: {_plain(error)}") from None
    if any(len(row) != len(last) for row in rows):
        raise ValueError(f"{path} has lines of different length: distances are a square matrix.")
    return D, names


def _is_word(field: str) -> bool:
    return bool(field) and not is_number(field)


def _fields(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    return [field.strip() for field in next(csv.reader([line], delimiter=separator))]


def _plain(error: ValueError) -> str:
    """Return NumPy's sentence without its second half, which is about its own arguments."""
    return str(error).split(";")[0].rstrip(".") + "."
