"""The memberships of a fitted model, from this library or from scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._estimators import Estimator
from .._types import Array, DataLike

_PREDICTIONS = ("predict_memberships", "predict_proba", "predict")


def clusterer_of(model: Estimator) -> Any:
    """Return the fitted clusterer: the model, or the last step of a pipeline."""
    clusterer = model.steps[-1][1] if isinstance(model, Pipeline) else model
    check_is_fitted(clusterer)
    return clusterer


def memberships_for(model: Estimator, X: DataLike, n: int) -> Array:
    """Return the memberships of the n samples of X; labels become crisp memberships.

    The result of the fit is taken if it has n samples, otherwise the model predicts.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> X = [[0.0], [1.0], [9.0]]
    >>> model = KMeans(2, random_state=0).fit(X)
    >>> memberships_for(model, X, 3).sum(axis=1), memberships_for(model, X[:2], 2).shape
    (array([1., 1., 1.]), (2, 2))
    """
    clusterer = clusterer_of(model)
    if hasattr(clusterer, "memberships_") and len(clusterer.memberships_) == n:
        return np.asarray(clusterer.memberships_, dtype=np.float64)
    if hasattr(clusterer, "labels_") and len(clusterer.labels_) == n and not hasattr(clusterer, "predict_proba"):
        return _crisp(clusterer.labels_)
    method = next((name for name in _PREDICTIONS if hasattr(clusterer, name)), None)
    if method is None:
        fitted = next(
            (len(getattr(clusterer, name)) for name in ("memberships_", "labels_") if hasattr(clusterer, name)), None
        )
        name = type(clusterer).__name__
        if fitted is None:
            raise TypeError(f"model must be a clusterer. {name} has no memberships: pass them to explain_memberships.")
        raise ValueError(f"X must be the {fitted} samples of the fit, because {name} cannot predict. Got {n} samples.")
    found = np.asarray(getattr(clusterer, method)(_rows(model, X)))
    return _crisp(found, getattr(clusterer, "n_clusters", 1)) if method == "predict" else found.astype(np.float64)


def noise_for(model: Estimator, X: DataLike, n: int) -> Array | None:
    """Return the noise mass of the n samples of X beside their memberships; None if there is no noise."""
    clusterer = clusterer_of(model)
    if getattr(clusterer, "membership_kind", None) != "subpartition":
        return None
    of_fit = len(clusterer.noise_mass_) == n if hasattr(clusterer, "noise_mass_") else False
    return np.asarray(clusterer.noise_mass_ if of_fit else clusterer.predict_noise_mass(_rows(model, X)), dtype=float)


def _rows(model: Estimator, X: DataLike) -> Any:
    """Return what the clusterer of a pipeline gets."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X


def _crisp(labels: Any, n_clusters: int | None = 1) -> Array:
    """Return a column of ones and zeros per label; a row of zeros for the label -1."""
    labels = np.asarray(labels)
    memberships: Array = (labels[:, None] == np.arange(max(n_clusters or 1, labels.max() + 1))).astype(np.float64)
    return memberships
