"""Gustafson-Kessel: published facts, the updates by loops, equivariance, safeguards."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from soft_clustering import FCM, GK, kernels
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.engine.covariance import COND_MAX, floored, shape_collapse
from soft_clustering.engine.fitting import Fit
from soft_clustering.engine.loop import Run
from soft_clustering.fuzzy.fuzzifier import auto_fuzzifier
from soft_clustering.fuzzy.gk import Ellipsoids
from soft_clustering.kernels.gauss import gauss_statistics, inverse_cholesky

IRIS = load_iris().data
START = IRIS[[0, 60, 120]] + 0.01  # on no row
property_test = settings(max_examples=25, deadline=None, derandomize=True)


SETS = offline_sets()
ANISO = SETS["anisotropic_blobs"][0]


class Plain(GK):
    """Without acceleration."""

    accelerate = False


def quiet(model, X, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **keywords)


def brute_force(X, start, n_passes, m, ridge=0.0, weight=None, rho=None, shrinkage=0.0):
    """So many passes by the definition, in standardised units: V, F in the units of X, U, and J there."""
    n, d = X.shape
    K = len(start)
    w = np.ones(n) if weight is None else weight
    rho = np.ones(K) if rho is None else rho
    mean = w @ X / w.sum()
    unit = np.sqrt(w @ (X - mean) ** 2 / w.sum())
    Z, V = (X - mean) / unit, (start - mean) / unit
    A = np.stack([r ** (1 / d) * np.eye(d) for r in rho])
    F = np.zeros((K, d, d))
    ball = np.linalg.det((Z.T * w) @ Z / w.sum()) ** (1 / d) * np.eye(d)
    # Prior samples in the units of the weights: those of the ball are as many as determine a covariance.
    samples = (d + 1) / 2 * min(w.sum() / n, 1) if shrinkage == "auto" else 0.0
    more = ridge * w.sum() / K
    for step in range(n_passes + 1):
        D = np.array([[(z - V[k]) @ A[k] @ (z - V[k]) for k in range(K)] for z in Z])
        U = np.array([[1 / sum((row[k] / row[j]) ** (1 / (m - 1)) for j in range(K)) for k in range(K)] for row in D])
        if step == n_passes:
            break
        for k in range(K):
            W = w * U[:, k] ** m
            V[k] = sum(W[i] * Z[i] for i in range(n)) / W.sum()
            F[k] = sum(W[i] * np.outer(Z[i] - V[k], Z[i] - V[k]) for i in range(n)) / W.sum()
            if shrinkage in ("auto", 0):
                F[k] = (W.sum() * F[k] + samples * ball + more * np.eye(d)) / (W.sum() + samples + more)
            else:
                F[k] = (1 - shrinkage) * F[k] + shrinkage * ball + ridge * np.eye(d)
            A[k] = (rho[k] * np.linalg.det(F[k])) ** (1 / d) * np.linalg.inv(F[k])
    # In the units of X the norm of the same directions has determinant rho again.
    norms, geometric = A, np.prod(unit) ** (2 / d)
    A = norms / unit / unit[:, None] * geometric
    V, F = mean + V * unit, F * unit * unit[:, None]
    J = sum(w[i] * U[i, k] ** m * (X[i] - V[k]) @ A[k] @ (X[i] - V[k]) for i in range(n) for k in range(K))
    if shrinkage in ("auto", 0):
        c = samples * ball[0, 0] + more
        J += c * sum(np.trace(norm) - d * r ** (1 / d) for norm, r in zip(norms, rho, strict=True)) * geometric
    return V, F, A, U, J


# Published and measured facts -----------------------------------------------------------------------------------------


def test_optimum_of_anisotropic_blobs():
    model = GK(4, m=2, reg_covar=0, shrinkage=0, random_state=0).fit(ANISO)
    assert (model.memberships_**2).sum() / len(ANISO) == pytest.approx(0.913656, abs=1.1e-6)
    history = model.objective_history_
    assert np.all(np.diff(history) <= 1e-14 * history[0])
    assert model.converged_


@pytest.mark.parametrize("name, m", [("iris", 2.0), ("moons", 2.0), ("varied_blobs", 1.5), ("wine", 1.3)])
def test_history_without_a_ridge_does_not_increase(name, m):
    X, y = SETS[name]
    model = quiet(GK(len(set(y)), m=m, reg_covar=0, shrinkage=0, n_init=1, max_iter=60, random_state=1), X)
    assert model._policy.monotone
    history = model.objective_history_
    assert len(history) > 5
    assert np.all(np.diff(history) <= 1e-12 * history[:-1])
    assert history[-1] == model.objective_


@pytest.mark.parametrize("name", ["iris", "wine", "moons", "varied_blobs"])
def test_history_with_prior_samples_does_not_increase(name):
    X, y = SETS[name]
    model = quiet(Plain(len(set(y)), max_iter=60, random_state=1), X)
    assert model._policy.monotone
    assert not GK(shrinkage=0.2)._policy.monotone
    history = model.objective_history_
    assert np.all(np.diff(history) <= 1e-12 * history[:-1])
    accelerated = quiet(GK(len(set(y)), random_state=1), X)
    assert accelerated.converged_
    assert accelerated.objective_ <= history[-1] * (1 + 1e-9)


def test_balls_are_not_penalised():
    Z = scale(IRIS)
    model = GK(3, m=2.0, shrinkage="auto", init=Z[[0, 60, 120]])
    model.fit(Z)
    balls = Ellipsoids(model._state.means, *(np.tile(np.eye(4), (3, 1, 1)) for _ in range(2)))
    assert model._penalty(balls.factors, model._volumes(balls)) == pytest.approx(0, abs=1e-15)
    assert model._penalty(model._state.factors, model._volumes(model._state)) > 0


TABLE = dict(zip(SETS, [0.772, 0.755, 0.480, 0.749, 0.952, 0.521, -0.001, 0.998, 0.841, 1.0], strict=True))


def test_quality_on_the_offline_sets():
    found = {
        name: adjusted_rand_score(y, quiet(GK(len(set(y)), random_state=0), X).labels_) for name, (X, y) in SETS.items()
    }
    for name, value in TABLE.items():
        assert found[name] >= value - 0.02, name
    assert np.mean(list(found.values())) >= 0.74


def from_memberships(X, U, **parameters):
    """The fit from given memberships, and its memberships."""
    model = Plain(U.shape[1], m=2.0, **{"reg_covar": 0.0, "shrinkage": 0.0} | parameters)
    blocks = model._blocks(X)
    model._resolve(blocks)
    K, d = U.shape[1], X.shape[1]
    start = Ellipsoids(np.zeros((K, d)), np.tile(np.eye(d), (K, 1, 1)), np.tile(np.eye(d), (K, 1, 1)))
    moments = gauss_statistics(blocks.blocks[0], start.means, None, None, full=True, memberships=U**2)
    run = Run(model._update(start, moments, blocks))
    model._loop(Fit(model), blocks, K)(run)
    return run, model._memberships(blocks.blocks[0], run.state)


def test_affine_equivariance():
    rng = np.random.RandomState(0)
    U = rng.dirichlet(np.ones(3), 150)
    run, memberships = from_memberships(IRIS, U)
    for _ in range(3):
        A, c = np.eye(4) + 0.5 * rng.normal(size=(4, 4)), 10 * rng.normal(size=4)
        turned, other = from_memberships(IRIS @ A + c, U)
        # The stopping rule is measured in the metric of the clusters: the same passes in any coordinates.
        assert turned.n_iter == run.n_iter > 10
        np.testing.assert_allclose(other, memberships, rtol=0, atol=1e-13)


def test_affine_equivariance_of_a_pass():
    rng = np.random.RandomState(1)
    U = rng.dirichlet(np.ones(3), 150)
    _, memberships = from_memberships(IRIS, U, max_iter=1)
    A, c = rng.normal(size=(4, 4)), rng.normal(size=4)  # whatever it is
    _, other = from_memberships(IRIS @ A + c, U, max_iter=1)
    np.testing.assert_allclose(other, memberships, rtol=0, atol=1e-13)


def test_one_feature_is_fuzzy_c_means():
    X = IRIS[:, [2]]
    model = GK(3, m=2, init=START[:, [2]], tol=1e-9).fit(X)
    fcm = FCM(3, m=2, init=START[:, [2]], tol=1e-11).fit(X)
    np.testing.assert_allclose(model.memberships_, fcm.memberships_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.norm_matrices_, np.ones((3, 1, 1)), rtol=1e-14)
    assert model.objective_ == pytest.approx(fcm.objective_, rel=1e-12)


@pytest.mark.parametrize("m", [1.5, 2.0])
def test_identity_metric_is_fuzzy_c_means(m):
    """Full shrinkage leaves balls of equal volume: fuzzy c-means in standardised features."""
    Z = scale(IRIS)
    model = GK(3, m=m, shrinkage=1.0, init=Z[[0, 60, 120]], tol=1e-9).fit(Z)
    fcm = FCM(3, m=m, init=Z[[0, 60, 120]], tol=1e-12).fit(Z)
    np.testing.assert_allclose(model.memberships_, fcm.memberships_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.norm_matrices_, np.tile(np.eye(4), (3, 1, 1)), rtol=0, atol=1e-13)
    assert model.objective_ == pytest.approx(fcm.objective_, rel=1e-11)


def test_ball_of_the_shrinkage():
    Z = scale(IRIS)
    model = GK(3, shrinkage=1.0, reg_covar=0.0, random_state=0).fit(Z)
    ball = np.linalg.det(np.cov(Z.T, bias=True)) ** 0.25
    np.testing.assert_allclose(model.covariances_, ball * np.tile(np.eye(4), (3, 1, 1)), rtol=0, atol=1e-13)
    flat = np.column_stack([Z[:, :2], Z[:, 0]])
    flat[:, 1] = 0  # a singular covariance: the mean variance instead
    model = quiet(GK(2, shrinkage=1.0, reg_covar=0.0, random_state=0), flat)
    np.testing.assert_allclose(model.covariances_, 2 / 3 * np.tile(np.eye(3), (2, 1, 1)), rtol=0, atol=1e-13)


# By loops -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_passes", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "m, ridge, rho, shrinkage",
    [(2.0, 1e-3, None, "auto"), (1.5, 0.0, np.array([1.0, 2.0, 0.3]), 0.0), (1.5, 1e-2, None, 0.3)],
)
def test_updates_by_brute_force(n_passes, weighted, m, ridge, rho, shrinkage):
    weight = np.random.RandomState(0).uniform(0.1, 3, 150) if weighted else None

    # With a given share of the ball an unfinished run ends in its best state: here let it end in the last one.
    class Last(Plain):
        _policy = property(lambda self: replace(super()._policy, keeps="last"))

    model = Last(3, m=m, reg_covar=ridge, volumes=rho, shrinkage=shrinkage, init=START, tol=0, max_iter=n_passes)
    quiet(model, IRIS, sample_weight=weight)
    V, F, A, U, J = brute_force(IRIS, START, n_passes, m, ridge, weight, rho, shrinkage)
    np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.covariances_, F, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.norm_matrices_, A, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-11)
    assert model.objective_ == pytest.approx(J, rel=1e-11)
    assert len(model.objective_history_) == n_passes + 1


def test_norm_matrices_have_the_given_determinants():
    volumes = np.array([0.5, 1.0, 3.0])
    model = GK(3, volumes=volumes, random_state=0).fit(IRIS * [1, 10, 100, 0.1])
    np.testing.assert_allclose(np.linalg.det(model.norm_matrices_), volumes, rtol=1e-10)
    for A, F in zip(model.norm_matrices_, model.covariances_, strict=True):
        np.testing.assert_allclose(A @ F / (A @ F)[0, 0], np.eye(4), rtol=0, atol=1e-9)


def test_a_larger_determinant_makes_a_smaller_cluster():
    sizes = [GK(3, volumes=[rho, 1.0, 1.0], init=START).fit(IRIS).memberships_[:, 0].sum() for rho in (0.1, 1, 10)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_common_volume_changes_nothing():
    one, same = (GK(3, volumes=v, init=START, tol=1e-8).fit(IRIS) for v in (None, [7.0] * 3))
    np.testing.assert_allclose(same.memberships_, one.memberships_, rtol=0, atol=1e-9)
    assert same.objective_ == pytest.approx(one.objective_ * 7**0.25, rel=1e-9)


# Invariances ----------------------------------------------------------------------------------------------------------


@property_test
@given(
    units=st.lists(st.floats(-6, 6), min_size=4, max_size=4),
    offset=st.floats(-1e3, 1e3),
    seed=st.integers(0, 100),
)
def test_units_origin_and_order_do_not_matter(units, offset, seed):
    unit = 10.0 ** np.array(units)
    order = np.random.RandomState(seed).permutation(150)
    model = GK(3, m=2, init=START, max_iter=20, tol=1e-6)
    other = GK(3, m=2, init=(START + offset) * unit, max_iter=20, tol=1e-6)
    expected = quiet(model, IRIS)
    found = quiet(other, ((IRIS + offset) * unit)[order])
    np.testing.assert_allclose(found.memberships_, expected.memberships_[order], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.centers_ / unit - offset, expected.centers_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.covariances_ / unit / unit[:, None], expected.covariances_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.linalg.slogdet(found.norm_matrices_)[1], 0, rtol=0, atol=1e-9)
    geometric = np.exp(2 * np.log(unit).mean())
    assert found.objective_ == pytest.approx(expected.objective_ * geometric, rel=1e-8)


@property_test
@given(seed=st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    weight = np.random.RandomState(seed).randint(0, 4, 150)
    weighted = quiet(GK(3, m=2, init=START, max_iter=15), IRIS, sample_weight=weight)
    repeated = quiet(GK(3, m=2, init=START, max_iter=15), np.repeat(IRIS, weight, axis=0))
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=0, atol=1e-10)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-11)


def test_float32_is_kept_and_close():
    model, exact = (GK(3, m=2, init=START).fit(X) for X in (IRIS.astype(np.float32), IRIS))
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, exact.memberships_, rtol=0, atol=2e-4)
    np.testing.assert_allclose(model.centers_, exact.centers_, rtol=0, atol=2e-4)
    assert model.predict_memberships(IRIS.astype(np.float32)).dtype == np.float32


def test_extreme_units():
    expected = GK(3, init=START).fit(IRIS)
    for unit in (1e-150, 1e140):
        model = GK(3, init=START * unit).fit(IRIS * unit)
        np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.norm_matrices_, expected.norm_matrices_, rtol=1e-9, atol=1e-9)


# Degenerate data ------------------------------------------------------------------------------------------------------


def test_one_cluster():
    weight = np.random.RandomState(0).uniform(0.1, 2, 150)
    model = GK(1, reg_covar=0, shrinkage=0).fit(IRIS, sample_weight=weight)
    np.testing.assert_array_equal(model.memberships_, np.ones((150, 1)))
    np.testing.assert_allclose(model.centers_, [np.average(IRIS, axis=0, weights=weight)], rtol=1e-14)
    np.testing.assert_allclose(model.covariances_[0], np.cov(IRIS.T, aweights=weight, ddof=0), rtol=1e-12, atol=1e-14)
    assert model.converged_


@pytest.mark.parametrize("ridge", [1e-3, 0.0])
def test_identical_points(ridge):
    with pytest.warns(ConvergenceWarning, match="collapsed: all samples have the same memberships"):
        model = GK(3, reg_covar=ridge, random_state=0).fit(np.full((7, 3), 2.5))
    np.testing.assert_array_equal(model.memberships_, np.full((7, 3), 1 / 3))
    np.testing.assert_array_equal(model.centers_, np.full((3, 3), 2.5))
    assert model.objective_ == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("ridge", [1e-3, 0.0])
def test_fewer_distinct_points_than_clusters(ridge):
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [-3.0, 4.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="found 3 distinct prototypes, fewer than n_clusters=4"):
        GK(4, reg_covar=ridge, m=2, init=[[0.0, 0.0], [0.0, 0.0], [5.0, 1.0], [-3.0, 4.0]]).fit(X)


def test_fewer_rows_than_features():
    X = np.random.RandomState(0).normal(size=(20, 50))
    X[:10] += 2
    model = GK(2, random_state=0).fit(X)
    assert len(set(model.labels_[:10])) == len(set(model.labels_[10:])) == 1


@pytest.mark.parametrize("ridge", [0.0, 1e-300])
def test_singular_covariances_are_floored(ridge):
    """A constant and a repeated feature, and no ridge to speak of."""
    X = np.column_stack([IRIS, IRIS[:, 0], np.full(150, 3.0)])
    model = quiet(GK(3, m=2, reg_covar=ridge, random_state=0), X)
    assert np.isfinite(model.memberships_).all()
    for F in model._state.covariances:
        values = np.linalg.eigvalsh(F)
        assert values[0] > -1e-15 * values[-1]
    assert np.isfinite(model.norm_matrices_).all()


def test_floor():
    rng = np.random.RandomState(0)
    A = rng.normal(size=(6, 3))
    covariance, factor = floored(A @ A.T)
    values = np.linalg.eigvalsh(covariance)
    np.testing.assert_allclose(covariance, A @ A.T, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(factor, np.tril(factor))
    assert np.all(np.diag(factor) > 0)
    # The factor knows the floor to all digits, which the matrix itself has lost.
    np.testing.assert_allclose(
        np.sort(np.linalg.svd(factor, compute_uv=False) ** -2)[:3], values[-1] / COND_MAX, rtol=1e-3
    )
    sound = A.T @ A
    kept, factor = floored(sound)
    assert kept is sound
    np.testing.assert_array_equal(factor, inverse_cholesky(sound[None])[0][0])
    nothing, factor = floored(np.zeros((2, 2)))
    np.testing.assert_allclose(factor, 1e100 * np.eye(2), rtol=1e-14)
    np.testing.assert_allclose(nothing, 1e-200 * np.eye(2), rtol=1e-14)


def test_empty_cluster_is_said():
    """At m near 1 the weights of a far cluster underflow: it stays, with the ball of the ridge for a covariance."""
    X = np.vstack([IRIS[:50], IRIS[50:] + 100])
    with pytest.warns(ConvergenceWarning, match="GK left 1 of 3 clusters empty"):
        model = GK(3, m=1.001, shrinkage=0, init=[X[0], X[100], X[0] - 1e5]).fit(X)
    np.testing.assert_allclose(model.centers_[2], X[0] - 1e5, rtol=1e-12)
    np.testing.assert_allclose(model._state.covariances[2], np.eye(4), rtol=1e-12)
    assert np.isfinite(model.norm_matrices_).all()


def test_too_large_fuzzifier_is_said():
    with pytest.warns(ConvergenceWarning, match=r"GK (collapsed|found).*m='auto' or a smaller m"):
        GK(10, m=200.0, max_iter=20, random_state=0).fit(load_digits().data[:400])


def test_crossing_clusters_may_share_a_centre():
    line, rng = np.linspace(-5, 5, 200)[:, None], np.random.RandomState(0)
    X = np.vstack([line * [1, 1], line * [1, -1]]) + 0.1 * rng.normal(size=(400, 2))
    run, memberships = from_memberships(X, np.repeat([[0.9, 0.1], [0.1, 0.9]], 200, axis=0), reg_covar=1e-3)
    assert np.abs(run.state.means[0] - run.state.means[1]).max() < 0.05
    assert adjusted_rand_score(np.repeat([0, 1], 200), memberships.argmax(axis=1)) > 0.9
    assert shape_collapse("GK", run.state, memberships, "") == []
    twice = Ellipsoids(*(np.concatenate([part, part[:1]]) for part in run.state))
    (complaint,) = shape_collapse("GK", twice, np.hstack([memberships, memberships[:, :1]]), "")
    assert complaint.startswith("GK found 2 distinct prototypes, fewer than n_clusters=3")
    # Convergence leaves twins a little apart: what counts then is whether they have the same rows.
    near = twice._replace(
        means=twice.means + 5e-3 * np.array([[0.0], [0.0], [1.0]]) * np.sqrt(twice.covariances[2, 0, 0])
    )
    (complaint,) = shape_collapse("GK", near, np.hstack([memberships, memberships[:, :1]]), "")
    assert complaint.startswith("GK found 2 distinct prototypes")
    assert shape_collapse("GK", near, np.hstack([memberships, 1 - memberships[:, :1]]), "") == []


# Parameters, prediction, the two stages -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"m": 1.0}, "'m' parameter of GK"),
        ({"m": 1e4}, "m=10000 is too large for n_clusters=3"),
        ({"shrinkage": 1.5}, "'shrinkage' parameter of GK"),
        ({"reg_covar": -1.0}, "'reg_covar' parameter of GK"),
        ({"init": "k-means++"}, "'init' parameter of GK"),
        ({"init": np.zeros((2, 4))}, r"init must have shape \(3, 4\)"),
        ({"volumes": [1.0, 2.0]}, r"volumes must have shape \(3,\)"),
        ({"volumes": [1.0, 2.0, 0.0]}, "volumes must be positive"),
        ({"volumes": [1.0, 2.0, np.nan]}, "volumes contains NaN"),
        ({"volumes": 2.0}, "'volumes' parameter of GK"),
        ({"n_clusters": 151}, "n_samples=150 should be >= n_clusters=151"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GK(**{"n_clusters": 3} | parameters).fit(IRIS)


def test_sparse_matrices_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        GK(3).fit(sparse.csr_matrix(IRIS))


def test_starts_from_fuzzy_c_means_of_standardised_features():
    X = load_wine().data
    model = GK(3, random_state=0).fit(X)
    fcm = FCM(3, random_state=0).fit(scale(X))
    given = GK(3, init=X.mean(axis=0) + fcm.centers_ * X.std(axis=0)).fit(X)
    np.testing.assert_allclose(given.memberships_, model.memberships_, rtol=0, atol=1e-3)
    assert model.m_ == given.m_ == auto_fuzzifier(178, 13)


@pytest.mark.parametrize("prior", [{}, {"reg_covar": 0.0, "shrinkage": 0.0}])
def test_prediction_and_score(prior):
    model = GK(3, m=2, random_state=0, **prior).fit(IRIS)
    np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
    D = np.stack(
        [
            np.einsum("ij,jk,ik->i", IRIS - v, A, IRIS - v)
            for v, A in zip(model.centers_, model.norm_matrices_, strict=True)
        ],
        axis=1,
    )
    U = (1 / D) / (1 / D).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-12)
    penalty = (
        150
        * model._penalty(model._state.factors, model._volumes(model._state))
        * np.exp(2 * np.log(IRIS.std(axis=0)).mean())
    )
    assert bool(prior) == (penalty == 0)
    assert model.score(IRIS) == pytest.approx(-(U**2 * D).sum() - penalty, rel=1e-12)
    assert model.score(IRIS) == pytest.approx(-model.objective_, rel=1e-14)


def test_not_converged_is_said_and_the_best_state_kept():
    with pytest.warns(ConvergenceWarning, match="GK did not converge in max_iter=5 passes"):
        model = GK(3, m=2, max_iter=5, random_state=0).fit(IRIS)
    assert model.objective_ == pytest.approx(model.objective_history_[1:].min(), rel=1e-14)


def test_one_pass_is_a_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GK(3, m=2, init=START, max_iter=1).fit(IRIS)
    np.testing.assert_allclose(model.centers_, brute_force(IRIS, START, 1, 2.0, 1e-3)[0], rtol=0, atol=1e-12)


# Kernels and blocks ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@pytest.mark.parametrize("m", [1.3, 2.0])
def test_fit_with_the_twins(monkeypatch, m):
    X, _ = make_blobs(700, 5, centers=4, cluster_std=3, random_state=0)
    weight = np.random.RandomState(0).uniform(0, 2, 700)
    fits = [GK(4, m=m, init=X[:4], tol=1e-9).fit(X, sample_weight=weight)]
    kernels.compiled.vector_bytes(16)
    fits.append(GK(4, m=m, init=X[:4], tol=1e-9).fit(X, sample_weight=weight))
    kernels.compiled.vector_bytes(0)
    monkeypatch.setattr(kernels, "compiled", None)
    expected = GK(4, m=m, init=X[:4], tol=1e-9).fit(X, sample_weight=weight)
    for fit in fits:
        assert fit.n_iter_ == expected.n_iter_
        np.testing.assert_allclose(fit.memberships_, expected.memberships_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(fit.covariances_, expected.covariances_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shrinkage", [0.0, 0.2])
def test_dask_equals_memory(shrinkage):
    array = pytest.importorskip("dask.array")
    import dask

    X, _ = make_blobs(500, 4, centers=3, cluster_std=2, random_state=0)
    weight = np.random.RandomState(0).uniform(0, 2, 500)
    memory, lazy = (GK(3, init=X[:3], shrinkage=shrinkage) for _ in range(2))
    memory.fit(X, sample_weight=weight)
    with dask.config.set(scheduler="threads"):
        lazy.fit(array.from_array(X, chunks=(97, 4)), sample_weight=weight)
        memberships = lazy.memberships_.compute()
    np.testing.assert_allclose(memberships, memory.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.centers_, memory.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lazy.norm_matrices_, memory.norm_matrices_, rtol=0, atol=1e-9)
    assert lazy.objective_ == pytest.approx(memory.objective_, rel=1e-11)


def test_blocks_are_standardised_without_a_copy():
    blocks = GK()._blocks(IRIS)
    assert blocks.blocks[0].X is IRIS
    assert make_blocks(IRIS).frame.scale != pytest.approx(blocks.frame.scale)
    np.testing.assert_allclose(blocks.frame.from_input(IRIS).std(axis=0), 1, rtol=1e-13)
