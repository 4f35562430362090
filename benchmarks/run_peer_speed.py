"""Every registered estimator against the older package of our name: time, agreement with the classes, peak memory.

``python benchmarks/run_peer_speed.py [--repeats 5] [--models NAME ...]`` fits both with their default settings and the
same K on the same input. Each side has a process of its own, the older package (``soft-clustering==0.2.0``) one of its
own environment, which is made on first use. A small fit first pays for imports and threads; then both are fitted in
turns, and the best time counts. A fit of more than ten seconds is not repeated, one of more than the limit is ended.
Nothing else should run on the machine. Writes ``peer_speed.csv`` and, with every repeat and the environment,
``peer_speed.json``.

A new estimator takes part when it is registered and has a line in ``OLDER``, the way the older package calls it.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas
from peer import Interpreter, PeerProcess
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.benchmarking import environment, memory

K = 5
PATIENCE = 10.0  # seconds; a slower fit is not repeated

# What each kind of estimator gets: X, and the classes.
INPUTS = {"features": make_blobs(2000, 8, centers=K, cluster_std=4.0, random_state=0)}

# How the older package calls its constructors: K and the seed have other names here and there.
OLDER = {
    "FCM": "FCM(n_clusters=K, random_state=0)",
    "GK": "GK(n_clusters=K, random_state=0)",
    "GathGeva": "GathGeva(n_clusters=K, random_state=0)",
    "PCM": "PCM(n_clusters=K, random_state=0)",
    "PFCM": "PFCM(n_clusters=K, random_state=0)",
    "ENTROPYFCM": "ENTROPYFCM(c=K)",
    "SCM": "SCM()",
    "GMM": "GMM(n_clusters=K, random_state=0)",
    "RoughKMeans": "RoughKMeans(n_clusters=K, random_state=0)",
    "AFCM": "AFCM(c=K)",
    "AFCMSimple": "AFCMSimple(c=K)",
    "CAFCM": "CAFCM(c=K)",
    "CAFHFCM": "CAFHFCM(c=K)",
    "RPFKM": "RPFKM(c=K, d=K, random_state=0)",
    "FCC": "FCC(c=K)",
    "ECM": "ECM(n_clusters=K)",
    "EVCLUS": "EVCLUS(n_clusters=K, random_state=0)",
    "KFCM": "KFCM(n_clusters=K)",
    "KFCCL": "KFCCL(n_clusters=K)",
    "SoftDBSCANGM": "SoftDBSCANGM()",
}


def our_call(name: str) -> str:
    """Our constructor: K where the method does not find it itself, the seed where there is one."""
    parameters = getattr(soft_clustering, name)().get_params()
    arguments = ["n_clusters=K"] if parameters.get("n_clusters") is not None else []
    arguments += ["random_state=0"] if "random_state" in parameters else []
    return f"{name}({', '.join(arguments)})"


class Side:
    """One package in one process."""

    def __init__(self, process: Interpreter, name: str, call: str, X: Any, time_limit: float) -> None:
        self.process, self.time_limit = process, time_limit
        self.found: dict[str, Any] = {}
        self.seconds: list[float] = []
        process.run(Path(memory.__file__).read_text())  # both sides are measured by the same lines
        process.run(f"import numpy\nfrom soft_clustering import {name}\nK = {K}\nX = numpy.array({X.tolist()})")
        process.run(f"def fit(X):\n    model = {call}\n    model.fit(X)\n    return model")

    def first(self, y: Any) -> None:
        """Warm up, then the fit that shows the memory and the labels."""
        self.process.run("fit(X[:200])", self.time_limit)
        self.process.run("reset_peak()\nbefore = peak()")
        seconds, _ = self.process.run("model = fit(X)", self.time_limit)
        _, (peak, labels) = self.process.run("answer = [peak() - before, model.labels_.tolist()]")
        self.seconds.append(seconds)
        self.found = {"ari": adjusted_rand_score(y, labels), "peak_mb": peak / 2**20}

    def again(self) -> None:
        """One more timed fit, unless they are slow."""
        if self.seconds and self.seconds[0] < PATIENCE:
            self.seconds.append(self.process.run("fit(X)", self.time_limit)[0])


def compare(name: str, repeats: int, time_limit: float) -> dict[str, Any]:
    X, y = INPUTS[getattr(soft_clustering, name).modality]
    ours, older = Interpreter(sys.executable), PeerProcess()
    ours.run(f"import sys\nsys.path[:] = {sys.path}")
    sides = {
        "ours": Side(ours, name, our_call(name), X, time_limit),
        "older": Side(older, name, OLDER[name], X, time_limit),
    }
    row: dict[str, Any] = {"estimator": name}
    for side in sides.values():
        try:
            side.first(y)
        except (RuntimeError, TimeoutError) as error:
            side.found = {"problem": str(error)}
    for _ in range(repeats - 1):
        for side in sides.values():
            side.again()
    for label, side in sides.items():
        row[f"{label}_ms"] = 1e3 * min(side.seconds) if side.seconds else None
        for quantity in ("ari", "peak_mb", "problem"):
            row[f"{label}_{quantity}"] = side.found.get(quantity)
        row[f"{label}_seconds"] = side.seconds
        side.process.close()
    row["speedup"] = row["older_ms"] / row["ours_ms"] if row["ours_ms"] and row["older_ms"] else None
    return row


def main() -> None:
    names = [row.name for row in REGISTRY if row.name in OLDER]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per fit")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results", help="folder of the results")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for row in REGISTRY:
        if row.name not in OLDER:
            print(f"{row.name}: left out, the older package or its line in OLDER is missing", file=sys.stderr)
    rows = []
    for name in arguments.models:
        rows.append(compare(name, arguments.repeats, arguments.time_limit))
        print(f"{name}: done", file=sys.stderr, flush=True)
    arguments.output.mkdir(parents=True, exist_ok=True)
    record = {"environment": environment(), "rows": rows}
    (arguments.output / "peer_speed.json").write_text(json.dumps(record, indent=2) + "\n")
    columns = [f"{side}_{what}" for what in ("ms", "ari", "peak_mb", "problem") for side in ("ours", "older")]
    table = pandas.DataFrame(rows)[["estimator", "speedup", *columns]].astype(dict.fromkeys(columns[:-2], float))
    table.to_csv(arguments.output / "peer_speed.csv", index=False)
    print(table.dropna(axis=1, how="all").to_string(index=False, float_format="{:.3g}".format))


if __name__ == "__main__":
    main()
