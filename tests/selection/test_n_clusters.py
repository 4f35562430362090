"""Choosing K: planted structure, values by brute force, failures, seeds, the table and the picture."""

import io
import math
import pickle
import re
import sys
import warnings

import matplotlib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import (
    adjusted_rand_score,
    calinski_harabasz_score,
    davies_bouldin_score,
    pairwise_distances,
    silhouette_score,
)
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from soft_clustering import BIGCLAM, FCM, GMM, LDA, MMSB, PCM, PLSI, BayesianNMF, LinkMixture, metrics
from soft_clustering.datasets import make_lfr_graph, make_topic_corpus
from soft_clustering.selection import CRITERIA, NClustersResult, choose_n_clusters
from soft_clustering.selection.gaussian import gaussian_bic
from soft_clustering.selection.held_out import link_factors, link_gain, split, word_gain

matplotlib.use("Agg")

CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
X = make_blobs(200, centers=CENTERS, random_state=0)[0]
OF_LINKS = ("thinned_links", "modularity", "overlapping_modularity", "coverage")
OF_OTHER_DATA = ("bic", "icl", "held_out", *OF_LINKS)
INDICES = [name for name in CRITERIA if name in metrics.METRICS and name not in OF_OTHER_DATA]


class Bins(ClusterMixin, BaseEstimator):
    """Labels are a function of the row alone, so any two fits agree."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.labels_ = np.floor(np.asarray(X)[:, 0] * 7).astype(int) % self.n_clusters
        return self


class Noise(ClusterMixin, BaseEstimator):
    """Labels are drawn at random."""

    def __init__(self, n_clusters=2, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None):
        self.labels_ = np.random.RandomState(self.random_state).randint(self.n_clusters, size=len(X))
        return self


class Recorder(Bins):
    """Remembers what it was fitted to."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None):
        self.seen.append((self.n_clusters, X))
        return super().fit(X)


class Fails(Bins):
    """Fails where it is told to."""

    def __init__(self, n_clusters=2, at=()):
        super().__init__(n_clusters)
        self.at = at

    def fit(self, X, y=None):
        if self.n_clusters in self.at:
            raise ArithmeticError(f"no {self.n_clusters} clusters")
        return super().fit(X)


class NeedsDistinctRows(Bins):
    """Fails on samples with replacement, or only on those whose first row is in the left half."""

    def __init__(self, n_clusters=2, half=False):
        super().__init__(n_clusters)
        self.half = half

    def fit(self, X, y=None):
        if len(np.unique(X, axis=0)) < len(X) and (not self.half or X[0, 0] < 4.5):
            raise ValueError("rows are repeated")
        return super().fit(X)


