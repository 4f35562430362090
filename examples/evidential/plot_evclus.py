"""EVCLUS on objects that have no features, only dissimilarities: strings and how many letters differ.

Three families of strings descend from three ancestors. Some strings are half of one family and half of another, and
some are noise. Run ``python examples/plot_evclus.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import EVCLUS

LENGTH = 60
COLORS = {"empty set": "black", "A": "tab:red", "B": "tab:blue", "C": "goldenrod", "all": "0.8"}


def mutate(rng: np.random.Generator, string: np.ndarray, share: float) -> np.ndarray:
    """A copy in which a share of the letters is drawn again."""
    return np.where(rng.uniform(size=len(string)) < share, rng.integers(4, size=len(string)), string)


def main() -> None:
    rng = np.random.default_rng(0)
    ancestors = rng.integers(4, size=(3, LENGTH))
    families = [mutate(rng, ancestor, 0.15) for ancestor in ancestors for _ in range(30)]
    mixed = [mutate(rng, np.where(np.arange(LENGTH) < LENGTH / 2, *ancestors[:2]), 0.1) for _ in range(6)]
    noise = list(rng.integers(4, size=(6, LENGTH)))
    strings = np.array([*families, *mixed, *noise])
    D = (strings[:, None] != strings).sum(axis=2).astype(float)

    model = EVCLUS(n_clusters=3, metric="precomputed", random_state=0).fit(D)

    # clusters in the order of the families, whatever their numbers
    order = [int(np.bincount(model.labels_[30 * k : 30 * (k + 1)]).argmax()) for k in range(3)]
    columns = [model.outlier_mass_, *model.belief_[:, order].T, model.ignorance_]
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.6), width_ratios=[1, 2.1], layout="constrained")
    image = left.imshow(D, cmap="viridis")
    figure.colorbar(image, ax=left, shrink=0.8, label="letters that differ")
    left.set_title("what the method sees", fontsize=10)

    bottom = np.zeros(len(D))
    for (name, color), masses in zip(COLORS.items(), columns, strict=True):
        right.bar(np.arange(len(D)), masses, bottom=bottom, width=1, color=color, label=name)
        bottom += masses
    for edge in (30, 60, 90, 96):
        right.axvline(edge - 0.5, color="white", linewidth=2)
    right.set(xlim=(-0.5, len(D) - 0.5), ylim=(0, 1), ylabel="mass")
    middles = {"family A": 15, "family B": 45, "family C": 75, "A + B": 93, "noise": 99}
    right.set_xticks(list(middles.values()), list(middles), fontsize=8)
    right.legend(title="set of clusters", loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    right.set_title(f"what it says: masses of {len(D)} strings, stress {model.objective_:.3f}", fontsize=10)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
