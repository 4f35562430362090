"""Modified fuzzy ART: a document joins every category that it matches.

Category j has a prototype P_j, a count per word. Document x matches it by

    |min(x, P_j)| / |x|,

where |.| is the sum over the words. Documents come one after the other: if the match is at least the vigilance, P_j
moves to rate min(x, P_j) + (1 - rate) P_j; a document that matches no category becomes the prototype of a new one. So
prototypes only shrink, and have only words of their first document.

References
----------
R. Kondadadi, R. Kozma (2002). A modified fuzzy ART for soft document clustering. IJCNN 2002.
G. A. Carpenter, S. Grossberg, D. B. Rosen (1991). Fuzzy ART. Neural Networks 4, 759-771.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._types import Array, DocumentsLike, Seed
from ..base import MembershipKind, as_fitted, continues_fit
from ..engine.fitting import Fit, not_converged, say
from ..engine.loop import Policy, Run, Scale, iterate
from ..inputs.documents import count_vectorizer
from .corpus import DocumentClusterer, require_words

if TYPE_CHECKING:
    from typing import Self

_ROUNDING = 1e-9  # part of the vigilance: sums in another order may come out smaller
_SMALL = 1e-100  # a smaller factor is multiplied out
_PIECE = 1 << 20  # pairs of an entry and a category looked at together


class Categories:
    """The prototypes while documents come: P_j is column j times a factor, which shrinks the words a document lacks."""

    def __init__(self, prototypes: NDArray[Any]) -> None:
        self.n = len(prototypes)
        self._columns: Array = prototypes.T.astype(np.float64)  # (words, room for categories)
        self._factors = np.ones(self.n)

    def prototypes(self) -> Array:
        """All prototypes, (K, V)."""
        return np.ascontiguousarray((self._columns[:, : self.n] * self._factors[: self.n]).T)

    def learn(self, words: NDArray[Any], x: Array, vigilance: float, rate: float) -> bool:
        """Show a document to the categories; return whether it matches any."""
        P = self._columns[words, : self.n] * self._factors[: self.n]
        common = np.minimum(P, x[:, None])
        (passing,) = np.nonzero(common.sum(axis=0) >= vigilance * (1 - _ROUNDING) * x.sum())
        if not len(passing):
            return False
        self._factors[passing] *= 1 - rate
        small = passing[self._factors[passing] < _SMALL]
        self._columns[:, small] *= self._factors[small]
        self._factors[small] = 1
        moved = rate * common[:, passing] + (1 - rate) * P[:, passing]
        self._columns[words[:, None], passing] = moved / self._factors[passing]
        return True

    def found(self, words: NDArray[Any], x: Array) -> None:
        """Found a new category with a document as its prototype."""
        if self.n == len(self._factors):
            room = max(16, self.n)
            self._columns = np.hstack([self._columns, np.zeros((len(self._columns), room))])
            self._factors = np.append(self._factors, np.ones(room))
        self._columns[words, self.n] = x
        self.n += 1


def prototype_change(old: Categories, new: Categories, history: list[float], scale: Scale) -> float:
    """The largest change of a prototype, relative to the largest entry; infinite if there are new categories."""
    if old.n != new.n:
        return np.inf
    before, after = old.prototypes(), new.prototypes()
    return float(np.abs(after - before).max() / before.max())


class KMART(DocumentClusterer):
    """Modified fuzzy ART: overlapping categories of documents, their number found in one pass.

    This is fuzzy ART without its choice of one winner: a document joins every category whose prototype it matches well
    enough, and founds a new one if there is none. Documents may keep coming (``partial_fit``).

    Parameters
    ----------
    vigilance : float, default=0.07
        Least match to join a category, in (0, 1]. Larger values give more and narrower categories.
    learning_rate : float, default=0.01
        How far a prototype moves towards what it shares with a document, in (0, 1]. 1, the fast learning of fuzzy ART,
        wears prototypes down to the few words that all documents share, and categories multiply.
    max_clusters : int or None, default=None
        Largest number of categories; a document that would found one more stays without a category.
    shuffle : bool, default=False
        Whether every pass takes the documents in a random order instead of their order in X.
    vectorizer : vectorizer or None, default=None
        Counts the words of texts; it is cloned. None is scikit-learn's ``CountVectorizer`` with English stop words
        and, from 20 documents on, without words that occur in only one.
    max_iter : int, default=1
        Passes over the documents.
    tol : float, default=1e-4
        Converged when a pass founds no category and changes no entry of a prototype by more than this part of the
        largest entry.
    random_state : int, RandomState or None, default=None
        Seed of ``shuffle``.
    verbose : int, default=0
        1 prints a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_documents, n_clusters)
        The match with the final prototypes if it reaches the vigilance, otherwise 0.
    labels_ : ndarray of shape (n_documents,)
        Category of best match; -1 for a row of zeros.
    n_clusters_ : int
        Categories found; also as ``n_clusters``.
    centers_ : ndarray of shape (n_clusters, n_words)
        The prototypes, in the order in which they were founded.
    threshold_ : float
        0: ``get_cover()`` holds all memberships that are not 0.
    words_ : ndarray of shape (n_words,)
    vectorizer_ : vectorizer
        The fitted one, for texts.
    n_iter_ : int
        Passes.
    converged_ : bool

    See Also
    --------
    soft_clustering.SISC : sets of documents by their mean similarity, for a number of clusters given.
    soft_clustering.WBSC : clusters of words, each with the documents they are in.

    Notes
    -----
    The method follows [1]_, which modifies fuzzy ART [2]_. That all categories above the vigilance learn is
    reconstructed, and that the match is the membership is ours. There is no complement coding: words that two documents
    both lack would count as a match. The default settings were chosen on one corpus of news.

    The result depends on the order of the documents. Prototypes shrink after a document has joined, so a few
    documents match none in the end. Categories are many and overlap. A pass costs O(nnz K), with a step of Python per
    document; memory is O(nnz + n K + K V) (V words). The method is one pass: further passes keep shrinking the
    prototypes and so found more categories, which are of no use in the end.

    References
    ----------
    .. [1] R. Kondadadi, R. Kozma (2002). A modified fuzzy ART for soft document clustering. Proc. IJCNN 2002.
    .. [2] G. A. Carpenter, S. Grossberg, D. B. Rosen (1991). Fuzzy ART: fast stable learning and categorization of
       analog patterns by an adaptive resonance system. Neural Networks 4, 759-771.

    Examples
    --------
    >>> from soft_clustering import KMART
    >>> texts = ["goal match team", "team wins match", "market shares fall", "shares and market rise"]
    >>> model = KMART(vigilance=0.3).fit(texts)
    >>> model.top_words(3)
    [['match', 'team', 'goal'], ['market', 'shares', 'fall']]
    >>> model.predict_memberships(["the match of a team", "a team that sells shares"]).round(1)
    array([[1. , 0. ],
           [0.5, 0.5]])
    """

    membership_kind: ClassVar[MembershipKind] = "possibilistic"
    _policy = Policy(residual=prototype_change, place=None)
    centers_: NDArray[Any]
    threshold_: float
    n_iter_: int
    converged_: bool
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "vigilance": [Interval(Real, 0, 1, closed="right")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "max_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "vectorizer": [None, object],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        vigilance: float = 0.07,
        *,
        learning_rate: float = 0.01,
        max_clusters: int | None = None,
        shuffle: bool = False,
        vectorizer: Any = None,
        max_iter: int = 1,
        tol: float = 1e-4,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.vigilance = vigilance
        self.learning_rate = learning_rate
        self.max_clusters = max_clusters
        self.shuffle = shuffle
        self.vectorizer = vectorizer
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @property
    def n_clusters(self) -> int:
        """The number of categories found, ``n_clusters_``; an AttributeError before ``fit``."""
        check_is_fitted(self, "n_clusters_")
        return self.n_clusters_

    def _default_vectorizer(self, n_documents: int) -> Any:
        return count_vectorizer(n_documents)

    def fit(self, X: DocumentsLike, y: object = None) -> Self:
        """Find the categories.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Categories](self) as fit:
            X = self._documents(X, reset=True)
            require_words(X)
            rng = check_random_state(self.random_state)

            def step(categories: Categories) -> tuple[Categories, None]:
                categories = deepcopy(categories)
                self._pass(categories, X, rng)
                say(self, f"pass over the documents: {categories.n} categories")
                return categories, None

            def store(run: Run[Categories]) -> list[str]:
                self._store(run.state, X.dtype)
                self._set_memberships(self._memberships(X))
                return not_converged(self, run)

            fit.stores(store)
            loop = partial(iterate, step=step, policy=self._policy, max_iter=self.max_iter, tol=self.tol)
            fit.run_starts([Categories(np.zeros((0, X.shape[1])))], loop)
        return self

    @continues_fit
    def partial_fit(self, X: DocumentsLike, y: object = None) -> Self:
        """Show more documents to the categories, once.

        The first call, unless the model is fitted, starts without categories; if X are texts, it determines the words.
        There are no ``memberships_`` after it: use ``predict_memberships``.
        Parameters set after the first call, or after ``fit``, do not matter.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)
        y : ignored

        Returns
        -------
        self : object
        """
        self._validate_params()
        first = not hasattr(self, "centers_")
        X = self._documents(X, reset=first)
        if first:
            require_words(X)
            self.n_iter_ = 0
        categories = Categories(np.zeros((0, X.shape[1])) if first else self.centers_)
        self._pass(categories, X, check_random_state(self.random_state))
        self._store(categories, X.dtype if first else self.centers_.dtype)
        self.n_iter_ += 1
        self._forget("memberships_", "labels_", "converged_")
        return self

    @as_fitted
    def predict_memberships(self, X: DocumentsLike) -> NDArray[Any]:
        """Matches of new documents with the prototypes, 0 below the vigilance.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)

        Returns
        -------
        memberships : ndarray of shape (n_documents, n_clusters)
        """
        check_is_fitted(self, "centers_")
        return self._memberships(self._documents(X, reset=False))

    def _word_weights(self) -> NDArray[Any]:
        return self.centers_

    def _pass(self, categories: Categories, X: sparse.csr_array, rng: np.random.RandomState) -> None:
        """Show every document once, except empty ones."""
        most = np.inf if self.max_clusters is None else self.max_clusters
        for d in rng.permutation(X.shape[0]) if self.shuffle else range(X.shape[0]):
            lo, hi = X.indptr[d], X.indptr[d + 1]
            words, x = X.indices[lo:hi], X.data[lo:hi].astype(np.float64)
            taken = not x.any() or categories.learn(words, x, self.vigilance, self.learning_rate)
            if not taken and categories.n < most:
                categories.found(words, x)

    def _store(self, categories: Categories, dtype: DTypeLike) -> None:
        self.centers_ = categories.prototypes().astype(dtype)
        self.n_clusters_ = categories.n
        self.threshold_ = 0.0

    def _memberships(self, X: sparse.csr_array) -> NDArray[Any]:
        U = matches(X, self.centers_)
        U[self.vigilance * (1 - _ROUNDING) > U] = 0
        return U.astype(X.dtype)