class OtherData(ClusterMixin, BaseEstimator):
    """Takes anything that has a length; with a likelihood."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.labels_ = np.array([len(row) % self.n_clusters for row in X])
        return self

    def bic(self, X):
        return (self.n_clusters - 3) ** 2


class Texts(OtherData):
    modality = "documents"


class Graph(OtherData):
    modality = "graph"


@pytest.fixture(scope="module")
def planted():
    return choose_n_clusters(FCM(random_state=0), X, range(2, 8), criteria="all", n_bootstrap=4, random_state=0)


@pytest.fixture(scope="module")
def mixture():
    return choose_n_clusters(GMM(random_state=0, n_init=3), X, range(1, 7))


# Planted structure ----------------------------------------------------------------------------------------------------


def test_default_criteria(mixture):
    assert list(mixture.scores)[-2:] == ["bic", "icl"]
    assert list(choose_n_clusters(FCM(), X, [2]).scores) == list(mixture.scores)[:-2]
    assert "gaussian_bic" in mixture.scores
    assert not {"stability", "held_out", "fuzzy_silhouette"} & set(mixture.scores)


def test_all_criteria_are_there(planted):
    assert list(planted.scores) == list(planted.best) == list(CRITERIA)
    assert {"partition_coefficient", "xie_beni", "kwon", "silhouette", "bic", "icl", "stability"} <= set(CRITERIA)
    assert not {"fuzzy_compactness", "separation", "partition_index", "ari", "omega_index"} & set(CRITERIA)


@pytest.mark.parametrize("name", [name for name in CRITERIA if name not in ("pbmf", *OF_OTHER_DATA)])
def test_four_separate_blobs(planted, name):
    assert planted.best[name] == 4
    assert np.isfinite(planted.scores[name]).all()


def test_pbmf_is_for_crisp_memberships(planted):
    assert planted.best["pbmf"] > 4  # its denominator, with u^2, shrinks as clusters are added
    assert choose_n_clusters(FCM(m=1.1, random_state=0), X, range(2, 8), criteria=["pbmf"]).best == {"pbmf": 4}


def test_no_likelihood_no_bic(planted):
    for name in OF_OTHER_DATA:
        assert planted.best[name] is None
        assert np.isnan(planted.scores[name]).all()


@pytest.mark.parametrize("name", ["bic", "icl", "xie_beni", "gaussian_bic", "calinski_harabasz"])
def test_four_components(mixture, name):
    assert mixture.best[name] == 4


def test_icl_counts_clusters_and_bic_components():
    """A cluster of two components, a narrow and a wide one at the same place, and a cluster apart."""
    rng = np.random.RandomState(0)
    Y = np.concatenate([rng.normal(size=(250, 2)), 3 * rng.normal(size=(250, 2)), rng.normal(size=(250, 2)) + 30])
    best = choose_n_clusters(GMM(random_state=0), Y, range(1, 5), criteria=["bic", "icl"]).best
    assert best == {"bic": 3, "icl": 2}


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INDICES)
def test_indices_are_those_of_the_metrics(planted, name):
    function = getattr(metrics, name)
    for K, score in zip(planted.k_values, planted.scores[name], strict=True):
        model = planted.estimators[K]
        data = {"X": X, "U": model.memberships_, "centers": model.centers_, "labels": model.labels_}
        fuzzifier = {"m": model.m_} if "m" in metrics.METRICS[name].options else {}
        assert score == function(*(data[need] for need in metrics.METRICS[name].needs), **fuzzifier)


def test_fuzzifier_of_the_estimator():
    score = choose_n_clusters(FCM(m=1.4, random_state=0), X, [4], criteria=["xie_beni"])
    model = score.estimators[4]
    expected = metrics.xie_beni(X, model.memberships_, model.centers_, m=1.4)
    assert score.scores["xie_beni"] == [expected]
    assert expected != metrics.xie_beni(X, model.memberships_, model.centers_, m=2.0)


def test_bic_is_that_of_the_estimator(mixture):
    for K, bic in zip(mixture.k_values, mixture.scores["bic"], strict=True):
        assert bic == GMM(K, random_state=0, n_init=3).fit(X).bic(X)


def test_icl_by_brute_force(mixture):
    for K, bic, icl in zip(mixture.k_values, mixture.scores["bic"], mixture.scores["icl"], strict=True):
        entropy = 0.0
        for row in mixture.estimators[K].memberships_:
            entropy -= sum(u * math.log(u) for u in row if u > 0)
        assert icl == pytest.approx(bic + 2 * entropy, rel=1e-12)
        assert icl >= bic
    assert mixture.scores["icl"][0] == mixture.scores["bic"][0]  # one cluster has no entropy


def test_stability_by_brute_force():
    seeds = np.random.RandomState(5).randint(2**31 - 1, size=1 + 2 * 3)[1:]
    expected = []
    for pair in seeds.reshape(3, 2):
        labels = []
        for seed in pair:
            rows = np.random.RandomState(seed).randint(len(X), size=len(X))
            # the label of each row of X that was drawn; a row drawn twice has one
            labels.append(dict(zip(rows, KMeans(3, n_init=1, random_state=seed).fit(X[rows]).labels_, strict=True)))
        both = sorted(labels[0].keys() & labels[1].keys())
        expected.append(adjusted_rand_score(*([of[i] for i in both] for of in labels)))
    result = choose_n_clusters(
        KMeans(n_init=1), X, [3], criteria=["stability"], n_bootstrap=3, random_state=np.random.RandomState(5)
    )
    np.testing.assert_allclose(result.agreements, [expected], rtol=1e-12)
    assert len(set(expected)) > 1
    np.testing.assert_allclose(result.scores["stability"], np.mean(expected), rtol=1e-12)
    np.testing.assert_allclose(result.stability_std, np.std(expected, ddof=1), rtol=1e-12)


def test_labels_of_the_same_rows_are_compared():
    result = choose_n_clusters(Bins(), X, range(2, 6), criteria=["stability"], n_bootstrap=3, random_state=0)
    np.testing.assert_array_equal(result.agreements, np.ones((4, 3)))
    assert result.best == {"stability": None}  # all K are equally stable


def test_noise_is_not_stable():
    result = choose_n_clusters(Noise(), X, range(2, 6), criteria=["stability"], n_bootstrap=10, random_state=0)
    assert np.abs(result.scores["stability"]).max() < 0.05


def test_bootstrap_samples():
    Recorder.seen.clear()
    choose_n_clusters(Recorder(), X, [2, 3], criteria=["stability"], n_bootstrap=5, random_state=0)
    assert [K for K, _ in Recorder.seen] == [2] * 11 + [3] * 11
    of_two, of_three = ([sample for K, sample in Recorder.seen if size == K] for size in (2, 3))
    for two, three in zip(of_two, of_three, strict=True):
        np.testing.assert_array_equal(two, three)  # all K see the same samples
    np.testing.assert_array_equal(of_two[0], X)
    distinct = [len(np.unique(sample, axis=0)) / len(X) for sample in of_two[1:]]
    assert all(sample.shape == X.shape for sample in of_two)
    assert np.mean(distinct) == pytest.approx(1 - 1 / math.e, abs=0.03)
    assert len({sample.tobytes() for sample in of_two}) == 11


# The recommended number -----------------------------------------------------------------------------------------------


def round_clusters(seed, K=5, d=8, n=400):
    """Round clusters of unequal sizes, each centre 5 standard deviations from another."""
    rng = np.random.default_rng(seed)
    centers = [np.zeros(d)]
    while len(centers) < K:
        step = rng.normal(size=d)
        center = centers[rng.integers(len(centers))] + 5 * step / np.linalg.norm(step)
        if min(np.linalg.norm(center - other) for other in centers) >= 4.9:
            centers.append(center)
    y = rng.choice(K, n, p=0.3 / K + 0.7 * rng.dirichlet(np.full(K, 2.0)))
    return np.array(centers)[y] + rng.normal(size=(n, d)), y


@pytest.mark.parametrize("model", [FCM(random_state=0), GMM(random_state=0), KMeans(random_state=0)])
def test_planted_numbers_are_recommended(model):
    found = [
        (K, choose_n_clusters(model, round_clusters(seed, K, d)[0], range(2, 11)).recommended)
        for seed, (K, d) in enumerate([(2, 3), (3, 16), (4, 2), (5, 8), (6, 12), (6, 5)])
    ]
    assert [recommended for _, recommended in found] == [K for K, _ in found]


def test_units_and_places_do_not_matter():
    Y, _ = round_clusters(0)
    expected = choose_n_clusters(FCM(random_state=0), Y, range(2, 8), criteria=["gaussian_bic"])
    for factor, shift in ((1e-9, 0.0), (1e9, 0.0), (1.0, 1e3)):
        moved = choose_n_clusters(FCM(random_state=0), factor * Y + shift, range(2, 8), criteria=["gaussian_bic"])
        # densities are per unit of each feature
        constant = 2 * Y.size * math.log(factor)
        np.testing.assert_allclose(moved.scores["gaussian_bic"] - constant, expected.scores["gaussian_bic"], rtol=1e-6)


def test_gaussian_bic_by_brute_force():
    """One feature, two clusters: spheres of one variance or of two; priors as Fraley and Raftery (2007) have them."""
    Y = np.array([0.0, 1.0, 2.0, 0.5, 20.0, 21.0, 26.0])
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    n, K, d = 7, 2, 1
    sizes, means = np.array([4, 3]), np.array([Y[labels == k].mean() for k in range(2)])
    squares = np.array([((Y[labels == k] - means[k]) ** 2).sum() for k in range(2)])
    prior, rows = Y.var() / K**2, d + 2
    one = np.full(2, (squares.sum() + prior) / (n + rows))
    two = (squares + prior) / (sizes + rows)

    def bic(variances, n_variances):
        likelihood = 0.0
        for y in Y:
            density = sizes / n * np.exp(-((y - means) ** 2) / 2 / variances) / np.sqrt(2 * np.pi * variances)
            likelihood += math.log(density.sum())
        return -2 * likelihood + (K * d + K - 1 + n_variances) * math.log(n)

    found, merged = gaussian_bic(Y[:, None], {2: labels})
    assert found == {2: pytest.approx(min(bic(one, 1), bic(two, 2)), rel=1e-10)}
    assert merged == set()


def test_gaussian_bic_of_correlated_clusters():
    """With many rows the prior has no say, and one full covariance is scikit-learn's."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(4000, 2)) @ np.array([[3.0, 2.9], [0.0, 0.3]])
    (found,) = gaussian_bic(Y, {1: np.zeros(4000)})[0].values()
    assert found == pytest.approx(GaussianMixture(1).fit(Y).bic(Y), rel=1e-4)


