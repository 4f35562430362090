"""Fuzzy c-means: published optima, limits, invariances, hostile input, streaming."""

import re
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import (
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from soft_clustering import FCM, kernels
from soft_clustering.fuzzy.fcm import Stream
from soft_clustering.fuzzy.fuzzifier import auto_fuzzifier, resolve_fuzzifier

IRIS = load_iris().data
IRIS_CENTERS = np.array(
    [[5.00397, 3.41409, 1.48282, 0.25355], [5.88893, 2.76107, 4.36395, 1.39732], [6.77501, 3.05238, 5.64678, 2.05355]]
)
START = IRIS[[0, 60, 120]]
BUTTERFLY = np.array(
    [
        *[(-5, 0), (-3.34, 1.67), (-3.34, 0), (-3.34, -1.67), (-1.67, 0), (0, 0)],
        *[(1.67, 0), (3.34, 1.67), (3.34, 0), (3.34, -1.67), (5, 0), (0, 10)],
    ]
)
property_test = settings(max_examples=40, deadline=None, derandomize=True)


def in_order(centers):
    """Rows by their first coordinate."""
    return centers[np.argsort(centers[:, 0])]


def brute_force(X, centers, m, weight=None):
    """J and U by the definition, a loop over samples and clusters."""
    n, K = len(X), len(centers)
    U, J = np.zeros((n, K)), 0.0
    for i in range(n):
        D = [sum((X[i, j] - centers[k, j]) ** 2 for j in range(X.shape[1])) for k in range(K)]
        for k in range(K):
            U[i, k] = 1 / sum((D[k] / D[other]) ** (1 / (m - 1)) for other in range(K))
        J += (1 if weight is None else weight[i]) * sum(U[i, k] ** m * D[k] for k in range(K))
    return J, U


def passes(X, start, n_passes, m=2.0, weight=None):
    """So many plain passes, whether or not they converge."""
    model = FCM(len(start), m=m, init=start, tol=0, max_iter=n_passes, accelerate=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


# Published and measured optima ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("m, objective", [(1.3, 77.370776), (2.0, 60.505711), (3.0, 29.073610)])
def test_objective_of_iris(m, objective):
    assert FCM(3, m=m, random_state=0).fit(IRIS).objective_ == pytest.approx(objective, abs=6e-7)


def test_optimum_of_iris():
    model = FCM(3, m=2, tol=1e-8, random_state=0).fit(IRIS)
    assert model.objective_ == pytest.approx(60.50571063, abs=6e-9)
    np.testing.assert_allclose(in_order(model.centers_), IRIS_CENTERS, rtol=0, atol=6e-6)
    assert (model.memberships_**2).sum() / 150 == pytest.approx(0.783397, abs=6e-7)
    assert model.converged_
    assert model.m_ == 2


@pytest.mark.parametrize(
    "m, distance, objective",
    [(1.1, 1.5e-2, 78.7051), (1.05, 1.3e-2, 78.8130), (1.02, 5.0e-3, 78.8474), (1.01, 3.2e-4, 78.85127)],
)
def test_small_fuzzifiers_approach_kmeans(m, distance, objective):
    kmeans = KMeans(3, n_init=10, random_state=0).fit(IRIS)
    model = FCM(3, m=m, tol=1e-8, random_state=0).fit(IRIS)
    measured = np.abs(in_order(model.centers_) - in_order(kmeans.cluster_centers_)).max()
    assert measured == pytest.approx(distance, rel=0.04)  # the sheet gives two digits
    assert model.objective_ == pytest.approx(objective, abs=6e-5)
    assert model.objective_ < kmeans.inertia_


def test_butterfly():
    model = FCM(2, m=2, tol=1e-12, random_state=0).fit(BUTTERFLY)
    np.testing.assert_allclose(in_order(model.centers_), [[-2.9854, 0.5435], [2.9854, 0.5435]], rtol=0, atol=6e-5)
    assert model.objective_ == pytest.approx(78.20721, abs=6e-6)
    np.testing.assert_allclose(model.memberships_[[5, 11]], 0.5, rtol=0, atol=1e-12)


@pytest.mark.parametrize("m", [1.2, 1.5, 2.0, 3.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_and_memberships_by_brute_force(m, weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    model = FCM(3, m=m, random_state=0).fit(IRIS, sample_weight=weight)
    objective, memberships = brute_force(IRIS, model.centers_, m, weight)
    assert model.objective_ == pytest.approx(objective, rel=1e-14, abs=0)
    np.testing.assert_allclose(model.memberships_, memberships, rtol=0, atol=1e-14)


# Fuzzifier ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "n, d, m",
    [
        (150, 4, 2),
        (1000, 2, 2),
        (1000, 5, 2),
        (1000, 8, 1.479),
        (178, 13, 1.314),
        (569, 30, 1.102),
        (1797, 64, 1.050),
        (3000, 100, 1.035),
    ],
)
def test_auto_fuzzifier(n, d, m):
    assert auto_fuzzifier(n, d) == pytest.approx(m, abs=5e-4)
    assert auto_fuzzifier(n, d) <= 2


@pytest.mark.parametrize(
    "n, d, m", [(50, 40, 1.21086212502835), (200, 9, 1.50777341628583), (10**5, 16, 1.13476667680596)]
)
def test_auto_fuzzifier_to_all_digits(n, d, m):
    """Values of the published formula, computed with 30 digits."""
    assert auto_fuzzifier(n, d) == pytest.approx(m, rel=1e-13)


def test_auto_fuzzifier_is_the_default_and_stored():
    X = load_wine().data
    model = FCM(3, random_state=0).fit(X)
    assert model.m == "auto"
    assert model.m_ == auto_fuzzifier(178, 13)
    np.testing.assert_array_equal(model.centers_, FCM(3, m=model.m_, random_state=0).fit(X).centers_)


def test_auto_fuzzifier_of_normalised_weights():
    """Weights that sum to one are no sample of size one."""
    X = load_wine().data
    assert FCM(3, random_state=0).fit(X, sample_weight=np.full(178, 1 / 178)).m_ == auto_fuzzifier(178, 13)


def test_fuzzifier_too_large():
    limit = 1 + 500 / np.log(3)
    assert resolve_fuzzifier(limit, 10, 2, 3) == limit
    with pytest.raises(ValueError, match=r"m=457 is too large for n_clusters=3.*Use m <= 456\.1"):
        FCM(3, m=457.0).fit(IRIS)
    assert resolve_fuzzifier(1e6, 10, 2, 1) == 1e6  # one cluster: nothing to underflow


def test_largest_fuzzifier_has_a_finite_result():
    with pytest.warns(ConvergenceWarning, match="all samples have the same memberships"):
        model = FCM(3, m=456.0, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-15)
    assert np.isfinite(model.centers_).all()
    # No worse than all centres in the mean.
    assert 0 < model.objective_ <= 3.0 ** (1 - 456) * IRIS.var(axis=0).sum() * 150


@pytest.mark.parametrize("m", [5.0, 20.0, 50.0])
def test_large_fuzzifier_leaves_its_seeds(m):
    """A seed is a row, and u^m of that row is 1 against (1 / K)^m of all others: still no optimum."""
    model = FCM(3, m=m, random_state=0).fit(IRIS)
    beside = FCM(3, m=m, init=START + 0.05).fit(IRIS)
    assert beside.n_iter_ > 5
    assert model.objective_ <= beside.objective_ * (1 + 1e-6)


def test_fuzzifier_near_one_is_lloyd():
    kmeans = KMeans(3, init=START, n_init=1, tol=0, algorithm="lloyd").fit(IRIS)
    model = FCM(3, m=1.001, init=START).fit(IRIS)
    np.testing.assert_array_equal(model.labels_, kmeans.labels_)
    np.testing.assert_allclose(model.centers_, kmeans.cluster_centers_, rtol=0, atol=1e-14)
    assert model.objective_ == pytest.approx(kmeans.inertia_, rel=1e-14, abs=0)


@pytest.mark.parametrize("n_passes", [1, 2, 5])
def test_passes_near_one_are_lloyd_passes(n_passes):
    X, _ = make_blobs(300, 3, centers=4, cluster_std=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        kmeans = KMeans(4, init=X[:4], n_init=1, tol=0, max_iter=n_passes, algorithm="lloyd").fit(X)
    # At m = 1.0001 only a row with nearly equal squared distances is shared: there is none here.
    np.testing.assert_allclose(
        passes(X, X[:4], n_passes, m=1.0001).centers_, kmeans.cluster_centers_, rtol=0, atol=1e-13
    )


# The ratio rule -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1.001, 1.5, 1.7, 2.0, 50.0])
def test_sample_on_a_prototype_is_one_hot(m):
    points = np.array([[0.0, 0.0], [1.0, 0.5], [5.0, -2.0]])
    model = FCM(3, m=m, init=points).fit(np.repeat(points, 5, axis=0))
    np.testing.assert_array_equal(model.predict_memberships(points), np.eye(3))
    np.testing.assert_array_equal(model.memberships_, np.repeat(np.eye(3), 5, axis=0))


@pytest.mark.parametrize("m", [1.001, 1.5, 1.7, 2.0, 50.0])
def test_coincident_prototypes_share(m):
    X = np.array([[0.0, 0.0]] * 4 + [[1.0, 0.0]] * 4)
    with pytest.warns(ConvergenceWarning, match="found 2 distinct prototypes"):
        model = FCM(3, m=m, init=[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]).fit(X)
    np.testing.assert_array_equal(model.memberships_[:4], [[0.5, 0.5, 0]] * 4)
    np.testing.assert_array_equal(model.memberships_[4:], [[0, 0, 1]] * 4)
    between = model.predict_memberships([[0.25, 0.0]])[0]
    assert between[0] == between[1] > between[2]


# Small and degenerate data --------------------------------------------------------------------------------------------


def test_one_cluster_is_the_weighted_mean():
    weight = np.random.RandomState(0).uniform(0.1, 2, 150)
    model = FCM(1).fit(IRIS, sample_weight=weight)
    mean = np.average(IRIS, axis=0, weights=weight)
    np.testing.assert_allclose(model.centers_, [mean], rtol=1e-15)
    assert model.objective_ == pytest.approx(weight @ ((IRIS - mean) ** 2).sum(axis=1), rel=1e-14, abs=0)
    np.testing.assert_array_equal(model.memberships_, np.ones((150, 1)))
    assert model.n_iter_ == 1
    assert model.converged_


@pytest.mark.parametrize("m", [1.3, 2.0])
def test_as_many_clusters_as_samples(m):
    X = IRIS[::15]
    model = FCM(10, m=m, random_state=0).fit(X)
    assert model.objective_ == 0
    np.testing.assert_allclose(model.centers_[model.labels_], X, rtol=1e-15)
    np.testing.assert_array_equal(model.memberships_, np.eye(10)[model.labels_])
    assert sorted(model.labels_) == list(range(10))


def test_fewer_distinct_points_than_clusters():
    points = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    X = np.repeat(points, 4, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"found 3 distinct prototypes, .*n_clusters=5.*X has duplicates"):
        model = FCM(5, m=2, random_state=0).fit(X)
    assert model.objective_ == 0
    D = cdist(X, model.centers_)
    assert set(map(tuple, model.centers_)) == set(map(tuple, points))
    np.testing.assert_allclose(model.memberships_, (D == 0) / (D == 0).sum(axis=1, keepdims=True), rtol=1e-15)


@pytest.mark.parametrize("value", [0.0, 2.5, -1e-300, 1e200])
def test_identical_points(value):
    with pytest.warns(ConvergenceWarning, match="collapsed"):
        model = FCM(3, m=2, random_state=0).fit(np.full((7, 3), value))
    np.testing.assert_array_equal(model.memberships_, np.full((7, 3), 1 / 3))
    np.testing.assert_array_equal(model.centers_, np.full((3, 3), value))
    assert model.objective_ == 0
    assert model.converged_


@pytest.mark.parametrize("value", [0.0, 2.5, -1e-300])
def test_identical_sparse_points(value):
    with pytest.warns(ConvergenceWarning, match="collapsed"):
        model = FCM(3, m=2, random_state=0).fit(sparse.csr_matrix(np.full((7, 3), value)))
    np.testing.assert_array_equal(model.memberships_, np.full((7, 3), 1 / 3))
    np.testing.assert_allclose(model.centers_, value, rtol=1e-15)  # sparse rows are not centred
    assert 0 <= model.objective_ <= 1e-29 * value**2
    assert model.converged_


def test_collapse_names_the_remedy():
    X = load_digits().data
    with pytest.warns(ConvergenceWarning, match=r"collapsed: .* m=2 may be too large for 64 features, try m='auto'"):
        FCM(10, m=2, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        FCM(10, m="auto", random_state=0).fit(X)


def test_underflowed_cluster_moves_to_the_worst_row():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [13.0]])
    # Of the rows about the second centre 13 has the largest objective; the third centre is too far for any of them.
    start = [[0.5], [10.5], [1e7]]
    model = passes(X, start, 1, m=1.02)
    np.testing.assert_allclose(model.centers_, [[0.5], [34 / 3], [13.0]], rtol=1e-14)
    model = FCM(3, m=1.02, init=start).fit(X)
    np.testing.assert_allclose(model.centers_, [[0.5], [10.5], [13.0]], rtol=1e-14)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1, 2])


def test_one_underflowed_cluster_moves_per_pass():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [13.0]])
    model = passes(X, [[0.5], [10.5], [1e7], [-1e7]], 1, m=1.02)
    np.testing.assert_allclose(model.centers_, [[0.5], [34 / 3], [13.0], [-1e7]], rtol=1e-14)


