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
#: Kinds of data that are no modality.
_KINDS = {"distances": "distances between samples"}
#: The options that make such data of a file.
_HINTS = {"documents": "--text-column", "graph": "--as graph"}


def model_class(name: str) -> type[BaseSoftClusterer]:
    """Return the class of a registered estimator."""
    model: type[BaseSoftClusterer] = getattr(__import__(package), name)
    return model


def models_for(kind: str, names: list[str] | None) -> dict[str, type[BaseSoftClusterer]]:
    """Return the classes of the named models; None stands for all that take data of this kind."""
    if names is None:
        classes = {row.name: model_class(row.name) for row in REGISTRY}
        return {name: model for name, model in classes.items() if takes(model, kind)}
    return {name: model_for(kind, name) for name in names}


def model_for(kind: str, name: str) -> type[BaseSoftClusterer]:
    """Return the class of a model that takes data of this kind."""
    model = model_class(name)
    if not takes(model, kind):
        others = [row.name for row in REGISTRY if takes(model_class(row.name), kind)]
        hint = f", or name the data with {_HINTS[model.modality]}" if model.modality in _HINTS else ""
        raise CommandError(
            f"{name} takes {INPUTS[model.modality]}, not {_KINDS.get(kind) or INPUTS[kind]}: take one of "
            f"{', '.join(others)}{hint}."
        )
    return model


def takes(model: type[BaseSoftClusterer], kind: str) -> bool:
    """Whether a model takes data of this kind: its modality, or distances if its metric can be precomputed."""
    return "metric" in defaults(model) if kind == "distances" else model.modality == kind


def takes_weights(model: type[BaseSoftClusterer]) -> bool:
    """Whether a model of graphs uses the weights of links."""
    return any("weighted" in row.suits for row in REGISTRY if row.name == model.__name__)


def defaults(model: type[BaseSoftClusterer]) -> dict[str, Any]:
    """Return the parameters of a class and their defaults."""
    return {name: parameter.default for name, parameter in inspect.signature(model).parameters.items()}


def needs_n_clusters(model: type[BaseSoftClusterer]) -> bool:
    """Whether a model must be given the number of clusters; other models find it if it is None, their default."""
    known = defaults(model)
    return "n_clusters" in known and (known["n_clusters"] is not None or not model.finds_n_clusters)


def configured(
    model: type[BaseSoftClusterer], kind: str, n_clusters: int | None, given: bool, seed: int, **settings: Any
) -> BaseSoftClusterer:
    """Return an estimator for data of this kind, with its number of clusters and its seed, if it has these parameters.

    If the number was ``given`` by the user, it is set in every model that has the parameter; otherwise only in those
    that need one.
    """
    known = defaults(model)
    for name in settings:
        try:
            check_name(name, known, f"parameter of {model.__name__}")
        except ValueError as error:
            raise UsageError(str(error)) from None
    parameters: dict[str, Any] = {"random_state": seed} if "random_state" in known else {}
    if kind == "distances":
        parameters["metric"] = "precomputed"
    if "n_clusters" in known and n_clusters is not None and (given or needs_n_clusters(model)):
        parameters["n_clusters"] = n_clusters
    return model(**parameters | settings)