def test_a_bad_fit_does_not_hide_the_number():
    Y, y = round_clusters(1, K=4, d=2)
    bad = np.where(y == 3, 2, y)
    bad[y == 0] = np.where(Y[y == 0, 0] > np.median(Y[y == 0, 0]), 0, 3)  # one cluster halved, two joined
    five = y.copy()
    five[y == 0] = np.where(Y[y == 0, 0] > np.median(Y[y == 0, 0]), 0, 4)
    bic, merged = gaussian_bic(Y, {3: np.minimum(y, 2), 4: bad, 5: five})
    assert min(bic, key=bic.get) == 4
    assert 4 in merged
    assert bic[4] == pytest.approx(gaussian_bic(Y, {4: y})[0][4], rel=1e-12)
    assert gaussian_bic(Y, {4: bad})[0][4] > bic[5]


@pytest.mark.parametrize("kind", ["sparse", "constant feature", "dependent features", "wide", "rows without cluster"])
def test_gaussian_bic_of_awkward_data(kind):
    Y, y = round_clusters(2, K=3, d=6)
    labels = {3: y, 4: np.where((y == 0) & (Y[:, 0] > np.median(Y[y == 0, 0])), 3, y), 2: np.minimum(y, 1)}
    data = {
        "sparse": lambda: sparse.csr_matrix(Y),
        "constant feature": lambda: np.column_stack([Y, np.full(len(Y), 7.0)]),
        "dependent features": lambda: np.column_stack([Y, Y[:, 0] + Y[:, 1]]),
        "wide": lambda: np.column_stack([Y, np.random.default_rng(0).normal(size=(len(Y), 150))]),
        "rows without cluster": lambda: Y,
    }[kind]()
    if kind == "rows without cluster":
        labels = {K: np.where(np.arange(len(Y)) < 5, -1, each) for K, each in labels.items()}
    bic, _ = gaussian_bic(data, labels)
    assert min(bic, key=bic.get) == 3
    assert np.isfinite(list(bic.values())).all()
    if kind == "sparse":
        dense, _ = gaussian_bic(Y, labels)
        assert bic[3] >= dense[3] - 1e-6  # without full covariances


def test_gaussian_bic_of_equal_rows():
    assert gaussian_bic(np.ones((5, 2)), {2: [0, 0, 1, 1, 1]}) == ({}, set())


def test_reason():
    result = choose_n_clusters(KMeans(random_state=0), X, range(2, 7))
    assert result.recommended == 4
    assert result.best["modified_partition_coefficient"] is None
    assert result.reason == (
        "gaussian_bic is smallest there; of all criteria it finds planted clusters most often. "
        "modified_partition_coefficient: equal for every K, so no K is preferred."
    )
    assert f"recommended: K=4: {result.reason}" in repr(result).splitlines()
    short = choose_n_clusters(KMeans(random_state=0), X, [2, 3], criteria=["calinski_harabasz"])
    assert short.reason == "calinski_harabasz is largest there. It is the largest K of the range: try larger ones."


