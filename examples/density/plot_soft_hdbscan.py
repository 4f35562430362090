"""
SoftHDBSCAN: clusters of different densities
============================================

HDBSCAN looks at the density clusters of all radii at once, and keeps those that last. Soft HDBSCAN adds memberships,
from the distances at which a sample is connected to each cluster, and a noise mass. Take it for clusters of any shape
and density among noise, if nobody knows how many there are.
"""

# %%
# No single radius
# ----------------
# Two dense moons, a sparse round cluster, and samples scattered over the whole plane (crosses: noise). A method with
# one radius either loses the sparse cluster or joins the moons. In the hierarchy each cluster has the radius at which
# it splits off: small for the moons, large for the other. The colours on the right fade to grey as the noise mass
# grows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons

from soft_clustering import FCM, SoftDBSCANGM, SoftHDBSCAN
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(0)
moons, _ = make_moons(300, noise=0.05, random_state=0)
sparse = rng.normal([5.0, 0.5], 0.9, size=(120, 2))
X = np.vstack([moons, sparse, rng.uniform([-2.5, -3], [8, 4], size=(40, 2))])

soft = SoftHDBSCAN(min_cluster_size=20).fit(X)
one_radius = SoftDBSCANGM().fit(X)


def draw_labels(labels, X, ax):
    """Draw clusters as dots and noise as crosses."""
    noise = labels == -1
    ax.scatter(*X[~noise].T, color=cluster_colors(labels.max() + 1)[labels[~noise]], s=14)
    ax.scatter(*X[noise].T, color="0.3", marker="x", s=20, linewidths=0.9)


figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), sharex=True, sharey=True)
draw_labels(one_radius.dbscan_labels_, X, axes[0])
axes[0].set_title(f"DBSCAN at one radius: {one_radius.n_clusters_} clusters")
draw_labels(soft.labels_, X, axes[1])
axes[1].set_title(f"SoftHDBSCAN: {soft.n_clusters_} clusters, {np.sum(soft.labels_ == -1)} noise samples")
MembershipScatterDisplay.from_estimator(soft, X, ax=axes[2])
axes[2].set_title("its memberships")

# %%
# Where the memberships come from
# -------------------------------
# Walk from the left moon through the right one to the sparse cluster. At each place, the entry level of a cluster is
# the distance at which a sample there would be connected to it (left). A sample belongs to a cluster where its entry
# is below the birth level of the cluster (dashed), the distance at which the cluster split off. The memberships compare
# these levels (right): within a cluster they are nearly 0 or 1, far from all clusters most of the mass is noise
# (black). The levels are continuous; the noise mass jumps where a cluster of another birth becomes the nearest one.
# For the training samples the rule gives back what ``fit`` found, bit by bit.

walk = np.column_stack([np.linspace(-1.5, 8, 600), np.full(600, 0.35)])
U, noise = soft.predict_memberships(walk), soft.predict_noise_mass(walk)
shares = (U / noise[:, None]) ** -0.25  # the entry level in units of the birth level of the nearest cluster
births = soft.birth_levels_[U.argmax(axis=1)]

figure, axes = plt.subplots(1, 2, figsize=(13, 3.6))
for k, color in enumerate(cluster_colors(soft.n_clusters_)):
    axes[0].semilogy(walk[:, 0], shares[:, k] * births, color=color, label=f"entry into cluster {k}")
    axes[1].plot(walk[:, 0], U[:, k], color=color)
axes[0].semilogy(walk[:, 0], births, color="black", linestyle="--", linewidth=1, label="birth of the nearest cluster")
axes[1].plot(walk[:, 0], noise, color="black")
axes[0].set(xlabel="first feature (second: 0.35)", ylabel="level", title="Levels along a line")
axes[1].set(xlabel="first feature (second: 0.35)", ylabel="membership", title="Memberships along the line")
axes[0].legend(fontsize="small")
print("prediction returns the fit:", np.array_equal(soft.predict_memberships(X), soft.memberships_))

# %%
# The size of a cluster decides
# -----------------------------
# ``min_cluster_size`` is the parameter to think about: what is smaller is no cluster. Small values find crumbs, large
# ones lose what is small. ``cluster_selection_method="leaf"`` takes the ends of all branches instead of the clusters
# that last longest.

figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), sharex=True, sharey=True)
for ax, parameters in zip(
    axes,
    (
        {"min_cluster_size": 3, "min_samples": 3},
        {"min_cluster_size": 140},
        {"min_cluster_size": 20, "cluster_selection_method": "leaf"},
    ),
    strict=True,
):
    model = SoftHDBSCAN(**parameters).fit(X)
    draw_labels(model.labels_, X, ax)
    ax.set_title(", ".join(f"{value}" if value == "leaf" else f"{name} {value}" for name, value in parameters.items()))
    ax.set_xlabel(f"{model.n_clusters_} clusters, {np.mean(model.labels_ == -1):.0%} noise")

# %%
# When it fails
# -------------
# Clusters that overlap have hardly a gap of low density between them: of four Gaussian clusters the hierarchy finds
# their dense middles, one of them in two pieces, and calls the rest noise. If the number of clusters is known, fuzzy
# c-means divides them; its noise clustering (``noise_distance="auto"``) also tells outliers. In many features, where no
# region is dense, the same happens to clusters that are far apart.

overlapping, y = make_blobs(600, centers=[[0, 0], [3, 0], [0, 3], [3, 3]], cluster_std=1.0, random_state=0)
dense = SoftHDBSCAN(min_cluster_size=20).fit(overlapping)
fcm = FCM(4, random_state=0).fit(overlapping)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), sharex=True, sharey=True)
axes[0].scatter(*overlapping.T, color=cluster_colors(4)[y], s=14)
axes[0].set_title("Four clusters that overlap")
draw_labels(dense.labels_, overlapping, axes[1])
axes[1].set_title(f"SoftHDBSCAN: {dense.n_clusters_} clusters, {np.mean(dense.labels_ == -1):.0%} noise")
MembershipScatterDisplay.from_estimator(fcm, overlapping, ax=axes[2])
axes[2].set_title("FCM, told K = 4")
