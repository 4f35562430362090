"""RelationalFCM: R's fanny, fuzzy c-means, the objective by loops, dissimilarities of any kind, the spread."""

import warnings

import numpy as np
import pytest
from helpers.dissimilarities import check_with_dissimilarities
from helpers.tables import offline_sets, some_rows
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.preprocessing import scale

from soft_clustering import FCM, RelationalFCM
from soft_clustering.relational import relational_fcm
from soft_clustering.testing import check_soft_clusterer

IRIS, CLASSES = load_iris(return_X_y=True)
NEW = np.array([[5.0, 3.4, 1.5, 0.2], [6.0, 2.9, 4.6, 1.4], [30.0, 30.0, 30.0, 30.0]])
FULL = {"tol": 1e-12, "max_iter": 5000, "random_state": 0}

# R 4.2.2, cluster 2.1.4: fanny(dist(iris, metric), K, memb.exp = m, tol = 1e-15, maxit = 10000): the objective, Dunn's
# coefficient and the memberships of five flowers.
ROWS = [0, 50, 77, 100, 149]
FANNY = {
    ("euclidean", 3, 2.0): (
        45.0771627124,
        0.56791326546,
        [
            [0.9142273145, 0.0360311589, 0.0497415267],
            [0.0966199116, 0.4819901553, 0.4213899330],
            [0.0602749431, 0.6016037487, 0.3381213082],
            [0.0844480521, 0.6492733461, 0.2662786017],
            [0.0673431297, 0.4787038335, 0.4539530369],
        ],
    ),
    ("euclidean", 3, 1.5): (
        61.7251276013,
        0.805300260669,
        [
            [0.9956496423, 0.0013555335, 0.00299482425],
            [0.0260069019, 0.5374454883, 0.43654760980],
            [0.0096738455, 0.7380333541, 0.25229280044],
            [0.0117054746, 0.8880527418, 0.10024178362],
            [0.0131491301, 0.4592675592, 0.52758331069],
        ],
    ),
    ("euclidean", 3, 1.2): (
        66.8824200996,
        0.954255431546,
        [
            [9.99999487e-01, 4.59740623e-07, 5.32931059e-08],
            [3.83486976e-04, 5.29445891e-01, 4.70170622e-01],
            [3.43744758e-05, 1.60888655e-01, 8.39076970e-01],
            [1.52405662e-05, 3.73855616e-03, 9.96246203e-01],
            [5.32759745e-05, 8.37080684e-01, 1.62866040e-01],
        ],
    ),
    ("cityblock", 3, 2.0): (
        75.8635444319,
        0.574833302391,
        [
            [0.9234817204, 0.0320832221, 0.0444350574],
            [0.0959430900, 0.4718975842, 0.4321593258],
            [0.0602559826, 0.6209467039, 0.3187973135],
            [0.0909613803, 0.6542057193, 0.2548329004],
            [0.0709322807, 0.4892593198, 0.4398083995],
        ],
    ),
    ("cityblock", 2, 1.5): (
        146.558866393,
        0.92261635074,
        [
            [0.9979719634, 0.00202803656],
            [0.0294010294, 0.97059897059],
            [0.0104633276, 0.98953667243],
            [0.0456518499, 0.95434815010],
            [0.0123620652, 0.98763793476],
        ],
    ),
}


def matched(U, V):
    """V with its columns in the order of those of U."""
    return V[:, linear_sum_assignment(-U.T @ V)[1]]


def explicit_objective(U, D, m, w):
    """The published objective: a loop over clusters and pairs."""
    total = 0.0
    for u in U.T:
        top = sum(w[i] * w[j] * u[i] ** m * u[j] ** m * D[i, j] for i in range(len(D)) for j in range(len(D)))
        total += top / (2 * np.sum(w * u**m))
    return total


def no_distances():
    """Dissimilarities that are squared distances of no space."""
    return cdist(IRIS, IRIS, "chebyshev") ** 4


