"""
LinkMixture: every link has a community
=======================================

People have several circles, but each friendship usually comes from one: work, sports, family. The model gives every
link to one of K communities, and a node belongs to those of its links, by their shares. Take it for overlapping
communities of graphs with or without weights, whether their number is known or not.
"""

# %%
# Nodes have several communities, links have one
# ----------------------------------------------
# Two groups of friends have four members in common. A partition has to put these four on one side. The model colours
# the links first, and the members between the groups have links of both colours.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import SpectralClustering

from soft_clustering import MMSB, LinkMixture
from soft_clustering.datasets import make_lfr_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

members = np.zeros((44, 2))
members[:24, 0] = members[20:, 1] = 1  # the nodes 20 to 23 are in both
linked = np.triu(np.random.default_rng(0).uniform(size=(44, 44)) < 0.45 * (members @ members.T > 0), 1)
A = (linked | linked.T).astype(float)
model = LinkMixture(n_clusters=2, random_state=0).fit(A)
model_order = np.argsort(-model.memberships_[0])  # the group of the first node comes first
partition = np.eye(2)[SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(A)]
partition = partition[:, np.argsort(-partition[0])]

pairs = np.argwhere(np.triu(A))
shares = model.predict_links(pairs)[:, model_order]
positions = graph_layout(A)
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
GraphDisplay.from_memberships(partition, A, positions=positions, ax=axes[0]).legend_.remove()
axes[0].set_title("A partition")
colours = np.array([[0.0, 0.45, 0.70], [0.90, 0.62, 0.0]])
for (i, j), share in zip(pairs, shares, strict=True):
    axes[1].plot(*positions[[i, j]].T, color=np.clip(share @ colours, 0, 1), linewidth=1.1, zorder=1)
nodes = np.clip(model.memberships_[:, model_order] @ colours, 0, 1)
axes[1].scatter(*positions.T, s=80, c=nodes, edgecolors="black", linewidths=0.5, zorder=2)
axes[1].set(xlim=axes[0].get_xlim(), ylim=axes[0].get_ylim(), aspect="equal")
axes[1].set_axis_off()
axes[1].set_title("LinkMixture: links by their community")
for ax in axes:
    ax.scatter(*positions[20:24].T, s=190, facecolors="none", edgecolors="black", linewidths=1.3, zorder=5)
print("shares of the four:", *model.memberships_[20:24][:, model_order].round(2), sep="\n")

# %%
# The likelihood
# --------------
# Every pass of EM raises the likelihood. From random memberships it may end in a poor optimum; the start decides.
# Without a number of communities the start finds it: those of LPANNI (the default), or those of large modularity.
# A larger ``resolution`` makes the latter smaller and more.

graph = make_lfr_graph(1000, mixing=0.3, overlap=0.3, random_state=7)
K = graph.cover.shape[1]
estimators = {
    "random, K given": LinkMixture(K, init="random", random_state=0),
    "spectral, K given": LinkMixture(K, random_state=0),
    "LPANNI": LinkMixture(),
    "modularity": LinkMixture(init="modularity", random_state=0),
    "modularity, resolution 3": LinkMixture(init="modularity", resolution=3.0, random_state=0),
}
figure, ax = plt.subplots(figsize=(8, 4.2))
for name, estimator in estimators.items():
    estimator.fit(graph.adjacency)
    score = overlapping_nmi(estimator.get_cover(), graph.cover)
    ax.plot(estimator.objective_history_, label=f"{name}: {estimator.n_clusters_} of {K} communities, NMI {score:.2f}")
ax.set(xlabel="pass", ylabel="log likelihood", xscale="log", title="Starts of LinkMixture")
ax.legend(fontsize=8)

# %%
# Weights
# -------
# Two characters of a novel are linked by the number of chapters in which they meet, and the model uses these numbers
# as they are. Valjean, who meets everybody, has a share of several circles; his memberships say how much he sees of
# each. A newcomer is described by links alone.

novel = nx.les_miserables_graph()
model = LinkMixture(6, n_init=5, random_state=0).fit(novel)
names = list(model.node_names_)
known = ("Valjean", "Marius", "Enjolras", "Thenardier", "Myriel", "Fantine")
shown = model.memberships_ * model.get_cover()
display = GraphDisplay.from_memberships(
    shown, nx.to_scipy_sparse_array(novel), node_names=[name if name in known else "" for name in names]
)
display.legend_.remove()
display.ax_.set_title(f"{(model.get_cover().sum(axis=1) > 1).sum()} of {len(names)} characters are in several circles")
print("Valjean:   ", model.memberships_[names.index("Valjean")].round(2))

newcomer = np.zeros((1, len(names)))
newcomer[0, [names.index("Enjolras"), names.index("Cosette"), names.index("Valjean")]] = 5, 2, 2
print("a newcomer:", model.predict_memberships(newcomer)[0].round(2))

# %%
# When it fails
# -------------
# A block whose nodes are not linked to each other, such as the service desk in the example of
# :class:`~soft_clustering.MMSB`, is no community to this model: a link always joins members of the same one. It
# spreads the desk over the two teams. ``MMSB(assortative=False)`` makes it a block.

team_1, team_2, desk = slice(0, 40), slice(40, 80), slice(80, 96)
shares = np.repeat(np.eye(3), [40, 40, 16], axis=0)
blocks = np.array([[0.35, 0.02, 0.25], [0.02, 0.30, 0.25], [0.25, 0.25, 0.03]])
linked = np.triu(np.random.default_rng(0).uniform(size=(96, 96)) < shares @ blocks @ shares.T, 1)
A = (linked | linked.T).astype(float)
positions = graph_layout(A)
estimators = (
    LinkMixture(3, n_init=10, random_state=0),
    MMSB(3, assortative=False, init="random", n_init=10, max_iter=500, random_state=0),
)
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
for ax, estimator in zip(axes, estimators, strict=True):
    found = estimator.fit(A).memberships_
    found = found[:, linear_sum_assignment(-shares.T @ found)[1]]
    GraphDisplay.from_memberships(found, A, positions=positions, ax=ax).legend_.remove()
    ax.scatter(*positions[desk].T, s=190, facecolors="none", edgecolors="black", linewidths=1.3, zorder=5)
    right = (found[desk].argmax(axis=1) == 2).sum()
    ax.set_title(f"{type(estimator).__name__}: {right} of the 16 people of the desk (ringed) together")
