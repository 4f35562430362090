"""
Outliers by typicality
======================

Some rows of a table were recorded wrongly. Which degrees of a soft clustering point to them? Memberships that sum to 1
cannot say "nowhere"; typicalities and the mass of the empty set can. This story plants mistakes in real tables and
counts how many of them each score finds, next to the plain distance to the nearest centre and an isolation forest.
"""

# %%
# A table with mistakes
# ---------------------
# Of the 150 iris flowers 15 are spoilt: five were measured in inches, in five the length and the width of the petals
# were swapped, and five sepals have 2 cm too much. The flowers form two groups, one species and the two others, and all
# methods look for these two in standardised features.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import IsolationForest
from sklearn.preprocessing import StandardScaler

from soft_clustering import ECM, FCM, PCM, PFCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors


def spoilt_iris(seed):
    """Return the flowers, 15 of them with mistakes, and which ones these are."""
    X = load_iris().data.copy()
    rows = np.random.default_rng(seed).choice(len(X), 15, replace=False)
    X[rows[:5]] /= 2.54
    X[rows[5:10], 2:] = X[rows[5:10], :1:-1]
    X[rows[10:], 1] += 2
    return StandardScaler().fit_transform(X), np.isin(np.arange(len(X)), rows)


X, is_spoilt = spoilt_iris(0)
fcm = FCM(2, random_state=0).fit(X)
pfcm = PFCM(2, init=fcm.centers_).fit(X)

# %%
# Memberships against typicalities
# --------------------------------
# The rings in the left picture mark the spoilt rows, most of which lie far from both groups. Their memberships must sum
# to 1 all the same, so fuzzy c-means reports doubt: the same middling memberships that it gives to flowers between the
# groups. The right picture compares the largest membership of each row with its largest typicality in
# :class:`~soft_clustering.PFCM`. No vertical line separates the spoilt rows from the others; a horizontal one nearly
# does.

membership, typicality = fcm.memberships_.max(axis=1), pfcm.typicalities_.max(axis=1)
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), width_ratios=[1.25, 1])
display = MembershipScatterDisplay.from_estimator(fcm, X, ax=left)
left.scatter(*display.points[is_spoilt].T, s=90, facecolors="none", edgecolors="black", linewidths=0.8)
left.set_title(f"FCM: {is_spoilt[np.argsort(membership)[:15]].sum()} of the 15 lowest memberships are spoilt rows")
right.scatter(membership[~is_spoilt], typicality[~is_spoilt], s=18, color="0.7", label="correct")
right.scatter(membership[is_spoilt], typicality[is_spoilt], s=30, color="black", marker="x", label="spoilt")
right.set(xlabel="largest membership (FCM)", ylabel="largest typicality (PFCM)")
right.set_title(f"PFCM: {is_spoilt[np.argsort(typicality)[:15]].sum()} of the 15 lowest typicalities are")
right.legend(loc="upper left")

# %%
# How many are found
# ------------------
# Every score ranks the rows, the most suspicious first. The curve counts the spoilt rows among the first ones, on
# average over ten draws of the mistakes; the dotted line is a perfect ranking.
#
# - doubt: the largest membership of fuzzy c-means is low;
# - distance: the nearest centre of fuzzy c-means is far;
# - PCM, PFCM: the largest typicality is low (possibilistic c-means with ``bandwidth_scale=0.25``: its centres coincide
#   on the second table with much larger values);
# - ECM: the mass that evidential c-means puts on the empty set;
# - isolation forest: scikit-learn's, which does not cluster at all.


def suspicions(X, n_clusters):
    """Return the scores of the rows, large for a suspicious one."""
    fcm = FCM(n_clusters, random_state=0).fit(X)
    return {
        "doubt": -fcm.memberships_.max(axis=1),
        "distance": cdist(X, fcm.centers_).min(axis=1),
        "PCM": -PCM(n_clusters, bandwidth_scale=0.25, random_state=0).fit(X).memberships_.max(axis=1),
        "PFCM": -PFCM(n_clusters, random_state=0).fit(X).typicalities_.max(axis=1),
        "ECM": ECM(n_clusters, random_state=0).fit(X).outlier_mass_,
        "isolation forest": -IsolationForest(random_state=0).fit(X).score_samples(X),
    }


def draw_found(ax, tables, n_clusters, n_first=40):
    """Draw how many spoilt rows are among the first of each ranking, as a mean over tables."""
    found = {}
    for X, is_spoilt in tables:
        for name, score in suspicions(X, n_clusters).items():
            first = np.argsort(-score, kind="stable")[:n_first]
            found.setdefault(name, []).append(np.cumsum(is_spoilt[first]))
    looked_at = np.arange(1, n_first + 1)
    for color, (name, counts) in zip(cluster_colors(6), found.items(), strict=True):
        mean = np.mean(counts, axis=0)
        ax.plot(looked_at, mean, color=color, label=f"{name}: {mean[14]:.1f} of the first 15")
    ax.plot(looked_at, np.minimum(looked_at, 15), ":", color="0.5")
    ax.set(xlabel="rows looked at", ylabel="spoilt rows found")
    ax.legend()


figure, ax = plt.subplots(figsize=(8, 4.6))
draw_found(ax, [spoilt_iris(seed) for seed in range(10)], 2)
ax.set_title("Iris: all scores but doubt find most mistakes at once")

# %%
# The typicalities, the empty set and the distance to the nearest centre agree: all of them measure how far a row is
# from every cluster. The plain distance ranks as well here, and the isolation forest is not far behind. What a
# typicality adds is a scale: it lies between 0 and 1 and is measured against the spread of the cluster, so that a row
# of typicality 0.05 is suspicious by itself. And it comes with the clusters, whose centres the outliers pull less.
#
# When it fails
# -------------
# A mistake need not be far away. The next table holds 178 wines with 13 measurements. Each of 15 wines is replaced by a
# row whose values are drawn from those of all wines, feature by feature: every value is usual, only the combination is
# not. Such rows lie *between* the clusters. All scores that measure a distance, and the isolation forest, miss most of
# them; the doubt of fuzzy c-means finds the most. Look at both ends: low typicality for rows that are far, and doubtful
# membership for rows that mix clusters.


def spoilt_wine(seed):
    """Return the wines, 15 of them with values of other wines, and which ones these are."""
    X, rng = load_wine().data, np.random.default_rng(seed)
    rows = rng.choice(len(X), 15, replace=False)
    mixed = X.copy()
    mixed[rows] = X[rng.integers(len(X), size=(15, 13)), np.arange(13)]
    return StandardScaler().fit_transform(mixed), np.isin(np.arange(len(X)), rows)


figure, ax = plt.subplots(figsize=(8, 4.6))
draw_found(ax, [spoilt_wine(seed) for seed in range(10)], 3)
ax.set_title("Wine, mixed rows: doubt finds the most, but not half at once")
