"""What missing values cost: fits of rows with gaps over those of the same rows without.

``python -m benchmarks missing-cost``

100,000 rows of 16 features in K = 10 clusters, 5, 20 and 40 % of the entries missing at random, so that nearly every
row has a pattern of its own; as many passes from the same start, in turns, best of five.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.lib.records import Record
from benchmarks.lib.timing import in_turns
from soft_clustering import FCM, GMM


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    warnings.simplefilter("ignore")
    rng, record = np.random.RandomState(0), Record("missing_cost")
    X = rng.standard_normal((100_000, 16)) + 3 * rng.standard_normal((10, 16))[rng.randint(10, size=100_000)]
    start, identity = X[:10].copy(), np.stack([np.eye(16)] * 10)
    given = {"weights_init": np.full(10, 0.1), "means_init": start, "precisions_init": identity}
    models = {
        "FCM": lambda: FCM(10, init=start, m=2.0, max_iter=20, tol=0, accelerate=False),
        "GMM full": lambda: GMM(10, **given, max_iter=10, tol=0),
        "GMM diag": lambda: GMM(
            10, **given | {"precisions_init": np.ones((10, 16))}, covariance_type="diag", max_iter=20, tol=0
        ),
    }
    for name, make in models.items():
        for share in (5, 20, 40):
            gappy = X.copy()
            gappy[rng.uniform(size=X.shape) < share / 100] = np.nan
            seconds = in_turns(
                5,
                complete=lambda make=make: make().fit(X),
                gaps=lambda make=make, rows=gappy: make().fit(rows),
            )
            record[f"{name}, {share} %"] = seconds
            ratio = seconds["gaps"] / seconds["complete"]
            print(f"{name}, {share} % missing: {ratio:.2f}x of {1000 * seconds['complete']:.0f} ms", flush=True)
    record.save()


if __name__ == "__main__":
    main()
