"""Robust projected fuzzy k-means: definitions by loops, descent, limits, outliers, projections, degenerate data."""

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import RPFKM
from soft_clustering.fuzzy import rpfkm
from soft_clustering.fuzzy.rpfkm import dense_rows, distinct_rows
from soft_clustering.kernels.reference import sparse_rule

IRIS = load_iris().data
WINE = load_wine().data
START = IRIS[[0, 60, 120]] + 0.01


def sparse_memberships(F, gamma):
    return sparse_rule(F**2, gamma, 0.0)[0]


def brute_force(X, model, weight=None):
    """The published J with its three terms, a loop over samples, at the fitted prototypes."""
    W, gamma, beta = model.components_, model.fuzziness_weight_, model.reconstruction_weight_
    weight = np.ones(len(X)) if weight is None else weight
    U = model.predict_memberships(X)
    J = 0.0
    for i in range(len(X)):
        x = X[i] - model.mean_
        distances = [np.linalg.norm(W @ x - c) for c in model.embedding_centers_]
        J += weight[i] * sum(u * F + gamma * u * u for u, F in zip(U[i], distances, strict=True))
        J += weight[i] * beta * np.sum((x - W.T @ (W @ x)) ** 2)
    return J


def passes(X, start, n_passes, weight=None, **parameters):
    """So many passes, whether or not they converge."""
    model = RPFKM(len(start), init=start, tol=0, max_iter=n_passes, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sample_weight=weight)


def with_outliers(seed):
    """Three blobs in five features, and 60 rows anywhere."""
    X, y = make_blobs(600, 5, centers=3, random_state=seed)
    return np.vstack([X, np.random.default_rng(seed).uniform(-100, 100, (60, 5))]), y


# Definitions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_by_brute_force(q, weighted):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None
    model = RPFKM(3, n_components=q, random_state=0).fit(IRIS, sample_weight=weight)
    assert model.objective_ == pytest.approx(brute_force(IRIS, model, weight), rel=1e-11)
    assert model.score(IRIS, sample_weight=weight) == pytest.approx(-model.objective_, rel=1e-11)
    assert model.score(IRIS[:20]) == pytest.approx(-brute_force(IRIS[:20], model), rel=1e-11)


def test_memberships_minimise_their_part_of_the_objective():
    rng = np.random.RandomState(0)
    for gamma in (0.01, 0.5, 20.0):
        F = rng.gamma(2, size=(20, 4))
        U = sparse_memberships(F, gamma)
        np.testing.assert_allclose(U.sum(axis=1), 1, rtol=0, atol=1e-14)
        best = (U * F + gamma * U**2).sum(axis=1)
        for other in rng.dirichlet(np.ones(4), 200):
            for t in (1.0, 1e-3):
                moved = (1 - t) * U + t * other
                assert (best <= (moved * F + gamma * moved**2).sum(axis=1) + 1e-12).all()


