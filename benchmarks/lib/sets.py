"""The data sets of the quality tables, and the tables."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from soft_clustering.datasets import available_datasets, dataset_info, get_dataset

RESULTS = Path(__file__).parents[1] / "results"
HELD_OUT = ("glass", "ecoli", "vehicle", "yeast", "segment", "pendigits", "satimage", "optdigits", "letter")

Sets = dict[str, tuple[np.ndarray, np.ndarray]]


def offline_sets(varied_std: list[float] | None = None) -> Sets:
    """Name -> (X, y): the ten sets that need no network, raw features; varied_blobs with other spreads if given."""
    sets = {name: get_dataset(name) for name in available_datasets() if not dataset_info(name)["needs_network"]}
    if varied_std is not None:
        sets["varied_blobs"] = make_blobs(1500, centers=4, cluster_std=varied_std, random_state=42)
    return sets


def held_out_sets(data_home: str, rows: int = 600) -> Sets:
    """Name -> (X, y): the nine sets on which no default was chosen, a fixed sample of their rows, raw features.

    Rows of optdigits that scikit-learn's digits have, too, are left out.
    """
    sets = {name: get_dataset(name, data_home=data_home) for name in HELD_OUT}
    known = {row.tobytes() for row in get_dataset("digits")[0]}
    X, y = sets["optdigits"]
    fresh = np.array([row.tobytes() not in known for row in np.ascontiguousarray(X)])
    sets["optdigits"] = X[fresh], y[fresh]
    return {name: sample(X, y, rows) for name, (X, y) in sets.items()}


def more_sets(data_home: str, rows: int = 600) -> Sets:
    """Name -> (X, y): six further tables, missing values replaced by the median of the column, standardised."""
    sets = {}
    for path in sorted(Path(data_home, "more").glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            X, y = sample(file["X"].astype(float), file["y"], rows)
        sets[path.stem] = StandardScaler().fit_transform(np.where(np.isnan(X), np.nanmedian(X, axis=0), X)), y
    return sets


def planted_sets(first_seed: int, n_sets: int = 12) -> Sets:
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


def add_set_arguments(parser: argparse.ArgumentParser, rows: int) -> None:
    """The options that choose the sets."""
    parser.add_argument(
        "--varied-std", type=float, nargs=4, metavar="S", help="spreads of the clusters of varied_blobs"
    )
    parser.add_argument("--held-out", metavar="DATA_HOME")
    parser.add_argument("--more", metavar="DATA_HOME", help="six further tables")
    parser.add_argument("--planted", type=int, metavar="SEED", help="twelve planted mixtures, the first of this seed")
    parser.add_argument("--rows", type=int, default=rows, help="of each held-out set")


def chosen_sets(arguments: argparse.Namespace) -> Sets:
    """The ten offline sets; or the held-out ones, raw and standardised; or the six further tables; or planted ones."""
    if arguments.more:
        return more_sets(arguments.more, arguments.rows)
    if arguments.planted is not None:
        return planted_sets(arguments.planted)
    if not arguments.held_out:
        return offline_sets(arguments.varied_std)
    raw = held_out_sets(arguments.held_out, arguments.rows)
    return raw | {f"{name} (std)": (StandardScaler().fit_transform(X), y) for name, (X, y) in raw.items()}


def record_path(name: str, arguments: argparse.Namespace, rows: int) -> Path:
    """The file for the figures: NAME.json, NAME_varied.json, NAME_held_out.json and so on, with ROWS if they differ."""
    kind = "" if arguments.varied_std is None else "_varied"
    if arguments.more:
        kind = "_more"
    if arguments.planted is not None:
        kind = f"_planted_{arguments.planted}"
    if arguments.held_out:
        kind = "_held_out" + ("" if arguments.rows == rows else f"_{arguments.rows}")
    return RESULTS / f"{name}{kind}.json"


def tabulate(
    path: Path, sets: Sets, models: list[str], repeats: int, score: Callable[..., float], ways: int = 1
) -> None:
    """Print a Markdown table of the mean ``score(model, X, y, seed)`` over the seeds; write the score of every seed.

    The sets are split into ``ways`` parts of equal size, each with its own mean. The file keeps the figures of other
    models.
    """
    record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"ari": {}, "seconds": {}}
    print("| model | mean | spread | " + " | ".join(sets) + " |")
    print("|---" * (len(sets) + 3) + "|")
    for name in models:
        start = time.perf_counter()
        found = np.array([[score(name, X, y, seed) for X, y in sets.values()] for seed in range(repeats)])
        record["ari"][name] = {key: found[:, i].tolist() for i, key in enumerate(sets)}
        record["seconds"][name] = time.perf_counter() - start
        means = [part.mean(axis=1) for part in np.split(found, ways, axis=1)]
        cells = " | ".join(f"{value:.3f}" for value in found.mean(axis=0))
        shown = " / ".join(f"{mean.mean():.4f}" for mean in means)
        spread = " / ".join(f"{np.ptp(mean):.4f}" for mean in means)
        print(f"| {name} | {shown} | {spread} | {cells} |", flush=True)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(record, indent=1) + "\n")
