"""What the user has, validated and made canonical; the error messages live here.

The readers of files are imported when they are first used.
"""

from __future__ import annotations

from typing import Any

_READERS = {
    "read_graph": "graphs",
    "read_cover": "covers",
    "write_cover": "covers",
    "read_texts": "texts",
    "read_image": "images",
    "read_distances": "distances",
    "read_table": "tables",
}

__all__ = ["read_cover", "read_distances", "read_graph", "read_image", "read_table", "read_texts", "write_cover"]


def __getattr__(name: str) -> Any:
    if name not in _READERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.files.{_READERS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
