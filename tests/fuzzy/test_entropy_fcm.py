"""Entropy c-means: limits, the phase transition, updates by brute force, invariances, both fronts, hostile input."""

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import (
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import ENTROPYFCM, kernels
from soft_clustering.engine import acceleration
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.fuzzy import entropy_fcm
from soft_clustering.fuzzy.entropy_fcm import Prototypes, critical_weight, leading_digits

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]
CUBE = (IRIS - IRIS.min(axis=0)) / np.ptp(IRIS, axis=0)  # iris in [0, 1]
SPREAD = CUBE.var(axis=0).mean()
CRITICAL = 2 * np.linalg.eigvalsh(np.cov(CUBE.T, bias=True))[-1]
property_test = settings(max_examples=40, deadline=None, derandomize=True)


def brute_force(X, V, temperature, shares=None, weight=None):
    """(f1, f2, J, U) by the definitions, a loop over samples and clusters."""
    n, K = len(X), len(V)
    shares = np.ones(K) if shares is None else shares
    weight = np.ones(n) if weight is None else weight
    U, f1, f2, J = np.zeros((n, K)), 0.0, 0.0, 0.0
    for i in range(n):
        D = [sum((X[i, j] - V[k, j]) ** 2 for j in range(X.shape[1])) for k in range(K)]
        bumps = [shares[k] * np.exp(-(D[k] - min(D)) / temperature) for k in range(K)]
        for k in range(K):
            u = U[i, k] = bumps[k] / sum(bumps)
            f1 += weight[i] * u * D[k]
            if u > 0:
                f2 -= weight[i] * u * np.log(u)
                J += weight[i] * (u * D[k] + temperature * u * np.log(u / shares[k]))
    return f1, f2, J, U


def brute_pass(X, V, temperature, shares=None, weight=None):
    """New centres and weights of the clusters."""
    U = brute_force(X, V, temperature, shares, weight)[3]
    W = U if weight is None else U * weight[:, None]
    return (W.T @ X) / W.sum(axis=0)[:, None], W.sum(axis=0) / W.sum()


def passes(X, start, n_passes, weight=None, **parameters):
    """So many plain passes, whether or not they converge."""
    model = ENTROPYFCM(len(start), init=start, tol=0, max_iter=n_passes, accelerate=False, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


# The model ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("temperature", [0.003, 0.05, 0.3])
def test_updates_by_brute_force(learn, weighted, temperature):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    V, shares = CUBE[[0, 60, 120]], np.full(3, 1 / 3)
    history = []
    for n_passes in range(1, 6):
        history.append(brute_force(CUBE, V, temperature, shares if learn else None, weight)[2])
        V, new = brute_pass(CUBE, V, temperature, shares if learn else None, weight)
        shares = new if learn else shares
        model = passes(
            CUBE,
            CUBE[[0, 60, 120]],
            n_passes,
            weight,
            entropy_weight=temperature,
            scaling=None,
            learn_weights=learn,
        )
        np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-14)
        np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-12, atol=1e-12)
        if learn:
            np.testing.assert_allclose(model.weights_, shares, rtol=1e-12)
    f1, f2, J, U = brute_force(CUBE, V, temperature, shares if learn else None, weight)
    assert model.compactness_ == pytest.approx(f1, rel=1e-12)
    assert model.entropy_ == pytest.approx(f2, rel=1e-12)
    assert model.objective_ == pytest.approx(J, rel=1e-12)
    assert model.entropy_weight_ == temperature
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-13)
    if not learn:
        assert model.objective_ == pytest.approx(f1 - temperature * f2, rel=1e-12)
        assert not hasattr(model, "weights_")


def test_learnt_weights_are_a_mixture_of_balls():
    """EM of a spherical mixture whose variance is held at lambda / 2, iteration by iteration."""
    temperature, means, shares = 0.04, CUBE[[0, 60, 120]], np.full(3, 1 / 3)
    for n_passes in range(1, 9):
        log_density = np.log(shares) - cdist(CUBE, means, "sqeuclidean") / (2 * temperature / 2)
        R = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        R /= R.sum(axis=1, keepdims=True)
        means, shares = R.T @ CUBE / R.sum(axis=0)[:, None], R.mean(axis=0)
        model = passes(CUBE, CUBE[[0, 60, 120]], n_passes, entropy_weight=temperature, scaling=None, learn_weights=True)
        np.testing.assert_allclose(model.centers_, means, rtol=0, atol=3e-15)
        np.testing.assert_allclose(model.weights_, shares, rtol=0, atol=3e-15)


@pytest.mark.parametrize("part, compactness", [(0.05, 6.98271), (0.01, 6.982216474413), (0.001, 6.982216473785)])
def test_small_weights_approach_kmeans(part, compactness):
    kmeans = KMeans(3, n_init=10, random_state=0, tol=0).fit(CUBE)
    model = ENTROPYFCM(3, entropy_weight=part * SPREAD, scaling=None, tol=1e-10, random_state=0).fit(CUBE)
    digits = len(str(compactness).partition(".")[2])
    assert model.compactness_ == pytest.approx(compactness, abs=0.6 * 10.0**-digits)
    assert kmeans.inertia_ == pytest.approx(6.982216473785, abs=6e-13)
    assert adjusted_rand_score(kmeans.labels_, model.labels_) == 1
    if part == 0.001:
        assert 0 < model.entropy_ < 1e-60


def test_larger_weight_by_brute_force():
    """At a fifth of the spread the sheet's 7.03003 has not converged: 300 brute passes give 7.03004."""
    V, temperature = CUBE[[0, 60, 120]], 0.2 * SPREAD
    for _ in range(300):
        W = np.exp(-cdist(CUBE, V, "sqeuclidean") / temperature)
        W /= W.sum(axis=1, keepdims=True)
        V = W.T @ CUBE / W.sum(axis=0)[:, None]
    f1 = brute_force(CUBE, V, temperature)[0]
    model = ENTROPYFCM(3, entropy_weight=temperature, scaling=None, tol=1e-12, random_state=0).fit(CUBE)
    assert f1 == pytest.approx(7.03003, abs=2e-5)
    assert model.compactness_ == pytest.approx(f1, rel=1e-11)


