"""Documents: the words that set a cluster apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from .._types import Array, DocumentsLike, Names
from ..inputs.documents import count_vectorizer, is_text, validate_documents
from .features import check_names, compare
from .moments import sums_of_rows
from .profile import Bar, FeatureProfile
from .weights import cluster_weights
from .wording import share_pair, short


@dataclass(frozen=True)
class WordProfile:
    """How much more often a document of each cluster uses each word than the others do.

    Attributes
    ----------
    shares : FeatureProfile
        The comparison of the shares of the words in the documents.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_words
    >>> profile_words([[1, 0], [0, 1]], ["a goal for the team", "a vote for the law"]).phrases(0, 3)
    ['words goal, team']
    """

    shares: FeatureProfile

    def order(self, k: int) -> NDArray[np.intp]:
        """Return the words from the one that sets cluster k apart most; those that it uses less often come last."""
        order = self.shares.order(k)
        more = self.shares.difference[k, order] > 0
        return np.concatenate([order[more], order[~more]])

    def top(self, k: int, n: int) -> list[int]:
        """Return at most n words that are more frequent in cluster k, the one that sets it apart most first."""
        return [int(j) for j in self.order(k)[:n] if self.shares.difference[k, j] > 0]

    def phrases(self, k: int, n: int) -> list[str]:
        """Return one phrase with the words."""
        words = [short(self.shares.names[j]) for j in self.top(k, max(n, 5))]
        return [f"words {', '.join(words)}"] if words else []

    def lines(self, k: int, n: int) -> list[str]:
        """Return the words."""
        return [f"words: {', '.join(short(self.shares.names[j]) for j in self.top(k, n)) or 'none'}"]

    def to_dict(self, k: int, n: int) -> dict[str, Any]:
        """Return ``{"features": [], "words": [...]}``; the weight of a word is its standardised difference."""
        top = self.top(k, n)
        words = [{"word": self.shares.names[j], "weight": float(self.shares.difference[k, j])} for j in top]
        return {"features": [], "words": words}

    def columns(self, k: int) -> dict[str, Any]:
        """Return the columns of the table of cluster k."""
        order = self.order(k)
        names = ("inside", "elsewhere", "difference", "low", "high")
        words = {"word": [self.shares.names[j] for j in order]}
        return words | {name: getattr(self.shares, name)[k, order] for name in names}

    def bars(self, k: int, n: int) -> list[Bar]:
        """Return a bar per word."""
        shares = self.shares
        return [
            Bar(
                short(shares.names[j], 24),
                share_pair(shares.inside[k, j], shares.elsewhere[k, j]),
                *(float(values[k, j]) for values in (shares.difference, shares.low, shares.high)),
            )
            for j in self.top(k, n)
        ]

    unit = "standardised difference of the share of a word"


class _Reader(BaseEstimator):
    """Holds what the validation of documents finds."""


def read_documents(X: DocumentsLike, words: Names | None) -> tuple[Any, list[str]]:
    """Return the counts of words as CSR, and the words; texts are counted without English stop words."""
    reader: Any = _Reader()
    counts = validate_documents(
        reader, X, vectorizer=None, default=lambda n: count_vectorizer(n, max_df=0.95), reset=True
    )
    found = reader.words_ if words is None or is_text(X) else words
    return counts, check_names("feature_names", found, counts.shape[1])


def word_shares(counts: Any) -> Any:
    """Return the share of each word in each document, as CSR; an empty document has no shares."""
    lengths = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
    inverse = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    return sparse.csr_array(
        (counts.data * np.repeat(inverse, np.diff(counts.indptr)), counts.indices, counts.indptr), shape=counts.shape
    )


def profile_words(U: ArrayLike, counts: DocumentsLike, words: Names | None = None) -> WordProfile:
    """Find the words that set each cluster of documents apart.

    Parameters
    ----------
    U : array-like of shape (n_documents, n_clusters)
        Memberships of any kind, such as shares of topics.
    counts : {array-like, sparse matrix} of shape (n_documents, n_words), or sequence of str
        Counts or other non-negative weights of words. Texts are counted without English stop words.
    words : sequence of str, default=None
        The names of the words.

    Returns
    -------
    profile : WordProfile

    Notes
    -----
    The shares of a word in the documents are compared as any other feature, see :func:`profile_features`: a document
    counts as one sample, however long it is, because the words of a document are not independent of each other. Words
    are ranked by the lower end of the interval of their standardised difference, so that neither a frequent word that
    is everywhere nor a rare word of one document comes first. Empty documents are left out.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_words
    >>> counts = [[3, 0, 1], [2, 1, 1], [0, 3, 1], [0, 4, 1]]
    >>> profile = profile_words([[1, 0], [1, 0], [0, 1], [0, 1]], counts, ["goal", "vote", "day"])
    >>> [profile.shares.names[j] for k in range(2) for j in profile.top(k, 1)]
    ['goal', 'vote']
    """
    W = cluster_weights(U)
    matrix, names = read_documents(counts, words)
    if matrix.shape[0] != len(W):
        raise ValueError(
            f"counts must have one row per row of the memberships, {len(W)} rows. Got {matrix.shape[0]} instead."
        )
    return profile_shares(W, word_shares(matrix), names)


def profile_shares(W: Array, shares: Any, words: list[str]) -> WordProfile:
    """Compare the shares of words, given the weights of the clusters."""
    empty = np.diff(shares.indptr) == 0
    W = np.where(empty[:, None], 0.0, W)
    return WordProfile(compare(sums_of_rows(W, shares), words))


def distances_to_words(shares: Any, profile: WordProfile, labels: NDArray[np.intp]) -> Array:
    """Return the cosine distance of each document to the mean of the cluster that is its label."""
    means = np.nan_to_num(profile.shares.inside)
    products = np.take_along_axis(shares @ means.T, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    lengths = np.sqrt(np.asarray(shares.multiply(shares).sum(axis=1)).ravel())
    lengths = lengths * np.linalg.norm(means, axis=1)[labels]
    cosine: Array = np.divide(products, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    return 1 - cosine
