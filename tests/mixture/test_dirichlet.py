"""Maximum likelihood of Dirichlet and beta distributions: oracles, optimality, bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize
from scipy.special import gammaln, psi

from soft_clustering import kernels
from soft_clustering.mixture import dirichlet
from soft_clustering.mixture.dirichlet import LEAST, MOST, log_normaliser, maximum_likelihood


def mean_logs(parts):
    return np.log(parts).mean(axis=0)


def value(a, s):
    return gammaln(a.sum()) - gammaln(a).sum() + a @ s


def test_beta_is_that_of_scipy():
    x = np.random.RandomState(0).beta(2.5, 7, 5000)
    a, b, _, _ = stats.beta.fit(x, floc=0, fscale=1)
    assert (round(a, 4), round(b, 4)) == (2.5394, 7.1232)
    found = maximum_likelihood(np.array([[np.log(x).mean(), np.log1p(-x).mean()]]))
    np.testing.assert_allclose(found, [[a, b]], rtol=1e-9)


@pytest.mark.parametrize("shapes", [(0.05, 0.02), (1, 1, 1), (1000, 2, 5), (0.2,) * 6, (3e4, 1e4), (0.1, 50.0)])
def test_gradient_is_zero_wherever_the_start_was(shapes):
    parts = np.clip(np.random.default_rng(1).dirichlet(shapes, 2000), 1e-12, 1)
    s = mean_logs(parts)[None]
    found = maximum_likelihood(s)
    gradient = psi(found.sum()) - psi(found) + s
    np.testing.assert_allclose(gradient * found, 0, atol=1e-7)
    for start in (1.0, 30.0, 1e-3):
        again = maximum_likelihood(s, np.full(s.shape, start))
        np.testing.assert_allclose(again, found, rtol=1e-5)


def test_general_optimiser_finds_the_same():
    s = mean_logs(np.random.default_rng(2).dirichlet([2.0, 0.7, 4.0, 1.0], 300))
    found = maximum_likelihood(s[None])[0]
    theirs = minimize(lambda t: -value(np.exp(t), s), np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(found, np.exp(theirs.x), rtol=1e-6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.floats(1e-2, 1e4), st.integers(2, 8))
def test_never_less_likely_than_the_start(seed, concentration, p):
    rng = np.random.default_rng(seed)
    parts = np.clip(rng.dirichlet(concentration * rng.dirichlet(np.ones(p)) + 1e-2, rng.integers(1, 30)), 1e-9, 1)
    s, start = mean_logs(parts), 10 ** rng.uniform(-2, 4, p)
    found = maximum_likelihood(s[None], start[None])[0]
    assert value(found, s) >= value(start, s) - 1e-9 * abs(value(start, s))
    assert found.min() >= LEAST and found.max() <= MOST


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not compiled")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.floats(1e-2, 1e4), st.integers(2, 8), st.booleans())
def test_twins(seed, concentration, p, given_start):
    rng = np.random.default_rng(seed)
    parts = np.clip(rng.dirichlet(concentration * rng.dirichlet(np.ones(p)) + 0.05, (20, 3)), 1e-9, 1)
    s, start = np.log(parts).mean(axis=0), 10 ** rng.uniform(-1, 3, (3, p)) if given_start else None
    found = maximum_likelihood(s, start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "compiled", None)
        np.testing.assert_allclose(found, maximum_likelihood(s, start), rtol=1e-6)


def test_rows_do_not_see_each_other():
    rng = np.random.default_rng(3)
    s = np.stack([mean_logs(rng.dirichlet(c * np.array([1.0, 2.0, 0.5]), 50)) for c in (0.1, 1, 10, 1e4)])
    together = maximum_likelihood(s)
    for row, alone in zip(together, s, strict=True):
        np.testing.assert_array_equal(maximum_likelihood(alone[None])[0], row)


@pytest.mark.parametrize("point", [(0.5, 0.5), (0.1, 0.9), (0.2, 0.3, 0.5)])
def test_equal_observations_reach_the_bound_with_the_right_mean(point):
    found = maximum_likelihood(np.log([point]))[0]
    assert found.max() == pytest.approx(MOST)
    np.testing.assert_allclose(found / found.sum(), point, rtol=1e-5)


def test_normaliser():
    shapes = np.array([[2.0, 3.0], [0.5, 0.5]])
    x = 0.3
    for (a, b), constant in zip(shapes, log_normaliser(shapes), strict=True):
        expected = stats.beta.logpdf(x, a, b) - (a - 1) * np.log(x) - (b - 1) * np.log(1 - x)
        assert constant == pytest.approx(expected, rel=1e-13)


def test_the_start_is_kept():
    s, start = np.log([[0.2, 0.7]]), np.ones((1, 2))
    maximum_likelihood(s, start)
    np.testing.assert_array_equal(start, 1)


def test_one_shape_at_rest_does_not_end_the_steps():
    """From this start Newton's first step leaves the first shape where it is, and moves the second."""
    truth = np.array([[3.0, 5.0]])
    s = psi(truth) - psi(truth.sum())
    first = brentq(lambda a: dirichlet._newton_step(np.array([[a, 4.0]]), s)[0, 0], 2.5, 3.0, xtol=1e-14)
    start = np.array([[first, 4.0]])
    step = dirichlet._newton_step(start, s)[0]
    assert abs(step[0]) < 1e-12 and abs(step[1]) > 0.1
    np.testing.assert_allclose(maximum_likelihood(s, start), truth, rtol=1e-11)


def test_convergence_is_quadratic(monkeypatch):
    """From a guess near the solution a few steps are enough, and no row is looked at once it rests."""
    truth = np.array([[2.0, 3.0, 0.5], [20.0, 30.0, 5.0], [0.3, 0.2, 0.4]])
    s = psi(truth) - psi(truth.sum(axis=1, keepdims=True))
    monkeypatch.setattr(kernels, "compiled", None)
    rows, original = [], dirichlet._newton_step
    monkeypatch.setattr(dirichlet, "_newton_step", lambda a, s: rows.append(len(a)) or original(a, s))
    np.testing.assert_allclose(maximum_likelihood(s), truth, rtol=1e-11)
    assert len(rows) <= 12 and min(rows) > 0
