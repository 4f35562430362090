"""Gower's dissimilarities between rows of numbers and categories.

References
----------
J. C. Gower (1971). A general coefficient of similarity and some of its properties. Biometrics 27(4), 857-871.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .._extras import require
from .._text import listed
from .._types import Array
from .mixed import Columns

if TYPE_CHECKING:
    import pandas

_GROUP = 1 << 18  # pairs of rows that are compared at once
_TINY = 1e-300  # the range of a column without one: any difference is a whole one


def gower_dissimilarities(X: Array, Y: Array, ranges: Array) -> Array:
    """Return the mean difference (n, t) of rows (n, d) to others (t, d) over the columns that both have, 1 without any.

    A difference counts in units of the range (d,) of the column, at most 1. So categories are codes that differ by at
    least 1, in columns of range 1. NaN is missing.

    Examples
    --------
    >>> rows = np.array([[20.0, 0.0], [30.0, 1.0], [np.nan, np.nan]])
    >>> gower_dissimilarities(rows, rows, np.array([40.0, 1.0]))
    array([[0.   , 0.625, 1.   ],
           [0.625, 0.   , 1.   ],
           [1.   , 1.   , 1.   ]])
    """
    D, there = np.ones((len(X), len(Y))), (~np.isnan(Y)).astype(np.float64)
    step = max(1, _GROUP // len(Y))
    for lo in range(0, len(X), step):
        rows = X[lo : lo + step]
        total = np.zeros((len(rows), len(Y)))
        for x, y, extent in zip(rows.T, Y.T, ranges, strict=True):
            difference = np.abs(np.subtract.outer(x, y))
            with np.errstate(over="ignore"):
                difference /= max(extent, _TINY)
            np.minimum(difference, 1, out=difference)
            total += np.nan_to_num(difference, copy=False)
        common = (~np.isnan(rows)).astype(np.float64) @ there.T
        np.divide(total, common, out=D[lo : lo + step], where=common > 0)
    return D


@dataclass(frozen=True, eq=False)
class Gower:
    """Gower's dissimilarity of the rows of a table, as a metric.

    Attributes
    ----------
    columns : Columns
        Which columns have categories, and which values these have.
    ranges : ndarray of shape (d,) or None
        The ranges of the columns in the units of :meth:`rows`; None before they are known.
    """

    columns: Columns
    ranges: Array | None = None

    def fitted(self, X: Array) -> Gower:
        """The metric with the ranges of training rows."""
        rows = self.rows(X)
        extents = np.fmax.reduce(rows, initial=np.nan) - np.fmin.reduce(rows, initial=np.nan)
        if np.isnan(extents).any():
            columns = np.flatnonzero(np.isnan(extents)).tolist()
            raise ValueError(f"X has no values in the columns {listed(columns)}: all are missing. Drop them.")
        return replace(self, ranges=np.where(self.columns.is_categorical, 0.5, extents))

    def rows(self, X: Array) -> Array:
        """Rows of numbers and codes, halved, so that no difference overflows."""
        halves: Array = X / np.float64(2)
        return halves

    def between(self, rows: Array, others: Array) -> Array:
        """Dissimilarities of rows to others, from :meth:`rows`."""
        assert self.ranges is not None
        return gower_dissimilarities(rows, others, self.ranges)


def codes_of(texts: pandas.Series, others: pandas.Series) -> tuple[Array, Array]:
    """Return the numbers of texts among all that are different, NaN for a missing one.

    Examples
    --------
    >>> import pandas
    >>> codes_of(pandas.Series(["b", None]), pandas.Series(["a", "b"]))
    (array([ 0., nan]), array([1., 0.]))
    """
    codes, _ = require("pandas", "Tables need pandas").concat([texts, others]).factorize()
    codes = np.where(codes < 0, np.nan, codes)
    return codes[: len(texts)], codes[len(texts) :]
