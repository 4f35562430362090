"""
FCM: k-means with degrees of membership
=======================================

Fuzzy c-means replaces the labels of k-means by memberships: each sample belongs to every cluster to a degree that falls
with its distance to the cluster's centre. Take it for round clusters of similar size whose borders overlap.
"""

# %%
# Four clusters that overlap
# --------------------------
# K-means puts every sample into one cluster, and its picture looks certain everywhere. Fuzzy c-means finds the same
# four centres, but the samples between them keep a mixed colour: these are the samples about which one should not
# decide yet.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from soft_clustering import FCM, GK
from soft_clustering.plotting import MembershipScatterDisplay

X, _ = make_blobs(600, centers=[[-3, 0], [3, 0], [0, 4.5], [0, -4.5]], cluster_std=1.5, random_state=0)
fcm = FCM(4, random_state=0).fit(X)
kmeans = KMeans(4, init=fcm.centers_, n_init=1).fit(X)  # started there, its clusters have the same order and colours

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
hard = np.eye(4)[kmeans.labels_]
MembershipScatterDisplay.from_memberships(hard, X, centers=kmeans.cluster_centers_, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_estimator(fcm, X, ax=axes[1])
axes[0].set_title("k-means: certain everywhere")
axes[1].set_title(f"FCM: {(fcm.memberships_.max(axis=1) < 0.6).mean():.0%} of the samples below 0.6")

# %%
# How soft: the fuzzifier
# -----------------------
# The fuzzifier ``m`` sets how soft the memberships are. Near 1 the result is that of k-means; with growing ``m`` all
# memberships approach 1 / K. The default ``m="auto"`` takes 2 here and smaller values in more features, where
# distances differ less.

figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharex=True, sharey=True)
for ax, m in zip(axes, (1.2, 2.0, 3.0), strict=True):
    model = FCM(4, m=m, random_state=0).fit(X)
    MembershipScatterDisplay.from_estimator(model, X, ax=ax).legend_.remove()
    ax.set_title(f"m = {m:g}: {(model.memberships_.max(axis=1) < 0.6).mean():.0%} below 0.6")

# %%
# When it fails
# -------------
# Distances are Euclidean, so every cluster is taken to be round. Three parallel bands are cut across instead of
# along. :class:`~soft_clustering.GK` learns the shape of each cluster and follows the bands.

bands = np.random.default_rng(0).normal(size=(450, 2)) * [4, 0.4] + np.repeat([[0, -3], [0, 0], [0, 3]], 150, axis=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
MembershipScatterDisplay.from_estimator(FCM(3, random_state=0).fit(bands), bands, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_estimator(GK(3, random_state=0).fit(bands), bands, ax=axes[1])
axes[0].set_title("FCM cuts the bands")
axes[1].set_title("GK follows them")
