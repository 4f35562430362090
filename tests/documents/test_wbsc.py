"""Word-based soft clustering: the same unions as by sets, degrees, real corpora."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from soft_clustering import WBSC, kernels
from soft_clustering.documents import wbsc


def draw(seed, n=25, V=14):
    rng = np.random.default_rng(seed)
    return (rng.uniform(size=(n, V)) < rng.uniform(0.05, 0.5, V)).astype(float)


def unite(X, threshold, subsets=False, n_clusters=None, min_df=2, max_df=0.5):
    """Clusters (sets of words) and unions, by Python's sets; all pairs are looked at before each union."""
    n, V = X.shape
    kept = [j for j in range(V) if max(1, min_df) <= (X[:, j] > 0).sum() <= max_df * n]
    words, documents, tree = {}, {}, []

    def join(a, b, similarity):
        c = V + len(tree)
        tree.append((a, b, similarity))
        words[c], documents[c] = words.pop(a) | words.pop(b), documents.pop(a) | documents.pop(b)
        return c

    for j in kept:
        words[j], documents[j] = {j}, frozenset(np.flatnonzero(X[:, j]))
        same = [a for a in words if a != j and documents[a] == documents[j]]
        if same:
            join(same[0], j, 1.0)
    while len(words) > (n_clusters or 1):
        pairs = []
        for a in words:
            for b in words:
                common, either = len(documents[a] & documents[b]), len(documents[a] | documents[b])
                within = subsets and common == min(len(documents[a]), len(documents[b]))
                if a < b and (n_clusters or common / either >= threshold or within):
                    pairs.append((-common / either, a, b))
        if not pairs:
            break
        negative, a, b = min(pairs)
        join(a, b, -negative)
    return [words[c] for c in sorted(words)], tree


def found(model):
    return [{int(word[1:]) for word in words} for words in model.cluster_words_]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"similarity_threshold": 0.15},
        {"similarity_threshold": 0.6, "min_df": 1, "max_df": 1.0},
        {"merge_subsets": True},
        {"n_clusters": 3},
        {"n_clusters": 1, "similarity_threshold": 2.0},
    ],
)
def test_unions_follow_the_rule(monkeypatch, seed, setting):
    monkeypatch.setattr(wbsc, "_PIECE", 30)
    X = draw(seed)
    model = WBSC(**setting).fit(X)
    limits = {name: setting[name] for name in ("min_df", "max_df", "n_clusters") if name in setting}
    words, tree = unite(X, model.similarity_threshold, model.merge_subsets, **limits)
    assert found(model) == words
    np.testing.assert_array_equal(model.merge_tree_, np.array(tree).reshape(-1, 3))


def test_degrees():
    X = draw(3)
    kept = np.flatnonzero(((X > 0).sum(axis=0) >= 2) & ((X > 0).mean(axis=0) <= 0.5))
    for membership in ("tanimoto", "binary", "fraction"):
        model = WBSC(membership=membership).fit(X)
        new = draw(9)
        for data, U in ((X, model.memberships_), (new, model.predict_memberships(new))):
            for d, row in enumerate(data):
                own = set(np.flatnonzero(row)) & set(kept)
                for c, words in enumerate(found(model)):
                    both = len(own & words)
                    expected = {
                        "binary": float(both > 0),
                        "fraction": both / len(words),
                        "tanimoto": both / len(own | words),
                    }
                    assert U[d, c] == pytest.approx(expected[membership], abs=1e-12)
        sets = np.column_stack([X[:, sorted(words)].any(axis=1) for words in found(model)])
        np.testing.assert_array_equal(model.get_cover(), sets)


def test_the_tree_ends_in_the_clusters():
    X = draw(1, 40, 30)
    model = WBSC(4).fit(X)
    clusters = {j: {j} for j in range(30)}
    for i, (a, b, _) in enumerate(model.merge_tree_):
        clusters[30 + i] = clusters.pop(int(a)) | clusters.pop(int(b))
    ends = [words for c, words in sorted(clusters.items()) if len(words) > 1 or words in found(model)]
    assert ends == found(model)


@pytest.mark.parametrize("setting", [{}, {"n_clusters": 3}, {"merge_subsets": True}])
def test_planted_groups(planted_groups, setting):
    X, y = planted_groups
    model = WBSC(**setting).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) == 1
    assert sorted(sorted(words) for words in found(model)) == [[*range(12 * k, 12 * k + 12)] for k in range(3)]


def test_the_order_of_documents_does_not_matter():
    X = draw(2, 60, 40)
    order = np.random.default_rng(0).permutation(60)
    model, other = WBSC(similarity_threshold=0.2).fit(X), WBSC(similarity_threshold=0.2).fit(X[order])
    assert model.cluster_words_ == other.cluster_words_
    np.testing.assert_array_equal(model.memberships_[order], other.memberships_)


def test_the_order_of_words_does_not_matter(planted_groups):
    X, _ = planted_groups
    order = np.random.default_rng(0).permutation(36)
    words = [frozenset(order[j] for j in words) for words in found(WBSC().fit(X[:, order]))]
    assert set(words) == {frozenset(words) for words in found(WBSC().fit(X))}


