"""Every registered estimator against the older package of our name: time, agreement with the classes, peak memory.

``python -m benchmarks default-fits [--repeats 5] [--models NAME ...]`` fits both with their default settings and the
same K on the same input. Each side has a process of its own, the older package (``soft-clustering==0.2.0``) one of its
own environment, which is made on first use. A first fit pays for imports and threads; then both are fitted in turns,
and the best time counts. A fit of more than ten seconds is not repeated, and a fit beyond the limit is ended. Nothing
else should run on the machine. All are fitted with five clusters; DMoN, which depends on their number most, also with
three and ten.

Besides the default fits, the record has the time to the older package's own adjusted Rand index or better: that of ours
with one start, if one start is enough for it, and otherwise that of our default fit; none if neither gets there. The
older package has collapsed where its index is below 0.02. The summary has geometric means of both ratios, over all
methods (a fit of the older package beyond the limit counts as the limit: a lower bound) and over those where the older
package ends in time and has not collapsed. One unit of work is in ``units``.

A new estimator takes part if it is registered and has a line in ``OLDER``, which says how to call the older package.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

import soft_clustering
from benchmarks.lib.environments import Interpreter, older
from benchmarks.lib.processes import ours
from benchmarks.lib.records import Record
from soft_clustering._registry import REGISTRY
from soft_clustering.benchmarking import memory
from soft_clustering.datasets import make_overlapping_graph, make_phantom, make_topic_corpus

K = 5
OTHER_K = {"DMoN": (3, 10)}
PATIENCE = 10.0  # seconds; a slower fit is not repeated
COLLAPSED = 0.02  # adjusted Rand index

# What the estimators get: the arguments of their ``fit``, and the classes.
Input = tuple[dict[str, Any], Any]


def features() -> Input:
    X, y = make_blobs(2000, 8, centers=K, cluster_std=4.0, random_state=0)
    return {"X": X}, y


def unit_cube() -> Input:
    data, y = features()
    return {"X": minmax_scale(data["X"], (0.05, 0.95))}, y


def two_views() -> Input:
    """One Gaussian and one beta feature: the older package has no more."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=2000)
    return {"X": rng.normal(3.0 * y)[:, None], "B": rng.beta(2.0 + 4 * y, 22.0 - 4 * y)[:, None]}, y


def image() -> Input:
    """Five bands of grey among noise, about 2000 pixels."""
    y = np.repeat(np.arange(K), 9)[:, None] + np.zeros((45, 45), dtype=int)
    X = y / K + np.random.default_rng(0).normal(scale=0.05, size=y.shape)
    return {"X": X.reshape(-1, 1)}, y.ravel()


def shaded_image() -> Input:
    """Five levels of grey under uneven light, about 2000 pixels."""
    phantom = make_phantom((45, 45), intensities=np.arange(1, K + 1) / K, noise=0.02, bias=0.3, random_state=0)
    return {"X": phantom.image}, phantom.labels.ravel()


def few_labels() -> Input:
    """Two classes, the first hundred rows labelled."""
    X, y = make_blobs(2000, 8, centers=2, cluster_std=4.0, random_state=0)
    return {"X": X, "y": np.where(np.arange(2000) < 100, y, -1)}, y


def some_labels() -> Input:
    """The first hundred rows labelled."""
    data, y = features()
    return data | {"y": np.where(np.arange(len(y)) < 100, y, -1)}, y


def clients() -> Input:
    """Four clients with equal shares of the rows, none missing."""
    data, y = features()
    return {"X": np.array_split(data["X"], 4)}, y


