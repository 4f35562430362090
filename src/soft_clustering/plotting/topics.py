"""The words of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._estimators import Estimator
from .._types import Names
from .data import check_count, check_numbers
from .drawing import panels, plain
from .palette import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST = 18


class TopicWordsDisplay:
    """Bars of the strongest words of each topic, a panel per topic on one scale.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words)
        Non-negative.
    words : array-like of shape (n_words,), str

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, one per topic.
    figure_ : matplotlib Figure
    bars_ : list of matplotlib BarContainer
        The bars of each topic, from the strongest word down.

    Examples
    --------
    >>> from soft_clustering.plotting import TopicWordsDisplay
    >>> topic_word = [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    >>> display = TopicWordsDisplay(topic_word, ["goal", "team", "vote"]).plot(n_words=2)
    >>> [label.get_text() for label in display.axes_[1].get_yticklabels()]
    ['vote', 'team']
    """

    def __init__(self, topic_word: ArrayLike, words: Names) -> None:
        self.topic_word = check_numbers("topic_word", topic_word, "n_topics", "n_words", negative=False)
        self.words = [str(word) for word in words]
        if len(self.words) != self.topic_word.shape[1]:
            raise ValueError(
                f"words must have one entry per column of topic_word: {self.topic_word.shape[1]}. "
                f"Got {len(self.words)} instead."
            )

    @classmethod
    def from_estimator(cls, estimator: Estimator, *, ax: Axes | None = None, **kwargs: Any) -> TopicWordsDisplay:
        """Draw the topics of a fitted estimator of documents: ``topic_word_``, or else ``centers_``.

        Parameters
        ----------
        estimator : fitted soft clusterer of documents
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : TopicWordsDisplay
        """
        check_is_fitted(estimator)
        topic_word = getattr(estimator, "topic_word_", getattr(estimator, "centers_", None))
        if topic_word is None or not hasattr(estimator, "words_"):
            raise TypeError(
                f"estimator must have words_, and topic_word_ or centers_. Got a {type(estimator).__name__} instead."
            )
        return cls(topic_word, estimator.words_).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, n_words: int = 10, **kwargs: Any) -> TopicWordsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Replaced by the panels, if there are several. None makes a new figure.
        n_words : int, default=10
            The number of words of each topic.
        **kwargs : dict
            Passed to ``Axes.barh``.

        Returns
        -------
        self : TopicWordsDisplay
        """
        check_count("n_words", n_words)
        n_topics = len(self.topic_word)
        self.axes_ = np.array(panels(ax, n_topics, 5, (2.6, 0.7 + 0.21 * n_words)))
        self.figure_ = self.axes_[0].figure
        self.bars_ = []
        for k, (panel, weights) in enumerate(zip(self.axes_, self.topic_word, strict=True)):
            top = np.argsort(-weights, kind="stable")[:n_words]
            color = cluster_colors(n_topics)[k]
            self.bars_.append(panel.barh(np.arange(len(top)), weights[top], **({"color": color} | kwargs)))
            panel.set_yticks(np.arange(len(top)), [plain(_short(self.words[word])) for word in top], fontsize="small")
            panel.set(ylim=(len(top) - 0.5, -0.5), xlim=(0, 1.05 * (self.topic_word.max() or 1)))
            panel.tick_params(axis="y", length=0)
            panel.tick_params(axis="x", labelsize="x-small")
            panel.spines[["top", "right"]].set_visible(False)
            panel.set_title(f"topic {k}", fontsize="medium")
        return self


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"
