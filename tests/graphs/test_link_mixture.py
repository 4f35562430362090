from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import LPANNI, LinkMixture, _rows, kernels
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph
from soft_clustering.metrics import overlapping_nmi

KARATE = load_graph("karate").adjacency
INITS = ["propagation", "modularity", "spectral", "random"]


def likelihood(A, theta):
    """Over all pairs."""
    total = -np.square(theta.sum(axis=0)).sum() / 2
    for i in range(len(A)):
        for j in np.flatnonzero(A[i, :i]):
            total += A[i, j] * np.log(theta[i] @ theta[j])
    return total


def em(A, U, passes):
    """EM with dense matrices: the link ends k after some passes, and the likelihoods before each."""
    k = (A @ U + A.sum(axis=1)[:, None] * U) / 2
    history = []
    for _ in range(passes):
        theta = k / np.sqrt(k.sum(axis=0))
        history.append(likelihood(A, theta))
        s = theta @ theta.T
        k = theta * ((A / s) @ theta)
    return k, history


def two_cliques():
    """Two groups of six that share a node."""
    A = np.zeros((11, 11))
    A[:6, :6] = A[5:, 5:] = 1
    return A - np.eye(11)


def weighted(A, seed=0):
    W = np.random.default_rng(seed).uniform(0.5, 2, A.shape)
    return A * (W + W.T)


