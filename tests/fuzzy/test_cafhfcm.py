"""CAFHFCM: thresholds and fused centroids against numerical minima, the path, the numbers of clusters that it finds."""

import itertools
import re

import numpy as np
import pytest
from helpers.tables import offline_sets
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import CAFHFCM, FCM, kernels
from soft_clustering.engine.blocks import Block, Blocks, Frame, make_blocks
from soft_clustering.fuzzy import cafhfcm
from soft_clustering.fuzzy.cafhfcm import (
    Tree,
    coreset,
    fused_centers,
    fusion_path,
    fusion_thresholds,
    halves,
    lifetimes,
    merged,
    prediction_strength,
    simplified_silhouette,
)
from soft_clustering.kernels.centers import center_statistics

IRIS = load_iris().data
WINE = load_wine().data
THREE, BLOB = make_blobs(150, centers=[[-6, 0], [6, 0], [0, 9]], cluster_std=0.5, random_state=0)


def planted(K, seed, n=600, d=2, apart=2.0):
    """Blobs of deviation 0.5 in the box [-15, 15], centres at least so far apart."""
    rng = np.random.RandomState(seed)
    while True:
        centers = rng.uniform(-15, 15, size=(K, d))
        if pdist(centers).min() >= apart:
            return make_blobs(n, centers=centers, cluster_std=0.5, random_state=rng)[0]


# The penalised problem ------------------------------------------------------------------------------------------------


def penalised(V, mass, B, weight, smooth=0.0):
    """sum_k a_k |v_k - b_k|^2 + lambda sum_{j<l} |v_j - v_l|, by loops."""
    J = 0.0
    for k in range(len(V)):
        J += mass[k] * sum((V[k] - B[k]) ** 2)
        for j in range(k):
            J += weight * np.sqrt(sum((V[j] - V[k]) ** 2) + smooth**2)
    return J


@pytest.mark.parametrize("seed", range(5))
def test_threshold_is_where_a_pair_coincides(seed):
    rng = np.random.RandomState(seed)
    mass, B = rng.uniform(0.5, 20, 2), rng.normal(size=(2, 2)) * 3
    t = fusion_thresholds(mass, B)[0, 1]
    gap = np.linalg.norm(B[0] - B[1])
    for factor in (0.5, 0.95, 1.02, 2.0):
        options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20000, "maxfev": 20000}
        V = B.ravel()
        for _ in range(3):
            V = minimize(
                lambda v, w=factor * t: penalised(v.reshape(2, 2), mass, B, w), V, method="Nelder-Mead", options=options
            ).x
        found = np.linalg.norm(V[:2] - V[2:])
        assert found == pytest.approx(max(1 - factor, 0) * gap, abs=1e-4 * gap)


@pytest.mark.parametrize("seed, share", list(itertools.product(range(3), [0.02, 0.1, 0.4, 0.9])))
def test_fused_centers_are_the_minimum(seed, share):
    rng = np.random.RandomState(seed)
    K = 8
    mass = rng.uniform(1, 50, K)
    B = np.repeat(rng.normal(size=(4, 3)) * 5, 2, axis=0) + rng.normal(size=(K, 3))
    pull = 2 * mass[:, None] * (B - mass @ B / mass.sum())
    weight = share * cdist(pull, pull).max() / K
    V = fused_centers(mass, B, weight, B)
    smooth = 1e-5 * cdist(B, B).max()
    start = B.ravel()
    for _ in range(5):
        options = {"maxiter": 20000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 50}
        best = minimize(smoothed, start, (mass, B, weight, smooth), jac=True, method="L-BFGS-B", options=options)
        start = best.x
    assert penalised(V, mass, B, weight, smooth) <= best.fun * (1 + 1e-5)
    np.testing.assert_allclose(V, best.x.reshape(B.shape), rtol=0, atol=1e-3 * cdist(B, B).max())


