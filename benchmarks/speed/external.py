"""Agreement with, and speed against, independent implementations of the same algorithms.

``python -m benchmarks external --sizes 200 1000 --repeats 3`` fits both from the same start to the same
tolerance and compares what they found. FCM: scikit-fuzzy; GMM, LDA: scikit-learn; ECM: evclust, which needs an older
pandas, in an environment of its own. Estimators that are not registered yet are left out, with a message.

Data: isotropic Gaussian clusters, d = 8, K = 3, well separated; for LDA a corpus of three topics. The columns:
``max_diff``, the largest difference between the membership matrices after matching the clusters; ``proto_gap``, the
largest distance from one of our prototypes to the nearest one of the reference; ``ari`` between the hard partitions;
``ours_ms`` and ``reference_ms``, the best of the repeats, which take turns after one warm-up.

Needs the extras ``app`` and ``baselines``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import soft_clustering
from benchmarks.lib.environments import peer
from benchmarks.lib.records import Record
from soft_clustering._registry import REGISTRY
from soft_clustering.datasets import make_topic_corpus


class Fit(NamedTuple):
    """What one side found, and how long it took."""

    seconds: float
    memberships: np.ndarray
    prototypes: np.ndarray | None


Side = Callable[[], Fit]


class Case(NamedTuple):
    """One algorithm on one data set, fitted by two implementations."""

    reference: str
    ours: Side
    theirs: Side


def blobs(n: int) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(n, 8, centers=3, random_state=0)


def timed(fit: Callable[[], Any], memberships: Callable[[Any], Any], prototypes: Callable[[Any], Any]) -> Side:
    """One side, run in this process; only the fit is timed."""

    def run() -> Fit:
        start = time.perf_counter()
        model = fit()
        seconds = time.perf_counter() - start
        return Fit(seconds, memberships(model), prototypes(model))

    return run


def ours(model: Any, X: Any, prototypes: bool = True) -> Side:
    return timed(
        lambda: model.fit(X), lambda model: model.memberships_, lambda model: model.centers_ if prototypes else None
    )


def fcm(n: int) -> Case:
    import skfuzzy

    X, _ = blobs(n)
    # scikit-fuzzy starts from memberships, we from the centres that they imply: the same point of the iteration
    U0 = np.random.default_rng(0).dirichlet(np.ones(3), n)
    V0 = (U0**2).T @ X / (U0**2).sum(axis=0)[:, None]
    return Case(
        "scikit-fuzzy cmeans",
        ours(soft_clustering.FCM(3, m=2.0, init=V0, tol=1e-10, max_iter=1000), X),
        timed(
            lambda: skfuzzy.cmeans(X.T, 3, 2.0, error=1e-10, maxiter=1000, init=U0.T),
            lambda found: found[1].T,
            lambda found: found[0],
        ),
    )


def gmm(n: int) -> Case:
    X, _ = blobs(n)
    settings = {"tol": 1e-9, "max_iter": 1000, "random_state": 0}
    return Case(
        "scikit-learn GaussianMixture",
        ours(soft_clustering.GMM(3, **settings), X),
        timed(
            lambda: GaussianMixture(3, **settings).fit(X),
            lambda model: model.predict_proba(X),
            lambda model: model.means_,
        ),
    )


def ecm(n: int) -> Case:
    X, y = blobs(n)
    V0 = np.array([X[y == k][:10].mean(axis=0) for k in range(3)])
    other = peer("evclust")
    other.run(f"import numpy, time\nfrom evclust.ecm import ecm\nX, V0 = map(numpy.array, {[X.tolist(), V0.tolist()]})")

    def theirs() -> Fit:
        _, (seconds, memberships, prototypes) = other.run(
            "start = time.perf_counter()\n"
            "found = ecm(X, 3, g0=V0, type='full', alpha=1, beta=2, delta=10, epsi=1e-10, disp=False)\n"
            "seconds = time.perf_counter() - start\n"
            "answer = [seconds, found['betp_n'].tolist(), found['g'].tolist()]"
        )
        return Fit(seconds, np.array(memberships), np.array(prototypes))

    model = soft_clustering.ECM(3, focal_sets="full", alpha=1.0, beta=2.0, delta=10.0, init=V0, tol=1e-10)
    return Case("evclust ecm", ours(model, X), theirs)


def lda(n: int) -> Case:
    X = make_topic_corpus(n, 3, random_state=0).counts
    # a fixed number of passes, as the reference does not test convergence by default
    return Case(
        "scikit-learn LatentDirichletAllocation",
        ours(soft_clustering.LDA(3, init="random", max_iter=10, tol=0.0, random_state=0), X, prototypes=False),
        timed(
            lambda: LatentDirichletAllocation(3, max_iter=10, random_state=0).fit(X),
            lambda model: model.transform(X),
            lambda model: None,
        ),
    )


CASES = {"FCM": fcm, "GMM": gmm, "ECM": ecm, "LDA": lda}


def compare(name: str, n: int, repeats: int) -> dict[str, Any]:
    case = CASES[name](n)
    a, b = case.ours(), case.theirs()
    order = linear_sum_assignment(-a.memberships.T @ b.memberships)[1]
    seconds: dict[str, list[float]] = {"ours": [], "reference": []}
    for _ in range(repeats):
        seconds["ours"].append(case.ours().seconds)
        seconds["reference"].append(case.theirs().seconds)
    gap = None
    if a.prototypes is not None and b.prototypes is not None:
        gap = np.linalg.norm(a.prototypes[:, None] - b.prototypes, axis=2).min(axis=1).max()
    return {
        "algorithm": name,
        "reference": case.reference,
        "n": n,
        "max_diff": np.abs(a.memberships - b.memberships[:, order]).max(),
        "proto_gap": gap,
        "ari": adjusted_rand_score(a.memberships.argmax(axis=1), b.memberships.argmax(axis=1)),
        "ours_ms": 1e3 * min(seconds["ours"]),
        "reference_ms": 1e3 * min(seconds["reference"]),
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[200, 1000])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    registered = {row.name for row in REGISTRY}
    for name in CASES:
        if name not in registered:
            print(f"{name}: left out, not registered yet", file=sys.stderr)
    rows = [compare(name, n, arguments.repeats) for n in arguments.sizes for name in CASES if name in registered]
    record = Record("external", partial=arguments != parser.parse_args([]))
    record["rows"] = rows
    record.save()
    table = pandas.DataFrame(rows).drop(columns="seconds")
    formats = {
        "max_diff": "{:.1e}",
        "proto_gap": "{:.1e}",
        "ari": "{:.4f}",
        "ours_ms": "{:.1f}",
        "reference_ms": "{:.1f}",
    }
    print(table.to_string(index=False, formatters={column: form.format for column, form in formats.items()}))


if __name__ == "__main__":
    main()
