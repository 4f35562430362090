"""Columns of a data frame as numbers: scikit-learn transformers for numbers, dates and categories.

They take data frames, and cells that cannot be read become NaN or, in a category, zeros. So new data never fail because
of a cell, unless it is infinite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._extras import require
from .._types import Array
from .cells import MISSING, dates_of, numbers_of, texts_of

if TYPE_CHECKING:
    from typing import Self

    import pandas

#: Squares of larger numbers, and sums of them, would overflow.
LARGEST = 1e150


class _ByColumn(BaseEstimator):
    """What the transformers have in common: they note the names of the columns."""

    feature_names_in_: NDArray[Any]
    n_features_in_: int

    def _note(self, X: pandas.DataFrame) -> None:
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]


class Numbers(OneToOneFeatureMixin, TransformerMixin, _ByColumn):
    """Numbers, also those written as text; booleans are 0 and 1, durations are days.

    Parameters
    ----------
    marks : dict of str to str, default=None
        The decimal mark, ``'.'`` or ``','``, of each column that is written as text; ``'.'`` if it is not named here.

    Examples
    --------
    >>> import pandas
    >>> Numbers({"price": ","}).fit_transform(pandas.DataFrame({"price": ["1.250,5", "?"], "new": [True, False]}))
    array([[1.2505e+03, 1.0000e+00],
           [       nan, 0.0000e+00]])
    """

    def __init__(self, marks: Mapping[str, str] | None = None) -> None:
        self.marks = marks

    def fit(self, X: pandas.DataFrame, y: ArrayLike | None = None) -> Self:
        """Note the names of the columns."""
        self._note(X)
        return self

    def transform(self, X: pandas.DataFrame) -> Array:
        """Return the numbers, NaN where one is missing."""
        check_is_fitted(self)
        marks = self.marks or {}
        return _stacked([number_values(X[name], marks.get(name, ".")) for name in X.columns], len(X))


class Days(OneToOneFeatureMixin, TransformerMixin, _ByColumn):
    """Dates as days since the first date of the training data.

    Parameters
    ----------
    formats : dict of str to str, default=None
        The format of each column that is written as text; ``'ISO8601'`` if it is not named here.

    Attributes
    ----------
    origins_ : ndarray of shape (n_features,)
        The first date of each column, in days since 1970.

    Examples
    --------
    >>> import pandas
    >>> Days({"day": "%d.%m.%Y"}).fit_transform(pandas.DataFrame({"day": ["1.3.2020", "28.2.2020", None]}))
    array([[ 2.],
           [ 0.],
           [nan]])
    """

    origins_: Array

    def __init__(self, formats: Mapping[str, str] | None = None) -> None:
        self.formats = formats

    def fit(self, X: pandas.DataFrame, y: ArrayLike | None = None) -> Self:
        """Find the first date of each column."""
        self._note(X)
        days = self._days(X)
        self.origins_ = np.array([np.nanmin(column) if np.isfinite(column).any() else 0.0 for column in days.T])
        return self

    def transform(self, X: pandas.DataFrame) -> Array:
        """Return the days, NaN where a date is missing."""
        check_is_fitted(self)
        return self._days(X) - self.origins_

    def _days(self, X: pandas.DataFrame) -> Array:
        formats = self.formats or {}
        return _stacked([day_values(X[name], formats.get(name, "ISO8601")) for name in X.columns], len(X))


class Indicators(TransformerMixin, _ByColumn):
    """Categories as columns of zeros and ones, times a weight; a value that is not known yet is zero everywhere.

    The indicators of a column get the weight by which their variances sum to ``variance``, so that a column counts as
    much as a number of this variance, however many values it has. A missing value is a value of its own.

    Parameters
    ----------
    variance : float, default=1.0
        The sum of the variances of the indicators of a column.

    Attributes
    ----------
    categories_ : list of list of str
        The values of each column, sorted.
    weights_ : ndarray of shape (n_features,)
        What its indicators are multiplied by.

    Examples
    --------
    >>> import pandas
    >>> encoder = Indicators().fit(pandas.DataFrame({"plan": ["a", "b", "a", "b"]}))
    >>> encoder.get_feature_names_out().tolist()
    ['plan=a', 'plan=b']
    >>> encoder.transform(pandas.DataFrame({"plan": ["b", "new"]}))
    array([[0.        , 1.41421356],
           [0.        , 0.        ]])
    """

    categories_: list[list[str]]
    weights_: Array

    def __init__(self, variance: float = 1.0) -> None:
        self.variance = variance

    def fit(self, X: pandas.DataFrame, y: ArrayLike | None = None) -> Self:
        """Find the values of each column."""
        self._note(X)
        counts = [category_values(X[name]).value_counts() for name in X.columns]
        self.categories_ = [sorted(count.index) for count in counts]
        # of a column with one value every weight has the variance 0
        spreads = np.array([1 - float(((count / count.sum()) ** 2).sum()) for count in counts])
        self.weights_ = np.sqrt(self.variance / np.where(spreads > 0, spreads, 1.0))
        return self

    def transform(self, X: pandas.DataFrame) -> Array:
        """Return the weighted indicators."""
        codes = self._codes(X)
        blocks = [
            weight * (codes[:, [j]] == np.arange(len(known)))
            for j, (known, weight) in enumerate(zip(self.categories_, self.weights_, strict=True))
        ]
        return np.hstack([np.empty((len(X), 0)), *blocks])

    def n_unknown(self, X: pandas.DataFrame) -> NDArray[np.intp]:
        """Return for each column the number of values that were not there at the fit."""
        unknown: NDArray[np.intp] = (self._codes(X) < 0).sum(axis=0)
        return unknown

    def _codes(self, X: pandas.DataFrame) -> NDArray[np.intp]:
        """Return the number of each value among the categories, -1 if it is not known."""
        check_is_fitted(self)
        Index = require("pandas", "Tables need pandas").Index
        columns = zip(X.columns, self.categories_, strict=True)
        codes = [Index(known, dtype=object).get_indexer(category_values(X[name])) for name, known in columns]
        return np.column_stack([np.empty((len(X), 0), dtype=np.intp), *codes])

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the indicators, such as ``plan=a``."""
        check_is_fitted(self)
        pairs = zip(self.feature_names_in_, self.categories_, strict=True)
        return np.array([f"{name}={value}" for name, known in pairs for value in known], dtype=object)


