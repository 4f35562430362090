"""NOCD on a graph with planted overlapping communities: what it finds from the links, and where new nodes belong.

Needs the extra ``deep``. Run ``python examples/plot_nocd.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from soft_clustering import NOCD
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout


def main() -> None:
    graph = make_overlapping_graph(140, 4, overlap=0.2, degree=9.0, background_degree=0.5, random_state=1)
    old = np.arange(140) < 120  # the others come later
    A, cover = graph.adjacency[old][:, old], graph.cover[old]
    model = NOCD(n_clusters=4, random_state=0).fit(A)
    links = graph.adjacency[~old][:, old]
    new = model.predict_memberships(links)

    # Communities in the order of the planted ones, for the same colours.
    order = linear_sum_assignment(-(cover.T.astype(float) @ model.get_cover()))[1]
    found = model.get_cover()[:, order]
    positions = graph_layout(A)
    figure, axes = plt.subplots(1, 3, figsize=(15.5, 4.8), layout="constrained")
    GraphDisplay.from_memberships(cover.astype(float), A, positions=positions, ax=axes[0], node_size=0.75)
    axes[0].set_title(f"planted communities\n{int((cover.sum(axis=1) > 1).sum())} of {len(cover)} nodes are in two")
    GraphDisplay.from_memberships(model.memberships_[:, order], A, positions=positions, ax=axes[1], node_size=0.75)
    score = overlapping_nmi(cover, found)
    axes[1].set_title(f"NOCD from the links: affiliations\noverlapping NMI of the cover {score:.2f}")
    for axis in axes[:2]:
        axis.get_legend().remove()

    axis = axes[2]
    truth, strength = graph.cover[~old], new[:, order]
    sort = np.lexsort(truth.T[::-1])[::-1]
    image = axis.imshow(strength[sort], cmap="Blues", vmin=0, aspect="auto")
    rows, columns = np.nonzero(truth[sort])
    axis.scatter(columns, rows, marker="o", s=45, facecolors="none", edgecolors="tab:red", label="planted")
    axis.set(xticks=range(4), yticks=[], xlabel="community", ylabel="new nodes, from their links to the old ones")
    axis.set_xticklabels(range(1, 5))
    agreement = overlapping_nmi(truth, strength >= model.threshold_)
    axis.set_title(f"affiliations of {len(truth)} new nodes\noverlapping NMI {agreement:.2f}")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    figure.colorbar(image, ax=axis)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
