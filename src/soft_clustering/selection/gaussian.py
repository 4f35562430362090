"""BIC of the clusters as Gaussians: the same score for every clusterer of features, whatever its own objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import logsumexp

from .._types import Array, MatrixLike
from ..engine.threads import single_threaded_blas
from ..metrics._validation import check_features

_DISCRETE = 10  # columns of at most this many different values are not continuous
_WIDE = 128  # with more features, full covariances would cost more than the fits
_DEPENDENT = 1e-10  # smallest reciprocal condition of the correlations: below it, log determinants are rounding errors
_STRONG = 10.0  # a difference of BIC that is very strong evidence (Kass and Raftery 1995)
_FLAT = 1e-13  # a feature is constant up to rounding if its standard deviation is a smaller share of its mean


class Table(NamedTuple):
    """Features divided by their mean standard deviation, centred if dense, and statistics of all rows."""

    X: Any  # (n, d) array or CSR matrix
    variances: Array  # (d,)
    covariance: Array | None  # (d, d), None if correlations are left out
    log_unit: float


class Clusters(NamedTuple):
    """A partition of the rows and its statistics."""

    labels: NDArray[np.intp]
    sizes: Array  # (K,)
    means: Array  # (K, d)
    squares: Array  # (K, d): sums of squared deviations from the means
    scatters: Array | None  # (K, d, d): sums of their outer products


def gaussian_bic(X: MatrixLike, labels: Mapping[int, NDArray[Any]]) -> tuple[dict[int, float], set[int]]:
    """Compute the BIC of Gaussian clusters for partitions of the same rows, one for each K.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    labels : mapping of int to array of shape (n_samples,)
        A partition for each K.

    Returns
    -------
    bic : dict of int to float
        Smaller is better; empty if X is not a table of finite numbers, or all rows are equal.
    merged : set of int
        The K whose own partition is clearly worse than the one merged from a partition of larger K: its BIC is larger
        by more than 10.

    Notes
    -----
    Each cluster becomes a component of a mixture, with its share, its mean and its covariance. The covariance is
    spherical, diagonal or full, and common to all clusters or one for each; of these six structures the one of smallest
    -2 log L + p log n counts, as in [1]_. Covariances are posterior modes under the prior of [2]_, so that they are
    regular for small clusters, too. Full covariances are left out for sparse data and for more than 128 features.

    An iterative method sometimes misses its best partition. Therefore the two nearest clusters of the partition of
    K + 1 clusters are joined (those that raise the scatter least, in units of the scatter within the clusters), and the
    result replaces the partition of K clusters if its BIC is smaller.

    References
    ----------
    .. [1] C. Fraley, A. E. Raftery (2002). Model-based clustering, discriminant analysis, and density estimation.
       Journal of the American Statistical Association 97(458), 611-631.
    .. [2] C. Fraley, A. E. Raftery (2007). Bayesian regularization for normal mixture estimation and model-based
       clustering. Journal of Classification 24(2), 155-181.

    Examples
    --------
    >>> X = np.concatenate([np.linspace(0, 1, 30), np.linspace(5, 6, 30)])[:, None]
    >>> labels = {1: np.zeros(60), 2: np.repeat([0, 1], 30), 3: np.repeat([0, 1, 2], [30, 15, 15])}
    >>> bic, _ = gaussian_bic(X, labels)
    >>> min(bic, key=bic.get)
    2
    """
    table = _table(X)
    bic: dict[int, float] = {}
    merged: set[int] = set()
    if table is None:
        return bic, merged
    with single_threaded_blas():
        kept: Clusters | None = None
        for K in sorted(labels, reverse=True):
            own = _clusters(table, labels[K])
            bic[K] = _bic(table, own)
            while kept is not None and len(kept.sizes) > K:
                kept = _joined(table, kept)
            joined = math.inf if kept is None or len(kept.sizes) < K else _bic(table, kept)
            if joined < bic[K]:
                if bic[K] - joined > _STRONG:
                    merged.add(K)
                bic[K] = joined
            else:
                kept = own
    return dict(sorted(bic.items())), merged


def are_continuous(X: Array) -> NDArray[np.bool_]:
    """Return which columns have many different values, more than 10; those of categories and booleans have few.

    A density is infinite at single values, so that the BIC of Gaussian clusters says nothing of such columns.

    Examples
    --------
    >>> are_continuous(np.column_stack([np.arange(40.0), np.arange(40) % 2]))
    array([ True, False])
    """
    most = min(_DISCRETE, len(X) // 3)
    return np.array([len(np.unique(column)) > most for column in X.T], dtype=bool)


def _table(X: MatrixLike) -> Table | None:
    try:
        X = check_features(X)
    except (TypeError, ValueError):
        return None
    X = X.astype(np.float64)
    means = np.asarray(X.mean(axis=0)).ravel()
    if sparse.issparse(X):
        deviations = np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - means**2, 0.0))
    else:
        X = X - means
        deviations = X.std(axis=0)
    varying = deviations > _FLAT * np.abs(means)
    if not varying.any():
        return None
    unit = float(deviations[varying].mean())
    X = X[:, varying] / unit
    variances = (deviations[varying] / unit) ** 2
    n, d = X.shape
    covariance = None
    if not sparse.issparse(X) and d <= _WIDE:
        covariance = X.T @ X / n
        values = np.linalg.eigvalsh(covariance / np.sqrt(np.outer(variances, variances)))
        if values[0] < _DEPENDENT * values[-1]:
            covariance = None
    return Table(X, variances, covariance, math.log(unit))


def _clusters(table: Table, labels: NDArray[Any]) -> Clusters:
    codes: NDArray[np.intp] = np.unique(np.asarray(labels), return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(codes).astype(np.float64)
    n, K = len(codes), len(sizes)
    indicators = sparse.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, K))
    X = table.X
    if sparse.issparse(X):
        means = (indicators.T @ X).toarray() / sizes[:, None]
        squares = (indicators.T @ X.multiply(X).tocsr()).toarray() - sizes[:, None] * means**2
        return Clusters(codes, sizes, means, np.maximum(squares, 0.0), None)
    means = (indicators.T @ X) / sizes[:, None]
    rest = X - means[codes]
    squares = indicators.T @ rest**2
    scatters = None
    if table.covariance is not None:
        scatters = np.array([rest[codes == k].T @ rest[codes == k] for k in range(K)])
    return Clusters(codes, sizes, means, squares, scatters)


def _joined(table: Table, of: Clusters) -> Clusters:
    """Join the two nearest clusters of a partition."""
    if table.covariance is not None and of.scatters is not None:
        within = _regularised(of.scatters.sum(axis=0), table.covariance, of.sizes.sum(), of)
        places = solve_triangular(cholesky(within, lower=True), of.means.T, lower=True).T
    else:
        places = of.means / np.sqrt(_regularised(of.squares.sum(axis=0), table.variances, of.sizes.sum(), of))
    costs = ((places[:, None] - places) ** 2).sum(axis=2) * (
        of.sizes[:, None] * of.sizes / (of.sizes[:, None] + of.sizes)
    )
    costs[np.tril_indices(len(costs))] = np.inf
    i, j = map(int, np.unravel_index(costs.argmin(), costs.shape))
    sizes, means, squares = of.sizes.copy(), of.means.copy(), of.squares.copy()
    gap, weight = means[i] - means[j], sizes[i] * sizes[j] / (sizes[i] + sizes[j])
    squares[i] += squares[j] + weight * gap**2
    means[i] = (sizes[i] * means[i] + sizes[j] * means[j]) / (sizes[i] + sizes[j])
    sizes[i] += sizes[j]
    scatters = None
    if of.scatters is not None:
        scatters = of.scatters.copy()
        scatters[i] += scatters[j] + weight * np.outer(gap, gap)
        scatters = np.delete(scatters, j, axis=0)
    labels = np.where(of.labels == j, i, of.labels)
    return Clusters(
        labels - (labels > j), np.delete(sizes, j), np.delete(means, j, 0), np.delete(squares, j, 0), scatters
    )


def _regularised(scatter: Array, total: Array, sizes: Array | float, of: Clusters) -> Array:
    """Return the posterior mode of (co)variances.

    The prior weighs as much as d + 2 rows whose covariance is that of all rows divided by K^(2/d).
    """
    K, d = of.means.shape
    mode: Array = (scatter + K ** (-2 / d) * total) / (sizes + d + 2)
    return mode


def _bic(table: Table, of: Clusters) -> float:
    """Return the smallest BIC over the structures of the covariances."""
    K, d = of.means.shape
    n = len(of.labels)
    columns = of.sizes[:, None]
    # for each structure: its variances, and p, the number of their parameters
    pooled, total = of.squares.sum(axis=0), table.variances
    sphere = np.full(d, total.mean())
    diagonal = [
        (_regularised(np.full((K, d), pooled.mean()), sphere, n, of), 1),
        (_regularised(np.repeat(of.squares.mean(axis=1)[:, None], d, axis=1), sphere, columns, of), K),
        (_regularised(np.tile(pooled, (K, 1)), total, n, of), d),
        (_regularised(of.squares, total, columns, of), K * d),
    ]
    found = [_deviance(*_diagonal_terms(table.X, of, variances), of) + p * math.log(n) for variances, p in diagonal]
    if table.covariance is not None and of.scatters is not None:
        corners = d * (d + 1) // 2
        full = [
            (_regularised(of.scatters.sum(axis=0), table.covariance, n, of)[None], corners),
            (_regularised(of.scatters, table.covariance, columns[:, :, None], of), K * corners),
        ]
        for covariances, p in full:
            try:
                found.append(_deviance(*_full_terms(table.X, of, covariances), of) + p * math.log(n))
            except LinAlgError:
                continue
    return float(min(found) + (K * d + K - 1) * math.log(n) + 2 * n * d * table.log_unit)


def _diagonal_terms(X: Any, of: Clusters, variances: Array) -> tuple[Array, Array]:
    """Return the squared distances (n, K) and the log determinants (K,)."""
    inverse = 1 / variances
    squared = X.multiply(X).tocsr() if sparse.issparse(X) else X**2
    distances = squared @ inverse.T - 2 * (X @ (of.means * inverse).T) + (of.means**2 * inverse).sum(axis=1)
    return distances, np.log(variances).sum(axis=1)


def _full_terms(X: Array, of: Clusters, covariances: Array) -> tuple[Array, Array]:
    distances, logs = np.empty((len(X), len(of.sizes))), np.empty(len(of.sizes))
    for k, mean in enumerate(of.means):
        if k < len(covariances):
            root = cholesky(covariances[k], lower=True)
            rows = solve_triangular(root, X.T, lower=True)
            log = 2 * np.log(np.diag(root)).sum()
        distances[:, k] = ((rows - solve_triangular(root, mean, lower=True)[:, None]) ** 2).sum(axis=0)
        logs[k] = log
    return distances, logs


def _deviance(distances: Array, logs: Array, of: Clusters) -> float:
    """Return -2 log L of the mixture."""
    n, d = len(of.labels), of.means.shape[1]
    terms = -0.5 * (distances + logs + d * math.log(2 * math.pi)) + np.log(of.sizes / n)
    return -2 * float(logsumexp(terms, axis=1).sum())
