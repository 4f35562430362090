"""Latent Dirichlet allocation by variational Bayes.

Document d has topic shares theta_d ~ Dir(alpha), topic k word probabilities beta_k ~ Dir(eta). With Dir(gamma_d) and
Dir(lambda_k) as the posterior of each, A_dk = exp E[log theta_dk] and B_kw = exp E[log beta_kw], maximise the bound

    L = sum_dw x_dw log sum_k A_dk B_kw - sum_d KL(Dir(gamma_d) | Dir(alpha)) - sum_k KL(Dir(lambda_k) | Dir(eta))

of the log likelihood by alternating

* gamma_dk = alpha + A_dk sum_w x_dw B_kw / s_dw with s_dw = sum_k A_dk B_kw, for each document until it settles;
* lambda_kw = eta + B_kw sum_d A_dk x_dw / s_dw.

The online form makes the second step with a batch of documents at a time, and its steps shrink.

References
----------
D. M. Blei, A. Y. Ng, M. I. Jordan (2003). Latent Dirichlet allocation. J. Mach. Learn. Res. 3, 993-1022.
M. D. Hoffman, D. M. Blei, F. Bach (2010). Online learning for latent Dirichlet allocation. NeurIPS 23.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.special import gammaln, polygamma, psi
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, DocumentsLike, Seed
from ..base import continues_fit
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks
from ..engine.fitting import Fit
from ..engine.loop import iterate
from ..inputs.features import validate_matrix
from ..kernels.topics import TopicStatistics, lda_memberships, lda_statistics
from .corpus import groups, has_distinct, with_text
from .topics import TOPICS, TopicModel, weighted_rows

if TYPE_CHECKING:
    from typing import Self

_OWN = 0.9  # part of the words of a group that starts in its topic; the rest is spread over all topics
_NEWTON_STEPS = 50


class Topics(NamedTuple):
    """The state: parameters of the topics and of the shares."""

    components: Array  # (K, V), lambda
    words: Array  # (V, K), exp E[log beta]
    prior: Array  # (K,), alpha
    bound: float  # the topics' part of the bound
    draws: np.random.RandomState | None  # of the documents, if they start at random
    n_batches: int  # seen so far, counted from 1


class Expected(NamedTuple):
    """What a block contributes, and the topics' part of the bound, which is the same in all blocks."""

    documents: TopicStatistics
    topics: float

    def merge(self, other: Expected) -> Expected:
        """The statistics of both blocks together."""
        return Expected(self.documents.merge(other.documents), self.topics)

    @property
    def objective(self) -> float:
        """The bound."""
        return self.documents.objective + self.topics


def without_draws(state: Topics) -> Topics:
    """The state in which documents start as in prediction."""
    return state._replace(draws=None)


def make_topics(
    components: Array, prior: Array, topic_word_prior: float, draws: np.random.RandomState | None, n_batches: int
) -> Topics:
    """The state with these topics, and their part of the bound."""
    eta, total = topic_word_prior, components.sum(axis=1)
    logs = psi(components) - psi(total)[:, None]
    bound = ((eta - components) * logs + gammaln(components) - gammaln(eta)).sum()
    bound += (gammaln(eta * components.shape[1]) - gammaln(total)).sum()
    return Topics(components, np.ascontiguousarray(np.exp(logs).T), prior, float(bound), draws, n_batches)


def fit_prior(alpha: Array, logs: Array) -> Array:
    """The Dirichlet parameters that suit the mean E[log theta] of documents, by Newton's method from ``alpha``.

    The Hessian is a diagonal plus a constant, so a step costs O(K). With a single topic any parameter fits.
    """
    if len(alpha) == 1:
        return alpha

    def fitness(a: Array) -> float:
        return float(gammaln(a.sum()) - gammaln(a).sum() + a @ logs)

    best = fitness(alpha)
    for _ in range(_NEWTON_STEPS):
        g = psi(alpha.sum()) - psi(alpha) + logs
        h, z = -polygamma(1, alpha), polygamma(1, alpha.sum())
        step = (g - (g / h).sum() / (1 / z + (1 / h).sum())) / h
        for halved in 0.5 ** np.arange(30):
            new = alpha - halved * step
            if (new > 0).all() and (value := fitness(new)) >= best:
                break
        else:
            return alpha
        settled = value - best <= 1e-12 * (1 + abs(best))
        alpha, best = new, value
        if settled:
            break
    return alpha


