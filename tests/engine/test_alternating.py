"""The loop: stopping, history, safeguarded acceleration, starts, what is stored and what is said."""

import re
import warnings
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state

from soft_clustering import FCM
from soft_clustering.engine import alternating
from soft_clustering.engine.alternating import (
    AlternatingClusterer,
    Run,
    Starts,
    alternate,
    best_run,
    center_shift,
    collapse,
    likelihood_change,
    new_centers,
    objective_change,
    same_centers,
    state_shift,
)
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.kernels.centers import CenterStatistics

IRIS = load_iris().data
ONE_ROW = make_blocks(np.array([[0.0, 0.0], [2.0, 2.0]]))  # mean variance 1 in its frame


class Map:
    """A model for ``alternate``: a map of vectors with an objective, and a record of the states it saw."""

    _to_vector = staticmethod(lambda state: state)
    _from_vector = staticmethod(lambda vector, like: vector)
    _place = AlternatingClusterer._place
    _residual = staticmethod(lambda old, new, history, blocks: float(np.linalg.norm(new - old)))
    _objective_sense = "min"
    _K, verbose = 10**9, 0  # so much work that acceleration starts at once

    def __init__(self, image, objective, *, accelerate=False, tol=1e-8, max_iter=1000, **others):
        self.image, self.value, self.seen = image, objective, []
        self.accelerate, self.tol, self.max_iter = accelerate, tol, max_iter
        vars(self).update(others)

    def _statistics(self, block, state):
        self.seen.append(state)
        return state

    def _objective(self, statistics, blocks):
        return self.value(statistics)

    def _update(self, state, statistics, blocks):
        return self.image(state)

    def run(self, start=(8.0, -4.0), rival=None):
        run = Run(np.array(start))
        alternate(self, ONE_ROW, run, rival)
        return run


RATES = np.array([0.5, 0.9])


def shrink(x):
    return RATES * x


def square(x):
    return float(x @ x)


# The plain loop -------------------------------------------------------------------------------------------------------


def test_plain_loop_visits_the_iterates():
    model = Map(shrink, square)
    run = model.run()
    expected = [np.array([8.0, -4.0]) * RATES**t for t in range(run.n_iter)]
    np.testing.assert_allclose(model.seen, expected, rtol=1e-13)
    np.testing.assert_allclose(run.history, [square(x) for x in expected], rtol=1e-13)
    np.testing.assert_array_equal(run.state, shrink(model.seen[-1]))
    # |x - shrink(x)| <= tol for the first time at the last visited point
    steps = [np.linalg.norm(x - shrink(x)) for x in expected]
    assert run.converged
    assert run.residual == pytest.approx(steps[-1], rel=1e-12)
    assert steps[-1] <= model.tol < steps[-2]


def test_loop_ends_at_max_iter():
    run = Map(shrink, square, max_iter=5).run()
    assert (run.n_iter, run.converged, len(run.history)) == (5, False, 5)
    assert run.residual > 1e-8


def test_tol_zero_ends_at_an_exact_fixed_point():
    run = Map(lambda x: np.floor(x / 2), square, tol=0).run((8.0, 4.0))
    assert run.converged
    assert run.n_iter == 5
    np.testing.assert_array_equal(run.state, [0.0, 0.0])


# Cycles ---------------------------------------------------------------------------------------------------------------


def step_then_turn(x):
    """Halve the second coordinate down to 1, then turn by a right angle for ever."""
    return np.array([x[0], x[1] / 2]) if abs(x[1]) > 1 else np.array([-x[1], x[0]])


@pytest.mark.parametrize("sense, state, value", [("min", [-1.0, 0.5], -1.0), ("max", [1.0, -0.5], 1.0)])
def test_a_cycle_ends_in_its_best_state(sense, state, value):
    model = Map(step_then_turn, lambda x: x[0], _may_cycle=True, _objective_sense=sense)
    run = model.run((0.5, 4.0))
    assert (run.period, run.converged) == (4, False)
    np.testing.assert_array_equal(run.state, state)
    np.testing.assert_array_equal(model.seen[-1], state)
    assert run.history[-1] == value
    assert run.n_iter == len(model.seen) == len(run.history)
    # (0.5, 4), (0.5, 2), then each of the four, and again those up to the best one
    assert run.n_iter <= 2 + 4 + 4
    assert len({tuple(x) for x in model.seen}) == 6


def test_the_better_states_before_a_cycle_do_not_count():
    model = Map(step_then_turn, lambda x: -abs(x[1]), _may_cycle=True)
    run = model.run((0.5, 4.0))
    assert min(run.history) == -4
    assert run.history[-1] == -1