@pytest.mark.parametrize("weights", [False, True])
def test_passes_are_those_of_em(weights):
    A = make_overlapping_graph(60, 3, degree=8, random_state=0).adjacency.toarray()
    A = weighted(A) if weights else A
    A = A[A.any(axis=0)][:, A.any(axis=0)]
    A = A / A[A > 0].mean()
    U = np.random.default_rng(1).dirichlet(np.ones(3), len(A))
    with pytest.warns(ConvergenceWarning):
        model = LinkMixture(init=U, prune_tol=0, max_iter=20, tol=0).fit(A)
    k, history = em(A, U, 20)
    np.testing.assert_allclose(model.memberships_, k / k.sum(axis=1, keepdims=True), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-9)
    np.testing.assert_allclose(model.link_weights_, k.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.strengths_, k / np.sqrt(k.sum(axis=0)), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("mixing", [0.1, 0.3])
def test_no_pass_lowers_the_likelihood(init, mixing):
    A = make_lfr_graph(400, mixing=mixing, overlap=0.3, random_state=0).adjacency
    model = LinkMixture(init=init, random_state=0).fit(A)
    assert np.diff(model.objective_history_).min() > 0
    assert model.objective_ == model.objective_history_[-1]
    assert len(model.objective_history_) == model.n_iter_


@pytest.mark.parametrize("seed", [0, 1])
def test_zeros_cost_no_likelihood(seed):
    """Setting small memberships to 0 changes hardly anything, and leaves few of them."""
    A = make_lfr_graph(400, mixing=0.3, overlap=0.3, random_state=seed).adjacency
    thin, full = (LinkMixture(prune_tol=tol, tol=1e-8, max_iter=2000).fit(A) for tol in (1e-3, 0))
    assert thin.n_clusters_ == full.n_clusters_ == 10
    assert thin.objective_ == pytest.approx(full.objective_, rel=1e-4)
    assert np.abs(thin.memberships_ - full.memberships_).mean() < 1e-3
    assert np.mean(thin.get_cover() != full.get_cover()) < 0.002


def test_small_memberships_become_zeros():
    A = make_lfr_graph(1000, mixing=0.3, overlap=0.3, random_state=1).adjacency
    with pytest.warns(ConvergenceWarning):
        early = [LinkMixture(prune_tol=tol, tol=0, max_iter=30).fit(A).memberships_ > 0 for tol in (1e-3, 0)]
    assert early[0].sum() < 0.7 * early[1].sum()


def test_every_link_has_a_community():
    """Also those of nodes with so many links that one is a small part of them."""
    n = 3000
    hub = sparse.lil_array((n + 1, n + 1))
    hub[n, :n] = hub[:n, n] = 1
    for i in range(0, n, 3):
        hub[i, i + 1] = hub[i + 1, i] = hub[i + 1, i + 2] = hub[i + 2, i + 1] = 1
    U = np.zeros((n + 1, 2))
    U[: n - 2, 0] = U[n - 2 :, 1] = 1
    model = LinkMixture(init=U).fit(hub)
    theta = sparse.csr_array(model.strengths_)
    rows = np.repeat(np.arange(n + 1), np.diff(sparse.csr_array(hub).indptr))
    columns = sparse.csr_array(hub).indices
    assert (theta[rows].multiply(theta[columns]).sum(axis=1) > 0).all()
    assert model.link_weights_.sum() == pytest.approx(hub.sum(), rel=1e-6)


@pytest.mark.parametrize("init", INITS)
def test_two_groups_that_share_a_node(init):
    model = LinkMixture(None if init in ("propagation", "modularity") else 2, init=init, n_init=10, random_state=0)
    model.fit(two_cliques())
    if init == "propagation":  # all begin with the label of the node that they share
        assert model.n_clusters_ == 1
        return
    expected = np.repeat([[1, 0], [0, 1]], [6, 5], axis=0).astype(float)
    expected[5] = 0.5
    order = np.argsort(-model.memberships_[0])
    np.testing.assert_allclose(model.memberships_[:, order], expected, atol=1e-3)
    cover = model.get_cover()[:, order]
    np.testing.assert_array_equal(cover, expected > 0)


def test_planted_blocks(planted):
    A, y = planted([50] * 4, 0.3, 0.02, 0)
    for model in (LinkMixture(4, random_state=0), LinkMixture()):
        assert adjusted_rand_score(y, model.fit(A).labels_) == 1


def test_finds_as_many_communities_as_its_start():
    A = make_lfr_graph(500, random_state=0).adjacency
    K = LPANNI().fit(A).n_clusters_
    for init in ("auto", "propagation", "spectral", "random"):
        model = LinkMixture(init=init, random_state=0).fit(A)
        assert model.n_clusters_ <= K
        assert (model.link_weights_ > 0).all()
    assert LinkMixture().fit(A).n_clusters_ == K
    few, many = (LinkMixture(init="modularity", resolution=r, random_state=0).fit(A).n_clusters_ for r in (0.3, 5))
    assert few < many


@pytest.mark.parametrize("n, K", [(1000, 10), (1000, 3), (200, 4)])
def test_starts_by_modularity_where_labels_run_over_communities(n, K):
    graph = make_overlapping_graph(n, K, random_state=0)
    A = graph.adjacency
    assert LinkMixture(init="propagation").fit(A).n_clusters_ == 1
    model = LinkMixture().fit(A)
    assert model.init_ == "modularity"
    assert model.n_clusters_ == K
    assert overlapping_nmi(model.get_cover(), graph.cover) >= 0.94
    np.testing.assert_array_equal(LinkMixture().fit(A).memberships_, model.memberships_)
    assert LinkMixture(init="spectral", random_state=0).fit(A).n_clusters_ == K


@pytest.mark.parametrize("n, degree", [(60, 12), (100, 10), (300, 100), (1000, 15)])
def test_a_random_graph_is_one_community(planted, n, degree):
    for seed in range(3):
        model = LinkMixture().fit(planted([n], degree / n, 0.0, seed)[0])
        assert model.n_clusters_ == 1
        assert model.init_ == "propagation"


def test_the_start_is_said():
    A = make_lfr_graph(400, random_state=0).adjacency
    assert LinkMixture().fit(A).init_ == "propagation"
    assert LinkMixture(3, random_state=0).fit(A).init_ == "spectral"
    assert LinkMixture(init="modularity", random_state=0).fit(A).init_ == "modularity"
    assert LinkMixture(init=np.ones((400, 2))).fit(A).init_ == "array"


@pytest.mark.parametrize("init", ["propagation", "modularity"])
def test_a_start_that_finds_the_number_takes_none(init):
    with pytest.raises(ValueError, match=f"init='{init}' finds the number of communities.*n_clusters must be None"):
        LinkMixture(3, init=init).fit(KARATE)


def test_wrong_starts():
    with pytest.raises(ValueError, match=r"init must have shape"):
        LinkMixture(3, init=np.ones((34, 2))).fit(KARATE)
    with pytest.raises(ValueError, match="init must have entries >= 0, not all 0 in any row"):
        LinkMixture(2, init=np.zeros((34, 2))).fit(KARATE)


def test_communities_that_lose_all_links_are_said():
    U = np.zeros((34, 3))
    U[:, 0] = 1
    U[:, 1] = 1
    with pytest.warns(ConvergenceWarning, match="1 of n_clusters=3 communities lost all links"):
        model = LinkMixture(3, init=U).fit(KARATE)
    assert model.n_clusters_ == 3
    assert LinkMixture(init=U).fit(KARATE).n_clusters_ == 2


def test_weights_count_and_their_unit_does_not():
    A = weighted(KARATE.toarray())
    model, doubled = (LinkMixture(2, random_state=0).fit(unit * A) for unit in (1, 2))
    np.testing.assert_array_equal(model.memberships_, doubled.memberships_)
    np.testing.assert_allclose(doubled.link_weights_, 2 * model.link_weights_)
    np.testing.assert_allclose(doubled.strengths_, np.sqrt(2) * model.strengths_)
    assert model.link_weights_.sum() == pytest.approx(A.sum())
    assert not np.allclose(model.memberships_, LinkMixture(2, random_state=0).fit(A > 0).memberships_, atol=1e-3)
    heavy = np.full((12, 12), 0.01)
    heavy[:6, :6] = heavy[6:, 6:] = 1
    assert adjusted_rand_score(np.repeat([0, 1], 6), LinkMixture().fit(heavy).labels_) == 1


def test_rates_are_the_expected_weights():
    """The sums of the rates over a row are those of the links, as in every maximum."""
    A = weighted(make_lfr_graph(300, random_state=0).adjacency.toarray())
    model = LinkMixture(tol=1e-12, max_iter=5000).fit(A)
    rates = model.strengths_ @ model.strengths_.T
    np.testing.assert_allclose(rates.sum(axis=1), A.sum(axis=1), rtol=1e-3)


def test_does_not_depend_on_threads(three_threads):
    A = make_overlapping_graph(5000, 50, degree=20, random_state=0).adjacency
    several = LinkMixture().fit(A)
    with kernels.one_thread():
        one = LinkMixture().fit(A)
    np.testing.assert_array_equal(several.memberships_, one.memberships_)
    np.testing.assert_array_equal(several.objective_history_, one.objective_history_)
    links = A[:500]
    with kernels.one_thread():
        expected = one.predict_memberships(links)
    np.testing.assert_array_equal(several.predict_memberships(links), expected)


# New nodes, links ----------------------------------------------------------------------------------------------------


def test_new_nodes_have_the_largest_likelihood():
    A = make_lfr_graph(300, mixing=0.3, random_state=0).adjacency
    model = LinkMixture().fit(A)
    theta, rng = model.strengths_, np.random.default_rng(0)
    totals = theta.sum(axis=0)

    def value(t, x):
        near = np.flatnonzero(x)
        return np.log(theta[near] @ t).sum() - t @ totals

    for x in rng.uniform(size=(5, 300)) < 0.04:
        U = model.predict_memberships(x[None].astype(float))[0]
        t = U * x.sum() / totals
        found = value(t, x)
        assert model.score(x[None].astype(float)) == pytest.approx((found + x.sum()) / x.sum(), abs=1e-6)
        for _ in range(50):
            other = np.maximum(t + rng.normal(scale=0.02, size=len(t)), 1e-9)
            assert value(other, x) <= found + 1e-2


@pytest.mark.parametrize("seed", range(2))
def test_new_nodes_beat_the_mean_of_their_neighbours(seed):
    graph = make_lfr_graph(1000, mixing=0.3, overlap=0.3, random_state=seed + 2)
    kept = np.random.default_rng(seed).permutation(1000) < 800
    model = LinkMixture(graph.cover.shape[1], random_state=0).fit(graph.adjacency[kept][:, kept])
    links = graph.adjacency[~kept][:, kept]
    linked = np.diff(links.indptr) > 0
    found = np.zeros((1000, model.n_clusters_), dtype=bool)
    found[kept] = model.get_cover()
    scores = []
    for U in (model.predict_memberships(links), (links @ model.memberships_) / links.sum(axis=1)[:, None].clip(1)):
        found[~kept] = np.minimum(0.25, U.max(axis=1, keepdims=True)) <= U
        found[np.flatnonzero(~kept)[~linked]] = False
        scores.append(overlapping_nmi(found, graph.cover))
    assert scores[0] > scores[1]


def test_communities_of_links():
    model = LinkMixture(2, random_state=0).fit(two_cliques())
    first, second = model.labels_[[0, 10]]
    shares = model.predict_links([[0, 1], [9, 10], [5, 7], [0, 10]])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares[:3].argmax(axis=1), [first, second, second])
    assert shares[:3].max(axis=1).min() > 0.99
    np.testing.assert_allclose(shares[3], (model.memberships_[0] + model.memberships_[10]) / 2, atol=1e-3)


