"""Robust deep fuzzy k-means on handwritten digits: the codes of an autoencoder, their clusters, the decoded centres.

Needs the extra ``deep``. Run ``python examples/plot_rdfkc.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import colormaps
from matplotlib.lines import Line2D
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from soft_clustering import RDFKC


def main() -> None:
    X, y = load_digits(return_X_y=True)
    model = RDFKC(n_clusters=10, tol=None, random_state=0).fit(X)
    kmeans = KMeans(n_clusters=10, n_init=10, random_state=0).fit(X)
    score = {
        name: adjusted_rand_score(y, labels) for name, labels in (("RDFKC", model.labels_), ("k-means", kmeans.labels_))
    }
    _, cluster = linear_sum_assignment(-confusion_matrix(y, model.labels_))  # the cluster of each digit
    doubt = 1 - model.memberships_.max(axis=1)

    figure = plt.figure(figsize=(12.5, 6.8), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.05))
    axis = left.subplots()
    projection = PCA(2).fit(model.embedding_)
    colors = colormaps["tab10"]
    plane, centers = projection.transform(model.embedding_), projection.transform(model.embedding_centers_)
    axis.scatter(*plane.T, c=colors(y), s=8 + 60 * doubt, alpha=0.6, linewidths=0)
    axis.scatter(*centers.T, marker="X", s=170, c="white", edgecolors="black")
    for digit, k in enumerate(cluster):
        axis.annotate(str(digit), centers[k], (8, 6), textcoords="offset points", fontsize=13, weight="bold")
    axis.set_title(
        "codes of the digits, first two principal components\n"
        f"adjusted Rand index {score['RDFKC']:.2f}, k-means on the pixels {score['k-means']:.2f}",
        fontsize=10,
    )
    marks = [
        Line2D([], [], marker="o", ls="", ms=size, c="0.5", label=text) for size, text in ((3, "sure"), (7, "in doubt"))
    ]
    axis.legend(
        handles=[*marks, Line2D([], [], marker="X", ls="", ms=11, mfc="white", c="black", label="centres")], fontsize=8
    )
    axis.set(xticks=[], yticks=[])

    grid = right.subplots(5, 6)
    for row in range(5):
        for half in (0, 1):
            digit = row + 5 * half
            k = cluster[digit]
            members = np.flatnonzero(model.labels_ == k)
            doubtful = members[doubt[members].argmax()]
            second = np.argsort(cluster)[model.memberships_[doubtful].argsort()[-2]]
            shares = np.sort(model.memberships_[doubtful])[:-3:-1]
            pictures = {
                f"{digit}: decoded centre": model.centers_[k],
                "mean of members": X[members].mean(axis=0),
                f"{digit} {shares[0]:.2f}, {second} {shares[1]:.2f}": X[doubtful],
            }
            for column, (title, picture) in enumerate(pictures.items()):
                cell = grid[row, 3 * half + column]
                cell.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
                cell.set_title(title, fontsize=7.5)
                cell.set_axis_off()
    right.suptitle("each cluster: its centre, the mean of its members, its most doubtful member", fontsize=10)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
