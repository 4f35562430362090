"""One unit of work against the older package of our name, as default fits differ in starts, passes and choices.

``python -m benchmarks units [--repeats 9]`` runs both sides in turns, n=2000, d=8, K=5 (SoftKSC: 2 classes), with
nothing else running. The units are a pass over the rows, an epoch of one start (KFCCL), both by the difference of two
runs of 5 and 45, and the solution at one given width (SoftKSC).
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from benchmarks.lib.environments import older
from benchmarks.lib.processes import ours
from benchmarks.lib.records import Record
from benchmarks.speed.default_fits import OLDER, give

# A run of a given number of units, for us and for the older package, which stops at a change below its tolerance.
UNITS = {
    **{
        name: (
            f"{name}(K, init=X[:K], max_iter={{passes}}, tol=0.0{plain}).fit(X)",
            f"{name}(n_clusters=K, random_state=0, max_iter={{passes}}, tol=0.0).fit(X)",
        )
        for plain, names in ((", accelerate=False", ("FCM", "PCM", "PFCM")), ("", ("GK", "GathGeva")))
        for name in names
    },
    "ENTROPYFCM": (
        "ENTROPYFCM(K, init=X[:K], max_iter={passes}, tol=0.0, accelerate=False).fit(X)",
        "ENTROPYFCM(K, max_iter={passes}, tol=0.0).fit(X)",
    ),
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("units", partial=arguments != parser.parse_args([]))
    for name in UNITS:
        record[name] = units(name, arguments.repeats)
        print(name, record[name], flush=True)
    record.save()


if __name__ == "__main__":
    main()
