"""Dask arrays and data frames as features: chunks of rows, dense or CSR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array

from .._text import listed


def validate_dask(estimator: BaseEstimator, X: Any, *, reset: bool, accept_sparse: bool) -> dask.array.Array:
    """Return a Dask array (n, d) of numbers with known chunks along the rows only.

    Its chunks are read as floats, and their entries checked, by the engine. Whether they are sparse is what Dask was
    told of them (``_meta``). The parameters are those of ``validate_features``.
    """
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D Dask array instead. X must have shape (n_samples, n_features)."
        )
    _check_feature_names(estimator, X._meta, reset=reset)
    is_frame = hasattr(X, "to_dask_array")
    X = _frame_as_array(X) if is_frame else X
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must be numeric. Got a Dask array of dtype {X.dtype} instead.")
    if sparse.issparse(X._meta):  # the error of a matrix in memory, if the estimator takes none
        check_array(X._meta, accept_sparse=accept_sparse, ensure_min_samples=0, ensure_min_features=0, input_name="X")
    if np.isnan(np.array(X.shape, dtype=float)).any():
        X = _naming_chunk(X, X.compute_chunk_sizes)
    if X.shape[0] == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    empty = [c for c, size in enumerate(X.chunks[0]) if not size]
    if empty:
        kind, remedy = (
            ("partitions", "X.repartition(partition_size='100MB')")
            if is_frame
            else ("chunks", "X.rechunk((100_000, -1))")
        )
        raise ValueError(f"X has {kind} without rows (number {listed(empty)}): join them, for example {remedy}.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    _check_n_features(estimator, X, reset=reset)
    return X


def validate_dask_weights(weights: Any, X: dask.array.Array) -> Any:
    """Return a Dask array of weights in the chunks of X, in float64."""
    if hasattr(weights, "to_dask_array"):
        weights = weights.to_dask_array(lengths=True)
    if weights.ndim != 1 or weights.shape[0] != X.shape[0]:
        raise ValueError(f"sample_weight must have shape ({X.shape[0]},). Got shape {weights.shape} instead.")
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must be numeric. Got a Dask array of dtype {weights.dtype} instead.")
    return weights.rechunk((X.chunks[0],)).astype(np.float64)


def _frame_as_array(X: Any) -> dask.array.Array:
    """A Dask data frame as an array of known chunks, in float64 unless its columns have float32 in common."""
    from pandas.api.types import is_numeric_dtype

    other = [f"{name!r} ({dtype})" for name, dtype in X.dtypes.items() if not is_numeric_dtype(dtype)]
    if other:
        raise ValueError(f"X must be numeric. Got the columns {listed(other)}: encode them as numbers, or drop them.")
    # pandas makes objects of booleans beside numbers, and of its own types with missing values
    common = np.result_type(*(getattr(dtype, "numpy_dtype", dtype) for dtype in X.dtypes))
    X = X.astype(np.float32 if common == np.float32 else np.float64)
    array: dask.array.Array = _naming_chunk(X.to_dask_array(), lambda: X.to_dask_array(lengths=True))
    return array


def _naming_chunk(X: dask.array.Array, sized: Callable[[], dask.array.Array]) -> dask.array.Array:
    """``sized()``; if it fails, an error with the number of the first chunk of X that cannot be computed."""
    try:
        return sized()
    except Exception:
        for c, chunk in enumerate(X.to_delayed().ravel()):
            try:
                dask.delayed(np.shape)(chunk).compute()
            except Exception as error:
                raise RuntimeError(f"chunk {c} of X could not be computed: {error}") from error
        raise
