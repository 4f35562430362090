"""Gath-Geva on clusters of very different size, shape and weight, and the number of clusters by their hypervolume.

Run ``python examples/plot_gath_geva.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from soft_clustering import GK, GathGeva

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45], [0.80, 0.47, 0.65]])


def uneven_clusters(rng: np.random.Generator) -> np.ndarray:
    """A wide cloud, two small dense ones beside it, and a thin bar below."""
    return np.vstack(
        [
            rng.normal([0, 0], [2.0, 2.0], (400, 2)),
            rng.normal([7.0, 5.0], [0.5, 0.5], (150, 2)),
            rng.normal([8.5, -2.0], [0.4, 0.4], (100, 2)),
            rng.normal([2.0, -8.0], [3.0, 0.4], (250, 2)),
        ]
    )


def show(axis, X, model, title) -> None:
    axis.scatter(*X.T, c=model.memberships_ @ COLOURS, s=10, linewidths=0)
    axis.scatter(*model.centers_.T, marker="X", s=80, c=COLOURS, edgecolors="black")
    for center, covariance in zip(model.centers_, model.covariances_, strict=True):
        values, vectors = np.linalg.eigh(covariance)
        angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
        width, height = 4 * np.sqrt(values[::-1])
        axis.add_patch(Ellipse(center, width, height, angle=angle, fill=False, edgecolor="black", linewidth=1.2))
    axis.set_title(title)
    axis.set_aspect("equal")


def main() -> None:
    X = uneven_clusters(np.random.default_rng(0))
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained", width_ratios=(1, 1, 0.8))
    show(axes[0], X, GK(4, random_state=0).fit(X), "GK: equal volumes")
    model = GathGeva(4, random_state=0).fit(X)
    show(axes[1], X, model, "Gath-Geva: weights " + ", ".join(f"{weight:.2f}" for weight in np.sort(model.weights_)))
    sizes = range(1, 8)
    volumes = [GathGeva(K, random_state=0).fit(X).fuzzy_hypervolume_ for K in sizes]
    axes[2].plot(sizes, volumes, marker="o", color=COLOURS[0])
    axes[2].set(title="Fuzzy hypervolume (smaller is tighter)", xlabel="clusters", ylim=(0, None))
    figure.suptitle("Colour = mixture of memberships, black = two standard deviations of the fuzzy covariances")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
