"""
A cluster for outliers
======================

Fuzzy c-means gives every sample to some cluster, also one that is far from all of them. With ``noise_distance`` there
is one more cluster, as far from every sample, which takes those that belong nowhere.
"""

# %%
# Three clusters in a field of outliers
# -------------------------------------
# 300 samples in three round clusters, and 60 outliers. Without noise, a centre leaves its cluster for the outliers, and
# two clusters become one. With noise, all three are found. Noise is grey: the farther from all centres, the more.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from soft_clustering import FCM, GMM
from soft_clustering.plotting import MembershipScatterDisplay

rng = np.random.default_rng(0)
centers = np.array([[-4.0, 0.0], [4.0, 0.0], [0.0, 5.0]])
X = np.vstack([center + rng.standard_normal((100, 2)) for center in centers] + [rng.uniform(-30, 30, (60, 2))])
plain = FCM(3, random_state=0).fit(X)
noisy = FCM(3, noise_distance="auto", random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for ax, model, title in zip(axes, (plain, noisy), ("without noise", "noise_distance='auto'"), strict=True):
    MembershipScatterDisplay.from_estimator(model, X, ax=ax)
    ax.set_title(f"FCM, {title}")

# %%
# How far is noise
# ----------------
# The square of the automatic distance is ``noise_scale`` = 10 times the median squared distance of a sample to its
# nearest centre. The left picture shows the distance of the centres from the true ones, over the scale; the right one
# how much of the outliers and of the clusters is noise. Small scales take members of the clusters, large ones let
# outliers in.


def error(found):
    """Return the mean distance of the true centres to the nearest found ones."""
    return np.linalg.norm(centers[:, None] - found, axis=2).min(axis=1).mean()


scales = [1, 2, 4, 6, 10, 20, 40, 100, 400, 1000]
models = [FCM(3, noise_distance="auto", noise_scale=scale, random_state=0).fit(X) for scale in scales]
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
left.semilogx(scales, [error(model.centers_) for model in models], "o-", label="with noise")
left.axhline(error(plain.centers_), color="0.5", linestyle="--", label="without noise")
left.set(xlabel="noise_scale", ylabel="mean distance of the centres", ylim=0)
left.legend()
right.semilogx(scales, [model.noise_mass_[300:].mean() for model in models], "o-", color="0.4", label="outliers")
right.semilogx(
    scales, [model.noise_mass_[:300].mean() for model in models], "o-", color="C0", label="members of clusters"
)
right.set(xlabel="noise_scale", ylabel="mean noise mass", ylim=(0, 1))
right.legend()

# %%
# When it fails
# -------------
# Noise is what is far from *all centres*, so it needs clusters of similar width. Here is a narrow cluster beside a wide
# one: with one distance for both, the outskirts of the wide cluster are noise. A Gaussian mixture with ``noise='auto'``
# knows the width of each cluster.

narrow, wide = rng.normal(0, 0.3, (150, 2)), rng.normal((8, 0), 3, (150, 2))
both = np.vstack([narrow, wide, rng.uniform(-20, 30, (20, 2))])
fuzzy = FCM(2, noise_distance="auto", random_state=0).fit(both)
mixture = GMM(2, noise="auto", tol=1e-5, random_state=0).fit(both)
figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
MembershipScatterDisplay.from_estimator(fuzzy, both, ax=axes[0])
axes[0].set_title(f"FCM: {np.mean(fuzzy.labels_[150:300] < 0):.0%} of the wide cluster are noise")
MembershipScatterDisplay.from_memberships(
    mixture.memberships_ * (1 - mixture.outlier_mass_[:, None]), both, noise_mass=mixture.outlier_mass_, ax=axes[1]
)
axes[1].set_title(f"GMM: {np.mean(mixture.outlier_mass_[150:300] > 0.5):.0%} of it are noise")

# %%
# And where there are no outliers, it still names some samples. Of 178 wines with 13 standardised measurements:

wine = StandardScaler().fit_transform(load_wine().data)
for scale in (2, 4, 10):
    model = FCM(3, noise_distance="auto", noise_scale=scale, random_state=0).fit(wine)
    print(f"noise_scale={scale}: {np.sum(model.labels_ < 0)} of 178 wines are noise")
plt.show()
