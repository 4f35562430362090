"""Soft kernel spectral clustering: clusters of any shape, the scores behind them, the kernel width, and many samples.

Run ``python examples/plot_soft_ksc.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons

from soft_clustering import SoftKSC


def surface(axis, X, model, title, size=8):
    """Largest membership over the plane, and the samples in the colours of their clusters."""
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    grid = np.stack(np.meshgrid(*(np.linspace(a, b, 160) for a, b in zip(low, high, strict=True))), axis=-1)
    shades = model.predict_memberships(grid.reshape(-1, 2)).max(axis=1).reshape(grid.shape[:2])
    levels, greys = np.linspace(1 / model.n_clusters_, 1, 11), plt.get_cmap("Greys")(np.linspace(0, 0.5, 10))
    axis.contourf(grid[..., 0], grid[..., 1], shades, levels=levels, colors=greys)
    axis.scatter(*X.T, c=plt.get_cmap("tab10")(model.labels_), s=size, linewidths=0)
    axis.set_title(title, fontsize=10)
    axis.set_aspect("equal")


def main() -> None:
    figure, axes = plt.subplots(2, 3, figsize=(13.5, 8), layout="constrained")
    moons = make_moons(500, noise=0.08, random_state=0)[0]
    circles = make_circles(500, factor=0.4, noise=0.07, random_state=0)[0]
    surface(axes[0, 0], moons, SoftKSC(2, random_state=0).fit(moons), "Moons; dark: sure memberships")
    surface(axes[0, 1], circles, SoftKSC(2, random_state=0).fit(circles), "Circles")

    blobs, _ = make_blobs(500, centers=[[0, 0], [4, 0.5], [2, 3.5]], cluster_std=0.9, random_state=0)
    model = SoftKSC(3, random_state=0).fit(blobs)
    surface(axes[0, 2], blobs, model, "Three clusters that touch")
    axes[1, 0].scatter(*model.embedding_.T, c=plt.get_cmap("tab10")(model.labels_), s=8, linewidths=0)
    for k, center in enumerate(model.embedding_centers_):
        axes[1, 0].plot(*np.stack([0 * center, center], axis=1), c=plt.get_cmap("tab10")(k), lw=2)
    axes[1, 0].axhline(0, color="0.7", lw=0.8)
    axes[1, 0].axvline(0, color="0.7", lw=0.8)
    axes[1, 0].set_title("Their scores: signs give clusters, angles memberships", fontsize=10)

    factors, scale = 2.0 ** np.arange(-1, 7), 1 / moons.var(axis=0).sum()
    tried = [SoftKSC(2, gamma=factor * scale, random_state=0).fit(moons) for factor in factors]
    shares = np.array([np.bincount(fit.labels_, minlength=2) / len(moons) for fit in tried])
    entropy = -(shares * np.log(shares)).sum(axis=1) / np.log(2)
    strength = np.array([fit.membership_strength_ for fit in tried])
    axes[1, 1].plot(factors, strength, marker="o", label="membership strength")
    axes[1, 1].plot(factors, entropy, marker="s", label="entropy of cluster sizes")
    axes[1, 1].plot(factors, (strength + entropy) / 2, marker="D", lw=2.5, label="both: gamma='auto' takes the best")
    axes[1, 1].set_xscale("log", base=2)
    axes[1, 1].set(xlabel="gamma, times gamma='scale'", ylim=(0.7, 1.02))
    axes[1, 1].set_title("Moons: the choice of the width", fontsize=10)
    axes[1, 1].legend(fontsize=8, loc="lower left")

    many, _ = make_moons(5000, noise=0.08, random_state=0)
    model = SoftKSC(2, max_samples=300, random_state=0).fit(many)
    surface(axes[1, 2], many, model, "5000 samples, 300 of them (black) for training", size=2)
    axes[1, 2].scatter(*model.X_fit_.T, s=9, c="black", linewidths=0)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
