"""Possibilistic fuzzy c-means: published values, limits, definitions by loops, invariances, degenerate data."""

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, PCM, PFCM, kernels
from soft_clustering.fuzzy.fuzzifier import auto_fuzzifier

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]
BUTTERFLY = np.array(
    [
        *[(-5, 0), (-3.34, 1.67), (-3.34, 0), (-3.34, -1.67), (-1.67, 0), (0, 0)],
        *[(1.67, 0), (3.34, 1.67), (3.34, 0), (3.34, -1.67), (5, 0), (0, 10)],
    ]
)
# m, a, b, exponent
SETTINGS = [
    (2.0, 1.0, 1.0, 2.0),
    (1.5, 0.5, 3.0, 1.7),
    (2.5, 2.0, 0.3, 3.0),
    (2.0, 0.0, 1.5, 1.6),
    (1.7, 2.0, 0.0, 2.0),
]
each_setting = pytest.mark.parametrize("setting", SETTINGS)
property_test = settings(max_examples=30, deadline=None, derandomize=True)
pytestmark = pytest.mark.filterwarnings("ignore:PFCM", "ignore:PCM found")


def named(setting):
    return dict(zip(("m", "membership_weight", "typicality_weight", "typicality_exponent"), setting, strict=True))


def brute_force(X, centers, bandwidth, setting, weight=None):
    """The published J, U, T, and the centres after one update: a loop over samples and clusters."""
    m, a, b, e = setting
    n, K = len(X), len(centers)
    weight = np.ones(n) if weight is None else weight
    U, T, J = np.zeros((n, K)), np.zeros((n, K)), 0.0
    new, total = np.zeros_like(centers), np.zeros(K)
    for i in range(n):
        D = [sum((X[i, j] - centers[k, j]) ** 2 for j in range(X.shape[1])) for k in range(K)]
        for k in range(K):
            u = U[i, k] = 1 / sum((D[k] / D[other]) ** (1 / (m - 1)) for other in range(K))
            t = T[i, k] = 1 / (1 + (b * D[k] / bandwidth[k]) ** (1 / (e - 1)))
            w = weight[i] * (a * u**m + b * t**e)
            J += w * D[k] + weight[i] * bandwidth[k] * (1 - t) ** e
            new[k] += w * X[i]
            total[k] += w
    return J, U, T, new / total[:, None]


def fuzzy_spread(X, V, m, weight=None):
    """sum u^m D / sum u^m of each fuzzy cluster, by the definition."""
    D = cdist(X, V, "sqeuclidean")
    U = D ** (-1 / (m - 1))
    W = (U / U.sum(axis=1, keepdims=True)) ** m * (1 if weight is None else weight[:, None])
    return (W * D).sum(axis=0) / W.sum(axis=0)


