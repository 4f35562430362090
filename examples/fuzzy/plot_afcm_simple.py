"""Adaptive fuzzy c-means without the graph: the fuzziness follows the overlap of the clusters by itself.

Run ``python examples/plot_afcm_simple.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import FCM, AFCMSimple


def main() -> None:
    planted = np.array([[-3.0, -2.0], [3.0, -2.0], [0.0, 3.0]])
    grid = np.stack(np.meshgrid(np.linspace(-9, 9, 220), np.linspace(-9, 9, 220)), axis=-1)
    figure, axes = plt.subplots(2, 3, figsize=(12, 7.8), sharex=True, sharey=True, layout="constrained")
    for column, spread in zip(axes.T, (0.5, 1.2, 2.0), strict=True):
        X, _ = make_blobs(450, centers=planted, cluster_std=spread, random_state=0)
        adaptive = AFCMSimple(n_clusters=3, random_state=0).fit(X)
        found = np.sqrt(adaptive.entropy_weight_ / 2)
        models = {
            f"planted spread {spread}\nAFCMSimple: learnt spread {found:.2f}": adaptive,
            "FCM, m=2": FCM(n_clusters=3, m=2.0, random_state=0).fit(X),
        }
        for axis, (title, model) in zip(column, models.items(), strict=True):
            surface = model.predict_memberships(grid.reshape(-1, 2)).max(axis=1).reshape(grid.shape[:2])
            image = axis.contourf(
                grid[..., 0], grid[..., 1], surface, levels=np.linspace(1 / 3, 1 + 1e-9, 11), cmap="Blues_r"
            )
            axis.scatter(*X.T, s=5, c="0.1", linewidths=0)
            axis.scatter(*model.centers_.T, marker="X", s=90, c="gold", edgecolors="black")
            axis.set_title(title, fontsize=10)
            axis.set_aspect("equal")
    bar = figure.colorbar(image, ax=axes, shrink=0.6, label="largest membership", ticks=[1 / 3, 0.6, 0.8, 1])
    bar.ax.set_yticklabels(["1/3", "0.6", "0.8", "1"])
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
