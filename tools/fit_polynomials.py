"""Derive the polynomials of the branch-free exp and log in ``src/soft_clustering/kernels/``.

Minimax fits in relative error by the Remez exchange, in 60-digit arithmetic:

* exp(r) = 1 + r + r^2 P(r) for ``|r| <= log(2) / 2``;
* log(y) = 2 f + f s Q(s) with ``f = (y - 1) / (y + 1)``, ``s = f^2``, for ``sqrt(1/2) <= y <= sqrt(2)``;
* in single precision (``gumbel.h``) exp as above, and log(1 + f) = f + f^2 Q(f) without a division.

Run ``python tools/fit_polynomials.py`` (needs mpmath) and paste the printed coefficients, lowest degree first.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import mpmath as mp

mp.mp.dps = 60


def remez(target: Callable, weight: Callable, low: float, high: float, degree: int) -> tuple[list, float]:
    """Coefficients (lowest degree first) of the polynomial with least max ``|weight * (target - p)|``."""
    size = degree + 2
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (size - 1 - i) / (size - 1)) for i in range(size)]
    for _ in range(12):
        system = mp.matrix(size, size)
        right = mp.matrix(size, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                system[i, j] = x**j
            system[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = target(x)
        solution = mp.lu_solve(system, right)
        coefficients = [solution[j] for j in range(degree + 1)]

        def error(x, coefficients=coefficients):
            return weight(x) * (target(x) - mp.polyval(coefficients[::-1], x))

        grid = [low + (high - low) * mp.mpf(i) / 3000 for i in range(3001)]
        values = [error(x) for x in grid]
        roots = [0] + [i for i in range(1, 3001) if values[i] * values[i - 1] < 0] + [3001]
        peaks = [max(range(a, b), key=lambda i: abs(values[i])) for a, b in pairwise(roots) if b > a]
        if len(peaks) != size:
            break
        nodes = [grid[i] for i in peaks]
    return coefficients, float(max(abs(v) for v in values))


def exp_tail(r):
    """(exp(r) - 1 - r) / r^2, by its series near 0."""
    return mp.mpf(1) / 2 + r / 6 + r**2 / 24 if abs(r) < 1e-15 else (mp.exp(r) - 1 - r) / r**2


def log_tail(s):
    """(log(y) / f - 2) / s with f = sqrt(s), y = (1 + f) / (1 - f), with its limit at 0."""
    if s == 0:
        return mp.mpf(2) / 3
    f = mp.sqrt(s)
    return (2 * mp.atanh(f) / f - 2) / s


def log1p_tail(f):
    """(log(1 + f) - f) / f^2, by its series near 0."""
    return -mp.mpf(1) / 2 + f / 3 - f**2 / 4 if abs(f) < 1e-15 else (mp.log1p(f) - f) / f**2


def main() -> None:
    """Print the coefficient tables with their largest relative errors."""
    half = mp.log(2) / 2
    top = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    for name, target, weight, low, high, degree in (
        ("exp", exp_tail, lambda r: half**2 / mp.exp(-half), -half, half, 9),
        ("log", log_tail, lambda s: s / 2 + mp.mpf(10) ** -12, mp.mpf(0), top, 6),
        ("exp, single", exp_tail, lambda r: half**2 / mp.exp(-half), -half, half, 4),
        ("log1p, single", log1p_tail, lambda f: abs(f) + mp.mpf(10) ** -3, mp.sqrt(0.5) - 1, mp.sqrt(2) - 1, 8),
    ):
        coefficients, error = remez(target, weight, low, high, degree)
        print(f"{name}: degree {degree}, relative error at most {error:.2e}")
        for c in coefficients:
            print("   ", float(c).hex(), f"/* {mp.nstr(c, 20)} */")


if __name__ == "__main__":
    main()
