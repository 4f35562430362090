"""Packages that only some tasks need."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

#: The module that an estimator imports when it is fitted, by the extra that brings it.
MODULES = {"deep": "torch"}


def is_installed(extra: str) -> bool:
    """Whether the module of an extra that estimators need can be imported.

    Examples
    --------
    >>> is_installed("deep") in (True, False)
    True
    """
    return find_spec(MODULES[extra]) is not None


def pip_line(extra: str) -> str:
    """Return the command that installs an extra.

    Examples
    --------
    >>> print(pip_line("deep"))
    pip install "soft-clustering[deep]"
    """
    return f'pip install "soft-clustering[{extra}]"'


def require(module: str, need: str, *, extra: str = "app") -> Any:
    """A module of an extra, or an error that says how to get it.

    Examples
    --------
    >>> require("no_such_module", "This needs no_such_module")
    Traceback (most recent call last):
    ...
    ImportError: This needs no_such_module: pip install "soft-clustering[app]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{need}: {pip_line(extra)}") from error
