"""
BIGCLAM: communities that overlap
=================================

In many graphs a node belongs to more than one community: a person has a family, a sports club and a job. BIGCLAM gives
each node a strength of affiliation with each community, and the more two nodes share, the more likely they are linked.
Take it for graphs whose communities are dense and overlap; it also copes with large ones.
"""

# %%
# Nodes of two communities
# ------------------------
# The graph has four planted communities, and every fifth node is a member of two of them (ringed). A partition, here
# by spectral clustering, finds the four communities but has to cut the overlaps somewhere. BIGCLAM draws a ringed node
# in two colours: the pie chart of a node shows the shares of the affiliations that count.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import SpectralClustering

from soft_clustering import BIGCLAM, MMSB
from soft_clustering.datasets import make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

graph = make_overlapping_graph(120, 4, overlap=0.2, degree=11.0, background_degree=0.4, random_state=1)
A = graph.adjacency
in_two = graph.cover.sum(axis=1) == 2


def planted_order(cover, planted):
    """The columns of a cover in the order of the planted communities that they share most nodes with."""
    return linear_sum_assignment(-(planted.T.astype(float) @ cover))[1]


labels = SpectralClustering(4, affinity="precomputed", random_state=0).fit_predict(A)
partition = np.eye(4)[labels]
partition = partition[:, planted_order(partition, graph.cover)]
model = BIGCLAM(n_clusters=4, random_state=0).fit(A)
cover = model.get_cover()
order = planted_order(cover, graph.cover)
cover, strengths = cover[:, order], model.memberships_[:, order]

positions = graph_layout(A)
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
GraphDisplay.from_memberships(partition, A, positions=positions, ax=axes[0]).legend_.remove()
GraphDisplay.from_memberships(strengths * cover, A, positions=positions, ax=axes[1])
for ax in axes:
    ax.scatter(*positions[in_two].T, s=190, facecolors="none", edgecolors="black", linewidths=1.3, zorder=5)
axes[0].set_title(f"A partition: overlapping NMI {overlapping_nmi(partition, graph.cover):.2f}")
right = (cover == graph.cover).all(axis=1)
axes[1].set_title(
    f"BIGCLAM: overlapping NMI {overlapping_nmi(cover, graph.cover):.2f}, "
    f"{right[in_two].sum()} of {in_two.sum()} ringed nodes right"
)

# %%
# Strengths, not shares
# ---------------------
# The affiliations are non-negative strengths. They do not sum to 1, so a node can be a full member of two communities.
# ``threshold_`` is the strength from which on a node counts as a member: two nodes that share one community with this
# strength are linked as often as two nodes of the graph are on average. ``get_cover()`` applies it. In the picture
# most members of two communities lie above the line, and all others far below it.

ranked = np.sort(strengths, axis=1)
figure, ax = plt.subplots(figsize=(7, 4.2))
ax.scatter(ranked[~in_two, -1], ranked[~in_two, -2], color="0.7", label="planted in one community")
ax.scatter(ranked[in_two, -1], ranked[in_two, -2], color="black", label="planted in two")
ax.axhline(model.threshold_, color="0.4", linestyle="--", label=f"threshold_ = {model.threshold_:.2f}")
ax.set(xlabel="strongest affiliation", ylabel="second strongest", title="Who is a member of two communities")
ax.legend()

# %%
# A newcomer
# ----------
# New nodes are rows of links to the nodes of ``fit``. This newcomer has ten friends in the first community and ten in
# the second one; its likelihood gives it both affiliations and no other.

friends = np.zeros((1, 120))
for community in graph.cover.T[:2]:
    friends[0, np.flatnonzero(community)[:10]] = 1
print("affiliations of the newcomer:", model.predict_memberships(friends)[0, order].round(2))

# %%
# When it fails
# -------------
# The likelihood has many local optima. Where nodes have few links, here about four in each of their communities, a
# single start may end in a poor one: two communities share a colour and another one is torn apart. Ten starts, of
# which the one of largest likelihood is kept, repair most of it. :class:`~soft_clustering.MMSB` starts from a spectral
# embedding of the whole graph and needs one start. A grey node has no affiliation at all. With so few links no method
# finds all members.

few_links = make_overlapping_graph(120, 4, overlap=0.2, degree=4.0, background_degree=0.5, random_state=4)
estimators = {
    "BIGCLAM, one start": BIGCLAM(4, random_state=0),
    "ten starts": BIGCLAM(4, n_init=10, random_state=0),
    "MMSB": MMSB(4, random_state=0),
}
positions = graph_layout(few_links.adjacency)
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4))
for ax, (name, estimator) in zip(axes, estimators.items(), strict=True):
    cover = estimator.fit(few_links.adjacency).get_cover()
    shown = (estimator.memberships_ * cover)[:, planted_order(cover, few_links.cover)]
    GraphDisplay.from_memberships(shown, few_links.adjacency, positions=positions, ax=ax).legend_.remove()
    ax.set_title(f"{name}: overlapping NMI {overlapping_nmi(cover, few_links.cover):.2f}")
