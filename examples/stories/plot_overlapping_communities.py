"""
Overlapping communities
=======================

Most programs for community detection return a partition: each node is in one community. People are not like that, nor
are proteins or words. This story compares a partition with covers, in which a node may be in several communities: on
a real graph, to see who sits between the groups, and on graphs with planted communities, to measure who is right.
"""

# %%
# A club before its split
# -----------------------
# Zachary's karate club has 34 members; a link is a friendship outside the club. After a quarrel between the instructor
# (member 1) and the president (member 34) the club split in two. The Louvain method, the best-known one, maximises
# modularity and returns a partition.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from soft_clustering import BIGCLAM, MMSB, BayesianNMF
from soft_clustering.datasets import load_graph, make_overlapping_graph
from soft_clustering.metrics import omega_index, overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

club = load_graph("karate")


def louvain_cover(A):
    """The communities of the Louvain method, as a table of nodes and communities."""
    communities = nx.community.louvain_communities(nx.from_scipy_sparse_array(A), seed=0)
    cover = np.zeros((A.shape[0], len(communities)), dtype=bool)
    for k, community in enumerate(communities):
        cover[list(community), k] = True
    return cover


partition = louvain_cover(club.adjacency)
print(f"Louvain finds {partition.shape[1]} communities of {', '.join(map(str, partition.sum(axis=0)))} members.")

# %%
# Three covers of the same graph
# ------------------------------
# :class:`~soft_clustering.BayesianNMF` finds the number of communities itself and agrees with Louvain.
# :class:`~soft_clustering.BIGCLAM` and :class:`~soft_clustering.MMSB` are given this number. Pie charts show the
# communities that count for a member according to ``get_cover()``: one colour for most, two for those in between.

models = {
    "BayesianNMF": BayesianNMF(random_state=0),
    "BIGCLAM": BIGCLAM(partition.shape[1], n_init=10, random_state=0),
    "MMSB": MMSB(partition.shape[1], random_state=0),
}
covers = {name: model.fit(club.adjacency).get_cover() for name, model in models.items()}
shown = {"Louvain": partition} | {name: model.memberships_ * covers[name] for name, model in models.items()}

positions = graph_layout(club.adjacency)
figure, axes = plt.subplots(2, 2, figsize=(12, 8.4))
for ax, (name, memberships) in zip(axes.flat, shown.items(), strict=True):
    order = linear_sum_assignment(-(partition.T @ (memberships > 0).astype(float)))[1]  # the colours of the partition
    GraphDisplay.from_memberships(
        memberships[:, order], club.adjacency, positions=positions, node_names=club.node_names, ax=ax
    ).legend_.remove()
    several = ((memberships > 0).sum(axis=1) > 1).sum()
    ax.set_title(f"{name}: {several} members in more than one community" if several else f"{name}: a partition")

# %%
# Who sits between the groups
# ---------------------------
# The table lists all members whom at least one method puts into several communities: how many methods do so, and how
# many friends they have in each community of the partition. Members 3 and 24 are named by all three methods, member 1
# by two. Member 1, the instructor, is the only link between a group of five and the others; member 3 has friends in
# three communities. The partition hides both. The methods differ in where they draw the line: BayesianNMF counts every
# community that has a quarter of a member's strength, and names the most members.

n_methods = sum((cover.sum(axis=1) > 1).astype(int) for cover in covers.values())
friends = (club.adjacency @ partition).astype(int)
table = pd.DataFrame(friends, columns=[f"friends in {k}" for k in range(partition.shape[1])])
table.insert(0, "member", club.node_names)
table.insert(1, "methods", n_methods)
print(table[n_methods > 0].sort_values("methods", ascending=False).to_string(index=False))

# %%
# Who is right? Planted communities
# ---------------------------------
# Nobody knows the true communities of the club. In a planted graph they are known: five communities of 200 nodes, and a
# share of the nodes is in two of them. Two measures compare covers and do not mind the order of the communities:
# the overlapping NMI asks how well each community of one cover predicts one of the other, the omega index how often
# pairs of nodes share the same number of communities, corrected for chance. Both are 1 for equal covers.
#
# Without overlap the partition is as good as the covers. The more nodes are in two communities, the more it misses,
# while the covers lose almost nothing.

overlaps = (0.0, 0.1, 0.2, 0.3, 0.4)
methods = {
    "Louvain, a partition": louvain_cover,
    "BIGCLAM": lambda A: BIGCLAM(5, n_init=30, random_state=0).fit(A).get_cover(),
    "MMSB": lambda A: MMSB(5, random_state=0).fit(A).get_cover(),
    "BayesianNMF": lambda A: BayesianNMF(random_state=0).fit(A).get_cover(),
}
graphs = [
    make_overlapping_graph(200, 5, overlap=overlap, degree=12, background_degree=1, random_state=seed)
    for overlap in overlaps
    for seed in range(2)
]
figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
for name, method in methods.items():
    found = [method(graph.adjacency) for graph in graphs]
    color = "0.5" if method is louvain_cover else None
    for ax, measure in zip(axes, (overlapping_nmi, omega_index), strict=True):
        values = [measure(cover, graph.cover) for cover, graph in zip(found, graphs, strict=True)]
        ax.plot(overlaps, np.reshape(values, (-1, 2)).mean(axis=1), "o-", color=color, label=name)
axes[0].set(xlabel="share of nodes in two communities", ylabel="agreement with the truth", title="Overlapping NMI")
axes[1].set(xlabel="share of nodes in two communities", title="Omega index")
axes[1].legend()

# %%
# Which members of two communities are found
# ------------------------------------------
# The agreement of whole covers says little about single nodes. The last table asks for the nodes that are planted in
# two communities: how many are found, and how many of those named are right.

graph = make_overlapping_graph(200, 5, overlap=0.2, degree=12, background_degree=1, random_state=0)
truth = graph.cover.sum(axis=1) > 1
rows = []
for name, method in methods.items():
    named = method(graph.adjacency).sum(axis=1) > 1
    rows.append({"method": name, "planted": truth.sum(), "named": named.sum(), "right": (named & truth).sum()})
print(pd.DataFrame(rows).to_string(index=False))

# %%
# What to take home
# -----------------
# If each node has one community, a partition is enough. If not, a partition cannot show it, and nothing in its output
# says so: the price is only visible in a comparison with a truth, or with a cover. BayesianNMF is a good first choice
# since it needs no number of communities. Where two covers agree on a node between groups, as on members 1 and 3
# above, the finding does not hang on one model. :doc:`The guide </guide/families/graphs>` explains the methods.
