"""Feature matrices: arrays, data frames, sparse matrices, memory maps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    validate_data,
)

from .._registry import REGISTRY
from .._types import Matrix, MatrixLike

if TYPE_CHECKING:
    import dask.array


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the argument in errors of shape and of conversion to numbers, if they do not name it themselves."""
    try:
        yield
    except (ValueError, TypeError) as error:
        said = str(error)
        if name in said or name.replace("_", " ") in said.lower() or said.startswith("The feature names"):
            raise
        shape = said.startswith(("Expected 2D array", "Found array with"))
        raise type(error)(f"{name} {'has the wrong shape' if shape else 'must be numeric'}: {error}") from error


def is_dask(X: object) -> TypeGuard[Any]:
    """Whether X is a Dask collection; Dask itself is not imported."""
    return type(X).__module__.partition(".")[0] == "dask"


def refuse_dask(estimator: BaseEstimator, X: object) -> None:
    """Raise an error for a Dask collection: the estimator needs its rows in memory."""
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} compares rows with each other and takes no Dask array: pass X.compute() or a "
            "sample."
        )


def validate_features(estimator: BaseEstimator, X: MatrixLike, *, reset: bool, accept_sparse: bool) -> Any:
    """Return a finite (n, d) float matrix: a C-ordered array or canonical CSR; float32 is kept, and copies are avoided.

    A Dask collection becomes a Dask array whose chunks the engine reads in this form. The parameters are those of
    :func:`validate_rows`.
    """
    return validate_rows(estimator, X, reset=reset, accept_sparse=accept_sparse)[0]


def validate_rows(
    estimator: BaseEstimator, X: MatrixLike, *, reset: bool, accept_sparse: bool, accept_missing: bool = False
) -> tuple[Any, bool]:
    """Return features as :func:`validate_features` does, and whether values may be missing (NaN).

    Parameters
    ----------
    estimator : estimator
        ``n_features_in_`` and ``feature_names_in_`` are set on it (``reset=True``) or read from it.
    X : array-like, sparse matrix or Dask collection of shape (n, d)
    reset : bool
        True in ``fit``, False in prediction.
    accept_sparse : bool
        Whether the estimator takes sparse matrices.
    accept_missing : bool, default=False
        Whether it takes dense rows with missing values.
    """
    if is_dask(X):
        from .dask_collections import validate_dask

        array = validate_dask(estimator, X, reset=reset, accept_sparse=accept_sparse)
        return array, accept_missing and not sparse.issparse(array._meta)
    accept_missing = accept_missing and not sparse.issparse(X)
    # Sums of the entries tell whether there are NaN; entries near the largest float overflow there.
    with naming("X"), np.errstate(over="ignore", invalid="ignore"), _naming_those_with_gaps(estimator, X):
        if _is_ready(X):
            if not reset:
                return validate_data(estimator, X, reset=False, skip_check_array=True), False
            # validate_data does no more with an array, but first looks for names in it, which takes as long as a pass.
            vars(estimator).pop("feature_names_in_", None)
            estimator.n_features_in_ = X.shape[1]
            return X, False
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr" if accept_sparse else False,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite="allow-nan" if accept_missing else True,
        )
        if sparse.issparse(X):
            return canonical(X), False
        return X, accept_missing and bool(np.isnan(X.sum()) and np.isnan(X).any())


@contextmanager
def _naming_those_with_gaps(estimator: BaseEstimator, X: object) -> Iterator[None]:
    """Say in the error about NaN which estimators take missing values."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("Input X contains NaN"):
            raise
        takers = [row.name for row in REGISTRY if "missing" in row.suits and row.family != "federated"]
        name = type(estimator).__name__
        if name in takers and sparse.issparse(X):
            raise ValueError(
                "Input X contains NaN: missing values need a dense X, as the zeros of a sparse one are values."
            ) from None
        needs = f"{name} with these parameters needs" if name in takers else f"{name} needs"
        others = ", ".join(taker for taker in takers if taker != name)
        raise ValueError(
            f"Input X contains NaN. {needs} complete rows; {others} take missing values, or impute first "
            "(sklearn.impute)."
        ) from None


def takes_missing(estimator: Any) -> bool:
    """Whether an estimator of this library or of scikit-learn takes missing values (NaN)."""
    return isinstance(estimator, BaseEstimator) and bool(get_tags(estimator).input_tags.allow_nan)


def has_gaps(X: object) -> bool:
    """Whether X is an array of numbers some of which are missing (NaN)."""
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isnan(X).any())


def with_medians(X: Any) -> Any:
    """Features with the median of the column in the place of each missing value; X itself if there is none.

    Examples
    --------
    >>> with_medians(np.array([[1.0], [np.nan], [5.0]])).ravel()
    array([1., 3., 5.])
    """
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X) if has_gaps(X) else X


def _is_ready(X: object, dtypes: tuple[type, ...] = (np.float64, np.float32)) -> TypeGuard[NDArray[Any]]:
    """Whether scikit-learn's ``check_array``, which takes longer than a small fit, would return X as it is."""
    return (
        type(X) is np.ndarray
        and X.dtype in dtypes
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        and bool(np.isfinite(X.sum()))
    )


def canonical(X: Any) -> Any:
    """A sparse matrix as CSR with sorted column indices and no duplicates; it is copied only if it is not."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def validate_weights(sample_weight: Any, X: Matrix | dask.array.Array) -> Any:
    """Return the weights as a float64 vector, None without weights; raise an error if one is negative or all are 0.

    Weights that are a Dask array, of rows that are one, stay one, in the same chunks: the engine looks at their entries
    when it reads the rows.
    """
    if sample_weight is None:
        return None
    if is_dask(sample_weight):
        if is_dask(X):
            from .dask_collections import validate_dask_weights

            return validate_dask_weights(sample_weight, X)
        sample_weight = sample_weight.compute()
    with naming("sample_weight"):
        weights: NDArray[np.float64] = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    if not weights.any():
        raise ValueError("sample_weight must have a positive entry. Got only zeros.")
    if not 1e-100 < weights.max() < 1e100:
        raise ValueError(
            f"sample_weight must have its largest entry between 1e-100 and 1e100. Got {weights.max():.3g} instead."
        )
    return np.ascontiguousarray(weights)


def check_enough_samples(n_samples: int, n_clusters: int) -> None:
    """Raise an error if there are more clusters than samples (of positive weight)."""
    if n_samples < n_clusters:
        raise ValueError(f"n_samples={n_samples} should be >= n_clusters={n_clusters}.")


def validate_matrix(name: str, value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a finite float64 array of the given shape, for array parameters such as ``init``."""
    with naming(name), np.errstate(over="ignore", invalid="ignore"):
        if _is_ready(value, (np.float64,)):
            array: NDArray[np.float64] = np.array(value)
        else:
            array = check_array(
                value, dtype=np.float64, order="C", copy=True, ensure_2d=False, allow_nd=True, input_name=name
            )
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}. Got shape {array.shape} instead.")
    return array
