from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.metrics import adjusted_rand_score

from soft_clustering import BIGCLAM
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph
from soft_clustering.graphs import bigclam
from soft_clustering.kernels import graphs
from soft_clustering.kernels.graphs import affiliation_sweep, padded
from soft_clustering.metrics import overlapping_nmi
from soft_clustering.plotting import GraphDisplay

KARATE = load_graph("karate").adjacency


def dense_likelihood(A, F, rate):
    """Over all pairs."""
    total = 0.0
    for u in range(len(F)):
        for v in range(u):
            x = F[u] @ F[v]
            total += np.log(-np.expm1(-x - rate)) if A[u, v] else -x - rate
    return total


def test_objective_is_the_likelihood_of_all_pairs(read_graph):
    A, _, cover = read_graph("fb_698")
    model = BIGCLAM(cover.shape[1], random_state=0).fit(A)
    assert model.objective_ == pytest.approx(
        dense_likelihood(A.toarray(), model.memberships_, 1 / A.shape[0]), rel=1e-12
    )
    assert model.objective_ == model.objective_history_[-1]
    assert len(model.objective_history_) == model.n_iter_


@pytest.mark.parametrize("name", ["fb_348", "fb_698"])
def test_no_sweep_lowers_the_likelihood(read_graph, name):
    A, _, cover = read_graph(name)
    model = BIGCLAM(cover.shape[1], tol=0.0, max_iter=40, random_state=0).fit(A)
    assert model.n_iter_ == 40
    assert (np.diff(model.objective_history_) >= 0).all()


def test_ends_where_the_gradient_of_the_likelihood_is_zero(planted):
    A, _ = planted([15, 15], 0.6, 0.05)
    model = BIGCLAM(2, tol=0.0, max_iter=3000, random_state=0).fit(A)
    F, step = model.memberships_, 1e-5
    for u in range(30):
        for k in range(2):
            moved = [F.copy(), F.copy()]
            moved[0][u, k] += step
            moved[1][u, k] -= step
            high, low = (dense_likelihood(A, G, 1 / 30) for G in moved)
            slope = (high - low) / (2 * step)
            assert slope < 2e-3 if F[u, k] == 0 else abs(slope) < 2e-3


def test_sum_of_the_rows_is_kept():
    rng = np.random.default_rng(0)
    F = padded(rng.uniform(size=(34, 3)))
    total = F.sum(axis=0)
    for _ in range(20):
        affiliation_sweep(KARATE, F, total, rng.permutation(34), 1 / 34, 1000.0)
    np.testing.assert_allclose(total, F.sum(axis=0), rtol=1e-12)


def test_a_node_between_two_cliques_belongs_to_both():
    A = np.zeros((17, 17))
    A[:8, :8] = A[9:, 9:] = 1
    A[8, :] = A[:, 8] = 1
    model = BIGCLAM(2, random_state=0).fit(A)
    cover = model.get_cover()
    assert cover[8].all()
    np.testing.assert_array_equal(np.delete(cover, 8, axis=0).sum(axis=1), 1)
    assert len(np.unique(model.labels_[:8])) == len(np.unique(model.labels_[9:])) == 1
    assert model.labels_[0] != model.labels_[16]


@pytest.mark.parametrize("seed", range(3))
def test_planted_cover(seed):
    graph = make_overlapping_graph(random_state=seed)
    model = BIGCLAM(10, random_state=0).fit(graph.adjacency)
    assert overlapping_nmi(model.get_cover(), graph.cover) >= 0.75


def test_ego_networks(read_graph):
    scores = []
    for name in ("fb_348", "fb_414", "fb_686", "fb_698", "fb_1684", "fb_1912"):
        A, _, cover = read_graph(name)
        scores.append(overlapping_nmi(BIGCLAM(cover.shape[1], random_state=0).fit(A).get_cover(), cover))
    assert np.mean(scores) >= 0.3  # published: 0.313
    assert scores[1] >= 0.4
    assert scores[3] >= 0.36


@pytest.mark.parametrize("name, least", [("dolphins", 0.75), ("football", 0.7), ("polbooks", 0.55)])
def test_partitions(read_graph, name, least):
    A, labels, cover = read_graph(name)
    assert adjusted_rand_score(labels, BIGCLAM(cover.shape[1], random_state=0).fit(A).labels_) >= least


# The start ----------------------------------------------------------------------------------------------------------


def test_conductances_are_their_definition(monkeypatch, twin):
    A = KARATE.toarray() > 0
    expected = np.ones(34)
    for u in range(34):
        inside = A[u].copy()
        inside[u] = True
        volume = A[inside].sum()
        if A[u].sum() >= 5:
            expected[u] = A[inside][:, ~inside].sum() / min(volume, A.sum() - volume)
    np.testing.assert_allclose(bigclam.conductances(KARATE, 5), expected, rtol=1e-12)
    assert 1 < len(np.unique(expected)) < 34
    monkeypatch.setattr(graphs, "_WEDGES", 7)  # many small parts
    np.testing.assert_allclose(twin(bigclam.conductances, KARATE, 5), expected, rtol=1e-12)


