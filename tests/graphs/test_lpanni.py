from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import LPANNI, _rows
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph
from soft_clustering.graphs import lpanni
from soft_clustering.metrics import omega_index, overlapping_nmi

KARATE = load_graph("karate").adjacency


def by_definition(A, sweeps):
    """The coefficients of all labels after some sweeps, by dictionaries and dense matrices, and the first labels."""
    n = len(A)
    paths = A @ A
    triangles = np.diag(A @ A @ A) / 2
    x = A.sum(axis=1) + triangles
    importance = 0.5 + 0.5 * (x - x.min()) / (x.max() - x.min())
    s = np.zeros((n, n))
    for u in range(n):
        for v in np.flatnonzero(A[u]):
            three = sum(paths[u, j] * A[j, v] for j in range(n) if j != u)
            s[u, v] = A[u, v] + paths[u, v] / 2 + three / 3
    similarity = s / np.sqrt(np.outer(s.sum(axis=1), s.sum(axis=1)))
    f = np.sqrt(importance[None, :] * similarity / similarity.max(axis=1, keepdims=True))
    first, share = np.arange(n), np.ones(n)
    rows = np.eye(n)
    for _ in range(sweeps):
        before = first.copy()
        for u in np.argsort(importance, kind="stable"):
            heard = {}
            for v in np.flatnonzero(A[u]):
                heard[first[v]] = heard.get(first[v], 0) + A[u, v] * f[u, v] * share[v]
            mean = np.mean(list(heard.values()))
            kept = {c: b for c, b in heard.items() if b >= mean * (1 - 1e-9)}
            best = max(kept.values())
            tied = [c for c, b in kept.items() if b >= best * (1 - 1e-9)]
            first[u] = first[u] if first[u] in tied else tied[0]
            rows[u] = 0
            for c, b in kept.items():
                rows[u, c] = b / sum(kept.values())
            share[u] = rows[u, first[u]]
        if (before == first).all():
            break
    return rows, importance


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_its_definition(weighted, seed):
    A = make_overlapping_graph(80, 4, degree=10, random_state=seed).adjacency.toarray()
    if weighted:
        W = np.random.default_rng(seed).uniform(0.5, 2, A.shape)
        A = A * (W + W.T)
        A /= A[A > 0].mean()
    linked = A.any(axis=0)
    A = A[linked][:, linked]
    model = LPANNI(min_size=1).fit(A)
    rows, importance = by_definition(A, 100)
    rows = rows[:, rows.any(axis=0)]
    rows = rows[:, np.argsort(-rows.sum(axis=0), kind="stable")]
    np.testing.assert_allclose(model.importances_, importance, rtol=1e-12)
    np.testing.assert_allclose(model.memberships_, rows, atol=1e-9)
    assert model.converged_


@pytest.mark.parametrize("sizes", [[6, 6], [4, 5, 9], [2, 7]])
def test_cliques_are_communities(planted, sizes):
    A, y = planted(sizes, 1.0, 0.0)
    model = LPANNI().fit(A)
    assert model.n_clusters == model.n_clusters_ == len(sizes)
    assert adjusted_rand_score(y, model.labels_) == 1
    np.testing.assert_array_equal(model.memberships_.max(axis=1), 1)
    np.testing.assert_array_equal(model.memberships_.sum(axis=0), sorted(sizes, reverse=True))


def test_regular_graphs_have_one_importance():
    ring = np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0)
    np.testing.assert_array_equal(LPANNI().fit(ring).importances_, 1)


def test_small_labels_go_to_their_neighbours(planted):
    A, _ = planted([8, 8], 1.0, 0.0)
    A = sparse.lil_array(sparse.block_diag([A, np.zeros((2, 2))]))
    for u, v in ((16, 17), (16, 0), (17, 8)):  # a pair between two cliques
        A[u, v] = A[v, u] = 1
    free, model = LPANNI(min_size=1).fit(A), LPANNI(min_size=3).fit(A)
    small = free.get_cover().sum(axis=0) < 3
    assert model.n_clusters_ == free.n_clusters_ - small.sum() == 2
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)
    np.testing.assert_array_equal(model.memberships_[:16], free.memberships_[:16, ~small])


def test_weights_count():
    """Two cliques with heavy links, all nodes linked by light ones: without weights there is one community."""
    A = np.full((12, 12), 0.01)
    A[:6, :6] = A[6:, 6:] = 1
    assert LPANNI().fit(A > 0).n_clusters_ == 1
    model = LPANNI().fit(A)
    assert adjusted_rand_score(np.repeat([0, 1], 6), model.labels_) == 1


def test_equal_weights_are_no_weights():
    for weight in (0.1, 7.0, 1e-200, 1e80):
        model, expected = LPANNI().fit(weight * KARATE), LPANNI().fit(KARATE)
        np.testing.assert_array_equal(model.memberships_, expected.memberships_)
        links = KARATE[:5]
        np.testing.assert_array_equal(model.predict_memberships(weight * links), expected.predict_memberships(links))


def test_order_of_the_nodes_matters_at_ties_only():
    graph = make_lfr_graph(500, mixing=0.1, overlap=0.1, random_state=3)
    covers = [LPANNI().fit(graph.adjacency).get_cover()]
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(500)
        cover = np.zeros_like(covers[0])
        permuted = LPANNI().fit(graph.adjacency[order][:, order]).get_cover()
        cover = np.zeros(permuted.shape, dtype=bool)
        cover[order] = permuted
        covers.append(cover)
    assert min(omega_index(covers[0], cover) for cover in covers[1:]) >= 0.95