# The phase transition -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("learn", [True, False])
def test_phase_transition(accelerate, learn):
    options = {"scaling": None, "tol": 1e-12, "max_iter": 3000, "accelerate": accelerate, "learn_weights": learn}
    with pytest.warns(
        ConvergenceWarning, match=r"found 2 distinct prototypes.*\(entropy weight 0\.4156; from 0\.4618 on"
    ):
        below = ENTROPYFCM(3, entropy_weight=0.9 * CRITICAL, random_state=0, **options).fit(CUBE)
    if not learn:
        assert np.ptp(below.centers_, axis=0).max() == pytest.approx(0.30, abs=5e-3)
    assert pdist(below.centers_).max() > 0.3
    with pytest.warns(
        ConvergenceWarning, match=rf"collapsed: .*weight \(entropy weight 0\.508; from {CRITICAL:.4g} on"
    ):
        above = ENTROPYFCM(3, entropy_weight=1.1 * CRITICAL, random_state=0, **options).fit(CUBE)
    assert pdist(above.centers_).max() < 1e-11
    np.testing.assert_allclose(above.centers_, [CUBE.mean(axis=0)] * 3, rtol=0, atol=1e-11)


@pytest.mark.parametrize("factor, split", [(0.97, True), (1.03, False)])
def test_phase_transition_is_sharp(factor, split):
    """Two centres a little apart, along the first axis of the data: below the critical weight they part."""
    axis = np.linalg.eigh(np.cov(CUBE.T))[1][:, -1]
    start = CUBE.mean(axis=0) + 1e-3 * np.outer([-1, 1], axis)
    model = passes(CUBE, start, 2000, entropy_weight=factor * CRITICAL, scaling=None)
    assert (pdist(model.centers_)[0] > 0.05) == split
    assert (pdist(model.centers_)[0] < 1e-9) != split


@pytest.mark.parametrize("scaling", [None, "minmax"])
@pytest.mark.parametrize("form", ["dense", "sparse", "dask", "float32"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_critical_weight(scaling, form, weighted, d):
    rng = np.random.RandomState(d)
    X = np.where(rng.uniform(size=(200, d)) < 0.6, rng.gamma(2, size=(200, d)) @ rng.normal(size=(d, d)), 0) + 0.0
    weight = rng.uniform(0, 2, 200) if weighted else None
    if form == "dask":
        data = pytest.importorskip("dask.array").from_array(X, chunks=(37, d))
    else:
        data = {"dense": X, "sparse": sparse.csr_matrix(X), "float32": X.astype(np.float32)}[form]
    blocks = make_blocks(data, weight, scaling=scaling)
    covariance = np.atleast_2d(np.cov((X * blocks.frame.scale).T, bias=True, aweights=weight))
    tolerance = 1e-5 if form == "float32" else 1e-11
    assert critical_weight(blocks) == pytest.approx(2 * np.linalg.eigvalsh(covariance)[-1], rel=tolerance)


# Parameters that depend on the data -----------------------------------------------------------------------------------


def test_auto_weight():
    X = load_wine().data
    weight = np.random.RandomState(0).uniform(0.5, 2, 178)
    Z = 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1
    mean = np.average(Z, axis=0, weights=weight)
    expected = 0.25 * np.average((Z - mean) ** 2, axis=0, weights=weight).mean()
    model = ENTROPYFCM(3, random_state=0).fit(X, sample_weight=weight)
    assert model.entropy_weight_ == pytest.approx(expected, rel=1e-12)
    assert ENTROPYFCM(3, scaling=None, random_state=0).fit(X).entropy_weight_ == pytest.approx(
        0.25 * X.var(axis=0).mean(), rel=1e-12
    )


@pytest.mark.parametrize("learn", [False, True])
def test_minmax_is_scaling_first(learn):
    X = load_wine().data
    low, size = X.min(axis=0), np.ptp(X, axis=0)
    Z = 2 * (X - low) / size - 1
    start = [0, 70, 150]
    inside = ENTROPYFCM(3, init=X[start], learn_weights=learn, tol=1e-12).fit(X)
    before = ENTROPYFCM(3, init=Z[start], learn_weights=learn, scaling=None, tol=1e-12).fit(Z)
    np.testing.assert_allclose(inside.memberships_, before.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(inside.centers_, low + (before.centers_ + 1) / 2 * size, rtol=1e-11)
    for name in ("objective_", "compactness_", "entropy_", "entropy_weight_"):
        assert getattr(inside, name) == pytest.approx(getattr(before, name), rel=1e-10)
    f1, f2, J, _ = brute_force(Z, before.centers_, before.entropy_weight_, before.weights_ if learn else None)
    assert (inside.compactness_, inside.entropy_, inside.objective_) == pytest.approx((f1, f2, J), rel=1e-10)
    new = X[::7] * 1.3
    np.testing.assert_allclose(
        inside.predict_memberships(new), before.predict_memberships(2 * (new - low) / size - 1), rtol=0, atol=1e-11
    )


# Degenerate data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", [None, "minmax"])
@pytest.mark.parametrize("solver", ["alternating", "path", "nsga2"])
@pytest.mark.parametrize("value", [0.0, 2.5, 1e200])
def test_identical_points(scaling, solver, value):
    with pytest.warns(ConvergenceWarning, match="collapsed"):
        model = ENTROPYFCM(3, scaling=scaling, solver=solver, random_state=0).fit(np.full((7, 3), value))
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-15)
    np.testing.assert_array_equal(model.centers_, np.full((3, 3), value))
    assert model.entropy_weight_ > 0
    assert model.compactness_ == 0
    assert model.entropy_ == pytest.approx(7 * np.log(3), rel=1e-12)


def test_constant_feature_does_not_matter():
    constant = np.hstack([IRIS, np.full((150, 1), 7.0)])
    model = ENTROPYFCM(3, init=START, entropy_weight=0.1).fit(IRIS)
    wider = ENTROPYFCM(3, init=np.hstack([START, np.full((3, 1), 7.0)]), entropy_weight=0.1).fit(constant)
    np.testing.assert_allclose(wider.memberships_, model.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(wider.centers_[:, 4], 7)


@pytest.mark.parametrize("weight", [1e-300, 1e-30, 1e-6])
@pytest.mark.parametrize("scaling", [None, "minmax"])
@pytest.mark.parametrize("learn", [False, True])
def test_least_weights_are_lloyd(weight, scaling, learn):
    model = ENTROPYFCM(3, entropy_weight=weight, scaling=scaling, learn_weights=learn, init=START).fit(IRIS)
    Z = CUBE if scaling else IRIS
    kmeans = KMeans(3, init=Z[[0, 60, 120]], n_init=1, tol=0, algorithm="lloyd").fit(Z)
    np.testing.assert_array_equal(model.labels_, kmeans.labels_)
    np.testing.assert_allclose(model.memberships_, np.eye(3)[kmeans.labels_], rtol=0, atol=1e-100)
    assert 0 <= model.entropy_ < 1e-100
    assert model.compactness_ == pytest.approx(kmeans.inertia_ * (4 if scaling else 1), rel=1e-12)


@pytest.mark.parametrize("weight", [1e3, 1e300])
def test_large_weights_collapse_and_say_so(weight):
    with pytest.warns(ConvergenceWarning, match=r"collapsed: .*use a smaller entropy weight"):
        model = ENTROPYFCM(3, entropy_weight=weight, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=0, atol=1e-3)
    np.testing.assert_allclose(model.centers_, [IRIS.mean(axis=0)] * 3, rtol=0, atol=1e-2)


def test_underflowed_cluster_moves_to_the_worst_row():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [13.0]])
    start = [[0.5], [10.5], [1e4]]
    model = passes(X, start, 1, entropy_weight=0.1, scaling=None)
    np.testing.assert_allclose(model.centers_, [[0.5], [34 / 3], [13.0]], rtol=1e-14)
    for learn in (False, True):
        model = ENTROPYFCM(3, entropy_weight=0.1, scaling=None, init=start, learn_weights=learn).fit(X)
        np.testing.assert_allclose(model.centers_, [[0.5], [10.5], [13.0]], rtol=1e-9)
        np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1, 2])
    np.testing.assert_allclose(model.weights_, [0.4, 0.4, 0.2], rtol=1e-9)


