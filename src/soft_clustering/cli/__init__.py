"""The command ``soft-clustering``, also ``python -m soft_clustering``.

What a command needs is imported when it runs, so that ``--help`` is quick.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .._text import one_line
from .arguments import parser
from .errors import BROKEN_PIPE, INTERRUPTED, CommandError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : list of str, default=None
        The arguments; None takes those of the process.

    Returns
    -------
    code : int
        0, 1 for a command that failed, 2 for a wrong command line, 130 after Ctrl-C, 141 for a reader that went away.

    Examples
    --------
    >>> from soft_clustering.cli import main
    >>> main(["list", "--modality", "graph", "--json"])  # doctest: +ELLIPSIS
    [...
    0
    """
    _prepare_streams()
    debug = False
    try:
        try:
            args = parser().parse_args(argv)
            debug = args.debug
            args.command = shlex.join(["soft-clustering", *(sys.argv[1:] if argv is None else argv)])
            module, function = args.function.split(".")
            code: int = getattr(import_module(f".{module}", __package__), function)(args)
        finally:
            sys.stdout.flush()  # what cannot be written is found here, not at the end of the interpreter
    except BrokenPipeError:
        _silence(sys.stdout, sys.stderr)
        return BROKEN_PIPE
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        _complain(f"error: {_text_of(error)}")
        if isinstance(error, OSError) and error.filename is None:
            _silence(sys.stdout)  # perhaps the one that failed, and would again
        return 2 if isinstance(error, UsageError) else 1
    return code


# Output and errors ----------------------------------------------------------------------------------------------------


def _prepare_streams() -> None:
    """Lines come out in their order, with names of the user's that the terminal may not know how to show.

    A closed stream takes what is written to nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it stays open
        if isinstance(getattr(sys, name), io.TextIOWrapper):
            getattr(sys, name).reconfigure(errors="backslashreplace", line_buffering=True)


def _silence(*streams: Any) -> None:
    """Send what is still in the buffers to nowhere."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _complain(message: str) -> None:
    print(f"soft-clustering: {message}", file=sys.stderr)


def _text_of(error: Exception) -> str:
    """One line: what was wrong, and the kind of error where it was not foreseen."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    if isinstance(error, CommandError | ValueError | TypeError | ImportError | OSError):
        return one_line(error)
    return one_line(f"{type(error).__name__}: {error} (--debug shows where)")
