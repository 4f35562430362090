"""
SCM: how many clusters, from the density
========================================

Subtractive clustering looks for the samples around which most others lie. It needs no number of clusters and no random
start, and its centres are samples of the data. Take it to find the number of clusters in few features, or good starts
for another method.
"""

# %%
# Peaks of the density
# --------------------
# K-means and fuzzy c-means must be told the number of clusters. Subtractive clustering is not told that there are five
# here. It gives each sample a potential: the number of samples near it, counted with a weight that falls with the
# distance (left, dark is high). The numbers show in which order the samples of highest potential became centres. The
# memberships (right) fall with the distance to these centres.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, SCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

X, _ = make_blobs(700, centers=[[-5, 0], [0, 4], [5, 0], [1, -5], [8, 6]], cluster_std=1.1, random_state=1)
scm = SCM().fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), sharex=True, sharey=True)
axes[0].scatter(*X.T, c=scm.potentials_, cmap="Greys", vmin=0, s=14)
for number, center in enumerate(scm.centers_, start=1):
    mark = {"boxstyle": "circle", "facecolor": "white", "edgecolor": "black"}
    axes[0].text(*center, str(number), bbox=mark, ha="center", va="center", fontsize="small")
axes[0].set(xlabel="feature 0", ylabel="feature 1", title="Potentials: the samples where others are near")
MembershipScatterDisplay.from_estimator(scm, X, ax=axes[1])
axes[1].set_title(f"SCM finds {scm.n_clusters_} clusters")

# %%
# What is subtracted
# ------------------
# The neighbours of the first centre have nearly as high potentials, but must not be the next centres. So each centre
# subtracts its potential from the region around it, and the next centre is the highest sample that is left. A sample
# with more than half of the first potential (``accept_ratio``) becomes a centre, and the search ends at less than 15 %
# (``reject_ratio``). In between, a sample must be far from all centres. After five centres nothing is left.

Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)  # the method works in the unit cube
reach = scm.squash_factor * scm.radius_
left, highest = scm.potentials_.copy(), scm.potentials_.max()
figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharex=True, sharey=True)
for k, index in enumerate(scm.center_indices_, start=1):
    distance = ((Z - Z[index]) ** 2).sum(axis=1)
    left -= left[index] * np.exp(-4 * distance / reach**2)
    if k in (1, 3, 5):
        ax = axes[k // 2]
        image = ax.scatter(*X.T, c=left, cmap="Greys", vmin=0, vmax=highest, s=22, edgecolors="0.8", linewidths=0.3)
        ax.set_title(f"After {k} centre{'s' if k > 1 else ''}: at most {left.max() / highest:.0%} is left")
figure.colorbar(image, ax=axes, label="potential that is left")

# %%
# The radius
# ----------
# One number decides what "near" means: the ``radius``, in units of the range of the features. A small one sees
# details, a large one only the whole. The default is 0.7 times the median distance between two samples. It is worth
# looking at other radii: a number of clusters that holds over a wide range of radii is more than an accident.

radii = np.linspace(0.1, 0.7, 25)
found = [SCM(radius=radius).fit(X).n_clusters_ for radius in radii]
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.step(radii, found, where="mid", color="0.3")
ax.plot(scm.radius_, scm.n_clusters_, marker="D", color=cluster_colors(1)[0], linestyle="none", label="default")
ax.set(xlabel="radius", ylabel="clusters found", yticks=range(0, 17, 2))
ax.set_title(f"{np.mean(np.array(found) == 5):.0%} of the radii find five clusters")
ax.legend()

# %%
# When it fails
# -------------
# In many features all distances are alike, and no radius is both small against the gaps between clusters and large
# enough to reach other samples of the same cluster. Four clusters that fuzzy c-means separates well are broken into
# more by subtractive clustering. If the number of clusters is not known in more than about ten features, let
# :func:`~soft_clustering.selection.choose_n_clusters` compare fits of :class:`~soft_clustering.FCM` or
# :class:`~soft_clustering.GMM`.

rng = np.random.default_rng(0)
directions = rng.normal(size=(4, 20))
y = np.repeat(np.arange(4), 100)
wide = 3.5 * (directions / np.linalg.norm(directions, axis=1, keepdims=True))[y] + rng.normal(size=(400, 20))

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), sharex=True, sharey=True)
broken, fcm = SCM().fit(wide), FCM(4, random_state=0).fit(wide)
MembershipScatterDisplay.from_estimator(fcm, wide, ax=axes[0]).legend_.remove()
rows, columns = linear_sum_assignment(fcm.memberships_.T @ broken.memberships_, maximize=True)
order = [*columns, *np.setdiff1d(np.arange(broken.n_clusters_), columns)]  # the same colours first
MembershipScatterDisplay.from_memberships(broken.memberships_[:, order], wide, ax=axes[1])
axes[0].set_title(f"FCM, told K = 4: Rand index {adjusted_rand_score(y, fcm.labels_):.2f}")
axes[1].set_title(f"SCM finds {broken.n_clusters_}: Rand index {adjusted_rand_score(y, broken.labels_):.2f}")