def test_one_cluster():
    weight = np.random.RandomState(0).uniform(0.1, 2, 150)
    for solver in ("alternating", "path", "nsga2"):
        model = ENTROPYFCM(1, scaling=None, solver=solver).fit(IRIS, sample_weight=weight)
        mean = np.average(IRIS, axis=0, weights=weight)
        np.testing.assert_allclose(model.centers_, [mean], rtol=1e-14)
        np.testing.assert_array_equal(model.memberships_, np.ones((150, 1)))
        assert model.objective_ == pytest.approx(weight @ ((IRIS - mean) ** 2).sum(axis=1), rel=1e-12)
        assert model.entropy_ == 0


@pytest.mark.parametrize(
    "parameters",
    [
        *({"entropy_weight": 0}, {"entropy_weight": -1.0}, {"entropy_weight": "large"}, {"entropy_weight": np.nan}),
        *({"solver": "genetic"}, {"scaling": "standard"}, {"learn_weights": "yes"}, {"n_path_steps": 1}),
        *({"population_size": 3}, {"population_size": 8.0}, {"n_generations": 0}, {"n_generations": "many"}),
        *({"n_clusters": 0}, {"n_init": 0}, {"max_iter": 0}, {"tol": -1.0}, {"accelerate": "yes"}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of ENTROPYFCM must be"):
        ENTROPYFCM(**parameters).fit(IRIS)


@pytest.mark.parametrize("parameters", [{"entropy_weight": 0.1}, {"learn_weights": True}])
def test_path_takes_neither_a_weight_nor_learnt_ones(parameters):
    with pytest.raises(ValueError, match=r"solver='path' .*entropy_weight='auto' and learn_weights=False"):
        ENTROPYFCM(3, solver="path", **parameters).fit(IRIS)


# Invariances ----------------------------------------------------------------------------------------------------------


shapes = st.tuples(st.integers(10, 80), st.integers(1, 6), st.integers(2, 5))


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, learn=st.booleans(), exponent=st.integers(-100, 100))
def test_similar_data_have_the_same_memberships(seed, shape, learn, exponent):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    offset, scale = rng.normal(size=d) * 10, 10.0**exponent

    def move(Z):
        return (Z @ rotation + offset) * scale

    options = {"scaling": None, "learn_weights": learn}
    model = passes(X, start, 4, entropy_weight=0.5, **options)
    moved = passes(move(X), move(start), 4, entropy_weight=0.5 * scale * scale, **options)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(moved.centers_, move(model.centers_), rtol=0, atol=1e-12 * scale)
    size = n * d * scale * scale
    np.testing.assert_allclose(
        moved.objective_history_, model.objective_history_ * scale * scale, rtol=0, atol=1e-12 * size
    )
    assert moved.entropy_ == pytest.approx(model.entropy_, rel=1e-9, abs=1e-9)


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, learn=st.booleans())
def test_units_of_the_features_do_not_matter(seed, shape, learn):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    unit, offset = 10.0 ** rng.uniform(-8, 8, d) * rng.choice([-1, 1], d), rng.normal(size=d)
    model = passes(X, start, 4, learn_weights=learn)
    moved = passes((X + offset) * unit, (start + offset) * unit, 4, learn_weights=learn)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(moved.centers_ / unit - offset, model.centers_, rtol=0, atol=1e-12)
    for name in ("compactness_", "entropy_", "entropy_weight_"):
        assert getattr(moved, name) == pytest.approx(getattr(model, name), rel=1e-9, abs=1e-9)


@property_test
@given(seed=st.integers(0, 10**6), shape=shapes, learn=st.booleans(), scaling=st.sampled_from([None, "minmax"]))
def test_weights_are_repetitions(seed, shape, learn, scaling):
    n, d, K = shape
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    weight = rng.randint(0, 4, n)
    weight[:K] = 1  # at least K rows remain
    start = X[:K] + 0.1 * rng.normal(size=(K, d))
    options = {"learn_weights": learn, "scaling": scaling}
    weighted = passes(X, start, 4, weight, **options)
    repeated = passes(np.repeat(X, weight, axis=0), start, 4, **options)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(X), rtol=0, atol=1e-12)
    for name in ("objective_", "compactness_", "entropy_", "entropy_weight_"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-10, abs=1e-10)


def test_weights_are_repetitions_on_a_path():
    weight = np.random.RandomState(0).randint(0, 4, 150)
    weighted = ENTROPYFCM(3, solver="path", random_state=0).fit(IRIS, sample_weight=weight)
    repeated = ENTROPYFCM(3, solver="path", random_state=0).fit(np.repeat(IRIS, weight, axis=0))
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(weighted.pareto_front_, repeated.pareto_front_, rtol=1e-6)