def partitions() -> Input:
    """Ten noisy soft partitions."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=2000)
    noise = rng.gumbel(size=(10, 2000, K))
    U = np.exp(noise + 3 * np.eye(K)[y])
    return {"X": [*(U / U.sum(axis=2, keepdims=True))]}, y


def documents() -> Input:
    """A thousand texts: news if SOFT_CLUSTERING_DATA_SHARED names their folder, otherwise words of planted topics."""
    path = Path(os.environ.get("SOFT_CLUSTERING_DATA_SHARED", ""), "text", "bbc_news.tsv")
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()[::2][:1000]
        texts, _, y = zip(*(line.split("\t") for line in lines), strict=True)
        return {"X": np.array(texts)}, list(y)
    corpus = make_topic_corpus(1000, K, vocabulary_size=3000, document_length=120.0, random_state=0)
    rows = [corpus.counts[[i]] for i in range(1000)]
    texts = [" ".join(np.repeat(corpus.vocabulary[row.indices], row.data)) for row in rows]
    return {"X": np.array(texts)}, corpus.document_topics.argmax(axis=1)


def graph() -> Input:
    """Five communities of 200 nodes, 20 neighbours inside and 4 by chance."""
    planted = make_overlapping_graph(1000, K, overlap=0.0, degree=20.0, background_degree=4.0, random_state=0)
    return {"X": planted.adjacency.toarray()}, planted.cover.argmax(axis=1)


class Peer(NamedTuple):
    """How both packages are called: some names of K, the seed and the arguments of ``fit`` differ."""

    constructor: str  # of the older package
    data: Callable[[], Input] = features
    older_fit: str = "fit(X)"
    our_fit: str = "fit(X)"
    our_constructor: str | None = None  # if it is not the usual one
    deep: bool = False  # whether the older one needs torch
    prepare: str = ""  # what its constructor needs


# RDFKC of the older package has no networks for rows of features: those of ours.
NETWORK = """
import torch
def network(*widths):
    layers = [torch.nn.Linear(*pair) for pair in zip(widths, widths[1:])]
    return torch.nn.Sequential(*[part for layer in layers for part in (layer, torch.nn.ReLU())][:-1])