def test_without_the_mark_a_cycle_goes_on_to_the_last_pass():
    run = Map(step_then_turn, lambda x: x[0], _keeps_best=True, max_iter=50).run((0.5, 4.0))
    assert (run.n_iter, run.period, run.converged) == (50, 0, False)
    np.testing.assert_array_equal(run.state, [-1.0, 0.5])


def test_a_fixed_point_is_no_cycle():
    run = Map(lambda x: np.floor(x / 2), square, tol=0, _may_cycle=True).run((8.0, 4.0))
    assert (run.converged, run.period) == (True, 0)


# Acceleration ---------------------------------------------------------------------------------------------------------


def test_accelerated_loop_is_shorter():
    plain, fast = Map(shrink, square).run(), Map(shrink, square, accelerate=True).run()
    assert fast.converged
    assert fast.n_iter <= 5 < plain.n_iter / 20
    assert np.all(np.diff(fast.history) <= 0)
    np.testing.assert_allclose(fast.state, 0, rtol=0, atol=1e-7)  # |x - shrink(x)| <= tol, and the slow rate is 0.9


@pytest.mark.parametrize("bad", [1e9, np.inf, np.nan])
def test_worse_points_are_rejected(bad):
    """With an objective that punishes every accelerated point the states kept are those of the plain loop."""
    plain = Map(shrink, square)
    plain_run = plain.run()
    iterates = {tuple(x) for x in plain.seen}
    model = Map(shrink, lambda x: square(x) if tuple(x) in iterates else bad, accelerate=True)
    run = model.run()
    assert len(model.seen) > len(plain.seen)  # something was tried
    assert run.history == plain_run.history
    np.testing.assert_array_equal(run.state, plain_run.state)
    assert run.n_iter == len(model.seen)
    assert run.converged


def test_maximisation_rejects_smaller_values():
    plain = Map(shrink, lambda x: -square(x), _objective_sense="max")
    plain_run = plain.run()
    iterates = {tuple(x) for x in plain.seen}
    model = Map(shrink, lambda x: -square(x) if tuple(x) in iterates else -1e9, _objective_sense="max", accelerate=True)
    assert model.run().history == plain_run.history
    free = Map(shrink, lambda x: -square(x), _objective_sense="max", accelerate=True).run()
    assert free.n_iter <= 5
    assert np.all(np.diff(free.history) >= 0)


def test_interrupted_loop_leaves_a_plain_image():
    """Whatever was being tried, the state of the run is the plain image of the last point kept."""
    model = Map(shrink, square, accelerate=True)

    def statistics(block, state):
        model.seen.append(state)
        if len(model.seen) == 3:
            raise KeyboardInterrupt
        return state

    model._statistics = statistics
    run = Run(np.array([8.0, -4.0]))
    with pytest.raises(KeyboardInterrupt):
        alternate(model, ONE_ROW, run)
    np.testing.assert_array_equal(run.state, shrink(model.seen[1]))
    assert len(run.history) == 2


def test_cheap_passes_start_plain():
    plain = Map(shrink, square, _K=1)
    fast = Map(shrink, square, _K=1, accelerate=True)
    plain.run()
    run = fast.run()
    steps = alternating._PLAIN_STEPS
    np.testing.assert_array_equal(fast.seen[:steps], plain.seen[:steps])
    assert steps < run.n_iter < steps + 6 < len(plain.seen)


@pytest.mark.parametrize("rule", [likelihood_change, objective_change])
def test_a_change_of_the_objective_is_judged_after_a_plain_step(rule):
    """Two points of nearly equal objective, one of them accelerated, do not end the loop."""
    model = Map(shrink, lambda x: square(x) + 1, _residual=rule, tol=1e-10, accelerate=True)
    run = model.run()
    assert run.converged
    np.testing.assert_array_equal(model.seen[-1], shrink(model.seen[-2]))
    assert abs(run.history[-1] - run.history[-2]) <= 1e-10


class Pair(NamedTuple):
    matrix: np.ndarray
    number: float


def test_vectors_of_states():
    model = AlternatingClusterer()
    state = Pair(np.arange(6.0).reshape(2, 3), 7.0)
    np.testing.assert_array_equal(model._to_vector(state), np.arange(8.0)[[0, 1, 2, 3, 4, 5, 7]])
    again = model._from_vector(model._to_vector(state), state)
    assert isinstance(again, Pair)
    np.testing.assert_array_equal(again.matrix, state.matrix)
    assert again.number == 7.0
    np.testing.assert_array_equal(model._from_vector(model._to_vector(state.matrix), state.matrix), state.matrix)