def test_one_pass_by_definition():
    """Weights, centres and directions after a pass, by matrices of all rows."""
    rng = np.random.RandomState(1)
    X = rng.normal(size=(60, 5)) * [3, 2, 1, 1, 0.5]
    weight = rng.uniform(0.5, 2, 60)
    start = X[:3] + 0.1
    model = passes(X, start, 1, weight, n_components=2)
    mean = np.average(X, axis=0, weights=weight)
    Z = X - mean
    total = Z.T @ np.diag(weight) @ Z
    W = np.linalg.eigh(total)[1][:, :-3:-1].T
    F = cdist(Z @ W.T, (start - mean) @ W.T)
    ordered = np.sort(F, axis=1)
    gamma = np.average(ordered[:, 1] - ordered[:, 0], weights=weight) / 2
    beta = 10 / (2 * np.average(ordered[:, 0], weights=weight))
    assert model.fuzziness_weight_ == pytest.approx(gamma, rel=1e-12)
    assert model.reconstruction_weight_ == pytest.approx(beta, rel=1e-12)
    S = weight[:, None] * sparse_memberships(F, gamma) / (2 * F)
    V = S.T @ Z / S.sum(axis=0)[:, None]
    within = sum((S[:, [k]] * (Z - V[k])).T @ (Z - V[k]) for k in range(3))
    W = np.linalg.eigh(beta * total - within)[1][:, :-3:-1].T
    np.testing.assert_allclose(model.centers_, V + mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.abs(model.components_ @ W.T), np.eye(2), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.embedding_centers_, V @ model.components_.T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("q", [1, 2, 3])
def test_result_is_a_local_minimum(q):
    """No nearby centres, and no nearby directions, have a smaller objective."""
    X = IRIS
    model = RPFKM(3, n_components=q, random_state=0, tol=1e-13, max_iter=3000).fit(X)
    Z = X - model.mean_
    gamma, beta = model.fuzziness_weight_, model.reconstruction_weight_

    def objective(C, W):
        F = cdist(Z @ W.T, C)
        U = sparse_memberships(F, gamma)
        return (U * F + gamma * U**2).sum() + beta * ((Z - Z @ W.T @ W) ** 2).sum()

    rng = np.random.RandomState(0)
    C, W = model.embedding_centers_, model.components_
    J = objective(C, W)
    assert pytest.approx(model.objective_, rel=1e-11) == J
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(30):
            turned = np.linalg.qr((W + size * rng.normal(size=W.shape)).T)[0].T
            assert objective(C + size * rng.normal(size=C.shape), W) >= J * (1 - 1e-9)
            assert objective((C @ W) @ turned.T, turned) >= J * (1 - 1e-9)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "blobs", "moons"])
def test_descent(name):
    X, y = offline_sets()[name]
    history = RPFKM(len(np.unique(y)), n_init=1, random_state=0).fit(X).objective_history_
    assert len(history) > 2
    assert (np.diff(history) <= 1e-12 * history[0]).all()


def test_rows_have_exact_zeros():
    """1.65 to 1.70 positive memberships a row were measured for the model."""
    for X, K in ((load_digits().data, 10), (IRIS, 3)):
        U = RPFKM(K, n_init=1, random_state=0).fit(X).memberships_
        np.testing.assert_allclose(U.sum(axis=1), 1, rtol=0, atol=1e-14)
        assert 1.2 < np.count_nonzero(U) / len(U) < 2.0


# Limits ---------------------------------------------------------------------------------------------------------------


def test_small_fuzziness_is_k_medians():
    """All directions kept: hard assignment to the nearest, and each centre the geometric median of its cluster."""
    model = RPFKM(3, n_components=4, fuzziness_weight=1e-6, init=START, tol=1e-13, max_iter=2000).fit(IRIS)
    assert ((model.memberships_ == 0) | (model.memberships_ == 1)).all()
    np.testing.assert_array_equal(model.labels_, cdist(IRIS, model.centers_).argmin(axis=1))
    for k in range(3):
        rows = IRIS[model.labels_ == k]
        best = minimize(lambda v, rows=rows: np.linalg.norm(rows - v, axis=1).sum(), rows.mean(axis=0), tol=1e-10)
        assert np.linalg.norm(rows - model.centers_[k], axis=1).sum() <= best.fun * (1 + 1e-8)
        np.testing.assert_allclose(model.centers_[k], best.x, rtol=0, atol=1e-3)


def test_one_cluster_is_the_geometric_median():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [100.0, 100.0], [1.0, 1.0]])
    model = RPFKM(1, n_components=2, tol=1e-14, max_iter=5000).fit(X)
    np.testing.assert_array_equal(model.memberships_, 1)
    np.testing.assert_allclose(model.centers_, [[1, 1]], rtol=0, atol=1e-3)  # a row is the median