def smoothed(v, mass, B, weight, smooth):
    """The smoothed problem and its gradient."""
    V = v.reshape(B.shape)
    difference = V[:, None] - V
    norm = np.sqrt((difference**2).sum(axis=2) + smooth**2)
    gradient = 2 * mass[:, None] * (V - B) + weight * (difference / norm[..., None]).sum(axis=1)
    return penalised(V, mass, B, weight, smooth), gradient.ravel()


def test_fused_centers_at_the_ends():
    rng = np.random.RandomState(0)
    mass, B = rng.uniform(1, 50, 6), rng.normal(size=(6, 2))
    mean = mass @ B / mass.sum()
    np.testing.assert_allclose(fused_centers(mass, B, 1e300, B), np.tile(mean, (6, 1)), rtol=0, atol=1e-14)
    np.testing.assert_allclose(fused_centers(mass, B, 1e-12, B), B, rtol=0, atol=1e-9)
    # Two alone: they coincide just from the threshold on.
    t = fusion_thresholds(mass[:2], B[:2])[0, 1]
    for factor in (0.9, 1.0, 1.1):
        V = fused_centers(mass[:2], B[:2], factor * (1 + 1e-12) * t, B[:2])
        gap = np.linalg.norm(B[0] - B[1])
        assert np.linalg.norm(V[0] - V[1]) == pytest.approx(max(1 - factor, 0) * gap, abs=1e-3 * gap)


def test_merged():
    V, mass = np.array([[0.0], [4.0], [1.0], [7.0]]), np.array([1.0, 3.0, 0.0, 0.0])
    np.testing.assert_allclose(merged(V, mass, np.array([0, 0, 1, 1])), [[3.0], [4.0]])


# The path -------------------------------------------------------------------------------------------------------------


def test_every_number_of_clusters_is_visited_once():
    model = CAFHFCM(random_state=0).fit(IRIS)
    c = int(np.ceil(np.sqrt(150)))
    np.testing.assert_array_equal(model.fusion_path_[:, 1], np.arange(c, 0, -1))
    assert model.fusion_path_[0, 0] == 0
    assert (np.diff(model.fusion_path_[:, 0]) >= 0).all()
    np.testing.assert_array_equal(model.hierarchy_[:, 2], model.fusion_path_[1:, 0])
    assert model.fusion_weight_ == dict(model.fusion_path_[:, ::-1])[model.n_clusters_]


def test_hierarchy_is_a_linkage():
    model = CAFHFCM(random_state=0).fit(THREE)
    assert is_valid_linkage(model.hierarchy_)
    assert len(dendrogram(model.hierarchy_, no_plot=True)["leaves"]) == len(model.hierarchy_) + 1
    # The three blobs are the three last groups of the first clusters, whichever way they are cut.
    assert len(np.unique(fcluster(model.hierarchy_, 3, "maxclust"))) == model.n_clusters_ == 3


