"""Prior knowledge of some samples: class labels and prior memberships."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_array

from .._types import MatrixLike
from .features import naming
from .values import is_missing

_DEFAULT = 3  # the number of clusters if neither n_clusters nor labels are given


class PartialLabels(NamedTuple):
    """The classes of some samples."""

    classes: NDArray[Any]  # (C,), sorted
    codes: NDArray[np.intp]  # (n,), positions in ``classes``, -1 where a sample has no label


def validate_partial_labels(y: Any, X: MatrixLike) -> PartialLabels | None:
    """Return the labels y of the rows of X; None if no row has a label.

    -1, NaN and None mark a row without a label. Other entries are whole numbers, booleans or strings.

    Examples
    --------
    >>> labels = validate_partial_labels([7, -1, 3, 7], np.zeros((4, 1)))
    >>> labels.classes, labels.codes
    (array([3, 7]), array([ 1, -1,  0,  1]))
    """
    if y is None:
        return None
    # NumPy would turn a list that mixes strings and numbers into strings, also its -1
    y = column_or_1d(y if hasattr(y, "dtype") else np.array(y, dtype=object), warn=True)
    check_consistent_length(X, y)
    if y.dtype.kind == "O":
        missing = np.array([_is_unlabelled(value) for value in y], dtype=bool)
        labels = _of_one_type(y[~missing])
    else:
        missing = (y == -1) | np.isnan(y) if y.dtype.kind in "iuf" else np.zeros(len(y), dtype=bool)
        labels = y[~missing]
    if missing.all():
        return None
    _check_labels(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    found = np.full(len(y), -1, dtype=np.intp)
    found[~missing] = codes
    return PartialLabels(classes, found)


def _is_unlabelled(value: object) -> bool:
    return is_missing(value) or (not isinstance(value, (str, bool, np.bool_)) and bool(np.all(value == -1)))


def _of_one_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Return objects as an array of numbers or of strings."""
    n_strings = sum(isinstance(label, str) for label in labels)
    if 0 < n_strings < len(labels):
        raise TypeError("y must hold labels of one type, numbers or strings. Got both.")
    return np.array(labels.tolist())


def _check_labels(labels: NDArray[Any]) -> None:
    kind = labels.dtype.kind
    if kind not in "biufUS":
        raise TypeError(f"y must hold class labels, whole numbers or strings. Got dtype {labels.dtype} instead.")
    if kind == "f" and not (labels == np.round(labels)).all():
        raise ValueError(
            "y must hold class labels, whole numbers or strings, and -1 for a sample without one. Got the number "
            f"{labels[labels != np.round(labels)][0]} instead."
        )
    if kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y must hold class labels. Got infinity instead.")
    if kind in "US" and np.isin(labels, np.array(["-1"], dtype=labels.dtype)).any():
        raise ValueError(
            "y must not hold the string '-1'. To mark samples without a label among strings, use an array of dtype "
            "object with the number -1 or None."
        )


def resolve_n_clusters(n_clusters: int | None, labels: PartialLabels | None) -> int:
    """Return n_clusters, else the number of classes, else 3; raise an error if it is less than the number of classes.

    Examples
    --------
    >>> resolve_n_clusters(None, None)
    3
    """
    n_classes = 0 if labels is None else len(labels.classes)
    if n_clusters is None:
        return n_classes or _DEFAULT
    if n_clusters < n_classes:
        raise ValueError(f"n_clusters={n_clusters} should be >= the number of classes in y, {n_classes}.")
    return int(n_clusters)


def validate_prior_memberships(prior_memberships: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return prior memberships (n, K) with rows that sum to 1 or are NaN."""
    with naming("prior_memberships"):
        prior: NDArray[np.float64] = check_array(
            prior_memberships,
            dtype=np.float64,
            copy=True,
            ensure_all_finite="allow-nan",
            input_name="prior_memberships",
        )
    missing = np.isnan(prior)
    largest = np.where(missing, 0, prior).max(axis=1)
    problem = None
    if len(prior) != n:
        problem = f"have a row per sample, {n}. Got an array of shape {prior.shape} instead"
    elif (missing.any(axis=1) != missing.all(axis=1)).any():
        problem = f"have rows in which all entries or none are NaN. Row {np.argmax(missing.any(axis=1))} has both"
    elif (prior < 0).any():
        problem = f"be >= 0. Got {np.nanmin(prior):.3g} instead"
    elif ((largest == 0) & ~missing[:, 0]).any():
        problem = f"have a positive entry in each row. Row {np.argmax((largest == 0) & ~missing[:, 0])} has none"
    if problem is not None:
        raise ValueError(f"prior_memberships must {problem}.")
    prior /= np.where(largest > 0, largest, 1)[:, None]  # the sum of entries near the largest float would overflow
    prior /= prior.sum(axis=1, keepdims=True)
    return prior
