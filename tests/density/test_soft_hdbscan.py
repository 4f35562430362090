"""Facts of the hierarchy and of the memberships, by brute force, and labels against scikit-learn's HDBSCAN."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

from soft_clustering import SoftHDBSCAN, kernels
from soft_clustering.base import labels_from_memberships
from soft_clustering.density.hierarchy import snapped


def noisy(seed=0, n=330):
    X, _ = make_blobs(n - 30, centers=4, random_state=seed)
    return np.vstack([X, np.random.default_rng(seed).uniform(-12, 12, (30, 2))])


SETS = {
    "iris": load_iris().data,
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data,
    "moons": make_moons(300, noise=0.08, random_state=0)[0],
    "noisy": noisy(),
    "rounded": noisy(1).round(1),
    "copies": np.repeat(make_blobs(60, centers=3, random_state=3)[0], 6, axis=0),
    "seven features": make_blobs(400, 7, centers=5, random_state=0)[0],
}
SETTINGS = [
    {},
    {"min_cluster_size": 15},
    {"min_cluster_size": 10, "cluster_selection_method": "leaf"},
    {"min_cluster_size": 30, "min_samples": 10},
    {"min_cluster_size": 15, "metric": "cosine"},
    {"min_cluster_size": 15, "metric": "cityblock", "cluster_selection_method": "leaf"},
]
each_set = pytest.mark.parametrize("name", SETS)
each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


def quiet(model, X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **parameters)


def different(labels, others):
    """Rows that differ after the clusters are matched."""
    K, L = labels.max() + 1, others.max() + 1
    common = np.zeros((K, L), dtype=int)
    inside = (labels >= 0) & (others >= 0)
    np.add.at(common, (labels[inside], others[inside]), 1)
    return len(labels) - common[linear_sum_assignment(-common)].sum() - np.sum((labels < 0) & (others < 0))


def tree_labels(model):
    """The labels that the condensed tree alone gives: the selected cluster above each sample, found by its samples."""
    tree, n = model.condensed_tree_, len(model.labels_)
    above = dict(zip(tree["child"].tolist(), tree["parent"].tolist(), strict=True))
    level = dict(zip(tree["child"].tolist(), tree["level"].tolist(), strict=True))
    chains = []
    for i in range(n):
        chain, node = [], i
        while node in above:
            node = above[node]
            chain.append(node)
        chains.append(chain)
    labels = np.full(n, -1)
    for k in range(model.n_clusters_):
        members = np.flatnonzero(model.labels_ == k)
        common = set(chains[members[0]]).intersection(*(chains[i] for i in members))
        root = [node for node in common if level.get(node) == model.birth_levels_[k]]
        assert len(root) == 1
        labels[[root[0] in chain for chain in chains]] = k
    return labels


# The facts ----------------------------------------------------------------------------------------------------------


@each_setting
@each_set
def test_labels_are_those_of_the_tree_and_the_largest_membership_and_prediction_returns_them(name, setting):
    X = SETS[name]
    model = quiet(SoftHDBSCAN(**setting), X)
    np.testing.assert_array_equal(model.labels_, tree_labels(model))
    np.testing.assert_array_equal(model.labels_, labels_from_memberships(model.memberships_, model.noise_mass_))
    np.testing.assert_array_equal(model.predict_memberships(X), model.memberships_)
    np.testing.assert_array_equal(model.predict_noise_mass(X), model.noise_mass_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(X[::7]), model.labels_[::7])


@each_setting
@each_set
def test_nothing_depends_on_the_order_of_the_rows(name, setting):
    X = SETS[name]
    model = quiet(SoftHDBSCAN(**setting), X)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        other = quiet(SoftHDBSCAN(**setting), X[order])
        for results in ("memberships_", "noise_mass_", "labels_", "entry_levels_", "exit_levels_", "core_distances_"):
            np.testing.assert_array_equal(getattr(other, results), getattr(model, results)[order])
        np.testing.assert_array_equal(other.stabilities_, model.stabilities_)
        np.testing.assert_array_equal(other.birth_levels_, model.birth_levels_)
        tree = other.condensed_tree_.copy()
        samples = tree["child"] < len(X)
        tree["child"][samples] = order[tree["child"][samples]]
        np.testing.assert_array_equal(np.sort(tree, order="child"), np.sort(model.condensed_tree_, order="child"))


@each_set
def test_levels_are_their_formulas(name):
    X = SETS[name]
    model = quiet(SoftHDBSCAN(15, min_samples=4), X)
    D = cdist(X, X)
    core = np.sort(D, axis=1)[:, 4]
    np.testing.assert_allclose(model.core_distances_, core, rtol=1e-10)
    entries = np.maximum(D, model.exit_levels_)
    own = model.labels_[:, None] == np.arange(model.n_clusters_)
    expected = np.stack([np.maximum(core, entries[:, k].min(axis=1)) for k in own.T], axis=1)
    np.testing.assert_allclose(model.entry_levels_, expected, rtol=1e-10)
    np.testing.assert_array_equal(model.entry_levels_[own], model.exit_levels_[model.labels_ >= 0])
    # Below its birth nothing else comes into contact with a cluster.
    assert (model.entry_levels_[own] < model.birth_levels_[model.labels_[model.labels_ >= 0]]).all()
    other = ~own & (model.labels_ >= 0)[:, None]
    births = np.broadcast_to(model.birth_levels_[model.labels_, None], own.shape)
    assert (model.entry_levels_[other] >= births[other]).all()
    assert (model.entry_levels_[model.labels_ < 0] >= model.birth_levels_).all()


@pytest.mark.parametrize("m", [1.2, 1.5, 3.0])
def test_memberships_are_noise_clustering_on_levels(m):
    model = SoftHDBSCAN(15, m=m).fit(SETS["noisy"])
    birth = model.birth_levels_[model.entry_levels_.argmin(axis=1)]
    power = np.column_stack([model.entry_levels_, birth]) ** (-2 / (m - 1))
    share = power / power.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.column_stack([model.memberships_, model.noise_mass_]), share, rtol=1e-8, atol=1e-300)


def test_memberships_of_new_samples_are_continuous():
    X = SETS["moons"]
    model = SoftHDBSCAN(15).fit(X)
    line = np.linspace([-1, 1.2], [2, -0.8], 20001)
    levels = model._state.of(line)[0]
    assert np.abs(np.diff(levels, axis=0)).max() <= np.linalg.norm(line[1] - line[0]) * (1 + 1e-6)


def test_stabilities_are_sums_over_the_samples():
    model = SoftHDBSCAN(15).fit(SETS["moons"])  # the selected clusters have no parts that go on
    tree = model.condensed_tree_
    n = len(model.labels_)
    for k, stability in enumerate(model.stabilities_):
        inside = model.labels_ == k
        nodes = {int(tree["parent"][tree["child"] == i][0]) for i in np.flatnonzero(inside)}
        level = model.exit_levels_.copy()
        for node in nodes:  # a sample of a part counts with the birth of the part that splits off the cluster
            chain, up = [node], tree["parent"][tree["child"] == node]
            while len(up) and up[0] != n:
                chain.append(int(up[0]))
                up = tree["parent"][tree["child"] == up[0]]
            births = [tree["level"][tree["child"] == c][0] for c in chain if c != n]
            at = births.index(model.birth_levels_[k])
            if at > 0:
                rows = tree["child"][(tree["parent"] == node) & (tree["child"] < n)]
                level[rows] = births[at - 1]
        assert stability == pytest.approx(np.sum(1 / level[inside] - 1 / model.birth_levels_[k]), rel=1e-9)


# Peers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SETS if name != "copies"])
@pytest.mark.parametrize("least", [15, 30])
def test_labels_are_near_those_of_scikit_learn_in_some_order_of_the_rows(name, least):
    X = SETS[name]
    labels = SoftHDBSCAN(least, min_samples=5).fit(X).labels_
    differences = []
    for seed in range(20):  # its labels depend on the order
        order = np.random.default_rng(seed).permutation(len(X))
        theirs = np.empty(len(X), dtype=int)
        peer = HDBSCAN(min_cluster_size=least, min_samples=6, copy=True)  # it counts the sample itself
        theirs[order] = peer.fit_predict(X[order])
        differences.append(different(labels, theirs))
    assert min(differences) <= 2


# Ties, copies, weights ----------------------------------------------------------------------------------------------


def test_a_bridge_at_the_level_of_the_split_is_noise_between_both():
    left = np.array([[0.0], [1], [2], [3]])
    X = np.vstack([left, left + 7, [[5.0]]])
    model = SoftHDBSCAN(4, min_samples=1).fit(X)
    np.testing.assert_array_equal(np.sort(np.bincount(model.labels_ + 1)), [1, 4, 4])
    assert model.labels_[-1] == -1
    assert model.memberships_[-1, 0] == model.memberships_[-1, 1] == model.noise_mass_[-1]


def test_levels_that_differ_by_rounding_are_ties():
    X = load_iris().data
    model = SoftHDBSCAN(10, cluster_selection_method="leaf").fit(X)
    levels = np.unique(model.condensed_tree_["level"])
    assert (np.diff(levels) > 1e-9).all()
    shifted = SoftHDBSCAN(10, cluster_selection_method="leaf").fit(X + 0.1)  # other roundings, the same ties
    np.testing.assert_array_equal(shifted.labels_, model.labels_)


def test_copies_have_the_level_0():
    X = SETS["copies"]
    model = SoftHDBSCAN(6, min_samples=5, cluster_selection_method="leaf").fit(X)
    assert (model.exit_levels_ == 0).all()
    assert model.n_clusters_ == 60
    np.testing.assert_array_equal(model.memberships_.max(axis=1), 1)
    np.testing.assert_array_equal(model.noise_mass_, 0)
    assert np.isfinite(model.stabilities_).all()


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "precomputed"])
@pytest.mark.parametrize("least", [4, 12])
def test_a_weight_is_repetition(metric, least):
    rng = np.random.default_rng(0)
    X = make_blobs(120, centers=3, random_state=0)[0].round(1)
    weight = rng.choice([0, 1, 1, 2, 5], len(X)).astype(float)
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    data, again = X, X[repeated]
    if metric == "precomputed":
        data, again = pairwise_distances(X), pairwise_distances(X)[np.ix_(repeated, repeated)]
    weighted = quiet(SoftHDBSCAN(least, metric=metric), data, sample_weight=weight)
    copies = quiet(SoftHDBSCAN(least, metric=metric), again)
    np.testing.assert_allclose(weighted.memberships_[repeated], copies.memberships_, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(weighted.labels_[repeated], copies.labels_)
    np.testing.assert_array_equal(weighted.exit_levels_[repeated], copies.exit_levels_)
    np.testing.assert_array_equal(weighted.core_distances_[repeated], copies.core_distances_)
    np.testing.assert_allclose(weighted.stabilities_, copies.stabilities_, rtol=1e-12)
    asked = data[weight == 0][:, repeated] if metric == "precomputed" else X[weight == 0]
    np.testing.assert_array_equal(weighted.labels_[weight == 0], copies.predict(asked))
    np.testing.assert_allclose(weighted.memberships_[weight == 0], copies.predict_memberships(asked), rtol=1e-12)
    np.testing.assert_array_equal(weighted.predict_memberships(data), weighted.memberships_)


def test_weights_below_1_count_together():
    X = SETS["noisy"]
    halves = SoftHDBSCAN(10, min_samples=4).fit(np.repeat(X, 2, axis=0), sample_weight=np.full(2 * len(X), 0.5))
    whole = SoftHDBSCAN(10, min_samples=4).fit(X)
    np.testing.assert_array_equal(halves.labels_[::2], whole.labels_)
    np.testing.assert_allclose(halves.memberships_[::2], whole.memberships_, rtol=1e-9)


# Degenerate cases ---------------------------------------------------------------------------------------------------


def test_no_cluster_is_all_noise_and_a_warning():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    with pytest.warns(ConvergenceWarning, match="min_cluster_size=20"):
        model = SoftHDBSCAN(20).fit(X)
    assert model.memberships_.shape == (30, 0)
    assert model.n_clusters_ == 0
    np.testing.assert_array_equal(model.noise_mass_, 1)
    np.testing.assert_array_equal(model.labels_, -1)
    np.testing.assert_array_equal(model.predict(X + 0.1), -1)
    assert model.predict_memberships(X).shape == (30, 0)
    assert model.get_cover().shape == (30, 0)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_few_samples(n):
    X = np.arange(n, dtype=float)[:, None] ** 2
    model = quiet(SoftHDBSCAN(2, min_samples=50, allow_single_cluster=True), X)
    assert model.min_samples_ == n - 1
    assert model.n_clusters_ == 1
    np.testing.assert_array_equal(model.labels_, 0)


def test_the_root_has_everybody():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = SoftHDBSCAN(60, allow_single_cluster=True).fit(X)
    assert model.n_clusters_ == 1
    np.testing.assert_array_equal(model.labels_, 0)
    assert (model.memberships_ > 0.5).all()
    assert model.birth_levels_[0] > model.exit_levels_.max()
    assert model.predict([[50.0, 50.0]]) == -1


def test_all_samples_the_same():
    model = quiet(SoftHDBSCAN(), np.ones((20, 2)))
    assert model.n_clusters_ == 0
    model = SoftHDBSCAN(allow_single_cluster=True).fit(np.ones((20, 2)))
    np.testing.assert_array_equal(model.memberships_, 1)
    np.testing.assert_array_equal(model.predict_memberships([[1.0, 1.0], [1.0, 2.0]]), [[1], [0]])


def test_min_samples_none_is_min_cluster_size():
    one, other = SoftHDBSCAN(9, min_samples=None).fit(SETS["noisy"]), SoftHDBSCAN(9, min_samples=9).fit(SETS["noisy"])
    assert one.min_samples_ == 9
    np.testing.assert_array_equal(one.memberships_, other.memberships_)


# Metrics ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "cityblock", "chebyshev", "canberra"])
def test_metric_and_its_distances(metric):
    X = np.abs(SETS["noisy"]) + 1
    D = pairwise_distances(X, metric=metric)
    D = (D + D.T) / 2
    model = quiet(SoftHDBSCAN(10, metric=metric), X)
    given = quiet(SoftHDBSCAN(10, metric="precomputed"), D)
    assert given.n_clusters_ == model.n_clusters_
    assert different(given.labels_, model.labels_) == 0
    np.testing.assert_allclose(given.exit_levels_, model.exit_levels_, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(given.predict_memberships(D), given.memberships_)


def test_cosine_of_rows_of_zeros():
    X = np.vstack([np.abs(SETS["noisy"][:100]), np.zeros((10, 2))])
    model = SoftHDBSCAN(metric="cosine").fit(X)
    assert (model.labels_[-10:] == model.labels_[-1]).all()
    assert model.labels_[-1] >= 0
    assert (model.labels_[:-10] != model.labels_[-1]).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_parts_that_are_not_connected():
    X = make_blobs(60, centers=[[0, 0], [30, 0]], random_state=0)[0]
    D = pairwise_distances(X)
    apart = D > 15
    D[apart] = np.inf
    model = SoftHDBSCAN(metric="precomputed").fit(D)
    assert model.n_clusters_ == 2
    np.testing.assert_array_equal(model.birth_levels_, np.inf)
    np.testing.assert_array_equal(model.memberships_[apart[0], model.labels_[0]], 0)
    np.testing.assert_array_equal(model.noise_mass_, 0)
    np.testing.assert_array_equal(model.predict_memberships(D), model.memberships_)
    alone = np.full((1, 60), np.inf)
    assert model.predict(alone) == -1
    assert model.predict_noise_mass(alone) == 1


def test_refused_dissimilarities():
    D = pairwise_distances(SETS["moons"])
    for broken, words in [(D[:, :-1], "square"), (-D, ">= 0"), (D + np.eye(len(D)), "diagonal")]:
        with pytest.raises(ValueError, match=words):
            SoftHDBSCAN(metric="precomputed").fit(broken)
    one_way = D.copy()
    one_way[0, 1] = np.inf
    with pytest.raises(ValueError, match="symmetric"):
        SoftHDBSCAN(metric="precomputed").fit(one_way)
    one_way[1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SoftHDBSCAN(metric="precomputed").fit(one_way)
    with pytest.raises(ValueError, match="metric"):
        SoftHDBSCAN(metric="mahalanobis").fit(SETS["moons"])
    with pytest.raises(ValueError, match="metric"):
        SoftHDBSCAN(metric="none of these").fit(SETS["moons"])


# Units and precision ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-300, 2.0, 2.0**900])
def test_units_do_not_matter(scale):
    X = SETS["noisy"]
    model, scaled = SoftHDBSCAN(10).fit(X), SoftHDBSCAN(10).fit(X * scale)
    np.testing.assert_array_equal(scaled.memberships_, model.memberships_)
    np.testing.assert_array_equal(scaled.exit_levels_, model.exit_levels_ * scale)


@pytest.mark.skipif(kernels.compiled is None, reason="needs the compiled kernels")
@pytest.mark.parametrize("name", ["iris", "rounded", "noisy", "copies"])
def test_without_compiled_kernels(name, monkeypatch):
    X = SETS[name]
    model = SoftHDBSCAN(10).fit(X)
    monkeypatch.setattr(kernels, "compiled", None)
    monkeypatch.setattr(kernels, "_silent", True)
    plain = SoftHDBSCAN(10).fit(X)
    np.testing.assert_array_equal(plain.labels_, model.labels_)
    np.testing.assert_allclose(plain.entry_levels_, model.entry_levels_, rtol=1e-10)
    np.testing.assert_allclose(plain.memberships_, model.memberships_, rtol=1e-8)
    np.testing.assert_array_equal(plain.predict_memberships(X), plain.memberships_)


def test_core_distances_are_snapped():
    model = SoftHDBSCAN(10).fit(SETS["noisy"])
    np.testing.assert_array_equal(snapped(model.core_distances_), model.core_distances_)


# In topic models ----------------------------------------------------------------------------------------------------


class Topics:
    """What BERTopic does with its ``hdbscan_model``, which may be of any class."""

    def __init__(self, hdbscan_model):
        self.hdbscan_model = hdbscan_model

    def fit_transform(self, embeddings, y=None):
        """Topics in the order of their sizes, -1 for outliers, and probabilities if the model has them."""
        self.hdbscan_model.fit(embeddings, y=y)
        labels = np.asarray(self.hdbscan_model.labels_)
        sizes = np.bincount(labels[labels >= 0])
        self.place = {-1: -1} | {int(label): rank for rank, label in enumerate(np.argsort(-sizes, kind="stable"))}
        return self._topics(labels), getattr(self.hdbscan_model, "probabilities_", None)

    def transform(self, embeddings):
        return self._topics(self.hdbscan_model.predict(embeddings))

    def _topics(self, labels):
        return [self.place[label] for label in labels.tolist()]


@pytest.mark.parametrize("y", [None, "labels"])
def test_a_topic_model_takes_it(y):
    X, groups = make_blobs([60, 90, 30], 5, centers=None, cluster_std=0.4, random_state=0)
    X = np.vstack([X, np.random.RandomState(0).uniform(-40, 40, (10, 5))]).astype(np.float32)
    y = None if y is None else np.append(groups, np.full(10, -1))
    model = Topics(hdbscan_model=SoftHDBSCAN(min_cluster_size=15))
    topics, probabilities = model.fit_transform(X, y=y)
    assert probabilities is None
    np.testing.assert_array_equal(topics, model.hdbscan_model.labels_)  # the largest cluster is the first column
    assert np.bincount(np.array(topics)[:180]).tolist() == [90, 60, 30]
    assert topics[180:] == [-1] * 10
    assert model.transform(X) == topics
    assert model.hdbscan_model.memberships_.shape == (190, 3)