def test_large_reconstruction_weight_gives_principal_components():
    model = RPFKM(3, n_components=2, reconstruction_weight=1e9, random_state=0).fit(WINE)
    expected = PCA(2).fit(WINE).components_
    np.testing.assert_allclose(np.abs(model.components_ @ expected.T), np.eye(2), rtol=0, atol=1e-6)


def test_small_reconstruction_weight_collapses():
    """Without it the directions are those in which nothing varies."""
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RPFKM(10, reconstruction_weight=0.1, n_init=1, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) < 0.1
    assert adjusted_rand_score(y, RPFKM(10, n_init=1, random_state=0).fit(X).labels_) > 0.6


def test_projection_turns_towards_tight_directions():
    """Two variances are almost the same; only in the smaller one are there clusters."""
    rng = np.random.RandomState(0)
    X = np.column_stack([1.02 * rng.normal(size=400), np.repeat([-1.0, 1.0], 200) + 0.05 * rng.normal(size=400)])
    y = np.repeat([0, 1], 200)
    assert np.var(X[:, 0]) > np.var(X[:, 1])
    learnt, fixed = (
        RPFKM(2, n_components=1, reconstruction_weight=weight, random_state=0).fit(X) for weight in (1.5, 1e9)
    )
    assert adjusted_rand_score(y, learnt.labels_) > 0.99
    assert adjusted_rand_score(y, fixed.labels_) < 0.5


# Outliers and starts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [0, 1, 2])
def test_outliers(draw):
    X, y = with_outliers(draw)
    for seed in range(3):
        assert adjusted_rand_score(y, RPFKM(3, random_state=seed).fit(X).labels_[:600]) >= 0.95


def test_seeds_from_everywhere_are_caught_by_outliers(monkeypatch):
    monkeypatch.setattr(rpfkm, "dense_rows", lambda Y, weight, among: np.ones(len(Y), dtype=bool))
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for X, y in (with_outliers(draw) for draw in range(3)):
            scores.append(adjusted_rand_score(y, RPFKM(3, random_state=0).fit(X).labels_[:600]))
    assert min(scores) < 0.6


def test_far_rows_are_no_seeds_and_small_clusters_are():
    rng = np.random.RandomState(0)
    Y = np.vstack(
        [rng.normal(size=(200, 2)), np.add([40, 0], rng.normal(size=(12, 2))), rng.uniform(-900, 900, (8, 2))]
    )
    dense = dense_rows(Y, np.ones(220), Y)
    assert dense[:212].all()
    assert not dense[212:].any()
    assert dense_rows(Y[:1], np.ones(1), Y[:1]).all()


def test_at_least_four_fifths_may_be_seeds():
    Y = 2.0 ** np.arange(100)[:, None]
    dense = dense_rows(Y, np.ones(100), Y)
    assert 80 <= dense.sum() < 100


def test_equal_rows_are_one_row_of_their_weight():
    Z = np.array([[1.0, 2], [1, 2], [1, 3], [0, 0], [0, 0]])
    rows, weight = distinct_rows(Z, np.array([1.0, 2, 3, 4, 5]))
    np.testing.assert_array_equal(rows, [[1, 2], [1, 3], [0, 0]])
    np.testing.assert_array_equal(weight, [3, 3, 9])


def test_prototypes_leave_the_rows_they_start_on():
    """With weights of 1 / 0 they would not: two passes that change nothing."""
    X = np.random.RandomState(0).normal(size=(200, 2))
    on, off = (RPFKM(3, init=X[:3] + shift, tol=1e-9, max_iter=3000).fit(X) for shift in (0, 1e-3))
    assert np.linalg.norm(on.centers_ - X[:3], axis=1).min() > 0.1
    assert on.objective_ == pytest.approx(off.objective_, rel=1e-3)
    assert on.objective_ < 0.97 * on.objective_history_[0]


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_meet_on_a_prototype_do_not_raise_the_objective(seed):
    """On a line two rows may coincide with their median; a turn that parts them again must not be worse."""
    X = np.random.RandomState(seed).normal(size=(40, 3)) * [9, 8, 7]
    model = RPFKM(1, random_state=0, tol=1e-7).fit(X)
    assert np.diff(model.objective_history_).max() <= 1e-10 * model.objective_


