"""Adjusted Rand index of the clusters of tables of categories, and of categories and numbers.

``python -m benchmarks categories [--repeats 1]``

The groups: ``categories``, seven tables of the UCI collection; ``mixed``, three of them that have numbers, and iris and
wine with some columns in quartiles; ``held out`` and ``held out, mixed``, nine OpenML tables, at most 600 rows of each,
with all columns in quartiles or every second one. The defaults were chosen on the first two. K is the number of
classes, and the figures are means over the seeds. k-modes and k-prototypes are those of the package kmodes; they get
missing cells as a category, and scaled numbers.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from benchmarks.lib.environments import Interpreter, peer
from benchmarks.lib.records import Record
from benchmarks.lib.sets import held_out_sets, shared
from soft_clustering import FCM, FuzzyCMedoids, FuzzyKPrototypes, RelationalFCM, prepare

Sets = dict[str, tuple[pandas.DataFrame, Any]]
ROWS = 800


def read(name: str, as_categories: bool) -> tuple[pandas.DataFrame, Any]:
    """A table of the shared data and its classes."""
    frame = pandas.read_csv(shared("categorical", f"{name}.csv")).drop(columns="animal", errors="ignore")
    frame = frame.sample(ROWS, random_state=0) if len(frame) > ROWS else frame
    classes = frame.pop(frame.columns[-1]).to_numpy()
    return frame.astype(object) if as_categories else frame, classes


def in_quartiles(X: np.ndarray, columns: Iterable[int]) -> pandas.DataFrame:
    """Features with some of them as quartiles; columns of which one value is left are dropped."""
    frame = pandas.DataFrame(X).loc[:, X.std(axis=0) > 0].astype(float)
    frame.columns = [f"x{j}" for j in range(frame.shape[1])]
    for name in [f"x{j}" for j in columns if j < frame.shape[1]]:
        frame[name] = pandas.qcut(frame[name], 4, duplicates="drop").astype(str)
    return frame.loc[:, frame.nunique() > 1]


def groups() -> dict[str, Sets]:
    names = ("soybean", "vote", "zoo", "lymph", "audiology", "breast_cancer", "mushroom")
    (iris, species), (wine, sorts), held_out = load_iris(return_X_y=True), load_wine(return_X_y=True), held_out_sets()
    mixed = {name: read(name, False) for name in ("credit_a", "lymph", "zoo")}
    mixed |= {"iris": (in_quartiles(iris, [1, 3]), species), "wine": (in_quartiles(wine, range(0, 13, 2)), sorts)}
    return {
        "categories": {name: read(name, True) for name in names},
        "mixed": mixed,
        "held out": {name: (in_quartiles(X, range(X.shape[1])), y) for name, (X, y) in held_out.items()},
        "held out, mixed": {name: (in_quartiles(X, range(1, X.shape[1], 2)), y) for name, (X, y) in held_out.items()},
    }


def fuzzy(**parameters: Any) -> Callable[..., Any]:
    return lambda frame, K, seed: FuzzyKPrototypes(K, random_state=seed, **parameters).fit(frame).labels_


def weighted(factor: float) -> Callable[..., Any]:
    """The automatic weight of categories times a factor."""

    def labels(frame: pandas.DataFrame, K: int, seed: int) -> Any:
        weight = FuzzyKPrototypes(K, n_init=1, max_iter=1).fit(frame).categorical_weight_
        return fuzzy(categorical_weight=factor * weight)(frame, K, seed)

    return labels


def fcm_on_prepared(frame: pandas.DataFrame, K: int, seed: int) -> Any:
    features = prepare(frame.infer_objects(), scale="standard", max_categories=10**6).transform(frame)
    return FCM(K, random_state=seed).fit(features).labels_


def by_gower(method: type[RelationalFCM] | type[FuzzyCMedoids]) -> Callable[..., Any]:
    return lambda frame, K, seed: method(K, metric="gower", random_state=seed).fit(frame).labels_


def of_package(other: Interpreter) -> Callable[..., Any]:
    """k-modes, or k-prototypes if there are numbers."""
    other.run("import numpy, kmodes.kmodes, kmodes.kprototypes")

    def labels(frame: pandas.DataFrame, K: int, seed: int) -> Any:
        numeric = [name for name in frame if frame[name].dtype.kind in "if"]
        numbers = frame[numeric].astype(float)
        numbers = ((numbers - numbers.mean()) / numbers.std()).fillna(0.0)
        codes = frame.drop(columns=numeric).apply(lambda column: column.factorize(use_na_sentinel=False)[0])
        if numeric and not codes.empty:
            other.put(X=np.hstack([numbers.to_numpy(), codes.to_numpy()]))
            columns = [*range(len(numeric), len(numeric) + codes.shape[1])]
            call = f"kmodes.kprototypes.KPrototypes({K}, n_init=5, random_state={seed}).fit(X, categorical={columns})"
        else:
            other.put(X=codes.to_numpy())
            call = f"kmodes.kmodes.KModes({K}, n_init=5, random_state={seed}).fit(X)"
        other.run(f"model = {call}")
        return other.take("model.labels_")

    return labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("categories", partial=arguments != parser.parse_args([]))
    other = peer("kmodes")
    models: dict[str, Callable[..., Any]] = {
        "FuzzyKPrototypes": fuzzy(),
        "centroid='mode'": fuzzy(centroid="mode"),
        "weight of categories x 1/2": weighted(0.5),
        "weight of categories x 2": weighted(2.0),
        "FCM on prepared features": fcm_on_prepared,
        "RelationalFCM by Gower": by_gower(RelationalFCM),
        "FuzzyCMedoids by Gower": by_gower(FuzzyCMedoids),
        "kmodes": of_package(other),
    }
    for group, sets in groups().items():
        for model, labels in models.items():
            if group in ("categories", "held out") and model.startswith("weight"):
                continue  # it is the unit only
            found = {}
            for name, (frame, y) in sets.items():
                K = len(np.unique(y))
                scores = [adjusted_rand_score(y, labels(frame, K, seed)) for seed in range(arguments.repeats)]
                found[name] = float(np.mean(scores))
            record.setdefault(group, {})[model] = found
            print(f"{group:16s} {model:28s} {np.mean([*found.values()]):.3f}", found, flush=True)
    other.close()
    record.save()


if __name__ == "__main__":
    main()
