"""
WBSC: groups that words explain
===============================

Word-based soft clustering does not group the texts but their words: words that occur in much the same texts become a
cluster, and a text belongs to the clusters of all its words. Take it for a short list of short texts, such as the
results of a search: each cluster is named by its words, and their number is found.
"""

# %%
# What "jaguar" may mean
# ----------------------
# A search for "jaguar" finds cars, cats and a football team. Two results are about two of them at once: a car in the
# rainforest, and the coach who drives one. K-means on tf-idf has to be told that there are three groups, and puts each
# result into one of them. WBSC finds the groups and puts these two results into two. Its degrees say how far the words
# of a result and those of a cluster coincide.
#
# A fourth cluster, the word "rivals", which two results have in common, is dropped by ``min_cluster_docs=3``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from soft_clustering import LDA, WBSC
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.plotting import MembershipHeatmapDisplay

results = [
    "Jaguar unveils an electric car with a new engine",
    "The jaguar is a big cat of the rainforest",
    "Jaguars coach happy with quarterback after win",
    "Used jaguar car for sale, engine like new",
    "Rainforest cat: the jaguar hunts at night",
    "Quarterback injured, Jaguars coach worried",
    "Why the jaguar, a big cat, loves water",
    "Electric car test: Jaguar against its rivals",
    "Jaguars beat rivals, quarterback throws record",
    "Saving the rainforest of the jaguar, one big cat at a time",
    "Engine trouble in a classic jaguar car",
    "Night drive: an electric jaguar car in the rainforest",
    "Coach of the Jaguars drives an electric car",
]

wbsc = WBSC(min_cluster_docs=3).fit(results)
X = TfidfVectorizer(stop_words="english").fit_transform(results).toarray()
centers = np.array([X[wbsc.labels_ == k].mean(axis=0) for k in range(3)])  # the same order and colours
kmeans = KMeans(3, init=centers, n_init=1).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), sharey=True)
display = MembershipHeatmapDisplay.from_estimator(wbsc, ax=axes[1])
display.ax_.set_xticks(range(3), ["\n".join(words) for words in wbsc.cluster_words_])
hard = np.eye(3)[kmeans.labels_][display.order_]  # the rows in the same order
MembershipHeatmapDisplay.from_memberships(hard, ax=axes[0]).colorbar_.remove()
axes[0].set_yticks(np.arange(len(results)) + 0.5, [results[i] for i in display.order_])
axes[0].set(ylabel="", title="k-means: three groups, because it was told so")
axes[1].set(xlabel="", ylabel="")
axes[1].set_title(f"WBSC: {(wbsc.get_cover().sum(axis=1) > 1).sum()} results are in two clusters")

# %%
# How similar: the threshold
# --------------------------
# Two clusters of words are united if the texts that have words of both are at least a third of the texts that have
# words of either: ``similarity_threshold=0.33``. A low threshold unites cars and football, which the coach connects; a
# high one leaves most words alone. Here all clusters are kept, "rivals" too.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.6))
for ax, threshold in zip(axes, (0.2, 0.33, 0.7), strict=True):
    model = WBSC(similarity_threshold=threshold).fit(results)
    MembershipHeatmapDisplay.from_estimator(model, ax=ax).colorbar_.remove()
    ax.set_xticks(range(model.n_clusters_), ["\n".join(words) for words in model.cluster_words_], fontsize="small")
    ax.set(xlabel="", ylabel="results, sorted by cluster" if threshold == 0.2 else "")
    ax.set_title(f"threshold {threshold}: {model.n_clusters_} clusters")
axes[2].tick_params(axis="x", rotation=90)

# %%
# When it fails
# -------------
# Long texts with a rich vocabulary rarely share the same sets of words. Here five topics were planted in texts of about
# 80 words, and the clusters of WBSC become ever more with the number of texts. A topic model such as
# :class:`~soft_clustering.LDA` is made for such texts: told to look for five topics, it finds the planted ones.

numbers = [25, 50, 100, 200, 400]
n_clusters = []
for n in numbers:
    corpus = make_topic_corpus(n, 5, random_state=0)
    n_clusters.append(WBSC().fit(corpus.counts).n_clusters_)
lda = LDA(5, random_state=0).fit(corpus.counts)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2))
axes[0].plot(numbers, n_clusters, "o-", color="black")
axes[0].axhline(5, color="0.5", linestyle="--")
axes[0].text(numbers[-1], 9, "planted topics: 5", color="0.4", ha="right")
axes[0].set(xlabel="texts", ylabel="clusters of WBSC", title=f"WBSC: {n_clusters[-1]} clusters of {numbers[-1]} texts")
MembershipHeatmapDisplay.from_estimator(lda, ax=axes[1])
planted = corpus.document_topics
found = lda.memberships_[:, (planted.T @ lda.memberships_).argmax(axis=1)]  # in the order of the planted topics
error = np.abs(found - planted).sum(axis=1).mean() / 2
axes[1].set(xlabel="topic", ylabel="texts, sorted by topic", title=f"LDA: {error:.0%} of a text in the wrong topic")
