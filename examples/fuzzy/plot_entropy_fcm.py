"""
ENTROPYFCM: one temperature for the softness
============================================

Entropy c-means adds the entropy of the memberships to the objective of k-means. A single weight, like a temperature,
sets how soft the clusters are; memberships fall exponentially with the squared distance. Take it for round clusters in
many features or in features of different units, and to see clusters at several levels of softness.
"""

# %%
# Thirteen features in different units
# ------------------------------------
# The wines of three growers are described by 13 measurements, from proline near 1000 to a hue near 1. A corner of each
# triangle is a cluster; a sample stands the nearer to a corner, the surer its membership. On the raw table fuzzy
# c-means sees little but proline. On scaled features it finds the growers, but in 13 features all distances are
# similar, and with the usual fuzzifier 2 nearly every wine is in doubt (``m="auto"`` corrects that with a smaller
# fuzzifier). Entropy c-means scales the features itself. Its memberships fall exponentially, so that doubt is left to
# the few wines that really lie between two clusters; how soft they are was chosen by ``solver="path"``, see below.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler

from soft_clustering import ENTROPYFCM, FCM, RPFKM
from soft_clustering.plotting import MembershipScatterDisplay, TernaryDisplay, cluster_colors

wine, grower = load_wine(return_X_y=True)
scaler = MinMaxScaler((-1, 1)).fit(wine)
entropy = ENTROPYFCM(3, solver="path", random_state=0).fit(wine)
raw = FCM(3, m=2.0, init=entropy.centers_).fit(wine)
scaled = FCM(3, m=2.0, init=scaler.transform(entropy.centers_)).fit(scaler.transform(wine))

figure, axes = plt.subplots(1, 3, figsize=(13, 4.4))
for ax, model in zip(axes, (raw, scaled, entropy), strict=True):
    TernaryDisplay.from_estimator(model, ax=ax)
    name = {raw: "FCM, raw features", scaled: "FCM, scaled features", entropy: "ENTROPYFCM"}[model]
    ax.set_title(f"{name}\nadjusted Rand index with the growers {adjusted_rand_score(grower, model.labels_):.2f}")

# %%
# The temperature
# ---------------
# ``entropy_weight`` is in squared units of the scaled data. At a low weight the clusters are those of k-means. As it
# rises, the memberships become softer and the centres move together, until beyond a *critical* weight all of them lie
# on the mean of the data. ``solver="path"`` follows the solutions up to that weight, each started from the one before,
# and keeps the one of smallest Wu-Li index, a validity index for fuzzy clusters.

X, _ = make_blobs(600, centers=[[-4, 0], [4, 0], [-1, 6], [3, 5]], cluster_std=1.1, random_state=0)
path = ENTROPYFCM(4, solver="path", n_path_steps=60, random_state=0).fit(X)
kept = np.argmin(abs(path.pareto_weights_ - path.entropy_weight_))
steps = {"nearly hard": 2, "kept by the path": kept, "melting": len(path.pareto_weights_) - 8}
figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), sharex=True, sharey=True)
for ax, (name, step) in zip(axes, steps.items(), strict=True):
    weight = path.pareto_weights_[step]
    model = ENTROPYFCM(4, entropy_weight=weight, init=path.pareto_centers_[step]).fit(X)
    display = MembershipScatterDisplay.from_estimator(model, X, ax=ax)
    ax.set_title(f"entropy weight {weight:.2g}: {name}")
    if ax is not axes[2]:
        display.legend_.remove()

# %%
# Levels of softness
# ------------------
# The left picture shows where the centres go: they merge one after the other, the two nearest first, and the branches
# are a hierarchy of the clusters. The right picture is the front of the two aims, compact clusters and undecided
# memberships; no solution is better in both. The rings mark the three solutions of the figure above.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
for color, track in zip(cluster_colors(4), path.pareto_centers_[:, :, 0].T, strict=True):
    left.semilogx(path.pareto_weights_, track, color=color, linewidth=2)
left.set(xlabel="entropy weight", ylabel="first coordinate of the centres", title="Centres merge as the weight rises")
compactness, undecided = path.pareto_front_.T / len(X)
right.plot(compactness, undecided, ".-", color="0.5")
chosen = list(steps.values())
right.plot(compactness[chosen], undecided[chosen], "o", color="black", fillstyle="none", markersize=10)
right.axhline(np.log(4), color="0.5", linestyle=":")
right.annotate("all memberships 1/4", (compactness[0], np.log(4)), xytext=(0, -14), textcoords="offset points")
right.set(xlabel="squared distance per sample", ylabel="entropy per sample", title="More entropy costs compactness")

# %%
# When it fails
# -------------
# Scaling by the range of a feature is at the mercy of its extreme values. One sample was recorded with 100 added to its
# first value. The range of that feature is now many times as large, so that the clusters are squeezed together in it,
# and the method cuts them along the other feature, even if it starts from the right centres.
# :class:`~soft_clustering.RPFKM` does not scale, and far samples pull it little. In any case, look at the extremes
# before you scale.

centers = [[-4, 0], [4, 0], [0, 6]]
data, _ = make_blobs(300, centers=centers, cluster_std=1, random_state=0)
data[0, 0] += 100
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharex=True, sharey=True)
for ax, method in zip(axes, (ENTROPYFCM, RPFKM), strict=True):
    display = MembershipScatterDisplay.from_estimator(method(3, init=centers).fit(data), data, ax=ax)
    ax.set_xlim(-8, 8)
    if method is ENTROPYFCM:
        display.legend_.remove()
axes[0].set_title("ENTROPYFCM: a sample beyond the right edge spoils the scale")
axes[1].set_title("RPFKM: three clusters")
