"""Measures of communities against networkx and sums over all pairs of nodes."""

import math

import numpy as np
import pytest
from scipy import sparse

from soft_clustering import SLPA, metrics
from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph
from soft_clustering.metrics import (
    average_f1,
    conductance,
    cover_metrics,
    cover_table,
    modularity,
    node_coverage,
    omega_index,
    overlapping_modularity,
    overlapping_nmi,
)

RNG = np.random.RandomState(0)


def random_graph(n=30, weighted=True):
    upper = np.triu(RNG.uniform(size=(n, n)) < max(0.2, 3 / n), 1) * (
        RNG.uniform(0.5, 3, size=(n, n)) if weighted else 1.0
    )
    return upper + upper.T


@pytest.fixture
def nx():
    return pytest.importorskip("networkx")


@pytest.mark.parametrize("weighted", [False, True])
def test_modularity_of_partitions_is_that_of_networkx(weighted, nx):
    for _ in range(5):
        A = random_graph(weighted=weighted)
        labels = RNG.randint(0, 4, len(A))
        sets = [set(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]
        expected = nx.community.modularity(nx.from_numpy_array(A), sets)
        one_hot = (labels[:, None] == np.unique(labels)).astype(float)
        assert modularity(A, one_hot) == pytest.approx(expected, abs=1e-14)
        assert modularity(sparse.csr_array(A), 3 * one_hot) == pytest.approx(expected, abs=1e-14)
        assert overlapping_modularity(A, sets) == pytest.approx(expected, abs=1e-14)
        assert overlapping_modularity(A, labels) == pytest.approx(expected, abs=1e-14)


def test_karate():
    graph = load_graph("karate")
    assert round(modularity(graph.adjacency, graph.cover.astype(float)), 3) == 0.371


def brute_modularity(A, W):
    degrees, total = A.sum(axis=1), A.sum()
    return sum(
        W[i, k] * W[j, k] * (A[i, j] - degrees[i] * degrees[j] / total) / total
        for i in range(len(A))
        for j in range(len(A))
        for k in range(W.shape[1])
    )


def test_overlapping_modularity_is_its_sum_over_pairs():
    A, C = random_graph(20), RNG.uniform(size=(20, 3)) < 0.4
    W = C / np.maximum(C.sum(axis=1, keepdims=True), 1)
    assert overlapping_modularity(A, C) == pytest.approx(brute_modularity(A, W), abs=1e-13)
    assert overlapping_modularity(A, sparse.csr_array(C)) == overlapping_modularity(A, C)
    U = RNG.uniform(size=(20, 3))
    assert modularity(A, U) == pytest.approx(brute_modularity(A, U / U.sum(axis=1, keepdims=True)), abs=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_overlapping_modularity_is_that_of_networkx(weighted, nx):
    if not hasattr(nx.community, "overlapping_modularity"):
        pytest.skip("networkx has overlapping_modularity from version 3.7 on, which needs Python 3.12")
    for _ in range(5):
        A, C = random_graph(weighted=weighted), RNG.uniform(size=(30, 4)) < 0.4
        C[~C.any(axis=1), 0] = True  # theirs are covers of all nodes
        sets = [set(np.flatnonzero(c).tolist()) for c in C.T]
        expected = nx.community.overlapping_modularity(nx.from_numpy_array(A), sets)
        assert overlapping_modularity(A, C) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_conductance_is_that_of_networkx(weighted, nx):
    for _ in range(5):
        A, C = random_graph(weighted=weighted), RNG.uniform(size=(30, 4)) < 0.3
        graph = nx.from_numpy_array(A)
        each = [nx.conductance(graph, np.flatnonzero(c).tolist(), weight="weight") for c in C.T]
        assert conductance(A, C) == pytest.approx(np.mean(each), abs=1e-14)


def test_communities_without_a_conductance():
    A = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    sides = np.repeat(np.eye(2), 3, axis=0)
    assert conductance(A, sides) == 0
    assert conductance(A, np.column_stack([sides, np.ones(6), np.zeros(6)])) == 0  # all nodes and none do not count
    assert math.isnan(conductance(A, np.ones((6, 1))))
    lonely = np.zeros((7, 7))
    lonely[:6, :6] = A
    assert math.isnan(conductance(lonely, [[6]]))


def test_faint_communities_have_a_conductance():
    """Links of a community may weigh very little beside the others."""
    triangle = np.ones((3, 3)) - np.eye(3)
    A = np.kron(np.diag([1e-20, 1.0, 1.0]), triangle)
    A[0, 3] = A[3, 0] = 1e-20  # one of its four links leaves the first one: 7 ends, 1 out
    table = cover_table(A, np.repeat([0, 1, 2], 3))
    np.testing.assert_allclose(table["conductance"], [1 / 7, 0, 0], atol=1e-15)
    np.testing.assert_allclose(table["normalized_cut"], [1 / 7, 0, 0], atol=1e-15)


def test_one_community_has_no_modularity():
    A = random_graph()
    assert modularity(A, np.ones((30, 1))) == pytest.approx(0, abs=1e-15)
    assert overlapping_modularity(A, np.ones((30, 1))) == pytest.approx(0, abs=1e-15)


def test_planted_communities_are_better_than_others():
    graph = make_overlapping_graph(300, 4, random_state=0)
    mixed = RNG.permutation(graph.cover)
    assert overlapping_modularity(graph.adjacency, graph.cover) > 0.3 > overlapping_modularity(graph.adjacency, mixed)
    assert conductance(graph.adjacency, graph.cover) < 0.5 < conductance(graph.adjacency, mixed)


# Scores of single communities: against loops over nodes and links ----------------------------------------------------


def by_loops(A, members):
    """All scores of one community, from the matrix of weights and a mask of its members."""
    n, nodes = len(A), np.flatnonzero(members)
    cut = sum(A[i, j] for i in nodes for j in range(n) if not members[j])
    within = sum(A[i, j] for i in nodes for j in nodes)
    volume, total, size = cut + within, A.sum(), len(nodes)
    outs = [sum(A[i, j] for j in range(n) if not members[j]) for i in nodes]
    degrees = [A[i].sum() for i in nodes]
    odf = [out / degree if degree else 0 for out, degree in zip(outs, degrees, strict=True)]
    triangles = [any(A[i, j] * A[j, k] * A[i, k] for j in nodes for k in nodes) for i in nodes]
    undefined = volume == 0 or volume == total
    return {
        "conductance": math.nan if undefined else cut / min(volume, total - volume),
        "normalized_cut": math.nan if undefined else cut / volume + cut / (total - volume),
        "cut_ratio": cut / (size * (n - size)) if size < n else math.nan,
        "expansion": cut / size,
        "internal_density": within / (size * (size - 1)) if size > 1 else 0,
        "average_internal_degree": within / size,
        "triangle_participation": sum(triangles) / size,
        "average_odf": sum(odf) / size,
        "max_odf": max(odf),
        "flake_odf": sum(out > degree - out for out, degree in zip(outs, degrees, strict=True)) / size,
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_scores_are_those_of_loops(weighted, form):
    A, C = random_graph(24, weighted), RNG.uniform(size=(24, 5)) < [0.2, 0.5, 0.9, 0.1, 0.4]
    A[:, 3] = A[3] = 0  # an isolated node, in some of the communities
    C[3] = [True, False, True, True, False]
    table, totals = cover_table(form(A), form(C)), cover_metrics(form(A), form(C))
    expected = [by_loops(A, members) for members in C.T]
    assert table["size"].tolist() == C.sum(axis=0).tolist()
    for name in expected[0]:
        np.testing.assert_allclose(table[name], [each[name] for each in expected], rtol=1e-13, atol=1e-15)
        assert getattr(metrics, name)(form(A), form(C)) == totals[name] == np.nanmean(table[name])
    np.testing.assert_allclose(table["shared"], [(C[c].sum(axis=1) > 1).mean() for c in C.T])


def test_coverage_overlap_and_counts_are_those_of_loops():
    A, C = random_graph(24), RNG.uniform(size=(24, 5)) < 0.15
    found = cover_metrics(A, C)
    inside = sum(A[i, j] for i in range(24) for j in range(24) if (C[i] & C[j]).any())
    assert found["coverage"] == metrics.coverage(A, C) == pytest.approx(inside / A.sum(), rel=1e-14)
    assert found["node_coverage"] == node_coverage(C) == np.mean([c.any() for c in C])
    assert found["overlap_share"] == metrics.overlap_share(C) == np.mean([c.sum() > 1 for c in C])
    assert found["mean_memberships"] == metrics.mean_memberships(sparse.csr_array(C)) == np.mean([c.sum() for c in C])
    assert found["n_communities"] == C.any(axis=0).sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_normalized_cut_and_coverage_are_those_of_networkx(weighted, nx):
    A = random_graph(weighted=weighted)
    labels = RNG.randint(0, 4, len(A))
    graph, sets = nx.from_numpy_array(A), [set(np.flatnonzero(labels == k).tolist()) for k in range(4)]
    cuts = [nx.normalized_cut_size(graph, nodes, weight="weight") for nodes in sets]
    np.testing.assert_allclose(cover_table(A, sets)["normalized_cut"], cuts, rtol=1e-13)
    assert metrics.coverage(A > 0, sets) == pytest.approx(nx.community.partition_quality(graph, sets)[0], abs=1e-14)
    in_triangles = [np.mean([t > 0 for t in nx.triangles(graph.subgraph(nodes)).values()]) for nodes in sets]
    np.testing.assert_allclose(cover_table(A, sets)["triangle_participation"], in_triangles)


def brute_nicosia(A, C):
    """The sum over communities and all pairs of nodes, with the belonging of each link."""
    n, degrees, total = len(A), A.sum(axis=1), A.sum()
    value = 0.0
    for k in range(C.shape[1]):
        a = [1 / C[i].sum() if C[i, k] else 0.0 for i in range(n)]
        F = [[1 / ((1 + math.exp(30 - 60 * x)) * (1 + math.exp(30 - 60 * y))) for y in a] for x in a]
        out, into = [sum(F[i]) / n for i in range(n)], [sum(F[i][j] for i in range(n)) / n for j in range(n)]
        for i in range(n):
            for j in range(n):
                value += F[i][j] * A[i, j] - out[i] * into[j] * degrees[i] * degrees[j] / total
    return value / total


def brute_lazar(A, C):
    terms = []
    for members in C.T[C.any(axis=0)]:
        nodes = np.flatnonzero(members)
        strength = [
            (A[i][members].sum() - A[i][~members].sum()) / (A[i].sum() * C[i].sum()) if A[i].sum() else 0.0
            for i in nodes
        ]
        pairs = len(nodes) * (len(nodes) - 1)
        terms.append(np.mean(strength) * (A[np.ix_(nodes, nodes)] > 0).sum() / pairs if pairs else 0.0)
    return np.mean(terms)


@pytest.mark.parametrize("weighted", [False, True])
def test_other_modularities_are_their_sums(weighted):
    A, C = random_graph(18, weighted), RNG.uniform(size=(18, 4)) < [0.2, 0.6, 0.0, 0.4]
    A[:, 3] = A[3] = 0
    C[3, 1] = True
    for form in (np.asarray, sparse.csr_array):
        found = [overlapping_modularity(form(A), form(C), kind=kind) for kind in ("nicosia", "lazar")]
        np.testing.assert_allclose(found, [brute_nicosia(A, C), brute_lazar(A, C)], rtol=1e-12, atol=1e-15)
    totals = cover_metrics(A, C)
    assert [totals["overlapping_modularity_nicosia"], totals["overlapping_modularity_lazar"]] == found
    assert totals["overlapping_modularity"] == overlapping_modularity(A, C)


def test_community_of_one_node_counts_nothing_in_lazars_modularity():
    A = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    assert overlapping_modularity(A, [[0, 1, 2], [3, 4, 5]], kind="lazar") == 1
    # node 0 counts one half in the first community: (1/2 + 1 + 1) / 3; the second has 1, the third 0
    with_one = overlapping_modularity(A, [[0, 1, 2], [3, 4, 5], [0]], kind="lazar")
    assert with_one == pytest.approx((2.5 / 3 + 1 + 0) / 3, rel=1e-14)


def test_sparse_memberships_and_covers_are_those_of_arrays():
    graph = make_lfr_graph(400, random_state=0)
    U = graph.cover * RNG.uniform(0.1, 1, size=graph.cover.shape)
    U[:5] = 0
    for form in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        assert modularity(graph.adjacency, form(U)) == pytest.approx(modularity(graph.adjacency, U), abs=1e-14)
    found, dense = U > 0.4, sparse.csr_array(U > 0.4)
    for score in (overlapping_nmi, omega_index, average_f1):
        assert score(dense, sparse.csr_array(graph.cover)) == score(found, graph.cover)


def test_many_communities_are_scored_without_a_dense_matrix():
    graph = make_lfr_graph(60_000, random_state=0)
    cover = sparse.csr_array(graph.cover)
    found = cover_metrics(graph.adjacency, cover)
    assert found["overlapping_modularity"] > 0.8 and found["conductance"] < 0.2
    assert found["overlap_share"] == pytest.approx(0.1) and found["coverage"] == pytest.approx(0.9, abs=0.01)
    assert overlapping_nmi(cover, cover) == omega_index(cover, cover) == 1


@pytest.mark.filterwarnings("ignore:X has no link")
def test_scores_of_covers_without_links_members_or_others():
    """What is nan, and that nothing else is."""
    sides = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    undefined = {"conductance", "normalized_cut", "cut_ratio"}
    one = cover_metrics(sides, np.ones((6, 1)))
    assert {name for name, value in one.items() if math.isnan(value)} == undefined
    assert one["average_odf"] == one["flake_odf"] == 0 and one["triangle_participation"] == one["coverage"] == 1
    table = cover_table(sides, sparse.csr_array((6, 2), dtype=bool))
    assert table["size"].tolist() == [0, 0] and all(np.isnan(table[name]).all() for name in table if name != "size")
    empty = cover_metrics(sides, np.zeros((6, 2)))
    assert empty["overlapping_modularity"] == empty["overlapping_modularity_lazar"] == empty["coverage"] == 0
    assert empty["n_communities"] == empty["node_coverage"] == empty["mean_memberships"] == 0
    assert math.isnan(empty["expansion"])
    linkless = cover_metrics(np.zeros((3, 3)), np.eye(3)[:, :2])
    of_links = {"coverage", "conductance", "normalized_cut"}
    of_links |= {"overlapping_modularity", "overlapping_modularity_nicosia", "overlapping_modularity_lazar"}
    assert {name for name, value in linkless.items() if math.isnan(value)} == of_links


def test_scores_do_not_depend_on_the_unit_of_the_weights():
    A, C = random_graph(20), RNG.uniform(size=(20, 3)) < 0.4
    same = {
        "conductance",
        "normalized_cut",
        "average_odf",
        "max_odf",
        "flake_odf",
        "coverage",
        "overlapping_modularity",
    }
    ours, tiny = cover_metrics(A, C), cover_metrics(A * 2.0**-200, C)
    assert all(tiny[name] == pytest.approx(ours[name], rel=1e-12) for name in same)


def test_lists_hold_the_names_of_the_nodes(nx):
    """Names come in any order: numbers that are not the places of the nodes, strings, tuples, of a table."""
    A, C = random_graph(12, weighted=False), RNG.uniform(size=(12, 3)) < 0.4
    expected = cover_metrics(A, C)
    for name in (lambda i: 11 - i, lambda i: f"node {i}", lambda i: (i, i)):
        names = [name(i) for i in range(12)]
        lists = [[names[i] for i in np.flatnonzero(c)] for c in C.T]
        graph = nx.relabel_nodes(nx.from_numpy_array(A), dict(enumerate(names)))
        for form in (graph, list(graph.edges)):
            assert cover_metrics(form, lists) == pytest.approx(expected, rel=1e-12)
            assert cover_table(form, lists)["size"].tolist() == C.sum(axis=0).tolist()
    pandas = pytest.importorskip("pandas")
    letters = list("lkjihgfedcba")
    table = pandas.DataFrame(A, index=letters, columns=letters)
    assert cover_metrics(table, [[letters[i] for i in np.flatnonzero(c)] for c in C.T]) == expected
    assert cover_metrics(A, [np.flatnonzero(c) for c in C.T]) == expected


def test_communities_of_a_model_are_scored_as_its_cover(nx):
    graph = nx.relabel_nodes(nx.karate_club_graph(), {i: 33 - i for i in range(34)})
    model = SLPA(random_state=0).fit(graph)
    assert cover_metrics(graph, model.get_communities()) == cover_metrics(graph, model.get_cover())


@pytest.mark.parametrize("cover", [[[0, 1], [1, 2]], [[1, 0], [0, 1]], []])
@pytest.mark.parametrize("name", ["node_coverage", "overlap_share", "mean_memberships"])
def test_lists_do_not_say_how_many_nodes_there_are(name, cover):
    with pytest.raises(TypeError, match="cover must be a matrix or a vector of labels"):
        getattr(metrics, name)(cover)


def test_coverage():
    assert node_coverage(np.zeros((4, 2), dtype=bool)) == 0
    assert node_coverage(np.array([[True, True], [False, False]])) == 0.5
    assert node_coverage(np.array([0, 1, 1])) == 1  # labels


@pytest.mark.filterwarnings("ignore:X has no link")
def test_no_links():
    assert math.isnan(modularity(np.zeros((3, 3)), np.ones((3, 1))))
    assert math.isnan(overlapping_modularity(np.zeros((3, 3)), np.ones((3, 1))))
    assert math.isnan(conductance(np.zeros((3, 3)), np.ones((3, 1))))


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda: modularity(random_graph(5), np.ones((4, 2))), "U must have one row per sample, 5 rows"),
        (lambda: modularity(random_graph(5), -np.ones((5, 2))), "U must be >= 0"),
        (lambda: conductance(random_graph(5), np.ones((4, 2))), "cover must be a cover of the 5 nodes of the graph"),
        (lambda: conductance(random_graph(5), [[0, 7]]), "must be between 0 and n - 1 = 4"),
        (lambda: conductance([("a", "b")], [["a", "c"]]), "community 0 of cover must have the names .* Got 'c'"),
        (lambda: overlapping_modularity(np.ones((3, 4)), np.ones((3, 1))), "X must be a square adjacency matrix"),
        (lambda: overlapping_modularity(random_graph(5), np.full((5, 2), 0.5)), "cover must be a cover"),
        (lambda: overlapping_modularity(random_graph(5), np.ones((5, 2)), kind="x"), "'kind' parameter"),
        (lambda: modularity(random_graph(5), sparse.csr_array(np.ones((4, 2)))), "U must have one row per sample, 5"),
        (lambda: modularity(random_graph(5), sparse.csr_array(-np.ones((5, 2)))), "U must be >= 0"),
        (lambda: cover_metrics(random_graph(5), np.ones((4, 2))), "cover must be a cover of the 5 nodes of the graph"),
        (lambda: cover_table(np.ones((3, 4)), np.ones((3, 1))), "X must be a square adjacency matrix"),
    ],
)
def test_refused(function, message):
    with pytest.raises(ValueError, match=message):
        function()
