"""Fits from dissimilarities: RelationalFCM beside R's fanny, FuzzyCMedoids beside FasterPAM of kmedoids.

``python -m benchmarks relational [--rows 1000 5000]``

Overlapping Gaussian clusters in 8 features, K = 5, the distances given as a matrix. RelationalFCM makes one start with
the fuzzifier of fanny, 1.2 (with fanny's own 2 all memberships become equal), to a change of the memberships by 1e-6,
fanny to a relative change of the objective by 1e-9. FuzzyCMedoids (its default fit, and one start of moves alone) is
harder work than FasterPAM, which has no degrees; the sums of distances to the nearest medoid compare the results.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from benchmarks.lib.environments import peer
from benchmarks.lib.records import Record
from benchmarks.lib.timing import timed
from soft_clustering import FuzzyCMedoids, RelationalFCM

K, TURNS = 5, 3
FANNY = "library(cluster)\nfound <- fanny(as.dist(D), 5, memb.exp = 1.2, maxit = 1000, tol = 1e-9)"
FASTER_PAM = "import kmedoids\nfound = kmedoids.fasterpam(D, 5, random_state=0, n_cpu=1)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 5000])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("relational", partial=arguments != parser.parse_args([]))
    fanny, pam = peer("R"), peer("kmedoids")
    for n in arguments.rows:
        X, _ = make_blobs(n, 8, centers=K, cluster_std=4.0, random_state=0)
        D = cdist(X, X)
        ours = {
            "RelationalFCM": RelationalFCM(K, m=1.2, metric="precomputed", n_init=1, random_state=0),
            "FuzzyCMedoids": FuzzyCMedoids(K, metric="precomputed", random_state=0),
            "FuzzyCMedoids, moves": FuzzyCMedoids(K, metric="precomputed", swap=False, n_init=1, random_state=0),
        }
        fanny.put(D=D)
        pam.put(D=D)
        calls = {name: partial(_seconds, model, D) for name, model in ours.items()}
        calls |= {"fanny": lambda: fanny.run(FANNY)[0], "FasterPAM": lambda: pam.run(FASTER_PAM)[0]}
        times: dict[str, list[float]] = {}
        for _ in range(TURNS):
            for name, call in calls.items():
                times.setdefault(name, []).append(call())
        results = {
            "objectives": [ours["RelationalFCM"].objective_, float(fanny.take("found$objective['objective']")[0])],
            "losses": [_loss(D, ours["FuzzyCMedoids"].medoid_indices_), float(pam.take("found.loss"))],
        }
        record[f"n={n}"] = {"seconds": {name: min(values) for name, values in times.items()}} | results
        print(n, record[f"n={n}"], flush=True)
    record.save()


def _seconds(model: RelationalFCM | FuzzyCMedoids, D: np.ndarray) -> float:
    return timed(lambda: model.fit(D))[0]


def _loss(D: np.ndarray, medoids: np.ndarray) -> float:
    return float(D[:, medoids].min(axis=1).sum())


if __name__ == "__main__":
    main()