def test_seeds_are_lower_than_their_neighbours():
    A = KARATE.toarray() > 0
    phi = bigclam.conductances(KARATE, 3)
    expected = [u for u in range(34) if all((phi[u], u) < (phi[v], v) for v in np.flatnonzero(A[u]))]
    seeds = bigclam.neighbourhood_seeds(KARATE, 3)
    assert sorted(seeds) == expected
    assert (np.diff(phi[seeds]) >= 0).all()


def test_a_clique_is_one_seed():
    A = sparse.csr_array(np.kron(np.eye(3), np.ones((6, 6)) - np.eye(6)))
    np.testing.assert_array_equal(bigclam.neighbourhood_seeds(A, 5), [0, 6, 12])


def test_communities_without_a_seed_start_at_random():
    assert BIGCLAM(2, min_degree=5, random_state=0).fit(KARATE).n_seeds_ == 2
    seeds = len(bigclam.neighbourhood_seeds(KARATE, 5))
    assert seeds < 12
    models = [BIGCLAM(12, max_iter=1, random_state=seed).fit(KARATE) for seed in (0, 1)]
    assert [model.n_seeds_ for model in models] == [seeds, seeds]
    starts = [model._start(KARATE, np.random.RandomState(seed))[:, :12] for seed, model in enumerate(models)]
    np.testing.assert_array_equal(starts[0][:, :seeds], starts[1][:, :seeds])
    for start in starts:
        np.testing.assert_array_equal((start[:, seeds:] > 0).sum(axis=0), 10)
    assert (starts[0][:, seeds:] != starts[1][:, seeds:]).any(axis=0).all()
    assert BIGCLAM(2, init="random", random_state=0).fit(KARATE).n_seeds_ == 0


def test_given_start():
    start = np.random.default_rng(0).uniform(size=(34, 2))
    before = start.copy()
    model = BIGCLAM(2, init=start, n_init=7, max_iter=1, random_state=0).fit(KARATE)
    np.testing.assert_array_equal(start, before)
    F = padded(start)
    order = np.random.RandomState(0).permutation(34)
    affiliation_sweep(KARATE, F, F.sum(axis=0), order, 1 / 34, 1000.0)
    np.testing.assert_array_equal(model.memberships_, F[:, :2])


@pytest.mark.parametrize(
    "init, message", [(np.ones((34, 3)), "shape"), (-np.ones((34, 2)), ">= 0"), (np.full((34, 2), np.nan), "NaN")]
)
def test_starts_that_are_none_are_refused(init, message):
    with pytest.raises(ValueError, match=message):
        BIGCLAM(2, init=init).fit(KARATE)


def test_more_starts_are_not_worse():
    one = BIGCLAM(4, init="random", random_state=0).fit(KARATE)
    several = BIGCLAM(4, init="random", n_init=8, random_state=0).fit(KARATE)
    assert several.objective_ >= one.objective_


# Parameters and thresholds ------------------------------------------------------------------------------------------


def test_listing_of_the_number_of_nodes():
    BIGCLAM(n_nodes=34, n_clusters=2).fit(KARATE)
    with pytest.raises(ValueError, match="n_nodes=30, but X has 34 nodes"):
        BIGCLAM(n_nodes=30, n_clusters=2).fit(KARATE)


def test_threshold_is_that_of_the_density():
    model = BIGCLAM(2, random_state=0).fit(KARATE)
    density = 78 / (34 * 33 / 2)
    assert model.threshold_ == pytest.approx(np.sqrt(-np.log(1 - density)) / 2)
    F = model.memberships_
    strongest = (F.max(axis=1, keepdims=True) == F) & (F > 0)
    shares = F / np.maximum(F.sum(axis=1, keepdims=True), 1e-300)
    np.testing.assert_array_equal(model.get_cover(), ((model.threshold_ <= F) & (shares >= 0.2)) | strongest)
    complete = BIGCLAM(1).fit(np.ones((6, 6)))
    assert complete.threshold_ == pytest.approx(np.sqrt(-np.log(1 / 6)) / 2)
    assert complete.memberships_.max() <= 1000


def test_cover_labels_and_picture_agree():
    """The published threshold alone leaves out 24 of the 34 nodes."""
    plt = pytest.importorskip("matplotlib.pyplot")
    model = BIGCLAM(2, random_state=0).fit(KARATE)
    assert ((model.memberships_ >= 2 * model.threshold_).any(axis=1)).sum() < 17
    members = model.get_cover().any(axis=1)
    assert members.sum() == 31
    np.testing.assert_array_equal(members, model.labels_ >= 0)
    display = GraphDisplay.from_estimator(model, KARATE)
    np.testing.assert_array_equal(members, [len(wedges) > 0 for wedges in display.wedges_])
    plt.close(display.figure_)
    assert sum(len(community) for community in model.get_communities()) >= 31


