"""
LDA: texts that mix topics
==========================

Latent Dirichlet allocation describes a text as a mixture of topics, and a topic as a distribution over words. The
membership of a text in a topic is the share of its words that come from this topic. Take it for texts that mix several
topics, if they are longer than a few words.
"""

# %%
# Sentences about two things at once
# ----------------------------------
# The 36 sentences of the fit are about space, cooking or football, each about one of them. The six new ones are about
# two or three. K-means on tf-idf gives each of these to one group. Fuzzy c-means gives degrees, but they say how near a
# sentence is to the centres, not how much of it belongs where: in the third sentence "rocket" and "launch" are words of
# space, "fans" and "stadium" words of football, and it leans to football. LDA divides the words of a sentence among the
# topics and finds the first three sentences to be half and half.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from soft_clustering import FCM, LDA
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.plotting import TernaryDisplay, TopicWordsDisplay, cluster_colors, membership_colors

texts = """
The rocket carried a telescope and three astronauts into orbit around the earth.
Astronauts repaired the telescope during a long walk outside the space station.
The space station circles the earth every ninety minutes in a low orbit.
A new telescope found a planet in orbit around a distant star.
The rocket launch was delayed because the engine of the rocket leaked fuel.
Engineers tested the engine and the fuel tanks before the launch.
The planet circles its star so closely that its surface melts.
Three astronauts returned to earth after a year on the space station.
The probe passed the planet and sent pictures of its moon back to earth.
A launch to the moon needs a larger rocket and far more fuel.
The telescope measured the light of a star near the edge of the galaxy.
From orbit the astronauts watched a storm cross the surface of the earth.
Chop the garlic and the onion and fry them in butter until golden.
Bake the bread in a hot oven until the crust is golden.
Add salt, pepper and cream to the sauce and stir over a low heat.
Knead the dough, let it rise, and bake the bread in a hot oven.
Stir the onion and the garlic into the tomato sauce and add salt.
Melt the butter in a pan and fry the fish with garlic and pepper.
A good soup needs onion, butter, salt and patience.
Pour the cream over the potatoes and bake them in the oven.
Serve the soup with fresh bread and a little pepper.
The sauce thickens when you stir flour and butter in a hot pan.
Roll out the dough, add the tomato sauce and bake in a hot oven.
Season the fish with salt and pepper and serve it with the potatoes.
The striker scored a late goal and the team won the match.
The goalkeeper saved a penalty in the last minute of the match.
The coach praised the team after the match against the league champions.
A goal in the first minute gave the team the lead in the final.
The referee gave a penalty and the striker scored the winning goal.
The players trained all week for the final of the cup.
Fans sang in the stadium when the team lifted the cup.
The league champions lost the match to a team of young players.
The goalkeeper and the striker left the stadium with the cup.
The coach changed three players before the second half of the match.
The referee stopped the match when fans ran onto the pitch of the stadium.
Young players of the league train every week with a new coach.
""".strip().splitlines()

new_texts = [
    "Astronauts on the space station bake bread in a small oven.",
    "The team ate soup and potatoes before the match.",
    "Fans of the rocket launch filled the stadium and sang.",
    "The coach fried fish for the players and the referee.",
    "A star of the league scored from the edge of the galaxy.",
    "Stir the sauce, watch the match, and look at the moon.",
]

lda = LDA(n_clusters=3, random_state=0).fit(texts)
vectorizer = TfidfVectorizer(stop_words="english", min_df=2)
X, X_new = vectorizer.fit_transform(texts), vectorizer.transform(new_texts)
centers = np.array([np.asarray(X[lda.labels_ == k].mean(axis=0)).ravel() for k in range(3)])  # same order and colours
kmeans = KMeans(3, init=centers, n_init=1).fit(X)
fcm = FCM(3, init=centers).fit(X)
shares = {
    "k-means: one topic each": np.eye(3)[kmeans.predict(X_new)],
    "FCM: how near to each centre": fcm.predict_memberships(X_new),
    "LDA: how much of each topic": lda.predict_memberships(new_texts),
}

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True)
for ax, (title, memberships) in zip(axes, shares.items(), strict=True):
    left = np.zeros(len(new_texts))
    for k, color in enumerate(cluster_colors(3)):
        ax.barh(range(len(new_texts)), memberships[:, k], left=left, color=color, height=0.6, label=f"topic {k}")
        left += memberships[:, k]
    ax.set_title(title)
axes[0].set_yticks(range(len(new_texts)), [textwrap.fill(text, 34) for text in new_texts])
axes[0].set(xlim=(0, 1), ylim=(len(new_texts) - 0.5, -0.5))
axes[2].legend(loc="upper left", bbox_to_anchor=(1, 1))

# %%
# What the topics are
# -------------------
# A topic is read by its most probable words. ``lda.top_words(5)`` returns them as lists.

TopicWordsDisplay.from_estimator(lda, n_words=9)

# %%
# How mixed: the prior of the shares
# ----------------------------------
# ``doc_topic_prior`` is what the model expects of a text before it has read it. A small value expects one topic per
# text; a large one adds a little of every topic to each text, which shows most in short texts such as these. The
# default is 1 / K. The dots are all 42 sentences: the 36 at the corners, the new ones between them.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.7))
for ax, prior in zip(axes, (0.05, 1 / 3, 2.0), strict=True):
    model = LDA(n_clusters=3, doc_topic_prior=prior, random_state=0).fit(texts)
    TernaryDisplay.from_estimator(model, texts + new_texts, ax=ax, s=30)
    ax.set_title(f"prior {prior:.2g}: largest share {model.memberships_.max(axis=1).mean():.2f} in the mean", y=1.04)

# %%
# When it fails
# -------------
# The shares of a text are estimated from its words, so a text of a few words says little about them. Here the true
# shares are known: they were planted, and give the dots their colours. From texts of about 4 words the estimates
# scatter widely; from 100 words they are near the line. If your texts are that short, join those that belong together
# (of an author, of a day), or group them by the words they have in common: :class:`~soft_clustering.WBSC`.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
for ax, length in zip(axes, (4, 100), strict=True):
    corpus = make_topic_corpus(500, 3, document_length=length, alpha=0.4, vocabulary_size=200, random_state=0)
    planted = corpus.document_topics
    found = LDA(n_clusters=3, random_state=0).fit(corpus.counts).memberships_
    found = found[:, (planted.T @ found).argmax(axis=1)]  # the topics in the order of the planted ones
    error = np.abs(found - planted).sum(axis=1).mean() / 2
    ax.plot([0, 1], [0, 1], color="0.5", linewidth=1)
    ax.scatter(planted[:, 0], found[:, 0], c=membership_colors(planted), s=18, linewidths=0)
    ax.set(xlabel="planted share of topic 0", title=f"{length} words: {error:.0%} of a text in the wrong topic")
axes[0].set_ylabel("share that LDA finds")
