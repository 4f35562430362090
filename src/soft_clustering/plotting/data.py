"""The data of the displays, before they are drawn: checked memberships, features in the plane, samples of rows."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.utils import check_array, check_random_state, check_scalar
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._estimators import Estimator
from .._types import Array, DataLike, MatrixLike
from ..inputs.features import is_dask, naming
from ..metrics._validation import refuse_no_clusters

_SMALL = 1 << 20  # entries of a sparse matrix that may be made dense
_SAME = 1e-24  # variance of equal samples, in squared units of their largest entry


def check_numbers(name: str, value: ArrayLike, *shape: int | str, negative: bool = True) -> Array:
    """Return a finite float64 array. ``shape`` has a number for a fixed length and a word for a free one.

    Examples
    --------
    >>> check_numbers("memberships", [[0.5, 0.5]], 3, "n_clusters")
    Traceback (most recent call last):
    ...
    ValueError: memberships must have shape (3, n_clusters). Got shape (1, 2) instead.
    """
    value = value.compute() if is_dask(value) else value
    # check_array sums the entries to look for NaN; entries near the largest float overflow there.
    with naming(name), np.errstate(over="ignore", invalid="ignore"):
        array: Array = check_array(value, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name)
    fits = len(shape) == array.ndim and all(
        isinstance(wanted, str) or wanted == length for wanted, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have shape ({', '.join(map(str, shape))}). Got shape {array.shape} instead.")
    if not negative and array.min() < 0:
        raise ValueError(f"{name} must be non-negative. Got {array.min():.4g} as its smallest entry.")
    return array


def check_memberships(memberships: ArrayLike, n_samples: int | str = "n_samples") -> Array:
    """Return a finite, non-negative (n, K) matrix."""
    refuse_no_clusters("memberships", memberships)
    return check_numbers("memberships", memberships, n_samples, "n_clusters", negative=False)


def estimator_memberships(estimator: Estimator, X: DataLike | None = None) -> Any:
    """Return the predicted memberships of X; those of the training data if X is None or there is no prediction."""
    check_is_fitted(estimator)
    if X is not None and hasattr(estimator, "predict_memberships"):
        return estimator.predict_memberships(X)
    name = type(estimator).__name__
    if not hasattr(estimator, "memberships_"):
        raise TypeError(f"estimator must have memberships_. Got a {name} instead; use from_memberships.")
    n = len(estimator.memberships_)
    if X is not None and _num_samples(X) != n:
        raise ValueError(
            f"X must be the training data: {name} cannot predict. "
            f"Got {_num_samples(X)} samples, but it was fitted on {n}."
        )
    return estimator.memberships_


def estimator_noise(estimator: Any, X: DataLike | None = None) -> Any:
    """Return the noise mass beside the memberships of :func:`estimator_memberships`; None if there is no noise."""
    if getattr(estimator, "membership_kind", None) != "subpartition":
        return None
    predicts = X is not None and hasattr(estimator, "predict_noise_mass")
    return estimator.predict_noise_mass(X) if predicts else estimator.noise_mass_


def check_noise(noise_mass: ArrayLike | None, n_samples: int) -> Array | None:
    """Return a finite, non-negative vector (n_samples,), or None."""
    return None if noise_mass is None else check_numbers("noise_mass", noise_mass, n_samples, negative=False)


def with_noise(memberships: Array, noise_mass: Array | None) -> Array:
    """Return the memberships, the noise as a last column if there is any."""
    return memberships if noise_mass is None else np.column_stack([memberships, noise_mass])


def feature_names(X: object, n_features: int) -> list[str]:
    """Return the names of a data frame's columns; without them, the features are numbered."""
    columns = getattr(X, "columns", range(n_features))
    return [f"feature {name}" if isinstance(name, (int, np.integer)) else str(name) for name in columns]


def check_features(X: MatrixLike) -> Any:
    """Return a finite (n, d) float64 array or CSR matrix."""
    if sparse.issparse(X):
        return check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    return check_numbers("X", X, "n_samples", "n_features")


def in_the_plane(X: MatrixLike, centers: ArrayLike | None = None) -> tuple[Array, Array | None, list[str]]:
    """Return points with one or two coordinates, centres likewise, and the names of the axes.

    More than two features are projected on their first two principal components.
    """
    names = X
    X = check_features(X)
    d = X.shape[1]
    if centers is not None:
        centers = check_numbers("centers", centers, "n_clusters", d)
    names = feature_names(names, d)
    if d <= 2:
        return (X.toarray() if sparse.issparse(X) else X), centers, names
    pca, unit = principal_plane(X)
    names = [f"PC {i} ({share:.0%} of the variance)" for i, share in enumerate(pca.explained_variance_ratio_, 1)]
    points = pca.transform(X / unit) * unit
    return points, None if centers is None else pca.transform(centers / unit) * unit, names


def principal_plane(X: Any) -> tuple[PCA, float]:
    """Return the first two principal components of checked features, fitted to X / unit, and the unit.

    In units of its largest entry the squares of X do not overflow. ``explained_variance_ratio_`` is 0 if all samples
    are the same.
    """
    n, d = X.shape
    if n < 2:
        raise ValueError(f"X must have at least 2 samples, to project {d} features on a plane. Got {n} instead.")
    unit = float(abs(X).max()) or 1.0
    # the solver for sparse matrices needs more rows than components, and rows that differ
    dense = not sparse.issparse(X) or n * d <= _SMALL or (X.max(axis=0) != X.min(axis=0)).nnz == 0
    pca = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # 0 / 0 if all samples are the same
        pca.fit(X.toarray() / unit if sparse.issparse(X) and dense else X / unit)
    # of equal samples there is only rounding
    pca.explained_variance_ratio_ = np.where(pca.explained_variance_ > _SAME, pca.explained_variance_ratio_, 0.0)
    return pca, unit


def check_count(name: str, value: object, least: int = 1) -> int:
    """Return an integer that is at least ``least``."""
    return int(check_scalar(value, name, Integral, min_val=least))


def sample_rows(n: int, max_points: int) -> NDArray[np.intp]:
    """Return at most this many rows, always the same, in random order, so that no cluster is drawn over another."""
    check_count("max_points", max_points)
    rows: NDArray[np.intp] = check_random_state(0).permutation(n)[:max_points]
    return rows


def check_axis_names(axis_names: Sequence[str] | None, d: int) -> list[str]:
    """Return a name per axis; the axes are numbered if no names are given."""
    names = feature_names(None, d) if axis_names is None else list(axis_names)
    if len(names) != d:
        raise ValueError(f"axis_names must have {d} entries. Got {len(names)} instead.")
    return names