# The method -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric, K, m", FANNY)
@pytest.mark.parametrize("given", [False, True])
def test_fanny(metric, K, m, given):
    J, dunn, rows = FANNY[metric, K, m]
    X = cdist(IRIS, IRIS, metric) if given else IRIS
    model = RelationalFCM(K, m=m, metric="precomputed" if given else metric, **FULL).fit(X)
    assert model.objective_ == pytest.approx(J, rel=1e-10)
    assert np.mean(np.sum(model.memberships_**2, axis=1)) == pytest.approx(dunn, abs=1e-8)
    found = model.memberships_[ROWS]
    np.testing.assert_allclose(found, matched(found, np.array(rows)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("m", [2.0, 1.4])
@pytest.mark.parametrize("weighted", [False, True])
def test_squared_euclidean_distances_give_fuzzy_c_means(m, weighted):
    weight = np.random.default_rng(0).uniform(0.2, 3, 150) if weighted else None
    fcm = FCM(3, m=m, **FULL).fit(IRIS, sample_weight=weight)
    model = RelationalFCM(3, m=m, exponent=2.0, **FULL).fit(IRIS, sample_weight=weight)
    assert model.objective_ == pytest.approx(fcm.objective_, rel=1e-10)
    V = matched(fcm.memberships_, model.memberships_)
    np.testing.assert_allclose(V, fcm.memberships_, rtol=0, atol=1e-8)
    centers = model.coefficients_.T @ IRIS
    order = linear_sum_assignment(cdist(fcm.centers_, centers))[1]
    np.testing.assert_allclose(centers[order], fcm.centers_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(matched(fcm.predict_memberships(NEW), model.predict_memberships(NEW)),
                               fcm.predict_memberships(NEW), rtol=0, atol=1e-8)  # fmt: skip


@pytest.mark.parametrize("exponent, m", [(1.0, 2.0), (2.0, 1.3), (0.5, 1.7)])
def test_objective_by_definition(exponent, m):
    X, weight = IRIS[::5], np.random.default_rng(0).uniform(0.2, 3, 30)
    model = RelationalFCM(2, m=m, exponent=exponent, **FULL).fit(X, sample_weight=weight)
    U, D = model.memberships_, cdist(X, X) ** exponent
    assert model.objective_ == pytest.approx(explicit_objective(U, D, m, weight), rel=1e-9)
    C = weight[:, None] * U**m
    np.testing.assert_allclose(model.coefficients_, C / C.sum(axis=0), rtol=0, atol=1e-8)
    assert model.score(X, sample_weight=weight) == pytest.approx(-model.objective_, rel=1e-9)


@pytest.mark.parametrize("exponent", [1.0, 2.0])
@pytest.mark.parametrize("m", [2.0, 1.2])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_no_pass_makes_the_objective_worse(exponent, m, metric):
    exponent = 1.0 if metric == "cityblock" else exponent
    model = RelationalFCM(4, m=m, exponent=exponent, metric=metric, init="random", n_init=1, **FULL).fit(IRIS)
    assert np.diff(model.objective_history_).max() <= 1e-12 * model.objective_
    assert model.spread_ == 0


@pytest.mark.parametrize("data", [IRIS, scale(load_wine().data), scale(load_breast_cancer().data)])
@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_the_fit_is_at_rest(data, exponent):
    """Passes that follow the default fit move no membership by 1e-3."""
    model = RelationalFCM(3, exponent=exponent, random_state=0).fit(data)
    later = RelationalFCM(3, exponent=exponent, m=model.m_, init=model.memberships_, tol=1e-12, max_iter=5000)
    assert model.converged_
    np.testing.assert_allclose(later.fit(data).memberships_, model.memberships_, rtol=0, atol=1e-4)


def test_outliers_pull_less_without_squares():
    X = np.vstack([make_blobs(100, centers=[[0, 0], [10, 0]], random_state=0)[0], [[60.0, 0.0]] * 3])
    centers = {}
    for exponent in (1.0, 2.0):
        model = RelationalFCM(2, m=2.0, exponent=exponent, random_state=0).fit(X)
        centers[exponent] = np.sort(model.coefficients_.T @ X, axis=0)[:, 0]
    assert abs(centers[1.0] - [0, 10]).max() < 1
    assert abs(centers[2.0] - [0, 10]).max() > 3


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_starts(init):
    X, y = make_blobs(150, centers=5, cluster_std=0.7, random_state=3)
    model = RelationalFCM(5, init=init, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_start_from_memberships():
    U = np.random.default_rng(0).dirichlet(np.ones(3), 150)
    model = RelationalFCM(3, m=2.0, exponent=2.0, init=5 * U, max_iter=1).fit(IRIS)
    C = U**2 / (U**2).sum(axis=0)
    D = cdist(IRIS, C.T @ IRIS, "sqeuclidean")
    first = (1 / D) / (1 / D).sum(axis=1, keepdims=True)
    C = first**2 / (first**2).sum(axis=0)
    np.testing.assert_allclose(model.coefficients_, C, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bad", [np.zeros((150, 3)), np.eye(3)[np.zeros(150, dtype=int)], -np.ones((150, 3))])
def test_refused_starts(bad):
    with pytest.raises(ValueError, match="init must have entries >= 0, not all 0 in any row or column"):
        RelationalFCM(3, init=bad).fit(IRIS)


# Dissimilarities of any kind ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "canberra", "sqeuclidean"])
@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_metric_is_that_of_precomputed_dissimilarities(metric, exponent):
    D, block = pairwise_distances(IRIS, metric=metric), pairwise_distances(NEW, IRIS, metric=metric)
    options = {"exponent": exponent, "m": 1.5, "random_state": 0, "tol": 1e-10, "max_iter": 3000}
    model = RelationalFCM(3, metric=metric, **options).fit(IRIS)
    given = RelationalFCM(3, metric="precomputed", **options).fit((D + D.T) / 2)
    assert model.objective_ == pytest.approx(given.objective_, rel=1e-8)
    assert model.spread_ == pytest.approx(given.spread_, rel=1e-5)
    np.testing.assert_allclose(model.memberships_, given.memberships_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.predict_memberships(NEW), given.predict_memberships(block), rtol=0, atol=1e-6)


def test_metric_that_is_a_function():
    model = RelationalFCM(3, metric=lambda a, b: np.abs(a - b).sum(), random_state=0).fit(IRIS)
    expected = RelationalFCM(3, metric="cityblock", random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match=r"metric=.* must give numbers >= 0\. Got -"):
        RelationalFCM(3, metric=lambda a, b: a.sum() - b.sum()).fit(IRIS)
    with pytest.raises(ValueError, match=r"metric=.* is not defined, or not finite"):
        RelationalFCM(3, metric=lambda a, b: np.nan).fit(IRIS)


@pytest.mark.parametrize("metric", ["seuclidean", "near"])
def test_refused_metrics(metric):
    with pytest.raises(ValueError, match="metric"):
        RelationalFCM(metric=metric).fit(IRIS)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e100, 1e300])
def test_units_do_not_matter(scale):
    D = cdist(IRIS, IRIS) / 8
    options = {"metric": "precomputed", "noise_distance": "auto", "random_state": 0}
    expected = RelationalFCM(3, **options).fit(D)
    model = RelationalFCM(3, **options).fit(D * scale)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-6)
    assert model.noise_distance_ == pytest.approx(scale * expected.noise_distance_, rel=1e-6)
    assert model.objective_ == pytest.approx(scale * expected.objective_, rel=1e-6)
    np.testing.assert_allclose(model.predict_memberships(D[:5] * scale), expected.memberships_[:5], rtol=0, atol=1e-6)


@pytest.mark.parametrize("noise", [None, "auto"])
def test_conformance_with_dissimilarities(monkeypatch, noise):
    check_with_dissimilarities(monkeypatch, RelationalFCM(3, metric="precomputed", noise_distance=noise))


@pytest.mark.parametrize("options", [{"metric": "cityblock"}, {"exponent": 2.0}, {"noise_distance": "auto"}])
def test_conformance_of_options(options):
    check_soft_clusterer(RelationalFCM(3, **options))


@pytest.mark.parametrize("noise", [None, "auto"])
def test_weights_of_dissimilarities(noise):
    """A sample of weight 0 has no effect, and gets the memberships of a new one; weight 2 is the sample twice."""
    D, counts = cdist(IRIS, IRIS), np.random.default_rng(0).integers(0, 3, 150)
    options = {"metric": "precomputed", "noise_distance": noise, "random_state": 0, "tol": 1e-10, "max_iter": 3000}
    model = RelationalFCM(3, **options).fit(D, sample_weight=counts)
    copies = np.repeat(np.arange(150), counts)
    repeated = RelationalFCM(3, **options).fit(D[np.ix_(copies, copies)])
    np.testing.assert_allclose(model.memberships_[copies], repeated.memberships_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.memberships_, repeated.predict_memberships(D[:, copies]), rtol=0, atol=1e-7)
    np.testing.assert_array_equal(model.coefficients_[counts == 0], 0)
    np.testing.assert_allclose(model.predict_memberships(D), model.memberships_, rtol=0, atol=1e-12)


def test_fuzzifier_of_dissimilarities():
    assert RelationalFCM(3, metric="precomputed", random_state=0).fit(cdist(IRIS, IRIS)).m_ == 1.1
    assert RelationalFCM(3, random_state=0).fit(IRIS).m_ == 2.0


def test_nearly_symmetric_dissimilarities():
    D = cdist(IRIS, IRIS)
    rough = D + 1e-8 * np.random.default_rng(0).uniform(size=D.shape)
    before = rough.copy()
    model = RelationalFCM(3, metric="precomputed", random_state=0).fit(rough)
    np.testing.assert_array_equal(rough, before)
    np.testing.assert_allclose(model.predict_memberships(rough), model.memberships_, rtol=0, atol=1e-12)
    expected = RelationalFCM(3, metric="precomputed", random_state=0).fit(D).memberships_
    np.testing.assert_allclose(model.memberships_, expected, rtol=0, atol=1e-6)


# The spread -----------------------------------------------------------------------------------------------------------


def test_spread_is_the_method_on_larger_dissimilarities():
    """R + beta (i != j) needs no spread on the way, and has the same result."""
    D = no_distances()
    model = RelationalFCM(3, m=2.0, metric="precomputed", **FULL).fit(D)
    assert model.spread_ > 0
    wider = D + model.spread_ * (1 - np.eye(150))
    expected = RelationalFCM(3, m=2.0, metric="precomputed", init=model.memberships_, **FULL).fit(wider)
    assert expected.spread_ <= 1e-9 * model.spread_
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-7)
    assert model.objective_ == pytest.approx(explicit_objective(model.memberships_, wider, 2.0, np.ones(150)), rel=1e-9)


def test_distances_in_the_spread_are_not_negative():
    D = no_distances()
    model = RelationalFCM(3, m=2.0, metric="precomputed", random_state=0).fit(D)
    C, wider = model.coefficients_, D + model.spread_ * (1 - np.eye(150))
    distances = wider @ C - np.einsum("ik,ij,jk->k", C, wider, C) / 2
    assert distances.min() > -1e-9 * D.max()
    plain = D @ C - np.einsum("ik,ij,jk->k", C, D, C) / 2
    assert plain.min() < -0.1 * model.spread_


def test_prediction_with_a_spread():
    """A sample is not known again: it gets the memberships of a new one in its place, which are about the same."""
    D = no_distances()
    assert RelationalFCM().train_rule == "exact"
    model = RelationalFCM(3, m=2.0, metric="precomputed", random_state=0).fit(D)
    assert model.train_rule == "reinferred"
    C, beta = model.coefficients_, model.spread_
    distances = (D + beta) @ C - np.einsum("ik,ij,jk->k", C, D + beta * (1 - np.eye(150)), C) / 2
    U = (1 / distances) / (1 / distances).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_memberships(D), U, rtol=0, atol=1e-9)
    assert np.mean(model.predict(D) == model.labels_) > 0.97


