"""Latent Dirichlet allocation: its bound, its agreement with scikit-learn, its options."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, psi
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import LDA
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.documents.lda import fit_prior

unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def planted():
    """(Counts, main topic, topics) of 300 documents."""
    corpus = make_topic_corpus(300, 4, vocabulary_size=200, random_state=0)
    return corpus.counts.astype(float), corpus.document_topics.argmax(axis=1), corpus.topic_words


def bound(X, U_gamma, components, alpha, eta):
    """The bound by its definition, phi eliminated."""
    E = psi(U_gamma) - psi(U_gamma.sum(axis=1, keepdims=True))
    F = psi(components) - psi(components.sum(axis=1, keepdims=True))

    def divergence(p, q, logs):
        terms = ((p - q) * logs + gammaln(q) - gammaln(p)).sum(axis=1)
        return (terms + gammaln(p * q.shape[1]) - gammaln(q.sum(axis=1))).sum()

    mixture = np.exp(E) @ np.exp(F)
    return (X * np.log(mixture)).sum() + divergence(alpha, U_gamma, E) + divergence(eta, components, F)


def truncated_psi(x):
    """The digamma function as scikit-learn's loop computes it: its series ends early."""
    x = np.array(x, dtype=float)
    answer = np.zeros_like(x)
    small = x <= 1e-6
    while (x < 6).any():
        answer -= np.where(x < 6, 1 / x, 0)
        x = np.where(x < 6, x + 1, x)
    r = 1 / x
    answer += np.log(x) - 0.5 * r
    r = r * r
    answer -= r * (1 / 12 - r * (1 / 120 - r / 252))
    return np.where(small, -np.euler_gamma - 1 / np.maximum(x, 1e-300), answer)


def em(X, K, seed, passes, digamma):
    """The same algorithm in NumPy, one document after the other, with a digamma function of choice."""
    rng = np.random.RandomState(seed)
    components = rng.gamma(100.0, 0.01, (K, X.shape[1]))
    for _ in range(passes):
        B = np.exp(digamma(components) - digamma(components.sum(axis=1))[:, None])
        start = rng.gamma(100.0, 0.01, (X.shape[0], K))
        found = np.zeros_like(components)
        for d in range(X.shape[0]):
            ids, x = X.indices[X.indptr[d] : X.indptr[d + 1]], X.data[X.indptr[d] : X.indptr[d + 1]]
            gamma = start[d]
            A = np.exp(digamma(gamma) - digamma(gamma.sum()))
            for _ in range(100):
                last = gamma
                gamma = 1 / K + A * (B[:, ids] @ (x / (A @ B[:, ids] + np.finfo(float).eps)))
                A = np.exp(digamma(gamma) - digamma(gamma.sum()))
                if np.abs(gamma - last).mean() < 1e-3:
                    break
            found[:, ids] += np.outer(A, x / (A @ B[:, ids] + np.finfo(float).eps))
        components = 1 / K + found * B
    return components


def test_objective_is_the_bound(planted):
    X = planted[0]
    model = LDA(4, doc_topic_prior=0.3, topic_word_prior=0.05, mean_change_tol=1e-12, max_doc_update_iter=2000)
    model.set_params(random_state=0).fit(X)
    lengths = X.sum(axis=1)
    gamma = model.memberships_ * (lengths + 4 * 0.3)[:, None]
    expected = bound(X.toarray(), gamma, model.components_, 0.3, 0.05)
    assert model.objective_ == pytest.approx(expected, rel=1e-10)
    assert model.score(X) == pytest.approx(model.objective_, rel=1e-12)
    assert model.perplexity(X) == pytest.approx(np.exp(-expected / lengths.sum()), rel=1e-9)


def test_topics_are_found(planted):
    X, y, phi = planted
    model = LDA(4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    overlap = np.minimum(model.topic_word_[:, None], phi[None]).sum(axis=2)
    assert overlap.max(axis=0).min() > 0.85
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1)
    assert np.diff(model.objective_history_).min() >= 0


@unconverged
@pytest.mark.parametrize("method", ["batch", "online"])
def test_scikit_learn_from_the_same_start(planted, method):
    X = planted[0]
    ours = LDA(5, init="random", learning_method=method, max_iter=6, tol=0, random_state=3).fit(X)
    theirs = LatentDirichletAllocation(5, learning_method=method, max_iter=6, random_state=3).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6)
    np.testing.assert_allclose(ours.memberships_, theirs.transform(X), atol=1e-6)
    assert ours.objective_ == pytest.approx(theirs.score(X), rel=1e-8)
    assert ours.perplexity(X[:50]) == pytest.approx(theirs.perplexity(X[:50]), rel=1e-6)
    assert ours.n_batch_iter_ == theirs.n_batch_iter_


