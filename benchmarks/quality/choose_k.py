"""How often each criterion of ``choose_n_clusters`` finds the number of clusters.

``python -m benchmarks choose-k [--runs NAME ...] [--models NAME ...]``

A run is a family of data and the seeds of its sets (the rule was made on seeds below 400; other seeds are fresh):

* ``planted``: round Gaussians, d = 2 to 20, K = 2 to 7, 300 to 1000 rows, unequal sizes, the nearest centre 4 to 7
  standard deviations away;
* ``scattered``: round ones of the same kind, 600 rows, but the centres are drawn from a Gaussian and only the nearest
  two are 4 to 7 standard deviations apart;
* ``fresh``: elliptic ones, d to 32, K to 12, 600 to 1000 rows;
* ``overlap``: the same with centres 3 to 5 standard deviations apart;
* ``tables``: the offline sets, the nine held-out and the six further tables, all standardised, at most 1000 and 600
  rows. Classes of real tables need not be clusters, so look at the mean error of K and at the adjusted Rand index with
  the classes;
* ``graphs``: block models and overlapping communities of 75 to 250 nodes, K = 3 to 6;
* ``documents``: corpora of 3 to 6 topics, 200 to 400 documents.

For the mixtures of ``fresh`` and ``overlap``, the *oracle* counts how often the BIC prefers the true components to the
best union of two of them, where expectation maximisation starts from the truth: no such rule finds K more often.

Prints a Markdown table per run: how often each criterion finds K, the mean error of K, the mean adjusted Rand index of
the labels of the chosen K (features only), and the largest CPU time of a call with the default criteria.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import soft_clustering
from benchmarks.lib.mixtures import SETTINGS, mixture, scattered_mixture
from benchmarks.lib.records import Record
from benchmarks.lib.sets import held_out_sets, more_sets, offline_sets, sample
from soft_clustering.datasets import make_overlapping_graph, make_topic_corpus
from soft_clustering.selection import CRITERIA, choose_n_clusters

#: name, data, classes or None, K, the range
Case = tuple[str, Any, Any, int, range]


class Run(NamedTuple):
    """A family of data, its seeds, and the models that are fitted."""

    family: str
    seeds: range = range(0)
    models: tuple[str, ...] = ("FCM", "GMM", "KMeans")
    oracle: bool = False


RUNS = {
    "planted": Run("planted", range(30)),
    "scattered": Run("scattered", range(300, 330)),
    "fresh": Run("fresh", range(100, 130), oracle=True),
    "overlap": Run("overlap", range(200, 230), oracle=True),
    **{f"{family}, fresh seeds": Run(family, range(1000, 1030)) for family in ("planted", "scattered", "fresh")},
    "tables": Run("tables"),
    "graphs": Run("graphs", range(12), ("MMSB", "BIGCLAM", "BayesianNMF")),
    "documents": Run("documents", range(12), ("LDA", "PLSI")),
}


def block_graph(seed: int) -> tuple[Any, int]:
    """An adjacency matrix and its number of communities."""
    rng = np.random.RandomState(seed)
    K = 3 + seed % 4
    if seed % 2:
        return make_overlapping_graph(50 * K, K, random_state=seed).adjacency, K
    n = 25 * K
    y = rng.randint(K, size=n)
    links = np.triu(rng.uniform(size=(n, n)) < np.where(y[:, None] == y, 0.35, 0.03), 1)
    return sparse.csr_array((links | links.T).astype(float)), K


def cases(family: str, seeds: range) -> Iterator[Case]:
    """The data sets of a family."""
    if family == "tables":
        sets = {name: sample(X, y, 1000) for name, (X, y) in offline_sets().items()}
        for name, (X, y) in (sets | held_out_sets() | more_sets()).items():
            K = len(np.unique(y))
            yield name, StandardScaler().fit_transform(X), y, K, range(2, 11 if K < 8 else K + 6)
        return
    for seed in seeds:
        if family == "graphs":
            A, K = block_graph(seed)
            yield str(seed), A, None, K, range(2, 10)
        elif family == "documents":
            K = 3 + seed % 4
            size, alpha = 200 + 50 * (seed % 5), (0.1, 0.3)[seed % 2]
            yield str(seed), make_topic_corpus(size, K, alpha=alpha, random_state=seed).counts, None, K, range(2, 10)
        else:
            X, y, K = scattered_mixture(seed) if family == "scattered" else mixture(seed, **SETTINGS[family])
            yield str(seed), X, y, K, range(2, 11 if K < 8 else K + 6)


def oracle(X: np.ndarray, y: np.ndarray) -> bool:
    """Whether the BIC is lower for the true components than for any union of two, with the best shape of each."""
    K = int(y.max()) + 1
    truth = np.eye(K)[y]
    unions = [np.delete(truth, b, axis=1) + truth[:, [b]] * (np.arange(K - 1) == a) for b in range(K) for a in range(b)]
    bic = [
        min(
            soft_clustering.GMM(start.shape[1], covariance_type=shape, init=start).fit(X).bic(X)
            for shape in ("full", "tied", "diag", "spherical")
        )
        for start in (truth, *unions)
    ]
    return int(np.argmin(bic)) == 0


def model_of(name: str) -> Any:
    """The estimator with default settings and seed 0."""
    return KMeans(random_state=0) if name == "KMeans" else getattr(soft_clustering, name)(random_state=0)


def measure(name: str, sets: list[Case]) -> dict[str, Any]:
    """By criterion: how often it finds K, the mean error of K, the mean agreement of the labels with the classes."""
    chosen: dict[str, list[tuple[int | None, int, float]]] = {}
    seconds = 0.0
    for _, X, y, K, numbers in sets:
        start = time.process_time()
        usual = choose_n_clusters(model_of(name), X, numbers, random_state=0)
        seconds = max(seconds, time.process_time() - start)
        names = [*usual.scores] if y is None else [each for each in CRITERIA if each != "stability"]
        result = choose_n_clusters(model_of(name), X, numbers, criteria=names, random_state=0)
        best = result.best | {"recommended": usual.recommended}
        for criterion, choice in best.items():
            agreement = np.nan
            if y is not None and choice is not None:
                agreement = adjusted_rand_score(y, result.estimators[choice].labels_)
            chosen.setdefault(criterion, []).append((choice, K, agreement))
    found: dict[str, Any] = {"largest CPU seconds": seconds, "criteria": {}}
    for criterion, choices in chosen.items():
        if any(choice is not None for choice, *_ in choices):
            agreements = [value for *_, value in choices if not np.isnan(value)]
            found["criteria"][criterion] = {
                "found": sum(choice == K for choice, K, _ in choices),
                "error": float(np.mean([abs(choice - K) for choice, K, _ in choices if choice is not None])),
                "ari": float(np.mean(agreements)) if agreements else None,
            }
    if sets[0][2] is not None:
        known = [adjusted_rand_score(y, _labels(name, X, K)) for _, X, y, K, _ in sets]
        found["criteria"]["true K"] = {"found": len(sets), "error": 0.0, "ari": float(np.mean(known))}
    return found


def _labels(name: str, X: Any, K: int) -> Any:
    return clone(model_of(name)).set_params(n_clusters=K).fit(X).labels_


def show(title: str, n_sets: int, columns: dict[str, Any]) -> None:
    criteria = list(dict.fromkeys(criterion for column in columns.values() for criterion in column["criteria"]))
    print(f"\n| {title}: {n_sets} sets | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    for criterion in criteria:
        cells = []
        for column in columns.values():
            values = column["criteria"].get(criterion, {"found": "-", "error": np.nan, "ari": None})
            ari = "" if values["ari"] is None else f", {values['ari']:.3f}"
            cells.append(f"{values['found']}, {values['error']:.2f}{ari}")
        print(f"| {criterion} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=[*RUNS], metavar="NAME")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="instead of those of the runs")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("choose_k", partial=arguments != parser.parse_args([]))
    for title in arguments.runs:
        run = RUNS[title]
        sets = list(cases(run.family, run.seeds))
        columns = {name: measure(name, sets) for name in arguments.models or run.models}
        show(title, len(sets), columns)
        record[title] = {"sets": len(sets), "models": columns}
        if run.oracle:
            record[title]["oracle"] = sum(oracle(X, y) for _, X, y, _, _ in sets)
            print(f"in {record[title]['oracle']} sets the BIC prefers the true components to a union of two")
    record.save()


if __name__ == "__main__":
    main()
