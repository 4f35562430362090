"""Multivariate beta mixture: clusters of scores in [0, 1] that lean on a border, where Gaussians spill over it.

Run ``python examples/plot_mbmm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import GMM, MBMM

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45]])
SHAPES = np.array([[0.9, 8.0, 1.2], [9.0, 2.0, 5.0], [9.0, 9.0, 1.0]])


def main() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(3), 400)
    gamma = rng.gamma(SHAPES[y])
    X = gamma[:, :2] / (gamma[:, :2] + gamma[:, 2:])
    axis_values = np.linspace(-0.15, 1.15, 261)
    grid = np.stack(np.meshgrid(axis_values, axis_values), axis=-1)
    inside = ((grid > 0) & (grid < 1)).all(axis=2)
    models = {
        "GMM": GMM(n_clusters=3, n_init=5, random_state=0),
        "MBMM": MBMM(n_clusters=3, random_state=0),
    }
    figure, axes = plt.subplots(1, 2, figsize=(11, 6.2), sharex=True, sharey=True, layout="constrained")
    for axis, (name, model) in zip(axes, models.items(), strict=True):
        model.fit(X)
        order = np.argsort([np.median(y[model.labels_ == k]) for k in range(3)])
        axis.scatter(*X.T, c=model.memberships_[:, order] @ COLOURS, s=7, linewidths=0)
        density = model.score_samples(grid.reshape(-1, 2)).reshape(inside.shape)
        if name == "MBMM":
            density = np.where(inside, density, -np.inf)
        axis.contour(
            axis_values, axis_values, np.exp(density), levels=[0.2, 0.5, 1.2, 3, 8], colors="0.25", linewidths=0.9
        )
        axis.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color="black", linewidth=1.5)
        drawn = model.sample(20_000)[0]
        outside = np.mean(((drawn < 0) | (drawn > 1)).any(axis=1))
        score = adjusted_rand_score(y, model.labels_)
        axis.set_title(
            f"{name}: ARI {score:.2f}, mean log likelihood {model.objective_:.2f}\n"
            f"{100 * outside:.0f} % of its draws lie outside the square",
            fontsize=10,
        )
        axis.set(aspect="equal", xlim=(-0.15, 1.15), ylim=(-0.15, 1.15), xlabel="first score")
    axes[0].set_ylabel("second score")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
