from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, psi
from sklearn.metrics import adjusted_rand_score

from soft_clustering import LPANNI, MMSB
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph
from soft_clustering.graphs.mmsb import Posterior, draw_links, smooth_labels
from soft_clustering.graphs.spectral import spectral_labels
from soft_clustering.kernels.graphs import block_pass
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.testing.data import graph_sample

KARATE = load_graph("karate").adjacency


def pair_by_pair(A, gamma, phi, B, alpha):
    """(M, N1, N0, bound) with a distribution of its own for every pair."""
    n, K = gamma.shape
    E = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
    M, N1, N0, bound = np.zeros((n, K)), np.zeros((K, K)), np.zeros((K, K)), 0.0
    for p in range(n):
        for q in range(p):
            if A[p, q]:
                joint = np.exp(E[p])[:, None] * B * np.exp(E[q])
                joint /= joint.sum()
                bound += (joint * (E[p][:, None] + E[q] + np.log(B) - np.log(joint))).sum()
                M[p] += joint.sum(axis=1)
                M[q] += joint.sum(axis=0)
                N1 += (joint + joint.T) / 2
            else:
                both = np.outer(phi[p], phi[q])
                bound += phi[p] @ (E[p] - np.log(phi[p])) + phi[q] @ (E[q] - np.log(phi[q]))
                bound += (both * np.log1p(-B)).sum()
                N0 += (both + both.T) / 2
    for p in range(n):
        bound += gammaln(K * alpha) - K * gammaln(alpha) + (alpha - 1) * E[p].sum()
        bound -= gammaln(gamma[p].sum()) - gammaln(gamma[p]).sum() + (gamma[p] - 1) @ E[p]
    return M, N1, N0, bound


def random_state_of(A, K, seed):
    rng = np.random.default_rng(seed)
    n = A.shape[0]
    B = rng.uniform(0.05, 0.9, size=(K, K))
    phi = rng.dirichlet(np.ones(K), n)
    return Posterior(0.3 + 5 * rng.dirichlet(np.ones(K), n), phi, A @ phi, (B + B.T) / 2)


def test_a_pass_is_that_over_all_pairs(planted):
    links, _ = planted([7, 7, 6], 0.6, 0.1)
    A = links.toarray()
    state = random_state_of(links, 3, 0)
    phi, near, *found = block_pass(links, *state, 0.3)
    np.testing.assert_allclose(near, A @ phi, atol=1e-12)
    for mine, pairs in zip(found, pair_by_pair(A, state.gamma, phi, state.B, 0.3), strict=True):
        np.testing.assert_allclose(mine, pairs, rtol=1e-9, atol=1e-9)


