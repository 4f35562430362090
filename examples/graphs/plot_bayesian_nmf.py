"""Bayesian NMF of the karate club: it begins with many communities, shrinks those without need, and keeps four.

Run ``python examples/plot_bayesian_nmf.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import BayesianNMF
from soft_clustering.datasets import load_graph
from soft_clustering.plotting import GraphDisplay, graph_layout


def main() -> None:
    graph = load_graph("karate")
    found = BayesianNMF(random_state=0).fit(graph.adjacency)
    # The same fit with a given number, which keeps the columns of all communities.
    wide = BayesianNMF(n_clusters=17, self_loops="unit", random_state=0).fit(graph.adjacency)
    strength = wide.memberships_.sum(axis=0)
    order = np.argsort(-strength)
    positions = graph_layout(graph.adjacency)

    figure, axes = plt.subplots(1, 3, figsize=(16, 5.2), layout="constrained", width_ratios=[1, 1, 0.8])
    names = graph.node_names
    GraphDisplay.from_memberships(
        found.memberships_, graph.adjacency, positions=positions, node_names=names, ax=axes[0]
    )
    axes[0].set_title(f"n_clusters=None: {found.n_clusters_} communities found")
    two = BayesianNMF(n_clusters=2, random_state=0).fit(graph.adjacency)
    GraphDisplay.from_memberships(two.memberships_, graph.adjacency, positions=positions, node_names=names, ax=axes[1])
    mixed = int((two.get_cover().sum(axis=1) > 1).sum())
    axes[1].set_title(f"n_clusters=2: the two sides, {mixed} members in both")
    bars = axes[2]
    bars.bar(np.arange(17), strength[order], color="tab:blue")
    bars.set(xlabel="community, of 17", xticks=[], title="Communities that shrink to nothing")
    bars.set_ylabel("sum of strengths", color="tab:blue")
    other = bars.twinx()
    other.plot(np.arange(17), wide.precisions_[order], "o-", color="tab:red", markersize=4)
    other.set_ylabel("precision", color="tab:red")
    other.set_ylim(bottom=0)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
