"""Plain text."""

from __future__ import annotations


def one_line(message: object) -> str:
    r"""Return a message without line breaks.

    Examples
    --------
    >>> one_line("two\n  lines")
    'two lines'
    """
    return " ".join(str(message).split())