def passes(X, start, n_passes, weight=None, **parameters):
    """So many plain passes, whether or not they converge."""
    model = PFCM(len(start), init=start, tol=0, max_iter=n_passes, accelerate=False, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


def in_order(centers):
    return centers[np.argsort(centers[:, 0])]


# Published and measured values ----------------------------------------------------------------------------------------


def test_butterfly():
    model = PFCM(2, m=2, tol=1e-12, random_state=0).fit(BUTTERFLY)
    np.testing.assert_allclose(model.bandwidth_, 7.8814, rtol=0, atol=6e-5)
    np.testing.assert_allclose(in_order(model.centers_), [[-2.8386, 0.3648], [2.8386, 0.3648]], rtol=0, atol=6e-5)
    np.testing.assert_allclose(model.typicalities_[5], 0.4904, rtol=0, atol=6e-5)
    np.testing.assert_allclose(model.typicalities_[11], 0.0725, rtol=0, atol=6e-5)
    np.testing.assert_allclose(sorted(model.typicalities_[2]), [0.1706, 0.9535], rtol=0, atol=6e-5)
    # To memberships the point between the clusters and the outlier are the same.
    np.testing.assert_allclose(model.memberships_[[5, 11]], 0.5, rtol=0, atol=1e-12)


def test_passes_of_the_butterfly():
    assert PFCM(2, m=2, tol=1e-11, accelerate=False, random_state=0).fit(BUTTERFLY).n_iter_ == 22


def test_defaults_are_those_of_the_butterfly():
    model = PFCM(2, tol=1e-12, random_state=0).fit(BUTTERFLY)
    assert model.m_ == 2
    np.testing.assert_allclose(in_order(model.centers_), [[-2.8386, 0.3648], [2.8386, 0.3648]], rtol=0, atol=6e-5)


@each_setting
@pytest.mark.parametrize("accelerate", [False, True])
def test_history_does_not_increase(setting, accelerate):
    X, _ = make_blobs(300, 3, centers=4, cluster_std=3, random_state=0)
    model = PFCM(4, init=X[:4], accelerate=accelerate, tol=1e-8, max_iter=3000, **named(setting)).fit(X)
    history = model.objective_history_
    assert model.converged_
    assert len(history) > 8
    assert np.all(np.diff(history) <= (1e-12 if accelerate else 6e-14) * history[0])
    assert history[-1] == model.objective_


@pytest.mark.parametrize("weight", [0.0, 1e-12])
def test_without_typicalities_it_is_fuzzy_c_means(weight):
    fcm = FCM(3, m=2, tol=1e-10, random_state=0).fit(IRIS)
    model = PFCM(3, m=2, typicality_weight=weight, tol=1e-10, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.centers_, fcm.centers_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.memberships_, fcm.memberships_, rtol=0, atol=1e-10)
    if weight == 0:
        assert model.objective_ == pytest.approx(fcm.objective_, rel=1e-13)


def test_typicalities_without_a_weight_are_reported_as_of_weight_one():
    model = PFCM(3, m=2, typicality_weight=0, random_state=0).fit(IRIS)
    expected = 1 / (1 + cdist(IRIS, model.centers_, "sqeuclidean") / model.bandwidth_)
    np.testing.assert_allclose(model.typicalities_, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.6])
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_without_memberships_it_is_possibilistic_c_means(exponent, scale):
    X, _ = make_blobs(300, 2, centers=3, random_state=5)
    common = {"bandwidth_scale": scale, "init": X[:3], "accelerate": False, "tol": 1e-9}
    pcm = PCM(3, m=exponent, typicality="rational", **common).fit(X)
    model = PFCM(3, membership_weight=0, typicality_exponent=exponent, **common).fit(X)
    assert model.n_iter_ == pcm.n_iter_
    np.testing.assert_allclose(model.bandwidth_, pcm.bandwidth_, rtol=1e-15)
    np.testing.assert_allclose(model.centers_, pcm.centers_, rtol=0, atol=1e-14)
    np.testing.assert_allclose(model.typicalities_, pcm.memberships_, rtol=0, atol=1e-14)
    assert model.objective_ == pytest.approx(pcm.objective_, rel=1e-14)


TABLE = [0.771, 0.375, 0.682, 0.556, 0.952, 0.253, -0.001, 0.940, 0.904, 1]


def test_agreement_with_the_classes_of_ten_sets():
    sets = offline_sets()
    found = []
    for (name, (X, y)), expected in zip(sets.items(), TABLE, strict=True):
        model = PFCM(len(np.unique(y)), random_state=0).fit(X)
        found.append(adjusted_rand_score(y, model.labels_))
        assert found[-1] >= expected - 0.02, name
    assert round(np.mean(found), 3) >= 0.643


def test_blobs_are_found_from_every_seed():
    X, y = make_blobs(1000, 2, centers=5, random_state=42)
    for seed in range(10):
        assert adjusted_rand_score(y, PFCM(5, random_state=seed).fit(X).labels_) == pytest.approx(0.952, abs=6e-4)


# Definitions ----------------------------------------------------------------------------------------------------------


