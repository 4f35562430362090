"""Planted topics: the counts follow the model, the Dirichlet draws its moments, hostile parameters."""

import numpy as np
import pytest
from scipy.stats import beta as beta_distribution
from scipy.stats import kstest

from soft_clustering.datasets import make_topic_corpus


def test_shapes_and_types():
    corpus = make_topic_corpus(200, 4, vocabulary_size=90, random_state=0)
    assert corpus.counts.shape == (200, 90) and corpus.counts.format == "csr" and corpus.counts.dtype == np.int64
    assert (
        corpus.counts.has_canonical_format and corpus.counts.indices.dtype == np.int32 and corpus.counts.data.min() == 1
    )
    assert corpus.document_topics.shape == (200, 4) and corpus.topic_words.shape == (4, 90)
    for rows in (corpus.document_topics, corpus.topic_words):
        assert (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert corpus.vocabulary.shape == (90,) and corpus.vocabulary.dtype.kind == "U"
    assert len(set(corpus.vocabulary)) == 90 and sorted(corpus.vocabulary) == corpus.vocabulary.tolist()


def test_counts_follow_the_model():
    """The counts of all documents against length * theta phi: a chi-squared statistic of known mean and spread."""
    corpus = make_topic_corpus(3000, 3, vocabulary_size=40, document_length=200, alpha=1, beta=1, random_state=0)
    counts = corpus.counts.toarray()
    expected = counts.sum(axis=1, keepdims=True) * (corpus.document_topics @ corpus.topic_words)
    # each word over documents grouped by their main topic: large expected counts
    groups = corpus.document_topics.argmax(axis=1)
    statistic = sum(
        (
            (counts[groups == k].sum(axis=0) - expected[groups == k].sum(axis=0)) ** 2
            / expected[groups == k].sum(axis=0)
        ).sum()
        for k in range(3)
    )
    freedom = 3 * 39
    assert abs(statistic - freedom) < 4 * np.sqrt(2 * freedom)
    # each document and word: variance about the expected counts is multinomial, not larger
    p = corpus.document_topics @ corpus.topic_words
    spread = (counts - expected) ** 2 / (counts.sum(axis=1, keepdims=True) * p * (1 - p))
    assert spread.mean() == pytest.approx(1, abs=0.02)


def test_lengths():
    lengths = make_topic_corpus(5000, 2, document_length=30.5, random_state=0).counts.sum(axis=1)
    assert lengths.mean() == pytest.approx(30.5, abs=0.3)
    assert lengths.var() == pytest.approx(30.5, rel=0.08)


@pytest.mark.parametrize("concentration", [0.02, 0.5, 1.0, 30.0])
def test_concentrations(concentration):
    """A coordinate of the symmetric Dirichlet distribution in 4 dimensions is Beta(a, 3 a)."""
    corpus = make_topic_corpus(4000, 4, document_length=0.1, alpha=concentration, random_state=0)
    shares = corpus.document_topics[:, 0]
    assert kstest(shares, beta_distribution(concentration, 3 * concentration).cdf).pvalue > 1e-3
    corpus = make_topic_corpus(1, 4000, vocabulary_size=4, document_length=0.1, beta=concentration, random_state=0)
    shares = corpus.topic_words[:, 2]
    assert kstest(shares, beta_distribution(concentration, 3 * concentration).cdf).pvalue > 1e-3


@pytest.mark.parametrize("concentration", [5e-324, 1e-300, 1e-6, 1e300])
def test_extreme_concentrations(concentration):
    corpus = make_topic_corpus(300, 3, alpha=concentration, beta=concentration, random_state=0)
    for rows in (corpus.document_topics, corpus.topic_words):
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-14)
        assert np.allclose(rows.max(axis=1), 1 if concentration < 1 else 1 / rows.shape[1])
    if concentration < 1:
        assert set(corpus.document_topics.argmax(axis=1)) == {0, 1, 2}


def test_words_come_from_the_topics_of_their_document():
    """With one topic per document and one word per topic, a document repeats one word."""
    corpus = make_topic_corpus(100, 3, alpha=1e-300, beta=1e-300, random_state=0)
    words = corpus.topic_words.argmax(axis=1)[corpus.document_topics.argmax(axis=1)]
    counts = corpus.counts.toarray()
    np.testing.assert_array_equal(counts[np.arange(100), words], counts.sum(axis=1))


def test_reproducible_and_independent_of_global_state():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (make_topic_corpus(50, 3, random_state=seed) for seed in (3, 3, 4))
    assert (first.counts != again.counts).nnz == 0
    np.testing.assert_array_equal(first.document_topics, again.document_topics)
    assert (first.counts != other.counts).nnz > 0
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_smallest_corpora():
    corpus = make_topic_corpus(1, 1, vocabulary_size=1, document_length=1e-9, random_state=0)
    assert corpus.counts.shape == (1, 1) and corpus.counts.nnz == 0
    corpus = make_topic_corpus(5, 1, vocabulary_size=1, document_length=10, random_state=0)
    assert (corpus.document_topics == 1).all() and corpus.counts.sum() > 20


@pytest.mark.parametrize(
    "arguments, name",
    [
        ({"n_documents": 0}, "n_documents"),
        ({"n_topics": 1.5}, "n_topics"),
        ({"vocabulary_size": 0}, "vocabulary_size"),
        ({"document_length": 0}, "document_length"),
        ({"document_length": np.inf}, "document_length"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"beta": -1}, "beta"),
        ({"beta": np.inf}, "beta"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_bad_parameters(arguments, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of make_topic_corpus must be"):
        make_topic_corpus(**arguments)
