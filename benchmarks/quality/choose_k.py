"""How often each criterion of ``choose_n_clusters`` finds the number of clusters.

``python -m benchmarks choose-k [--family NAME ...] [--models NAME ...] [--sets 30] [--first-seed 0]``

Families of data (the rule was made on seeds below 400; other seeds are fresh):

* ``planted``: round Gaussians, d = 2 to 20, K = 2 to 7, 300 to 1000 rows, unequal sizes, the nearest centre 4 to 7
  standard deviations away;
* ``scattered``: round ones of the same kind, 600 rows, but the centres are drawn from a Gaussian and only the nearest
  two are 4 to 7 standard deviations apart;
* ``fresh``: elliptic ones, d to 32, K to 12, 600 to 1000 rows;
* ``overlap``: the same with centres 3 to 5 standard deviations apart;
* ``tables``: the offline sets, and with ``--data-home DATA_HOME`` the nine held-out and the six further tables, all
  standardised, at most 1000 and 600 rows. Classes of real tables need not be clusters, so look at the mean error of K
  and at the adjusted Rand index with the classes;
* ``graphs``: block models and overlapping communities of 75 to 250 nodes, K = 3 to 6;
* ``documents``: corpora of 3 to 6 topics, 200 to 400 documents.

``--oracle`` prints for a family of mixtures how often the BIC prefers the true components to the best union of two of
them, where expectation maximisation starts from the truth: no rule of this kind finds K more often than that.

Prints a Markdown table per family: how often each criterion finds K, the mean error of K, the mean adjusted Rand index
of the labels of the chosen K (features only), and the largest CPU time of a call with the default criteria.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import soft_clustering
from benchmarks.lib.sets import held_out_sets, more_sets, offline_sets, sample
from soft_clustering.datasets import make_overlapping_graph, make_topic_corpus
from soft_clustering.selection import CRITERIA, choose_n_clusters

#: name, data, classes or None, K, the range
Case = tuple[str, Any, Any, int, range]

SETTINGS: dict[str, dict[str, Any]] = {
    "planted": {"widest": 20, "most": 7, "gap": (4.0, 7.0), "shape": 0.0, "rows": (300, 1000)},
    "fresh": {"widest": 32, "most": 12, "gap": (4.0, 7.0), "shape": 0.3, "rows": (600, 1000)},
    "overlap": {"widest": 32, "most": 12, "gap": (3.0, 5.0), "shape": 0.3, "rows": (600, 1000)},
}
MODELS = {
    "graphs": ["MMSB", "BIGCLAM", "BayesianNMF"],
    "documents": ["LDA", "PLSI"],
}


def mixture(
    seed: int, *, widest: int, most: int, gap: tuple[float, float], shape: float, rows: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, int]:
    """X, the components of the rows and their number: each new centre is ``gap`` away from one of the others."""
    rng = np.random.default_rng(seed)
    d, K, n = int(rng.integers(2, widest + 1)), int(rng.integers(2, most + 1)), int(rng.integers(*rows))
    y = rng.choice(K, n, p=0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0)))
    centers = [np.zeros(d)]
    while len(centers) < K:
        direction = rng.normal(size=d)
        center = centers[rng.integers(len(centers))] + direction / np.linalg.norm(direction) * rng.uniform(*gap)
        if min(np.linalg.norm(center - other) for other in centers) >= gap[0]:
            centers.append(center)
    X = np.array(centers)[y]
    for k in range(K):
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
        deviations = np.exp(rng.uniform(-shape, shape, d)) * np.exp(rng.uniform(-shape, shape) / 2)
        X[y == k] += (rng.normal(size=(int((y == k).sum()), d)) * deviations) @ axes.T
    return X, y, K


def scattered_mixture(seed: int, n: int = 600) -> tuple[np.ndarray, np.ndarray, int]:
    """The same for centres that are drawn at random and then moved apart."""
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(2, 21)), int(rng.integers(2, 8))
    y = rng.choice(K, n, p=0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0)))
    centers = rng.normal(size=(K, d))
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(K, 1)]
    centers *= rng.uniform(4, 7) / gaps.min()
    return centers[y] + rng.normal(size=(n, d)), y, K


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


def cases(family: str, arguments: argparse.Namespace) -> Iterator[Case]:
    """The data sets of a family."""
    if family == "tables":
        sets = {name: sample(X, y, 1000) for name, (X, y) in offline_sets().items()}
        if arguments.data_home:
            sets |= held_out_sets(arguments.data_home) | more_sets(arguments.data_home)
        for name, (X, y) in sets.items():
            K = len(np.unique(y))
            yield name, StandardScaler().fit_transform(X), y, K, range(2, 11 if K < 8 else K + 6)
        return
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.sets):
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


def measure(name: str, sets: list[Case], stability: int) -> dict[str, list[str]]:
    """A column of the table: by criterion, its cells."""
    chosen: dict[str, list[tuple[int | None, int, float]]] = {}
    seconds = 0.0
    for _, X, y, K, numbers in sets:
        start = time.process_time()
        usual = choose_n_clusters(model_of(name), X, numbers, random_state=0)
        seconds = max(seconds, time.process_time() - start)
        names = [each for each in CRITERIA if stability or each != "stability"]
        if y is None:
            names = [*usual.scores]
        result = choose_n_clusters(
            model_of(name), X, numbers, criteria=names, n_bootstrap=stability or 2, random_state=0
        )
        best = result.best | {"recommended": usual.recommended}
        for criterion, choice in best.items():
            agreement = np.nan
            if y is not None and choice is not None:
                agreement = adjusted_rand_score(y, result.estimators[choice].labels_)
            chosen.setdefault(criterion, []).append((choice, K, agreement))
    cells = {}
    for criterion, found in chosen.items():
        if all(choice is None for choice, *_ in found):
            continue
        hits = sum(choice == K for choice, K, _ in found)
        error = np.mean([abs(choice - K) for choice, K, _ in found if choice is not None])
        agreement = np.mean([value for *_, value in found if not np.isnan(value)] or [np.nan])
        cells[criterion] = [str(hits), f"{error:.2f}", "" if np.isnan(agreement) else f"{agreement:.3f}"]
    if sets[0][2] is not None:
        known = np.mean([adjusted_rand_score(y, _labels(name, X, K)) for _, X, y, K, _ in sets])
        cells["true K"] = [str(len(sets)), "0.00", f"{known:.3f}"]
    cells["largest CPU seconds"] = [f"{seconds:.2f}", "", ""]
    return cells


def _labels(name: str, X: Any, K: int) -> Any:
    return clone(model_of(name)).set_params(n_clusters=K).fit(X).labels_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    families = [*SETTINGS, "scattered", "tables", "graphs", "documents"]
    parser.add_argument("--family", nargs="+", default=["planted"], choices=families)
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--sets", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--stability", type=int, default=0, metavar="N", help="pairs of bootstrap samples; 0: none")
    parser.add_argument("--oracle", action="store_true", help="what the BIC says of the true components")
    parser.add_argument("--data-home", help="folder of the tables that are not offline sets")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for family in arguments.family:
        sets = list(cases(family, arguments))
        if arguments.oracle:
            found = sum(oracle(X, y) for _, X, y, _, _ in sets)
            print(f"{family}: in {found} of {len(sets)} sets the BIC prefers the true components to a union of two")
            continue
        models = arguments.models or MODELS.get(family, ["FCM", "GMM", "KMeans"])
        columns = {name: measure(name, sets, arguments.stability) for name in models}
        criteria = list(dict.fromkeys(criterion for column in columns.values() for criterion in column))
        print(f"\n{family}: {len(sets)} sets; found, mean error of K, adjusted Rand index\n")
        print("| criterion | " + " | ".join(models) + " |")
        print("|---" * (len(models) + 1) + "|")
        for criterion in criteria:
            cells = [", ".join(filter(None, columns[name].get(criterion, []))) for name in models]
            print(f"| {criterion} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
