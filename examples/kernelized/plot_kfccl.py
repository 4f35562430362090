"""Kernel fuzzy competitive learning: curved clusters, clusters of directions, and the objective while learning.

Run ``python examples/plot_kfccl.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, KFCCL


def moons(axis, X, y, model, title):
    """Membership of the first cluster over the plane."""
    model.fit(X)
    grid = np.stack(np.meshgrid(np.linspace(-1.5, 2.5, 200), np.linspace(-1.1, 1.6, 150)), axis=-1)
    first = model.predict_memberships(grid.reshape(-1, 2))[:, model.labels_[0]].reshape(grid.shape[:2])
    first = first if y[0] == 0 else 1 - first
    axis.contourf(grid[..., 0], grid[..., 1], first, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.8)
    axis.scatter(*X.T, c=np.where(y == 0, "darkred", "navy"), s=6, linewidths=0)
    axis.set_title(f"{title}\nARI {adjusted_rand_score(y, model.labels_):.2f}", fontsize=10)
    axis.set_aspect("equal")


def main() -> None:
    X, y = make_moons(600, noise=0.07, random_state=0)
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.6), layout="constrained")
    moons(axes[0, 0], X, y, FCM(n_clusters=2, random_state=0), "FCM: prototypes in the plane")
    model = KFCCL(n_clusters=2, random_state=0)
    moons(axes[0, 1], X, y, model, "KFCCL: prototypes in the feature space of an RBF kernel")

    rng = np.random.default_rng(0)
    angles = rng.normal(np.repeat([0.3, 1.3, 2.6], 70), 0.17)
    points = rng.uniform(0.2, 3, angles.size)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    directions = KFCCL(n_clusters=3, kernel="linear", entropy_weight=0.02, random_state=0).fit(points)
    colours = plt.get_cmap("tab10")(np.arange(3))[:, :3]
    axes[1, 0].scatter(*points.T, c=np.clip(directions.memberships_ @ colours, 0, 1), s=14, linewidths=0)
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    for prototype, colour in zip(directions.dual_coef_.T @ unit, colours, strict=True):
        axes[1, 0].annotate("", 3.2 * prototype, (0, 0), arrowprops={"arrowstyle": "->", "color": colour, "lw": 2})
    axes[1, 0].set(xlim=(-3.4, 3.4), ylim=(-0.4, 3.4), aspect="equal")
    axes[1, 0].set_title("kernel='linear': clusters of directions, whatever the length", fontsize=10)

    settings = {
        "learning alone, batch_size=1": {"batch_size": 1, "n_epochs": 40, "max_iter": 40},
        "learning alone, batch_size=64": {"n_epochs": 40, "max_iter": 40},
        "3 epochs, then passes (default)": {},
    }
    for label, setting in settings.items():
        history = KFCCL(n_clusters=2, n_init=1, random_state=0, **setting).fit(X).objective_history_
        axes[1, 1].plot(range(1, len(history) + 1), history, marker=".", label=label)
    axes[1, 1].set(xlabel="epoch or pass", ylabel="objective")
    axes[1, 1].set_title("Moons: the objective after each epoch and pass", fontsize=10)
    axes[1, 1].legend()
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
