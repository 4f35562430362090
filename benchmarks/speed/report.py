"""How large a report is, and how long it takes to write: 25 models, 2000 samples, 10 clusters.

``python -m benchmarks report [--output report.html]``. The time includes the summary and the file, not the fits. The
report has all that makes it large: ids, 12 features to choose as axes, a group and a picture for each model, the exact
memberships of the recommended one. A second file is that of an image of 640 x 480 pixels, with a picture of each model.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.lib.records import Record
from soft_clustering import FCM
from soft_clustering.benchmarking.records import SCHEMA
from soft_clustering.benchmarking.runner import PlannedRun
from soft_clustering.report import summarize_comparison, write

N_MODELS, N_SAMPLES, K = 25, 2000, 10
HEIGHT, WIDTH = 480, 640


def finished(folder: Path, memberships: list[np.ndarray]) -> list[tuple[PlannedRun, dict]]:
    """Runs as a benchmark leaves them."""
    runs = []
    for number, U in enumerate(memberships):
        path = folder / f"{number}.npy"
        np.save(path, U.astype(np.float32))
        run = PlannedRun(
            str(number), {}, FCM(K, random_state=number), None, None, None, (), False, None, None, str(path)
        )
        record = {"key": run.key, **dict.fromkeys(SCHEMA), "model": f"FCM {number}", "status": "ok", "repeat": 0}
        runs.append((run, record | {"n_clusters": K, "ari": number / N_MODELS, "silhouette": 0.5, "fit_time": 0.1}))
    return runs


def recommendation() -> dict[str, Any]:
    """The first model is recommended, and each model is a group of its own."""
    return {
        **{"clear": True, "model": 0, "second": 1, "reason": "It is the first.", "n_differ": 100},
        "differ": list(range(100)),
        "groups": [{"models": [number], "representative": number, "agreement": 1.0} for number in range(N_MODELS)],
        "scores": {str(number): {"score": 1 - number / N_MODELS, "stability": 0.9} for number in range(N_MODELS)},
        "evidence": {"stability": "Agreement of fits to resampled data."},
    }


def measure(runs: list[tuple[PlannedRun, dict]], path: Path, *data: Any, **parts: Any) -> dict[str, float]:
    """Write a report: its size, and the seconds that it took."""
    start = time.perf_counter()
    summary = summarize_comparison(runs, *data, recommendation=recommendation(), **parts)
    middle = time.perf_counter()
    write(summary, path)
    end = time.perf_counter()
    return {"summary_seconds": middle - start, "file_seconds": end - middle, "MB": path.stat().st_size / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, metavar="FILE", help="keep the report of samples")
    arguments = parser.parse_args()
    record = Record("report", partial=arguments != parser.parse_args([]))
    X, y = make_blobs(N_SAMPLES, 20, centers=K, cluster_std=6.0, random_state=0)
    ids = [f"customer {row:06}" for row in range(N_SAMPLES)]
    noise = np.random.RandomState(0)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = arguments.output or folder / "report.html"
        fits = [FCM(K, m=1.1, n_init=1, random_state=seed).fit(X).memberships_ for seed in range(N_MODELS)]
        record["samples"] = measure(finished(folder, fits), path, X, y, name="blobs", ids=ids)

        # soft segments with noise, which compresses worse than clean edges
        places = np.stack(np.meshgrid(np.linspace(0, 1, WIDTH), np.linspace(0, 1, HEIGHT)), axis=2).reshape(-1, 2)
        pixels = []
        for _ in range(N_MODELS):
            distances = ((places[:, None] - noise.uniform(size=(K, 2))) ** 2).sum(axis=2)
            weights = np.exp(-50 * distances) * noise.uniform(0.8, 1.2, size=distances.shape)
            pixels.append(weights / weights.sum(axis=1, keepdims=True))
        image = {"height": HEIGHT, "width": WIDTH, "picture": "data:image/png;base64,"}
        runs = finished(folder, pixels)
        record["image"] = measure(runs, folder / "image.html", None, name="image", modality="image", image=image)
    print(record)
    record.save()


if __name__ == "__main__":
    main()
