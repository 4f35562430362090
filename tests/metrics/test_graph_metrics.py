"""Measures of communities against networkx and sums over all pairs of nodes."""

import math

import numpy as np
import pytest
from scipy import sparse

from soft_clustering.datasets import load_graph, make_overlapping_graph
from soft_clustering.metrics import conductance, modularity, node_coverage, overlapping_modularity

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


def test_one_community_has_no_modularity():
    A = random_graph()
    assert modularity(A, np.ones((30, 1))) == pytest.approx(0, abs=1e-15)
    assert overlapping_modularity(A, np.ones((30, 1))) == pytest.approx(0, abs=1e-15)


def test_planted_communities_are_better_than_others():
    graph = make_overlapping_graph(300, 4, random_state=0)
    mixed = RNG.permutation(graph.cover)
    assert overlapping_modularity(graph.adjacency, graph.cover) > 0.3 > overlapping_modularity(graph.adjacency, mixed)
    assert conductance(graph.adjacency, graph.cover) < 0.5 < conductance(graph.adjacency, mixed)


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
        (lambda: overlapping_modularity(np.ones((3, 4)), np.ones((3, 1))), "X must be a square adjacency matrix"),
        (lambda: overlapping_modularity(random_graph(5), np.full((5, 2), 0.5)), "cover must be a cover"),
    ],
)
def test_refused(function, message):
    with pytest.raises(ValueError, match=message):
        function()
