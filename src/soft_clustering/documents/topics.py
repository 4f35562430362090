"""What models of documents as mixtures of topics share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._types import Array, DocumentsLike
from ..base import as_fitted
from ..engine.alternating import AlternatingClusterer, S, T
from ..engine.blocks import Block, Blocks, Frame, make_blocks
from ..engine.loop import Policy, Run, no_units, objective_change
from ..inputs.features import validate_weights
from .corpus import DocumentClusterer

_FLAT = 0.05  # if all shares are within this of their mean, the topics do not tell documents apart


TOPICS = Policy(
    sense="max", residual=objective_change, by_objective=True, place=None, units=no_units, sparse=True, needs_rows=False
)


class TopicModel(DocumentClusterer, AlternatingClusterer[S, T]):
    """An alternating method over counts of words, with word probabilities ``topic_word_`` (K, V)."""

    _policy = TOPICS
    topic_word_: NDArray[Any]
    _remedy: ClassVar[str]  # what else to try after a collapse than fewer topics

    def _blocks(self, X: DocumentsLike, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        X = self._documents(X, reset=frame is None)
        return make_blocks(X, validate_weights(sample_weight, X), Frame(np.zeros(X.shape[1]), 1.0))

    def _complaints(self, run: Run[S], blocks: Blocks) -> list[str]:
        complaints = super()._complaints(run, blocks)
        if self.n_clusters > 1 and np.abs(self.memberships_ - self.memberships_.mean(axis=0)).max() < _FLAT:
            complaints.append(
                f"{type(self).__name__} collapsed: all documents have about the same shares of topics. "
                f"{self._remedy} or lower n_clusters."
            )
        return complaints

    def _word_weights(self) -> NDArray[Any]:
        return self.topic_word_

    def _log_likelihood(self, blocks: Blocks) -> float:
        """The log likelihood of some documents, or a bound of it."""
        return self._objective_on(blocks)

    @as_fitted
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """The log likelihood of new documents, or the bound of it that the method maximises.

        Parameters
        ----------
        X : documents
        y : ignored
        sample_weight : array-like of shape (n_documents,), default=None

        Returns
        -------
        score : float
        """
        return self._log_likelihood(self._new_blocks(X, sample_weight))

    @as_fitted
    def perplexity(self, X: DocumentsLike, *, sample_weight: ArrayLike | None = None) -> float:
        """The exponential of minus the score per word; lower is better.

        Parameters
        ----------
        X : sequence of str, sequence of lists of str, or array-like or sparse matrix of shape (n_documents, n_words)
        sample_weight : array-like of shape (n_documents,), default=None

        Returns
        -------
        perplexity : float
        """
        blocks = self._new_blocks(X, sample_weight)
        count = count_words(blocks.joined())
        if count == 0:
            raise ValueError("X must have at least one known word for a perplexity.")
        return float(np.exp(-self._log_likelihood(blocks) / count))


def count_words(block: Block) -> float:
    """The number of words in a block, each document counted by its weight."""
    lengths = np.asarray(block.X.sum(axis=1, dtype=np.float64)).ravel()
    return float(lengths.sum() if block.weight is None else block.weight @ lengths)


def weighted_rows(block: Block, rows: Array) -> Array:
    """Rows (n, K) times the weights of the documents."""
    return rows if block.weight is None else rows * block.weight[:, None]