def test_all_starts_have_the_same_spread(monkeypatch):
    spreads = []
    original = relational_fcm.iterate

    def recording(run, rival=None, **keywords):
        original(run, rival, **keywords)
        spreads.append(model._spread)

    monkeypatch.setattr(relational_fcm, "iterate", recording)
    model = RelationalFCM(3, m=2.0, metric="precomputed", random_state=0)
    model.fit(no_distances())
    assert len(spreads) % 5 == 0
    assert len(spreads) > 5
    np.testing.assert_allclose(spreads[-5:], model._spread, rtol=1e-12)


def test_no_spread():
    model = RelationalFCM(3, m=2.0, metric="precomputed", spread=None, random_state=0)
    with pytest.warns(ConvergenceWarning, match="negative distances of objects from prototypes counted as 0.*spread"):
        model.fit(no_distances())
    assert model.spread_ == 0
    assert np.isfinite(model.memberships_).all()
    auto, none = (RelationalFCM(3, spread=spread, random_state=0).fit(IRIS) for spread in ("auto", None))
    np.testing.assert_array_equal(auto.memberships_, none.memberships_)


# Noise ----------------------------------------------------------------------------------------------------------------


NOISY = np.vstack([IRIS, np.random.RandomState(0).uniform(-10, 20, (15, 4))])
with_exponents = pytest.mark.parametrize("exponent", [1.0, 2.0])


