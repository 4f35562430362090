"""
GathGeva: clusters that differ in size, shape and weight
========================================================

Gath-Geva gives each cluster a Gaussian density with a weight, a size and a direction of its own; a membership is the
posterior probability of the cluster. It starts from fuzzy c-means and is a fuzzy sister of the Gaussian mixture. Take
it for elliptic clusters of which some are wide and some narrow, some full and some nearly empty.
"""

# %%
# A wide cloud, two small ones and a bar
# --------------------------------------
# :class:`~soft_clustering.GK` learns the direction of each cluster but gives all of them the same volume: the small
# clusters grow into the wide cloud. Gath-Geva learns the volumes, too. The ellipses show the covariances, at two
# standard deviations. The memberships are nearly hard, since they fall with an exponential of the distance.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, GK, GMM, GathGeva
from soft_clustering.plotting import IndexCurvesDisplay, MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(0)
clouds = [
    rng.normal([0, 0], 2, (400, 2)),
    rng.normal([7, 5], 0.5, (150, 2)),
    rng.normal([8.5, -2], 0.4, (100, 2)),
    rng.normal([2, -8], [3, 0.4], (250, 2)),
]
X, cloud = np.vstack(clouds), np.repeat(range(4), [400, 150, 100, 250])
start = [part.mean(axis=0) for part in clouds]  # both methods start there: their clusters have the same colours

circle = 2 * np.array([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])
figure, axes = plt.subplots(1, 2, figsize=(12, 5), sharex=True, sharey=True)
for ax, method in zip(axes, (GK, GathGeva), strict=True):
    model = method(4, init=start).fit(X)
    display = MembershipScatterDisplay.from_estimator(model, X, ax=ax)
    for center, covariance in zip(model.centers_, model.covariances_, strict=True):
        ax.plot(*(center[:, None] + np.linalg.cholesky(covariance) @ circle), color="black", linewidth=1)
    kind = "one volume for all" if method is GK else "a volume for each"
    ax.set_title(f"{method.__name__}, {kind}: adjusted Rand index {adjusted_rand_score(cloud, model.labels_):.2f}")
    if method is GK:
        display.legend_.remove()

# %%
# How many clusters
# -----------------
# The fuzzy hypervolume adds up the volumes of the clusters. It falls while another cluster still fits the data better,
# and stays about the same once clusters are only divided: here from four clusters on. With three, both small clouds
# share a cluster; with five, the last cluster takes a few samples from the end of the bar.

volumes = [GathGeva(K, random_state=0).fit(X).fuzzy_hypervolume_ for K in range(1, 6)]
best = 1 + int(np.argmin(volumes))
figure, axes = plt.subplots(1, 3, figsize=(13, 4))
IndexCurvesDisplay(range(1, 6), {"fuzzy hypervolume": volumes}, best={"fuzzy hypervolume": best}).plot(axes[0])
five = GathGeva(5, random_state=0).fit(X)
three = GathGeva(3, init=five.centers_[:3]).fit(X)
for ax, model in zip(axes[1:], (three, five), strict=True):
    MembershipScatterDisplay.from_estimator(model, X, ax=ax).legend_.remove()
axes[1].set_title("Three clusters: both small clouds in one")
axes[2].set_title(f"Five clusters: one holds {np.bincount(five.labels_).min()} samples")

# %%
# When it fails
# -------------
# A covariance has d (d + 1) / 2 entries to learn. Two clusters of 50 samples differ in two features; further features
# are noise. The more there are, the more easily some samples happen to be flat in some direction, and Gath-Geva follows
# that direction instead. With ten times as many samples it holds out longer. :class:`~soft_clustering.FCM` has no
# covariances and hardly suffers; :class:`~soft_clustering.GMM` with diagonal ones needs d numbers for each cluster.

dimensions = [2, 5, 10, 20, 40]
cases = {
    "FCM": (FCM(2, random_state=0), 100),
    "GMM, diagonal": (GMM(2, covariance_type="diag", random_state=0), 100),
    "GathGeva": (GathGeva(2, random_state=0), 100),
    "GathGeva, 1000 samples": (GathGeva(2, n_init=1, random_state=0), 1000),
}
figure, ax = plt.subplots(figsize=(7.5, 4))
for color, (name, (model, n)) in zip(cluster_colors(4), cases.items(), strict=True):
    agreements = []
    for d in dimensions:
        for seed in range(3):
            noisy = np.random.default_rng(seed).normal(size=(n, d))
            noisy[n // 2 :, :2] += 3
            agreements.append(adjusted_rand_score(np.arange(n) >= n // 2, model.fit(noisy).labels_))
    ax.plot(dimensions, np.reshape(agreements, (-1, 3)).mean(axis=1), "o-", color=color, label=name)
ax.set(xlabel="features, two of which matter", ylabel="adjusted Rand index (mean of 3 draws)", ylim=(0, 1.05))
ax.set_title("Many features, 100 samples: Gath-Geva loses the clusters")
ax.legend(loc="lower left")
