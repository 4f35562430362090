"""
The displays, one by one
========================

:mod:`soft_clustering.plotting` draws memberships with displays like those of scikit-learn: ``from_estimator`` or
``from_memberships`` draws and returns a display, which keeps the axes and everything that was drawn. This page shows
each of them, what it is for, and when another one is better.
"""

# %%
# All of them at a glance
# -----------------------
# A display draws into the axes that it is given, so that several fit into one figure; those of several panels divide
# the place of their axes among them. First come the data and the models: two tables, blobs in the plane, a network,
# texts and an image.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_iris

from soft_clustering import FCM, GMM, LDA, MMSB, AFCMAdaptive, explain
from soft_clustering.datasets import get_dataset, load_graph, make_phantom
from soft_clustering.plotting import (
    ClusterProfilesDisplay,
    GraphDisplay,
    IndexCurvesDisplay,
    MembershipContourDisplay,
    MembershipHeatmapDisplay,
    MembershipScatterDisplay,
    ObjectiveHistoryDisplay,
    SegmentationDisplay,
    TernaryDisplay,
    TopicWordsDisplay,
)
from soft_clustering.selection import choose_n_clusters

iris = load_iris(as_frame=True).data
fcm = FCM(3, random_state=0).fit(iris)
digits = FCM(10, m=1.15, n_init=1, random_state=0).fit(load_digits().data[:500])

blobs, _ = get_dataset("varied_blobs")
gmm = GMM(4, n_init=5, random_state=0).fit(blobs)
criteria = ["xie_beni", "fuzzy_silhouette", "calinski_harabasz", "davies_bouldin"]
choice = choose_n_clusters(FCM(random_state=0), blobs, range(2, 9), criteria=criteria)
plain, accelerated = (FCM(8, m=2.0, accelerate=on, n_init=1, random_state=1).fit(blobs) for on in (False, True))

karate = load_graph("karate")
mmsb = MMSB(4, random_state=0).fit(karate.adjacency)

themes = [
    "match team goal season coach league player final striker cup",
    "shares market profit bank investor price growth economy trade oil",
    "patients doctor hospital drug study disease virus treatment trial risk",
]
rng = np.random.default_rng(0)
falling = 1 / np.arange(2, 12)
texts = [" ".join(rng.choice(themes[i % 3].split(), 20, p=falling / falling.sum())) for i in range(200)]
lda = LDA(3, random_state=0).fit(texts)

phantom = make_phantom(random_state=0)
segmentation = AFCMAdaptive(3, random_state=0).fit(phantom.image)

figure, axes = plt.subplots(3, 3, figsize=(13.5, 11))
MembershipScatterDisplay.from_estimator(fcm, iris, ax=axes[0, 0])
TernaryDisplay.from_estimator(fcm, ax=axes[0, 1])
MembershipHeatmapDisplay.from_estimator(digits, ax=axes[0, 2])
MembershipContourDisplay.from_estimator(gmm, blobs, ax=axes[1, 0])
IndexCurvesDisplay.from_result(choice, ax=axes[1, 1])
ObjectiveHistoryDisplay.from_estimator(plain, name="plain", ax=axes[1, 2])
ObjectiveHistoryDisplay.from_estimator(accelerated, name="accelerated", ax=axes[1, 2])
GraphDisplay.from_estimator(mmsb, karate.adjacency, node_names=karate.node_names, ax=axes[2, 0])
TopicWordsDisplay.from_estimator(lda, ax=axes[2, 1], n_words=8)
SegmentationDisplay.from_estimator(segmentation, phantom.image, ax=axes[2, 2])

# %%
# Samples in the plane
# --------------------
# :class:`~soft_clustering.plotting.MembershipScatterDisplay` is the first look at a table. A sample has the mixture of
# the colours of its clusters, and is the fainter the more uncertain it is. More than two features are projected on two
# principal components: clusters that overlap in this plane may be apart in the other directions, so check with the heat
# map.

MembershipScatterDisplay.from_estimator(fcm, iris)

# %%
# The membership matrix
# ---------------------
# :class:`~soft_clustering.plotting.MembershipHeatmapDisplay` shows all memberships, for any number of features and any
# kind of data. Samples are sorted by cluster and, within a cluster, by their share of it. A blue patch beside the
# diagonal shows which cluster the doubtful samples of another one lean to.

MembershipHeatmapDisplay.from_estimator(digits)

# %%
# Three clusters
# --------------
# :class:`~soft_clustering.plotting.TernaryDisplay` shows the memberships themselves, without loss, if there are three
# clusters. A sample at a corner is certain, one on an edge is between two clusters, one in the middle belongs to all.

TernaryDisplay.from_estimator(fcm)

# %%
# What the clusters are
# ---------------------
# :class:`~soft_clustering.plotting.ClusterProfilesDisplay` says what sets each cluster apart: the features that differ
# most from the other samples, in standard deviations, with an interval. It draws what
# :func:`~soft_clustering.explanation.explain` finds; for texts the bars are words, for graphs central nodes.

ClusterProfilesDisplay(explain(fcm, iris)).plot()

# %%
# The membership surface
# ----------------------
# :class:`~soft_clustering.plotting.MembershipContourDisplay` shows the rule rather than the samples: what membership a
# new sample would get anywhere in the plane. It needs exactly two features. Here it shows that a mixture lets its wide
# clusters surround the narrow ones.

MembershipContourDisplay.from_estimator(gmm, blobs)

# %%
# How many clusters
# -----------------
# :class:`~soft_clustering.plotting.IndexCurvesDisplay` draws the criteria of
# :func:`~soft_clustering.selection.choose_n_clusters` over the number of clusters. Each panel marks its own choice, and
# the grey band is the recommendation from all of them.

IndexCurvesDisplay.from_result(choice)

# %%
# Whether a fit has converged
# ---------------------------
# :class:`~soft_clustering.plotting.ObjectiveHistoryDisplay` shows the objective after each pass. Use it if a fit warns
# that it has not converged, or to compare settings: several fits may share the axes.

display = ObjectiveHistoryDisplay.from_estimator(plain, name="plain")
ObjectiveHistoryDisplay.from_estimator(accelerated, name="accelerated", ax=display.ax_)

# %%
# Networks
# --------
# :class:`~soft_clustering.plotting.GraphDisplay` draws each node as a pie chart of its memberships, so that nodes which
# belong to several communities stand out. Of more than 1000 nodes it draws those with the most links; the heat map
# suits large graphs better.

GraphDisplay.from_estimator(mmsb, karate.adjacency, node_names=karate.node_names)

# %%
# Topics
# ------
# :class:`~soft_clustering.plotting.TopicWordsDisplay` shows the strongest words of each topic on one scale. It is how
# one reads a topic model, and finds out whether two topics are the same.

TopicWordsDisplay.from_estimator(lda, n_words=8)

# %%
# Segmented images
# ----------------
# :class:`~soft_clustering.plotting.SegmentationDisplay` shows an image beside its memberships. If the method has
# estimated a bias field, the uneven light of the image, this field and the corrected image follow.

SegmentationDisplay.from_estimator(segmentation, phantom.image)
