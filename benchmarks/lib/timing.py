"""How long a call takes: the best of several, and the best of each side if two are compared in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it returns."""
    start = time.perf_counter()
    answer = action()
    return time.perf_counter() - start, answer


def best(action: Callable[[], Any], least: int = 3, seconds: float = 1.0) -> float:
    """The least seconds of some calls: at least ``least`` of them, and more (up to 50) until they add up."""
    found: list[float] = []
    while len(found) < least or (sum(found) < seconds and len(found) < 50):
        found.append(timed(action)[0])
    return min(found)


def in_turns(repeats: int, **sides: Callable[[], object]) -> dict[str, float]:
    """Best time of each side, run in turns; one warm-up each."""
    for side in sides.values():
        side()
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            times[name].append(timed(side)[0])
    return {name: min(values) for name, values in times.items()}
