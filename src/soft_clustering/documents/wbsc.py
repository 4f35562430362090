"""Word-based soft clustering of documents.

Every word starts as a cluster: the set of documents that contain it. The two clusters a, b of largest

    |D_a and D_b| / |D_a or D_b|

(Tanimoto) are united, words and documents, as long as this is at least a threshold. A document is in every cluster
that has one of its words.

References
----------
K.-I. Lin, R. Kondadadi (2001). A word-based soft clustering algorithm for documents. CATA 2001.
"""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Iterator
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from .._types import Array, DocumentsLike
from ..base import MembershipKind, as_fitted
from ..engine.fitting import Fit, say
from ..inputs.documents import count_vectorizer
from .corpus import DocumentClusterer, require_words

if TYPE_CHECKING:
    from typing import Self

_PIECE = 1 << 22  # pairs of clusters looked at together

Pair = tuple[float, int, int]  # minus the similarity, two clusters: the best comes first


class WBSC(DocumentClusterer):
    """Word-based soft clustering: clusters of words, each with the documents that contain them.

    Words that occur in much the same documents are united, best first. A document belongs to the clusters of all its
    words, so that clusters overlap and their words say what they are about.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters: the best pair is united until this many remain, whatever ``similarity_threshold``. None
        stops at the threshold.
    similarity_threshold : float, default=0.33
        Least similarity of two clusters that are united. Below 0.2 a few clusters swallow most words.
    min_df : int or float, default=2
        Only words in at least this many documents count; a float is a share of the documents.
    max_df : int or float, default=0.5
        Only words in at most this many documents count; a float is a share of the documents.
    merge_subsets : bool, default=False
        Whether a cluster is also united with one that holds all its documents, however many more that has. In small
        corpora this unites long chains of clusters, as the few documents of a rare word are all in many clusters.
    min_cluster_docs : int, default=1
        Clusters of fewer documents are dropped in the end.
    membership : {'tanimoto', 'binary', 'fraction'}, default='tanimoto'
        Degree to which a document with words w(d) is in a cluster of words W: the number of words in both over the
        number in either; 1 if any word is in both; or the number in both over the number in W. All three are positive
        for the same documents.
    vectorizer : vectorizer or None, default=None
        Counts the words of texts; it is cloned. None is scikit-learn's ``CountVectorizer`` with English stop words.
    verbose : int, default=0
        1 prints a line per fit.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_documents, n_clusters)
        Zeros for a document without any of the words that count.
    labels_ : ndarray of shape (n_documents,)
        Cluster of largest degree; -1 for a row of zeros.
    n_clusters_ : int
    cluster_words_ : list of list of str
        Words of each cluster, the most frequent first. Clusters are in the order of ``merge_tree_``.
    merge_tree_ : ndarray of shape (n_merges, 3)
        Each row unites clusters a and b of some similarity. Word j of ``words_`` is cluster j, row i makes cluster
        ``len(words_) + i``.
    threshold_ : float
        0: ``get_cover()`` gives the sets of documents.
    words_ : ndarray of shape (n_words,)
    vectorizer_ : vectorizer
        The fitted one, for texts.

    See Also
    --------
    soft_clustering.SISC : sets of documents by their mean similarity, for a number of clusters given.
    soft_clustering.KMART : one pass over the documents, the number of clusters found.

    Notes
    -----
    The method follows [1]_, whose full text we have not seen: the rules and the threshold are reconstructed; the order
    (best pair first) and the graded degrees are ours. Equal similarities go by the order of the words. If no word is
    within ``min_df`` and ``max_df``, or fewer than ``n_clusters`` are, all words count, with a warning.

    It is meant for short texts such as lists of search results. A rich vocabulary leaves very many small clusters, for
    which ``memberships_`` (n, K) is large. Pairs are found in O(sum of squared lengths of the documents); each union
    then costs at most O(V n / 64) (V words). Nothing is random.

    References
    ----------
    .. [1] K.-I. Lin, R. Kondadadi (2001). A word-based soft clustering algorithm for documents. Proc. Computers and
       Their Applications (CATA 2001).

    Examples
    --------
    >>> from soft_clustering import WBSC
    >>> texts = ["team match goal", "match team", "market shares", "shares of a market", "team shares", "rain"]
    >>> model = WBSC().fit(texts)
    >>> model.cluster_words_
    [['shares', 'market'], ['team', 'match']]
    >>> model.get_cover().astype(int).tolist()
    [[0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [0, 0]]
    """

    cluster_words_: list[list[str]]
    merge_tree_: Array
    threshold_: float
    membership_kind: ClassVar[MembershipKind] = "possibilistic"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "similarity_threshold": [Interval(Real, 0, None, closed="neither")],
        "min_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "max_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "merge_subsets": ["boolean"],
        "min_cluster_docs": [Interval(Integral, 1, None, closed="left")],
        "membership": [StrOptions({"tanimoto", "binary", "fraction"})],
        "vectorizer": [None, object],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        similarity_threshold: float = 0.33,
        min_df: float = 2,
        max_df: float = 0.5,
        merge_subsets: bool = False,
        min_cluster_docs: int = 1,
        membership: str = "tanimoto",
        vectorizer: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity_threshold = similarity_threshold
        self.min_df = min_df
        self.max_df = max_df
        self.merge_subsets = merge_subsets
        self.min_cluster_docs = min_cluster_docs
        self.membership = membership
        self.vectorizer = vectorizer
        self.verbose = verbose

    def _default_vectorizer(self, n_documents: int) -> Any:
        return count_vectorizer(n_documents, min_df=1)

    def fit(self, X: DocumentsLike, y: object = None) -> Self:
        """Unite the words.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)
            Only which entries are positive matters.
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[None](self):
            X = self._documents(X, reset=True)
            require_words(X)
            present = X > 0
            kept = self._words_that_count(present)
            merging = Merging(present, np.flatnonzero(kept), self.merge_subsets)
            if self.n_clusters is None:
                merging.unite(self.similarity_threshold, 1)
            else:
                merging.reduce(self.similarity_threshold, self.n_clusters)
            self._store(merging, kept)
            self._set_memberships(self._memberships(X))
            say(self, f"{int(kept.sum())} words in {self.n_clusters_} clusters, {len(self.merge_tree_)} unions")
        return self

    @as_fitted
    def predict_memberships(self, X: DocumentsLike) -> NDArray[Any]:
        """Degrees of new documents in the clusters, by the words they share.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)

        Returns
        -------
        memberships : ndarray of shape (n_documents, n_clusters)
        """
        check_is_fitted(self, "cluster_words_")
        return self._memberships(self._documents(X, reset=False))

    def _top_words(self, n_words: int) -> list[list[str]]:
        return [words[:n_words] for words in self.cluster_words_]

    def _words_that_count(self, present: sparse.csr_array) -> NDArray[np.bool_]:
        """Which words are within ``min_df`` and ``max_df``; all words that occur if these are too few."""
        n = present.shape[0]
        frequency = np.bincount(present.indices, minlength=present.shape[1])
        least, most = (df if isinstance(df, Integral) else df * n for df in (self.min_df, self.max_df))
        kept: NDArray[np.bool_] = (frequency >= max(1, least)) & (frequency <= most)
        if kept.sum() < (self.n_clusters or 1):
            warnings.warn(
                f"Only {kept.sum()} words are within min_df={self.min_df} and max_df={self.max_df} of {n} documents: "
                "WBSC uses all words that occur.",
                UserWarning,
                stacklevel=3,
            )
            kept = frequency > 0
        return kept

    def _store(self, merging: Merging, kept: NDArray[np.bool_]) -> None:
        """Keep the clusters that are large enough, single words first, then the others as they were made."""
        all_sizes = merging.size.tolist()
        sizes = {c: all_sizes[c] for c in sorted(merging.words)}
        large = [c for c, size in sizes.items() if size >= self.min_cluster_docs]
        if not large:
            raise ValueError(
                f"min_cluster_docs={self.min_cluster_docs} should be <= {max(sizes.values())}, the number of documents "
                "in the largest cluster."
            )
        ordered = [sorted(merging.words[c], key=lambda j: (-merging.size_of_word[j], j)) for c in large]
        self.cluster_words_ = [[str(self.words_[j]) for j in words] for words in ordered]
        self.merge_tree_ = np.array(merging.tree, dtype=np.float64).reshape(-1, 3)
        self.threshold_ = 0.0
        self._kept, self._members = kept, indicators(ordered, len(kept))

    def _memberships(self, X: sparse.csr_array) -> NDArray[Any]:
        present = (X > 0).astype(np.float64)
        common = sparse.csr_array(present @ self._members)
        if self.membership == "binary":
            common.data[:] = 1
        else:
            whole = np.bincount(self._members.indices, minlength=self._members.shape[1])[common.indices]
            if self.membership == "tanimoto":
                own = present @ self._kept.astype(np.float64)
                whole = whole + np.repeat(own, np.diff(common.indptr)) - common.data
            common.data /= whole
        memberships: NDArray[Any] = common.astype(X.dtype).toarray()
        return memberships


class Merging:
    """Clusters of words, united two at a time.

    ``words`` holds the words of each cluster that is left. Word j is cluster j, and the i-th union makes cluster V + i;
    the documents of a cluster are the bits of a number.
    """

    def __init__(self, present: sparse.csr_array, kept: NDArray[np.intp], subsets: bool) -> None:
        self._present, self._subsets = present, subsets
        n, self._V = present.shape
        columns = present.tocsc()
        self.tree: list[tuple[int, int, float]] = []
        self.words: dict[int, list[int]] = {}
        self._documents: dict[int, int] = {}
        self.size = np.zeros(2 * self._V, dtype=np.int64)  # documents of a cluster, 0 if it was united with another
        self.size_of_word = np.diff(columns.indptr).tolist()
        same: dict[int, int] = {}  # the cluster of words that are in the same documents
        for some in gen_batches(len(kept), max(1, _PIECE // n)):
            masks = np.packbits(columns[:, kept[some]].T.toarray(), axis=1, bitorder="little")
            for j, mask in zip(kept[some].tolist(), masks, strict=True):
                bits = int.from_bytes(mask.tobytes(), "little")
                self._add(j, [j], bits)
                same[bits] = self._join(same[bits], j, 1.0) if bits in same else j

    def unite(self, level: float, least: int) -> None:
        """Unite the best pair while its similarity is at least ``level`` and more than ``least`` clusters are left."""
        heap = [pair for piece in self._all_pairs(level) for pair in piece]
        heapq.heapify(heap)
        while heap and len(self.words) > least:
            negative, a, b = heapq.heappop(heap)
            if a in self.words and b in self.words:
                for pair in self._pairs_of(self._join(a, b, -negative), level):
                    heapq.heappush(heap, pair)

    def reduce(self, level: float, n_clusters: int) -> None:
        """Unite the best pair until ``n_clusters`` are left.

        Pairs are searched above a level that is halved in steps, so that few have to be kept at a time.
        """
        if n_clusters > len(self.words):
            raise ValueError(
                f"n_clusters={n_clusters} should be <= {len(self.words)}, the number of words of X that count and "
                "differ in their documents (see min_df and max_df)."
            )
        while len(self.words) > n_clusters and level > 0:
            self.unite(level, n_clusters)
            level = level / 2 if level * self._present.shape[0] > 1 else 0.0  # 1 / n is the least similarity
        while len(self.words) > n_clusters:  # what is left has no document in common
            a, b = sorted(self.words)[:2]
            self._join(a, b, 0.0)

    def _add(self, cluster: int, words: list[int], documents: int) -> None:
        self.words[cluster], self._documents[cluster] = words, documents
        self.size[cluster] = documents.bit_count()

    def _join(self, a: int, b: int, similarity: float) -> int:
        """Unite two clusters and return the new one."""
        cluster = int(self._V) + len(self.tree)
        self.tree.append((a, b, similarity))
        self.size[[a, b]] = 0
        self._add(cluster, self.words.pop(a) + self.words.pop(b), self._documents.pop(a) | self._documents.pop(b))
        return cluster

    def _all_pairs(self, level: float) -> Iterator[list[Pair]]:
        """The pairs of clusters that may be united, from the products of their columns of documents."""
        ids = np.array(sorted(self.words))
        member = indicators([self.words[c] for c in ids.tolist()], self._V)
        C = sparse.csc_array((self._present.astype(np.float64) @ member) > 0).astype(np.float64)
        for a, b, common in column_overlaps(C, level):
            yield self._good(ids[a], ids[b], common, level)

    def _pairs_of(self, cluster: int, level: float) -> list[Pair]:
        """The pairs of one cluster with others."""
        size = int(self.size[cluster])
        # The similarity is at most the ratio of the sizes.
        near = (self.size > 0) & ((np.minimum(self.size, size) >= level * np.maximum(self.size, size)) | self._subsets)
        near[cluster] = False
        (others,) = np.nonzero(near)
        n_words = np.searchsorted(others, self._V)  # clusters of one word come first
        documents, n = self._documents[cluster], self._present.shape[0]
        bits = np.frombuffer(documents.to_bytes(n // 8 + 1, "little"), dtype=np.uint8)
        (rows,) = np.nonzero(np.unpackbits(bits, bitorder="little"))
        common = np.empty(len(others))
        common[:n_words] = np.bincount(self._present[rows].indices, minlength=self._V)[others[:n_words]]
        common[n_words:] = [(documents & self._documents[other]).bit_count() for other in others[n_words:].tolist()]
        return self._good(others, np.full(len(others), cluster), common, level)

    def _good(self, a: NDArray[Any], b: NDArray[Any], common: NDArray[Any], level: float) -> list[Pair]:
        """The pairs that may be united, given how many documents they have in common."""
        similarity = common / (self.size[a] + self.size[b] - common)
        good = similarity >= level
        if self._subsets:
            good |= common == np.minimum(self.size[a], self.size[b])
        return list(zip((-similarity[good]).tolist(), a[good].tolist(), b[good].tolist(), strict=True))


def column_overlaps(C: sparse.csc_array, level: float) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Columns a < b of a matrix of 0 and 1, and the number of rows that both have.

    Pairs are left out if this is less than a part ``level`` of both columns, and their similarity is thus less, too.
    """
    if kernels.use_compiled():
        R = C.tocsr()
        arrays = [array.astype(np.int64, copy=False) for array in (R.indices, R.indptr, C.indices, C.indptr)]
        a, b, common = kernels.compiled.overlaps(*arrays, min(level, 1.0))
        yield a, b, common.astype(np.float64)
        return
    for some in gen_batches(C.shape[1], max(1, _PIECE // C.shape[1])):
        found = sparse.coo_array(C[:, some].T @ C)
        above = found.row + some.start < found.col
        yield found.row[above] + some.start, found.col[above], found.data[above]


def indicators(groups: list[list[int]], n: int) -> Any:
    """Which of n words are in which group, CSR (n, K) of 0 and 1."""
    group = np.repeat(np.arange(len(groups)), [len(words) for words in groups])
    words = np.fromiter(chain.from_iterable(groups), dtype=np.intp)
    return sparse.csr_array((np.ones(len(words)), (words, group)), shape=(n, len(groups)))