def test_scikit_learn_in_parts(planted):
    X = planted[0]
    ours, theirs = LDA(5, init="random", random_state=0), LatentDirichletAllocation(5, random_state=0)
    for part in (X[:150], X[150:]):
        ours.partial_fit(part)
        theirs.partial_fit(part)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6)
    assert not hasattr(ours, "memberships_")
    np.testing.assert_allclose(ours.predict_memberships(X), theirs.transform(X), atol=1e-6)
    assert ours.score(X) == ours.score(X) == pytest.approx(theirs.score(X), rel=1e-7)


@unconverged
def test_what_differs_is_the_digamma_function(planted):
    """With scikit-learn's series, which ends at 1/252, its topics come out digit by digit; with all digits, ours do."""
    X = planted[0][:40]
    theirs = LatentDirichletAllocation(4, max_iter=3, random_state=0).fit(X).components_
    ours = LDA(4, init="random", max_iter=3, tol=0, random_state=0).fit(X).components_
    np.testing.assert_allclose(em(X, 4, 0, 3, truncated_psi), theirs, rtol=1e-11)
    np.testing.assert_allclose(em(X, 4, 0, 3, psi), ours, rtol=1e-10)
    assert np.abs(ours / theirs - 1).max() > 1e-10


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learnt_prior():
    """The prior that the shares were drawn from, topic by topic; over batches at least on the way there."""
    rng = np.random.default_rng(1)
    alpha = np.array([0.1, 0.3, 1.0])
    phi = np.kron(np.eye(3), rng.dirichlet(np.ones(20)))
    theta = rng.dirichlet(alpha, 800)
    X = np.stack([rng.multinomial(200, p) for p in theta @ phi]).astype(float)
    model = LDA(3, learn_doc_prior=True, max_iter=300, tol=1e-8, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(model.doc_topic_prior_), alpha, rtol=0.15)
    online = LDA(3, learn_doc_prior=True, learning_method="online", max_iter=10, random_state=0).fit(X)
    assert online.doc_topic_prior_.max() > 3 * online.doc_topic_prior_.min()  # all the same at the start
    assert np.argsort(online.doc_topic_prior_).tolist() == np.argsort(model.doc_topic_prior_).tolist()
    assert isinstance(LDA(3, random_state=0).fit(X).doc_topic_prior_, float)


def test_newton_finds_the_maximum():
    rng = np.random.default_rng(0)
    for _ in range(20):
        K = rng.integers(1, 8)
        truth = 10.0 ** rng.uniform(-2, 2, K)
        logs = psi(truth) - psi(truth.sum())  # of infinitely many documents
        found = fit_prior(10.0 ** rng.uniform(-2, 2, K), logs)
        if K > 1:
            np.testing.assert_allclose(found, truth, rtol=1e-4)


def test_given_topics_force_one_start(planted):
    X, _, phi = planted
    model = LDA(4, init=1 + 1000 * phi, n_init=7, random_state=0).fit(X)
    order = np.minimum(model.topic_word_[:, None], phi[None]).sum(axis=2).argmax(axis=1)
    np.testing.assert_array_equal(order, np.arange(4))
    with pytest.raises(ValueError, match="init must have positive entries"):
        LDA(4, init=phi * 0).fit(X)
    with pytest.raises(ValueError, match="init must have shape"):
        LDA(4, init=phi[:, :-1]).fit(X)


def test_order_of_documents_does_not_matter(planted):
    X = planted[0]
    order = np.random.default_rng(0).permutation(X.shape[0])
    start = 0.5 + X[:4].toarray()
    one, other = LDA(4, init=start).fit(X), LDA(4, init=start).fit(X[order])
    np.testing.assert_allclose(one.memberships_[order], other.memberships_, atol=1e-9)


def test_one_topic(planted):
    model = LDA(1, topic_word_prior=0.5).fit(planted[0])
    assert (model.memberships_ == 1).all()
    np.testing.assert_allclose(model.components_[0], 0.5 + planted[0].sum(axis=0), rtol=1e-9)


def test_more_topics_than_documents(planted):
    model = LDA(30, max_iter=5, tol=1.0, random_state=0).fit(planted[0][:4])
    assert model.memberships_.shape == (4, 30)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)


