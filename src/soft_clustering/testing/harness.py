"""The harness of the checks: the wrapper that reports, ready and fitted clones, shared fits, captured output."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import os
import sys
import tempfile
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._types import DataLike
from ..base import BaseSoftClusterer
from .data import Sample, make_sample

Check = Callable[[BaseSoftClusterer], None]

PREDICTING = ("predict", "predict_memberships", "transform", "predict_proba", "predict_noise_mass")
EXACT = 1e-9  # rounding allowed between two computations of the same number
# Small networks, trained for a few epochs: the checks fit often, and their rules hold for a poor network, too.
QUICK: dict[str, Any] = {"hidden_layer_sizes": (16,), "pretrain_epochs": 5, "max_epochs": 5}
# CAFCM would pass through a thousand values of m, and CDCGS needs more than a few epochs to separate any clusters. The
# default of BayesianGMM is the most clusters that there may be: of so many small ones its prior joins some.
QUICK_OF: dict[str, dict[str, Any]] = {
    "BayesianGMM": {"n_clusters": 3},
    "CAFCM": {"min_m": 1.01},
    "CDCGS": {"n_draws": 5, "learning_rate": 0.1, "n_init": 2, "max_epochs": 60},
}
# On graphs an epoch is a single step.
QUICK_STEPS: dict[str, Any] = QUICK | {"max_epochs": 20, "learning_rate": 0.02}


def rule(function: Check) -> Check:
    """Make a check: whatever goes wrong in it becomes an AssertionError that names the estimator and the rule.

    The rule is the first line of the check's docstring.
    """
    text = (inspect.getdoc(function) or function.__name__).splitlines()[0].rstrip(".")

    @functools.wraps(function)
    def check(estimator: BaseSoftClusterer) -> None:
        try:
            function(estimator)
        except Exception as error:
            detail = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            raise AssertionError(
                f"{type(estimator).__name__} breaks the rule of {function.__name__} ({text}). {detail}"
            ) from error

    return check


def require(condition: object, message: str) -> None:
    """Raise AssertionError unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def require_close(actual: ArrayLike, expected: ArrayLike, message: str, tolerance: float = EXACT) -> None:
    """Raise AssertionError unless two arrays have the same shape and differ by at most the tolerance."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    require(actual.shape == expected.shape, f"{message}: the shapes are {actual.shape} and {expected.shape}.")
    if actual.size:
        gap = np.max(np.abs(actual.astype(np.float64) - expected.astype(np.float64)))
        require(gap <= tolerance, f"{message}: the largest difference is {gap:.3g}, allowed is {tolerance:g}.")


def require_same_parameters(actual: BaseSoftClusterer, expected: BaseSoftClusterer, what: str) -> None:
    """Raise AssertionError unless two estimators have the same parameters, arrays and containers of them included."""
    found, wanted = actual.get_params(deep=False), expected.get_params(deep=False)
    require(list(found) == list(wanted), f"{what} has the parameters {list(found)}, not {list(wanted)}.")
    for name, value in wanted.items():
        new = found[name]
        same = new is value or (type(new) is type(value) and joblib.hash(new) == joblib.hash(value))
        require(same, f"{what} changes {name}={value!r} into {new!r}.")


def has_parameter(estimator: BaseSoftClusterer, *names: str) -> bool:
    """Whether the constructor has one of these parameters."""
    return any(name in estimator.get_params(deep=False) for name in names)


def fit_takes(estimator: BaseSoftClusterer, name: str) -> bool:
    """Whether ``fit`` names this argument."""
    return name in inspect.signature(estimator.fit).parameters


def ready(estimator: BaseSoftClusterer, **parameters: Any) -> Any:
    """A silent clone with a fixed seed, if it has these parameters, and with the given ones."""
    settings = {"random_state": 0, "verbose": 0} | parameters
    return clone(estimator).set_params(**{k: v for k, v in settings.items() if has_parameter(estimator, k)})


def quick(estimator: BaseSoftClusterer) -> Any:
    """A clone with the settings of ``QUICK`` or ``QUICK_STEPS``, where it has these parameters, for frequent fits.

    ``QUICK_OF`` has settings for single estimators.

    Examples
    --------
    >>> from soft_clustering import FCM, RDFKC
    >>> quick(RDFKC(n_clusters=4))
    RDFKC(hidden_layer_sizes=(16,), max_epochs=5, n_clusters=4, pretrain_epochs=5)
    >>> quick(FCM())
    FCM()
    """
    settings = QUICK_STEPS if estimator.modality == "graph" else QUICK
    settings = settings | QUICK_OF.get(type(estimator).__name__, {})
    return clone(estimator).set_params(**{k: v for k, v in settings.items() if has_parameter(estimator, k)})


@contextlib.contextmanager
def no_convergence_warnings() -> Iterator[None]:
    """Ignore ConvergenceWarning only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def fit(model: BaseSoftClusterer, X: DataLike, y: ArrayLike | None = None, **fit_params: Any) -> Any:
    """Fit without convergence warnings and return the model, whatever ``fit`` returns."""
    with no_convergence_warnings():
        model.fit(X, y, **fit_params)
    return model


