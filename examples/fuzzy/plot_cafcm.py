"""Collaborative annealing fuzzy c-means: the partition that single k-means runs miss.

Run ``python examples/plot_cafcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from soft_clustering import CAFCM

SIDE = 5
K = SIDE * SIDE


def main() -> None:
    planted = 10.0 * np.indices((SIDE, SIDE)).reshape(2, -1).T
    X, _ = make_blobs(1000, centers=planted, cluster_std=1.2, random_state=0)
    runs = {
        init: [KMeans(K, n_init=1, init=init, random_state=seed).fit(X) for seed in range(50)]
        for init in ("random", "k-means++")
    }
    annealed = {init: [CAFCM(K, init=init, random_state=seed).fit(X) for seed in range(20)] for init in runs}
    model = annealed["k-means++"][0]
    single = sorted(runs["random"], key=lambda run: float(run.inertia_))[25]

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained")
    panels = {
        f"k-means from random samples, the median of 50 runs\nsum of squares {single.inertia_:.0f}": (
            single.labels_,
            single.cluster_centers_,
        ),
        f"CAFCM\nsum of squares {model.objective_:.0f}": (model.labels_, model.centers_),
    }
    for axis, (title, (labels, centers)) in zip(axes[:2], panels.items(), strict=True):
        axis.scatter(*X.T, s=6, c=labels, cmap="tab20", linewidths=0)
        axis.scatter(*centers.T, marker="X", s=70, c="gold", edgecolors="black")
        axis.set_title(title, fontsize=10)
        axis.set(aspect="equal", ylim=(-9, 44))
    # Samples between clusters are uncertain: soft memberships at the same centres show it.
    doubtful = model.soft_memberships_.max(axis=1) < 0.6
    axes[1].scatter(
        *X[doubtful].T, s=26, facecolors="none", edgecolors="black", linewidths=0.8, label="largest u < 0.6"
    )
    axes[1].legend(loc="lower right", fontsize=8)

    best = model.objective_
    costs = {f"k-means\n{init}\n50 runs": [run.inertia_ / best for run in runs[init]] for init in runs}
    costs |= {f"CAFCM\n{init}\n20 seeds": [run.objective_ / best for run in annealed[init]] for init in annealed}
    rng = np.random.default_rng(0)
    for at, ratios in enumerate(costs.values()):
        axes[2].scatter(at + rng.uniform(-0.18, 0.18, len(ratios)), ratios, s=16, alpha=0.7, linewidths=0)
    axes[2].set_xticks(range(4), list(costs), fontsize=9)
    axes[2].axhline(1, color="0.6", linewidth=0.8, zorder=0)
    axes[2].set_title("sum of squares, relative to CAFCM", fontsize=10)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