def test_path_fuses_the_pair_of_smallest_threshold(monkeypatch):
    calls, settle = [], cafhfcm.settle

    def recorded(blocks, V, passes, *rest):
        calls.append((V, *settle(blocks, V, passes, *rest), passes))
        return calls[-1][1:3]

    monkeypatch.setattr(cafhfcm, "settle", recorded)
    blocks = make_blocks(IRIS)
    tree = Tree(9)
    stages = list(fusion_path(blocks, blocks.joined().take(np.arange(0, 150, 17)), 2.0, 1, 9, tree))
    assert [len(V) for V in stages] == list(range(9, 0, -1))
    assert [call[3] for call in calls] == 9 * [5]
    least = []
    for (_, V, a, _), (start, _, _, _) in itertools.pairwise(calls):
        pairs = itertools.combinations(range(len(V)), 2)
        t = {(j, k): 2 * a[j] * a[k] / (a[j] + a[k]) * np.linalg.norm(V[j] - V[k]) for j, k in pairs}
        j, k = min(t, key=t.get)
        least.append(t[j, k])
        expected = np.delete(V, k, axis=0)
        expected[j] = (a[j] * V[j] + a[k] * V[k]) / (a[j] + a[k])
        np.testing.assert_allclose(start, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose([weight for weight, _ in tree.path[1:]], np.maximum.accumulate(least), rtol=1e-12)


def test_far_above_the_numbers_that_matter_there_are_no_passes(monkeypatch):
    counts, settle = [], cafhfcm.settle
    monkeypatch.setattr(cafhfcm, "settle", lambda blocks, V, *rest: counts.append(len(V)) or settle(blocks, V, *rest))
    CAFHFCM(2, random_state=0).fit(IRIS)
    assert counts == [13, 4, 3, 2]
    counts.clear()
    CAFHFCM(max_clusters=3, selection="lifetime", random_state=0).fit(IRIS)
    assert counts == [13, 6, 5, 4, 3, 2, 1]


def test_tree():
    tree = Tree(4)
    tree.fuse(1, 3, 2.0)
    tree.fuse(0, 2, 1.0)  # lambda never falls
    tree.fuse(0, 1, 5.0)
    assert tree.rows == [(1, 3, 2.0, 2), (0, 2, 2.0, 2), (5, 4, 5.0, 4)]
    assert tree.path == [(0.0, 4), (2.0, 3), (2.0, 2), (5.0, 1)]


def test_units_of_lambda():
    plain, large = (CAFHFCM(3, random_state=0).fit(scale * IRIS) for scale in (1, 1000))
    np.testing.assert_allclose(large.fusion_path_[:, 0], 1000 * plain.fusion_path_[:, 0], rtol=1e-6)


def test_initial_clusters():
    assert CAFHFCM(3, random_state=0).fit(IRIS).fusion_path_[0, 1] == 13
    assert CAFHFCM(10, random_state=0).fit(IRIS).fusion_path_[0, 1] == 20
    assert CAFHFCM(10, n_initial_clusters=11, random_state=0).fit(IRIS).fusion_path_[:, 1].tolist() == [11, 10]
    for n_initial in (2, 151):
        with pytest.raises(ValueError, match="n_initial_clusters must be between n_clusters=3 and n_samples=150"):
            CAFHFCM(3, n_initial_clusters=n_initial).fit(IRIS)


@pytest.mark.parametrize("name", ["iris", "wine", "digits", "breast_cancer", "blobs", "moons"])
def test_given_number_of_clusters_reaches_the_optimum_of_fuzzy_c_means(name):
    """What many starts of fuzzy c-means find, from any seed."""
    X, y = offline_sets()[name]
    K = len(np.unique(y))
    best = FCM(K, n_init=10, random_state=0).fit(X)
    for seed in range(3):
        model = CAFHFCM(K, random_state=seed).fit(X)
        assert model.objective_ == pytest.approx(best.objective_, rel=1e-4)
        assert adjusted_rand_score(best.labels_, model.labels_) > 0.98


def test_objective_by_loops():
    model = CAFHFCM(3, random_state=0).fit(IRIS)
    J = sum(
        model.memberships_[i, k] ** model.m_ * np.sum((IRIS[i] - model.centers_[k]) ** 2)
        for i in range(150)
        for k in range(3)
    )
    assert model.objective_ == pytest.approx(J, rel=1e-10)
    assert model.score(IRIS) == pytest.approx(-J, rel=1e-10)


def test_clusters_come_by_size():
    X = np.vstack([THREE[:50], THREE, THREE[np.argsort(THREE[:, 1])[-50:]] + 0.01])
    model = CAFHFCM(3, random_state=0).fit(X)
    mass = (model.memberships_**model.m_).sum(axis=0)
    assert (np.diff(mass) < 0).all()


# One lambda -----------------------------------------------------------------------------------------------------------


def test_no_penalty_is_fuzzy_c_means():
    model = CAFHFCM(fusion_weight=0.0, n_initial_clusters=3, m=2.0, tol=1e-9, max_iter=500, random_state=0).fit(IRIS)
    expected = FCM(3, m=2.0, tol=1e-9, random_state=0).fit(IRIS)
    order = cdist(expected.centers_, model.centers_).argmin(axis=1)
    np.testing.assert_allclose(model.memberships_[:, order], expected.memberships_, rtol=0, atol=1e-6)
    assert model.fusion_weight_ == 0
    assert model.fusion_path_.tolist() == [[0, 3]]
    assert model.hierarchy_.shape == (0, 4)


def fitted_at(weight, X=THREE, **parameters):
    """One lambda."""
    return CAFHFCM(fusion_weight=weight, **{"random_state": 0} | parameters).fit(X)


def stated(X, V, m, weight):
    """J by loops over the definition, at the memberships that minimise it, and these."""
    D = np.array([[np.sum((x - v) ** 2) for v in V] for x in X])
    U = np.array([[1 / sum((row[k] / other) ** (1 / (m - 1)) for other in row) for k in range(len(V))] for row in D])
    return np.sum(U**m * D) + weight * sum(np.linalg.norm(V[j] - V[k]) for k in range(len(V)) for j in range(k)), U


# The smallest J of alternation from six random starts of each number of clusters up to 11, and the clusters left there
@pytest.mark.parametrize("weight, K, least", [(0.2, 8, 31.911), (0.5, 6, 45.424), (2.0, 4, 74.145), (8.0, 3, 134.459)])
def test_one_lambda_minimises_the_stated_objective(weight, K, least):
    model = fitted_at(weight, IRIS, m=2.0)
    J, U = stated(IRIS, model.centers_, 2.0, weight)
    assert model.objective_ == pytest.approx(J, rel=1e-10)
    assert model.score(IRIS) == pytest.approx(-J, rel=1e-10)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-10)
    assert (np.diff(model.objective_history_) <= 1e-12 * J).all()
    assert model.n_clusters_ == K
    assert least * 1.021 >= J  # 1.0203 at 0.5, 1.0000 at the others


