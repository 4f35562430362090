"""
CAFCM: the partition that single k-means runs miss
==================================================

K-means ends in the local optimum nearest to its start, and with many clusters most starts lead to a poor one. CAFCM
searches with fuzzy c-means, whose criterion is smoother, and lets the fuzzifier fall until the result is a k-means
partition. Take it if a low within-cluster sum of squares matters and there are many clusters.
"""

# %%
# Twenty clusters on a grid
# -------------------------
# If k-means++ draws two seeds in one cluster and none in another, k-means cannot move a centre across the gaps: one
# cluster is divided and two others are joined. The left picture shows the median of 12 runs. CAFCM shares what several
# runs of fuzzy c-means find, and gives every cluster its centre.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs

from soft_clustering import CAFCM, GMM
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay

grid, _ = make_blobs(600, centers=10.0 * np.indices((5, 4)).reshape(2, -1).T, cluster_std=1.8, random_state=0)
runs = sorted((KMeans(20, n_init=1, random_state=seed).fit(grid) for seed in range(12)), key=lambda run: run.inertia_)
searches = [CAFCM(20, random_state=seed).fit(grid) for seed in range(3)]
median, cafcm = runs[6], searches[0]

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), sharex=True, sharey=True)
order = linear_sum_assignment(cdist(cafcm.centers_, median.cluster_centers_))[1]  # the same colours in both pictures
hard, centers = np.eye(20)[median.labels_][:, order], median.cluster_centers_[order]
MembershipScatterDisplay.from_memberships(hard, grid, centers=centers, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_estimator(cafcm, grid, ax=axes[1]).legend_.remove()
axes[0].set_title(f"k-means divides one cluster and joins two: sum of squares {median.inertia_:.0f}")
axes[1].set_title(f"CAFCM finds all twenty: {cafcm.objective_:.0f}")

# %%
# Is it luck?
# -----------
# A dot is a run with a seed of its own. On the grid, k-means gets there with enough starts, too. The clusters of
# handwritten digits have no gaps, and there the search pays: the runs of k-means stay above those of CAFCM. It takes
# much longer than a run of k-means, and it is no proof: the seeds of CAFCM differ as well.

digits = load_digits().data[:300]
costs = {
    "the grid, 20 clusters": ([run.inertia_ for run in runs], [search.objective_ for search in searches]),
    "digits, 20 clusters": (
        [KMeans(20, n_init=1, random_state=seed).fit(digits).inertia_ for seed in range(12)],
        [CAFCM(20, random_state=seed).fit(digits).objective_ for seed in range(3)],
    ),
}
figure, axes = plt.subplots(1, 2, figsize=(11, 3), sharey=True)
for ax, (title, found) in zip(axes, costs.items(), strict=True):
    least = min(map(min, found))
    for row, values in enumerate(found):
        heights = np.linspace(row - 0.2, row + 0.2, len(values))
        ax.scatter(np.array(values) / least, heights, s=22, c="black", alpha=0.6, linewidths=0)
    share = np.mean(np.array(found[0]) > max(found[1]) * 1.0001)
    ax.set(xlabel="sum of squares / least one", title=f"{title}: CAFCM beats {share:.0%} of the k-means runs")
axes[0].set(ylim=(-0.5, 1.5), yticks=(0, 1), yticklabels=("k-means", "CAFCM"))

# %%
# Degrees, if you want them
# -------------------------
# The fuzzifier ends near 1, so that ``memberships_`` are almost hard. ``soft_memberships_`` are those of fuzzy c-means
# with the fuzzifier 2 at the same centres: they show which samples lie between clusters.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), sharex=True, sharey=True)
for ax, name in zip(axes, ("memberships_", "soft_memberships_"), strict=True):
    memberships = getattr(cafcm, name)
    MembershipScatterDisplay.from_memberships(memberships, grid, ax=ax).legend_.remove()
    ax.set_title(f"{name}: {(memberships.max(axis=1) < 0.6).mean():.0%} of the samples below 0.6")

# %%
# When it fails
# -------------
# A low sum of squares is not always what one wants. It favours clusters of similar extent: here it cuts a wide cluster
# in three. The search itself does not fail: the clusters as they were drawn have a larger sum of squares, as the title
# says. :class:`~soft_clustering.GMM` has a better criterion for such data.

centers = [[0, 0], [5, 2.5], [5, -2.5]]
X, drawn = make_blobs([400, 60, 60], centers=centers, cluster_std=[2, 0.4, 0.4], random_state=0)
model = CAFCM(3, random_state=0).fit(X)
mixture = GMM(3, means_init=model.centers_, random_state=0).fit(X)  # started there, it has the same colours
squares = sum(((X[drawn == k] - X[drawn == k].mean(axis=0)) ** 2).sum() for k in range(3))

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
MembershipContourDisplay.from_estimator(model, X, ax=axes[0]).legend_.remove()
MembershipContourDisplay.from_estimator(mixture, X, ax=axes[1])
axes[0].set_title(f"CAFCM: sum of squares {model.objective_:.0f}, as drawn {squares:.0f}")
axes[1].set_title("GMM finds the clusters as drawn")
