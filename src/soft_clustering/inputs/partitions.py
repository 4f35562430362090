"""Partitions of the same objects: label vectors and membership matrices, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from .._types import MatrixLike
from .features import naming

_NOTHING = 1e-100  # a smaller share of a row is set to 0: squares of the others do not underflow
_RATIO = 1e50  # of the largest to the least positive weight, for the same reason


class Partitions(NamedTuple):
    """Partitions of n objects."""

    memberships: list[Any]
    """Float64 matrices (n, K_b), arrays or CSR; a row sums to 1, or is zero if the object is missing."""
    columns: list[NDArray[Any]]
    """For each partition the labels of its columns: those of a label vector, 0 ... K_b - 1 for a matrix."""
    dtype: type[np.floating[Any]]
    """float32 if all matrices among the partitions are float32, otherwise float64."""


def validate_partitions(X: Sequence[MatrixLike], columns: list[NDArray[Any]] | None = None) -> Partitions:
    """Convert label vectors and membership matrices to membership matrices whose rows sum to 1.

    Parameters
    ----------
    X : list or tuple
        Each entry is a label vector (n,), in which -1 and NaN mark a missing object, or a matrix (n, K_b) of
        non-negative memberships, dense or sparse, in which a row of zeros marks one.
    columns : list of ndarray, default=None
        In prediction, the labels of the columns in ``fit``: the same partitions must be given.
    """
    if not isinstance(X, (list, tuple)):
        shape = f" of shape {X.shape}" if hasattr(X, "shape") else ""
        raise TypeError(
            f"X must be a list or tuple of partitions: label vectors (n,) or membership matrices (n, K_b). Got "
            f"{type(X).__name__}{shape} instead."
        )
    if len(X) == 0:
        raise ValueError("X must have at least one partition. Got an empty list.")
    if columns is not None and len(X) != len(columns):
        raise ValueError(f"X has {len(X)} partitions, but there were {len(columns)} partitions in fit.")
    found = [_as_array(f"X[{b}]", partition) for b, partition in enumerate(X)]
    for b, partition in enumerate(found):
        if partition.shape[0] != found[0].shape[0]:
            raise ValueError(
                f"The partitions in X must have the same number of objects. Got {found[0].shape[0]} in X[0] and "
                f"{partition.shape[0]} in X[{b}]."
            )
    pairs = [
        (_from_labels if partition.ndim == 1 else _from_memberships)(
            f"X[{b}]", partition, None if columns is None else columns[b]
        )
        for b, partition in enumerate(found)
    ]
    types = {partition.dtype for partition in found if partition.ndim == 2}
    dtype = np.float32 if types == {np.dtype(np.float32)} else np.float64
    return Partitions([U for U, _ in pairs], [labels for _, labels in pairs], dtype)


def _as_array(name: str, partition: MatrixLike) -> Any:
    """Return a vector or matrix of numbers, dense or CSR; NaN is still allowed."""
    array: Any = partition
    plain = type(array) is np.ndarray and array.dtype.kind in "biuf" and array.size > 0
    # check_array takes most of the time of small partitions: leave it out in the usual case
    if not (plain and np.isfinite(array.min()) and np.isfinite(array.max())):
        with naming(name):
            array = check_array(
                partition,
                accept_sparse="csr",
                dtype="numeric",
                ensure_2d=False,
                allow_nd=True,
                ensure_all_finite="allow-nan",
                ensure_min_samples=0,
                ensure_min_features=0,
                input_name=name,
            )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numeric. Got dtype {array.dtype} instead.")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must be a label vector (n,) or a membership matrix (n, K_b). Got {array.ndim} dimensions instead; "
            "a single partition is a list of one."
        )
    if array.shape[0] == 0:
        raise ValueError(f"{name} must have at least one object. Got shape {array.shape} instead.")
    return array


def _from_labels(name: str, labels: NDArray[Any], columns: NDArray[Any] | None) -> tuple[Any, NDArray[Any]]:
    """Return the one-hot matrix of a label vector, and the labels of its columns."""
    present = ~np.isnan(labels)
    known = labels[present]
    if known.dtype.kind == "f" and not (known == np.floor(known)).all():
        raise ValueError(
            f"{name} has one dimension, so that it must hold integer labels. Got "
            f"{known[known != np.floor(known)][0]:.6g}; memberships must have shape (n, K_b)."
        )
    if known.dtype.kind in "if":
        if (known < -1).any():
            raise ValueError(f"{name} must hold labels >= 0, or -1 and NaN for missing objects. Got {known.min():g}.")
        present[present] = known >= 0
        known = known[known >= 0]
    if columns is None:
        columns = np.unique(known)
    at = np.searchsorted(columns, known)
    new = at == len(columns)
    new[~new] = columns[at[~new]] != known[~new]
    if new.any():
        raise ValueError(
            f"{name} has the label {known[new][0]}, which did not occur in fit; the labels in fit were "
            f"{np.array2string(columns, threshold=10)}."
        )
    starts = np.concatenate([[0], np.cumsum(present)])
    return sparse.csr_array((np.ones(len(at)), at, starts), shape=(len(labels), len(columns))), columns


def _from_memberships(name: str, U: Any, columns: NDArray[Any] | None) -> tuple[Any, NDArray[Any]]:
    """Return memberships with rows that sum to 1 or are zero, and the labels 0 ... K_b - 1."""
    if U.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column. Got shape {U.shape} instead.")
    if columns is None:
        columns = np.arange(U.shape[1])
    elif U.shape[1] != len(columns):
        raise ValueError(f"{name} has {U.shape[1]} columns, but there were {len(columns)} clusters in fit.")
    if sparse.issparse(U):
        U = sparse.csr_array(U, dtype=np.float64, copy=True)
        U.sum_duplicates()
        values = U.data
    else:
        U = values = np.array(U, dtype=np.float64, order="C")
    least = values.min(initial=0.0)
    if np.isnan(least):
        raise ValueError(f"{name} contains NaN. Mark a missing object by a row of zeros.")
    if least < 0:
        raise ValueError(f"{name} must hold memberships >= 0. Got {least:g} instead.")
    if U.shape[1] == 1 and (values > 1).any():
        raise ValueError(
            f"{name} has one column with entries up to {values.max():g}. Labels must have shape (n,), memberships in a "
            "single cluster must be at most 1."
        )
    values /= U.shape[1]  # otherwise the sum of a row might overflow
    total = U @ np.ones(U.shape[1])
    total = np.where(total > 0, total, 1)
    values /= np.repeat(total, np.diff(U.indptr)) if sparse.issparse(U) else total[:, None]
    values[values < _NOTHING] = 0
    if sparse.issparse(U):
        U.eliminate_zeros()
    return U, columns


def validate_partition_weights(partition_weights: ArrayLike | None, n_partitions: int) -> NDArray[np.float64]:
    """Return a non-negative weight per partition; the positive ones are scaled to a mean of 1."""
    if partition_weights is None:
        return np.ones(n_partitions)
    with naming("partition_weights"):
        weights: NDArray[np.float64] = check_array(
            partition_weights,
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            ensure_min_samples=0,
            input_name="partition_weights",
        )
    if weights.shape != (n_partitions,):
        raise ValueError(
            f"partition_weights must have shape {(n_partitions,)}, a weight per partition. Got shape {weights.shape} "
            "instead."
        )
    if (weights < 0).any():
        raise ValueError(f"partition_weights must be >= 0. Got {weights.min():g} instead.")
    if not weights.any():
        raise ValueError("partition_weights must have a positive entry. Got only zeros.")
    weights = weights / weights.max()
    positive = weights[weights > 0]
    if positive.min() < 1 / _RATIO:
        raise ValueError(f"partition_weights must be 0 or at least the largest / {_RATIO:g}.")
    scaled: NDArray[np.float64] = weights / positive.mean()
    return scaled
