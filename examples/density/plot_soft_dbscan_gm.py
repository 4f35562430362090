"""
SoftDBSCANGM: degrees for the noise of DBSCAN
=============================================

DBSCAN finds dense clusters and their number, and leaves the rest as noise. Soft DBSCAN-GM starts from its clusters and
gives every sample degrees of membership, noise included. Take it for dense clusters among noise whose number is not
known.
"""

# %%
# Clusters among noise
# --------------------
# Two round clusters, a long one, and samples scattered over the whole plane. DBSCAN finds the three clusters without
# being told their number, but says nothing about its noise samples (crosses), some of which lie just outside a
# cluster. Soft DBSCAN-GM fits an ellipse to each density cluster (black: two standard deviations) and gives the noise
# degrees by its distances to these ellipses. A Gaussian mixture has to be told the number of clusters. The scattered
# samples widen its ellipses, and it is certain about nearly all of them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons

from soft_clustering import GMM, SoftDBSCANGM, SoftKSC
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(6)
round_ones, _ = make_blobs(300, centers=[[-4.0, -3.0], [4.5, -3.0]], cluster_std=0.8, random_state=0)
long_one = rng.normal(size=(200, 2)) @ [[2.6, 0.5], [0.0, 0.45]] + [0.0, 3.5]
X = np.vstack([round_ones, long_one, rng.uniform([-8, -7], [8, 7], size=(45, 2))])

soft = SoftDBSCANGM().fit(X)
noise = soft.dbscan_labels_ == -1
gmm = GMM(3, init=soft.memberships_).fit(X)


def draw_ellipses(model, ax):
    """Draw two standard deviations around the centres."""
    turn = np.linspace(0, 2 * np.pi, 200)
    for center, covariance in zip(model.centers_, model.covariances_, strict=True):
        edge = np.column_stack([np.cos(turn), np.sin(turn)]) @ np.linalg.cholesky(covariance).T
        ax.plot(*(center + 2 * edge).T, color="black", linewidth=1)


def draw_density(model, X, ax):
    """Draw the clusters of DBSCAN as dots and its noise as crosses."""
    noise = model.dbscan_labels_ == -1
    ax.scatter(*X[~noise].T, color=cluster_colors(model.n_clusters_)[model.dbscan_labels_[~noise]], s=16)
    ax.scatter(*X[noise].T, color="0.3", marker="x", s=20, linewidths=0.9)


figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), sharex=True, sharey=True)
draw_density(soft, X, axes[0])
axes[0].set_title(f"DBSCAN: {soft.n_clusters_} clusters, {noise.sum()} samples are noise")
MembershipScatterDisplay.from_estimator(gmm, X, ax=axes[1]).legend_.remove()
draw_ellipses(gmm, axes[1])
axes[1].set_title("GMM, told K = 3: wider ellipses, little doubt")
MembershipScatterDisplay.from_estimator(soft, X, ax=axes[2])
draw_ellipses(soft, axes[2])
axes[2].set_title("SoftDBSCANGM: degrees for the noise, too")

# %%
# The radius decides on the clusters
# ----------------------------------
# Density is counted within a radius, ``eps``. If it is too small, the clusters fall into crumbs and much of them is
# noise; if it is too large, they are joined. The default ``eps="auto"`` looks for a radius that keeps the clusters
# apart and leaves little noise. Look at ``dbscan_labels_`` before you trust the degrees: if DBSCAN is wrong, they are.

figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharex=True, sharey=True)
for ax, eps in zip(axes, (0.3, "auto", 2.2), strict=True):
    model = SoftDBSCANGM(eps=eps).fit(X)
    draw_density(model, X, ax)
    share = (model.dbscan_labels_ == -1).mean()
    name = f"eps = {model.eps_:.2f}" + (' by "auto"' if eps == "auto" else "")
    ax.set_title(f"{name}: {model.n_clusters_} cluster{'s' if model.n_clusters_ > 1 else ''}, {share:.0%} noise")

# %%
# When it fails
# -------------
# DBSCAN follows curved clusters, but an ellipse cannot. The ellipses of the two moons cross, and samples at the tips
# get the largest degree in the wrong moon. :class:`~soft_clustering.SoftKSC` gives degrees that follow the moons. It
# has to be told the number of clusters, which DBSCAN has found.

moons, _ = make_moons(500, noise=0.06, random_state=0)
crossed = SoftDBSCANGM().fit(moons)
moved = (crossed.labels_ != crossed.dbscan_labels_) & (crossed.dbscan_labels_ >= 0)
spectral = SoftKSC(crossed.n_clusters_, random_state=0).fit(moons)
agree = (spectral.labels_ == crossed.dbscan_labels_).mean() > 0.5
memberships = spectral.memberships_ if agree else spectral.memberships_[:, ::-1]  # the same colours

figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), sharex=True, sharey=True)
draw_density(crossed, moons, axes[0])
axes[0].set_title("DBSCAN separates the moons")
MembershipScatterDisplay.from_estimator(crossed, moons, ax=axes[1]).legend_.remove()
draw_ellipses(crossed, axes[1])
axes[1].set_title(f"SoftDBSCANGM moves {moved.sum()} of {len(moons)} samples")
MembershipScatterDisplay.from_memberships(memberships, moons, ax=axes[2])
axes[2].set_title("SoftKSC follows the moons")