@each_setting
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_memberships_typicalities_by_brute_force(setting, weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    model = PFCM(3, bandwidth_scale=0.5, init=START, **named(setting)).fit(IRIS, sample_weight=weight)
    J, U, T, _ = brute_force(IRIS, model.centers_, model.bandwidth_, setting, weight)
    assert model.objective_ == pytest.approx(J, rel=1e-13, abs=0)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-13)
    if setting[2] > 0:
        np.testing.assert_allclose(model.typicalities_, T, rtol=0, atol=1e-13)
    assert model.score(IRIS, sample_weight=weight) == pytest.approx(-J, rel=1e-13, abs=0)
    J = brute_force(IRIS[:20], model.centers_, model.bandwidth_, setting)[0]
    assert model.score(IRIS[:20]) == pytest.approx(-J, rel=1e-13, abs=0)


@each_setting
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_by_brute_force(setting, weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    start = START + 0.01
    V, bandwidth = start, 0.5 * fuzzy_spread(IRIS, start, setting[0], weight)
    history = []
    for _ in range(3):
        J, _, _, V = brute_force(IRIS, V, bandwidth, setting, weight)
        history.append(J)
    model = passes(IRIS, start, 3, weight, bandwidth_scale=0.5, **named(setting))
    np.testing.assert_allclose(model.bandwidth_, bandwidth, rtol=1e-12)
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-12)


@pytest.mark.parametrize("m", ["auto", 2.0, 1.3])
def test_start_and_bandwidth_are_those_of_fuzzy_c_means(m):
    X, _ = make_blobs(500, 8, centers=4, cluster_std=2, random_state=0)
    fcm = FCM(4, m=m, random_state=0).fit(X)
    model = PFCM(4, m=m, bandwidth_scale=0.7, random_state=0).fit(X)
    assert model.m_ == fcm.m_ == (auto_fuzzifier(500, 8) if m == "auto" else m)
    np.testing.assert_allclose(model.bandwidth_, 0.7 * fuzzy_spread(X, fcm.centers_, fcm.m_), rtol=1e-9)


def test_typicality_is_a_half_at_the_bandwidth_over_the_weight():
    model = PFCM(3, typicality_weight=4.0, typicality_exponent=1.7, random_state=0).fit(IRIS)
    edge = model.centers_ + np.sqrt(model.bandwidth_ / 4)[:, None] * [0.6, 0.8, 0, 0]
    np.testing.assert_allclose(np.diag(model.predict_typicalities(edge)), 0.5, rtol=1e-12)
    assert model.predict_typicalities([[1e3] * 4]).max() < 1e-6
    np.testing.assert_array_equal(np.diag(model.predict_typicalities(model.centers_)).round(12), 1)


def test_outliers_pull_less_than_in_fuzzy_c_means():
    clean = make_blobs(200, 2, centers=[[0, 0], [8, 0]], random_state=0)[0]
    X = np.vstack([clean, np.full((10, 2), [4.0, 15.0])])

    def pull(model):
        model.set_params(random_state=0)
        return np.abs(in_order(model.fit(X).centers_.copy()) - in_order(model.fit(clean).centers_)).max()

    assert pull(PFCM(2)) < 0.8 * pull(FCM(2))
    assert pull(PFCM(2, membership_weight=0.1, typicality_exponent=1.5)) < 0.4 * pull(FCM(2))
    model = PFCM(2, random_state=0).fit(X)
    assert model.typicalities_[-10:].max() < 0.05
    np.testing.assert_allclose(model.memberships_[-10:].sum(axis=1), 1, rtol=1e-12)


# Degenerate data ------------------------------------------------------------------------------------------------------


@each_setting
@pytest.mark.parametrize("value", [0.0, 2.5, -1e-300])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_identical_points(setting, value, container):
    with pytest.warns(ConvergenceWarning, match="PFCM collapsed"):
        model = PFCM(3, random_state=0, **named(setting)).fit(container(np.full((7, 3), value)))
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-12)
    np.testing.assert_allclose(model.typicalities_, 1, rtol=1e-12)
    np.testing.assert_allclose(model.centers_, value, rtol=1e-15)
    np.testing.assert_array_equal(model.bandwidth_, 1)
    assert model.converged_


