"""Resident memory of processes. Standard library only: other interpreters run this very file to be measured alike."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys


def reset_peak() -> None:
    """Set the high-water mark of this process to what it holds now, where the system allows it (Linux).

    Memory that is free but not yet given back is given back (glibc): what comes next cannot hide in it.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library, Windows
        ctypes.CDLL(None).malloc_trim(0)
    # no /proc, or a container that forbids it: peaks are then counted from the earlier mark
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")


def peak() -> int | None:
    """High-water mark of this process's resident size in bytes; None on Windows."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:
        return None
    # bytes on macOS, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def resident(group: int) -> int:
    """Resident bytes of all processes of a process group; POSIX only."""
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
        except (OSError, IndexError):  # it has just ended
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")
