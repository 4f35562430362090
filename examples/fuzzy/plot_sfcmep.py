"""A few labels determine the clusters: the same samples, divided in different ways.

Run ``python examples/plot_sfcmep.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import SFCMEP

COLORS = np.array([[0.12, 0.42, 0.75], [0.93, 0.45, 0.1], [0.2, 0.6, 0.25]])


def main() -> None:
    corners = [[0, 0], [5, 0], [0, 5], [5, 5]]
    X, corner = make_blobs(600, centers=corners, cluster_std=0.9, random_state=0)
    few = np.isin(np.arange(600), np.random.RandomState(0).permutation(600)[:24])
    right, top = corner % 2, corner // 2
    wrong = np.where(few, right, -1)
    wrong[np.flatnonzero(few)[::6]] = 1 - wrong[np.flatnonzero(few)[::6]]
    fits = {
        "no labels: any half will do": (np.full(600, -1), {"n_clusters": 2}),
        "24 labels: left or right": (np.where(few, right, -1), {}),
        "24 labels: bottom or top": (np.where(few, top, -1), {}),
        "2 labelled classes, n_clusters=3": (np.where(few & (top == 0), right, -1), {"n_clusters": 3}),
        "4 wrong labels, believed": (wrong, {}),
        "4 wrong labels, label_confidence=0.7": (wrong, {"label_confidence": 0.7}),
    }
    figure, axes = plt.subplots(2, 3, figsize=(12, 8.4), sharex=True, sharey=True, layout="constrained")
    for axis, (title, (labels, parameters)) in zip(axes.flat, fits.items(), strict=True):
        model = SFCMEP(random_state=0, **parameters).fit(X, labels)
        axis.scatter(*X.T, s=14, c=model.memberships_ @ COLORS[: model.n_clusters_], linewidths=0)
        known = labels >= 0
        fill = model.memberships_[known] @ COLORS[: model.n_clusters_]
        axis.scatter(*X[known].T, s=90, c=fill, edgecolors=COLORS[labels[known]], linewidths=2.5)
        axis.scatter(*X[known].T, s=130, facecolors="none", edgecolors="black", linewidths=0.8)
        axis.scatter(*model.centers_.T, marker="*", s=300, c="gold", edgecolors="black", zorder=3)
        axis.set_title(title, fontsize=11)
        axis.set_aspect("equal")
    figure.suptitle(
        "Points: memberships as colours. Circles: labelled samples, label as rim, membership inside. Stars: centres."
    )
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=100)
    else:
        plt.show()


if __name__ == "__main__":
    main()
