"""DATA on the command line: a built-in set, or a file of the user, of any kind."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._extras import require
from .._text import one_line
from ..datasets import available_datasets, get_dataset
from ..inputs.features import with_medians
from ..inputs.files.content import npz_keys
from ..inputs.files.graphs import GRAPH_SUFFIXES
from ..inputs.files.images import IMAGE_SUFFIXES
from ..inputs.files.tables import OPTIONS, SUFFIXES, read_table, table_suffix
from .errors import CommandError, UsageError, known_name, matching, say

if TYPE_CHECKING:
    import pandas
    from sklearn.utils import Bunch

    from ..preparation import Preparation

#: The options that are for some kinds of data only.
_OPTIONS = {
    "id": ("features", "documents"),
    "label_column": ("features", "documents"),
    "drop": ("features",),
    "scale": ("features",),
    "separator": ("features", "documents"),
    "decimal": ("features", "documents"),
    "encoding": ("features", "documents"),
    "header": ("features", "documents"),
    "text_column": ("documents",),
    "communities": ("graph",),
    "precomputed": ("distances",),
}
_OF_FILES = ("id", "label_column", "drop", "separator", "decimal", "encoding", "header")


class Data(NamedTuple):
    """What the models are fitted to, what is known about its samples, and how it came about."""

    name: str
    X: Any  # features, an adjacency matrix, texts, an image, or distances
    y: NDArray[Any] | None = None  # a class of each sample, or a cover of the nodes of a graph
    columns: tuple[str, ...] | None = None  # names of the features
    classes: tuple[str, ...] | None = None  # names of the classes 0, 1, ... in y
    modality: str = "features"
    ids: tuple[str, ...] | None = None  # names of the samples
    id_title: str = "row"  # what such a name is
    frame: pandas.DataFrame | None = None  # the table as it was read
    preparation: Preparation | None = None  # what made features of it

    @property
    def explained(self) -> Any:
        """What clusters are explained by: the columns of a table in their own units, otherwise the data."""
        return self.X if self.preparation is None else self.preparation.readable(self.frame)

    @property
    def complete(self) -> Any:
        """The data with medians in the place of missing values."""
        return with_medians(self.X)

    @property
    def n_samples(self) -> int:
        """The number of rows, nodes, documents or pixels."""
        if self.modality == "image":
            return int(np.prod(self.X.shape[:2]))
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    @property
    def n_features(self) -> int | None:
        """The number of features; None if the data are not a table."""
        return int(self.X.shape[1]) if self.modality == "features" else None

    @property
    def is_weighted(self) -> bool:
        """Whether the links of a graph have different weights."""
        return self.modality == "graph" and bool(self.X.data.min() != self.X.data.max())

    @property
    def truth(self) -> NDArray[Any] | None:
        """The known communities as a matrix of nodes and communities, if they are given so."""
        return self.y if self.y is not None and self.y.ndim == 2 else None

    @property
    def n_classes(self) -> int | None:
        """The number of classes or communities; None if they are not known."""
        if self.y is None:
            return None
        return int(self.y.shape[1]) if self.y.ndim == 2 else len(np.unique(self.y))

    def names_of_samples(self) -> dict[str, Any]:
        """Return the columns that tell which sample is meant: its name or its number, or the place of a pixel."""
        if self.modality == "image":
            rows, columns = np.indices(self.X.shape[:2])
            return {"row": rows.ravel(), "column": columns.ravel()}
        return {"row": np.arange(self.n_samples)} if self.ids is None else {self.id_title: list(self.ids)}

    def describe(self) -> str:
        """Say how many samples and classes there are."""
        n = self.n_samples
        if self.modality == "features":
            what = f"{n} rows, {self.n_features} {'feature' if self.n_features == 1 else 'features'}"
        elif self.modality == "graph":
            what = f"{n} nodes, {self.X.nnz // 2} links"
        elif self.modality == "image":
            what = f"{self.X.shape[0]} x {self.X.shape[1]} pixels, {'grey' if self.X.ndim == 2 else 'colour'}"
        else:
            what = f"{n} documents" if self.modality == "documents" else f"distances of {n} samples"
        classes = "communities" if self.modality == "graph" else "classes"
        return f"{self.name}: {what}" + ("" if self.y is None else f", {self.n_classes} {classes}")


def kind_of(args: argparse.Namespace) -> str:
    """Return what the data are, by the options and by the name of the file; raise an error if they contradict."""
    path = Path(args.data)
    if args.kind is not None:
        kind = str(args.kind)
    elif args.precomputed:
        kind = "distances"
    elif args.text_column is not None:
        kind = "documents"
    elif args.communities is not None:
        kind = "graph"
    elif args.data in available_datasets():
        kind = "features"
    elif path.is_dir():
        if next(path.rglob("*.txt"), None) is None:
            raise CommandError(f"{args.data} is a folder without .txt files: name a file in it.")
        kind = "documents"
    else:
        kind = _kind_by_name(path)
    of_files = kind != "features" or any(_given(args, name) for name in _OF_FILES)
    if args.data in available_datasets() and of_files:
        raise UsageError(
            f"{args.data} is a built-in set: --label-column, --drop, --separator and the like are for files. A file of "
            f"that name is ./{args.data}."
        )
    for name, kinds in _OPTIONS.items():
        if _given(args, name) and kind not in kinds:
            raise UsageError(f"--{name.replace('_', '-')} is for {' and '.join(kinds)}, not for {kind}: leave it out.")
    return kind


def _given(args: argparse.Namespace, name: str) -> bool:
    value = getattr(args, name)
    return value is not None and value != [] and (name == "header" or value is not False)


def _kind_by_name(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in GRAPH_SUFFIXES:
        return "graph"
    if suffix in IMAGE_SUFFIXES:
        return "image"
    if suffix == ".npz" and path.is_file():
        try:
            names = {name.rpartition(".")[2] for name in npz_keys(path)}
        except ValueError:  # the reader says what is wrong with it
            return "features"
        return "graph" if {"data", "indices", "indptr", "shape"} <= names else "features"
    return "features"


def load(args: argparse.Namespace, kind: str, missing: str = "median") -> Data:
    """Load the data that the arguments name, and say what was recognised and decided.

    ``missing`` is that of :func:`soft_clustering.prepare`.
    """
    path = None if args.data in available_datasets() else _existing(args.data, kind)
    if kind == "features":
        data = _load_features(args, path, missing)
    else:
        assert path is not None
        data = {"graph": _load_graph, "documents": _load_documents, "image": _load_image, "distances": _load_distances}[
            kind
        ](args, path)
    if data.n_samples < 2:
        raise CommandError(f"{data.name} has {data.n_samples} rows of data: at least 2 are needed.")
    return data


def check_n_clusters(data: Data, largest: int) -> None:
    """Raise an error if there are more clusters than samples."""
    n = data.n_samples
    if largest > n:
        noun = {"graph": "nodes", "documents": "documents", "image": "pixels"}.get(data.modality, "rows")
        raise CommandError(f"-k {largest} is more than the {n} {noun} of {data.name}: give a smaller K.")


def check_n_classes(data: Data) -> None:
    """Raise an error if the number of classes cannot serve as the number of clusters."""
    if data.n_classes in (1, data.n_samples):
        raise CommandError(
            f"{data.name} has {data.n_classes} classes for {data.n_samples} rows, which cannot serve as the number "
            f"of clusters: give one, such as -k 3."
        )


# Tables ---------------------------------------------------------------------------------------------------------------


def _load_features(args: argparse.Namespace, path: Path | None, missing: str) -> Data:
    from ..preparation import prepare

    y: NDArray[Any] | None
    classes: tuple[str, ...] | None
    if path is None:
        X, y = get_dataset(args.data)
        frame = require_pandas().DataFrame(X, columns=[str(i) for i in range(X.shape[1])])
        named: dict[str, Any] = {"id_column": None, "label_column": None, "drop": []}
        classes = None
    else:
        frame = table_of(args, path)
        if len(frame) < 2:
            raise CommandError(f"{args.data} has {len(frame)} rows of data: at least 2 are needed.")
        label_column = column_named(frame, args.label_column, "--label-column") or frame.attrs["label_column"]
        drop = [column for text in args.drop for column in _columns_named(frame, text)]
        named = {"id_column": column_named(frame, args.id, "--id"), "label_column": label_column, "drop": drop}
        y, classes = (None, None) if label_column is None else _classes(frame[label_column], args.data)
    with naming(args.data):
        preparation = prepare(frame, scale=args.scale or "auto", missing=missing, **named)
        X = np.ascontiguousarray(preparation.transform(frame))
    for note in preparation.notes_:
        say(note)
    ids = None if named["id_column"] is None else ids_of(frame, named["id_column"])
    names = tuple(map(str, preparation.get_feature_names_out()))
    return Data(args.data, X, y, names, classes, "features", ids, named["id_column"] or "row", frame, preparation)


def table_of(args: argparse.Namespace, path: Path) -> pandas.DataFrame:
    """Read a table as the arguments say."""
    require_pandas()
    for name, suffixes in OPTIONS.items():
        if _given(args, name) and table_suffix(path) not in suffixes:
            raise UsageError(f"--{name} is for files {', '.join(suffixes)}, not for {path}: leave it out.")
    frame = read_table(path, separator=args.separator, decimal=args.decimal, encoding=args.encoding, header=args.header)
    for note in frame.attrs["notes"]:
        say(note)
    return frame


def ids_of(frame: pandas.DataFrame, column: str) -> tuple[str, ...]:
    """Return the names of the rows; say if they do not tell the rows apart."""
    values = frame[column]
    if values.isna().any() or values.duplicated().any():
        missing, twice = int(values.isna().sum()), int(values.duplicated().sum())
        say(f"--id {column} does not tell all rows apart: {missing} are missing, {twice} occur again")
    return tuple("" if gone else str(value) for value, gone in zip(values, values.isna(), strict=True))


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the file in errors of its content."""
    try:
        yield
    except ValueError as error:
        raise CommandError(f"{name}: {one_line(error)}") from error


