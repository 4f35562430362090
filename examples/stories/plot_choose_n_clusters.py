"""
Choosing K honestly
===================

Most methods must be told the number of clusters K. There are many criteria for choosing it, and they disagree.
:func:`~soft_clustering.selection.choose_n_clusters` computes several, recommends one K and says why. This story shows
four cases: clusters that are clear, clusters that overlap, no clusters at all, and clusters of a shape that the
criteria do not know.
"""

# %%
# Clear clusters
# --------------
# Five clusters that hardly overlap. Each K is fitted by fuzzy c-means, and six criteria judge the fits. The function
# returns a table: a row per criterion, a star at its choice. The last line is the recommendation with its reason.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons

from soft_clustering import FCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors
from soft_clustering.selection import choose_n_clusters

criteria = [
    "gaussian_bic",
    "calinski_harabasz",
    "xie_beni",
    "fuzzy_silhouette",
    "modified_partition_coefficient",
    "stability",
]
fcm = FCM(max_iter=1000)  # more passes than usual: without clusters it converges slowly
settings = {"k_range": range(1, 8), "criteria": criteria, "n_bootstrap": 8, "random_state": 0}

centers = [[-6, -3], [-3, 2], [2, 3], [5, -2], [0, -5]]
clear, _ = make_blobs(300, centers=centers, cluster_std=[1.0, 1.2, 0.8, 1.3, 1.0], random_state=0)
result = choose_n_clusters(fcm, clear, **settings)
print(result)


def show(X, result, title):
    """Draw the fit of the recommended K, and the criteria beside it."""
    _, (left, right) = plt.subplots(1, 2, figsize=(12.5, 4.8), width_ratios=[1, 1.7])
    K = result.recommended
    MembershipScatterDisplay.from_estimator(result.estimators[K], X, ax=left).legend_.remove()
    left.set_title(title)
    result.plot(right)


choices = {"clear": result.best}
show(clear, result, f"All see the clusters: K = {result.recommended}")

# %%
# The shaded K is recommended, a diamond is the choice of a criterion. Here all six agree. The recommendation is no
# vote, though: it is the choice of ``gaussian_bic``, which finds planted clusters most often (the page
# :doc:`/guide/selection` has the experiment).

# %%
# Clusters that overlap
# ---------------------
# Three clusters overlap, and a fourth stands apart. Now the criteria disagree, and with reason: there are two groups
# with a gap between them, and four dense regions. Xie-Beni, the silhouette and the partition coefficient reward gaps
# and say 2. The Gaussian BIC asks how many Gaussians explain the data and says 4. Which number is right depends on the
# question: take 2 if groups must be set apart, 4 if each dense region matters.

overlapping, _ = make_blobs([120, 90, 90, 60], centers=[[0, 0], [3.2, 0], [1.6, 2.9], [7, 5]], random_state=0)
result = choose_n_clusters(fcm, overlapping, **settings)
print(result)
choices["overlap"] = result.best
show(overlapping, result, f"Three clusters overlap: K = {result.recommended}")

# %%
# Look at the curve of stability, too. It compares the clusters of pairs of bootstrap samples. There are two maxima, at
# 2 and at 4, and clear drops elsewhere: both answers would be found again in another sample, three clusters would not.

# %%
# No clusters
# -----------
# First, one round Gaussian cloud. Five of the six criteria are not defined for a single cluster. They have to name at
# least two, and they do. Only ``gaussian_bic`` can say K = 1, and does, because the range starts at 1. Begin the range
# at 1 if it is possible that there is nothing to find.

rng = np.random.default_rng(0)
cloud = rng.normal(size=(400, 2))
result = choose_n_clusters(fcm, cloud, **settings)
print(result)
choices["one cloud"] = result.best

# %%
# Second, an evenly filled square. It has no clusters either, but it is no Gaussian: four Gaussians cover it better than
# one, so that ``gaussian_bic`` finds four, and so do the others. Even the stability is high, since a square is divided
# into its quarters again and again.

square = rng.uniform(size=(400, 2))
result = choose_n_clusters(fcm, square, **settings)
print(result)
choices["square"] = result.best
show(square, result, f"An evenly filled square: K = {result.recommended}")

# %%
# A comparison with nothing
# -------------------------
# Agreement of the criteria does not prove that there are clusters. A simple check is to compare with data that have
# none: shuffle each column on its own, which destroys all relations between the features, and cluster again. Each
# dot is the best silhouette of a shuffled table, a diamond that of the data. The cloud and the square are no better
# than their shuffled copies: there is nothing to find.


def best_silhouette(X):
    """Return the largest fuzzy silhouette over K."""
    result = choose_n_clusters(fcm, X, range(2, 8), criteria=["fuzzy_silhouette"], random_state=0)
    return result.scores["fuzzy_silhouette"].max()


figure, ax = plt.subplots(figsize=(8, 3.6))
data_sets = {"clear": clear, "overlap": overlapping, "one cloud": cloud, "square": square}
for place, X in enumerate(data_sets.values()):
    shuffled = [np.column_stack([rng.permutation(column) for column in X.T]) for _ in range(6)]
    values = [best_silhouette(table) for table in shuffled]
    ax.scatter(place + np.linspace(-0.1, 0.1, 6), values, color="0.4", s=10, label="" if place else "shuffled columns")
    style = {"color": cluster_colors(1)[0], "marker": "D", "markersize": 9, "linestyle": "none"}
    ax.plot(place, best_silhouette(X), label="" if place else "data", **style)
ax.set_xticks(range(4), data_sets)
ax.set(ylabel="best fuzzy silhouette, K = 2 to 7")
ax.set_title("Two data sets have structure, two have not")
ax.legend()

# %%
# Clusters of another shape
# -------------------------
# Two moons are two clusters for the eye. All criteria but stability measure how compact the clusters are, and so does
# fuzzy c-means. A moon is not compact, so they cut it into pieces, the more the better. The reason says that the
# choice is the largest K of the range. This is the sign: if the recommended K moves along when the range is made
# longer, the clusters have another shape than the method assumes. Stability says 2, but no criterion mends a fit: the
# two stable halves of fuzzy c-means are not the moons. :class:`~soft_clustering.AFCM` or
# :class:`~soft_clustering.SoftKSC` find clusters of such shapes.

moons, _ = make_moons(300, noise=0.06, random_state=0)
result = choose_n_clusters(fcm, moons, **settings)
print(result)
choices["moons"] = result.best
show(moons, result, f"The moons are cut into pieces: K = {result.recommended}")

# %%
# All choices
# -----------
# The first line is the number of clusters in the data, as far as there is one.

truth = {"clear": 5, "overlap": 4, "one cloud": 1, "square": 1, "moons": 2}
print(f"{'':32}" + "".join(f"{name:>11}" for name in truth))
print(f"{'in the data':32}" + "".join(f"{K:>11}" for K in truth.values()))
for name in criteria:
    print(f"{name:32}" + "".join(f"{choices[data][name]:>11}" for data in truth))

# %%
# When to trust the recommendation
# --------------------------------
# * Trust it if the clusters are compact and the criteria agree, the stability is high at this K and falls after it,
#   and the data do better than their shuffled columns.
# * If criteria disagree, do not vote. Ask what a cluster is for, look at the fits of both numbers
#   (``result.estimators[K]``), and say in the report that there are two answers.
# * Start the range at 1, and end it well beyond the K that you expect.
# * Do not trust it if the recommended K is the largest of the range, or if no picture shows the clusters.
# * Scale the features first: criteria see the same distances as the method.