def test_prototypes_stay_on_rows_where_that_is_best():
    X = np.array([[0.0, 0], [3, 0], [-1, 2], [-1, -3], [50, 50]])
    model = RPFKM(1, n_components=2, init=X[:1], tol=1e-13, max_iter=3000).fit(X)
    best = minimize(lambda v: np.linalg.norm(X - v, axis=1).sum(), [0.1, 0.2], method="Nelder-Mead", tol=1e-10)
    np.testing.assert_allclose(model.centers_[0], best.x, rtol=0, atol=1e-4)


def test_a_fit_from_its_own_centres_stays():
    model = RPFKM(3, n_components=4, random_state=0, tol=1e-12, max_iter=2000, fuzziness_weight=0.5).fit(IRIS)
    again = RPFKM(3, n_components=4, init=model.centers_, fuzziness_weight=0.5).fit(IRIS)
    assert again.n_iter_ == 1
    np.testing.assert_allclose(again.centers_, model.centers_, rtol=0, atol=1e-5)


def test_empty_cluster_moves_to_the_worst_row():
    X = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0], [30, 0]])
    model = RPFKM(3, init=[[0.5, 0], [10.5, 0], [1e6, 0]], fuzziness_weight=1e-3).fit(X)
    np.testing.assert_allclose(sorted(model.centers_[:, 0])[-1], 30, rtol=0, atol=1e-6)
    assert len(set(model.labels_)) == 3


