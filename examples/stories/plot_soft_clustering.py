"""
Soft clustering in one picture
==============================

A hard clustering gives each sample one label. A soft clustering gives it a degree of membership in every cluster, so
that a sample between two clusters can be told from a typical one.
"""

# %%
# The same samples twice
# ----------------------
# K-means and fuzzy c-means find the same three clusters. The labels of k-means look equally certain everywhere; the
# memberships of fuzzy c-means are mixed where clusters meet. The bars show the memberships of three samples: A lies in
# the middle of a cluster, B between two clusters, C between all three.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from soft_clustering import FCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

X, _ = make_blobs(450, centers=[[-2.6, 0], [2.6, 0], [0, 4.2]], cluster_std=1.3, random_state=4)
fcm = FCM(n_clusters=3, random_state=0).fit(X)
kmeans = KMeans(3, init=fcm.centers_, n_init=1).fit(X)

by_size = np.sort(fcm.memberships_, axis=1)  # the largest membership is the last
chosen = {
    "A": by_size[:, 2].argmax(),
    "B": (by_size[:, 1] - by_size[:, 0] * 3).argmax(),
    "C": by_size[:, 0].argmax(),
}

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), width_ratios=[1, 1, 0.62])
hard = MembershipScatterDisplay.from_memberships(np.eye(3)[kmeans.labels_], X, ax=axes[0])
soft = MembershipScatterDisplay.from_memberships(fcm.memberships_, X, ax=axes[1])
axes[0].set_title("hard: one label each")
axes[1].set_title("soft: a degree for every cluster")
for display in (hard, soft):
    display.legend_.remove()
    display.ax_.set_axis_off()
    display.ax_.set_aspect("equal")
    for name, row in chosen.items():
        display.ax_.annotate(
            name,
            X[row],
            ha="center",
            va="center",
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "black"},
        )

shares = fcm.memberships_[list(chosen.values())]
left = np.zeros(3)
for k, color in enumerate(cluster_colors(3)):
    axes[2].barh(list(chosen), shares[:, k], left=left, color=color, height=0.5)
    for row, share in enumerate(shares[:, k]):
        if share > 0.12:
            axes[2].text(left[row] + share / 2, row, f"{share:.0%}", ha="center", va="center", weight="bold")
    left += shares[:, k]
axes[2].invert_yaxis()
axes[2].set_title("memberships of three samples")
axes[2].set_xticks([])
axes[2].spines[["bottom", "left"]].set_visible(False)
axes[2].tick_params(length=0, labelsize="large")

# %%
# In code the degrees are a matrix with a row per sample and a column per cluster. Each row sums to 1.

print(shares.round(2))
