"""Cells of tables: numbers and dates that are written as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from .._extras import require
from .._types import Array

if TYPE_CHECKING:
    import pandas

#: The value of a missing category: to be missing may mean something, and it is not the most frequent value.
MISSING = "(missing)"
#: What may separate groups of three digits, by the decimal mark. The last three are an apostrophe and narrow spaces.
_GROUP_MARKS = {".": ",' \u2019\u00a0\u202f", ",": ".' \u2019\u00a0\u202f"}
#: Texts that stand for a missing value, beside those that pandas knows; in lower case.
PLACEHOLDERS = frozenset({"", "?", "-", "--", ".", "n.a.", "na", "n/a", "nan", "null", "none", "missing", "unknown"})
#: Formats of dates, tried in this order; of two that read every cell the first is taken.
_DATE_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
    *("%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"),
    "ISO8601",
)
#: A text that could be a date: it saves trying all the formats on names and sentences.
_LIKE_A_DATE = r"\d{1,4}[-/. ]\w{1,9}[-/., ]+\d{1,4}(?:\D.*)?|[A-Za-z]{3,9} \d{1,2}, \d{4}"


def number_pattern(decimal: str) -> str:
    """Return the regular expression of a number with this decimal mark, with or without marks between its thousands.

    Examples
    --------
    >>> [bool(re.fullmatch(number_pattern(","), text)) for text in ("1.234,5", "-7", "1.5", "1e-3")]
    [True, True, False, True]
    """
    groups = "|".join(f"(?:{re.escape(mark)}[0-9]{{3}})+" for mark in _GROUP_MARKS[decimal])
    fraction = f"{re.escape(decimal)}[0-9]"
    plain = f"(?:[0-9]+(?:{fraction}*)?|{fraction}+)(?:[eE][+-]?[0-9]+)?"
    return f"[+-]?(?:[1-9][0-9]{{0,2}}(?:{groups})(?:{fraction}*)?|{plain})"


def is_number(text: str) -> bool:
    """Whether a text is a number, with either decimal mark.

    Examples
    --------
    >>> is_number("1,5"), is_number("1.5e3"), is_number("nan"), is_number("a1")
    (True, True, True, False)
    """
    if any(re.fullmatch(number_pattern(mark), text) for mark in _GROUP_MARKS):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def texts_of(column: pandas.Series) -> pandas.Series:
    """Return the cells as text without spaces around it; None where one is missing, empty or ``MISSING``.

    Examples
    --------
    >>> import pandas
    >>> texts_of(pandas.Series([" a", None, "", 3])).tolist()
    ['a', None, None, '3']
    """
    pandas = require("pandas", "Tables need pandas")
    pairs = zip(column.astype(object), column.isna(), strict=True)
    texts = [None if missing else str(cell).strip() for cell, missing in pairs]
    texts = [None if text in ("", MISSING) else text for text in texts]
    return pandas.Series(texts, index=column.index, name=column.name, dtype=object)


def numbers_of(texts: pandas.Series, decimal: str = ".") -> Array:
    """Return the numbers that texts stand for; NaN where a text is not a number.

    Examples
    --------
    >>> import pandas
    >>> numbers_of(pandas.Series(["1.234,5", "2", "two"]), decimal=",")
    array([1234.5,    2. ,    nan])
    """
    written = texts.fillna("").astype(str)
    infinite = written.str.fullmatch(r"[+-]?inf(?:inity)?", case=False)
    plain = written.where(written.str.fullmatch(number_pattern(decimal)) | infinite, "")
    for mark in _GROUP_MARKS[decimal]:
        plain = plain.str.replace(mark, "", regex=False)
    plain = plain.str.replace(decimal, ".", regex=False)
    return np.array([float(text) if text else np.nan for text in plain], dtype=np.float64)


def decimal_mark(texts: pandas.Series) -> str:
    """Return the decimal mark by which more of the texts are numbers; the point if both marks read the same number.

    Examples
    --------
    >>> import pandas
    >>> decimal_mark(pandas.Series(["1.234,5", "17"])), decimal_mark(pandas.Series(["1,234", "17"]))
    (',', '.')
    """
    point, comma = (np.isfinite(numbers_of(texts, mark)).sum() for mark in _GROUP_MARKS)
    return "," if comma > point else "."


def date_formats(texts: pandas.Series) -> list[str]:
    """Return the formats by which every text is a date; those that differ only in the order of day and month are two.

    Examples
    --------
    >>> import pandas
    >>> date_formats(pandas.Series(["2020-02-29", "2021-01-01"]))[0]
    '%Y-%m-%d'
    >>> date_formats(pandas.Series(["03/04/2020"]))
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> date_formats(pandas.Series(["30 apples", "02-2020"]))
    []
    """
    known = texts.dropna()
    if known.empty or not known.str.fullmatch(_LIKE_A_DATE).all():
        return []
    head = known.iloc[:100]
    return [
        form for form in _DATE_FORMATS if dates_of(head, form).notna().all() and dates_of(known, form).notna().all()
    ]


def dates_of(texts: pandas.Series, form: str) -> pandas.Series:
    """Return the dates in a format, in universal time; NaT where a text is not one.

    Examples
    --------
    >>> import pandas
    >>> dates_of(pandas.Series(["1.2.2020", "soon"]), "%d.%m.%Y").dt.day.tolist()
    [1.0, nan]
    """
    pandas = require("pandas", "Tables need pandas")
    found = pandas.to_datetime(texts, format=form, errors="coerce", utc=True)
    return found
