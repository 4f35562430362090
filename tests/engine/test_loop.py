"""The loop: stopping, history, cycles, safeguarded acceleration, joining, the best of several starts."""

from typing import NamedTuple

import numpy as np
import pytest

from soft_clustering.engine.acceleration import first_mixed
from soft_clustering.engine.loop import (
    UNSCALED,
    Policy,
    Run,
    Unscaled,
    array_key,
    best_run,
    center_shift,
    finished,
    iterate,
    likelihood_change,
    objective_change,
    run_starts,
    same_centers,
    state_shift,
)

RATES = np.array([0.5, 0.9])


def movement(old, new, history, scale):
    return float(np.linalg.norm(new - old))


def shrink(x):
    return RATES * x


def square(x):
    return float((x * x).sum())


def passes(image, objective, start=(8.0, -4.0), rival=None, *, tol=1e-8, max_iter=1000, options=None, **policy):
    """The run of a map with an objective, and the states that it visited."""
    seen = []

    def step(x):
        seen.append(x)
        return image(x), objective(x)

    run = Run(np.array(start))
    policy = Policy(**{"residual": movement, "place": None} | policy)
    iterate(run, rival, step=step, policy=policy, max_iter=max_iter, tol=tol, **options or {})
    return run, seen


ACCELERATED = {"accelerate": True}


# The plain loop -------------------------------------------------------------------------------------------------------


def test_plain_loop_visits_the_iterates():
    run, seen = passes(shrink, square)
    expected = [np.array([8.0, -4.0]) * RATES**t for t in range(run.n_iter)]
    np.testing.assert_allclose(seen, expected, rtol=1e-13)
    np.testing.assert_allclose(run.history, [square(x) for x in expected], rtol=1e-13)
    np.testing.assert_array_equal(run.state, shrink(seen[-1]))
    # |x - shrink(x)| <= tol for the first time at the last visited point
    steps = [np.linalg.norm(x - shrink(x)) for x in expected]
    assert run.converged
    assert run.residual == pytest.approx(steps[-1], rel=1e-12)
    assert steps[-1] <= 1e-8 < steps[-2]


def test_loop_ends_at_max_iter():
    run, _ = passes(shrink, square, max_iter=5)
    assert (run.n_iter, run.converged, len(run.history)) == (5, False, 5)
    assert run.residual > 1e-8


def test_passes_that_are_done_count():
    run, seen = passes(shrink, square, max_iter=5, options={"done": 3})
    assert (run.n_iter, len(seen), len(run.history)) == (5, 2, 2)


def test_tol_zero_ends_at_an_exact_fixed_point():
    run, _ = passes(lambda x: np.floor(x / 2), square, (8.0, 4.0), tol=0)
    assert run.converged
    assert run.n_iter == 5
    np.testing.assert_array_equal(run.state, [0.0, 0.0])


def test_method_without_an_objective():
    run, seen = passes(shrink, lambda x: None)
    assert run.converged
    assert run.history == []
    np.testing.assert_array_equal(run.state, shrink(seen[-1]))


def test_every_pass_is_reported():
    told = []
    report = {"report": lambda run: told.append((run.n_iter, run.residual))}
    _, seen = passes(shrink, square, max_iter=4, options=report)
    assert told == [(t, movement(x, shrink(x), [], UNSCALED)) for t, x in enumerate(seen, 1)]


@pytest.mark.parametrize("sense, sign", [("min", 1), ("max", -1)])
def test_a_run_may_keep_its_best_state(sense, sign):
    """The objective falls to its least at the third state and rises after it."""
    ahead = {"sense": sense, "keeps": "best", "max_iter": 6}
    run, seen = passes(lambda x: x + 1, lambda x: sign * (x[0] - 2) ** 2, (0.0,), **ahead)
    np.testing.assert_array_equal(run.state, seen[2])
    assert (run.n_iter, run.converged) == (6, False)
    run, _ = passes(lambda x: x + 1, lambda x: sign * (x[0] - 2) ** 2, (0.0,), **ahead | {"keeps": "last"})
    np.testing.assert_array_equal(run.state, [6.0])


def test_a_converged_run_keeps_its_fixed_point():
    run, seen = passes(shrink, lambda x: -square(x), keeps="best")  # the objective gets worse all the time
    assert run.converged
    np.testing.assert_array_equal(run.state, shrink(seen[-1]))


# Cycles ---------------------------------------------------------------------------------------------------------------


def step_then_turn(x):
    """Halve the second coordinate down to 1, then turn by a right angle for ever."""
    return np.array([x[0], x[1] / 2]) if abs(x[1]) > 1 else np.array([-x[1], x[0]])


@pytest.mark.parametrize("sense, state, value", [("min", [-1.0, 0.5], -1.0), ("max", [1.0, -0.5], 1.0)])
def test_a_cycle_ends_in_its_best_state(sense, state, value):
    run, seen = passes(step_then_turn, lambda x: x[0], (0.5, 4.0), cycle_key=array_key, sense=sense)
    assert (run.period, run.converged) == (4, False)
    np.testing.assert_array_equal(run.state, state)
    np.testing.assert_array_equal(seen[-1], state)
    assert run.history[-1] == value
    assert run.n_iter == len(seen) == len(run.history)
    # (0.5, 4), (0.5, 2), then each of the four, and again those up to the best one
    assert run.n_iter <= 2 + 4 + 4
    assert len({tuple(x) for x in seen}) == 6


