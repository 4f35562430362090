"""Kernel fuzzy c-means and outliers: the farther they are, the less they count; in fuzzy c-means they count more.

Run ``python examples/plot_kfcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import FCM, KFCM


def main() -> None:
    clean, y = make_blobs(400, centers=[[0.0, 0.0], [10.0, 0.0]], random_state=0)
    means = np.stack([clean[y == k].mean(axis=0) for k in range(2)])

    def error(model: FCM | KFCM) -> float:
        """The largest distance from the mean of a cluster to the nearest centre."""
        return float(np.linalg.norm(model.centers_ - means[:, None], axis=2).min(axis=1).max())

    models = {"FCM": FCM(n_clusters=2, m=2.0, random_state=0), "KFCM": KFCM(n_clusters=2, m=2.0, random_state=0)}
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
    data = np.vstack([clean, np.full((4, 2), 60.0)])
    grid = np.stack(np.meshgrid(np.linspace(-12, 68, 280), np.linspace(-12, 68, 280)), axis=-1)
    for axis, (name, model) in zip(axes, models.items(), strict=False):
        model.fit(data)
        surface = model.predict_memberships(grid.reshape(-1, 2)).max(axis=1).reshape(grid.shape[:2])
        image = axis.contourf(grid[..., 0], grid[..., 1], surface, levels=np.linspace(0.5, 1, 11), cmap="Blues")
        axis.scatter(*clean.T, s=5, c="0.15", linewidths=0, label="two clusters of 200")
        axis.scatter(*data[-1], s=40, c="tab:red", marker="x", label="four outliers")
        axis.scatter(*model.centers_.T, marker="X", s=90, c="gold", edgecolors="black", label="centres")
        axis.set_title(f"{name}: a centre is off by {error(model):.2f}", fontsize=10)
        axis.set_aspect("equal")
    axes[0].legend(loc="center left", bbox_to_anchor=(0.02, 0.6), fontsize=8)
    figure.colorbar(image, ax=axes[1], shrink=0.8, label="largest membership")

    distances = np.linspace(5, 60, 23)
    for name, model in models.items():
        errors = [error(model.fit(np.vstack([clean, np.full((4, 2), r)]))) for r in distances]
        axes[2].plot(distances * np.sqrt(2), errors, marker="o", ms=3, label=name)
    axes[2].set_xlabel("distance of the outliers from the first cluster")
    axes[2].set_title("how far a centre is off", fontsize=10)
    axes[2].legend()
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
