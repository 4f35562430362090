"""DMoN on a graph whose links are not enough: memberships from the links alone, and with features of the nodes.

Needs the extra ``deep``. Run ``python examples/plot_dmon.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from soft_clustering import DMoN
from soft_clustering.plotting import GraphDisplay, graph_layout


def main() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(3), 40)
    linked = np.triu(rng.uniform(size=(120, 120)) < np.where(y[:, None] == y, 0.14, 0.035), 1)
    A = sparse.csr_array((linked | linked.T).astype(float))
    X = 2.0 * np.eye(3)[y] + rng.normal(size=(120, 3))
    models = {
        "links alone": DMoN(n_clusters=3, n_init=3, random_state=0).fit(A),
        "links and features": DMoN(n_clusters=3, n_init=3, random_state=0).fit(A, node_features=X),
    }
    positions = graph_layout(A)
    figure, axes = plt.subplots(1, 3, figsize=(15.5, 4.6), layout="constrained")
    GraphDisplay.from_memberships(np.eye(3)[y], A, positions=positions, ax=axes[0], node_size=0.75)
    axes[0].set_title("planted communities\n")
    for axis, (name, model) in zip(axes[1:], models.items(), strict=True):
        order = linear_sum_assignment(-confusion_matrix(y, model.labels_))[1]  # for the same colours
        GraphDisplay.from_memberships(model.memberships_[:, order], A, positions=positions, ax=axis, node_size=0.75)
        wrong = order.argsort()[model.labels_] != y
        axis.scatter(*positions[wrong].T, s=150, facecolors="none", edgecolors="black", linewidths=1.6, zorder=5)
        axis.set_title(
            f"DMoN, {name}: {wrong.sum()} nodes in another cluster (ringed)\n"
            f"adjusted Rand index {adjusted_rand_score(y, model.labels_):.2f}, modularity {model.modularity_:.2f}"
        )
    for axis in axes[:2]:
        axis.get_legend().remove()
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
