"""The command line, in a process of its own as a user starts it, or called in this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import soft_clustering
from soft_clustering.cli import main

ROOT = Path(soft_clustering.__file__).parent.parent


@pytest.fixture(autouse=True, scope="session")
def heed_control_c():
    """A CI runner may start with SIGINT ignored, and so would every process that the tests interrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Command:
    """``python -m soft_clustering``, started in a folder of the test's."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
        self.environment.pop("PYTHONUNBUFFERED", None)  # it would hide what stays in a buffer
        for name in ("COLUMNS", "LINES"):  # a test runner may set them, and they count more than the size of a terminal
            self.environment.pop(name, None)

    def __call__(self, *arguments, **options):
        """Run to the end."""
        return subprocess.run(
            [sys.executable, "-m", "soft_clustering", *map(str, arguments)],
            **{"cwd": self.folder, "env": self.environment, "capture_output": True, "text": True} | options,
        )

    def start(self, *arguments, **options):
        """Only start."""
        return subprocess.Popen(
            [sys.executable, "-m", "soft_clustering", *map(str, arguments)],
            **{"cwd": self.folder, "env": self.environment, "start_new_session": True} | options,
        )


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


@pytest.fixture(scope="module")
def shared_command(tmp_path_factory):
    return Command(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Call ``main`` in the folder of the test: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as end:
            code = end.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def fails(call):
    """Call what must fail: nothing on standard output, one line on standard error, which is returned."""

    def fails(*arguments, code=1):
        found, out, err = call(*arguments)
        assert (found, out) == (code, "")
        assert err.startswith("soft-clustering: error: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        return err.removeprefix("soft-clustering: error: ").rstrip("\n")

    return fails