def test_quality():
    """Mean adjusted Rand index over the ten sets: 0.631 to 0.652 for ten seeds, 0.644 in the mean."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = [
            adjusted_rand_score(y, RPFKM(len(np.unique(y)), random_state=0).fit(X).labels_)
            for X, y in offline_sets().values()
        ]
    assert np.mean(scores) > 0.625


# Projections ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(150, 4), (30, 200), (30, 31), (30, 32)])
def test_components_are_orthonormal_and_project(shape):
    n, d = shape
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n, d)) + 5 * rng.normal(size=(3, d))[np.arange(n) % 3] + 7
    model = RPFKM(3, random_state=0).fit(X)
    assert model.components_.shape == (3, d)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=0, atol=1e-12)
    projected = (model.centers_ - model.mean_) @ model.components_.T
    np.testing.assert_allclose(model.embedding_centers_, projected, rtol=0, atol=1e-10)
    new = rng.normal(size=(20, d)) + 7  # beyond the span of the rows, too
    F = cdist((new - model.mean_) @ model.components_.T, model.embedding_centers_)
    expected = sparse_memberships(F, model.fuzziness_weight_)
    np.testing.assert_allclose(model.predict_memberships(new), expected, rtol=0, atol=1e-10)
    assert model.score(new) == pytest.approx(-brute_force(new, model), rel=1e-9)
    assert adjusted_rand_score(np.arange(n) % 3, model.labels_) == 1 or d == 4


def test_span_of_few_rows_equals_all_features(monkeypatch):
    """In coordinates of the span of the rows the result is that in all features."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(25, 60)) + 2 * rng.normal(size=(3, 60))[np.arange(25) % 3]
    start = X[:3] + 0.1
    small = RPFKM(3, init=start, tol=1e-10, max_iter=500).fit(X)
    monkeypatch.setattr("soft_clustering.engine.blocks.Blocks.in_subspace", lambda self: self)
    whole = RPFKM(3, init=start, tol=1e-10, max_iter=500).fit(X)
    assert small.n_iter_ == whole.n_iter_
    np.testing.assert_allclose(small.memberships_, whole.memberships_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(small.centers_, whole.centers_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.abs(small.components_ @ whole.components_.T), np.eye(3), rtol=0, atol=1e-7)
    assert small.objective_ == pytest.approx(whole.objective_, rel=1e-11)


def test_as_many_components_as_features_is_the_default_for_few():
    assert RPFKM(5, random_state=0).fit(IRIS).components_.shape == (4, 4)


def test_too_many_components():
    with pytest.raises(ValueError, match=r"n_components must be at most min\(n_samples, n_features\)=4. Got 5"):
        RPFKM(3, n_components=5).fit(IRIS)
    with pytest.raises(ValueError, match=r"n_components must be at most min\(n_samples, n_features\)=3. Got 4"):
        RPFKM(2, n_components=4).fit(IRIS[:3])


# Units, weights, types ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [2, 4])
@pytest.mark.parametrize("exponent", [-300, -100, 60, 300])
def test_similar_data_have_the_same_result(q, exponent):
    scale = 2.0**exponent
    rotation = np.linalg.qr(np.random.RandomState(0).normal(size=(4, 4)))[0]

    def move(X):
        return (X @ rotation + 5) * scale

    model, moved = (passes(*data, 5, n_components=q) for data in ((IRIS, START), (move(IRIS), move(START))))
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(moved.centers_ / scale, move(model.centers_) / scale, rtol=0, atol=1e-9)
    np.testing.assert_allclose(moved.objective_history_ / scale, model.objective_history_, rtol=1e-10)
    assert moved.fuzziness_weight_ / scale == pytest.approx(model.fuzziness_weight_, rel=1e-10)
    assert moved.reconstruction_weight_ * scale == pytest.approx(model.reconstruction_weight_, rel=1e-10)
    directions = np.abs((model.components_ @ rotation) @ moved.components_.T)
    np.testing.assert_allclose(directions, np.eye(q), rtol=0, atol=1e-8)


def test_fuzziness_weight_is_in_units_of_the_data():
    settings = {"init": START, "tol": 0.0, "max_iter": 1}
    model = RPFKM(3, fuzziness_weight=0.7, **settings).fit(IRIS)
    moved = RPFKM(3, fuzziness_weight=70.0, **settings | {"init": START * 100}).fit(IRIS * 100)
    assert moved.fuzziness_weight_ == pytest.approx(70)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("init", ["k-means++", "random", START])
def test_weights_are_repetitions(init):
    weight = np.random.RandomState(0).randint(0, 4, 150)
    order = np.random.RandomState(1).permutation(weight.sum())
    settings = {"init": init, "random_state": 0}
    weighted = RPFKM(3, **settings).fit(IRIS, sample_weight=weight)
    repeated = RPFKM(3, **settings).fit(np.repeat(IRIS, weight, axis=0)[order])
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(IRIS), rtol=0, atol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-11)


def test_seeds_of_many_rows_do_not_depend_on_their_order(monkeypatch):
    monkeypatch.setattr(rpfkm, "_SAMPLE", 100)
    model, permuted = (RPFKM(3, random_state=0).fit(X) for X in (WINE, WINE[::-1]))
    np.testing.assert_allclose(permuted.memberships_[::-1], model.memberships_, rtol=0, atol=1e-9)


def test_float32_is_kept_and_close():
    model, expected = (RPFKM(3, init=START, n_components=2).fit(X) for X in (IRIS.astype(np.float32), IRIS))
    for name in ("memberships_", "centers_", "components_", "embedding_centers_", "mean_"):
        assert getattr(model, name).dtype == np.float32, name
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=0, atol=1e-3, err_msg=name)


