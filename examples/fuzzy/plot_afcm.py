"""Adaptive fuzzy c-means with graph embedding: clusters of any shape, and degrees where they meet.

Run ``python examples/plot_afcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import AFCM, FCM


def main() -> None:
    X, y = make_moons(500, noise=0.1, random_state=0)
    axes_of_grid = np.linspace(-1.7, 2.7, 250), np.linspace(-1.2, 1.7, 170)
    grid = np.stack(np.meshgrid(*axes_of_grid), axis=-1)
    models = {
        "FCM": FCM(n_clusters=2, random_state=0).fit(X),
        "AFCM": AFCM(n_clusters=2, random_state=0).fit(X),
        "AFCM, 10 neighbours instead of 30": AFCM(n_clusters=2, n_neighbors=10, random_state=0).fit(X),
    }
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.2), layout="constrained")
    for axis, (title, model) in zip(axes.ravel(), models.items(), strict=False):
        first = model.labels_[y == 0].mean() < 0.5
        surface = model.predict_memberships(grid.reshape(-1, 2))[:, int(first)].reshape(grid.shape[:2])
        image = axis.contourf(
            grid[..., 0], grid[..., 1], surface, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.6
        )
        axis.scatter(*X.T, s=9, c=np.where(y == 0, "navy", "darkred"), linewidths=0)
        axis.set_title(f"{title}\nadjusted Rand index {adjusted_rand_score(y, model.labels_):.2f}", fontsize=10)
        axis.set_aspect("equal")
    figure.colorbar(image, ax=axes[:, 1], shrink=0.6, label="membership in the cluster of the red moon")
    axis = axes[1, 1]
    for title, model in models.items():
        axis.plot(np.linspace(0, 100, len(X)), np.sort(model.memberships_.max(axis=1)), label=title)
    axis.set(xlabel="samples, %", ylabel="largest membership")
    axis.set_title("how sure the memberships are", fontsize=10)
    axis.legend(fontsize=8)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
