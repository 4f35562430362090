"""Similarity-based soft clustering of documents.

A cluster is a set c of documents, and the membership of a document x in it is its mean similarity with them,

    m(c, x) = 1 / |c| sum_{p in c} s(p, x).

Document x is in the next c if m(c, x) >= lambda. The first sets are the documents near some seeds, which are far apart
from each other. Then sets that overlap much are united and all sets are formed again, until they stay the same.

References
----------
K.-I. Lin, R. Kondadadi (2001). A similarity-based soft clustering algorithm for documents. DASFAA 2001, 40-47.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, DocumentsLike, Kernel, Matrix, Seed
from ..base import MembershipKind, as_fitted
from ..engine.fitting import Fit, not_converged, say
from ..engine.loop import Policy, Run, Scale, iterate
from ..engine.threads import single_threaded_blas
from ..inputs.features import check_enough_samples
from .corpus import DocumentClusterer, inverse_frequency, require_words, unit_rows

if TYPE_CHECKING:
    from typing import Self

_ROUNDING = 1e-6  # part of lambda: a mean of similarities that equal lambda may come out smaller
_PIECE = 1 << 20  # similarities computed at a time

Sets = NDArray[np.bool_]  # (n, K), or one of them (n,)


class Round(NamedTuple):
    """The state: sets of documents, which may overlap."""

    sets: Sets  # (n, K)
    means: Array  # (n, K) similarities with these clusters in the previous round, infinite if there was none
    stuck: bool = False  # whether no document is similar enough to any cluster


def sets_change(old: Round, new: Round, history: list[float], scale: Scale) -> float:
    """0 if the sets stay the same."""
    return 0.0 if np.array_equal(old.sets, new.sets) else np.inf


def sets_key(state: Round) -> bytes:
    """The sets as bytes: without random draws they alone determine all further rounds."""
    return state.sets.tobytes()


_RANDOM = Policy(residual=sets_change, place=None)


class SISC(DocumentClusterer):
    """Similarity-based soft clustering: overlapping sets of documents, found from a similarity alone.

    A document is in every cluster whose documents it resembles enough in the mean, or in none. How much is enough
    follows from the data.

    Parameters
    ----------
    n_clusters : int, default=10
        Expected number of clusters K. Overlapping ones are united, so that ``n_clusters_`` may be another.
    seed_factor : int, default=2
        Seeds per expected cluster; there are ``seed_factor * n_clusters`` of them.
    coverage : float, default=0.5
        Share of the documents that shall be similar enough to some seed, which determines lambda. Larger values give a
        smaller lambda, larger sets and fewer clusters.
    merge_overlap : float, default=0.5
        Two sets are united when they share at least this part of the smaller one.
    similarity : {'cosine', 'tanimoto'} or callable, default='cosine'
        Similarity of two documents: the cosine of their rows; the number of words in both over the number of words in
        either; or a function of rows X and Y (CSR) that returns a matrix (n, m) of numbers from 0 to 1.
    randomize : bool, default=False
        Whether a document that was not in a cluster is compared with it again only with probability m / lambda, which
        saves time if similarities are expensive.
    weighting : {'tfidf'} or None, default='tfidf'
        Whether rows are weighted by (1 + log count) times the inverse document frequency before they are scaled to
        length 1. None for rows that carry weights already. Tanimoto looks at the sets of words only.
    vectorizer : vectorizer or None, default=None
        Counts the words of texts; it is cloned. None is scikit-learn's ``CountVectorizer`` with English stop words,
        without words that occur in more than 95 % of the documents or, from 20 documents on, in only one.
    max_iter : int, default=100
        Largest number of rounds.
    random_state : int, RandomState or None, default=None
        Seed of the first seed document, and of the choices of ``randomize``.
    verbose : int, default=0
        1 prints a line per fit, 2 a line per round.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_documents, n_clusters)
        m(c, x), also below lambda. A document without known words has zeros.
    labels_ : ndarray of shape (n_documents,)
        Cluster of largest mean similarity; -1 for a row of zeros.
    n_clusters_ : int
    threshold_ : float
        lambda, less a margin for rounding: ``get_cover()`` gives the sets of documents.
    seed_indices_ : ndarray of int
        The seeds, in the order in which they were chosen.
    centers_ : ndarray of shape (n_clusters, n_words)
        Means of the rows of the clusters; with ``similarity='cosine'`` only.
    words_ : ndarray of shape (n_words,)
    vectorizer_ : vectorizer
        The fitted one, for texts.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Whether the sets stayed the same. False, with a warning, if ``max_iter`` ended the fit or the rounds form a
        cycle.

    See Also
    --------
    soft_clustering.KMART : one pass over the documents, the number of clusters found.
    soft_clustering.WBSC : clusters of words, each with the documents they are in.

    Notes
    -----
    The method follows [1]_, whose steps are reconstructed from descriptions of them; the default settings were chosen
    on one corpus of news. A first seed is drawn, and each next one is the document least similar to its nearest seed.
    lambda is the largest value that ``coverage`` of the documents reach with some seed other than themselves; seeds
    that no other document reaches are dropped.

    With the cosine a round costs O(nnz K) and memory is O(nnz + n K + K V) (V words), without a matrix of pairs. Any
    other similarity is computed between all documents and the members of the clusters in every round, a piece at a
    time, and the members are kept for prediction. Many documents stay below lambda, about half of them in a corpus of
    long texts, among them documents that mix themes: a wide ``coverage`` and ``seed_factor=1`` put these into several
    clusters.
    Short texts share few words: expect more clusters than asked for, and cycles.

    References
    ----------
    .. [1] K.-I. Lin, R. Kondadadi (2001). A similarity-based soft clustering algorithm for documents. Proc. DASFAA
       2001, 40-47. https://doi.org/10.1109/DASFAA.2001.916362

    Examples
    --------
    >>> from soft_clustering import SISC
    >>> texts = ["goal match team", "team wins match", "market shares fall", "shares and market rise"]
    >>> model = SISC(n_clusters=2, random_state=0).fit(texts)
    >>> sorted(sorted(words) for words in model.top_words(2))
    [['market', 'shares'], ['match', 'team']]
    >>> model.predict_memberships(["the match of a team and its shares"]).round(1).min()
    np.float64(0.3)
    """

    threshold_: float
    seed_indices_: NDArray[np.intp]
    centers_: NDArray[Any]
    n_iter_: int
    converged_: bool
    membership_kind: ClassVar[MembershipKind] = "possibilistic"
    _policy = replace(_RANDOM, cycle_key=sets_key)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "seed_factor": [Interval(Integral, 1, None, closed="left")],
        "coverage": [Interval(Real, 0, 1, closed="right")],
        "merge_overlap": [Interval(Real, 0, 1, closed="right")],
        "similarity": [StrOptions({"cosine", "tanimoto"}), callable],
        "randomize": ["boolean"],
        "weighting": [StrOptions({"tfidf"}), None],
        "vectorizer": [None, object],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 10,
        *,
        seed_factor: int = 2,
        coverage: float = 0.5,
        merge_overlap: float = 0.5,
        similarity: Kernel = "cosine",
        randomize: bool = False,
        weighting: str | None = "tfidf",
        vectorizer: Any = None,
        max_iter: int = 100,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.seed_factor = seed_factor
        self.coverage = coverage
        self.merge_overlap = merge_overlap
        self.similarity = similarity
        self.randomize = randomize
        self.weighting = weighting
        self.vectorizer = vectorizer
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: DocumentsLike, y: object = None) -> Self:
        """Find the sets of documents.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Round](self) as fit:
            X = self._documents(X, reset=True)
            check_enough_samples(X.shape[0], self.n_clusters)
            require_words(X)
            self._idf = inverse_frequency(X) if self.weighting == "tfidf" else None
            rng = check_random_state(self.random_state)
            rows = self._rows(X)
            sets = merge_overlapping(self._first_sets(rows, rng), self.merge_overlap)[0]
            fit.unit = "round"
            fit.stores(partial(self._finish, rows=rows, dtype=X.dtype))
            # The start is a partition that may be kept, too.
            fit.runs.append(Run(Round(sets, np.full(sets.shape, np.inf)), n_iter=1))
            step = partial(self._next, rows=rows, rng=rng)
            policy = _RANDOM if self.randomize else self._policy
            iterate(fit.runs[0], step=step, policy=policy, max_iter=self.max_iter, tol=0.0)
        return self

    @as_fitted
    def predict_memberships(self, X: DocumentsLike) -> NDArray[Any]:
        """Mean similarities of new documents with the documents of the clusters.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)

        Returns
        -------
        memberships : ndarray of shape (n_documents, n_clusters)
        """
        check_is_fitted(self, "n_clusters_")
        X = self._documents(X, reset=False)
        with single_threaded_blas():
            return self._memberships(self._rows(X)).astype(X.dtype)

    def _word_weights(self) -> NDArray[Any]:
        return self._means

    # Similarities ---------------------------------------------------------------------------------------------------

    def _rows(self, X: sparse.csr_array) -> Any:
        """Documents as they are compared: sets of words, or rows of length 1."""
        return (X > 0).astype(np.float64) if self.similarity == "tanimoto" else unit_rows(X, self._idf)

    def _cluster(self, rows: sparse.csr_array, members: Sets) -> Any:
        """What is needed for mean similarities with some of the rows: their mean for the cosine, otherwise the rows."""
        return mean_row(rows, members) if self.similarity == "cosine" else rows[members]

    def _mean_similarity(self, rows: sparse.csr_array, cluster: Matrix) -> Array:
        """m(c, x) of a cluster and every row."""
        if self.similarity == "cosine":
            means = rows @ cluster
        else:
            similar = tanimoto if isinstance(self.similarity, str) else checked(self.similarity)
            step = max(1, _PIECE // cluster.shape[0])
            parts = [similar(rows[some], cluster).sum(axis=1) for some in gen_batches(rows.shape[0], step)]
            means = np.concatenate([np.zeros(0), *parts]) / cluster.shape[0]
            means[np.diff(rows.indptr) == 0] = 0  # an empty document, whatever the user's function returns
        answer: Array = np.minimum(means, 1)
        return answer

    def _memberships(self, rows: sparse.csr_array) -> Array:
        return np.column_stack([self._mean_similarity(rows, cluster) for cluster in self._clusters])

    # The method -----------------------------------------------------------------------------------------------------

    def _first_sets(self, rows: sparse.csr_array, rng: np.random.RandomState) -> Sets:
        """The documents near each seed; sets ``seed_indices_`` and ``threshold_``."""
        known = np.flatnonzero(np.diff(rows.indptr))
        seeds: list[int] = []
        similarities: list[Array] = []
        nearest = np.zeros(rows.shape[0])  # similarity with the nearest seed other than itself
        candidate = np.full(rows.shape[0], np.inf)  # similarity with the nearest seed; infinite if it cannot be a seed
        candidate[known] = 0
        for _ in range(min(self.seed_factor * self.n_clusters, len(known))):
            seed = int(candidate.argmin()) if seeds else int(rng.choice(known))
            itself = np.arange(rows.shape[0]) == seed
            similar = self._mean_similarity(rows, self._cluster(rows, itself))
            candidate = np.where(itself, np.inf, np.maximum(candidate, similar))
            nearest = np.maximum(nearest, np.where(itself, 0, similar))
            seeds.append(seed)
            similarities.append(similar)
        self.seed_indices_ = np.array(seeds)
        covered = max(1, int(np.ceil(self.coverage * len(known) * (1 - 1e-12))))
        self.threshold_ = float(np.sort(nearest[known])[-covered]) * (1 - _ROUNDING)
        sets = self._above(np.column_stack(similarities))
        reached = sets.copy()
        reached[seeds, np.arange(len(seeds))] = False
        outlying = ~reached.any(axis=0)
        if outlying.all():
            outlying[0] = False
        kept: Sets = sets[:, ~outlying]
        return kept

    def _above(self, means: Array) -> Any:
        return (means >= self.threshold_) & (means > 0)

    def _next(self, state: Round, rows: sparse.csr_array, rng: np.random.RandomState) -> tuple[Round, None]:
        """The next sets, from the mean similarities with the present ones."""
        means = state.means.copy()
        for k, members in enumerate(state.sets.T):
            cluster = self._cluster(rows, members)
            if self.randomize:
                again = rng.uniform(size=len(members)) * self.threshold_ < state.means[:, k]
                means[again, k] = self._mean_similarity(rows[again], cluster)
            else:
                means[:, k] = self._mean_similarity(rows, cluster)
        sets = self._above(means)
        some = sets.any(axis=0)
        if not some.any():
            return state._replace(stuck=True), None
        sets, origin = merge_overlapping(sets[:, some], self.merge_overlap)
        say(self, f"round: {sets.shape[1]} clusters, {sets.any(axis=1).mean():.0%} of documents", level=2)
        return Round(sets, np.where(origin >= 0, means[:, some][:, origin], np.inf)), None

    def _finish(self, run: Run[Round], rows: sparse.csr_array, dtype: DTypeLike) -> list[str]:
        """Store the clusters and what follows from them."""
        sets = run.state.sets
        run.converged = run.converged and not run.state.stuck
        self._clusters = [self._cluster(rows, members) for members in sets.T]
        self._means = np.stack([mean_row(rows, members) for members in sets.T]).astype(dtype)
        if self.similarity == "cosine":
            self.centers_ = self._means
        self._set_memberships(self._memberships(rows).astype(dtype))
        say(self, f"{self.n_clusters_} clusters, lambda {self.threshold_:.3g}, {run.n_iter} rounds, {run.ending}")
        return list(self._complaints(run))

    def _complaints(self, run: Run[Round]) -> Iterator[str]:
        if self.threshold_ == 0:
            yield (
                f"SISC found that fewer documents resemble any seed than coverage={self.coverage:.3g} asks for. "
                "Try a smaller coverage or a larger seed_factor."
            )
        if run.state.stuck:
            yield (
                "SISC stopped: no document is similar enough to any cluster. Try another coverage or a larger "
                "merge_overlap."
            )
        else:
            yield from not_converged(self, run, passes="rounds", remedy="")


def mean_row(rows: sparse.csr_array, members: Sets) -> Array:
    """The mean of some CSR rows, (V,)."""
    mean: Array = (rows.T @ members.astype(np.float64)) / members.sum()
    return mean


def tanimoto(X: sparse.csr_array, Y: sparse.csr_array) -> Any:
    """The number of words in both of two rows of 0 and 1 over the number in either, CSR (n, m)."""
    common = sparse.csr_array(X @ Y.T)
    x, y = np.diff(X.indptr), np.diff(Y.indptr)
    common.data /= np.repeat(x, np.diff(common.indptr)) + y[common.indices] - common.data
    return common


def checked(similarity: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Array]:
    """The user's similarity function, with a check of what it returns."""

    def call(X: sparse.csr_array, Y: sparse.csr_array) -> Array:
        result = similarity(X, Y)
        try:
            S = np.asarray(result.toarray() if sparse.issparse(result) else result, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"similarity(X, Y) must give a matrix of numbers. Got {type(result).__name__} instead."
            ) from error
        shape = X.shape[0], Y.shape[0]
        if S.shape != shape:
            raise ValueError(
                f"similarity(X, Y) must give a matrix of shape (n_rows of X, n_rows of Y) = {shape}. Got shape "
                f"{S.shape} instead."
            )
        if not ((S >= -_ROUNDING) & (S <= 1 + _ROUNDING)).all():
            raise ValueError(f"similarity(X, Y) must give numbers from 0 to 1. Got {S.min():.3g} to {S.max():.3g}.")
        return np.clip(S, 0, 1)

    return call


def merge_overlapping(sets: Sets, least: float) -> tuple[Sets, NDArray[np.intp]]:
    """Unite two sets (columns, none empty) that share the part ``least`` of the smaller one, best pair first.

    Also returns the column from which each result comes, -1 for a union.
    """
    members = sets.astype(np.float64)
    common = members.T @ members
    origin = np.arange(sets.shape[1])
    while True:
        sizes = np.diagonal(common)
        share = common / np.maximum(np.minimum(sizes[:, None], sizes), 1)
        np.fill_diagonal(share, -1)
        a, b = np.unravel_index(share.argmax(), share.shape)
        if share[a, b] < least:
            kept = sizes > 0
            return members[:, kept] > 0, origin[kept]
        members[:, a] = np.maximum(members[:, a], members[:, b])
        members[:, b] = 0
        common[b] = common[:, b] = 0
        common[a] = common[:, a] = members.T @ members[:, a]
        origin[a] = -1