@pytest.mark.parametrize("weighted", [False, True])
def test_dask_equals_memory(weighted):
    da = pytest.importorskip("dask.array")
    weight = np.random.RandomState(0).randint(0, 3, 178) if weighted else None
    X, start = WINE, WINE[[0, 80, 160]] + 0.1
    expected = RPFKM(3, init=start).fit(X, sample_weight=weight)
    lazy = RPFKM(3, init=start).fit(da.from_array(X, chunks=(50, 13)), sample_weight=weight)
    assert isinstance(lazy.memberships_, da.Array)
    np.testing.assert_allclose(lazy.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.centers_, expected.centers_, rtol=1e-9)
    assert lazy.objective_ == pytest.approx(expected.objective_, rel=1e-10)
    seeded = RPFKM(3, random_state=0).fit(da.from_array(X, chunks=(50, 13)))
    assert np.isfinite(seeded.centers_).all()


# Degenerate data and parameters ---------------------------------------------------------------------------------------


def test_as_many_clusters_as_samples():
    X = IRIS[::15]
    model = RPFKM(10, random_state=0, fuzziness_weight=1e-3).fit(X)
    assert sorted(model.labels_) == list(range(10))
    np.testing.assert_allclose(model.centers_[model.labels_], X, rtol=0, atol=1e-6)


def test_few_distinct_rows():
    X = np.repeat([[0.0, 0], [5, 1], [90, 90]], [20, 20, 1], axis=0)
    model = RPFKM(3, random_state=0).fit(X)  # the third is far, and needed
    assert len(set(model.labels_)) == 3
    with pytest.warns(ConvergenceWarning, match="RPFKM found 3 distinct prototypes, fewer than n_clusters=4"):
        RPFKM(4, random_state=0).fit(X)


def test_collapse_names_the_remedy():
    with pytest.warns(ConvergenceWarning, match="RPFKM collapsed.*smaller fuzziness_weight"):
        RPFKM(3, fuzziness_weight=1e6, random_state=0).fit(IRIS)


@pytest.mark.parametrize(
    "parameters",
    [
        *({"fuzziness_weight": 1e-300}, {"fuzziness_weight": 1e300}, {"reconstruction_weight": 0.0}),
        *({"reconstruction_weight": 1e300}, {"n_components": 1}),
    ],
)
def test_extreme_parameters_have_a_finite_result(parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RPFKM(3, random_state=0, **parameters).fit(WINE)
    for result in (model.centers_, model.memberships_, model.components_, model.objective_history_):
        assert np.isfinite(result).all()


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_components": 0}, {"n_components": 1.5}, {"fuzziness_weight": 0.0}, {"fuzziness_weight": "scale"}),
        *({"fuzziness_weight": np.inf}, {"reconstruction_weight": -1.0}, {"reconstruction_weight": None}),
        *({"init": "kmeans"}, {"n_init": 0}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of RPFKM must be"):
        RPFKM(**parameters).fit(IRIS)


def test_nothing_of_the_data_stays_in_the_model():
    model = RPFKM(3, random_state=0).fit(IRIS)
    parts = vars(model) | model._state._asdict()
    kept = {name: getattr(part, "shape", ()) for name, part in parts.items()}
    assert [name for name, shape in kept.items() if 150 in shape] == ["memberships_", "labels_"]
    assert (4, 4) not in kept.values()  # nor the second moment of the rows


def test_verbose_prints_a_line_per_start(capsys):
    RPFKM(3, random_state=0, verbose=1).fit(IRIS)
    assert capsys.readouterr().out.count("RPFKM start") == 3


def test_drift_is_in_units_of_the_spread():
    """Within the projection the centres move by (3, 4); what they move outside of it does not count."""
    terms = rpfkm.Terms(1.0, 1.0, 1.0)
    old = rpfkm.Projected(np.zeros((1, 3)), np.eye(3)[:2], terms)
    assert old._replace(centers=np.array([[3.0, 4.0, 99.0]])).drift(old, 10.0) == pytest.approx(0.5)
    assert old._replace(components=np.eye(3)[[0, 2]]).drift(old, 10.0) == pytest.approx(1.0)