def test_documents_without_words(planted):
    X = sparse.vstack([planted[0][:50], sparse.csr_array((2, 200))]).tocsr()
    model = LDA(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.memberships_[-2:], 0.25)
    learnt = LDA(4, learn_doc_prior=True, random_state=0, tol=1e-3).fit(X)
    np.testing.assert_allclose(learnt.memberships_[-1], learnt.doc_topic_prior_ / learnt.doc_topic_prior_.sum())


def test_nothing_at_all():
    with pytest.warns(ConvergenceWarning, match="LDA collapsed"):
        model = LDA(3, random_state=0).fit(np.zeros((4, 5)))
    np.testing.assert_allclose(model.memberships_, 1 / 3)
    with pytest.raises(ValueError, match="known word"):
        model.perplexity(np.zeros((4, 5)))


def test_weights_count_documents_not_words(planted):
    X = planted[0][:60]
    start = 0.5 + X[:3].toarray()
    weight = np.tile([1.0, 2.0, 0.0], 20)
    weighted = LDA(3, init=start).fit(X, sample_weight=weight)
    repeated = LDA(3, init=start).fit(X[np.repeat(np.arange(60), weight.astype(int))])
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)
    assert weighted.perplexity(X, sample_weight=weight) == pytest.approx(
        repeated.perplexity(X[np.repeat(np.arange(60), weight.astype(int))]), rel=1e-9
    )


def test_online_comes_near_batch(planted):
    X = planted[0]
    batch = LDA(4, random_state=0).fit(X)
    online = LDA(4, learning_method="online", batch_size=32, learning_offset=10, max_iter=20, random_state=0, tol=1e-3)
    online.fit(X)
    assert online.objective_ > batch.objective_ - 0.01 * abs(batch.objective_)
    assert online.n_batch_iter_ == 1 + 10 * online.n_iter_


def test_partial_fit_goes_on_from_fit(planted):
    X = planted[0]
    model = LDA(4, random_state=0, total_samples=300).fit(X[:200])
    before = model.n_batch_iter_
    model.partial_fit(X[200:])
    assert model.n_batch_iter_ == before + 1
    assert model.perplexity(X) < clone(model).partial_fit(X[200:]).perplexity(X)


def test_best_of_several_starts(planted):
    X = planted[0]
    single = [LDA(4, init="random", random_state=np.random.RandomState(s)).fit(X).objective_ for s in range(3)]
    assert LDA(4, init="random", n_init=6, random_state=0).fit(X).objective_ >= max(single) - 0.005 * abs(max(single))


def test_unconverged_runs_warn(planted):
    with pytest.warns(ConvergenceWarning, match="LDA did not converge in max_iter=2"):
        LDA(4, max_iter=2, tol=0, random_state=0).fit(planted[0])


@pytest.mark.parametrize("setting", ["prior", "start"])
def test_collapse_warns(planted, setting):
    """Priors that outweigh every document, or topics that start equal and stay so: all documents have equal shares."""
    X = planted[0]
    parameters = {"doc_topic_prior": 1e4} if setting == "prior" else {"init": np.ones((4, X.shape[1]))}
    with pytest.warns(ConvergenceWarning, match="LDA collapsed.*Lower doc_topic_prior"):
        model = LDA(4, random_state=0, **parameters).fit(X)
    np.testing.assert_allclose(model.memberships_, 0.25, atol=0.02)


def test_texts(tmp_path):
    texts = ["goal match team", "team wins match", "market shares fall", "shares and market rise"] * 3
    model = LDA(2, random_state=0).fit(texts)
    assert set(model.words_) == {"fall", "goal", "market", "match", "rise", "shares", "team", "wins"}
    np.testing.assert_allclose(model.predict_memberships(texts), model.memberships_, atol=1e-9)
    np.testing.assert_allclose(model.predict_memberships(["unheard words", ""]), 0.5)
    assert [len(words) for words in model.top_words(3)] == [3, 3]
    with pytest.raises(ValueError, match="n_words must be an int >= 1"):
        model.top_words(0)


# Real corpora ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("corpus, K, least", [("bbc_news", 5, 0.80), ("m10", 10, 0.25)])
def test_real_corpora(read_corpus, corpus, K, least):
    X, y = read_corpus(corpus)
    model = LDA(K, n_init=3, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) >= least
    assert np.diff(model.objective_history_).min() > 0


@unconverged
def test_held_out_perplexity_is_no_worse(read_corpus):
    X, _ = read_corpus("bbc_news")
    train, rest = X[::3], X[1::3]
    theirs = LatentDirichletAllocation(5, random_state=0, max_iter=10).fit(train).perplexity(rest)
    assert LDA(5, max_iter=10, tol=0, random_state=0).fit(train).perplexity(rest) <= theirs