def column_named(frame: pandas.DataFrame, name: str | None, option: str) -> str | None:
    """Return a column by its name, in any case, or else by its number; -1 is the last. None is none."""
    names = [str(column) for column in frame.columns]
    if name is None:
        return None
    found = matching(name, names)
    if found is None and name.removeprefix("-").isdecimal() and -len(names) <= int(name) < len(names):
        return names[int(name)]
    return known_name(name, names, f"column of {option}")


def _columns_named(frame: pandas.DataFrame, text: str) -> list[str]:
    """Return the columns of ``--drop``; their names are separated by commas unless they are one name with commas."""
    if matching(text, map(str, frame.columns)) is not None:
        return [str(column_named(frame, text, "--drop"))]
    return [str(column_named(frame, name.strip(), "--drop")) for name in text.split(",") if name.strip()]


def _classes(column: pandas.Series, name: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the number of each row's class, and the names of the classes."""
    missing = int(column.isna().sum())
    if missing:
        raise CommandError(
            f"{name} has {missing} missing values in the column of classes, {column.name}: fill them in or remove "
            f"those rows."
        )
    codes, names = require_pandas().factorize(column)
    return codes, tuple(map(str, names))


# Other kinds ----------------------------------------------------------------------------------------------------------


def _load_graph(args: argparse.Namespace, path: Path) -> Data:
    from ..inputs import read_cover, read_graph

    graph = _said(read_graph(path))
    y, classes = graph.labels, None
    if y is None and graph.cover is not None:
        y = graph.cover
    if args.communities is not None:
        found = _said(read_cover(args.communities, graph.node_names))
        y, classes = found.cover, tuple(found.names)
    if y is not None and y.ndim == 1:
        names, y = np.unique(y, return_inverse=True)
        classes = tuple(map(str, names))
    ids = tuple(map(str, graph.node_names))
    return Data(args.data, graph.adjacency, y, None, classes, "graph", ids, "node")


def _load_documents(args: argparse.Namespace, path: Path) -> Data:
    from ..inputs import read_texts

    if path.is_dir():
        for name in ("label_column", "id", "separator", "decimal", "encoding", "header", "text_column"):
            if _given(args, name):
                raise UsageError(f"--{name.replace('_', '-')} is for tables, and {path} is a folder: leave it out.")
        found, ids, title = _said(read_texts(path)), None, "document"
        y, classes = (None, None) if found.labels is None else _classes(_series(found.labels), args.data)
        return Data(args.data, found.texts, y, None, classes, "documents", tuple(found.names), title)
    frame = table_of(args, path)
    text_column = column_named(frame, args.text_column, "--text-column")
    with naming(args.data):
        found = _said(read_texts(frame, text_column))
    label_column = column_named(frame, args.label_column, "--label-column")
    y, classes = (None, None) if label_column is None else _classes(frame[label_column], args.data)
    id_column = column_named(frame, args.id, "--id")
    ids = None if id_column is None else ids_of(frame, id_column)
    return Data(args.data, found.texts, y, None, classes, "documents", ids, id_column or "row", frame)


def _series(values: NDArray[Any]) -> pandas.Series:
    series: pandas.Series = require_pandas().Series(values)
    return series


def _load_image(args: argparse.Namespace, path: Path) -> Data:
    from ..inputs import read_image

    return Data(args.data, _said(read_image(path)).image, modality="image", id_title="pixel")


def _load_distances(args: argparse.Namespace, path: Path) -> Data:
    from ..inputs import read_distances

    found = _said(read_distances(path))
    ids = None if found.names is None else tuple(found.names)
    return Data(args.data, found.distances, modality="distances", ids=ids, id_title="sample")


def _said(found: Bunch) -> Bunch:
    for note in found.notes:
        say(note)
    return found


# Files ----------------------------------------------------------------------------------------------------------------


def _existing(name: str, kind: str) -> Path:
    """Return the file of that name; raise an error if it cannot be read or its type is unknown."""
    path = Path(name)
    if path.is_dir():
        if kind != "documents":
            raise CommandError(f"{name} is a folder: name a file in it.")
        return path
    try:
        with open(path, "rb"):
            pass
    except FileNotFoundError:
        if path.suffix:
            raise CommandError(f"There is no file {name}: check the name and the folder.") from None
        known_name(name, available_datasets(), "file or data set")
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
    if kind == "features" and table_suffix(path) not in SUFFIXES:
        raise CommandError(
            f"{name} does not end in one of {', '.join(SUFFIXES)}: save it as one of these types, or say what it is "
            f"with --as."
        )
    return path


def require_pandas() -> Any:
    """Return the module pandas, or raise an error that says what to install."""
    return require("pandas", "Reading and writing tables needs pandas")


def require_pyarrow() -> None:
    """Raise an error that says what to install if Parquet files cannot be written."""
    require("pyarrow", "Parquet files need pyarrow")