# Joining a better run -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [100.0, 0.0, -1e-5])
def test_run_joins_a_better_one(constant):
    """Whatever constant the objective has."""
    options = {"_residual": center_shift, "_to_vector": np.ravel}
    rival = Map(lambda V: 0.5 * V, lambda V: float((V * V).sum()) + constant, **options).run([[1.0, 1.0]])
    model = Map(lambda V: 0.5 * V, lambda V: float((V * V).sum()) + constant, **options)
    run = model.run([[8.0, 8.0]], rival)
    assert run.joined
    assert not run.converged
    assert same_centers(run.state, rival.state, ONE_ROW)
    assert not same_centers(model.seen[-1], rival.state, ONE_ROW)  # as soon as it was there
    assert run.n_iter < rival.n_iter


def test_run_does_not_join_a_worse_one():
    options = {"_residual": center_shift, "_to_vector": np.ravel}
    rival = Map(lambda V: 0.5 * V, lambda V: float((V * V).sum()) + 101, **options).run([[1.0, 1.0]])
    run = Map(lambda V: 0.5 * V, lambda V: float((V * V).sum()) + 100, **options).run([[8.0, 8.0]], rival)
    assert same_centers(run.state, rival.state, ONE_ROW)
    assert run.converged  # it was better long before it came there, so it had to find out where it ends
    assert not run.joined
    elsewhere = Map(lambda V: 0.5 * V + 50, lambda V: float((V * V).sum()) + 101, **options).run([[8.0, 8.0]], rival)
    assert elsewhere.converged
    assert not elsewhere.joined


def test_same_centers():
    V = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    blocks = SimpleNamespace(mean_variance=1.0)
    assert same_centers(V, V[[2, 0, 1]] + 0.005, blocks)
    assert not same_centers(V, V[[2, 0, 1]] + 0.1, blocks)
    assert not same_centers(V, V[[0, 1, 1]], blocks)  # one centre of the first set has no partner
    assert not same_centers(V[[0, 1, 1]], V, blocks)


# Stopping rules -------------------------------------------------------------------------------------------------------


def test_center_shift_is_in_units_of_the_spread():
    old, new = np.zeros((2, 2)), np.array([[3.0, 0.0], [0.0, 4.0]])
    assert center_shift(old, new, [], SimpleNamespace(mean_variance=4.0)) == pytest.approx(2.5)
    assert center_shift(old, new, [], SimpleNamespace(mean_variance=0.0)) == pytest.approx(5.0)


def test_state_shift_asks_the_state():
    class State(NamedTuple):
        place: float

        def drift(self, old, unit):
            return (self.place - old.place) / unit

    for variance, expected in ((4.0, 2.5), (0.0, 5.0)):
        shift = state_shift(State(1.0), State(6.0), [], SimpleNamespace(mean_variance=variance))
        assert shift == pytest.approx(expected)


def test_likelihood_change():
    assert likelihood_change(None, None, [3.0], None) == np.inf
    assert likelihood_change(None, None, [7.0, 3.0, 2.5], None) == 0.5


def test_objective_change():
    assert objective_change(None, None, [3.0]) == np.inf
    assert objective_change(None, None, [7.0, -3.0, -2.5]) == pytest.approx(0.2)
    assert objective_change(None, None, [1e-9, 0.0]) == 1e-9
    assert objective_change(None, None, [0.0, 0.0]) == 0


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_stopping_is_scale_free(scale):
    model = FCM(3, m=2, init=IRIS[[0, 60, 120]] * scale).fit(IRIS * scale)
    assert model.n_iter_ == FCM(3, m=2, init=IRIS[[0, 60, 120]]).fit(IRIS).n_iter_


# New centres ----------------------------------------------------------------------------------------------------------


def test_new_centers():
    V = np.zeros((2, 2))
    statistics = CenterStatistics(np.array([2.0, 4.0]), np.array([[2.0, 4.0], [4.0, 0.0]]), 0.0, 1.0, None)
    np.testing.assert_array_equal(new_centers(V, statistics), [[1.0, 2.0], [1.0, 0.0]])


