"""Similarity-based soft clustering: the same sets as by the rules one by one, its similarities, real corpora."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import cosine_similarity, linear_kernel

from soft_clustering import SISC
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.documents import sisc
from soft_clustering.documents.sisc import merge_overlapping


@pytest.fixture(scope="module")
def corpus():
    return make_topic_corpus(120, 4, vocabulary_size=150, random_state=1).counts.astype(float)


def cosines(X):
    return cosine_similarity(TfidfTransformer(sublinear_tf=True).fit_transform(X))


def tanimotos(X):
    sets = [set(np.flatnonzero(row)) for row in X.toarray()]
    return np.array([[len(a & b) / len(a | b) if a | b else 0.0 for b in sets] for a in sets])


def clusters_by_rules(S, first, n_seeds, coverage, merge_overlap, max_iter=100):
    """Sets of documents and lambda from a matrix of similarities, with Python's sets."""
    n = len(S)
    seeds = [first]
    while len(seeds) < n_seeds:
        rest = [x for x in range(n) if x not in seeds]
        seeds.append(min(rest, key=lambda x: max(S[x, s] for s in seeds)))
    nearest = [max((S[x, s] for s in seeds if s != x), default=0) for x in range(n)]
    level = sorted(nearest, reverse=True)[int(np.ceil(coverage * n)) - 1]
    enough = level * (1 - 1e-6)
    sets = [
        {x for x in range(n) if S[x, s] >= enough} for s in seeds if any(S[x, s] >= enough for x in range(n) if x != s)
    ]
    for _ in range(max_iter):
        while len(sets) > 1:
            pairs = [(a, b) for a in range(len(sets)) for b in range(a + 1, len(sets))]
            share = {(a, b): len(sets[a] & sets[b]) / min(len(sets[a]), len(sets[b])) for a, b in pairs}
            a, b = max(pairs, key=share.__getitem__)
            if share[a, b] < merge_overlap:
                break
            sets[a] |= sets.pop(b)
        means = [[np.mean([S[p, x] for p in c]) for x in range(n)] for c in sets]
        new = [c for c in ({x for x in range(n) if m[x] >= enough} for m in means) if c]
        if new == sets:
            break
        sets = new
    return sets, level


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("similarity", ["cosine", "tanimoto"])
@pytest.mark.parametrize("setting", [{}, {"seed_factor": 3, "coverage": 0.3, "merge_overlap": 0.3}])
def test_sets_follow_the_rules(corpus, similarity, setting, seed):
    X = corpus[:60]
    model = SISC(4, similarity=similarity, random_state=seed, **setting).fit(X)
    S = cosines(X) if similarity == "cosine" else tanimotos(X)
    k0, coverage, overlap = model.seed_factor * 4, model.coverage, model.merge_overlap
    sets, level = clusters_by_rules(S, int(model.seed_indices_[0]), k0, coverage, overlap)
    assert model.converged_
    assert model.threshold_ == pytest.approx(level, rel=2e-6)
    assert [set(np.flatnonzero(column)) for column in model.get_cover().T] == sets
    expected = np.column_stack([S[:, sorted(c)].mean(axis=1) for c in sets])
    np.testing.assert_allclose(model.memberships_, expected, atol=1e-12)


