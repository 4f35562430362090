"""Entropy c-means: how the entropy weight melts clusters together, and the front between compactness and entropy.

Run ``python examples/plot_entropy_fcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import ENTROPYFCM

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45], [0.80, 0.47, 0.65]])


def main() -> None:
    X, _ = make_blobs(600, centers=[[-4, 0], [4, 0], [-1, 6], [3, 5]], cluster_std=1.1, random_state=0)
    path = ENTROPYFCM(n_clusters=4, solver="path", n_path_steps=60, random_state=0).fit(X)
    compactness, entropy = path.pareto_front_.T / len(X)
    figure, axes = plt.subplot_mosaic([["low", "kept", "high"], ["front", "front", "tree"]], figsize=(12, 8.4))

    # three solutions of the path: nearly hard, of smallest Wu-Li index, and with melted clusters
    chosen = int(np.argmin(np.abs(path.pareto_weights_ - path.entropy_weight_)))
    steps = {"low": 2, "kept": chosen, "high": len(compactness) - 4}
    for name, step in steps.items():
        weight = path.pareto_weights_[step]
        model = ENTROPYFCM(n_clusters=4, entropy_weight=weight, init=path.pareto_centers_[step], max_iter=1).fit(X)
        axes[name].scatter(*X.T, c=np.clip(model.memberships_ @ COLOURS, 0, 1), s=14, linewidths=0)
        axes[name].scatter(*model.centers_.T, marker="X", s=110, c=COLOURS, edgecolors="black")
        axes[name].set_title(f"{'kept: ' if name == 'kept' else ''}entropy weight {weight:.3g}")
        axes[name].set_aspect("equal")
        axes["front"].annotate(
            f"{weight:.3g}",
            (compactness[step], entropy[step]),
            textcoords="offset points",
            xytext=(10, -4),
        )
        axes["front"].scatter(compactness[step], entropy[step], s=90, facecolors="none", edgecolors="black")

    axes["front"].plot(compactness, entropy, ".-", color=COLOURS[0])
    axes["front"].axhline(np.log(4), color="0.6", linestyle=":")
    axes["front"].text(compactness[0], np.log(4) - 0.02, "log 4: all memberships equal", va="top", color="0.4")
    axes["front"].set(xlabel="compactness per sample (scaled data)", ylabel="entropy per sample")
    axes["front"].set_title("Pareto front: compact clusters against undecided memberships")

    for k in range(4):
        axes["tree"].semilogx(path.pareto_weights_, path.pareto_centers_[:, k, 0], color=COLOURS[k], linewidth=2)
    axes["tree"].axvline(path.pareto_weights_[-1], color="0.6", linestyle=":")
    axes["tree"].set(xlabel="entropy weight (dotted: critical)", ylabel="first coordinate of the centres")
    axes["tree"].set_title("Centres merge one after the other")
    figure.tight_layout()
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
