"""Checks of prediction: what an estimator that predicts says of known and of new data."""

from __future__ import annotations

from copy import deepcopy
from numbers import Real
from typing import Any

import joblib
import numpy as np
from sklearn.utils._param_validation import StrOptions, make_constraint

from ..base import BaseSoftClusterer, InductiveSoftClusterer
from .data import Sample
from .harness import (
    PREDICTING,
    argmax_labels,
    fitted,
    no_convergence_warnings,
    noise_of,
    ready,
    require,
    require_close,
    require_valid,
    rule,
)

_AGREEMENT = 0.9  # share of equal labels on separated data, where the training rule is not exact


def _predicts(estimator: BaseSoftClusterer) -> bool:
    return hasattr(estimator, "predict_memberships")


@rule
def check_method_availability(estimator: BaseSoftClusterer) -> None:
    """What hasattr says of the predicting methods is true.

    All of ``predict``, ``predict_memberships`` and ``transform`` or none; ``predict_proba`` with them iff rows sum to
    1, ``predict_noise_mass`` iff the rest of a row is noise; none on an estimator without a rule for new data; the same
    before and after ``fit``.
    """
    unfitted = ready(estimator)
    model, sample = fitted(estimator)
    inductive = isinstance(estimator, InductiveSoftClusterer)
    there = _predicts(unfitted)
    require(inductive or not there, "It has predict_memberships, but does not derive from InductiveSoftClusterer.")
    for name in PREDICTING:
        expected = there and {
            "predict_proba": estimator.partition_constrained,
            "predict_noise_mass": estimator.membership_kind == "subpartition",
        }.get(name, True)
        for state, candidate in (("before", unfitted), ("after", model)):
            require(hasattr(candidate, name) == expected, f"hasattr({name}) is {not expected} {state} fit.")
        if expected:
            result = getattr(model, name)(sample.new)
            require(len(result) == sample.n_new, f"{name} returns {len(result)} rows for {sample.n_new}.")
    require(not hasattr(unfitted, "score") or there, "It has score, but no predict_memberships.")


@rule
def check_prediction_values(estimator: BaseSoftClusterer) -> None:
    """Memberships of new data are as valid as those of the training data."""
    if not _predicts(estimator):
        return
    model, sample = fitted(estimator)
    U = model.predict_memberships(sample.new)
    require(isinstance(U, np.ndarray) and U.dtype.kind == "f", "predict_memberships does not return a float array.")
    expected = (sample.n_new, model.n_clusters_)
    require(U.shape == expected, f"predict_memberships returns shape {U.shape}, not {expected}.")
    require_valid(estimator, U, "predict_memberships", noise_of(model, sample.new))


@rule
def check_training_data(estimator: BaseSoftClusterer) -> None:
    """Predicting the training data gives memberships_ where train_rule is 'exact', mostly the same labels elsewhere."""
    if not _predicts(estimator):
        return
    model, sample = fitted(estimator)
    U = model.predict_memberships(sample.known)
    if estimator.train_rule == "exact":
        require_close(U, model.memberships_, "memberships_ and the prediction of the training data")
        if model.membership_kind == "subpartition":
            noise = noise_of(model, sample.known)
            require_close(noise, model.noise_mass_, "noise_mass_ and the prediction of the training data")
    else:
        share = float(np.mean(argmax_labels(U, noise_of(model, sample.known)) == model.labels_))
        require(share >= _AGREEMENT, f"Only {share:.0%} of the training data are predicted to be in their own cluster.")


@rule
def check_predict(estimator: BaseSoftClusterer) -> None:
    """The method predict gives the argmax of predict_memberships, -1 for a row of zeros or of more noise."""
    if not _predicts(estimator):
        return
    model, sample = fitted(estimator)
    for data in (sample.known, sample.new):
        labels = model.predict(data)
        require(np.asarray(labels).dtype.kind == "i", "predict does not return integers.")
        expected = argmax_labels(model.predict_memberships(data), noise_of(model, data))
        require(np.array_equal(labels, expected), "predict is not the argmax of predict_memberships.")


@rule
def check_transform(estimator: BaseSoftClusterer) -> None:
    """The methods transform and predict_proba give the same as predict_memberships, fit_transform as transform."""
    if not _predicts(estimator):
        return
    model, sample = fitted(estimator)
    U = model.predict_memberships(sample.new)
    for name in ("transform", "predict_proba"):
        if hasattr(model, name):
            require(np.array_equal(getattr(model, name)(sample.new), U), f"{name} is not predict_memberships.")
    if sample.known is sample.X:
        with no_convergence_warnings():
            fresh = ready(estimator).fit_transform(sample.X)
        require_close(fresh, model.transform(sample.X), "fit_transform and fit(X).transform(X)")


