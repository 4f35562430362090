"""The machine and the software that a benchmark ran on."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from .._show_versions import versions
from ..kernels import usable_cores

_CHECKOUT = Path(__file__).parents[3]  # in the src layout; an installed package has no .git there


def environment() -> dict[str, Any]:
    """Return what the measurements of a benchmark depend on besides the code under test.

    Returns
    -------
    environment : dict
        Ready for JSON: the lines of :func:`soft_clustering.show_versions` (versions, whether the kernels are compiled),
        and ``date``, ``cpu``, ``usable_cores``, ``thread_pools`` (library and number of threads), ``thread_variables``
        (the environment variables that limit threads), ``commit`` (of the checkout the package is imported from, None
        for an installed package; it ends in ``-dirty`` if files have changed since).

    Examples
    --------
    >>> from soft_clustering.benchmarking import environment
    >>> {"soft-clustering", "kernels", "python", "numpy", "cpu", "thread_pools"} <= set(environment())
    True
    """
    pools = [
        {name: pool.get(name) for name in ("user_api", "internal_api", "version", "num_threads")}
        for pool in threadpool_info()
        if pool["user_api"] in ("blas", "openmp")  # SciPy registers its reader of Matrix Market files, too
    ]
    return versions() | {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "usable_cores": usable_cores(),
        "thread_pools": pools,
        "thread_variables": {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")},
        "commit": _output("git", "-C", str(_CHECKOUT), "describe", "--always", "--dirty", "--exclude=*")
        if _CHECKOUT.joinpath(".git").exists()
        else None,
    }


def _cpu() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return _output("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor() or platform.machine()


def _output(*command: str) -> str | None:
    """Return what a command prints; None if it prints nothing, is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() or None
    except (OSError, subprocess.CalledProcessError):
        return None
