"""
RDFKC: clusters in the codes of an autoencoder
==============================================

In images a single pixel means little, and distances of pixels follow whatever varies most, such as the light. RDFKC
learns short codes with an autoencoder and fuzzy clusters of the codes together. Take it for images and other data with
many related features; it needs the extra ``deep``.
"""

# %%
# Digits under uneven light
# -------------------------
# Each of the handwritten digits gets light from a random side. The light changes the pixels more than the digit does,
# so k-means on the pixels sorts the images by their light: the means of most of its clusters show little but the side
# that the light comes from. The centres of RDFKC are found among the codes and decoded to images: they are digits.
# The numbers in the picture are adjusted Rand indices with the true digits.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from soft_clustering import AFCM, RDFKC
from soft_clustering.plotting import MembershipScatterDisplay

digits, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
angle, strength = rng.uniform(0, 2 * np.pi, (len(y), 1)), rng.uniform(0, 11, (len(y), 1))
row, column = np.mgrid[-1:1:8j, -1:1:8j].reshape(2, 1, 64)
X = digits + strength * (np.cos(angle) * column + np.sin(angle) * row)

kmeans = KMeans(10, n_init=10, random_state=0).fit(X)
model = RDFKC(10, random_state=1).fit(X)
order = linear_sum_assignment(-confusion_matrix(y, model.labels_))[1]  # the cluster of each digit, for the order only

rows = {
    "ten of the images": X[[np.flatnonzero(y == digit)[3] for digit in range(10)]],
    f"k-means, means of the clusters: {adjusted_rand_score(y, kmeans.labels_):.2f}": kmeans.cluster_centers_,
    f"RDFKC, decoded centres: {adjusted_rand_score(y, model.labels_):.2f}": model.centers_[order],
}
figure = plt.figure(figsize=(10, 4))
for part, (title, images) in zip(figure.subfigures(3), rows.items(), strict=True):
    part.suptitle(title, fontsize="medium")
    for ax, image in zip(part.subplots(1, 10), images, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", interpolation="nearest")
        ax.set_axis_off()

# %%
# What the codes have learnt
# --------------------------
# Both panels show the same memberships. Along the first two principal components of the pixels the clusters are mixed:
# these directions are the light. In the codes each cluster has a place. Pale images lie between two clusters.

U = model.memberships_[:, order]  # cluster k is mostly the digit k
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6))
MembershipScatterDisplay.from_memberships(U, X, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_memberships(U, model.embedding_, centers=model.embedding_centers_[order], ax=axes[1])
axes[0].set_title("pixels: the main directions are the light")
axes[1].set_title("codes: the clusters lie apart")

# %%
# Images in doubt
# ---------------
# The memberships say which images to look at. These are the ten most doubtful ones, each with its two largest
# memberships and the digits that these clusters mostly hold.

figure, axes = plt.subplots(1, 10, figsize=(12, 1.9))
for ax, i in zip(axes, np.argsort(U.max(axis=1)), strict=False):
    second, first = U[i].argsort()[-2:]
    ax.imshow(X[i].reshape(8, 8), cmap="gray_r", interpolation="nearest")
    ax.set_title(f"{first}: {U[i, first]:.2f}\n{second}: {U[i, second]:.2f}")
    ax.set_axis_off()

# %%
# When it fails
# -------------
# An autoencoder learns to copy its input, not to untangle it: the codes of two moons are again two moons. A method
# with a neighbour graph, such as :class:`~soft_clustering.AFCM`, follows them. On small tables a network learns little
# that fuzzy c-means does not see, and features of different units must be scaled first.

moons, truth = make_moons(600, noise=0.06, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharex=True, sharey=True)
for ax, estimator in zip(axes, (RDFKC(2, random_state=0), AFCM(2, random_state=0)), strict=True):
    estimator.fit(moons)
    U = estimator.memberships_[:, np.argsort(estimator.centers_[:, 1])[::-1]]  # the upper moon first
    display = MembershipScatterDisplay.from_memberships(U, moons, ax=ax)
    ax.set_title(f"{type(estimator).__name__}: adjusted Rand index {adjusted_rand_score(truth, estimator.labels_):.2f}")
    if ax is axes[0]:
        display.legend_.remove()
