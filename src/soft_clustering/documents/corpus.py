"""What the estimators of documents share: their input, their words, a start."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._types import DocumentsLike
from ..base import InductiveSoftClusterer, Modality
from ..engine.blocks import Block, Blocks, make_blocks
from ..engine.initialisation import best_kmeans
from ..inputs.documents import count_vectorizer, validate_documents, words_of
from ..kernels.centers import center_memberships

if TYPE_CHECKING:
    from scipy import sparse

_KMEANS_RUNS = 5  # for all starts together: the fit hardly ever mends a poor start
_KMEANS_PASSES, _KMEANS_TOL = 20, 1e-3  # a start needs no more


class DocumentClusterer(InductiveSoftClusterer):
    """A soft clusterer of texts, lists of tokens or counts, with a parameter ``vectorizer``."""

    modality: ClassVar[Modality] = "documents"
    words_: NDArray[Any]
    vectorizer_: Any

    def _default_vectorizer(self, n_documents: int) -> Any:
        """The vectorizer that counts the words of texts if the user gives none."""
        return count_vectorizer(n_documents, max_df=0.95)

    def _documents(self, X: DocumentsLike, *, reset: bool) -> Any:
        """Documents as a CSR matrix."""
        return validate_documents(self, X, vectorizer=self.vectorizer, default=self._default_vectorizer, reset=reset)

    def _word_weights(self) -> NDArray[Any]:
        """Weights (K, V) of the words in the clusters."""
        raise NotImplementedError

    def top_words(self, n_words: int = 10) -> list[list[str]]:
        """The words of largest weight in each cluster.

        Parameters
        ----------
        n_words : int, default=10
            Largest number of words per cluster; words of weight 0 are left out.

        Returns
        -------
        words : list of list of str
            One list per cluster, heaviest word first.
        """
        check_is_fitted(self, "words_")
        if not isinstance(n_words, Integral) or n_words < 1:
            raise ValueError(f"n_words must be an int >= 1. Got {n_words!r} instead.")
        return self._top_words(int(n_words))

    def _top_words(self, n_words: int) -> list[list[str]]:
        return words_of(self._word_weights(), self.words_, n_words)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        return tags


def inverse_frequency(X: sparse.csr_array, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """log((1 + n) / (1 + documents of a word)) + 1 for each word; weights count."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    frequency = (X > 0).astype(np.float64).T @ weight
    idf: NDArray[np.float64] = np.log((1 + weight.sum()) / (1 + frequency)) + 1
    return idf


def unit_rows(X: sparse.csr_array, idf: NDArray[np.float64] | None) -> Any:
    """Rows of length 1, in proportion to (1 + log count) times ``idf`` if it is given; empty rows stay empty."""
    X = X.astype(np.float64)
    X.eliminate_zeros()
    if idf is not None:
        X.data = np.where(X.data > 1, 1 + np.log(np.maximum(X.data, 1)), X.data)
        X.data *= idf[X.indices]
    # Divide each row by its largest entry first: the squares of very large or small entries overflow or underflow.
    return normalize(normalize(X, norm="max", copy=False), copy=False)


def tfidf(block: Block) -> Any:
    """Rows of length 1 in proportion to (1 + log count) times the inverse document frequency; weights count."""
    return unit_rows(block.X, inverse_frequency(block.X, block.weight))


def require_words(X: sparse.csr_array) -> None:
    """Refuse a corpus in which no document has a word."""
    if not (X.data > 0).any():
        raise ValueError("X must have at least one document with a known word. Got only empty documents.")


def groups(block: Block, K: int, rng: np.random.RandomState, n_starts: int) -> Iterator[NDArray[np.float64]]:
    """Indicators (n, K) of the best of a few k-means partitions of tf-idf rows, for each of ``n_starts`` starts."""
    blocks = make_blocks(tfidf(block), block.weight)
    n_runs = max(1, _KMEANS_RUNS // n_starts)
    for _ in range(n_starts):
        V = best_kmeans(blocks, K, rng, n_runs, _KMEANS_PASSES, _KMEANS_TOL)
        yield blocks.map_rows(center_memberships, V, "nearest")


def with_text(blocks: Blocks) -> NDArray[np.intp]:
    """The documents that have words: the others would be a group of their own."""
    return np.flatnonzero(blocks.joined().X.sum(axis=1))


def has_distinct(block: Block, K: int) -> bool:
    """Whether at least K documents differ from each other; stops as soon as it has found them."""
    X, met = block.X, set()
    for lo, hi in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        met.add((X.indices[lo:hi].tobytes(), X.data[lo:hi].tobytes()))
        if len(met) >= K:
            return True
    return False
