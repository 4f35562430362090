"""Documents as they come: texts, tokens, counts."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from soft_clustering import LDA
from soft_clustering.inputs.documents import count_vectorizer, is_text, validate_documents, words_of

TEXTS = ["the red fox", "a red dog runs", "dog and fox", "blue sky", "sky and sea blue", "blue sea"]


class Model:
    """What the input layer writes to."""


def read(X, model=None, *, vectorizer=None, default=count_vectorizer):
    return validate_documents(model or Model(), X, vectorizer=vectorizer, default=default, reset=model is None)


@pytest.mark.parametrize(
    "X, text",
    [
        (TEXTS, True),
        (tuple(TEXTS), True),
        (np.array(TEXTS), True),
        (np.array(TEXTS, dtype=object), True),
        (pd.Series(TEXTS), True),
        ([["red", "fox"], ["sky"]], True),
        ([[], ["sky"]], True),
        (["", ""], True),
        ([None, "text"], True),
        (["text", 3], True),
        ([[1, 2], [0, 1]], False),
        ([np.array([1.0]), np.array([2.0])], False),
        (np.eye(3), False),
        (sparse.eye(3), False),
        (pd.DataFrame({"a": [1]}), False),
        ([], False),
        (3, False),
    ],
)
def test_texts_are_told_from_counts(X, text):
    assert is_text(X) is text


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda x: np.array(x, dtype=object)])
def test_containers_of_texts(kind):
    model = Model()
    X = validate_documents(model, kind(TEXTS), vectorizer=None, default=count_vectorizer, reset=True)
    expected = CountVectorizer(stop_words="english").fit(TEXTS)
    assert list(model.words_) == list(expected.get_feature_names_out())
    np.testing.assert_array_equal(X.toarray(), expected.transform(TEXTS).toarray())
    assert model.n_features_in_ == X.shape[1]
    assert X.dtype == np.float64
    again = validate_documents(model, ["red red unknown", ""], vectorizer=None, default=count_vectorizer, reset=False)
    assert again.sum() == 2
    assert again.shape == (2, X.shape[1])


def test_lists_of_tokens():
    model = Model()
    X = validate_documents(
        model, [["The", "red fox"], [], ["red fox"]], vectorizer=None, default=count_vectorizer, reset=True
    )
    assert list(model.words_) == ["The", "red fox"]
    np.testing.assert_array_equal(X.toarray(), [[1, 1], [0, 0], [0, 1]])


def test_pruning_gives_way():
    model = Model()
    many = [f"word{i}" for i in range(30)]  # each in one document only
    validate_documents(model, many, vectorizer=None, default=count_vectorizer, reset=True)
    assert len(model.words_) == 30
    validate_documents(model, ["the and", "of the"], vectorizer=None, default=count_vectorizer, reset=True)
    assert set(model.words_) == {"the", "and", "of"}


def test_own_vectorizer_is_cloned():
    own = TfidfVectorizer(ngram_range=(1, 2))
    model = Model()
    X = validate_documents(model, TEXTS, vectorizer=own, default=count_vectorizer, reset=True)
    assert not hasattr(own, "vocabulary_")
    np.testing.assert_allclose(X.toarray(), TfidfVectorizer(ngram_range=(1, 2)).fit_transform(TEXTS).toarray())
    with pytest.raises(TypeError, match="vectorizer must have fit_transform"):
        read(TEXTS, vectorizer="tfidf")


@pytest.mark.parametrize(
    "X, error, message",
    [
        ("one text", TypeError, r"single string instead: pass \[X\]"),
        (b"bytes", TypeError, "single string"),
        (["text", None], TypeError, "only strings. Got None"),
        (["text", 3.5], TypeError, r"only strings. Got 3.5 \(a float\) at 1"),
        (["text", float("nan")], TypeError, "only strings. Got nan"),
        ([["a"], ["b", 2]], TypeError, "only lists of strings"),
        ([["a"], "b"], TypeError, "only lists of strings"),
        ([], ValueError, "2D array|at least one|minimum of 1"),
        (np.array([], dtype=object), ValueError, "at least one document"),
        (["", ""], ValueError, "no words"),
        ([[], []], ValueError, "no words|0 feature|2D"),
        (["!!!", "..."], ValueError, "no words"),
        ([[1, -1], [0, 2]], ValueError, "Negative values in data"),
        ([[1, np.nan]], ValueError, "NaN"),
        ([[1, np.inf]], ValueError, "infinity|finite"),
        (sparse.csr_array([[1.0, -2.0]]), ValueError, "Negative values"),
        (np.array([[1e95]]), ValueError, "entries below 1e"),
        (np.zeros((0, 3)), ValueError, "0 sample"),
        (np.zeros((3, 0)), ValueError, "0 feature"),
        (np.zeros(3), ValueError, "2D array"),
    ],
)
def test_what_is_no_document_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        LDA(2).fit(X)


def test_prediction_needs_the_same_words():
    on_texts = LDA(2, random_state=0).fit(TEXTS)
    assert on_texts.predict_memberships(np.ones((2, len(on_texts.words_)))).shape == (2, 2)
    with pytest.raises(ValueError, match="features"):
        on_texts.predict_memberships(np.ones((2, 3)))
    on_counts = LDA(2, random_state=0).fit(np.eye(4))
    with pytest.raises(ValueError, match="was fitted on counts"):
        on_counts.predict_memberships(TEXTS)
    assert not hasattr(on_texts.fit(np.eye(4)), "vectorizer_")


def test_names_of_words():
    frame = pd.DataFrame({"sun": [1, 0, 2], "moon": [0, 3, 1]})
    assert list(LDA(2, random_state=0).fit(frame).words_) == ["sun", "moon"]
    assert list(LDA(2, random_state=0).fit(frame.to_numpy()).words_) == ["x0", "x1"]


def test_duplicate_entries_are_summed():
    X = sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 3))
    model, same = LDA(2, random_state=0).fit(X), LDA(2, random_state=0).fit(X.toarray())
    np.testing.assert_array_equal(model.memberships_, same.memberships_)


def test_heaviest_words_first():
    weights = np.array([[0.2, 0.5, 0.3, 0.0], [0.25, 0.25, 0.25, 0.25]])
    assert words_of(weights, np.array(["a", "b", "c", "d"]), 9) == [["b", "c", "a"], ["a", "b", "c", "d"]]
