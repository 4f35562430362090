"""
RPFKM: clusters among outliers, and the plane that shows them
=============================================================

Robust projected fuzzy k-means looks for the clusters in a projection that it learns with them, and does not square the
distances, so that a far sample pulls little. Take it for round clusters in many redundant features if there are
outliers.
"""

# %%
# Three clusters in thirty features
# ---------------------------------
# The clusters differ in two directions of a space of 30 features; 45 of 495 samples are outliers. In fuzzy c-means the
# squared distance makes them heavy: two centres move to outliers, and the third one takes all clusters. RPFKM finds
# the clusters. The pictures show the plane that RPFKM has learnt, on the left all of it, then the part with the
# clusters.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, RPFKM
from soft_clustering.plotting import MembershipScatterDisplay

rng = np.random.default_rng(0)
centers = np.array([[-4.0, -2.0], [4.0, -2.0], [0.0, 4.0]])
plane, drawn = make_blobs([150, 150, 150], centers=centers, cluster_std=1.1, random_state=0)
directions = np.linalg.qr(rng.normal(size=(30, 2)))[0].T
clean = plane @ directions + rng.normal(scale=0.5, size=(450, 30))
outliers = rng.uniform(-60, 60, size=(45, 2)) @ directions + rng.normal(scale=3, size=(45, 30))
X = np.vstack([clean, outliers])
fcm = FCM(3, random_state=0).fit(X)
rpfkm = RPFKM(3, n_components=2, random_state=0).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(12, 4))
for ax, model in zip(axes, (fcm, fcm, rpfkm), strict=True):
    points = (X - rpfkm.mean_) @ rpfkm.components_.T
    prototypes = (model.centers_ - rpfkm.mean_) @ rpfkm.components_.T
    MembershipScatterDisplay.from_memberships(model.memberships_, points, centers=prototypes, ax=ax).legend_.remove()
    ax.set(xlabel="first learnt component", ylabel="second learnt component")
middle = np.median(points, axis=0)
for ax in axes[1:]:
    ax.set(xlim=(middle[0] - 10, middle[0] + 10), ylim=(middle[1] - 10, middle[1] + 10))
scores = [adjusted_rand_score(drawn, model.labels_[:450]) for model in (fcm, rpfkm)]
axes[0].set_title("FCM: centres among the outliers")
axes[1].set_title(f"FCM, near the clusters: adjusted Rand index {scores[0]:.2f}")
axes[2].set_title(f"RPFKM, near the clusters: {scores[1]:.2f}")

# %%
# Memberships that are exactly 0 or 1
# -----------------------------------
# In fuzzy c-means every sample belongs a little to every cluster. RPFKM gives exact zeros: a sample that is clearly
# nearer to one prototype than to the second belongs to it alone. ``fuzziness_weight`` says how much nearer, in the unit
# of the data; the default ``"auto"`` takes it from the distances at the start. Much larger weights make the prototypes
# coincide, with a warning.

touching, _ = make_blobs(450, centers=0.7 * centers, cluster_std=1.1, random_state=0)
automatic = RPFKM(3, init=0.7 * centers).fit(touching)
figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharex=True, sharey=True)
for ax, factor in zip(axes, (0.3, 1, 1.3), strict=True):
    weight = factor * automatic.fuzziness_weight_
    model = RPFKM(3, fuzziness_weight=weight, init=automatic.centers_).fit(touching)
    MembershipScatterDisplay.from_estimator(model, touching, ax=ax).legend_.remove()
    alone = (model.memberships_ == 1).any(axis=1).mean()
    name = "auto" if factor == 1 else f"{factor:g} times auto"
    ax.set_title(f"{name}: {alone:.0%} in one cluster alone")

# %%
# When it fails
# -------------
# The projection starts from principal components, which follow the largest variance. Outliers that are far away in all
# 30 features have it, and the plane turns to them: seen in that plane, the clusters overlap. With as many components as
# features there is no projection, and the distances alone are robust enough here. The pictures show the plane in which
# the clusters were drawn.
#
# Clusters are taken to be round, too: for elongated ones see :class:`~soft_clustering.GK`.

everywhere = np.vstack([clean, rng.normal(scale=15, size=(45, 30))])
start = centers @ directions  # the same order and colours in both pictures
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True)
for ax, n_components in zip(axes, (2, 30), strict=True):
    model = RPFKM(3, n_components=n_components, init=start).fit(everywhere)
    points, prototypes = everywhere @ directions.T, model.centers_ @ directions.T
    MembershipScatterDisplay.from_memberships(model.memberships_, points, centers=prototypes, ax=ax)
    score = adjusted_rand_score(drawn, model.labels_[:450])
    ax.set(xlim=(-10, 10), ylim=(-8, 10), title=f"n_components={n_components}: adjusted Rand index {score:.2f}")
    ax.set(xlabel="first direction of the clusters", ylabel="second direction of the clusters")
axes[0].get_legend().remove()
