"""The command ``soft-clustering``, also ``python -m soft_clustering``.

Each command imports what it needs when it runs, so that ``--help`` is quick.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

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
        0 on success, 1 if the command failed, 2 for a wrong command line, 130 after Ctrl-C, 141 if the reader of the
        output is gone.

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
            sys.stdout.flush()  # an error of writing is raised here, not when the interpreter exits
    except BrokenPipeError:
        _silence(sys.stdout, sys.stderr)
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        if _is_interrupt(error):
            return _interrupted()
        if debug:
            raise
        _complain(f"error: {_text_of(error)}")
        if isinstance(error, OSError) and error.filename is None:
            _silence(sys.stdout)  # writing to it may be what failed, and would fail again at exit
        return 2 if isinstance(error, UsageError) else 1
    return code


# Output and errors ----------------------------------------------------------------------------------------------------


def _prepare_streams() -> None:
    """Make the streams write line by line, and escape characters that the terminal cannot show.

    A closed stream is replaced by one that discards what is written.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it stays open
        if isinstance(getattr(sys, name), io.TextIOWrapper):
            getattr(sys, name).reconfigure(errors="backslashreplace", line_buffering=True)


def _silence(*streams: TextIO) -> None:
    """Discard what the streams still have in their buffers."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _interrupted() -> int:
    _complain("interrupted")
    return INTERRUPTED


def _is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error: compiled modules that are being imported may replace it by one of theirs."""
    behind: BaseException | None = error
    while behind is not None and not isinstance(behind, KeyboardInterrupt):
        behind = behind.__cause__ or behind.__context__
    return behind is not None


def _complain(message: str) -> None:
    print(f"soft-clustering: {message}", file=sys.stderr)


def _text_of(error: Exception) -> str:
    """Say in one line what was wrong; an unforeseen error is named by its type."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    if isinstance(error, CommandError | ValueError | TypeError | ImportError | OSError):
        return one_line(error)
    return one_line(f"{type(error).__name__}: {error} (--debug shows where)")