@pytest.mark.parametrize("m", [2.0, 1.4])
def test_noise_is_that_of_fuzzy_c_means(m):
    fcm = FCM(3, m=m, noise_distance=2.0, **FULL).fit(NOISY)
    model = RelationalFCM(3, m=m, exponent=2.0, noise_distance=2.0, **FULL).fit(NOISY)
    assert model.objective_ == pytest.approx(fcm.objective_, rel=1e-9)
    np.testing.assert_allclose(model.noise_mass_, fcm.noise_mass_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.predict_noise_mass(NEW), fcm.predict_noise_mass(NEW), rtol=0, atol=1e-7)
    auto = [cls(3, noise_distance="auto", **FULL) for cls in (FCM, RelationalFCM)]
    auto[1].set_params(exponent=2.0)
    assert auto[1].fit(NOISY).noise_distance_ == pytest.approx(auto[0].fit(NOISY).noise_distance_, rel=1e-7)


@with_exponents
def test_automatic_noise_distance(exponent):
    plain = RelationalFCM(3, exponent=exponent, **FULL).fit(NOISY)
    C, R = plain.coefficients_, cdist(NOISY, NOISY) ** exponent
    nearest = (R @ C - np.einsum("ik,ij,jk->k", C, R, C) / 2).min(axis=1)
    median = np.sort(nearest)[(len(NOISY) - 1) // 2] ** (1 / exponent)
    for factor in (10.0, 5.0):
        model = RelationalFCM(3, exponent=exponent, noise_distance="auto", noise_scale=factor, **FULL).fit(NOISY)
        assert model.noise_distance_ == pytest.approx(np.sqrt(factor) * median, rel=1e-6)
        far = model.noise_mass_[150:]
        assert np.median(far) > 0.5
        assert np.median(model.noise_mass_[:150]) < 0.25
        np.testing.assert_allclose(model.predict_noise_mass(NOISY), model.noise_mass_, rtol=0, atol=1e-12)


@with_exponents
def test_objective_with_noise(exponent):
    model = RelationalFCM(3, m=1.6, exponent=exponent, noise_distance=1.5, **FULL).fit(NOISY)
    U, noise, R = model.memberships_, model.noise_mass_, cdist(NOISY, NOISY) ** exponent
    J = explicit_objective(U, R, 1.6, np.ones(len(R))) + 1.5**exponent * np.sum(noise**1.6)
    assert model.objective_ == pytest.approx(J, rel=1e-9)
    np.testing.assert_allclose(U.sum(axis=1) + noise, 1, rtol=0, atol=1e-12)


@with_exponents
def test_far_noise_is_no_noise(exponent):
    plain = RelationalFCM(3, exponent=exponent, **FULL).fit(IRIS)
    model = RelationalFCM(3, exponent=exponent, noise_distance=1e12, **FULL).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.noise_mass_, 0, atol=1e-9)


