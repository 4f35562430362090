"""Kernel fuzzy c-means: measured values, limits, definitions by loops, invariances, degenerate data."""

import math
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, KFCM, kernels
from soft_clustering.engine import acceleration
from soft_clustering.fuzzy.fuzzifier import auto_fuzzifier

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]
SETTINGS = [(2.0, 0.22), (1.4, 0.05), (2.7, 1.5)]  # m, gamma
each_setting = pytest.mark.parametrize("m, gamma", SETTINGS)
weighted = pytest.mark.parametrize(
    "weight", [None, np.random.RandomState(0).uniform(0.1, 3, 150)], ids=["", "weighted"]
)


def brute_force(X, centers, m, gamma, weight=None):
    """The published J, U, and the centres after one update: a loop over samples and clusters."""
    n, K = len(X), len(centers)
    weight = np.ones(n) if weight is None else weight
    U, J = np.zeros((n, K)), 0.0
    new, total = np.zeros_like(centers), np.zeros(K)
    for i in range(n):
        kernel = [math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(X[i], v, strict=True))) for v in centers]
        for k in range(K):
            u = U[i, k] = 1 / sum(((1 - kernel[k]) / (1 - other)) ** (1 / (m - 1)) for other in kernel)
            J += 2 * weight[i] * u**m * (1 - kernel[k])
            new[k] += weight[i] * u**m * kernel[k] * X[i]
            total[k] += weight[i] * u**m * kernel[k]
    return J, U, new / total[:, None]


def passes(X, start, n_passes, weight=None, **parameters):
    """So many plain passes, whether or not they converge."""
    model = KFCM(len(start), init=start, tol=0, max_iter=n_passes, accelerate=False, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


def in_order(model):
    """Centres and memberships, the clusters ordered by the first feature of their centres."""
    order = np.argsort(model.centers_[:, 0])
    return model.centers_[order], model.memberships_[:, order]


# Measured values ------------------------------------------------------------------------------------------------------


def test_iris():
    model = KFCM(3, m=2, tol=1e-9, random_state=0).fit(IRIS)
    assert model.gamma_ == pytest.approx(0.220145, abs=5e-7)
    assert model.objective_ == pytest.approx(20.468395, abs=5e-7)
    expected = [[4.9984, 3.4103, 1.4778, 0.2482], [5.8726, 2.7702, 4.3265, 1.3687], [6.6231, 3.0241, 5.4885, 2.0288]]
    np.testing.assert_allclose(in_order(model)[0], expected, rtol=0, atol=5.1e-5)
    assert adjusted_rand_score(load_iris().target, model.labels_) == pytest.approx(0.7562, abs=5e-5)


def test_small_gamma_is_fuzzy_c_means():
    gamma = 1e-6 / IRIS.var(axis=0).sum()
    fcm = FCM(3, m=2, tol=1e-10, random_state=0).fit(IRIS)
    model = KFCM(3, m=2, gamma=gamma, tol=1e-10, random_state=0).fit(IRIS)
    (V, U), (V_fcm, U_fcm) = in_order(model), in_order(fcm)
    np.testing.assert_allclose(U, U_fcm, rtol=0, atol=3.4e-7)
    np.testing.assert_allclose(V, V_fcm, rtol=0, atol=1.9e-7)
    # 2 (1 - K) is 2 gamma times the squared distance
    assert model.objective_ / (2 * gamma) == pytest.approx(fcm.objective_, rel=1e-5)


def test_outliers_hardly_pull():
    rng = np.random.default_rng(0)
    clean = np.repeat([[0.0, 0.0], [10.0, 0.0]], 200, axis=0) + rng.standard_normal((400, 2))
    X = np.vstack([clean, np.full((4, 2), 60.0)])
    means = np.stack([clean[:200].mean(axis=0), clean[200:].mean(axis=0)])
    centers, U = in_order(KFCM(2, random_state=0).fit(X))
    np.testing.assert_allclose(centers, means, rtol=0, atol=0.025)
    np.testing.assert_allclose(U[-4:], 0.5, rtol=0, atol=1e-6)
    # Fuzzy c-means spends a centre on the four.
    centers, _ = in_order(FCM(2, m=2, random_state=0).fit(X))
    np.testing.assert_allclose(np.linalg.norm(centers - [[0, 0], [10, 0]], axis=1), [5, 78], rtol=0, atol=0.2)


TABLE = {"iris": 0.756, "wine": 0.372, "digits": 0.66, "circles": -0.001, "high_dimensional_blobs": 1}


def test_agreement_with_the_classes_of_ten_sets():
    found = {}
    for name, (X, y) in offline_sets().items():
        found[name] = adjusted_rand_score(y, KFCM(len(np.unique(y)), random_state=0).fit(X).labels_)
    assert np.mean(list(found.values())) >= 0.64
    for name, expected in TABLE.items():
        assert found[name] == pytest.approx(expected, abs=0.01), name


def test_many_rows():
    X, y = make_blobs(20000, 16, centers=8, random_state=0)
    assert adjusted_rand_score(y, KFCM(8, n_init=1, random_state=0).fit(X).labels_) == 1


# Definitions ----------------------------------------------------------------------------------------------------------


@each_setting
@weighted
def test_objective_and_memberships_by_brute_force(m, gamma, weight):
    model = KFCM(3, m=m, gamma=gamma, init=START).fit(IRIS, sample_weight=weight)
    J, U, _ = brute_force(IRIS, model.centers_, m, gamma, weight)
    assert model.gamma_ == gamma
    assert model.objective_ == pytest.approx(J, rel=1e-12, abs=0)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-12)
    assert model.score(IRIS, sample_weight=weight) == pytest.approx(-J, rel=1e-12, abs=0)


