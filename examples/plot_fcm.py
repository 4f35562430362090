"""Fuzzy c-means on overlapping clusters: memberships as colours, and how m changes them.

Run ``python examples/plot_fcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import FCM

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45], [0.80, 0.47, 0.65]])


def main() -> None:
    X, _ = make_blobs(600, centers=[[-3, 0], [3, 0], [0, 4.5], [0, -4.5]], cluster_std=1.5, random_state=0)
    grid = np.stack(np.meshgrid(np.linspace(-8, 8, 240), np.linspace(-9.5, 9.5, 240)), axis=-1)
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.6), sharex=True, sharey=True, layout="constrained")
    for axis, m in zip(axes, (1.2, 2.0, 3.0), strict=True):
        model = FCM(n_clusters=4, m=m, random_state=0).fit(X)
        # each point gets the mixture of the clusters' colours
        axis.scatter(*X.T, c=model.memberships_ @ COLOURS, s=14, linewidths=0)
        surface = model.predict_memberships(grid.reshape(-1, 2)).max(axis=1).reshape(grid.shape[:2])
        lines = axis.contour(
            grid[..., 0], grid[..., 1], surface, levels=[0.4, 0.6, 0.8, 0.95], colors="0.35", linewidths=0.7
        )
        axis.clabel(lines, fontsize=7)
        axis.scatter(*model.centers_.T, marker="X", s=90, c=COLOURS, edgecolors="black")
        unsure = (model.memberships_.max(axis=1) < 0.6).mean()
        axis.set_title(f"m = {m:g}: {unsure:.0%} of the points below 0.6")
        axis.set_aspect("equal")
    figure.suptitle("Fuzzy c-means: colour = mixture of memberships, lines = largest membership")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
