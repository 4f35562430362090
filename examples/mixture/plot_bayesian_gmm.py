"""
BayesianGMM: a Gaussian mixture with a prior
============================================

A Bayesian Gaussian mixture has a prior on the shares and on the shapes of its clusters. Components that the data do
not need stay empty, and the shapes of clusters with few samples are steadied. Take it if a Gaussian mixture has too
few samples, or if you know an upper limit of the number of clusters and the clusters are elliptic.
"""

# %%
# Components that are not needed stay empty
# -----------------------------------------
# Three clusters, and ten components for them. The Gaussian mixture of largest likelihood uses all ten: each one that
# it adds explains some samples a little better. In the Bayesian mixture a component costs something, and only three
# remain with samples. Bars are the shares of the components; the titles give the adjusted Rand index with the true
# clusters, 1 if they are the same. Removing a component takes many passes, hence ``max_iter=1000``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import GMM, BayesianGMM
from soft_clustering.plotting import cluster_colors

rng = np.random.default_rng(0)
X = np.vstack(
    [
        rng.normal(0, 2.2, size=(500, 2)),
        rng.normal(size=(250, 2)) @ [[2.6, 1.6], [0, 0.35]] + [2, 7],
        rng.normal([6.5, 0.5], 0.5, size=(150, 2)),
    ]
)
y = np.repeat([0, 1, 2], [500, 250, 150])

models = {
    "GMM": GMM(10, max_iter=1000, random_state=0).fit(X),
    "BayesianGMM": BayesianGMM(10, max_iter=1000, random_state=0).fit(X),
}
colors = np.array(cluster_colors(10))
turn = np.linspace(0, 2 * np.pi, 200)
circle = np.column_stack([np.cos(turn), np.sin(turn)])


def draw(model, X, ax):
    """Samples in the colour of their cluster, and an ellipse of two standard deviations for each."""
    ax.scatter(*X.T, s=8, color=colors[model.labels_], alpha=0.6)
    for k in np.unique(model.labels_):
        edge = model.centers_[k] + 2 * circle @ np.linalg.cholesky(model.covariances_[k]).T
        ax.plot(*edge.T, color="black", linewidth=1)


figure, axes = plt.subplots(2, 2, figsize=(10, 6.6), height_ratios=[3, 1])
for (name, model), (ax, bars) in zip(models.items(), axes.T, strict=True):
    draw(model, X, ax)
    used = len(np.unique(model.labels_))
    ax.set_title(f"{name}: {used} of 10 components used, Rand index {adjusted_rand_score(y, model.labels_):.2f}")
    bars.bar(range(10), model.weights_, color=colors)
    bars.set(xlabel="component", ylabel="share", xticks=range(10), ylim=(0, 0.65))

# %%
# Few samples
# -----------
# Three clusters of 30 samples have 20 features, so that each full covariance has 210 numbers for its 30 samples. A
# Gaussian mixture fits these samples too well, and is certain of wrong clusters. A prior says what is known of the
# clusters: here that their covariance is about the identity, as if 40 samples had shown it (``covariance_prior`` is
# ``dof_prior`` times the covariance that is expected). The covariances stay close to it, and most samples find their
# cluster. The darker, the larger is the membership.

d = 20
rng = np.random.default_rng(2)
directions = rng.normal(size=(3, d))
means = 2.8 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
few_y = np.repeat([0, 1, 2], 30)
few = means[few_y] + rng.normal(size=(90, d))

plain = GMM(3, n_init=10, random_state=0).fit(few)
steady = BayesianGMM(3, dof_prior=40, covariance_prior=40 * np.eye(d), n_init=10, random_state=0).fit(few)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), sharey=True)
for ax, (name, model) in zip(axes, {"GMM": plain, "BayesianGMM with a prior": steady}.items(), strict=True):
    order = np.argsort([few_y[model.labels_ == k].mean() for k in range(3)])
    ax.imshow(model.memberships_[:, order].T, aspect="auto", cmap="Greys", interpolation="nearest")
    for edge in (30, 60):
        ax.axvline(edge - 0.5, color="tab:red")
    ax.set_title(f"{name}: Rand index {adjusted_rand_score(few_y, model.labels_):.2f}")
    ax.set_xlabel("samples; red lines part the true clusters")
axes[0].set(ylabel="component", yticks=range(3))

# %%
# When it fails
# -------------
# The default prior expects clusters that are as wide as all of the data. Nine clusters of 15 samples have too few to
# show the contrary: some are joined, although a gap separates them. A ``covariance_prior`` of the size of a cluster
# mends this, with a small ``mean_precision`` that does not pull the centres to the middle of the data. The opposite
# fault is as frequent: clusters that are not elliptic take several components each. So a number of components that
# stays is no estimate of the number of clusters; see the guide to choosing K.

rng = np.random.default_rng(1)
grid = 6.0 * np.array([[i, j] for i in range(3) for j in range(3)])
small_y = np.repeat(range(9), 15)
small = grid[small_y] + rng.normal(size=(135, 2))

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, sharey=True)
priors = {
    "the default prior": {},
    "clusters of variance 1 expected": {"covariance_prior": 2 * np.eye(2), "mean_precision": 0.01},
}
for ax, (name, prior) in zip(axes, priors.items(), strict=True):
    model = BayesianGMM(10, **prior, n_init=10, max_iter=1000, random_state=0).fit(small)
    draw(model, small, ax)
    found = adjusted_rand_score(small_y, model.labels_)
    ax.set_title(f"{name}: {model.n_effective_clusters_} clusters, Rand index {found:.2f}")
