"""
GK: clusters that are long and thin
===================================

Gustafson-Kessel is fuzzy c-means with a distance of its own for each cluster: while it runs, it learns in which
direction a cluster is long and in which it is flat. Take it for elongated clusters of similar volume, whatever their
orientation and whatever the units of the features.
"""

# %%
# Four bars
# ---------
# Fuzzy c-means takes every cluster to be round, and cuts pieces off the bars where another centre is nearer. GK
# follows the bars. The black ellipses show the distances that it learnt: along an ellipse all points are equally far
# from the centre.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, GK, GathGeva
from soft_clustering.plotting import MembershipScatterDisplay

rng = np.random.default_rng(0)
bars = []
for middle, angle in [((0, 5), 0), ((0, 0), 0), ((7.5, 2.5), 90), ((11, 2.5), 65)]:
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    across = np.array([-along[1], along[0]])
    bars.append(middle + rng.normal(0, 2.4, (200, 1)) * along + rng.normal(0, 0.35, (200, 1)) * across)
X, bar = np.vstack(bars), np.repeat(range(4), 200)

fcm = FCM(4, random_state=0).fit(X)
gk = GK(4, init=fcm.centers_).fit(X)  # started there, its clusters have the same order and colours
circle = 1.5 * np.array([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])
figure, axes = plt.subplots(1, 2, figsize=(12, 3.8), sharex=True, sharey=True)
for ax, model in zip(axes, (fcm, gk), strict=True):
    display = MembershipScatterDisplay.from_estimator(model, X, ax=ax)
    verb = "cuts" if model is fcm else "follows"
    agreement = adjusted_rand_score(bar, model.labels_)
    ax.set_title(f"{type(model).__name__} {verb} the bars: adjusted Rand index {agreement:.2f}")
    ax.set_aspect("equal")
    if model is fcm:
        display.legend_.remove()
for center, norm in zip(gk.centers_, gk.norm_matrices_, strict=True):
    ellipse = center[:, None] + np.linalg.inv(np.linalg.cholesky(norm)).T @ circle
    axes[1].plot(*ellipse, color="black", linewidth=1)

# %%
# The units do not matter
# -----------------------
# Because each cluster brings its own distance, the result is the same in any units: the second feature may be given in
# tenths of the unit. The distances of fuzzy c-means are then dominated by that feature, and its clusters change. Both
# pictures are drawn in the old units.

tenths = X * [1, 10]
figure, axes = plt.subplots(1, 2, figsize=(12, 3.8), sharex=True, sharey=True)
for ax, model in zip(axes, (fcm, gk), strict=True):
    other = type(model)(4, init=model.centers_ * [1, 10]).fit(tenths)
    display = MembershipScatterDisplay.from_memberships(other.memberships_, X, centers=other.centers_ / [1, 10], ax=ax)
    same = np.mean(other.labels_ == model.labels_)
    ax.set_title(f"{type(model).__name__} in other units: {same:.0%} of the samples keep their cluster")
    ax.set_aspect("equal")
    if model is fcm:
        display.legend_.remove()

# %%
# When it fails
# -------------
# The learnt ellipses differ in shape but have the same volume. A narrow cluster beside a wide one therefore takes
# samples of the wide one. If the sizes are known, ``volumes`` can say so, in the order of the centres in ``init``: it
# holds the determinants of the distances, so that a large number means a small cluster. If they are not known,
# :class:`~soft_clustering.GathGeva` learns a size and a weight for each cluster.

uneven = np.vstack([rng.normal(0, 2, (400, 2)), rng.normal([6, 0], 0.4, (100, 2))])
is_wide = np.arange(500) < 400
ratio = (2 / 0.4) ** 4  # of the determinants of the two covariances
start = [[0, 0], [6, 0]]
models = {
    "GK": GK(2, init=start),
    "GK with volumes": GK(2, init=start, volumes=[1, ratio]),
    "GathGeva": GathGeva(2, init=start),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(uneven)
    display = MembershipScatterDisplay.from_estimator(model, uneven, ax=ax)
    ax.set_title(f"{name}: {np.sum(model.labels_[is_wide] == 1)} of the 400 wide samples lost")
    if name != "GathGeva":
        display.legend_.remove()
