"""How much more starts help CDCGS and DMoN on graphs whose communities are known.

``python -m benchmarks graph-starts --data FOLDER [--starts 40]`` fits each of them from this many single starts, DMoN
also with half its epochs, and prints the adjusted Rand index / modularity of a start, of the start of lowest loss, and,
as the mean over random choices among the starts, of the lowest loss of 3, 5, 10 and 20.

FOLDER has the files that ``soft_clustering.datasets.load_graph`` reads. Writes
``benchmarks/results/graph_starts.json``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.communities import DISJOINT, RESULTS, modularity
from soft_clustering import CDCGS, DMoN
from soft_clustering.benchmarking import environment
from soft_clustering.datasets import load_graph

MODELS = {"CDCGS": (CDCGS, {}), "DMoN": (DMoN, {}), "DMoN, 500 epochs": (DMoN, {"max_epochs": 500})}
CHOSEN = (3, 5, 10, 20)
CHOICES = 2000


def measure(cls: Any, settings: dict[str, Any], graph: Any, starts: int) -> list[tuple[float, float, float]]:
    """Loss, adjusted Rand index and modularity of each start."""
    K, found = graph.cover.shape[1], []
    for seed in range(starts):
        model = cls(K, n_init=1, random_state=seed, **settings).fit(graph.adjacency)
        ari = adjusted_rand_score(graph.labels, model.labels_)
        found.append((model.objective_, ari, modularity(graph.adjacency, model.labels_)))
    return found


def summary(runs: list[tuple[float, float, float]]) -> dict[str, list[float]]:
    """Adjusted Rand index and modularity of one start, of the best, and of the best of some."""
    rng = np.random.default_rng(0)
    loss, scores = np.array(runs)[:, 0], np.array(runs)[:, 1:]
    rows = {"one": scores.mean(axis=0), "lowest loss": scores[loss.argmin()]}
    for size in (size for size in CHOSEN if size < len(runs)):
        choices = [rng.choice(len(runs), size, replace=False) for _ in range(CHOICES)]
        rows[f"best of {size}"] = np.mean([scores[chosen[loss[chosen].argmin()]] for chosen in choices], axis=0)
    return {name: row.tolist() for name, row in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="FOLDER", required=True)
    parser.add_argument("--starts", type=int, default=40)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record: dict[str, Any] = {"environment": environment(), "starts": arguments.starts}
    for name in DISJOINT:
        graph = load_graph(name, data_home=arguments.data)
        record[name] = {}
        for title, (cls, settings) in MODELS.items():
            row = record[name][title] = summary(measure(cls, settings, graph, arguments.starts))
            if title == "CDCGS":
                print(f"\n| {name} | " + " | ".join(row) + " |\n" + "|---" * (len(row) + 1) + "|")
            print(f"| {title} | " + " | ".join(f"{ari:.3f} / {Q:.3f}" for ari, Q in row.values()) + " |", flush=True)
    (RESULTS / "graph_starts.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