def matches(X: sparse.csr_array, prototypes: NDArray[Any]) -> Array:
    """|min(x_i, P_j)| / |x_i| of CSR rows and prototypes (K, V), (n, K); 0 for an empty row.

    It visits the pairs of an entry of X and a prototype that has its word, a bounded number at a time.
    """
    n, K = X.shape[0], len(prototypes)
    P = sparse.csc_array(prototypes).astype(np.float64)
    pairs = np.diff(P.indptr)[X.indices]  # per entry of X
    ends = np.append(0, np.cumsum(pairs))[X.indptr]  # pairs before each row
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    answer = np.zeros((n, K))
    first = 0
    while first < n:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _PIECE, side="right")) - 1)
        here = slice(X.indptr[first], X.indptr[last])
        entry = np.repeat(np.arange(here.start, here.stop), pairs[here])
        skipped = np.repeat(np.cumsum(pairs[here]) - pairs[here], pairs[here])
        position = np.arange(len(entry)) - skipped + P.indptr[X.indices[entry]]
        common = np.minimum(X.data[entry], P.data[position])
        cell = (row[entry] - first) * K + P.indices[position]
        answer[first:last] = np.bincount(cell, common, (last - first) * K).reshape(-1, K)
        first = last
    length = np.bincount(row, X.data, n)
    answer /= np.where(length > 0, length, 1)[:, None]
    return np.minimum(answer, 1, out=answer)