# Types and containers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", [False, True])
def test_float32_is_kept_and_close(learn):
    X = IRIS.astype(np.float32)
    model = ENTROPYFCM(3, init=START, learn_weights=learn).fit(X)
    expected = ENTROPYFCM(3, init=START, learn_weights=learn).fit(IRIS)
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=2e-4)
    np.testing.assert_allclose(model.centers_, expected.centers_, rtol=0, atol=1e-4)
    assert model.compactness_ == pytest.approx(expected.compactness_, rel=1e-5)
    assert model.entropy_ == pytest.approx(expected.entropy_, rel=1e-4)
    assert ENTROPYFCM(3, init=START, solver="path").fit(X).pareto_centers_.dtype == np.float32


@pytest.mark.parametrize("scaling", [None, "minmax"])
@pytest.mark.parametrize("solver", ["alternating", "path"])
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_csr_equals_dense(scaling, solver, dtype, tolerance):
    rng = np.random.RandomState(0)
    X = np.where(rng.uniform(size=(300, 20)) < 0.2, rng.gamma(2, size=(300, 20)), 0).astype(dtype)
    X[150:, :5] += 3
    weight = rng.uniform(0.5, 2, 300)
    options = {"scaling": scaling, "solver": solver, "init": X[[0, 200]].astype(np.float64), "tol": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # in float32 the last digits never come to rest
        dense = ENTROPYFCM(2, **options).fit(X, sample_weight=weight)
        model = ENTROPYFCM(2, **options).fit(sparse.csr_matrix(X), sample_weight=weight)
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=tolerance)
    np.testing.assert_allclose(model.centers_, dense.centers_, rtol=0, atol=tolerance)
    for name in ("objective_", "compactness_", "entropy_", "entropy_weight_"):
        assert getattr(model, name) == pytest.approx(getattr(dense, name), rel=tolerance)
    np.testing.assert_allclose(
        model.predict_memberships(sparse.csr_matrix(X)), dense.predict_memberships(X), rtol=0, atol=tolerance
    )


@pytest.mark.parametrize(
    "options", [{}, {"scaling": None}, {"learn_weights": True}, {"solver": "path"}], ids=lambda o: str(o)
)
@pytest.mark.parametrize("weighted", [False, True])
def test_dask_equals_memory(options, weighted):
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    X = make_blobs(500, 4, centers=3, cluster_std=2.5, random_state=0)[0]
    weight = np.random.RandomState(0).randint(0, 3, 500).astype(float) if weighted else None
    memory = ENTROPYFCM(3, init=X[:3], tol=1e-9, **options).fit(X, sample_weight=weight)
    with dask.config.set(scheduler="threads"):
        lazy = ENTROPYFCM(3, init=X[:3], tol=1e-9, **options).fit(
            da.from_array(X, chunks=(97, 4)), sample_weight=weight
        )
        memberships = lazy.memberships_.compute()
    np.testing.assert_allclose(memberships, memory.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.centers_, memory.centers_, rtol=0, atol=1e-9)
    for name in ("objective_", "compactness_", "entropy_", "entropy_weight_"):
        assert getattr(lazy, name) == pytest.approx(getattr(memory, name), rel=1e-9)
    if "solver" in options:
        np.testing.assert_allclose(lazy.pareto_front_, memory.pareto_front_, rtol=1e-6)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@pytest.mark.parametrize(
    "options",
    [{}, {"scaling": None}, {"learn_weights": True}, {"solver": "path"}, {"solver": "nsga2", "n_generations": 3}],
    ids=lambda o: str(o),
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_fit_with_the_twins(monkeypatch, options, container):
    X = make_blobs(700, 5, centers=4, cluster_std=3, random_state=0)[0]
    weight = np.random.RandomState(0).uniform(0, 2, 700)
    arguments = {"n_init": 1, "tol": 1e-9, "random_state": 0, **options}
    compiled = ENTROPYFCM(4, **arguments).fit(container(X), sample_weight=weight)
    monkeypatch.setattr(kernels, "compiled", None)
    numpy = ENTROPYFCM(4, **arguments).fit(container(X), sample_weight=weight)
    np.testing.assert_allclose(numpy.memberships_, compiled.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(numpy.centers_, compiled.centers_, rtol=1e-9)
    assert numpy.objective_ == pytest.approx(compiled.objective_, rel=1e-12)
    assert numpy.compactness_ == pytest.approx(compiled.compactness_, rel=1e-9)
    assert numpy.entropy_ == pytest.approx(compiled.entropy_, rel=1e-9)


# The loop -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_history_does_not_increase(monkeypatch, accelerate, learn, seed):
    monkeypatch.setattr(acceleration, "_CHEAP_PASS", 0)  # accelerate small data, too
    X, _ = make_circles(1000, factor=0.5, noise=0.05, random_state=42)
    model = ENTROPYFCM(
        4,
        init="random",
        n_init=1,
        accelerate=accelerate,
        learn_weights=learn,
        tol=1e-8,
        max_iter=5000,
        random_state=seed,
    ).fit(X)
    history = model.objective_history_
    assert len(history) > 10
    assert np.all(np.diff(history) <= 1e-12 * np.abs(history[:-1]))
    assert history[-1] == model.objective_
    assert model.converged_


@pytest.mark.parametrize("learn", [False, True])
def test_acceleration_reaches_the_same_optimum_sooner(monkeypatch, learn):
    monkeypatch.setattr(acceleration, "_CHEAP_PASS", 0)
    plain_passes = fast_passes = 0
    for X in (IRIS, load_wine().data, make_blobs(1000, 4, centers=3, cluster_std=4, random_state=1)[0]):
        plain, fast = (
            ENTROPYFCM(3, init=X[[0, 70, 140]], tol=1e-8, max_iter=5000, accelerate=on, learn_weights=learn).fit(X)
            for on in (False, True)
        )
        assert fast.objective_ == pytest.approx(plain.objective_, rel=1e-12)
        np.testing.assert_allclose(fast.memberships_, plain.memberships_, rtol=0, atol=1e-5)
        plain_passes += plain.n_iter_
        fast_passes += fast.n_iter_
    assert fast_passes < 0.7 * plain_passes


def test_score_and_prediction():
    weight = np.random.RandomState(0).uniform(0.1, 2, 150)
    search = {"solver": "nsga2", "n_generations": 10}
    for options in ({}, {"scaling": None}, {"learn_weights": True}, {"solver": "path"}, search):
        model = ENTROPYFCM(3, random_state=0, **options).fit(IRIS, sample_weight=weight)
        assert model.score(IRIS, sample_weight=weight) == pytest.approx(-model.objective_, rel=1e-14, abs=0)
        np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=0, atol=4e-15)


def test_far_new_rows_get_memberships():
    model = ENTROPYFCM(3, random_state=0).fit(IRIS)
    U = model.predict_memberships(np.array([[1e4, 0, 0, 0], [-1e250, 1e250, 0, 0]]))
    assert np.isfinite(U).all()
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)