def test_near_noise_takes_all_and_says_so():
    with pytest.warns(ConvergenceWarning, match=r"noise took \d+% of the rows; increase noise_distance"):
        RelationalFCM(3, noise_distance=1e-3).fit(IRIS)


def test_the_kind_depends_on_the_noise():
    model = RelationalFCM(3, noise_distance="auto", random_state=0).fit(IRIS)
    assert model.membership_kind == "subpartition"
    assert not hasattr(model, "predict_proba")
    assert not hasattr(RelationalFCM(), "predict_noise_mass")
    model.set_params(noise_distance=None).fit(IRIS)
    assert model.membership_kind == "partition"
    assert not hasattr(model, "noise_mass_")


# Degenerate data, warnings, limits ------------------------------------------------------------------------------------


def test_too_large_a_fuzzifier_is_named():
    X = np.random.default_rng(0).uniform(size=(200, 20))
    with pytest.warns(ConvergenceWarning, match="collapsed: all samples have the same memberships; m=2 may be too"):
        model = RelationalFCM(5, m=2.0, random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_, 0.2, rtol=0, atol=1e-3)


def test_few_distinct_objects_are_named():
    X = np.repeat([[0.0], [5.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="X has duplicates and only 2 distinct samples: use fewer clusters"):
        RelationalFCM(3, random_state=0).fit(X)


def test_distinct_objects_as_clusters():
    X = np.repeat([[0.0], [5.0], [7.0]], [10, 3, 1], axis=0)
    model = RelationalFCM(3, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(model.memberships_), np.repeat([[0, 0, 1]], 14, axis=0), atol=1e-9)
    assert len(set(model.labels_)) == 3


def test_an_underflown_cluster_moves_to_the_worst_object():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [14.0]])
    between = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1]])
    model = RelationalFCM(3, m=1.001, exponent=2.0, init=between, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1, 2])
    small = RelationalFCM(3, m=2.0, init=np.array([1, 1, 1e-200]) * between, random_state=0).fit(X)
    assert len(set(small.labels_)) == 3


