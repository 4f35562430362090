"""
GMM: elliptic clusters with a likelihood
========================================

A Gaussian mixture takes every cluster as an ellipse with its own shape, size and weight. Its memberships are
probabilities, and its likelihood lets one compare models. Take it for elliptic clusters that differ in size, or to
choose the number of clusters by BIC.
"""

# %%
# Clusters of different shape and size
# ------------------------------------
# Three clusters overlap: a large round one, a long narrow one, and a small dense one. Fuzzy c-means knows only the
# distance to a centre, so all of its clusters have the same size: it cuts pieces from the large cluster and gives
# them to its neighbours. The Gaussian mixture learns three ellipses (black: one and two standard deviations). The
# titles give the adjusted Rand index with the true clusters, 1 if they are the same.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, GMM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(0)
X = np.vstack(
    [
        rng.normal(0, 2.2, size=(500, 2)),
        rng.normal(size=(250, 2)) @ [[2.6, 1.6], [0, 0.35]] + [2, 7],
        rng.normal([6.5, 0.5], 0.5, size=(150, 2)),
    ]
)
y = np.repeat([0, 1, 2], [500, 250, 150])

gmm = GMM(3, n_init=5, random_state=0).fit(X)
fcm = FCM(3, init=gmm.centers_).fit(X)  # started there, its clusters have the same order and colours

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, sharey=True)
MembershipScatterDisplay.from_estimator(fcm, X, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_estimator(gmm, X, ax=axes[1])
turn = np.linspace(0, 2 * np.pi, 200)
for center, covariance in zip(gmm.centers_, gmm.covariances_, strict=True):
    edge = np.column_stack([np.cos(turn), np.sin(turn)]) @ np.linalg.cholesky(covariance).T
    for n_deviations in (1, 2):
        axes[1].plot(*(center + n_deviations * edge).T, color="black", linewidth=1)
axes[0].set_title(f"FCM cuts the large cluster: Rand index {adjusted_rand_score(y, fcm.labels_):.2f}")
axes[1].set_title(f"GMM fits three ellipses: Rand index {adjusted_rand_score(y, gmm.labels_):.2f}")

# %%
# How many clusters, and of which shape
# -------------------------------------
# A likelihood can be compared between models if their parameters are charged for, as BIC does. The parameter
# ``covariance_type`` says what may differ between clusters: everything (``"full"``), only the position (``"tied"``),
# the spread along each axis (``"diag"``), or the radius (``"spherical"``). BIC is smallest for three clusters with
# full covariances, which is how the data were made. Simpler shapes need more clusters to cover the same points.

sizes = range(1, 9)
figure, ax = plt.subplots(figsize=(7, 4.2))
for kind, color in zip(("full", "tied", "diag", "spherical"), cluster_colors(4), strict=True):
    bic = [GMM(K, covariance_type=kind, n_init=2, random_state=0).fit(X).bic(X) for K in sizes]
    best = int(np.argmin(bic))
    ax.plot(sizes, bic, color=color, marker="o", markersize=4, label=f"{kind}: smallest {bic[best]:.0f}")
    ax.plot(sizes[best], bic[best], color=color, marker="D", markersize=9)
ax.set(xlabel="number of clusters K", ylabel="BIC (smaller is better)")
ax.set_title("BIC finds three full ellipses; diamonds mark the best K of each shape")
ax.legend(title="covariance_type")

# %%
# When it fails
# -------------
# A full covariance has d (d + 1) / 2 parameters. Here three clusters of 30 samples have 20 features, so each ellipse
# has 210 parameters for its 30 samples. Even started at the true means it loses the clusters, yet nearly all of its
# memberships are 0 or 1: it fits these samples too well to have doubts. One variance per cluster,
# ``covariance_type="spherical"``, is enough here, and BIC says so. In many features
# :class:`~soft_clustering.ENTROPYFCM` is another good choice.

d = 20
rng = np.random.default_rng(2)
directions = rng.normal(size=(3, d))
means = 2.8 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
few_y = np.repeat([0, 1, 2], 30)
few = means[few_y] + rng.normal(size=(90, d))

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
for ax, kind in zip(axes, ("full", "spherical"), strict=True):
    model = GMM(3, covariance_type=kind, means_init=means, random_state=0).fit(few)
    display = MembershipScatterDisplay.from_estimator(model, few, ax=ax)
    certain = (model.memberships_.max(axis=1) > 0.999).mean()
    found = adjusted_rand_score(few_y, model.labels_)
    ax.set_title(f"{kind}: {certain:.0%} of the samples certain,\nRand index {found:.2f}, BIC {model.bic(few):.0f}")
    if kind == "full":
        display.legend_.remove()