# The fits that checks share, keyed by class and parameters; None outside of shared_fits.
_SHARED: ContextVar[OrderedDict[tuple[type, str], Any] | None] = ContextVar("_SHARED", default=None)
_MOST_SHARED = 4  # one setting needs its plain fit and one for each kind of start


@contextlib.contextmanager
def shared_fits() -> Iterator[None]:
    """Let the checks in this context share one fit per estimator and setting.

    A check that only looks at a fitted model gets a copy of the shared one, so that no check sees what another one
    did to its copy. A check of ``fit`` itself always fits. Only the few fits used last are kept, and none beyond the
    context: an estimator that was edited in the meantime is fitted anew. A context within another one shares its fits.

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> from soft_clustering.testing import ALL_CHECKS
    >>> with shared_fits():
    ...     for check in ALL_CHECKS:
    ...         check(FCM(n_clusters=2))
    """
    if _SHARED.get() is not None:
        yield
        return
    token = _SHARED.set(OrderedDict())
    try:
        yield
    finally:
        _SHARED.reset(token)


def newly_fitted(estimator: BaseSoftClusterer, **parameters: Any) -> tuple[Any, Sample]:
    """A clone fitted on the data of its modality, and these data."""
    sample = make_sample(estimator)
    return fit(ready(estimator, **parameters), sample.X), sample


def fitted(estimator: BaseSoftClusterer, **parameters: Any) -> tuple[Any, Sample]:
    """As :func:`newly_fitted`; within :func:`shared_fits`, a copy of the model if it was fitted before."""
    shared = _SHARED.get()
    if shared is None:
        return newly_fitted(estimator, **parameters)
    unfitted = ready(estimator, **parameters)
    try:
        key = type(unfitted), joblib.hash(unfitted.get_params(deep=False))
    except Exception:  # a parameter that cannot be pickled
        return newly_fitted(estimator, **parameters)
    if key in shared:
        shared.move_to_end(key)
        return _copy(shared[key]), make_sample(estimator)
    model, sample = newly_fitted(estimator, **parameters)
    with contextlib.suppress(Exception):  # an attribute that cannot be copied
        shared[key] = _copy(model)
        if len(shared) > _MOST_SHARED:
            shared.popitem(last=False)
    return model, sample


def _copy(model: Any) -> Any:
    """A deep copy of an estimator; it does not rely on the estimator's own ``__deepcopy__``, which a check tests."""
    twin = object.__new__(type(model))
    vars(twin).update(copy.deepcopy(vars(model), {id(model): twin}))
    return twin


def argmax_labels(memberships: NDArray[Any], noise_mass: NDArray[Any] | float = 0.0) -> Any:
    """The column of the largest entry of each row, -1 where it is at most the noise mass."""
    if memberships.shape[1] == 0:  # the method found no cluster
        return np.full(len(memberships), -1)
    return np.where(memberships.max(axis=1) > noise_mass, memberships.argmax(axis=1), -1)


def noise_of(model: Any, *data: Any) -> Any:
    """The noise mass of new data, or of the training data; 0 for memberships without noise."""
    if model.membership_kind != "subpartition":
        return 0.0
    return model.predict_noise_mass(*data) if data else model.noise_mass_


def require_valid(
    estimator: BaseSoftClusterer, memberships: NDArray[Any], name: str, noise_mass: NDArray[Any] | float = 0.0
) -> None:
    """Raise AssertionError unless memberships are finite, non-negative and sum to 1 where they must, with the noise."""
    require(np.isfinite(memberships).all(), f"{name} has NaN or infinite entries.")
    require((memberships >= 0).all(), f"{name} has negative entries, the least is {np.min(memberships):.3g}.")
    if estimator.membership_kind != "affiliation":
        require(
            (memberships <= 1 + 1e-6).all(), f"{name} has entries above 1, the largest is {np.max(memberships):.3g}."
        )
    if estimator.partition_constrained or estimator.membership_kind == "subpartition":
        require(np.min(noise_mass) >= 0, f"The noise mass beside {name} has negative entries.")
        tolerance = 1e-5 if memberships.dtype == np.float32 else EXACT
        require_close(
            memberships.sum(axis=1, dtype=np.float64) + noise_mass,
            np.ones(len(memberships)),
            f"row sums of {name}",
            tolerance,
        )


class Captured:
    """What was written while :func:`captured_output` was active."""

    text = ""


@contextlib.contextmanager
def captured_output() -> Iterator[Captured]:
    """Catch stdout and stderr, of Python and of compiled code alike."""
    result = Captured()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file, contextlib.ExitStack() as stack:
        for descriptor in (1, 2):
            saved = os.dup(descriptor)
            stack.callback(os.close, saved)
            stack.callback(os.dup2, saved, descriptor)
            os.dup2(file.fileno(), descriptor)
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield result
        file.seek(0)
        result.text = stream.getvalue() + file.read().decode(errors="replace")
