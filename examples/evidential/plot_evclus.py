"""
EVCLUS: clusters of objects that are only compared
==================================================

Some objects have no features: strings, trees, or shapes, for which one can only say how dissimilar two of them are.
EVCLUS needs nothing else. It gives each object masses on the clusters, on the set of all clusters (doubt), and on the
empty set (outliers), so that dissimilar objects are in conflict.
"""

# %%
# Families of strings
# -------------------
# Three families of 30 strings descend from three ancestors. Twelve more strings are half of the first family and half
# of the second, and twelve are random letters. All that the methods see is the matrix on the left: how many letters of
# two strings differ. Hierarchical clustering (average linkage) has to put each string into one cluster: it joins two
# families through their mixed strings and spends a cluster on a random string. EVCLUS finds the three families, divides
# the mixed strings between two of them, and gives the random ones to none: most of their mass is on the empty set.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import shortest_path
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.neighbors import kneighbors_graph

from soft_clustering import EVCLUS
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(0)
length = 60
ancestors = rng.integers(4, size=(3, length))
originals = np.vstack(
    [
        np.repeat(ancestors, 30, axis=0),
        np.tile(np.where(np.arange(length) < length / 2, ancestors[0], ancestors[1]), (12, 1)),
        rng.integers(4, size=(12, length)),
    ]
)
mutated = rng.random(originals.shape) < 0.15
strings = np.where(mutated, rng.integers(4, size=originals.shape), originals)
D = (strings[:, None] != strings).sum(axis=2).astype(float)

evclus = EVCLUS(3, metric="precomputed", random_state=0).fit(D)
tree = AgglomerativeClustering(3, metric="precomputed", linkage="average").fit(D)

order = evclus.labels_[[0, 30, 60]]  # the clusters of the families, in their order
masses = evclus.belief_[:, order]
_, same = linear_sum_assignment(masses.T @ np.eye(3)[tree.labels_], maximize=True)  # the same colours
kinds = {f"cluster {k}": (masses[:, k], cluster_colors(3)[k]) for k in range(3)}
kinds |= {"all clusters": (evclus.ignorance_, "0.8"), "empty set": (evclus.outlier_mass_, "black")}

figure, axes = plt.subplot_mosaic("DT;DE", figsize=(11.5, 4.6), width_ratios=[1, 1.7])
image = axes["D"].imshow(D, cmap="Greys")
figure.colorbar(image, ax=axes["D"], shrink=0.7, label="letters that differ")
axes["D"].set(xlabel="string", ylabel="string", title="What the methods see")
axes["T"].bar(np.arange(len(D)), 1, width=1, color=cluster_colors(3)[np.argsort(same)[tree.labels_]])
axes["T"].set_title("Hierarchical clustering joins two families")
bottom = np.zeros(len(D))
for name, (mass, color) in kinds.items():
    axes["E"].bar(np.arange(len(D)), mass, bottom=bottom, width=1, color=color, label=name)
    bottom += mass
axes["E"].set_ylabel("mass")
axes["T"].set_yticks([])
axes["E"].legend(title="mass on", loc="upper left", bbox_to_anchor=(1, 1.1))
axes["E"].set_title("EVCLUS: mixed strings are shared, random ones are outliers")
for ax in (axes["T"], axes["E"]):
    ax.set(xlim=(-0.5, len(D) - 0.5), ylim=(0, 1))
    ax.set_xticks([14.5, 44.5, 74.5, 95.5, 107.5], ["family 0", "family 1", "family 2", "mixed", "random"])
    ax.tick_params(axis="x", length=0, labelsize="small")
    for edge in (30, 60, 90, 102):
        ax.axvline(edge - 0.5, color="white", linewidth=2)

# %%
# What it fits
# ------------
# Two objects are in conflict to the degree to which their masses lie on sets without a common cluster. EVCLUS turns
# each dissimilarity into a wanted degree of conflict (black curve) and looks for masses with these conflicts. Each dot
# is a pair of strings. The stress, 0 for a perfect fit, is the attribute ``objective_``.
#
# On the left the orange dots lie far from the curve. They are pairs of mixed strings, which are alike; but sharing
# their masses between the clusters 0 and 1 puts them in conflict with each other. Such a group of dots says that a
# cluster is missing: with four clusters, on the right, most of the mass of the mixed strings is on one of their own.

four = EVCLUS(4, metric="precomputed", random_state=0).fit(D)
first, second = np.triu_indices(len(D), 1)
mixed = (first >= 90) & (second < 102)
letters = np.linspace(0, D.max(), 200)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharex=True, sharey=True)
for ax, model in zip(axes, (evclus, four), strict=True):
    disjoint = ~(model.focal_sets_[:, None] & model.focal_sets_).any(axis=2)
    conflict = (model.masses_ @ disjoint @ model.masses_.T)[first, second]
    ax.scatter(D[first, second][~mixed], conflict[~mixed], s=4, color="0.7")
    ax.scatter(D[first, second][mixed], conflict[mixed], s=8, color=cluster_colors(2)[1], label="two mixed strings")
    far, near = model.d0_**2, model.near_**2
    ax.plot(letters, 1 - 0.05 ** (np.maximum(letters**2 - near, 0) / (far - near)), color="black", label="wanted")
    ax.set_xlabel("letters that differ")
    ax.set_title(f"{model.n_clusters} clusters: stress {model.objective_:.4f}")
axes[0].set_ylabel("degree of conflict of a pair")
axes[1].legend(loc="lower right")

# %%
# The dissimilarity decides
# -------------------------
# The clusters are only as good as the dissimilarity. By straight distances the tips of the two moons are near each
# other, and EVCLUS cuts both moons. Lengths of paths from neighbour to neighbour are small within a moon, however
# curved it is. The same method with these dissimilarities finds the moons.

moons, _ = make_moons(240, noise=0.06, random_state=0)
graph = kneighbors_graph(moons, 8, mode="distance")
paths = shortest_path(graph, directed=False)
paths[np.isinf(paths)] = 2 * paths[np.isfinite(paths)].max()  # no path: farther apart than all others

straight = EVCLUS(2, random_state=0).fit(moons)
along = EVCLUS(2, metric="precomputed", random_state=0).fit(paths)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharex=True, sharey=True)
MembershipScatterDisplay.from_memberships(straight.memberships_, moons, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_memberships(along.memberships_, moons, ax=axes[1])
axes[0].set_title(f"Straight distances cut the moons: stress {straight.objective_:.3f}")
axes[1].set_title(f"Path lengths follow them: stress {along.objective_:.3f}")

# %%
# When it fails
# -------------
# By default the dissimilarity ``d0`` of nearly full conflict is a quantile of all dissimilarities, chosen for clusters
# of similar size. If one cluster holds most of the objects, most pairs lie within it, and the quantile is a distance
# *within* this cluster: EVCLUS tears it apart and joins the small ones to its pieces. ``quantile=0.9``, which is usual
# in other programs, or ``d0`` itself mends it. With features and clusters of very different size, a
# :class:`~soft_clustering.GMM` is the better choice.

sizes, _ = make_blobs([500, 50, 50], centers=[[0, 0], [7, 0], [0, 7]], random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
for ax, quantile in zip(axes, ("auto", 0.9), strict=True):
    model = EVCLUS(3, quantile=quantile, random_state=0).fit(sizes)
    display = MembershipScatterDisplay.from_memberships(model.memberships_, sizes, ax=ax)
    ax.set_title(f"quantile = {quantile!r}: d0 = {model.d0_:.1f}, stress {model.objective_:.3f}")
    if ax is axes[0]:
        display.legend_.remove()
