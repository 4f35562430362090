"""What the metrics on data, memberships and labels share: validation, units, quotients."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from .._types import Array, Matrix, MatrixLike, Seed
from ..engine.blocks import Block, Frame
from ..inputs.features import is_dask, naming
from ..inputs.pairwise import check_dissimilarities


def _in_memory(value: Any) -> Any:
    return value.compute() if is_dask(value) else value


def check_matrix(
    name: str, value: MatrixLike, columns: str, n_samples: int | None = None, *, accept_sparse: bool = False
) -> Array:
    """A finite, non-negative float64 matrix; a Dask array is computed. ``columns`` says what the columns are.

    With ``accept_sparse`` a sparse matrix comes back as CSR.

    Examples
    --------
    >>> check_matrix("U", [[0.5, 0.5]], "n_clusters", 3)
    Traceback (most recent call last):
    ...
    ValueError: U must have one row per sample, 3 rows. Got shape (1, 2) instead.
    """
    if columns == "n_clusters":
        refuse_no_clusters(name, value)
    # Entries near the largest float overflow in the sum that looks for NaN.
    with naming(name), np.errstate(over="ignore", invalid="ignore"):
        U: Array = check_array(
            _in_memory(value),
            accept_sparse="csr" if accept_sparse else False,
            dtype=np.float64,
            ensure_2d=False,
            allow_nd=True,
            input_name=name,
        )
    if U.ndim != 2:
        raise ValueError(f"{name} must be a matrix with {columns} columns. Got shape {U.shape} instead.")
    if n_samples is not None and U.shape[0] != n_samples:
        raise ValueError(f"{name} must have one row per sample, {n_samples} rows. Got shape {U.shape} instead.")
    if U.min() < 0:
        raise ValueError(f"{name} must be >= 0 everywhere. Got a smallest entry of {U.min():g} instead.")
    return U


def refuse_no_clusters(name: str, value: object) -> None:
    """Raise an error for memberships without a column: the fit found no cluster.

    Examples
    --------
    >>> refuse_no_clusters("U", np.empty((3, 0)))
    Traceback (most recent call last):
    ...
    ValueError: U must have a column per cluster. Got none: no cluster was found.
    """
    if getattr(value, "shape", ())[1:] == (0,):
        raise ValueError(f"{name} must have a column per cluster. Got none: no cluster was found.")


def check_features(X: MatrixLike) -> Any:
    """A finite (n, d) float array or canonical CSR matrix, float32 kept; a Dask array is computed."""
    with naming("X"), np.errstate(over="ignore", invalid="ignore"):
        X = check_array(_in_memory(X), accept_sparse="csr", dtype=[np.float64, np.float32], order="C", input_name="X")
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_distances(X: MatrixLike) -> Array:
    """A symmetric matrix of finite distances >= 0 with a zero diagonal."""
    D = check_matrix("X", X, "n_samples")
    check_dissimilarities(D, square=True)
    return D


def label_codes(name: str, labels: ArrayLike) -> tuple[NDArray[np.intp], int]:
    """A vector of labels as integers 0, 1, ..., K - 1, and K."""
    labels = np.asarray(labels)
    if labels.size == 0:
        raise ValueError(f"Found array with 0 sample(s) ({name}) while a minimum of 1 is required.")
    try:
        if any(label != label for label in labels.tolist()):
            raise ValueError(f"Input {name} contains NaN.")
        values, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"{name} must hold labels of one type, such as numbers or strings: {error}") from error
    return codes, len(values)


def check_labels(name: str, labels: ArrayLike, n_samples: int | None = None) -> NDArray[np.intp]:
    """Labels (numbers or strings) as 0, 1, ..., in the order of their values.

    Examples
    --------
    >>> check_labels("labels", [-1, 5, 5])
    array([0, 1, 1])
    """
    values = np.asarray(_in_memory(labels))
    if values.ndim != 1:
        raise ValueError(f"{name} must have shape (n_samples,). Got shape {values.shape} instead.")
    if n_samples is not None and len(values) != n_samples:
        raise ValueError(f"{name} must have one entry per sample, {n_samples} entries. Got {len(values)} instead.")
    return label_codes(name, values)[0]


def check_real(name: str, value: object, low: float) -> float:
    """A finite number of at least ``low``."""
    if not isinstance(value, Real) or not low <= float(value) < math.inf:
        raise ValueError(f"{name} must be a finite number >= {low:g}. Got {value!r} instead.")
    return float(value)


def sampled_rows(n: int, max_samples: int | None, random_state: Seed) -> NDArray[np.intp] | None:
    """Rows drawn at random without replacement, in ascending order; None if all n are to be used.

    Examples
    --------
    >>> sampled_rows(5, 2, 0), sampled_rows(5, 5, 0)
    (array([0, 2]), None)
    """
    constraints = {"max_samples": [Interval(Integral, 2, None, closed="left"), None]}
    validate_parameter_constraints(constraints, {"max_samples": max_samples}, "this metric")
    rng = check_random_state(random_state)
    if max_samples is None or max_samples >= n:
        return None
    drawn: NDArray[np.intp] = rng.choice(n, int(max_samples), replace=False)
    drawn.sort()
    return drawn


def in_units(X: Matrix, *others: Array) -> Block:
    """The rows in units of the largest entry, a power of two: no square of a difference overflows.

    There is no shift: a difference of rows is then rounded once, as in the formulas.
    """
    most = max(max(float(A.max()), -float(A.min())) for A in (X, *others))
    if most > 1e307:
        raise ValueError(f"X and centers must have entries below 1e307 in absolute value. Got {most:.3g} instead.")
    exponent = min(-math.frexp(most)[1], 1000)
    return Block(X, None, Frame(np.zeros(X.shape[1]), math.ldexp(1.0, exponent)))


def ratio(numerator: float, denominator: float) -> float:
    """The quotient of two numbers >= 0; x / 0 is inf, and 0 / 0 is nan.

    Examples
    --------
    >>> ratio(1.0, 4.0), ratio(1.0, 0.0), ratio(0.0, 0.0)
    (0.25, inf, nan)
    """
    if denominator == 0:
        return math.inf if numerator > 0 else math.nan
    return float(numerator / denominator)
