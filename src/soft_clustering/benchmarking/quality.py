"""The measures of a fitted model, one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._estimators import Estimator
from .._types import DataLike
from ..metrics import METRICS
from ..metrics._validation import check_matrix
from .records import QUALITY


def labels_of(estimator: Any, X: DataLike) -> NDArray[Any]:
    """Return the labels of the training data: ``labels_``, or the prediction of an estimator without it."""
    return np.asarray(estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(X))


def modality_of(estimator: Estimator) -> str:
    """Return what the estimator is fitted to: the modality of its class, or distances if a parameter says so."""
    if estimator.get_params(deep=False).get("metric") == "precomputed":
        return "distances"
    modality: str = getattr(estimator, "modality", "features")
    return modality


def memberships_of(estimator: Estimator, X: DataLike) -> Any:
    """Return the memberships of the training data; None for a hard clusterer."""
    if hasattr(estimator, "memberships_"):
        return estimator.memberships_
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None


def quality(
    estimator: Estimator, X: DataLike, y: ArrayLike | None, labels: NDArray[Any]
) -> Iterator[tuple[str, float]]:
    """Yield the name and the value of each measure as it is computed; NaN where one does not apply."""
    U = memberships_of(estimator, X)
    features = getattr(estimator, "modality", "features") == "features"
    data = {
        # there are no distances between the nodes of a graph, texts or partitions
        "X": X if features else None,
        "labels": labels,
        "y_true": y,
        "U": None if U is None else check_matrix("memberships", U, "n_clusters", len(labels)),
        "centers": getattr(estimator, "centers_", None) if features else None,
        "m": 2.0,  # the same for all models: the measures must not depend on the fuzzifier of a model
    }
    constrained = getattr(estimator, "partition_constrained", True)
    for name in QUALITY:
        crispness = METRICS[name].sense is None
        yield name, math.nan if crispness and not constrained else METRICS[name](**data)
