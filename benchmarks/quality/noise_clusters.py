"""Centres beside uniform outliers, with a cluster of noise and without; and what the noise costs on clean data.

``python -m benchmarks noise-clusters [--draws 6]``

Planted: 3 and 5 round clusters of variance 1 (300 rows in the plane), and 0, 5 or 20 % uniform outliers in a box that
is 15 wider on each side. Recorded are the mean distance of the true and the found centres, and the mean noise mass of
the rows of clusters and of the outliers. Many features: four clusters in [-4, 4]^d and 10 % uniform outliers.

Clean: the ten offline sets and nine tables on which nothing was chosen, at most 600 rows each, standardised. Recorded
are the adjusted Rand indices of the strongest cluster of each row (``strongest``) and of ``labels_``, in which noise is
a group of its own (``ari``), and the share of noise. ``same start``: noise from the centres of the fit without it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.lib.markdown import table
from benchmarks.lib.records import Record
from benchmarks.lib.sets import held_out_sets, offline_sets, sample
from soft_clustering import ENTROPYFCM, FCM, GK, KFCM

METHODS: dict[str, Callable[..., Any]] = {
    "FCM": lambda K, **more: FCM(K, random_state=0, **more),
    "GK": lambda K, **more: GK(K, random_state=0, **more),
    "ENTROPYFCM": lambda K, **more: ENTROPYFCM(K, random_state=0, **more),
    "KFCM": lambda K, **more: KFCM(K, random_state=0, **more),
}
WAYS: dict[str, dict[str, Any]] = {"": {}, ", noise": {"noise_distance": "auto"}}
SCALES = (6.0, 20.0, 40.0)  # of the noise, beside the default of 10


def planted(K: int, share: float, seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Rows of clusters, then outliers; and the centres."""
    rng = np.random.RandomState(seed)
    while True:
        centers = rng.uniform(-8, 8, (K, 2))
        if cdist(centers, centers)[np.triu_indices(K, 1)].min() > 5:
            break
    X = np.concatenate([center + rng.standard_normal((n // K, 2)) for center in centers])
    outliers = rng.uniform(X.min(axis=0) - 15, X.max(axis=0) + 15, (round(share * n), 2))
    return np.vstack([X, outliers]), centers


def in_many_features(d: int, share: float, seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Four clusters in [-4, 4]^d, then outliers; and the centres."""
    rng = np.random.RandomState(seed)
    centers = rng.uniform(-4, 4, (4, d))
    X = np.concatenate([center + rng.standard_normal((n // 4, d)) for center in centers])
    return np.vstack([X, rng.uniform(-8, 8, (round(share * n), d))]), centers


def center_error(found: np.ndarray, centers: np.ndarray) -> float:
    """The mean distance of the true centres to the found ones, one to one."""
    D = cdist(centers, found)
    return float(D[linear_sum_assignment(D)].mean())


def on(make: Callable[..., Any], problems: list[tuple[np.ndarray, np.ndarray, int]], **more: Any) -> dict[str, float]:
    """Means over problems: the error of the centres, and the noise mass of the rows of clusters and of outliers."""
    errors, inside, outside = [], [], []
    for X, centers, n in problems:
        model = make(len(centers), **more).fit(X)
        errors.append(center_error(model.centers_, centers))
        noise = getattr(model, "noise_mass_", np.zeros(len(X)))
        inside.append(noise[:n].mean())
        if len(X) > n:
            outside.append(noise[n:].mean())
    found = {"error": np.mean(errors), "median": np.median(errors), "inside": np.mean(inside)}
    return {name: float(value) for name, value in found.items()} | {"outside": float(np.mean(outside or [0.0]))}


def outliers(record: Record, draws: int) -> None:
    """Errors of the centres beside outliers."""
    for share in (0.0, 0.05, 0.2):
        problems = []
        for K in (3, 5):
            for seed in range(draws):
                X, centers = planted(K, share, seed)
                problems.append((X, centers, 300 // K * K))
        key = f"{100 * share:.0f} %"
        for method, make in METHODS.items():
            for way, parameters in WAYS.items():
                given = {"m": 2.0} if method == "FCM" else {}
                record.setdefault("planted", {}).setdefault(method + way, {})[key] = on(
                    make, problems, **given, **parameters
                )
        for scale in SCALES:
            name = f"FCM, noise of scale {scale:g}"
            found = on(METHODS["FCM"], problems, m=2.0, noise_distance="auto", noise_scale=scale)
            record["planted"].setdefault(name, {})[key] = found
    for d in (10, 30):
        for share in (0.0, 0.1):
            problems = [(*in_many_features(d, share, seed), 400) for seed in range(draws)]
            for way, parameters in WAYS.items():
                found = on(METHODS["FCM"], problems, **parameters)
                record.setdefault("features", {}).setdefault(f"d={d}, FCM{way}", {})[f"{100 * share:.0f} %"] = found


def clean(record: Record) -> None:
    """Agreement with classes on data without planted outliers."""
    groups = {
        "offline": {name: sample(X, y, 600) for name, (X, y) in offline_sets().items()},
        "held out": held_out_sets(),
    }
    for group, sets in groups.items():
        for name, (X, y) in sets.items():
            rows, K = StandardScaler().fit_transform(X), len(np.unique(y))
            for method, make in METHODS.items():
                for way, parameters in WAYS.items():
                    model = make(K, **parameters).fit(rows)
                    record.setdefault(group, {}).setdefault(method + way, {})[name] = scores(model, y)
                    if not parameters:
                        again = make(K, init=model.centers_, noise_distance="auto").fit(rows)
                        record[group].setdefault(f"{method}, same start", {})[name] = scores(again, y)


def scores(model: Any, y: np.ndarray) -> dict[str, float]:
    """Agreement with classes, by the strongest cluster and with noise as a group; and the share of noise."""
    labels, strongest = model.labels_, model.memberships_.argmax(axis=1)
    return {
        "strongest": float(adjusted_rand_score(y, strongest)),
        "ari": float(adjusted_rand_score(y, labels)),
        "noise": float(np.mean(labels < 0)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=6)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("noise_clusters", partial=arguments != parser.parse_args([]))
    outliers(record, arguments.draws)
    for part in ("planted", "features"):
        shares = list(next(iter(record[part].values())))
        rows = [[name, *(f"{found[share]['error']:.3f}" for share in shares)] for name, found in record[part].items()]
        print(table(["", *shares], rows), "\n")
    clean(record)
    for group in ("offline", "held out"):
        rows = []
        for method in METHODS:
            without = list(record[group][method].values())
            for way in (", noise", ", same start"):
                found = list(record[group][method + way].values())
                losses = [a["strongest"] - b["strongest"] for a, b in zip(without, found, strict=True)]
                means = [np.mean([each[name] for each in found]) for name in ("strongest", "ari", "noise")]
                plain = np.mean([each["ari"] for each in without])
                rows.append([method + way, *(f"{value:.3f}" for value in (plain, *means, max(losses)))])
        print(table([group, "without", "strongest", "labels_", "share of noise", "largest loss"], rows), "\n")
    record.save()


if __name__ == "__main__":
    main()
