"""DATA on the command line: a built-in set or a file of the user."""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import require
from .._text import one_line
from ..datasets import available_datasets, get_dataset
from ..datasets.files import check_name
from ..inputs.files.content import read_npz, reading
from .errors import CommandError, UsageError

if TYPE_CHECKING:
    import pandas

SUFFIXES = (".csv", ".tsv", ".parquet", ".npz")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


class Data(NamedTuple):
    """Features, and classes if there are any."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any] | None
    columns: tuple[str, ...] | None = None  # names of the features
    classes: tuple[str, ...] | None = None  # names of the classes 0, 1, ... in y

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None if there are no classes."""
        return None if self.y is None else len(np.unique(self.y))

    def describe(self) -> str:
        """Say how many rows, features and classes there are."""
        classes = "" if self.y is None else f", {self.n_classes} classes"
        features = "feature" if self.X.shape[1] == 1 else "features"
        return f"{self.name}: {self.X.shape[0]} rows, {self.X.shape[1]} {features}{classes}"


def load(args: argparse.Namespace) -> Data:
    """Load the data that the arguments name."""
    if args.data in available_datasets():
        if args.label_column or args.drop or args.separator or args.header is not None:
            raise UsageError(
                f"{args.data} is a built-in set: --label-column, --drop, --separator and --header are for files. "
                f"A file of that name is ./{args.data}."
            )
        data = Data(args.data, *get_dataset(args.data))
    else:
        path = _existing(args.data)
        frame, y = _read(path, args.separator, args.header)
        data = Data(args.data, *_split(path, frame, y, args.label_column, args.drop))
    if args.standardize:
        from sklearn.preprocessing import StandardScaler

        data = data._replace(name=f"{data.name} (standardized)", X=StandardScaler().fit_transform(data.X))
    return data


def check_n_clusters(data: Data, largest: int) -> None:
    """Raise an error if there are more clusters than rows."""
    if largest > len(data.X):
        raise CommandError(f"-k {largest} is more than the {len(data.X)} rows of {data.name}: give a smaller K.")


def default_n_clusters(data: Data) -> int:
    """Return the number of classes, if it can serve as the number of clusters."""
    if data.n_classes is None:
        raise CommandError(
            f"{data.name} has no classes to count: give the number of clusters, such as -k 3 (compare also takes "
            f"-k 2:10), or the column of classes with --label-column."
        )
    if data.n_classes in (1, len(data.X)):
        raise CommandError(
            f"{data.name} has {data.n_classes} classes for {len(data.X)} rows, which cannot serve as the number "
            f"of clusters: give one, such as -k 3."
        )
    return data.n_classes


# Files ----------------------------------------------------------------------------------------------------------------


def _existing(name: str) -> Path:
    """Return the file of that name; raise an error if it cannot be read or its type is unknown."""
    path = Path(name)
    if path.is_dir():
        raise CommandError(f"{name} is a folder: name a file in it.")
    try:
        with open(path, "rb"):
            pass
    except FileNotFoundError:
        if path.suffix:
            raise CommandError(f"There is no file {name}: check the name and the folder.") from None
        check_name(name, available_datasets(), "file or data set")
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
    if suffix_of(path) not in SUFFIXES:
        raise CommandError(f"{name} does not end in one of {', '.join(SUFFIXES)}: save it as one of these types.")
    return path


