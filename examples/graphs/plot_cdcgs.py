"""Communities by Gumbel softmax: a karate club in two and in four parts, and members who join later.

Needs the extra ``deep``. Run ``python examples/plot_cdcgs.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import CDCGS
from soft_clustering.datasets import load_graph
from soft_clustering.plotting import GraphDisplay, graph_layout

LATE = np.array([2, 8, 9, 13, 19, 28])  # members with friends on both sides


def main() -> None:
    karate = load_graph("karate")
    A, names = karate.adjacency, karate.node_names
    positions = graph_layout(A)
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained", width_ratios=(1.25, 1.25, 0.9))

    # The club without some of its members, who are then placed by their links.
    early = np.setdiff1d(np.arange(len(names)), LATE)
    club = CDCGS(n_clusters=2, random_state=0).fit(A[early][:, early])
    memberships = np.empty((len(names), 2))
    memberships[early] = club.memberships_
    memberships[LATE] = club.predict_memberships(A[LATE][:, early])
    GraphDisplay.from_memberships(memberships, A, positions=positions, node_names=names, ax=axes[0])
    found = adjusted_rand_score(karate.labels, memberships.argmax(axis=1))
    late = ", ".join(names[LATE])
    axes[0].set_title(f"2 communities of 28 members; {late} join later\nadjusted Rand index {found:.2f}", fontsize=10)

    parts = CDCGS(n_clusters=4, random_state=0).fit(A)
    GraphDisplay.from_estimator(parts, A, positions=positions, node_names=names, ax=axes[1])
    axes[1].set_title("4 communities of all members", fontsize=10)

    R = parts.interaction_matrix_
    shares = R / R.sum(axis=0)
    axes[2].imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (i, j), share in np.ndenumerate(shares):
        axes[2].text(j, i, f"{share:.2f}", ha="center", va="center", color="white" if share > 0.5 else "black")
    axes[2].set(xticks=range(4), yticks=range(4), xlabel="links of cluster", ylabel="part that leads to cluster")
    axes[2].set_title("the matrix that the loss drives to the identity", fontsize=10)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
