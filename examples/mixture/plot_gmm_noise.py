"""
GMM with noise: outliers that belong to no cluster
==================================================

A Gaussian mixture has to explain every sample, so outliers widen an ellipse or take one for themselves. The parameter
``noise`` adds a background of constant density that explains them instead.
"""

# %%
# Three clusters and scattered outliers
# -------------------------------------
# One sample in ten is drawn uniformly from a large square. Without noise, one ellipse (black: two standard deviations)
# grows over the outliers, and two clusters have to share another one. With ``noise="auto"`` the ellipses fit the
# clusters. The crosses mark the samples whose ``outlier_mass_`` is more than one half; the titles give the adjusted
# Rand index of the other samples with the true clusters.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import GMM
from soft_clustering.plotting import MembershipScatterDisplay

rng = np.random.default_rng(1)
shapes = [[[1.0, 0.6], [0.0, 0.5]], [[0.5, 0.0], [0.0, 1.1]], [[0.8, -0.5], [0.0, 0.4]]]
centers = [[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]]
clusters = [rng.normal(size=(120, 2)) @ shape + center for shape, center in zip(shapes, centers, strict=True)]
outliers = rng.uniform([-10, -8], [14, 14], size=(40, 2))
X, y = np.vstack([*clusters, outliers]), np.repeat([0, 1, 2, -1], [120, 120, 120, 40])
known = y >= 0
turn = np.linspace(0, 2 * np.pi, 200)


def show(model, X, ax):
    """Memberships, ellipses of two standard deviations, and crosses at the outliers."""
    display = MembershipScatterDisplay.from_estimator(model, X, ax=ax)
    for center, covariance in zip(model.centers_, model.covariances_, strict=True):
        edge = np.column_stack([np.cos(turn), np.sin(turn)]) @ np.linalg.cholesky(covariance).T
        ax.plot(*(center + 2 * edge).T, color="black", linewidth=1)
    if model.noise is not None:
        ax.plot(*X[model.outlier_mass_ > 0.5].T, "x", color="black", markersize=5)
    return display


plain = GMM(3, random_state=0).fit(X)
model = GMM(3, noise="auto", tol=1e-5, max_iter=1000, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, sharey=True)
for ax, fitted, title in zip(axes, (plain, model), ("without noise", "noise='auto'"), strict=True):
    show(fitted, X, ax).legend_.remove()
    ax.set_title(f"{title}: Rand index {adjusted_rand_score(y[known], fitted.labels_[known]):.2f}")

# %%
# How sure it is
# --------------
# The mass falls from 1 to 0 at the edges of the clusters. Outliers that lie inside a cluster cannot be told from its
# samples. For new samples there is :meth:`~soft_clustering.GMM.predict_outlier_mass`.

figure, ax = plt.subplots(figsize=(6.5, 4.8))
grid = np.stack(np.meshgrid(np.linspace(-10, 14, 300), np.linspace(-8, 14, 300)), axis=-1)
mass = model.predict_outlier_mass(grid.reshape(-1, 2)).reshape(300, 300)
filled = ax.contourf(grid[..., 0], grid[..., 1], mass, levels=np.linspace(0, 1, 11), cmap="Greys")
ax.scatter(*X[known].T, s=6, color="tab:blue", label="samples of the clusters")
ax.scatter(*X[~known].T, s=18, marker="x", color="tab:red", label="outliers")
figure.colorbar(filled, label="probability of noise")
found = model.outlier_mass_ > 0.5
ax.set_title(f"{found[~known].mean():.0%} of the outliers are found, {found[known].mean():.1%} of the others marked")
ax.legend()

# %%
# When it fails
# -------------
# Clusters that are not elliptic are explained better by small ellipses and much noise. A warning says so: this model is
# of no use here.

moons = make_moons(800, noise=0.05, random_state=0)[0]
model = GMM(2, noise="auto", tol=1e-5, max_iter=1000, random_state=0).fit(moons)
figure, ax = plt.subplots(figsize=(6.5, 4))
show(model, moons, ax).legend_.remove()
ax.set_title(f"Curved clusters: noise took {model.noise_weight_:.0%} of the samples")
