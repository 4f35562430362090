"""A few labels decide what a cluster is: without them, with them, and with wrong ones among them.

Run ``python examples/plot_sfcmep.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SFCMEP

COLORS = np.array([[0.12, 0.47, 0.71], [0.89, 0.29, 0.2], [0.17, 0.63, 0.17]])


def main() -> None:
    # Two classes side by side and one that is long: without labels the long one is cut instead.
    X, y = make_blobs([150, 150], centers=[[-1.7, 0], [1.7, 0]], cluster_std=0.9, random_state=3)
    rng = np.random.RandomState(0)
    X = np.vstack([X, rng.normal(size=(300, 2)) * [3.4, 0.7] + [0, 4.5]])
    y = np.concatenate([y, np.full(300, 2)])
    known = rng.permutation(600)[:30]
    right = np.full(600, -1)
    right[known] = y[known]
    wrong = right.copy()
    wrong[known[:5]] = (y[known[:5]] + 1) % 3
    fits = {
        "no labels": (np.full(600, -1), {"n_clusters": 3}),
        "30 labels": (right, {}),
        "5 of them wrong, believed": (wrong, {}),
        "5 of them wrong, label_confidence=0.8": (wrong, {"label_confidence": 0.8}),
    }
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), sharex=True, sharey=True, layout="constrained")
    for axis, (title, (labels, parameters)) in zip(axes.flat, fits.items(), strict=True):
        model = SFCMEP(random_state=0, **parameters).fit(X, labels)
        axis.scatter(*X.T, s=12, c=model.memberships_ @ COLORS, linewidths=0)
        for marker, chosen in (("o", labels == y), ("X", (labels >= 0) & (labels != y))):
            axis.scatter(*X[chosen].T, s=70, c=COLORS[labels[chosen]], edgecolors="black", marker=marker)
        axis.scatter(*model.centers_.T, marker="*", s=260, c="gold", edgecolors="black", zorder=3)
        rest = right < 0
        agreement = adjusted_rand_score(y[rest], model.labels_[rest])
        axis.set_title(f"{title}: adjusted Rand index of the rest {agreement:.2f}", fontsize=10)
        axis.set_aspect("equal")
    figure.suptitle("Points: memberships as colours; circles: labels; crosses: wrong ones; stars: centres", fontsize=10)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
