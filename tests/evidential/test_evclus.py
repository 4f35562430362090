"""EVCLUS: the criterion by loops over pairs, measured values, dissimilarities of any kind, degenerate data."""

import math
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from soft_clustering import EVCLUS
from soft_clustering.datasets import get_dataset
from soft_clustering.engine.dissimilarities import Dissimilarities
from soft_clustering.engine.loop import Run
from soft_clustering.evidential import evclus
from soft_clustering.evidential.credal import make_focal_sets
from soft_clustering.evidential.evclus import sample_partners
from soft_clustering.evidential.stress import AllPairs, SampledPairs, conflict_matrix, targets
from soft_clustering.testing import check_soft_clusterer

IRIS, CLASSES = load_iris(return_X_y=True)
NEW = np.array([[5.0, 3.4, 1.5, 0.2], [6.0, 2.9, 4.6, 1.4], [30.0, 30.0, 30.0, 30.0]])
KINDS = ["full", "pairs", "simple", [(0,), (1, 2), (3,), (0, 1, 2, 3)]]
each_kind = pytest.mark.parametrize("kind", KINDS)


def explicit_stress(M, delta, Xi, pairs):
    """The published criterion: a loop over pairs."""
    top = sum((M[i] @ Xi @ M[j] - delta[i, j]) ** 2 for i, j in pairs)
    return top / sum(delta[i, j] ** 2 for i, j in pairs)


def explicit_targets(D, model):
    """0 up to near_, 0.95 at d0_."""
    beyond = np.maximum(D**2 - model.near_**2, 0)
    return 1 - 0.05 ** (beyond / (model.d0_**2 - model.near_**2))


def all_pairs(kind, n=25, K=4, seed=0):
    """A criterion over all pairs, its matrices, and masses that need not be on the simplex."""
    rng = np.random.default_rng(seed)
    Xi = conflict_matrix(make_focal_sets(kind, K))
    delta = targets(cdist(*[rng.normal(size=(n, 3))] * 2), 2.0)
    return AllPairs(delta, Xi), delta, Xi, rng.dirichlet(np.ones(len(Xi)), n) + 0.1 * rng.normal(size=(n, len(Xi)))


