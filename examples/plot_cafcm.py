"""Collaborative annealing fuzzy c-means: the partition that single k-means runs miss.

Run ``python examples/plot_cafcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from soft_clustering import CAFCM

K = 16


def main() -> None:
    planted = 10.0 * np.indices((4, 4)).reshape(2, -1).T
    X, _ = make_blobs(800, centers=planted, cluster_std=1.2, random_state=0)
    runs = {
        init: [KMeans(K, n_init=1, init=init, random_state=seed).fit(X) for seed in range(50)]
        for init in ("random", "k-means++")
    }
    annealed = [CAFCM(K, random_state=seed).fit(X) for seed in range(20)]
    model = annealed[0]
    single = runs["k-means++"][0]

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained")
    panels = {
        f"one k-means run\nsum of squares {single.inertia_:.0f}": (single.labels_, single.cluster_centers_),
        f"CAFCM\nsum of squares {model.objective_:.0f}": (model.labels_, model.centers_),
    }
    for axis, (title, (labels, centers)) in zip(axes[:2], panels.items(), strict=True):
        axis.scatter(*X.T, s=6, c=labels, cmap="tab20", linewidths=0)
        axis.scatter(*centers.T, marker="X", s=70, c="gold", edgecolors="black")
        axis.set_title(title, fontsize=10)
        axis.set_aspect("equal")
    # Between clusters nothing is sure: soft memberships at the same centres say so.
    doubtful = model.soft_memberships_.max(axis=1) < 0.6
    axes[1].scatter(
        *X[doubtful].T, s=26, facecolors="none", edgecolors="black", linewidths=0.8, label="largest u < 0.6"
    )
    axes[1].legend(loc="lower left", fontsize=8)

    best = model.objective_
    costs = {
        "k-means, random\n50 runs": [run.inertia_ / best for run in runs["random"]],
        "k-means, k-means++\n50 runs": [run.inertia_ / best for run in runs["k-means++"]],
        "CAFCM\n20 seeds": [run.objective_ / best for run in annealed],
    }
    rng = np.random.default_rng(0)
    for at, ratios in enumerate(costs.values()):
        axes[2].scatter(at + rng.uniform(-0.18, 0.18, len(ratios)), ratios, s=16, alpha=0.7, linewidths=0)
    axes[2].set_xticks(range(3), list(costs), fontsize=9)
    axes[2].axhline(1, color="0.6", linewidth=0.8, zorder=0)
    axes[2].set_title("sum of squares, relative to CAFCM", fontsize=10)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
