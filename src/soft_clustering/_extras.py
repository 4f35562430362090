"""Packages that only some tasks need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


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
        raise ImportError(f'{need}: pip install "soft-clustering[{extra}]"') from error
