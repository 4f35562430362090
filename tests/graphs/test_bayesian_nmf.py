from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import non_negative_factorization
from sklearn.metrics import adjusted_rand_score

from soft_clustering import BayesianNMF
from soft_clustering.datasets import load_graph
from soft_clustering.metrics import overlapping_nmi

KARATE = load_graph("karate").adjacency
TWO_CLIQUES = np.kron(np.eye(2), np.ones((8, 8)))


def target(A, loops):
    A = np.array(A, dtype=float)
    np.fill_diagonal(A, 0)
    diagonal = {"degree": A.sum(axis=1), "unit": np.ones(len(A)), None: np.zeros(len(A))}[loops]
    V = A + np.diag(diagonal)
    return V / V.max()


def energy(V, W, H, beta, a, b):
    """U, entry by entry."""
    R = W @ H.T
    total = 0.0
    for v, r in zip(V.ravel(), R.ravel(), strict=True):
        total += r + (v * np.log(v / r) - v if v > 0 else 0)
    for k, precision in enumerate(beta):
        squares = np.square(W[:, k]).sum() + np.square(H[:, k]).sum()
        total += precision * squares / 2 - (len(V) + a - 1) * np.log(precision) + b * precision
    return total


@pytest.mark.parametrize("loops", ["degree", "unit", None])
def test_objective_is_the_energy(loops):
    model = BayesianNMF(3, self_loops=loops, prior_shape=4.0, prior_rate=3.0, random_state=0).fit(KARATE)
    assert model.n_effective_clusters_ == 3
    V = target(KARATE.toarray(), loops)
    expected = energy(V, model.memberships_, model.components_.T, model.precisions_, 4.0, 3.0)
    assert model.objective_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["dolphins", "football", "polbooks"])