def test_the_better_states_before_a_cycle_do_not_count():
    run, _ = passes(step_then_turn, lambda x: -abs(x[1]), (0.5, 4.0), cycle_key=array_key)
    assert min(run.history) == -4
    assert run.history[-1] == -1


def test_without_an_objective_a_cycle_ends_where_it_begins():
    run, seen = passes(step_then_turn, lambda x: None, (0.5, 4.0), cycle_key=array_key)
    assert (run.period, run.n_iter) == (4, 7)
    np.testing.assert_array_equal(run.state, seen[2])


def test_without_a_key_a_cycle_goes_on_to_the_last_pass():
    run, _ = passes(step_then_turn, lambda x: x[0], (0.5, 4.0), keeps="best", max_iter=50)
    assert (run.n_iter, run.period, run.converged) == (50, 0, False)
    np.testing.assert_array_equal(run.state, [-1.0, 0.5])


def test_a_fixed_point_is_no_cycle():
    run, _ = passes(lambda x: np.floor(x / 2), square, (8.0, 4.0), tol=0, cycle_key=array_key)
    assert (run.converged, run.period) == (True, 0)


# Acceleration ---------------------------------------------------------------------------------------------------------


def test_accelerated_loop_is_shorter():
    (plain, _), (fast, _) = passes(shrink, square), passes(shrink, square, options=ACCELERATED)
    assert fast.converged
    assert fast.n_iter <= 5 < plain.n_iter / 20
    assert np.all(np.diff(fast.history) <= 0)
    np.testing.assert_allclose(fast.state, 0, rtol=0, atol=1e-7)  # |x - shrink(x)| <= tol, and the slow rate is 0.9


@pytest.mark.parametrize("bad", [1e9, np.inf, np.nan])
def test_worse_points_are_rejected(bad):
    """With an objective that punishes every accelerated point the states kept are those of the plain loop."""
    plain, visited = passes(shrink, square)
    iterates = {tuple(x) for x in visited}
    run, seen = passes(shrink, lambda x: square(x) if tuple(x) in iterates else bad, options=ACCELERATED)
    assert len(seen) > len(visited)  # something was tried
    assert run.history == plain.history
    np.testing.assert_array_equal(run.state, plain.state)
    assert run.n_iter == len(seen)
    assert run.converged


def test_maximisation_rejects_smaller_values():
    plain, visited = passes(shrink, lambda x: -square(x), sense="max")
    iterates = {tuple(x) for x in visited}

    def punished(x):
        return -square(x) if tuple(x) in iterates else -1e9

    assert passes(shrink, punished, sense="max", options=ACCELERATED)[0].history == plain.history
    free, _ = passes(shrink, lambda x: -square(x), sense="max", options=ACCELERATED)
    assert free.n_iter <= 5
    assert np.all(np.diff(free.history) >= 0)


def test_interrupted_loop_leaves_a_plain_image():
    """Whatever was being tried, the state of the run is the plain image of the last point kept."""
    seen, run = [], Run(np.array([8.0, -4.0]))

    def step(x):
        seen.append(x)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return shrink(x), square(x)

    with pytest.raises(KeyboardInterrupt):
        iterate(run, step=step, policy=Policy(residual=movement), max_iter=9, tol=0, accelerate=True)
    np.testing.assert_array_equal(run.state, shrink(seen[1]))
    assert len(run.history) == run.n_iter == 2


def test_cheap_passes_start_plain():
    steps = first_mixed(2)
    assert steps > first_mixed(10**9) == 1
    _, plain = passes(shrink, square)
    run, fast = passes(shrink, square, options={"accelerate": True, "first_mixed": steps})
    np.testing.assert_array_equal(fast[:steps], plain[:steps])
    assert steps < run.n_iter < steps + 6 < len(plain)


@pytest.mark.parametrize("rule", [likelihood_change, objective_change])
def test_a_change_of_the_objective_is_judged_after_a_plain_step(rule):
    """Two points of nearly equal objective, one of them accelerated, do not end the loop."""
    settings = {"tol": 1e-10, "options": ACCELERATED, "residual": rule, "by_objective": True}
    run, seen = passes(shrink, lambda x: square(x) + 1, **settings)
    assert run.converged
    np.testing.assert_array_equal(seen[-1], shrink(seen[-2]))
    assert abs(run.history[-1] - run.history[-2]) <= 1e-10


# Joining a better run -------------------------------------------------------------------------------------------------


def centred(constant, start, rival=None, image=lambda V: 0.5 * V, **policy):
    """Halve the centres, whose objective has a constant."""
    policy = {"residual": center_shift, "place": lambda V: V} | policy
    return passes(image, lambda V: square(V) + constant, start, rival, **policy)