@pytest.mark.parametrize("factor", [1e-90, 1e-20, 1e90])
def test_unit_of_the_weights_does_not_matter(factor):
    weight = np.random.RandomState(0).uniform(0.5, 2, 150)
    model = FCM(3, m=2, init=START).fit(IRIS, sample_weight=weight)
    other = FCM(3, m=2, init=START).fit(IRIS, sample_weight=weight * factor)
    np.testing.assert_allclose(other.centers_, model.centers_, rtol=1e-13)
    assert other.objective_ == pytest.approx(model.objective_ * factor, rel=1e-13, abs=0)


# Invariances ----------------------------------------------------------------------------------------------------------


shapes = st.tuples(st.integers(10, 80), st.integers(1, 6), st.integers(2, 5))
fuzzifiers = st.sampled_from([1.5, 1.7, 2.0, 3.0])


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, m=fuzzifiers, exponent=st.integers(-100, 100))
def test_similar_data_have_the_same_memberships(seed, shape, m, exponent):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    offset, scale = rng.normal(size=d) * 10, 10.0**exponent

    def move(Z):
        return (Z @ rotation + offset) * scale

    model, moved = passes(X, start, 4, m=m), passes(move(X), move(start), 4, m=m)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moved.centers_, move(model.centers_), rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(moved.objective_history_, model.objective_history_ * scale * scale, rtol=1e-13)


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, m=fuzzifiers)
def test_weights_are_repetitions(seed, shape, m):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    weight = rng.randint(0, 4, n)
    weight[:K] = 1  # at least K rows remain
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    weighted = passes(X, start, 4, m=m, weight=weight)
    repeated = passes(np.repeat(X, weight, axis=0), start, 4, m=m)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-13)
    np.testing.assert_allclose(weighted.objective_history_, repeated.objective_history_, rtol=1e-13)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(X), rtol=0, atol=1e-13)
    assert weighted.memberships_.shape == (n, K)