def test_the_reason_names_a_bad_fit():
    Y, _ = round_clusters(1, K=4, d=2)
    start = np.repeat(Y[[0, 0, 0, 0]], 1, axis=0) + 0.01 * np.arange(4)[:, None]

    class Worse(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            if self.n_clusters == 4:
                self.labels_ = KMeans(5, n_init=5, random_state=0).fit(X).labels_ % 4
                self.cluster_centers_ = start
                return self
            return super().fit(X)

    result = choose_n_clusters(Worse(n_init=5, random_state=0), Y, [3, 4, 5, 6])
    assert result.recommended == 4
    assert 4 in result.merged
    assert "The fit found worse clusters than those merged from a larger K: try more starts." in result.reason


def test_nothing_applies():
    with pytest.warns(UserWarning, match="No number of clusters is recommended: none of the criteria applies"):
        result = choose_n_clusters(KMeans(random_state=0), X, [2, 3], criteria=["bic"])
    assert result.recommended is None
    assert "recommended: K=None: none of the criteria applies" in repr(result)


def blocks(seed, K=4, n=120):
    """An adjacency matrix of K communities."""
    rng = np.random.RandomState(seed)
    y = rng.randint(K, size=n)
    links = np.triu(rng.uniform(size=(n, n)) < np.where(y[:, None] == y, 0.4, 0.03), 1)
    return sparse.csr_array((links | links.T).astype(float)), y


@pytest.mark.parametrize("model", [MMSB(), BayesianNMF(), BIGCLAM(n_init=3)])
def test_communities_are_counted(model):
    A, _ = blocks(0)
    result = choose_n_clusters(model, A, range(2, 8), random_state=0)
    assert list(result.scores) == ["thinned_links", "overlapping_modularity", "coverage"]
    assert result.recommended == result.best["thinned_links"] == 4
    assert result.reason.startswith("thinned_links is largest there: these communities predict held-out links best.")


@pytest.mark.parametrize("model", [LDA(), PLSI()])
def test_topics_are_counted(model):
    counts = make_topic_corpus(300, 5, random_state=0).counts
    result = choose_n_clusters(model, counts, range(2, 9), random_state=0)
    assert result.recommended == result.best["held_out"] == 5


def test_texts_are_counted():
    corpus = make_topic_corpus(150, 3, vocabulary_size=100, random_state=1)
    texts = [" ".join(np.repeat(corpus.vocabulary, row)) or "nothing" for row in corpus.counts.toarray()]
    assert choose_n_clusters(PLSI(), texts, range(2, 6), random_state=0).recommended == 3


def brute_gain(x, part):
    """The mean log ratio of the scaled rates x (n, n) of the held-out links to those by chance."""
    train = part.train.toarray()
    degrees, total = train.sum(axis=1), train.sum()
    n = len(x)
    expected = sum(x[i, j] for i in range(n) for j in range(n) if i != j)
    logs = []
    for i, j in zip(part.rows, part.columns, strict=True):
        chance = degrees[i] * degrees[j] / total
        if chance:
            logs.append(math.log(0.9 * x[i, j] * total / expected / chance + 0.1))
    return np.mean(logs)


@pytest.mark.parametrize(
    "model",
    [
        MMSB(3, random_state=0),
        BIGCLAM(3, random_state=0),
        BayesianNMF(3, random_state=0),
        LinkMixture(3, random_state=0),
        KMeans(3, n_init=1),
    ],
)
def test_gain_of_links_by_brute_force(model):
    A, _ = blocks(1, K=3, n=40)
    part = split(A, "graph", 0)
    train = part.train.toarray()
    model.fit(part.train)
    if isinstance(model, KMeans):
        # as many links within and between the clusters as there were, in proportion to the degrees
        W, degrees = np.eye(3)[model.labels_], train.sum(axis=1)
        links, volumes = W.T @ train @ W, W.T @ degrees
        rates = np.outer(degrees, degrees) * (W @ (links / np.outer(volumes, volumes)) @ W.T)
        cover = model.labels_
    else:
        U, cover = model.memberships_, model.get_cover()
        rates = {
            MMSB: lambda: U @ model.block_matrix_ @ U.T,
            BIGCLAM: lambda: U @ U.T,
            BayesianNMF: lambda: (U @ model.components_ + (U @ model.components_).T) / 2,
            LinkMixture: lambda: model.strengths_ @ model.strengths_.T,
        }[type(model)]()
    assert link_gain(link_factors(model, cover, part), part) == pytest.approx(brute_gain(rates, part), rel=1e-10)


def test_gain_of_links_of_covers_and_chance():
    A, y = blocks(1, K=3, n=40)
    part = split(A, "graph", 0)
    cover = np.eye(3, dtype=bool)[y]
    cover[:5, 0] = True  # nodes in two communities
    cover[7] = False  # a node in none
    train, W = part.train.toarray(), cover / np.maximum(cover.sum(axis=1, keepdims=True), 1)
    degrees = train.sum(axis=1)
    volumes = W.T @ degrees
    rates = np.outer(degrees, degrees) * (W @ (W.T @ train @ W / np.outer(volumes, volumes)) @ W.T)
    for form in (np.asarray, sparse.csr_array):
        found = link_gain(link_factors(KMeans(), form(cover), part), part)
        assert found == pytest.approx(brute_gain(rates, part), rel=1e-10)
    degrees = degrees[:, None]
    assert link_gain((degrees, degrees), part) == pytest.approx(brute_gain(degrees * degrees.T, part), rel=1e-10)
    assert abs(link_gain((degrees, degrees), part)) < 0.1  # chance, up to the diagonal
    factors = link_factors(KMeans(), cover, part)
    assert link_gain(factors, part) == pytest.approx(link_gain((5 * factors[0], factors[1]), part), rel=1e-12)
    assert link_gain((0 * degrees, degrees), part) == pytest.approx(math.log(0.1))


@pytest.mark.parametrize("unit", [1e-300, 1e80])
def test_gain_of_links_has_no_unit(unit):
    A, _ = blocks(1, K=3, n=40)
    gains = [
        link_gain(link_factors(LinkMixture(3, random_state=0).fit(part.train), None, part), part)
        for part in (split(A, "graph", 0), split(A * unit, "graph", 0))
    ]
    assert gains[1] == pytest.approx(gains[0], rel=1e-6)


@pytest.mark.parametrize("mixing, overlap", [(0.1, 0.1), (0.3, 0.3)])
def test_communities_of_lfr_graphs_are_counted(mixing, overlap):
    graph = make_lfr_graph(400, mixing=mixing, overlap=overlap, degree=20, min_size=30, random_state=0)
    K = graph.cover.shape[1]
    result = choose_n_clusters(MMSB(assortative=True), graph.adjacency, range(K - 4, K + 5), random_state=0)
    assert result.recommended == K


def test_stability_of_communities_is_the_agreement_of_thinned_graphs():
    A, _ = blocks(0)
    result = choose_n_clusters(MMSB(), A, [1, 3, 4], criteria=["stability"], random_state=0)
    both = choose_n_clusters(MMSB(), A, [1, 3, 4], criteria=["thinned_links", "stability"], random_state=0)
    np.testing.assert_array_equal(result.scores["stability"], both.scores["stability"])
    assert np.isnan(result.scores["stability"][0]) and result.agreements.shape == (3, 2)
    seed, *seeds = np.random.RandomState(0).randint(2**31 - 1, size=41).tolist()
    covers = [MMSB(4, random_state=seed).fit(split(A, "graph", each).train).get_cover() for each in seeds[:4]]
    assert result.agreements[2].tolist() == [metrics.omega_index(*covers[:2]), metrics.omega_index(*covers[2:])]


class GraphKMeans(KMeans):
    """An estimator of another library that says that it takes graphs, without rates or a cover."""

    modality = "graph"


def test_other_estimators_of_graphs_are_judged_by_their_labels():
    A, _ = blocks(0)
    names = ["thinned_links", "overlapping_modularity", "coverage", "stability"]
    result = choose_n_clusters(GraphKMeans(random_state=0, n_init=3), A, [2, 4], criteria=names, random_state=0)
    assert result.recommended == 4
    assert all(np.isfinite(result.scores[name]).all() for name in names)


@pytest.mark.parametrize("modality", ["graph", "documents"])
def test_splits(modality):
    counts = blocks(0, n=300)[0] if modality == "graph" else make_topic_corpus(100, 3, random_state=0).counts
    part = split(counts, modality, 0)
    total = part.train.sum() + (2 if modality == "graph" else 1) * part.counts.sum()
    assert total == counts.sum()
    share = part.counts.sum() / counts.sum() * (2 if modality == "graph" else 1)
    assert share == pytest.approx(0.1, abs=0.01)
    back = part.train.toarray()
    np.add.at(back, (part.rows, part.columns), part.counts)
    if modality == "graph":
        np.testing.assert_array_equal(part.train.toarray(), part.train.toarray().T)
        np.add.at(back, (part.columns, part.rows), part.counts)
    np.testing.assert_array_equal(back, counts.toarray())
    again, other = split(counts, modality, 0), split(counts, modality, 1)
    np.testing.assert_array_equal(part.rows, again.rows)
    assert len(part.rows) != len(other.rows) or (part.rows != other.rows).any()


def test_gain_of_words():
    corpus = make_topic_corpus(200, 3, vocabulary_size=60, random_state=0)
    part = split(corpus.counts, "documents", 0)
    found = word_gain(corpus.document_topics, part)
    # the true words of the topics say nearly the same as the most likely ones
    chance = np.asarray(part.train.sum(axis=0)).ravel() / part.train.sum()
    true = (corpus.document_topics @ corpus.topic_words)[part.rows, part.columns] / chance[part.columns]
    assert found == pytest.approx(np.average(np.log(0.9 * true + 0.1), weights=part.counts), abs=0.02)
    assert word_gain(np.ones((200, 1)), part) == pytest.approx(0, abs=1e-12)
    shuffled = np.random.RandomState(0).permutation(corpus.document_topics)
    assert word_gain(shuffled, part) < 0.1 * found


def test_equal_gains_take_the_smallest_number():
    gains = np.array([0.5, 0.996, 0.9995, 1.0, 0.98])
    result = NClustersResult(np.arange(2, 7), {"held_out": gains, "thinned_links": gains}, None, {}, {}, {})
    assert result.best == {"held_out": 3, "thinned_links": 4}


# What a criterion needs -----------------------------------------------------------------------------------------------


def test_one_cluster():
    result = choose_n_clusters(GMM(random_state=0), X, [1, 4], criteria="all", n_bootstrap=2, random_state=0)
    defined = {name for name, values in result.scores.items() if not np.isnan(values[0])}
    assert defined == {"fuzzy_hypervolume", "fukuyama_sugeno", "bic", "icl", "gaussian_bic"}
    assert {K for name, K in result.best.items() if name not in ("held_out", *OF_LINKS)} == {4}


def test_typicalities_are_no_partition():
    class WithLikelihood(PCM):
        def bic(self, X):
            return 1.0

    names = ["partition_coefficient", "modified_partition_coefficient", "partition_entropy", "icl", "xie_beni"]
    result = choose_n_clusters(WithLikelihood(random_state=0), X, [3, 4, 5], criteria=names)
    assert result.best == dict.fromkeys(names[:4], None) | {"xie_beni": 4}
    for name in names[:4]:
        assert np.isnan(result.scores[name]).all()


def test_crisp_clusterer():
    result = choose_n_clusters(KMeans(n_init=3, random_state=0), X, range(2, 7), criteria="all", n_bootstrap=2)
    references = {
        "silhouette": silhouette_score,
        "fuzzy_silhouette": silhouette_score,
        "calinski_harabasz": calinski_harabasz_score,
        "davies_bouldin": davies_bouldin_score,
    }
    for name, reference in references.items():
        expected = [reference(X, result.estimators[K].labels_) for K in result.k_values]
        np.testing.assert_allclose(result.scores[name], expected, rtol=1e-10)
        assert result.best[name] == 4
    np.testing.assert_array_equal(result.scores["partition_coefficient"], 1)
    assert result.best["partition_coefficient"] is None  # equal values say nothing
    assert result.recommended == result.best["gaussian_bic"] == 4
    model = result.estimators[4]
    scatter = ((X - model.cluster_centers_[model.labels_]) ** 2).sum()
    assert result.scores["xie_beni"][2] == pytest.approx(
        scatter / len(X) / np.min(pairwise_distances(model.cluster_centers_)[np.triu_indices(4, 1)] ** 2)
    )
    assert result.best["bic"] is None


def test_clusterer_without_prototypes():
    result = choose_n_clusters(AgglomerativeClustering(), X, range(2, 7), criteria=["xie_beni", "silhouette"])
    assert result.best == {"xie_beni": None, "silhouette": 4}
    assert np.isnan(result.scores["xie_beni"]).all()


def test_more_clusters_than_asked_for():
    class Twice(Bins):
        def fit(self, X, y=None):
            self.labels_ = Bins(2 * self.n_clusters).fit(X).labels_
            return self

    result = choose_n_clusters(Twice(), X, [2], criteria=["silhouette"])
    assert result.scores["silhouette"] == pytest.approx(silhouette_score(X, Bins(4).fit(X).labels_))


def test_samples_without_cluster():
    class SomeLeftOut(Bins):
        def fit(self, X, y=None):
            super().fit(X)
            self.labels_[:5] = -1
            return self

    result = choose_n_clusters(SomeLeftOut(), X, [2, 3], criteria=["partition_coefficient", "silhouette"])
    assert result.best["partition_coefficient"] is None  # rows of zeros do not sum to 1
    assert result.scores["silhouette"][0] == pytest.approx(silhouette_score(X, result.estimators[2].labels_))


def test_scikit_learn_mixture():
    result = choose_n_clusters(
        GaussianMixture(random_state=0, n_init=2), X, range(1, 7), param_name="n_components", criteria="default"
    )
    for K, bic in zip(result.k_values, result.scores["bic"], strict=True):
        assert bic == result.estimators[K].bic(X)
        assert result.estimators[K].n_components == K
    assert {result.best[name] for name in ("bic", "icl", "xie_beni", "gaussian_bic")} == {4}


def test_pipeline():
    pipeline = make_pipeline(StandardScaler(), FCM())
    result, again = (
        choose_n_clusters(
            pipeline, X, range(2, 7), param_name="fcm__n_clusters", criteria=["silhouette", "xie_beni"], random_state=0
        )
        for _ in range(2)
    )
    assert result.best == {"silhouette": 4, "xie_beni": None}
    assert result.estimators[4]["fcm"].n_clusters_ == 4
    np.testing.assert_array_equal(result.scores["silhouette"], again.scores["silhouette"])


@pytest.mark.parametrize("estimator", [Texts(), Graph()])
def test_other_data(estimator):
    texts = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff", "ggggggg"]
    result = choose_n_clusters(estimator, texts, [2, 3, 4], criteria="all", n_bootstrap=3, random_state=0)
    defined = {name for name, values in result.scores.items() if not np.isnan(values).any()}
    assert defined - {"stability"} == {
        "partition_coefficient",
        "modified_partition_coefficient",
        "partition_entropy",
        "bic",
        "icl",
    }
    assert result.best["bic"] == 3
    # Texts are samples that can be drawn, the rows of a graph are not.
    assert ("stability" in defined) == (estimator.modality == "documents")
    assert result.best["stability"] is None  # all K are equally stable, where it applies


def test_pairwise_data():
    model = AgglomerativeClustering(metric="precomputed", linkage="average")
    names = ["silhouette", "stability", "partition_coefficient"]
    with pytest.warns(
        UserWarning, match="No number of clusters is recommended: partition_coefficient: equal for every"
    ):
        result = choose_n_clusters(model, pairwise_distances(X), [3, 4], criteria=names)
    assert result.best == dict.fromkeys(result.scores)
    np.testing.assert_array_equal(result.scores["partition_coefficient"], 1)


@pytest.mark.parametrize("kind", ["frame", "sparse", "list", "float32"])
def test_containers(kind):
    pandas = pytest.importorskip("pandas")
    make = {
        "frame": lambda: pandas.DataFrame(X, columns=["a", "b"]),
        "sparse": lambda: sparse.csr_matrix(X),
        "list": X.tolist,
        "float32": lambda: X.astype(np.float32),
    }[kind]
    names = [*INDICES, "stability"]
    expected, result = (
        choose_n_clusters(FCM(random_state=0), data, [3, 4, 5], criteria=names, n_bootstrap=2, random_state=0)
        for data in (X, make())
    )
    assert result.best == expected.best
    for name in names:
        np.testing.assert_allclose(result.scores[name], expected.scores[name], rtol=1e-3 if kind == "float32" else 1e-6)


# Seeds and processes --------------------------------------------------------------------------------------------------


def test_result_does_not_depend_on_n_jobs():
    results = [
        choose_n_clusters(
            FCM(), X, [2, 3, 4], criteria=["xie_beni", "stability"], n_bootstrap=3, random_state=7, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    ]
    for name in ("xie_beni", "stability"):
        np.testing.assert_array_equal(results[0].scores[name], results[1].scores[name])
    np.testing.assert_array_equal(results[0].agreements, results[1].agreements)
    for K in (2, 3, 4):
        np.testing.assert_array_equal(results[0].estimators[K].memberships_, results[1].estimators[K].memberships_)


def test_seed():
    def agreements(random_state):
        return choose_n_clusters(Noise(), X, [3], criteria=["stability"], random_state=random_state).agreements

    np.testing.assert_array_equal(agreements(1), agreements(1))
    assert (agreements(1) != agreements(2)).any()
    assert (agreements(None) != agreements(None)).any()


def test_random_state_of_the_estimator_is_kept():
    result = choose_n_clusters(FCM(random_state=3), X, [5, 6], random_state=0)
    assert result.estimators[5].random_state == 3
    np.testing.assert_array_equal(result.estimators[5].centers_, FCM(5, random_state=3).fit(X).centers_)
    assert isinstance(choose_n_clusters(FCM(), X, [5], random_state=0).estimators[5].random_state, int)


def test_estimator_is_not_changed():
    estimator = FCM(n_clusters=9, m=1.7)
    before = estimator.get_params()
    choose_n_clusters(estimator, X, [2, 3])
    assert estimator.get_params() == before
    assert not hasattr(estimator, "memberships_")


def test_estimators_can_be_dropped():
    result = choose_n_clusters(FCM(random_state=0), X, [3, 4], keep_estimators=False)
    assert result.estimators == {3: None, 4: None}
    assert result.best["xie_beni"] == 4


def test_progress(capsys):
    with pytest.warns(FitFailedWarning):
        choose_n_clusters(Fails(at=(3,)), X, [2, 3], criteria=["silhouette"], verbose=1)
    assert capsys.readouterr().out.splitlines() == [
        "[choose_n_clusters] 1 of 2: n_clusters=2 fitted",
        "[choose_n_clusters] 2 of 2: n_clusters=3 failed",
    ]
    choose_n_clusters(Bins(), X, [2, 3], criteria=["silhouette"])
    assert capsys.readouterr().out == ""


def test_progress_on_a_terminal(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    choose_n_clusters(Bins(), X, [1, 2, 3], criteria=["stability"], n_bootstrap=2, verbose=1)
    assert "7 of 7 tasks" in sys.stderr.getvalue()  # no pairs of samples for K = 1
    choose_n_clusters(Bins(), X, [2, 3], criteria=["silhouette"], verbose=1)
    assert "2 of 2 fits" in sys.stderr.getvalue()
    assert capsys.readouterr().out == ""


# Samples and interrupts -----------------------------------------------------------------------------------------------


def test_silhouettes_take_a_sample():
    names = ["silhouette", "fuzzy_silhouette", "calinski_harabasz", "gaussian_bic"]
    result = choose_n_clusters(FCM(random_state=0), X, [3, 4], criteria=names, max_samples=90, random_state=1)
    everything = choose_n_clusters(FCM(random_state=0), X, [3, 4], criteria=names, random_state=1)
    assert (result.sampled, everything.sampled) == ({"silhouette": 90, "fuzzy_silhouette": 90}, {})
    for name in ("calinski_harabasz", "gaussian_bic"):
        np.testing.assert_array_equal(result.scores[name], everything.scores[name])
    rng = np.random.RandomState(1)
    rng.randint(2**31 - 1, size=41)  # the seeds
    rows = rng.permutation(200)[:90]
    for i, K in enumerate([3, 4]):
        labels = FCM(K, random_state=0).fit_predict(X)
        assert result.scores["silhouette"][i] == pytest.approx(silhouette_score(X[rows], labels[rows]))
        assert len(result.estimators[K].labels_) == 200
    assert "on a sample of 90 rows: silhouette, fuzzy_silhouette" in repr(result)
    assert "sample" not in repr(everything)
    assert "rows" not in result.reason  # the criterion that decides saw all of them
    alone = choose_n_clusters(FCM(random_state=0), X, [3, 4], criteria=["silhouette"], max_samples=90, random_state=1)
    assert "It was computed on 90 of the rows." in alone.reason


def test_sampling_begins_above_max_samples():
    chosen = [
        choose_n_clusters(FCM(random_state=0), X, [3, 4], criteria=["silhouette"], max_samples=number, random_state=0)
        for number in (None, 200, 199)
    ]
    assert [result.sampled for result in chosen] == [{}, {}, {"silhouette": 199}]
    np.testing.assert_array_equal(chosen[0].scores["silhouette"], chosen[1].scores["silhouette"])


def test_stability_draws_from_a_sample():
    seen = []

    class Watches(Bins):
        def fit(self, X, y=None):
            seen.append(len(np.unique(np.asarray(X), axis=0)))
            return super().fit(X)

    result = choose_n_clusters(Watches(), X, [2], criteria=["stability"], n_bootstrap=3, max_samples=50, random_state=0)
    assert seen[0] == 200  # the fit itself
    assert len(seen) == 7
    assert max(seen[1:]) <= 50
    assert result.sampled == {"stability": 50}
    assert result.scores["stability"][0] == 1


@pytest.mark.parametrize("data", [sparse.csr_array(X), X.tolist()])
def test_samples_of_other_tables(data):
    result = choose_n_clusters(
        KMeans(n_init=1, random_state=0), data, [3, 4], criteria=["silhouette"], max_samples=50, random_state=0
    )
    assert np.isfinite(result.scores["silhouette"]).all()
    assert result.best["silhouette"] == 4


class Interrupted(Bins):
    """Ctrl-C at K = 4."""

    def fit(self, X, y=None):
        if self.n_clusters == 4:
            raise KeyboardInterrupt
        return super().fit(X)


def test_interrupt_is_raised():
    with pytest.raises(KeyboardInterrupt):
        choose_n_clusters(Interrupted(), X, [2, 3, 4, 5], criteria=["silhouette"])


def test_interrupted_result():
    names = ["silhouette", "gaussian_bic", "stability"]
    found = choose_n_clusters(
        Interrupted(), X, [2, 3, 4, 5], criteria=names, n_bootstrap=2, random_state=0, stop_at_interrupt=True
    )
    expected = choose_n_clusters(Bins(), X, [2, 3], criteria=names, n_bootstrap=2, random_state=0)
    assert (found.unfinished, expected.unfinished) == ([4, 5], [])
    assert found.k_values.tolist() == [2, 3]
    for name in names:
        np.testing.assert_array_equal(found.scores[name], expected.scores[name])
    assert found.agreements.shape == (2, 2)
    assert "The work was interrupted before K=4, 5." in found.reason
    assert len(found.to_frame()) == 2
    with pytest.raises(KeyboardInterrupt):  # there is nothing to return
        choose_n_clusters(Interrupted(), X, [4, 5], criteria=["silhouette"], stop_at_interrupt=True)


# Failures and warnings ------------------------------------------------------------------------------------------------


def test_failure_at_one_k():
    names = ["silhouette", "partition_coefficient", "stability"]
    with pytest.warns(FitFailedWarning, match=r"failed for n_clusters=\[3\]; see result.errors"):
        result = choose_n_clusters(Fails(at=(3,)), X, [2, 3, 4], criteria=names, n_bootstrap=2, random_state=0)
    untroubled = choose_n_clusters(Bins(), X, [2, 4], criteria=names, n_bootstrap=2, random_state=0)
    assert result.errors == {3: "ArithmeticError: no 3 clusters"}
    assert result.estimators[3] is None
    assert result.warnings == {}
    for name in names:
        assert np.isnan(result.scores[name][1])
        np.testing.assert_array_equal(result.scores[name][[0, 2]], untroubled.scores[name])
        assert result.best[name] == untroubled.best[name]
    assert np.isnan(result.stability_std[1])


def test_failure_at_all_k():
    with pytest.raises(ArithmeticError, match="no 2 clusters"):
        choose_n_clusters(Fails(at=(2, 3)), X, [2, 3])


def test_input_that_the_estimator_refuses():
    with pytest.raises(ValueError, match="X has no values"):
        choose_n_clusters(FCM(), np.full((10, 2), np.nan), [2, 3])
    with pytest.raises(ValueError, match="'m' parameter of FCM must be"):
        choose_n_clusters(FCM(m=0.5), X, [2, 3])


def test_estimator_without_labels():
    class NoLabels(Bins):
        def fit(self, X, y=None):
            return self

    with pytest.raises(TypeError, match=r"memberships_, predict_proba or labels_ after fit\. NoLabels has none"):
        choose_n_clusters(NoLabels(), X, [2, 3])


def test_warnings_are_collected():
    with pytest.warns(UserWarning, match=r"fits of n_clusters=\[5, 6\] warned; see result.warnings") as record:
        result = choose_n_clusters(FCM(max_iter=15, random_state=0), X, [4, 5, 6])
    assert len(record) == 1
    assert sorted(result.warnings) == [5, 6]
    assert all(
        "FCM did not converge in max_iter=15 passes" in text for texts in result.warnings.values() for text in texts
    )
    assert result.to_frame()["n_warnings"].tolist() == [0, 1, 1]


def test_no_warning_without_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choose_n_clusters(FCM(random_state=0), X, [3, 4])


def test_failures_of_bootstrap_fits():
    with pytest.warns(UserWarning, match=r"n_clusters=\[2, 3\] warned"):
        result = choose_n_clusters(
            NeedsDistinctRows(), X, [2, 3], criteria=["stability", "silhouette"], n_bootstrap=4, random_state=0
        )
    assert result.best["stability"] is None
    assert result.best["silhouette"] is not None
    assert np.isnan(result.agreements).all()
    assert np.isnan(result.stability_std).all()
    text = "4 warning(s) or error(s) of bootstrap fits, the first: ValueError: rows are repeated"
    assert result.warnings == {2: [text], 3: [text]}


def test_some_failures_of_bootstrap_fits():
    with pytest.warns(UserWarning, match="warned"):
        result = choose_n_clusters(
            NeedsDistinctRows(half=True), X, [2], criteria=["stability"], n_bootstrap=12, random_state=0
        )
    n_failed = np.isnan(result.agreements).sum()
    assert 0 < n_failed < 11
    assert result.scores["stability"] == [1]
    assert result.stability_std == [0]
    assert result.warnings[2][0].startswith(f"{n_failed} warning(s) or error(s)")


# Bad arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "k_range, error, message",
    [
        (5, TypeError, r"k_range must be an iterable of ints, such as range\(2, 11\)\. Got 5 instead"),
        ([], ValueError, r"k_range must hold ints >= 1\. Got \[\] instead"),
        ([0, 1], ValueError, r"k_range must hold ints >= 1\. Got \[0, 1\] instead"),
        ([2.0, 3.0], ValueError, r"k_range must hold ints >= 1\. Got \[2\.0, 3\.0\] instead"),
        ([True, 2], ValueError, "k_range must hold ints >= 1"),
        ("23", ValueError, "k_range must hold ints >= 1"),
        ([3, 2], ValueError, r"k_range must be increasing, without repetitions\. Got \[3, 2\] instead"),
        ([2, 2], ValueError, r"k_range must be increasing, without repetitions\. Got \[2, 2\] instead"),
        ([2, 201], ValueError, "n_samples=200 should be >= n_clusters=201"),
    ],
)
def test_bad_k_range(k_range, error, message):
    Recorder.seen.clear()
    with pytest.raises(error, match=message):
        choose_n_clusters(Recorder(), X, k_range)
    assert Recorder.seen == []  # nothing was fitted


@pytest.mark.parametrize("k_range", [range(3, 6), [3, 4, 5], np.arange(3, 6), (K for K in (3, 4, 5))])
def test_kinds_of_k_range(k_range):
    result = choose_n_clusters(Bins(), X, k_range, criteria=["silhouette"])
    assert result.k_values.tolist() == [3, 4, 5]
    assert all(type(K) is int for K in result.estimators)


@pytest.mark.parametrize(
    "criteria, error, message",
    [
        ("xie_beni", ValueError, "criteria must be 'default', 'all' or a list of names. Got 'xie_beni' instead"),
        (None, TypeError, "criteria must be 'default', 'all' or a list of names. Got None instead"),
        ([], ValueError, r"criteria must be different names among \[.*'bic'.*\]\. Got \[\] instead"),
        (["bic", "bic"], ValueError, "criteria must be different names among"),
        (["ari"], ValueError, r"criteria must be different names among .* Got \['ari'\] instead"),
        ([3], ValueError, "criteria must be different names among"),
    ],
)
def test_bad_criteria(criteria, error, message):
    with pytest.raises(error, match=message):
        choose_n_clusters(FCM(), X, [2, 3], criteria=criteria)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_bootstrap": 1}, "'n_bootstrap' parameter of choose_n_clusters must be an int in the range"),
        ({"random_state": "x"}, "'random_state' parameter of choose_n_clusters must be"),
        ({"n_jobs": 1.5}, "'n_jobs' parameter of choose_n_clusters must be"),
        ({"max_samples": 1}, "'max_samples' parameter of choose_n_clusters must be"),
        ({"stop_at_interrupt": "no"}, "'stop_at_interrupt' parameter of choose_n_clusters must be"),
        ({"verbose": "loud"}, "'verbose' parameter of choose_n_clusters must be"),
        ({"keep_estimators": "no"}, "'keep_estimators' parameter of choose_n_clusters must be"),
        ({"param_name": "k"}, r"param_name must be a parameter of FCM: one of \[.*'n_clusters'.*\]\. Got 'k' instead"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        choose_n_clusters(FCM(), X, [2, 3], **parameters)


@pytest.mark.parametrize("estimator", [FCM, "FCM", None])
def test_bad_estimator(estimator):
    with pytest.raises(TypeError, match="estimator must be an instance of a clusterer with get_params and fit"):
        choose_n_clusters(estimator, X, [2, 3])


# The result -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def made():
    """A result with ties, infinite and missing values."""
    scores = {
        "xie_beni": np.array([np.inf, 0.25, 0.125, 0.125]),
        "silhouette": np.array([np.nan, 0.5, 0.75, 0.75]),
        "bic": np.array([12345.6, 12000.4, 11000.0, 11000.1]),
        "icl": np.full(4, np.nan),
        "pbmf": np.array([np.inf, 2e8, 1e8, np.nan]),
        "stability": np.array([np.nan, 1.0, 1.0, 0.75]),
    }
    agreements = np.array([[np.nan, np.nan], [1, 1], [1, 1], [0.5, 1]])
    return NClustersResult(
        np.array([1, 2, 3, 4]), scores, agreements, {}, {1: "ValueError: no"}, {4: ["did not converge"]}
    )


def test_choices(made):
    assert made.best == {"xie_beni": 3, "silhouette": 3, "bic": 3, "icl": None, "pbmf": 2, "stability": 3}
    np.testing.assert_allclose(made.stability_std, [np.nan, 0, 0, math.sqrt(0.125)])


def test_repr(made):
    assert repr(made).splitlines() == [
        "criterion   better     K=1         K=2         K=3      K=4   choice",
        "xie_beni    smaller    inf      0.2500      0.1250*  0.1250        3",
        "silhouette  larger     nan      0.5000      0.7500*  0.7500        3",
        "bic         smaller  12346       12000       11000*   11000        3",
        "icl         smaller    nan         nan         nan      nan     None",
        "pbmf        larger     inf   2.000e+08*  1.000e+08      nan        2",
        "stability   larger     nan       1.000       1.000*   0.750        3",
        "recommended: K=3: stability is largest there; it is preferred to the others.",
        "K=1 failed: ValueError: no",
        "K=4 warned: did not converge",
    ]


def test_frame(made):
    pytest.importorskip("pandas")
    frame = made.to_frame()
    assert frame.index.name == "n_clusters"
    assert frame.index.tolist() == [1, 2, 3, 4]
    assert frame.columns.tolist() == [*made.scores, "stability_std", "n_warnings", "error"]
    for name, values in made.scores.items():
        np.testing.assert_array_equal(frame[name], values)
    assert frame["n_warnings"].tolist() == [0, 0, 0, 1]
    assert frame["error"].tolist() == ["ValueError: no", "", "", ""]


def test_frame_without_stability():
    result = choose_n_clusters(Bins(), X, [2, 3], criteria=["silhouette"])
    assert result.agreements is None
    assert result.stability_std is None
    assert result.to_frame().columns.tolist() == ["silhouette", "n_warnings", "error"]


def test_frame_needs_pandas(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=re.escape('to_frame needs pandas: pip install "soft-clustering[app]"')):
        made.to_frame()
    assert "xie_beni" in repr(made)


def test_pickle(planted):
    again = pickle.loads(pickle.dumps(planted))
    assert repr(again) == repr(planted)
    assert again.best == planted.best
    np.testing.assert_array_equal(again.agreements, planted.agreements)
    np.testing.assert_array_equal(again.estimators[4].memberships_, planted.estimators[4].memberships_)


def test_plot(made):
    display = made.plot()
    assert len(display.axes_) == len(made.scores)
    for panel, (name, choice) in zip(display.axes_, made.best.items(), strict=True):
        title, sense = CRITERIA[name]
        assert panel.get_title().startswith(title)
        assert ("larger is better" if sense == "max" else "smaller is better") in panel.get_title()
        marks = [line for line in panel.lines if line.get_marker() == "D"]
        if choice is None:
            assert marks == []
            assert [text.get_text() for text in panel.texts] == ["does not apply"]
        else:
            (mark,) = marks
            assert list(mark.get_xdata()) == [choice]
            assert list(mark.get_ydata()) == [made.scores[name][choice - 1]]
    assert [shade.get_x() for shade in display.recommended_] == [pytest.approx(made.recommended - 0.35)] * len(
        made.scores
    )
    display.figure_.canvas.draw()
    matplotlib.pyplot.close(display.figure_)


def test_plot_into_axes(made):
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    assert made.plot(ax).figure_ is figure
    assert len(figure.axes) == len(made.scores)
    plt.close(figure)