@pytest.mark.parametrize("weight", [0.1, 0.5, 8.0])
def test_one_lambda_ends_at_a_stationary_point(weight):
    """A step over the memberships and one over the centroids, solved by a general minimiser, gain nothing."""
    V = fitted_at(weight, IRIS, m=2.0, tol=1e-8, max_iter=1000).centers_
    J, U = stated(IRIS, V, 2.0, weight)
    mass = (U**2).sum(axis=0)
    B = (U**2).T @ IRIS / mass[:, None]
    best = minimize(smoothed, V.ravel(), (mass, B, weight, 1e-9), jac=True, method="L-BFGS-B", options={"ftol": 1e-15})
    np.testing.assert_allclose(best.x.reshape(V.shape), V, rtol=0, atol=1e-4)
    assert stated(IRIS, best.x.reshape(V.shape), 2.0, weight)[0] >= J * (1 - 1e-7)


def test_more_penalty_leaves_fewer_clusters():
    found = {weight: fitted_at(weight) for weight in (0.0, 0.1, 1.0, 8.0, 100.0)}
    counts = [model.n_clusters_ for model in found.values()]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 13
    for weight, model in found.items():
        assert model.fusion_weight_ == weight
        assert model.selection_scores_ == {}
        np.testing.assert_allclose(model.fusion_path_[1:, 0], weight)
        np.testing.assert_array_equal(model.fusion_path_[:, 1], np.arange(13, model.n_clusters_ - 1, -1))
        assert len(model.hierarchy_) == 13 - model.n_clusters_


