"""Checks of what ``fit`` makes of its data: types, containers, names, weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..base import BaseSoftClusterer
from .data import Sample, make_sample
from .harness import (
    PREDICTING,
    fit,
    fit_takes,
    fitted,
    has_parameter,
    no_convergence_warnings,
    noise_of,
    ready,
    require,
    require_close,
    require_valid,
    rule,
)

_WEIGHTED = 1e-6  # how near a weighted fit must come to the fit of repeated rows


@rule
def check_input_kept(estimator: BaseSoftClusterer) -> None:
    """Neither fit nor prediction modifies its arguments."""
    sample = make_sample(estimator)
    arguments = {"X": sample.X, "new data": sample.new}
    if fit_takes(estimator, "sample_weight"):
        arguments["sample_weight"] = np.linspace(0, 2, len(sample.labels))
    start = explicit_start(estimator, sample)
    if start is not None:
        arguments["init"] = start
    before = {name: joblib.hash(_content(value)) for name, value in arguments.items()}
    model = ready(estimator) if start is None else ready(estimator, init=start)
    fit(model, sample.X, **{k: v for k, v in arguments.items() if k == "sample_weight"})
    for name in ("predict_memberships", "score"):
        if hasattr(model, name):
            getattr(model, name)(sample.new)
    changed = [name for name, value in arguments.items() if joblib.hash(_content(value)) != before[name]]
    require(not changed, f"{' and '.join(changed)} changed.")


@rule
def check_refused_input(estimator: BaseSoftClusterer) -> None:
    """Wrong data and wrong weights are a ValueError or TypeError that names the argument.

    One wrong entry shows that the estimator validates its arguments; what is refused beyond it is for the tests of the
    validation.
    """
    model, sample = fitted(estimator)
    _require_refusal("fit", "X", lambda: ready(estimator).fit(sample.refused))
    for name in (*PREDICTING, "score"):
        if hasattr(model, name):
            for data in sample.refused_new:
                _require_refusal(name, "X", partial(getattr(model, name), data))
    if fit_takes(estimator, "sample_weight"):
        weights = np.ones(len(sample.labels))
        weights[1] = -1
        _require_refusal("fit", "sample_weight", lambda: ready(estimator).fit(sample.X, sample_weight=weights))


def _require_refusal(method: str, argument: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except (ValueError, TypeError) as error:
        require(argument in str(error), f"{method} does not say that {argument} is wrong: {error}")
    else:
        raise AssertionError(f"{method} accepts a wrong {argument}.")


def _content(value: Any) -> Any:
    """The arrays of the data: a sparse matrix also caches what it was asked, such as has_sorted_indices."""
    if isinstance(value, (list, tuple)):
        return [_content(part) for part in value]
    return (value.data, value.indices, value.indptr) if sparse.issparse(value) else value


def explicit_start(estimator: BaseSoftClusterer, sample: Sample) -> NDArray[np.float64] | None:
    """The array that ``init`` takes on these data, None if it takes no array."""
    if not has_parameter(estimator, "init"):
        return None
    for start in sample.starts:
        try:
            fitted(estimator, init=start)
        except (ValueError, TypeError):
            continue
        return start
    return None


@rule
def check_float32(estimator: BaseSoftClusterer) -> None:
    """float32 data give float32 memberships_ and centers_ near the float64 ones, float64 and integers give float64."""
    sample = make_sample(estimator)
    if sample.single is None:
        return
    start = explicit_start(estimator, sample)
    settings = {} if start is None else {"init": start}
    double = fitted(estimator, **settings)[0]
    single = fit(ready(estimator, **settings), sample.single(sample.X))
    for name in ("memberships_", "centers_"):
        if hasattr(single, name):
            require(
                getattr(single, name).dtype == np.float32, f"{name} is {getattr(single, name).dtype} for float32 data."
            )
            require(
                getattr(double, name).dtype == np.float64, f"{name} is {getattr(double, name).dtype} for float64 data."
            )
    require_valid(estimator, single.memberships_, "memberships_ of float32 data", noise_of(single))
    if start is not None:
        require_close(single.memberships_, double.memberships_, "memberships_ of float32 and float64 data", 1e-3)
        if hasattr(double, "centers_"):
            near = 1e-3 * float(np.abs(double.centers_).max())
            require_close(single.centers_, double.centers_, "centers_ of float32 and float64 data", near)
    if hasattr(single, "predict_memberships"):
        U = single.predict_memberships(sample.single(sample.new))
        require(U.dtype == np.float32, f"predict_memberships is {U.dtype} for float32 data.")
    if isinstance(sample.X, np.ndarray):
        whole = np.round(10 * sample.X).astype(np.int32)  # 10 X: no row is rounded to zeros, which have no cosine
        model = fit(ready(estimator), whole)
        require(model.memberships_.dtype == np.float64, f"memberships_ is {model.memberships_.dtype} for integers.")
        expected = fit(ready(estimator), whole.astype(np.float64)).memberships_
        require_close(model.memberships_, expected, "memberships_ of integers and of the same numbers in float64")


@rule
def check_containers(estimator: BaseSoftClusterer) -> None:
    """The same numbers in another container or memory layout give the same memberships."""
    model, sample = fitted(estimator)
    for name, data in sample.same.items():
        other = fit(ready(estimator), data)
        require_close(other.memberships_, model.memberships_, f"memberships_ of X and of X as {name}")


@rule
def check_feature_names(estimator: BaseSoftClusterer) -> None:
    """A data frame sets feature_names_in_, an array does not, and get_feature_names_out names the clusters."""
    model, sample = fitted(estimator)
    if sample.frame is None:
        return
    require(not hasattr(model, "feature_names_in_"), "An array sets feature_names_in_.")
    require(getattr(model, "n_features_in_", None) == sample.X.shape[1], "n_features_in_ is not the number of columns.")
    named = fit(ready(estimator), sample.frame)
    require(hasattr(named, "feature_names_in_"), "A data frame does not set feature_names_in_.")
    names, columns = list(named.feature_names_in_), list(sample.frame.columns)
    require(names == columns, f"feature_names_in_ is {names}, the columns are {columns}.")
    if not hasattr(model, "transform"):
        return
    for candidate in (model, named):
        out = candidate.get_feature_names_out()
        require(
            len(out) == model.n_clusters_,
            f"get_feature_names_out gives {len(out)} names for {model.n_clusters_} columns.",
        )
        require(len(set(out)) == len(out) and all(isinstance(name, str) for name in out), f"The names are {out!r}.")


@rule
def check_set_output(estimator: BaseSoftClusterer) -> None:
    """set_output(transform="pandas") makes transform return a data frame with the index of its input."""
    sample = make_sample(estimator)
    if sample.frame is None or not hasattr(estimator, "transform"):
        return
    model = fit(ready(estimator).set_output(transform="pandas"), sample.frame)
    with no_convergence_warnings():
        results = {
            "transform": model.transform(sample.frame),
            "fit_transform": ready(estimator).set_output(transform="pandas").fit_transform(sample.frame),
        }
    for name, result in results.items():
        require(hasattr(result, "columns"), f"{name} returns a {type(result).__name__}.")
        names = list(model.get_feature_names_out())
        require(list(result.columns) == names, f"The columns of {name} are {list(result.columns)}, not {names}.")
        require(list(result.index) == list(sample.frame.index), f"{name} loses the index.")
        require_close(result.to_numpy(), model.predict_memberships(sample.frame), f"{name} and predict_memberships")
    require(isinstance(model.predict_memberships(sample.frame), np.ndarray), "predict_memberships is not an array.")


def _weighted(estimator: BaseSoftClusterer, sample: Sample, weights: ArrayLike) -> Any:
    return fit(ready(estimator), sample.X, sample_weight=weights).memberships_


@rule
def check_weight_zero(estimator: BaseSoftClusterer) -> None:
    """A sample of weight 0 has no effect on the fit."""
    if not fit_takes(estimator, "sample_weight"):
        return
    sample = make_sample(estimator)
    kept = np.flatnonzero((sample.labels > 0) | (np.arange(len(sample.labels)) % 3 > 0))
    weights = np.zeros(len(sample.labels))
    weights[kept] = 1
    removed = fit(ready(estimator), sample.take(sample.X, kept))
    U = _weighted(estimator, sample, weights)
    require_close(U[kept], removed.memberships_, "memberships_ with weights 0 and with rows removed", _WEIGHTED)
    if hasattr(removed, "predict_memberships") and estimator.train_rule == "exact":
        expected = removed.predict_memberships(sample.known)
        require_close(U, expected, "memberships_ of weight 0 and the prediction of removed rows", _WEIGHTED)


@rule
def check_weight_integer(estimator: BaseSoftClusterer) -> None:
    """A sample of integer weight w has the effect of w copies of it."""
    if not fit_takes(estimator, "sample_weight"):
        return
    sample = make_sample(estimator)
    weights = np.where(sample.labels == 0, 3, 1) + np.arange(len(sample.labels)) % 2
    copies = np.repeat(np.arange(len(weights)), weights)
    repeated = fit(ready(estimator), sample.take(sample.X, copies)).memberships_[np.cumsum(weights) - 1]
    U = _weighted(estimator, sample, weights)
    require_close(U, repeated, "memberships_ with weights and with repeated rows", _WEIGHTED)


@rule
def check_weight_uniform(estimator: BaseSoftClusterer) -> None:
    """A uniform weight has no effect, unless min_samples counts the samples or a prior is weighed against them."""
    counted = has_parameter(estimator, "min_samples") or has_parameter(estimator, "topic_word_prior")
    if not fit_takes(estimator, "sample_weight") or counted:
        return
    model, sample = fitted(estimator)
    # Beside the prior of a covariance, weights above 1 count as repetitions.
    weight = 0.4 if has_parameter(estimator, "shrinkage", "covariance_prior") else 2.5
    U = _weighted(estimator, sample, np.full(len(sample.labels), weight))
    require_close(U, model.memberships_, f"memberships_ with weights {weight} and without weights", _WEIGHTED)
