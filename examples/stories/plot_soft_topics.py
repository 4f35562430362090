"""
Soft topics against hard topics
===============================

Texts rarely keep to one topic. Here the same texts are clustered twice: hard, by k-means on tf-idf, and softly, by
:class:`~soft_clustering.LDA`. The texts are drawn with known shares of three topics, so that one can measure what the
hard labels lose.
"""

# %%
# Texts that mix topics
# ---------------------
# :func:`~soft_clustering.datasets.make_topic_corpus` draws each of 600 texts, of about 80 words, in two steps: it draws
# the shares of the topics, and then every word from one of the topics with these chances. The left triangle shows the
# shares. A corner is a topic; most texts lie between the corners. K-means gives each text one label, and all that is
# left is the corners. LDA finds shares, and nearly the right ones.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer

from soft_clustering import LDA
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.metrics import adjusted_fuzzy_rand
from soft_clustering.plotting import TernaryDisplay, cluster_colors


def cluster_both_ways(corpus):
    """The planted shares, the labels of k-means as rows of 0 and 1, and the shares of LDA, topics in the same order."""
    planted = corpus.document_topics
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts)
    labels = np.eye(3)[KMeans(3, n_init=3, random_state=0).fit(tfidf).labels_]
    shares = LDA(3, random_state=0).fit(corpus.counts).memberships_
    return planted, *(found[:, (planted.T @ found).argmax(axis=1)] for found in (labels, shares))


corpus = make_topic_corpus(600, 3, alpha=0.5, vocabulary_size=300, random_state=0)
planted, labels, shares = cluster_both_ways(corpus)

figure, axes = plt.subplots(1, 3, figsize=(12, 3.7))
titles = ["planted shares", "k-means: the corners are left", "LDA: the shares are found"]
for ax, memberships, title in zip(axes, (planted, labels, shares), titles, strict=True):
    TernaryDisplay.from_memberships(memberships, ax=ax, s=30)
    ax.set_title(title, y=1.04)

# %%
# What a label loses
# ------------------
# The loss of a text is the part of it that is in the wrong topic: half the sum of the differences of its shares. Of a
# text that is 60 % about one topic, even a perfect label puts 40 % into the wrong topic: this is the grey line. K-means
# is on the line for most texts, so it does its work well; it is the label that loses. A few texts are above the line:
# their label is not that of their largest share.

results = {"k-means": labels, "perfect labels": np.eye(3)[planted.argmax(axis=1)], "LDA": shares}
lost = {name: np.abs(found - planted).sum(axis=1) / 2 for name, found in results.items()}
names = {name: f"{name}: {loss.mean():.0%} lost" for name, loss in lost.items()}
main_share = planted.max(axis=1)
blue, orange = cluster_colors(2)

figure, ax = plt.subplots(figsize=(8, 4.6))
ax.scatter(main_share, lost["k-means"], s=16, color=orange, linewidths=0, label=names["k-means"])
ax.plot([1 / 3, 1], [2 / 3, 0], color="0.5", label=names["perfect labels"])
ax.scatter(main_share, lost["LDA"], s=16, color=blue, linewidths=0, label=names["LDA"])
ax.set(xlabel="planted share of the main topic of a text", ylabel="part of the text in the wrong topic")
ax.set_title("the more a text mixes, the more a label loses")
ax.legend()

# %%
# An index of agreement says the same in one number: the adjusted fuzzy Rand index is 1 for the planted shares and near
# 0 for a partition that has nothing to do with them.

for name, found in results.items():
    print(f"{name}: {adjusted_fuzzy_rand(planted, found):.2f}")

# %%
# Finding texts
# -------------
# Somebody asks for all texts of which at least 30 % is about a topic. A label shows the main topic of a text and hides
# the others. The left panel shows how many of the wanted texts are found, for any share asked for; the right one how
# many of the found texts are wanted. Labels give the same texts whatever share is asked for: too few if it is small,
# and too many if it is large.

asked = np.linspace(0.1, 0.9, 17)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
for name, found, color in (("k-means", labels, orange), ("LDA", shares, blue)):
    both = [((found >= share) & (planted >= share)).sum() for share in asked]
    wanted = [(planted >= share).sum() for share in asked]
    returned = [(found >= share).sum() for share in asked]
    axes[0].plot(asked, np.divide(both, wanted), "o-", color=color, label=name)
    axes[1].plot(asked, np.divide(both, returned), "o-", color=color, label=name)
axes[0].set(xlabel="share asked for", ylim=(0, 1.03), title="wanted texts that are found")
axes[1].set(xlabel="share asked for", title="found texts that are wanted")
axes[1].legend(loc="lower left")

# %%
# When labels are enough
# ----------------------
# If every text keeps to one topic, a label loses next to nothing, and k-means is nearly as good as LDA. The more the
# texts mix, the more there is to lose. The parameter ``alpha`` of the corpus sets how much they mix: near 0 a text has
# one topic, with large values it has equal shares of all.

alphas = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]
losses = []
for alpha in alphas:
    corpus = make_topic_corpus(300, 3, alpha=alpha, vocabulary_size=300, random_state=0)
    planted, labels, shares = cluster_both_ways(corpus)
    losses.append([np.abs(found - planted).sum(axis=1).mean() / 2 for found in (labels, shares)])
losses = np.array(losses)

figure, ax = plt.subplots(figsize=(8, 4.2))
ax.plot(alphas, losses[:, 0], "o-", color=orange, label=f"k-means: {losses[0, 0]:.0%} to {losses[-1, 0]:.0%}")
ax.plot(alphas, losses[:, 1], "o-", color=blue, label=f"LDA: {losses[0, 1]:.0%} to {losses[-1, 1]:.0%}")
ax.set(xlabel="alpha: how much the texts mix their topics", xscale="log", ylim=0)
ax.set(ylabel="part of a text in the wrong topic", title="texts with one topic: a label is enough")
ax.legend()
