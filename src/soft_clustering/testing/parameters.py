"""Checks of the class and its parameters; nothing is fitted here."""

from __future__ import annotations

import inspect
from typing import get_args

from sklearn.base import clone

from ..base import BaseSoftClusterer, InductiveSoftClusterer, MembershipKind, Modality
from .harness import require, require_same_parameters, rule


def _signature(estimator: BaseSoftClusterer) -> list[inspect.Parameter]:
    return list(inspect.signature(type(estimator)).parameters.values())


@rule
def check_class_attributes(estimator: BaseSoftClusterer) -> None:
    """The class derives from BaseSoftClusterer and says what it is.

    ``modality``, ``membership_kind`` and, where it predicts, ``train_rule`` have known values.
    """
    require(isinstance(estimator, BaseSoftClusterer), "It does not derive from BaseSoftClusterer.")
    for name, allowed in (("modality", get_args(Modality)), ("membership_kind", get_args(MembershipKind))):
        require(getattr(estimator, name) in allowed, f"{name} is {getattr(estimator, name)!r}, not one of {allowed}.")
    sums = estimator.membership_kind in ("partition", "credal")
    require(
        estimator.partition_constrained is sums,
        f"partition_constrained is {estimator.partition_constrained} for {estimator.membership_kind!r} memberships.",
    )
    if isinstance(estimator, InductiveSoftClusterer):
        require(estimator.train_rule in ("exact", "reinferred"), f"train_rule is {estimator.train_rule!r}.")


@rule
def check_default_construction(estimator: BaseSoftClusterer) -> None:
    """The class can be constructed without arguments."""
    type(estimator)()


@rule
def check_init_stores_parameters(estimator: BaseSoftClusterer) -> None:
    """The constructor stores its parameters untouched and does nothing else."""
    marks = {parameter.name: object() for parameter in _signature(estimator)}
    try:
        made = type(estimator)(**marks)
    except Exception as error:
        raise AssertionError(f"The constructor looks at its parameters: {type(error).__name__}: {error}") from error
    for name, mark in marks.items():
        require(getattr(made, name, None) is mark, f"Parameter {name} is not stored as it is.")
    extra = sorted(set(vars(made)) - set(marks))
    require(not extra, f"The constructor also sets {extra}.")


@rule
def check_positional_parameters(estimator: BaseSoftClusterer) -> None:
    """Only the first parameter of the constructor may be positional."""
    for position, parameter in enumerate(_signature(estimator)):
        require(
            parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD),
            f"The constructor takes {parameter}, so its parameters are not known.",
        )
        require(
            position == 0 or parameter.kind == parameter.KEYWORD_ONLY,
            f"Parameter {parameter.name} is not keyword-only.",
        )
    names = [parameter.name for parameter in _signature(estimator)]
    require("n_clusters" not in names[1:], "n_clusters is a parameter, but not the first one.")


@rule
def check_set_params(estimator: BaseSoftClusterer) -> None:
    """get_params and set_params are inverse to each other."""
    parameters = estimator.get_params(deep=False)
    require_same_parameters(type(estimator)().set_params(**parameters), estimator, "set_params")
    for name in parameters:
        mark = object()
        changed = clone(estimator)
        require(changed.set_params(**{name: mark}) is changed, "set_params does not return the estimator.")
        require(changed.get_params(deep=False)[name] is mark, f"set_params({name}=...) is not what get_params returns.")


@rule
def check_clone(estimator: BaseSoftClusterer) -> None:
    """A clone has the same class and the same parameters."""
    copy = clone(estimator)
    require(type(copy) is type(estimator), f"clone made a {type(copy).__name__}.")
    require_same_parameters(copy, estimator, "clone")


@rule
def check_fit_signature(estimator: BaseSoftClusterer) -> None:
    """The signature of fit is fit(X, y=None, *, ...)."""
    parameters = list(inspect.signature(estimator.fit).parameters.values())
    require([p.name for p in parameters[:2]] == ["X", "y"], f"fit takes {[p.name for p in parameters]}.")
    require(parameters[1].default is None, f"The default of y is {parameters[1].default!r}.")
    for parameter in parameters[2:]:
        require(
            parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD), f"{parameter.name} is not keyword-only."
        )
