"""Gower's dissimilarities between rows of numbers and categories.

References
----------
J. C. Gower (1971). A general coefficient of similarity and some of its properties. Biometrics 27(4), 857-871.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._extras import require
from .._types import Array

if TYPE_CHECKING:
    import pandas

_GROUP = 1 << 18  # pairs of rows that are compared at once
_TINY = 1e-300  # the range of a column without one: any difference is a whole one

Codes = NDArray[np.intp]


def gower_dissimilarities(
    shape: tuple[int, int],
    numbers: Sequence[tuple[Array, Array, float]],
    categories: Sequence[tuple[Codes, Codes]],
) -> Array:
    """Return the mean difference of rows to other rows over the columns that both have, 1 if there is none.

    Parameters
    ----------
    shape : tuple of int
        The number of rows, and of other rows.
    numbers : list of (values, values of the other rows, range)
        NaN is missing. A difference counts in units of the range, at most 1.
    categories : list of (codes, codes of the other rows)
        -1 is missing. A difference counts 1.

    Examples
    --------
    >>> age, plan = np.array([20.0, 30.0, np.nan]), np.array([0, 1, -1])
    >>> gower_dissimilarities((3, 3), [(age, age, 40.0)], [(plan, plan)])
    array([[0.   , 0.625, 1.   ],
           [0.625, 0.   , 1.   ],
           [1.   , 1.   , 1.   ]])
    """
    D = np.ones(shape)
    step = max(1, _GROUP // shape[1])
    for lo in range(0, shape[0], step):
        rows = slice(lo, lo + step)
        total = np.zeros_like(D[rows])
        common = np.zeros_like(total)
        for x, y, extent in numbers:
            with np.errstate(over="ignore"):
                difference = np.minimum(np.abs(x[rows, None] - y) / max(extent, _TINY), 1)
            common += ~np.isnan(difference)
            total += np.nan_to_num(difference)
        for code, other in categories:
            there = (code[rows, None] >= 0) & (other >= 0)
            common += there
            total += there & (code[rows, None] != other)
        np.divide(total, common, out=D[rows], where=common > 0)
    return D


def codes_of(texts: pandas.Series, others: pandas.Series) -> tuple[Codes, Codes]:
    """Return the numbers of texts among all that are different, -1 for a missing one.

    Examples
    --------
    >>> import pandas
    >>> codes_of(pandas.Series(["b", None]), pandas.Series(["a", "b"]))
    (array([ 0, -1]), array([1, 0]))
    """
    codes, _ = require("pandas", "Tables need pandas").concat([texts, others]).factorize()
    return codes[: len(texts)], codes[len(texts) :]
