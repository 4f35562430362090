"""Agreement with classes of texts: mixtures of directions beside k-means, fuzzy c-means and a Gaussian mixture.

``python -m benchmarks directions [--seeds 2]``

Adjusted Rand index with the number of classes given, on tf-idf rows (sparse) and on 50 components of a truncated SVD of
them, both of length 1: the corpora bbc_news and m10, and drawn corpora of few and many words per document,
on which nothing was chosen (the largest topic of a document is its class). k-means has five starts, as the mixture has;
the Gaussian mixture, of diagonal covariances, takes dense rows only.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from benchmarks.lib.corpora import read
from benchmarks.lib.records import Record
from soft_clustering import FCM, GMM, VonMisesFisherMixture
from soft_clustering.datasets import make_topic_corpus

_LEAST_DOCUMENTS = 3  # words of fewer documents are left out
MODELS: dict[str, Callable[[int, int], Any]] = {
    "tied": lambda K, seed: VonMisesFisherMixture(K, random_state=seed),
    "free": lambda K, seed: VonMisesFisherMixture(K, concentration="free", random_state=seed),
    "k-means": lambda K, seed: KMeans(K, n_init=5, random_state=seed),
    "FCM": lambda K, seed: FCM(K, m="auto", random_state=seed),
    "GMM diag": lambda K, seed: GMM(K, covariance_type="diag", n_init=3, random_state=seed),
}


def corpora() -> Iterator[tuple[str, Any, Any]]:
    """Name, counts and classes of each corpus."""
    for name in ("bbc_news", "m10"):
        yield name, *read(name)
    for length in (6, 30, 120):
        drawn = make_topic_corpus(2000, 8, vocabulary_size=2000, document_length=length, random_state=length)
        yield f"drawn, {length} words", drawn.counts.astype(float), drawn.document_topics.argmax(axis=1)


def forms(counts: Any) -> dict[str, Any]:
    """The documents as unit rows: tf-idf, and its leading components."""
    frequent = counts[:, np.flatnonzero(np.bincount(counts.tocoo().col, minlength=counts.shape[1]) >= _LEAST_DOCUMENTS)]
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(frequent)
    return {"tf-idf": tfidf, "SVD 50": normalize(TruncatedSVD(50, random_state=0).fit_transform(tfidf))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("directions", partial=arguments != parser.parse_args([]))
    for corpus, counts, classes in corpora():
        K = len(set(classes))
        for form, X in forms(counts).items():
            found = record[f"{corpus}, {form}"] = {}
            for name, make in MODELS.items():
                if name != "GMM diag" or form != "tf-idf":
                    labels = [make(K, seed).fit(X).labels_ for seed in range(arguments.seeds)]
                    found[name] = [float(adjusted_rand_score(classes, y)) for y in labels]
            print(f"{corpus}, {form}:", {name: f"{np.mean(scores):.3f}" for name, scores in found.items()}, flush=True)
    record.save()


if __name__ == "__main__":
    main()
