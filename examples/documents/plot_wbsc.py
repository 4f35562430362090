"""Word-based soft clustering of a short list of search results: what "jaguar" may mean.

Words that occur in the same results become a cluster, which explains itself; a result is in the clusters of all its
words.

Run ``python examples/plot_wbsc.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import WBSC

RESULTS = [
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


def main() -> None:
    model = WBSC().fit(RESULTS)
    names = ["\n".join(words) for words in model.cluster_words_]
    order = np.lexsort((model.labels_, model.labels_ < 0))
    U = model.memberships_[order]
    print(model.cluster_words_)
    print(f"results in two clusters or more: {(model.get_cover().sum(axis=1) > 1).sum()}")

    figure, axis = plt.subplots(figsize=(11.5, 6), layout="constrained")
    image = axis.imshow(U, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for d, c in zip(*np.nonzero(U), strict=True):
        axis.text(c, d, f"{U[d, c]:.2f}", ha="center", va="center", color="white" if U[d, c] > 0.5 else "black")
    axis.set_xticks(range(len(names)), names)
    axis.set_yticks(range(len(order)), [RESULTS[d] for d in order])
    axis.xaxis.tick_top()
    axis.set_title("words in both result and cluster over words in either", fontsize=10)
    figure.colorbar(image, shrink=0.6)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
