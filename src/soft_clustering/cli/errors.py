"""What goes wrong for a reason that the user can do something about."""

from __future__ import annotations

#: Exit codes after Ctrl-C, and when nobody reads the output any more: what a shell says of the signals.
INTERRUPTED, BROKEN_PIPE = 130, 141


class CommandError(Exception):
    """A command cannot be done; the message says what to do."""


class UsageError(CommandError):
    """The command line asks for something that does not exist or does not fit together."""
