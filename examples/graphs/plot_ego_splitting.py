"""
EgoSplitting: a persona for every circle of friends
===================================================

A person's friends from work know each other, and so do those from the choir, but colleagues and singers do not.
Ego-splitting looks at the neighbours of each node, splits the node into a persona for each group among them, and
divides the graph of personas, in which communities no longer overlap. Take it for friends and other networks full of
triangles, when communities overlap and their number is not known.
"""

# %%
# A partition cuts what personas keep
# -----------------------------------
# Six circles of twelve people in a ring: each shares three people with the next one. A partition, here of the largest
# modularity, has to put these people on one side. Ego-splitting finds both circles of them (ringed).

import matplotlib.pyplot as plt
import networkx
import numpy as np
from scipy.optimize import linear_sum_assignment

from soft_clustering import SLPA, BayesianNMF, EgoSplitting
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay

rng = np.random.default_rng(0)
cover = np.zeros((54, 6), dtype=bool)
for k in range(6):
    cover[(9 * k + np.arange(12)) % 54, k] = True
linked = np.triu((cover.astype(int) @ cover.T > 0) & (rng.uniform(size=(54, 54)) < 0.8), 1)
A = (linked | linked.T).astype(float)
both = cover.sum(axis=1) > 1

sides = networkx.community.louvain_communities(networkx.from_numpy_array(A), seed=0)
partition = np.array([[u in side for side in sides] for u in range(54)])
model = EgoSplitting(random_state=0).fit(A)

angle = 2 * np.pi * np.arange(54) / 54
positions = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(0.75, 1.15, (54, 1))
figure, axes = plt.subplots(1, 2, figsize=(12, 5.4))
for ax, found in zip(axes, (partition, model.memberships_), strict=True):
    order = linear_sum_assignment(-cover.T.astype(float) @ found)[1]
    GraphDisplay.from_memberships(found[:, order] * 1.0, A, positions=positions, ax=ax).legend_.remove()
    ax.scatter(*positions[both].T, s=150, facecolors="none", edgecolors="black", linewidths=1.0, zorder=5)
    ax.set_aspect("equal")
axes[0].set_title(f"Louvain: {len(sides)} groups, NMI {overlapping_nmi(cover, partition):.2f}")
axes[1].set_title(f"EgoSplitting: {model.n_clusters_} groups, NMI {overlapping_nmi(cover, model.get_cover()):.2f}")

# %%
# The personas
# ------------
# ``persona_nodes_`` says whose personas there are, ``persona_labels_`` to which community each belongs. A membership is
# the share of a node's links that lead to persons of that community. On a larger graph, 1000 nodes of which 300 are in
# two communities, most nodes of two communities have two large personas. The many small ones come from links by
# chance, each of which leads to somebody whom no other friend knows; ``min_share`` leaves them out.

graph = make_overlapping_graph(1000, 20, overlap=0.3, degree=14.0, background_degree=1.0, random_state=0)
planted = graph.cover.sum(axis=1)
figure, axes = plt.subplots(1, 2, figsize=(11, 4))
model = EgoSplitting(random_state=0).fit(graph.adjacency)
counts = np.bincount(model.persona_nodes_, minlength=1000)
large = model.get_cover().sum(axis=1)
for ax, number, title in zip(axes, (counts, large), ("all personas", "communities of at least min_share"), strict=True):
    for k, name in ((1, "in one community"), (2, "in two")):
        shares = np.bincount(number[planted == k], minlength=counts.max() + 1) / (planted == k).sum()
        ax.bar(np.arange(len(shares)) + (k - 1.5) * 0.4, shares, 0.4, label=f"nodes {name}")
    ax.set(xlabel=title, ylabel="share of the nodes", xlim=(0, 12 if number is counts else 5))
axes[0].legend()
axes[0].set_title(f"{model.n_personas_} personas of 1000 nodes")
axes[1].set_title(f"NMI with the planted communities: {overlapping_nmi(graph.cover, model.get_cover()):.2f}")

# %%
# When it fails
# -------------
# It reads triangles. Where links are sparse, friends of a node hardly know each other, and it falls apart into personas
# of single links; then methods that look at whole communities, such as :class:`~soft_clustering.BayesianNMF` or
# :class:`~soft_clustering.SLPA`, find more. The fewer links inside communities, the fewer triangles:

degrees = [5, 6, 8, 10, 14, 18]
estimators = {"EgoSplitting": EgoSplitting, "SLPA": SLPA, "BayesianNMF": BayesianNMF}
scores = {name: [] for name in estimators}
for degree in degrees:
    graph = make_overlapping_graph(400, 10, overlap=0.1, degree=degree, background_degree=0.5, random_state=1)
    for name, estimator in estimators.items():
        found = estimator(random_state=0).fit(graph.adjacency).get_cover()
        scores[name].append(overlapping_nmi(graph.cover, found))
figure, ax = plt.subplots(figsize=(6, 4))
for name, values in scores.items():
    ax.plot(degrees, values, "o-", label=name)
ax.set(xlabel="links of a node inside a community", ylabel="overlapping NMI", ylim=(0, 1))
ax.legend()