def test_attributes_of_another_fit_are_gone():
    model = ENTROPYFCM(3, solver="path", random_state=0).fit(IRIS)
    model.set_params(solver="alternating", learn_weights=True).fit(IRIS)
    for name in ("pareto_front_", "pareto_centers_", "pareto_weights_"):
        assert not hasattr(model, name)
    search = ENTROPYFCM(3, solver="nsga2", n_generations=2, random_state=0).fit(IRIS)
    assert not hasattr(search.set_params(solver="alternating").fit(IRIS), "pareto_front_")
    assert not hasattr(model.set_params(learn_weights=False).fit(IRIS), "weights_")


# The path -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", [None, "minmax"])
def test_path(scaling):
    Z = 2 * CUBE - 1 if scaling else IRIS
    model = ENTROPYFCM(3, solver="path", scaling=scaling, random_state=0).fit(IRIS)
    assert model.pareto_front_.shape == (12, 2)
    assert model.pareto_centers_.shape == (12, 3, 4)
    critical = 2 * np.linalg.eigvalsh(np.cov(Z.T, bias=True))[-1]
    np.testing.assert_allclose(model.pareto_weights_, critical * np.geomspace(1e-3, 1, 12), rtol=1e-9)
    # a front: what is less compact has more entropy
    assert np.all(np.diff(model.pareto_front_, axis=0) >= -1e-9)
    indices = []
    for weight, centers, front in zip(model.pareto_weights_, model.pareto_centers_, model.pareto_front_, strict=True):
        V = 2 * (centers - IRIS.min(axis=0)) / np.ptp(IRIS, axis=0) - 1 if scaling else centers
        f1, f2, _, U = brute_force(Z, V, weight)
        assert front == pytest.approx((f1, f2), rel=1e-9, abs=1e-9)
        D, between = cdist(Z, V, "sqeuclidean"), pdist(V, "sqeuclidean")
        separation = between.min() + np.median(between)
        indices.append(((U**2 * D).sum(axis=0) / U.sum(axis=0)).sum() / separation if separation > 1e-9 else np.inf)
    best = int(np.argmin(indices))
    assert model.entropy_weight_ == pytest.approx(model.pareto_weights_[best], rel=1e-12)
    np.testing.assert_array_equal(model.centers_, model.pareto_centers_[best])
    assert (model.compactness_, model.entropy_) == pytest.approx(tuple(model.pareto_front_[best]), rel=1e-12)
    assert model.n_iter_ == len(model.objective_history_) - 1


def test_points_of_the_path_do_not_dominate_each_other():
    """On wine the first steps are in a poor minimum, which a later one leaves: they are no part of the front."""
    model = ENTROPYFCM(3, solver="path", n_path_steps=30, random_state=0).fit(load_wine().data)
    assert 10 < len(model.pareto_front_) < 30
    assert len(model.pareto_centers_) == len(model.pareto_weights_) == len(model.pareto_front_)
    assert np.all(np.diff(model.pareto_front_, axis=0) > 0)


