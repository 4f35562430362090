"""
RelationalFCM: fuzzy c-means of dissimilarities
===============================================

Fuzzy c-means needs no features: the distance of an object from a weighted mean of others follows from the
dissimilarities among them. Relational fuzzy c-means finds the same clusters from a matrix of distances, and others from
any dissimilarity, also unsquared, which is the method FANNY.
"""

# %%
# Curves of the same shape
# ------------------------
# 120 curves have one of three courses, but very different heights and levels. Euclidean distances mostly see heights
# and levels, and the clusters mix the courses. One minus the correlation sees the course alone. ``metric`` takes the
# name of any metric of scikit-learn, or a function.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, RelationalFCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(0)
time = np.linspace(0, 1, 30)
courses = np.array([np.sin(2 * np.pi * time), 2 * np.exp(-(((time - 0.5) / 0.15) ** 2)) - 1, 2 * time - 1])
truth = np.repeat(range(3), 40)
heights = rng.gamma(2.0, 1.0, (120, 1)) + 0.3
curves = heights * (courses[truth] + 0.35 * rng.normal(size=(120, 30))) + rng.normal(scale=1.5, size=(120, 1))

figure, axes = plt.subplots(2, 3, figsize=(11, 4.8), sharex=True, sharey=True)
for row, metric in zip(axes, ("euclidean", "correlation"), strict=True):
    model = RelationalFCM(3, metric=metric, random_state=0).fit(curves)
    for k, ax in enumerate(row):
        for curve, degree in zip(curves, model.memberships_[:, k], strict=True):
            ax.plot(time, curve, color=cluster_colors(3)[k], linewidth=0.8, alpha=0.8 * degree)
    row[0].set_ylabel(metric)
    row[1].set_title(f"{metric}: agreement with the courses {adjusted_rand_score(truth, model.labels_):.2f}")
figure.supxlabel("time", fontsize="medium")

# %%
# The same result as fuzzy c-means
# --------------------------------
# Squared Euclidean distances (``exponent=2``) give the memberships of fuzzy c-means, to rounding. So relational fuzzy
# c-means is a check of it, or its replacement where only the distances are at hand.

X = load_iris().data
fcm = FCM(3, m=2.0, tol=1e-12, max_iter=1000, random_state=0).fit(X)
relational = RelationalFCM(3, m=2.0, metric="precomputed", exponent=2.0, tol=1e-12, random_state=0).fit(cdist(X, X))
print(f"objectives: {fcm.objective_:.10f} and {relational.objective_:.10f}")

# %%
# Unsquared distances are robust
# ------------------------------
# Squares of distances make far samples strong. Eight of these samples are errors, far to the right. Fuzzy c-means gives
# them a centre, and two clusters share the other one. With unsquared distances, the default, the three means (plus
# signs) stay where they belong; and with ``noise_distance`` the errors belong to no cluster.

blobs, _ = make_blobs(210, centers=[[0, 0], [6, 0], [3, 5]], random_state=0)
blobs = np.vstack([blobs, rng.normal([40, 3], 3, (8, 2))])
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharex=True, sharey=True)
settings = {"exponent=2": {"exponent": 2.0}, "exponent=1": {}, "exponent=1 and noise": {"noise_distance": "auto"}}
for ax, (title, parameters) in zip(axes, settings.items(), strict=True):
    model = RelationalFCM(3, m=2.0, random_state=0, **parameters).fit(blobs)
    means = model.coefficients_.T @ blobs
    noise = model.labels_ == -1
    MembershipScatterDisplay.from_memberships(model.memberships_[~noise], blobs[~noise], ax=ax)
    ax.scatter(*blobs[noise].T, marker="x", s=20, color="0.5", label="noise")
    ax.scatter(*means.T, marker="P", s=90, color="black", edgecolor="white", label="means")
    ax.set_title(title)
    if ax is axes[2]:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    else:
        ax.legend_.remove()

# %%
# Dissimilarities that are no distances
# -------------------------------------
# The fourth power of the largest difference in a feature is no squared distance in any space. Then some flowers have a
# negative distance from the nearest mean (orange), from which no memberships follow. The spread, a number added to all
# dissimilarities between different objects, makes them positive (blue). It is as large as the passes of all starts
# needed it, and makes the memberships softer: a dissimilarity that needs none is better.

D = cdist(X, X, "chebyshev") ** 4
model = RelationalFCM(3, m=2.0, metric="precomputed", random_state=0).fit(D)
C = model.coefficients_
distances = {
    name: np.sort((R @ C - np.einsum("ik,ij,jk->k", C, R, C) / 2).min(axis=1))
    for name, R in {
        "as given": D,
        f"with the spread {model.spread_:.1f}": D + model.spread_ * (1 - np.eye(150)),
    }.items()
}
figure, ax = plt.subplots(figsize=(7.5, 3.4))
for color, (name, nearest) in zip(cluster_colors(2)[::-1], distances.items(), strict=True):
    ax.plot(nearest, ".", color=color, label=f"{name}: {np.sum(nearest < 0)} negative")
ax.axhline(0, color="0.6", linewidth=1)
ax.set(xlabel="flowers, sorted", ylabel="distance from the nearest mean", ylim=(-0.6, 6))
ax.legend()

# %%
# When it fails
# -------------
# The usual ``m=2`` is far too soft for unsquared distances in more than a few features. Distances of four clusters in
# 20 features are all alike, and every sample gets about the same degrees everywhere: the fit warns that it collapsed.
# The labels, the largest of nearly equal degrees, may still be right. ``m='auto'`` takes the number of features into
# account. It does not know it if the dissimilarities are given, and then takes 1.1.

truth = np.repeat(range(4), 60)
many = np.random.default_rng(1).normal(size=(240, 20))
many[:, :2] += 5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[truth]
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharex=True, sharey=True)
for ax, m in zip(axes, (2.0, "auto"), strict=True):
    model = RelationalFCM(4, m=m, random_state=0).fit(many)
    MembershipScatterDisplay.from_memberships(model.memberships_, many[:, :2], ax=ax)
    ax.set_title(f"m = {m!r}: agreement {adjusted_rand_score(truth, model.labels_):.2f}")
axes[0].legend_.remove()