@pytest.mark.parametrize("weight", [1.0, 8.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_one_lambda_finds_separate_blobs(weight, seed):
    model = fitted_at(weight, random_state=seed)
    assert adjusted_rand_score(BLOB, model.labels_) == 1
    # The penalty draws the centroids together.
    plain = FCM(3, random_state=0).fit(THREE)
    assert pdist(model.centers_).sum() < pdist(plain.centers_).sum()


def test_fused_clusters_have_names():
    model = fitted_at(8.0)
    names = model.hierarchy_[:, :2].astype(int)
    # Each cluster is fused once, and only after it was made.
    assert len(np.unique(names)) == names.size
    assert (names < 13 + np.arange(len(names))[:, None]).all()
    left = set(range(13 + len(names))) - set(names.ravel())
    sizes = np.concatenate([np.ones(13), model.hierarchy_[:, 3]])
    assert len(left) == 3
    assert sum(sizes[list(left)]) == 13


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_of_the_given_lambda(scale):
    model, expected = fitted_at(8.0 * scale, THREE * scale), fitted_at(8.0)
    assert model.n_clusters_ == expected.n_clusters_
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-5)


@pytest.mark.parametrize("weight", [1e6, 1e300])
def test_all_fused_is_said(weight):
    with pytest.warns(ConvergenceWarning, match="fused all clusters into one; decrease fusion_weight"):
        model = CAFHFCM(fusion_weight=weight, random_state=0).fit(THREE)
    assert model.n_clusters_ == 1


def test_fuse_tol():
    counts = [fitted_at(0.5, fuse_tol=reach).n_clusters_ for reach in (0.0, 1e-2, 0.3)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2]


def test_fusion_weight_decides_alone():
    with pytest.raises(ValueError, match=r"fusion_weight decides how many clusters .* n_clusters must be None"):
        CAFHFCM(3, fusion_weight=1.0).fit(IRIS)


# The number of clusters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection, least", [("strength", (10, 10, 10)), ("lifetime", (10, 9, 10))])
def test_planted_blobs(selection, least):
    found = [
        sum(
            CAFHFCM(selection=selection, random_state=seed).fit(planted(K, seed)).n_clusters_ == K for seed in range(10)
        )
        for K in (3, 5, 8)
    ]
    assert (np.array(found) >= least).all(), found


@pytest.mark.parametrize("d, K", [(2, 12), (3, 4), (5, 7), (10, 3), (20, 9)])
def test_planted_blobs_of_several_dimensions(d, K):
    model = CAFHFCM(random_state=0).fit(planted(K, d, n=800, d=d, apart=4.0))
    assert model.n_clusters_ == K
    assert model.selection_scores_[K] > 0.9 > model.selection_scores_[K + 1]


@pytest.mark.parametrize(
    "name, K", {"iris": 2, "wine": 3, "digits": 3, "breast_cancer": 2, "blobs": 5, "varied_blobs": 4}.items()
)
def test_number_found_on_known_data(name, K):
    assert CAFHFCM(random_state=0).fit(offline_sets()[name][0]).n_clusters_ == K


def test_selection_by_strength():
    model = CAFHFCM(random_state=0).fit(THREE)
    scores = model.selection_scores_
    assert list(scores) == list(range(2, int(np.ceil(np.sqrt(75))) + 1))
    assert model.n_clusters_ == max(K for K, score in scores.items() if score >= 0.8)
    assert CAFHFCM(min_strength=0.0, random_state=0).fit(THREE).n_clusters_ == max(scores)
    noise = np.random.RandomState(0).uniform(size=(200, 2))
    assert CAFHFCM(min_strength=1.0, random_state=0).fit(noise).n_clusters_ == 2
    assert CAFHFCM(max_clusters=2, random_state=0).fit(THREE).n_clusters_ == 2
    assert CAFHFCM(3, random_state=0).fit(THREE).selection_scores_ == {}


def test_selection_by_silhouette_and_lifetime():
    for selection in ("silhouette", "lifetime"):
        model = CAFHFCM(selection=selection, random_state=0).fit(THREE)
        assert model.n_clusters_ == 3
        assert max(model.selection_scores_, key=model.selection_scores_.get) == 3
        assert min(model.selection_scores_) == 2
    spans = np.diff(np.log(model.fusion_path_[1:, 0]))
    np.testing.assert_allclose([model.selection_scores_[K] for K in range(12, 1, -1)], spans)


def test_coinciding_centroids_are_fused():
    """Noise in many features: fuzzy c-means has no two distinct centroids, whatever the path says."""
    model = CAFHFCM(random_state=0).fit(np.random.RandomState(0).randn(12, 50))
    assert len(np.unique(model.labels_)) == model.n_clusters_
    assert model.n_clusters_ == 1 or pdist(model.centers_).min() > 1e-2


def test_few_samples_are_not_halved():
    X = THREE[:19]
    strength, silhouette = (CAFHFCM(selection=s, random_state=0).fit(X) for s in ("strength", "silhouette"))
    assert strength.selection_scores_ == silhouette.selection_scores_
    assert strength.n_clusters_ == silhouette.n_clusters_ == 3
    assert CAFHFCM(random_state=0).fit(THREE[:20]).selection_scores_ != silhouette.selection_scores_


def in_block(X, weight=None):
    return Block(np.ascontiguousarray(X, dtype=float), weight, Frame(np.zeros(X.shape[1]), 1.0))


def strength_by_pairs(X, V, others):
    """The definition: over the clusters of V with a pair, the least share of pairs that the others keep."""
    own, foreign = cdist(X, V).argmin(axis=1), cdist(X, others).argmin(axis=1)
    shares = []
    for k in range(len(V)):
        pairs = list(itertools.combinations(np.flatnonzero(own == k), 2))
        if pairs:
            shares.append(np.mean([foreign[i] == foreign[j] for i, j in pairs]))
    return min(shares)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_prediction_strength_by_pairs(K):
    rng = np.random.RandomState(K)
    X = rng.normal(size=(60, 2))
    V, others = X[:K], X[10 : 10 + K]
    expected = strength_by_pairs(X, V, others)
    assert prediction_strength(in_block(X), V, others) == pytest.approx(expected, rel=1e-12)
    assert 0 < expected < 1


def test_prediction_strength_of_degenerate_clusters():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [9.0]])
    # Single rows have no pairs; of none but such there is nothing to say, nor where a cluster is empty.
    assert prediction_strength(in_block(X), np.array([[0.1], [5.0], [9.0]]), np.array([[0.1], [5.0], [9.0]])) == 1
    assert prediction_strength(in_block(X[2:]), X[2:], X[2:]) == 0
    assert prediction_strength(in_block(X), np.array([[0.1], [7.0], [99.0]]), X[:3]) == 0


