"""
SCSPA: objects belong together if the partitions agree on them
==============================================================

A consensus takes many partitions of the same objects, never the data, and makes one partition of them. SCSPA asks of
every two objects how often the partitions put them together, and cuts this graph. Take it if the partitions have many
clusters of different number and size; it can even find shapes that none of its members knows.
"""

# %%
# Moons from small round clusters
# -------------------------------
# Fuzzy c-means with two clusters cuts the two moons. With 12 to 21 clusters it covers them with small round pieces,
# which hardly ever reach from one moon to the other. Twenty such partitions, ten of them memberships of fuzzy c-means
# and ten labels of k-means, have the moons as their consensus. SCSPA sees the partitions only. The numbers in the
# titles are adjusted Rand indices with the two moons.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, SCSPA
from soft_clustering.plotting import MembershipScatterDisplay

X, y = make_moons(600, noise=0.06, random_state=0)
two = FCM(2, m=1.5, random_state=0).fit(X)
fuzzy = [FCM(12 + seed, m=1.2, n_init=1, random_state=seed).fit(X) for seed in range(10)]
crisp = [KMeans(12 + seed, n_init=1, random_state=seed).fit(X) for seed in range(10)]
partitions = [model.memberships_ for model in fuzzy] + [model.labels_ for model in crisp]
consensus = SCSPA(2, random_state=0).fit(partitions)

figure, axes = plt.subplots(1, 3, figsize=(12, 3.3), sharex=True, sharey=True)
panels = {
    f"FCM, 2 clusters: {adjusted_rand_score(y, two.labels_):.2f}": two.memberships_,
    f"one of 20 members: {adjusted_rand_score(y, fuzzy[0].labels_):.2f}": fuzzy[0].memberships_,
    f"SCSPA of the members: {adjusted_rand_score(y, consensus.labels_):.2f}": consensus.consensus_memberships_,
}
for ax, (title, memberships) in zip(axes, panels.items(), strict=True):
    MembershipScatterDisplay.from_memberships(memberships, X, ax=ax).legend_.remove()
    ax.set_title(title)

# %%
# The similarity that is cut
# --------------------------
# With memberships side by side in ``U``, the similarity of two objects is the product of their rows over the number
# of partitions: for labels the share of the partitions that put both into one cluster. Sorted by moon, and from left to
# right within a moon, it has two blocks of overlapping pieces, and next to nothing between them. SCSPA does not form
# this matrix: it gets the cut from a small one, of clusters by clusters.

U = np.hstack([model.memberships_ for model in fuzzy] + [np.eye(model.n_clusters)[model.labels_] for model in crisp])
order = np.lexsort([X[:, 0], y])
figure, ax = plt.subplots(figsize=(5.6, 4.6))
image = ax.imshow((U @ U.T / len(partitions))[np.ix_(order, order)], cmap="Greys", vmin=0, vmax=0.6)
figure.colorbar(image, ax=ax)
ax.set(title="share of the partitions that put two objects together", xticks=[], yticks=[])
for spine in ax.spines.values():
    spine.set_visible(True)

# %%
# How many partitions
# -------------------
# One member with many clusters says little about the moons, and two often leave gaps between their pieces. Each dot
# is a consensus of some members drawn from sixty. A handful is enough for these moons; harder data need more, which
# cost little.

pool = [KMeans(12 + seed % 10, n_init=1, random_state=seed).fit(X).labels_ for seed in range(60)]
counts, rng = [2, 3, 4, 6, 10, 20], np.random.default_rng(0)
figure, ax = plt.subplots(figsize=(7, 3.2))
for place, count in enumerate(counts):
    drawn = [rng.choice(60, count, replace=False) for _ in range(12)]
    found = [SCSPA(2, random_state=0).fit([pool[i] for i in members]).labels_ for members in drawn]
    scores = [adjusted_rand_score(y, labels) for labels in found]
    ax.scatter(place + np.linspace(-0.2, 0.2, 12), scores, color="0.5", s=14)
    ax.plot([place - 0.3, place + 0.3], [np.mean(scores)] * 2, color="black")
ax.set(title="12 draws each, and their mean", xlabel="partitions in the consensus", ylabel="adjusted Rand index")
ax.set_xticks(range(len(counts)), counts)

# %%
# When it fails
# -------------
# A consensus keeps what the members agree on, mistakes included. If all members are fuzzy c-means with two clusters,
# they all cut the moons, and so does their consensus. Members should differ: in the number of clusters, in their
# method, in the features or in the rows. SCSPA does not say which clusters of the members correspond;
# :class:`~soft_clustering.SHBGF` and :class:`~soft_clustering.SMCLA` do.

coarse = [FCM(2, m=1.5, n_init=1, random_state=seed).fit(X).memberships_ for seed in range(20)]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharex=True, sharey=True)
for ax, members, name in zip(axes, (coarse, partitions), ("2 clusters", "12 to 21 clusters"), strict=True):
    model = SCSPA(2, random_state=0).fit(members)
    display = MembershipScatterDisplay.from_memberships(model.consensus_memberships_, X, ax=ax)
    ax.set_title(f"consensus of members with {name}: {adjusted_rand_score(y, model.labels_):.2f}")
    if ax is axes[0]:
        display.legend_.remove()
