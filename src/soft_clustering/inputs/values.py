"""Tables of any values, before their columns become numbers: what each column holds, and which ones are named."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils.validation import validate_data

from .._text import listed
from .features import is_dask
from .views import column_mask

Levels = NDArray[Any]  # the distinct values of a column, as objects and in order


def as_table(X: Any) -> Any:
    """Return a data frame as it is, anything else as an array; numbers beside texts in lists stay numbers.

    Examples
    --------
    >>> as_table([["a", 1], ["b", 2.5]])
    array([['a', 1],
           ['b', 2.5]], dtype=object)
    """
    if hasattr(X, "iloc"):  # a data frame
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths, which the validation of numbers names
        return np.empty((0, 0))
    return np.array(X, dtype=object) if array.dtype.kind in "US" and not isinstance(X, np.ndarray) else array


def validate_shape(estimator: BaseEstimator, values: Any, *, reset: bool) -> None:
    """Set the number of columns and their names in ``fit`` (``reset``), or compare them with those of ``fit``.

    A table with categories must be in memory and have rows and columns.
    """
    if is_dask(values) or sparse.issparse(values):
        kind = type(values).__name__
        raise TypeError(f"X must be a data frame or an array in memory if columns have categories. Got a {kind}.")
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"X must have shape (n_samples, n_features), neither of them 0. Got shape {values.shape}.")
    validate_data(estimator, values, reset=reset, skip_check_array=True)


def column_of(values: Any, j: int) -> Any:
    """Return a column of a table that :func:`as_table` returned."""
    return values.iloc[:, j] if hasattr(values, "iloc") else values[:, j]


def is_missing(value: object) -> bool:
    """Whether a single value stands for none: None, NaN, ``pandas.NA`` or ``pandas.NaT``.

    Examples
    --------
    >>> [is_missing(value) for value in (None, np.nan, 0, "", "a")]
    [True, True, False, False, False]
    """
    return value is None or is_pandas_na(value) or is_scalar_nan(value) or type(value).__name__ == "NaTType"


def distinct(column: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the number of each value among the distinct ones, -1 for a missing one, and the distinct ones.

    Examples
    --------
    >>> distinct(np.array(["b", None, "a", "b"], dtype=object))
    (array([ 0, -1,  1,  0]), ['b', 'a'])
    """
    if hasattr(column, "factorize"):  # of a data frame
        codes, levels = column.factorize()
        return codes, [level.item() if isinstance(level, np.generic) else level for level in levels]
    places: dict[Any, int] = {}
    codes = [-1 if is_missing(value) else places.setdefault(value, len(places)) for value in column.tolist()]
    return np.array(codes, dtype=np.intp), list(places)


def in_order(levels: Sequence[Any]) -> Levels:
    """Return values sorted: numbers before texts. As objects they keep their types.

    Examples
    --------
    >>> in_order(["b", 2, "a", 1])
    array([1, 2, 'a', 'b'], dtype=object)
    """
    values = np.empty(len(levels), dtype=object)
    values[:] = sorted(levels, key=lambda level: ("" if isinstance(level, Real) else type(level).__name__, level))
    return values


def places(levels: Sequence[Any], known: Levels) -> NDArray[np.intp]:
    """Return the place of each value among the known ones; the number of these for an unknown one.

    Examples
    --------
    >>> places(["b", "c"], in_order(["a", "b"]))
    array([1, 2])
    """
    place = {level: number for number, level in enumerate(known.tolist())}
    return np.array([place.get(level, len(place)) for level in levels], dtype=np.intp)


def named_columns(parameter: str, columns: ArrayLike, names: Sequence[Any], n_columns: int) -> NDArray[np.bool_]:
    """Return names, indices or a mask of columns, the value of a parameter, as a mask.

    Examples
    --------
    >>> named_columns("categorical_features", ["plan"], ["age", "plan"], 2)
    array([False,  True])
    """
    given = np.asarray(columns)
    if given.dtype.kind not in "UO" or not given.size:
        return column_mask(parameter, given, n_columns)
    unknown = [name for name in given.ravel().tolist() if name not in names]
    if unknown:
        raise ValueError(f"{parameter} must name columns of X. Got {listed(unknown)} instead.")
    return np.array([name in given.ravel().tolist() for name in names])