@pytest.mark.parametrize("d", [4, 12])
def test_weights_are_repetitions_with_all_defaults(d):
    rng = np.random.RandomState(0)
    X = make_blobs(60, d, centers=3, random_state=0)[0]
    weight = rng.randint(0, 4, 60)
    weighted = FCM(3, random_state=0).fit(X, sample_weight=weight)
    repeated = FCM(3, random_state=0).fit(np.repeat(X, weight, axis=0))
    assert weighted.m_ == repeated.m_
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_order_of_the_rows_does_not_matter(init, seed):
    order = np.random.RandomState(seed).permutation(150)
    model = FCM(3, init=init, n_init=1, random_state=seed).fit(IRIS)
    permuted = FCM(3, init=init, n_init=1, random_state=seed).fit(IRIS[order])
    np.testing.assert_allclose(permuted.centers_, model.centers_, rtol=0, atol=1e-13)
    np.testing.assert_allclose(permuted.memberships_, model.memberships_[order], rtol=0, atol=1e-13)
    assert permuted.n_iter_ == model.n_iter_


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_offset_costs_no_accuracy(offset):
    moved = IRIS + offset
    # What survives of the digits, without the offset.
    expected = FCM(3, m=2, init=START).fit(moved - offset)
    model = FCM(3, m=2, init=START + offset).fit(moved)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-13)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-14, abs=0)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_extreme_units(scale, container):
    expected = FCM(3, m=2, init=START).fit(container(IRIS))
    model = FCM(3, m=2, init=START * scale).fit(container(IRIS * scale))
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.centers_ / scale, expected.centers_, rtol=1e-13)
    np.testing.assert_array_equal(model.predict_memberships(container(IRIS * scale)), model.memberships_)
    if 1e-150 <= scale <= 1e150:
        assert model.objective_ == pytest.approx(expected.objective_ * scale * scale, rel=1e-12, abs=0)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_subnormal_data(container):
    """Few digits are left, but a fit is a fit."""
    expected = FCM(3, m=2, init=START).fit(container(IRIS))
    model = FCM(3, m=2, init=START * 1e-310).fit(container(IRIS * 1e-310))
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=0.02)
    np.testing.assert_allclose(model.centers_ / 1e-310, expected.centers_, rtol=0, atol=0.02)


