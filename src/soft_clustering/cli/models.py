"""Find estimators by their names."""

from __future__ import annotations

import inspect
from typing import Any

from .. import __name__ as package
from .._registry import REGISTRY
from ..base import BaseSoftClusterer
from ..datasets.files import check_name
from .errors import CommandError, UsageError

INPUTS = {
    "features": "a table of features, a row per sample",
    "graph": "a graph",
    "documents": "texts, or counts of words",
    "partitions": "partitions of the same samples",
    "image": "an image",
    "clients": "tables of features at several places",
}


def model_class(name: str) -> type[BaseSoftClusterer]:
    """Return the class of a registered estimator."""
    model: type[BaseSoftClusterer] = getattr(__import__(package), name)
    return model


def feature_models(names: list[str] | None) -> dict[str, type[BaseSoftClusterer]]:
    """Return the classes of the named models; None stands for all that take a table of features."""
    if names is None:
        classes = {row.name: model_class(row.name) for row in REGISTRY}
        return {name: model for name, model in classes.items() if model.modality == "features"}
    return {name: feature_model(name) for name in names}


def feature_model(name: str) -> type[BaseSoftClusterer]:
    """Return the class of a model that takes a table of features."""
    model = model_class(name)
    if model.modality != "features":
        raise CommandError(
            f"{name} takes {INPUTS[model.modality]}, not a table of features: use it in Python, from {package} import "
            f"{name}."
        )
    return model


def defaults(model: type[BaseSoftClusterer]) -> dict[str, Any]:
    """Return the parameters of a class and their defaults."""
    return {name: parameter.default for name, parameter in inspect.signature(model).parameters.items()}


def needs_n_clusters(model: type[BaseSoftClusterer]) -> bool:
    """Whether a model must be given the number of clusters; other models find it if it is None, their default."""
    known = defaults(model)
    return "n_clusters" in known and (known["n_clusters"] is not None or not model.finds_n_clusters)


def configured(
    model: type[BaseSoftClusterer], n_clusters: int | None, given: bool, seed: int, **settings: Any
) -> BaseSoftClusterer:
    """Return an estimator with its number of clusters and its seed, if it has these parameters.

    If the number was ``given`` by the user, it is set in every model that has the parameter; otherwise only in those
    that need one.
    """
    known = defaults(model)
    for name in settings:
        try:
            check_name(name, known, f"parameter of {model.__name__}")
        except ValueError as error:
            raise UsageError(str(error)) from None
    parameters = {"random_state": seed} if "random_state" in known else {}
    if "n_clusters" in known and n_clusters is not None and (given or needs_n_clusters(model)):
        parameters["n_clusters"] = n_clusters
    return model(**parameters | settings)