def test_prediction_strength_weighs_pairs():
    rng = np.random.RandomState(0)
    X, weight = rng.normal(size=(40, 2)), rng.uniform(0.5, 3, 40)
    V, others = X[:3], X[5:8]
    own, foreign = cdist(X, V).argmin(axis=1), cdist(X, others).argmin(axis=1)
    shares = []
    for k in range(3):
        pairs = list(itertools.combinations(np.flatnonzero(own == k), 2))
        mass = [weight[i] * weight[j] for i, j in pairs]
        shares.append(np.average([foreign[i] == foreign[j] for i, j in pairs], weights=mass))
    assert prediction_strength(in_block(X, weight), V, others) == pytest.approx(min(shares), rel=1e-12)


def test_simplified_silhouette_by_distances():
    rng = np.random.RandomState(0)
    X, V, weight = rng.normal(size=(50, 3)), rng.normal(size=(4, 3)), rng.uniform(1, 2, 50)
    D = np.sort(cdist(X, V), axis=1)
    ratio = 1 - D[:, 0] / D[:, 1]
    assert simplified_silhouette(in_block(X), V) == pytest.approx(ratio.mean(), rel=1e-10)
    assert simplified_silhouette(in_block(X, weight), V) == pytest.approx(np.average(ratio, weights=weight), rel=1e-10)
    assert simplified_silhouette(in_block(V), V) == 1


def test_lifetimes():
    path = np.array([[0.0, 5], [1.0, 4], [np.e, 3], [np.e**4, 2], [np.e**6, 1]])
    assert lifetimes(path) == pytest.approx({4: 1.0, 3: 3.0, 2: 2.0})
    assert lifetimes(np.array([[0.0, 2], [1.0, 1]])) == {}


def test_halves_do_not_depend_on_the_order():
    rng = np.random.RandomState(0)
    shuffled = rng.permutation(150)
    X = THREE[np.argsort(shuffled)]
    parts = [halves(make_blocks(data), np.random.RandomState(1)) for data in (THREE, X)]
    for one, two in zip(*parts, strict=True):
        assert one.n == two.n == 75
        np.testing.assert_array_equal(np.sort(one.joined().X, axis=0), np.sort(two.joined().X, axis=0))
    assert not set(map(tuple, parts[0][0].joined().X)) & set(map(tuple, parts[0][1].joined().X))


