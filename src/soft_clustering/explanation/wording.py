"""Numbers and differences in words."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from .._text import one_line

_UNITS = ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))  # from which number on, the unit, its letter
_LONGEST = 40
_DAY = 86400
_YEAR = 365.25 * _DAY


def number_pair(value: float, other: float) -> str:
    """Return two numbers to compare, with as many digits as show two digits of their difference.

    Examples
    --------
    >>> number_pair(71234.5, 42001.0), number_pair(5.4128, 3.0694), number_pair(100000012.0, 100000034.0)
    ('71k against 42k', '5.4 against 3.1', '100000012 against 100000034')
    >>> number_pair(3e-150, 4.25e-150), number_pair(2.0, 2.0)
    ('3.0e-150 against 4.2e-150', '2 against 2')
    """
    gap, largest = abs(value - other), max(abs(value), abs(other))
    if gap == 0 or not math.isfinite(gap):
        return f"{value:.4g} against {other:.4g}"
    place = math.floor(math.log10(gap)) - 1  # of the last digit that is shown
    leading = math.floor(math.log10(largest))
    if leading < -4 or leading > 14:
        digits = min(max(leading - place, 0), 16)
        return f"{value:.{digits}e} against {other:.{digits}e}"
    unit, suffix = next(((u, s) for least, u, s in _UNITS if largest >= least and 10.0**place >= u / 10), (1.0, ""))
    decimals = max(0, round(math.log10(unit)) - place)
    texts = [f"{round(number / unit, decimals) + 0.0:.{decimals}f}{suffix}" for number in (value, other)]  # never -0.0
    return " against ".join(texts)


def share_pair(share: float, other: float) -> str:
    """Return two shares as percentages.

    Examples
    --------
    >>> share_pair(0.62, 0.26), share_pair(0.004, 0.0011), share_pair(1.0, 0.0)
    ('62 % against 26 %', '0.40 % against 0.11 %', '100 % against 0 %')
    """
    gap = abs(share - other) * 100
    decimals = 0 if gap >= 1 or gap == 0 else min(9, 1 - math.floor(math.log10(gap)))
    return f"{100 * share:.{decimals}f} % against {100 * other:.{decimals}f} %"


def date_pair(seconds: float, other: float) -> str:
    """Return two times, given as seconds since 1970: as dates, months or minutes, by how far they are apart.

    Examples
    --------
    >>> date_pair(0.0, 1e8), date_pair(0.0, 3600.0)
    ('1970-01 against 1973-03', '1970-01-01 00:00 against 1970-01-01 01:00')
    """
    gap = abs(seconds - other)
    length = 16 if gap < 2 * _DAY else 10 if gap < _YEAR else 7
    texts = [date_text(time) if date_of(time) is None else date_text(time)[:length] for time in (seconds, other)]
    return " against ".join(texts)


def date_text(seconds: float) -> str:
    """Return a time, given as seconds since 1970, as text with minutes.

    Examples
    --------
    >>> date_text(1e9), date_text(1e15)
    ('2001-09-09 01:46', 'year 31690058')
    """
    moment = date_of(seconds)
    return f"year {1970 + seconds / _YEAR:.0f}" if moment is None else moment.isoformat(" ", "minutes")


def date_of(seconds: float) -> datetime | None:
    """Return a time, given as seconds since 1970; None outside the years 1 to 9999, or if it is nan."""
    try:
        return datetime(1970, 1, 1) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


def percent(share: float) -> str:
    """Return a share as a whole percentage that is 0 or 100 only if the share is.

    Examples
    --------
    >>> percent(0.384), percent(0.002), percent(0.0), percent(0.999)
    ('38 %', '<1 %', '0 %', '>99 %')
    """
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def short(text: object, longest: int = _LONGEST) -> str:
    """Return a text on one line, cut if it is long."""
    line = one_line(text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def counted(n: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "sample"), counted(1200, "sample")
    ('1 sample', '1,200 samples')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"
