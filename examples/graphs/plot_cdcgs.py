"""
CDCGS: communities that keep their links
========================================

Community detection by Gumbel softmax asks of each community that its links stay inside, whatever its size. Modularity,
the usual measure, compares with a random graph instead, and merges small communities of a large graph. Take CDCGS for
separate communities of a known number, small ones included, with weights if you have them. It needs the extra
``deep``.
"""

# %%
# Small communities of a large graph
# ----------------------------------
# Sixteen groups of four friends stand in a ring, and neighbouring groups are joined by one link. Nobody would merge two
# groups, but modularity rises if one does: in a graph of this size, a single link between two small groups is more than
# chance would give. The Louvain method, which maximises modularity, merges neighbours. The loss of CDCGS looks at the
# share of a community's links that stay inside, and finds all groups.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy.optimize import linear_sum_assignment

from soft_clustering import CDCGS, BayesianNMF
from soft_clustering.datasets import load_graph, make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

ring = nx.ring_of_cliques(16, 4)
louvain = nx.community.louvain_communities(ring, seed=0)
merged = np.array([[node in community for community in louvain] for node in ring], dtype=float)
cdcgs = CDCGS(n_clusters=16, random_state=0).fit(ring)

group, place = np.divmod(np.arange(64), 4)
points = np.exp(2j * np.pi * group / 16) + 0.1 * np.exp(2j * np.pi * (place / 4 + group / 16))  # a ring of squares
positions = np.column_stack([points.real, points.imag])
figure, axes = plt.subplots(1, 2, figsize=(11, 5))
hard = np.eye(16)[cdcgs.labels_]
order = linear_sum_assignment(-merged.T @ hard)[1]  # the same colours
order = np.append(order, np.setdiff1d(np.arange(16), order))
for ax, name, memberships in zip(axes, ("Louvain", "CDCGS"), (merged, cdcgs.memberships_[:, order]), strict=True):
    GraphDisplay.from_memberships(memberships, ring, positions=positions, ax=ax).legend_.remove()
    labels = memberships.argmax(axis=1)
    communities = [set(np.flatnonzero(labels == k)) for k in np.unique(labels)]
    modularity = nx.community.modularity(ring, communities)
    ax.set_title(f"{name}: {len(communities)} communities, modularity {modularity:.3f}")

# %%
# The karate club, and members who join later
# -------------------------------------------
# A club of 34 members split in two. CDCGS is fitted to 28 of them; the other six are placed afterwards: their
# memberships are the means over their friends in the fit. The 28 have memberships near 0 or 1, as always with this
# method; late members with friends on both sides are mixed.
#
# ``interaction_matrix_`` is what the loss looks at. Its columns, divided by their sums, say where the links of a
# community lead; the loss drives this matrix towards the identity.

club = load_graph("karate")
A = club.adjacency
late = np.array([2, 8, 9, 13, 19, 28])
early = np.setdiff1d(np.arange(34), late)
model = CDCGS(n_clusters=2, random_state=0).fit(A[early][:, early])
memberships = np.empty((34, 2))
memberships[early] = model.memberships_
memberships[late] = model.predict_memberships(A[late][:, early])

positions = graph_layout(A)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), width_ratios=[1, 0.5])
GraphDisplay.from_memberships(
    memberships, A, positions=positions, node_names=club.node_names, ax=axes[0]
).legend_.remove()
axes[0].scatter(*positions[late].T, s=420, facecolors="none", edgecolors="black", linewidths=1.3, zorder=5)
wrong = min((memberships.argmax(axis=1) != club.labels).sum(), (memberships.argmax(axis=1) == club.labels).sum())
axes[0].set_title(f"Six members placed later (ringed); {wrong} of 34 on the wrong side")
shares = model.interaction_matrix_ / model.interaction_matrix_.sum(axis=0)
axes[1].imshow(shares, cmap="Greys", vmin=0, vmax=1.6)
for (i, j), share in np.ndenumerate(shares):
    axes[1].text(j, i, f"{share:.2f}", ha="center", va="center")
axes[1].set(xticks=[0, 1], yticks=[0, 1], xlabel="links of community", ylabel="share that leads to community")
axes[1].set_title("Most links stay inside")

# %%
# When it fails
# -------------
# The loss is smallest when each node is in one community, so overlaps are lost. Here a third of the nodes are members
# of two of three communities. Most memberships of CDCGS are near 0 or 1 all the same.
# :class:`~soft_clustering.BayesianNMF` gives a node strengths in two communities.

graph = make_overlapping_graph(90, 3, overlap=0.33, degree=11.0, background_degree=0.4, random_state=1)
in_two = graph.cover.sum(axis=1) == 2
positions = graph_layout(graph.adjacency)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
for ax, model in zip(axes, (CDCGS(3, random_state=0), BayesianNMF(3, random_state=0)), strict=True):
    cover = model.fit(graph.adjacency).get_cover()
    order = linear_sum_assignment(-(graph.cover.T.astype(float) @ cover))[1]
    GraphDisplay.from_memberships(
        (model.memberships_ * cover)[:, order], graph.adjacency, positions=positions, ax=ax
    ).legend_.remove()
    ax.scatter(*positions[in_two].T, s=230, facecolors="none", edgecolors="black", linewidths=1.3, zorder=5)
    both = (cover[in_two].sum(axis=1) == 2).sum()
    score = overlapping_nmi(cover, graph.cover)
    ax.set_title(f"{type(model).__name__}: {both} of {in_two.sum()} overlaps found, NMI {score:.2f}")
