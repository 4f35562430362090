"""Hot loops: compiled if the extension was built, otherwise their NumPy twins of ``reference.py``.

A kernel takes a block of rows (:class:`soft_clustering.engine.blocks.Block`) and gives statistics that merge over
blocks, or one result per row: ``centers.py``, ``gauss.py`` and ``topics.py``; ``pairs.py`` and ``graphs.py`` take all
pairs of rows and the links of a graph. This module holds what they share: the extension module ``compiled`` (None if it
was not built), and how the work is split.
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
_silent = compiled is not None  # whether no warning about missing kernels is due, or it was given


def source_hash() -> str | None:
    """Hash of the kernel sources beside this file, None if they are not there (as in a wheel)."""
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
    """Whether the compiled kernels are used. The first call without them warns, unless the warning is silenced."""
    global _silent
    if not _silent:
        _silent = True
        if os.environ.get("SOFT_CLUSTERING_NO_KERNEL_WARNING") != "1":
            warnings.warn(
                "the compiled kernels of soft-clustering are missing, so NumPy replaces them and fits are slower: "
                "install a C compiler and reinstall soft-clustering, or set SOFT_CLUSTERING_NO_KERNEL_WARNING=1 to "
                "silence this warning",
                UserWarning,
                stacklevel=2,
            )
    return compiled is not None


EMPTY = 1e-280  # summed weights below this have underflowed
# The least work of a thread, about 0.05 ms. Less of it pays on an idle machine, but on a busy one, where threads wait
# for each other, such fits take 10 to 100 times as long.
_GRAIN = 250_000
_TRANSCENDENTAL = 8  # the cost of a membership beyond its distance, in features
_ONE_THREAD: ContextVar[bool] = ContextVar("one_thread", default=False)


def row_grid(block: Block, K: int, width: int) -> tuple[int, int]:
    """Number of chunks, a function of the shapes only, and number of threads.

    There are at most 64 chunks of at least 256 rows, and fewer if a chunk's result is large (32 MB for all of them).
    """
    if block.n < 512:
        return 1, 1
    chunks = min(64, block.n // 256, max(4, (1 << 22) // max(width, 1)))
    return chunks, threads_for(block.n * (block.d + _TRANSCENDENTAL) * K, chunks)


def threads_for(work: int, chunks: int, most: int | None = None) -> int:
    """The number of threads for this much work in this many chunks: each gets enough of it to be worth waking it."""
    worth = min(chunks, work // _GRAIN)
    return 1 if worth < 2 else min(worth, most_threads() if most is None else most)


def most_threads() -> int:
    """The number of threads that a kernel may run on; asking for it counts as the use of threads."""
    global _threads_used
    if compiled is None or _ONE_THREAD.get() or _threads_lost:
        return 1
    _threads_used = True
    return min(int(compiled.max_threads()), usable_cores())


_threads_used = _threads_lost = False


def threads_lost() -> bool:
    """Whether this process was forked from one that had used threads: OpenMP would wait for them forever."""
    return _threads_lost


def _after_fork() -> None:
    global _threads_lost
    _threads_lost = _threads_used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which the kernels run on one thread: inside tasks that already share the cores."""
    token = _ONE_THREAD.set(True)
    try:
        yield
    finally:
        _ONE_THREAD.reset(token)


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