def _stacked(columns: list[Array], n: int) -> Array:
    return np.column_stack([np.empty((n, 0)), *columns])


def number_values(column: pandas.Series, mark: str = ".") -> Array:
    """Return the numbers of a column, NaN where one is missing or cannot be read; raise an error for an infinite one.

    Examples
    --------
    >>> import pandas
    >>> number_values(pandas.Series([1, None, 3]))
    array([ 1., nan,  3.])
    """
    pandas = require("pandas", "Tables need pandas")
    types = pandas.api.types
    if types.is_complex_dtype(column.dtype):
        raise ValueError(f"Column {column.name!r} has complex numbers: take their absolute values or their parts.")
    if types.is_timedelta64_dtype(column.dtype):
        column = column / pandas.Timedelta(days=1)
    if types.is_numeric_dtype(column.dtype):
        values: Array = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        texts = texts_of(column)
        values = numbers_of(texts, mark)
        lowered = texts.fillna("").astype(str).str.lower()
        values = np.where(lowered == "true", 1.0, np.where(lowered == "false", 0.0, values))
    too_large = int((np.abs(values) > LARGEST).sum())
    if too_large:
        raise ValueError(
            f"Column {column.name!r} has infinite numbers, or larger ones than {LARGEST:g}, in {too_large} "
            f"row{'s' if too_large > 1 else ''}: correct them or leave the column out (--drop)."
        )
    return values


def day_values(column: pandas.Series, form: str = "ISO8601") -> Array:
    """Return the dates of a column as days since 1970, NaN where one is missing or cannot be read.

    Examples
    --------
    >>> import pandas
    >>> day_values(pandas.Series(["1970-01-03", "soon"]))
    array([ 2., nan])
    """
    pandas = require("pandas", "Tables need pandas")
    if isinstance(column.dtype, pandas.PeriodDtype):
        column = column.dt.to_timestamp()
    if isinstance(column.dtype, pandas.DatetimeTZDtype) or column.dtype.kind == "M":
        dates = pandas.to_datetime(column, utc=True)
    else:
        dates = dates_of(texts_of(column), form)
    days: Array = ((dates - pandas.Timestamp(0, tz="UTC")) / pandas.Timedelta(days=1)).to_numpy(dtype=np.float64)
    return days


def category_values(column: pandas.Series) -> pandas.Series:
    """Return the values of a category as text.

    Examples
    --------
    >>> import pandas
    >>> category_values(pandas.Series(["a ", None])).tolist()
    ['a', '(missing)']
    """
    return texts_of(column).fillna(MISSING)
