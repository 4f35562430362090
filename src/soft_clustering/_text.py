"""Plain text."""

from __future__ import annotations

from collections.abc import Sequence


def one_line(message: object) -> str:
    r"""Return a message without line breaks.

    Examples
    --------
    >>> one_line("two\n  lines")
    'two lines'
    """
    return " ".join(str(message).split())


def listed(items: Sequence[object], most: int = 5) -> str:
    """Return the first items with commas, and how many there are beyond them.

    Examples
    --------
    >>> listed([2, 3, 5])
    '2, 3, 5'
    >>> listed(range(9), most=3)
    '0, 1, 2 and 6 more'
    """
    return ", ".join(map(str, items[:most])) + (f" and {len(items) - most} more" if len(items) > most else "")
