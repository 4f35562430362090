"""
SMCLA: similar clusters of many partitions are merged
=====================================================

SMCLA groups the clusters of the given partitions into meta-clusters; an object belongs to a meta-cluster as much as to
its clusters on average. Take it for a soft consensus of partitions with about as many clusters as the answer has, also
if a partition knows only some of the objects.
"""

# %%
# Twelve models, each with a part of the data
# -------------------------------------------
# There are 500 samples of six features in four clusters that overlap. Each of twelve models has seen only 300 of the
# samples, and three of the features: as if twelve teams had worked on different extracts. In a partition a row of
# zeros says that the sample was not seen. The consensus covers all samples, and does better on them than most of the
# models do on their own. Where it is wrong it is mostly in doubt: the circles are around pale dots.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from soft_clustering import FCM, GMM, SCSPA, SMCLA
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

X, y = make_blobs(500, n_features=6, centers=4, cluster_std=3.2, random_state=1)
rng = np.random.default_rng(0)
partitions, scores = [], []
for b in range(12):
    rows, columns = rng.permutation(500)[:300], rng.permutation(6)[:3]
    model = (FCM(4, m=1.5, random_state=b) if b % 2 else GMM(4, random_state=b)).fit(X[np.ix_(rows, columns)])
    partition = np.zeros((500, 4))
    partition[rows] = model.memberships_
    partitions.append(partition)
    scores.append(adjusted_rand_score(y[rows], model.labels_))
consensus = SMCLA(4, random_state=0).fit(partitions)
majority = confusion_matrix(y, consensus.labels_).argmax(axis=0)
wrong = majority[consensus.labels_] != y

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=[1, 1.2])
axes[0].bar(range(1, 13), scores, color="0.7", label="a model on its own samples")
axes[0].axhline(adjusted_rand_score(y, consensus.labels_), color="black", label="SMCLA on all samples")
axes[0].set(title="the consensus against its members", xlabel="model", ylabel="adjusted Rand index", ylim=(0, 1.25))
axes[0].legend(loc="upper left")
display = MembershipScatterDisplay.from_memberships(consensus.consensus_memberships_, X, ax=axes[1])
axes[1].scatter(*display.points[wrong].T, facecolors="none", edgecolors="black", s=60)
certain = [consensus.consensus_memberships_[part].max(axis=1).mean() for part in (~wrong, wrong)]
axes[1].set_title(f"mean largest membership: {certain[0]:.2f}, of wrong samples (circles) {certain[1]:.2f}")

# %%
# Meta-clusters
# -------------
# The graph that SMCLA cuts has a node for each of the 48 clusters of the members. Sorted by meta-cluster, their
# overlaps have four blocks. ``cluster_labels_`` says which cluster is in which: it translates the numbers that the
# members give to their clusters.

U = np.hstack(partitions)
order = np.argsort(consensus.cluster_labels_, kind="stable")
shared = U.T @ U
shared /= np.sqrt(np.outer(shared.diagonal(), shared.diagonal()))
figure, ax = plt.subplots(figsize=(5.6, 4.8))
image = ax.imshow(shared[np.ix_(order, order)], cmap="Greys", vmin=0, vmax=1)
figure.colorbar(image, ax=ax)
sizes = np.bincount(consensus.cluster_labels_)
for end, size, color in zip(np.cumsum(sizes), sizes, cluster_colors(4), strict=True):
    ax.add_patch(plt.Rectangle((end - size - 0.5,) * 2, size, size, fill=False, edgecolor=color, linewidth=3))
ax.set(title="overlap (cosine) of the 48 clusters, by meta-cluster", xticks=[], yticks=[])

# %%
# When it fails
# -------------
# Merging needs clusters that resemble each other. Twenty members that cover two rings with 12 to 31 small pieces each
# have few such clusters, and SMCLA puts the pieces together anyhow. :class:`~soft_clustering.SCSPA` looks at the
# objects that pieces share and follows the rings round.

rings, truth = make_circles(600, factor=0.5, noise=0.05, random_state=0)
members = [FCM(12 + seed, m=1.2, n_init=1, random_state=seed).fit(rings).memberships_ for seed in range(20)]
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), sharex=True, sharey=True)
for ax, model in zip(axes, (SMCLA(2, random_state=0), SCSPA(2, random_state=0)), strict=True):
    model.fit(members)
    display = MembershipScatterDisplay.from_memberships(model.consensus_memberships_, rings, ax=ax)
    ax.set_title(f"{type(model).__name__}: adjusted Rand index {adjusted_rand_score(truth, model.labels_):.2f}")
    if ax is axes[0]:
        display.legend_.remove()
