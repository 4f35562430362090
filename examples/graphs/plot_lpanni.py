"""
LPANNI: communities from labels that spread
===========================================

Each node takes over the labels that it hears from its neighbours, and listens most to those that are important and
similar to it. After a few rounds the labels are communities. It needs no number of communities and no seed, and takes
milliseconds where other methods take seconds: the first thing to try on a large graph.
"""

# %%
# Communities of many sizes
# -------------------------
# The graph has communities of 20 to 60 nodes, and one node in ten belongs to two. Nobody says how many there are. A
# node between two communities hears both labels and keeps both; its coefficients say how much of each.

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from soft_clustering import LPANNI, BayesianNMF, LinkMixture
from soft_clustering.datasets import make_lfr_graph, make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay, graph_layout

graph = make_lfr_graph(240, mixing=0.1, overlap=0.1, degree=10, max_degree=25, max_size=60, random_state=3)
model = LPANNI().fit(graph.adjacency)


def draw(model, graph, ax, **options):
    """The memberships of the cover, in the colours of the planted communities that share most nodes."""
    cover = model.get_cover()
    order = linear_sum_assignment(-(graph.cover.T.astype(float) @ cover))[1]
    order = np.append(order, np.setdiff1d(np.arange(cover.shape[1]), order))
    shown = (model.memberships_ * cover)[:, order]
    GraphDisplay.from_memberships(shown, graph.adjacency, ax=ax, **options).legend_.remove()
    return overlapping_nmi(cover, graph.cover)


positions = graph_layout(graph.adjacency)
figure, axes = plt.subplots(1, 2, figsize=(12, 5.2))
planted = GraphDisplay.from_memberships(
    graph.cover / graph.cover.sum(axis=1, keepdims=True), graph.adjacency, positions=positions, ax=axes[0]
)
planted.legend_.remove()
axes[0].set_title(f"Planted: {graph.cover.shape[1]} communities")
score = draw(model, graph, axes[1], positions=positions)
axes[1].set_title(f"LPANNI: {model.n_clusters_} communities after {model.n_iter_} sweeps, NMI {score:.2f}")

# %%
# Who counts
# ----------
# A node is important if it has many links and is in many triangles. In each sweep the less important ones take their
# turns first, so that labels run from the middle of a community outwards. Where a node keeps two labels, its
# coefficients lie between 0 and 1. Nearly always it is a node in two communities, but not every such node hears both.

cover = graph.cover.sum(axis=1) > 1
largest = model.memberships_.max(axis=1)
figure, axes = plt.subplots(1, 2, figsize=(11, 3.6))
degree = np.diff(graph.adjacency.indptr)
axes[0].scatter(degree, model.importances_, s=14, color="0.4")
axes[0].set(xlabel="links of a node", ylabel="importance", title="Links and triangles make importance")
bins = np.linspace(0.3, 1, 15)
axes[1].hist([largest[~cover], largest[cover]], bins=bins, label=["in one community", "in two"], color=["0.75", "C1"])
axes[1].set(xlabel="largest coefficient of a node", ylabel="nodes", yscale="log")
axes[1].set_title(f"{(largest[cover] < 1).sum()} of {cover.sum()} nodes in two communities keep both labels")
axes[1].legend()

# %%
# A hundred thousand links
# ------------------------
# Its time grows with the links. The mixture over links that starts from its communities, :class:`LinkMixture
# <soft_clustering.LinkMixture>`, takes a few times as long and makes them a little better.

large = make_overlapping_graph(10_000, 100, random_state=0)
for estimator in (LPANNI(), LinkMixture()):
    start = time.perf_counter()
    estimator.fit(large.adjacency)
    seconds = time.perf_counter() - start
    score = overlapping_nmi(estimator.get_cover(), large.cover)
    print(
        f"{type(estimator).__name__}: {large.adjacency.nnz // 2} links in {seconds:.2f} s, "
        f"{estimator.n_clusters_} of 100 communities, NMI {score:.2f}"
    )

# %%
# When it fails
# -------------
# Labels need dense neighbourhoods to stop at the edge of a community. In communities of a hundred nodes of which each
# knows only a fifth, a few links to the outside are enough for one label to flood the graph. A warning says so where
# what is left is no better than chance, as here. The likelihood of a model of the whole graph does not have this
# weakness, if it starts from communities of another kind; LinkMixture does so by itself where LPANNI would warn.

graph = make_overlapping_graph(400, 4, overlap=0.2, random_state=0)
positions = graph_layout(graph.adjacency)
estimators = {
    "LPANNI": LPANNI(),
    "LinkMixture": LinkMixture(),
    "BayesianNMF": BayesianNMF(random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(14, 4.6))
for ax, (name, estimator) in zip(axes, estimators.items(), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = draw(estimator.fit(graph.adjacency), graph, ax, positions=positions)
    ax.set_title(f"{name}: {estimator.n_clusters_} of 4, NMI {score:.2f}")
