"""
AFCM: clusters of any shape, and where they meet
================================================

Fuzzy c-means with graph embedding joins each sample to its nearest neighbours and looks for clusters that this graph
connects. Take it for curved clusters with gaps between them, if degrees of membership at the border matter.
"""

# %%
# Two moons
# ---------
# No straight line separates the moons, but fuzzy c-means can draw nothing else between two centres. AFCM embeds the
# graph of the neighbours so that what is connected lies together, and finds the clusters there. A new sample gets the
# memberships of its neighbours, so that the border follows the gap.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import AFCM, FCM, GK
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay

X, moon = make_moons(500, noise=0.1, random_state=0)
fcm = FCM(2, random_state=0).fit(X)
afcm = AFCM(2, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
MembershipContourDisplay.from_estimator(fcm, X, ax=axes[0]).legend_.remove()
MembershipContourDisplay.from_estimator(afcm, X, ax=axes[1])
axes[0].set_title(f"FCM cuts both moons: adjusted Rand index {adjusted_rand_score(moon, fcm.labels_):.2f}")
axes[1].set_title(f"AFCM follows them: {adjusted_rand_score(moon, afcm.labels_):.2f}")

# %%
# The centres of AFCM are means of curved clusters: they need not lie near any sample, and nothing is computed from
# their distances.
#
# How many neighbours
# -------------------
# ``n_neighbors`` decides what is connected. With few neighbours, memberships say little about the border, since a
# sample is compared with few others; with many, the graph bridges the gap and the moons are cut.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharex=True, sharey=True)
for ax, n_neighbors in zip(axes, (10, 30, 60), strict=True):
    model = AFCM(2, n_neighbors=n_neighbors, random_state=0).fit(X)
    top = model.labels_[X[:, 1].argmax()]  # the cluster of the topmost sample comes first, in the same colour each time
    MembershipScatterDisplay.from_memberships(model.memberships_[:, [top, 1 - top]], X, ax=ax).legend_.remove()
    ax.set_title(f"{n_neighbors} neighbours: adjusted Rand index {adjusted_rand_score(moon, model.labels_):.2f}")

# %%
# Two kinds of degrees
# --------------------
# The embedding is learnt together with the clusters, which pulls each sample to one of them: ``embedding_memberships_``
# are nearly hard, however much the clusters overlap. ``memberships_`` also count the clusters of the neighbours. They
# are the ones to read: they are mixed where the clusters meet.

X, _ = make_blobs(600, centers=[[-1.7, 0], [1.7, 0]], random_state=0)
model = AFCM(2, random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
for ax, name in zip(axes, ("embedding_memberships_", "memberships_"), strict=True):
    memberships = getattr(model, name)
    MembershipScatterDisplay.from_memberships(memberships, X, ax=ax)
    ax.set_title(f"{name}: {(memberships.max(axis=1) < 0.9).mean():.0%} of the samples below 0.9")
axes[0].get_legend().remove()

# %%
# When it fails
# -------------
# Samples where two clusters cross or touch are neighbours of both, and the graph connects the clusters. AFCM then cuts
# at a place that has little to do with them. These two bands cross: each of them is straight, so
# :class:`~soft_clustering.GK`, which learns the shape of each cluster, tells them apart.

rng = np.random.default_rng(0)
along = rng.uniform(-4, 4, size=(2, 300))
bands = np.vstack([np.column_stack([along[0], along[0]]), np.column_stack([along[1], -along[1]])])
bands += rng.normal(scale=0.25, size=bands.shape)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
afcm = AFCM(2, random_state=0).fit(bands)
MembershipScatterDisplay.from_memberships(afcm.memberships_, bands, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_estimator(GK(2, random_state=0).fit(bands), bands, ax=axes[1])
axes[0].set_title("AFCM divides the cross into connected parts")
axes[1].set_title("GK finds the two bands")
