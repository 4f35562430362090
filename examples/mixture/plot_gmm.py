"""Gaussian mixture: elliptic clusters, where fuzzy c-means finds only round ones, and the number of components by BIC.

Run ``python examples/plot_gmm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn.datasets import make_blobs

from soft_clustering import FCM, GMM

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45], [0.80, 0.47, 0.65]])


def scatter(axis, X, model, title):
    axis.scatter(*X.T, c=model.memberships_ @ COLOURS, s=10, linewidths=0)
    axis.scatter(*model.centers_.T, marker="X", s=90, c=COLOURS, edgecolors="black")
    axis.set_title(title)


def main() -> None:
    X, _ = make_blobs(1500, centers=4, random_state=42)
    X = X @ np.array([[0.6, -0.6], [-0.4, 0.8]])
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    scatter(axes[0], X, FCM(4, random_state=0).fit(X), "FCM: round clusters")
    model = GMM(4, random_state=0).fit(X)
    scatter(axes[1], X, model, "GMM: elliptic clusters (1 and 2 sd)")
    for mean, covariance in zip(model.centers_, model.covariances_, strict=True):
        values, vectors = np.linalg.eigh(covariance)
        angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
        for k in (1, 2):
            width, height = 2 * k * np.sqrt(values[::-1])
            axes[1].add_patch(Ellipse(mean, width, height, angle=angle, fill=False, edgecolor="black", linewidth=1.2))
    sizes = range(1, 9)
    for kind in ("full", "tied", "diag", "spherical"):
        scores = [GMM(k, covariance_type=kind, n_init=3, random_state=0).fit(X).bic(X) for k in sizes]
        axes[2].plot(sizes, scores, marker="o", label=kind)
    axes[2].set(title="BIC (smaller is better)", xlabel="components")
    axes[2].legend(title="covariance_type")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
