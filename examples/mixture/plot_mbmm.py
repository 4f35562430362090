"""
MBMM: clusters of scores between 0 and 1
========================================

Proportions, probabilities and scores end at 0 and 1, and clusters near an end are skewed: they lean on the border.
The multivariate beta mixture has such clusters. Take it for features that all lie in [0, 1] and rise together within
a cluster.
"""

# %%
# A border that Gaussians do not know
# -----------------------------------
# Two scores of 1200 samples, in three clusters that lean on different sides of the unit square (black). A Gaussian
# mixture has to use symmetric ellipses: its contours of equal density run across the border, part of its probability
# lies where no score can be, and it misplaces the tails of the clusters. The beta mixture ends at the border, gives
# the same samples a larger likelihood, and finds the clusters better.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import beta
from sklearn.metrics import adjusted_rand_score

from soft_clustering import GMM, MBMM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(1)
y = np.repeat([0, 1, 2], 400)
shapes = np.array([[0.9, 8.0, 1.2], [9.0, 2.0, 5.0], [9.0, 9.0, 1.0]])  # a_1, a_2 and b of each cluster
gamma = rng.gamma(shapes[y])
X = gamma[:, :2] / (gamma[:, :2] + gamma[:, 2:])

mbmm = MBMM(3, random_state=0).fit(X)
gmm = GMM(3, init=mbmm.memberships_).fit(X)  # started there, its clusters have the same order and colours

ticks = np.linspace(-0.15, 1.15, 261)
grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
outside = ((grid <= 0) | (grid >= 1)).any(axis=1)

figure, axes = plt.subplots(1, 2, figsize=(10.5, 5.2), sharex=True, sharey=True)
for ax, model in zip(axes, (gmm, mbmm), strict=True):
    display = MembershipScatterDisplay.from_estimator(model, X, ax=ax, s=8)
    density = np.exp(model.score_samples(grid))
    if model is mbmm:
        density[outside] = 0  # the model is not defined there
    else:
        display.legend_.remove()
    ax.contour(ticks, ticks, density.reshape(261, 261), levels=[0.2, 0.6, 1.8, 5.4], colors="0.2", linewidths=0.9)
    ax.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color="black", linewidth=1.5)
    ax.set(xlabel="first score", ylabel="second score", aspect="equal")
draws, _ = gmm.sample(20_000)
spilled = ((draws < 0) | (draws > 1)).any(axis=1).mean()
axes[0].set_title(
    f"GMM: {spilled:.0%} of its draws lie outside the square,\n"
    f"Rand index {adjusted_rand_score(y, gmm.labels_):.2f}, log likelihood {gmm.objective_:.2f} per sample"
)
axes[1].set_title(
    "MBMM: clusters lean on the border,\n"
    f"Rand index {adjusted_rand_score(y, mbmm.labels_):.2f}, log likelihood {mbmm.objective_:.2f} per sample"
)

# %%
# What a cluster is made of
# -------------------------
# Each feature of a cluster has a beta distribution: a first shape of its own, and a second shape that all features of
# the cluster share (the last column of ``shapes_``). A shape below 1 piles the samples up at a border, large shapes
# make a narrow hump. The curves are these distributions, times the weights of the clusters, over histograms of the
# samples.

print(mbmm.shapes_.round(1))

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
inside = np.linspace(0.003, 0.997, 400)
for feature, ax in enumerate(axes):
    ax.hist(X[:, feature], bins=40, range=(0, 1), density=True, color="0.85")
    for k, color in enumerate(cluster_colors(3)):
        a, b = mbmm.shapes_[k, feature], mbmm.shapes_[k, -1]
        ax.plot(inside, mbmm.weights_[k] * beta.pdf(inside, a, b), color=color, label=f"cluster {k}")
axes[0].set(xlabel="first score", ylabel="density", title="First score: one cluster leans left, one right")
axes[1].set(xlabel="second score", title="Second score: two clusters lean on the same border")
axes[0].legend(loc="upper center")

# %%
# When it fails
# -------------
# The features of a cluster share a parameter, so they can only rise together. Here two scores compete: who works more
# for one subject has less time for the other. A group that works little and a group that works much form two bands
# that fall from left to right. The beta mixture has no such clusters and cuts across the bands, at a smaller
# likelihood. :class:`~soft_clustering.GMM` takes correlations of either sign.

rng = np.random.default_rng(0)
group = np.repeat([0, 1], 250)
total = np.array([0.65, 1.1])[group] + rng.normal(0, 0.05, 500)
share = np.where(group == 0, rng.beta(5, 5, 500), rng.beta(8, 8, 500))
effort = np.column_stack([total * share, total * (1 - share)])

cut = MBMM(2, random_state=0).fit(effort)
followed = GMM(2, n_init=5, random_state=0).fit(effort)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
MembershipScatterDisplay.from_estimator(cut, effort, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_estimator(followed, effort, ax=axes[1])
axes[0].set_title(f"MBMM cuts the bands: log likelihood {cut.objective_:.2f} per sample")
axes[1].set_title(f"GMM follows them: log likelihood {followed.objective_:.2f} per sample")
for ax in axes:
    ax.set(xlabel="score in the first subject", ylabel="score in the second", aspect="equal")
