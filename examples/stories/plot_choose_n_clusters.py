"""Choosing the number of clusters: each criterion over K with its choice marked, and the mixture of the recommended K.

Run ``python examples/plot_choose_n_clusters.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from soft_clustering import GMM
from soft_clustering.plotting import MembershipScatterDisplay
from soft_clustering.selection import choose_n_clusters

CENTERS = [[-6, -3], [-3, 2], [2, 3], [5, -2], [0, -5]]
CRITERIA = ["gaussian_bic", "modified_partition_coefficient", "xie_beni", "calinski_harabasz", "bic", "stability"]


def main() -> None:
    X, _ = make_blobs(500, centers=CENTERS, cluster_std=[1.0, 1.2, 0.8, 1.3, 1.0], random_state=0)
    result = choose_n_clusters(GMM(n_init=3), X, range(2, 10), criteria=CRITERIA, random_state=0)
    print(result)
    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 5.2), width_ratios=[1, 2.1], layout="constrained")
    K = result.recommended
    MembershipScatterDisplay.from_estimator(result.estimators[K], X, ax=left)
    left.set_title(f"Gaussian mixture, K = {K}")
    result.plot(right)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