class LDA(TopicModel[Topics, Expected]):
    """Latent Dirichlet allocation: documents as mixtures of topics.

    Every document has shares of all topics, and every topic is a distribution over the words. The fit is by variational
    Bayes, over all documents at once or over batches.

    Parameters
    ----------
    n_clusters : int, default=10
        Number of topics K; may exceed the number of documents.
    doc_topic_prior : float or None, default=None
        Dirichlet parameter of the shares of a document; small values mean few topics each. None is 1 / K.
    topic_word_prior : float or None, default=None
        Dirichlet parameter of the words of a topic. None is 1 / K.
    learn_doc_prior : bool, default=False
        Whether to fit ``doc_topic_prior`` to the data, a parameter per topic, starting from the value given.
    learning_method : {'batch', 'online'}, default='batch'
        Whether the topics change after all documents or after ``batch_size`` of them. Online needs fewer passes over
        many documents.
    learning_decay : float, default=0.7
        Online, batch t moves the topics by (learning_offset + t)^(-learning_decay) of the way.
    learning_offset : float, default=10.0
        Online, larger values make the first batches count less.
    batch_size : int, default=128
        Documents of a batch, online.
    total_samples : float, default=1e6
        Total number of documents, for ``partial_fit``, which sees some at a time.
    max_doc_update_iter : int, default=100
        Largest number of steps of a document in one pass.
    mean_change_tol : float, default=1e-3
        A document has settled when its gamma changes by less than this, in the mean over the topics.
    vectorizer : vectorizer or None, default=None
        Counts the words of texts; it is cloned. None is scikit-learn's ``CountVectorizer`` with English stop words,
        without words that occur in more than 95 % of the documents or, from 20 documents on, in only one.
    init : {'kmeans', 'random'} or array of shape (n_clusters, n_words), default='kmeans'
        Starting topics: mostly the words of the groups of k-means on tf-idf (random numbers if fewer than K
        documents differ); random numbers, with random starts of the documents in every pass; or Dirichlet parameters,
        which force one start.
    n_init : int, default=1
        Starts; the one of largest objective is kept.
    max_iter : int, default=50
        Passes over the documents per start.
    tol : float, default=1e-4
        Converged when the objective changes by at most this part of itself.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_documents, n_clusters)
        Shares of the topics: gamma over its row sums. A document without known words has the shares of the prior.
    labels_ : ndarray of shape (n_documents,)
        Topic of largest share.
    n_clusters_ : int
    topic_word_ : ndarray of shape (n_clusters, n_words)
        Word probabilities of the topics: the rows of ``components_`` divided by their sums.
    components_ : ndarray of shape (n_clusters, n_words)
        The Dirichlet parameters lambda.
    words_ : ndarray of shape (n_words,)
    vectorizer_ : vectorizer
        The fitted one, for texts.
    doc_topic_prior_ : float or ndarray of shape (n_clusters,)
        alpha; an array if it was learnt.
    topic_word_prior_ : float
        eta.
    objective_ : float
        The bound L, maximised.
    objective_history_ : ndarray
        L at each state visited, the last one included; online summed over the batches of a pass.
    n_batch_iter_ : int
        Batches seen so far, plus 1.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.PLSI : the same mixture without priors.
    sklearn.decomposition.LatentDirichletAllocation : the same model, from random starts only.

    Notes
    -----
    Follows [1]_ and, online, [2]_. The start by k-means is ours. A pass costs O(nnz K) for each step of the documents;
    memory is O(nnz + n K + K V) (V words). With ``init='random'`` the results are those of scikit-learn's estimator
    for the same seed, up to the accuracy of its digamma function.

    Every pass starts its documents again from gamma = 1: continuing from the previous pass would stop them early. With
    few documents, or documents without clear topics, the objective may therefore fall now and then.
    ``score`` is the bound L of new documents. Entries of X need not be whole numbers. ``sample_weight`` counts
    documents, not words.

    References
    ----------
    .. [1] D. M. Blei, A. Y. Ng, M. I. Jordan (2003). Latent Dirichlet allocation. J. Mach. Learn. Res. 3, 993-1022.
    .. [2] M. D. Hoffman, D. M. Blei, F. Bach (2010). Online learning for latent Dirichlet allocation. NeurIPS 23.

    Examples
    --------
    >>> from soft_clustering import LDA
    >>> texts = ["goal match team", "team wins match", "market shares fall", "shares and market rise"] * 3
    >>> model = LDA(n_clusters=2, random_state=0).fit(texts)
    >>> sorted(sorted(words) for words in model.top_words(2))
    [['market', 'shares'], ['match', 'team']]
    >>> model.predict_memberships(["a match of this team"]).max().round(1)
    np.float64(0.8)
    """

    components_: NDArray[Any]
    doc_topic_prior_: float | Array
    topic_word_prior_: float
    n_batch_iter_: int
    # The documents start again in each pass and may settle elsewhere, so the objective may fall: keep the last state.
    _policy = replace(TOPICS, monotone=False, final=without_draws)
    _remedy: ClassVar[str] = "Lower doc_topic_prior, start from topics that differ"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "doc_topic_prior": [None, Interval(Real, 0, None, closed="neither")],
        "topic_word_prior": [None, Interval(Real, 0, None, closed="neither")],
        "learn_doc_prior": ["boolean"],
        "learning_method": [StrOptions({"batch", "online"})],
        "learning_decay": [Interval(Real, 0.5, 1, closed="both")],
        "learning_offset": [Interval(Real, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "total_samples": [Interval(Real, 0, None, closed="neither")],
        "max_doc_update_iter": [Interval(Integral, 1, None, closed="left")],
        "mean_change_tol": [Interval(Real, 0, None, closed="left")],
        "vectorizer": [None, object],
        "init": [StrOptions({"kmeans", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 10,
        *,
        doc_topic_prior: float | None = None,
        topic_word_prior: float | None = None,
        learn_doc_prior: bool = False,
        learning_method: str = "batch",
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        batch_size: int = 128,
        total_samples: float = 1e6,
        max_doc_update_iter: int = 100,
        mean_change_tol: float = 1e-3,
        vectorizer: Any = None,
        init: str | ArrayLike = "kmeans",
        n_init: int = 1,
        max_iter: int = 50,
        tol: float = 1e-4,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learn_doc_prior = learn_doc_prior
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.batch_size = batch_size
        self.total_samples = total_samples
        self.max_doc_update_iter = max_doc_update_iter
        self.mean_change_tol = mean_change_tol
        self.vectorizer = vectorizer
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _resolve(self, blocks: Blocks) -> None:
        self.topic_word_prior_ = 1 / self.n_clusters if self.topic_word_prior is None else float(self.topic_word_prior)

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Topics]:
        filled = blocks.take(with_text(blocks))
        grouped = groups(filled, self.n_clusters, rng, self._n_starts())
        for _ in range(self._n_starts()):
            yield self._start(blocks, filled, grouped, rng)

    def _start(self, blocks: Blocks, filled: Block, grouped: Iterator[Array], rng: np.random.RandomState) -> Topics:
        K, draws = self.n_clusters, None
        if not isinstance(self.init, str):
            components = validate_matrix("init", self.init, (K, blocks.d))
            if not (components > 0).all():
                raise ValueError(f"init must have positive entries. Got {components.min():.3g}.")
        elif self.init == "random" or not has_distinct(filled, K):
            components = rng.gamma(100.0, 0.01, (K, blocks.d))
            draws = rng if self.init == "random" else None
        else:
            counts = (filled.X.T @ weighted_rows(filled, next(grouped))).T
            components = self.topic_word_prior_ + _OWN * counts + (1 - _OWN) * counts.sum(axis=0) / K
        alpha = 1 / K if self.doc_topic_prior is None else float(self.doc_topic_prior)
        return make_topics(components, np.full(K, alpha), self.topic_word_prior_, draws, 1)

    def _statistics(self, block: Block, state: Topics) -> Expected:
        start = None if state.draws is None else state.draws.gamma(100.0, 0.01, (block.n, self.n_clusters))
        steps = self.max_doc_update_iter, self.mean_change_tol
        return Expected(lda_statistics(block, state.words, state.prior, start, *steps), state.bound)

    def _update(self, state: Topics, statistics: Expected, blocks: Blocks) -> Topics:
        return self._step(state, statistics.documents, blocks.total_weight, 1.0, 1.0)

    def _step(self, state: Topics, found: TopicStatistics, n: float, times: float, rate: float) -> Topics:
        """Topics moved by ``rate`` towards those of documents of total weight n, each counted ``times`` times."""
        target = self.topic_word_prior_ + times * (found.words * state.words).T
        prior = state.prior
        if self.learn_doc_prior:
            prior = (1 - rate) * prior + rate * fit_prior(prior, found.log_shares / n)
        components = (1 - rate) * state.components + rate * target
        return make_topics(components, prior, self.topic_word_prior_, state.draws, state.n_batches + 1)

    def _memberships(self, block: Block, state: Topics) -> NDArray[Any]:
        return lda_memberships(block, state.words, state.prior, self.max_doc_update_iter, self.mean_change_tol)[0]

    def _run(self, fit: Fit[Topics], blocks: Blocks, rng: np.random.RandomState) -> None:
        self._rng = rng  # for partial_fit
        if self.learning_method == "batch":
            super()._run(fit, blocks, rng)
            return
        block, total = blocks.joined(), blocks.total_weight

        def epoch(state: Topics) -> tuple[Topics, float]:
            objective = 0.0
            for rows in gen_batches(block.n, self.batch_size):
                state, found = self._learn(state, _some(block, rows), total)
                objective += found.objective
            return state, objective + state.bound

        loop = partial(iterate, step=epoch, policy=self._policy, max_iter=self.max_iter, tol=self.tol)
        fit.run_starts(self._starts(blocks, rng), partial(loop, report=fit.report))

    def _learn(self, state: Topics, batch: Block, total: float) -> tuple[Topics, TopicStatistics]:
        """Topics after one more batch of documents, which represents documents of total weight ``total``."""
        found = self._statistics(batch, state).documents
        size = float(batch.n if batch.weight is None else batch.weight.sum())
        rate = (self.learning_offset + state.n_batches) ** -self.learning_decay
        return self._step(state, found, size, total / size, rate), found

    def _store(self, state: Topics, statistics: Expected, blocks: Blocks) -> None:
        self._store_topics(state, blocks.dtype)

    def _store_topics(self, state: Topics, dtype: DTypeLike) -> None:
        self.n_batch_iter_ = state.n_batches
        self.components_ = state.components.astype(dtype)
        self.topic_word_ = (state.components / state.components.sum(axis=1, keepdims=True)).astype(dtype)
        self.doc_topic_prior_ = state.prior.copy() if self.learn_doc_prior else float(state.prior[0])

    @continues_fit
    def partial_fit(self, X: DocumentsLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Move the topics by more documents, ``batch_size`` at a time.

        The first call, unless the model is fitted, makes the topics to start from; if X are texts, it determines the
        words. There are no ``memberships_`` after it: use ``predict_memberships``.
        Parameters set after the first call, or after ``fit``, do not matter.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)
        y : ignored
        sample_weight : array-like of shape (n_documents,), default=None

        Returns
        -------
        self : object
        """
        self._validate_params()
        first = not hasattr(self, "_state")
        blocks = self._blocks(X, sample_weight, None if first else self._frame)
        if first:
            self._resolve(blocks)
            self._frame, self.n_iter_ = blocks.frame, 0
            self._rng = check_random_state(self.random_state)
            self._state = next(self._starts(blocks, self._rng))
        block, state = blocks.joined(), self._state
        if isinstance(self.init, str) and self.init == "random":
            state = state._replace(draws=self._rng)
        for rows in gen_batches(block.n, self.batch_size):
            state, _ = self._learn(state, _some(block, rows), float(self.total_samples))
        self._state = without_draws(state)
        self._store_topics(state, blocks.dtype)
        self.n_clusters_ = self.n_clusters
        self.n_iter_ += 1
        self._forget("memberships_", "labels_", "objective_", "objective_history_", "converged_")
        return self


def _some(block: Block, rows: slice) -> Block:
    """Consecutive documents of a block."""
    return Block(block.X[rows], None if block.weight is None else block.weight[rows], block.frame)
