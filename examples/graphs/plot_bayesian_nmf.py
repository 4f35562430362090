"""
BayesianNMF: how many communities there are
===========================================

Bayesian non-negative matrix factorisation begins with many more communities than needed and shrinks those that the
links do not ask for to nothing. Its communities overlap, and weights of the links count. Take it when the number of
communities is unknown.
"""

# %%
# Four communities, and nobody said so
# ------------------------------------
# The graph has four planted communities that overlap. BIGCLAM needs their number; told eight, it fills eight and
# splits true communities. Bayesian NMF without ``n_clusters`` begins with half as many communities as there are nodes
# and ends with the right ones.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy.optimize import linear_sum_assignment

from soft_clustering import BIGCLAM, BayesianNMF
from soft_clustering.datasets import load_graph, make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

graph = make_overlapping_graph(120, 4, overlap=0.2, degree=9.0, background_degree=0.5, random_state=1)
A = graph.adjacency
guessed = BIGCLAM(n_clusters=8, n_init=10, random_state=0).fit(A)
found = BayesianNMF(random_state=0).fit(A)


def draw(model, graph, reference, ax, **options):
    """The memberships of the cover, in the colours of the communities of another cover that share most nodes."""
    cover = model.get_cover()
    order = linear_sum_assignment(-(reference.T.astype(float) @ cover))[1]
    order = np.append(order, np.setdiff1d(np.arange(cover.shape[1]), order))
    shown = (model.memberships_ * cover)[:, order]
    GraphDisplay.from_memberships(shown, graph, ax=ax, **options).legend_.remove()
    return cover


positions = graph_layout(A)
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
for ax, model, told in zip(axes, (guessed, found), ("eight", "nothing"), strict=True):
    cover = draw(model, A, graph.cover, ax, positions=positions)
    score = overlapping_nmi(cover, graph.cover)
    ax.set_title(f"{type(model).__name__}, told {told}: {model.n_clusters_} communities, NMI {score:.2f}")

# %%
# How the others disappear
# ------------------------
# Each community has a precision: how strongly its strengths are held near 0. A community that explains few links gets
# a larger precision, which makes it weaker still, until it is empty. With ``n_clusters=20`` the columns of the empty
# ones are kept, and one can see both: the communities that remain have large strengths and small precisions, the
# others the reverse.

wide = BayesianNMF(n_clusters=20, self_loops="unit", random_state=0).fit(A)
strength = wide.memberships_.sum(axis=0)
order = np.argsort(-strength)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4))
axes[0].bar(range(20), strength[order], color="0.5")
axes[0].set(xlabel="community", xticks=[], ylabel="sum of strengths")
axes[0].set_title(f"{(strength > 0.01 * strength.max()).sum()} of 20 communities remain")
axes[1].bar(range(20), wide.precisions_[order], color="0.5")
axes[1].set(xlabel="community", xticks=[], ylabel="precision", title="The others are held at 0")

# %%
# The karate club
# ---------------
# A club of 34 members split after a quarrel. The links alone suggest four groups, which refine the two sides. With
# ``n_clusters=2`` the model is asked for two sides; a pie chart of two colours marks members with friends in both.

club = load_graph("karate")
positions = graph_layout(club.adjacency)
figure, axes = plt.subplots(1, 2, figsize=(12, 4.6))
for ax, n_clusters in zip(axes, (None, 2), strict=True):
    model = BayesianNMF(n_clusters, random_state=0).fit(club.adjacency)
    cover = draw(model, club.adjacency, club.cover, ax, positions=positions, node_names=club.node_names)
    in_two = (cover.sum(axis=1) > 1).sum()
    ax.set_title(f"n_clusters={n_clusters}: {model.n_clusters_} groups, {in_two} members in more than one")

# %%
# When it fails
# -------------
# The number is only as good as the links. In *Les Misérables* two characters are linked if they appear in the same
# chapter, with the number of such chapters as weight. Many characters are linked to one or two others, and for these
# the model keeps communities of their own. Here it helps to give a number: with seven communities the students around
# Enjolras, the thieves around Thénardier and the household of bishop Myriel stay together. If a partition is enough,
# :class:`~soft_clustering.DMoN` and :class:`~soft_clustering.CDCGS` use weights, too.

novel = nx.les_miserables_graph()
known = ("Valjean", "Marius", "Enjolras", "Thenardier", "Myriel", "Fantine")
names = [name if name in known else "" for name in novel]
positions = graph_layout(novel)
given = BayesianNMF(7, random_state=0).fit(novel)
found = BayesianNMF(random_state=0).fit(novel)
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
for ax, model in zip(axes, (found, given), strict=True):
    cover = draw(model, novel, given.get_cover(), ax, positions=positions, node_names=names)
    small = (cover.sum(axis=0) <= 3).sum()
    ax.set_title(f"n_clusters={model.n_clusters}: {small} of {model.n_clusters_} communities have at most 3 members")