def test_nodes_of_very_many_links(monkeypatch, planted):
    """Walks over them are left out, which is said; they are still members."""
    A, _ = planted([20, 20], 0.8, 0.0)
    A = sparse.lil_array(sparse.block_diag([A, np.zeros((1, 1))]))
    A[40, :40] = A[:40, 40] = 1
    monkeypatch.setattr(lpanni, "_LEAST_HUB", 30)
    monkeypatch.setattr(lpanni, "_HUB", 0)
    with pytest.warns(ConvergenceWarning, match="leaves out walks over 1 nodes of more than"):
        model = LPANNI().fit(A)
    influences = lpanni.Influences.of(sparse.csr_array(A))
    assert (~influences.passable).sum() == 1
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)
    # A triangle over the node counts only for the node itself.
    inside = LPANNI().fit(A[:40][:, :40])
    x = {name: m.importances_[:40] for name, m in (("with", model), ("without", inside))}
    assert np.corrcoef(x["with"], x["without"])[0, 1] > 0.999


def test_new_nodes(planted):
    """A new node with the links of an old one has nearly its row; all links in one community are sure."""
    A, _ = planted([25, 25, 25], 0.5, 0.02, seed=1)
    model = LPANNI().fit(A)
    assert model.n_clusters_ == 3
    assert np.mean(model.predict(A) == model.labels_) >= 0.95
    links = np.zeros((4, 75))
    links[0, :10] = links[1, 50:60] = links[2, 20:30] = 1
    U = model.predict_memberships(links)
    np.testing.assert_allclose(U.sum(axis=1), 1)
    assert U[0].max() == U[1].max() == 1
    assert U[0].argmax() == model.labels_[0] != U[1].argmax()
    np.testing.assert_allclose(U[3], 1 / 3)  # no link


def test_new_nodes_make_one_step():
    graph = make_lfr_graph(300, random_state=1).adjacency
    model, A = LPANNI().fit(graph), graph.toarray()
    s = A * (1 + A @ A / 2 + (A @ A @ A - A.sum(axis=1)[:, None]) / 3)
    for x in np.random.default_rng(0).uniform(size=(10, 300)) < 0.03:
        near = np.flatnonzero(x)
        similarity = (1 + (x @ A)[near] / 2 + (x @ A @ A)[near] / 3) / np.sqrt(s.sum(axis=1)[near])
        f = np.sqrt(model.importances_[near] * similarity / similarity.max())
        heard = np.zeros(model.n_clusters_)
        np.add.at(heard, model.labels_[near], f * model.memberships_[near].max(axis=1))
        heard[heard < heard[heard > 0].mean() * (1 - 1e-9)] = 0
        found = model.predict_memberships(x[None].astype(float))[0]
        np.testing.assert_allclose(found, heard / heard.sum(), rtol=1e-9)


def test_it_says_that_labels_still_change():
    graph = make_lfr_graph(500, mixing=0.3, overlap=0.3, random_state=0).adjacency
    with pytest.warns(ConvergenceWarning, match=r"LPANNI did not converge in max_iter=2 sweeps.*Increase max_iter\."):
        model = LPANNI(max_iter=2).fit(graph)
    assert model.n_iter_ == 2
    assert not model.converged_


def test_it_says_that_labels_ran_over_communities():
    A = make_overlapping_graph(random_state=0).adjacency
    with pytest.warns(ConvergenceWarning, match=r"ran over most of the graph. The 1 communities .* finds 10, and Link"):
        LPANNI().fit(A)
    isolated = sparse.block_diag([np.zeros((2, 2)), A, np.zeros((3, 3))])
    with pytest.warns(ConvergenceWarning, match="finds 10, and"):
        LPANNI().fit(isolated)


@pytest.mark.parametrize("sizes, inside", [([5], 1.0), ([80], 1.0), ([60], 0.2), ([500], 0.02), ([9, 5], 1.0)])
def test_it_does_not_where_there_are_none(planted, sizes, inside):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LPANNI().fit(planted(sizes, inside, 0.0)[0])
    assert model.n_clusters_ == len(sizes)


def test_n_clusters_cannot_be_given():
    assert not hasattr(LPANNI(), "n_clusters")
    with pytest.raises(AttributeError):
        LPANNI().n_clusters = 3


def test_thousands_of_communities_are_sparse(monkeypatch):
    graph = make_overlapping_graph(2000, 100, random_state=0)
    dense, links = LPANNI().fit(graph.adjacency), graph.adjacency[:50]
    predicted = dense.predict_memberships(links)
    monkeypatch.setattr(_rows, "_MOST_DENSE", 1000)
    thin = LPANNI().fit(graph.adjacency)
    assert isinstance(thin.memberships_, sparse.csr_array)
    np.testing.assert_array_equal(thin.memberships_.toarray(), dense.memberships_)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    np.testing.assert_array_equal(thin.get_cover().toarray(), dense.get_cover())
    np.testing.assert_array_equal(thin.predict_memberships(links).toarray(), predicted)
    assert overlapping_nmi(thin.get_cover(), graph.cover) == overlapping_nmi(dense.get_cover(), graph.cover)


# Quality --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mixing, overlap, least", [(0.1, 0.1, 0.96), (0.1, 0.3, 0.88), (0.3, 0.1, 0.95), (0.3, 0.3, 0.74)]
)
def test_lfr_graphs(mixing, overlap, least):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they converge
        for seed in range(2, 6):
            graph = make_lfr_graph(1000, mixing=mixing, overlap=overlap, random_state=seed)
            found.append(overlapping_nmi(LPANNI().fit(graph.adjacency).get_cover(), graph.cover))
    assert np.mean(found) >= least


@pytest.mark.parametrize("name, least", [("fb_414", 0.49), ("fb_698", 0.42)])
def test_ego_networks(read_graph, name, least):
    A, _, cover = read_graph(name)
    assert overlapping_nmi(LPANNI().fit(A).get_cover(), cover) >= least
