"""Similarity-based soft clustering of documents: some are in two clusters, some in none.

Each axis is the mean similarity with the documents of one cluster, named by its words. Beyond the line, lambda, a
document is in the cluster: top right it is in both, bottom left in neither. One seed per cluster and a wide coverage
(a small lambda) suit documents that mix themes; with the defaults they fall between the clusters or get their own.

Run ``python examples/plot_sisc.py [picture.png]``; without a file name a window opens.
"""

import sys
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import SISC

THEMES = {
    "sport": "match team goal season coach league player final striker cup injury champion",
    "markets": "shares market profit bank investor price growth economy trade oil sales budget",
    "health": "patients doctor hospital drug study disease virus treatment trial risk cancer diet",
}
ANY = "year time people world report new day week city country life work public start plan home"


def write(rng: np.random.Generator, themes: list[str], length: int = 30) -> str:
    """A text of words of some themes, a quarter of them any words."""
    pools = [THEMES[theme].split() for theme in themes] if themes else [ANY.split()]
    own = [rng.choice(pools[i % len(pools)]) for i in range(3 * length // 4)]
    return " ".join([*own, *rng.choice(ANY.split(), length // 4)])


def main() -> None:
    rng = np.random.default_rng(0)
    kinds = [[theme] for theme in THEMES for _ in range(40)]
    kinds += [["sport", "markets"], ["markets", "health"], ["health", "sport"]] * 6 + [[]] * 6
    texts = [write(rng, kind) for kind in kinds]
    model = SISC(n_clusters=3, seed_factor=1, coverage=0.95, random_state=0).fit(texts)
    words = [" ".join(found) for found in model.top_words(3)]
    cover = model.get_cover()
    print(f"{model.n_clusters_} clusters, lambda {model.threshold_:.2f}")
    print(f"documents in none, one, two clusters: {np.bincount(cover.sum(axis=1))}")

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
    looks = {
        "one theme": ("tab:blue", "o", [len(kind) == 1 for kind in kinds]),
        "two themes": ("tab:red", "D", [len(kind) == 2 for kind in kinds]),
        "no theme": ("0.5", "x", [len(kind) == 0 for kind in kinds]),
    }
    for axis, (a, b) in zip(axes, list(combinations(range(model.n_clusters_), 2))[:3], strict=False):
        for label, (color, marker, rows) in looks.items():
            U = model.memberships_[rows]
            axis.scatter(U[:, a], U[:, b], s=22, c=color, marker=marker, linewidths=0.9, alpha=0.75, label=label)
        axis.axvline(model.threshold_, color="black", linestyle="--", linewidth=1)
        axis.axhline(model.threshold_, color="black", linestyle="--", linewidth=1)
        axis.set(xlabel=f"mean similarity: {words[a]}", ylabel=f"mean similarity: {words[b]}", xlim=0, ylim=0)
        axis.set_title(f"in both: {(cover[:, a] & cover[:, b]).sum()} documents", fontsize=10)
    axes[0].legend(fontsize=8)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
