"""The mixed-membership blockmodel: shares of blocks, how the blocks are linked, and new graphs of the same kind.

Run ``python examples/plot_mmsb.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import MMSB
from soft_clustering.plotting import GraphDisplay

SIZES = (30, 30, 24)
LINKS = np.array([[0.40, 0.02, 0.10], [0.02, 0.35, 0.02], [0.10, 0.02, 0.25]])


def main() -> None:
    rng = np.random.default_rng(0)
    shares = np.repeat(np.eye(3), SIZES, axis=0)
    shares[:3] = [0.5, 0.5, 0.0]  # three nodes act for two blocks
    probability = shares @ LINKS @ shares.T
    A = np.triu(rng.uniform(size=probability.shape) < probability, 1)
    A = (A | A.T).astype(float)
    model = MMSB(n_clusters=3, random_state=0).fit(A)
    order = (shares.T @ model.memberships_).argmax(axis=1)  # blocks as they were planted
    found = model.block_matrix_[np.ix_(order, order)]
    drawn, pi = model.sample()

    figure, axes = plt.subplots(1, 3, figsize=(16, 5.2), layout="constrained", width_ratios=[1, 0.75, 1])
    GraphDisplay.from_memberships(model.memberships_[:, order], A, ax=axes[0])
    mixed = model.memberships_[:3, order]
    axes[0].set_title(f"Shares; three mixed nodes: {mixed.min(axis=0)[0]:.2f} to {mixed.max(axis=0)[0]:.2f} of block 0")
    image = axes[1].imshow(found, cmap="Blues", vmin=0)
    for (g, h), value in np.ndenumerate(found):
        color = "white" if value > 0.6 * found.max() else "black"
        axes[1].text(h, g, f"{value:.2f}\n({LINKS[g, h]:.2f})", ha="center", va="center", color=color)
    axes[1].set(xticks=range(3), yticks=range(3), xlabel="block", ylabel="block")
    axes[1].set_title("Probability of a link (planted)")
    figure.colorbar(image, ax=axes[1], shrink=0.7)
    GraphDisplay.from_memberships(pi[:, order], drawn, ax=axes[2])
    axes[2].set_title(f"A graph drawn from the model: {drawn.nnz // 2} links, {int(A.sum()) // 2} in the first")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
