"""
SoftKSC: spectral clustering with degrees, also for new samples
===============================================================

Soft kernel spectral clustering finds clusters of any shape from the eigenvectors of a kernel matrix. Unlike
:class:`sklearn.cluster.SpectralClustering` it gives degrees of membership and a rule for new samples, so that it can
learn from a part of a large table. Take it for curved clusters with gaps between them.
"""

# %%
# Two rings
# ---------
# Fuzzy c-means divides the plane into the surroundings of two centres and cannot separate a ring from what is inside
# it. SoftKSC does, without being told a width of the kernel, and its rule for new samples gives memberships everywhere:
# the contours show them.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import AFCM, FCM, SoftKSC
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay, membership_colors

rings, ring = make_circles(500, factor=0.4, noise=0.07, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True)
for ax, model in zip(axes, (FCM(2, random_state=0), SoftKSC(2, random_state=0)), strict=True):
    MembershipContourDisplay.from_estimator(model.fit(rings), rings, ax=ax)
    score = max(0, adjusted_rand_score(ring, model.labels_))
    verb = "cuts both rings" if ax is axes[0] else "separates them"
    ax.set_title(f"{type(model).__name__} {verb}: adjusted Rand index {score:.2f}")
axes[0].get_legend().remove()

# %%
# Where the degrees come from
# ---------------------------
# K clusters give K - 1 scores per sample. Samples of one cluster have scores in one direction: the signs of the scores
# tell the clusters apart, and the angle to the mean direction of each cluster, drawn as a line, gives the memberships.
# A sample near the origin of the right picture is a doubtful one on the left.

blobs, _ = make_blobs(500, centers=[[0, 0], [4, 0.5], [2, 3.5]], cluster_std=0.9, random_state=0)
model = SoftKSC(3, random_state=0).fit(blobs)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4))
MembershipScatterDisplay.from_estimator(model, blobs, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_memberships(model.memberships_, model.embedding_, ax=axes[1])
for center in model.embedding_centers_:
    axes[1].plot([0, center[0]], [0, center[1]], color="black", linewidth=1.5)
axes[0].set_title("three clusters that touch")
axes[1].set(xlabel="first score", ylabel="second score", title="their scores")

# %%
# The width of the kernel, and many samples
# -----------------------------------------
# ``gamma="auto"`` tries eight widths. It takes the one with the best mean of two numbers: how sure the memberships are,
# and how even the sizes of the clusters. The left picture shows both for two moons.
#
# On the right there are 5,000 samples, of which 300, the black ones, are enough to learn from. The others are treated
# as new, so that the cost grows with n instead of its square. ``max_samples`` says how many to learn from.

moons, _ = make_moons(500, noise=0.08, random_state=0)
factors = 2.0 ** np.arange(-1, 7)
sure, even = [], []
for factor in factors:
    tried = SoftKSC(2, gamma=factor / moons.var(axis=0).sum(), random_state=0).fit(moons)
    shares = np.bincount(tried.labels_, minlength=2) / len(moons)
    sure.append(tried.membership_strength_)
    even.append(-(shares * np.log2(shares)).sum())
figure, axes = plt.subplots(1, 2, figsize=(10, 4))
axes[0].plot(factors, sure, marker="o", color="0.6", label="membership strength")
axes[0].plot(factors, even, marker="s", color="0.6", label="entropy of the sizes")
axes[0].plot(factors, np.mean([sure, even], axis=0), marker="D", color="black", label="their mean")
chosen = SoftKSC(2, random_state=0).fit(moons).gamma_ * moons.var(axis=0).sum()
axes[0].axvline(chosen, color="0.6", linestyle=":")
axes[0].set_xscale("log", base=2)
axes[0].set(ylim=(0.7, 1.02), xlabel="gamma, times 'scale'", title=f"gamma='auto' takes {chosen:.0f} times 'scale'")
axes[0].legend(loc="lower left")
many, moon = make_moons(5000, noise=0.08, random_state=0)
model = SoftKSC(2, max_samples=300, random_state=0).fit(many)
axes[1].scatter(*many.T, c=membership_colors(model.memberships_), s=6, linewidths=0)
axes[1].scatter(*model.X_fit_.T, c="black", s=8, linewidths=0)
score = adjusted_rand_score(moon, model.labels_)
axes[1].set_title(f"5,000 samples, 300 to learn from: adjusted Rand index {score:.2f}")

# %%
# When it fails
# -------------
# One width has to suit all clusters, and even sizes are preferred. With a large cluster among several small ones, small
# clusters are joined and the large one is divided. :class:`~soft_clustering.AFCM` works with the neighbours of each
# sample, whatever their distance, and finds all six.

centers = [[0, 0], [6, 0], [5, 5], [0, 7], [-5, 5], [-6, 0]]
X, drawn = make_blobs([500] + [30] * 5, centers=centers, cluster_std=[1.5] + [0.4] * 5, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True)
for ax, model in zip(axes, (SoftKSC(6, random_state=0), AFCM(6, random_state=0)), strict=True):
    model.fit(X)
    order = linear_sum_assignment(np.eye(6)[drawn].T @ model.memberships_, maximize=True)[1]  # the same colours
    MembershipScatterDisplay.from_memberships(model.memberships_[:, order], X, ax=ax)
    score = adjusted_rand_score(drawn, model.labels_)
    ax.set_title(f"{type(model).__name__}: adjusted Rand index {score:.2f}")
axes[0].get_legend().remove()
