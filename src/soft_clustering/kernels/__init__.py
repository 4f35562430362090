"""Hot loops: compiled where the extension was built, their NumPy twins of ``reference.py`` elsewhere.

A kernel takes a block of rows (:class:`soft_clustering.engine.blocks.Block`) and gives statistics that merge over
blocks, or one result per row: ``centers.py``, ``gauss.py`` and ``topics.py``; ``pairs.py`` and ``graphs.py`` take all
pairs of rows and the links of a graph. Here is what they share: the extension module ``compiled`` (None where it was
not built), and how the work is split.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..engine.blocks import Block

try:
    compiled: Any = import_module("soft_clustering.kernels._compiled")
except ImportError as error:
    if os.environ.get("SOFT_CLUSTERING_REQUIRE_KERNELS") == "1":
        raise ImportError(
            "SOFT_CLUSTERING_REQUIRE_KERNELS=1, but the compiled kernels are missing: install a C compiler and "
            "reinstall soft-clustering"
        ) from error
    compiled = None
_silent = compiled is not None  # whether there is nothing, or nothing more, to tell about missing kernels


def source_hash() -> str | None:
    """Hash of the kernel sources beside this file, None where they are not there (installed from a wheel)."""
    here = Path(__file__).parent
    sources = sorted([*here.glob("*.h"), *here.glob("*.pyx")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16] if sources else None


if compiled is not None and source_hash() not in (None, compiled.source_hash):
    warnings.warn(
        "the compiled kernels are older than their sources: reinstall soft-clustering (pip install -e .)",
        RuntimeWarning,
        stacklevel=2,
    )


def use_compiled() -> bool:
    """Whether the compiled kernels serve. The first call without them warns, unless they were replaced on purpose."""
    global _silent
    if not _silent:
        _silent = True
        if os.environ.get("SOFT_CLUSTERING_NO_KERNEL_WARNING") != "1":
            warnings.warn(
                "the compiled kernels of soft-clustering are missing, NumPy stands in for them and fits are slower: "
                "install a C compiler and reinstall soft-clustering, or set SOFT_CLUSTERING_NO_KERNEL_WARNING=1 to "
                "silence this warning",
                UserWarning,
                stacklevel=2,
            )
    return compiled is not None


EMPTY = 1e-280  # summed weights below this have underflowed
_TRANSCENDENTAL = 8  # features that a distance and its membership cost besides those of the data
_ONE_THREAD: ContextVar[bool] = ContextVar("one_thread", default=False)


def row_grid(block: Block, K: int, width: int) -> tuple[int, int]:
    """Number of chunks, a function of the shapes only, and number of threads.

    At most 64 chunks of at least 256 rows, fewer where a chunk's result is large (32 MB for all of them).
    """
    chunks = max(1, min(64, block.n // 256, max(4, (1 << 22) // max(width, 1))))
    return chunks, threads_for(block.n * (block.d + _TRANSCENDENTAL) * K, chunks)


def threads_for(work: int, chunks: int, most: int | None = None) -> int:
    """Threads for so much work in so many chunks: one where it is little."""
    return 1 if work < 100_000 else min(most_threads() if most is None else most, chunks)


def most_threads() -> int:
    """Threads that a kernel may run on."""
    return 1 if compiled is None or _ONE_THREAD.get() else min(compiled.max_threads(), usable_cores())


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which the kernels run on one thread: inside tasks that already share the cores."""
    token = _ONE_THREAD.set(True)
    try:
        yield
    finally:
        _ONE_THREAD.reset(token)


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
