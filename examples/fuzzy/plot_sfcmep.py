"""
SFCMEP: a few labels decide which clusters are found
====================================================

Semi-supervised fuzzy c-means takes labels, or degrees of membership, of a few samples and finds the clusters of all
samples that respect them. Take it if you can say of some samples where they belong and want centres and degrees for
the rest.
"""

# %%
# The same samples, divided in two ways
# -------------------------------------
# Four groups stand in a square and two clusters are wanted. Without labels both halvings are about equally good, and
# chance decides. Sixteen labels say which halving is meant: left and right, or bottom and top. A circle is a labelled
# sample, in the colour of its label.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SFCMEP, AFCMSimple, SoftKSC
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors


def draw(ax, model, X, labels):
    """Draw the memberships, and circles around the labelled samples."""
    centers = getattr(model, "centers_", None)
    display = MembershipScatterDisplay.from_memberships(model.memberships_, X, centers=centers, ax=ax)
    display.legend_.remove()
    known = labels >= 0
    ax.scatter(*X[known].T, s=100, facecolors="none", edgecolors="black", linewidths=3.5)
    ax.scatter(*X[known].T, s=100, facecolors="none", edgecolors=cluster_colors(2)[labels[known]], linewidths=2)


X, group = make_blobs(600, centers=[[0, 0], [5, 0], [0, 5], [5, 5]], cluster_std=0.9, random_state=0)
labelled = np.zeros(600, dtype=bool)
labelled[np.random.default_rng(3).choice(600, 16, replace=False)] = True
left_or_right = np.where(labelled, group % 2, -1)  # -1: no label
bottom_or_top = np.where(labelled, group // 2, -1)

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True)
draw(axes[0], AFCMSimple(2, random_state=0).fit(X), X, np.full(600, -1))
draw(axes[1], SFCMEP().fit(X, left_or_right), X, left_or_right)
draw(axes[2], SFCMEP().fit(X, bottom_or_top), X, bottom_or_top)
axes[0].set_title("AFCMSimple, without labels: either halving")
axes[1].set_title("SFCMEP, labels left and right")
axes[2].set_title("SFCMEP, labels bottom and top")

# %%
# Clusters that have no label yet
# -------------------------------
# Labels need not cover all clusters. Here the two upper groups have none, and ``n_clusters=4`` asks for two clusters
# more than there are classes: they are found among the rest.

lower = np.where(labelled & (group < 2), group, -1)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharex=True, sharey=True)
draw(axes[0], SFCMEP().fit(X, lower), X, lower)
draw(axes[1], SFCMEP(n_clusters=4, random_state=0).fit(X, lower), X, lower)
axes[0].set_title("Two classes, two clusters: the rest is divided between them")
axes[1].set_title("n_clusters=4: the rest is two new clusters")

# %%
# Labels that may be wrong
# ------------------------
# A labelled sample keeps its label, and all labelled samples together weigh as much as all others. If some labels are
# wrong, they pull the centres. ``label_confidence`` says how sure the labels are: below 1, a label is evidence that a
# sample far inside the other cluster overrules. Of the 20 labels here, 5 are wrong.

planted = np.array([[-1.5, 0], [1.5, 0]])
X, group = make_blobs(400, centers=planted, random_state=0)
some = np.random.default_rng(1).choice(400, 20, replace=False)
labels = np.full(400, -1)
labels[some] = group[some]
labels[some[:5]] = 1 - group[some[:5]]
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
for ax, confidence in zip(axes, (1.0, 0.8), strict=True):
    model = SFCMEP(label_confidence=confidence).fit(X, labels)
    draw(ax, model, X, labels)
    error = np.linalg.norm(model.centers_ - planted, axis=1).max()
    ax.set_title(f"label_confidence={confidence}: a centre is off by {error:.2f}")

# %%
# When it fails
# -------------
# Each class is one round cluster, and labels cannot bend it: on the moons every label is kept, but the samples beside
# it may go to the other cluster. :class:`~soft_clustering.SoftKSC` takes labels, too, and follows clusters of any
# shape. If only the classes of the other samples matter, a classifier is better still:
# :class:`sklearn.semi_supervised.LabelSpreading`.

X, moon = make_moons(500, noise=0.08, random_state=0)
labels = np.full(500, -1)
some = np.random.default_rng(0).choice(500, 20, replace=False)
labels[some] = moon[some]
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True, sharey=True)
for ax, model in zip(axes, (SFCMEP(), SoftKSC(random_state=0)), strict=True):
    draw(ax, model.fit(X, labels), X, labels)
    agreement = adjusted_rand_score(moon[labels < 0], model.labels_[labels < 0])
    ax.set_title(f"{type(model).__name__}: adjusted Rand index of the rest {agreement:.2f}")
