"""SoftHDBSCAN: whether its degrees are right, its labels beside those of hdbscan, and what its defaults are worth.

``python -m benchmarks soft-hdbscan [--draws 16]``

Brier: mixtures of four Gaussian clusters and 5 % uniform noise, whose posterior probabilities are known (1200 rows, 400
new ones); a draw counts if both find four clusters. Recorded is the mean over the rows of the squared distance between
the posteriors and the degrees, noise being a column: of SoftHDBSCAN, of the soft vectors of hdbscan (the rest of a row
is noise), and of its labels. m = 1.5 was chosen on other draws of such mixtures.

Labels, on the ten offline sets (at most 1500 rows): rows in which SoftHDBSCAN differs from hdbscan after the clusters
are matched, for the nearest and the farthest of 20 orders of the rows; and how far hdbscan is from itself, as its
labels depend on the order.

Defaults: the adjusted Rand index of the labels (noise being a group of its own) and of the nearest cluster, and the
share of noise, on the ten offline sets (at most 1500 rows), on nine tables on which nothing was chosen and on six of
weak classes (at most 600 rows); tables are standardised. The default (5, 5) was chosen on the first two groups.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.lib.environments import Interpreter, peer
from benchmarks.lib.records import Record
from benchmarks.lib.sets import held_out_sets, more_sets, offline_sets, sample
from soft_clustering import SoftHDBSCAN

SPREADS = {2: 8.0, 4: 6.0, 8: 5.0}  # of the centres, by the number of features
NOISE, ROWS, NEW = 0.05, 1200, 400
SETTINGS = [(5, 5), (10, 5), (15, 5), (15, 15), (25, 5)]


def planted(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of four Gaussian clusters and noise, and their posteriors (n, 5), the noise in the last column."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-SPREADS[d], SPREADS[d], (4, d))
    shapes = [np.eye(d) * rng.uniform(0.5, 1.5, d) for _ in range(4)]
    n = ROWS + NEW
    kind = rng.choice(5, n, p=[(1 - NOISE) / 4] * 4 + [NOISE])
    half = SPREADS[d] + 4
    X = rng.uniform(-half, half, (n, d))
    for k in range(4):
        X[kind == k] = rng.multivariate_normal(centers[k], shapes[k], np.sum(kind == k))
    parts = [(1 - NOISE) / 4 * multivariate_normal(centers[k], shapes[k]).pdf(X) for k in range(4)]
    joint = np.column_stack([*parts, np.full(n, NOISE / (2 * half) ** d)])
    return X, joint / joint.sum(axis=1, keepdims=True)


def brier(degrees: np.ndarray, posteriors: np.ndarray) -> float:
    """The mean squared distance after the columns are matched; the last ones are the noise."""
    order = linear_sum_assignment(-degrees[:, :-1].T @ posteriors[:, :-1])[1]
    matched = np.column_stack([posteriors[:, order], posteriors[:, -1]])
    return float(np.square(degrees - matched).sum(axis=1).mean())


def with_noise(U: np.ndarray) -> np.ndarray:
    """Degrees with the rest of each row as a last column."""
    return np.column_stack([U, 1 - U.sum(axis=1)])


def brier_scores(process: Interpreter, d: int, draws: int) -> dict[str, float]:
    """Means over the draws in which both find four clusters."""
    found: dict[str, list[float]] = {}
    for seed in range(900, 900 + draws):
        X, posteriors = planted(d, seed)
        rows, new, truth = X[:ROWS], X[ROWS:], posteriors[:ROWS]
        model = SoftHDBSCAN(30, min_samples=10).fit(rows)
        process.put(rows=rows, new=new)
        process.run(
            "import hdbscan\npeer = hdbscan.HDBSCAN(min_cluster_size=30, min_samples=10, prediction_data=True)\n"
            "peer.fit(rows)"
        )
        labels = process.take("peer.labels_")
        if model.n_clusters_ != 4 or labels.max() != 3:
            continue
        scores = {
            "ours": brier(np.column_stack([model.memberships_, model.noise_mass_]), truth),
            "ours, new rows": brier(
                np.column_stack([model.predict_memberships(new), model.predict_noise_mass(new)]), posteriors[ROWS:]
            ),
            "hdbscan": brier(with_noise(process.take("hdbscan.all_points_membership_vectors(peer)")), truth),
            "hdbscan, new rows": brier(
                with_noise(process.take("hdbscan.membership_vector(peer, new)")), posteriors[ROWS:]
            ),
            "hdbscan, labels": brier(np.eye(5)[labels], truth),
        }
        for name, score in scores.items():
            found.setdefault(name, []).append(score)
    return {name: float(np.mean(scores)) for name, scores in found.items()} | {"draws": len(found.get("ours", []))}


def different(labels: np.ndarray, others: np.ndarray) -> int:
    """Rows that differ after the clusters are matched."""
    common = np.zeros((labels.max() + 1, others.max() + 1), dtype=int)
    inside = (labels >= 0) & (others >= 0)
    np.add.at(common, (labels[inside], others[inside]), 1)
    same = common[linear_sum_assignment(-common)].sum() + np.sum((labels < 0) & (others < 0))
    return int(len(labels) - same)


def label_differences(process: Interpreter, X: np.ndarray, method: str) -> dict[str, int]:
    """Rows that differ from the nearest and the farthest of 20 orders, and within these orders from the first."""
    model = SoftHDBSCAN(15, cluster_selection_method=method).fit(X)
    process.put(X=X)
    process.run(
        "import hdbscan, numpy as np\nfound = []\nfor seed in range(20):\n"
        "    order = np.random.default_rng(seed).permutation(len(X))\n    labels = np.empty(len(X), dtype=int)\n"
        "    model = hdbscan.HDBSCAN(min_cluster_size=15, min_samples=5, approx_min_span_tree=False,"
        f" cluster_selection_method={method!r})\n"
        "    labels[order] = model.fit(X[order]).labels_\n    found.append(labels)"
    )
    orders = process.take("found")
    away = [different(model.labels_, labels) for labels in orders]
    itself = [different(orders[0], labels) for labels in orders]
    return {"nearest": min(away), "farthest": max(away), "itself": max(itself), "K": model.n_clusters_}


def agreement(sets: dict[str, Any], setting: tuple[int, int]) -> dict[str, float]:
    """Means over sets of the adjusted Rand index of labels and of nearest clusters, and of the share of noise."""
    scores = []
    for X, y in sets.values():
        model = SoftHDBSCAN(setting[0], min_samples=setting[1]).fit(X)
        nearest = model.entry_levels_.argmin(axis=1) if model.n_clusters_ else model.labels_
        found = [adjusted_rand_score(y, labels) for labels in (model.labels_, nearest)]
        scores.append([*found, np.mean(model.labels_ == -1)])
    return dict(zip(("labels", "nearest", "noise"), map(float, np.mean(scores, axis=0)), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=16, help="mixtures per number of features")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record, process = Record("soft_hdbscan", arguments.draws != 16), peer("hdbscan")
    record["brier"] = {str(d): brier_scores(process, d, arguments.draws) for d in SPREADS}
    for d, scores in record["brier"].items():
        print(d, {name: round(score, 3) for name, score in scores.items()}, flush=True)
    offline = {name: sample(X, y, 1500) for name, (X, y) in offline_sets().items()}
    record["labels"] = {
        f"{name}, {method}": label_differences(process, X, method)
        for method in ("eom", "leaf")
        for name, (X, _) in offline.items()
    }
    for name, rows in record["labels"].items():
        print(name, rows, flush=True)
    tables = {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in held_out_sets().items()}
    groups = {"ten sets": offline, "held out": tables, "weak classes": more_sets()}
    record["defaults"] = {
        f"{least} / {samples}": {name: agreement(sets, (least, samples)) for name, sets in groups.items()}
        for least, samples in SETTINGS
    }
    for setting, groups_found in record["defaults"].items():
        print(setting, {g: {k: round(v, 3) for k, v in s.items()} for g, s in groups_found.items()}, flush=True)
    record.save()


if __name__ == "__main__":
    main()