def test_shares_of_links_add_up_to_the_memberships():
    A = make_lfr_graph(300, mixing=0.3, overlap=0.3, random_state=0).adjacency
    model = LinkMixture(prune_tol=0, tol=1e-10, max_iter=5000).fit(A)
    rows = np.repeat(np.arange(300), np.diff(A.indptr))
    shares = model.predict_links(np.stack([rows, A.indices], axis=1))
    ends = np.zeros_like(model.memberships_)
    np.add.at(ends, rows, shares)
    np.testing.assert_allclose(ends / np.diff(A.indptr)[:, None], model.memberships_, atol=1e-3)


@pytest.mark.parametrize("pairs", [[[0, 34]], [[-1, 0]], [[0, 1, 2]], [[0.5, 1]]])
def test_wrong_pairs(pairs):
    with pytest.raises(ValueError, match="pairs must have two columns of whole numbers from 0 to n_nodes - 1 = 33"):
        LinkMixture(2, random_state=0).fit(KARATE).predict_links(pairs)


def test_many_communities_are_sparse(monkeypatch):
    graph = make_overlapping_graph(2000, 100, random_state=0)
    dense, links, pairs = LinkMixture().fit(graph.adjacency), graph.adjacency[:50], np.arange(40).reshape(20, 2)
    expected = dense.predict_memberships(links), dense.predict_links(pairs), dense.strengths_, dense.get_cover()
    monkeypatch.setattr(_rows, "_MOST_DENSE", 1000)
    thin = LinkMixture().fit(graph.adjacency)
    found = thin.predict_memberships(links), thin.predict_links(pairs), thin.strengths_, thin.get_cover()
    for ours, theirs in zip((thin.memberships_, *found), (dense.memberships_, *expected), strict=True):
        assert isinstance(ours, sparse.csr_array)
        np.testing.assert_array_equal(ours.toarray(), theirs)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    assert thin.get_communities() == dense.get_communities()


# Quality --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mixing, overlap, given, found",
    [(0.1, 0.1, 0.99, 0.99), (0.1, 0.3, 0.98, 0.95), (0.3, 0.1, 0.94, 0.94), (0.3, 0.3, 0.88, 0.83)],
)
def test_lfr_graphs(mixing, overlap, given, found):
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they converge
        for seed in range(2, 6):
            graph = make_lfr_graph(1000, mixing=mixing, overlap=overlap, random_state=seed)
            models = LinkMixture(graph.cover.shape[1], random_state=0), LinkMixture()
            scores.append([overlapping_nmi(model.fit(graph.adjacency).get_cover(), graph.cover) for model in models])
    assert (np.mean(scores, axis=0) >= [given, found]).all()


@pytest.mark.parametrize("name, least", [("fb_414", 0.5), ("fb_698", 0.44)])
def test_ego_networks(read_graph, name, least):
    A, _, cover = read_graph(name)
    assert overlapping_nmi(LinkMixture().fit(A).get_cover(), cover) >= least
