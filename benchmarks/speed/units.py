"""The kernel, rough, image and evidential methods: growth with the rows, a large image, agreement with other packages.

``python -m benchmarks units [--repeats 3]`` measures, with nothing else running:

* KFCM and RoughKMeans from 10,000 to 1,000,000 rows (d=8, K=5): seconds per pass (difference of two runs of 5 and 15
  passes at tol=0), memory beyond X and the memberships, and the exponent of the growth;
* SKFCM on a noisy 512 x 512 image (K=4): seconds and memory of each spatial term;
* KFCM, KFCCL, BGMM and SoftKSC against the older package of our name by the unit of work, n=2000, K=5 (SoftKSC: 2
  classes), as their default fits differ in starts, passes and choices. The units are a pass, an epoch of one start, a
  pass of EM (all by the difference of two runs of 5 and 45), and the solution at one given width;
* ECM against evclust in an environment of its own, n=1000, d=8, K=3, all focal sets, both from one start: largest
  difference of the masses, and times in turns.

Writes ``benchmarks/results/families.json``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.lib import environments
from benchmarks.lib.environments import Interpreter, older, peer
from benchmarks.speed.default_fits import OLDER, give
from soft_clustering import ECM
from soft_clustering.benchmarking import environment, memory

RESULTS = Path(__file__).parents[1] / "results"
SIZES = (10_000, 100_000, 1_000_000)
SHORT, LONG = 5, 15


def ours() -> Interpreter:
    """A fresh process with our package, so that its peak memory is its own."""
    process = environments.ours()
    process.run(Path(memory.__file__).read_text())
    return process


def growth(name: str, repeats: int) -> dict[str, Any]:
    """Seconds per pass and memory at each size."""
    rows = []
    for n in SIZES:
        process = ours()
        process.run(
            f"from soft_clustering import {name}\nfrom sklearn.datasets import make_blobs\n"
            f"X, _ = make_blobs({n}, 8, centers=5, cluster_std=4.0, random_state=0)\n"
            f"plain = {{'accelerate': False}} if 'accelerate' in {name}().get_params() else {{}}\n"
            f"def fit(passes):\n"
            f"    return {name}(5, init=X[:5], max_iter=passes, tol=0.0, **plain).fit(X)\n"
            f"fit(1)"
        )
        best = [min(process.run(f"fit({passes})")[0] for _ in range(repeats)) for passes in (SHORT, LONG)]
        process.run("import gc\ngc.collect()\nreset_peak()\nbefore = peak()\nmodel = fit(5)")
        _, extra = process.run("answer = peak() - before - model.memberships_.nbytes")
        assert isinstance(extra, (int, float))
        rows.append({"n": n, "seconds_per_pass": (best[1] - best[0]) / (LONG - SHORT), "extra_mb": extra / 2**20})
        process.close()
    exponent = np.polyfit(np.log(SIZES), np.log([row["seconds_per_pass"] for row in rows]), 1)[0]
    return {"rows": rows, "exponent": float(exponent)}


def image(repeats: int) -> dict[str, Any]:
    """Default fits of a 512 x 512 image."""
    found = {}
    for spatial in ("penalty", "neighbors", "mean", "median"):
        process = ours()
        process.run(
            "import numpy as np\nfrom soft_clustering import SKFCM\n"
            "truth = np.kron([[0, 1], [2, 3]], np.ones((256, 256), dtype=int))\n"
            "noise = np.random.default_rng(0).normal(scale=20, size=truth.shape)\n"
            "X = np.array([20.0, 90.0, 160.0, 230.0])[truth] + noise\n"
            f"def fit(X):\n    return SKFCM(4, spatial={spatial!r}, random_state=0).fit(X)\n"
            "fit(X[:64, :64])\nreset_peak()\nbefore = peak()"
        )
        seconds = [process.run("model = fit(X)")[0]]
        _, extra = process.run("answer = (peak() - before) / 2**20")
        seconds += [process.run("model = fit(X)")[0] for _ in range(repeats - 1)]
        _, accuracy = process.run(
            "order = model.centers_[:, 0].argsort().argsort()\n"
            "answer = float((order[model.label_image_] == truth).mean())"
        )
        _, passes = process.run("answer = int(model.n_iter_)")
        found[spatial] = {"seconds": min(seconds), "peak_mb": extra, "accuracy": accuracy, "n_iter": passes}
        process.close()
    return found


# A run of a given number of units, for us and for the older package, which stops at a change below its tolerance.
UNITS = {
    "KFCM": (
        "KFCM(K, init=X[:K], max_iter={passes}, tol=0.0, accelerate=False).fit(X)",
        "KFCM(n_clusters=K, epsilon=-1.0, max_iter={passes}).fit(X)",
    ),
    "KFCCL": (
        "KFCCL(K, n_init=1, n_epochs={passes}, max_iter={passes}, random_state=0).fit(X)",
        "KFCCL(n_clusters=K, epsilon=-1.0, max_iter={passes}).fit(X)",
    ),
    "BGMM": (
        "BGMM(K, n_init=1, max_iter={passes}, tol=0.0, random_state=0).fit(X, X_beta=B)",
        "BGMM(n_components=K, tol=-1.0, max_iter={passes}).fit(X[:, 0], B[:, 0])",
    ),
    "SoftKSC": (
        "SoftKSC(gamma='scale', random_state=0).fit(X, y)",
        "SoftKSC().fit(X[y >= 0], 2 * y[y >= 0] - 1, X[y < 0])",
    ),
}
_REST = 0.1  # seconds until the threads of the other side are asleep


def units(name: str, repeats: int) -> dict[str, float]:
    """Milliseconds per unit of work on both sides, in turns."""
    sides = {"ours": ours(), "older": older()}
    best = {}
    for label, process in sides.items():
        process.run("import warnings\nwarnings.simplefilter('ignore')")
        give(process, name, OLDER[name].data()[0])
        best[label] = dict.fromkeys((5, 45), np.inf)
    for repeat in range(repeats + 1):  # the first one warms up
        for label, process in sides.items():
            for passes in best[label]:
                time.sleep(_REST)
                seconds = process.run(UNITS[name][label == "older"].format(passes=passes))[0]
                if repeat:
                    best[label][passes] = min(best[label][passes], seconds)
    for process in sides.values():
        process.close()
    found = {
        label: 1e3 * ((at[45] - at[5]) / 40 if "{passes}" in UNITS[name][0] else min(at.values()))
        for label, at in best.items()
    }
    return {"ours_ms": found["ours"], "older_ms": found["older"], "speedup": found["older"] / found["ours"]}


def masses(repeats: int) -> dict[str, Any]:
    """ECM and evclust from the same prototypes."""
    X, y = make_blobs(1000, 8, centers=3, cluster_std=4.0, random_state=0)
    V0 = np.array([X[y == k][:10].mean(axis=0) for k in range(3)])
    other = peer("evclust")
    other.run(f"import numpy\nfrom evclust.ecm import ecm\nX, V0 = map(numpy.array, {[X.tolist(), V0.tolist()]})")
    call = "found = ecm(X, 3, g0=V0, type='full', alpha=1, beta=2, delta=10, epsi=1e-12, disp=False)"
    model = ECM(3, focal_sets="full", alpha=1.0, beta=2.0, delta=10.0, init=V0, tol=1e-12, max_iter=1000)
    model.fit(X)
    times: dict[str, list[float]] = {"ours": [], "evclust": []}
    for _ in range(repeats):
        start = time.perf_counter()
        model.fit(X)
        times["ours"].append(time.perf_counter() - start)
        times["evclust"].append(other.run(call)[0])
    _, answer = other.run("answer = [found['mass'].tolist(), found['F'].tolist(), found['g'].tolist()]")
    theirs, focal, centers = (np.asarray(part) for part in answer)  # type: ignore[attr-defined]
    order = [int(np.flatnonzero((focal.astype(bool) == row).all(axis=1))[0]) for row in model.focal_sets_]
    best = {side: min(seconds) for side, seconds in times.items()}
    return {
        "largest_difference_of_masses": float(np.abs(model.masses_ - theirs[:, order]).max()),
        "largest_difference_of_centers": float(np.abs(model.centers_ - centers).max()),
        "n_iter": int(model.n_iter_),
        "ours_ms": 1e3 * best["ours"],
        "evclust_ms": 1e3 * best["evclust"],
        "speedup": best["evclust"] / best["ours"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    record = {
        "environment": environment(),
        "KFCM": growth("KFCM", repeats),
        "RoughKMeans": growth("RoughKMeans", repeats),
        "SKFCM 512 x 512": image(repeats),
        "units of work": {name: units(name, 3 * repeats) for name in UNITS},
        "ECM against evclust": masses(repeats),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "families.json").write_text(json.dumps(record, indent=2) + "\n")
    print(json.dumps({key: value for key, value in record.items() if key != "environment"}, indent=2))


if __name__ == "__main__":
    main()
