"""The recommended model beside every fixed model and the best in hindsight, by the adjusted Rand index.

``python -m benchmarks recommendation [--groups made fresh]``

All models that take a table are fitted to each data set, standardised, at most 700 rows, at the true number of classes;
k-means is among them. The classes are used for nothing but the adjusted Rand index at the end.

* ``made``: the sets on which the rule was made: the ten offline sets, olivetti_faces, the nine held-out and
  the six further tables, 60 planted sets (40 Gaussian mixtures of several kinds, 10 of other shapes, 10 with
  categories; seeds 3000 to 3009), and 24 sets without clusters (uniform, Gaussian, heavy tails; seeds 5000 to 5023).
* ``fresh``: sets that nobody looked at when the rule was made: the eight categorical tables, one-hot, four large tables
  (700 rows of each), 60 planted sets (seeds 6000 to 6009) and 48 without clusters (seeds 7000 to 7047).

Prints the mean of every model, of the rule as it ships, and, for ``made``, of the rule with weights learnt by least
squares on all sets but the one at hand; then how often data without clusters are recognised, and data with clusters
are not.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.lib.mixtures import SETTINGS, mixture, scattered_mixture
from benchmarks.lib.records import Record
from benchmarks.lib.sets import Sets, held_out_sets, more_sets, offline_sets, planted_mixture, sample, shared
from soft_clustering._registry import REGISTRY
from soft_clustering.cli.models import configured, model_class
from soft_clustering.datasets import get_dataset
from soft_clustering.recommendation import evidence_of, recommend
from soft_clustering.recommendation.recommend import WEIGHTS

ROWS = 700
GROUPS = ["made", "fresh"]


def standardised(X: np.ndarray) -> np.ndarray:
    return StandardScaler().fit_transform(np.asarray(X, dtype=float))


def shaped(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Clusters that are not Gaussian: moons, circles, sheared blobs, heavy tails, skewed ones."""
    rng = np.random.default_rng(seed)
    kind, n = seed % 5, int(rng.integers(300, ROWS))
    if kind == 0:
        return make_moons(n, noise=float(rng.uniform(0.03, 0.15)), random_state=seed)
    if kind == 1:
        noise, factor = float(rng.uniform(0.03, 0.1)), float(rng.uniform(0.3, 0.6))
        return make_circles(n, noise=noise, factor=factor, random_state=seed)
    if kind == 2:
        X, y = make_blobs(n, centers=int(rng.integers(3, 6)), random_state=seed)
        return X @ rng.normal(size=(2, 2)), y
    K, d = int(rng.integers(2, 7 if kind == 3 else 6)), int(rng.integers(2, 11))
    y = rng.integers(K, size=n)
    centers = rng.normal(size=(K, d)) * (rng.uniform(4, 8) if kind == 3 else rng.uniform(1.5, 3))
    spread = rng.standard_t(3, size=(n, d)) if kind == 3 else np.exp(rng.normal(size=(n, d)) * 0.7)
    return centers[y] + spread, y