def sampled_pairs(kind, n=25, K=4, k=6, size=4, seed=0):
    """A criterion over sampled pairs, its matrices, masses, and the pairs."""
    _, delta, Xi, M = all_pairs(kind, n, K, seed)
    rng = np.random.default_rng(seed)
    order, groups = rng.permutation(n), -(-n // size)
    partners = rng.integers(n, size=(groups, k))
    grouped, pairs = np.zeros((groups, size, k)), []
    for place, i in enumerate(order):
        others = order[partners[place // size]]
        grouped[place // size, place % size] = delta[i, others]
        pairs += [(i, j) for j in others]
    return SampledPairs(order, partners, grouped, Xi), delta, Xi, M, pairs


# The criterion --------------------------------------------------------------------------------------------------------


@each_kind
def test_conflict_matrix(kind):
    F = make_focal_sets(kind, 4)
    sets = [set(np.flatnonzero(row)) for row in F]
    expected = [[float(not (a & b)) for b in sets] for a in sets]
    np.testing.assert_array_equal(conflict_matrix(F), expected)
    np.testing.assert_array_equal(conflict_matrix(F)[0], 1)


@each_kind
def test_stress_over_all_pairs(kind):
    pairs, delta, Xi, M = all_pairs(kind)
    expected = explicit_stress(M, delta, Xi, [(i, j) for i in range(25) for j in range(i)])
    (P,) = pairs.products([M])
    assert pairs.stress(M, P) == pytest.approx(expected, rel=1e-12)
    assert pairs.gradient(M, P)[0] == pytest.approx(expected, rel=1e-12)


@each_kind
def test_stress_over_sampled_pairs(kind):
    criterion, delta, Xi, M, pairs = sampled_pairs(kind)
    expected = explicit_stress(M, delta, Xi, pairs)
    assert criterion.stress(M, None) == pytest.approx(expected, rel=1e-12)
    assert criterion.gradient(M, None)[0] == pytest.approx(expected, rel=1e-12)


@each_kind
@pytest.mark.parametrize("sampled", [False, True])
def test_gradient_by_finite_differences(kind, sampled):
    criterion, _, _, M, *_ = sampled_pairs(kind) if sampled else all_pairs(kind)
    G = criterion.gradient(M, *criterion.products([M]))[1]
    step = 1e-6
    for i, a in [(0, 0), (3, 1), (7, -1), (24, 2), (11, 0)]:
        ends = []
        for sign in (1, -1):
            other = M.copy()
            other[i, a] += sign * step
            ends.append(criterion.stress(other, *criterion.products([other])))
        assert G[i, a] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-9)


def test_sampled_parts_do_not_matter(monkeypatch):
    criterion, _, _, M, _ = sampled_pairs("full")
    stress, gradient = criterion.stress(M, None), criterion.gradient(M, None)[1]
    monkeypatch.setattr("soft_clustering.evidential.stress._PART", 30)
    assert len(list(criterion._parts(M))) == 7
    assert criterion.stress(M, None) == pytest.approx(stress, rel=1e-14)
    np.testing.assert_allclose(criterion.gradient(M, None)[1], gradient, rtol=0, atol=1e-15)


def test_products_of_several_starts():
    pairs, delta, _, M = all_pairs("simple")
    for P, masses in zip(pairs.products([M, 2 * M, M**2]), [M, 2 * M, M**2], strict=True):
        np.testing.assert_allclose(P, delta @ masses, rtol=1e-12)


@each_kind
@pytest.mark.filterwarnings("ignore:EVCLUS left")
@pytest.mark.parametrize("k", [149, 30])
def test_objective_is_the_stress_of_the_masses(monkeypatch, kind, k):
    pairs = [(i, j) for i in range(150) for j in range(i)]
    original = evclus.sample_partners

    def sample(*arguments):
        order, partners, D = original(*arguments)
        pairs[:] = [(i, order[place]) for at, i in enumerate(order) for place in partners[at // D.shape[1]]]
        return order, partners, D

    monkeypatch.setattr(evclus, "sample_partners", sample)
    model = EVCLUS(4, focal_sets=kind, n_dissimilarities=k, random_state=0, n_init=1).fit(IRIS)
    assert model.n_dissimilarities_ == k
    assert 0 < model.near_ < model.d0_
    assert len(pairs) == (150 * 149 / 2 if k == 149 else 150 * 30)
    delta = explicit_targets(cdist(IRIS, IRIS), model)
    found = explicit_stress(model.masses_, delta, conflict_matrix(model.focal_sets_), pairs)
    assert model.objective_ == pytest.approx(found, rel=1e-10)
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1, rtol=1e-12)
    assert (model.masses_ >= 0).all()


@pytest.mark.parametrize("k", [149, 40])
def test_history_falls_to_a_stationary_point(k):
    model = EVCLUS(3, n_dissimilarities=k, tol=1e-12, max_iter=5000, random_state=0).fit(IRIS)
    assert model.converged_
    assert np.all(np.diff(model.objective_history_) <= 0)
    assert model.objective_ == model.objective_history_[-1]
    assert len(model.objective_history_) <= model.n_iter_ + 1
    if k == 149:
        pairs = AllPairs(explicit_targets(cdist(IRIS, IRIS), model), conflict_matrix(model.focal_sets_))
        G = pairs.gradient(model.masses_, *pairs.products([model.masses_]))[1]
        # to first order no row can gain by moving towards a corner
        assert ((G * model.masses_).sum(axis=1) - G.min(axis=1)).max() < 1e-6


# Measured values ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["kmeans", "random"])
@pytest.mark.parametrize("seed", [0, 1])
def test_iris(init, seed):
    model = EVCLUS(3, quantile=0.9, init=init, n_init=1, random_state=seed).fit(IRIS)
    assert model.objective_ == pytest.approx(0.0164, abs=5e-5)


def test_high_dimensional_blobs():
    X, y = get_dataset("high_dimensional_blobs")
    model = EVCLUS(len(np.unique(y)), quantile=0.9, n_init=2, random_state=0).fit(X[:800])
    assert adjusted_rand_score(y[:800], model.labels_) == 1
    assert model.objective_ < 2e-4


def test_agreement_with_the_classes_of_ten_sets():
    found = []
    for X, y in offline_sets().values():
        rows = np.random.RandomState(0).permutation(len(X))[:500]
        model = EVCLUS(len(np.unique(y)), n_init=2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.append(adjusted_rand_score(y[rows], model.fit(X[rows]).labels_))
    assert np.mean(found) >= 0.54


def test_outliers():
    X, _ = make_blobs(150, centers=[[-6, 0], [6, 0]], cluster_std=0.5, random_state=0)
    model = EVCLUS(2, d0=12.0, random_state=0).fit(np.vstack([X, [[0, 0], [0, 60]]]))
    between, far = -2, -1
    assert model.outlier_mass_[far] > 0.9
    assert model.outlier_mass_[:-2].max() < 0.1
    assert model.ignorance_[:-2].max() < 0.1
    np.testing.assert_allclose(model.memberships_[between], 0.5, rtol=0, atol=0.1)
    assert not model.get_cover()[far].any()
    np.testing.assert_array_equal(model.lower_approximation_[:-2].sum(axis=1), 1)


def test_dissimilarities_that_are_no_distances():
    """Circles, by the widest gap on the way from one point to another."""
    X, y = make_circles(150, factor=0.4, noise=0.02, random_state=0)
    D = cdist(X, X)
    for k in range(len(D)):
        D = np.minimum(D, np.maximum(D[:, [k]], D[[k]]))
    model = EVCLUS(2, metric="precomputed", random_state=0).fit(D)
    assert adjusted_rand_score(y, model.labels_) == 1


# Targets --------------------------------------------------------------------------------------------------------------


def test_target_at_d0():
    found = targets(np.array([0.0, 1.0, 2.0, 4.0, 1e200]), 2.0)
    expected = [0, *(1 - math.exp(math.log(0.05) * (d / 2) ** 2) for d in (1, 2, 4)), 1]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found[2] == pytest.approx(0.95)


def test_target_between_near_and_d0():
    found = targets(np.array([0.0, 0.5, 1.0, 1.5, 2.0, 1e200]), 2.0, 1.0)
    expected = [0, 0, 0, 1 - math.exp(math.log(0.05) * (1.5**2 - 1) / 3), 0.95, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("K", [1, 2, 3, 10])
def test_automatic_scales(K):
    """The medians of the dissimilarities within and between K clusters of equal size, if the former are smaller."""
    D = np.sort(cdist(IRIS, IRIS)[np.triu_indices(150, 1)])
    model = EVCLUS(K, n_init=1, max_iter=1, random_state=0).fit(IRIS)
    within = len(D) / K
    assert model.near_ == pytest.approx(np.median(D[: round(within)]), rel=0.03)
    if K > 1:
        assert model.d0_ == pytest.approx(np.median(D[round(within) :]), rel=0.03)
    given = EVCLUS(K, quantile=0.9, n_init=1, max_iter=1, random_state=0).fit(IRIS)
    assert given.near_ == 0


def test_many_features():
    """Four Gaussians in 30 features: nearly all dissimilarities are alike, and the empty set must not explain them."""
    y = np.repeat(range(4), 60)
    X = np.random.RandomState(0).normal(size=(240, 30)) + 4 * np.eye(30)[y]
    model = EVCLUS(4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.outlier_mass_.mean() < 0.3


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9, 1.0])
def test_automatic_d0(quantile):
    D = cdist(IRIS, IRIS)[np.triu_indices(150, 1)]
    model = EVCLUS(3, quantile=quantile, n_init=1, random_state=0).fit(IRIS)
    assert model.d0_ == pytest.approx(np.quantile(D, quantile), rel=1e-12)
    sampled = EVCLUS(3, quantile=quantile, n_dissimilarities=100, n_init=1, random_state=0).fit(IRIS)
    assert sampled.d0_ == pytest.approx(np.quantile(D, quantile), rel=0.1)


def test_given_d0():
    auto = EVCLUS(3, quantile=0.5, random_state=0).fit(IRIS)
    given = EVCLUS(3, d0=auto.d0_, random_state=0).fit(IRIS)
    assert given.d0_ == pytest.approx(auto.d0_, rel=1e-14)
    np.testing.assert_allclose(given.masses_, auto.masses_, rtol=0, atol=1e-6)
    assert EVCLUS(3, d0=5.0, random_state=0).fit(IRIS).d0_ == pytest.approx(5, rel=1e-14)


def test_d0_where_most_objects_are_alike():
    X = np.concatenate([np.zeros((20, 1)), [[3.0], [4.0], [10.0]]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert EVCLUS(2, random_state=0).fit(X).d0_ == pytest.approx(1, rel=1e-14)


# Metrics --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "manhattan", "chebyshev", "cosine", "canberra"])
def test_metric_is_that_of_precomputed_dissimilarities(metric):
    D, block = pairwise_distances(IRIS, metric=metric), pairwise_distances(NEW, IRIS, metric=metric)
    options = {"init": "random", "random_state": 0}
    model = EVCLUS(3, metric=metric, **options).fit(IRIS)
    given = EVCLUS(3, metric="precomputed", **options).fit(D)
    assert model.d0_ == pytest.approx(given.d0_, rel=1e-7)
    assert model.objective_ == pytest.approx(given.objective_, rel=1e-4)
    np.testing.assert_allclose(model.memberships_, given.memberships_, rtol=0, atol=1e-3)
    given._known_masses = model._known_masses
    np.testing.assert_allclose(model.predict_masses(NEW), given.predict_masses(block), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "metric", ["l1", "l2", "minkowski", "sqeuclidean", "correlation", "braycurtis", "nan_euclidean"]
)
def test_other_metrics(metric):
    model = EVCLUS(3, metric=metric, quantile=0.5, n_init=1, random_state=0).fit(IRIS)
    D = pairwise_distances(IRIS, metric=metric)[np.triu_indices(150, 1)]
    assert model.d0_ == pytest.approx(np.median(D), rel=1e-6)
    assert np.mean(model.predict(IRIS) == model.labels_) > 0.9


def test_metric_of_truth_values():
    often = np.kron([[0.9, 0.1], [0.1, 0.9]], np.ones((20, 6)))
    X = np.random.default_rng(0).uniform(size=(40, 12)) < often
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn says that it converts to bool
        model = EVCLUS(2, metric="jaccard", random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1], 20), model.labels_) > 0.8


def test_conformance_with_another_metric():
    check_soft_clusterer(EVCLUS(2, metric="cityblock", n_init=1))


def test_conformance_with_sampled_pairs():
    check_soft_clusterer(EVCLUS(2, n_dissimilarities=20, n_init=1))


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
def test_metrics_that_depend_on_the_data(metric):
    with pytest.raises(ValueError, match=rf"metric must not be scaled by the data.*Got '{metric}'.*use 'euclidean'"):
        EVCLUS(metric=metric).fit(IRIS)


def test_unknown_metric():
    with pytest.raises(ValueError, match=r"'metric' parameter.*Got 'near' instead"):
        EVCLUS(metric="near").fit(IRIS)


def test_metric_that_is_not_defined():
    X = IRIS.copy()
    X[3] = 1.0  # no correlation with a constant
    with pytest.raises(ValueError, match="metric='correlation' is not defined, or not finite, between some rows of X"):
        EVCLUS(metric="correlation").fit(X)


# Precomputed ----------------------------------------------------------------------------------------------------------


BAD = {
    "square": np.zeros((5, 4)),
    ">= 0": -np.ones((5, 5)) + np.eye(5),
    "zero diagonal": np.ones((5, 5)),
    "symmetric": np.triu(np.ones((5, 5)), 1),
}


@pytest.mark.parametrize("rule", BAD)
def test_bad_dissimilarities(rule):
    with pytest.raises(ValueError, match=rf"\bX\b.*{rule}.*Got"):
        EVCLUS(2, metric="precomputed").fit(BAD[rule])


def test_bad_new_dissimilarities():
    model = EVCLUS(3, metric="precomputed", random_state=0).fit(cdist(IRIS, IRIS))
    with pytest.raises(ValueError, match="150 features"):
        model.predict(np.ones((2, 4)))
    with pytest.raises(ValueError, match="X must hold dissimilarities >= 0"):
        model.predict(-np.ones((2, 150)))
    assert model.__sklearn_tags__().input_tags.pairwise
    assert not EVCLUS().__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e100, 1e307])
def test_units_of_dissimilarities_do_not_matter(scale):
    D = cdist(IRIS, IRIS) / 8
    expected = EVCLUS(3, metric="precomputed", random_state=0).fit(D)
    model = EVCLUS(3, metric="precomputed", random_state=0).fit(D * scale)
    # 1e-310 has few digits
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-3 if scale < 1e-300 else 1e-6)
    np.testing.assert_allclose(model.predict_memberships(D[:5] * scale), expected.predict_memberships(D[:5]), atol=1e-3)


def test_input_is_kept_and_slight_asymmetry_is_rounding():
    D = cdist(IRIS, IRIS)
    noisy = D + 1e-9 * np.random.default_rng(0).uniform(size=D.shape)
    before = noisy.copy()
    model = EVCLUS(3, metric="precomputed", random_state=0).fit(noisy)
    np.testing.assert_array_equal(noisy, before)
    expected = EVCLUS(3, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-4)


def test_float32_dissimilarities():
    D = cdist(IRIS, IRIS).astype(np.float32)
    model = EVCLUS(3, metric="precomputed", random_state=0).fit(D)
    assert model.masses_.dtype == model.memberships_.dtype == model.predict_masses(D[:3]).dtype == np.float32


# Prediction -----------------------------------------------------------------------------------------------------------


@each_kind
@pytest.mark.filterwarnings("ignore:EVCLUS left")
@pytest.mark.parametrize("k", [149, 50])
def test_new_masses_fit_best(kind, k):
    """Against a general solver, on the sum of squares over the training objects that are known."""
    model = EVCLUS(4, focal_sets=kind, n_dissimilarities=k, n_init=1, random_state=0).fit(IRIS)
    frame = model._known.metric.frame
    known = model._known.others / float(frame.scale) + frame.shift
    assert len(known) == (150 if k == 149 else 50)
    delta = explicit_targets(cdist(NEW, known), model)
    A = model._known_masses @ conflict_matrix(model.focal_sets_)
    f = A.shape[1]
    for row, m in zip(delta, model.predict_masses(NEW), strict=True):
        assert m.min() >= 0
        assert m.sum() == pytest.approx(1, rel=1e-12)

        def cost(x, row=row):
            return np.square(A @ x - row).mean(), 2 * A.T @ (A @ x - row) / len(A)

        found = minimize(
            cost,
            np.full(f, 1 / f),
            jac=True,
            bounds=[(0, 1)] * f,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        assert cost(m)[0] <= found.fun + 2e-6


def test_new_objects():
    model = EVCLUS(3, random_state=0).fit(IRIS)
    masses = model.predict_masses(NEW)
    assert model.predict(NEW)[0] == model.labels_[0]
    assert masses[2, 0] > 0.8  # in conflict with everything
    np.testing.assert_allclose(model.predict_masses(NEW[1:2]), masses[1:2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.predict_memberships(IRIS), model.memberships_, rtol=0, atol=0.05)
    assert np.mean(model.predict(IRIS) == model.labels_) > 0.97


@pytest.mark.parametrize("metric", ["cityblock", "precomputed"])
def test_a_metric_set_after_the_fit_does_not_matter(metric):
    model = EVCLUS(3, random_state=0).fit(IRIS)
    expected = model.predict_masses(NEW)
    np.testing.assert_array_equal(model.set_params(metric=metric).predict_masses(NEW), expected)


def test_chunks_of_new_objects(monkeypatch):
    model = EVCLUS(3, random_state=0).fit(IRIS)
    expected = model.predict_masses(IRIS)
    monkeypatch.setattr(evclus, "_CHUNK", 150 * 7)
    np.testing.assert_allclose(model.predict_masses(IRIS), expected, rtol=0, atol=1e-9)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        EVCLUS().predict_masses(IRIS)


# Sampled pairs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, k", [(300, 100), (300, 200), (103, 30), (60, 58), (25, 1)])
def test_partners_are_distinct(n, k):
    """Exactly k different others of every object, each pair about equally often, the same again with the same seed."""
    objects = Dissimilarities(np.arange(n, dtype=float)[:, None], "sqeuclidean")
    times = np.zeros(n)
    for seed in range(20):
        order, partners, D = sample_partners(objects, k, np.random.RandomState(seed))
        again = sample_partners(objects, k, np.random.RandomState(seed))
        np.testing.assert_array_equal(partners, again[1])
        assert partners.min() >= 0 and partners.max() < n
        for place, i in enumerate(order):
            others = order[partners[place // D.shape[1]]]
            assert len(set(others.tolist()) - {i}) == k
            times[others] += 1
    expected = 20 * k
    assert np.abs(times - expected).max() < 6 * np.sqrt(20 * expected) + 1  # objects of a group share their partners


def test_partners_are_others():
    X = np.arange(103.0)[:, None]
    order, partners, D = sample_partners(Dissimilarities(X, "sqeuclidean"), 30, np.random.RandomState(0))
    assert sorted(order) == list(range(103))
    assert partners.shape == (6, 30)
    assert partners.max() < 103
    for place, i in enumerate(order):
        group = place // 20
        assert not set(partners[group]) & set(range(group * 20, group * 20 + 20))
        np.testing.assert_allclose(D[group, place % 20], (X[order[partners[group]], 0] - i) ** 2)
    np.testing.assert_array_equal(D.reshape(-1, 30)[103:], 0)


@pytest.mark.parametrize("k", [20, 40, 148])
def test_sampled_pairs_find_the_clusters(k):
    X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = EVCLUS(3, n_dissimilarities=k, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_automatic_number(monkeypatch):
    X, _ = make_blobs(300, centers=3, random_state=0)
    assert EVCLUS(3, n_init=1, random_state=0).fit(X).n_dissimilarities_ == 299
    monkeypatch.setattr(evclus, "_ALL_PAIRS", 250)
    assert EVCLUS(3, n_init=1, random_state=0).fit(X).n_dissimilarities_ == 200


def test_too_many_pairs(monkeypatch):
    monkeypatch.setattr(evclus, "_MOST_PAIRS", 100)
    with pytest.raises(ValueError, match=r"n_dissimilarities must be < n_samples - 1 if n_samples > 100.*Got"):
        EVCLUS(3, n_dissimilarities=149).fit(IRIS)
    EVCLUS(3, n_dissimilarities=20, n_init=1, random_state=0).fit(IRIS)


# Starts ---------------------------------------------------------------------------------------------------------------


def starts_of(model, X):
    """The masses that the runs of a fit start from."""
    found = []
    original = EVCLUS._start

    def recording(self, *arguments):
        found.append(original(self, *arguments))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EVCLUS, "_start", recording)
        model.fit(X)
    return found


def test_starts():
    X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    kinds = {"auto": 1, "kmeans": 3, "random": 0}
    for init, expected in kinds.items():
        starts = starts_of(EVCLUS(3, init=init, n_init=3, random_state=0), X)
        assert len(starts) == 3
        for M in starts:
            np.testing.assert_allclose(M.sum(axis=1), 1, rtol=1e-12)
            assert M.min() > 0
        from_labels = [M for M in starts if len(np.unique(M)) == 2]
        assert len(from_labels) == expected
        for M in from_labels:
            np.testing.assert_allclose(np.unique(M), [0.3 / 4, 0.7], rtol=1e-12)
            assert adjusted_rand_score(y, M.argmax(axis=1)) == 1
            assert set(M.argmax(axis=1)) == {1, 2, 3}


@pytest.mark.filterwarnings("ignore:EVCLUS left")
def test_label_start_takes_the_smallest_set():
    model = EVCLUS(3, focal_sets=[(0,), (1, 2), (0, 1, 2)], init="kmeans", n_init=1, random_state=0)
    (M,) = starts_of(model, IRIS)
    assert set(M.argmax(axis=1)) == {1, 2}


def test_best_start_is_kept(capsys):
    X, _ = make_blobs(200, centers=8, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = EVCLUS(8, init="random", n_init=5, max_iter=30, random_state=0, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == [f"EVCLUS start {i}" for i in range(1, 6)]
    objectives = [float(line.split("objective ")[1].split(",")[0]) for line in lines]
    assert model.objective_ == pytest.approx(min(objectives), rel=1e-7)
    assert max(objectives) > 1.01 * min(objectives)


def test_interrupted_fit_keeps_the_best_so_far(monkeypatch):
    calls = []
    original = AllPairs.products

    def products(self, masses):
        calls.append(len(masses))
        if len(calls) == 10:
            raise KeyboardInterrupt
        return original(self, masses)

    monkeypatch.setattr(AllPairs, "products", products)
    model = EVCLUS(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    assert calls[:9] == [4] * 9  # the starts share their products
    assert not model.converged_
    assert model.memberships_.shape == (150, 3)
    assert model.objective_ < model.objective_history_[0]
    assert model.predict(NEW).shape == (3,)


def test_interrupt_before_the_first_step(monkeypatch):
    def products(self, masses):
        raise KeyboardInterrupt

    monkeypatch.setattr(AllPairs, "products", products)
    model = EVCLUS(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    assert not hasattr(model, "memberships_")


# Degenerate data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", ["auto", 3])
@pytest.mark.parametrize("kind", ["simple", "full"])
def test_identical_objects(k, kind):
    with pytest.warns(ConvergenceWarning, match="EVCLUS found 1 distinct objects, fewer than n_clusters=3"):
        model = EVCLUS(3, focal_sets=kind, n_dissimilarities=k).fit(np.full((7, 2), 1e8 / 3))
    np.testing.assert_array_equal(model.ignorance_, 1)
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-14)
    assert model.objective_ == 0
    assert model.converged_
    assert np.isfinite(model.predict_masses([[0.0, 0.0], [1e8 / 3, 1e8 / 3]])).all()


def test_identical_objects_precomputed():
    with pytest.warns(ConvergenceWarning, match="EVCLUS found 1 distinct objects"):
        model = EVCLUS(2, metric="precomputed").fit(np.zeros((5, 5)))
    np.testing.assert_allclose(model.memberships_, 0.5, rtol=1e-14)


def test_fewer_objects_than_clusters_are_distinct():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="EVCLUS found 2 distinct objects, fewer than n_clusters=3"):
        EVCLUS(3, random_state=0).fit(X)


def test_clusters_without_objects_are_named():
    with pytest.warns(ConvergenceWarning, match=r"EVCLUS left 1 of n_clusters=2 clusters without objects"):
        EVCLUS(2, d0=1e9, random_state=0).fit(IRIS)


def test_one_object():
    model = EVCLUS(1).fit([[3.0, 4.0]])
    np.testing.assert_array_equal(model.memberships_, [[1.0]])
    np.testing.assert_array_equal(model.predict_memberships([[3.0, 4.0], [5.0, 6.0]]), 1)


def test_one_cluster():
    model = EVCLUS(1, random_state=0).fit(IRIS)
    assert model.masses_.shape == (150, 2)
    np.testing.assert_array_equal(model.memberships_, 1)


@pytest.mark.parametrize("unit", [1e6, 1e-150, 1e150])
def test_units_do_not_matter(unit):
    model, other = (EVCLUS(3, random_state=0).fit(scale * IRIS) for scale in (1, unit))
    np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=0, atol=1e-6)
    assert other.d0_ == pytest.approx(unit * model.d0_, rel=1e-12)


# Parameters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value",
    [
        ("metric", None),
        ("metric", 2),
        ("focal_sets", "auto"),
        ("focal_sets", [(0,), (1,)]),  # nothing contains cluster 2
        ("d0", 0.0),
        ("d0", "median"),
        ("d0", np.inf),
        ("quantile", 0.0),
        ("quantile", 1.1),
        ("n_dissimilarities", 0),
        ("n_dissimilarities", 2.5),
        ("n_dissimilarities", None),
        ("init", "k-means++"),
        ("init", np.zeros((3, 4))),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        EVCLUS(3, **{name: value}).fit(IRIS)


def test_no_dask():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="takes no Dask array"):
        EVCLUS(3).fit(da.from_array(IRIS, chunks=50))


def test_one_step_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not EVCLUS(3, max_iter=1, random_state=0).fit(IRIS).converged_
    with pytest.warns(
        ConvergenceWarning, match=r"EVCLUS did not converge in max_iter=2 steps.*Increase max_iter or tol"
    ):
        EVCLUS(3, max_iter=2, random_state=0).fit(IRIS)


# Many objects: the starts compete on some of them ---------------------------------------------------------------------


@pytest.mark.parametrize("pairs", ["auto", 100])
def test_starts_that_compete_on_some_objects(monkeypatch, pairs):
    X, y = make_blobs(400, 3, centers=4, cluster_std=1.5, random_state=1)
    expected = EVCLUS(4, n_dissimilarities=pairs, random_state=0).fit(X)
    monkeypatch.setattr(evclus, "_EASY", 300)
    monkeypatch.setattr(evclus, "_FEW", 150)
    model = EVCLUS(4, n_dissimilarities=pairs, random_state=0).fit(X)
    assert model.converged_
    assert model.n_iter_ < expected.n_iter_
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-3 if pairs == "auto" else 0.05)
    assert adjusted_rand_score(y, model.labels_) == pytest.approx(adjusted_rand_score(y, expected.labels_), abs=0.01)
    assert (EVCLUS(4, n_dissimilarities=pairs, random_state=0).fit(X).masses_ == model.masses_).all()
    D = cdist(X, X)
    given = EVCLUS(4, n_dissimilarities=pairs, metric="precomputed", random_state=0).fit(D)
    assert adjusted_rand_score(given.labels_, model.labels_) > 0.95


def test_starts_that_came_to_the_same_place():
    runs = [Run(None, [J]) for J in (0.3, 0.20001, 0.2, 0.5, 0.3001)]
    assert [run.history[-1] for run in evclus.different(runs)] == [0.2, 0.3, 0.5]
    assert len(evclus.different([Run(None, [0.0]), Run(None, [0.0])])) == 1
