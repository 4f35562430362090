"""Documents as they come: texts, tokens, counts."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from soft_clustering import LDA, kernels
from soft_clustering.inputs import documents
from soft_clustering.inputs.documents import count_vectorizer, is_text, validate_documents, words_of

TEXTS = ["the red fox", "a red dog runs", "dog and fox", "blue sky", "sky and sea blue", "blue sea"]


class Model(BaseEstimator):
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
        (["text", None], TypeError, r"X .*only strings. Got None .*at 1"),
        (["text", 3.5], TypeError, r"X .*only strings. Got 3.5 \(a float\) at 1"),
        (["text", float("nan")], TypeError, "X .*only strings. Got nan"),
        (np.array(["text", np.nan], dtype=object), TypeError, "X .*only strings. Got nan"),
        (["text", b"bytes"], TypeError, r"X .*only strings. Got b'bytes' .*at 1"),
        (["text", ["tokens"]], TypeError, r"X .*only strings. Got \['tokens'\] .*at 1"),
        ([["a"], ["b", 2]], TypeError, "X .*only lists of strings.* at 1"),
        ([["a"], "b"], TypeError, "X .*only lists of strings.* at 1"),
        ([], ValueError, "2D array|at least one|minimum of 1"),
        (np.array([], dtype=object), ValueError, "at least one document"),
        (["", "  ", "\n"], ValueError, "no words"),
        ([[], []], ValueError, "no words|0 feature|2D"),
        (["!!!", "..."], ValueError, "no words"),
        ([[1, -1], [0, 2]], ValueError, "Negative values in data.*X"),
        (np.array([[1, -1], [0, 2]]), ValueError, "Negative values in data.*X"),
        (sparse.csr_array([[1.0, -1e-300]]), ValueError, "Negative values in data.*X"),
        ([[1, np.nan]], ValueError, "X contains NaN"),
        (sparse.csr_array([[1, np.nan]]), ValueError, "X contains NaN"),
        ([[1, np.inf]], ValueError, "X contains infinity"),
        (np.array([[1e95]]), ValueError, "X .*entries below 1e"),
        (np.zeros((0, 3)), ValueError, "0 sample"),
        (sparse.csr_array((0, 3)), ValueError, "0 sample"),
        (np.zeros((3, 0)), ValueError, "0 feature"),
        (np.zeros(3), ValueError, "2D array"),
        (np.zeros((4, 3, 2)), ValueError, "dim 3"),
        ([[1.0, 2.0], [3.0]], ValueError, "X must be numeric"),
        (np.array([["a", "b"]] * 5), ValueError, "X must be numeric|2D"),
        (np.ones((2, 2)) + 1j, ValueError, "X must be numeric: Complex"),
        (None, ValueError, "X has the wrong shape: Expected 2D array"),
        (3, ValueError, "X has the wrong shape: Expected 2D array"),
        ({"text": TEXTS}, (ValueError, TypeError), "X"),
    ],
)
def test_what_is_no_document_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        read(X)


@pytest.mark.parametrize(
    "known, new, message",
    [
        (np.eye(4), np.ones((2, 3)), "X has 3 features, but Model is expecting 4 features"),
        (np.eye(4), np.ones((2, 8)), "X has 8 features, but Model is expecting 4 features"),
        (np.eye(4), TEXTS, "was fitted on counts"),
        (np.eye(4), -np.eye(4), "Negative values in data.*X"),
        (np.eye(4), np.full((2, 4), np.nan), "X contains NaN"),
        (np.eye(4), np.full((2, 4), np.inf), "X contains infinity"),
        (np.eye(4), np.full((2, 4), 1e300), "X .*entries below 1e"),
        (np.eye(4), np.empty((0, 4)), "0 sample"),
        (np.eye(4), np.zeros(4), "2D array"),
        (np.eye(4), "match", r"\[X\]"),
        (TEXTS, [*TEXTS, 3], "X .*only strings. Got 3 .*at 6"),
        (TEXTS, [], "2D array|at least one|minimum of 1"),
        (TEXTS, "match", r"\[X\]"),
        (TEXTS, np.ones((2, 3)), "X has 3 features"),
        (TEXTS, [["goal"], "match"], "X .*only lists of strings.* at 1"),
    ],
)
def test_what_are_no_new_documents_is_refused(known, new, message):
    model = Model()
    read_known = validate_documents(model, known, vectorizer=None, default=count_vectorizer, reset=True)
    assert read_known.shape == (len(known), model.n_features_in_)
    with pytest.raises((ValueError, TypeError), match=message):
        read(new, model)


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


CORPORA = {
    "English": ["The cat sat on the mat.", "A cat, a dog; the DOG_1 and 22 cats", "", "mat dog", "x y z"],
    "scripts": [
        "Straße ÄRGER ärger",
        "İstanbul ISTANBUL istanbul",
        "日本 日本語 ひらがな",
        "²³ x² a٣٤ ½½",
        "na\u0308ive naïve e\u0301te",
    ],
    "astral": [
        "\U0001d518\U0001d52b\U0001d526 \U0001d518\U0001d52b\U0001d526 plain 😀😀 \U0001d7d9\U0001d7da",
        "plain \U0001d518\U0001d52b\U0001d526",
        "tab\tnew\nline\u2028word\u00a0word",
        "_ __ a_ _a 1_ -a- a",
    ],
    "many words": [" ".join(f"w{i * j % 20011}" for i in range(300)) for j in range(1, 120)],
}


@pytest.mark.skipif(kernels.compiled is None, reason="needs the compiled kernels")
@pytest.mark.parametrize(
    "settings", [{}, {"min_df": 1}, {"min_df": 1, "max_df": 0.5, "stop_words": None}, {"min_df": 0.3}]
)
@pytest.mark.parametrize("name", CORPORA)
def test_default_counts_are_those_of_the_vectorizer(name, settings):
    texts = CORPORA[name]
    mine, other = (count_vectorizer(len(texts)).set_params(**settings) for _ in range(2))
    found = documents._counted(mine, texts)
    try:
        expected = other.fit_transform(texts)
    except ValueError:
        assert found is None
        return
    assert mine.vocabulary_ == other.vocabulary_
    assert mine.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    assert found.shape == expected.shape and found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    np.testing.assert_array_equal(mine.transform(texts[::-1]).toarray(), other.transform(texts[::-1]).toarray())
