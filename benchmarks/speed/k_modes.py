"""FuzzyKPrototypes beside k-modes of the package kmodes: the mushroom table, as many starts, two clusters.

``python -m benchmarks k-modes [--rows 2000 8124]``

Ours starts five times, by default. The package does so with the starts of Huang; with those of Cao, its default, it
starts once, as they are always the same. It gets missing cells as a category of their own, as it takes no gaps. Each
side has a process of its own; they take turns, and the best of three counts. The record has for each number of rows the
seconds of each, and their agreement with the two classes.
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
THEIRS = {
    title: f"model = kmodes.kmodes.KModes(2, {start}, random_state=0).fit(X)"
    for title, start in {
        f"kmodes, {STARTS} starts of Huang": f"init='Huang', n_init={STARTS}",
        "kmodes, 1 start of Cao": "init='Cao', n_init=1",
    }.items()
}


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
        seconds: dict[str, list[float]] = {side: [] for side in ("ours", *THEIRS)}
        labels = {}
        for _ in range(REPEATS + 1):  # the first is a warm-up
            took, model = timed(lambda frame=frame: FuzzyKPrototypes(2, n_init=STARTS, random_state=0).fit(frame))
            seconds["ours"].append(took)
            labels["ours"] = model.labels_
            for side, fit in THEIRS.items():
                seconds[side].append(other.run(fit)[0])
                labels[side] = np.asarray(other.take("model.labels_"))
        found = {side: min(times[1:]) for side, times in seconds.items()}
        agreement = {side: float(adjusted_rand_score(classes, each)) for side, each in labels.items()}
        record[str(rows)] = {"seconds": found, "agreement": agreement}
        ratios = "; ".join(f"{side} {found[side] / found['ours']:.1f}x" for side in THEIRS)
        print(f"{rows} rows: ours {found['ours']:.3f} s, {ratios}; agreement {agreement}", flush=True)
    other.close()
    record.save()


if __name__ == "__main__":
    main()