def test_steps_of_the_path_are_solutions():
    model = ENTROPYFCM(3, solver="path", n_path_steps=5, tol=1e-8, max_iter=2000, random_state=0).fit(IRIS)
    for weight, centers in zip(model.pareto_weights_[:-1], model.pareto_centers_[:-1], strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            again = ENTROPYFCM(3, entropy_weight=weight, init=centers, tol=1e-8, max_iter=2000).fit(IRIS)
        np.testing.assert_allclose(again.centers_, centers, rtol=0, atol=1e-5)


@pytest.mark.parametrize("extra", [1, 4])
def test_interrupted_path_keeps_a_solution(monkeypatch, extra):
    original, count = ENTROPYFCM._statistics, []

    def statistics(self, block, state):
        count.append(state.entropy_weight)
        if len(set(count)) == 3 and count.count(state.entropy_weight) == extra:
            raise KeyboardInterrupt
        return original(self, block, state)

    monkeypatch.setattr(ENTROPYFCM, "_statistics", statistics)
    model = ENTROPYFCM(3, solver="path", init=START, tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    monkeypatch.undo()
    assert model.entropy_weight_ == count[-1]
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
    assert model.score(IRIS) == pytest.approx(-model.objective_, rel=1e-14, abs=0)


# The evolutionary search ----------------------------------------------------------------------------------------------


def evolved(X, K=3, n_generations=20, weight=None, **parameters):
    """A short search; it warns of nothing."""
    model = ENTROPYFCM(K, solver="nsga2", n_generations=n_generations, **{"random_state": 0, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


def uniform_centers(X, K, rng):
    return rng.uniform(X.min(axis=0), X.max(axis=0), (K, X.shape[1]))


def minmax(X, points):
    return 2 * (points - X.min(axis=0)) / np.ptp(X, axis=0) - 1


def hypervolume(front, corner):
    """The area of what a front of (compactness, entropy), in this order, is better than; down to a corner."""
    f1, f2 = front[(front[:, 0] < corner[0]) & (front[:, 1] > corner[1])].T
    return ((np.append(f1[1:], corner[0]) - f1) * (f2 - corner[1])).sum()


def front_by_brute_force(X, model, scaled=True, weight=None):
    """(f1, f2) and the Wu-Li index with memberships 1 / D of each member of a front."""
    Z = minmax(X, X) if scaled else X
    weight = np.ones(len(X)) if weight is None else weight
    aims, indices = [], []
    for centers in model.pareto_centers_:
        V = minmax(X, centers) if scaled else centers
        aims.append(brute_force(Z, V, model.entropy_weight_, weight=weight)[:2])
        D = cdist(Z, V, "sqeuclidean")
        U = np.array([np.where(row == 0, 1.0, 0.0) if (row == 0).any() else 1 / row for row in D])
        U /= U.sum(axis=1, keepdims=True)
        between = pdist(V, "sqeuclidean")
        within = (weight @ (U**2 * D)) / (weight @ U)
        indices.append(within.sum() / (between.min() + np.median(between)))
    return np.array(aims), np.array(indices)


@pytest.mark.parametrize("scaling", [None, "minmax"])
@pytest.mark.parametrize("weighted", [False, True])
def test_front_of_the_search(scaling, weighted):
    weight = np.random.RandomState(0).uniform(0.1, 2, 150) if weighted else None
    model = evolved(IRIS, scaling=scaling, weight=weight)
    n_points = len(model.pareto_front_)
    assert n_points > 3
    assert model.pareto_centers_.shape == (n_points, 3, 4)
    np.testing.assert_array_equal(model.pareto_weights_, np.full(n_points, model.entropy_weight_))
    # ordered, none twice, none better than another one in both aims
    assert np.all(np.diff(model.pareto_front_, axis=0) > 0)
    assert np.all((model.pareto_centers_ >= IRIS.min(axis=0)) & (model.pareto_centers_ <= IRIS.max(axis=0)))
    aims, indices = front_by_brute_force(IRIS, model, scaling == "minmax", weight)
    np.testing.assert_allclose(model.pareto_front_, aims, rtol=1e-11)
    best = int(indices.argmin())
    np.testing.assert_array_equal(model.centers_, model.pareto_centers_[best])
    assert (model.compactness_, model.entropy_) == pytest.approx(tuple(aims[best]), rel=1e-11)
    Z, V = (minmax(IRIS, IRIS), minmax(IRIS, model.centers_)) if scaling else (IRIS, model.centers_)
    U = brute_force(Z, V, model.entropy_weight_)[3]
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scaling", [None, "minmax"])
@pytest.mark.parametrize("form", ["dense", "sparse", "dask", "float32"])
def test_published_weight(scaling, form):
    X = load_wine().data / [100, 1, 1, 10, 100, 1, 1, 1, 1, 1, 1, 1, 1000]
    weight = np.random.RandomState(0).uniform(0.5, 2, 178)
    if form == "dask":
        data = pytest.importorskip("dask.array").from_array(X, chunks=(50, 13))
    else:
        data = {"dense": X, "sparse": sparse.csr_matrix(X), "float32": X.astype(np.float32)}[form]
    Z = minmax(X, X) if scaling else X
    if form == "sparse" and scaling:  # where the zeros of the matrix count
        Z = X * (2 / np.ptp(X, axis=0))
    D = ((Z - np.average(Z, axis=0, weights=weight)) ** 2).sum(axis=1)
    expected = 2 * np.average((D - np.average(D, weights=weight)) ** 2, weights=weight)
    model = evolved(data, n_generations=1, scaling=scaling, weight=weight)
    assert model.entropy_weight_ == pytest.approx(expected, rel=1e-5 if form == "float32" else 1e-11)


def test_published_weight_of_iris_and_wine():
    for X, factor in ((IRIS, 4.1), (load_wine().data, 10.5)):
        variance = minmax(X, X).var(axis=0).mean()
        assert evolved(X, n_generations=1).entropy_weight_ / variance == pytest.approx(factor, abs=0.05)


def test_rows_as_far_from_the_mean_as_each_other():
    """The published weight would be 0."""
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    assert evolved(X).entropy_weight_ == pytest.approx(0.125, rel=1e-12)
    assert evolved(X.astype(np.float32)).entropy_weight_ == pytest.approx(0.125, rel=1e-6)
    assert evolved(np.array([[0.0], [1.0]]), 2).entropy_weight_ == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("scaling", [None, "minmax"])
@pytest.mark.parametrize("weight", [0.02, 0.7])
def test_given_weight_of_the_search(scaling, weight):
    model = evolved(IRIS, entropy_weight=weight, scaling=scaling)
    assert model.entropy_weight_ == weight
    np.testing.assert_allclose(
        model.pareto_front_, front_by_brute_force(IRIS, model, scaling == "minmax")[0], rtol=1e-10
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_index_is_that_of_ratios(seed):
    """Under the memberships of the method another member of the front would be chosen."""
    model = evolved(IRIS, entropy_weight=0.05, random_state=seed)
    best = int(front_by_brute_force(IRIS, model)[1].argmin())
    np.testing.assert_array_equal(model.centers_, model.pareto_centers_[best])
    Z, others = minmax(IRIS, IRIS), []
    for centers in model.pareto_centers_:
        V = minmax(IRIS, centers)
        U, D, between = brute_force(Z, V, 0.05)[3], cdist(Z, V, "sqeuclidean"), pdist(V, "sqeuclidean")
        others.append(((U**2 * D).sum(axis=0) / U.sum(axis=0)).sum() / (between.min() + np.median(between)))
    assert int(np.argmin(others)) != best


def test_history_of_the_search():
    model = evolved(IRIS, n_generations=30)
    f1, f2 = model.pareto_front_.T
    least = (f1 - model.entropy_weight_ * f2).min()  # it is in the front, as no other is better in both aims
    assert (model.n_iter_, model.converged_) == (30, True)
    assert len(model.objective_history_) == 32
    assert model.objective_history_[-2] == pytest.approx(least, rel=1e-8)
    assert model.objective_history_[0] > model.objective_history_[-2]
    assert model.objective_ == pytest.approx(model.compactness_ - model.entropy_weight_ * model.entropy_, rel=1e-11)
    # the first generations of a longer search
    np.testing.assert_array_equal(evolved(IRIS, n_generations=7).objective_history_[:8], model.objective_history_[:8])


def test_search_is_cut_at_max_iter():
    expected = evolved(IRIS, n_generations=4)
    model = ENTROPYFCM(3, solver="nsga2", n_generations=9, max_iter=4, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=4 generations\. Increase max_iter or decrease n_gen"):
        model.fit(IRIS)
    assert (model.n_iter_, model.converged_) == (4, False)
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    assert evolved(IRIS, n_generations=9, max_iter=1).n_iter_ == 1  # a single pass is asked for on purpose


def test_search_by_seed():
    first, again, other = (evolved(IRIS, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.pareto_centers_, again.pareto_centers_)
    np.testing.assert_array_equal(first.memberships_, again.memberships_)
    assert np.abs(first.memberships_ - other.memberships_).max() > 1e-3


@pytest.mark.parametrize("population_size", [4, 7, 40])
def test_half_of_the_population_is_seeded(population_size):
    drawn = []

    def init(X, K, rng):
        np.testing.assert_array_equal(X, IRIS)
        drawn.append(X[rng.choice(150, K, replace=False)])
        return drawn[-1]

    model = evolved(IRIS, n_generations=2, population_size=population_size, init=init)
    assert len(drawn) == population_size // 2
    assert len(model.pareto_front_) <= population_size
    best = min(brute_force(minmax(IRIS, IRIS), minmax(IRIS, V), model.entropy_weight_)[2] for V in drawn)
    assert model.objective_history_[0] <= best + 1e-8 * abs(best)


def test_starts_outside_of_the_data_are_moved_to_their_range():
    model = evolved(IRIS, n_generations=2, init=lambda X, K, rng: rng.normal(scale=100, size=(K, X.shape[1])))
    assert np.all((model.pareto_centers_ >= IRIS.min(axis=0)) & (model.pareto_centers_ <= IRIS.max(axis=0)))


@pytest.mark.parametrize(
    "parameters, got",
    [({"learn_weights": True}, "learn_weights=True"), ({"init": START}, "init of type ndarray")],
)
def test_search_takes_neither_learnt_weights_nor_one_start(parameters, got):
    with pytest.raises(ValueError, match=rf"solver='nsga2' .*learn_weights=False .*Got .*{got}"):
        ENTROPYFCM(3, solver="nsga2", **parameters).fit(IRIS)


def test_weights_are_repetitions_in_the_search():
    weight = np.random.RandomState(0).randint(0, 4, 150)
    weighted = evolved(IRIS, weight=weight)
    repeated = evolved(np.repeat(IRIS, weight, axis=0))
    np.testing.assert_allclose(weighted.pareto_front_, repeated.pareto_front_, rtol=1e-10)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(IRIS), rtol=0, atol=1e-10)
    np.testing.assert_allclose(evolved(IRIS, weight=3.7 * weight).centers_, weighted.centers_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_weights_are_repetitions_in_a_search_among_few_rows(seed):
    """Candidates with the same rows as centres, in another order, have the same aims: rounding must not decide."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(6, 2)).round(1)
    X[:3] += 3
    weight = rng.randint(1, 4, 6)
    weighted = evolved(X, weight=weight, random_state=seed)
    repeated = evolved(np.repeat(X, weight, axis=0), random_state=seed)
    np.testing.assert_allclose(weighted.pareto_front_, repeated.pareto_front_, rtol=1e-10)


def test_order_of_the_rows_does_not_matter_to_the_search():
    order = np.random.RandomState(0).permutation(150)
    np.testing.assert_allclose(evolved(IRIS[order]).pareto_front_, evolved(IRIS).pareto_front_, rtol=1e-10)


@pytest.mark.parametrize("scaling", [None, "minmax"])
def test_csr_equals_dense_in_the_search(scaling):
    rng = np.random.RandomState(0)
    X = np.where(rng.uniform(size=(200, 6)) < 0.4, rng.gamma(2, size=(200, 6)), 0)
    X[100:, :2] += 3
    weight = rng.uniform(0.5, 2, 200)
    search = ENTROPYFCM(2, solver="nsga2", n_generations=10, scaling=scaling, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # in these units the search ends in a collapse, and says so
        dense, model = (clone(search).fit(data, sample_weight=weight) for data in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(model.pareto_front_, dense.pareto_front_, rtol=1e-9)
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_search_on_dask(weighted):
    """The start is drawn from a sample, so not that of a fit in memory: what is found is compared, not how."""
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    X = make_blobs(300, 4, centers=3, cluster_std=2.5, random_state=0)[0]
    weight = np.random.RandomState(0).randint(0, 3, 300).astype(float) if weighted else None
    with dask.config.set(scheduler="threads"):
        models = [evolved(da.from_array(X, chunks=(size, 4)), 3, 5, weight) for size in (97, 300)]
        memberships = models[0].memberships_.compute()
    np.testing.assert_allclose(models[0].pareto_front_, models[1].pareto_front_, rtol=1e-10)
    np.testing.assert_allclose(models[0].centers_, models[1].centers_, rtol=1e-10)
    seen = X if weight is None else X[weight > 0]
    Z = 2 * (X - seen.min(axis=0)) / np.ptp(seen, axis=0) - 1
    for centers, front in zip(models[0].pareto_centers_, models[0].pareto_front_, strict=True):
        V = minmax(seen, centers)
        assert brute_force(Z, V, models[0].entropy_weight_, weight=weight)[:2] == pytest.approx(tuple(front), rel=1e-10)
    U = brute_force(Z, minmax(seen, models[0].centers_), models[0].entropy_weight_)[3]
    np.testing.assert_allclose(memberships, U, rtol=0, atol=1e-10)


def test_float32_in_the_search():
    model = evolved(IRIS.astype(np.float32))
    assert model.memberships_.dtype == model.centers_.dtype == model.pareto_centers_.dtype == np.float32
    assert model.pareto_front_.dtype == np.float64
    aims, indices = front_by_brute_force(IRIS, model)
    np.testing.assert_allclose(model.pareto_front_, aims, rtol=1e-5)
    np.testing.assert_array_equal(model.centers_, model.pareto_centers_[indices.argmin()])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_rows_in_slices(monkeypatch, container):
    weight = np.random.RandomState(0).uniform(0.1, 2, 150)
    whole = evolved(container(IRIS), n_generations=5, weight=weight)
    monkeypatch.setattr(entropy_fcm, "_SLICE", 60)  # 20 rows
    parts = evolved(container(IRIS), n_generations=5, weight=weight)
    np.testing.assert_allclose(parts.pareto_front_, whole.pareto_front_, rtol=1e-10)
    np.testing.assert_allclose(parts.memberships_, whole.memberships_, rtol=0, atol=1e-10)


def test_as_many_clusters_as_rows():
    X = IRIS[::30]
    model = evolved(X, 5, entropy_weight=1e-6)
    assert len(np.unique(model.labels_)) == 5
    assert model.pareto_front_[0] == pytest.approx((0, 0), abs=1e-12)


@pytest.mark.parametrize("weight", [1e-300, 1e-12, 1e300])
@pytest.mark.parametrize("scaling", [None, "minmax"])
def test_search_with_extreme_weights(weight, scaling):
    model = ENTROPYFCM(3, solver="nsga2", entropy_weight=weight, scaling=scaling, n_generations=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # that all memberships are the same
        model.fit(IRIS)
    assert np.isfinite(model.pareto_front_).all()
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
    if weight < 1:
        assert np.isin(model.memberships_.round(6), [0, 1]).all()
    else:
        np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-12)


def test_published_weight_of_large_numbers_collapses_and_says_so():
    """It is the square of a squared distance."""
    X = 100 * IRIS
    with pytest.warns(ConvergenceWarning, match=r"collapsed: .*use a smaller entropy weight"):
        model = ENTROPYFCM(3, solver="nsga2", scaling=None, n_generations=5, random_state=0).fit(X)
    small = evolved(IRIS, scaling=None, n_generations=5)
    assert model.entropy_weight_ == pytest.approx(1e8 * small.entropy_weight_, rel=1e-12)


def test_order_of_the_clusters_does_not_decide():
    """Their sums differ in the last digits, which are not compared."""
    model = ENTROPYFCM(4)
    blocks = make_blocks(load_wine().data, scaling="minmax")
    rng = np.random.RandomState(0)
    V = rng.uniform(-1, 1, (50, 4, 13))
    orders = [[Prototypes(centers, None, 0.3) for centers in W] for W in (V, V[:, [2, 0, 3, 1]])]
    aims = [blocks.reduce(model._aims, states).values for states in orders]
    assert np.any(aims[0] != aims[1])
    np.testing.assert_array_equal(*map(leading_digits, aims))
    values = np.array([0.0, -0.0, 1.0, -3.7e-300, 5e250, 1 / 3])
    np.testing.assert_allclose(leading_digits(values), values, rtol=1e-10, atol=0)
    assert np.all(np.diff(leading_digits(1 + np.array([0, 1e-9, 2e-9]))) > 0)


def test_search_speaks(capsys):
    evolved(IRIS, n_generations=3, verbose=1)
    assert capsys.readouterr().out.startswith("ENTROPYFCM front of ")
    model = evolved(IRIS, n_generations=3, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == [f"ENTROPYFCM generation {g}" for g in range(4)]
    for line, objective in zip(lines[:-1], model.objective_history_[:-1], strict=True):
        assert f"objective {objective:.8g}, " in line


@pytest.mark.parametrize("generation", [1, 6])
def test_interrupted_search_keeps_the_best_so_far(monkeypatch, generation):
    original, count = ENTROPYFCM._aims, []

    def aims(self, block, states):
        count.append(len(states))
        if len(count) == generation + 1:  # one for the first population
            raise KeyboardInterrupt
        return original(self, block, states)

    monkeypatch.setattr(ENTROPYFCM, "_aims", aims)
    model = ENTROPYFCM(3, solver="nsga2", random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    monkeypatch.undo()
    if generation == 1:
        assert not hasattr(model, "memberships_")
        return
    assert (model.n_iter_, model.converged_) == (generation - 1, False)
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
    assert model.objective_ == pytest.approx(model.objective_history_[:-1].min(), rel=1e-8)
    assert model.score(IRIS) == pytest.approx(-model.objective_, rel=1e-14, abs=0)
    assert not hasattr(model, "pareto_front_")


def test_front_grows_with_the_generations():
    for X in (IRIS, load_wine().data):
        fronts = [evolved(X, n_generations=n).pareto_front_ for n in (1, 5, 20, 80)]
        corner = max(front[:, 0].max() for front in fronts), 0
        volumes = [hypervolume(front, corner) for front in fronts]
        assert np.all(np.diff(volumes) > 0)


def test_seeds_help():
    """On wine: of 30 seeds and 200 generations ARI 0.82 (deviation 0.04), and 0.54 (0.14) for uniform draws only."""
    X, y = load_wine(return_X_y=True)
    volumes, scores = [], []
    for seed in range(3):
        models = [evolved(X, n_generations=30, random_state=seed, init=init) for init in ("k-means++", uniform_centers)]
        corner = max(model.pareto_front_[:, 0].max() for model in models), 0
        volumes.append([hypervolume(model.pareto_front_, corner) for model in models])
        scores.append([adjusted_rand_score(y, model.labels_) for model in models])
    assert np.all(np.diff(volumes, axis=1) < 0)
    assert np.all(np.diff(scores, axis=1) < -0.1)


@pytest.mark.parametrize(
    "name, n_generations, low, high",
    [("iris", 200, 0.64, 0.8), ("wine", 200, 0.67, 0.89), ("varied_blobs", 60, 0.8, 0.9)],
)
def test_agreement_of_the_search_with_the_classes(name, n_generations, low, high):
    """Of 30 seeds: iris 0.65 to 0.79, mean 0.694; wine 0.68 to 0.88, mean 0.817. Of 6: varied blobs 0.84 to 0.86."""
    X, y = offline_sets()[name]
    model = evolved(X, len(np.unique(y)), n_generations)
    assert low < adjusted_rand_score(y, model.labels_) < high


# Quality --------------------------------------------------------------------------------------------------------------


def test_agreement_with_the_classes_of_ten_sets():
    expected = {
        **{"iris": 0.716, "wine": 0.869, "digits": 0.673, "breast_cancer": 0.730, "blobs": 0.945},
        **{
            "moons": 0.512,
            "circles": -0.001,
            "anisotropic_blobs": 0.943,
            "varied_blobs": 0.876,
            "high_dimensional_blobs": 1.0,
        },
    }
    found = {}
    for name, (X, y) in offline_sets().items():
        # Many starts, so that the optimum is judged and not a seed: with the default five, digits end in a poorer
        # optimum for some seeds (mean over 10 seeds 0.725, between 0.717 and 0.726).
        model = ENTROPYFCM(len(np.unique(y)), n_init=20, random_state=0).fit(X)
        found[name] = adjusted_rand_score(y, model.labels_)
        assert found[name] >= expected[name] - 0.02, name
    assert found.keys() == expected.keys()
    assert np.mean(list(found.values())) >= 0.726


def test_many_features_do_not_collapse():
    """Where fuzzy c-means with m = 2 has all centres in the mean."""
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = ENTROPYFCM(10, random_state=1).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.6
