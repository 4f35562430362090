"""Hostile input over every registered estimator of documents.

The rule is that of ``helpers.hostile``: a valid result, or a ValueError or TypeError that names what is wrong;
never NaN, an error from below, or a RuntimeWarning.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from helpers.hostile import (
    WEIGHT_WORDS,
    X_WORDS,
    assert_valid_memberships,
    edit,
    explicit_zeros,
    int64_csr,
    unsorted,
    valid_or_clear_error,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

import soft_clustering
from soft_clustering._registry import REGISTRY

ROWS = [row for row in REGISTRY if getattr(soft_clustering, row.name).modality == "documents"]
K = 3
TEXTS = [
    "the team won the match with a late goal",
    "a goal in the last minute won the match",
    "the players of the team trained for the match",
    "the coach praised the players after the goal",
    "shares fell as the market feared inflation",
    "the bank raised interest rates against inflation",
    "investors sold shares when the market opened",
    "the bank reported a profit and its shares rose",
    "stir the sauce and add salt and pepper",
    "bake the bread until the crust is golden",
    "add butter to the sauce and stir gently",
    "knead the bread dough with butter and salt",
]


@pytest.fixture(params=[pytest.param(row, id=row.name) for row in ROWS])
def make(request):
    """A function that makes an estimator with a fixed seed, K clusters, and the given parameters."""
    cls = getattr(soft_clustering, request.param.name)

    def build(**parameters):
        known = cls().get_params()
        defaults = {name: value for name, value in {"n_clusters": K, "random_state": 0}.items() if name in known}
        return cls(**defaults | parameters)

    return build


def where(condition):
    """Only the estimators for which ``condition(estimator)`` holds."""
    rows = [row for row in ROWS if condition(getattr(soft_clustering, row.name)())]
    return pytest.mark.parametrize("make", [pytest.param(row, id=row.name) for row in rows], indirect=True)


def having(name):
    return where(lambda estimator: name in estimator.get_params())


weighted = where(lambda estimator: "sample_weight" in inspect.signature(estimator.fit).parameters)


def counts(n=30, seed=0):
    """Counts of documents that draw most words from four of their own topic, as a dense array."""
    rng = np.random.default_rng(seed)
    rates = 0.2 + 4.0 * np.kron(np.eye(K), np.ones(4))
    return rng.poisson(rates[np.arange(n) % K]).astype(np.float64)


# Data -----------------------------------------------------------------------------------------------------------------

VALID = {
    "texts": TEXTS,
    "a tuple": tuple(TEXTS),
    "an array of str": np.array(TEXTS),
    "an array of objects": np.array(TEXTS, dtype=object),
    "lists of tokens": [text.split() for text in TEXTS],
    "some empty texts": [*TEXTS, "", "  "],
    "some empty lists": [*[text.split() for text in TEXTS], []],
    "other scripts": [*TEXTS, "το παιχνίδι του goal", "試合 goal", "naïve café goal 🥅"],
    "capitals": [text.upper() for text in TEXTS],
    "counts": counts(),
    "nested lists": counts().astype(int).tolist(),
    "whole numbers": counts().astype(np.int64),
    "bytes of counts": counts().astype(np.uint8),
    "occurrence": counts() > 0,
    "float32": counts().astype(np.float32),
    "float16": counts().astype(np.float16),
    "objects that are numbers": counts().astype(object),
    "tf-idf": TfidfVectorizer().fit_transform(TEXTS),
    "CSC": sparse.csc_array(counts()),
    "COO": sparse.coo_array(counts()),
    "64-bit indices": int64_csr(counts()),
    "unsorted indices": unsorted(counts()),
    "explicit zeros": explicit_zeros(counts()),
    "empty documents": edit(counts(), slice(0, 4), 0.0),
    "an empty column": edit(counts(), (slice(None), 2), 0.0),
    "duplicates": np.repeat(counts(6), 5, axis=0),
}


@pytest.mark.parametrize("case", VALID)
def test_unusual_but_valid(make, case):
    X = VALID[case]
    before = X.toarray() if sparse.issparse(X) else np.array(X, dtype=object, copy=True) if len(X) > 20 else None
    model = valid_or_clear_error(make(), X, expect="valid").model
    if before is not None:
        np.testing.assert_array_equal(X.toarray() if sparse.issparse(X) else np.array(X, dtype=object), before)
    U = model.predict_memberships(X)
    np.testing.assert_allclose(U, model.memberships_, atol=1e-5 if U.dtype == np.float32 else 1e-9)
    words = model.top_words(2)
    assert len(words) == model.n_clusters_
    assert {word for found in words for word in found} <= set(model.words_)


EITHER = {
    "one text": TEXTS[:1],
    "one word": ["match"],
    "one word each": ["match", "goal", "bank"],
    "one row": counts(1),
    "one entry": np.ones((1, 1)),
    "one column": counts()[:, :1],
    "only stop words": ["the and of", "of the", "and then the", "a the"],
    "mostly stop words": ["the and of", "of the", "and then the bank"],
    "a word in all": [f"common {text}" for text in TEXTS],
    "no word twice": ["one", "two", "three", "four", "five"],
    "fewer documents than clusters": TEXTS[:2],
    "as many documents as clusters": counts(K),
    "nothing": np.zeros((6, 4)),
    "nothing, sparse": sparse.csr_array((6, 4)),
    "nothing, explicit": explicit_zeros(np.zeros((6, 4))),
    "one entry among nothing": sparse.csr_array(([1.0], ([3], [2])), shape=(9, 4)),
    "one entry of 1e80": sparse.csr_array(([1e80], ([3], [2])), shape=(9, 4)),
    "identical texts": TEXTS[:1] * 9,
    "identical counts": np.repeat(counts(1), 9, axis=0),
    "ones": np.ones((9, 4)),
    "two kinds of documents": np.repeat([[1.0, 0, 2], [0, 3, 0]], 8, axis=0),
    "all but one empty": edit(np.zeros((9, 4)), (2, 1), 3.0),
    "many columns": sparse.csr_array(sparse.random(20, 3000, 0.003, random_state=0)),
    "long and short": np.vstack([counts(9), 1e6 * counts(9)]),
    "one huge entry": edit(counts(), (3, 1), 1e80),
    "one tiny entry": edit(counts(), (3, 1), 1e-150),
    "from tiny to huge": counts() * np.logspace(-150, 80, 12),
    "documents from tiny to huge": counts() * np.logspace(-150, 80, 30)[:, None],
    "denormal": counts() * 1e-310,
    "least numbers": (counts() > 0) * 5e-324,
    "float32, large": (counts() * 1e30).astype(np.float32),
    "float32, small": (counts() * 1e-30).astype(np.float32),
    "float32, least numbers": ((counts() > 0) * 1e-45).astype(np.float32),
}


@pytest.mark.parametrize("case", EITHER)
def test_extreme(make, case):
    X = EITHER[case]
    outcome = valid_or_clear_error(make(), X)
    if outcome.model is not None:
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        assert_valid_memberships(outcome.model, outcome.model.predict_memberships(X), n)


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-20, 1e20, 1e80])
def test_scales(make, scale):
    valid_or_clear_error(make(), counts() * scale, expect="valid")


@having("n_clusters")
@pytest.mark.parametrize("value", [0, -1, 2.5, "3", [3]])
def test_bad_number_of_clusters(make, value):
    valid_or_clear_error(make(n_clusters=value), counts(), expect="error", naming="n_clusters")


@having("n_clusters")
@pytest.mark.parametrize("X", [TEXTS[:4], counts(4)], ids=["texts", "counts"])
def test_more_clusters_than_documents(make, X):
    outcome = valid_or_clear_error(make(n_clusters=7), X, naming=r"n_clusters|\bX\b")
    if outcome.model is not None:
        assert outcome.model.memberships_.shape == (4, outcome.model.n_clusters_)


HOSTILE = [0.0, 0.0, 0.0, 1.0, 2.0, 7.0, 5e-324, 1e-310, 1e-150, 1e-8, 0.5, 1 + 2**-52, 1e8, 1e16, 1e40, 1e80]


@pytest.mark.parametrize("n_clusters", [1, 3])
def test_random_matrices(make, n_clusters):
    shapes = st.tuples(st.integers(1, 8), st.integers(1, 5))

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.sampled_from(HOSTILE))))
    def fits(X):
        estimator = make()
        if "n_clusters" in estimator.get_params():
            estimator.set_params(n_clusters=n_clusters)
        outcome = valid_or_clear_error(estimator, X)
        if outcome.model is not None:
            assert_valid_memberships(outcome.model, outcome.model.predict_memberships(X), len(X))

    fits()


def test_random_texts(make):
    words = st.sampled_from(["goal", "match", "bank", "the", "Goal", "a", "12", "é", "", "!", "x" * 50])
    texts = st.lists(st.lists(words, max_size=5).map(" ".join), min_size=1, max_size=6)

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(texts)
    def fits(X):
        valid_or_clear_error(make(), X)

    fits()


# What must not matter -------------------------------------------------------------------------------------------------


def same_fit(make, X, other, atol=1e-6):
    one, two = (valid_or_clear_error(make(), data, expect="valid").model for data in (X, other))
    assert one.n_clusters_ == two.n_clusters_
    np.testing.assert_allclose(one.memberships_, two.memberships_, atol=atol)


@pytest.mark.parametrize(
    "form", [explicit_zeros, unsorted, int64_csr, sparse.csc_array, sparse.coo_array, np.asfortranarray]
)
def test_form_of_the_matrix(make, form):
    same_fit(make, counts(), form(counts()))


def test_zeros_in_documents_that_are_the_same(make):
    """Explicit zeros do not make two documents differ."""
    X = np.repeat(counts(6), 5, axis=0)
    rows, columns = np.indices(X.shape).reshape(2, -1)
    kept = (X.ravel() > 0) | (np.random.default_rng(0).uniform(size=X.size) < 0.5)
    stored = sparse.csr_array((X.ravel()[kept], (rows[kept], columns[kept])), shape=X.shape)
    same_fit(make, X, stored)


def test_texts_are_their_counts(make):
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    model = valid_or_clear_error(make(vectorizer=CountVectorizer()), TEXTS, expect="valid").model
    counted = valid_or_clear_error(make(), X, expect="valid").model
    np.testing.assert_array_equal(model.words_, vectorizer.get_feature_names_out())
    np.testing.assert_allclose(model.memberships_, counted.memberships_, atol=1e-9)
    np.testing.assert_allclose(model.predict_memberships(X), model.memberships_, atol=1e-9)


def test_float32(make):
    X = counts().astype(np.float32)
    one = valid_or_clear_error(make(), X, expect="valid").model
    assert one.memberships_.dtype == np.float32
    two = valid_or_clear_error(make(), counts(), expect="valid").model
    assert two.memberships_.dtype == np.float64
    np.testing.assert_allclose(one.memberships_, two.memberships_, atol=1e-3)


# Vectorizers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectorizer", ["tfidf", 5, CountVectorizer, HashingVectorizer()], ids=str)
def test_bad_vectorizer(make, vectorizer):
    valid_or_clear_error(make(vectorizer=vectorizer), TEXTS, expect="error", naming="vectorizer")


class Broken(CountVectorizer):
    """A vectorizer whose numbers are no counts."""

    def __init__(self, value=np.nan):
        super().__init__()
        self.value = value

    def fit_transform(self, documents, y=None):
        """Counts with one wrong entry."""
        X = super().fit_transform(documents).astype(float)
        X.data[0] = self.value
        return X


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_vectorizer_without_counts(make, value):
    valid_or_clear_error(make(vectorizer=Broken(value)), TEXTS, expect="error", naming=r"vectorizer|\bX\b")


def test_vectorizer_is_not_fitted_in_place(make):
    vectorizer = TfidfVectorizer(min_df=1)
    model = valid_or_clear_error(make(vectorizer=vectorizer), TEXTS, expect="valid").model
    assert not hasattr(vectorizer, "vocabulary_")
    assert hasattr(model.vectorizer_, "vocabulary_")


# Weights --------------------------------------------------------------------------------------------------------------


@weighted
@pytest.mark.parametrize(
    "weights",
    [
        *(edit(np.ones(30), 3, -1.0), np.zeros(30), np.ones(29), np.ones((30, 2)), edit(np.ones(30), 3, np.nan)),
        *(edit(np.ones(30), 3, np.inf), ["a"] * 30, "balanced"),
    ],
    ids=["negative", "all zero", "short", "2-D", "nan", "inf", "strings", "a string"],
)
def test_bad_weights(make, weights):
    valid_or_clear_error(make(), counts(), sample_weight=weights, expect="error", naming=WEIGHT_WORDS)


@weighted
@pytest.mark.parametrize("weight", [1e-90, 1e-12, 1e12, 1e90])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e80])
def test_weights_of_any_size(make, weight, scale):
    X = counts() * scale
    valid_or_clear_error(make(), X, sample_weight=np.full(30, weight), naming=rf"{WEIGHT_WORDS}|{X_WORDS}")
    valid_or_clear_error(make(), X, sample_weight=edit(np.ones(30), 5, weight), naming=rf"{WEIGHT_WORDS}|{X_WORDS}")


@weighted
def test_weights_of_zero(make):
    X = edit(counts(), 0, 1e60)
    model = valid_or_clear_error(make(), X, sample_weight=edit(np.ones(30), 0, 0.0), expect="valid").model
    expected = valid_or_clear_error(make(), X[1:], expect="valid").model
    np.testing.assert_allclose(model.memberships_[1:], expected.memberships_, atol=1e-6)
    only = edit(np.zeros(30), 4, 1.0)
    valid_or_clear_error(make(), X, sample_weight=only, naming=rf"n_clusters|{WEIGHT_WORDS}|{X_WORDS}")


# Prediction -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def fitted(make):
    return valid_or_clear_error(make(), counts(), expect="valid").model


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_unknown_words(make):
    model = valid_or_clear_error(make(), TEXTS, expect="valid").model
    new = ["zebra xylophone", "", "the and of", "the match zebra", TEXTS[0]]
    U = model.predict_memberships(new)
    assert_valid_memberships(model, U, 5)
    np.testing.assert_allclose(U[1], U[0], atol=1e-12)
    np.testing.assert_allclose(U[4], model.memberships_[0], atol=1e-9)
    counted = model.vectorizer_.transform(new)
    np.testing.assert_allclose(model.predict_memberships(counted), U, atol=1e-12)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-300, 1e-150, 1e20, 1e80])
def test_extreme_new_counts(fitted, value):
    X = np.vstack([np.full((1, 12), value), edit(np.zeros((1, 12)), (0, 3), value), value * counts(3), counts(2)])
    U = fitted.predict_memberships(X)
    assert_valid_memberships(fitted, U, len(X))
    np.testing.assert_allclose(U[-2:], fitted.predict_memberships(X[-2:]), atol=1e-9)
    if hasattr(fitted, "score"):
        assert np.isfinite(fitted.score(X))


def test_new_words_of_the_vocabulary(make):
    """A column that was empty in training."""
    model = valid_or_clear_error(make(), edit(counts(), (slice(None), 2), 0.0), expect="valid").model
    only = edit(np.zeros((1, 12)), (0, 2), 4.0)
    assert_valid_memberships(model, model.predict_memberships(np.vstack([only, counts(3)])), 4)
    if hasattr(model, "score"):
        assert np.isfinite(model.score(np.vstack([only, counts(3)])))


@pytest.mark.parametrize("n_words", [0, -1, 1.5, "3", None])
def test_bad_number_of_words(fitted, n_words):
    with pytest.raises(ValueError, match="n_words must be an int >= 1"):
        fitted.top_words(n_words)