"""

OLDER = {
    "FCM": Peer("FCM(n_clusters=K, random_state=0)"),
    "GK": Peer("GK(n_clusters=K, random_state=0)"),
    "GathGeva": Peer("GathGeva(n_clusters=K, random_state=0)"),
    "PCM": Peer("PCM(n_clusters=K, random_state=0)"),
    "PFCM": Peer("PFCM(n_clusters=K, random_state=0)"),
    "ENTROPYFCM": Peer("ENTROPYFCM(c=K)"),
    "SCM": Peer("SCM()"),
    "GMM": Peer("GMM(n_clusters=K, random_state=0)"),
    "MBMM": Peer("MBMM(n_components=K)", unit_cube),
    "BGMM": Peer("BGMM(n_components=K)", two_views, "fit(X[:, 0], B[:, 0])", "fit(X, X_beta=B)"),
    "RoughKMeans": Peer("RoughKMeans(n_clusters=K, random_state=0)"),
    "AFCM": Peer("AFCM(c=K)"),
    "AFCMSimple": Peer("AFCMSimple(c=K)"),
    "CAFCM": Peer("CAFCM(c=K)"),
    "CAFHFCM": Peer("CAFHFCM(c=K)", our_constructor="CAFHFCM(n_clusters=K, random_state=0)"),
    "RPFKM": Peer("RPFKM(c=K, d=K, random_state=0)"),
    "FCC": Peer("FCC(c=K)"),
    "ECM": Peer("ECM(n_clusters=K)"),
    "EVCLUS": Peer("EVCLUS(n_clusters=K, random_state=0)"),
    "KFCM": Peer("KFCM(n_clusters=K)"),
    "KFCCL": Peer("KFCCL(n_clusters=K)"),
    "SKFCM": Peer("SKFCM(n_clusters=K)", image, "fit(X, (45, 45))", "fit(X, image_shape=(45, 45))"),
    "AFCMAdaptive": Peer("AFCMAdaptive(n_clusters=K)", shaded_image),
    # its classes are -1 and 1
    "SoftKSC": Peer("SoftKSC()", few_labels, "fit(X[y >= 0], 2 * y[y >= 0] - 1, X[y < 0])", "fit(X, y)"),
    "SFCMEP": Peer(
        "SFCMEP(K=K, random_state=0)",
        some_labels,
        "fit_predict(X, numpy.array([None if v < 0 else int(v) for v in y], dtype=object))",
        "fit(X, y)",
    ),
    # it finds a number of clusters of its own
    "FeMIFuzzy": Peer(
        "FeMIFuzzy(random_state=0)",
        clients,
        "fit_predict(X, [f'x{j}' for j in range(8)])",
        our_constructor="FeMIFuzzy(n_clusters=K, random_state=0)",
    ),
    "SoftDBSCANGM": Peer("SoftDBSCANGM()"),
    "RDFKC": Peer(
        "RDFKC(K=K, encoder=network(8, 256, 64, 10), decoder=network(10, 64, 256, 8), random_state=0)",
        older_fit="fit_predict(X)",
        deep=True,
        prepare=NETWORK,
    ),
    "BIGCLAM": Peer("BIGCLAM(n_nodes=1000, n_communities=K)", graph),
    "BayesianNMF": Peer("BayesianNMF(n_clusters=K)", graph),
    "MMSB": Peer("MMSB(n_blocks=K, random_state=0)", graph),
    "CDCGS": Peer("CDCGS(n_clusters=K, random_state=0)", graph, deep=True),
    "NOCD": Peer("NOCD()", graph, "fit(sparse.csr_matrix(X), sparse.csr_matrix((len(X), 0)), K)", deep=True),
    "DMoN": Peer("DMoN(len(X), 64, K, random_state=0)", graph, "fit(X, adj=X)", deep=True),
    "SCSPA": Peer("SCSPA(n_clusters=K)", partitions, "fit_predict(X)"),
    "SHBGF": Peer("SHBGF(n_clusters=K)", partitions, "fit_predict(X)"),
    "SMCLA": Peer("SMCLA(n_clusters=K)", partitions, "fit_predict(X)"),
    "SISC": Peer("SISC(k=K)", documents, "fit(list(X))"),
    "KMART": Peer("KMART()", documents, "fit(list(X))"),
    "WBSC": Peer("WBSC()", documents, "fit(list(X))"),
    "LDA": Peer("LDA(n_topics=K, random_state=0)", documents, "fit(list(X))"),
    # its default, tempered, stops after a few passes without having learnt anything
    "PLSI": Peer("PLSI(n_topics=K, tempered=False, random_state=0)", documents, "fit(list(X))"),
}


def our_call(name: str) -> str:
    """Our constructor: with K unless the method finds it itself, and with the seed if it takes one."""
    parameters = getattr(soft_clustering, name)().get_params()
    arguments = ["n_clusters=K"] if parameters.get("n_clusters") is not None else []
    arguments += ["random_state=0"] if "random_state" in parameters else []
    return f"{name}({', '.join(arguments)})"


def give(process: Interpreter, name: str, data: dict[str, Any]) -> None:
    """Hand a process the estimator, K and the data."""
    process.run(f"import numpy\nfrom scipy import sparse\nfrom soft_clustering import {name}\nK = {K}")
    for key, value in data.items():
        made = f"[numpy.array(part) for part in {[part.tolist() for part in value]}]"
        process.run(f"{key} = {made if isinstance(value, list) else f'numpy.array({value.tolist()})'}")


class Side:
    """One package in one process."""

    def __init__(
        self, process: Interpreter, name: str, constructor: str, fit: str, data: dict[str, Any], time_limit: float
    ) -> None:
        self.process, self.time_limit = process, time_limit
        self.found: dict[str, Any] = {}
        self.seconds: list[float] = []
        give(process, name, data)
        process.run(
            f"def fit(**settings):\n    model = {constructor}\n    if settings:\n        model.set_params(**settings)\n"
            f"    model.{fit}\n    return model"
        )

    def first(self, y: Any) -> None:
        """Warm up, then make the fit that gives the memory and the labels."""
        self.process.run("fit()", self.time_limit)
        self.process.run("reset_peak()\nbefore = peak()")
        seconds, _ = self.process.run("model = fit()", self.time_limit)
        _, (peak, labels) = self.process.run("answer = [peak() - before, model.labels_.tolist()]")
        self.seconds.append(seconds)
        self.found = {"ari": adjusted_rand_score(y, labels), "peak_mb": peak / 2**20}

    def again(self) -> None:
        """Make one more timed fit, unless the fits are slow."""
        if self.seconds and self.seconds[0] < PATIENCE:
            self.seconds.append(self.process.run("fit()", self.time_limit)[0])


def compare(name: str, repeats: int, time_limit: float) -> dict[str, Any]:
    peer = OLDER[name]
    data, y = peer.data()
    theirs = older(peer.deep)
    theirs.run(Path(memory.__file__).read_text())  # both sides are measured by the same lines
    theirs.run(peer.prepare)
    sides = {
        "ours": Side(ours(), name, peer.our_constructor or our_call(name), peer.our_fit, data, time_limit),
        "older": Side(theirs, name, peer.constructor, peer.older_fit, data, time_limit),
    }
    row: dict[str, Any] = {}
    for side in sides.values():
        try:
            side.first(y)
        except (RuntimeError, TimeoutError) as error:
            side.found = {"problem": str(error)}
    for _ in range(repeats - 1):
        for side in sides.values():
            side.again()
    for label, side in sides.items():
        row[f"{label}_ms"] = 1e3 * min(side.seconds) if side.seconds else None
        for quantity in ("ari", "peak_mb", "problem"):
            row[f"{label}_{quantity}"] = side.found.get(quantity)
        row[f"{label}_seconds"] = side.seconds
    row["speedup"] = row["older_ms"] / row["ours_ms"] if row["ours_ms"] and row["older_ms"] else None
    row["collapsed"] = row["older_ari"] is not None and row["older_ari"] < COLLAPSED
    row["limit_ms"] = 1e3 * time_limit if row["older_problem"] and "more than" in row["older_problem"] else None
    row["reach_ms"], row["reach_starts"] = to_reach(name, sides["ours"], y, row, repeats)
    for side in sides.values():
        side.process.close()
    return row


def to_reach(name: str, side: Side, y: Any, row: dict[str, Any], repeats: int) -> tuple[float | None, str | None]:
    """Milliseconds of ours to the older package's index or better, and with which starts ('one' or 'default')."""
    if row["older_ari"] is None or row["ours_ari"] is None:
        return None, None
    if "n_init" in getattr(soft_clustering, name)().get_params():
        once = "model = fit(n_init=1)"
        _, labels = side.process.run(f"{once}\nanswer = model.labels_.tolist()")
        if adjusted_rand_score(y, labels) >= row["older_ari"]:
            return 1e3 * min(side.process.run(once)[0] for _ in range(repeats)), "one"
    return (row["ours_ms"], "default") if row["ours_ari"] >= row["older_ari"] else (None, None)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means of how many times faster ours is, and over how many methods."""
    works = [row for row in rows if row["older_ms"] and not row["collapsed"]]
    parts = {
        "default fit, all": [(row["older_ms"] or row["limit_ms"], row["ours_ms"]) for row in rows],
        "default fit, the older one works": [(row["older_ms"], row["ours_ms"]) for row in works],
        "to its index, all": [(row["older_ms"], row["reach_ms"]) for row in rows],
        "to its index, the older one works": [(row["older_ms"], row["reach_ms"]) for row in works],
    }
    found: dict[str, Any] = {}
    for part, pairs in parts.items():
        ratios = [theirs / own for theirs, own in pairs if theirs and own]
        mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else None
        found[part] = {"times_faster": mean, "methods": len(ratios)}
    return found | {
        "beyond the limit": sum(row["limit_ms"] is not None for row in rows),
        "collapsed": sum(row["collapsed"] for row in rows),
        "index not reached": sum(row["older_ari"] is not None and row["reach_ms"] is None for row in rows),
    }


def main() -> None:
    global K  # what the inputs are made for
    names = [row.name for row in REGISTRY if row.name in OLDER]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per fit")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for row in REGISTRY:
        if row.name not in OLDER:
            print(f"{row.name}: left out, the older package or its line in OLDER is missing", file=sys.stderr)
    record = Record("default_fits", partial=arguments != parser.parse_args([]))
    for name in arguments.models:
        for K in (5, *OTHER_K.get(name, ())):
            row = compare(name, arguments.repeats, arguments.time_limit)
            record.setdefault(str(K), {})[name] = row
            print(name, f"K={K}", {key: value for key, value in row.items() if not key.endswith("seconds")}, flush=True)
    record["summary"] = summary(list(record["5"].values()))
    print(record["summary"])
    record.save()


if __name__ == "__main__":
    main()