def test_words_of_the_same_documents_are_one_cluster():
    X = np.repeat(draw(4, 30, 10), 2, axis=1)
    model = WBSC(similarity_threshold=1.5, min_df=1, max_df=1.0).fit(X)
    occurring = X[:, X.any(axis=0)]
    assert model.n_clusters_ == len(np.unique(occurring, axis=1).T) < occurring.shape[1]
    np.testing.assert_array_equal(model.merge_tree_[:, 2], 1)


def test_limits_on_the_documents_of_a_word():
    X = np.zeros((10, 4))
    X[:1, 0] = X[:3, 1] = X[2:7, 2] = X[:, 3] = 1
    for limits, words in (
        ({}, ["x1", "x2"]),
        ({"min_df": 1}, ["x0", "x1", "x2"]),
        ({"min_df": 0.5, "max_df": 1.0}, ["x2", "x3"]),
        ({"max_df": 10}, ["x1", "x2", "x3"]),
    ):
        model = WBSC(similarity_threshold=2.0, **limits).fit(X)
        assert [words for (words,) in model.cluster_words_] == words
    with pytest.warns(UserWarning, match=r"Only 0 words are within min_df=11 and max_df=0\.5 of 10 documents"):
        assert WBSC(similarity_threshold=2.0, min_df=11).fit(X).n_clusters_ == 4
    with pytest.warns(UserWarning, match="Only 2 words are within"):
        assert WBSC(3).fit(X).n_clusters_ == 3


def test_too_many_clusters():
    with pytest.raises(ValueError, match="n_clusters=3 should be <= 2"):
        WBSC(3).fit(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], dtype=float))
    with pytest.raises(ValueError, match="at least one document with a known word"):
        WBSC().fit(np.zeros((3, 2)))


def test_clusters_without_common_documents_are_united_last():
    model = WBSC(2, max_df=1.0).fit(np.kron(np.eye(3), np.ones((4, 2))))
    assert found(model) == [{4, 5}, {0, 1, 2, 3}]
    assert model.merge_tree_[-1, 2] == 0


def test_small_clusters_are_dropped():
    X = draw(5)
    every = WBSC().fit(X)
    sizes = every.get_cover().sum(axis=0)
    model = WBSC(min_cluster_docs=6).fit(X)
    assert model.n_clusters_ == (sizes >= 6).sum() < every.n_clusters_
    np.testing.assert_array_equal(model.memberships_, every.memberships_[:, sizes >= 6])
    with pytest.raises(ValueError, match=f"min_cluster_docs=26 should be <= {sizes.max()}"):
        WBSC(min_cluster_docs=26).fit(X)


def test_documents_without_words():
    X = np.vstack([draw(0), np.zeros((2, 14))])
    model = WBSC().fit(sparse.csr_array(X))
    np.testing.assert_array_equal(model.labels_[-2:], -1)
    np.testing.assert_array_equal(model.memberships_[-2:], 0)


def test_texts():
    texts = ["Team, match!", "match: the team", "market shares", "shares of a market", "team shares", "rain"]
    model = WBSC().fit(texts)
    assert model.cluster_words_ == [["shares", "market"], ["team", "match"]]
    assert model.top_words(1) == [["shares"], ["team"]]
    np.testing.assert_array_equal(model.predict(["market", "no word of it", "the match"]), [0, -1, 1])


# Real corpora ---------------------------------------------------------------------------------------------------------


def test_news(read_corpus):
    X, y = read_corpus("bbc_news")
    for subsets, clusters, ari in ((False, 2885, 0.269), (True, 2835, 0.285)):
        model = WBSC(merge_subsets=subsets).fit(X)
        assert model.n_clusters_ == clusters
        assert adjusted_rand_score(y, model.labels_) == pytest.approx(ari, abs=1e-3)
        assert 0.38 <= normalized_mutual_info_score(y, model.labels_) < 0.4
    assert max(map(len, model.cluster_words_)) == 29
    model = WBSC(membership="fraction").fit(X)
    assert adjusted_rand_score(y, model.labels_) == pytest.approx(0.036, abs=1e-3)


def test_subsets_chain_in_small_corpora(read_corpus):
    X, _ = read_corpus("bbc_news")
    for subsets, clusters, largest in ((False, 957, 13), (True, 545, 547)):
        model = WBSC(merge_subsets=subsets).fit(X[:150])
        assert (model.n_clusters_, max(map(len, model.cluster_words_))) == (clusters, largest)


def test_low_thresholds_chain(read_corpus):
    X, _ = read_corpus("bbc_news")
    assert max(map(len, WBSC(similarity_threshold=0.2).fit(X).cluster_words_)) == 124


def test_short_texts(read_corpus):
    X, y = read_corpus("m10")
    model = WBSC().fit(X)
    assert model.n_clusters_ == 1635
    assert adjusted_rand_score(y, model.labels_) == pytest.approx(0.077, abs=1e-3)


@pytest.mark.parametrize(
    "settings", [{}, {"merge_subsets": True}, {"merge_subsets": True, "similarity_threshold": 1.5}, {"n_clusters": 4}]
)
def test_kernels_do_not_matter(settings, monkeypatch):
    X = np.random.default_rng(0).poisson(0.15, (60, 50))
    models = [WBSC(**settings).fit(X)]
    monkeypatch.setattr(kernels, "compiled", None)
    models.append(WBSC(**settings).fit(X))
    np.testing.assert_array_equal(*(model.merge_tree_ for model in models))
    np.testing.assert_array_equal(*(model.memberships_ for model in models))
