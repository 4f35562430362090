"""Validity of a hard partition, such as the strongest cluster of each sample.

The label -1 of samples without any membership is a label like any other. The internal indices are nan unless the number
of labels is in 2, ..., n - 1. Distances are taken by direct differences, or by a product of matrices if that is
accurate; for sparse data always by a product.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.pairwise import euclidean_distances

from .._types import Array, Matrix, MatrixLike, Seed
from ..engine.blocks import Block
from ._validation import check_distances, check_features, check_labels, in_units, ratio, sampled_rows

_CHUNK = 1 << 22  # distances held at a time: 32 MB
_DIRECT = 32  # up to this many features differences are faster than a product of matrices
_CLOSE = 2e-3  # a squared distance that is a smaller part of the squared norm loses over three digits in a product


def _applies(codes: NDArray[np.intp]) -> bool:
    return bool(2 <= codes.max() + 1 < len(codes))


def _distances(rows: Matrix, at: NDArray[np.intp]) -> Array:
    """Euclidean distances of some rows to all rows."""
    own = np.arange(len(at)), at
    if sparse.issparse(rows):
        D = np.asarray(euclidean_distances(rows[at], rows))
        D[own] = 0
        return D
    if rows.shape[1] > _DIRECT:
        norms = np.einsum("ij,ij->i", rows, rows)
        D = rows[at] @ rows.T
        D *= -2
        D += norms
        D += norms[at, None]
        D[own] = np.inf
        if (D.min(axis=1) > _CLOSE * norms[at]).all():
            D[own] = 0
            answer: Array = np.sqrt(D, out=D)
            return answer
    return np.asarray(cdist(rows[at], rows))


def silhouettes(
    X: Matrix, codes: NDArray[np.intp], drawn: NDArray[np.intp] | None = None, *, precomputed: bool = False
) -> Array:
    """The silhouettes of the drawn samples, by default of all; nan if the number of labels is not in 2, ..., n - 1.

    ``X`` is validated and ``codes`` are labels 0, 1, ..., K - 1 that all occur. Distances are to all samples.
    """
    n = len(codes)
    drawn = np.arange(n) if drawn is None else drawn
    if not _applies(codes):
        return np.full(len(drawn), np.nan)
    order = np.argsort(codes, kind="stable")
    rows: Any = X
    if not precomputed:
        block = in_units(X)
        if sparse.issparse(X):
            rows = X[order].astype(np.float64) * block.frame.scale
        else:
            rows = block.take(order)
            if block.d > _DIRECT:
                rows -= rows.mean(axis=0)  # smaller norms, so that more products keep their digits
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    values = np.empty(n)
    places = np.empty(n, dtype=np.intp)
    places[order] = np.arange(n)
    places = np.sort(places[drawn])
    step = max(1, _CHUNK // n)
    for lo in range(0, len(places), step):
        at = places[lo : lo + step]
        here = order[at]
        own = np.arange(len(here)), codes[here]
        D = rows[np.ix_(here, order)] if precomputed else _distances(rows, at)
        total = np.add.reduceat(D, starts, axis=1)
        size = sizes[own[1]]
        inside = total[own] / np.maximum(size - 1, 1)
        total /= sizes
        total[own] = np.inf
        outside = total.min(axis=1)
        widest = np.maximum(inside, outside)
        alone = (size == 1) | (widest == 0)
        values[here] = np.where(alone, 0, (outside - inside) / np.where(alone, 1, widest))
    return values[drawn]


def silhouette(
    X: MatrixLike,
    labels: ArrayLike,
    *,
    metric: str = "euclidean",
    max_samples: int | None = None,
    random_state: Seed = None,
) -> float:
    """Mean silhouette: how much closer samples are to their own cluster than to the next one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        With ``metric='precomputed'`` an array of distances, of shape (n_samples, n_samples).
    labels : array-like of shape (n_samples,)
    metric : {'euclidean', 'precomputed'}, default='euclidean'
    max_samples : int, default=None
        The mean is over at most this many samples, drawn at random without replacement; their distances to all samples
        count. None takes all.
    random_state : int, RandomState or None, default=None
        Draws the samples if there are more than ``max_samples``.

    Returns
    -------
    value : float
        In [-1, 1], larger is better; nan unless the number of labels is in 2, ..., n - 1.

    Notes
    -----
    1/n sum_k (b_k - a_k) / max(a_k, b_k) with the mean distance a_k to the other samples of the same cluster and the
    smallest mean distance b_k to the samples of another; 0 for a cluster of one sample [1]_. Takes O(n^2 d) time; the
    distances are held 32 MB at a time.

    The mean over s drawn samples is unbiased and takes O(s n d) time. Its standard error is the standard deviation of
    the silhouettes times sqrt((1 - s/n) / s): for s = 2000 at most 0.022, and about 0.005 on most data.

    References
    ----------
    .. [1] P. J. Rousseeuw (1987). Silhouettes: a graphical aid to the interpretation and validation of cluster
       analysis. Journal of Computational and Applied Mathematics 20, 53-65.

    Examples
    --------
    >>> from soft_clustering.metrics import silhouette
    >>> round(silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 4)
    0.8885
    >>> silhouette([[0, 1, 4], [1, 0, 4], [4, 4, 0]], [0, 0, 1], metric="precomputed")
    0.5
    """
    if metric not in ("euclidean", "precomputed"):
        raise ValueError(f"metric must be 'euclidean' or 'precomputed'. Got {metric!r} instead.")
    precomputed = metric == "precomputed"
    X = check_distances(X) if precomputed else check_features(X)
    codes = check_labels("labels", labels, X.shape[0])
    drawn = sampled_rows(len(codes), max_samples, random_state)
    return float(silhouettes(X, codes, drawn, precomputed=precomputed).mean())


def _centroids(block: Block, codes: NDArray[np.intp], sizes: NDArray[np.intp]) -> Array:
    """Mean of the rows of each label, (K, d). A second round corrects the rounding errors of the first."""
    indicator = sparse.csr_array((np.ones(block.n), codes, np.arange(block.n + 1)), shape=(block.n, len(sizes)))
    C = np.zeros((len(sizes), block.d))
    for _ in range(2):
        total = np.zeros_like(C)
        for lo, Z, _ in block.pieces():
            here = slice(lo, lo + Z.shape[0])
            total += indicator[here].T @ np.asarray(Z - C[codes[here]])
        C += total / sizes[:, None]
    return C


def _to_centroids(block: Block, codes: NDArray[np.intp], C: Array) -> Array:
    """Squared distance of each row to its centroid, (n,)."""
    parts = []
    for lo, Z, _ in block.pieces():
        difference = np.asarray(Z - C[codes[lo : lo + Z.shape[0]]])
        parts.append(np.einsum("ij,ij->i", difference, difference))
    return np.concatenate(parts)


def calinski_harabasz(X: MatrixLike, labels: ArrayLike) -> float:
    """Calinski-Harabasz index: variance between the clusters over variance within.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)

    Returns
    -------
    value : float
        In [0, inf], larger is better; nan unless the number of labels is in 2, ..., n - 1. inf if all samples sit on
        their centroids (scikit-learn: 1).

    Notes
    -----
    [ sum_i n_i |c_i - mean(X)|^2 / (K - 1) ] / [ sum_k |x_k - c_i(k)|^2 / (n - K) ] with the centroids c_i of n_i
    samples [1]_.

    References
    ----------
    .. [1] T. Calinski, J. Harabasz (1974). A dendrite method for cluster analysis. Communications in Statistics 3(1),
       1-27.

    Examples
    --------
    >>> from soft_clustering.metrics import calinski_harabasz
    >>> calinski_harabasz([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1])
    40.5
    """
    X = check_features(X)
    n = X.shape[0]
    codes = check_labels("labels", labels, n)
    if not _applies(codes):
        return math.nan
    block, sizes = in_units(X), np.bincount(codes)
    C = _centroids(block, codes, sizes)
    mean = _centroids(block, np.zeros_like(codes), np.array([n]))
    between = sizes @ ((C - mean) ** 2).sum(axis=1)
    within = _to_centroids(block, codes, C).sum()
    return ratio(between * (n - len(sizes)), within * (len(sizes) - 1))


def davies_bouldin(X: MatrixLike, labels: ArrayLike) -> float:
    """Davies-Bouldin index: how close each cluster comes to the one it is least separated from.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)

    Returns
    -------
    value : float
        In [0, inf], smaller is better; nan unless the number of labels is in 2, ..., n - 1. inf if two centroids
        coincide (scikit-learn leaves such pairs out), nan if these clusters have no extent either.

    Notes
    -----
    1/K sum_i max_{j != i} (s_i + s_j) / |c_i - c_j| with the mean distance s_i of the samples of a cluster to their
    centroid c_i [1]_.

    References
    ----------
    .. [1] D. L. Davies, D. W. Bouldin (1979). A cluster separation measure. IEEE TPAMI 1(2), 224-227.

    Examples
    --------
    >>> from soft_clustering.metrics import davies_bouldin
    >>> davies_bouldin([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1])
    0.2222222222222222
    """
    X = check_features(X)
    codes = check_labels("labels", labels, X.shape[0])
    if not _applies(codes):
        return math.nan
    block, sizes = in_units(X), np.bincount(codes)
    C = _centroids(block, codes, sizes)
    extent = np.bincount(codes, np.sqrt(_to_centroids(block, codes, C))) / sizes
    worst = [
        _worst_ratio(np.delete(extent, i) + s, np.delete(cdist(C[i : i + 1], C)[0], i)) for i, s in enumerate(extent)
    ]
    return float(np.mean(worst))


def _worst_ratio(extents: Array, gaps: Array) -> float:
    """The largest quotient, by the rule of ``ratio``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((extents / gaps).max())


