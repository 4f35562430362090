"""Probabilistic latent semantic indexing (PLSI, PLSA): the aspect model, by expectation maximisation.

With shares P(z|d) of the topics z in document d and word probabilities P(w|z), maximise the log likelihood

    L = sum_dw x_dw log sum_z P(z|d) P(w|z)

of the words by alternating

* P(z|d,w) ~ P(z) [P(d|z) P(w|z)]^beta, which is A_dz B_wz / s_dw with A_dz = P(z|d)^beta P(z)^(1-beta),
  B_wz = P(w|z)^beta and s_dw = sum_z A_dz B_wz;
* P(z|d) ~ sum_w x_dw P(z|d,w) and P(w|z) ~ sum_d x_dw P(z|d,w).

At beta = 1 this is ordinary expectation maximisation. A beta below 1 makes the posterior of the topics softer, and the
steps maximise

    L_beta = sum_dw x_dw log s_dw,

which is L at beta = 1. Tempering lowers beta as long as held-out words become more likely.

References
----------
T. Hofmann (1999). Probabilistic latent semantic analysis. UAI, 289-296.
T. Hofmann (1999). Probabilistic latent semantic indexing. SIGIR, 50-57.
T. Hofmann (2001). Unsupervised learning by probabilistic latent semantic analysis. Mach. Learn. 42, 177-196.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Array, DocumentsLike, Seed
from ..engine.alternating import PARAMETERS
from ..engine.blocks import Block, Blocks, Frame
from ..engine.fitting import Fit, say
from ..engine.loop import ROUNDING, Run
from ..inputs.features import validate_matrix
from ..kernels.topics import fold_in, plsi_step
from .corpus import groups, has_distinct, with_text
from .topics import TOPICS, TopicModel, count_words, weighted_rows

_OWN = 0.9  # share of its group's topic that a document starts with
_SMOOTH = 1e-4  # part of the mean count of a word in a topic that is added at the start
_SETTLED = 1e-7  # a folded-in document is finished when its shares change by less
# The schedule of tempering
_GAIN = 1e-4  # the least gain in held-out log likelihood per word that counts
_PATIENCE = 3  # passes without such a gain
_LEAST_PASSES = 5  # at each beta
_LAST_PASSES = 10  # over all words
_LEAST_BETA = 0.1
_FEW_STARTS = 3  # random ones, of which some collapse when tempered
_LARGEST_DRAW = 2.0**31  # larger counts are not split word by word


class Aspects(NamedTuple):
    """The state: the parameters of the model and the inverse temperature."""

    shares: Any  # (n, K), P(z|d); None: folded in
    words: Array  # (V, K), P(w|z)
    weights: Array  # (K,), P(z)
    beta: float


def folded_in(state: Aspects) -> Aspects:
    """The state in which the shares of all documents, including those of the fit, are inferred from the topics."""
    return state._replace(shares=None)


class Expected(NamedTuple):
    """The results of a pass over the documents, which are one block."""

    objective: float
    shares: Array  # (n, K), all zero for a document without words
    counts: Array  # (V, K), sum_d x_dw P(z|d,w)


@dataclass
class TemperedRun(Run[Aspects]):
    """A start of the schedule; the state is the best so far."""

    validation: list[float] = field(default_factory=list)
    best: float = -np.inf


def columns_to_one(counts: Array) -> tuple[Array, Array]:
    """Columns (V, K) divided by their sums, and the shares (K,) of the sums; a column of zeros becomes the mean one."""
    V, K = counts.shape
    mass = np.ones(V) @ counts
    total = float(mass.sum())
    if total == 0:
        return np.full((V, K), 1 / V), np.full(K, 1 / K)
    empty = mass == 0
    words = counts / np.where(empty, 1.0, mass)
    words[:, empty] = (counts.sum(axis=1) / total)[:, None]
    return np.ascontiguousarray(words), mass / total


def tempered(shares: Array, state: Aspects) -> tuple[Array, Array]:
    """The factors A (n, K) and B (V, K) of the posterior."""
    shares = np.ascontiguousarray(shares, dtype=np.float64)
    if state.beta == 1:
        return shares, state.words
    return shares**state.beta * state.weights ** (1 - state.beta), state.words**state.beta


def with_words(block: Block, wanted: NDArray[np.bool_]) -> Block:
    """The block without the words that are not wanted (V,)."""
    if wanted.all():
        return block
    X = block.X.copy()
    X.data = X.data * wanted[X.indices]
    return Block(X, block.weight, block.frame)


def split_words(block: Block, fraction: float, rng: np.random.RandomState) -> tuple[Block, Block]:
    """The words to learn from, and about a ``fraction`` of all words, which is held out.

    Whole counts are split word by word, others entry by entry.
    """
    X = block.X
    x = X.data.astype(np.float64)
    if len(x) and x.max() < _LARGEST_DRAW and (x == np.floor(x)).all():
        held = rng.binomial(x.astype(np.int64), fraction).astype(np.float64)
    else:
        held = np.where(rng.uniform(size=len(x)) < fraction, x, 0.0)
    parts = []
    for data in (x - held, held):
        part = X.copy()
        part.data = data.astype(X.dtype)
        part.eliminate_zeros()
        parts.append(Block(part, block.weight, block.frame))
    if not (parts[0].X.nnz and parts[1].X.nnz):
        raise ValueError(
            f"validation_fraction must leave words to learn from and words to validate by. Got {fraction!r} for "
            f"{x.sum():.6g} words in X."
        )
    return parts[0], parts[1]


class PLSI(TopicModel[Aspects, Expected]):
    """Probabilistic latent semantic indexing: documents as mixtures of topics, by maximum likelihood.

    Every document has shares of all topics, and every topic is a distribution over the words. There are no priors;
    tempering, expectation maximisation with softened posteriors, guards against overfitting.

    Parameters
    ----------
    n_clusters : int, default=10
        Number of topics K; may exceed the number of documents.
    tempered : bool, default=False
        Whether to hold out words and lower ``beta`` as long as these become more likely. Helps with short documents.
    beta : float, default=1.0
        Inverse temperature in (0, 1]: the first one when tempered, otherwise the only one. 1 is maximum likelihood.
    beta_step : float, default=0.9
        Factor of beta from one level of tempering to the next.
    validation_fraction : float, default=0.1
        Part of the words held out when tempered.
    max_doc_update_iter : int, default=50
        Largest number of steps of a document that is folded in.
    vectorizer : vectorizer or None, default=None
        Counts the words of texts; it is cloned. None is scikit-learn's ``CountVectorizer`` with English stop words,
        without words that occur in more than 95 % of the documents or, from 20 documents on, in only one.
    init : {'kmeans', 'random'} or array of shape (n_clusters, n_words), default='kmeans'
        Start: mostly the groups of k-means on tf-idf (random topics if fewer than K documents differ); random topics
        and shares; or word weights of the topics, which force one start with equal shares.
    n_init : int, default=3
        Starts; the one of largest objective is kept, when tempered the one whose held-out words are most likely.
        Tempering from random starts collapses easily and needs at least 3.
    max_iter : int, default=300
        Passes over the documents per start.
    tol : float, default=1e-5
        Converged when the objective changes by at most this part of itself; not used when tempered.
    random_state : int, RandomState or None, default=None
        Seed of the starts and of what is held out.
    verbose : int, default=0
        1 prints a line per start, 2 a line per pass.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_documents, n_clusters)
        Shares P(z|d) of the topics. A document without known words has ``topic_weights_``.
    labels_ : ndarray of shape (n_documents,)
        Topic of largest share.
    n_clusters_ : int
    topic_word_ : ndarray of shape (n_clusters, n_words)
        Word probabilities P(w|z) of the topics.
    topic_weights_ : ndarray of shape (n_clusters,)
        P(z), the part of all words in each topic.
    words_ : ndarray of shape (n_words,)
    vectorizer_ : vectorizer
        The fitted one, for texts.
    beta_ : float
        The inverse temperature that was settled on.
    validation_history_ : ndarray
        Held-out log likelihood per word after each pass of the tempering of the best start; empty without tempering.
    objective_ : float
        L_beta, maximised; it is the log likelihood if ``beta_`` is 1.
    objective_history_ : ndarray
        L_beta at each state visited, the last one included; when tempered, of the last passes over all words only.
    n_iter_ : int
        Passes of the best start.
    converged_ : bool

    See Also
    --------
    soft_clustering.LDA : the same mixture with priors.
    sklearn.decomposition.NMF : with the Kullback-Leibler loss the same optima at ``beta=1``.

    Notes
    -----
    The method follows [1]_ and [2]_; [3]_ has both at length. The start by k-means, the patience of the schedule, the
    ten passes over all words that end it, and the default without tempering are ours. A pass costs O(nnz K), memory is
    O(nnz + (n + V) K) (V words).

    New documents are folded in: the topics stay, and the shares are found from equal ones. ``memberships_`` are found
    in the same way, so that predicting the training documents gives them again; after the default number of steps they
    are near, but not at, the optimum for the topics.

    ``score`` is the log likelihood L of new documents at any ``beta_``, and ``perplexity`` follows from it. Both are
    optimistic: the shares of a document are fitted to the words that are then scored. To compare temperatures or
    numbers of topics, fold in some words of each new document and look at the others, as tempering does. Words that no
    training document has are ignored. Entries of X need not be whole numbers. ``sample_weight`` counts documents; what
    tempering holds out of them is drawn once.

    References
    ----------
    .. [1] T. Hofmann (1999). Probabilistic latent semantic analysis. UAI, 289-296.
    .. [2] T. Hofmann (1999). Probabilistic latent semantic indexing. SIGIR, 50-57.
    .. [3] T. Hofmann (2001). Unsupervised learning by probabilistic latent semantic analysis. Mach. Learn. 42, 177-196.

    Examples
    --------
    >>> from soft_clustering import PLSI
    >>> texts = ["goal match team", "team wins match", "market shares fall", "shares and market rise"] * 3
    >>> model = PLSI(n_clusters=2, random_state=0).fit(texts)
    >>> sorted(sorted(words) for words in model.top_words(2))
    [['market', 'shares'], ['match', 'team']]
    >>> model.predict_memberships(["a match of this team"]).max().round(1)
    np.float64(1.0)
    """

    topic_weights_: Array
    beta_: float
    validation_history_: Array
    _policy = replace(TOPICS, final=folded_in)
    _remedy: ClassVar[str] = "Raise beta"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PARAMETERS | {
        "tempered": ["boolean"],
        "beta": [Interval(Real, 0, 1, closed="right")],
        "beta_step": [Interval(Real, 0, 1, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "max_doc_update_iter": [Interval(Integral, 1, None, closed="left")],
        "vectorizer": [None, object],
        "init": [StrOptions({"kmeans", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 10,
        *,
        tempered: bool = False,
        beta: float = 1.0,
        beta_step: float = 0.9,
        validation_fraction: float = 0.1,
        max_doc_update_iter: int = 50,
        vectorizer: Any = None,
        init: str | ArrayLike = "kmeans",
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.tempered = tempered
        self.beta = beta
        self.beta_step = beta_step
        self.validation_fraction = validation_fraction
        self.max_doc_update_iter = max_doc_update_iter
        self.vectorizer = vectorizer
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # The steps --------------------------------------------------------------------------------------------------------

    def _resolve(self, blocks: Blocks) -> None:
        random = isinstance(self.init, str) and self.init == "random"
        if self.tempered and random and self.n_init < _FEW_STARTS:
            raise ValueError(
                f"n_init must be >= {_FEW_STARTS} to temper from random starts, which may collapse. "
                f"Got {self.n_init} instead."
            )

    def _blocks(self, X: DocumentsLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        """Validated documents; after the fit, without the words that no topic has."""
        blocks = super()._blocks(X, sample_weight, frame)
        if frame is None:
            return blocks
        return Blocks([with_words(blocks.joined(), np.asarray(self._state.words.any(axis=1)))])

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[Aspects]:
        filled = with_text(blocks)
        grouped = groups(blocks.take(filled), self.n_clusters, rng, self._n_starts())
        for _ in range(self._n_starts()):
            yield self._start(blocks, filled, grouped, rng)

    def _start(
        self, blocks: Blocks, filled: NDArray[np.intp], grouped: Iterator[Array], rng: np.random.RandomState
    ) -> Aspects:
        K, block = self.n_clusters, blocks.joined()
        shares = np.full((block.n, K), 1 / K)
        if not isinstance(self.init, str):
            counts = validate_matrix("init", self.init, (K, blocks.d)).T
            if not (counts > 0).all():
                raise ValueError(f"init must have positive entries. Got {counts.min():.3g}.")
        elif self.init == "random" or not has_distinct(blocks.take(filled), K):
            counts = rng.dirichlet(np.ones(blocks.d), K).T
            if self.init == "random":
                shares = rng.dirichlet(np.ones(K), block.n)
        else:
            shares[filled] = _OWN * next(grouped) + (1 - _OWN) / K
            counts = block.X.T @ weighted_rows(block, shares)
            counts += _SMOOTH * counts.mean()
        words, weights = columns_to_one(counts)
        return Aspects(shares, words, weights, float(self.beta))

    def _statistics(self, block: Block, state: Aspects) -> Expected:
        A, B = tempered(self._memberships(block, state) if state.shares is None else state.shares, state)
        objective, shares, ratios = plsi_step(block, A, B)
        return Expected(objective, shares, B * ratios)

    def _update(self, state: Aspects, statistics: Expected, blocks: Blocks) -> Aspects:
        words, weights = columns_to_one(statistics.counts)
        shares = statistics.shares
        shares[~shares.any(axis=1)] = weights
        return Aspects(shares, words, weights, state.beta)

    def _memberships(self, block: Block, state: Aspects) -> NDArray[Any]:
        B = state.words**state.beta
        memberships, _ = fold_in(block, B, state.weights, state.beta, self.max_doc_update_iter, _SETTLED)
        memberships[~memberships.any(axis=1)] = state.weights
        return memberships

    # Tempering --------------------------------------------------------------------------------------------------------

    def _run(self, fit: Fit[Aspects], blocks: Blocks, rng: np.random.RandomState) -> None:
        self.validation_history_ = np.empty(0)
        if not self.tempered:
            super()._run(fit, blocks, rng)
            return
        train, held_out = split_words(blocks.joined(), self.validation_fraction, rng)
        held_out = with_words(held_out, train.X.sum(axis=0) > 0)
        best: TemperedRun | None = None
        try:
            for start, state in enumerate(self._starts(Blocks([train]), rng), 1):
                run = TemperedRun(state)
                fit.runs[:] = [run] if best is None else [best]
                self._temper(run, train, held_out)
                found = f"held-out log likelihood {run.best:.8g} per word at beta {run.state.beta:.3g}"
                say(self, f"start {start}: {found}, {run.n_iter} passes")
                best = run if best is None or run.best > best.best + ROUNDING * abs(best.best) else best
        finally:
            kept = best or run
            self.validation_history_ = np.array(kept.validation)
        fit.runs[:] = [kept]
        self._learn_all(kept, blocks)

    def _temper(self, run: TemperedRun, train: Block, held_out: Block) -> None:
        """Lower beta until a whole level brings no gain; ``run.state`` becomes the best state on the held-out words."""
        count, state, blocks = count_words(held_out), run.state, Blocks([train])
        while True:
            before, waited, passes = run.best, 0, 0
            while waited < _PATIENCE or passes < _LEAST_PASSES:
                if run.n_iter >= max(1, self.max_iter - _LAST_PASSES):
                    return
                state = self._update(state, self._statistics(train, state), blocks)
                run.n_iter, passes, waited = run.n_iter + 1, passes + 1, waited + 1
                value = plsi_step(held_out, state.shares, state.words)[0] / count
                run.validation.append(value)
                found = f"held-out log likelihood {value:.8g} per word"
                say(self, f"pass {run.n_iter}: beta {state.beta:.3g}, {found}", level=2)
                if value > run.best + _GAIN:
                    run.best, run.state, waited = value, state, 0
            beta = self.beta_step * state.beta
            if run.best == before or beta < _LEAST_BETA:
                run.converged = True
                return
            state = run.state._replace(beta=beta)

    def _learn_all(self, run: TemperedRun, blocks: Blocks) -> None:
        """Some passes over all words at the beta of ``run.state``."""
        block, state = blocks.joined(), run.state
        new = ~state.words.any(axis=1)
        if new.any():
            # Give a start to words that were held out altogether: zero probabilities would stay zero.
            counts = state.words * state.weights * count_words(block)
            counts[new] = block.X[:, new].T @ weighted_rows(block, state.shares)
            state = state._replace(words=columns_to_one(counts)[0])
        for _ in range(min(_LAST_PASSES, self.max_iter - run.n_iter)):
            found = self._statistics(block, state)
            run.history.append(found.objective)
            run.state = state = self._update(state, found, blocks)
            run.n_iter += 1

    # Results ----------------------------------------------------------------------------------------------------------

    def _complaints(self, run: Run[Aspects], blocks: Blocks) -> list[str]:
        complaints = super()._complaints(run, blocks)
        if self.tempered and not run.converged and self.max_iter > 1:
            complaints[0] = f"PLSI was still tempering after max_iter={self.max_iter} passes. Increase max_iter."
        return complaints

    def _store(self, state: Aspects, statistics: Expected, blocks: Blocks) -> None:
        self.topic_word_ = np.ascontiguousarray(state.words.T.astype(blocks.dtype))
        self.topic_weights_ = state.weights.copy()
        self.beta_ = state.beta

    def _log_likelihood(self, blocks: Blocks) -> float:
        """The log likelihood at any beta, by which temperatures can be compared."""
        block = blocks.joined()
        shares = self._memberships(block, self._state).astype(np.float64)
        return plsi_step(block, shares, self._state.words)[0]