@rule
def check_batches(estimator: BaseSoftClusterer) -> None:
    """New data get the same memberships in batches as all at once."""
    if not _predicts(estimator):
        return
    model, sample = fitted(estimator)
    if sample.batches:
        parts = np.concatenate([model.predict_memberships(batch) for batch in sample.batches])
        require_close(parts, model.predict_memberships(sample.new), "memberships in batches and at once")


@rule
def check_prediction_keeps_model(estimator: BaseSoftClusterer) -> None:
    """Prediction changes nothing in a fitted estimator."""
    if not _predicts(estimator):
        return
    model, sample = fitted(estimator)
    before = {name: joblib.hash(value) for name, value in vars(model).items() if name.endswith("_")}
    first = model.predict_memberships(sample.known)
    for name in PREDICTING:
        if hasattr(model, name):
            getattr(model, name)(sample.new)
    after = {name: joblib.hash(value) for name, value in vars(model).items() if name.endswith("_")}
    changed = sorted(name for name in before | after if before.get(name) != after.get(name))
    require(not changed, f"Prediction changed {changed}.")
    require(
        np.array_equal(model.predict_memberships(sample.known), first), "A second prediction differs from the first."
    )


def _another(value: object, constraints: list[Any]) -> Any:
    """Another value for a parameter, valid if the class states its constraints; the same one if there is no other."""
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, Real):
        candidates = [value + 1, value - 1, value / 2]
    else:
        options = [option for one in constraints if isinstance(one, StrOptions) for option in one.options]
        candidates = [*sorted(options), 2, 0.5]
    allowed = [make_constraint(one) for one in constraints]
    valid = (c for c in candidates if not allowed or any(one.is_satisfied_by(c) for one in allowed))
    return next((c for c in valid if c != value), value)


def _continued(model: Any, sample: Sample) -> Any:
    """The memberships after a further batch, or what the model says if its options refuse one."""
    try:
        model.partial_fit(sample.X)
    except ValueError as refusal:
        return str(refusal)
    return model.predict_memberships(sample.known)


@rule
def check_fitted_parameters(estimator: BaseSoftClusterer) -> None:
    """Parameters set after fit change neither predictions, nor scores, nor fitted attributes, nor partial_fit."""
    model, sample = fitted(estimator)
    unchanged = deepcopy(model)

    def outcome() -> dict[str, Any]:
        names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
        results = {name: getattr(model, name) for name in names} | {"get_cover()": model.get_cover()}
        calls = [name for name in (*PREDICTING, "score") if hasattr(model, name)]
        return results | {f"{name}(X)": getattr(model, name)(sample.known) for name in calls}

    before = {name: joblib.hash(value) for name, value in outcome().items()}
    constraints = getattr(model, "_parameter_constraints", {})
    for name, value in model.get_params(deep=False).items():
        model.set_params(**{name: _another(value, constraints.get(name, []))})
        after = {key: joblib.hash(value) for key, value in outcome().items()}
        changed = sorted(key for key in before | after if before.get(key) != after.get(key))
        require(not changed, f"set_params({name}={getattr(model, name)!r}) after fit changes {changed}.")
    if hasattr(model, "partial_fit"):
        same = [_continued(one, sample) for one in (model, unchanged)]
        require(np.array_equal(*same), "Parameters set after fit change what partial_fit does.")


@rule
def check_score(estimator: BaseSoftClusterer) -> None:
    """The method score gives one finite number, greater for data that fit better.

    If the estimator has an objective, the score of the training data is that objective, with the opposite sign if it is
    minimised.
    """
    if not hasattr(estimator, "score"):
        return
    model, sample = fitted(estimator)
    score = model.score(sample.known)
    require(np.ndim(score) == 0 and np.isfinite(score), f"score returns {score!r}.")
    require(model.score(sample.known, sample.labels) == score, "score depends on y.")
    worse = model.score(sample.worse)
    require(np.isfinite(worse), f"score returns {worse!r} for noisy data.")
    require(worse < score, f"score is {score:.6g} on the training data and {worse:.6g} on the same data with noise.")
    if hasattr(model, "objective_") and estimator.train_rule == "exact":
        expected = -model._policy.sign * model.objective_
        require_close(score, expected, "score and objective_", 1e-6 * max(1.0, abs(expected)))
