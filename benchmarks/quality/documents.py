"""The estimators of documents on two corpora of news and abstracts.

``python -m benchmarks documents [--seeds 4]`` measures the adjusted Rand index and the normalised mutual information of
every estimator of documents on bbc_news and m10, with the number of clusters given if there is such a parameter, and
the held-out perplexity of LDA and PLSI beside scikit-learn's. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import soft_clustering
from benchmarks.lib.corpora import read
from benchmarks.lib.records import Record
from benchmarks.lib.timing import timed
from soft_clustering._registry import REGISTRY


def fitted(cls: Any, X: Any, y: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """One fit against the classes."""
    taken, model = timed(lambda: cls(**settings).fit(X))
    scores = {"ari": adjusted_rand_score(y, model.labels_), "nmi": normalized_mutual_info_score(y, model.labels_)}
    return scores | {"n_clusters": model.n_clusters_, "seconds": taken}


def quality(seeds: int) -> dict[str, Any]:
    """Every estimator of documents on both corpora."""
    found: dict[str, Any] = {}
    classes = [getattr(soft_clustering, row.name) for row in REGISTRY]
    variants = {cls.__name__: (cls, {}) for cls in classes if cls.modality == "documents"}
    variants["PLSI tempered"] = (soft_clustering.PLSI, {"tempered": True})
    for corpus in ("bbc_news", "m10"):
        X, y = read(corpus)
        for name, (cls, extra) in variants.items():
            known = cls().get_params()
            given = extra | ({"n_clusters": len(set(y))} if known.get("n_clusters") is not None else {})
            draws = [{"random_state": seed} for seed in range(seeds)] if "random_state" in known else [{}]
            runs = found[f"{name}, {corpus}"] = [fitted(cls, X, y, given | draw) for draw in draws]
            ari = [run["ari"] for run in runs]
            print(
                f"| {name} | {corpus} | {np.mean(ari):.3f} ({min(ari):.3f} to {max(ari):.3f}) | "
                f"{np.mean([run['nmi'] for run in runs]):.3f} | {[run['n_clusters'] for run in runs]} | "
                f"{min(run['seconds'] for run in runs):.2f} |",
                flush=True,
            )
    return found


def held_out() -> dict[str, float]:
    """Perplexity of the odd documents of bbc_news, learnt on the even ones."""
    X, y = read("bbc_news")
    K, train, rest = len(set(y)), X[::2], X[1::2]
    found = {"scikit-learn": LatentDirichletAllocation(K, max_iter=50, random_state=0).fit(train).perplexity(rest)}
    for name in ("LDA", "PLSI"):
        found[name] = getattr(soft_clustering, name)(K, random_state=0).fit(train).perplexity(rest)
    return {name: float(value) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("documents", partial=arguments != parser.parse_args([]))
    print("| estimator | corpus | ARI | NMI | clusters | s |\n" + "|---" * 6 + "|")
    record["quality"] = quality(arguments.seeds)
    record["held_out_perplexity"] = held_out()
    print(f"\nheld-out perplexity, bbc_news: {record['held_out_perplexity']}")
    record.save()


if __name__ == "__main__":
    main()
