"""Errors that the user can correct, and exit codes."""

from __future__ import annotations

#: Exit codes after Ctrl-C and for a broken pipe; shells use the same ones for the signals SIGINT and SIGPIPE.
INTERRUPTED, BROKEN_PIPE = 130, 141


class CommandError(Exception):
    """A command cannot be carried out; the message says what to do."""


class UsageError(CommandError):
    """The command line asks for something that does not exist or does not fit together."""