def test_no_pass_raises_the_energy(read_graph, name):
    model = BayesianNMF(10, n_init=1, tol=1e-8, random_state=0).fit(read_graph(name)[0])
    steps = np.diff(model.objective_history_)
    assert len(steps) > 20
    assert (steps <= 1e-9 * abs(model.objective_)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_pass_is_its_equations():
    A = KARATE.toarray()
    V = target(A, "degree")
    W, H = np.random.RandomState(0).uniform(size=(2, 34, 3))
    beta, eps = np.ones(3), np.sqrt(np.finfo(float).eps)
    for passes in (1, 2):
        H = H * ((V / (W @ H.T + 1e-12)).T @ W) / (W.sum(axis=0) + H * beta + eps)
        beta = (34 + 5 - 1) / (2 + (np.square(W).sum(axis=0) + np.square(H).sum(axis=0)) / 2)
        W = W * ((V / (W @ H.T + 1e-12)) @ H) / (H.sum(axis=0) + W * beta + eps)
        model = BayesianNMF(3, n_init=1, max_iter=passes, tol=0.0, random_state=0).fit(A)
        np.testing.assert_allclose(model.memberships_, W, rtol=1e-9)
        np.testing.assert_allclose(model.components_, H.T, rtol=1e-9)
        np.testing.assert_allclose(model.precisions_, beta, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_shrinkage_it_is_the_nmf_of_scikit_learn():
    settings = {"self_loops": "degree", "prior_shape": 1.0, "prior_rate": 1e14, "n_init": 1, "tol": 0.0}
    # The first pass begins with precisions of 1; from its factors on both take the same steps, H first.
    first, later = (BayesianNMF(3, max_iter=p, random_state=0, **settings).fit(KARATE) for p in (1, 21))
    H, W, _ = non_negative_factorization(
        target(KARATE.toarray(), "degree").T,
        W=np.ascontiguousarray(first.components_.T),
        H=np.ascontiguousarray(first.memberships_.T),
        n_components=3,
        init="custom",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=20,
        tol=0.0,
    )
    np.testing.assert_allclose(later.memberships_, W.T, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(later.components_, H.T, rtol=1e-4, atol=1e-7)
    assert np.abs(first.memberships_ - later.memberships_).max() > 0.1


def test_karate():
    graph = load_graph("karate")
    model = BayesianNMF(2, random_state=0).fit(graph.adjacency)
    assert adjusted_rand_score(graph.labels, model.labels_) == 1


@pytest.mark.parametrize("name, least", [("dolphins", 0.75), ("football", 0.85), ("polbooks", 0.5)])
def test_partitions(read_graph, name, least):
    A, labels, cover = read_graph(name)
    assert adjusted_rand_score(labels, BayesianNMF(cover.shape[1], random_state=0).fit(A).labels_) >= least


@pytest.mark.parametrize("seed", range(3))
def test_finds_the_number_of_planted_blocks(planted, seed):
    A, y = planted([50] * 4, 0.5, 0.02, seed)
    model = BayesianNMF(random_state=0).fit(A)
    assert model.n_clusters_ == model.n_effective_clusters_ == 4
    assert adjusted_rand_score(y, model.labels_) == 1


@pytest.mark.parametrize("name, numbers", [("dolphins", (7, 9)), ("football", (7, 9)), ("polbooks", (6, 11))])
def test_number_of_communities_of_real_graphs(read_graph, name, numbers):
    least, most = numbers
    assert least <= BayesianNMF(random_state=0).fit(read_graph(name)[0]).n_clusters_ <= most


def test_number_of_communities_grows_with_the_diagonal():
    unit = BayesianNMF(random_state=0).fit(KARATE)
    degree = BayesianNMF(self_loops="degree", random_state=0).fit(KARATE)
    assert unit.n_clusters_ == 4
    assert degree.n_clusters_ > 6


def test_ego_networks(read_graph):
    scores = []
    for name in ("fb_348", "fb_414", "fb_686", "fb_698"):
        A, _, cover = read_graph(name)
        scores.append(overlapping_nmi(BayesianNMF(cover.shape[1], random_state=0).fit(A).get_cover(), cover))
    assert np.mean(scores) >= 0.35
    assert scores[0] >= 0.27
    assert scores[1] >= 0.45


# What is shrunk away ------------------------------------------------------------------------------------------------


def test_given_width_stays(planted):
    A, y = planted([50] * 4, 0.5, 0.02)
    model = BayesianNMF(6, self_loops="unit", random_state=0).fit(A)
    assert model.memberships_.shape == (200, 6)
    assert model.n_clusters_ == 6
    assert model.n_effective_clusters_ == 4
    used = model.memberships_.any(axis=0)
    assert used.sum() == model.n_effective_clusters_
    np.testing.assert_array_equal(used, model.components_.any(axis=1))
    # What explains much is shrunk little, what explains nothing as much as the prior allows.
    assert model.precisions_[used].max() < 20
    np.testing.assert_allclose(model.precisions_[~used], (200 + 5 - 1) / 2, rtol=1e-6)
    assert adjusted_rand_score(y, model.labels_) == 1


def test_found_width_is_that_of_the_communities():
    model = BayesianNMF(random_state=0).fit(TWO_CLIQUES)
    assert model.memberships_.shape == (16, 2)
    assert model.components_.shape == (2, 16)
    assert model.precisions_.shape == (2,)


def test_the_strongest_community_is_kept():
    with pytest.warns(UserWarning, match="All communities were shrunk away"):
        model = BayesianNMF(2, prune_tol=0.999, n_init=1, max_iter=1, random_state=1).fit(TWO_CLIQUES)
    assert model.n_effective_clusters_ == 1
    assert model.memberships_.any(axis=0).sum() == 1


def test_shares_and_cover():
    A = np.zeros((15, 15))
    A[:8, :8] = A[7:, 7:] = 1
    model = BayesianNMF(2, random_state=0).fit(A)
    np.testing.assert_allclose(model.community_shares_.sum(axis=1), 1)
    W = model.memberships_
    np.testing.assert_allclose(model.community_shares_, W / W.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.get_cover(), model.community_shares_ >= 0.25)
    np.testing.assert_array_equal(model.get_cover().sum(axis=1), [1] * 7 + [2] + [1] * 7)
    np.testing.assert_array_equal(model.get_cover(threshold=0.5), W >= 0.5)


def test_weights_are_used_and_their_unit_is_not():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.2, 1, size=(34, 34))
    A = KARATE.toarray() * (weights + weights.T)
    plain, weighted, scaled = (BayesianNMF(2, random_state=0).fit(X) for X in (KARATE, A, 1e60 * A))
    assert np.abs(weighted.memberships_ - plain.memberships_).max() > 1e-2
    np.testing.assert_allclose(scaled.memberships_, weighted.memberships_, rtol=1e-6)


def test_weights_of_any_size():
    A = np.ones((6, 6))
    A[0, 1:] = A[1:, 0] = 1e-300
    A[4, 5] = A[5, 4] = 1e89
    model = BayesianNMF(2, random_state=0).fit(A)
    assert np.isfinite(model.memberships_).all()
    assert np.isfinite(model.objective_)


def test_more_starts_are_not_worse(read_graph):
    A = read_graph("football")[0]
    one, several = (BayesianNMF(12, n_init=n, random_state=0).fit(A) for n in (1, 5))
    assert several.objective_ <= one.objective_


def test_new_rows_follow_their_update():
    model = BayesianNMF(2, random_state=0).fit(KARATE)
    links = (np.random.default_rng(0).uniform(size=(4, 34)) < 0.15).astype(float)
    links[3] = 0
    H, W = model.components_.T, model.memberships_
    V = links / np.diff(KARATE.indptr).max()
    w = np.tile(W.mean(axis=0), (4, 1))
    for _ in range(200):
        w = w * ((V / (w @ H.T + 1e-12)) @ H) / (H.sum(axis=0) + w * model.precisions_ + 1.5e-8)
    np.testing.assert_allclose(model.predict_memberships(links), w, rtol=1e-6, atol=1e-9)
    assert model.predict(links)[3] == -1


@pytest.mark.parametrize("K, width", [(3, 3), (None, 1)])
def test_a_graph_without_links(K, width):
    with pytest.warns(UserWarning, match="no link"):
        model = BayesianNMF(K).fit(sparse.csr_array((5, 5), dtype=np.float32))
    assert (model.memberships_.shape, model.memberships_.dtype) == ((5, width), np.float32)
    assert not model.memberships_.any()
    assert model.n_effective_clusters_ == 0
