"""
StudentTMixture: a mixture that outliers do not pull away
=========================================================

In a Gaussian mixture a sample far from everything widens the component that takes it, or gets a component of its own. A
t distribution has heavier tails: it expects such samples now and then, and gives them little weight. Take it for
elliptic clusters with outliers, or with tails that are heavier than Gaussian ones.
"""

# %%
# Outliers count little
# ---------------------
# Three clusters and 5 % uniform outliers. The ellipses hold 95 % of the samples of a Gaussian component, or of the core
# of a t component. Two components of the Gaussian mixture share the clusters, and the third has the outliers. The t
# mixture finds all three; the lighter a sample, the less it counts in centres and covariances (``outlier_weights_``).

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import GMM, StudentTMixture
from soft_clustering.plotting import cluster_colors

rng = np.random.default_rng(3)
clusters = np.vstack(
    [
        rng.normal(size=(150, 2)) @ [[2.2, 0.8], [0, 0.5]],
        rng.normal(size=(150, 2)) @ [[0.6, 0], [0.3, 1.6]] + [7, 3],
        rng.normal(size=(150, 2)) * 0.8 + [2, 7],
    ]
)
y = np.repeat([0, 1, 2], 150)
X = np.vstack([clusters, rng.uniform([-20, -20], [30, 30], size=(24, 2))])

gaussian = GMM(3, n_init=5, random_state=0).fit(X)
robust = StudentTMixture(3, random_state=0).fit(X)

colors = np.array(cluster_colors(3))
turn = np.linspace(0, 2 * np.pi, 200)
circle = np.sqrt(5.99) * np.column_stack([np.cos(turn), np.sin(turn)])


def draw_ellipses(model, ax):
    """The ellipse of each component that holds 95 % of a Gaussian of its matrix."""
    for center, matrix in zip(model.centers_, model.covariances_, strict=True):
        ax.plot(*(center + circle @ np.linalg.cholesky(matrix).T).T, color="black", linewidth=1)


figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
for ax, model in zip(axes, (gaussian, robust), strict=True):
    weights = getattr(model, "outlier_weights_", np.ones(len(X)))
    ax.scatter(*X.T, s=12, color=colors[model.labels_], alpha=np.clip(weights, 0.15, 1))
    draw_ellipses(model, ax)
    score = adjusted_rand_score(y, model.labels_[: len(y)])
    ax.set_title(f"{type(model).__name__}: Rand index of the clusters {score:.2f}")

# %%
# What it learns of the tails
# ---------------------------
# Each component has degrees of freedom: 3 are heavy tails, above about 50 it is almost Gaussian. Here one cluster is
# drawn with 3, one is Gaussian. Both are found, so the model says where heavy tails are. The curves are the densities,
# on a logarithmic scale; the dotted ones are those of a Gaussian mixture, whose tails end too soon.

tails = np.concatenate([rng.standard_t(3, size=2000), rng.normal(15, 1, size=2000)])[:, None]
robust = StudentTMixture(2, random_state=0).fit(tails)
gaussian = GMM(2, random_state=0).fit(tails)
print("degrees of freedom:", robust.dof_[np.argsort(robust.centers_[:, 0])].round(1))
print(f"BIC: {robust.bic(tails):.0f}, Gaussian mixture {gaussian.bic(tails):.0f}")

grid = np.linspace(-12, 25, 600)[:, None]
figure, ax = plt.subplots(figsize=(10, 3.6))
ax.hist(tails[:, 0], bins=np.linspace(-12, 25, 120), density=True, color="0.85", log=True)
ax.plot(grid[:, 0], np.exp(robust.score_samples(grid)), color=colors[0], label="StudentTMixture")
ax.plot(grid[:, 0], np.exp(gaussian.score_samples(grid)), color="black", linestyle=":", label="GMM")
ax.set(ylim=(1e-5, 1), ylabel="density")
ax.legend()

# %%
# Where it fails: many outliers, and outliers that are alike
# ----------------------------------------------------------
# With 20 % outliers one component holds all of them, and two clusters are joined, from every start. Outliers that lie
# together are a cluster for every mixture.

many = np.vstack([clusters, rng.uniform([-20, -20], [30, 30], size=(110, 2))])
alike = np.vstack([clusters, rng.normal([25, -10], 0.5, size=(40, 2))])
shown = {
    "20 % outliers": (many, StudentTMixture(3, n_init=10, random_state=0).fit(many)),
    "outliers that are alike": (alike, StudentTMixture(3, random_state=0).fit(alike)),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6))
for ax, (title, (rows, model)) in zip(axes, shown.items(), strict=True):
    ax.scatter(*rows.T, s=10, color=colors[model.labels_], alpha=np.clip(model.outlier_weights_, 0.15, 1))
    draw_ellipses(model, ax)
    ax.set_title(f"{title}\nRand index {adjusted_rand_score(y, model.labels_[: len(y)]):.2f}")
    ax.set(xlim=(-22, 32), ylim=(-22, 32))

plt.show()
