"""Time and memory of the validity indices, and scikit-learn's silhouette beside ours.

``python -m benchmarks metrics [--repeats 5] [--only NAME ...]`` measures the indices at n = 100,000, d = 16, K = 10
(those that look at all pairs of samples at a smaller n, which is printed), both metric dictionaries on the olivetti
faces (400 x 4096, K = 40), and the silhouette at n = 20,000 in turns with scikit-learn's. Each memory is the peak of
what is allocated during the call (tracemalloc; for the faces the resident peak of a process of their own, too). Nothing
else should run on the machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

from benchmarks.lib.records import Record
from benchmarks.lib.sets import shared
from benchmarks.lib.timing import best, in_turns
from soft_clustering.metrics import METRICS, silhouette, soft_clustering_metrics

N_PAIRS = {
    "silhouette": 10_000,
    "fuzzy_silhouette": 10_000,
    "fuzzy_rand": 5_000,
    "adjusted_fuzzy_rand": 2_000,
    "omega_index": 5_000,
}


def allocated(call: Callable[[], object]) -> float:
    """The peak of the memory that a call allocates, in MB."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def sample(n: int, d: int = 16, K: int = 10) -> dict:
    """Overlapping clusters, the memberships of fuzzy c-means at their true centres, and a second partition."""
    V = np.random.default_rng(0).normal(size=(K, d)) * 4
    X, y = make_blobs(n, d, centers=V, cluster_std=2.0, random_state=0)
    D = np.stack([((X - v) ** 2).sum(axis=1) for v in V], axis=1)
    U = 1 / D / (1 / D).sum(axis=1, keepdims=True)
    return {"X": X, "U": U, "centers": V, "labels": U.argmax(axis=1), "cover": U >= 1 / K, "y_true": y, "m": 2.0}


def indices(repeats: int) -> dict:
    """Time each index alone, and four of them together."""
    out: dict[str, dict[str, float]] = {}
    samples = {n: sample(n) for n in {100_000, *N_PAIRS.values()}}
    for name, metric in METRICS.items():
        n = N_PAIRS.get(name, 100_000)

        def call(metric=metric, n=n) -> float:
            return metric(**samples[n])

        out[name] = {"n": n, "seconds": best(call, repeats + 1), "MB": allocated(call)}
        print(f"{name:32s} n={n:7d} {out[name]['seconds']:9.4f} s {out[name]['MB']:8.1f} MB", flush=True)
    four = ("partition_coefficient", "xie_beni", "fuzzy_compactness", "fuzzy_hypervolume")
    out["sum of PC, XB, FC, FHV"] = {"n": 100_000, "seconds": sum(out[name]["seconds"] for name in four)}

    def together() -> object:
        everything = samples[100_000]
        return soft_clustering_metrics(everything["X"], everything["U"], centers=everything["centers"])

    out["soft_clustering_metrics"] = {
        "n": 100_000,
        "seconds": best(together, repeats + 1),
        "MB": allocated(together),
        "MB of U": samples[100_000]["U"].nbytes / 2**20,
    }
    for name in list(out)[-2:]:
        print(name, out[name], flush=True)
    return out


_FACES = """
import json, sys, time
import numpy as np
from soft_clustering.metrics import clustering_metrics, soft_clustering_metrics


def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


file = np.load(sys.argv[1], allow_pickle=False)
X, y = file["X"].astype(np.float64) / 255, file["y"]
V = np.stack([X[y == k].mean(axis=0) for k in range(40)])
D = np.stack([((X - v) ** 2).sum(axis=1) for v in V], axis=1)
U = 1 / D / (1 / D).sum(axis=1, keepdims=True)
clustering_metrics(X[:80, :50], y[:80], y_true=y[:80])
soft_clustering_metrics(X[:80, :50], U[:80], centers=V[:, :50])
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before, start = peak(), time.perf_counter()
soft = soft_clustering_metrics(X, U, centers=V)
middle = time.perf_counter()
hard = clustering_metrics(X, y, y_true=y)
end = time.perf_counter()
print(json.dumps({"soft_seconds": middle - start, "hard_seconds": end - middle, "resident_MB": peak() - before,
                  **soft, **hard}))
"""


def olivetti(repeats: int) -> dict:
    """Both dictionaries on the olivetti faces: seconds, and resident memory beyond X, U and the prototypes."""
    command = [sys.executable, "-c", _FACES, str(shared("tabular", "olivetti_faces.npz"))]
    out: dict = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    print("olivetti", json.dumps(out, indent=2), flush=True)
    return out


def silhouettes(repeats: int) -> dict:
    """Ours in turns with scikit-learn's at n = 20,000 (its working memory at the default of 1 GB)."""
    out: dict[str, dict[str, float]] = {}
    for d in (2, 16, 64):
        X, y = make_blobs(20_000, d, centers=10, random_state=0)
        sides = {"ours": lambda X=X, y=y: silhouette(X, y), "scikit-learn": lambda X=X, y=y: silhouette_score(X, y)}
        out[f"d={d}"] = in_turns(max(1, repeats // 2), **sides)
        out[f"d={d}"]["ours_MB"] = allocated(lambda X=X, y=y: silhouette(X, y))
        print("silhouette, n=20000,", f"d={d}", out[f"d={d}"], flush=True)
    return out


MEASURES: dict[str, Callable[[int], dict]] = {
    "indices": indices,
    "olivetti": olivetti,
    "silhouettes": silhouettes,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=MEASURES, default=list(MEASURES))
    arguments = parser.parse_args()
    record = Record("metrics", partial=arguments != parser.parse_args([]))
    for name in arguments.only:
        record[name] = MEASURES[name](arguments.repeats)
    record.save()


if __name__ == "__main__":
    main()
