"""What is installed, for bug reports."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "threadpoolctl", "joblib", "torch", "networkx", "pymetis", "dask"),
    *("distributed", "pandas", "pyarrow", "matplotlib", "jinja2", "rich", "flwr"),
)


def versions() -> dict[str, str]:
    """Versions of the package, its kernels and its dependencies."""
    from . import __version__, kernels

    if kernels.compiled is None:
        state = "not built, NumPy replaces them (slower)"
    else:
        state = f"compiled, {kernels.compiled.vector_bytes()}-byte vectors, {kernels.compiled.max_threads()} threads"
    found = {
        "soft-clustering": __version__,
        "kernels": state,
        "python": sys.version.split()[0],
        "platform": f"{platform.platform()}, {os.cpu_count()} cores",
    }
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def show_versions() -> None:
    """Print the versions of the package, its kernels and its dependencies.

    Examples
    --------
    >>> import soft_clustering
    >>> soft_clustering.show_versions()  # doctest: +ELLIPSIS
    soft-clustering: ...
    """
    for name, found in versions().items():
        print(f"{name}: {found}")
