"""Rough k-means: sure members, and samples that two or three clusters may claim.

Run ``python examples/plot_rough_k_means.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import RoughKMeans

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45]])


def main() -> None:
    X, _ = make_blobs(450, centers=[[-3.0, 0.0], [3.0, 0.0], [0.0, 4.8]], cluster_std=1.5, random_state=0)
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
    grid = np.stack(np.meshgrid(np.linspace(low[0], high[0], 400), np.linspace(low[1], high[1], 400)), axis=-1)
    models = {
        "ratio of the distances at most 1.2": RoughKMeans(3, random_state=0),
        "ratio at most 1.6": RoughKMeans(3, boundary_threshold=1.6, random_state=0),
        "difference at most 1": RoughKMeans(3, boundary_rule="difference", boundary_threshold=1.0, random_state=0),
    }
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 5.0), sharex=True, sharey=True, layout="constrained")
    for axis, (title, model) in zip(axes, models.items(), strict=True):
        model.fit(X)
        # a region has the mean colour of the clusters that may claim it, lighter than the samples
        _, upper = model.predict_approximations(grid.reshape(-1, 2))
        shade = 0.75 + 0.25 * (upper @ COLOURS) / upper.sum(axis=1, keepdims=True)
        shade[upper.sum(axis=1) > 1] -= 0.13
        extent = (low[0], high[0], low[1], high[1])
        axis.imshow(shade.reshape(*grid.shape[:2], 3), extent=extent, origin="lower", interpolation="none")
        sure = model.lower_approximation_.any(axis=1)
        axis.scatter(*X[sure].T, s=13, c=COLOURS[model.labels_[sure]], linewidths=0)
        axis.scatter(*X[~sure].T, s=22, c=model.memberships_[~sure] @ COLOURS, edgecolors="black", linewidths=0.7)
        axis.scatter(*model.centers_.T, marker="X", s=110, c=COLOURS, edgecolors="black")
        axis.set_title(f"{title}:\n{sure.sum()} sure, {(~sure).sum()} in doubt")
        axis.set_aspect("equal")
    figure.suptitle(
        "Darker = the boundary of two or three clusters; ringed = samples in it, coloured by their memberships"
    )
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
