"""Soft clustering: published algorithms of every family behind one scikit-learn protocol.

Estimators are imported when they are first used.
"""

from ._registry import REGISTRY
from ._version import __version__

_MODULES = {row.name: row.module for row in REGISTRY} | {
    "explain": "soft_clustering.explanation",
    "prepare": "soft_clustering.preparation",
    "show_versions": "soft_clustering._show_versions",
}

__all__ = ["__version__", *sorted(_MODULES)]


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_MODULES})