def test_order_of_the_rows_does_not_matter():
    order = np.random.RandomState(0).permutation(150)
    model, shuffled = (CAFHFCM(random_state=0).fit(X) for X in (IRIS, IRIS[order]))
    assert model.n_clusters_ == shuffled.n_clusters_
    np.testing.assert_allclose(model.memberships_[order], shuffled.memberships_, rtol=0, atol=1e-5)


# Degenerate data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["strength", "silhouette", "lifetime"])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_identical_points_are_one_cluster(selection, n):
    model = CAFHFCM(selection=selection).fit(np.full((n, 2), 3.7))
    assert model.n_clusters_ == 1
    assert model.selection_scores_ == {}
    np.testing.assert_allclose(model.centers_, [[3.7, 3.7]])


@pytest.mark.parametrize("selection", ["strength", "silhouette", "lifetime"])
@pytest.mark.parametrize("distinct", [2, 3, 5])
def test_few_distinct_points(selection, distinct):
    points = np.array([[0.0, 0.0], [9.0, 1.0], [-4.0, 8.0], [3.0, -7.0], [20.0, 20.0]])[:distinct]
    model = CAFHFCM(selection=selection, random_state=0).fit(np.repeat(points, 20, axis=0))
    assert model.n_clusters_ == distinct
    np.testing.assert_allclose(model.memberships_.max(axis=1), 1)


def test_as_many_clusters_as_samples():
    X = THREE[:10]
    model = CAFHFCM(10, random_state=0).fit(X)
    assert sorted(model.labels_) == list(range(10))
    assert model.fusion_path_.tolist() == [[0, 10]]


def test_fewer_distinct_points_than_clusters_are_said():
    with pytest.warns(ConvergenceWarning, match="2 distinct prototypes, fewer than n_clusters=3"):
        CAFHFCM(3, random_state=0).fit(np.repeat([[0.0, 0.0], [5.0, 1.0]], 15, axis=0))


# Many rows ------------------------------------------------------------------------------------------------------------


def test_coreset_stands_in_for_all_rows():
    X = make_blobs(20000, 3, centers=6, cluster_std=1.0, random_state=0)[0]
    X[:20] += 60  # a few rows far away
    blocks = make_blocks(X)
    rng = np.random.RandomState(0)
    core = coreset(blocks, 2000, 40, rng)
    assert core.n == 2000
    assert core.total_weight == pytest.approx(20000, rel=0.03)
    for K in (1, 4, 9):
        V = rng.normal(size=(K, 3)) * 2
        full, part = (B.reduce(center_statistics, V, "fcm", 2.0) for B in (blocks, core))
        assert part.objective == pytest.approx(full.objective, rel=0.05)


def test_half_of_a_coreset_is_drawn_by_squared_distance():
    """The twenty rows far away have nearly all of the squared distance to the one seed, which is none of them."""
    X = np.random.default_rng(0).normal(size=(10000, 2))
    X[:20] += 1000
    core = coreset(make_blocks(X), 1000, 1, np.random.RandomState(0)).joined()
    far = core.X[:, 0] > 500
    assert far.mean() == pytest.approx(0.5, abs=0.01)
    assert core.weight[far].sum() == pytest.approx(20, rel=0.05)  # each row counts as much as it should
    assert core.weight[~far].sum() == pytest.approx(9980, rel=0.05)


def test_many_rows():
    X, y = make_blobs(12000, 4, centers=6, cluster_std=0.6, random_state=1)
    model = CAFHFCM(random_state=0).fit(X)
    assert model.n_clusters_ == 6
    assert model.fusion_path_[0, 1] == 100
    assert adjusted_rand_score(y, model.labels_) == 1
    # The last passes see all rows.
    given = CAFHFCM(6, random_state=0).fit(X)
    assert given.objective_ == pytest.approx(FCM(6, random_state=0).fit(X).objective_, rel=1e-6)