@each_setting
def test_sample_on_a_prototype(setting):
    points = np.array([[0.0, 0.0], [100.0, 50.0], [500.0, -200.0]])
    model = PFCM(3, init=points, **named(setting)).fit(np.repeat(points, 5, axis=0))
    np.testing.assert_allclose(model.memberships_, np.repeat(np.eye(3), 5, axis=0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.typicalities_.max(axis=1), 1, rtol=0, atol=1e-4)


@each_setting
def test_one_cluster(setting):
    model = PFCM(1, **named(setting)).fit(IRIS)
    np.testing.assert_array_equal(model.memberships_, np.ones((150, 1)))
    assert model.typicalities_.shape == (150, 1)


def test_as_many_clusters_as_samples():
    X = IRIS[::15]
    model = PFCM(10, random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_[np.arange(10), model.labels_], 1, rtol=0, atol=1e-9)
    assert sorted(model.labels_) == list(range(10))


def test_collapse_names_the_remedy():
    remedy = r"try a smaller m \(it was 2\), typicality_weight or bandwidth_scale"
    with pytest.warns(ConvergenceWarning, match=rf"PFCM collapsed: .*{remedy}"):
        PFCM(10, m=2.0, random_state=0).fit(load_digits().data)
    # Two of three prototypes of possibilistic c-means are the same on iris.
    with pytest.warns(
        ConvergenceWarning, match=rf"PFCM found 2 distinct prototypes, fewer than n_clusters=3, .*; {remedy}"
    ):
        PFCM(3, membership_weight=0, random_state=0).fit(IRIS)


def test_both_weights_zero():
    with pytest.raises(ValueError, match="membership_weight and typicality_weight must not both be 0"):
        PFCM(3, membership_weight=0, typicality_weight=0).fit(IRIS)
    with pytest.raises(ValueError, match="below 1e-100"):
        PFCM(3, membership_weight=9e-101, typicality_weight=0).fit(IRIS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PFCM(3, membership_weight=1e-100, typicality_weight=0, random_state=0).fit(IRIS)
    expected = PFCM(3, typicality_weight=0, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [
        *({"membership_weight": 1e100}, {"typicality_weight": 1e100}, {"membership_weight": 1e-100}),
        *({"typicality_weight": 1e-300}, {"typicality_exponent": 1.0001}, {"typicality_exponent": 500.0}),
        *({"bandwidth_scale": 1e-300}, {"bandwidth_scale": 1e300}, {"m": 1.0001}),
    ],
)
def test_extreme_parameters_have_a_finite_result(parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PFCM(3, random_state=0, **parameters).fit(IRIS)
    for result in (model.centers_, model.memberships_, model.typicalities_, model.objective_history_):
        assert np.isfinite(result).all()


# Invariances ----------------------------------------------------------------------------------------------------------


shapes = st.tuples(st.integers(10, 60), st.integers(1, 5), st.integers(2, 4))
one_setting = st.sampled_from(SETTINGS)


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, setting=one_setting, exponent=st.integers(-100, 100))
def test_similar_data_have_the_same_result(seed, shape, setting, exponent):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    offset, scale = rng.normal(size=d) * 10, 10.0**exponent

    def move(Z):
        return (Z @ rotation + offset) * scale

    model, moved = (passes(*data, 4, **named(setting)) for data in ((X, start), (move(X), move(start))))
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(moved.typicalities_, model.typicalities_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(moved.centers_, move(model.centers_), rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(moved.bandwidth_, model.bandwidth_ * scale * scale, rtol=1e-11)
    np.testing.assert_allclose(moved.objective_history_, model.objective_history_ * scale * scale, rtol=1e-11)


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, setting=one_setting)
def test_weights_are_repetitions(seed, shape, setting):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    weight = rng.randint(0, 4, n)
    weight[:K] = 1  # at least K rows remain
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    weighted = passes(X, start, 4, weight, **named(setting))
    repeated = passes(np.repeat(X, weight, axis=0), start, 4, **named(setting))
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(weighted.objective_history_, repeated.objective_history_, rtol=1e-11)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(X), rtol=0, atol=1e-11)
    np.testing.assert_allclose(weighted.typicalities_, repeated.predict_typicalities(X), rtol=0, atol=1e-11)
    assert weighted.typicalities_.shape == (n, K)  # rows of weight 0, too


@property_test
@given(seed=st.integers(0, 10**6), setting=one_setting)
def test_order_of_rows_and_clusters_does_not_matter(seed, setting):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(40, 3))
    start, order, swap = X[:4] + 0.1, rng.permutation(40), rng.permutation(4)
    model, permuted = passes(X, start, 5, **named(setting)), passes(X[order], start[swap], 5, **named(setting))
    np.testing.assert_allclose(permuted.memberships_, model.memberships_[order][:, swap], rtol=0, atol=1e-11)
    np.testing.assert_allclose(permuted.typicalities_, model.typicalities_[order][:, swap], rtol=0, atol=1e-11)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_extreme_units(scale, container):
    expected = PFCM(3, init=START).fit(container(IRIS))
    model = PFCM(3, init=START * scale).fit(container(IRIS * scale))
    tolerance = 1e-11 if container is np.asarray else 1e-9
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.typicalities_, expected.typicalities_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.centers_ / scale, expected.centers_, rtol=tolerance)
    if 1e-150 <= scale <= 1e150:
        np.testing.assert_allclose(model.bandwidth_ / scale / scale, expected.bandwidth_, rtol=tolerance)


