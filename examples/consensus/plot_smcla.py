"""SMCLA: models that each know a part of the samples and of the features agree on clusters, softly.

Run ``python examples/plot_smcla.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, GMM, SMCLA

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45], [0.80, 0.47, 0.65]])


def main() -> None:
    X, y = make_blobs(500, n_features=6, centers=4, cluster_std=3.2, random_state=1)
    rng = np.random.default_rng(0)
    partitions, scores = [], []
    for b in range(12):
        rows, columns = rng.permutation(500)[:300], rng.permutation(6)[:3]
        model = (FCM(4, m=1.5, random_state=b) if b % 2 else GMM(4, random_state=b)).fit(X[np.ix_(rows, columns)])
        partition = np.zeros((500, 4))  # a row of zeros: not seen
        partition[rows] = model.memberships_
        partitions.append(partition)
        scores.append(adjusted_rand_score(y[rows], model.labels_))
    consensus = SMCLA(4, random_state=0).fit(partitions)
    ari = adjusted_rand_score(y, consensus.labels_)

    figure, axes = plt.subplots(1, 3, figsize=(14.5, 4.6), layout="constrained")
    axes[0].bar(range(1, 13), scores, color="0.65", label="one model, on its own samples")
    axes[0].axhline(np.mean(scores), color="black", linestyle="--", linewidth=1, label="their mean")
    axes[0].axhline(ari, color="tab:blue", linewidth=2, label="SMCLA, on all samples")
    axes[0].set(title="12 models of 300 of 500 samples,\n3 of 6 features", xlabel="model", ylabel="adjusted Rand index")
    axes[0].set_ylim(0, 1.25)
    axes[0].legend(loc="upper left", fontsize=9)

    U = np.hstack(partitions)
    order = np.argsort(consensus.cluster_labels_, kind="stable")
    shared = U.T @ U
    shared /= np.sqrt(np.outer(shared.diagonal(), shared.diagonal()))
    image = axes[1].imshow(shared[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=1)
    for k in range(1, 4):
        at = np.searchsorted(consensus.cluster_labels_[order], k) - 0.5
        axes[1].axhline(at, color="tab:red", linewidth=1)
        axes[1].axvline(at, color="tab:red", linewidth=1)
    axes[1].set(title="similarity (cosine) of their 48 clusters,\nby meta-cluster", xticks=[], yticks=[])
    figure.colorbar(image, ax=axes[1], shrink=0.8)

    centred = X - X.mean(axis=0)
    plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    wrong = np.zeros(500, dtype=bool)
    for k in range(4):
        inside = consensus.labels_ == k
        wrong[inside] = y[inside] != np.bincount(y[inside]).argmax()
    axes[2].scatter(*plane.T, c=consensus.consensus_memberships_ @ COLOURS, s=14, linewidths=0)
    axes[2].scatter(*plane[wrong].T, facecolors="none", edgecolors="black", s=40, linewidths=0.8, label="wrong")
    axes[2].set(title=f"soft consensus (two principal axes)\nadjusted Rand index {ari:.2f}", xticks=[], yticks=[])
    axes[2].legend(loc="lower right", fontsize=9)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
