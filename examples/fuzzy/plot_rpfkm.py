"""Robust projected fuzzy k-means among outliers: the clusters, and the plane of 30 features that shows them.

Run ``python examples/plot_rpfkm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, RPFKM

COLORS = np.array([[0.85, 0.25, 0.2], [0.15, 0.6, 0.3], [0.2, 0.35, 0.85]])


def main() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 150)
    plane = np.array([[-4.0, -2.0], [4.0, -2.0], [0.0, 4.0]])[y] + rng.normal(scale=1.1, size=(450, 2))
    hidden = np.linalg.qr(rng.normal(size=(30, 2)))[0].T
    X = plane @ hidden + rng.normal(scale=0.5, size=(450, 30))
    outliers = rng.uniform(-60, 60, size=(45, 2)) @ hidden + rng.normal(scale=3, size=(45, 30))
    data = np.vstack([X, outliers])

    model = RPFKM(n_clusters=3, n_components=2, random_state=0).fit(data)
    fuzzy = FCM(n_clusters=3, random_state=0).fit(data)
    embedding = (data - model.mean_) @ model.components_.T
    figure, axes = plt.subplots(1, 2, figsize=(11, 6.2), sharex=True, sharey=True, layout="constrained")
    for axis, fitted in zip(axes, (fuzzy, model), strict=True):
        centers = (fitted.centers_ - model.mean_) @ model.components_.T
        order = np.argsort(centers[:, 0])  # similar colours on both sides
        shades = fitted.memberships_[:, order] @ COLORS
        axis.scatter(*embedding[:450].T, s=12, c=shades[:450], linewidths=0, label="clusters")
        axis.scatter(*embedding[450:].T, s=30, c=shades[450:], marker="x", linewidths=1.2, label="outliers")
        axis.scatter(*centers.T, marker="X", s=130, c="gold", edgecolors="black", label="found centres")
        score = adjusted_rand_score(y, fitted.labels_[:450])
        axis.set_title(f"{type(fitted).__name__}: adjusted Rand index of the clean samples {score:.2f}", fontsize=11)
        axis.set(xlabel="first learnt component", aspect="equal", xlim=(-55, 55), ylim=(-55, 55))
    axes[0].set_ylabel("second learnt component")
    axes[0].legend(loc="upper left", fontsize=9)
    inset = axes[1].inset_axes((0.58, 0.03, 0.4, 0.4))
    inset.scatter(*embedding[:450].T, s=7, c=shades[:450], linewidths=0)
    inset.scatter(*centers.T, marker="X", s=70, c="gold", edgecolors="black")
    middle = np.median(embedding[:450], axis=0)
    inset.set(xticks=[], yticks=[], xlim=middle[0] + np.array([-9, 9]), ylim=middle[1] + np.array([-9, 9]))
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
