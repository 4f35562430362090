"""What the rule of a radius is worth: the default, the best radius that the labels could choose, and k-means.

``python benchmarks/best_radius.py`` takes the ten offline sets; ``--held-out DATA_HOME``, ``--more DATA_HOME`` and
``--planted SEED`` take other sets, as in ``quality.py``. The adjusted Rand index of SCM with 15 radii from 0.3 to 1
times the median distance, and of SoftDBSCANGM with every second percentile of the core distances; k-means has the true
number of clusters. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from offline_sets import add_set_arguments, chosen_sets
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from soft_clustering import SCM, SoftDBSCANGM

MOST = 60  # clusters that SCM may find
FACTORS = np.linspace(0.3, 1, 15)
PERCENTILES = np.arange(1, 96, 2)


def score(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """The index of every way, on one set."""

    def index(model: SCM | SoftDBSCANGM | KMeans) -> float:
        return float(adjusted_rand_score(y, model.fit(X).labels_))

    default = SCM(random_state=0, max_clusters=MOST).fit(X)
    reach = np.sort(cdist(X, X), axis=1)[:, 4]
    radii = [radius for radius in np.unique(np.percentile(reach, PERCENTILES)) if radius > 0]
    return {
        "k-means": index(KMeans(len(np.unique(y)), n_init=10, random_state=0)),
        "SCM": index(default),
        "SCM, best": max(index(SCM(radius=f / 0.7 * default.radius_, max_clusters=MOST)) for f in FACTORS),
        "SoftDBSCANGM": index(SoftDBSCANGM()),
        "SoftDBSCANGM, best": max(index(SoftDBSCANGM(radius)) for radius in radii),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_set_arguments(parser, 600)
    warnings.simplefilter("ignore")
    sets = chosen_sets(parser.parse_args())
    rows = {name: score(X, y) for name, (X, y) in sets.items()}
    ways = list(next(iter(rows.values())))
    print("| set | features | " + " | ".join(ways) + " |\n" + "|---" * (len(ways) + 2) + "|")
    for name, row in rows.items():
        print(f"| {name} | {sets[name][0].shape[1]} | " + " | ".join(f"{row[way]:.3f}" for way in ways) + " |")
    for least, most in ((1, 10), (11, 10**9), (1, 10**9)):
        part = [row for name, row in rows.items() if least <= sets[name][0].shape[1] <= most]
        if part:
            means = " | ".join(f"{np.mean([row[way] for row in part]):.3f}" for way in ways)
            print(f"| mean of {len(part)} | {least} to {most if most < 10**9 else 'any'} | {means} |")


if __name__ == "__main__":
    main()