def test_new_centers_of_empty_clusters():
    V = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    weight, total = np.array([0.0, 2.0, 1e-300]), np.array([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]])
    statistics = CenterStatistics(weight, total, 5.0, 4.0, np.array([9.0, 8.0]))
    # The first empty one moves, the other waits for its turn.
    np.testing.assert_array_equal(new_centers(V, statistics), [[9.0, 8.0], [1.0, 2.0], [3.0, 3.0]])
    np.testing.assert_array_equal(V, [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


def test_new_centers_where_all_rows_are_covered():
    V = np.array([[1.0, 1.0], [2.0, 2.0]])
    statistics = CenterStatistics(np.array([0.0, 2.0]), np.array([[0.0, 0.0], [4.0, 4.0]]), 0.0, 0.0, np.zeros(2))
    np.testing.assert_array_equal(new_centers(V, statistics), [[1.0, 1.0], [2.0, 2.0]])


# Warnings -------------------------------------------------------------------------------------------------------------


SQUARE = make_blocks(np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]))
HARD = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
TWINS = np.array([[0.8, 0.1, 0.1], [0.2, 0.4, 0.4], [0.4, 0.305, 0.295]])  # the last two columns are the same cluster


@pytest.mark.parametrize(
    "V, memberships, message",
    [
        ([[0.0, 0], [1e-4, 0], [0, 1e-4]], HARD, "NAME collapsed: the prototypes coincide; the remedy"),
        ([[0.0, 0], [1, 0], [0, 1]], [[0.334, 0.333, 0.333], [0.333, 0.334, 0.333]], "NAME collapsed: all samples"),
        ([[0.0, 0], [1, 0], [0, 1]], [[0.25, 0.35, 0.4]] * 4, "NAME collapsed: all samples .*; the remedy"),
        ([[0.0, 0], [1, 0], [1, 0]], HARD, "NAME found 2 distinct prototypes, fewer than n_clusters=3"),
        ([[0.0, 0], [1, 0], [1 + 1e-7, 0]], HARD, "NAME found 2 distinct prototypes"),
        ([[0.0, 0], [1, 0], [1 + 9e-3, 0]], TWINS, "NAME found 2 distinct prototypes.*; the remedy"),
    ],
)
def test_collapse_is_said(V, memberships, message):
    (complaint,) = collapse("NAME", np.array(V), np.array(memberships), SQUARE, "the remedy")
    assert re.match(message, complaint)


@pytest.mark.parametrize(
    "V, memberships",
    [
        ([[0.0, 0], [1, 0], [0, 1]], HARD),
        ([[0.0, 0], [1, 0], [1.001, 0]], HARD),  # near, but with rows of their own
        ([[0.0, 0], [1, 0], [1 + 11e-3, 0]], TWINS),  # the same rows, but not in the same place
        ([[0.0, 0.0]], [[1.0]]),
    ],
)
def test_nothing_is_said_of_a_good_fit(V, memberships):
    assert collapse("NAME", np.array(V), np.array(memberships), SQUARE, "the remedy") == []


def test_a_coarse_tolerance_tells_less_apart():
    V = np.array([[0.0, 0], [1, 0], [1 + 0.05, 0]])
    assert collapse("NAME", V, TWINS, SQUARE, "the remedy", tol=1e-4) == []
    (complaint,) = collapse("NAME", V, TWINS, SQUARE, "the remedy", tol=1e-3)
    assert complaint.startswith("NAME found 2 distinct prototypes")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_duplicates_are_named_as_the_cause(container):
    X = np.repeat([[0.0, 0.0], [1.0, 2.0]], 5, axis=0)
    (complaint,) = collapse("NAME", np.eye(3)[[0, 1, 1]], HARD, make_blocks(container(X)), "the remedy")
    assert complaint.endswith("X has duplicates and only 2 distinct samples: use fewer clusters")


def test_twins_in_dask_arrays():
    dask_array = pytest.importorskip("dask.array")
    V = np.array([[0.0, 0], [1, 0], [1 + 9e-3, 0]])
    for memberships, said in (
        (TWINS, "found 2 distinct"),
        (np.full((4, 3), [0.2, 0.3, 0.5]), "collapsed: all samples"),
    ):
        (complaint,) = collapse("NAME", V, dask_array.from_array(memberships, chunks=(1, -1)), SQUARE, "the remedy")
        assert complaint.startswith(f"NAME {said}")


def test_one_pass_is_no_failure_to_converge():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FCM(3, max_iter=1, random_state=0).fit(IRIS)
    assert not model.converged_
    assert model.n_iter_ == 1


