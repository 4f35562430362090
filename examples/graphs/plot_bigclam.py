"""BIGCLAM finds communities that overlap: nodes of two communities get two affiliations, and so do new nodes.

Run ``python examples/plot_bigclam.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import BIGCLAM
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout


def main() -> None:
    graph = make_overlapping_graph(120, 4, overlap=0.2, degree=11.0, background_degree=0.4, random_state=1)
    A = graph.adjacency
    model = BIGCLAM(n_clusters=4, random_state=0).fit(A)
    cover = model.get_cover()
    # Communities have no order: each is drawn in the colour of the planted one that it shares most nodes with.
    best = (graph.cover.T.astype(int) @ cover).argmax(axis=1)
    positions = graph_layout(A)
    figure, axes = plt.subplots(1, 2, figsize=(13, 5.6), layout="constrained")
    GraphDisplay.from_memberships(graph.cover * 1.0, A, positions=positions, ax=axes[0])
    two = int((graph.cover.sum(axis=1) > 1).sum())
    axes[0].set_title(f"Planted: 4 communities,\n{two} of 120 nodes in two")
    GraphDisplay.from_memberships((model.memberships_ * cover)[:, best], A, positions=positions, ax=axes[1])
    right = int((cover[:, best] == graph.cover).all(axis=1).sum())
    score = overlapping_nmi(cover, graph.cover)
    axes[1].set_title(
        f"BIGCLAM: affiliations from {model.threshold_:.2f} on\n{right} nodes right, overlapping NMI {score:.2f}"
    )

    # A newcomer with ten friends in each of the first two communities.
    friends = np.zeros((1, 120))
    for community in graph.cover.T[:2]:
        friends[0, np.flatnonzero(community)[:10]] = 1
    print("affiliations of a newcomer:", np.round(model.predict_memberships(friends)[0, best], 2))
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
