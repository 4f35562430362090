"""Tables in their original columns and units: numbers, dates, booleans and categories, with missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._extras import require
from .._types import Array, MatrixLike, Names
from ..base import labels_from_memberships
from ..inputs.clients import align_features, validate_clients
from ..inputs.features import is_dask, naming
from ..inputs.partitions import validate_partitions
from ..plotting.data import feature_names as names_of
from .features import category_codes, check_names, check_numbers_or_gaps, compare
from .moments import sums_of_codes, sums_of_rows
from .profile import FeatureProfile, join

MAX_VALUES = 20  # of a category that are compared
_ROWS = 4096  # that are compared with their means at once
_OF_OBJECTS = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "number"),
    **dict.fromkeys(("datetime", "datetime64", "date"), "date"),
    "boolean": "boolean",
}


class Category(NamedTuple):
    """A column of values that are not numbers."""

    name: str
    codes: NDArray[np.intp]  # -1 is missing; those from len(values) on are not compared
    values: list[str]


class Table(NamedTuple):
    """The columns of a table."""

    numbers: Any  # (n, d) array or CSR, dates as seconds since 1970
    names: list[str]
    kinds: list[str]  # 'number' or 'date'
    categories: list[Category]
    notes: list[str]  # what was left out


def read_table(X: Any, n: int, feature_names: Names | None = None) -> Table:
    """Read a table of n rows.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame} of shape (n, n_columns)
    n : int
    feature_names : sequence of str, default=None
        Replace the names of the columns.
    """
    if is_dask(X):
        X = X.compute()
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not sparse.issparse(X) and not hasattr(X, "iloc"):
        X = np.asarray(X)
        if X.dtype.kind not in "fiu" and X.ndim == 2:
            X = require("pandas", "A table of texts or objects needs pandas").DataFrame(X).infer_objects()
    if not hasattr(X, "iloc"):
        numbers = check_numbers_or_gaps(X, n)
        d = numbers.shape[1]
        names = check_names("feature_names", names_of(None, d) if feature_names is None else feature_names, d)
        return _without_empty(Table(numbers, names, ["number"] * d, [], []))
    if len(X) != n:
        raise ValueError(f"X must have one row per row of the memberships, {n} rows. Got {len(X)} instead.")
    d = X.shape[1]
    names = check_names("feature_names", names_of(X, d) if feature_names is None else feature_names, d)
    return _read_frame(X, names)


def read_partitions(X: Sequence[MatrixLike], n: int, feature_names: Names | None = None) -> Table:
    """Read partitions of n objects: a category per partition, whose values are the labels."""
    partitions = validate_partitions(X)
    B = len(partitions.memberships)
    names = check_names("feature_names", _numbered("partition", B) if feature_names is None else feature_names, B)
    categories = []
    for name, memberships, columns in zip(names, partitions.memberships, partitions.columns, strict=True):
        dense = memberships.toarray() if sparse.issparse(memberships) else memberships
        labels = labels_from_memberships(dense)
        codes, found = category_codes([None if label < 0 else f"{columns[label]:g}" for label in labels])
        categories.append(Category(name, codes, found[:MAX_VALUES]))
    if len(categories[0].codes) != n:
        raise ValueError(f"X must be partitions of the {n} samples of the memberships.")
    return Table(np.empty((n, 0)), [], [], categories, [])


def _numbered(what: str, n: int) -> list[str]:
    return [f"{what} {i}" for i in range(n)]


def read_clients(X: Sequence[MatrixLike], n: int, feature_names: Names | None = None) -> Table:
    """Read the tables of clients, one below the other; a client misses the values of features that it does not have."""
    clients = validate_clients(X, feature_names)
    names = align_features([client.features for client in clients], "union")
    numbers = np.full((sum(len(client.X) for client in clients), len(names)), np.nan)
    start = 0
    for client in clients:
        numbers[start : start + len(client.X), [names.index(name) for name in client.features]] = client.X
        start += len(client.X)
    return _without_empty(Table(check_numbers_or_gaps(numbers, n), names, ["number"] * len(names), [], []))


def _read_frame(X: Any, names: list[str]) -> Table:
    numbers, number_names, kinds, categories, notes = [], [], [], [], []
    for j, name in enumerate(names):
        column = X.iloc[:, j]
        kind = _kind(column)
        if kind in ("number", "date"):
            with naming(name):
                numbers.append(_as_floats(column, kind))
            number_names.append(f"{name} (days)" if column.dtype.kind == "m" else name)
            kinds.append(kind)
            continue
        if kind == "boolean":
            codes = column.map({True: 0.0, False: 1.0}).to_numpy(dtype=np.float64, na_value=np.nan)
            codes, values = np.nan_to_num(codes, nan=-1.0).astype(np.intp), ["True"]
        else:
            codes, values = category_codes(column)
        n_known = int((codes >= 0).sum())
        if n_known == 0:
            notes.append(f"{name}: left out, because it has no values.")
        elif len(values) == n_known > MAX_VALUES:
            notes.append(f"{name}: left out, because all its values differ.")
        else:
            if len(values) > MAX_VALUES:
                notes.append(f"{name}: the {MAX_VALUES} most frequent of {len(values)} values are compared.")
            categories.append(Category(name, codes, values[:MAX_VALUES]))
    stacked = check_numbers_or_gaps(np.column_stack(numbers), len(X)) if numbers else np.empty((len(X), 0))
    return _without_empty(Table(stacked, number_names, kinds, categories, notes))


def _without_empty(table: Table) -> Table:
    """Leave out the numbers of which no sample has a value, and say so; say how many values are missing."""
    numbers = table.numbers
    if sparse.issparse(numbers):
        return table
    gaps = np.isnan(numbers).sum(axis=0) if numbers.dtype.kind == "f" else np.zeros(numbers.shape[1], dtype=int)
    kept = np.flatnonzero(gaps < len(numbers))
    notes = [f"{table.names[j]}: left out, because it has no values." for j in np.flatnonzero(gaps == len(numbers))]
    counts = [(table.names[j], int(gaps[j])) for j in kept]
    counts += [(category.name, int((category.codes < 0).sum())) for category in table.categories]
    missing = [f"{name} ({count})" for name, count in counts if count]
    if missing:
        notes.append(f"Missing values are left out: {', '.join(missing[:10])}{', ...' if len(missing) > 10 else ''}.")
    return Table(
        numbers if len(kept) == numbers.shape[1] else numbers[:, kept],
        [table.names[j] for j in kept],
        [table.kinds[j] for j in kept],
        table.categories,
        table.notes + notes,
    )


def _kind(column: Any) -> str:
    """Return the kind of a column: number, date, boolean or category."""
    types = require("pandas", "A data frame needs pandas").api.types
    if types.is_bool_dtype(column):
        return "boolean"
    if types.is_datetime64_any_dtype(column) or isinstance(column.dtype, _period()):
        return "date"
    if types.is_numeric_dtype(column) or types.is_timedelta64_dtype(column):
        return "number"
    if column.dtype == object:
        return _OF_OBJECTS.get(types.infer_dtype(column, skipna=True), "category")
    return "category"


def _period() -> Any:
    return require("pandas", "A data frame needs pandas").PeriodDtype


def _as_floats(column: Any, kind: str) -> Array:
    """Return a column as numbers: dates as seconds since 1970, times as days."""
    pandas = require("pandas", "A data frame needs pandas")
    if kind == "date":
        if isinstance(column.dtype, _period()):
            column = column.dt.to_timestamp()
        if column.dtype == object:
            column = pandas.to_datetime(column, utc=True)
        if getattr(column.dt, "tz", None) is not None:
            column = column.dt.tz_convert(None)
        column = (column - pandas.Timestamp(0)).dt.total_seconds()
    elif pandas.api.types.is_timedelta64_dtype(column):
        column = column.dt.total_seconds() / 86400
    floats: Array = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return floats


# Profiles -------------------------------------------------------------------------------------------------------------


def profile_table(W: Array, table: Table) -> FeatureProfile:
    """Compare each cluster with the rest in every column, given the weights of the clusters."""
    sums = sums_of_rows(W, table.numbers)
    profiles = [compare(sums, table.names)]
    profiles[0].kinds[:] = table.kinds
    for category in table.categories:
        sums = sums_of_codes(W, category.codes, len(category.values))
        profiles.append(compare(sums, [category.name], category.values))
    return join(profiles)


def distances_to_means(table: Table, profile: FeatureProfile, labels: NDArray[np.intp]) -> Array:
    """Return how far each row is from the mean of the cluster that is its label.

    A number counts its squared distance in standard deviations, a category the share of the cluster that has another
    value, and a missing value 1.
    """
    d = len(table.names)
    means = np.nan_to_num(profile.inside[:, :d])
    unit = np.where(profile.deviation[:d] > 0, profile.deviation[:d], np.inf)  # a constant feature is at no distance
    X = table.numbers
    cost: Array
    if sparse.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        z, m = X.data / unit[X.indices], (means / unit)[labels[rows], X.indices]
        apart = np.where(np.isnan(z), 1 - m * m, z * (z - 2 * m))  # beyond the distance of a row of zeros
        cost = ((means / unit) ** 2).sum(axis=1)[labels] + np.bincount(rows, apart, minlength=X.shape[0])
    else:
        cost = np.empty(len(X))
        for start in range(0, len(X), _ROWS):
            part = slice(start, start + _ROWS)
            apart = (X[part] - means[labels[part]]) / unit
            apart[np.isnan(apart)] = 1
            cost[part] = np.einsum("ij,ij->i", apart, apart)
    first = d
    for category in table.categories:
        shares = np.nan_to_num(profile.inside[:, first : first + len(category.values)])
        first += len(category.values)
        shares = np.column_stack([shares, 1 - shares.sum(axis=1)])  # the last column is for all values not compared
        own = shares[labels, np.minimum(category.codes, len(category.values))]
        cost += np.where(category.codes >= 0, 1 - own, 1.0)
    return cost
