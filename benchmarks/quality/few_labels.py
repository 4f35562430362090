"""Adjusted Rand index of the rows without a label if 5 % of the rows, at least one of each class, have one.

``python -m benchmarks few-labels [--sets GROUP ...] [--models NAME ...] [--draws 5]``

The groups: ``ten`` offline sets, raw features, and ``held_out``, nine OpenML sets, at most 600 rows of each, raw and
standardised. SFCMEP is compared, on the same draws of labels, with the nearest class mean, the nearest neighbour, label
spreading, and AFCMSimple, which uses no labels. Prints Markdown tables of the means over the draws and records the
figures of every draw.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.semi_supervised import LabelSpreading

from benchmarks.lib.records import Record
from benchmarks.lib.sets import add_arguments, tabulate
from soft_clustering import SFCMEP, AFCMSimple

SHARE = 0.05
GROUPS = ["ten", "held_out"]

Labels = np.ndarray
Model = Callable[[np.ndarray, Labels, int], Labels]  # of X, y with -1, and a seed: labels of all rows


def draw_labels(y: Labels, draw: int) -> Labels:
    """The labels of 5 % of the rows, at least one of each class; -1 for the other rows."""
    rng = np.random.RandomState(draw)
    y = np.unique(y, return_inverse=True)[1]
    first = [rng.permutation(np.flatnonzero(y == c))[0] for c in range(y.max() + 1)]
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), first))
    chosen = np.concatenate([first, others[: max(0, round(SHARE * len(y)) - len(first))]])
    known = np.full(len(y), -1)
    known[chosen] = y[chosen]
    return known


def trained_on_labelled(classifier: Any) -> Model:
    def predict(X: np.ndarray, known: Labels, seed: int) -> Labels:
        return classifier.fit(X[known >= 0], known[known >= 0]).predict(X)

    return predict


def ours(**parameters: Any) -> Model:
    return lambda X, known, seed: SFCMEP(random_state=seed, **parameters).fit(X, known).labels_


MODELS: dict[str, Model] = {
    "SFCMEP": ours(),
    "SFCMEP label_weight=1": ours(label_weight=1.0),
    "SFCMEP label_confidence=0.9": ours(label_confidence=0.9),
    "SFCMEP both": ours(label_confidence=0.9, label_weight=1.0),
    "AFCMSimple": lambda X, known, seed: AFCMSimple(known.max() + 1, random_state=seed).fit(X).labels_,
    "nearest class mean": trained_on_labelled(NearestCentroid()),
    "1-NN": trained_on_labelled(KNeighborsClassifier(1)),
    "LabelSpreading (scikit-learn)": lambda X, known, seed: LabelSpreading(kernel="knn").fit(X, known).transduction_,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, [*MODELS], GROUPS)
    parser.add_argument("--draws", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    def score(name: str, X: np.ndarray, y: Labels, draw: int) -> float:
        """Agreement of the rows without a label."""
        known = draw_labels(y, draw)
        return float(adjusted_rand_score(y[known < 0], MODELS[name](X, known, draw)[known < 0]))

    tabulate(Record("few_labels", partial=arguments != parser.parse_args([])), arguments, arguments.draws, score)


if __name__ == "__main__":
    main()
