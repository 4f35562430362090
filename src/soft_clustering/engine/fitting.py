"""One call of ``fit``: what every estimator does before, around and after its own work."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from numbers import Integral
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._progress import StatusLine, rate_of
from .loop import Run, best_run, itself, run_starts
from .threads import single_threaded_blas

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: What a long fit is doing, with verbose=1.
_STATUS = StatusLine()

S = TypeVar("S")
C = TypeVar("C")


class Fit(Generic[S]):
    """A context around the work of ``fit``.

    On entry it drops what an earlier fit left, checks the parameters, and holds BLAS to one thread. On exit it stores
    the best of ``runs``, also if the fit was interrupted, and gives the warnings. Whenever a fit raises, it leaves the
    estimator unfitted.

    Parameters
    ----------
    model : estimator
        Its ``_policy`` says which objectives are better, its ``verbose`` what is printed.

    Attributes
    ----------
    runs : list of Run
        The runs of which the best is kept; if the fit is interrupted, this may be an unfinished one.
    unit : str
        What ``n_iter`` counts, for messages.
    """

    def __init__(self, model: BaseEstimator) -> None:
        self.model = model
        self.runs: list[Run[S]] = []
        self._contexts = ExitStack()
        self._complaints: list[str] = []
        self._store: Callable[[Run[S]], Iterable[str]] | None = None
        self._units: Callable[[Any], Any] = itself
        self.unit = "pass"

    def __enter__(self) -> Fit[S]:
        self.model._forget()
        self.model._validate_params()
        if self.model.verbose:
            _STATUS.begin()
        self.enter(single_threaded_blas())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _STATUS.clear()
        with self._contexts:
            with ExitStack() as failed:
                failed.callback(self.model._forget)  # the data may fail at the last look at them, too
                if kind is None or issubclass(kind, KeyboardInterrupt):
                    best = self.best
                    if self._store is not None and best is not None:
                        self._complaints += self._store(best)
                        record(self.model, best, self._units)
                    failed.pop_all()
            if kind is None:
                for complaint in self._complaints:
                    warnings.warn(complaint, ConvergenceWarning, stacklevel=_outside())

    def enter(self, context: AbstractContextManager[C]) -> C:
        """Enter a context that is left after the best run is stored."""
        return self._contexts.enter_context(context)

    def stores(
        self,
        store: Callable[[Run[S]], Iterable[str]],
        units: Callable[[Any], Any] = itself,
    ) -> None:
        """Set how the best run is stored.

        Parameters
        ----------
        store : callable
            Sets the fitted attributes from a run and gives what to warn of; it may change the run's history.
        units : callable, default=itself
            Converts objectives of a run's history, one or an array, to the objective in input units.
        """
        self._store, self._units = store, units

    def warn(self, complaint: str) -> None:
        """Give this warning after the fit."""
        self._complaints.append(complaint)

    @property
    def best(self) -> Run[S] | None:
        """The run of best objective so far, None before the first pass."""
        return best_run(self.runs, self.model._policy.sense) if self.runs else None

    def run_starts(self, states: Iterable[S], loop: Callable[[Run[S], Run[S] | None], None]) -> Run[S]:
        """Run a loop from each state, and give the best run."""
        return run_starts(states, loop, self.model._policy.sense, self.runs, self.report_start)

    def report(self, run: Run[S]) -> None:
        """Print a line about a pass, with verbose=2; with verbose=1 show the pass if the start takes long."""
        verbose = self.model.verbose
        if verbose > 1 or (verbose and _STATUS.is_due):
            how_far = f"{self.unit} {run.n_iter}" if verbose > 1 else self._how_far(run.n_iter)
            say(self.model, f"{how_far}: {self._objective(run)}change {run.residual:.3g}", level=2)

    def report_start(self, number: int, run: Run[S]) -> None:
        """Print a line about a start that has ended, with verbose=1."""
        if self.model.verbose:
            say(self.model, f"start {number}: {self._objective(run)}{run.n_iter} {plural(self.unit)}, {run.ending}")
            _STATUS.begin()

    def _how_far(self, n_iter: int) -> str:
        """Say how many passes a start has made, and how long it will take at most."""
        most = getattr(self.model, "max_iter", None)
        if not isinstance(most, Integral) or most < n_iter:  # in another unit
            return f"{self.unit} {n_iter}"
        rate = rate_of(n_iter, int(most), time.monotonic() - _STATUS.start, plural(self.unit))
        return f"{self.unit} {n_iter} of at most {most} ({rate} at most)"

    def _objective(self, run: Run[S]) -> str:
        return f"objective {self._units(run.history[-1]):.8g}, " if run.history else ""


def record(model: BaseEstimator, run: Run[Any], units: Callable[[Any], Any] = itself) -> None:
    """Set the fitted attributes that every iterating method has."""
    model.n_iter_, model.converged_ = run.n_iter, run.converged
    if run.history:
        with np.errstate(over="ignore"):  # the objective of entries near the largest float is infinite
            model.objective_history_ = units(np.array(run.history, dtype=np.float64))
        model.objective_ = float(model.objective_history_[-1])


def say(model: BaseEstimator, text: str, level: int = 1) -> None:
    """Print a line about a model, if its ``verbose`` is at least this.

    A line that needs a higher ``verbose`` than 1 is shown for a moment if the fit takes long, on a terminal or in a
    notebook: the next one takes its place.
    """
    if model.verbose >= level:
        _STATUS.clear()
        print(f"{type(model).__name__} {text}")
    elif model.verbose and _STATUS.is_due:
        _STATUS.show(f"{type(model).__name__} {text}")


def plural(noun: str) -> str:
    """The plural of what a fit counts."""
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def not_converged(
    model: BaseEstimator, run: Run[Any], limit: str = "max_iter", passes: str = "passes", remedy: str = "tol"
) -> list[str]:
    """The warning about a run that did not converge; none if it did, or if the user asked for a number of passes.

    The user asks for a number of passes by a limit of 1 or by ``tol=None``.

    Parameters
    ----------
    model : estimator
    run : Run
    limit : str, default="max_iter"
        The parameter that ended the run.
    passes : str, default="passes"
        What it counts.
    remedy : str, default="tol"
        What else to increase; empty if nothing helps but the limit.
    """
    most, tol = getattr(model, limit), getattr(model, "tol", np.nan)
    if run.converged or most == 1 or tol is None:
        return []
    name = f"{type(model).__name__} did not converge"
    if run.period:
        cycle = f"after {run.n_iter} {passes} it goes round in a cycle of {run.period} states"
        return [f"{name}: {cycle}. More {passes} change nothing."]
    change = f" (last change {run.residual:.2g}, tol={tol:.2g})" if np.isfinite([run.residual, tol]).all() else ""
    return [f"{name} in {limit}={most} {passes}{change}. Increase {' or '.join(filter(None, (limit, remedy)))}."]


def _outside() -> int:
    """The stack level at which a warning of the calling function points to the first frame outside this package."""
    package, level = __name__.split(".")[0], 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level