def test_seeds_are_far_apart_and_cover(corpus):
    S = cosines(corpus)
    for coverage in (0.2, 0.5, 0.9):
        model = SISC(5, coverage=coverage, random_state=0).fit(corpus)
        seeds = model.seed_indices_
        assert len(set(seeds)) == 10
        for i in range(1, 10):
            nearest = S[:, seeds[:i]].max(axis=1)
            nearest[seeds[:i]] = np.inf
            assert S[seeds[i], seeds[:i]].max() == pytest.approx(nearest.min(), abs=1e-12)
        others = S[:, seeds].copy()
        others[seeds, np.arange(10)] = 0
        covered = others.max(axis=1) >= model.threshold_
        assert coverage <= covered.mean() < coverage + 0.02


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("setting", [{}, {"similarity": "tanimoto"}, {"randomize": True}])
def test_planted_groups(planted_groups, setting, seed):
    X, y = planted_groups
    model = SISC(3, random_state=seed, **setting).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1
    for words, label in zip(model.top_words(12), [np.flatnonzero(c)[0] for c in model.get_cover().T], strict=True):
        assert {int(word[1:]) // 12 for word in words} == {y[label]}


def test_a_function_gives_the_same_as_the_cosine(corpus, monkeypatch):
    ours = SISC(4, random_state=0).fit(corpus)
    monkeypatch.setattr(sisc, "_PIECE", 100)
    other = SISC(4, similarity=linear_kernel, random_state=0).fit(corpus)
    np.testing.assert_allclose(other.memberships_, ours.memberships_, atol=1e-12)
    assert hasattr(ours, "centers_") and not hasattr(other, "centers_")
    assert other.top_words() == ours.top_words()
    thin = SISC(4, similarity=lambda X, Y: sparse.csr_array(X @ Y.T), random_state=0).fit(corpus)
    np.testing.assert_allclose(thin.memberships_, ours.memberships_, atol=1e-12)


@pytest.mark.parametrize(
    "function, error, message",
    [
        (lambda X, Y: np.ones((2, 3)), ValueError, r"shape \(n_rows of X, n_rows of Y\)"),
        (lambda X, Y: np.full((X.shape[0], Y.shape[0]), 1.5), ValueError, "numbers from 0 to 1"),
        (lambda X, Y: np.full((X.shape[0], Y.shape[0]), np.nan), ValueError, "numbers from 0 to 1"),
        (lambda X, Y: "similar", TypeError, "matrix of numbers"),
    ],
)
def test_functions_that_give_something_else(corpus, function, error, message):
    with pytest.raises(error, match=message):
        SISC(2, similarity=function).fit(corpus)


def test_centers_are_means_of_the_sets(corpus):
    model = SISC(4, random_state=0).fit(corpus)
    rows = TfidfTransformer(sublinear_tf=True).fit_transform(corpus).toarray()
    for center, members in zip(model.centers_, model.get_cover().T, strict=True):
        np.testing.assert_allclose(center, rows[members].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(model.predict_memberships(corpus[:7]), model.memberships_[:7], atol=1e-12)


def test_texts_as_by_the_tfidf_vectorizer():
    drawn = make_topic_corpus(60, 3, vocabulary_size=60, random_state=0)
    texts = [" ".join(np.repeat(drawn.vocabulary, row)) for row in drawn.counts.toarray()]
    model = SISC(3, random_state=0).fit(texts)
    settings = {"sublinear_tf": True, "stop_words": "english", "min_df": 2, "max_df": 0.95}
    expected = SISC(3, weighting=None, vectorizer=TfidfVectorizer(**settings), random_state=0).fit(texts)
    np.testing.assert_array_equal(model.words_, expected.words_)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, atol=1e-12)
    np.testing.assert_array_equal(model.predict([texts[0], "unheard words", ""]), [model.labels_[0], -1, -1])


def test_identical_and_empty_documents():
    X = np.vstack([np.tile([0.3, 0.7, 1.1, 0], (6, 1)), np.zeros((2, 4))])
    model = SISC(3, random_state=0).fit(X)
    assert model.n_clusters_ == 1
    assert model.threshold_ == pytest.approx(1, abs=2e-6)
    np.testing.assert_array_equal(model.labels_, [0] * 6 + [-1] * 2)
    assert model.get_cover().sum() == 6
    assert set(model.seed_indices_) == set(range(6))


def test_documents_that_share_nothing():
    with pytest.warns(ConvergenceWarning, match="fewer documents resemble any seed than coverage=0.5 asks for"):
        model = SISC(2, random_state=0).fit(np.eye(8))
    assert model.threshold_ == 0 and model.n_clusters_ == 1
    assert (model.labels_ == -1).sum() == 7


def test_sets_that_all_run_empty(corpus):
    with pytest.warns(ConvergenceWarning, match="no document is similar enough to any cluster"):
        model = SISC(5, coverage=1.0, random_state=0).fit(corpus)
    assert not model.converged_
    assert (model.memberships_ > 0).any()


def test_more_clusters_than_documents():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        SISC(4).fit(np.eye(3))
    with pytest.raises(ValueError, match="at least one document with a known word"):
        SISC(1).fit(np.zeros((3, 2)))


def test_unconverged_runs_warn(corpus):
    with pytest.warns(ConvergenceWarning, match="SISC did not converge in max_iter=2 rounds"):
        model = SISC(4, max_iter=2, random_state=0).fit(corpus)
    assert model.n_iter_ == 2 and not model.converged_


def test_an_interrupted_fit_keeps_what_it_has(corpus):
    calls = []

    def similar(X, Y):
        calls.append(Y.shape[0])
        if len(calls) == 12:
            raise KeyboardInterrupt
        return linear_kernel(X, Y)

    model = SISC(4, similarity=similar, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(corpus)
    assert not model.converged_
    assert model.memberships_.shape == (120, model.n_clusters_)


def test_random_rounds_save_work_and_come_near(corpus):
    seen = [0, 0]

    def counting(i):
        def similar(X, Y):
            seen[i] += X.shape[0] * Y.shape[0]
            return linear_kernel(X, Y)

        return similar

    exact = SISC(4, similarity=counting(0), random_state=0).fit(corpus)
    model = SISC(4, similarity=counting(1), randomize=True, random_state=0).fit(corpus)
    assert seen[1] / model.n_iter_ < seen[0] / exact.n_iter_
    assert adjusted_rand_score(exact.labels_, model.labels_) > 0.8


def test_merging_takes_the_best_pair_first():
    a, b, c = [1, 1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1]
    sets, origin = merge_overlapping(np.array([a, b, c], dtype=bool).T, 0.6)
    # b and c share 2 of 3; the union shares 2 of 4 with a
    np.testing.assert_array_equal(sets.T, [a, [0, 0, 1, 1, 1, 1, 1]])
    np.testing.assert_array_equal(origin, [0, -1])
    assert merge_overlapping(np.array([a, b, c], dtype=bool).T, 0.5)[0].shape == (7, 1)


# Real corpora ---------------------------------------------------------------------------------------------------------


def test_news(read_corpus):
    X, y = read_corpus("bbc_news")
    models = [SISC(5, random_state=seed).fit(X) for seed in range(4)]
    assert [model.n_clusters_ for model in models] == [5] * 4
    aris = [adjusted_rand_score(y, model.labels_) for model in models]
    np.testing.assert_allclose(aris, [0.820, 0.837, 0.823, 0.848], atol=0.01)
    assert all(model.converged_ and 10 <= model.n_iter_ <= 23 for model in models)
    assert all(0.083 < model.threshold_ < 0.094 for model in models)
    assert all(0.37 < (~model.get_cover().any(axis=1)).mean() < 0.48 for model in models)


def test_a_large_coverage_merges_too_much(read_corpus):
    X, _ = read_corpus("bbc_news")
    assert SISC(5, coverage=0.8, random_state=0).fit(X).n_clusters_ <= 3


def test_short_texts_go_round_in_cycles(read_corpus):
    X, y = read_corpus("m10")
    with pytest.warns(ConvergenceWarning, match="goes round in a cycle of 2 states"):
        models = [SISC(10, random_state=seed).fit(X) for seed in range(2)]
    assert all(17 <= model.n_clusters_ <= 19 for model in models)
    assert all(0.22 < adjusted_rand_score(y, model.labels_) < 0.27 for model in models)
