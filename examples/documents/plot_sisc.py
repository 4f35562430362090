"""
SISC: texts in two groups, and texts in none
============================================

Similarity-based soft clustering makes sets of texts that may overlap. A text is in every set whose texts it resembles
enough in the mean, so it may be in two sets, or in none. Nothing but a similarity of two texts is needed.
"""

# %%
# Texts with one theme, two themes, and none
# ------------------------------------------
# Each of 120 texts is about sport, markets or health. Another 18 are about two of these, and 6 have no theme, only
# words that any text may have. The pictures show the texts by the first two principal components of their tf-idf
# weights. K-means puts every text into one group, also those between the groups and those in the middle. SISC puts the
# former into two sets, which gives them a mixed, pale colour, and the latter into none: they are grey.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from soft_clustering import LDA, SISC
from soft_clustering.plotting import MembershipScatterDisplay, membership_colors

themes = {
    "sport": "match team goal season coach league player final striker cup injury champion",
    "markets": "shares market profit bank investor price growth economy trade oil sales budget",
    "health": "patients doctor hospital drug study disease virus treatment trial risk cancer diet",
}
any_words = "year time people world report new day week city country life work public start plan home"
kinds = [[theme] for theme in themes for _ in range(40)]
kinds += [["sport", "markets"], ["markets", "health"], ["health", "sport"]] * 6 + [[]] * 6


def write_texts(length):
    """A text for each kind: three quarters of its words are those of its themes, the others are any words."""
    rng = np.random.default_rng(0)
    texts = []
    for kind in kinds:
        pools = [themes[theme].split() for theme in kind] or [any_words.split()]
        own = [rng.choice(pools[i % len(pools)]) for i in range(3 * length // 4)]
        texts.append(" ".join([*own, *rng.choice(any_words.split(), length // 4)]))
    return texts


texts = write_texts(30)
X = TfidfVectorizer(sublinear_tf=True).fit_transform(texts).toarray()
sisc = SISC(3, seed_factor=1, coverage=0.95, random_state=0).fit(texts)
cover = sisc.get_cover()
centers = np.array([X[sisc.labels_ == k].mean(axis=0) for k in range(3)])  # the same order and colours
kmeans = KMeans(3, init=centers, n_init=1).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True)
hard = np.eye(3)[kmeans.labels_]
MembershipScatterDisplay.from_memberships(hard, X, ax=axes[0], s=40).legend_.remove()
MembershipScatterDisplay.from_memberships(cover.astype(float), X, ax=axes[1], s=40)
axes[0].set_title("k-means: every text in one group")
n_two, n_none = (cover.sum(axis=1) == 2).sum(), (cover.sum(axis=1) == 0).sum()
axes[1].set(title=f"SISC: {n_two} texts in two sets, {n_none} in none", ylabel="")

# %%
# How it decides
# --------------
# The membership of a text in a set is its mean similarity with the texts of the set, here the cosine. A threshold
# lambda, the same for all sets, decides whether it is in the set. It follows from the data: it is the value that a
# share ``coverage`` of the texts reach with one of the seeds, which are texts far apart from each other. The picture
# shows two of the three memberships: at the top right are the texts in both sets.

words = [", ".join(found) for found in sisc.top_words(3)]
figure, ax = plt.subplots(figsize=(6.4, 4.8))
ax.scatter(sisc.memberships_[:, 0], sisc.memberships_[:, 1], c=membership_colors(cover), s=40, linewidths=0)
ax.axvline(sisc.threshold_, color="0.5", linestyle="--")
ax.axhline(sisc.threshold_, color="0.5", linestyle="--")
ax.text(0.73, sisc.threshold_, f"lambda = {sisc.threshold_:.2f}", color="0.4", ha="right", va="bottom")
ax.set(xlabel=f"mean similarity with set 0: {words[0]}", ylabel=f"mean similarity with set 1: {words[1]}")
ax.set(xlim=0, ylim=0)
ax.set_title(f"{(cover[:, 0] & cover[:, 1]).sum()} texts reach lambda with both sets")

# %%
# How wide: the coverage
# ----------------------
# With the default ``coverage=0.5`` lambda is large, and only texts that are much like each other form sets: texts that
# mix themes stay outside. A wide coverage, together with one seed for each expected set (``seed_factor=1``), puts them
# into several sets.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), sharex=True, sharey=True)
for ax, coverage in zip(axes, (0.5, 0.8, 0.95), strict=True):
    model = SISC(3, seed_factor=1, coverage=coverage, random_state=0).fit(texts)
    MembershipScatterDisplay.from_memberships(model.get_cover().astype(float), X, ax=ax).legend_.remove()
    none, one, two = np.bincount(model.get_cover().sum(axis=1), minlength=3)
    ax.set(title=f"coverage {coverage}: {none} in none, {one} in one, {two} in two", ylabel="")

# %%
# When it fails
# -------------
# Two short texts about the same thing often have no word in common, so their similarity is 0. With texts of 6 words
# SISC finds more sets than it was asked for, and leaves most texts outside. A topic model such as
# :class:`~soft_clustering.LDA` connects two texts through other texts, which have words of both, and finds the three
# themes.

short_texts = write_texts(6)
X = TfidfVectorizer(sublinear_tf=True).fit_transform(short_texts).toarray()
sisc = SISC(3, random_state=0).fit(short_texts)
lda = LDA(3, random_state=0).fit(short_texts)
cover = sisc.get_cover()
right = np.mean([np.bincount(lda.labels_[40 * k : 40 * (k + 1)]).max() / 40 for k in range(3)])

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
MembershipScatterDisplay.from_memberships(cover.astype(float), X, ax=axes[0], s=40).legend_.remove()
MembershipScatterDisplay.from_memberships(lda.memberships_, X, ax=axes[1], s=40).legend_.remove()
axes[0].set_title(f"SISC: {sisc.n_clusters_} sets, {(~cover.any(axis=1)).mean():.0%} of the texts in none")
axes[1].set(title=f"LDA: {right:.0%} of the texts with one theme are together", ylabel="")
