"""Modified fuzzy ART on a stream of documents: a category is founded when a document matches none.

The themes of the stream change, and some documents mix two. Each row is a category with its words; a dot is a document
that joins it, the darker the better the match.

Run ``python examples/plot_kmart.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import KMART

THEMES = {
    "sport": "match team goal season coach league player final striker cup injury champion",
    "markets": "shares market profit bank investor price growth economy trade oil sales budget",
    "health": "patients doctor hospital drug study disease virus treatment trial risk cancer diet",
    "film": "film actor director scene award script cinema festival drama cast star studio",
}
# The number of documents and their themes, one stretch of the stream after the other
STREAM = [(30, ["sport"]), (30, ["sport", "markets"]), (30, ["health"]), (30, ["health", "film"]), (30, [*THEMES])]


def main() -> None:
    rng = np.random.default_rng(0)
    texts, themes = [], []
    for n_documents, present in STREAM:
        for _ in range(n_documents):
            chosen = rng.choice(present, min(len(present), 1 + (rng.uniform() < 0.25)), replace=False)
            texts.append(" ".join(rng.choice(THEMES[theme].split()) for theme in np.resize(chosen, 24)))
            themes.append(list(chosen))
    model = KMART(vigilance=0.25).fit(texts)
    cover = model.get_cover()
    print(f"{model.n_clusters_} categories, {cover.sum(axis=1).mean():.2f} of them per document")

    figure, axes = plt.subplots(
        2, 1, figsize=(11, 6), sharex=True, height_ratios=(len(THEMES), model.n_clusters_), layout="constrained"
    )
    for row, theme in enumerate(THEMES):
        there = [d for d, chosen in enumerate(themes) if theme in chosen]
        axes[0].scatter(there, np.full(len(there), row), s=18, c="0.35", marker="s", linewidths=0)
    axes[0].set(yticks=range(len(THEMES)), yticklabels=list(THEMES), title="themes of the documents, as planted")
    documents, categories = np.nonzero(cover)
    matches = model.memberships_[documents, categories]
    dots = axes[1].scatter(documents, categories, c=matches, s=26, cmap="viridis_r", vmin=0.25, vmax=1, linewidths=0)
    axes[1].set(
        yticks=range(model.n_clusters_),
        yticklabels=[" ".join(words) for words in model.top_words(4)],
        xlabel="document of the stream",
        title=f"{model.n_clusters_} categories found in one pass (vigilance 0.25)",
    )
    for axis in axes:
        axis.set_ylim(-0.6, len(axis.get_yticks()) - 0.4)
        axis.invert_yaxis()
        for end in np.cumsum([n_documents for n_documents, _ in STREAM[:-1]]):
            axis.axvline(end - 0.5, color="0.8", linewidth=1, zorder=0)
    figure.colorbar(dots, ax=axes[1], label="match", shrink=0.9)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
