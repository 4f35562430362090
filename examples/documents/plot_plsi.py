"""
PLSI: topics without priors
===========================

Probabilistic latent semantic indexing has the same model as LDA, texts as mixtures of topics, but no priors: it
maximises the likelihood of the words. So there is nothing to choose but the number of topics, and shares may be exactly
0 or 1. Its weakness is overfitting; tempering is the remedy.
"""

# %%
# Texts about one thing
# ---------------------
# Nearly all of these 500 texts of about 8 words have one topic: the planted shares are at the corners, and the largest
# share of a text is near 1. LDA with its default prior gives every text a little of every topic. PLSI has no prior and
# puts the texts where they belong.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from soft_clustering import LDA, PLSI
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.plotting import TernaryDisplay, cluster_colors

corpus = make_topic_corpus(500, 3, vocabulary_size=200, document_length=8, alpha=0.02, random_state=0)
planted = corpus.document_topics

figure, axes = plt.subplots(1, 3, figsize=(12, 3.7))
TernaryDisplay.from_memberships(planted, ax=axes[0])
axes[0].set_title(f"planted: largest share {planted.max(axis=1).mean():.2f}", y=1.04)
for ax, model in zip(axes[1:], (LDA(3, random_state=0), PLSI(3, random_state=0)), strict=True):
    found = model.fit(corpus.counts).memberships_
    found = found[:, (planted.T @ found).argmax(axis=1)]  # the topics in the order of the planted ones
    TernaryDisplay.from_memberships(found, ax=ax)
    ax.set_title(f"{type(model).__name__}: largest share {found.max(axis=1).mean():.2f}", y=1.04)

# %%
# Tempering
# ---------
# Maximum likelihood learns short texts by heart: it explains the texts of the fit very well and new texts badly. To see
# it, read one half of the words of each new text and predict the other half. The perplexity is, roughly, the number of
# words among which the model still hesitates; lower is better.
#
# An inverse temperature ``beta`` below 1 softens the assignment of words to topics. With ``tempered=True``, PLSI holds
# out a tenth of the words and lowers ``beta`` as long as these become more likely. It stops near the best temperature
# of the left panel. The price is on the right: tempered shares are softer than the planted ones.

n_topics = 6
corpus = make_topic_corpus(1600, n_topics, vocabulary_size=400, document_length=12, beta=0.1, random_state=0)
texts, new_texts = corpus.counts[:1000], corpus.counts[1000:].toarray()
read = np.random.default_rng(0).binomial(new_texts, 0.5)  # the words that are read; the others are predicted


def perplexity(model, read, predicted):
    known = model.topic_word_.any(axis=0)  # words that no text of the fit has cannot be predicted
    probabilities = (model.predict_memberships(read) @ model.topic_word_)[:, known]
    predicted = predicted[:, known]
    return np.exp(-(predicted * np.log(np.maximum(probabilities, 1e-12))).sum() / predicted.sum())


betas = np.linspace(0.5, 1, 11)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # at 0.5 and 0.55 all topics become the same, and PLSI says so
    models = [PLSI(n_topics, beta=beta, n_init=1, random_state=0).fit(texts) for beta in betas]
tempered = PLSI(n_topics, tempered=True, random_state=0).fit(texts)

blue, orange, green = cluster_colors(3)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4))
old = [perplexity(model, texts, texts.toarray()) for model in models]
new = [perplexity(model, read, new_texts - read) for model in models]
axes[0].plot(betas, old, "o-", color=blue, label="texts of the fit")
axes[0].plot(betas, new, "o-", color=orange, label="unread half of new texts")
axes[0].axvline(tempered.beta_, color="0.5", linestyle="--", label=f"tempering stops at {tempered.beta_:.2f}")
axes[0].set(xlabel="inverse temperature beta", ylabel="perplexity", ylim=0, title="beta = 1 learns texts by heart")
axes[0].legend(loc=(0.36, 0.8))
bins = np.linspace(1 / n_topics, 1, 21)
planted = corpus.document_topics[:1000]
axes[1].hist(planted.max(axis=1), bins, color="0.8", label="planted")
axes[1].hist(models[-1].memberships_.max(axis=1), bins, histtype="step", color=orange, linewidth=2, label="beta = 1")
axes[1].hist(tempered.memberships_.max(axis=1), bins, histtype="step", color=green, linewidth=2, label="tempered")
axes[1].set(xlabel="largest share of a text", ylabel="texts", title="tempered shares are softer")
axes[1].legend(loc="upper left")

# %%
# When it fails
# -------------
# Without tempering, every topic too many makes the overfitting worse: the scale is logarithmic. Six topics were
# planted. The priors of :class:`~soft_clustering.LDA` hold it back, and tempering holds it back longer. Nor is there a
# ``partial_fit``: for a stream of texts take LDA.

numbers = [3, 6, 10, 15, 20]
kinds = {
    "PLSI, beta = 1": lambda k: PLSI(k, n_init=1, random_state=0),
    "LDA": lambda k: LDA(k, random_state=0),
    "PLSI, tempered": lambda k: PLSI(k, tempered=True, n_init=1, random_state=0),
}
figure, ax = plt.subplots(figsize=(8, 4.4))
for (name, make), color in zip(kinds.items(), (orange, blue, green), strict=True):
    values = [perplexity(make(k).fit(texts), read, new_texts - read) for k in numbers]
    ax.plot(numbers, values, "o-", color=color, label=f"{name}: {values[1]:,.0f} at 6 topics, {values[-1]:,.0f} at 20")
ax.set(xlabel="number of topics", ylabel="perplexity of the unread half", yscale="log", xticks=numbers)
ax.set_title("too many topics: PLSI overfits, tempered PLSI does not")
ax.legend(loc="upper left")