def test_coreset_has_rows_for_all_clusters(monkeypatch):
    monkeypatch.setattr(cafhfcm, "_CORESET", 50)
    X = make_blobs(1200, 2, centers=60, cluster_std=0.05, center_box=(-50, 50), random_state=0)[0]
    model = CAFHFCM(50, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == 50


def test_coreset_of_copies():
    blocks = make_blocks(np.ones((6000, 2)))
    core = coreset(blocks, 100, 5, np.random.RandomState(0))
    np.testing.assert_allclose(core.joined().weight, 60)
    assert CAFHFCM().fit(np.ones((6000, 2))).n_clusters_ == 1


# Types, twins, protocol -----------------------------------------------------------------------------------------------


def test_float32_is_kept_and_close():
    model, expected = (CAFHFCM(3, random_state=0).fit(X) for X in (IRIS.astype(np.float32), IRIS))
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-3)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@pytest.mark.parametrize("setting", [{"n_clusters": 3}, {}, {"selection": "silhouette"}, {"fusion_weight": 3.0}])
def test_compiled_fit_equals_its_twin(monkeypatch, setting):
    model = CAFHFCM(tol=1e-9, max_iter=500, random_state=0, **setting).fit(THREE)
    monkeypatch.setattr(kernels, "compiled", None)
    twin = CAFHFCM(tol=1e-9, max_iter=500, random_state=0, **setting).fit(THREE)
    np.testing.assert_allclose(model.memberships_, twin.memberships_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.fusion_path_, twin.fusion_path_, rtol=1e-6)
    assert model.selection_scores_ == pytest.approx(twin.selection_scores_)


def test_predict_as_trained():
    model = CAFHFCM(3, random_state=0).fit(WINE)
    np.testing.assert_array_equal(model.predict_memberships(WINE), model.memberships_)
    np.testing.assert_array_equal(model.predict(WINE), model.labels_)


def test_verbose(capsys):
    model = CAFHFCM(random_state=0, verbose=1).fit(THREE)
    said = capsys.readouterr().out
    assert f"path from 13 to 1 clusters, fusion weights up to {model.fusion_path_[-1, 0]:.4g}" in said
    assert re.search(r"scores 2: \S+, 3: 1,", said)
    assert "with 3 clusters" in said
    fitted_at(8.0, verbose=1)
    assert re.search(r"clusters left of each stage of the path: 3, .*, 2, 1\n", capsys.readouterr().out)


def test_not_converged_is_said():
    with pytest.warns(ConvergenceWarning, match=r"did not converge in max_iter=2 passes after the last fusion"):
        model = CAFHFCM(4, max_iter=2, tol=1e-12, random_state=0).fit(WINE)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_interrupted_passes_are_kept(monkeypatch):
    def interrupted(run, **settings):
        run.n_iter = 1
        run.history.append(1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(cafhfcm, "iterate", interrupted)
    model = CAFHFCM(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    assert model.predict(IRIS).shape == (150,)
    assert not model.converged_


def test_no_dask():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="takes no Dask array"):
        CAFHFCM().fit(da.from_array(IRIS, chunks=(50, 4)))


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_clusters": 0}, {"m": 1.0}, {"m": "two"}, {"n_initial_clusters": 0}, {"n_initial_clusters": "sqrt"}),
        *({"fusion_weight": -1.0}, {"fusion_weight": "path"}, {"selection": "gap"}, {"min_strength": 1.1}),
        *({"n_splits": 0}, {"max_clusters": 1}, {"fuse_tol": -1.0}, {"max_iter": 0}, {"tol": -1e-3}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of CAFHFCM must be"):
        CAFHFCM(**parameters).fit(IRIS)


def test_too_large_fuzzifier_is_named():
    with pytest.raises(ValueError, match="m=1000 is too large"):
        CAFHFCM(3, m=1000.0).fit(IRIS)


def test_blocks_of_halves_keep_weights():
    weight = np.arange(1.0, 151)
    blocks = make_blocks(THREE, weight)
    parts = halves(blocks, np.random.RandomState(0))
    assert sum(part.total_weight for part in parts) == weight.sum()
    assert all(isinstance(part, Blocks) and part.mean_variance == blocks.mean_variance for part in parts)
