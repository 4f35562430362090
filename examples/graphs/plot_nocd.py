"""
NOCD: overlapping communities from few links
============================================

NOCD has the model of BIGCLAM, in which nodes that share communities are linked, but a graph neural network computes the
affiliations. Nodes with similar surroundings get similar affiliations, and attributes of the nodes can help. Take it
for overlapping communities of sparse graphs, above all if the nodes have attributes. It needs the extra ``deep``.
"""

# %%
# Few links, many by chance
# -------------------------
# Four communities overlap; a node has about five links in each of its communities and two by chance. BIGCLAM learns
# the affiliations of each node for itself and, even with ten starts, mixes communities. NOCD learns one function for
# all nodes, which is harder to mislead by a few links. In the third picture each node also has twenty attributes, say
# interests, five of which are common in each community. With ``append_adjacency=False`` the network sees them instead
# of the rows of the adjacency matrix; the links still count, since the network passes messages along them. Grey nodes
# have no affiliation.

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from soft_clustering import BIGCLAM, MMSB, NOCD
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, cluster_colors, graph_layout

graph = make_overlapping_graph(120, 4, overlap=0.2, degree=5.0, background_degree=2.0, random_state=0)
A = graph.adjacency
rng = np.random.default_rng(0)
interests = (rng.uniform(size=(120, 20)) < np.where(np.repeat(graph.cover, 5, axis=1), 0.5, 0.05)).astype(float)
nocd = NOCD(4, append_adjacency=False, random_state=0).fit(A, node_features=interests)
models = {
    "BIGCLAM": BIGCLAM(4, n_init=10, random_state=0).fit(A),
    "NOCD": NOCD(4, random_state=0).fit(A),
    "NOCD with attributes": nocd,
}
positions = graph_layout(A)
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4))
for ax, (name, model) in zip(axes, models.items(), strict=True):
    cover = model.get_cover()
    order = linear_sum_assignment(-(graph.cover.T.astype(float) @ cover))[1]  # the colours of the planted communities
    shown = (model.memberships_ * cover)[:, order]
    GraphDisplay.from_memberships(shown, A, positions=positions, ax=ax).legend_.remove()
    ax.set_title(f"{name}: overlapping NMI {overlapping_nmi(cover, graph.cover):.2f}")

# %%
# New nodes
# ---------
# The network also places nodes that come later. Twenty nodes are kept out of a fit, and then placed by their links to
# the others. A bar is an affiliation in the colour of its community, a black dot marks the planted communities. Bars
# that reach the dashed line, ``threshold_``, count.

larger = make_overlapping_graph(140, 4, overlap=0.2, degree=9.0, background_degree=0.5, random_state=1)
old = np.arange(140) < 120
model = NOCD(4, random_state=0).fit(larger.adjacency[old][:, old])
order = linear_sum_assignment(-(larger.cover[old].T.astype(float) @ model.get_cover()))[1]
strengths = model.predict_memberships(larger.adjacency[~old][:, old])[:, order]
planted = larger.cover[~old]

figure, axes = plt.subplots(4, 1, figsize=(9, 5), sharex=True, sharey=True)
for k, (ax, color) in enumerate(zip(axes, cluster_colors(4), strict=True)):
    ax.bar(range(1, 21), strengths[:, k], color=color)
    ax.axhline(model.threshold_, color="0.4", linestyle="--", linewidth=1)
    ax.scatter(1 + np.flatnonzero(planted[:, k]), np.full(planted[:, k].sum(), -0.25), color="black", s=14)
    ax.set_ylabel("strength")
axes[3].set(xlabel="new node", xticks=range(1, 21))
right = ((strengths >= model.threshold_) == planted).all(axis=1).sum()
axes[0].set_title(f"{right} of 20 new nodes in exactly the planted communities")

# %%
# When it fails
# -------------
# The model knows one reason for a link: a community in common. A core of twenty well-connected nodes with eighty
# nodes around it, which are linked to the core but hardly to each other, is no set of communities. NOCD divides the
# nodes in some other way. :class:`~soft_clustering.MMSB` with ``assortative=False`` learns how blocks are linked and
# finds core (ringed) and surroundings.

core = np.repeat([[1.0, 0.0], [0.0, 1.0]], [20, 80], axis=0)
probability = core @ np.array([[0.5, 0.2], [0.2, 0.03]]) @ core.T
linked = np.triu(np.random.default_rng(0).uniform(size=(100, 100)) < probability, 1)
B = sparse.csr_array((linked | linked.T).astype(float))
positions = graph_layout(B)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
for ax, model in zip(
    axes, (NOCD(2, random_state=0), MMSB(2, assortative=False, max_iter=500, random_state=0)), strict=True
):
    model.fit(B)
    hard = np.eye(2)[model.labels_]
    order = linear_sum_assignment(-core.T @ hard)[1]
    GraphDisplay.from_memberships(model.memberships_[:, order], B, positions=positions, ax=ax).legend_.remove()
    ax.scatter(*positions[:20].T, s=230, facecolors="none", edgecolors="black", linewidths=1.3, zorder=5)
    ax.set_title(f"{type(model).__name__}: {int((hard[:, order] == core).all(axis=1).sum())} of 100 nodes right")
