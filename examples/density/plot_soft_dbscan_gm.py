"""Soft DBSCAN-GM: density finds the clusters and their number, degrees then show to which the noise belongs.

The last picture shows the limit: a prototype with an ellipse cannot follow a curved cluster, though DBSCAN itself can.

Run ``python examples/plot_soft_dbscan_gm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import make_blobs, make_moons

from soft_clustering import SoftDBSCANGM

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45], [0.80, 0.47, 0.65]])


def clusters_among_noise() -> np.ndarray:
    rng = np.random.default_rng(6)
    round_ones, _ = make_blobs(300, centers=[[-4.0, -3.0], [4.5, -3.0]], cluster_std=0.8, random_state=0)
    long_one = rng.normal(size=(200, 2)) @ [[2.6, 0.5], [0.0, 0.45]] + [0.0, 3.5]
    return np.vstack([round_ones, long_one, rng.uniform([-8, -7], [8, 7], size=(45, 2))])


def show_density(axis: Axes, X: np.ndarray, model: SoftDBSCANGM) -> None:
    noise = model.dbscan_labels_ == -1
    axis.scatter(*X[~noise].T, s=12, c=COLOURS[model.dbscan_labels_[~noise]], linewidths=0)
    axis.scatter(*X[noise].T, s=20, c="0.35", marker="x", linewidths=0.9)
    axis.set_title(
        f"DBSCAN, eps {model.eps_:.2f} by 'auto':\n{model.n_clusters_} clusters, {noise.sum()} noise samples"
    )


def show_degrees(axis: Axes, X: np.ndarray, model: SoftDBSCANGM) -> None:
    noise = model.dbscan_labels_ == -1
    colours = np.clip(model.memberships_ @ COLOURS[: model.n_clusters_], 0, 1)
    axis.scatter(*X[~noise].T, s=12, c=colours[~noise], linewidths=0)
    axis.scatter(*X[noise].T, s=30, c=colours[noise], edgecolors="black", linewidths=0.7)
    turn = np.linspace(0, 2 * np.pi, 200)
    for center, covariance in zip(model.centers_, model.covariances_, strict=True):
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        axis.plot(*(center + 2 * circle @ np.linalg.cholesky(covariance).T).T, color="black", lw=1.1)


def main() -> None:
    X = clusters_among_noise()
    figure, axes = plt.subplots(1, 3, figsize=(14.0, 4.9), layout="constrained")
    model = SoftDBSCANGM().fit(X)
    show_density(axes[0], X, model)
    show_degrees(axes[1], X, model)
    axes[1].set_title("Degrees of every sample; ringed = noise")
    X, _ = make_moons(500, noise=0.06, random_state=0)
    moons = SoftDBSCANGM().fit(X)
    show_degrees(axes[2], X, moons)
    moved = (moons.labels_ != moons.dbscan_labels_) & (moons.dbscan_labels_ >= 0)
    axes[2].set_title(f"Its limit: DBSCAN separates the moons,\nthe degrees move {moved.sum()} of 500 samples")
    for axis in axes:
        axis.set_aspect("equal")
    figure.suptitle(
        "Colour = density cluster or mixture of memberships; black = two standard deviations of a prototype"
    )
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
