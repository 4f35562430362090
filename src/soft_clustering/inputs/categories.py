"""Tables of categories and numbers: which values a column has, and the columns as numbers.

A table becomes a matrix of numbers, in which a text stands for its place among the sorted texts of its column. So the
engine reads numbers only, and columns of numbers that hold categories are looked up when a row is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from .._text import listed
from .._types import Array
from .features import is_dask, validate_rows
from .values import Levels, as_table, column_of, distinct, in_order, named_columns, places, validate_shape

if TYPE_CHECKING:
    from ..engine.blocks import Block

MOST_VALUES = 50  # a column of more values that are not all whole holds numbers
_CODE = 1000  # codes of categories are smaller whole numbers
_EXACT = 2.0**53  # larger whole numbers are no longer told apart as floats


def validate_table(
    estimator: BaseEstimator, X: Any, texts: Sequence[Levels | None] | None
) -> tuple[Any, bool, list[Levels | None]]:
    """Return a table as numbers, whether values may be missing, and the categories of its columns of texts.

    Parameters
    ----------
    estimator : estimator
        ``n_features_in_`` and ``feature_names_in_`` are set on it in ``fit``, or read from it.
    X : array-like, data frame or Dask collection of shape (n, d)
    texts : list or None
        The sorted texts of each column, None for a column of numbers; None in ``fit``, where they are found.
    """
    reset = texts is None
    values = X if is_dask(X) or sparse.issparse(X) else as_table(X)
    if not _has_texts(values) and not (texts and any(known is not None for known in texts)):
        matrix, gaps = validate_rows(estimator, X, reset=reset, accept_sparse=False, accept_missing=True)
        return matrix, gaps, [None] * matrix.shape[1]
    validate_shape(estimator, values, reset=reset)
    matrix, found = np.empty(values.shape), list[Levels | None]()
    for j in range(values.shape[1]):
        name = column_name(estimator, j)
        try:
            codes, levels = distinct(column_of(values, j))
        except TypeError as error:
            raise TypeError(f"X must hold numbers and texts. Column {name} has other values: {error}") from None
        if texts is None:
            known = None if all(isinstance(level, Real) for level in levels) else in_order(levels)
        else:
            known = texts[j]
        matrix[:, j] = np.append(_as_numbers(levels, known, name), np.nan)[codes]  # a missing value has the code -1
        found.append(known)
    if np.isinf(matrix).any():
        raise ValueError("Input X contains infinity: it is neither a category nor a number.")
    return matrix, bool(np.isnan(matrix).any()), found


def column_name(estimator: BaseEstimator, j: int) -> str:
    """What a message calls a column."""
    return repr(estimator.feature_names_in_[j]) if hasattr(estimator, "feature_names_in_") else str(j)


def _has_texts(X: Any) -> bool:
    """Whether a table holds anything but numbers."""
    if hasattr(X, "iloc") and not is_dask(X):
        return any(getattr(dtype, "kind", "O") not in "fiubc" or not _is_plain(dtype) for dtype in X.dtypes)
    if not isinstance(X, np.ndarray) or X.dtype.kind in "US":
        return isinstance(X, np.ndarray)
    return X.dtype == object and not all(isinstance(value, Real) for value in X.ravel())


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype)


def _as_numbers(levels: list[Any], known: Levels | None, name: str) -> Array:
    """The numbers that stand for the values of a column: their own, or their places among the known texts."""
    if known is None:
        unknown = [level for level in levels if not isinstance(level, Real)]
    else:
        numbers = places(levels, known)
        unknown = [level for level, number in zip(levels, numbers, strict=True) if number == len(known)]
    if unknown:
        raise unknown_categories(unknown, name)
    return np.array(levels if known is None else numbers, dtype=np.float64)


def unknown_categories(values: Sequence[Any], name: str) -> ValueError:
    """The error about values of a column that were not there in ``fit``."""
    return ValueError(
        f"X has categories in column {name} that were not there in fit: {listed(values)}. Make them missing values, or "
        "fit with them."
    )


# Which values the columns of numbers have -----------------------------------------------------------------------------


class Values(NamedTuple):
    """The distinct values of each column, None for a column of more than ``MOST_VALUES`` that are not all whole."""

    columns: list[Array | None]

    def merge(self, other: Values) -> Values:
        """Those of both blocks together."""
        pairs = zip(self.columns, other.columns, strict=True)
        return Values([None if a is None or b is None else _kept(np.union1d(a, b)) for a, b in pairs])


def values_of(block: Block) -> Values:
    """The distinct values of the columns of a block."""
    columns = (np.unique(column).astype(np.float64) for column in block.X.T)
    return Values([_kept(values[~np.isnan(values)]) for values in columns])


def _kept(values: Array) -> Array | None:
    return values if len(values) <= MOST_VALUES or (values == np.floor(values)).all() else None


def numeric_columns(
    estimator: BaseEstimator, parameter: Any, values: Values, texts: Sequence[Levels | None]
) -> NDArray[np.bool_]:
    """Which columns (d,) hold numbers: by the parameter ``numeric_features``, or by their values if it is 'auto'."""
    d = len(texts)
    is_text = np.array([known is not None for known in texts])
    if isinstance(parameter, str):
        codes = [v is not None and len(v) <= MOST_VALUES and _are_codes(v) for v in values.columns]
        by_values: NDArray[np.bool_] = ~(is_text | np.array(codes))
        return by_values
    names = [*getattr(estimator, "feature_names_in_", [])]
    numeric = named_columns("numeric_features", [] if parameter is None else parameter, names, d)
    for j in np.flatnonzero(numeric & is_text).tolist():
        name = column_name(estimator, j)
        raise ValueError(f"numeric_features must name columns of numbers. Column {name} of X holds texts.")
    for j in np.flatnonzero(~numeric).tolist():
        column, name = values.columns[j], column_name(estimator, j)
        if column is None:
            raise ValueError(
                f"X has more than {MOST_VALUES} values in column {name}, and they are not whole: declare it in "
                "numeric_features, or bin it."
            )
        if np.abs(column).max(initial=0) > _EXACT:
            raise ValueError(f"X has categories above 2^53 in column {name}: make them texts.")
    return numeric


class Coding(NamedTuple):
    """Which columns of a table hold numbers, and which entries of the others are which category."""

    numeric: NDArray[np.bool_]  # (d,)
    entries: list[Array]  # of each column of categories, sorted
    texts: list[Levels | None]  # of each column, as validate_table found them
    names: list[str]  # what a message calls each column

    @property
    def categories(self) -> list[Levels]:
        """The categories of each column that has them: texts, or numbers as they are."""
        texts = [known for known, is_number in zip(self.texts, self.numeric, strict=True) if not is_number]
        return [entries if known is None else known for entries, known in zip(self.entries, texts, strict=True)]

    @property
    def edges(self) -> NDArray[np.int64]:
        """Where the categories of each column begin, and at last their number."""
        return np.append(0, np.cumsum([len(entries) for entries in self.entries])).astype(np.int64)

    def columns(self, Z: Array) -> Array:
        """The numbers of rows, then the places of their categories, NaN for a missing one."""
        columns = [Z[:, self.numeric]]
        for j, known in zip(np.flatnonzero(~self.numeric).tolist(), self.entries, strict=True):
            z = Z[:, j]
            place, there = np.searchsorted(known, z), ~np.isnan(z)
            wrong = there & (known[np.minimum(place, len(known) - 1)] != z)
            if wrong.any():
                raise unknown_categories(np.unique(z[wrong]).tolist(), self.names[j])
            columns.append(np.where(there, place, np.nan)[:, None])
        return np.hstack(columns)


def coding_of(
    estimator: BaseEstimator, parameter: Any, texts: list[Levels | None], values: Values, every: Values
) -> Coding:
    """The coding of a table, by the parameter ``numeric_features``.

    ``values`` tell which columns hold numbers. ``every`` is those of all rows, the ones of weight 0 included: they get
    memberships.
    """
    numeric, entries = numeric_columns(estimator, parameter, values, texts), list[Array]()
    for j in np.flatnonzero(~numeric).tolist():
        found = values.columns[j] if every.columns[j] is None else every.columns[j]
        known = texts[j]
        entries.append(np.asarray(found) if known is None else np.arange(float(len(known))))
    return Coding(numeric, entries, texts, [column_name(estimator, j) for j in range(len(texts))])


def _are_codes(values: Array) -> bool:
    return bool((values == np.floor(values)).all() and (np.abs(values) < _CODE).all())


# Equal rows -----------------------------------------------------------------------------------------------------------


def equal_rows(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first of each group of equal rows, in the order of their entries, and the group of each row; NaN equals NaN.

    Examples
    --------
    >>> equal_rows(np.array([[2.0, np.nan], [1.0, 5.0], [2.0, np.nan]]))
    (array([1, 0]), array([1, 0, 1]))
    """
    group, n_groups = np.zeros(len(X), dtype=np.int64), 1
    for column in X.T:
        levels, place = np.unique(column, return_inverse=True)
        if n_groups * len(levels) > 1 << 62:
            found, group = np.unique(group, return_inverse=True)
            n_groups = len(found)
        group, n_groups = group * len(levels) + place.ravel(), n_groups * len(levels)
    _, first, member = np.unique(group, return_index=True, return_inverse=True)
    return first, member.ravel()
