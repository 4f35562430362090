"""PCM, PFCM, GK, GathGeva, ENTROPYFCM, SCM against the older package of our name, n=2000 d=8 K=5.

``python -m benchmarks prototypes [--repeats 5]`` runs both sides in turns (the older package in a process of its own
environment) and prints, per estimator, the time of one pass (difference of two runs of 10 and 60 passes at tol=0;
SCM: the whole fit) and of the default fit. Peak memory of our fit and the olivetti faces (400 x 4096, K=40) follow
if the data are given with ``--data``. Writes ``benchmarks/results/prototypes.json``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import soft_clustering
from benchmarks.lib.environments import Interpreter, older

RESULTS = Path(__file__).parents[1] / "results"
NAMES = ("PCM", "PFCM", "GK", "GathGeva", "ENTROPYFCM", "SCM")
SHORT, LONG = 10, 60
_REST = 0.1  # seconds until the threads of the other side, which wait for more work at first, are asleep
MAKE = "make_blobs(2000, 8, centers=5, cluster_std=4, random_state=0)"
# how the older package is called: some of its estimators have other names for K and the seed
OLDER = {
    "PCM": "PCM(n_clusters=5, random_state=0{more}).fit(X)",
    "PFCM": "PFCM(n_clusters=5, random_state=0{more}).fit(X)",
    "GK": "GK(n_clusters=5, random_state=0{more}).fit(X)",
    "GathGeva": "GathGeva(n_clusters=5, random_state=0{more}).fit(X)",
    "ENTROPYFCM": "ENTROPYFCM(5{more}).fit(X)",
    "SCM": "SCM().fit(X)",
}


def best(repeats: int, ours: Callable[[], object], older: Callable[[], float]) -> tuple[float, float]:
    """Best time of each side, in turns."""
    ours()
    older()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        time.sleep(_REST)
        start = time.perf_counter()
        ours()
        times[0].append(time.perf_counter() - start)
        time.sleep(_REST)
        times[1].append(older())
    return min(times[0]), min(times[1])


def speed(name: str, peer: Interpreter, X: np.ndarray, repeats: int) -> dict:
    cls = getattr(soft_clustering, name)
    out = {}
    if name != "SCM":

        def run(passes: int) -> Callable[[], object]:
            plain = {"accelerate": False} if "accelerate" in cls().get_params() else {}
            return lambda: cls(5, init=X[:5], max_iter=passes, tol=0.0, **plain).fit(X)

        def older(passes: int) -> Callable[[], float]:
            return lambda: peer.run(OLDER[name].format(more=f", max_iter={passes}, tol=0.0"))[0]

        short = best(repeats, run(SHORT), older(SHORT))
        long = best(repeats, run(LONG), older(LONG))
        out["ours_ms_per_pass"], out["older_ms_per_pass"] = (
            1e3 * (b - a) / (LONG - SHORT) for a, b in zip(short, long, strict=True)
        )
        out["pass_ratio"] = out["older_ms_per_pass"] / out["ours_ms_per_pass"]
    fit = cls() if name == "SCM" else cls(5, random_state=0)
    out["ours_fit"], out["older_fit"] = best(
        repeats, lambda: fit.fit(X), lambda: peer.run(OLDER[name].format(more=""))[0]
    )
    out["fit_ratio"] = out["older_fit"] / out["ours_fit"]
    return out


_CHILD = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, soft_clustering
from sklearn.datasets import make_blobs


def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


name, path = sys.argv[1:]
cls = getattr(soft_clustering, name)
if path:
    X = np.load(path, allow_pickle=False)["X"].astype(np.float64) / 255
    model = cls() if name == "SCM" else cls(40, random_state=0)
else:
    X, _ = make_blobs(20_000, 16, centers=5, random_state=0)
    model = cls() if name == "SCM" else cls(5, random_state=0)
small = X[:200]
(cls() if name == "SCM" else cls(2, random_state=0)).fit(small[:, :8])
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before, start = peak(), time.perf_counter()
model.fit(X)
print(json.dumps([time.perf_counter() - start, peak() - before, int(model.n_clusters_), model.labels_.tolist()]))
"""


def child(name: str, path: str) -> list:
    command = [sys.executable, "-c", _CHILD, name, path]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", help="folder with olivetti_faces.npz")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, _ = make_blobs(2000, 8, centers=5, cluster_std=4, random_state=0)
    peer = older()
    imports = ", ".join(NAMES)
    peer.run(f"from sklearn.datasets import make_blobs\nfrom soft_clustering import {imports}\nX, _ = {MAKE}")
    record = {}
    for name in NAMES:
        record[name] = speed(name, peer, X, arguments.repeats)
        # 20,000 x 16: X has 2.4 MB, memberships 0.8 MB; an (n, K, d) array would have 12.2 MB, an (n, n) one 3 GB
        record[name]["peak_MB_20000x16"] = child(name, "")[1]
        if arguments.data:
            path = Path(arguments.data) / "olivetti_faces.npz"
            y = np.load(path, allow_pickle=False)["y"]
            seconds, megabytes, K, labels = child(name, str(path))
            record[name] |= {
                "olivetti_seconds": seconds,
                "olivetti_peak_MB": megabytes,
                "olivetti_K": K,
                "olivetti_ARI": adjusted_rand_score(y, labels),
            }
        print(name, json.dumps(record[name], indent=2), flush=True)
    peer.close()
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "prototypes.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
