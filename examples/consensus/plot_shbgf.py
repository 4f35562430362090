"""SHBGF cuts the samples and the clusters of an ensemble at the same time, which shows which of them belong together.

Run ``python examples/plot_shbgf.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from soft_clustering import FCM, GMM, SHBGF


def main() -> None:
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    models = {}
    for K in (3, 4, 5, 6):
        models[f"FCM, {K} clusters"] = FCM(K, n_init=1, random_state=K)
        models[f"GMM, {K} clusters"] = GMM(K, covariance_type="diag", init="random", random_state=K)
        models[f"k-means, {K} clusters"] = KMeans(K, n_init=1, random_state=K)
    for model in models.values():
        model.fit(X)
    # k-means has labels only
    partitions = [getattr(model, "memberships_", model.labels_) for model in models.values()]
    consensus = SHBGF(3, random_state=0).fit(partitions)

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.6), width_ratios=[1, 1.5], layout="constrained")
    scores = {name: adjusted_rand_score(y, model.labels_) for name, model in models.items()}
    mean = np.mean(list(scores.values()))
    scores["SHBGF, consensus of all"] = adjusted_rand_score(y, consensus.labels_)
    left.barh(list(scores), list(scores.values()), color=["0.65"] * len(models) + ["tab:blue"])
    left.axvline(mean, color="black", linestyle="--", linewidth=1, label=f"mean of the ensemble, {mean:.2f}")
    left.invert_yaxis()
    left.legend(loc="upper left", bbox_to_anchor=(0, -0.1))
    left.set(title="agreement with the three cultivars", xlabel="adjusted Rand index", xlim=(0, 1))

    widths = [part.shape[1] if part.ndim == 2 else part.max() + 1 for part in partitions]
    U = np.hstack([part if part.ndim == 2 else np.eye(K)[part] for part, K in zip(partitions, widths, strict=True)])
    rows, columns = np.argsort(consensus.labels_, kind="stable"), np.argsort(consensus.cluster_labels_, kind="stable")
    image = right.imshow(U[np.ix_(rows, columns)], cmap="Blues", aspect="auto", interpolation="nearest")
    for k in range(1, 3):
        right.axhline(np.searchsorted(consensus.labels_[rows], k) - 0.5, color="tab:red", linewidth=1)
        right.axvline(np.searchsorted(consensus.cluster_labels_[columns], k) - 0.5, color="tab:red", linewidth=1)
    right.set(
        title="memberships, by the parts of the cut",
        xlabel=f"the {U.shape[1]} clusters of the ensemble",
        ylabel="samples",
        xticks=[],
        yticks=[],
    )
    figure.colorbar(image, ax=right, shrink=0.8)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
