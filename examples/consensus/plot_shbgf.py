"""
SHBGF: which objects, and which clusters of the partitions, belong together
===========================================================================

SHBGF draws a graph of the objects and of all clusters of the given partitions, joined by the memberships, and cuts
both at once. Take it for a consensus of many partitions if you also want to know which of their clusters are the same
group under different names.
"""

# %%
# Twelve partitions of 178 wines
# ------------------------------
# Fuzzy c-means, a Gaussian mixture and k-means each cluster the chemical analyses of wines with 3, 4, 5 and 6
# clusters. Without the truth one does not know which of the twelve to trust, and whether it is a new group or half of
# another that a fourth cluster holds. The consensus is as good as the best of its members. The agreement with the three
# cultivars is measured by the adjusted Rand index.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from soft_clustering import FCM, GMM, SCSPA, SHBGF
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

X, y = load_wine(return_X_y=True)
X = scale(X)
models = {}
for K in (3, 4, 5, 6):
    models[f"FCM, {K}"] = FCM(K, n_init=1, random_state=K).fit(X)
    models[f"GMM, {K}"] = GMM(K, covariance_type="diag", init="random", random_state=K).fit(X)
    models[f"k-means, {K}"] = KMeans(K, n_init=1, random_state=K).fit(X)
partitions = [getattr(model, "memberships_", model.labels_) for model in models.values()]  # k-means has labels only
consensus = SHBGF(3, random_state=0).fit(partitions)

scores = {name: adjusted_rand_score(y, model.labels_) for name, model in models.items()}
figure, ax = plt.subplots(figsize=(8, 3.6))
ax.bar(list(scores), list(scores.values()), color="0.7")
ax.axhline(np.mean(list(scores.values())), color="0.4", linestyle="--", label="mean of the twelve")
ax.axhline(adjusted_rand_score(y, consensus.labels_), color="black", label="SHBGF, 3 clusters")
ax.set(title="the consensus against its members", ylabel="adjusted Rand index", ylim=(0, 1.2))
ax.tick_params(axis="x", rotation=45)
ax.legend(ncols=2, loc="upper left")

# %%
# The cut, of wines and of clusters
# ---------------------------------
# Every row is a wine, every column a cluster of one of the twelve models, and the shade is the membership; the colour
# is the part that the column was cut into. Sorted by part, the matrix has three blocks: the clusters of a block are
# the same group of wines, whole or split. ``cluster_labels_`` says which they are: two clusters of a model with the
# same number are halves of one group.

U = np.hstack([part if part.ndim == 2 else np.eye(part.max() + 1)[part] for part in partitions])
rows = np.argsort(consensus.labels_, kind="stable")
columns = np.lexsort([-U.sum(axis=0), consensus.cluster_labels_])  # by part, large clusters first
picture = np.empty((*U.shape, 4))
picture[..., :3] = cluster_colors(3)[consensus.cluster_labels_]
picture[..., 3] = U
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), width_ratios=[1.2, 1])
axes[0].imshow(picture[np.ix_(rows, columns)], aspect="auto", interpolation="nearest")
axes[0].set(title=f"{len(U)} wines and {U.shape[1]} clusters, by the parts of the cut", xticks=[], yticks=[])
axes[0].set(xlabel="clusters of the twelve models", ylabel="wines")
MembershipScatterDisplay.from_memberships(consensus.consensus_memberships_, X, ax=axes[1])
axes[1].set_title("soft consensus: the mean of each block")

ends = np.cumsum([model.n_clusters for model in models.values()])
for name, parts in zip(models, np.split(consensus.cluster_labels_, ends), strict=False):
    print(f"{name + ':':12} its clusters are in the parts", *parts)

# %%
# When it fails
# -------------
# The clusters of the partitions pull the objects with them, also those that reach across a border. Noisy moons, covered
# by k-means partitions with 12 to 31 clusters, are cut across. :class:`~soft_clustering.SCSPA`, whose graph holds the
# objects only, withstands more noise; if it grows further, both fail.

moons, truth = make_moons(600, noise=0.15, random_state=0)
members = [KMeans(12 + seed, n_init=1, random_state=seed).fit(moons).labels_ for seed in range(20)]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharex=True, sharey=True)
for ax, model in zip(axes, (SHBGF(2, random_state=0), SCSPA(2, random_state=0)), strict=True):
    model.fit(members)
    means = [moons[model.labels_ == k, 1].mean() for k in range(2)]
    memberships = model.consensus_memberships_[:, np.argsort(means)[::-1]]  # the upper moon first
    display = MembershipScatterDisplay.from_memberships(memberships, moons, ax=ax)
    ax.set_title(f"{type(model).__name__}: adjusted Rand index {adjusted_rand_score(truth, model.labels_):.2f}")
    if ax is axes[0]:
        display.legend_.remove()
