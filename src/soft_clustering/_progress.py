"""Progress of long tasks: lines that are rewritten on a terminal or in a notebook, and nothing elsewhere.

A caller prints plain lines where nothing can be rewritten, so that pipes and logs hold the same text every time.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

#: Seconds before a task counts as long, and between two changes of what is shown of it.
_PATIENCE, _INTERVAL = 3.0, 0.2


def is_terminal(stream: TextIO) -> bool:
    """Whether lines of the stream can be rewritten by control characters."""
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook.

    Examples
    --------
    >>> in_notebook()
    False
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class StatusLine:
    """One line about a long task, which is rewritten; it needs no other package.

    Parameters
    ----------
    stream : file, default=None
        None stands for standard output, whatever that is when the line is shown.
    patience : float, default=3.0
        Seconds during which nothing is shown.
    """

    def __init__(self, stream: TextIO | None = None, patience: float = _PATIENCE) -> None:
        self._stream, self._patience = stream, patience
        self._length = 0
        self.begin()

    def begin(self) -> None:
        """Count the time from now on."""
        self.start = time.monotonic()
        self._next = self.start + self._patience

    @property
    def is_due(self) -> bool:
        """Whether it is time to show something; the caller need not make its text before."""
        return time.monotonic() >= self._next

    def show(self, text: str) -> None:
        """Show a text in place of the one before, if the stream allows it."""
        stream = self._stream or sys.stdout
        self._next = time.monotonic() + _INTERVAL
        if is_terminal(stream):
            text = text[: shutil.get_terminal_size().columns - 1]
        elif not in_notebook():
            return
        stream.write("\r" + text.ljust(self._length))
        stream.flush()
        self._length = len(text)

    def clear(self) -> None:
        """Remove the text."""
        if self._length:
            stream = self._stream or sys.stdout
            stream.write("\r" + " " * self._length + "\r")
            stream.flush()
            self._length = 0


def rate_of(done: int, total: int, seconds: float, unit: str) -> str:
    """Say how fast a task goes, and how long the rest will take at this rate.

    Examples
    --------
    >>> rate_of(10, 40, 5.0, "runs")
    '2.0 runs/s, 15 s left'
    >>> rate_of(2, 4, 60.0, "runs")
    '30.0 s each, 1 min left'
    >>> rate_of(0, 4, 3.0, "runs")
    ''
    """
    if not done or not seconds:
        return ""
    each = seconds / done
    left = (total - done) * each
    rate = f"{1 / each:.1f} {unit}/s" if each < 1 else f"{each:.1f} s each"
    return f"{rate}, " + (f"{left:.0f} s left" if left < 60 else f"{left / 60:.0f} min left")


def bar_of(console: Console, unit: str, note: str = "") -> Progress:
    """A bar of rich's with the number of finished tasks, the rate and the time left.

    Parameters
    ----------
    console : Console
    unit : str
        What is counted, in the plural.
    note : str, default=''
        What to say after it, where there is room.
    """
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            begun = task.fields["begun"]
            return Text(rate_of(int(task.completed) - begun, int(task.total or 0) - begun, task.elapsed or 0.0, unit))

    columns: list[Any] = [TextColumn(f"{{task.completed:.0f}} of {{task.total:.0f}} {unit}"), BarColumn(20), Rate()]
    if console.width >= 100:
        columns.append(TextColumn(note, style="dim"))
    return Progress(*columns, console=console, transient=True)


def live_console(stream: TextIO) -> Console | None:
    """A console of rich's on a stream whose lines it can rewrite; None if there is none, or no rich."""
    if not is_terminal(stream) or find_spec("rich") is None:
        return None
    from rich.console import Console

    return Console(file=stream, highlight=False, force_jupyter=False)


class Bar:
    """How many of some tasks are finished, the rate and the time left, on standard error.

    It is a bar of rich's on a terminal; without rich, or in a notebook, a line of text. Elsewhere nothing is shown.

    Parameters
    ----------
    total : int
    unit : str
        What is counted, in the plural.
    done : int, default=0
        How many were finished before.
    """

    def __init__(self, total: int, unit: str, done: int = 0) -> None:
        self._total, self._unit, self._done, self._begun = total, unit, done, done
        console = live_console(sys.stderr)
        self._bar = None if console is None else bar_of(console, unit)
        self._line = StatusLine(sys.stderr, patience=0.0)
        self.is_shown = self._bar is not None or is_terminal(sys.stderr) or in_notebook()
        if self._bar is not None:
            self._bar.add_task("", total=total, completed=done, begun=done)
            self._bar.start()

    def step(self) -> None:
        """Count one more."""
        self._done += 1
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])
        elif self.is_shown:
            seconds = time.monotonic() - self._line.start
            rate = rate_of(self._done - self._begun, self._total - self._begun, seconds, self._unit)
            self._line.show(f"{self._done} of {self._total} {self._unit}, {rate}")

    def close(self) -> None:
        """Remove it."""
        if self._bar is not None:
            self._bar.stop()
        self._line.clear()