@pytest.mark.parametrize("constant", [100.0, 0.0, -1e-5])
def test_run_joins_a_better_one(constant):
    """Whatever constant the objective has."""
    rival, _ = centred(constant, [[1.0, 1.0]])
    run, seen = centred(constant, [[8.0, 8.0]], rival)
    assert run.joined
    assert not run.converged
    assert same_centers(run.state, rival.state, UNSCALED)
    assert not same_centers(seen[-1], rival.state, UNSCALED)  # as soon as it was there
    assert run.n_iter < rival.n_iter


def test_run_does_not_join_a_worse_one():
    rival, _ = centred(101.0, [[1.0, 1.0]])
    run, _ = centred(100.0, [[8.0, 8.0]], rival)
    assert same_centers(run.state, rival.state, UNSCALED)
    assert run.converged  # it was better long before it came there, so it had to find out where it ends
    assert not run.joined
    elsewhere, _ = centred(101.0, [[8.0, 8.0]], rival, image=lambda V: 0.5 * V + 50)
    assert elsewhere.converged
    assert not elsewhere.joined


def test_run_joins_only_where_the_centres_tell_its_end():
    rival, _ = centred(0.0, [[1.0, 1.0]])
    run, _ = centred(0.0, [[8.0, 8.0]], rival, place=None)
    assert run.converged
    assert not run.joined


def test_same_centers():
    V = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    assert same_centers(V, V[[2, 0, 1]] + 0.005, UNSCALED)
    assert not same_centers(V, V[[2, 0, 1]] + 0.1, UNSCALED)
    assert same_centers(V, V[[2, 0, 1]] + 0.1, Unscaled(length=20.0))
    assert not same_centers(V, V[[0, 1, 1]], UNSCALED)  # one centre of the first set has no partner
    assert not same_centers(V[[0, 1, 1]], V, UNSCALED)


# Residuals ------------------------------------------------------------------------------------------------------------


def test_center_shift_is_in_units_of_the_spread():
    old, new = np.zeros((2, 2)), np.array([[3.0, 0.0], [0.0, 4.0]])
    assert center_shift(old, new, [], Unscaled(length=2.0)) == pytest.approx(2.5)
    assert center_shift(old, new, [], UNSCALED) == pytest.approx(5.0)


def test_state_shift_asks_the_state():
    class State(NamedTuple):
        place: float

        def drift(self, old, unit):
            return (self.place - old.place) / unit

    assert state_shift(State(1.0), State(6.0), [], Unscaled(length=2.0)) == pytest.approx(2.5)


def test_likelihood_change():
    assert likelihood_change(None, None, [3.0], UNSCALED) == np.inf
    assert likelihood_change(None, None, [7.0, 3.0, 2.5], UNSCALED) == 0.5
    assert likelihood_change(None, None, [7.0, 3.0, 2.5], Unscaled(total_weight=10.0)) == pytest.approx(
        0.05
    )  # the mean


def test_objective_change():
    assert objective_change(None, None, [3.0]) == np.inf
    assert objective_change(None, None, [7.0, -3.0, -2.5]) == pytest.approx(0.2)
    assert objective_change(None, None, [1e-9, 0.0]) == 1e-9
    assert objective_change(None, None, [0.0, 0.0]) == 0


# Starts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sense, best", [("min", 1), ("max", 2)])
def test_best_start(sense, best):
    assert best_run([], sense) is None
    runs = [Run(None, history, n_iter=len(history)) for history in ([9.0, 5.0], [8.0, 1.0], [0.0, 7.0], [])]
    assert best_run(runs, sense) is runs[best]


@pytest.mark.parametrize("sense, sign", [("min", 1), ("max", -1)])
def test_first_of_equal_starts_is_the_best(sense, sign):
    """Which of two starts that end in the same place is better is a matter of rounding."""
    runs = [Run(None, [sign * last], n_iter=1) for last in (-2.0, -5.0, -5.0 - 1e-13)]
    assert best_run(runs, sense) is runs[1]
    runs.append(Run(None, [sign * (-5.0 - 1e-6)], n_iter=1))
    assert best_run(runs, sense) is runs[3]
    assert best_run([Run(None, n_iter=1)], sense) is not None
    assert best_run([Run(None)], sense) is None


@pytest.mark.parametrize("sense, order", [("min", [5, 3, 4]), ("max", [3, 5, 4])])
def test_each_start_runs_against_the_best_so_far(sense, order):
    rivals, told, runs = [], [], []

    def loop(run, rival):
        rivals.append(None if rival is None else rival.state)
        run.n_iter, run.history = 1, [float(run.state)]

    best = run_starts(order, loop, sense, runs, lambda number, run: told.append((number, run.state)))
    assert best.state == order[1]
    assert rivals == [None, order[0], order[1]]
    assert told == list(enumerate(order, 1))
    assert [run.state for run in runs] == [order[1]]  # the others are not kept


def test_how_a_run_ended():
    assert Run(None).ending == "not converged"
    assert Run(None, converged=True).ending == "converged"
    assert Run(None, joined=True).ending == "joined the best start"
    assert Run(None, period=4).ending == "in a cycle of 4 states"
    run = finished("state")
    assert (run.state, run.history, run.n_iter, run.converged) == ("state", [0.0], 1, True)
