"""Tables of numbers and categories, as a matrix in which a category is its place among the values of its column."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from .._text import listed
from .._types import Array, MatrixLike
from .features import is_dask, validate_rows
from .values import (
    Levels,
    as_table,
    column_of,
    distinct,
    in_order,
    is_missing,
    named_columns,
    places,
    validate_shape,
)

_NO_NUMBER = ("could not convert", "unable to parse", "must be numeric")  # what is said of texts among numbers


class Columns(NamedTuple):
    """Which columns of a table have categories, and which values these had in ``fit``."""

    is_categorical: NDArray[np.bool_]  # (d,)
    categories: list[Levels]  # the sorted values of each column that has categories

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of values of each column that has categories."""
        return np.array([len(values) for values in self.categories], dtype=np.intp)


class Table(NamedTuple):
    """A table as a matrix (n, d): numbers, and codes of categories; a missing value is NaN.

    A category that was not there in ``fit`` has the number of known ones as its code.
    """

    matrix: Any
    gaps: bool  # whether values may be missing
    columns: Columns


def validate_table(
    estimator: BaseEstimator, X: MatrixLike, categorical_features: str | ArrayLike | None, known: Columns | None
) -> Table:
    """Return a table as a matrix.

    Parameters
    ----------
    estimator : estimator
        ``n_features_in_`` and ``feature_names_in_`` are set on it in ``fit``, or read from it.
    X : array-like, data frame or Dask collection of shape (n, d)
    categorical_features : 'from_dtype', None or array-like
        The parameter that names the columns of categories, for ``fit``.
    known : Columns or None
        What was found in ``fit``; None in ``fit``.
    """
    reset = known is None
    values: Any = X if is_dask(X) or sparse.issparse(X) else as_table(X)
    if known is not None:
        is_categorical = known.is_categorical
    elif isinstance(categorical_features, str):
        dtypes = [] if is_dask(X) else getattr(values, "dtypes", [])
        is_categorical = np.array([_is_category(dtype) for dtype in dtypes], dtype=np.bool_)
    elif categorical_features is None:
        is_categorical = np.zeros(0, dtype=np.bool_)
    else:
        names, d = [*getattr(X, "columns", [])], values.shape[1] if values.ndim > 1 else 0
        is_categorical = named_columns("categorical_features", categorical_features, names, d)
    if not is_categorical.any():
        matrix, gaps = _numbers_only(estimator, X, reset)
        return Table(matrix, gaps, known or Columns(np.zeros(matrix.shape[1], dtype=np.bool_), []))
    validate_shape(estimator, values, reset=reset)
    names = [*getattr(estimator, "feature_names_in_", range(values.shape[1]))]
    matrix, categories = read_table(values, is_categorical, names, None if known is None else known.categories, "X")
    return Table(matrix, bool(np.isnan(matrix).any()), known or Columns(is_categorical, categories))


def validate_prototypes(
    name: str, rows: Any, shape: tuple[int, int], columns: Columns, names: list[Any] | None
) -> Array:
    """Return complete rows with the columns of X as a matrix, for a parameter such as ``init``."""
    rows = as_table(rows)
    if rows.shape != shape:
        raise ValueError(f"{name} must have shape {shape}. Got shape {rows.shape} instead.")
    if names is not None and hasattr(rows, "columns") and [*rows.columns] != [*names]:
        raise ValueError(f"{name} must have the columns of X in their order. Got {listed([*rows.columns])} instead.")
    matrix, _ = read_table(rows, columns.is_categorical, names or range(shape[1]), columns.categories, name)
    if np.isnan(matrix).any() or (matrix[:, columns.is_categorical] == columns.sizes).any():
        raise ValueError(f"{name} must have complete rows, with categories that X has.")
    return matrix


def read_table(
    values: Any,
    is_categorical: NDArray[np.bool_],
    names: Sequence[Any],
    known: Sequence[Levels] | None,
    what: str,
) -> tuple[Array, list[Levels]]:
    """Return a data frame or an array as a matrix of numbers and codes, and the values of the columns of categories.

    ``known`` are these values if the codes shall refer to them; ``what`` is the name of the argument, for errors.

    Examples
    --------
    >>> rows = np.array([["b", 1.5], ["a", None], [None, 2.0]], dtype=object)
    >>> matrix, values = read_table(rows, np.array([True, False]), ["plan", "price"], None, "X")
    >>> matrix
    array([[1. , 1.5],
           [0. , nan],
           [nan, 2. ]])
    >>> values
    [array(['a', 'b'], dtype=object)]
    """
    matrix, categories = np.empty(values.shape), list[Levels]()
    for j, name in enumerate(names):
        column = column_of(values, j)
        try:
            if not is_categorical[j]:
                matrix[:, j] = _numbers(column)
                continue
            codes, levels = distinct(column)
        except (ValueError, TypeError) as error:
            kind = "values that can be hashed and compared" if is_categorical[j] else "numbers"
            why = "" if is_categorical[j] else ", as it is not a column of categories"
            raise type(error)(f"{what} must have {kind} in column {name!r}{why}: {error}") from None
        if known is None:
            its_values = in_order(levels)
        else:
            its_values = known[len(categories)]
            _check_kind(levels, its_values, name, what)
        matrix[:, j] = np.append(places(levels, its_values), np.nan)[codes]  # the code of a missing value is -1
        categories.append(its_values)
    if np.isinf(matrix).any():
        raise ValueError(f"{what} contains infinity.")
    return matrix, categories


def _numbers_only(estimator: BaseEstimator, X: MatrixLike, reset: bool) -> tuple[Any, bool]:
    try:
        return validate_rows(estimator, X, reset=reset, accept_sparse=False, accept_missing=True)
    except ValueError as error:
        if not any(words in str(error) for words in _NO_NUMBER):
            raise
        remedy = "all of them were in fit"
        if reset and hasattr(estimator, "categorical_features"):
            remedy = "name its columns of categories in categorical_features"
        elif reset:
            remedy = "columns of categories must be those of a data frame, of type category, object, string or bool"
        raise ValueError(f"X must hold numbers: {remedy}. {str(error).removeprefix('X ')}") from None


def _is_category(dtype: Any) -> bool:
    """Whether a column of a data frame has categories by its type: category, object, string or bool."""
    kind = getattr(dtype, "kind", "O")
    return str(dtype) in ("category", "boolean") or kind in "ObUS"


def _numbers(column: Any) -> Array:
    """The numbers of a column, NaN where one is missing."""
    dtype, in_frame = column.dtype, hasattr(column, "iloc")
    if str(dtype) != "object" and getattr(dtype, "kind", "O") not in ("biuf" if in_frame else "biufUS"):
        raise ValueError(f"it has the type {dtype}")
    if in_frame:
        numbers: Array = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers
    if dtype.kind == "O":
        column = [np.nan if is_missing(value) else value for value in column.tolist()]
    return np.asarray(column, dtype=np.float64)


def _kind(value: object) -> str:
    return "numbers" if isinstance(value, Real) else f"values of type {type(value).__name__}"


def _check_kind(levels: list[Any], known: Levels, name: object, what: str) -> None:
    """Raise an error if none of the values is of a kind that was there in ``fit``: they would all be unknown."""
    found, before = ({*map(_kind, values)} for values in (levels, known.tolist()))
    if found and not found & before:
        found_kinds, kinds = (" and ".join(sorted(kind)) for kind in (found, before))
        raise ValueError(f"{what} must have {kinds} in column {name!r}, as in fit. Got {found_kinds} instead.")