# Types, containers, twins ---------------------------------------------------------------------------------------------


@each_setting
def test_float32_is_kept_and_close(setting):
    X = IRIS.astype(np.float32)
    model, expected = (PFCM(3, init=START, **named(setting)).fit(data) for data in (X, IRIS))
    assert model.memberships_.dtype == model.typicalities_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-4)
    np.testing.assert_allclose(model.typicalities_, expected.typicalities_, rtol=0, atol=1e-4)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-4)
    assert model.predict_typicalities(X).dtype == np.float32


@each_setting
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 1e-5)])
def test_csr_equals_dense(setting, dtype, tolerance):
    rng = np.random.RandomState(0)
    X = np.where(rng.uniform(size=(300, 20)) < 0.2, rng.gamma(2, size=(300, 20)), 0).astype(dtype)
    X[150:, :5] += 3
    weight = rng.uniform(0.5, 2, 300)
    parameters = named(setting) | {"init": X[[0, 200]], "tol": 1e-6}
    dense = PFCM(2, **parameters).fit(X, sample_weight=weight)
    model = PFCM(2, **parameters).fit(sparse.csr_matrix(X), sample_weight=weight)
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.typicalities_, dense.typicalities_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.centers_, dense.centers_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        model.predict_typicalities(sparse.csr_matrix(X)), dense.typicalities_, rtol=0, atol=tolerance
    )
    assert model.typicalities_.dtype == dtype


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@each_setting
@pytest.mark.parametrize("width", [16, 0])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_compiled_fit_equals_its_twin(monkeypatch, setting, width, container):
    X, _ = make_blobs(300, 5, centers=3, cluster_std=2, random_state=1)
    weight = np.random.RandomState(0).uniform(0.5, 2, 300)
    model = PFCM(3, n_init=1, tol=1e-7, random_state=0, **named(setting))
    names = ("memberships_", "typicalities_", "centers_", "bandwidth_", "objective_")
    kernels.compiled.vector_bytes(width)
    try:
        model.fit(container(X), sample_weight=weight)
    finally:
        kernels.compiled.vector_bytes(0)
    found = [getattr(model, name) for name in names]
    monkeypatch.setattr(kernels, "compiled", None)
    model.fit(container(X), sample_weight=weight)
    for name, value in zip(names, found, strict=True):
        np.testing.assert_allclose(value, getattr(model, name), rtol=1e-9, atol=1e-9, err_msg=name)