@pytest.mark.filterwarnings("error")
def test_default_fits_converge(read_graph):
    """Also where communities are complete and apart, or the whole graph is one."""
    cliques = np.kron(np.eye(3), np.ones((8, 8)))
    graphs = [read_graph(name)[::2] for name in ("karate", "dolphins", "football", "polbooks", "fb_698")]
    for A, cover in [*graphs, (cliques, np.eye(3)), (np.ones((20, 20)), np.eye(1))]:
        assert BIGCLAM(cover.shape[1], random_state=0).fit(A).converged_


def test_background_rate_is_used():
    low, high = (BIGCLAM(2, background_rate=rate, random_state=0).fit(KARATE) for rate in (1e-6, 0.5))
    assert low.objective_ == pytest.approx(dense_likelihood(KARATE.toarray(), low.memberships_, 1e-6), rel=1e-12)
    assert high.objective_ == pytest.approx(dense_likelihood(KARATE.toarray(), high.memberships_, 0.5), rel=1e-12)


def test_one_community_ranks_by_degree():
    F = BIGCLAM(1).fit(KARATE).memberships_[:, 0]
    assert np.corrcoef(F, np.diff(KARATE.indptr))[0, 1] > 0.9


# New nodes ----------------------------------------------------------------------------------------------------------


def test_new_rows_maximise_their_likelihood(planted):
    A, _ = planted([30, 30], 0.5, 0.05)
    model = BIGCLAM(3, random_state=0).fit(A)
    F, links = model.memberships_, np.random.default_rng(1).uniform(size=(5, 60)) < 0.2

    def loss(f, row):
        x = F @ f
        return -(np.log(-np.expm1(-x[row] - 1 / 60)).sum() - x[~row].sum())

    for row, f in zip(links, model.predict_memberships(links.astype(float)), strict=True):
        best = min(
            minimize(loss, start, args=(row,), bounds=[(0, None)] * 3).fun for start in (np.full(3, 0.1), np.ones(3))
        )
        assert loss(f, row) <= best + 1e-3 * abs(best)


def test_new_nodes_without_links_belong_nowhere():
    model = BIGCLAM(2, random_state=0).fit(KARATE)
    links = np.zeros((2, 34))
    links[1, [0, 1, 2]] = 1
    rows = model.predict_memberships(links)
    assert (rows[0] == 0).all()
    assert rows[1].max() > 0
    assert model.predict(links)[0] == -1


def test_a_graph_without_links():
    with pytest.warns(UserWarning, match="no link"):
        model = BIGCLAM(3).fit(sparse.csr_array((5, 5), dtype=np.float32))
    assert (model.memberships_.shape, model.memberships_.dtype) == ((5, 3), np.float32)
    assert not model.memberships_.any()
    assert (model.labels_ == -1).all()
    assert model.n_seeds_ == 0


def test_seeds_are_counted():
    A = load_graph("karate").adjacency
    assert BIGCLAM(2, random_state=0).fit(A).n_seeds_ == 2
    assert BIGCLAM(2, init="random", random_state=0).fit(A).n_seeds_ == 0
    assert BIGCLAM(2, init=np.ones((34, 2)), random_state=0).fit(A).n_seeds_ == 0


def test_seeds_and_their_neighbours_start_alike():
    model = BIGCLAM(2, random_state=0)
    F = model._seeded(KARATE, np.random.RandomState(0))
    assert model.n_seeds_ == 2
    for k, u in enumerate(bigclam.neighbourhood_seeds(KARATE, model.min_degree)[:2]):
        expected = KARATE.toarray()[u]
        expected[u] = 1
        np.testing.assert_array_equal(F[:, k], expected)


def test_small_shares_are_no_memberships():
    """A hub with strong affiliations to two communities and a weak one to a third, which is above the threshold."""
    model = BIGCLAM(3, random_state=0).fit(KARATE)
    model.memberships_ = np.array([[4.0, 3.0, 0.9], [0.4, 0.4, 0.0], [0.1, 0.05, 0.0], [0.0, 0.0, 0.0]])
    model.threshold_ = 0.3
    assert model.get_cover().astype(int).tolist() == [[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("mixing, overlap, least", [(0.1, 0.1, 0.97), (0.3, 0.3, 0.83)])
def test_spectral_start_raises_the_likelihood(mixing, overlap, least):
    graph = make_lfr_graph(mixing=mixing, overlap=overlap, random_state=4)
    K = graph.cover.shape[1]
    spectral, usual = (
        BIGCLAM(K, init=init, random_state=0).fit(graph.adjacency) for init in ("spectral", "conductance")
    )
    assert spectral.objective_ > usual.objective_ and spectral.n_seeds_ == 0
    assert overlapping_nmi(spectral.get_cover(), graph.cover) > least