# Types and containers -------------------------------------------------------------------------------------------------


def test_float32_is_kept_and_close():
    model = FCM(3, m=2, init=START).fit(IRIS.astype(np.float32))
    expected = FCM(3, m=2, init=START).fit(IRIS)
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=4e-6)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=4e-6)
    assert model.predict_memberships(IRIS.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e30])
def test_extreme_units_in_float32(scale):
    with np.errstate(under="ignore"):
        X = (IRIS * scale).astype(np.float32)
    model = FCM(3, m=2, init=X[[0, 60, 120]]).fit(X)
    exact = FCM(3, m=2, init=X[[0, 60, 120]]).fit(X.astype(np.float64))
    np.testing.assert_allclose(model.memberships_, exact.memberships_, rtol=0, atol=4e-6)


@pytest.mark.parametrize(
    "m, start, factor",
    [
        (1.1, [[0.5, 0.0], [10.5, 0.0], [1000.0, 0.0]], 1.0),
        (
            50.0,
            [[0.4, 0.1], [0.6, 0.0], [10.4, 0.2], [10.2, -0.1], [9.9, 0.3], [0.1, 0.5], [5.0, 1.0], [3.0, 2.0]],
            1.0,
        ),
        (2.0, [[0.4, 0.1], [10.4, 0.2]], 1e-46),
    ],
    ids=["far centre", "large fuzzifier", "small weights"],
)
def test_small_weights_in_float32(m, start, factor):
    """u^m and sample weights may be far below what a float32 holds."""
    X = np.array([[0, 0.5], [1, 0], [1, 1], [0, 1], [10, 0.5], [11, 0], [11, 1], [10, 2]], dtype=np.float32)
    weight = np.full(8, factor)
    model, exact = (passes(data, start, 1, m=m, weight=weight) for data in (X, X.astype(np.float64)))
    np.testing.assert_allclose(model.centers_, exact.centers_, rtol=0, atol=1e-4)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 2e-6)])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_csr_equals_dense(dtype, tolerance, index, container):
    rng = np.random.RandomState(0)
    X = np.where(rng.uniform(size=(300, 20)) < 0.2, rng.gamma(2, size=(300, 20)), 0).astype(dtype)
    X[150:, :5] += 3
    S = container(X)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    weight = rng.uniform(0.5, 2, 300)
    # One start: of equally good ones rounding decides.
    dense = FCM(2, m=1.5, n_init=1, random_state=0).fit(X, sample_weight=weight)
    model = FCM(2, m=1.5, n_init=1, random_state=0).fit(S, sample_weight=weight)
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.centers_, dense.centers_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.predict_memberships(S), dense.predict_memberships(X), rtol=0, atol=tolerance)
    assert model.score(S, sample_weight=weight) == pytest.approx(dense.score(X, sample_weight=weight), rel=tolerance)
    assert model.memberships_.dtype == dtype