def ari(labels: ArrayLike, y_true: ArrayLike) -> float:
    """Adjusted Rand index of two hard partitions.

    Parameters
    ----------
    labels, y_true : array-like of shape (n_samples,)

    Returns
    -------
    value : float
        In [-0.5, 1], larger is better: 1 for equal partitions, 0 expected by chance.

    Notes
    -----
    The Rand index minus its expectation over random partitions of the same sizes, over the largest possible difference
    [1]_; computed by scikit-learn.

    References
    ----------
    .. [1] L. Hubert, P. Arabie (1985). Comparing partitions. Journal of Classification 2, 193-218.

    Examples
    --------
    >>> from soft_clustering.metrics import ari
    >>> ari([1, 1, 0, 0], ["a", "a", "b", "b"])
    1.0
    """
    codes = check_labels("labels", labels)
    return float(adjusted_rand_score(check_labels("y_true", y_true, len(codes)), codes))


def nmi(labels: ArrayLike, y_true: ArrayLike) -> float:
    """Normalised mutual information of two hard partitions.

    Parameters
    ----------
    labels, y_true : array-like of shape (n_samples,)

    Returns
    -------
    value : float
        In [0, 1], larger is better: 1 for equal partitions.

    Notes
    -----
    Mutual information over the arithmetic mean of the two entropies [1]_; computed by scikit-learn.

    References
    ----------
    .. [1] N. X. Vinh, J. Epps, J. Bailey (2010). Information theoretic measures for clusterings comparison. JMLR 11,
       2837-2854.

    Examples
    --------
    >>> from soft_clustering.metrics import nmi
    >>> nmi([1, 1, 0, 0], ["a", "a", "b", "b"])
    1.0
    """
    codes = check_labels("labels", labels)
    return float(normalized_mutual_info_score(check_labels("y_true", y_true, len(codes)), codes))