@each_setting
@pytest.mark.parametrize("weighted", [False, True])
def test_dask_equals_memory(setting, weighted):
    da = pytest.importorskip("dask.array")
    X, _ = make_blobs(500, 3, centers=3, cluster_std=2, random_state=1)
    weight = np.random.RandomState(0).randint(0, 3, 500) if weighted else None
    model = PFCM(3, init=X[:3], tol=1e-9, **named(setting))
    expected = PFCM(**model.get_params()).fit(X, sample_weight=weight)
    data = da.from_array(X, chunks=(97, 3))
    lazy = model.fit(data, sample_weight=weight)
    for result in (lazy.typicalities_, lazy.predict_typicalities(data)):
        assert isinstance(result, da.Array)
        np.testing.assert_allclose(result.compute(), expected.typicalities_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.centers_, expected.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.bandwidth_, expected.bandwidth_, rtol=1e-9)
    assert lazy.objective_ == pytest.approx(expected.objective_, rel=1e-9)


# The protocol's own ---------------------------------------------------------------------------------------------------


@each_setting
def test_predict_as_trained(setting):
    model = PFCM(3, random_state=0, **named(setting)).fit(IRIS)
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
    np.testing.assert_array_equal(model.predict_proba(IRIS), model.memberships_)
    np.testing.assert_array_equal(model.predict_typicalities(IRIS), model.typicalities_)
    np.testing.assert_array_equal(model.labels_, model.memberships_.argmax(axis=1))
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=0, atol=1e-14)


def test_typicalities_need_a_fit_and_the_same_features():
    with pytest.raises(NotFittedError):
        PFCM().predict_typicalities(IRIS)
    model = PFCM(random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="X has 3 features, but PFCM is expecting 4"):
        model.predict_typicalities(IRIS[:, :3])
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        model.fit(IRIS[:2])
    assert not hasattr(model, "typicalities_")  # a failed fit is no fit


def test_named_columns_do_not_warn():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PFCM(random_state=0).fit(frame)
        np.testing.assert_array_equal(model.predict_typicalities(frame), model.typicalities_)


@each_setting
def test_accelerated_equals_plain(setting):
    X, _ = make_blobs(400, 3, centers=3, cluster_std=3, random_state=2)
    plain, fast = (
        PFCM(3, init=X[[0, 1, 2]], tol=1e-9, max_iter=5000, accelerate=on, **named(setting)).fit(X)
        for on in (False, True)
    )
    assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-12)
    np.testing.assert_allclose(fast.memberships_, plain.memberships_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(fast.typicalities_, plain.typicalities_, rtol=0, atol=1e-6)
    assert fast.n_iter_ < plain.n_iter_


def test_callable_init():
    model = PFCM(3, init=lambda X, n_clusters, rng: START).fit(IRIS)
    np.testing.assert_array_equal(model.memberships_, PFCM(3, init=START).fit(IRIS).memberships_)


def test_not_converged_is_said():
    with pytest.warns(ConvergenceWarning, match=r"PFCM did not converge in max_iter=2 passes"):
        model = PFCM(3, max_iter=2, tol=1e-9, init=START).fit(IRIS)
    assert not model.converged_
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_clusters": 0}, {"m": 1.0}, {"m": "two"}, {"membership_weight": -0.1}, {"typicality_weight": -0.1}),
        {"typicality_weight": np.inf},
        *({"typicality_exponent": 1.0}, {"typicality_exponent": 501.0}, {"bandwidth_scale": 0.0}),
        *({"init": "k-means++"}, {"n_init": 0}, {"max_iter": 0}, {"tol": -1e-3}, {"accelerate": "yes"}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of PFCM must be"):
        PFCM(**parameters).fit(IRIS)