@pytest.mark.parametrize("convert", [sparse.csc_matrix, sparse.coo_matrix, sparse.lil_matrix])
def test_other_sparse_formats(convert):
    model, dense = FCM(3, init=START).fit(convert(IRIS)), FCM(3, init=START).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=1e-12)


def test_memory_map_equals_memory(tmp_path):
    X, _ = make_blobs(2000, 6, centers=4, random_state=0)
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", mode="r", shape=X.shape, dtype=X.dtype)
    weight = np.arange(1.0, 2001)
    weight.flags.writeable = False
    memory, disk = (FCM(4, random_state=0).fit(data, sample_weight=weight) for data in (X, mapped))
    np.testing.assert_array_equal(disk.memberships_, memory.memberships_)
    np.testing.assert_array_equal(disk.centers_, memory.centers_)
    assert disk.objective_ == memory.objective_


def test_fortran_order_and_lists():
    expected = FCM(3, random_state=0).fit(IRIS)
    for X in (np.asfortranarray(IRIS), IRIS.tolist(), IRIS[::-1][::-1]):
        np.testing.assert_array_equal(FCM(3, random_state=0).fit(X).memberships_, expected.memberships_)


@pytest.mark.skipif(kernels.compiled is None, reason="the NumPy twins have no threads of their own")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [2.0, 1.7])
def test_threads_do_not_change_a_bit(monkeypatch, dtype, m):
    monkeypatch.setattr(kernels, "usable_cores", lambda: 3)  # threads, even where there is one core
    X = make_blobs(20000, 8, centers=5, cluster_std=4, random_state=0)[0].astype(dtype)
    fits = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="openmp"):
            assert kernels.compiled.max_threads() == threads
            fits.append(FCM(5, m=m, n_init=1, random_state=0).fit(X))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.memberships_, fits[0].memberships_)
        np.testing.assert_array_equal(fit.centers_, fits[0].centers_)
        np.testing.assert_array_equal(fit.objective_history_, fits[0].objective_history_)


# The protocol's own ---------------------------------------------------------------------------------------------------


def test_rows_sum_to_one_and_predict_as_trained():
    model = FCM(3, m=1.5, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=0, atol=4e-15)
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
    np.testing.assert_array_equal(model.predict(IRIS), model.labels_)
    np.testing.assert_array_equal(model.labels_, model.memberships_.argmax(axis=1))


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_history_does_not_increase(accelerate, seed):
    X, _ = make_circles(1000, factor=0.5, noise=0.05, random_state=42)
    model = FCM(4, init="random", n_init=1, accelerate=accelerate, tol=1e-8, max_iter=3000, random_state=seed).fit(X)
    history = model.objective_history_
    assert len(history) > 10
    assert np.all(np.diff(history) <= 1e-12 * history[:-1])
    assert history[-1] == model.objective_


def test_score_is_minus_the_objective():
    weight = np.random.RandomState(0).uniform(0.1, 2, 150)
    model = FCM(3, random_state=0).fit(IRIS, sample_weight=weight)
    assert model.score(IRIS, sample_weight=weight) == pytest.approx(-model.objective_, rel=1e-14, abs=0)
    assert model.score(IRIS) == pytest.approx(-brute_force(IRIS, model.centers_, model.m_)[0], rel=1e-14, abs=0)
    assert model.score(IRIS[:20]) == pytest.approx(
        -brute_force(IRIS[:20], model.centers_, model.m_)[0], rel=1e-14, abs=0
    )


def test_rows_of_weight_zero_get_memberships():
    weight = np.ones(150)
    weight[::3] = 0
    model = FCM(3, random_state=0).fit(IRIS, sample_weight=weight)
    removed = FCM(3, random_state=0).fit(IRIS[weight > 0])
    np.testing.assert_array_equal(model.centers_, removed.centers_)
    np.testing.assert_array_equal(model.memberships_, removed.predict_memberships(IRIS))


