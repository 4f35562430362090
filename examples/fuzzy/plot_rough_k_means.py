"""
RoughKMeans: sure members and possible members
==============================================

Rough k-means does not give degrees but two sets for each cluster: the samples that surely belong to it, and those that
possibly do. Take it when the next step is a decision: accept the sure ones, look at the others again.
"""

# %%
# Which samples deserve a second look
# -----------------------------------
# Three clusters overlap. K-means decides for every sample, and where two clusters meet it is often wrong. Rough k-means
# leaves a sample open if the second nearest centre is not much farther than the nearest, by a factor of up to
# ``boundary_threshold``. The grey regions are the places where it does so; the ringed samples lie in them. As the
# clusters are known here, the mistakes can be counted: they are rare among the sure samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from soft_clustering import ECM, RoughKMeans
from soft_clustering.plotting import MembershipScatterDisplay

centers = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.8]])
X, cluster = make_blobs(450, centers=centers, cluster_std=1.5, random_state=0)
plane = np.stack(np.meshgrid(np.linspace(-8, 8, 300), np.linspace(-5, 10, 300)), axis=-1)


def draw_rough(ax, model, X):
    """Draw the memberships, grey where several clusters are possible, and rings around the samples in them."""
    _, possible = model.predict_approximations(plane.reshape(-1, 2))
    several = possible.sum(axis=1).reshape(300, 300) > 1
    ax.contourf(*plane.transpose(2, 0, 1), several, levels=[0.5, 1.5], colors="0.88")
    display = MembershipScatterDisplay.from_estimator(model, X, ax=ax)
    open_ones = ~model.predict_approximations(X)[0].any(axis=1)
    ax.scatter(*X[open_ones].T, s=45, facecolors="none", edgecolors="black", linewidths=0.8)
    return display


kmeans = KMeans(3, init=centers, n_init=1).fit(X)
rough = RoughKMeans(3, boundary_threshold=1.6, init=centers).fit(X)
is_sure = rough.lower_approximation_.any(axis=1)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), sharex=True, sharey=True)
hard = np.eye(3)[kmeans.labels_]
MembershipScatterDisplay.from_memberships(hard, X, centers=kmeans.cluster_centers_, ax=axes[0]).legend_.remove()
draw_rough(axes[1], rough, X)
axes[0].set_title(f"k-means: all are sure, {np.mean(kmeans.labels_ != cluster):.1%} wrong")
axes[1].set_title(
    f"Rough k-means: of {is_sure.sum()} sure ones {np.mean((rough.labels_ != cluster)[is_sure]):.1%} wrong,\n"
    f"of {np.sum(~is_sure)} open ones {np.mean((rough.labels_ != cluster)[~is_sure]):.0%}"
)

# %%
# How wide is the boundary
# ------------------------
# A higher threshold leaves more samples open. By the ratio of the distances the grey regions do not depend on the
# units, and they widen away from the centres; by their difference they have the unit of the features and widen less.
# Start with the default ratio of 1.2, and raise it until few sure samples are wrong where you can check them. In many
# features all distances are similar, and even 1.2 may leave most samples open: take less there.

models = {
    "ratio up to 1.2": RoughKMeans(3, init=centers),
    "ratio up to 2": RoughKMeans(3, boundary_threshold=2, init=centers),
    "difference up to 1": RoughKMeans(3, boundary_rule="difference", boundary_threshold=1, init=centers),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    display = draw_rough(ax, model.fit(X), X)
    ax.set_title(f"{name}: {np.mean(~model.lower_approximation_.any(axis=1)):.0%} open")
    if ax is not axes[2]:
        display.legend_.remove()

# %%
# When it fails
# -------------
# The two sets know doubt between clusters, but not a sample that fits no cluster. Of the six outliers here some are
# sure members and some lie in a boundary, depending only on their direction. Those in a boundary also pull the centres
# of its clusters: a boundary counts 30 %, however few samples it holds (``lower_weight`` is 0.7).
# :class:`~soft_clustering.ECM` has a third answer: it may put the mass of a sample on the empty set (grey: these
# samples belong to no cluster).

outliers = np.array([[-13, 12], [-12, -10], [0, -11], [12, -10], [13, 12], [0, 17]])
clean, _ = make_blobs(300, centers=centers, cluster_std=0.8, random_state=0)
data = np.vstack([clean, outliers])
rough = RoughKMeans(3, init=centers).fit(data)
ecm = ECM(3, init=centers, delta=6.0).fit(data)
memberships = ecm.memberships_ * (ecm.hard_credal_ > 0)[:, None]  # set 0 is the empty one
plane = np.stack(np.meshgrid(np.linspace(-15, 15, 300), np.linspace(-13, 19, 300)), axis=-1)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), sharex=True, sharey=True)
draw_rough(axes[0], rough, data).legend_.remove()
MembershipScatterDisplay.from_memberships(memberships, data, centers=ecm.centers_, ax=axes[1])
axes[0].set_title(f"Rough k-means: {rough.lower_approximation_[-6:].any(axis=1).sum()} of 6 outliers are sure members")
axes[0].set(xlim=(-15, 15), ylim=(-13, 19))
axes[1].set_title(f"ECM: {np.sum(ecm.hard_credal_[-6:] == 0)} of 6 outliers in no cluster")
