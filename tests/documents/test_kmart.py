"""Modified fuzzy ART: the same prototypes as by the rule one document at a time, streams, real corpora."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from soft_clustering import KMART
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.documents import kmart


@pytest.fixture(scope="module")
def corpus():
    return make_topic_corpus(150, 4, vocabulary_size=100, random_state=0).counts.astype(float)


def art(X, vigilance, rate, P=(), passes=1, most=np.inf):
    """The prototypes, in dense rows."""
    P = [p.copy() for p in P]
    for x in list(X) * passes:
        taken = [j for j, p in enumerate(P) if x.any() and np.minimum(x, p).sum() >= vigilance * x.sum() * (1 - 1e-9)]
        for j in taken:
            P[j] = rate * np.minimum(x, P[j]) + (1 - rate) * P[j]
        if not taken and x.any() and len(P) < most:
            P.append(x.copy())
    return np.array(P)


@pytest.mark.parametrize("vigilance", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("rate", [1e-12, 0.01, 0.9, 1.0])
def test_prototypes_follow_the_rule(corpus, vigilance, rate):
    model = KMART(vigilance, learning_rate=rate).fit(corpus)
    X = corpus.toarray()
    P = art(X, vigilance, rate)
    np.testing.assert_allclose(model.centers_, P, rtol=1e-9, atol=1e-12)
    match = np.array([[np.minimum(x, p).sum() / x.sum() for p in P] for x in X])
    np.testing.assert_allclose(model.memberships_, np.where(match >= vigilance * (1 - 1e-9), match, 0), atol=1e-12)


def test_factors_are_multiplied_out(corpus):
    X = sparse.vstack([corpus] * 4).tocsr()  # 0.3 ** 600 is no float
    model = KMART(0.01, learning_rate=0.7).fit(X)
    np.testing.assert_allclose(model.centers_, art(X.toarray(), 0.01, 0.7), rtol=1e-9, atol=1e-100)


def test_leaders_where_nothing_is_learnt(corpus):
    X = corpus.toarray()
    leaders = []
    for d, x in enumerate(X):
        if not any(np.minimum(x, X[j]).sum() / x.sum() >= 0.2 for j in leaders):
            leaders.append(d)
    model = KMART(0.2, learning_rate=1e-15).fit(corpus)
    np.testing.assert_allclose(model.centers_, X[leaders], rtol=1e-10)


@pytest.mark.parametrize("vigilance", [0.07, 0.1])
def test_planted_groups(planted_groups, vigilance):
    X, y = planted_groups
    model = KMART(vigilance).fit(X)
    assert model.n_clusters_ == model.n_clusters == 3
    assert adjusted_rand_score(y, model.labels_) == 1
    for words, first in zip(model.top_words(12), range(3), strict=True):
        assert {int(word[1:]) // 12 for word in words} == {y[first]}


def test_fast_learning_wears_prototypes_down(planted_groups):
    X, y = planted_groups
    model = KMART(0.5, learning_rate=1.0).fit(X)
    assert model.n_clusters_ > 40
    assert adjusted_rand_score(y, model.labels_) < 0.5


def test_full_vigilance_takes_parts_only():
    X = np.array([[2, 1, 0], [1, 1, 0], [0, 0, 3], [2, 1, 1], [0, 0, 3]], dtype=float)
    model = KMART(1.0, learning_rate=1e-12).fit(X)
    assert model.n_clusters_ == 3  # the second is within the first, the last equals the third
    # the first two are within the fourth as well
    np.testing.assert_array_equal(model.get_cover(), np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1], [0, 1, 0]]))


def test_prototypes_only_shrink(corpus):
    model = KMART(0.2, learning_rate=0.1).partial_fit(corpus[:50])
    for lo in (50, 100):
        before = model.centers_
        model.partial_fit(corpus[lo : lo + 50])
        assert (model.centers_[: len(before)] <= before).all()
        assert (model.centers_[: len(before)] < before).any()


def test_documents_in_parts_are_as_good_as_at_once(corpus):
    whole, parts = KMART(0.2).fit(corpus), KMART(0.2)
    for lo in range(0, 150, 40):
        parts.partial_fit(corpus[lo : lo + 40])
    np.testing.assert_allclose(parts.centers_, whole.centers_, rtol=1e-10)
    np.testing.assert_allclose(parts.predict_memberships(corpus), whole.memberships_, atol=1e-12)
    assert not hasattr(parts, "memberships_") and parts.n_clusters_ == whole.n_clusters_
    assert not hasattr(whole.partial_fit(corpus[:5]), "labels_")


def test_matches_in_pieces(corpus, monkeypatch):
    model = KMART(0.2).fit(corpus)
    monkeypatch.setattr(kmart, "_PIECE", 50)
    np.testing.assert_array_equal(model.predict_memberships(corpus), model.memberships_)


def test_a_limit_on_the_categories(corpus):
    model = KMART(0.5, max_clusters=4).fit(corpus)
    np.testing.assert_allclose(model.centers_, art(corpus.toarray(), 0.5, 0.01, most=4), rtol=1e-9)
    assert (model.labels_ == -1).any()
    assert KMART(0.5).fit(corpus).n_clusters_ > 4


def test_passes(planted_groups, corpus):
    X, _ = planted_groups
    settings = {"learning_rate": 0.5, "tol": 1e-6}
    model = KMART(0.07, max_iter=50, **settings).fit(X)
    assert model.converged_ and 2 < model.n_iter_ < 50
    again = art(X, 0.07, 0.5, P=model.centers_)
    assert len(again) == model.n_clusters_
    assert np.abs(again - model.centers_).max() <= 1e-6 * model.centers_.max()
    with pytest.warns(ConvergenceWarning, match="KMART did not converge in max_iter=2 passes"):
        model = KMART(0.2, max_iter=2, **settings).fit(corpus)
    np.testing.assert_allclose(model.centers_, art(corpus.toarray(), 0.2, 0.5, passes=2), rtol=1e-9)


def test_shuffling_changes_the_order(corpus):
    plain = KMART(0.2).fit(corpus)
    shuffled = KMART(0.2, shuffle=True, random_state=3).fit(corpus)
    order = np.random.RandomState(3).permutation(150)
    np.testing.assert_allclose(shuffled.centers_, KMART(0.2).fit(corpus[order]).centers_)
    assert not np.array_equal(shuffled.labels_, plain.labels_)


def test_empty_documents_found_nothing():
    X = np.array([[0, 0], [1, 2], [0, 0]], dtype=float)
    model = KMART().fit(X)
    np.testing.assert_array_equal(model.labels_, [-1, 0, -1])
    np.testing.assert_array_equal(model.get_cover(), [[False], [True], [False]])
    for method in (KMART().fit, KMART().partial_fit):
        with pytest.raises(ValueError, match="at least one document with a known word"):
            method(np.zeros((3, 2)))


def test_single_precision_finds_the_same_categories(corpus):
    double, single = KMART(0.2).fit(corpus), KMART(0.2).fit(corpus.astype(np.float32))
    assert single.centers_.dtype == np.float32
    np.testing.assert_allclose(single.memberships_, double.memberships_, atol=1e-6)
    large = KMART(1.0, learning_rate=1.0).fit((1e35 * corpus).astype(np.float32))
    assert (large.labels_ == KMART(1.0, learning_rate=1.0).fit(corpus).labels_).all()


def test_the_number_of_categories_is_read_only(corpus):
    with pytest.raises(AttributeError):
        KMART().n_clusters  # noqa: B018
    assert "n_clusters" not in KMART().get_params()
    assert clone(KMART(0.2)).fit(corpus).n_clusters > 1


def test_an_interrupted_fit_keeps_the_last_whole_pass(corpus, monkeypatch):
    one = KMART(0.3, max_iter=1).fit(corpus)
    calls, learn = [], kmart.Categories.learn

    def stop(self, *arguments):
        calls.append(1)
        if len(calls) == 200:  # in the second pass over the 150 documents
            raise KeyboardInterrupt
        return learn(self, *arguments)

    monkeypatch.setattr(kmart.Categories, "learn", stop)
    model = KMART(0.3, max_iter=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(corpus)
    assert (model.n_iter_, model.converged_) == (1, False)
    np.testing.assert_array_equal(model.memberships_, one.memberships_)


@pytest.mark.parametrize("name, value", [("vigilance", 0), ("vigilance", 1.1), ("learning_rate", 0), ("tol", -1)])
def test_parameters_out_of_range(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of KMART must be"):
        KMART(**{name: value}).fit(np.eye(2))


# Real corpora ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "corpus_name, vigilance, categories, ari, nmi",
    [
        ("bbc_news", 0.04, 40, 0.176, 0.310),
        ("bbc_news", 0.07, 57, 0.267, 0.398),
        ("bbc_news", 0.10, 101, 0.154, 0.398),
        ("bbc_news", 0.15, 218, 0.102, 0.402),
        ("m10", 0.07, 239, 0.084, 0.260),
    ],
)
def test_real_corpora(read_corpus, corpus_name, vigilance, categories, ari, nmi):
    X, y = read_corpus(corpus_name)
    model = KMART(vigilance).fit(X)
    assert model.n_clusters_ == categories
    assert adjusted_rand_score(y, model.labels_) == pytest.approx(ari, abs=1e-3)
    assert normalized_mutual_info_score(y, model.labels_) == pytest.approx(nmi, abs=1e-3)


def test_news_overlap(read_corpus):
    model = KMART().fit(read_corpus("bbc_news")[0])
    assert (model.labels_ == -1).mean() == pytest.approx(0.036, abs=1e-3)
    assert model.get_cover().sum(axis=1).mean() == pytest.approx(3.9, abs=0.05)
