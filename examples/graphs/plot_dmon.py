"""
DMoN: links and features together
=================================

DMoN is a graph neural network that outputs memberships. It maximises the modularity of the communities and sees,
besides the links of a node, its features: the words of a paper, the answers of a person. Take it when nodes have
features that have to do with the communities. It needs the extra ``deep``.
"""

# %%
# Neither is enough alone
# -----------------------
# Three communities of forty nodes are linked more inside than outside, and every node has three features, which differ
# a little between the communities. K-means sees the features only, DMoN without features the links only. Both make many
# errors (ringed nodes). DMoN with links and features makes few.

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from soft_clustering import MMSB, DMoN
from soft_clustering.metrics import modularity
from soft_clustering.plotting import GraphDisplay, graph_layout

rng = np.random.default_rng(3)
truth = np.repeat(np.eye(3), 40, axis=0)
linked = np.triu(rng.uniform(size=(120, 120)) < np.where(truth @ truth.T > 0, 0.14, 0.035), 1)
A = sparse.csr_array((linked | linked.T).astype(float))
X = 2.0 * truth + rng.normal(size=(120, 3))


def draw(memberships, A, truth, positions, ax):
    """The memberships in the colours of the truth; rings around the nodes of another label. Returns their number."""
    hard = np.eye(truth.shape[1])[memberships.argmax(axis=1)]
    order = linear_sum_assignment(-truth.T @ hard)[1]
    wrong = (hard[:, order] != truth).any(axis=1)
    GraphDisplay.from_memberships(memberships[:, order], A, positions=positions, ax=ax).legend_.remove()
    ax.scatter(*positions[wrong].T, s=150, facecolors="none", edgecolors="black", linewidths=1.6, zorder=5)
    return wrong.sum()


on_links = DMoN(3, random_state=0).fit(A)
on_both = DMoN(3, random_state=0).fit(A, node_features=X)
memberships = {
    "k-means on the features": np.eye(3)[KMeans(3, n_init=10, random_state=0).fit_predict(X)],
    "DMoN on the links": on_links.memberships_,
    "DMoN on both": on_both.memberships_,
}
positions = graph_layout(A)
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4))
for ax, (name, found) in zip(axes, memberships.items(), strict=True):
    wrong = draw(found, A, truth, positions, ax)
    ax.set_title(f"{name}: {wrong} of 120 wrong")

# %%
# What modularity says, and what not
# ----------------------------------
# ``modularity_`` is measured on the links. Without features DMoN reaches a higher value than the planted communities
# have: it also fits the links that are there by chance. A somewhat lower value is therefore no sign against the
# features. A value far below that of the fit without features is one: these features have nothing to do with the
# links, and the network cannot ignore them.

noise = np.random.default_rng(1).normal(size=(120, 3))
on_noise = DMoN(3, random_state=0).fit(A, node_features=noise)
scores = {
    "links only": on_links.modularity_,
    "planted communities": modularity(A, truth),
    "links and features": on_both.modularity_,
    "links and noise": on_noise.modularity_,
}
figure, ax = plt.subplots(figsize=(7, 2.6))
bars = ax.barh(list(scores), list(scores.values()), color="0.6")
ax.bar_label(bars, fmt="%.2f", padding=4)
ax.invert_yaxis()
ax.set(xlabel="modularity", title="Features of no use cost much modularity")

# %%
# When it fails
# -------------
# The loss has a penalty on communities of different size, against the collapse into one. Communities of 80, 25 and 15
# nodes are clear in the links, but the large one is split and the small ones are merged (rings). A smaller
# ``collapse_weight`` helps little, since modularity itself prefers equal sizes. :class:`~soft_clustering.MMSB` does not
# look at sizes; the best of ten starts finds the communities.

rng = np.random.default_rng(5)
truth = np.repeat(np.eye(3), (80, 25, 15), axis=0)
linked = np.triu(rng.uniform(size=(120, 120)) < np.where(truth @ truth.T > 0, 0.3, 0.02), 1)
A = sparse.csr_array((linked | linked.T).astype(float))
positions = graph_layout(A)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
for ax, model in zip(axes, (DMoN(3, random_state=0), MMSB(3, n_init=10, init="random", random_state=0)), strict=True):
    model.fit(A)
    draw(model.memberships_, A, truth, positions, ax)
    found = sorted(np.bincount(model.labels_, minlength=3), reverse=True)
    ax.set_title(f"{type(model).__name__}: communities of {found[0]}, {found[1]} and {found[2]} nodes")
