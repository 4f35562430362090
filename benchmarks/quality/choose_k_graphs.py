"""How often ``choose_n_clusters`` finds the number of communities of LFR graphs.

``python -m benchmarks choose-k-graphs [--models NAME ...] [--seeds N ...]``

The graphs have 1000 nodes, and are those of the four settings of ``make_lfr_graph``: a share of 0.1 or 0.3 of the links
leaves the communities, a share of 0.1 or 0.3 of the nodes is in two of them. Seeds below 2 were looked at while the
criterion was made; the record has other ones. Models have default settings and seed 0; the range is that of ``RANGE``.

Prints a Markdown table: per model and criterion, for how many graphs it finds K, and the mean error of K; then the mean
ONMI of the chosen fits and the CPU time of a call with the default criteria and stability.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import soft_clustering
from benchmarks.lib.markdown import table
from benchmarks.lib.records import Record
from soft_clustering.datasets import make_lfr_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.selection import choose_n_clusters

SETTINGS = [(0.1, 0.1), (0.1, 0.3), (0.3, 0.1), (0.3, 0.3)]  # mixing, overlap
SEEDS = [2, 3]
RANGE = range(15, 37)
MODELS = [name for name in ("LinkMixture", "MMSB", "BIGCLAM", "BayesianNMF") if hasattr(soft_clustering, name)]
CRITERIA = ["thinned_links", "overlapping_modularity", "modularity", "stability"]


def measure(name: str, seeds: list[int]) -> dict[str, Any]:
    """The choices for all graphs of these seeds."""
    errors: dict[str, list[int]] = {criterion: [] for criterion in CRITERIA}
    agreement, seconds = [], []
    for mixing, overlap in SETTINGS:
        for seed in seeds:
            graph = make_lfr_graph(mixing=mixing, overlap=overlap, random_state=seed)
            K = graph.cover.shape[1]
            model = getattr(soft_clustering, name)(random_state=0)
            start = time.process_time()
            result = choose_n_clusters(model, graph.adjacency, RANGE, criteria=CRITERIA, random_state=0)
            seconds.append(time.process_time() - start)
            for criterion, choice in result.best.items():
                errors[criterion].append(choice - K if choice is not None else RANGE.stop - RANGE.start)
            found = result.estimators[result.recommended].get_cover()
            agreement.append(overlapping_nmi(graph.cover, found))
            print(name, mixing, overlap, seed, f"K={K}", result.best, flush=True)
    return {
        "graphs": len(agreement),
        "criteria": {
            criterion: {"found": sum(error == 0 for error in each), "error": float(np.mean(np.abs(each)))}
            for criterion, each in errors.items()
        },
        "onmi": float(np.mean(agreement)),
        "cpu seconds": float(np.mean(seconds)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("choose_k_graphs", partial=arguments != parser.parse_args([]))
    rows = []
    for name in arguments.models:
        found = record[name] = measure(name, arguments.seeds)
        cells = [f"{each['found']} of {found['graphs']} ({each['error']:.1f})" for each in found["criteria"].values()]
        rows.append([name, *cells, f"{found['onmi']:.3f}", f"{found['cpu seconds']:.0f}"])
    print(table(["model", *CRITERIA, "ONMI", "CPU s"], rows))
    record.save()


if __name__ == "__main__":
    main()