@each_setting
@weighted
def test_passes_by_brute_force(m, gamma, weight):
    V, history = START + 0.01, []
    for _ in range(3):
        J, _, V = brute_force(IRIS, V, m, gamma, weight)
        history.append(J)
    model = passes(IRIS, START + 0.01, 3, weight, m=m, gamma=gamma)
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-12)


@pytest.mark.parametrize("gamma_scale", [1.0, 0.3, 30.0])
@pytest.mark.parametrize("accelerate", [False, True])
def test_history_does_not_increase(gamma_scale, accelerate):
    X, _ = make_blobs(300, 3, centers=4, cluster_std=3, random_state=0)
    model = KFCM(4, gamma_scale=gamma_scale, init=X[:4], accelerate=accelerate, tol=1e-8, max_iter=5000).fit(X)
    history = model.objective_history_
    assert model.converged_
    assert len(history) > 8
    assert np.all(np.diff(history) <= 1e-12 * history[0])
    assert history[-1] == model.objective_


def test_acceleration_reaches_the_same_optimum_sooner(monkeypatch):
    monkeypatch.setattr(acceleration, "_CHEAP_PASS", 0)  # accelerate small data, too
    X, _ = make_blobs(600, 3, centers=4, cluster_std=4, random_state=0)
    plain, fast = (KFCM(4, init=X[:4], tol=1e-7, max_iter=5000, accelerate=on).fit(X) for on in (False, True))
    assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert fast.n_iter_ < plain.n_iter_ / 2


def test_rules_for_parameters():
    X, _ = make_blobs(200, 8, centers=4, random_state=0)
    model = KFCM(4, gamma_scale=3, random_state=0).fit(X)
    assert model.m_ == auto_fuzzifier(200, 8)
    assert model.gamma_ == pytest.approx(3 / X.var(axis=0).sum(), rel=1e-12)
    assert KFCM(4, gamma="median", random_state=0).fit(X).gamma_ > model.gamma_ / 6
    # A number is taken as it is.
    assert KFCM(4, gamma=0.25, gamma_scale=3, random_state=0).fit(X).gamma_ == 0.25


def test_weights_are_repetitions():
    times = np.arange(150) % 4
    weighted = KFCM(3, random_state=0).fit(IRIS, sample_weight=times)
    repeated = KFCM(3, random_state=0).fit(np.repeat(IRIS, times, axis=0))
    assert weighted.gamma_ == pytest.approx(repeated.gamma_, rel=1e-12)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-12)


