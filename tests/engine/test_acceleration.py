"""Anderson acceleration on maps whose fixed points are known."""

from typing import NamedTuple

import numpy as np
import pytest

from soft_clustering.engine.acceleration import Anderson, from_vector, to_vector


def contraction(d, seed, rate=0.95):
    """A linear map x -> A x + b with eigenvalues up to the rate, and its fixed point."""
    rng = np.random.RandomState(seed)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    A = Q @ np.diag(np.linspace(0.1, rate, d)) @ Q.T
    b = rng.normal(size=d)
    return lambda x: A @ x + b, np.linalg.solve(np.eye(d) - A, b)


def iterate(g, x, steps):
    """So many accelerated evaluations of g, without safeguard."""
    mixer = Anderson()
    for _ in range(steps):
        x = mixer.propose(x, g(x))
    return x


def plain_steps(mixer, g, x):
    """Steps until the next proposal that is not the image, and that proposal."""
    for steps in range(2000):
        image = g(x)
        x = mixer.propose(x, image)
        if x is not image:
            return steps, x
    raise AssertionError("no proposal")


def test_first_step_is_plain():
    x, image = np.array([1.0, 2.0]), np.array([0.5, 1.5])
    assert Anderson().propose(x, image) is image


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_linear_map_is_solved_in_one_step_more_than_its_dimension(d, seed):
    g, solution = contraction(d, seed)
    start = np.random.RandomState(seed + 10).normal(size=d)
    error = np.abs(iterate(g, start, d + 1) - solution).max()
    assert error < 1e-5 * np.abs(start - solution).max()
    if d > 1:
        assert np.abs(iterate(g, start, d) - solution).max() > 100 * error


def test_more_dimensions_than_memory():
    g, solution = contraction(40, 0, rate=0.99)
    x = np.zeros(40)
    plain = x
    for _ in range(60):
        plain = g(plain)
    error = np.abs(iterate(g, x, 60) - solution).max()
    assert error < 1e-3 * np.abs(plain - solution).max()


def test_nonlinear_map():
    x = iterate(np.cos, np.array([1.0]), 8)
    assert abs(np.cos(x[0]) - x[0]) < 3e-14  # after 8 plain steps it is 0.02


def test_unstable_fixed_point_is_found():
    """Extrapolation also solves maps that plain iteration runs away from."""
    x = iterate(lambda x: 3 * x - 4, np.array([10.0]), 2)
    np.testing.assert_allclose(x, [2.0], rtol=0, atol=1e-8)


def test_at_the_fixed_point_it_stays():
    mixer, x = Anderson(), np.array([2.0, -1.0])
    for _ in range(8):
        proposed = mixer.propose(x, x.copy())
        np.testing.assert_array_equal(proposed, x)


def test_repeated_point_adds_nothing():
    """A difference of length zero is left out: no division by it."""
    g, solution = contraction(2, 0)
    mixer, x = Anderson(), np.zeros(2)
    for _ in range(3):
        proposed = mixer.propose(x, g(x))
    np.testing.assert_array_equal(proposed, g(x))
    for _ in range(3):
        x = mixer.propose(proposed, g(proposed))
        proposed = x
    np.testing.assert_allclose(proposed, solution, rtol=0, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_unit_does_not_matter(unit):
    g, _ = contraction(3, 1)
    expected = iterate(g, np.zeros(3), 3)
    scaled = iterate(lambda x: g(x / unit) * unit, np.zeros(3), 3)
    np.testing.assert_allclose(scaled / unit, expected, rtol=1e-13)


def test_images_are_not_changed():
    g, _ = contraction(3, 2)
    mixer, x = Anderson(), np.zeros(3)
    points = []
    for _ in range(8):
        image = g(x)
        points.append((x, x.copy(), image, image.copy()))
        x = mixer.propose(x, image)
    for x, x_before, image, image_before in points:
        np.testing.assert_array_equal(x, x_before)
        np.testing.assert_array_equal(image, image_before)


@pytest.mark.parametrize("rejections, plain", [(1, 1), (2, 2), (3, 6)])
def test_plain_steps_after_rejections(rejections, plain):
    g, _ = contraction(3, 0)
    mixer, x = Anderson(), np.zeros(3)
    x = mixer.propose(x, g(x))
    for _ in range(rejections):
        mixer.reject()
    assert plain_steps(mixer, g, x)[0] == plain


def test_an_accepted_point_ends_the_row_of_rejections():
    g, _ = contraction(12, 0)
    mixer, x = Anderson(), np.zeros(12)
    for _ in range(3):
        mixer.reject()
    steps, x = plain_steps(mixer, g, x)
    assert steps == 6
    x = mixer.propose(x, g(x))  # nobody rejected it
    mixer.reject()
    assert plain_steps(mixer, g, x)[0] == 1


def test_pause_is_bounded():
    g, _ = contraction(3, 0)
    mixer = Anderson()
    for _ in range(50):
        mixer.reject()
    assert plain_steps(mixer, g, np.ones(3))[0] <= 100


def test_rejection_forgets_the_history():
    """After it the iteration goes on as a new one from the same point."""
    g, _ = contraction(4, 0)
    mixer, x = Anderson(), np.ones(4)
    for _ in range(4):
        x = mixer.propose(x, g(x))
    mixer.reject()
    fresh, y = Anderson(), x
    for _ in range(4):
        x, y = mixer.propose(x, g(x)), fresh.propose(y, g(y))
        np.testing.assert_array_equal(x, y)


# States as vectors ----------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    matrix: np.ndarray
    number: float


class Half(NamedTuple):
    """A state of which one part is mixed."""

    mixed: np.ndarray
    fixed: str

    def to_vector(self):
        return self.mixed.ravel()

    def from_vector(self, vector):
        return self._replace(mixed=vector.reshape(self.mixed.shape))


def test_vectors_of_states():
    state = Pair(np.arange(6.0).reshape(2, 3), 7.0)
    np.testing.assert_array_equal(to_vector(state), np.arange(8.0)[[0, 1, 2, 3, 4, 5, 7]])
    again = from_vector(to_vector(state), state)
    assert isinstance(again, Pair)
    np.testing.assert_array_equal(again.matrix, state.matrix)
    assert again.number == 7.0
    np.testing.assert_array_equal(from_vector(to_vector(state.matrix), state.matrix), state.matrix)


def test_states_that_say_themselves_what_is_mixed():
    state = Half(np.arange(6.0).reshape(2, 3), "bandwidth")
    np.testing.assert_array_equal(to_vector(state), np.arange(6.0))
    again = from_vector(-np.arange(6.0), state)
    np.testing.assert_array_equal(again.mixed, -state.mixed)
    assert again.fixed == "bandwidth"
