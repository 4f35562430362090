"""Possibilistic fuzzy c-means: a point between the clusters and an outlier have the same memberships, 1/2 and 1/2.

Run ``python examples/plot_pfcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import FCM, PFCM

# the data of Pal, Pal, Keller and Bezdek: two diamonds, a point between them, and an outlier above it
LEFT = [(-5, 0), (-3.34, 1.67), (-3.34, 0), (-3.34, -1.67), (-1.67, 0)]
RIGHT = [(-x, y) for x, y in reversed(LEFT)]
X = np.array([*LEFT, (0, 0), *RIGHT, (0, 10)])


def main() -> None:
    model = PFCM(n_clusters=2, m=2.0, random_state=0).fit(X)
    fcm = FCM(n_clusters=2, m=2.0, random_state=0).fit(X)
    grid = np.stack(np.meshgrid(np.linspace(-8, 8, 240), np.linspace(-4, 12, 240)), axis=-1)
    surfaces = {
        "largest membership u": (model.predict_memberships, model.memberships_),
        "largest typicality t": (model.predict_typicalities, model.typicalities_),
    }
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), sharex=True, sharey=True, layout="constrained")
    for axis, (title, (predict, at_rows)) in zip(axes, surfaces.items(), strict=True):
        surface = predict(grid.reshape(-1, 2)).max(axis=1).reshape(grid.shape[:2])
        image = axis.contourf(grid[..., 0], grid[..., 1], surface, levels=np.linspace(0, 1, 11), cmap="Blues")
        axis.scatter(*X.T, s=26, c="0.15")
        for row in (5, 11):
            box = {"facecolor": "white", "edgecolor": "0.6", "boxstyle": "round"}
            value = f"{at_rows[row].max():.2f}"
            axis.annotate(value, X[row], xytext=(0, 14), textcoords="offset points", ha="center", bbox=box)
        axis.scatter(*fcm.centers_.T, marker="P", s=90, c="white", edgecolors="black", label="centres of FCM")
        axis.scatter(*model.centers_.T, marker="X", s=90, c="gold", edgecolors="black", label="centres of PFCM")
        axis.set_title(title)
        axis.set_aspect("equal")
    axes[0].legend(loc="upper left", fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.8)
    figure.suptitle("PFCM: the point in the middle and the outlier differ in typicality only")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
