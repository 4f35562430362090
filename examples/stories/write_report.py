"""A report of a comparison: soft and hard models on overlapping groups, and one that fails.

Run ``python examples/write_report.py [report.html]`` and open the file in a browser.
"""

import sys

import pandas
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs

from soft_clustering import FCM, GK, GMM, PCM, SCM, GathGeva, report


def main() -> None:
    X, y = make_blobs([200, 150, 100, 150], centers=None, n_features=4, cluster_std=2.0, random_state=3)
    table = pandas.DataFrame(X, columns=["length", "width", "height", "weight"])
    models = {
        "FCM": FCM(),
        "FCM, m = 1.3": FCM(m=1.3),
        "PCM": PCM(),
        "GK": GK(),
        "GathGeva": GathGeva(),
        "GMM": GMM(),
        "SCM": SCM(),
        "KMeans": KMeans(),
        "DBSCAN": DBSCAN(eps=2.0),
        "FCM, m = 0.5": FCM(m=0.5),  # refused: the fuzzifier must be larger than 1
    }
    path = sys.argv[1] if len(sys.argv) > 1 else "report.html"
    summary = report.compare(models, table, y, path=path, name="four overlapping groups")
    disputed = [summary["rows"][position] for position in summary["disputes"]["top"][:5]]
    print(f"wrote {path}; the models differ most about rows {disputed}")


if __name__ == "__main__":
    main()