def test_too_many_objects(monkeypatch):
    monkeypatch.setattr(relational_fcm, "MOST_PAIRS", 100)
    with pytest.raises(ValueError, match=r"n_samples=150 must be <= 100.*FuzzyCMedoids with n_candidates"):
        RelationalFCM().fit(IRIS)
    weight = np.where(np.arange(150) % 3 > 0, 1.0, 0.0)
    assert RelationalFCM(random_state=0).fit(IRIS, sample_weight=weight).memberships_.shape == (150, 3)


def test_interrupted_fit_keeps_the_best_run(monkeypatch):
    from soft_clustering.engine.fitting import Fit

    passes = []

    def interrupt(self, run):
        passes.append(run)
        if len(passes) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Fit, "report", interrupt)
    model = RelationalFCM(3, noise_distance="auto", random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    assert model.n_iter_ == 4
    assert model.noise_distance_ == np.inf
    np.testing.assert_array_equal(model.noise_mass_, 0)
    np.testing.assert_allclose(model.predict_memberships(IRIS), model.memberships_, rtol=0, atol=1e-12)


def test_agreement_with_the_classes_of_ten_sets():
    found = {1.0: [], 2.0: []}
    for X, y in offline_sets().values():
        X, y = some_rows(X, y, 250)
        for exponent, scores in found.items():
            model = RelationalFCM(len(np.unique(y)), exponent=exponent, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                scores.append(adjusted_rand_score(y, clone(model).fit(X).labels_))
    assert np.mean(found[1.0]) > 0.58
    assert np.mean(found[2.0]) > 0.58