def suffix_of(path: Path) -> str:
    """Return the type of a file by its name; a text file may be compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"] and suffixes[-2:-1] in ([".csv"], [".tsv"]):
        return suffixes[-2]
    return "".join(suffixes[-1:])


def require_pandas() -> Any:
    """Return the module pandas, or raise an error that says what to install."""
    return require("pandas", "Reading and writing tables needs pandas")


def require_pyarrow() -> None:
    """Raise an error that says what to install if Parquet files cannot be read."""
    require("pyarrow", "Parquet files need pyarrow")


def _read(path: Path, separator: str | None, header: bool | None) -> tuple[pandas.DataFrame, NDArray[Any] | None]:
    """Return a data frame whose column names are strings, and the classes if an ``.npz`` file has them."""
    pandas = require_pandas()
    suffix, y = suffix_of(path), None
    if suffix in _SEPARATORS:
        frame = _read_text(path, separator or _SEPARATORS[suffix], header)
    elif separator or header is not None:
        raise UsageError(f"--separator and --header are for .csv and .tsv files, not for {path}.")
    elif suffix == ".parquet":
        require_pyarrow()
        with reading(path):
            frame = pandas.read_parquet(path, engine="pyarrow")
    else:
        with reading(path), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        arrays = read_npz(path, ["X", "y"] if "y.npy" in names else ["X"])
        X, y = arrays["X"], arrays.get("y")
        if X.ndim != 2 or (y is not None and y.shape != X.shape[:1]):
            shapes = f"{X.shape}" if y is None else f"{X.shape} and {y.shape}"
            raise CommandError(f"{path}: X must have shape (n, d) and y, if any, (n,). Got {shapes}.")
        frame = pandas.DataFrame(X)
    frame.columns = [str(name) for name in frame.columns]
    if len(frame) < 2:
        raise CommandError(f"{path} has {len(frame)} rows of data: at least 2 are needed.")
    return frame, y


def _read_text(path: Path, separator: str, header: bool | None) -> pandas.DataFrame:
    pandas = require_pandas()
    if len(separator) != 1:
        raise UsageError(f"--separator must be one character. Got {separator!r} instead.")
    options = {"sep": separator, "encoding": "utf-8", "low_memory": False}
    try:
        first = pandas.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **options)
        names = [str(name).strip() for name in first.iloc[0]]
        if header is None:
            header = _are_names(names)
            if not header:
                _say(f"{path} has no row of names, its columns are 0 to {len(names) - 1}; if it has one, use --header")
        frame = pandas.read_csv(path, header=0 if header else None, skipinitialspace=True, **options)
    except pandas.errors.EmptyDataError:
        raise CommandError(f"{path} is empty.") from None
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not text in UTF-8 ({error.reason}): save it in this encoding.") from error
    except Exception as error:  # pandas raises many types of errors for text that is not a table
        raise CommandError(f"{path} is not a table of cells separated by {separator!r}: {one_line(error)}") from error
    if header and not names[0] and frame.shape[1] == len(names) > 1:
        frame = frame.drop(columns=frame.columns[0])  # pandas and R write the row numbers there
        _say(f"{path}: the first column has no name and is taken as the numbers of the rows, not as a feature")
    if frame.shape[1] == 1 and not _is_numeric(frame.iloc[:, 0]):
        text = f"{frame.columns[0]}\n{frame.iloc[0, 0] if len(frame) else ''}".strip()
        other = next((character for character in ";\t|,: " if character in text and character != separator), "")
        hint = f"if {other!r} separates the cells, say so with --separator" if other else "it needs numbers to cluster"
        raise CommandError(f"{path} has a single column, and it is text: {hint}.")
    return frame


def _say(note: str) -> None:
    print(f"soft-clustering: {note}", file=sys.stderr)


def _are_names(cells: list[str]) -> bool:
    """Whether the first row holds names: no cell is a number, or they are 0, 1, 2, ..., as pandas writes them."""
    named = cells[1:] if len(cells) > 1 and not cells[0] else cells
    return not any(map(_is_number, named)) or named == [str(i) for i in range(len(named))]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# Columns --------------------------------------------------------------------------------------------------------------


def _split(
    path: Path, frame: pandas.DataFrame, y: NDArray[Any] | None, label_column: str | None, drop: list[str]
) -> tuple[NDArray[np.float64], NDArray[Any] | None, tuple[str, ...], tuple[str, ...] | None]:
    """Return the features, the classes, and the names of both."""
    classes = None
    dropped = [_position(frame, name, "--drop") for name in drop]
    if label_column is not None:
        position = _position(frame, label_column, "--label-column")
        dropped.append(position)
        y, classes = _classes(frame.iloc[:, position], path)
    features = frame.iloc[:, [i for i in range(frame.shape[1]) if i not in dropped]]
    if features.shape[1] == 0:
        raise CommandError(f"{path} has no column left that could be a feature.")
    _check_numeric(features, path)
    X = features.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = (~np.isfinite(X)).sum(axis=0)
    if bad.any():
        found = _names(f"{name} ({n})" for name, n in zip(features.columns, bad, strict=True) if n)
        raise CommandError(
            f"{path} has missing or infinite values, in columns {found}: fill them in, remove those rows, or leave the "
            f"columns out with --drop."
        )
    return np.ascontiguousarray(X), y, tuple(map(str, features.columns)), classes


def _position(frame: pandas.DataFrame, name: str, option: str) -> int:
    """Return the position of a column by its name, or else by its number; -1 is the last."""
    names = list(frame.columns)
    is_number = name.removeprefix("-").isdecimal()
    if name not in names and is_number and -len(names) <= int(name) < len(names):
        return int(name) % len(names)
    check_name(name, names, f"column of {option}")
    return names.index(name)


def _classes(column: pandas.Series, path: Path) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the number of each row's class, and the names of the classes."""
    missing = int(column.isna().sum())
    if missing:
        raise CommandError(
            f"{path} has {missing} missing values in the column of classes, {column.name}: fill them in or remove "
            f"those rows."
        )
    codes, names = require_pandas().factorize(column)
    return codes, tuple(map(str, names))


def _is_numeric(column: pandas.Series) -> bool:
    types = require_pandas().api.types
    return bool(types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype))


def _check_numeric(features: pandas.DataFrame, path: Path) -> None:
    texts = [i for i in range(features.shape[1]) if not _is_numeric(features.iloc[:, i])]
    if not texts:
        return
    column = features.iloc[:, texts[0]]
    numbers = require_pandas().to_numeric(column.astype(str), errors="coerce")
    row = int(np.argmax((numbers.isna() & column.notna()).to_numpy()))
    cell = one_line(column.iloc[row])[:40]
    raise CommandError(
        f"{path} has columns that are not numeric, {_names(features.columns[texts])} ({cell!r} in row {row + 1} of "
        f"{column.name}): correct it, name the column of classes with --label-column, or leave columns out with --drop."
    )


def _names(names: Iterable[str]) -> str:
    """Join the first five names, and say how many more there are."""
    known = list(names)
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""
    return ", ".join(known[:5]) + more
