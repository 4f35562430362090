"""The loop as the methods for graphs use it: plain steps, an objective that is compared, several starts."""

from __future__ import annotations

import re
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from soft_clustering.engine.fitting import Fit, not_converged
from soft_clustering.engine.loop import Policy, Run, iterate, objective_change

BY_OBJECTIVE = Policy(sense="max", residual=objective_change, by_objective=True, place=None)


class Model:
    """An estimator as a fit sees it."""

    def __init__(self, *, sense="max", max_iter=10, tol=1e-3, verbose=0):
        self._policy = Policy(sense=sense, residual=objective_change, by_objective=True, place=None)
        self.max_iter, self.tol, self.verbose = max_iter, tol, verbose

    def _forget(self):
        self.__dict__.pop("state_", None)

    def _validate_params(self):
        pass

    def store(self, run):
        self.state_ = run.state
        return not_converged(self, run)


def halves(state):
    return state / 2, 1 + state


def test_passes_end_at_the_tolerance():
    run = Run(1.0)
    iterate(run, step=halves, policy=BY_OBJECTIVE, max_iter=10, tol=0.05)
    assert run.converged
    assert run.history == [2.0, 1.5, 1.25, 1.125, 1.0625, 1.03125]
    assert run.n_iter == 6
    assert run.state == 2.0**-6
    run = Run(1.0)
    iterate(run, step=halves, policy=BY_OBJECTIVE, max_iter=4, tol=0.0)
    assert not run.converged
    assert run.n_iter == 4
    by_state = Policy(residual=lambda old, new, history, scale: abs(old - new), place=None)
    run = Run(1.0)
    iterate(run, step=halves, policy=by_state, max_iter=10, tol=0.3)
    assert run.n_iter == 2


def fit_ready(model, objectives, converged=True):
    """A fit whose starts end at once, at the given objectives."""

    def loop(run, rival):
        run.history, run.n_iter, run.converged, run.residual = [0.0, run.state], 2, converged, 0.5

    with Fit(model) as fit:
        fit.stores(model.store)
        fit.run_starts(objectives, loop)
    return model


@pytest.mark.parametrize("sense, best", [("max", 5.0), ("min", 1.0)])
def test_the_best_start_counts(sense, best):
    model = fit_ready(Model(sense=sense), [2.0, 5.0, 1.0])
    assert model.state_ == model.objective_ == best
    np.testing.assert_array_equal(model.objective_history_, [0.0, best])
    assert model.converged_


def test_too_few_passes_are_told():
    with pytest.warns(ConvergenceWarning, match=re.escape("Model did not converge in max_iter=10 passes (last change")):
        fit_ready(Model(), [1.0, 1.0], converged=False)


@pytest.mark.parametrize("asked_for", [{"max_iter": 1}, {"tol": None}])
def test_a_number_of_passes_is_what_was_asked_for(asked_for):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not fit_ready(Model(**asked_for), [1.0], converged=False).converged_


def test_a_method_without_tolerance_is_told_no_change():
    model = Model()
    del model.tol
    with pytest.warns(ConvergenceWarning, match="passes. Increase max_iter or tol"):
        fit_ready(model, [1.0], converged=False)


@pytest.mark.parametrize("second, kept, n_iter", [(0.0, 6.0, 3), (9.0, 10.0, 1)])
def test_an_interrupt_keeps_the_better_of_the_finished_and_the_present_start(second, kept, n_iter):
    """The first start makes three passes, the second one is interrupted in its second pass."""
    model, passes = Model(tol=0.0), []

    def step(state):
        passes.append(state)
        if len(passes) == 5:
            raise KeyboardInterrupt
        return state + 1, state

    def fit():
        with Fit(model) as fit:
            fit.stores(model.store)
            fit.run_starts([3.0, second], partial(iterate, step=step, policy=BY_OBJECTIVE, max_iter=3, tol=0.0))

    with pytest.raises(KeyboardInterrupt):
        fit()
    assert model.state_ == kept
    assert model.n_iter_ == n_iter


def test_a_fit_without_iterations_needs_no_policy():
    model = Model()
    del model._policy
    with pytest.warns(ConvergenceWarning, match="of one kind"), Fit(model) as fit:
        fit.warn("the rows are of one kind")
