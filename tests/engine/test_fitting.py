"""The context of a fit: what it drops, keeps, stores and says."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from soft_clustering import FCM
from soft_clustering.base import BaseSoftClusterer
from soft_clustering.engine.fitting import Fit, not_converged, plural
from soft_clustering.engine.loop import Policy, Run

IRIS = load_iris().data


class Model(BaseSoftClusterer):
    """An estimator whose fit is a body given by the test."""

    _policy = Policy()
    _parameter_constraints = {"verbose": ["verbose"]}  # noqa: RUF012

    def __init__(self, verbose=0):
        self.verbose = verbose

    def fit(self, body, complaints=(), units=lambda J: J):
        with Fit(self) as fit:

            def store(run):
                self.state_ = run.state
                return complaints

            fit.stores(store, units)
            body(fit)
        return self


class Upside(Model):
    _policy = Policy(sense="max")


def add_runs(fit):
    fit.runs += [Run("worse", [9.0, 5.0], n_iter=2), Run("better", [7.0, 3.0, 2.0], n_iter=3, converged=True)]


def interrupted(fit):
    add_runs(fit)
    raise KeyboardInterrupt


def failing(fit):
    add_runs(fit)
    raise RuntimeError("it failed")


def test_the_best_run_is_stored_and_recorded():
    model = Model().fit(add_runs, units=lambda J: 10 * J)
    assert (model.state_, model.n_iter_, model.converged_) == ("better", 3, True)
    np.testing.assert_array_equal(model.objective_history_, [70, 30, 20])
    assert model.objective_ == 20
    assert Upside().fit(add_runs).state_ == "worse"


def test_store_may_add_the_final_objective():
    class Final(Model):
        def fit(self):
            with Fit(self) as fit:
                fit.stores(lambda run: run.history.append(1.0) or [])
                add_runs(fit)
            return self

    assert Final().fit().objective_ == 1.0


def test_a_method_without_objective_has_no_history():
    model = Model().fit(lambda fit: fit.runs.append(Run("state", n_iter=4)))
    assert (model.n_iter_, model.converged_) == (4, False)
    assert not hasattr(model, "objective_")
    assert not hasattr(model, "objective_history_")


def test_an_interrupted_fit_keeps_its_best_run_and_does_not_complain():
    model = Model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            model.fit(interrupted, complaints=["something"])
    assert model.state_ == "better"
    assert model.n_iter_ == 3


def test_a_fit_interrupted_before_its_first_pass_is_no_fit():
    def body(fit):
        fit.runs.append(Run("begun", n_iter=0))
        raise KeyboardInterrupt

    model = Model().fit(add_runs)
    with pytest.raises(KeyboardInterrupt):
        model.fit(body)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    model = Model().fit(add_runs)
    with pytest.raises(RuntimeError, match="it failed"):
        model.fit(failing)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_parameters_are_checked_first():
    model = Model().fit(add_runs)
    with pytest.raises(ValueError, match="'verbose' parameter of Model must be"):
        model.set_params(verbose="loud").fit(add_runs)
    assert not hasattr(model, "state_")


def test_a_fit_holds_blas_to_one_thread():
    seen = []

    def body(fit):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        add_runs(fit)

    with threadpool_limits(2):  # also where the environment allows one
        Model().fit(body)
    assert set(seen) == {1}


@pytest.mark.parametrize("body, error", [(add_runs, None), (interrupted, KeyboardInterrupt), (failing, RuntimeError)])
def test_contexts_hold_until_the_run_is_stored(body, error):
    events = []

    @contextmanager
    def context():
        events.append("entered")
        try:
            yield "value"
        finally:
            events.append("left")

    class Storing(Model):
        def fit(self):
            with Fit(self) as fit:
                fit.stores(lambda run: events.append("stored") or [])
                assert fit.enter(context()) == "value"
                body(fit)

    if error is None:
        Storing().fit()
    else:
        with pytest.raises(error):
            Storing().fit()
    assert events == (["entered", "left"] if error is RuntimeError else ["entered", "stored", "left"])


def test_complaints_are_warnings_of_the_caller():
    def body(fit):
        add_runs(fit)
        fit.warn("of the body")

    with pytest.warns(ConvergenceWarning) as record:
        Model().fit(body, complaints=["of the store"])
    assert [str(warning.message) for warning in record] == ["of the body", "of the store"]


@pytest.mark.parametrize("parameters", [{"max_iter": 2}, {"n_clusters": 10, "m": 2.0}])
def test_warnings_point_at_the_call_of_fit(parameters):
    X = make_blobs(200, 40, centers=3, cluster_std=20, random_state=0)[0]
    with pytest.warns(ConvergenceWarning) as record:
        FCM(**parameters, random_state=0).fit(X)
    assert {warning.filename for warning in record} == {__file__}


# What is printed ------------------------------------------------------------------------------------------------------


def shown(model, capsys, unit="pass"):
    """What a fit of two starts with two passes each prints, by lines."""

    def loop(run, rival):
        for objective in (8.0, 4.0):
            run.history.append(objective)
            run.n_iter, run.residual = run.n_iter + 1, objective / 100
            model.fitting.report(run)
        run.converged = True

    def body(fit):
        model.fitting, fit.unit = fit, unit
        fit.run_starts(["first", "second"], loop)

    model.fit(body, units=lambda J: 10 * J)
    return capsys.readouterr().out.splitlines()


def test_verbose_levels(capsys):
    assert shown(Model(), capsys) == []
    assert shown(Model(verbose=1), capsys) == [
        "Model start 1: objective 40, 2 passes, converged",
        "Model start 2: objective 40, 2 passes, converged",
    ]
    lines = shown(Model(verbose=2), capsys, unit="epoch")
    assert lines[:3] == [
        "Model epoch 1: objective 80, change 0.08",
        "Model epoch 2: objective 40, change 0.04",
        "Model start 1: objective 40, 2 epochs, converged",
    ]
    assert len(lines) == 6


def test_plural():
    assert [plural(noun) for noun in ("pass", "epoch", "sweep")] == ["passes", "epochs", "sweeps"]


# The sentence of non-convergence --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "run, parameters, words, sentence",
    [
        (Run(None, converged=True), {"max_iter": 9}, {}, None),
        (Run(None, residual=0.5), {"max_iter": 1}, {}, None),  # as asked for
        (
            Run(None, residual=0.123),
            {"max_iter": 9},
            {},
            "FCM did not converge in max_iter=9 passes (last change 0.12, tol=1e-05). Increase max_iter or tol.",
        ),
        (
            Run(None),
            {"n_init": 7},
            {"limit": "n_init", "passes": "sweeps", "remedy": "use fewer clusters"},
            "FCM did not converge in n_init=7 sweeps. Increase n_init or use fewer clusters.",
        ),
        (
            Run(None, n_iter=12, period=4),
            {"max_iter": 90},
            {},
            "FCM did not converge: after 12 passes it goes round in a cycle of 4 states. More passes change nothing.",
        ),
    ],
)
def test_non_convergence_is_said_in_one_sentence(run, parameters, words, sentence):
    assert not_converged(FCM(**parameters), run, **words) == ([] if sentence is None else [sentence])


def test_one_pass_is_no_failure_to_converge():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FCM(3, max_iter=1, random_state=0).fit(IRIS)
    assert not model.converged_
    assert model.n_iter_ == 1
