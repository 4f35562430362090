"""Possibilistic c-means among outliers: fuzzy memberships must place every point, typicalities need not.

Run ``python examples/plot_pcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import FCM, PCM


def main() -> None:
    rng = np.random.default_rng(0)
    centers = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.5]])
    X, _ = make_blobs(300, centers=centers, cluster_std=0.8, random_state=0)
    noise = rng.uniform([-7, -13], [7, 9], size=(75, 2))
    data = np.vstack([X, noise])
    grid = np.stack(np.meshgrid(np.linspace(-8, 8, 240), np.linspace(-14, 10, 360)), axis=-1)
    models = {
        "FCM: largest membership": FCM(n_clusters=3, m=2.0, random_state=0),
        "PCM, rational: largest typicality": PCM(
            n_clusters=3, typicality="rational", bandwidth_scale=0.25, random_state=0
        ),
        "PCM, exponential: largest typicality": PCM(n_clusters=3, bandwidth_scale=0.25, random_state=0),
    }
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 6.6), sharex=True, sharey=True, layout="constrained")
    for axis, (title, model) in zip(axes, models.items(), strict=True):
        model.fit(data)
        surface = model.predict_memberships(grid.reshape(-1, 2)).max(axis=1).reshape(grid.shape[:2])
        image = axis.contourf(grid[..., 0], grid[..., 1], surface, levels=np.linspace(0, 1, 11), cmap="Blues")
        axis.scatter(*X.T, s=6, c="0.15", linewidths=0, label="clusters")
        axis.scatter(*noise.T, s=14, c="tab:red", marker="x", linewidths=0.9, label="noise")
        axis.scatter(*centers.T, marker="o", s=150, facecolors="none", edgecolors="black", label="planted centres")
        axis.scatter(*model.centers_.T, marker="X", s=90, c="gold", edgecolors="black", label="found centres")
        error = np.linalg.norm(model.centers_[:, None] - centers, axis=2).min(axis=1).max()
        axis.set_title(f"{title}\nlargest error of a centre {error:.2f}", fontsize=10)
        axis.set_aspect("equal")
    axes[0].legend(loc="lower left", fontsize=8)
    figure.colorbar(image, ax=axes, shrink=0.7)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
