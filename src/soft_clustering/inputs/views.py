"""Two views of the same samples: ordinary features beside features with entries in [0, 1]."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from .._types import MatrixLike
from .features import is_dask, validate_rows


class Views(NamedTuple):
    """The data of the user: features, and their beta view or None."""

    X: Any
    X_beta: Any


class BetaView(BaseEstimator):
    """What ``fit`` stores of a beta view: ``n_features_in_`` and, from a data frame, ``feature_names_in_``."""


def validate_views(
    estimator: BaseEstimator, views: Views, beta_view: BetaView | None, *, reset: bool
) -> tuple[Any, bool]:
    """Return the views side by side, as one (n, d) float matrix, and whether values may be missing (NaN).

    If there are two views, one with a single dimension is taken as a column.

    Parameters
    ----------
    estimator : estimator
        ``n_features_in_`` and ``feature_names_in_`` of X are set on it (``reset=True``) or read from it.
    views : Views
    beta_view : BetaView or None
        The same for X_beta; None if there is no second view.
    reset : bool
        True in ``fit``, False in prediction.
    """
    if (views.X_beta is None) != (beta_view is None):
        rule, past = ("must be given", "with") if views.X_beta is None else ("must be None", "without")
        raise ValueError(f"X_beta {rule}: this {type(estimator).__name__} was fitted {past} X_beta.")
    if beta_view is None:
        return validate_rows(estimator, views.X, reset=reset, accept_sparse=False, accept_missing=True)
    how = {"reset": reset, "accept_sparse": False, "accept_missing": True}
    X, gaps = validate_rows(estimator, _as_column(views.X), **how)
    try:
        B, more_gaps = validate_rows(beta_view, _as_column(views.X_beta), **how)
    except (ValueError, TypeError) as error:
        raise type(error)(f"X_beta is not valid: {error}") from error
    if len(B) != len(X):
        raise ValueError(f"X_beta must have as many rows as X, {len(X)}. Got {len(B)} instead.")
    return _side_by_side(X, B), gaps or more_gaps


def _as_column(view: MatrixLike) -> Any:
    if hasattr(view, "to_frame"):  # a series, whose name is the name of the feature
        return view.to_frame()
    if is_dask(view):
        return view[:, None] if view.ndim == 1 else view
    return np.asarray(view)[:, None] if not hasattr(view, "columns") and np.ndim(view) == 1 else view


def _side_by_side(X: Any, B: Any) -> Any:
    if not is_dask(X) and not is_dask(B):
        return np.concatenate([X, B], axis=1)
    da = import_module("dask.array")
    rows = (X if is_dask(X) else B).chunks[0]
    both = [da.asarray(view).rechunk({0: rows, 1: -1}) for view in (X, B)]
    return da.concatenate(both, axis=1).rechunk({1: -1})


def column_mask(parameter: str, columns: ArrayLike, n_features: int) -> NDArray[np.bool_]:
    """Return column indices or a mask, the value of a parameter, as a mask (n_features,).

    Examples
    --------
    >>> column_mask("beta_features", [2, 0], 3)
    array([ True, False,  True])
    """
    given = np.asarray(columns)
    mask = np.zeros(n_features, dtype=bool)
    if given.dtype == bool and given.shape == mask.shape:
        mask[given] = True
    elif given.ndim == 1 and (given.size == 0 or (given.dtype.kind in "iu" and set(given) <= set(range(n_features)))):
        mask[given.astype(np.intp)] = True
    else:
        raise ValueError(
            f"{parameter} must be column indices from 0 to {n_features - 1} or a mask of {n_features} booleans. Got "
            f"{columns!r} instead."
        )
    return mask


def check_unit_interval(name: str, low: NDArray[Any], high: NDArray[Any]) -> None:
    """Raise an error if columns, given by their least and largest entries, are not within [0, 1]."""
    if low.min(initial=0) < 0 or high.max(initial=1) > 1:
        raise ValueError(
            f"{name} must have entries in [0, 1]. Got entries from {low.min():.4g} to {high.max():.4g} instead."
        )
