"""
MMSB: blocks with any pattern of links
======================================

The mixed-membership stochastic blockmodel gives each node shares of several blocks, and each pair of blocks a
probability of a link. By default blocks are communities, which may overlap. With ``assortative=False`` a block need not
be dense inside: nodes belong together when they are linked to the same blocks. Take that when the roles of the nodes
and the links between them are the question.
"""

# %%
# Two teams and a service desk
# ----------------------------
# An office has two teams. The people of a service desk work with everybody, but hardly with each other, and four people
# divide their time between the two teams. Community detection looks for groups that are dense inside, so it spreads
# the desk over the teams. The blockmodel sees that the people of the desk have the same kind of links, and makes them
# a block of their own.
#
# A sparse block such as the desk needs ``init="random"`` with several starts: the default start, from a spectral
# embedding, is quicker but looks for dense blocks.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import SpectralClustering

from soft_clustering import MMSB, BayesianNMF
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

team_1, team_2, desk, both = slice(0, 40), slice(40, 80), slice(80, 96), slice(96, 100)
shares = np.zeros((100, 3))
shares[team_1, 0] = shares[team_2, 1] = shares[desk, 2] = 1
shares[both, :2] = 0.5
planted = np.array([[0.35, 0.02, 0.25], [0.02, 0.30, 0.25], [0.25, 0.25, 0.03]])
probability = shares @ planted @ shares.T
linked = np.triu(np.random.default_rng(0).uniform(size=(100, 100)) < probability, 1)
A = (linked | linked.T).astype(float)

model = MMSB(n_clusters=3, assortative=False, init="random", n_init=10, max_iter=500, random_state=0).fit(A)
order = linear_sum_assignment(-shares.T @ model.memberships_)[1]  # blocks as they were planted, for the same colours
found = model.memberships_[:, order]
partition = np.eye(3)[SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(A)]
partition = partition[:, linear_sum_assignment(-shares.T @ partition)[1]]

positions = graph_layout(A)
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
GraphDisplay.from_memberships(partition, A, positions=positions, ax=axes[0]).legend_.remove()
display = GraphDisplay.from_memberships(found, A, positions=positions, ax=axes[1])
for text, name in zip(display.legend_.get_texts(), ("team 1", "team 2", "desk"), strict=True):
    text.set_text(name)
for ax, columns in zip(axes, (partition, found), strict=True):
    ax.scatter(*positions[desk].T, s=190, facecolors="none", edgecolors="black", linewidths=1.3, zorder=5)
    ax.set_title(f"{(columns[desk].argmax(axis=1) == 2).sum()} of the 16 of the desk (ringed) in its block")
axes[0].set_title("Spectral clustering: " + axes[0].get_title())
axes[1].set_title("MMSB: " + axes[1].get_title())
print("shares of those who work for both teams:", *found[both].round(2), sep="\n")

# %%
# How the blocks are linked
# -------------------------
# ``block_matrix_`` has the probability of a link for each pair of blocks. It says in numbers what the picture shows:
# the teams are dense inside, the desk is not, and it is linked to both. Shares and block matrix are a model of the
# whole graph, from which ``sample`` draws new ones. The graph on the right is invented, but it has the same pattern.

block_matrix = model.block_matrix_[np.ix_(order, order)]
drawn, drawn_shares = model.sample()

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), width_ratios=[0.75, 1])
axes[0].imshow(block_matrix, cmap="Greys", vmin=0, vmax=0.8)
for (g, h), value in np.ndenumerate(block_matrix):
    axes[0].text(h, g, f"{value:.2f}\n({planted[g, h]:.2f})", ha="center", va="center", color="black")
names = ("team 1", "team 2", "desk")
axes[0].set(xticks=range(3), yticks=range(3), xticklabels=names, yticklabels=names)
axes[0].set_title("Probability of a link (planted one)")
GraphDisplay.from_memberships(drawn_shares[:, order], drawn, ax=axes[1]).legend_.remove()
axes[1].set_title(f"Drawn from the model: {drawn.nnz // 2} links, {int(A.sum()) // 2} in the data")

# %%
# When it fails
# -------------
# The freedom of the block matrix that ``assortative=False`` gives has a price where communities overlap much. Here
# half of the nodes are members of two of four communities. Members of the same two communities have the same kind of
# links, so the model may take them for a block of their own instead of for mixed nodes. The default,
# ``assortative=True``, fixes the links between blocks at a small probability, which rules this out;
# :class:`~soft_clustering.BayesianNMF` is made for such graphs.

graph = make_overlapping_graph(120, 4, overlap=0.5, degree=9.0, background_degree=0.5, random_state=1)
estimators = {
    "assortative=False": MMSB(4, assortative=False, random_state=0),
    "MMSB": MMSB(4, random_state=0),
    "BayesianNMF": BayesianNMF(4, random_state=0),
}
positions = graph_layout(graph.adjacency)
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4))
for ax, (name, estimator) in zip(axes, estimators.items(), strict=True):
    cover = estimator.fit(graph.adjacency).get_cover()
    order = linear_sum_assignment(-(graph.cover.T.astype(float) @ cover))[1]
    shown = (estimator.memberships_ * cover)[:, order]
    GraphDisplay.from_memberships(shown, graph.adjacency, positions=positions, ax=ax).legend_.remove()
    right = (cover[:, order] == graph.cover).all(axis=1).sum()
    ax.set_title(f"{name}: {right} of 120 nodes right, NMI {overlapping_nmi(cover, graph.cover):.2f}", fontsize=10)
