"""Evidential c-means tells samples between clusters from samples far from all clusters.

A fuzzy membership near one half may mean either.

Run ``python examples/plot_ecm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import ECM, FCM

COLORS = np.array([[0.84, 0.15, 0.16], [0.12, 0.47, 0.71], [0.95, 0.70, 0.10]])


def describe(members: np.ndarray) -> str:
    """A focal set in words."""
    if not members.any():
        return "outlier: empty set"
    return "{" + ", ".join("ABC"[k] for k in np.flatnonzero(members)) + "}"


def main() -> None:
    rng = np.random.default_rng(3)
    X, _ = make_blobs(240, centers=[[-4, 0], [4, 0], [0, 6.5]], cluster_std=0.9, random_state=0)
    bridges = np.vstack([rng.normal(middle, 0.5, (8, 2)) for middle in [(0, 0), (-2, 3.3), (2, 3.3)]])
    far = np.array([[-9.5, 11], [10, 11], [0, -7.5], [-10.5, -6], [11, -6.5]])
    data = np.vstack([X, bridges, far])

    fcm = FCM(n_clusters=3, m=2.0, random_state=0).fit(data)
    ecm = ECM(n_clusters=3, alpha=1.0, delta=4.0, init=fcm.centers_).fit(data)

    figure, axes = plt.subplots(1, 3, figsize=(14.5, 4.8), layout="constrained")
    left, middle, right = axes
    image = left.scatter(*data.T, c=fcm.memberships_.max(axis=1), s=16, cmap="viridis", vmin=1 / 3, vmax=1)
    left.set_title("FCM: largest membership", fontsize=10)
    figure.colorbar(image, ax=left, shrink=0.75)

    for j, members in enumerate(ecm.focal_sets_):
        rows = data[ecm.hard_credal_ == j]
        if len(rows):
            color = COLORS[members].mean(axis=0) if members.any() else "black"
            marker = {0: "x", 1: "o", 2: "D", 3: "s"}[members.sum()]
            edge = {} if marker == "x" else {"edgecolors": "black", "linewidths": 0.0 if members.sum() == 1 else 0.8}
            middle.scatter(*rows.T, color=[color], marker=marker, s=24, label=describe(members), **edge)
    middle.set_title("ECM: set of largest mass", fontsize=10)
    middle.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=4)

    image = right.scatter(*data.T, c=ecm.outlier_mass_, s=16, cmap="magma_r", vmin=0, vmax=1)
    right.set_title("ECM: mass of the empty set", fontsize=10)
    figure.colorbar(image, ax=right, shrink=0.75)
    for axis in axes:
        axis.scatter(*ecm.centers_.T, marker="X", s=110, c="white", edgecolors="black", linewidths=1.3)
        axis.set(xlim=(-13, 13), ylim=(-10, 13), aspect="equal")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
