"""Gustafson-Kessel on thin clusters: fuzzy c-means cuts them into round pieces, learned metrics follow them.

Run ``python examples/plot_gk.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import FCM, GK

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45], [0.80, 0.47, 0.65]])


def thin_clusters(rng: np.random.Generator) -> np.ndarray:
    """Four bars of 200 points in different directions."""
    middles = np.array([[0.0, 5.0], [0.0, 0.0], [7.5, 2.5], [11.0, 2.5]])
    parts = []
    for middle, degrees in zip(middles, (0, 0, 90, 65), strict=True):
        angle = np.radians(degrees)
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        parts.append(middle + rng.normal(size=(200, 1)) * 2.4 * along + rng.normal(size=(200, 1)) * 0.35 * across)
    return np.vstack(parts)


def main() -> None:
    X = thin_clusters(np.random.default_rng(0))
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
    grid = np.stack(np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300)), axis=-1)
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), sharex=True, sharey=True, layout="constrained")
    models = {"FCM: round clusters": FCM(4, random_state=0), "GK: a metric for each cluster": GK(4, random_state=0)}
    for axis, (title, model) in zip(axes, models.items(), strict=True):
        model.fit(X)
        axis.scatter(*X.T, c=model.memberships_ @ COLOURS, s=12, linewidths=0)
        surface = model.predict_memberships(grid.reshape(-1, 2)).max(axis=1).reshape(grid.shape[:2])
        axis.contour(grid[..., 0], grid[..., 1], surface, levels=[0.6, 0.9], colors="0.35", linewidths=0.7)
        axis.scatter(*model.centers_.T, marker="X", s=90, c=COLOURS, edgecolors="black")
        axis.set_title(title)
        axis.set_aspect("equal")
    turn = np.linspace(0, 2 * np.pi, 200)
    for center, norm in zip(model.centers_, model.norm_matrices_, strict=True):
        # The points at distance 1.5 in the cluster's own metric: ellipses of equal area.
        half = np.linalg.inv(np.linalg.cholesky(norm)).T
        axes[1].plot(*(center + 1.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1) @ half.T).T, color="black", lw=1.2)
    figure.suptitle("Colour = mixture of memberships, grey = membership 0.6 and 0.9, black = the learned metric")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
