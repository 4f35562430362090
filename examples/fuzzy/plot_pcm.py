"""
PCM: degrees that may all be low
================================

The memberships of fuzzy c-means sum to 1, so every stray sample must belong somewhere. Possibilistic c-means drops
that rule: it gives a sample a *typicality* in each cluster, and an outlier has a low one in all of them. Take it for
dense clusters among noise, and for an outlier score.
"""

# %%
# Three clusters in noise
# -----------------------
# One sample in five is noise, spread over a field that reaches far to the right of the clusters. Fuzzy c-means divides
# the whole plane among the clusters, and the noise pulls its centres away. Possibilistic c-means colours three islands.
# What lies outside belongs to nothing and pulls nothing. Both methods start from the planted centres here, so that
# their clusters have the same colours.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, make_blobs

from soft_clustering import FCM, PCM, PFCM
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay

planted = np.array([[0.0, -3.0], [0.0, 3.0], [-4.5, 0.0]])
clusters, _ = make_blobs(300, centers=planted, cluster_std=0.8, random_state=0)
noise = np.random.default_rng(0).uniform([-9, -7], [13, 7], size=(75, 2))
X = np.vstack([clusters, noise])
is_noise = np.arange(len(X)) >= len(clusters)

fcm = FCM(3, init=planted).fit(X)
pcm = PCM(3, bandwidth_scale=0.5, init=planted).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(12, 4.4), sharex=True, sharey=True)
for ax, model in zip(axes, (fcm, pcm), strict=True):
    display = MembershipContourDisplay.from_estimator(model, X, ax=ax)
    error = np.linalg.norm(model.centers_ - planted, axis=1).max()
    ax.set_title(f"{type(model).__name__}: the centres are up to {error:.2f} off")
    if model is fcm:
        display.legend_.remove()

# %%
# An outlier score
# ----------------
# The largest degree of a sample says how well it fits anywhere. The memberships of fuzzy c-means say only how sure the
# choice between the clusters is: noise behind a cluster is as sure as a member. Typicalities fall to 0 with the
# distance, so that ``1 - memberships_.max(axis=1)`` is an outlier score. The noise that remains above 0.5 fell into a
# cluster by chance; no method can tell it from a member.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
for ax, model in zip(axes, (fcm, pcm), strict=True):
    largest = model.memberships_.max(axis=1)
    ax.hist([largest[~is_noise], largest[is_noise]], np.linspace(0, 1, 21), color=["0.75", "black"], stacked=True)
    lowest = np.argsort(largest)[: len(noise)]
    ax.set_title(f"{type(model).__name__}: {is_noise[lowest].mean():.0%} of the {len(noise)} lowest are noise")
    ax.set_xlabel("largest degree of a sample")
axes[0].set_ylabel("samples")
axes[0].legend(["members of the clusters", "noise"], loc="upper left")

# %%
# When it fails
# -------------
# Nothing keeps the clusters apart: each looks for a dense region by itself, and two may find the same one. The petals
# of iris have three species but, to the eye, two groups. With a wide bandwidth two centres coincide; a warning says
# so, and ``n_effective_clusters_`` counts the distinct ones. A narrow bandwidth, the default, keeps the centres apart,
# but then only samples close to a centre are typical (the others are pale). :class:`~soft_clustering.PFCM` keeps
# memberships beside the typicalities, and its centres apart.

petals = load_iris().data[:, 2:]
start = FCM(3, random_state=0).fit(petals).centers_
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    wide = PCM(3, bandwidth_scale=0.5, init=start).fit(petals)
print(caught[0].message)
narrow = PCM(3, init=start).fit(petals)
pfcm = PFCM(3, init=start).fit(petals)

figure, axes = plt.subplots(1, 3, figsize=(13, 4), sharex=True, sharey=True)
for ax, model in zip(axes, (wide, narrow, pfcm), strict=True):
    display = MembershipScatterDisplay.from_estimator(model, petals, ax=ax)
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
    if model is not pfcm:
        display.legend_.remove()
axes[0].set_title(f"PCM, wide: {wide.n_effective_clusters_} distinct centres of 3")
axes[1].set_title(f"PCM, narrow: {(narrow.memberships_.max(axis=1) > 0.5).mean():.0%} typical above 0.5")
axes[2].set_title("PFCM: three centres, clear memberships")
