"""
SLPA: nodes that tell each other labels
=======================================

In speaker-listener label propagation every node begins with a label of its own. In each round it hears one label from
each of its neighbours, drawn from what they remember, and remembers the one that it hears most. What a node remembers
in the end are its communities. Take it for large graphs, with or without weights, when the number of communities is
not known.
"""

# %%
# Communities that overlap, and nobody knows how many
# ---------------------------------------------------
# Five communities share a sixth of their nodes, which are ringed. SLPA is told neither the number of communities nor
# who is in two of them. The memberships are shares of the memory: a node between two communities remembers the labels
# of both.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from soft_clustering import BIGCLAM, SLPA
from soft_clustering.datasets import make_lfr_graph, make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

graph = make_overlapping_graph(150, 5, overlap=1 / 6, degree=12.0, background_degree=0.5, random_state=1)
model = SLPA(random_state=0).fit(graph.adjacency)
planted = graph.cover / graph.cover.sum(axis=1, keepdims=True)
order = linear_sum_assignment(-planted.T @ model.memberships_)[
    1
]  # communities as they were planted, for the same colours

positions = graph_layout(graph.adjacency)
both = graph.cover.sum(axis=1) > 1
found = model.get_cover()
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
for ax, memberships in zip(axes, (planted, model.memberships_[:, order]), strict=True):
    GraphDisplay.from_memberships(memberships, graph.adjacency, positions=positions, ax=ax).legend_.remove()
    ax.scatter(*positions[both].T, s=150, facecolors="none", edgecolors="black", linewidths=1.0, zorder=5)
right = (found[:, order] == graph.cover).all(axis=1)
axes[0].set_title(f"Planted: {graph.cover.shape[1]} communities, {both.sum()} nodes in two (ringed)")
axes[1].set_title(
    f"SLPA finds {model.n_clusters_}; {right[both].sum()} of these nodes right, {right[~both].sum()} others"
)
print("shares of the first nodes in two communities:", *model.memberships_[both][:4].round(2), sep="\n")

# %%
# How many rounds
# ---------------
# Labels need time to settle. As published, the nodes listen one after the other and pass on at once what they heard
# (``asynchronous=True``); 20 to 30 rounds are enough. By default they all listen at once and pass it on in the next
# round, which needs more rounds, but the result does not depend on the order of the nodes, and every core can work.
# Four graphs of 1000 nodes in 20 to 30 communities of different size, a tenth of them in two:

rounds = [5, 10, 20, 30, 50, 100, 150]
graphs = [make_lfr_graph(1000, mixing=0.2, overlap=0.1, random_state=seed) for seed in range(4)]
figure, axes = plt.subplots(1, 2, figsize=(11, 4))
for asynchronous, name in ((False, "all at once"), (True, "one after the other")):
    models = [
        [SLPA(n_rounds=T, asynchronous=asynchronous, random_state=0).fit(graph.adjacency) for graph in graphs]
        for T in rounds
    ]
    scores = [
        np.mean([overlapping_nmi(g.cover, m.get_cover()) for g, m in zip(graphs, fitted, strict=True)])
        for fitted in models
    ]
    counts = [np.mean([m.n_clusters_ / g.cover.shape[1] for g, m in zip(graphs, row, strict=True)]) for row in models]
    axes[0].plot(rounds, scores, "o-", label=name)
    axes[1].plot(rounds, counts, "o-", label=name)
axes[0].set(xlabel="rounds", ylabel="overlapping NMI", title="Likeness of found and planted communities")
axes[1].set(xlabel="rounds", ylabel="found / planted", title="Number of communities", yscale="log")
axes[1].axhline(1, color="grey", linewidth=0.8)
axes[0].legend()

# %%
# When it fails
# -------------
# A community inside another one is not found: the label that most nodes have wins everywhere. Here a dense group of 20
# nodes (ringed) is part of a community of 70. :class:`~soft_clustering.BIGCLAM`, which was told that there are three
# communities, sees it, but adds some of the nodes around it.

rng = np.random.default_rng(1)
inner, outer = np.arange(100) < 20, np.arange(100) < 70
probability = np.where(inner[:, None] & inner, 0.9, np.where(outer[:, None] == outer, 0.35, 0.01))
linked = np.triu(rng.uniform(size=(100, 100)) < probability, 1)
A = (linked | linked.T).astype(float)

positions = graph_layout(A)
figure, axes = plt.subplots(1, 2, figsize=(12, 4.8))
for ax, estimator in zip(axes, (SLPA(random_state=0), BIGCLAM(3, n_init=5, random_state=0)), strict=True):
    cover = estimator.fit(A).get_cover()
    GraphDisplay.from_memberships(estimator.memberships_ * cover, A, positions=positions, ax=ax).legend_.remove()
    ax.scatter(*positions[inner].T, s=150, facecolors="none", edgecolors="black", linewidths=1.0, zorder=5)
    likeness = 2 * (inner @ cover) / (inner.sum() + cover.sum(axis=0))
    members = cover[:, likeness.argmax()].sum()
    name = type(estimator).__name__
    ax.set_title(f"{name}: {cover.shape[1]} communities;\nthat of the ringed nodes has {members} members")