def clustering_metrics(X: MatrixLike | None, labels: ArrayLike, *, y_true: ArrayLike | None = None) -> dict[str, float]:
    """Five measures of a hard partition under the same names for every estimator, nan if one does not apply.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or None
        The data. Without them (graphs, texts) the first three are nan.
    labels : array-like of shape (n_samples,)
        -1 is a label like any other.
    y_true : array-like of shape (n_samples,), default=None
        Classes. Without them the last two are nan.

    Returns
    -------
    values : dict
        ``silhouette``, ``calinski_harabasz``, ``davies_bouldin``, ``ari`` and ``nmi``, in this order. The first three
        are nan unless the number of labels is in 2, ..., n - 1.

    See Also
    --------
    soft_clustering_metrics : the same for memberships.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.metrics import clustering_metrics
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = FCM(n_clusters=3, m=2.0, random_state=0).fit_predict(X)
    >>> {name: round(value, 3) for name, value in clustering_metrics(X, labels, y_true=y).items()}
    {'silhouette': 0.55, 'calinski_harabasz': 560.224, 'davies_bouldin': 0.669, 'ari': 0.729, 'nmi': 0.75}
    """
    codes = check_labels("labels", labels)
    values = dict.fromkeys(["silhouette", "calinski_harabasz", "davies_bouldin", "ari", "nmi"], math.nan)
    if X is not None:
        values["silhouette"] = silhouette(X, codes)
        values["calinski_harabasz"] = calinski_harabasz(X, codes)
        values["davies_bouldin"] = davies_bouldin(X, codes)
    if y_true is not None:
        values["ari"] = ari(codes, y_true)
        values["nmi"] = nmi(codes, y_true)
    return values