@pytest.mark.parametrize("parameters", [{"max_iter": 2}, {"n_clusters": 10, "m": 2.0}])
def test_warnings_point_at_the_call_of_fit(parameters):
    X = make_blobs(200, 40, centers=3, cluster_std=20, random_state=0)[0]
    with pytest.warns(ConvergenceWarning) as record:
        FCM(**parameters, random_state=0).fit(X)
    assert {warning.filename for warning in record} == {__file__}


# Starts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sense, best", [("min", 1), ("max", 2)])
def test_best_start(sense, best):
    starts = Starts(SimpleNamespace(_objective_sense=sense), ONE_ROW, check_random_state(0))
    assert starts.best is None
    starts.runs = [Run(None, history, n_iter=len(history)) for history in ([9.0, 5.0], [8.0, 1.0], [0.0, 7.0], [])]
    assert starts.best is starts.runs[best]


@pytest.mark.parametrize("sense, sign", [("min", 1), ("max", -1)])
def test_first_of_equal_starts_is_the_best(sense, sign):
    """Which of two starts that end in the same place is better is a matter of rounding."""
    runs = [Run(None, [sign * last], n_iter=1) for last in (-2.0, -5.0, -5.0 - 1e-13)]
    assert best_run(runs, sense) is runs[1]
    runs.append(Run(None, [sign * (-5.0 - 1e-6)], n_iter=1))
    assert best_run(runs, sense) is runs[3]
    assert best_run([Run(None, n_iter=1)], sense) is not None
    assert best_run([Run(None)], sense) is None


def test_number_of_starts(monkeypatch):
    drawn = []
    original = FCM._init_state
    monkeypatch.setattr(FCM, "_init_state", lambda self, *args: drawn.append(1) or original(self, *args))
    for init, n_init, expected in (
        ("k-means++", 4, 4),
        ("random", 3, 3),
        (lambda X, K, rng: X[:K], 2, 2),
        (IRIS[:3], 5, 1),
        (IRIS[:3].tolist(), 5, 1),
    ):
        drawn.clear()
        FCM(3, init=init, n_init=n_init, random_state=0).fit(IRIS)
        assert len(drawn) == expected


# The estimator around the loop ----------------------------------------------------------------------------------------


class Upside(FCM):
    """Fuzzy c-means as a maximisation."""

    _objective_sense = "max"

    def _objective(self, statistics, blocks):
        return -statistics.objective


def test_maximised_objective():
    model, mirrored = (cls(3, m=2, n_init=3, init="random", random_state=0).fit(IRIS) for cls in (FCM, Upside))
    np.testing.assert_array_equal(mirrored.memberships_, model.memberships_)
    assert mirrored.objective_ == -model.objective_
    np.testing.assert_array_equal(mirrored.objective_history_, -model.objective_history_)
    assert mirrored.score(IRIS) == pytest.approx(mirrored.objective_, rel=1e-14, abs=0)


def test_fit_returns_itself_and_forgets_the_last_fit():
    model = FCM(3, random_state=0)
    assert model.fit(IRIS) is model
    first = model.memberships_
    other = IRIS[::2, :2]
    model.fit(other)
    assert model.memberships_.shape == (75, 3)
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.fit(IRIS).memberships_, first)


def test_y_is_ignored():
    model, labelled = FCM(3, random_state=0).fit(IRIS), FCM(3, random_state=0).fit(IRIS, np.arange(150))
    np.testing.assert_array_equal(labelled.memberships_, model.memberships_)
    assert labelled.score(IRIS, np.arange(150)) == model.score(IRIS)


def test_failed_fit_is_no_fit():
    model = FCM(3, init=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="init must have shape"):
        model.fit(IRIS)
    with pytest.raises(NotFittedError):
        model.predict(IRIS)


def test_failed_fit_ends_an_earlier_one():
    model = FCM(3, random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="init must have shape"):
        model.set_params(init=np.zeros((2, 2))).fit(IRIS)
    with pytest.raises(NotFittedError):
        model.predict(IRIS)
    assert not hasattr(model, "memberships_")


@pytest.mark.parametrize("method", ["predict", "predict_memberships", "predict_proba", "transform", "score"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError):
        getattr(FCM(), method)(IRIS)


def test_prediction_checks_the_features():
    model = FCM(random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="X has 3 features, but FCM is expecting 4 features"):
        model.predict(IRIS[:, :3])


def test_methods_must_be_written():
    model = AlternatingClusterer()
    for call in (
        lambda: model._init_state(None, None),
        lambda: model._statistics(None, None),
        lambda: model._update(None, None, None),
        lambda: model._memberships(None, None),
    ):
        with pytest.raises(NotImplementedError):
            call()