def mixed(seed: int, n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Round clusters in 2 to 7 features, and 1 to 3 categories of which about half depend on the cluster."""
    rng = np.random.default_rng(seed)
    K, d, n_categories = int(rng.integers(2, 6)), int(rng.integers(2, 8)), int(rng.integers(1, 4))
    y = rng.choice(K, n, p=0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0)))
    means = rng.normal(size=(K, d))
    gaps = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)]
    means *= rng.uniform(4, 6) / gaps.min()
    parts = [standardised(means[y] + rng.normal(size=(n, d)))]
    for _ in range(n_categories):
        m = int(rng.integers(2, 5))
        related = rng.uniform() < 0.5
        shares = rng.dirichlet(np.ones(m), size=K) if related else np.tile(rng.dirichlet(np.full(m, 3.0)), (K, 1))
        values = np.array([rng.choice(m, p=shares[k]) for k in y])
        zeros_and_ones = np.eye(m)[values]
        # together they have the variance of one feature, as soft_clustering.prepare scales them
        parts.append(zeros_and_ones / np.sqrt(zeros_and_ones.var(axis=0).sum()))
    return np.hstack(parts), y


def planted(first: int) -> Sets:
    sets = {f"elliptic {seed}": planted_mixture(seed) for seed in range(first, first + 10)}
    for family in ("planted", "fresh", "overlap"):
        sets |= {f"{family} {seed}": mixture(seed, **SETTINGS[family])[:2] for seed in range(first, first + 8)}
    sets |= {f"scattered {seed}": scattered_mixture(seed)[:2] for seed in range(first, first + 6)}
    sets |= {f"shaped {seed}": shaped(seed) for seed in range(first, first + 10)}
    return sets | {f"mixed {seed}": mixed(seed) for seed in range(first, first + 10)}


def without_clusters(first: int, n_sets: int) -> Sets:
    """One uniform or Gaussian cloud, round or not, or one with heavy tails; K is asked for all the same."""
    sets = {}
    for number, seed in enumerate(range(first, first + n_sets)):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(150, ROWS)), int(rng.choice([2, 3, 5, 10, 20]))
        X = (
            rng.uniform(size=(n, d)),
            rng.normal(size=(n, d)),
            rng.normal(size=(n, d)) @ rng.normal(size=(d, d)),
            rng.standard_t(5, size=(n, d)),
        )[seed % 4]
        sets[f"none {seed}"] = X, np.arange(n) % (2, 3, 4, 6)[number // 4 % 4]  # only the number of classes is used
    return sets


def categorical() -> Sets:
    import pandas

    sets = {}
    for path in sorted(shared("categorical").glob("*.csv")):
        frame = pandas.read_csv(path)
        X, y = frame.iloc[:, :-1], np.asarray(frame.iloc[:, -1].astype(str))
        numbers = X.select_dtypes("number")
        texts = X.drop(columns=numbers.columns).astype(str)
        texts = texts.loc[:, texts.nunique() < 30]
        parts = [np.asarray(numbers.fillna(numbers.median()), dtype=float)]
        parts.append(OneHotEncoder(sparse_output=False).fit_transform(texts))
        sets[path.stem] = np.hstack(parts), y
    return sets


def large() -> Sets:
    sets = {}
    for path in sorted(shared("tabular", "scale").glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            X, y = sample(file["X"].reshape(len(file["y"]), -1), file["y"], ROWS)
        sets[path.stem] = X, y
    return sets


def collections(group: str) -> Iterator[tuple[str, Sets]]:
    if group == "made":
        real = offline_sets() | {"olivetti_faces": get_dataset("olivetti_faces", data_home=shared("tabular"))}
        yield "real", real | held_out_sets(ROWS) | more_sets(ROWS)
        yield "planted", planted(3000)
        yield "none", without_clusters(5000, 24)
    else:
        yield "real", categorical() | large()
        yield "planted", planted(6000)
        yield "none", without_clusters(7000, 48)


def fits(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The adjusted Rand index and the evidence of every model, and what is recommended."""
    K = len(np.unique(y))
    models = {row.name: model_class(row.name) for row in REGISTRY}
    estimators = {
        name: configured(model, "features", K, given=True, seed=0)
        for name, model in models.items()
        if model.modality == "features"
    }
    estimators["KMeans"] = KMeans(K, n_init=10, random_state=0)
    ari, evidence, memberships, seconds = {}, {}, {}, 0.0
    for name, estimator in estimators.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                estimator.fit(X)
                labels = np.asarray(estimator.labels_)
                start = time.perf_counter()
                evidence[name] = dict(evidence_of(estimator, X, labels))
                seconds += time.perf_counter() - start
            except Exception as error:
                print(f"{name}: {error!r}"[:200])
                continue
        memberships[name] = estimator.memberships_ if name != "KMeans" else np.eye(K)[labels]
        ari[name] = adjusted_rand_score(y, labels)
    found = recommend(memberships, evidence, K)
    return {
        "shape": X.shape,
        "K": K,
        "ari": ari,
        "scores": found.scores,
        "best": found.best,
        "clear": found.clear,
        "seconds": seconds,
    }


def learnt(sets: dict[tuple[str, str], dict[str, Any]]) -> dict[tuple[str, str], float]:
    """The adjusted Rand index of the model chosen for each set, with weights learnt on the others."""
    moments = {}
    for name, found in sets.items():
        F = np.array([[one[key] for key in WEIGHTS] for one in (found["scores"][model] for model in found["ari"])])
        F = np.where(np.isfinite(F), F, 0.0)
        a = np.array(list(found["ari"].values()))
        centred = F - F.mean(axis=0)
        moments[name] = F, centred.T @ centred / len(F), centred.T @ (a - a.mean()) / len(F), a
    gram, right = (sum(entry[i] for entry in moments.values()) for i in (1, 2))
    print("weights learnt on all sets:", dict(zip(WEIGHTS, np.linalg.solve(gram, right).round(3), strict=True)))
    return {
        name: float(a[np.argmax(F @ np.linalg.solve(gram - own, right - own_right))])
        for name, (F, own, own_right, a) in moments.items()
    }


def measure(group: str) -> dict[str, Any]:
    """The sets of a group: for each the adjusted Rand index of every model, and what is recommended."""
    found: dict[str, Any] = {}
    for kind, sets in collections(group):
        found[kind] = {}
        for name, (X, y) in sets.items():
            X, y = sample(np.asarray(X), np.asarray(y), ROWS)
            # those with categories are scaled already
            found[kind][name] = fits(X if name.startswith("mixed") else standardised(X), y)
            print(kind, name, X.shape, found[kind][name]["best"], flush=True)
    structured = {(kind, name): one for kind in ("real", "planted") for name, one in found[kind].items()}
    if group == "made":
        for key, value in learnt(structured).items():
            structured[key]["learnt"] = value
    for sets in found.values():
        for one in sets.values():
            del one["scores"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    arguments = parser.parse_args()
    record = Record("recommendation", partial=arguments != parser.parse_args([]))
    for group in arguments.groups:
        record[group] = measure(group)
        show(record[group])
    record.save()


def show(found: dict[str, Any]) -> None:
    structured = {f"{kind} {name}": one for kind in ("real", "planted") for name, one in found[kind].items()}
    rows = {
        "(best in hindsight)": {name: max(one["ari"].values()) for name, one in structured.items()},
        "**recommended**": {name: one["ari"][one["best"]] for name, one in structured.items()},
        "recommended, weights learnt without the set": {
            name: one["learnt"] for name, one in structured.items() if "learnt" in one
        },
    }
    for model in sorted({model for one in structured.values() for model in one["ari"]}):
        rows[model] = {name: one["ari"].get(model, math.nan) for name, one in structured.items()}
    print("\n| model | all | real | planted |\n|---|---|---|---|")
    for row in sorted((row for row in rows if rows[row]), key=lambda row: -np.nanmean(list(rows[row].values()))):
        cells = []
        for kind in ("", "real ", "planted "):
            cells.append(f"{np.nanmean([value for name, value in rows[row].items() if name.startswith(kind)]):.3f}")
        print(f"| {row} | {' | '.join(cells)} |")
    missed = [name for name, one in structured.items() if not one["clear"]]
    nothing = [not one["clear"] for one in found["none"].values()]
    print(f"no clusters, and said so: {sum(nothing)} of {len(nothing)}")
    print(f"classes, but 'no clear structure': {len(missed)} of {len(structured)}: {missed}")


if __name__ == "__main__":
    main()
