"""How large a report is, and how long it takes to write: 20 models, 2000 samples, 10 clusters.

Usage: ``python benchmarks/report_size.py [report.html]``. The time includes the summary and the file, not the fits.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import FCM
from soft_clustering.benchmarking.records import SCHEMA
from soft_clustering.benchmarking.runner import PlannedRun
from soft_clustering.report import summarize_comparison, write

N_MODELS, N_SAMPLES, K = 20, 2000, 10


def finished(folder: Path, X: np.ndarray) -> list[tuple[PlannedRun, dict]]:
    """Runs as a benchmark leaves them."""
    runs = []
    for number in range(N_MODELS):
        estimator = FCM(K, m=1.1, n_init=1, random_state=number)
        path = folder / f"{number}.npy"
        np.save(path, estimator.fit(X).memberships_.astype(np.float32))
        run = PlannedRun(str(number), {}, estimator, X, None, None, (), False, None, None, str(path))
        record = {"key": run.key, **dict.fromkeys(SCHEMA), "model": f"FCM {number}", "status": "ok", "repeat": 0}
        runs.append((run, record | {"n_clusters": K, "ari": number / N_MODELS}))
    return runs


def main() -> None:
    X, y = make_blobs(N_SAMPLES, 20, centers=K, cluster_std=6.0, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        runs = finished(Path(folder), X)
        path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(folder, "report.html"))
        start = time.perf_counter()
        summary = summarize_comparison(runs, X, y, name="blobs")
        middle = time.perf_counter()
        write(summary, path)
        end = time.perf_counter()
        print(f"summary {middle - start:.2f} s, file {end - middle:.2f} s, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
