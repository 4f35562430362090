"""The measures of a fitted model, one after the other."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from .._estimators import Estimator
from .._types import DataLike
from ..documents.corpus import DocumentClusterer
from ..inputs.graphs import validate_graph
from ..metrics import METRICS
from ..metrics._validation import check_matrix
from .measures import MEASURES

#: Of more samples than this, measures that look at all pairs take ``MAX_SAMPLES`` random ones, unless exact.
EXACT_UP_TO = 5000
MAX_SAMPLES = 2000
_N_WORDS = 10  # of a topic, for its coherence


def labels_of(estimator: Any, X: DataLike) -> NDArray[Any]:
    """Return the labels of the training data: ``labels_``, or the prediction of an estimator without it."""
    return np.asarray(estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(X))


def memberships_of(estimator: Estimator, X: DataLike) -> Any:
    """Return the memberships of the training data; None for a hard clusterer, or one that found no cluster."""
    if hasattr(estimator, "memberships_"):
        return estimator.memberships_ if np.shape(estimator.memberships_)[1:] != (0,) else None
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None


def modality_of(estimator: Any) -> str:
    """Return what an estimator is fitted to; ``'distances'`` if it takes a matrix of distances.

    Examples
    --------
    >>> from soft_clustering import BIGCLAM, EVCLUS
    >>> modality_of(BIGCLAM()), modality_of(EVCLUS()), modality_of(EVCLUS(metric="precomputed"))
    ('graph', 'features', 'distances')
    """
    modality = str(getattr(estimator, "modality", "features"))
    return "distances" if modality == "features" and getattr(estimator, "metric", None) == "precomputed" else modality


def quality(
    estimator: Estimator, X: DataLike, y: ArrayLike | None, labels: NDArray[Any], *, exact: bool = False
) -> Iterator[tuple[str, float]]:
    """Yield the name and the value of each measure as it is computed, in the order of ``MEASURES``.

    Parameters
    ----------
    estimator : fitted estimator
    X : what it was fitted to
    y : array-like, default=None
        Classes of shape (n_samples,); of pixels also in the shape of the image; of the nodes of a graph also a cover,
        a boolean matrix of shape (n_nodes, n_communities).
    labels : ndarray of shape (n_samples,)
    exact : bool, default=False
        Whether measures that look at all pairs of samples take all of them. Otherwise they take, of more than 5000
        samples, 2000 random ones, the same for every model.

    Yields
    ------
    name : str
    value : float
        NaN where a measure does not apply to the data or to the model. Beside noise, what needs no truth is that of the
        samples that are not noise, with memberships divided by their sum.
    """
    modality = modality_of(estimator)
    U = memberships_of(estimator, X)
    data: dict[str, Any] = {
        "labels": labels,
        "y_true": _classes(y),
        "U": None if U is None else check_matrix("memberships", U, "n_clusters", len(labels)),
        "m": 2.0,  # the same for all models: the measures must not depend on the fuzzifier of a model
        "max_samples": None if exact or len(labels) <= EXACT_UP_TO else MAX_SAMPLES,
        "random_state": 0,
    }
    data |= _data(modality, estimator, X, len(labels))
    constrained = getattr(estimator, "partition_constrained", True)
    inside = data
    if getattr(estimator, "membership_kind", None) == "subpartition":
        inside, constrained = _clustered(data, labels, modality), True
    for name, measure in MEASURES.items():
        if not measure.applies_to(modality) or (measure.sense is None and not constrained):
            yield name, math.nan
        elif name == "perplexity":
            yield name, float(estimator.perplexity(X)) if hasattr(estimator, "perplexity") else math.nan
        elif measure.needs_truth and measure.modalities == ("graph",):
            yield name, METRICS[name](**(data | {"y_true": None if y is None else _cover(y)}))
        else:
            yield name, METRICS[name](**(data if measure.needs_truth else inside))


def _clustered(data: dict[str, Any], labels: NDArray[Any], modality: str) -> dict[str, Any]:
    """Return the data of the samples that are not noise, with memberships that sum to 1."""
    kept = np.flatnonzero(labels >= 0)
    if len(kept) < 2:
        return {}
    U, X = data["U"][kept], data.get("X")
    found = {"labels": labels[kept], "U": U / U.sum(axis=1, keepdims=True)}
    if X is not None:
        found["X"] = X[np.ix_(kept, kept)] if modality == "distances" else _rows(X, kept)
    return data | found


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows] if isinstance(X, list) else X[rows]


def _classes(y: Any) -> NDArray[Any] | None:
    """Return a class per sample; None if there are none, or if they overlap."""
    if y is None:
        return None
    classes: NDArray[Any] = np.asarray(y.toarray() if sparse.issparse(y) else y)
    if classes.dtype == bool and classes.ndim == 2:
        return classes.argmax(axis=1) if (classes.sum(axis=1) == 1).all() else None
    return classes.ravel()


def _cover(y: Any) -> Any:
    """Return known communities for the measures of covers: a cover, or labels."""
    return y if sparse.issparse(y) else np.asarray(y)


def _data(modality: str, estimator: Any, X: Any, n: int) -> dict[str, Any]:
    """Return what the measures of this modality need beyond labels and memberships."""
    if modality == "features":
        return {"X": X, "centers": getattr(estimator, "centers_", None)}
    if modality == "distances":
        return {"X": X, "metric": "precomputed"}
    if modality == "image":
        return {"X": np.asarray(X, dtype=np.float64).reshape(n, -1)}
    if modality == "graph":
        return {"graph": _adjacency(X), "cover": _cover_of(estimator)}
    if modality == "documents" and isinstance(estimator, DocumentClusterer):
        columns = {word: i for i, word in enumerate(estimator.words_)}
        topics = [[columns[word] for word in words] for words in estimator.top_words(_N_WORDS)]
        return {"counts": estimator._documents(X, reset=False), "topics": topics}
    return {}


def _adjacency(X: Any) -> Any:
    """Return the adjacency matrix of a graph; None if only another library can read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return validate_graph(BaseEstimator(), X, binary=False)
    except (TypeError, ValueError):
        return None


def _cover_of(estimator: Any) -> NDArray[np.bool_]:
    """Return which node is in which communities; without a cover, by its label."""
    if hasattr(estimator, "get_cover"):
        cover: NDArray[np.bool_] = estimator.get_cover()
        return cover
    labels = np.asarray(estimator.labels_)
    return np.asarray(labels[:, None] == np.unique(labels[labels >= 0]))
