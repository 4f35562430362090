"""FuzzyKPrototypes beside k-modes of the package kmodes: the mushroom table, as many starts, two clusters.

``python -m benchmarks k-modes [--rows 2000 8124]``

Both start five times by their own defaults; the package gets missing cells as a category of their own, as it takes no
gaps. Each side has a process of its own; they take turns, and the best of three counts. The record has for each number
of rows the seconds of both sides, and their agreement with the two classes.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas
from sklearn.metrics import adjusted_rand_score

from benchmarks.lib.environments import peer
from benchmarks.lib.records import Record
from benchmarks.lib.sets import shared
from benchmarks.lib.timing import timed
from soft_clustering import FuzzyKPrototypes

STARTS, REPEATS = 5, 3
THEIRS = f"model = kmodes.kmodes.KModes(2, n_init={STARTS}, random_state=0).fit(X)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2000, 8124])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("k_modes", partial=arguments != parser.parse_args([]))
    table = pandas.read_csv(shared("categorical", "mushroom.csv"))
    other = peer("kmodes")
    other.run("import kmodes.kmodes")
    for rows in arguments.rows:
        frame = table.iloc[:rows]
        classes, frame = frame["class"], frame.drop(columns="class")
        codes = frame.fillna("missing").apply(lambda column: column.factorize()[0]).to_numpy()
        other.put(X=codes)
        ours, theirs = [], []
        for _ in range(REPEATS + 1):  # the first is a warm-up
            seconds, model = timed(lambda frame=frame: FuzzyKPrototypes(2, n_init=STARTS, random_state=0).fit(frame))
            ours.append(seconds)
            theirs.append(other.run(THEIRS)[0])
        found = {"ours": min(ours[1:]), "kmodes": min(theirs[1:])}
        labels = {"ours": model.labels_, "kmodes": other.take("model.labels_")}
        agreement = {side: float(adjusted_rand_score(classes, np.asarray(each))) for side, each in labels.items()}
        record[str(rows)] = {"seconds": found, "agreement": agreement}
        print(f"{rows} rows: {found['kmodes'] / found['ours']:.1f}x, {found}, {agreement}", flush=True)
    other.close()
    record.save()


if __name__ == "__main__":
    main()
