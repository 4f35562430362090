from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import pairwise_distances

from soft_clustering import BIGCLAM, FCM, GMM, LDA
from soft_clustering.datasets import make_overlapping_graph, make_topic_corpus
from soft_clustering.recommendation import EVIDENCE, evidence_of
from soft_clustering.recommendation.evidence import continuous_part, gain_over_one_cluster, stability
from soft_clustering.recommendation.neighborhoods import neighbor_agreement, neighborhoods, valley


def brute_neighbors(X, k):
    D = pairwise_distances(X)
    np.fill_diagonal(D, np.inf)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


def test_neighbor_agreement_by_its_formula():
    X, y = make_blobs(200, centers=[[0, 0], [4, 0]], random_state=0)
    labels = np.where(np.random.RandomState(0).uniform(size=200) < 0.2, 1 - y, y)
    found = brute_neighbors(X, 10)
    s = np.mean([labels[i] == labels[j] for i in range(200) for j in found[i]])
    c = sum((labels == k).mean() ** 2 for k in range(2))
    assert neighbor_agreement(neighborhoods(X), labels) == pytest.approx((s - c) / (1 - c), rel=1e-12)


def test_neighbor_agreement_of_random_labels_is_about_zero():
    X = np.random.RandomState(0).normal(size=(2000, 3))
    labels = np.random.RandomState(1).randint(4, size=2000)
    assert abs(neighbor_agreement(neighborhoods(X), labels)) < 0.02


def test_neighbor_agreement_of_a_graph_is_modularity_over_its_bound():
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    A = networkx.to_scipy_sparse_array(graph, weight=None)
    labels = np.array([graph.nodes[node]["club"] == "Officer" for node in graph]).astype(int)
    groups = [np.flatnonzero(labels == k).tolist() for k in range(2)]
    modularity = networkx.community.modularity(graph, groups, weight=None)
    degrees = np.asarray(A.sum(axis=0)).ravel()
    bound = 1 - sum((degrees[labels == k].sum() / degrees.sum()) ** 2 for k in range(2))
    assert neighbor_agreement(neighborhoods(A, "graph"), labels) == pytest.approx(modularity / bound, rel=1e-12)


def test_duplicates_are_neighbours_of_each_other_and_not_of_themselves():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    near = neighborhoods(X)
    links = near.links.tocoo()
    assert (links.row != links.col).all()
    assert (np.diff(near.links.indptr) == 10).all()
    assert neighbor_agreement(near, np.repeat([0, 1], 30)) == 1.0


def test_neighbours_in_an_image_are_the_four_around_a_pixel():
    links = neighborhoods(np.zeros((3, 4)), "image").links.toarray()
    assert np.flatnonzero(links[5]).tolist() == [1, 4, 6, 9]
    assert np.flatnonzero(links[0]).tolist() == [1, 4]


def test_distances_give_the_neighbours_of_the_features():
    X, y = make_blobs(120, centers=3, random_state=1)
    D = pairwise_distances(X)
    one = neighbor_agreement(neighborhoods(X), y)
    assert neighbor_agreement(neighborhoods(D, "distances"), y) == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_evidence_does_not_depend_on_the_unit(scale):
    X, y = make_blobs(150, centers=3, cluster_std=2.0, random_state=2)
    near = neighborhoods(X * scale)
    assert neighbor_agreement(near, y) == pytest.approx(neighbor_agreement(neighborhoods(X), y), abs=1e-12)
    assert valley(near, y) == pytest.approx(valley(neighborhoods(X), y), abs=1e-9)
    assert gain_over_one_cluster(X * scale, y) == pytest.approx(gain_over_one_cluster(X, y), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("cloud", ["uniform", "normal"])
def test_one_cloud_has_no_gain(cloud, d, seed):
    X = getattr(np.random.RandomState(seed), cloud)(size=(400, d))
    assert gain_over_one_cluster(X, FCM(3, random_state=0).fit(X).labels_) < 0
    assert gain_over_one_cluster(X, GMM(3, random_state=0).fit(X).labels_) < 0


def test_gain_of_separate_clusters_is_the_entropy_and_more():
    # Far apart, the clusters describe the data better than one Gaussian by more than the logarithm of K.
    X, y = make_blobs(600, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    assert gain_over_one_cluster(X, y) > math.log(3)


def test_one_cluster_gains_nothing():
    assert gain_over_one_cluster(np.random.RandomState(0).normal(size=(50, 2)), np.zeros(50)) == -math.inf


def test_a_valley_between_circles_but_not_across_them():
    X, y = make_circles(600, noise=0.04, factor=0.4, random_state=0)
    near = neighborhoods(X)
    assert valley(near, y) == 1.0  # no sample has a neighbour in the other circle
    assert valley(near, (X[:, 0] > 0).astype(int)) < 0.3


def test_stability_is_one_for_separate_clusters_and_low_for_noise():
    X, _ = make_blobs(300, centers=[[0, 0], [30, 0], [0, 30]], random_state=0)
    model = FCM(3, random_state=0).fit(X)
    assert stability(model, X, model.labels_) == 1.0
    noise = np.random.RandomState(0).normal(size=(300, 20))
    model = KMeans(5, n_init=1, random_state=0).fit(noise)
    assert stability(model, noise, model.labels_) < 0.6


def test_a_fit_that_fails_on_a_part_has_no_stability():
    X = np.random.RandomState(0).normal(size=(20, 2))
    model = FCM(18, random_state=0).fit(X)  # a part has 14 rows
    assert stability(model, X, model.labels_) == 0.0


def test_every_modality_has_evidence():
    graph = make_overlapping_graph(120, 3, random_state=0).adjacency
    corpus = make_topic_corpus(120, 3, random_state=0).counts
    for model, X, modality in (
        (BIGCLAM(3, random_state=0), graph, "graph"),
        (LDA(3, random_state=0), corpus, "documents"),
    ):
        model.fit(X)
        found = dict(evidence_of(model, X, model.labels_, modality))
        assert list(found) == list(EVIDENCE)
        assert found["neighbor_agreement"] > 0.3
        assert found["stability"] > 0.3
        assert math.isnan(found["gain"])


def test_sparse_features_are_taken_as_they_are():
    X, y = make_blobs(100, n_features=6, centers=2, random_state=0)
    X[X < 0] = 0
    dense = dict(evidence_of(FCM(2, random_state=0), X, y))
    found = dict(evidence_of(FCM(2, random_state=0), sparse.csr_array(X), y))
    assert found["neighbor_agreement"] == pytest.approx(dense["neighbor_agreement"], abs=1e-12)
    assert found["stability"] == pytest.approx(dense["stability"], abs=1e-9)


def test_a_partition_along_a_category_is_no_better_than_chance():
    rng = np.random.RandomState(0)
    X, y = make_blobs(300, n_features=4, centers=3, cluster_std=1.0, random_state=0)
    kind = rng.randint(2, size=300)
    table = np.column_stack([X / X.std(axis=0), 2.0 * kind])
    assert continuous_part(table).shape == (300, 4)
    found = dict(evidence_of(FCM(2, random_state=0), table, kind))
    assert abs(found["neighbor_agreement"]) < 0.1
    assert dict(evidence_of(FCM(3, random_state=0), table, y))["neighbor_agreement"] > 0.9


def test_a_table_of_categories_keeps_them():
    rng = np.random.RandomState(0)
    table = np.column_stack([rng.randint(3, size=(100, 5)), rng.normal(size=100)]).astype(float)
    assert continuous_part(table).shape == (100, 6)