def test_phi_is_its_equation(planted):
    links, _ = planted([7, 7, 6], 0.6, 0.1)
    A, state = links.toarray(), random_state_of(links, 3, 1)
    E = psi(state.gamma) - psi(state.gamma.sum(axis=1, keepdims=True))
    expected = state.phi
    for _ in range(2):
        others = np.array([sum(expected[q] for q in range(20) if q != p and not A[p, q]) for p in range(20)])
        rest = 19 - A.sum(axis=1, keepdims=True)
        scores = np.exp(E + others @ np.log1p(-state.B) / rest)
        expected = scores / scores.sum(axis=1, keepdims=True)
    phi = block_pass(sparse.csr_array(A), *state, 1 / 3).phi
    np.testing.assert_allclose(phi, expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("assortative", [False, True])
@pytest.mark.parametrize("name", ["karate", "football"])
def test_no_pass_lowers_the_bound(read_graph, name, assortative):
    A, _, cover = read_graph(name)
    model = MMSB(cover.shape[1], assortative=assortative, tol=1e-9, max_iter=60, random_state=0)
    model.fit(A)
    assert model.n_iter_ > 5
    assert np.diff(model.objective_history_).min() >= -1e-9 * abs(model.objective_)


def test_what_is_fitted_fits_together():
    model = MMSB(3, random_state=0).fit(KARATE)
    gamma = model.concentrations_
    np.testing.assert_allclose(model.memberships_, gamma / gamma.sum(axis=1, keepdims=True), rtol=1e-12)
    # Shares of n - 1 pairs and of the prior.
    np.testing.assert_allclose(gamma.sum(axis=1), 33 + 1, rtol=1e-6)
    np.testing.assert_array_equal(model.block_matrix_, model.block_matrix_.T)
    assert ((model.block_matrix_ > 0) & (model.block_matrix_ < 1)).all()
    assert model.threshold_ == 0.15
    np.testing.assert_array_equal(model.get_cover(), model.memberships_ >= 0.15)


@pytest.mark.parametrize("seed", range(3))
def test_block_matrix_of_planted_blocks(planted, seed):
    A, y = planted([100] * 3, 0.6, 0.05, seed)
    model = MMSB(3, assortative=False, random_state=0).fit(A)
    assert adjusted_rand_score(y, model.labels_) == 1
    B = model.block_matrix_
    assert np.abs(np.diag(B) - 0.6).max() < 0.03
    assert np.abs(B[~np.eye(3, dtype=bool)] - 0.05).max() < 0.01


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_thin_planted_blocks(planted, seed):
    A, y = planted([100] * 3, 0.1, 0.02, seed)
    assert adjusted_rand_score(y, MMSB(3, random_state=0).fit(A).labels_) >= 0.9


def test_one_block_has_the_density():
    model = MMSB(1).fit(KARATE)
    assert model.block_matrix_[0, 0] == pytest.approx(78 / (34 * 33 / 2), rel=1e-9)
    np.testing.assert_array_equal(model.memberships_, 1)


def test_nodes_of_two_blocks_have_shares_of_both(planted):
    A = planted([60, 60, 3], 0.4, 0.02)[0].toarray()
    rng = np.random.default_rng(1)
    A[120:] = A[:, 120:] = 0
    for p in range(120, 123):
        for block in (0, 60):
            friends = block + rng.permutation(60)[:14]
            A[p, friends] = A[friends, p] = 1
    model = MMSB(2, random_state=0).fit(A)
    assert ((model.memberships_[120:] > 0.3) & (model.memberships_[120:] < 0.7)).all()
    assert model.get_cover()[120:].all()
    assert (model.memberships_[:120].max(axis=1) > 0.8).mean() > 0.9


def test_blocks_without_links_inside_are_found_from_their_shares(planted):
    A, y = planted([40, 40], 0.02, 0.4)
    model = MMSB(2, assortative=False, init=0.1 + 0.8 * np.eye(2)[y]).fit(A)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.block_matrix_[0, 1] > 0.3
    assert np.diag(model.block_matrix_).max() < 0.05


def test_karate():
    graph = load_graph("karate")
    assert adjusted_rand_score(graph.labels, MMSB(2, random_state=0).fit(graph.adjacency).labels_) == 1


@pytest.mark.parametrize("name, least", [("dolphins", 0.85), ("football", 0.9), ("polbooks", 0.55)])
def test_partitions(read_graph, name, least):
    A, labels, cover = read_graph(name)
    assert adjusted_rand_score(labels, MMSB(cover.shape[1], random_state=0).fit(A).labels_) >= least


def test_ego_networks(read_graph):
    scores = []
    for name in ("fb_348", "fb_414", "fb_686", "fb_698"):
        A, _, cover = read_graph(name)
        scores.append(overlapping_nmi(MMSB(cover.shape[1], random_state=0).fit(A).get_cover(), cover))
    assert np.mean(scores) >= 0.33


@pytest.mark.parametrize("mixing, overlap, least", [(0.1, 0.1, 0.96), (0.3, 0.3, 0.8)])
def test_planted_overlaps(mixing, overlap, least):
    """Free links between blocks explain nodes of two communities as a block of their own."""
    graph = make_lfr_graph(mixing=mixing, overlap=overlap, random_state=4)
    communities, blocks = (
        overlapping_nmi(
            MMSB(graph.cover.shape[1], assortative=assortative, random_state=0).fit(graph.adjacency).get_cover(),
            graph.cover,
        )
        for assortative in (True, False)
    )
    assert communities > max(least, blocks)


# Starts and parameters ----------------------------------------------------------------------------------------------


def test_random_starts_follow_the_links():
    sample = graph_sample(8)
    scores = [
        adjusted_rand_score(sample.labels, smooth_labels(sample.X, 8, np.random.RandomState(s))) for s in range(5)
    ]
    assert min(scores) > 0.8
    different = [smooth_labels(KARATE, 4, np.random.RandomState(seed)) for seed in range(5)]
    assert len({tuple(labels) for labels in different}) == 5


@pytest.mark.parametrize("name, least", [("karate", 1.0), ("football", 0.75), ("polbooks", 0.55)])
def test_random_starts(read_graph, name, least):
    A, labels, cover = read_graph(name)
    model = MMSB(cover.shape[1], init="random", n_init=5, random_state=0).fit(A)
    assert adjusted_rand_score(labels, model.labels_) >= least


def test_assortative_blocks_are_linked_at_the_background_rate():
    apart = ~np.eye(2, dtype=bool)
    model = MMSB(2, random_state=0).fit(KARATE)
    np.testing.assert_allclose(model.block_matrix_[apart], 0.1 * 78 / (34 * 33 / 2), rtol=1e-12)
    model = MMSB(2, background_rate=0.07, random_state=0).fit(KARATE)
    np.testing.assert_allclose(model.block_matrix_[apart], 0.07, rtol=1e-12)
    assert np.diag(model.block_matrix_).min() > 0.1


def test_a_large_alpha_mixes():
    small, large = (MMSB(2, alpha=alpha, random_state=0).fit(KARATE) for alpha in (0.05, 5.0))
    assert np.square(small.memberships_).sum() > np.square(large.memberships_).sum()


def test_given_start_decides_the_order_of_blocks():
    labels = load_graph("karate").labels
    models = [MMSB(2, init=0.1 + 0.8 * np.eye(2)[order]).fit(KARATE) for order in (labels, 1 - labels)]
    np.testing.assert_allclose(models[0].memberships_, models[1].memberships_[:, ::-1], atol=1e-9)
    np.testing.assert_array_equal(models[0].labels_, labels)


@pytest.mark.parametrize(
    "init, message",
    [(np.ones((34, 3)), "shape"), (np.zeros((34, 2)), "not all 0"), (np.tile([2.0, -1.0], (34, 1)), ">= 0")],
)
def test_starts_that_are_none_are_refused(init, message):
    with pytest.raises(ValueError, match=message):
        MMSB(2, init=init).fit(KARATE)


def test_nodes_without_links_have_the_shares_of_the_prior():
    A = sparse.block_diag([KARATE, sparse.csr_array((2, 2))], format="csr")
    model = MMSB(2, alpha=0.3, random_state=0).fit(A)
    np.testing.assert_array_equal(model.memberships_[34:], 0.5)
    np.testing.assert_array_equal(model.concentrations_[34:], 0.3)
    gamma = model.concentrations_
    np.testing.assert_allclose(model.memberships_, gamma / gamma.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_array_equal(model.predict_memberships(np.zeros((1, 36))), 0.5)


# Drawing graphs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0.05, 0.5, 0.97])
def test_links_are_drawn_with_their_probabilities(most):
    rng = np.random.RandomState(0)
    n, K, draws = 12, 3, 1000
    pi = rng.dirichlet(np.full(K, 0.5), n)
    B = rng.uniform(size=(K, K))
    B = most * (B + B.T) / (B + B.T).max()
    counts = np.zeros((n, n))
    for _ in range(draws):
        counts += draw_links(pi, B, rng).toarray()
    P = pi @ B @ pi.T
    upper = np.triu_indices(n, 1)
    np.testing.assert_array_equal(counts, counts.T)
    assert (np.diag(counts) == 0).all()
    z = (counts[upper] - draws * P[upper]) / np.sqrt(draws * P[upper] * (1 - P[upper]))
    assert np.abs(z).max() < 4.5
    assert np.square(z).mean() == pytest.approx(1, abs=0.6)  # 66 pairs: deviation 0.17
    assert abs(z.mean()) < 0.5


def test_pairs_are_drawn_independently():
    rng = np.random.RandomState(0)
    pi, B = np.array([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]]), np.array([[0.9, 0.3], [0.3, 0.6]])
    links = np.array([draw_links(pi, B, rng).toarray()[[0, 0, 1], [1, 2, 2]] for _ in range(1000)])
    together = np.corrcoef(links.T)[np.triu_indices(3, 1)]
    assert np.abs(together).max() < 4 / np.sqrt(1000)


def test_sample_is_like_the_graph(planted):
    A, y = planted([40, 60], 0.5, 0.05)
    model = MMSB(2, random_state=0).fit(A)
    drawn, shares = model.sample()
    assert sparse.issparse(drawn)
    assert set(drawn.data) == {1.0}
    np.testing.assert_array_equal(shares, model.memberships_)
    P = shares @ model.block_matrix_ @ shares.T
    expected = P[np.triu_indices(100, 1)].sum()
    assert drawn.nnz / 2 == pytest.approx(expected, abs=5 * np.sqrt(expected))
    assert drawn.nnz == pytest.approx(A.sum(), rel=0.1)
    dense = drawn.toarray()
    assert dense[y == 0][:, y == 0].mean() > 4 * dense[y == 0][:, y == 1].mean()
    again, _ = model.sample()
    assert (again != drawn).nnz == 0


def test_sample_of_another_size():
    model = MMSB(2, random_state=0).fit(KARATE)
    drawn, shares = model.sample(200)
    assert drawn.shape == (200, 200)
    assert {tuple(row) for row in shares} <= {tuple(row) for row in model.memberships_}
    alone, _ = model.sample(1)
    assert alone.shape == (1, 1) and alone.nnz == 0
    for wrong in (0, -3, 2.5, "10"):
        with pytest.raises(ValueError, match="n_nodes must be an int >= 1"):
            model.sample(wrong)


def test_starts_are_those_of_their_names():
    shares = [MMSB(4, init=init)._start(KARATE, 4, None, np.random.RandomState(0)) for init in ("random", "spectral")]
    labels = [f(KARATE, 4, np.random.RandomState(0)) for f in (smooth_labels, spectral_labels)]
    assert (labels[0] != labels[1]).any()  # the two differ here
    for P, of_nodes in zip(shares, labels, strict=True):
        np.testing.assert_array_equal(P.argmax(axis=1), of_nodes)
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-14)