@pytest.mark.parametrize("scale", [2.0**-300, 1e-3, 1.0, 2.0**300])
@pytest.mark.parametrize("gamma", ["scale", "median", 0.2])
def test_units_do_not_matter(scale, gamma):
    model, other = (
        KFCM(3, gamma=gamma if isinstance(gamma, str) else gamma / s / s, init=s * START).fit(s * IRIS)
        for s in (1.0, scale)
    )
    assert other.gamma_ == pytest.approx(model.gamma_ / scale / scale, rel=1e-9)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.centers_, scale * model.centers_, rtol=1e-9)


def test_sparse_is_dense():
    X = np.where(np.random.default_rng(0).uniform(size=(200, 12)) < 0.4, load_digits().data[:200, 20:32], 0)
    dense, csr = (KFCM(4, init=X[:4]).fit(container(X)) for container in (np.asarray, sparse.csr_matrix))
    np.testing.assert_allclose(csr.memberships_, dense.memberships_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(csr.centers_, dense.centers_, rtol=0, atol=1e-8)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
def test_fit_with_the_twins(monkeypatch):
    compiled = KFCM(3, m=1.6, random_state=0).fit(IRIS)
    monkeypatch.setattr(kernels, "compiled", None)
    numpy = KFCM(3, m=1.6, random_state=0).fit(IRIS)
    assert numpy.n_iter_ == compiled.n_iter_
    np.testing.assert_allclose(numpy.memberships_, compiled.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(numpy.objective_history_, compiled.objective_history_, rtol=1e-12)


# Degenerate data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 2.5])
def test_identical_points(value):
    with pytest.warns(ConvergenceWarning, match="KFCM collapsed"):
        model = KFCM(3, random_state=0).fit(np.full((7, 2), value))
    assert model.gamma_ == 1
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-12)
    np.testing.assert_allclose(model.centers_, value, rtol=1e-15)


def test_sample_on_a_prototype():
    points = np.array([[0.0, 0.0], [100.0, 50.0], [500.0, -200.0]])
    model = KFCM(3, init=points).fit(np.repeat(points, 5, axis=0))
    np.testing.assert_allclose(model.memberships_, np.repeat(np.eye(3), 5, axis=0), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict_memberships(model.centers_).round(12), np.eye(3))


def test_far_from_everything():
    model = KFCM(3, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.predict_memberships([[1e3] * 4, [-1e9] * 4]), 1 / 3, rtol=1e-12)


def test_one_cluster():
    model = KFCM(1).fit(IRIS)
    np.testing.assert_array_equal(model.memberships_, np.ones((150, 1)))


def test_a_centre_out_of_reach_moves_to_the_data():
    model = KFCM(2, gamma=1.0, init=[IRIS[0], np.full(4, 1e6)]).fit(IRIS)
    assert (model.centers_ >= IRIS.min(axis=0)).all()
    assert (model.centers_ <= IRIS.max(axis=0)).all()
    assert np.bincount(model.labels_).min() > 45
    assert np.all(np.diff(model.objective_history_) <= 0)


def test_collapse_names_the_remedy():
    with pytest.warns(ConvergenceWarning, match=r"KFCM collapsed: .*m=4 or gamma=.*try m='auto'.*or a smaller gamma"):
        KFCM(10, m=4.0, random_state=0).fit(load_digits().data)


@pytest.mark.parametrize(
    "parameters",
    [{"gamma": 0.0}, {"gamma": -1.0}, {"gamma": np.nan}, {"gamma": "auto"}, {"gamma_scale": 0}, {"gamma_scale": "a"}],
)
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}' parameter of KFCM"):
        KFCM(3, **parameters).fit(IRIS)


@pytest.mark.parametrize(
    "parameters",
    [*({"gamma": g} for g in (1e-320, 1e-100, 1e100, 1e308)), {"gamma_scale": 1e300}, {"gamma_scale": 1e-300}],
)
@pytest.mark.parametrize("m", [1.0001, 2.0, 50.0])
def test_extreme_parameters_have_a_finite_result(parameters, m):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KFCM(3, m=m, random_state=0, **parameters).fit(IRIS)
    for result in (model.centers_, model.memberships_, model.objective_history_):
        assert np.isfinite(result).all()
