"""Mixtures beside uniform outliers: agreement with the classes of the other rows.

``python -m benchmarks outliers [--seeds 2]``

GMM, GMM with noise, StudentTMixture with its starts and degrees of freedom, on tables with their classes as K, clean
and with 5 % uniform outliers in a box three times as wide as the data. Scores are adjusted Rand indices of the rows
that are not outliers. The starts and the share that a trimmed one leaves out were chosen on the groups ``ten`` and
``held out``; nothing was chosen on ``more`` and ``planted``.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.lib.markdown import table
from benchmarks.lib.records import Record
from benchmarks.lib.sets import Sets, held_out_sets, more_sets, offline_sets, planted_sets, sample
from soft_clustering import GMM, StudentTMixture

SHARE = 0.05
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "GMM": (GMM, {"n_init": 2}),
    "GMM, noise": (GMM, {"noise": "auto", "n_init": 2}),
    "StudentTMixture": (StudentTMixture, {}),
    "StudentTMixture, k-means start": (StudentTMixture, {"n_init": 1}),
    "StudentTMixture, trimmed start": (StudentTMixture, {"init": "trimmed", "n_init": 2}),
    "StudentTMixture, dof='tied'": (StudentTMixture, {"dof": "tied"}),
    "StudentTMixture, dof=4": (StudentTMixture, {"dof": 4.0}),
}


def groups() -> dict[str, Sets]:
    """Name of the group -> its sets; the small or unscaled ones keep their units, the others are standardised."""
    ten = {name: sample(X, y, 600) for name, (X, y) in offline_sets().items()}
    held = {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in held_out_sets().items()}
    return {"ten": ten, "held out": held, "more": more_sets(), "planted": planted_sets()}


def with_outliers(X: np.ndarray, seed: int) -> np.ndarray:
    """The rows, and behind them uniform ones in a box three times as wide."""
    rng = np.random.RandomState(seed)
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (low + high) / 2, 1.5 * (high - low)
    return np.vstack([X, rng.uniform(middle - half, middle + half, (round(SHARE * len(X)), X.shape[1]))])


def score(name: str, X: np.ndarray, y: np.ndarray, seed: int, raw: bool) -> float:
    """Agreement of the first rows with their classes; 0 if the method refuses the data."""
    kind, parameters = MODELS[name]
    model = kind(len(np.unique(y)), reg_covar=1e-6 if raw else 1e-3, random_state=seed, **parameters)
    try:
        labels = model.fit(X).memberships_[: len(y)].argmax(axis=1)
    except ValueError:
        return 0.0
    return float(adjusted_rand_score(y, labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--groups", nargs="+", choices=("ten", "held out", "more", "planted"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("outliers", partial=arguments != parser.parse_args([]))
    for group, sets in groups().items():
        if arguments.groups and group not in arguments.groups:
            continue
        for way in ("clean", "outliers"):
            found: dict[str, dict[str, float]] = {name: {} for name in MODELS}
            for title, (X, y) in sets.items():
                for name in MODELS:
                    scores = [
                        score(name, X if way == "clean" else with_outliers(X, seed), y, seed, group == "ten")
                        for seed in range(arguments.seeds)
                    ]
                    found[name][title] = float(np.mean(scores))
            record.setdefault(group, {})[way] = found
        rows = [
            [name, *(f"{np.mean(list(record[group][way][name].values())):.3f}" for way in ("clean", "outliers"))]
            for name in MODELS
        ]
        print(table([group, "clean", "5 % outliers"], rows), "\n", flush=True)
    record.save()


if __name__ == "__main__":
    main()
