"""FuzzyCMedoids: exhaustive search, moves and swaps by their definitions, dissimilarities of any kind."""

import itertools
import warnings

import numpy as np
import pytest
from helpers.dissimilarities import check_with_dissimilarities
from helpers.tables import offline_sets, some_rows
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from soft_clustering import FCM, FuzzyCMedoids
from soft_clustering.relational import fuzzy_c_medoids
from soft_clustering.relational.fuzzy_c_medoids import joined_costs
from soft_clustering.testing import check_soft_clusterer

IRIS, CLASSES = load_iris(return_X_y=True)
NOISY = np.vstack([IRIS, np.random.RandomState(0).uniform(-10, 20, (15, 4))])
NEW = np.array([[5.0, 3.4, 1.5, 0.2], [6.0, 2.9, 4.6, 1.4], [30.0, 30.0, 30.0, 30.0]])


def memberships(R, m):
    """u_ik by definition, for R > 0 or a row on a medoid."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        U = 1 / np.sum((R[:, :, None] / R[:, None, :]) ** (1 / (m - 1)), axis=2)
    U[(R == 0).any(axis=1)] = (R == 0)[(R == 0).any(axis=1)]
    return U


def cost(R, m, w=1.0, noise=None):
    """J of the medoids whose columns R are, at the memberships that minimise it."""
    R = R if noise is None else np.column_stack([R, np.full(len(R), noise)])
    return float(np.sum(w * np.sum(memberships(R, m) ** m * R, axis=1)))


def exhaustive(R, K, m, w=1.0, noise=None):
    """The least J over all sets of medoids."""
    return min(cost(R[:, list(M)], m, w, noise) for M in itertools.combinations(range(len(R)), K))


# The method -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1.0, 2.0])
@pytest.mark.parametrize("m", [2.0, 1.3])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_exhaustive_search(exponent, m, K):
    for seed in range(4):
        rng = np.random.RandomState(seed)
        X, w = rng.normal(size=(18, 2)), rng.uniform(0.3, 3, 18)
        model = FuzzyCMedoids(K, m=m, exponent=exponent, n_init=5, random_state=0).fit(X, sample_weight=w)
        R = cdist(X, X) ** exponent
        assert model.objective_ == pytest.approx(exhaustive(R, K, m, w), rel=1e-9)
        assert model.objective_ == pytest.approx(cost(R[:, model.medoid_indices_], m, w), rel=1e-10)
        np.testing.assert_allclose(model.memberships_, memberships(R[:, model.medoid_indices_], m), atol=1e-9)
        assert model.converged_
        assert model.score(X, sample_weight=w) == pytest.approx(-model.objective_, rel=1e-10)


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_exhaustive_search_with_noise(exponent):
    for seed in range(4):
        X = np.random.RandomState(seed).normal(size=(16, 2))
        model = FuzzyCMedoids(2, m=1.7, exponent=exponent, noise_distance=0.9, n_init=5, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # noise takes more than half
            model.fit(X)
        R = cdist(X, X) ** exponent
        assert model.objective_ == pytest.approx(exhaustive(R, 2, 1.7, noise=0.9**exponent), rel=1e-9)


@pytest.mark.parametrize("m", [2.0, 1.2])
def test_nothing_gains_at_the_end(m):
    """Neither moving all medoids within their clusters nor any swap lowers J."""
    model = FuzzyCMedoids(4, m=m, random_state=0).fit(IRIS)
    R, M = cdist(IRIS, IRIS), model.medoid_indices_
    W = memberships(R[:, M], m) ** m
    assert cost(R[:, np.argmin(R @ W, axis=0)], m) >= model.objective_ * (1 - 1e-8)
    for k, j in itertools.product(range(4), range(0, 150, 3)):
        others = np.delete(M, k)
        if j not in others:
            assert cost(R[:, [*others, j]], m) >= model.objective_ * (1 - 1e-8)


def test_moves_alone():
    """Without swaps: each medoid minimises the cost of its own cluster."""
    start = np.array([0, 1, 2])
    model = FuzzyCMedoids(3, m=1.4, swap=False, init=start).fit(IRIS)
    R, M = cdist(IRIS, IRIS), start
    objectives = [cost(R[:, M], 1.4)]
    while True:
        moved = np.argmin(R @ memberships(R[:, M], 1.4) ** 1.4, axis=0)
        if cost(R[:, moved], 1.4) >= objectives[-1]:
            break
        M = moved
        objectives.append(cost(R[:, M], 1.4))
    np.testing.assert_array_equal(model.medoid_indices_, M)
    np.testing.assert_allclose(model.objective_history_[: len(objectives)], objectives, rtol=1e-10)
    swapped = FuzzyCMedoids(3, m=1.4, init=start).fit(IRIS)
    assert swapped.objective_ < model.objective_


def test_swaps_find_more_clusters():
    X, y = load_digits(return_X_y=True)
    X, y = some_rows(X, y, 400)
    alone, swapped = (FuzzyCMedoids(10, swap=swap, n_init=1, random_state=0).fit(X) for swap in (False, True))
    assert swapped.objective_ < alone.objective_
    assert adjusted_rand_score(y, swapped.labels_) > adjusted_rand_score(y, alone.labels_)


@pytest.mark.parametrize("init", ["k-means++", "random", [3, 99, 120, 7]])
def test_no_pass_makes_the_objective_worse(init):
    for m in (2.0, 1.2, 1.01):
        model = FuzzyCMedoids(4, m=m, init=init, random_state=0).fit(IRIS)
        assert np.diff(model.objective_history_).max() <= 0
        assert len(set(model.medoid_indices_)) == 4


def test_costs_after_a_join():
    rng = np.random.default_rng(0)
    R, rest, w = rng.uniform(size=(30, 7)), rng.uniform(size=(30, 2)), rng.uniform(size=30)
    R[3, 2] = rest[5, 0] = 0
    for m in (2.0, 1.1, 4.0):
        together = np.sum(memberships(rest, m) ** m * rest, axis=1)
        found = joined_costs(R, together, w, m)
        expected = [cost(np.column_stack([rest, column]), m, w) for column in R.T]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        alone = joined_costs(R, np.full(30, np.inf), w, m)
        np.testing.assert_allclose(alone, w @ R, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_small_fuzzifiers_give_hard_medoids(seed):
    """The sum of dissimilarities to the nearest medoid; no swap lowers it, and there is hardly a better set."""
    R = cdist(*[np.random.RandomState(seed).normal(size=(20, 2))] * 2)

    def hard(M):
        return R[:, list(M)].min(axis=1).sum()

    model = FuzzyCMedoids(3, m=1.0001, metric="precomputed", n_init=5, random_state=0).fit(R)
    M = model.medoid_indices_
    assert model.objective_ == pytest.approx(hard(M), rel=1e-3)
    assert hard(M) <= 1.01 * min(hard(other) for other in itertools.combinations(range(20), 3))
    for k, j in itertools.product(range(3), range(20)):
        assert hard([*np.delete(M, k), j]) >= hard(M) * (1 - 1e-3)


# Candidates -----------------------------------------------------------------------------------------------------------


def test_all_candidates_are_the_exact_method():
    start = [0, 60, 110]
    exact = FuzzyCMedoids(3, init=start, swap=False).fit(IRIS)
    listed = FuzzyCMedoids(3, init=start, swap=False, n_candidates=150).fit(IRIS)
    np.testing.assert_array_equal(listed.medoid_indices_, exact.medoid_indices_)
    np.testing.assert_allclose(listed.memberships_, exact.memberships_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_few_candidates(metric):
    X, y = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    D = cdist(X, X) if metric == "precomputed" else X
    model = FuzzyCMedoids(3, metric=metric, n_candidates=1, n_init=5, random_state=0).fit(D)
    assert adjusted_rand_score(y, model.labels_) == 1
    alone = FuzzyCMedoids(3, metric=metric, n_candidates=8, swap=False, n_init=5, random_state=0).fit(D)
    assert adjusted_rand_score(y, alone.labels_) == 1


def test_many_objects_need_candidates(monkeypatch):
    monkeypatch.setattr(fuzzy_c_medoids, "MOST_PAIRS", 100)
    with pytest.raises(ValueError, match=r"n_candidates must be an int if n_samples > 100.*Got n_candidates=None"):
        FuzzyCMedoids(3).fit(IRIS)
    model = FuzzyCMedoids(3, n_candidates=10, random_state=0).fit(IRIS)
    assert adjusted_rand_score(CLASSES, model.labels_) > 0.6


def test_sampled_swaps(monkeypatch):
    monkeypatch.setattr(fuzzy_c_medoids, "_SWAPS", 150 * 20)
    exact = FuzzyCMedoids(3, random_state=0).fit(IRIS)
    assert exact.objective_ < 1.03 * FuzzyCMedoids(3, n_init=5, random_state=0).fit(IRIS).objective_


# Dissimilarities of any kind ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "canberra"])
def test_metric_is_that_of_precomputed_dissimilarities(metric):
    D, block = pairwise_distances(IRIS, metric=metric), pairwise_distances(NEW, IRIS, metric=metric)
    model = FuzzyCMedoids(3, metric=metric, m=1.5, random_state=0).fit(IRIS)
    given = FuzzyCMedoids(3, metric="precomputed", m=1.5, random_state=0).fit((D + D.T) / 2)
    np.testing.assert_array_equal(model.medoid_indices_, given.medoid_indices_)
    assert model.objective_ == pytest.approx(given.objective_, rel=1e-9)
    np.testing.assert_allclose(model.memberships_, given.memberships_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.predict_memberships(NEW), given.predict_memberships(block), rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.predict_memberships(IRIS), model.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.centers_, IRIS[model.medoid_indices_])
    assert not hasattr(given, "centers_")


def test_dissimilarities_to_the_medoids_are_enough():
    D = cdist(IRIS, IRIS)
    model = FuzzyCMedoids(3, metric="precomputed", noise_distance="auto", random_state=0).fit(D)
    few = D[:, model.medoid_indices_]
    np.testing.assert_array_equal(model.predict_memberships(few), model.memberships_)
    np.testing.assert_array_equal(model.predict_noise_mass(few.tolist()), model.noise_mass_)
    np.testing.assert_array_equal(model.predict(few), model.labels_)
    assert model.score(few) == pytest.approx(-model.objective_, rel=1e-12)
    with pytest.raises(ValueError, match="150 features"):
        model.predict(D[:, :2])
    for bad in (-few, np.where(few > 1, np.nan, few)):
        with pytest.raises(ValueError, match=r"\bX\b"):
            model.predict(bad)


def test_metric_that_is_a_function():
    model = FuzzyCMedoids(3, metric=lambda a, b: np.abs(a - b).sum(), random_state=0).fit(IRIS)
    expected = FuzzyCMedoids(3, metric="cityblock", random_state=0).fit(IRIS)
    np.testing.assert_array_equal(model.medoid_indices_, expected.medoid_indices_)
    np.testing.assert_allclose(model.predict_memberships(NEW), expected.predict_memberships(NEW), rtol=0, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "l2", "cityblock", "l1", "cosine"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows(metric, dtype):
    X = (IRIS * (np.random.default_rng(0).uniform(size=IRIS.shape) < 0.7) + [0.1, 0, 0, 0]).astype(dtype)
    dense = FuzzyCMedoids(3, metric=metric, random_state=0).fit(X)
    model = FuzzyCMedoids(3, metric=metric, random_state=0).fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(model.medoid_indices_, dense.medoid_indices_)
    np.testing.assert_array_equal(model.centers_, dense.centers_)
    assert model.memberships_.dtype == dtype
    tolerance = 1e-6 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=tolerance)
    for new in (X[:9], sparse.csr_array(X[:9])):
        for fitted in (model, dense):
            np.testing.assert_allclose(fitted.predict_memberships(new), dense.memberships_[:9], rtol=0, atol=tolerance)


def test_metrics_that_are_not_for_sparse_rows():
    with pytest.raises(TypeError, match=r"metric must be one of .*euclidean.* for a sparse X. Got 'chebyshev'"):
        FuzzyCMedoids(metric="chebyshev").fit(sparse.csr_array(IRIS))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        FuzzyCMedoids(metric="precomputed").fit(sparse.csr_array(cdist(IRIS, IRIS)))


@pytest.mark.parametrize("noise", [None, "auto"])
def test_conformance_with_dissimilarities(monkeypatch, noise):
    check_with_dissimilarities(monkeypatch, FuzzyCMedoids(3, metric="precomputed", noise_distance=noise))


@pytest.mark.parametrize(
    "options",
    [{"metric": "cosine"}, {"exponent": 2.0}, {"noise_distance": "auto"}, {"n_candidates": 5}, {"swap": False}],
)
def test_conformance_of_options(options):
    check_soft_clusterer(FuzzyCMedoids(3, **options))


@pytest.mark.parametrize("noise", [None, "auto"])
def test_weights_of_dissimilarities(noise):
    D, counts = cdist(IRIS, IRIS), np.random.default_rng(0).integers(0, 3, 150)
    options = {"metric": "precomputed", "noise_distance": noise, "random_state": 0}
    model = FuzzyCMedoids(3, **options).fit(D, sample_weight=counts)
    copies = np.repeat(np.arange(150), counts)
    repeated = FuzzyCMedoids(3, **options).fit(D[np.ix_(copies, copies)])
    np.testing.assert_array_equal(copies[repeated.medoid_indices_], model.medoid_indices_)
    assert counts[model.medoid_indices_].min() > 0
    np.testing.assert_allclose(model.memberships_, repeated.predict_memberships(D[:, copies]), rtol=0, atol=1e-9)


# Starts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [[0, 1], [0, 1, 1], [0, 1, 150], [-1, 0, 1], [0.5, 1, 2], ["a", "b", "c"]])
def test_refused_starts(bad):
    with pytest.raises(ValueError, match=r"\binit\b"):
        FuzzyCMedoids(3, init=bad).fit(IRIS)


def test_start_with_weights():
    weight = np.where(np.arange(150) % 2, 1.0, 0.0)
    model = FuzzyCMedoids(3, init=[1, 71, 131], max_iter=1, swap=False).fit(IRIS, sample_weight=weight)
    assert (model.medoid_indices_ % 2 == 1).all()
    with pytest.raises(ValueError, match="init must hold indices of samples with a positive sample_weight"):
        FuzzyCMedoids(3, init=[0, 71, 131]).fit(IRIS, sample_weight=weight)


def test_the_order_of_the_samples_does_not_matter():
    X = np.random.default_rng(0).normal(size=(90, 3))
    order = np.random.default_rng(1).permutation(90)
    model, other = (FuzzyCMedoids(4, n_init=1, random_state=0).fit(X[rows]) for rows in (np.arange(90), order))
    np.testing.assert_array_equal(order[other.medoid_indices_], model.medoid_indices_)


# Noise ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_automatic_noise_distance(exponent):
    plain = FuzzyCMedoids(3, exponent=exponent, random_state=0).fit(NOISY)
    median = np.sort(cdist(NOISY, plain.centers_).min(axis=1))[(len(NOISY) - 1) // 2]
    for factor in (10.0, 5.0):
        model = FuzzyCMedoids(3, exponent=exponent, noise_distance="auto", noise_scale=factor, random_state=0)
        model.fit(NOISY)
        assert model.noise_distance_ == pytest.approx(np.sqrt(factor) * median, rel=1e-9)
        np.testing.assert_allclose(model.memberships_.sum(axis=1) + model.noise_mass_, 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_outliers_are_noise(exponent):
    model = FuzzyCMedoids(3, exponent=exponent, noise_distance="auto", random_state=0).fit(NOISY)
    assert (model.labels_[150:] == -1).mean() > 0.7
    assert (model.labels_[:150] == -1).mean() < 0.05


def test_outliers_are_no_medoids():
    """At most n_clusters outliers would be medoids of their own without noise."""
    X = np.vstack([make_blobs(150, centers=[[0, 0], [8, 0]], random_state=0)[0], [[4.0, 90.0], [4.0, 91.0]]])
    plain = FuzzyCMedoids(2, exponent=2.0, random_state=0).fit(X)
    model = FuzzyCMedoids(2, exponent=2.0, noise_distance=4.0, random_state=0).fit(X)
    assert max(plain.medoid_indices_) >= 150
    assert max(model.medoid_indices_) < 150
    np.testing.assert_array_equal(model.labels_[150:], -1)
    assert model.noise_mass_[150:].min() > 0.99


def test_far_noise_is_no_noise():
    plain = FuzzyCMedoids(3, random_state=0).fit(IRIS)
    model = FuzzyCMedoids(3, noise_distance=1e12, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(model.medoid_indices_, plain.medoid_indices_)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, rtol=0, atol=1e-9)


# Degenerate data ------------------------------------------------------------------------------------------------------


def test_few_distinct_objects_are_named():
    X = np.repeat([[0.0], [5.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="X has duplicates and only 2 distinct samples: use fewer clusters"):
        model = FuzzyCMedoids(3, random_state=0).fit(X)
    assert len(set(model.medoid_indices_)) == 3


def test_every_object_is_a_medoid():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    model = FuzzyCMedoids(4, random_state=0).fit(X)
    np.testing.assert_array_equal(np.sort(model.medoid_indices_), range(4))
    np.testing.assert_allclose(model.memberships_.max(axis=1), 1, atol=1e-12)


def test_an_object_between_is_shared():
    X = np.array([[0.0], [0.1], [-0.1], [10.0], [10.1], [9.9], [5.0]])
    model = FuzzyCMedoids(2, m=2.0, random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_[6], 0.5, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.sort(model.medoid_indices_), [0, 3])


def test_agreement_with_the_classes_of_ten_sets():
    found, centers = [], []
    for X, y in offline_sets().values():
        X, y = some_rows(X, y, 250)
        for cls, scores in ((FuzzyCMedoids, found), (FCM, centers)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                scores.append(adjusted_rand_score(y, cls(len(np.unique(y)), random_state=0).fit(X).labels_))
    assert np.mean(found) > 0.58
    assert np.mean(found) > np.mean(centers) - 0.04
