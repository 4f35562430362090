"""
KMART: a stream of texts whose themes change
============================================

KMART, a modified fuzzy ART, reads texts one after the other. A text joins every category that it matches well enough,
and founds a new category if there is none. Take it for a stream of texts in which new themes may come up at any time
and whose number nobody knows.
"""

# %%
# New themes come up
# ------------------
# The themes of these 150 texts change with time, and some of the texts are about two themes. K-means, fitted to the
# first 60 texts, knows two groups and files all later texts under them. KMART reads the stream once. It founds a
# category when the first text on a new theme arrives, and puts most of the texts about two themes into two categories.
# A dot is a text; the darker it is, the better is the match.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from soft_clustering import KMART
from soft_clustering.plotting import cluster_colors

words_of_theme = {
    "sport": "match team goal season coach league player final striker cup injury champion",
    "markets": "shares market profit bank investor price growth economy trade oil sales budget",
    "health": "patients doctor hospital drug study disease virus treatment trial risk cancer diet",
    "film": "film actor director scene award script cinema festival drama cast star studio",
}
stretches = [["sport"], ["sport", "markets"], ["health"], ["health", "film"], ["sport", "markets", "health", "film"]]

rng = np.random.default_rng(0)
texts, themes = [], []
for present in stretches:
    for _ in range(30):
        n_themes = min(len(present), 1 + (rng.uniform() < 0.25))
        themes.append([str(theme) for theme in rng.choice(present, n_themes, replace=False)])
        texts.append(" ".join(rng.choice(words_of_theme[theme].split()) for theme in np.resize(themes[-1], 24)))
planted = np.array([[theme in mine for theme in words_of_theme] for mine in themes], dtype=float)

kmart = KMART(vigilance=0.25).fit(texts)
X = TfidfVectorizer().fit_transform(texts)
kmeans = KMeans(2, random_state=0).fit(X[:60])
hard = np.eye(2)[kmeans.predict(X)]


def draw_rows(ax, memberships, names, borders=(30, 60, 90, 120)):
    """A row for each cluster, a dot for each text in it."""
    for k, color in enumerate(cluster_colors(len(names))):
        there = np.flatnonzero(memberships[:, k])
        ax.scatter(there, np.full(len(there), k), color=color, alpha=memberships[there, k], s=26, linewidths=0)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    for border in borders:
        ax.axvline(border - 0.5, color="0.8", linewidth=1, zorder=0)


figure, axes = plt.subplots(3, 1, figsize=(11, 6.2), sharex=True, height_ratios=(4, 2, kmart.n_clusters_))
draw_rows(axes[0], planted, list(words_of_theme))
draw_rows(axes[1], hard, ["group 0", "group 1"])
draw_rows(axes[2], kmart.memberships_, [", ".join(words) for words in kmart.top_words(3)])
axes[0].set_title("the themes of the texts, as planted")
axes[1].set_title("k-means, fitted to the first 60 texts: later themes have no group")
axes[2].set(title=f"KMART: {kmart.n_clusters_} categories found in one pass", xlabel="text of the stream")

# %%
# How strict: the vigilance
# -------------------------
# The vigilance is the least match at which a text joins a category: the part of its words that the prototype of the
# category has, too. A strict one gives more and narrower categories. The learning rate says how fast a prototype moves
# towards what it shares with its texts. With a rate of 1, the fast learning of fuzzy ART, a prototype is worn down to
# the few words that all its texts have, and categories multiply.

vigilances = np.linspace(0.05, 0.6, 12)
rates = [0.01, 0.03, 0.1, 0.3, 1.0]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.9), sharey=True)
axes[0].plot(vigilances, [KMART(vigilance=v).fit(texts).n_clusters_ for v in vigilances], "o-", color="black")
axes[0].set(xlabel="vigilance", ylabel="categories", title="strict: more and narrower categories")
n_categories = [KMART(vigilance=0.25, learning_rate=rate).fit(texts).n_clusters_ for rate in rates]
axes[1].plot(rates, n_categories, "o-", color="black")
axes[1].set(xlabel="learning rate (vigilance 0.25)", xscale="log", title="fast learning: categories multiply")
for ax in axes:
    ax.axhline(4, color="0.5", linestyle="--", zorder=0)
axes[0].text(0.6, 4, "planted themes: 4", color="0.4", ha="right", va="bottom")

# %%
# When it fails
# -------------
# The result depends on the order of the texts, because a category never gets words that its first text did not have.
# If the texts about two themes come first, their categories have two themes, and texts about either join them. These
# pictures show the texts about one theme, sorted by their themes. If the order must not matter, take
# :class:`~soft_clustering.SISC` or :class:`~soft_clustering.LDA`.

mixed_first = np.argsort(-planted.sum(axis=1), kind="stable")
unlucky = KMART(vigilance=0.25).fit([texts[i] for i in mixed_first])
single = np.flatnonzero(planted.sum(axis=1) == 1)
single = single[np.argsort(planted[single].argmax(axis=1), kind="stable")]
sizes = planted[single].sum(axis=0)
ends = sizes.cumsum()

figure, axes = plt.subplots(2, 1, figsize=(11, 4.6), sharex=True, height_ratios=(4, 5))
for ax, model, order in zip(axes, (kmart, unlucky), ("the stream as it was", "mixed texts first"), strict=True):
    memberships = model.predict_memberships([texts[i] for i in single])
    draw_rows(ax, memberships, [", ".join(words) for words in model.top_words(3)], ends[:-1])
    several = ((memberships > 0).sum(axis=1) > 1).mean()
    ax.set_title(f"{order}: {model.n_clusters_} categories, {several:.0%} of these texts in several")
axes[1].set_xticks(ends - sizes / 2, [f"texts about {theme}" for theme in words_of_theme])
axes[1].tick_params(axis="x", length=0)
