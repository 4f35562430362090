"""Agreement with classes if values are missing, beside imputation.

``python -m benchmarks missing [--masks 5]``

Adjusted Rand index of FCM (``m='auto'``) and of GMM (full and diagonal covariances, ``reg_covar=1e-3``, best
of three starts) on rows with gaps, beside the same fit after imputation by the mean, by five neighbours and by
regression on the other features (scikit-learn). The sets: six of the sheet of the method, and four on which nothing was
chosen; at most 600 rows each, standardised by what is there; K is the number of classes. Gaps: 5, 20 and 40 % of the
entries at random (MCAR), and 20 % where another feature, which is always there, is above its median (MAR).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.metrics import adjusted_rand_score

from benchmarks.lib.markdown import table
from benchmarks.lib.records import Record
from benchmarks.lib.sets import held_out_sets, sample
from soft_clustering import FCM, GMM
from soft_clustering.datasets import get_dataset

SHEET = ("iris", "wine", "breast_cancer", "ecoli", "segment", "pendigits")
FRESH = ("glass", "vehicle", "yeast", "satimage")
IMPUTERS: dict[str, Callable[[], object] | None] = {
    "gaps": None,
    "mean": SimpleImputer,
    "KNN": lambda: KNNImputer(n_neighbors=5),
    "iterative": lambda: IterativeImputer(random_state=0),
}
MODELS: dict[str, Callable[[int], object]] = {
    "FCM": lambda K: FCM(K, random_state=0),
    "GMM full": lambda K: GMM(K, reg_covar=1e-3, n_init=3, random_state=0),
    "GMM diag": lambda K: GMM(K, reg_covar=1e-3, n_init=3, covariance_type="diag", random_state=0),
}
MECHANISMS = ("complete", "5 %", "20 %", "40 %", "MAR")


def holes(X: np.ndarray, mechanism: str, seed: int) -> np.ndarray:
    """Which entries are missing; every column keeps two values."""
    rng = np.random.RandomState(seed)
    n, d = X.shape
    if mechanism == "MAR":
        order = rng.permutation(d)
        always, missing = order[: (d + 1) // 2], np.zeros((n, d), dtype=bool)
        for j in order[(d + 1) // 2 :]:
            cause = X[:, rng.choice(always)]
            missing[:, j] = (cause > np.median(cause)) & (rng.uniform(size=n) < 0.8)
    else:
        missing = rng.uniform(size=(n, d)) < float(mechanism.split()[0]) / 100
    missing[np.arange(2)] = False
    return missing


def standardised(X: np.ndarray) -> np.ndarray:
    """X in units of the standard deviations of what is there; constant features stay 0."""
    deviation = np.nanstd(X, axis=0)
    return (X - np.nanmean(X, axis=0)) / np.where(deviation > 0, deviation, 1)


def agreement(record: Record, masks: int) -> None:
    """The mean index of every set, mechanism, model and way to deal with the gaps."""
    held_out = held_out_sets()
    for group, names in (("sheet", SHEET), ("fresh", FRESH)):
        for name in names:
            X, y = held_out[name] if name in held_out else sample(*get_dataset(name), 600)
            K = len(np.unique(y))
            for mechanism in MECHANISMS:
                found: dict[str, list[float]] = {}
                for seed in range(1 if mechanism == "complete" else masks):
                    gappy = X.astype(float)
                    if mechanism != "complete":
                        gappy[holes(X, mechanism, seed)] = np.nan
                    gappy = standardised(gappy)
                    for way, imputer in IMPUTERS.items():
                        if mechanism == "complete" and imputer is not None:
                            continue
                        rows = gappy if imputer is None else imputer().fit_transform(gappy)
                        for model, make in MODELS.items():
                            if model != "FCM" and seed >= 3:
                                continue
                            score = adjusted_rand_score(y, make(K).fit(rows).labels_)
                            found.setdefault(f"{model}, {way}", []).append(float(score))
                record.setdefault(group, {}).setdefault(mechanism, {})[name] = found
                print(group, name, mechanism, {key: round(float(np.mean(value)), 3) for key, value in found.items()})
        for model in MODELS:
            print(f"\n{model}, {group}\n")
            print(table(["", *IMPUTERS], [[m, *means(record, group, m, model)] for m in MECHANISMS[1:]]))


def means(record: Record, group: str, mechanism: str, model: str) -> list[str]:
    """The mean over the sets of each way to deal with the gaps."""
    sets = record[group][mechanism].values()
    return [f"{np.mean([np.mean(found[f'{model}, {way}']) for found in sets]):.3f}" for way in IMPUTERS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--masks", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("missing", partial=arguments != parser.parse_args([]))
    agreement(record, arguments.masks)
    record.save()


if __name__ == "__main__":
    main()
