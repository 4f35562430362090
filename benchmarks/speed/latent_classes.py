"""LatentClass against StepMix: whole fits, what they find, and passes.

``python -m benchmarks latent-classes``

Tables of scikit-learn in quantiles, complete and with one value in five missing, and binary digits: ten starts each,
with the tolerances at which both find an optimum (StepMix: 1e-9, ours: the default). Then the seconds of a pass, by
fits of one start without acceleration that make one pass and many. Both sides in turns on one thread, the best of
several.
"""

from __future__ import annotations

import argparse
import os
import warnings
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.lib.environments import peer
from benchmarks.lib.records import Record
from benchmarks.lib.timing import timed
from soft_clustering import LatentClass

LOADERS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
PASSES = 200


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Codes and classes by the name of the table."""
    found = {}
    for name, load in LOADERS.items():
        X, y = load(return_X_y=True)
        codes = np.column_stack([np.searchsorted(np.quantile(x, [0.25, 0.5, 0.75]), x, side="right") for x in X.T])
        found[name] = codes.astype(float), y
        holes = np.random.RandomState(0).uniform(size=codes.shape) < 0.2
        found[f"{name}, gaps"] = np.where(holes, np.nan, codes), y
    X, y = load_digits(return_X_y=True)
    binary = (X > 7).astype(float)
    found["digits"] = binary[:, binary.std(axis=0) > 0], y
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=tables(), default=list(tables()), metavar="TABLE")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"  # of the other process
    record = Record("latent_classes", partial=arguments != parser.parse_args([]))
    process = peer("stepmix")
    process.run("from stepmix.stepmix import StepMix")
    for name in arguments.only:
        X, y = tables()[name]
        K, kind = len(np.unique(y)), "categorical_nan" if np.isnan(X).any() else "categorical"
        process.put(X=X)
        theirs = f"StepMix({K}, measurement={kind!r}, random_state=0, progress_bar=0, verbose=0, "
        fit = f"model = {theirs}n_init=10, max_iter=1000, abs_tol=1e-9, rel_tol=1e-12).fit(X)"
        one = f"one = {theirs}n_init=1, abs_tol=0, rel_tol=0, max_iter="

        def ours(passes: int, X: np.ndarray = X, K: int = K) -> LatentClass:
            return LatentClass(K, n_init=1, max_iter=passes, tol=0, accelerate=False, random_state=0).fit(X)

        def whole(X: np.ndarray = X, K: int = K) -> LatentClass:
            return LatentClass(K, random_state=0).fit(X)

        seconds: dict[str, list[float]] = {side: [] for side in ("StepMix", "ours", "StepMix, pass", "ours, pass")}
        with threadpool_limits(1):
            for _ in range(arguments.repeats):
                seconds["StepMix"].append(process.run(fit)[0])
                time, model = timed(whole)
                seconds["ours"].append(time)
                short, long = (process.run(f"{one}{passes}).fit(X)\nanswer = one.n_iter_") for passes in (1, PASSES))
                seconds["StepMix, pass"].append((long[0] - short[0]) / (long[1] - 1))
                few, many = timed(partial(ours, 1))[0], timed(partial(ours, PASSES))
                seconds["ours, pass"].append((many[0] - few) / (many[1].n_iter_ - 1))
        best = {side: min(times) for side, times in seconds.items()}
        labels = process.take("model.predict(X)")
        record[name] = {
            "seconds": best,
            "log-likelihood": {
                "StepMix": float(process.take("model.score(X)")) * len(X),
                "ours": model.objective_ * len(X),
            },
            "ari": {"StepMix": adjusted_rand_score(y, labels), "ours": adjusted_rand_score(y, model.labels_)},
        }
        fits, same = best["StepMix"] / best["ours"], best["StepMix, pass"] / best["ours, pass"]
        found = record[name]["log-likelihood"]
        print(
            f"{name:20} fit {best['ours']:.3f} s, {fits:.0f}x less than StepMix; passes {same:.0f}x; "
            f"log-likelihood {found['ours']:.4f}, {found['StepMix']:.4f}",
            flush=True,
        )
    process.close()
    record.save()


if __name__ == "__main__":
    main()