def test_not_converged_is_said():
    with pytest.warns(ConvergenceWarning, match=r"FCM did not converge in max_iter=2 passes.*Increase max_iter or tol"):
        model = FCM(3, max_iter=2, random_state=0).fit(IRIS)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_same_seed_same_result():
    X, _ = make_blobs(200, 3, centers=6, cluster_std=3, random_state=0)
    first, again, other = (FCM(6, n_init=1, random_state=seed).fit(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.memberships_, again.memberships_)
    assert not np.array_equal(first.centers_, other.centers_)


def test_generator_state_is_not_global():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    FCM(3, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_best_of_the_starts_is_kept():
    X, _ = make_blobs(300, 2, centers=8, cluster_std=0.5, random_state=3)
    rng = np.random.RandomState(0)
    singles = [FCM(8, init="random", n_init=1, random_state=rng).fit(X).objective_ for _ in range(5)]
    assert max(singles) > 1.05 * min(singles)  # the starts do differ
    assert FCM(8, init="random", n_init=5, random_state=0).fit(X).objective_ == pytest.approx(
        min(singles), rel=1e-14, abs=0
    )


# Starts ---------------------------------------------------------------------------------------------------------------


def test_array_init_forces_one_start(capsys):
    model = FCM(3, init=START, n_init=7, verbose=1).fit(IRIS)
    assert capsys.readouterr().out.count("FCM start") == 1
    np.testing.assert_array_equal(cdist(model.centers_, START).argmin(axis=1), [0, 1, 2])  # in the order of the starts


def test_callable_init():
    calls = []

    def init(X, n_clusters, rng):
        calls.append((X.shape, n_clusters, type(rng)))
        return X[rng.choice(len(X), n_clusters, replace=False)]

    model = FCM(3, m=2, init=init, n_init=4, random_state=0).fit(IRIS)
    assert calls == [((150, 4), 3, np.random.RandomState)] * 4
    assert model.objective_ == pytest.approx(60.505711, abs=6e-7)


@pytest.mark.parametrize(
    "init, message",
    [
        (np.zeros((2, 4)), r"init must have shape \(3, 4\). Got shape \(2, 4\)"),
        (np.full((3, 4), np.nan), "init contains NaN"),
        (lambda X, n_clusters, rng: X[:2], r"init must have shape \(3, 4\). Got shape \(2, 4\)"),
        ("kmeans", "'init' parameter of FCM must be"),
    ],
)
def test_bad_init(init, message):
    with pytest.raises(ValueError, match=message):
        FCM(3, init=init).fit(IRIS)


def test_init_array_is_not_changed():
    start = START.copy()
    FCM(3, init=start).fit(IRIS)
    np.testing.assert_array_equal(start, START)


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_clusters": 0}, {"n_clusters": 2.5}, {"m": 1.0}, {"m": 0.5}, {"m": "automatic"}, {"n_init": 0}),
        *({"max_iter": 0}, {"tol": -1e-3}, {"accelerate": "yes"}, {"batch_size": 0}, {"random_state": "zero"}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of FCM must be"):
        FCM(**parameters).fit(IRIS)


def test_more_clusters_than_rows():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        FCM(3).fit(IRIS[:2])
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        FCM(3).fit(IRIS[:5], sample_weight=[1, 0, 0, 2, 0])


def test_not_finite():
    X = IRIS.copy()
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        FCM().fit(X)
    model = FCM(random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)


# Quality --------------------------------------------------------------------------------------------------------------


def test_blobs_are_found_from_every_seed():
    X, y = make_blobs(1000, 2, centers=5, random_state=42)
    for seed in range(10):
        assert adjusted_rand_score(y, FCM(5, random_state=seed).fit(X).labels_) >= 0.95


def test_agreement_with_the_classes_of_ten_sets():
    expected = {
        **{"iris": 0.729, "wine": 0.371, "digits": 0.667, "breast_cancer": 0.486, "blobs": 0.952},
        **{
            "moons": 0.239,
            "circles": -0.001,
            "anisotropic_blobs": 0.935,
            "varied_blobs": 0.878,
            "high_dimensional_blobs": 1.0,
        },
    }
    found = {}
    for name, (X, y) in offline_sets().items():
        runs = [adjusted_rand_score(y, FCM(len(np.unique(y)), random_state=seed).fit(X).labels_) for seed in range(2)]
        found[name] = np.mean(runs)
        assert found[name] >= expected[name] - 0.02, name
    assert found.keys() == expected.keys()
    assert round(np.mean(list(found.values())), 3) >= 0.626


# Acceleration ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1.5, 2.0])
def test_accelerated_equals_plain(m):
    X = load_wine().data
    plain, fast = (
        FCM(3, m=m, init=X[[0, 70, 150]], tol=1e-8, max_iter=2000, accelerate=on).fit(X) for on in (False, True)
    )
    assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-13, abs=0)
    np.testing.assert_allclose(fast.memberships_, plain.memberships_, rtol=0, atol=1e-7)
    assert fast.n_iter_ < plain.n_iter_


# Interruption ---------------------------------------------------------------------------------------------------------


def interrupt(monkeypatch, after, rows=150):
    """Let FCM raise KeyboardInterrupt once, in the pass after so many over a block of so many rows."""
    original, count = FCM._statistics, [0]

    def statistics(self, block, V):
        count[0] += block.n == rows
        if block.n == rows and count[0] == after + 1:
            raise KeyboardInterrupt
        return original(self, block, V)

    monkeypatch.setattr(FCM, "_statistics", statistics)


def test_interrupted_fit_keeps_its_state(monkeypatch):
    expected = passes(IRIS, START, 4)
    interrupt(monkeypatch, after=4)
    model = FCM(3, m=2, init=START, tol=0, accelerate=False)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    np.testing.assert_array_equal(model.centers_, expected.centers_)
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    np.testing.assert_array_equal(model.objective_history_, expected.objective_history_)
    assert not model.converged_
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)


def test_interrupted_second_start_keeps_the_first(monkeypatch):
    first = FCM(3, m=2, n_init=1, random_state=0).fit(IRIS)
    interrupt(monkeypatch, after=first.n_iter_ + 1)
    model = FCM(3, m=2, n_init=5, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    np.testing.assert_array_equal(model.centers_, first.centers_)
    assert model.converged_
    assert model.n_iter_ == first.n_iter_


def test_interrupted_first_pass_leaves_nothing(monkeypatch):
    interrupt(monkeypatch, after=0)
    model = FCM(3, init=START)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    assert not hasattr(model, "memberships_")
    with pytest.raises(NotFittedError):
        model.predict(IRIS)


# Verbosity ------------------------------------------------------------------------------------------------------------


def test_silence(capsys):
    FCM(3, random_state=0).fit(IRIS)
    assert capsys.readouterr().out == ""


def test_verbose_prints_a_line_per_start(capsys):
    model = FCM(3, n_init=3, random_state=0, verbose=1).fit(IRIS)
    lines = capsys.readouterr().out.splitlines()
    pattern = r"FCM start (\d): objective ([\d.]+), (\d+) passes, (converged|joined the best start)"
    found = [re.fullmatch(pattern, line).groups() for line in lines]
    assert [int(start) for start, *_ in found] == [1, 2, 3]
    assert min(float(objective) for _, objective, *_ in found) == pytest.approx(model.objective_, rel=1e-7)
    assert model.n_iter_ in [int(n_iter) for _, _, n_iter, _ in found]


def test_very_verbose_prints_a_line_per_pass(capsys):
    model = FCM(3, m=2, init=START, accelerate=False, verbose=2).fit(IRIS)
    lines = capsys.readouterr().out.splitlines()
    found = [re.match(r"FCM pass (\d+): objective ([\d.]+), change [\d.e-]+$", line) for line in lines[:-1]]
    assert [int(line[1]) for line in found] == list(range(1, model.n_iter_ + 1))
    np.testing.assert_allclose([float(line[2]) for line in found], model.objective_history_[:-1], rtol=1e-7)
    assert lines[-1].startswith("FCM start 1: objective")


# Batches --------------------------------------------------------------------------------------------------------------


def fuzzy_weights(X, V, m):
    """u^m, by the definition."""
    ratio = cdist(X, V, "sqeuclidean") ** (-1 / (m - 1))
    return (ratio / ratio.sum(axis=1, keepdims=True)) ** m


@pytest.fixture(scope="module")
def large():
    return make_blobs(100_000, 8, centers=10, random_state=0)[0]


def test_mini_batches_reach_the_optimum(large):
    optimum = FCM(10, n_init=2, random_state=0).fit(large)
    model = FCM(10, batch_size=1024, max_iter=5, random_state=0).fit(large)
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum.objective_, rel=1e-6)
    assert model.objective_ == pytest.approx(-model.score(large), rel=1e-14, abs=0)
    np.testing.assert_array_equal(model.predict(large[:1000]), model.labels_[:1000])


def test_mini_batches_are_reproducible(large):
    X = large[:5000]
    first, again = (FCM(10, batch_size=256, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.centers_, again.centers_)
    np.testing.assert_array_equal(first.memberships_, again.memberships_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mini_batches_respect_weights(large):
    X = large[:3000]
    weight = np.where(X[:, 0] > 0, 5.0, 1.0)
    weight[::7] = 0
    weighted = FCM(3, m=2, random_state=0).fit(X, sample_weight=weight)
    assert FCM(3, m=2, random_state=0).fit(X).score(X, sample_weight=weight) < -1.01 * weighted.objective_
    model = FCM(3, m=2, batch_size=512, max_iter=20, random_state=0).fit(X, sample_weight=weight)
    assert model.objective_ == pytest.approx(weighted.objective_, rel=2e-5)
    assert model.memberships_.shape == (3000, 3)


def test_one_batch_of_everything_is_a_fit():
    batch = FCM(3, m=2, random_state=0).fit(IRIS)
    model = FCM(3, m=2, batch_size=1000, random_state=0).fit(IRIS)
    assert model.objective_ == pytest.approx(batch.objective_, rel=1e-11)


@pytest.mark.parametrize("batches", [50, 150])
def test_interrupted_epoch_keeps_its_state(monkeypatch, batches):
    X = make_blobs(2000, 3, centers=3, cluster_std=3, random_state=0)[0]
    interrupt(monkeypatch, after=batches, rows=20)  # in the first and the second epoch of 100
    model = FCM(3, m=2, batch_size=20, tol=0, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert not model.converged_
    assert model.objective_ == pytest.approx(-model.score(X), rel=1e-14, abs=0)
    np.testing.assert_array_equal(model.predict_memberships(X), model.memberships_)


@pytest.mark.parametrize("m", [1.5, 2.0])
@pytest.mark.parametrize("fitted", [False, True])
def test_partial_fit_is_a_streaming_mean(m, fitted):
    A, B, C = IRIS[::3], IRIS[1::3], IRIS[2::3]
    weight = np.random.RandomState(0).uniform(0.5, 2, 50)
    model = FCM(3, m=m, tol=1e-13, max_iter=2000, random_state=0)
    model = model.fit(A) if fitted else model.partial_fit(A)
    V = model.centers_.copy()
    np.testing.assert_allclose(
        in_order(V), in_order(FCM(3, m=m, tol=1e-13, max_iter=2000, random_state=0).fit(A).centers_), rtol=0, atol=1e-13
    )
    total = fuzzy_weights(A, V, m).sum(axis=0)
    for X, w in ((B, weight), (C, np.ones(50))):
        model.partial_fit(X, sample_weight=w)
        W = fuzzy_weights(X, V, m) * w[:, None]
        total = total + W.sum(axis=0)
        V = V + (W.T @ X - W.sum(axis=0)[:, None] * V) / total[:, None]
        np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-13)


def test_partial_fit_sets_the_model_and_no_stale_memberships():
    model = FCM(3, random_state=0)
    with pytest.raises(NotFittedError):
        model.predict(IRIS)
    assert model.partial_fit(IRIS[::2]) is model
    assert model.centers_.shape == (3, 4)
    assert model.n_clusters_ == 3
    assert model.m_ == 2
    assert model.n_features_in_ == 4
    for name in ("memberships_", "labels_", "objective_"):
        assert not hasattr(model, name)
    memberships = model.predict_memberships(IRIS)
    np.testing.assert_allclose(memberships, brute_force(IRIS, model.centers_, 2)[1], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(model.predict(IRIS), memberships.argmax(axis=1))
    assert model.score(IRIS) == pytest.approx(-brute_force(IRIS, model.centers_, 2)[0], rel=1e-14, abs=0)
    model.fit(IRIS).partial_fit(IRIS)
    assert not hasattr(model, "memberships_")


def test_partial_fit_checks_its_input():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        FCM(3).partial_fit(IRIS[:2])
    with pytest.raises(ValueError, match="'m' parameter of FCM must be"):
        FCM(3, m=1.0).partial_fit(IRIS)
    model = FCM(3, random_state=0).partial_fit(IRIS)
    with pytest.raises(ValueError, match="X has 3 features, but FCM is expecting 4 features"):
        model.partial_fit(IRIS[:, :3])
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(np.full((5, 4), np.inf))
    model.partial_fit(IRIS[:1])  # later batches may be as small as they come


def test_partial_fit_weights_are_repetitions():
    weight = np.random.RandomState(0).randint(0, 4, 150)
    models = [FCM(3, m=2, init=START).partial_fit(IRIS) for _ in range(2)]
    models[0].partial_fit(IRIS[:, ::-1], sample_weight=weight)
    models[1].partial_fit(np.repeat(IRIS[:, ::-1], weight, axis=0))
    np.testing.assert_allclose(models[0].centers_, models[1].centers_, rtol=1e-14)


def test_partial_fit_on_sparse_batches():
    dense, rows = (FCM(3, m=2, init=START) for _ in range(2))
    for batch in (IRIS[::2], IRIS[1::2]):
        dense.partial_fit(batch)
        rows.partial_fit(sparse.csr_matrix(batch))
    np.testing.assert_allclose(rows.centers_, dense.centers_, rtol=1e-13)


def test_partial_fit_is_reproducible():
    X = make_blobs(600, 5, centers=6, cluster_std=3, random_state=1)[0]
    models = [FCM(6, random_state=4).partial_fit(X[:200]).partial_fit(X[200:]) for _ in range(2)]
    np.testing.assert_array_equal(models[0].centers_, models[1].centers_)


def test_streaming_a_large_set_reaches_the_optimum(large):
    optimum = FCM(10, n_init=2, random_state=0).fit(large)
    model = FCM(10, m=optimum.m_, random_state=0)
    for batch in np.array_split(large, 50):
        model.partial_fit(batch)
    assert -model.score(large) == pytest.approx(optimum.objective_, rel=1e-6)


def test_partial_fit_goes_on_with_the_parameters_of_the_first_call():
    model = FCM(3, m=2.0, random_state=0).partial_fit(IRIS[::2])
    same = FCM(3, m=2.0, random_state=0).partial_fit(IRIS[::2]).partial_fit(IRIS[1::2])
    model.set_params(n_clusters=5, m=3.0).partial_fit(IRIS[1::2])
    np.testing.assert_array_equal(model.centers_, same.centers_)
    assert model.n_clusters == 5
    assert model.n_clusters_ == 3
    assert model.fit(IRIS).centers_.shape == (5, 4)


def test_a_fit_that_fails_leaves_no_parameters_behind():
    model = FCM(3, m=2.0, random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="is too large"):
        model.set_params(n_clusters=5, m=1e6).fit(IRIS)
    assert model.set_params(m=1.5).partial_fit(IRIS).centers_.shape == (5, 4)


def test_mini_batches_remember_two_epochs(monkeypatch):
    """The weight behind the centres grows to that of two epochs and no further."""
    weights, after = [], Stream.after

    def noting(state, statistics):
        new = after(state, statistics)
        weights.append(new.weight.sum())
        return new

    monkeypatch.setattr(Stream, "after", noting)
    X, _ = make_blobs(400, centers=[[0, 0], [50, 0]], random_state=0)  # so far apart that the weights are the rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FCM(2, m=2.0, batch_size=100, max_iter=5, tol=0, random_state=0).fit(X)
    ends = np.array(weights[3::4]) / 400
    assert len(ends) >= 4
    np.testing.assert_allclose(ends, [1, *[2] * (len(ends) - 1)], rtol=0.01)
