"""The data sets of the benchmarks, by group, and what several benchmarks do with all of them."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.lib.records import Record
from soft_clustering.datasets import available_datasets, dataset_info, get_dataset

HELD_OUT = ("glass", "ecoli", "vehicle", "yeast", "segment", "pendigits", "satimage", "optdigits", "letter")

Sets = dict[str, tuple[np.ndarray, np.ndarray]]


def shared(*parts: str) -> Path:
    """A folder or file of the shared data, whose folder the variable SOFT_CLUSTERING_DATA_SHARED names.

    It holds ``tabular`` (``.npz`` files with X and y, also in ``more`` and ``scale``), ``categorical`` (CSV, the class
    in the last column), ``graphs`` (what ``soft_clustering.datasets.load_graph`` reads) and ``text`` (``bbc_news.tsv``
    and ``m10.tsv``: text, split and class per line).
    """
    home = os.environ.get("SOFT_CLUSTERING_DATA_SHARED")
    if not home:
        raise SystemExit("Set SOFT_CLUSTERING_DATA_SHARED to the folder with tabular, categorical, graphs and text.")
    return Path(home, *parts)


def offline_sets() -> Sets:
    """Name -> (X, y): the ten sets that need no network, raw features."""
    return {name: get_dataset(name) for name in available_datasets() if not dataset_info(name)["needs_network"]}


def held_out_sets(rows: int = 600) -> Sets:
    """Name -> (X, y): the nine sets on which no default was chosen, a fixed sample of their rows, raw features.

    Rows of optdigits that scikit-learn's digits have, too, are left out.
    """
    sets = {name: get_dataset(name, data_home=shared("tabular")) for name in HELD_OUT}
    known = {row.tobytes() for row in get_dataset("digits")[0]}
    X, y = sets["optdigits"]
    fresh = np.array([row.tobytes() not in known for row in np.ascontiguousarray(X)])
    sets["optdigits"] = X[fresh], y[fresh]
    return {name: sample(X, y, rows) for name, (X, y) in sets.items()}


def more_sets(rows: int = 600) -> Sets:
    """Name -> (X, y): six further tables, missing values replaced by the median of the column, standardised."""
    sets = {}
    for path in sorted(shared("tabular", "more").glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            X, y = sample(file["X"].astype(float), file["y"], rows)
        sets[path.stem] = StandardScaler().fit_transform(np.where(np.isnan(X), np.nanmedian(X, axis=0), X)), y
    return sets


def planted_sets(first_seed: int = 500, n_sets: int = 12) -> Sets:
    """Name -> (X, y): overlapping elliptic Gaussians of unequal sizes, in 5 to 40 features, standardised."""
    return {f"planted {seed}": planted_mixture(seed) for seed in range(first_seed, first_seed + n_sets)}


def planted_mixture(seed: int, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """One such mixture; neighbouring means are 3 to 5 standard deviations apart."""
    rng = np.random.default_rng(seed)
    d, K = (5, 10, 20, 40)[seed % 4], int(rng.integers(2, 8))
    shares = 0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0))
    y = rng.choice(K, n, p=shares)
    means = rng.normal(size=(K, d))
    gaps = np.linalg.norm(means[:, None] - means[None], axis=2)[np.triu_indices(K, 1)]
    means *= rng.uniform(3, 5) / gaps.min()
    X = means[y]
    for k in range(K):
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
        deviations = np.exp(rng.uniform(-0.6, 0.6, d))
        X[y == k] += (rng.normal(size=(int((y == k).sum()), d)) * deviations) @ axes.T
    return StandardScaler().fit_transform(X), y


def sample(X: np.ndarray, y: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A sample of at most this many rows, the same every time."""
    if len(X) <= rows:
        return X, y
    kept = np.sort(np.random.RandomState(0).choice(len(X), rows, replace=False))
    return X[kept], y[kept]


def _both(sets: Sets) -> Sets:
    return sets | {f"{name} (std)": (StandardScaler().fit_transform(X), y) for name, (X, y) in sets.items()}


#: The ten offline sets; nine held-out ones, raw and standardised; six further tables; twelve planted mixtures.
GROUPS: dict[str, Callable[[], Sets]] = {
    "ten": offline_sets,
    "held_out": lambda: _both(held_out_sets()),
    "more": more_sets,
    "planted": planted_sets,
}


def add_arguments(parser: argparse.ArgumentParser, models: Sequence[str], groups: Sequence[str]) -> None:
    """The options that choose models and groups of sets."""
    parser.add_argument("--sets", nargs="+", choices=groups, default=groups, metavar="GROUP", help=", ".join(groups))
    parser.add_argument("--models", nargs="+", choices=models, default=models, metavar="NAME")


def tabulate(record: Record, arguments: argparse.Namespace, repeats: int, score: Callable[..., float]) -> None:
    """Measure ``score(model, X, y, seed)`` of the chosen models and groups: a Markdown table, and a record of it all.

    The record has group -> model -> set -> the scores of the seeds.
    """
    for group in arguments.sets:
        sets = GROUPS[group]()
        print(f"\n| {group} | mean | spread | seconds | " + " | ".join(sets) + " |\n" + "|---" * (len(sets) + 4) + "|")
        for model in arguments.models:
            start = time.perf_counter()
            found = np.array([[score(model, X, y, seed) for X, y in sets.values()] for seed in range(repeats)])
            seconds, means = time.perf_counter() - start, found.mean(axis=1)
            rows: dict[str, Any] = record.setdefault(group, {})
            rows[model] = {key: found[:, i].tolist() for i, key in enumerate(sets)}
            cells = [f"{means.mean():.4f}", f"{np.ptp(means):.4f}", f"{seconds:.0f}"]
            cells += [f"{value:.3f}" for value in found.mean(axis=0)]
            print(f"| {model} | " + " | ".join(cells) + " |", flush=True)
    record.save()
