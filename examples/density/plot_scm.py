"""Subtractive clustering finds the number of clusters: the potential of each sample, and what each centre subtracts.

Run ``python examples/plot_scm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import SCM


def main() -> None:
    X, _ = make_blobs(700, centers=[[-5, 0], [0, 4], [5, 0], [1, -5], [8, 6]], cluster_std=1.1, random_state=1)
    model = SCM().fit(X)
    colours = plt.get_cmap("tab10")(np.arange(model.n_clusters_))[:, :3]
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")

    shown = axes[0].scatter(*X.T, c=model.potentials_, s=14, linewidths=0, cmap="viridis")
    axes[0].scatter(*model.centers_.T, marker="o", s=120, facecolors="none", edgecolors="red", linewidths=1.5)
    for k, center in enumerate(model.centers_):
        axes[0].annotate(str(k + 1), center, color="red", textcoords="offset points", xytext=(9, 9), weight="bold")
    figure.colorbar(shown, ax=axes[0], label="potential")
    axes[0].set_title("Potentials, and the centres in their order")

    axes[1].scatter(*X.T, c=np.clip(model.memberships_ @ colours, 0, 1), s=14, linewidths=0)
    axes[1].scatter(*model.centers_.T, marker="X", s=100, c=colours, edgecolors="black")
    axes[1].set_title(f"{model.n_clusters_} clusters found, radius {model.radius_:.2f}")
    for axis in axes[:2]:
        axis.set_aspect("equal")

    # the potential that is left after each centre, for twice as many peaks as were accepted
    more = SCM(n_clusters=2 * model.n_clusters_).fit(X)
    share = more.center_potentials_ / more.center_potentials_[0]
    order = np.arange(1, len(share) + 1)
    found = order <= model.n_clusters_
    axes[2].bar(order[found], share[found], color=colours)
    axes[2].bar(order[~found], share[~found], color="0.75")
    axes[2].axhline(model.accept_ratio, color="0.3", linestyle="--")
    axes[2].axhline(model.reject_ratio, color="0.3", linestyle=":")
    axes[2].text(order[-1] + 0.4, model.accept_ratio, "accept", ha="right", va="bottom")
    axes[2].text(order[-1] + 0.4, model.reject_ratio, "reject", ha="right", va="bottom")
    axes[2].set(xlabel="peak", ylabel="potential left, relative to the first", xticks=order)
    axes[2].set_title("The potential left at each peak")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
