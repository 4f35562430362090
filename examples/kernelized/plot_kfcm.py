"""
KFCM: centres that far samples hardly pull
==========================================

Kernel fuzzy c-means replaces the squared distance of fuzzy c-means by a distance that saturates: beyond a few kernel
widths everything is equally far. Take it for round clusters if there are outliers.
"""

# %%
# Three clusters and twelve outliers
# ----------------------------------
# Fuzzy c-means minimises squared distances, and the outliers have the largest ones: its objective is smallest if one
# centre goes to them and two clusters share another. For KFCM the outliers are just far from all centres. Their
# memberships are equal, which makes them grey, and they have next to no weight in the centres.
#
# KFCM starts from random samples here: the default k-means++ prefers samples that are far from the others as starts,
# and a centre that starts on an outlier does not come back.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, KFCM, SoftKSC
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay, cluster_colors

clean, drawn = make_blobs(450, centers=[[-4, 0], [4, 0], [0, 6]], random_state=0)
means = np.array([clean[drawn == k].mean(axis=0) for k in range(3)])
outliers = np.random.default_rng(0).uniform(0.5, 1.5, size=(12, 2))  # times the distance that they shall have
X = np.vstack([clean, 24 * outliers])
fcm = FCM(3, random_state=0).fit(X)
kfcm = KFCM(3, init="random", random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
for ax, model in zip(axes, (fcm, kfcm), strict=True):
    order = linear_sum_assignment(cdist(means, model.centers_))[1]  # the same colours in both pictures
    memberships, centers = model.memberships_[:, order], model.centers_[order]
    MembershipScatterDisplay.from_memberships(memberships, X, centers=centers, ax=ax)
axes[0].get_legend().remove()
axes[0].set_title("FCM: two clusters share a centre, the outliers have one")
axes[1].set_title("KFCM: a centre for each cluster")

# %%
# How far, and how wide a kernel
# ------------------------------
# On the left the outliers move away from the clusters. The farther they are, the more they pull the centres of fuzzy
# c-means, and at last they get a centre of their own; the centres of KFCM stay.
#
# On the right the width of the kernel changes. ``gamma="scale"`` takes it from the variance of the data, and
# ``gamma_scale`` multiplies that: small values make a wide kernel, for which KFCM is fuzzy c-means, and large values
# make a kernel narrower than the clusters, for which most samples are as far as the outliers.


def error(model):
    """Return the largest distance from the mean of a cluster to the nearest centre."""
    return cdist(means, model.centers_).min(axis=1).max()


distances = np.arange(4, 41, 4)
settings = {"FCM": FCM(3, random_state=0), "KFCM": KFCM(3, init="random", random_state=0)}
figure, axes = plt.subplots(1, 2, figsize=(10, 4))
for (name, model), color in zip(settings.items(), cluster_colors(2), strict=True):
    errors = [error(model.fit(np.vstack([clean, distance * outliers]))) for distance in distances]
    axes[0].plot(distances, errors, marker="o", color=color, label=name)
axes[0].set(xlabel="distance of the outliers", ylabel="largest error of a centre", yscale="log")
axes[0].set_title("Far outliers pull FCM, not KFCM")
axes[0].legend()
scales = 4.0 ** np.arange(-5, 4)
errors = [error(KFCM(3, gamma_scale=scale, init="random", random_state=0).fit(X)) for scale in scales]
axes[1].plot(scales, errors, marker="o", color=cluster_colors(2)[1])
axes[1].set(xlabel="gamma_scale", xscale="log", title="Too wide a kernel is FCM, too narrow a one sees nothing")

# %%
# When it fails
# -------------
# The kernel changes the distance, not the kind of cluster: a centre is a point of the plane, and what is near to it
# is a convex region. A ring around another one is not found with any width. :class:`~soft_clustering.SoftKSC` follows
# clusters of any shape. Outliers that lie close together are a cluster like any other, too.

rings, ring = make_circles(500, factor=0.4, noise=0.06, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True)
for ax, model in zip(axes, (KFCM(2, random_state=0), SoftKSC(2, random_state=0)), strict=True):
    MembershipContourDisplay.from_estimator(model.fit(rings), rings, ax=ax)
    score = max(0, adjusted_rand_score(ring, model.labels_))
    verb = "cuts both rings" if ax is axes[0] else "separates them"
    ax.set_title(f"{type(model).__name__} {verb}: adjusted Rand index {score:.2f}")
axes[0].get_legend().remove()
