"""How often the intervals of ``soft_clustering.explanation`` contain the truth, and what an explanation costs.

``python -m benchmarks intervals [--repeats 4000] [--seed 0]``

Prints a Markdown table: simulated cases, and the share of the 95 % intervals of the first cluster that contain the true
difference or lift. Then the CPU time and the memory of an explanation of 1,000,000 x 20 numbers in 10 clusters, and of
a sparse matrix of 200,000 x 50,000 with 10 million entries.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.lib.records import Record
from soft_clustering.explanation import explain_memberships, profile_categories, profile_features

Array = NDArray[np.float64]
Rng = np.random.Generator


def two(p: Array) -> Array:
    """Memberships of two clusters."""
    return np.column_stack([p, 1 - p])


def crisp(sizes: tuple[int, int]) -> Array:
    return np.repeat(np.eye(2), sizes, axis=0)


def covered(U: Array, X: Array, truth: float) -> float:
    """The share of the columns whose interval contains the difference."""
    profile = profile_features(U, X)
    low, high = profile.low[0] * profile.deviation, profile.high[0] * profile.deviation
    return float(np.mean((low <= truth) & (truth <= high)))


def crisp_case(rng: Rng, repeats: int, sizes: tuple[int, int], width: float = 1.0) -> float:
    """Normal features; the first cluster is 2 higher, and ``width`` times as wide."""
    U = crisp(sizes)
    return covered(U, rng.normal(size=(len(U), repeats)) * (U @ [width, 1.0])[:, None] + 2 * U[:, :1], 2.0)


def given_case(rng: Rng, repeats: int, n: int, alpha: float) -> float:
    """Memberships are drawn once; the features do not depend on them."""
    return covered(two(rng.beta(alpha, alpha, n)), rng.normal(size=(n, repeats)), 0.0)


def function_case(rng: Rng, repeats: int, n: int) -> float:
    """Rows are drawn from a mixture, and the membership is a function of the feature, as in a clustering."""

    def rows(size: int) -> tuple[Array, Array]:
        x = 3.0 * (rng.uniform(size=size) < 0.5) + rng.normal(size=size)
        return x, 1 / (1 + np.exp(2.25 - 1.5 * x))

    x, p = rows(4_000_000)
    truth = float(p @ x / p.sum() - (1 - p) @ x / (1 - p).sum())
    hits = 0.0
    for _ in range(repeats):
        x, p = rows(n)
        hits += covered(two(p), x[:, None], truth)
    return hits / repeats


def lift_case(rng: Rng, repeats: int, U: Array, p: float, q: float, truth: float | None = None) -> float:
    """A value of probability p in the first cluster and q in the second."""
    hits = 0
    for _ in range(repeats):
        profile = profile_categories(U, rng.uniform(size=len(U)) < U @ [p, q])
        if "True" in profile.values:
            j = profile.values.index("True")
            hits += bool(profile.lift_low[0, j] <= (truth or p / q) <= profile.lift_high[0, j])
    return hits / repeats


def given_lift(rng: Rng, repeats: int, alpha: float) -> float:
    """The lift of the expected shares, with memberships that are drawn once."""
    u = rng.beta(alpha, alpha, 200)
    expected = 0.4 * u + 0.2 * (1 - u)
    truth = float((u @ expected / u.sum()) / ((1 - u) @ expected / (1 - u).sum()))
    return lift_case(rng, repeats, two(u), 0.4, 0.2, truth)


def cases(rng: Rng, repeats: int) -> Iterator[tuple[str, float]]:
    """The rows of the table."""
    for sizes in ((50, 150), (10, 190), (20, 20), (5, 95), (3, 97), (2, 98), (1, 99)):
        yield f"crisp, {sizes[0]} and {sizes[1]} samples", crisp_case(rng, repeats, sizes)
    for sizes in ((10, 190), (30, 170)):
        yield f"crisp, {sizes[0]} and {sizes[1]}, the first 0.3 times as wide", crisp_case(rng, repeats, sizes, 0.3)
    for n, alpha in ((50, 0.3), (50, 1.0), (200, 1.0), (200, 5.0)):
        yield f"given memberships from Beta({alpha:g}, {alpha:g}), {n} samples", given_case(rng, repeats, n, alpha)
    for n in (50, 200):
        yield f"memberships that are a function of the feature, {n} samples", function_case(rng, repeats, n)
    for sizes, p, q in (
        ((100, 100), 0.3, 0.2),
        ((20, 180), 0.3, 0.2),
        ((100, 900), 0.02, 0.01),
        ((10, 90), 0.5, 0.1),
        ((20, 180), 0.05, 0.2),
    ):
        name = f"lift of {p:g} to {q:g}, {sizes[0]} and {sizes[1]} samples"
        yield name, lift_case(rng, repeats, crisp(sizes), p, q)
    for alpha in (0.3, 1.0, 5.0):
        name = f"lift of 0.4 to 0.2, given memberships from Beta({alpha:g}, {alpha:g}), 200 samples"
        yield name, given_lift(rng, repeats, alpha)


def cost(rng: Rng) -> dict[str, dict[str, float]]:
    """The CPU seconds of an explanation, and the gigabytes that it adds to the peak of the process."""
    U = rng.dirichlet(np.ones(10), 1_000_000)
    n, d = 200_000, 50_000
    entries = (np.ones(50 * n), (np.repeat(np.arange(n), 50), rng.integers(0, d, 50 * n)))
    data = {"1,000,000 x 20": rng.normal(size=(1_000_000, 20)), "sparse": sparse.csr_array(entries, shape=(n, d))}
    found = {}
    for name, X in data.items():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        explain_memberships(U[: X.shape[0]], X)
        seconds = time.process_time() - start
        found[name] = {
            "CPU seconds": seconds,
            "GB beyond": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e6,
        }
        print(f"{name}: {found[name]}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    record = Record("intervals", partial=arguments != parser.parse_args([]))
    record["cost"] = cost(np.random.default_rng(arguments.seed))  # first: other cases would raise the peak
    print("| case | covers |\n|---|---|")
    record["covers"] = {}
    for name, share in cases(np.random.default_rng(arguments.seed), arguments.repeats):
        record["covers"][name] = share
        print(f"| {name} | {share:.1%} |", flush=True)
    record.save()


if __name__ == "__main__":
    main()
