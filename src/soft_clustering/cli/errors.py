"""Errors that the user can correct, and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterable

#: Exit codes after Ctrl-C and for a broken pipe; shells use the same ones for the signals SIGINT and SIGPIPE.
INTERRUPTED, BROKEN_PIPE = 130, 141


class CommandError(Exception):
    """A command cannot be carried out; the message says what to do."""


class UsageError(CommandError):
    """The command line asks for something that does not exist or does not fit together."""


def say(note: str) -> None:
    """Tell the user in one line what was recognised or decided."""
    print(f"soft-clustering: {note.removesuffix('.')}", file=sys.stderr)


def matching(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is the same but for upper and lower case; None if there is none, or several."""
    names = list(known)
    if name in names:
        return name
    alike = [other for other in names if other.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def known_name(name: str, known: Iterable[str], kind: str) -> str:
    """Return the known name, whatever its case; raise an error with the closest one if there is none."""
    from ..datasets.files import check_name

    names = list(known)
    found = matching(name, names)
    if found is None:
        check_name(name, names, kind)
    return found or name