# Without a number of blocks -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("init, least", [("propagation", 0.93), ("spectral", 0.93)])
def test_without_a_number_there_are_as_many_blocks_as_propagation_finds(init, least):
    graph = make_lfr_graph(mixing=0.1, overlap=0.1, random_state=1)
    model = MMSB(n_clusters=None, init=init, random_state=0).fit(graph.adjacency)
    assert model.n_clusters_ == LPANNI().fit(graph.adjacency).n_clusters_
    assert model.n_clusters is None
    assert overlapping_nmi(graph.cover, model.get_cover()) > least
    assert model.predict_memberships(graph.adjacency[:5]).shape == (5, model.n_clusters_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("init", ["propagation", "spectral"])
def test_without_a_number_where_labels_run_over_communities(init):
    graph = make_overlapping_graph(random_state=0)
    model = MMSB(n_clusters=None, init=init, random_state=0).fit(graph.adjacency)
    assert model.n_clusters_ == 10
    assert overlapping_nmi(graph.cover, model.get_cover()) > 0.9


def test_a_given_start_says_how_many_blocks():
    P = np.eye(3)[np.arange(34) % 3]
    model = MMSB(n_clusters=None, init=P).fit(KARATE)
    np.testing.assert_array_equal(model.memberships_, MMSB(3, init=P).fit(KARATE).memberships_)


@pytest.mark.filterwarnings("ignore:X has no link")
def test_without_a_number_and_without_links():
    assert MMSB(n_clusters=None, init="propagation").fit(np.zeros((4, 4))).memberships_.tolist() == [[1.0]] * 4
    A = sparse.block_diag([KARATE, np.zeros((2, 2))]).tocsr()
    model = MMSB(n_clusters=None, init="propagation").fit(A)
    np.testing.assert_allclose(model.memberships_[-2:], 1 / model.n_clusters_)


def test_propagation_finds_the_number_of_blocks():
    with pytest.raises(ValueError, match="init='propagation' finds the number of blocks: n_clusters must be None"):
        MMSB(2, init="propagation").fit(KARATE)
