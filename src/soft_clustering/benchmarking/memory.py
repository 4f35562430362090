"""Resident memory of processes.

This file needs only the standard library: other interpreters run it, so that all are measured in the same way.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys


def reset_peak() -> None:
    """Set the high-water mark of this process to the memory it holds now, if the system allows it (Linux).

    Free memory is returned to the system first (glibc): what is allocated next would reuse it and not be counted.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library, Windows
        ctypes.CDLL(None).malloc_trim(0)
    # without /proc, or in a container that forbids writing there, peaks are counted from the earlier mark
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")


def peak() -> int | None:
    """Return the high-water mark of this process's resident size in bytes; None on Windows."""
    found = _status("VmHWM:")
    if found is not None:
        return found
    try:
        import resource
    except ImportError:
        return None
    # bytes on macOS, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def mapped() -> int:
    """Return the resident bytes that are pages of files, such as the code of libraries; 0 where this is not known.

    A forked process finds these pages again one by one as it runs, so that they look like memory that it takes.
    """
    return _status("RssFile:") or 0


def _status(name: str) -> int | None:
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(name)) * 1024
    except (OSError, StopIteration):
        return None


def resident(group: int) -> int:
    """Return the resident bytes of all processes of a process group; POSIX only."""
    if not os.path.exists("/proc/self/statm"):
        listing = subprocess.run(["ps", "-A", "-o", "pgid=,rss="], capture_output=True, text=True, check=True).stdout
        rows = (line.split() for line in listing.splitlines())
        return 1024 * sum(int(size) for pgid, size in rows if int(pgid) == group)
    pages = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getpgid(int(name)) == group:
                with open(f"/proc/{name}/statm") as sizes:
                    pages += int(sizes.read().split()[1])
        except (OSError, IndexError):  # the process has just ended
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")
