"""Bars of words: which words, in which order, how long."""

import numpy as np
import pytest

from soft_clustering.base import BaseSoftClusterer
from soft_clustering.plotting import TopicWordsDisplay, cluster_colors

TOPICS = np.array([[0.1, 0.5, 0.15, 0.25], [0.7, 0.0, 0.2, 0.1]])
WORDS = np.array(["ant", "bee", "cat", "dog"])


def shown(panel):
    return [label.get_text() for label in panel.get_yticklabels()]


def test_strongest_words_from_the_top():
    display = TopicWordsDisplay(TOPICS, WORDS).plot(n_words=3)
    assert [shown(panel) for panel in display.axes_] == [["bee", "dog", "cat"], ["ant", "cat", "dog"]]
    widths = [[bar.get_width() for bar in bars] for bars in display.bars_]
    np.testing.assert_array_equal(widths, [[0.5, 0.25, 0.15], [0.7, 0.2, 0.1]])
    bottom, top = display.axes_[0].get_ylim()
    assert bottom > top  # bar 0 is uppermost


def test_one_scale_and_the_colors_of_the_palette():
    display = TopicWordsDisplay(TOPICS, WORDS).plot()
    assert len({panel.get_xlim() for panel in display.axes_}) == 1
    for k, bars in enumerate(display.bars_):
        assert len(bars) == 4  # no more words than there are
        np.testing.assert_allclose(bars[0].get_facecolor()[:3], cluster_colors(2)[k])
    assert [panel.get_title() for panel in display.axes_] == ["topic 0", "topic 1"]


@pytest.mark.parametrize("attribute", ["topic_word_", "centers_"])
def test_estimator(attribute):
    class Documents(BaseSoftClusterer):
        modality = "documents"

        def fit(self, X, y=None):
            setattr(self, attribute, TOPICS)
            self.words_ = WORDS
            return self

    display = TopicWordsDisplay.from_estimator(Documents().fit(None), n_words=1)
    assert [shown(panel) for panel in display.axes_] == [["bee"], ["ant"]]


def test_estimator_without_words():
    class Features(BaseSoftClusterer):
        def fit(self, X, y=None):
            self.centers_ = TOPICS
            return self

    with pytest.raises(TypeError, match=r"words_, and topic_word_ or centers_\. Got a Features"):
        TopicWordsDisplay.from_estimator(Features().fit(None))


def test_long_words_are_cut():
    display = TopicWordsDisplay([[1.0, 0.5]], ["x" * 18, "y" * 19]).plot()
    assert shown(display.axes_[0]) == ["x" * 18, "y" * 17 + "…"]


def test_many_topics():
    display = TopicWordsDisplay(np.ones((20, 3)), "abc").plot(n_words=2)
    assert len(display.axes_) == 20
    assert display.axes_[0].get_subplotspec().get_gridspec().get_geometry() == (4, 5)


def test_topics_of_no_weight():
    TopicWordsDisplay(np.zeros((2, 3)), "abc").plot().figure_.canvas.draw()


@pytest.mark.parametrize(
    "topics, words, message",
    [
        (TOPICS, WORDS[:3], "words must have one entry per column of topic_word: 4. Got 3"),
        (-TOPICS, WORDS, "topic_word must be non-negative"),
        (TOPICS[0], WORDS, r"topic_word must have shape \(n_topics, n_words\)"),
    ],
)
def test_wrong_topics(topics, words, message):
    with pytest.raises(ValueError, match=message):
        TopicWordsDisplay(topics, words)


def test_wrong_number_of_words():
    with pytest.raises(ValueError, match="n_words"):
        TopicWordsDisplay(TOPICS, WORDS).plot(n_words=0)
