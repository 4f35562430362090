"""What the Gaussian mixtures share: components as vectors, for acceleration."""

import numpy as np
import pytest

from soft_clustering.mixture.gaussian import Components

WEIGHTS, MEANS = np.array([0.25, 0.75]), np.arange(6.0).reshape(2, 3)


def components(full):
    factors = np.random.default_rng(0).uniform(0.5, 2, (2, 3, 3) if full else (2, 3))
    return Components(WEIGHTS, MEANS, None, np.tril(factors) if full else factors, full)


def test_vector_of_diagonal_components():
    """K logarithms of weights, K d means, K d logarithms of scales, and nothing else."""
    state = components(full=False)
    expected = [*np.log(WEIGHTS), *MEANS.ravel(), *np.log(state.factors).ravel()]
    np.testing.assert_array_equal(state.to_vector(), expected)


def test_vector_of_full_components():
    state = components(full=True)
    vector = state.to_vector()
    np.testing.assert_array_equal(vector[8:14].reshape(2, 3), np.log(state.factors[:, range(3), range(3)]))
    np.testing.assert_array_equal(vector[14:].reshape(2, 3, 3), np.tril(state.factors, -1))


@pytest.mark.parametrize("full", [False, True])
def test_components_come_back_from_their_vector(full):
    state = components(full)
    back = state.from_vector(state.to_vector())
    for name in ("weights", "means", "factors"):
        np.testing.assert_allclose(getattr(back, name), getattr(state, name), rtol=1e-14)
    assert back.covariances is None and back.full == full


@pytest.mark.parametrize("full", [False, True])
def test_any_vector_gives_components(full):
    state = components(full)
    back = state.from_vector(1e4 * np.random.default_rng(1).normal(size=state.to_vector().size))
    assert back.weights.sum() == pytest.approx(1)
    assert np.isfinite(back.factors).all() and (back.scales > 0).all()
