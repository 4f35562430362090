"""Fewer rows than features: the methods with covariances work in the span of the rows, with the same result."""

import numpy as np
import pytest

from soft_clustering import GK, GathGeva
from soft_clustering.engine.blocks import Blocks, Subspace
from soft_clustering.engine.covariance import (
    COND_MAX,
    Ellipsoids,
    factorised,
    floored,
    shape_collapse,
    sound_factors,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    "model",
    [
        lambda start: GK(2, m=1.5, init=start, max_iter=8),
        lambda start: GK(2, m=1.5, init=start, max_iter=8, shrinkage=0.2, volumes=[1.0, 2.0]),
        lambda start: GathGeva(2, init=start, max_iter=8),
        lambda start: GathGeva(2, m=1.7, init=start, max_iter=8, reg_covar=1e-2),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_span_of_the_rows(monkeypatch, model, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 60)) * rng.uniform(0.5, 3, 60) + 5
    X[12:, :20] += 4
    weight = rng.uniform(0.5, 2, 24) if weighted else None
    # between the rows and a little beyond: also new points leave the span
    new = X[:6] + 0.1 * rng.normal(size=(6, 60))
    start = X[[0, 20]]
    compact = model(start).fit(X, sample_weight=weight)
    assert isinstance(compact._frame, Subspace)
    assert compact._state.means.shape == (2, 25)
    monkeypatch.setattr(Blocks, "in_subspace", lambda self: self)
    plain = model(start).fit(X, sample_weight=weight)
    assert compact.n_iter_ == plain.n_iter_
    np.testing.assert_allclose(compact.memberships_, plain.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(compact.predict_memberships(new), plain.predict_memberships(new), rtol=0, atol=1e-9)
    np.testing.assert_allclose(compact.centers_, plain.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(compact.covariances_, plain.covariances_, rtol=0, atol=1e-9)
    assert compact.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    if isinstance(compact, GK):
        np.testing.assert_allclose(compact.norm_matrices_, plain.norm_matrices_, rtol=1e-7, atol=1e-8)
    else:
        assert compact.fuzzy_hypervolume_ == pytest.approx(plain.fuzzy_hypervolume_, rel=1e-8)


def test_callable_init_gets_the_rows_as_they_came():
    X = np.random.default_rng(0).normal(size=(10, 30)) + 3
    seen = []
    GK(2, init=lambda rows, K, rng: seen.append(rows) or rows[:K]).fit(X)
    np.testing.assert_allclose(seen[0], X, rtol=0, atol=1e-12)


def test_one_unsound_covariance_is_enough():
    """Of two covariances only the second is beyond the largest condition number."""
    covariances = np.stack([np.eye(2), np.diag([1.0, 1e-30])])
    assert sound_factors(covariances[:1]) is not None
    assert sound_factors(covariances) is None
    mended, factors = factorised(covariances)
    np.testing.assert_array_equal(mended[0], np.eye(2))
    assert np.linalg.cond(mended[1]) <= 1.01 * COND_MAX
    np.testing.assert_allclose(factors[0], np.eye(2))


def test_a_condition_number_beyond_any_float_is_unsound():
    assert sound_factors(np.diag([1e150, 1e-200])[None]) is None


def test_sound_covariances_are_kept_as_they_are():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    kept, factor = floored(covariance)
    assert kept is covariance
    np.testing.assert_allclose(factor @ covariance @ factor.T, np.eye(2), atol=1e-14)
    stack = np.stack([covariance, np.eye(2)])
    assert factorised(stack)[0] is stack


@pytest.mark.parametrize("difference, alike", [(9.9e-7, True), (1e-6, False), (1e-3, False)])
def test_prototypes_that_differ_by_less_than_a_millionth_are_one(difference, alike):
    """Two balls of variance 1 whose means are so far apart; their memberships differ, so that only this counts."""
    balls = Ellipsoids(np.array([[0.0], [difference]]), np.ones((2, 1, 1)), np.ones((2, 1, 1)))
    complaints = shape_collapse("GK", balls, np.array([[0.9, 0.1], [0.2, 0.8]]), "scale X")
    assert bool(complaints) == alike
    assert not alike or "1 distinct prototypes" in complaints[0]


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_covariances_whose_squares_are_no_float(unit):
    covariance, factor = floored(unit * np.array([[2.0, 0.5], [0.5, 1.0]]))
    np.testing.assert_allclose(covariance, unit * np.array([[2.0, 0.5], [0.5, 1.0]]), rtol=1e-14)
    np.testing.assert_allclose(factor @ covariance @ factor.T, np.eye(2), atol=1e-14)
