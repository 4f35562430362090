"""Speed of BayesianGMM against scikit-learn's BayesianGaussianMixture, of StudentTMixture against studenttmixture.

``python -m benchmarks mixtures [--repeats 5] [--rows N]``

BayesianGMM and scikit-learn start from the same memberships, make the same passes and reach the same bound.
StudentTMixture: the seconds of a pass, by fits of one pass and of many, also those of GMM; and whole fits with 4
degrees of freedom, each side from its own k-means, with the mean log likelihood. In turns on one thread, best of the
repeats.
"""

from __future__ import annotations

import argparse
import os
import warnings
from typing import Any

import numpy as np
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks.lib.environments import Interpreter, peer
from benchmarks.lib.records import Record
from benchmarks.lib.timing import in_turns, timed
from soft_clustering import GMM, BayesianGMM, StudentTMixture

PASSES = 50
SHAPES = ((20_000, 8, 10), (10_000, 32, 10))  # rows, features, clusters


class GivenStart(BayesianGaussianMixture):
    """scikit-learn's model from given memberships."""

    start: np.ndarray

    def _initialize_parameters(self, X: np.ndarray, random_state: object, xp: object = None) -> None:
        self._initialize(X, self.start)


def overlapping(n: int, d: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of overlapping clusters, on which no method converges soon, and starting memberships."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(K, d))[rng.integers(K, size=n)]
    return X, rng.dirichlet(np.ones(K), n)


def bayesian(n: int, d: int, K: int, kind: str, repeats: int) -> dict[str, Any]:
    """BayesianGMM and scikit-learn: the same passes, bounds and memberships."""
    X, start = overlapping(n, d, K)
    out: dict[str, Any] = {}

    def ours() -> None:
        model = BayesianGMM(K, covariance_type=kind, init=start, max_iter=PASSES, tol=1e-12).fit(X)
        out["ours_bound"], out["ours_passes"] = float(model.objective_history_[-2]), model.n_iter_

    def theirs() -> None:
        model = GivenStart(n_components=K, covariance_type=kind, max_iter=PASSES, tol=1e-12)
        model.start = start
        model.fit(X)
        out["sklearn_bound"], out["sklearn_passes"] = float(np.ravel(model.lower_bound_)[0]), model.n_iter_

    return {**in_turns(repeats, ours=ours, sklearn=theirs), **out}


def student(process: Interpreter, n: int, d: int, K: int, repeats: int) -> dict[str, Any]:
    """StudentTMixture, GMM and studenttmixture: seconds of a pass; and of a fit, with the mean log likelihood."""
    X, start = overlapping(n, d, K)
    process.put(X=X)
    model = f"EMStudentMixture({K}, random_state=0, "
    seconds: dict[str, list[float]] = {}
    passes = {
        "ours, pass": lambda n: timed(
            lambda: StudentTMixture(K, init=start, n_init=1, max_iter=n, tol=0, random_state=0).fit(X)
        ),
        "GMM, pass": lambda n: timed(lambda: GMM(K, init=start, max_iter=n, tol=0, random_state=0).fit(X)),
        "peer, pass": lambda n: process.run(f"{model}fixed_df=False, tol=1e-300, max_iter={n}).fit(X)"),
    }
    for _ in range(repeats):
        for side, run in passes.items():
            few, many = run(1)[0], run(1 + PASSES)[0]
            seconds.setdefault(side, []).append((many - few) / PASSES)
        took, fitted = timed(lambda: StudentTMixture(K, dof=4.0, n_init=1, tol=1e-5, random_state=0).fit(X))
        seconds.setdefault("ours, fit", []).append(took)
        code = f"peer = {model}tol=1e-5, max_iter=1000)\npeer.fit(X)\nanswer = float(peer.score(X))"
        took, theirs = process.run(code)
        seconds.setdefault("peer, fit", []).append(took)
    best = {side: min(times) for side, times in seconds.items()}
    return {**best, "ours, log likelihood": fitted.objective_, "peer, log likelihood": theirs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, help="so many rows; nothing is recorded")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"  # of the other process
    record = Record("mixtures", partial=args != parser.parse_args([]))
    process = peer("studenttmixture")
    process.run("from studenttmixture import EMStudentMixture")
    with threadpool_limits(1):
        for n, d, K in SHAPES:
            found = student(process, args.rows or n, d, K, args.repeats)
            record[f"StudentTMixture, d = {d}"] = found
            ratios = [found["peer, pass"] / found["ours, pass"], found["ours, pass"] / found["GMM, pass"]]
            print(
                f"StudentTMixture, d = {d}: passes {ratios[0]:.1f}x as fast as studenttmixture, "
                f"{ratios[1]:.2f}x the time of GMM; fits {found['peer, fit'] / found['ours, fit']:.1f}x; "
                f"log likelihood {found['ours, log likelihood']:.6f}, {found['peer, log likelihood']:.6f}",
                flush=True,
            )
        for n, d, K in SHAPES:
            for kind in ("full", "tied", "diag", "spherical"):
                found = bayesian(args.rows or n, d, K, kind, args.repeats)
                record[f"BayesianGMM, {kind}, d = {d}"] = found
                ratio = found["sklearn"] / found["ours"]
                print(f"BayesianGMM, {kind}, d = {d}: {ratio:.1f}x as fast as scikit-learn", flush=True)
    process.close()
    record.save()


if __name__ == "__main__":
    main()
