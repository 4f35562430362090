"""
KFCCL: clusters by cosine, in the feature space of any kernel
=============================================================

Kernel fuzzy competitive learning compares samples by the cosine of their feature vectors and learns prototypes of
length 1, batch by batch. Take it if directions matter and lengths do not, or if you have a kernel for your data.
"""

# %%
# Clusters of directions
# ----------------------
# These samples belong to three directions, at any distance from the origin. Fuzzy c-means cuts them by distance, since
# short vectors of different directions are near to each other. With ``kernel="linear"`` the similarity is the cosine of
# the angle between two samples, and each prototype is a direction: the arrows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import AFCM, FCM, KFCCL
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(0)
drawn = np.repeat([0, 1, 2], 70)
angles = rng.normal(np.array([0.3, 1.3, 2.6])[drawn], 0.22)
X = rng.uniform(0.2, 3, size=(210, 1)) * np.column_stack([np.cos(angles), np.sin(angles)])
kfccl = KFCCL(3, kernel="linear", entropy_weight=0.1, random_state=0).fit(X)
means = np.array([X[kfccl.labels_ == k].mean(axis=0) for k in range(3)])
fcm = FCM(3, init=means).fit(X)  # started there, its clusters have the same order and colours

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), sharex=True, sharey=True)
MembershipScatterDisplay.from_estimator(fcm, X, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_estimator(kfccl, X, ax=axes[1])
directions = X / np.linalg.norm(X, axis=1, keepdims=True)
prototypes = kfccl.dual_coef_.T @ directions
for prototype, color in zip(prototypes, cluster_colors(3), strict=True):
    axes[1].annotate("", 2.7 * prototype, (0, 0), arrowprops={"arrowstyle": "->", "color": color, "linewidth": 2.5})
axes[0].set_title(f"FCM mixes short vectors: adjusted Rand index {adjusted_rand_score(drawn, fcm.labels_):.2f}")
axes[1].set_title(f"KFCCL follows the directions: {adjusted_rand_score(drawn, kfccl.labels_):.2f}")

# %%
# How soft: the entropy weight
# ----------------------------
# ``entropy_weight`` sets how soft the memberships are. The default ``"auto"`` needs a feature space of at least K
# dimensions. That of the linear kernel in the plane has only two, so that the weight is given here.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), sharex=True, sharey=True)
for ax, weight in zip(axes, (0.02, 0.1, 0.2), strict=True):
    model = KFCCL(3, kernel="linear", entropy_weight=weight, random_state=0).fit(X)
    order = [np.bincount(model.labels_[kfccl.labels_ == k]).argmax() for k in range(3)]
    MembershipScatterDisplay.from_memberships(model.memberships_[:, order], X, ax=ax).legend_.remove()
    doubtful = (model.memberships_.max(axis=1) < 0.8).mean()
    ax.set_title(f"entropy_weight={weight:g}: {doubtful:.0%} below 0.8")

# %%
# How curved: the width of the kernel
# -----------------------------------
# With the RBF kernel a cluster is a region that is compact in the feature space, and it may be curved in the plane. The
# width decides: a wide kernel (small ``gamma_scale``) gives the straight borders of k-means, a narrower one follows the
# moons, and with too narrow a kernel all samples are dissimilar and the clusters fall into patches.

moons, moon = make_moons(600, noise=0.07, random_state=0)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), sharex=True, sharey=True)
for ax, scale in zip(axes, (0.25, 4, 16), strict=True):
    model = KFCCL(2, gamma_scale=scale, random_state=0).fit(moons)
    MembershipContourDisplay.from_estimator(model, moons, ax=ax).legend_.remove()
    score = adjusted_rand_score(moon, model.labels_)
    ax.set_title(f"gamma_scale={scale:g}: adjusted Rand index {score:.2f}")

# %%
# When it fails
# -------------
# All prototypes have length 1, however many samples they stand for, so that it pays to give two of them to a large
# cluster rather than one to a small cluster. :class:`~soft_clustering.AFCM` finds the gap between the clusters instead.

X, drawn = make_blobs([500, 60], centers=[[0, 0], [6, 0]], cluster_std=[1.5, 0.5], random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
for ax, model in zip(axes, (KFCCL(2, random_state=0), AFCM(2, random_state=0)), strict=True):
    model.fit(X)
    small = model.labels_[X[:, 0].argmax()]  # the cluster of the rightmost sample comes second, in the same colour
    MembershipScatterDisplay.from_memberships(model.memberships_[:, [1 - small, small]], X, ax=ax)
    ax.set_title(f"{type(model).__name__}: adjusted Rand index {adjusted_rand_score(drawn, model.labels_):.2f}")
axes[0].get_legend().remove()
