"""Probabilistic latent semantic indexing: its likelihood, its steps, tempering, agreement with Kullback-Leibler NMF."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from soft_clustering import PLSI
from soft_clustering.datasets import make_topic_corpus
from soft_clustering.documents.plsi import split_words
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.engine.fitting import Fit

unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def planted():
    """(Counts, main topic, topics) of 300 documents."""
    corpus = make_topic_corpus(300, 4, vocabulary_size=200, random_state=0)
    return corpus.counts.astype(float), corpus.document_topics.argmax(axis=1), corpus.topic_words


def expectation_maximisation(X, topics, beta, passes):
    """P(z|d), P(w|z), P(z) and the objective at each state by their definitions, with all P(z|d,w) in memory."""
    K = len(topics)
    share, word = np.full((len(X), K), 1 / K), topics / topics.sum(axis=1, keepdims=True)
    weight = topics.sum(axis=1) / topics.sum()
    length = X.sum(axis=1)
    history = []
    for _ in range(passes):
        # P(z) (P(d|z) P(w|z))^beta with P(d|z) = P(z|d) p_d / P(z), where p_d is the same in all z
        joint = weight[None, None] ** (1 - beta) * (share[:, None] * word.T[None]) ** beta
        total = joint.sum(axis=2)
        history.append((X * np.log(total)).sum())
        expected = X[:, :, None] * joint / total[:, :, None]
        share = expected.sum(axis=1) / length[:, None]
        word = (expected.sum(axis=0) / expected.sum(axis=(0, 1))).T
        weight = expected.sum(axis=(0, 1)) / X.sum()
    return share, word, weight, history


def likelihood(X, share, word):
    """sum x log P(w|d) over the words that occur."""
    total = 0.0
    for d, w in zip(*np.nonzero(X), strict=True):
        total += X[d, w] * np.log(sum(share[d, k] * word[k, w] for k in range(word.shape[0])))
    return total


# The steps ------------------------------------------------------------------------------------------------------------


@unconverged
@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_steps_by_definition(beta):
    rng = np.random.default_rng(0)
    X, topics = rng.poisson(1.5, (12, 9)) + 1.0, rng.uniform(0.1, 1, (3, 9))
    _, word, weight, history = expectation_maximisation(X, topics, beta, 6)
    model = PLSI(3, beta=beta, init=topics, max_iter=6, tol=0).fit(X)
    np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-12)
    np.testing.assert_allclose(model.topic_word_, word, rtol=1e-10)
    np.testing.assert_allclose(model.topic_weights_, weight, rtol=1e-10)
    assert model.beta_ == beta
    assert model.n_iter_ == 6


def test_score_is_the_log_likelihood(planted):
    X = planted[0][:40]
    for beta in (1.0, 0.8):
        model = PLSI(3, beta=beta, random_state=0).fit(X)
        expected = likelihood(X.toarray(), model.memberships_, model.topic_word_)
        assert model.score(X) == pytest.approx(expected, rel=1e-10)
        assert model.perplexity(X) == pytest.approx(np.exp(-expected / X.sum()), rel=1e-10)
        assert (model.objective_ == pytest.approx(expected, rel=1e-10)) == (beta == 1)


@unconverged  # the lowest beta makes all topics the same
@pytest.mark.parametrize("beta", [1.0, 0.8, 0.5])
@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_objective_never_falls(planted, beta, init):
    for seed in range(3):
        model = PLSI(5, beta=beta, init=init, n_init=1, max_iter=1000, random_state=seed).fit(planted[0])
        assert np.diff(model.objective_history_).min() > 0


def test_topics_are_found(planted):
    X, y, phi = planted
    model = PLSI(4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    overlap = np.minimum(model.topic_word_[:, None], phi[None]).sum(axis=2)
    assert overlap.max(axis=0).min() > 0.85
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1)
    assert model.topic_weights_.sum() == pytest.approx(1)
    lengths = X.sum(axis=1)
    np.testing.assert_allclose(model.topic_weights_, lengths @ model.memberships_ / lengths.sum(), atol=0.01)
    assert not hasattr(model, "centers_")
    assert not hasattr(model, "components_")
    assert len(model.validation_history_) == 0


def test_folding_in_finds_the_maximum(planted):
    """The likelihood of a document is concave in its shares: its gradient tells the maximum."""
    X = planted[0]
    model = PLSI(4, max_doc_update_iter=20000, random_state=0).fit(X[:200])
    new = X[200:]
    share = model.predict_memberships(new)
    mixture = share @ model.topic_word_
    known = model.topic_word_.any(axis=0)
    gradient = np.divide(new.toarray(), mixture, out=np.zeros(new.shape), where=known & (mixture > 0))
    gradient = gradient @ model.topic_word_.T / (new.toarray() * known).sum(axis=1, keepdims=True)
    assert gradient.max() < 1 + 1e-3
    np.testing.assert_allclose(gradient[share > 0.01], 1, atol=1e-3)


def test_nearly_the_shares_of_the_last_pass(planted):
    model = PLSI(4, n_init=1, random_state=0)
    blocks, fit = model._blocks(sparse.csr_array(planted[0])), Fit(model)
    model._run(fit, blocks, check_random_state(0))
    (run,) = fit.runs
    model.fit(planted[0])
    assert (run.state.shares.argmax(axis=1) == model.labels_).mean() > 0.98


def test_units_of_the_counts_do_not_matter(planted):
    X = planted[0]
    model = PLSI(4, random_state=0).fit(X)
    for unit in (2.0**-40, 2.0**40):
        start = {"init": 1e-3 + model.topic_word_[::-1]}
        other = PLSI(4, **start).fit(X * unit)
        np.testing.assert_allclose(other.memberships_, PLSI(4, **start).fit(X).memberships_, atol=1e-9)


def test_given_topics_force_one_start(planted):
    X, _, phi = planted
    model = PLSI(4, init=1e-3 + phi, n_init=7).fit(X)
    order = np.minimum(model.topic_word_[:, None], phi[None]).sum(axis=2).argmax(axis=1)
    np.testing.assert_array_equal(order, np.arange(4))
    with pytest.raises(ValueError, match="init must have positive entries"):
        PLSI(4, init=phi * 0).fit(X)
    with pytest.raises(ValueError, match="init must have shape"):
        PLSI(4, init=phi[:, :-1]).fit(X)


@pytest.mark.parametrize("init", ["kmeans", "given"])
def test_order_of_documents_does_not_matter(planted, init):
    X = planted[0]
    order = np.random.default_rng(0).permutation(X.shape[0])
    start = 0.5 + X[:4].toarray() if init == "given" else init
    one, other = (PLSI(4, init=start, random_state=0).fit(rows) for rows in (X, X[order]))
    np.testing.assert_allclose(one.memberships_[order], other.memberships_, atol=1e-6)


@unconverged
@pytest.mark.parametrize("K", [3, 25])
def test_weights_count_documents(planted, K):
    """Also where fewer than K documents differ, so that the start is random."""
    X = planted[0][:30]
    weight = np.tile([1.0, 2.0, 0.0], 10)
    rows = np.repeat(np.arange(30), weight.astype(int))
    weighted = PLSI(K, random_state=0, max_iter=20).fit(X, sample_weight=weight)
    repeated = PLSI(K, random_state=0, max_iter=20).fit(X[rows])
    np.testing.assert_allclose(weighted.topic_word_, repeated.topic_word_, atol=1e-9)
    np.testing.assert_allclose(weighted.topic_weights_, repeated.topic_weights_, atol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)
    assert weighted.perplexity(X, sample_weight=weight) == pytest.approx(repeated.perplexity(X[rows]), rel=1e-9)


def test_one_topic(planted):
    X = planted[0]
    model = PLSI(1).fit(X)
    assert (model.memberships_ == 1).all()
    np.testing.assert_allclose(model.topic_word_[0], X.sum(axis=0) / X.sum(), atol=1e-12)


def test_more_topics_than_documents(planted):
    model = PLSI(30, random_state=0).fit(planted[0][:4])
    assert model.memberships_.shape == (4, 30)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)


def test_best_of_several_starts(planted):
    X = planted[0]
    rng = np.random.RandomState(3)
    single = [PLSI(6, init="random", n_init=1, random_state=rng).fit(X).objective_ for _ in range(4)]
    best = PLSI(6, init="random", n_init=4, random_state=np.random.RandomState(3)).fit(X).objective_
    assert best == pytest.approx(max(single), rel=1e-12)
    assert max(single) > min(single) + 1


# Words and documents without anything ---------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_documents_without_words(planted, beta):
    X = sparse.vstack([planted[0][:50], sparse.csr_array((2, 200))]).tocsr()
    model = PLSI(4, beta=beta, random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_[-2:], [model.topic_weights_] * 2)
    without = PLSI(4, beta=beta, random_state=0).fit(X[:50])
    np.testing.assert_allclose(model.memberships_[:50], without.memberships_, atol=1e-6)


def test_words_never_seen_are_ignored(planted):
    X = planted[0][:100].toarray()
    X[:, 7] = 0
    model = PLSI(4, random_state=0).fit(X)
    new = planted[0][100:150].toarray()
    new[:, 7] = 0
    more = new.copy()
    more[:, 7] = 5
    np.testing.assert_allclose(model.predict_memberships(more), model.predict_memberships(new), atol=1e-12)
    assert model.score(more) == pytest.approx(model.score(new), rel=1e-12)
    assert model.perplexity(more) == pytest.approx(model.perplexity(new), rel=1e-12)
    only = np.zeros((1, 200))
    only[0, 7] = 3
    np.testing.assert_allclose(model.predict_memberships(only)[0], model.topic_weights_)
    with pytest.raises(ValueError, match="known word"):
        model.perplexity(only)


def test_words_of_weight_zero_are_ignored(planted):
    X = planted[0][:60].toarray()
    X[:, 3] = 0
    X[0, 3] = 9
    model = PLSI(3, random_state=0).fit(X, sample_weight=np.r_[0.0, np.ones(59)])
    np.testing.assert_allclose(model.predict_memberships(X), model.memberships_, atol=1e-12)


@unconverged
def test_nothing_at_all():
    model = PLSI(3, random_state=0).fit(np.zeros((4, 5)))
    np.testing.assert_allclose(model.memberships_, 1 / 3)
    np.testing.assert_allclose(model.topic_word_, 0.2)
    with pytest.raises(ValueError, match="known word"):
        model.perplexity(np.zeros((4, 5)))


# Tempering ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def short_documents():
    """Texts of a few words, on which maximum likelihood learns by heart."""
    corpus = make_topic_corpus(1500, 5, vocabulary_size=400, document_length=8.0, beta=0.1, random_state=1)
    return corpus.counts.astype(float), corpus.document_topics.argmax(axis=1)


def test_tempering_helps_with_short_documents(short_documents):
    X, y = short_documents
    train, rest = X[:1200], X[1200:]
    plain = PLSI(5, random_state=0).fit(train)
    soft = PLSI(5, tempered=True, random_state=0).fit(train)
    # Half of the words of new documents tell their topics, the other half is scored.
    half = np.random.default_rng(0).binomial(rest.toarray().astype(int), 0.5)
    other = rest.toarray() - half

    def completion(model):
        mixture = model.predict_memberships(half) @ model.topic_word_
        return (other * np.log(np.maximum(mixture, 1e-12))).sum() / other.sum()

    assert completion(soft) > completion(plain) + 0.1
    assert adjusted_rand_score(y[:1200], soft.labels_) > adjusted_rand_score(y[:1200], plain.labels_)
    assert soft.converged_
    np.testing.assert_allclose(np.log(soft.beta_) / np.log(0.9), round(np.log(soft.beta_) / np.log(0.9)), atol=1e-9)
    assert soft.beta_ < 1
    history = soft.validation_history_
    assert history.argmax() > 0
    assert history.max() > history[0] + 0.1
    assert len(soft.objective_history_) == 11
    assert soft.n_iter_ == len(history) + 10
    assert np.diff(soft.objective_history_).min() > 0
    np.testing.assert_allclose(soft.predict_memberships(train), soft.memberships_, atol=1e-12)


def test_schedule_starts_at_beta(short_documents):
    X = short_documents[0]
    model = PLSI(5, tempered=True, beta=0.8, beta_step=0.95, n_init=1, random_state=0).fit(X)
    steps = np.log(model.beta_ / 0.8) / np.log(0.95)
    assert steps == pytest.approx(round(steps), abs=1e-9)
    assert steps >= 0


def test_words_held_out_are_counts():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(2.0, (200, 50)).astype(float))
    block = Block(X, None, Frame(np.zeros(50), 1.0))
    train, held = split_words(block, 0.3, np.random.RandomState(0))
    np.testing.assert_array_equal((train.X + held.X).toarray(), X.toarray())
    assert held.X.sum() / X.sum() == pytest.approx(0.3, abs=0.01)
    assert ((train.X.toarray() > 0) & (held.X.toarray() > 0)).any()  # an entry is split
    for unit in (0.5, 1e80):  # not whole, or too large to draw from
        block = Block(X * unit, None, Frame(np.zeros(50), 1.0))
        train, held = split_words(block, 0.3, np.random.RandomState(0))
        assert not ((train.X.toarray() > 0) & (held.X.toarray() > 0)).any()
        np.testing.assert_array_equal((train.X + held.X).toarray(), X.toarray() * unit)


def test_words_that_were_all_held_out_are_learnt_in_the_end(planted):
    X = planted[0][:80]
    model = PLSI(3, tempered=True, validation_fraction=0.5, random_state=0).fit(X)
    np.testing.assert_array_equal(model.topic_word_.any(axis=0), X.sum(axis=0) > 0)
    assert np.isfinite(model.perplexity(X))


def test_tempering_from_random_starts_needs_several(short_documents):
    X = short_documents[0]
    with pytest.raises(ValueError, match="n_init must be >= 3 to temper from random starts"):
        PLSI(5, tempered=True, init="random", n_init=2).fit(X)
    assert np.isfinite(PLSI(5, tempered=True, init="random", n_init=3, random_state=0).fit(X).memberships_).all()


def test_nothing_to_validate_by():
    with pytest.raises(ValueError, match="validation_fraction must leave words"):
        PLSI(1, tempered=True, validation_fraction=0.001, random_state=0).fit([[1, 0], [0, 1]])


def test_low_temperature_warns(planted):
    """With a posterior that is all but flat the topics come together."""
    with pytest.warns(ConvergenceWarning, match="PLSI collapsed.*Raise beta"):
        model = PLSI(3, beta=0.05, random_state=0).fit(planted[0])
    np.testing.assert_allclose(model.topic_word_, model.topic_word_[[0, 0, 0]], atol=1e-3)


def test_unconverged_runs_warn(planted, short_documents):
    with pytest.warns(ConvergenceWarning, match="PLSI did not converge in max_iter=2"):
        PLSI(4, max_iter=2, tol=0, random_state=0).fit(planted[0])
    with pytest.warns(ConvergenceWarning, match="PLSI was still tempering after max_iter=14"):
        model = PLSI(5, tempered=True, max_iter=14, random_state=0).fit(short_documents[0])
    assert model.n_iter_ == 14
    assert len(model.validation_history_) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PLSI(4, tempered=True, max_iter=1, random_state=0).fit(planted[0])


def test_says_what_it_does(planted, capsys):
    PLSI(3, tempered=True, n_init=2, verbose=1, random_state=0).fit(planted[0])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("PLSI start 2: held-out log likelihood -")
    PLSI(3, tempered=True, n_init=1, verbose=2, random_state=0).fit(planted[0])
    assert "PLSI pass 1: beta 1, held-out log likelihood -" in capsys.readouterr().out


def test_interruption_keeps_the_best(short_documents, monkeypatch):
    calls = []
    original = PLSI._update

    def update(self, *arguments):
        calls.append(1)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(PLSI, "_update", update)
    model = PLSI(5, tempered=True, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(short_documents[0])
    assert len(model.validation_history_) == 11
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)


@pytest.mark.parametrize(
    "parameter, value",
    [
        *(("beta", 0.0), ("beta", 1.5), ("beta_step", 1.0), ("beta_step", 0.0), ("validation_fraction", 1.0)),
        *(("validation_fraction", 0), ("max_doc_update_iter", 0), ("tempered", "yes"), ("init", "nndsvd")),
    ],
)
def test_bad_parameters(parameter, value):
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of PLSI"):
        PLSI(2, **{parameter: value}).fit(np.eye(4))


def test_texts():
    texts = ["goal match team", "team wins match", "market shares fall", "shares and market rise"] * 3
    model = PLSI(2, random_state=0).fit(texts)
    assert set(model.words_) == {"fall", "goal", "market", "match", "rise", "shares", "team", "wins"}
    np.testing.assert_allclose(model.predict_memberships(texts), model.memberships_, atol=1e-9)
    np.testing.assert_allclose(model.predict_memberships(["unheard words", ""]), [model.topic_weights_] * 2)
    assert [len(words) for words in model.top_words(3)] == [3, 3]


# Real corpora ---------------------------------------------------------------------------------------------------------


def test_news(read_corpus):
    X, y = read_corpus("bbc_news")
    model = PLSI(5, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) >= 0.80
    assert model.objective_ / X.sum() > -6.847
    assert np.diff(model.objective_history_).min() > 0


def test_tempering_on_titles(read_corpus):
    X, y = read_corpus("m10")
    found = []
    for seed in range(4):
        model = PLSI(10, tempered=True, random_state=seed).fit(X)
        found.append(adjusted_rand_score(y, model.labels_))
        assert model.beta_ == pytest.approx(0.9**5)
        assert np.exp(-model.validation_history_.max()) < 0.75 * np.exp(-model.validation_history_[0])  # a quarter less
    assert np.mean(found) >= 0.25  # over twelve single starts 0.27, with a deviation of 0.06


def test_new_documents(read_corpus):
    X, y = read_corpus("bbc_news")
    new = np.arange(X.shape[0]) % 5 == 0
    model = PLSI(5, random_state=0).fit(X[~new])
    old = adjusted_rand_score(y[~new], model.labels_)
    assert adjusted_rand_score(y[new], model.predict(X[new])) > old - 0.05


@unconverged
def test_nonnegative_matrix_factorisation_from_the_same_start(read_corpus):
    """The same optima, by steps that differ: likelihood and labels agree."""
    X, _ = read_corpus("bbc_news")
    start = PLSI(5, random_state=0, max_iter=2, tol=0).fit(X)
    topics = 0.99 * start.topic_word_ + 0.01 * np.asarray(X.sum(axis=0)).ravel() / X.sum()
    model = PLSI(5, init=topics, max_iter=100, tol=0, max_doc_update_iter=200).fit(X)
    length = np.asarray(X.sum(axis=1)).ravel()
    nmf = NMF(5, init="custom", beta_loss="kullback-leibler", solver="mu", max_iter=100, tol=0)
    W = nmf.fit_transform(X, W=np.outer(length, np.full(5, 0.2)), H=np.ascontiguousarray(topics))
    size = nmf.components_.sum(axis=1)
    share, word = W * size, nmf.components_ / size[:, None]
    share /= share.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    theirs = X.data @ np.log(np.einsum("pk,kp->p", share[rows], word[:, X.indices]))
    assert model.objective_ / X.sum() == pytest.approx(theirs / X.sum(), abs=5e-4)
    assert (share.argmax(axis=1) == model.labels_).mean() > 0.99
