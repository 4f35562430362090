"""
ECM: doubt and outliers are not the same
========================================

A fuzzy membership of one half may mean that a sample lies between two clusters, or that it lies far from both.
Evidential c-means tells these cases apart: it gives each sample masses on clusters, on sets of clusters (doubt), and
on the empty set (outliers).
"""

# %%
# Between clusters, or far from all
# ---------------------------------
# Three clusters, a few samples on the bridges between each two of them, and five far away. Fuzzy c-means gives the
# bridges and the far samples the same mixed colours. Evidential c-means puts the largest mass of the bridge samples
# on the set of their two clusters, and that of the far samples on the empty set.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from soft_clustering import ECM, FCM
from soft_clustering.plotting import MembershipScatterDisplay, membership_colors

rng = np.random.default_rng(3)
clusters, _ = make_blobs(240, centers=[[-4, 0], [4, 0], [0, 6.5]], cluster_std=0.9, random_state=0)
bridges = np.vstack([rng.normal(middle, 0.5, size=(8, 2)) for middle in [(0, 0), (-2, 3.3), (2, 3.3)]])
far = np.array([[-9.5, 11], [10, 11], [0, -7.5], [-10.5, -6], [11, -6.5]])
X = np.vstack([clusters, bridges, far])


def draw_sets(model, X, ax):
    """Draw the set of largest mass of each sample: a dot for one cluster, a diamond for several, a cross for none."""
    sets = model.focal_sets_[model.hard_credal_]
    size, colors = sets.sum(axis=1), membership_colors(sets, min_opacity=1)
    ax.scatter(*X[size == 1].T, c=colors[size == 1], s=16, label="one cluster")
    ax.scatter(*X[size > 1].T, c=colors[size > 1], s=34, marker="D", edgecolors="black", label="set of clusters")
    ax.scatter(*X[size == 0].T, c="black", s=34, marker="x", label="empty set")


fcm = FCM(3, random_state=0).fit(X)
ecm = ECM(3, alpha=1.0, delta=4.0, init=fcm.centers_).fit(X)  # started there, its clusters have the same colours

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), sharex=True, sharey=True)
MembershipScatterDisplay.from_estimator(fcm, X, ax=axes[0]).legend_.remove()
draw_sets(ecm, X, axes[1])
axes[1].legend(title="largest mass on", loc="upper left", bbox_to_anchor=(1, 1))
axes[0].set_title("FCM: bridges and far samples look alike")
axes[1].set_title("ECM: doubt (diamonds) and outliers (crosses)")

# %%
# What the numbers say
# --------------------
# The masses of a sample sum to 1. The mass of a cluster alone is called its *belief*; with the mass of all sets that
# contain the cluster it is its *plausibility*. ``memberships_`` shares the mass of each set among its clusters, so
# that they can be used like other memberships. The first sample lies in a cluster, the second on a bridge, the third
# far away. The memberships of the last two say little; the masses say why.

names = ["empty", *("{" + ", ".join(map(str, np.flatnonzero(members))) + "}" for members in ecm.focal_sets_[1:])]
print("row  " + "".join(f"{name:>11}" for name in names) + "   memberships")
for row in (0, 241, 265):
    masses = "".join(f"{mass:11.2f}" for mass in ecm.masses_[row])
    print(f"{row:<5}{masses}   {ecm.memberships_[row].round(2)}")

# %%
# Two knobs
# ---------
# ``alpha`` is the price of large sets: the larger it is, the fewer samples are in doubt. ``delta`` is the distance of
# the empty set: a sample farther than this from everything is an outlier. The default ``"auto"`` takes a multiple of
# the spread of the data and is cautious: here it calls nothing an outlier, although the far samples still have the
# largest masses on the empty set.

figure, axes = plt.subplots(2, 3, figsize=(11, 7), sharex=True, sharey=True)
settings = [{"alpha": alpha, "delta": 4.0} for alpha in (0.5, 1.0, 2.0)]
settings += [{"alpha": 1.0, "delta": delta} for delta in (2.0, 4.0, "auto")]
for ax, setting in zip(axes.ravel(), settings, strict=True):
    model = ECM(3, init=fcm.centers_, **setting).fit(X)
    draw_sets(model, X, ax)
    size = model.focal_sets_[model.hard_credal_].sum(axis=1)
    title = f"alpha = {model.alpha:g}, delta = {model.delta_:.3g}:\n"
    ax.set_title(title + f"{(size > 1).sum()} samples in doubt, {(size == 0).sum()} outliers")

# %%
# When it fails
# -------------
# The prototype of a set is the mean of the prototypes of its clusters. If a cluster lies half-way between two others,
# the prototype of the outer two falls on it, and takes its samples: they are said to be *in doubt between the outer
# clusters*, and not in the middle one. The sets of all clusters and single clusters only, ``focal_sets="simple"``,
# avoid this. :class:`~soft_clustering.EVCLUS` has no prototypes, so it can afford larger sets here.

line, y = make_blobs(300, centers=[[-6, 0], [0, 0], [6, 0]], random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10.5, 4), sharex=True, sharey=True)
for ax, kind in zip(axes, ("full", "simple"), strict=True):
    model = ECM(3, alpha=1.0, focal_sets=kind, init=[[-6, 0], [0, 0], [6, 0]]).fit(line)
    draw_sets(model, line, ax)
    taken = (~model.focal_sets_[model.hard_credal_[y == 1]][:, 1]).mean()
    ax.set_title(f'focal_sets="{kind}": {taken:.0%} of the middle samples\nare kept out of the middle cluster')
axes[1].legend(title="largest mass on", loc="upper left", bbox_to_anchor=(1, 1))
