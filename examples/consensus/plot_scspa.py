"""SCSPA: round clusters of many runs of fuzzy c-means and k-means together find clusters of any shape.

Run ``python examples/plot_scspa.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, SCSPA

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00]])


def main() -> None:
    X, y = make_moons(600, noise=0.06, random_state=0)
    few = [FCM(2, m=1.5, n_init=1, random_state=seed).fit(X) for seed in range(10)]
    fuzzy = [FCM(12 + seed, m=1.2, n_init=1, random_state=seed).fit(X) for seed in range(10)]
    crisp = [KMeans(12 + seed, n_init=1, random_state=seed).fit(X) for seed in range(10)]
    # memberships and labels may be mixed
    partitions = [model.memberships_ for model in fuzzy] + [model.labels_ for model in crisp]
    model = SCSPA(2, random_state=0).fit(partitions)

    figure, axes = plt.subplots(2, 2, figsize=(11, 7.4), layout="constrained")
    axes = axes.ravel()
    base = np.mean([adjusted_rand_score(y, one.labels_) for one in few])
    axes[0].scatter(*X.T, c=few[0].memberships_ @ COLOURS, s=10, linewidths=0)
    axes[0].set_title(f"FCM with 2 clusters\nadjusted Rand index {base:.2f} (mean of 10 runs)")

    base = np.mean([adjusted_rand_score(y, one.labels_) for one in fuzzy + crisp])
    axes[1].scatter(*X.T, c=fuzzy[0].labels_, cmap="tab20", s=10, linewidths=0)
    axes[1].set_title(f"one of 20 partitions with 12 to 21 clusters\nadjusted Rand index {base:.2f} (mean of the 20)")

    Y = np.hstack([one.memberships_ for one in fuzzy] + [np.eye(21)[one.labels_] for one in crisp])
    order = np.lexsort([X[:, 0], y])
    image = axes[2].imshow((Y @ Y.T / 20)[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=0.6)
    figure.colorbar(image, ax=axes[2], shrink=0.9)
    title = "share of the partitions that put two samples together\n(samples by moon, from left to right)"
    axes[2].set(title=title, xticks=[], yticks=[])

    axes[3].scatter(*X.T, c=model.consensus_memberships_ @ COLOURS, s=10, linewidths=0)
    ari = adjusted_rand_score(y, model.labels_)
    axes[3].set_title(f"SCSPA: their consensus with 2 clusters\nadjusted Rand index {ari:.2f}")
    for axis in axes[[0, 1, 3]]:
        axis.set_aspect("equal")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
