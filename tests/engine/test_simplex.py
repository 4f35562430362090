"""Projection and least squares on the simplex: optimality conditions, other solvers, degenerate problems."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from soft_clustering.engine.simplex import least_squares_on_simplex, project_rows


def problem(f, n=200, rank=None, seed=0):
    """A positive definite H, nearly singular where a rank is given, and right-hand sides."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * f, f))
    if rank is not None:
        A = A[:, :rank] @ rng.normal(size=(rank, f))
    H = A.T @ A / len(A)
    H += 1e-6 * np.trace(H) / f * np.eye(f)
    return H, rng.dirichlet(np.ones(f), n) @ H + 0.3 * rng.normal(size=(n, f))


def violation(H, B, M):
    """How far each row is from optimal: the most that the objective falls towards a corner, to first order."""
    slope = M @ H - B
    return (M * slope).sum(axis=1) - slope.min(axis=1)


@pytest.mark.parametrize("f", [1, 2, 3, 8, 50])
@pytest.mark.parametrize("spread", [1e-8, 1.0, 1e8])
def test_projection(f, spread):
    Y = np.random.default_rng(0).normal(size=(100, f)) * spread
    M = project_rows(Y)
    assert (M >= 0).all()
    np.testing.assert_allclose(M.sum(axis=1), 1, rtol=1e-12)
    for y, m in zip(Y, M, strict=True):
        low, high = y.min() - 2, y.max()
        t = brentq(lambda t, y=y: np.maximum(y - t, 0).sum() - 1, low, high, xtol=1e-15 * spread, rtol=1e-15)
        np.testing.assert_allclose(m, np.maximum(y - t, 0), rtol=0, atol=1e-12 * max(spread, 1))


def test_projection_keeps_the_simplex():
    M = np.random.default_rng(0).dirichlet(np.full(5, 0.3), 50)
    np.testing.assert_allclose(project_rows(M), M, rtol=0, atol=1e-15)


def test_ties_are_shared():
    np.testing.assert_allclose(project_rows(np.full((1, 4), 7.0)), 0.25, rtol=1e-15)


@pytest.mark.parametrize("f, rank", [(1, None), (2, None), (5, None), (5, 2), (12, None), (12, 4), (42, None), (42, 7)])
def test_least_squares_is_optimal(f, rank):
    H, B = problem(f, rank=rank)
    M = least_squares_on_simplex(H, B)
    assert (M >= 0).all()
    np.testing.assert_allclose(M.sum(axis=1), 1, rtol=1e-12)
    assert violation(H, B, M).max() < 1e-12 * (np.abs(H).max() + np.abs(B).max())
    if f > 2:
        assert len(set((M > 0).sum(axis=1))) > 1  # faces of different size


def test_least_squares_against_a_general_solver():
    H, B = problem(5, n=10)
    for b, m in zip(B, least_squares_on_simplex(H, B), strict=True):
        found = minimize(
            lambda x, b=b: (x @ H @ x / 2 - b @ x, H @ x - b),
            np.full(5, 0.2),
            jac=True,
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        np.testing.assert_allclose(m, found.x, rtol=0, atol=1e-6)
        assert m @ H @ m / 2 - b @ m <= found.fun + 1e-14


def test_rows_do_not_depend_on_each_other():
    H, B = problem(8, n=60, rank=3)
    M = least_squares_on_simplex(H, B)
    for batch in (slice(0, 1), slice(10, 17), slice(20, 60)):
        np.testing.assert_allclose(least_squares_on_simplex(H, B[batch]), M[batch], rtol=0, atol=1e-12)


def test_corners_and_symmetry():
    np.testing.assert_array_equal(least_squares_on_simplex(np.eye(3), 5 * np.eye(3)), np.eye(3))
    np.testing.assert_allclose(least_squares_on_simplex(np.eye(3), np.zeros((1, 3))), 1 / 3, rtol=1e-14)
