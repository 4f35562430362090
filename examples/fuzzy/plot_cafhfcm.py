"""
CAFHFCM: the number of clusters is found
========================================

CAFHFCM begins with many clusters and fuses two of them at a time. It can stop at a number that you give, with a result
that hardly depends on the start, or find the number itself: the largest one that random halves of the data agree on.
Take it for round clusters with gaps between them if you do not know how many there are.
"""

# %%
# Six clusters, and nobody says so
# --------------------------------
# Fuzzy c-means has to be told a number of clusters and returns that many: with three it joins clusters, with nine it
# divides them. CAFHFCM is told nothing and finds the six that were drawn, although two of them are close to each other.

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import make_blobs

from soft_clustering import CAFHFCM, FCM, GMM
from soft_clustering.plotting import IndexCurvesDisplay, MembershipScatterDisplay
from soft_clustering.selection import choose_n_clusters

centers = [[-6, -4], [-5, 4], [0, 0], [4, 5], [6.5, 3.5], [5, -5]]
X, _ = make_blobs(600, centers=centers, cluster_std=0.8, random_state=2)
model = CAFHFCM(random_state=0).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharex=True, sharey=True)
for ax, n_clusters in zip(axes, (3, 9), strict=False):
    fcm = FCM(n_clusters, random_state=0).fit(X)
    MembershipScatterDisplay.from_estimator(fcm, X, ax=ax).legend_.remove()
MembershipScatterDisplay.from_estimator(model, X, ax=axes[2]).legend_.remove()
axes[0].set_title("FCM with 3 clusters joins some")
axes[1].set_title("FCM with 9 divides some")
axes[2].set_title(f"CAFHFCM finds {model.n_clusters_}")

# %%
# How the number is found
# -----------------------
# The tree shows the fusions: below it are the first clusters, and a fusion stands at the weight of the penalty that
# causes it. The grey band is the range in which the chosen number of clusters lasts.
#
# On the right is the prediction strength: two random halves of the data are clustered separately, and the strength says
# how much of what one half puts together the other half puts together, too, in the worst cluster. The largest number
# above ``min_strength`` is taken. ``selection="silhouette"`` and ``selection="lifetime"``, the longest band in the
# tree, are faster rules.

K, strengths = model.n_clusters_, model.selection_scores_
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2))
tree = model.hierarchy_.copy()
tree[:, 2] = np.log10(tree[:, 2] / model.hierarchy_[0, 2])  # heights must not be negative
dendrogram(tree, ax=axes[0], no_labels=True, link_color_func=lambda node: "0.4")
axes[0].axhspan(tree[-K, 2], tree[-K + 1, 2], color="0.88", zorder=-1)
axes[0].set_ylabel("log10 (penalty / first penalty)")
axes[0].set_title(f"{len(tree) + 1} clusters are fused; the band is {K} clusters")
curve = IndexCurvesDisplay(list(strengths), {"strength": list(strengths.values())}, best={"strength": K})
curve.plot(axes[1])
axes[1].axhline(model.min_strength, color="0.5", linestyle="--", linewidth=1)
axes[1].text(max(strengths), model.min_strength, "min_strength", color="0.4", ha="right", va="bottom")
axes[1].set_title(f"Halves of the data agree on up to {K} clusters")

# %%
# When it fails
# -------------
# If clusters overlap, the halves disagree about their borders, and no number of clusters is strong enough: the answer
# is then 2. Draw ``selection_scores_`` before you believe a 2: a peak below the line is a hint. If you know a model of
# the clusters, here round and Gaussian, take the BIC of :class:`~soft_clustering.GMM` instead:
# :func:`~soft_clustering.selection.choose_n_clusters` compares the numbers.

angles = np.arange(6) * np.pi / 3
X, _ = make_blobs(600, centers=4 * np.column_stack([np.cos(angles), np.sin(angles)]), cluster_std=1.5, random_state=0)
model = CAFHFCM(random_state=0).fit(X)
mixture = GMM(covariance_type="spherical", random_state=0)
bic = choose_n_clusters(mixture, X, range(2, 10), criteria=["bic"])

figure, axes = plt.subplots(1, 3, figsize=(12, 4))
strengths = model.selection_scores_
IndexCurvesDisplay(list(strengths), {"strength": list(strengths.values())}, best={"strength": 2}).plot(axes[0])
axes[0].axhline(model.min_strength, color="0.5", linestyle="--", linewidth=1)
axes[0].set(ylim=(0, 1), title=f"No number is strong enough; {max(strengths, key=strengths.get)} comes nearest")
MembershipScatterDisplay.from_estimator(model, X, ax=axes[1]).legend_.remove()
axes[1].set_title(f"CAFHFCM finds {model.n_clusters_}")
mixture.set_params(n_clusters=bic.recommended).fit(X)
MembershipScatterDisplay.from_estimator(mixture, X, ax=axes[2]).legend_.remove()
axes[2].set_title(f"The BIC of GMM finds {bic.recommended}")
