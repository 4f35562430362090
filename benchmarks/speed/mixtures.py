"""Speed of BayesianGMM against scikit-learn's BayesianGaussianMixture.

``python -m benchmarks mixtures [--repeats 5] [--rows N]``

Both start from the same memberships, make the same passes and reach the same bound; in turns in one process on one
thread each, best of the repeats.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks.lib.records import Record
from benchmarks.lib.timing import in_turns
from soft_clustering import BayesianGMM

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", type=int, help="so many rows; nothing is recorded")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("mixtures", partial=args != parser.parse_args([]))
    with threadpool_limits(1):
        for n, d, K in SHAPES:
            for kind in ("full", "tied", "diag", "spherical"):
                found = bayesian(args.rows or n, d, K, kind, args.repeats)
                record[f"BayesianGMM, {kind}, d = {d}"] = found
                ratio = found["sklearn"] / found["ours"]
                print(f"BayesianGMM, {kind}, d = {d}: {ratio:.1f}x as fast as scikit-learn", flush=True)
    record.save()


if __name__ == "__main__":
    main()
