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
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils.validation import _check_feature_names, _check_n_features

from .._text import listed
from .._types import Array
from .features import is_dask, validate_rows
from .views import column_mask

if TYPE_CHECKING:
    from ..engine.blocks import Block

MOST_VALUES = 50  # a column of more values that are not all whole holds numbers
_CODE = 1000  # codes of categories are smaller whole numbers
_EXACT = 2.0**53  # larger whole numbers are no longer told apart as floats

Categories = NDArray[Any]


def validate_table(
    estimator: BaseEstimator, X: Any, texts: Sequence[Categories | None] | None
) -> tuple[Any, bool, list[Categories | None]]:
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
    values = X if is_dask(X) or sparse.issparse(X) or hasattr(X, "iloc") else _as_array(X)
    if not _has_texts(values) and not (texts and any(known is not None for known in texts)):
        matrix, gaps = validate_rows(estimator, X, reset=reset, accept_sparse=False, accept_missing=True)
        return matrix, gaps, [None] * matrix.shape[1]
    if is_dask(X) or sparse.issparse(X):
        raise TypeError(f"X must be a data frame or an array in memory, as it holds texts. Got a {type(X).__name__}.")
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"X must have shape (n_samples, n_features), neither of them 0. Got shape {values.shape}.")
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    matrix, found = np.empty(values.shape), list[Categories | None]()
    for j in range(values.shape[1]):
        name = column_name(estimator, j)
        codes, levels = _distinct(values.iloc[:, j] if hasattr(values, "iloc") else values[:, j], name)
        if texts is None:
            known = None if all(isinstance(level, Real) for level in levels) else as_categories(levels)
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


def as_categories(levels: Sequence[Any]) -> Categories:
    """The sorted values as an array: numbers before texts, and texts as objects, so that they keep their types.

    Examples
    --------
    >>> as_categories(["b", 2, "a", 1])
    array([1, 2, 'a', 'b'], dtype=object)
    """
    ordered = sorted(
        levels, key=lambda level: ("", level) if isinstance(level, Real) else (type(level).__name__, level)
    )
    categories = np.empty(len(ordered), dtype=object)
    categories[:] = ordered
    return categories


def _as_array(X: Any) -> NDArray[Any]:
    """An array of any type; numbers beside texts in lists stay numbers."""
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths, which the validation of numbers names
        return np.empty((0, 0))
    return np.array(X, dtype=object) if array.dtype.kind in "US" and not isinstance(X, np.ndarray) else array


def _has_texts(X: Any) -> bool:
    """Whether a table holds anything but numbers."""
    if hasattr(X, "iloc") and not is_dask(X):
        return any(getattr(dtype, "kind", "O") not in "fiubc" or not _is_plain(dtype) for dtype in X.dtypes)
    if not isinstance(X, np.ndarray) or X.dtype.kind in "US":
        return isinstance(X, np.ndarray)
    return X.dtype == object and not all(isinstance(value, Real) for value in X.ravel())


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype)


def _distinct(column: Any, name: str) -> tuple[NDArray[np.intp], list[Any]]:
    """The number of each value among the distinct ones, -1 for a missing one, and the distinct ones."""
    codes: Any
    try:
        if hasattr(column, "factorize"):  # of a data frame
            codes, levels = column.factorize()
            return codes, [level.item() if isinstance(level, np.generic) else level for level in levels]
        places: dict[Any, int] = {}
        codes = [
            -1
            if value is None or is_pandas_na(value) or is_scalar_nan(value)
            else places.setdefault(value, len(places))
            for value in column.tolist()
        ]
    except TypeError as error:
        raise TypeError(f"X must hold numbers and texts. Column {name} has other values: {error}") from None
    return np.array(codes, dtype=np.intp), list(places)


def _as_numbers(levels: list[Any], known: Categories | None, name: str) -> Array:
    """The numbers that stand for the values of a column: their own, or their places among the known texts."""
    if known is None:
        unknown = [level for level in levels if not isinstance(level, Real)]
        if not unknown:
            return np.array(levels, dtype=np.float64)
    else:
        places = {level: place for place, level in enumerate(known.tolist())}
        unknown = [level for level in levels if level not in places]
        if not unknown:
            return np.array([places[level] for level in levels], dtype=np.float64)
    raise unknown_categories(unknown, name)


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
    estimator: BaseEstimator, parameter: Any, values: Values, texts: Sequence[Categories | None]
) -> NDArray[np.bool_]:
    """Which columns (d,) hold numbers: by the parameter ``numeric_features``, or by their values if it is 'auto'."""
    d = len(texts)
    is_text = np.array([known is not None for known in texts])
    if isinstance(parameter, str):
        codes = [v is not None and len(v) <= MOST_VALUES and _are_codes(v) for v in values.columns]
        by_values: NDArray[np.bool_] = ~(is_text | np.array(codes))
        return by_values
    numeric = np.zeros(d, dtype=bool) if parameter is None else _chosen(estimator, parameter, d)
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


def _are_codes(values: Array) -> bool:
    return bool((values == np.floor(values)).all() and (np.abs(values) < _CODE).all())


def _chosen(estimator: BaseEstimator, columns: Any, d: int) -> NDArray[np.bool_]:
    """Names, indices or a mask of columns as a mask."""
    given = np.asarray(columns)
    if given.dtype.kind not in "UO" or not given.size:
        return column_mask("numeric_features", given, d)
    names = getattr(estimator, "feature_names_in_", np.empty(0, dtype=object))
    unknown = [name for name in given.ravel().tolist() if name not in names]
    if unknown:
        raise ValueError(f"numeric_features must name columns of X. Got {listed(unknown)} instead.")
    mask: NDArray[np.bool_] = np.isin(names, given)
    return mask


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
