"""
AFCMSimple: the softness is learnt
==================================

Fuzzy c-means needs a fuzzifier, and its memberships are as soft as that number says, whatever the data. AFCMSimple
learns the softness from the spread of the clusters: separate clusters get nearly hard memberships, overlapping clusters
get soft ones. Take it for round clusters of similar spread if you do not want to choose a fuzzifier.
"""

# %%
# The same clusters, more and more overlap
# ----------------------------------------
# Three clusters are drawn three times, with a growing spread. The upper row shows fuzzy c-means with the usual ``m=2``:
# in the middle, where the clusters hardly touch, many samples at their outer rims are doubtful, too. The lower row
# shows AFCMSimple, which has no such parameter: it is doubtful only where the clusters overlap. The titles count the
# samples whose largest membership is below 0.9.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import FCM, GMM, AFCMSimple
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay

planted = np.array([[-3.0, -2.0], [3.0, -2.0], [0.0, 3.0]])
figure, axes = plt.subplots(2, 3, figsize=(12, 7.2), sharex=True, sharey=True)
for column, spread in zip(axes.T, (0.5, 1.2, 2.0), strict=True):
    X, _ = make_blobs(450, centers=planted, cluster_std=spread, random_state=0)
    for ax, model in zip(column, (FCM(3, m=2.0, init=planted), AFCMSimple(3, init=planted)), strict=True):
        MembershipScatterDisplay.from_estimator(model.fit(X), X, ax=ax).legend_.remove()
        doubtful = (model.memberships_.max(axis=1) < 0.9).mean()
        ax.set_title(f"{type(model).__name__}, spread {spread}: {doubtful:.0%} below 0.9")
        ax.label_outer()

# %%
# Memberships that are probabilities
# ----------------------------------
# The model behind AFCMSimple is a Gaussian mixture of clusters with the same size and the same spread. Here the data
# come from such a mixture, so that the probability of each cluster given the sample is known. The memberships of
# AFCMSimple agree with it; those of fuzzy c-means are degrees on a scale of their own.

spread = 1.5
X, _ = make_blobs(450, centers=planted, cluster_std=spread, random_state=0)
likelihoods = np.exp(-np.square(X[:, None] - planted).sum(axis=2) / (2 * spread**2))
probabilities = likelihoods / likelihoods.sum(axis=1, keepdims=True)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharex=True, sharey=True)
for ax, model in zip(axes, (FCM(3, m=2.0, init=planted), AFCMSimple(3, init=planted)), strict=True):
    model.fit(X)
    ax.plot([0, 1], [0, 1], color="0.5", linewidth=1)
    ax.scatter(probabilities, model.memberships_, s=10, c="black", alpha=0.4, linewidths=0)
    error = np.abs(model.memberships_ - probabilities).mean()
    ax.set(xlabel="probability of the cluster", title=f"{type(model).__name__}: mean difference {error:.3f}")
axes[0].set_ylabel("membership")

# %%
# ``entropy_weight_`` is the learnt softness: twice the variance of a cluster along a feature.

print(f"planted spread {spread}, learnt spread {np.sqrt(model.entropy_weight_ / 2):.2f}")

# %%
# When it fails
# -------------
# One spread is learnt for all clusters. Beside a wide cluster, that spread is too large for narrow ones: they are
# joined, and the wide cluster is divided. :class:`~soft_clustering.GMM` learns a size and a shape for each cluster.

centers = [[0, 0], [5, 2.5], [5, -2.5]]
X, _ = make_blobs([400, 60, 60], centers=centers, cluster_std=[2, 0.4, 0.4], random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
model = AFCMSimple(3, random_state=0).fit(X)
MembershipContourDisplay.from_estimator(model, X, ax=axes[0]).legend_.remove()
MembershipContourDisplay.from_estimator(GMM(3, random_state=0).fit(X), X, ax=axes[1])
axes[0].set_title("AFCMSimple divides the wide cluster")
axes[1].set_title("GMM finds one wide and two narrow clusters")
