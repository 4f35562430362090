"""Lines that are rewritten on terminals and in notebooks, and nothing elsewhere."""

import io
import sys
import time
from types import SimpleNamespace

import pytest

from soft_clustering import FCM, _progress
from soft_clustering._progress import Bar, StatusLine, bar_of, is_terminal, live_console, rate_of
from soft_clustering.engine import fitting


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def usual_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")


@pytest.fixture
def notebook(monkeypatch):
    class ZMQInteractiveShell:
        pass

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=ZMQInteractiveShell))


@pytest.fixture
def no_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)


def visible(text):
    """The line that the terminal shows in the end."""
    return text.rpartition("\r")[2].rstrip()


def test_a_line_is_rewritten():
    stream = Terminal()
    line = StatusLine(stream, patience=0.0)
    line.show("a long text")
    line.show("short")
    assert visible(stream.getvalue()) == "short"
    assert stream.getvalue() == "\ra long text\rshort      "
    line.clear()
    assert visible(stream.getvalue()) == ""
    written = stream.getvalue()
    line.clear()
    assert stream.getvalue() == written


def test_a_line_fits_the_terminal():
    stream = Terminal()
    StatusLine(stream).show("x" * 100)
    assert visible(stream.getvalue()) == "x" * 59


def test_nothing_is_shown_too_soon_or_too_often():
    line = StatusLine(Terminal(), patience=60.0)
    assert not line.is_due
    line = StatusLine(Terminal(), patience=0.0)
    assert line.is_due
    line.show("text")
    assert not line.is_due


@pytest.mark.parametrize("stream, term", [(io.StringIO(), "xterm"), (Terminal(), "dumb")])
def test_nothing_is_written_where_lines_cannot_be_rewritten(stream, term, monkeypatch):
    monkeypatch.setenv("TERM", term)
    line = StatusLine(stream, patience=0.0)
    line.show("text")
    line.clear()
    assert not is_terminal(stream)
    assert live_console(stream) is None
    assert stream.getvalue() == ""


def test_notebooks(notebook):
    stream = io.StringIO()
    line = StatusLine(stream)
    line.show("text")
    assert stream.getvalue() == "\rtext"


@pytest.mark.parametrize(
    "arguments, text",
    [
        ((5, 10, 0.5, "fits"), "10.0 fits/s, 0 s left"),
        ((1, 601, 1.0, "fits"), "1.0 s each, 10 min left"),
        ((0, 10, 5.0, "fits"), ""),
        ((1, 10, 0.0, "fits"), ""),
    ],
)
def test_rates(arguments, text):
    assert rate_of(*arguments) == text


def test_bar_of_rich(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    bar = bar_of(live_console(stream), "runs", "a note")
    task = bar.add_task("", total=5, completed=2, begun=2)
    with bar:
        bar.advance(task)
    assert "3 of 5 runs" in stream.getvalue()
    assert " left" in stream.getvalue()
    assert "a note" in stream.getvalue()
    assert stream.getvalue().count("\x1b[?25l") == stream.getvalue().count("\x1b[?25h") == 1


def test_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = Bar(2, "fits")
    assert bar.is_shown
    bar.step()
    bar.close()
    assert "1 of 2 fits" in sys.stderr.getvalue()


def test_bar_without_rich(monkeypatch, no_rich):
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = Bar(4, "fits", done=1)
    bar.step()
    time.sleep(0.01)
    bar.step()
    assert bar.is_shown
    assert visible(sys.stderr.getvalue()).startswith("3 of 4 fits, ")
    bar.close()
    assert visible(sys.stderr.getvalue()) == ""


def test_bar_in_a_notebook(monkeypatch, notebook):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    bar = Bar(4, "fits")
    bar.step()
    assert bar.is_shown
    assert "1 of 4 fits, " in sys.stderr.getvalue()


def test_bar_in_a_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    bar = Bar(4, "fits")
    bar.step()
    bar.close()
    assert not bar.is_shown
    assert sys.stderr.getvalue() == ""


# Fits that take long --------------------------------------------------------------------------------------------------


@pytest.fixture
def long_fits(monkeypatch):
    """Every fit takes long, and every pass may be shown."""
    monkeypatch.setattr(_progress, "_INTERVAL", 0.0)
    monkeypatch.setattr(fitting, "_STATUS", StatusLine(patience=0.0))


X = [[0.0], [1.0], [5.0], [6.0], [9.0]]


def test_long_fit_on_a_terminal(monkeypatch, long_fits):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stdout", Terminal())
    model = FCM(2, n_init=2, max_iter=77, random_state=0, verbose=1).fit(X)
    shown = sys.stdout.getvalue()
    assert "\rFCM pass 1 of at most 77 (" in shown
    assert " left at most): objective " in shown
    # in the end each start has its line, and nothing else is left
    first, second, end = [visible(line) for line in shown.split("\n")]
    assert first.startswith("FCM start 1: objective ")
    assert second.startswith("FCM start 2: objective ")
    assert end == ""
    assert f"{model.n_iter_} passes" in shown


def test_long_fit_in_a_pipe(capsys, long_fits):
    FCM(2, n_init=2, random_state=0, verbose=1).fit(X)
    lines = capsys.readouterr().out
    assert "\r" not in lines
    assert [line[:12] for line in lines.splitlines()] == ["FCM start 1:", "FCM start 2:"]


def test_silent_fit(monkeypatch, long_fits):
    monkeypatch.setattr(sys, "stdout", Terminal())
    FCM(2, random_state=0).fit(X)
    assert sys.stdout.getvalue() == ""
