"""Checks of ``fit`` and of what it leaves behind."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import warnings
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from .._types import DataLike
from ..base import BaseSoftClusterer
from .data import Sample, make_sample
from .harness import (
    PREDICTING,
    argmax_labels,
    captured_output,
    fit,
    fit_takes,
    fitted,
    has_parameter,
    newly_fitted,
    no_convergence_warnings,
    noise_of,
    ready,
    require,
    require_same_parameters,
    require_valid,
    rule,
)

FITTED = ("memberships_", "labels_", "n_clusters_")
_ON_DATA = ("transform", "score", "score_samples", "bic", "aic")


@rule
def check_fit_returns_self(estimator: BaseSoftClusterer) -> None:
    """The method fit returns the estimator."""
    model = ready(estimator)
    with no_convergence_warnings():
        result = model.fit(make_sample(estimator).X)
    require(result is model, f"fit returned a {type(result).__name__}.")


@rule
def check_shapes(estimator: BaseSoftClusterer) -> None:
    """memberships_ is a float array (n_samples, n_clusters), labels_ an integer array (n_samples,)."""
    model, sample = fitted(estimator)
    for name in FITTED:
        require(hasattr(model, name), f"fit did not set {name}.")
    n = len(sample.labels)
    U, labels = model.memberships_, model.labels_
    require(
        isinstance(U, np.ndarray) and U.dtype.kind == "f", f"memberships_ is a {type(U).__name__}, not a float array."
    )
    require(U.shape == (n, model.n_clusters_), f"memberships_ has shape {U.shape}, not {(n, model.n_clusters_)}.")
    require(isinstance(labels, np.ndarray) and labels.dtype.kind == "i", "labels_ is not an integer array.")
    require(labels.shape == (n,), f"labels_ has shape {labels.shape}, not {(n,)}.")
    if hasattr(model, "centers_"):
        C = model.centers_
        require(C.ndim == 2 and len(C) == model.n_clusters_, f"centers_ has shape {C.shape}.")
        require(np.isfinite(C).all(), "centers_ has NaN or infinite entries.")
        if estimator.modality == "features":
            require(C.shape[1] == sample.X.shape[1], f"centers_ has {C.shape[1]} columns, X has {sample.X.shape[1]}.")


@rule
def check_membership_values(estimator: BaseSoftClusterer) -> None:
    """Memberships are finite and non-negative, and at most 1 unless they are affiliations."""
    U = fitted(estimator)[0].memberships_
    require(np.isfinite(U).all(), "memberships_ has NaN or infinite entries.")
    require((U >= 0).all(), f"memberships_ has negative entries, the least is {U.min():.3g}.")
    if estimator.membership_kind != "affiliation":
        require((U <= 1 + 1e-6).all(), f"memberships_ has entries above 1, the largest is {U.max():.3g}.")


@rule
def check_row_sums(estimator: BaseSoftClusterer) -> None:
    """The rows of memberships_ sum to 1 where the membership kind says so."""
    model, _ = fitted(estimator)
    require_valid(estimator, model.memberships_, "memberships_", noise_of(model))


@rule
def check_labels(estimator: BaseSoftClusterer) -> None:
    """labels_ is the row-wise argmax of memberships_, -1 iff the row is all zero or the noise mass is as large."""
    model, _ = fitted(estimator)
    wrong = np.flatnonzero(model.labels_ != argmax_labels(model.memberships_, noise_of(model)))
    require(
        len(wrong) == 0,
        f"{len(wrong)} labels differ, the first in row {wrong[:1]}: label {model.labels_[wrong[:1]]}, "
        f"memberships {model.memberships_[wrong[:1]]}.",
    )


@rule
def check_n_clusters(estimator: BaseSoftClusterer) -> None:
    """n_clusters_ is the number of columns of memberships_."""
    model, _ = fitted(estimator)
    K, width = model.n_clusters_, model.memberships_.shape[1]
    require(isinstance(K, (int, np.integer)), f"n_clusters_ is a {type(K).__name__}.")
    require(width == K, f"n_clusters_ is {K}, but memberships_ has {width} columns.")


@rule
def check_parameters_kept(estimator: BaseSoftClusterer) -> None:
    """The method fit overwrites no parameter."""
    model = ready(estimator)
    before = model.get_params(deep=False)
    hashes = {name: joblib.hash(value) for name, value in before.items()}
    fit(model, make_sample(estimator).X)
    for name, value in model.get_params(deep=False).items():
        require(
            value is before[name] and joblib.hash(value) == hashes[name],
            f"fit changed {name}={before[name]!r} to {value!r}.",
        )


@rule
def check_not_fitted(estimator: BaseSoftClusterer) -> None:
    """Before fit there are no fitted attributes, and predicting methods and get_cover raise NotFittedError."""
    model, sample = ready(estimator), make_sample(estimator)
    for name in FITTED:
        require(not hasattr(model, name), f"{name} exists before fit.")
    on_data = [name for name in dir(model) if (name.startswith("predict") or name in _ON_DATA) and hasattr(model, name)]
    for name in [*on_data, "get_cover"]:
        try:
            getattr(model, name)(*([] if name == "get_cover" else [sample.known]))
        except NotFittedError:
            continue
        except Exception as error:
            raise AssertionError(f"{name} before fit raises {type(error).__name__}: {error}") from error
        raise AssertionError(f"{name} before fit does not raise NotFittedError.")


@rule
def check_fit_predict(estimator: BaseSoftClusterer) -> None:
    """The method fit_predict passes y and keywords on to fit and returns labels_."""
    sample = make_sample(estimator)
    model = ready(estimator)
    n = len(sample.labels)
    y = np.full(n, -1)  # no row is labelled, for the methods that look at y
    keywords = {"sample_weight": np.linspace(1, 2, n)} if fit_takes(estimator, "sample_weight") else {}
    calls: list[tuple[Any, dict[str, Any]]] = []
    original = model.fit

    def recording(X: DataLike, y: ArrayLike | None = None, **fit_params: Any) -> Any:
        calls.append((y, fit_params))
        return original(X, y, **fit_params)

    model.fit = recording
    with no_convergence_warnings():
        labels = model.fit_predict(sample.X, y, **keywords)
    for got, fit_params in calls:
        require(got is y, "fit_predict(X, y) calls fit without y.")
        require(
            fit_params.keys() == keywords.keys(), f"fit_predict(X, y, {[*keywords]}) calls fit with {[*fit_params]}."
        )
    require(np.array_equal(labels, model.labels_), "fit_predict does not return labels_.")
    expected = fit(ready(estimator), sample.X, y, **keywords).labels_
    require(np.array_equal(labels, expected), "fit_predict and fit give different labels.")


def _require_same_fit(a: BaseSoftClusterer, b: BaseSoftClusterer, message: str) -> None:
    """Raise AssertionError unless two models have bitwise the same fitted results."""
    for name in ("memberships_", "labels_", "n_clusters_", "centers_", "objective_", "n_iter_"):
        require(hasattr(a, name) == hasattr(b, name), f"{message}: only one has {name}.")
        if hasattr(a, name):
            require(np.array_equal(getattr(a, name), getattr(b, name)), f"{message}: {name} differs.")


def _require_same_predictions(a: BaseSoftClusterer, b: BaseSoftClusterer, sample: Sample, message: str) -> None:
    _require_same_fit(a, b, message)
    for name in PREDICTING:
        require(hasattr(a, name) == hasattr(b, name), f"{message}: only one has {name}.")
        if hasattr(a, name):
            same = np.array_equal(getattr(a, name)(sample.new), getattr(b, name)(sample.new))
            require(same, f"{message}: {name} differs.")


@rule
def check_same_seed(estimator: BaseSoftClusterer) -> None:
    """The same random_state gives bitwise the same result."""
    _require_same_fit(fitted(estimator)[0], newly_fitted(estimator)[0], "two fits with one seed")


@rule
def check_refit(estimator: BaseSoftClusterer) -> None:
    """A second fit forgets the first."""
    fresh, sample = fitted(estimator)
    model = fit(fit(ready(estimator), sample.other), sample.X)
    _require_same_predictions(model, fresh, sample, "a refit and a fresh fit")
    leftover = {name for name in vars(model) if name.endswith("_")} ^ {
        name for name in vars(fresh) if name.endswith("_")
    }
    require(not leftover, f"a refit and a fresh fit have different attributes: {sorted(leftover)}.")


@rule
def check_pickle(estimator: BaseSoftClusterer) -> None:
    """A pickled copy is the same estimator, unfitted or fitted."""
    model, sample = fitted(estimator)
    unfitted = ready(estimator)
    require_same_parameters(pickle.loads(pickle.dumps(unfitted)), unfitted, "a pickled copy")
    _require_same_predictions(pickle.loads(pickle.dumps(model)), model, sample, "a pickled fitted copy")


@rule
def check_deepcopy(estimator: BaseSoftClusterer) -> None:
    """A deep copy is the same estimator, unfitted or fitted."""
    model, sample = fitted(estimator)
    unfitted = ready(estimator)
    require_same_parameters(copy.deepcopy(unfitted), unfitted, "a deep copy")
    _require_same_predictions(copy.deepcopy(model), model, sample, "a fitted deep copy")


@rule
def check_global_random_state(estimator: BaseSoftClusterer) -> None:
    """With a seed given, the global generators are neither used nor seeded."""
    before = _global_states()
    model, sample = newly_fitted(estimator)
    if hasattr(model, "predict_memberships"):
        model.predict_memberships(sample.new)
    changed = [name for name, state in _global_states().items() if before.get(name, state) != state]
    require(not changed, f"The global generator of {' and '.join(changed)} changed.")


def _global_states() -> dict[str, str | None]:
    states = {"random": joblib.hash(random.getstate()), "numpy": joblib.hash(np.random.get_state())}  # noqa: NPY002
    if "torch" in sys.modules:
        states["torch"] = joblib.hash(sys.modules["torch"].get_rng_state().numpy())
    return states


@rule
def check_silent(estimator: BaseSoftClusterer) -> None:
    """Nothing is printed at verbose=0."""
    with captured_output() as output:
        model, sample = newly_fitted(estimator)
        if hasattr(model, "predict_memberships"):
            model.predict_memberships(sample.new)
    require(not output.text, f"It printed {output.text[:200]!r}.")


@rule
def check_verbose(estimator: BaseSoftClusterer) -> None:
    """An iterating method has verbose and says something at verbose=1."""
    if not has_parameter(estimator, "max_iter", "max_epochs"):
        return
    require(has_parameter(estimator, "verbose"), "It iterates, but has no parameter verbose.")
    with captured_output() as output:
        newly_fitted(estimator, verbose=1)
    require(output.text.strip(), "It printed nothing.")


@rule
def check_cover(estimator: BaseSoftClusterer) -> None:
    """The cover of get_cover holds memberships that are positive and at least the threshold, at most top_k a row."""
    model, _ = fitted(estimator)
    U = model.memberships_.copy()
    default = model.get_cover()
    for cover in (default, model.get_cover(threshold=0.5), model.get_cover(top_k=1)):
        require(isinstance(cover, np.ndarray) and cover.dtype == bool, "get_cover does not return a bool array.")
        require(cover.shape == U.shape, f"get_cover returns shape {cover.shape}, not {U.shape}.")
    require((U > 0)[default].all(), "get_cover() holds memberships of 0.")
    if not hasattr(model, "threshold_") and not hasattr(model, "upper_approximation_"):
        K = model.n_clusters_
        limit = {"possibilistic": 0.5, "subpartition": 1 / (K + 1)}.get(estimator.membership_kind, 1 / K)
        clear = np.abs(U - limit) > 1e-5
        require(np.array_equal(default[clear], (limit < U)[clear]), f"get_cover() is not memberships_ >= {limit:.3g}.")
    order = np.argsort(-U, axis=1, kind="stable")
    for threshold in (0.0, 0.1, float(np.median(U)), float(U.max()), np.inf):
        expected = (threshold <= U) & (U > 0)
        cover = model.get_cover(threshold=threshold)
        require(
            np.array_equal(cover, expected), f"get_cover(threshold={threshold:.3g}) is not u >= threshold and u > 0."
        )
        for top_k in (1, 2, model.n_clusters_ + 1):
            first = np.zeros_like(expected)
            np.put_along_axis(first, order[:, :top_k], True, axis=1)
            got = model.get_cover(threshold=threshold, top_k=top_k)
            require(
                np.array_equal(got, expected & first),
                f"get_cover(threshold={threshold:.3g}, top_k={top_k}) does not keep the {top_k} largest of the row.",
            )
    for top_k in (0, 1.5):
        try:
            model.get_cover(top_k=top_k)
        except (ValueError, TypeError) as error:
            require("top_k" in str(error), f"The error for top_k={top_k} does not name top_k: {error}")
        else:
            raise AssertionError(f"get_cover(top_k={top_k}) is accepted.")
    require(np.array_equal(U, model.memberships_), "get_cover changes memberships_.")


@rule
def check_objective(estimator: BaseSoftClusterer) -> None:
    """objective_ is the last entry of objective_history_, which never gets worse unless the method says it may."""
    model, sample = fitted(estimator)
    require(
        hasattr(model, "objective_") == hasattr(model, "objective_history_"),
        "It has only one of objective_ and objective_history_.",
    )
    if not hasattr(model, "objective_"):
        return
    require(getattr(model, "_policy", None) is not None, "It has an objective, but no _policy that says its sense.")
    for one in (model, fit(ready(estimator), sample.hard)):
        history = np.asarray(one.objective_history_, dtype=np.float64)
        require(history.ndim == 1 and len(history) > 0, f"objective_history_ has shape {history.shape}.")
        require(np.isfinite(history).all(), "objective_history_ has NaN or infinite entries.")
        require(one.objective_ == history[-1], f"objective_ is {one.objective_}, the history ends in {history[-1]}.")
        if not one._policy.monotone:
            continue
        worse = np.diff(history, prepend=history[0]) * model._policy.sign
        allowed = 1e-9 * np.abs(history).max()
        require(
            not (worse > allowed).any(),
            f"objective_history_ gets worse by {worse.max():.3g} at step {worse.argmax()}.",
        )


@rule
def check_n_iter(estimator: BaseSoftClusterer) -> None:
    """n_iter_ is at least 1 and at most max_iter (max_epochs)."""
    for limit in ("max_iter", "max_epochs"):
        if has_parameter(estimator, limit):
            few = newly_fitted(estimator, **{limit: 3})[0]
            for model, most in ((fitted(estimator)[0], estimator.get_params()[limit]), (few, 3)):
                require(hasattr(model, "n_iter_"), f"It has {limit}, but no n_iter_.")
                require(isinstance(model.n_iter_, (int, np.integer)), f"n_iter_ is a {type(model.n_iter_).__name__}.")
                require(1 <= model.n_iter_ <= most, f"n_iter_ is {model.n_iter_}, {limit} is {most}.")


@rule
def check_convergence_warning(estimator: BaseSoftClusterer) -> None:
    """Stopping unconverged at max_iter is a ConvergenceWarning, and converged_ is False."""
    limit = next((name for name in ("max_iter", "max_epochs") if has_parameter(estimator, name)), None)
    if limit is None or estimator.get_params().get("tol") is None:
        return
    # Two passes, because a user who sets max_iter=1 wants a single pass and needs no warning.
    model = ready(estimator, **{limit: 2, "tol": 1e-300})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(make_sample(estimator).hard)
    require(hasattr(model, "converged_"), "It has no converged_.")
    if model.n_clusters_ == 1:
        return  # one pass finds a single cluster
    require(not model.converged_, f"converged_ is {model.converged_} after two passes with tol=1e-300.")
    warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    require(warned, f"It did not converge in {limit}=2 passes and did not warn.")
