"""How many clusters? CAFHFCM fuses many centroids step by step, and stops where halves of the data agree best.

Run ``python examples/plot_cafhfcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import make_blobs

from soft_clustering import CAFHFCM


def main() -> None:
    centers = np.array([[-6.0, -4.0], [-5.0, 4.0], [0.0, 0.0], [4.0, 5.0], [6.5, 3.5], [5.0, -5.0]])
    X, _ = make_blobs(600, centers=centers, cluster_std=0.8, random_state=2)
    model = CAFHFCM(random_state=0).fit(X)
    K = model.n_clusters_
    figure, (data, tree, scores) = plt.subplots(1, 3, figsize=(13.5, 4.4), layout="constrained")

    data.scatter(*X.T, c=model.labels_, cmap="tab10", s=10 + 25 * (model.memberships_.max(axis=1) - 0.5), linewidths=0)
    data.scatter(*model.centers_.T, marker="X", s=110, c="gold", edgecolors="black", label="centres")
    data.set_title(f"{K} clusters found among {len(X)} samples", fontsize=10)
    data.set_aspect("equal")
    data.legend(loc="upper left", fontsize=8)

    # A dendrogram of log lambda, whose heights must not be negative.
    linkage = model.hierarchy_.copy()
    least = linkage[0, 2]
    linkage[:, 2] = np.log10(linkage[:, 2] / least)
    alive = np.log10(model.fusion_path_[len(model.fusion_path_) - K + 1, 0] / least)
    born = np.log10(model.fusion_weight_ / least)
    dendrogram(linkage, ax=tree, no_labels=True, link_color_func=lambda node: "0.4")
    tree.axhspan(born, alive, color="tab:green", alpha=0.15, linewidth=0)
    label = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    tree.text(8, (born + alive) / 2, f"{K} clusters", color="tab:green", va="center", fontsize=9, bbox=label)
    tree.set_ylabel("log10 (fusion weight / first one)")
    tree.set_title(f"{len(linkage) + 1} centroids at first, fused one pair at a time", fontsize=10)

    values = model.selection_scores_
    colors = ["tab:green" if number == K else "tab:blue" for number in values]
    scores.bar(list(values), list(values.values()), color=colors)
    scores.axhline(model.min_strength, color="black", linestyle="--", linewidth=1)
    scores.text(max(values) + 0.5, model.min_strength + 0.01, "min_strength", ha="right", va="bottom", fontsize=8)
    scores.set_xticks(range(2, max(values) + 1, 2))
    scores.set_xlabel("clusters")
    scores.set_title("prediction strength between random halves", fontsize=10)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
