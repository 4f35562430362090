"""Validity of a soft clustering from its memberships U, and from the data and the prototypes.

In the formulas u_ik is the membership of sample k in cluster i, v_i the prototype of cluster i, x_k a sample, m the
fuzzifier, n the number of samples and K of clusters; J = sum_ik u_ik^m |x_k - v_i|^2. Matrices have one row per
sample, as everywhere in this package.

One rule holds for every index: it is nan if it is not defined, such as a separation of one prototype. A quotient
x / 0 is inf and 0 / 0 is nan, so coinciding prototypes make ``xie_beni`` infinite. Distances are taken by direct
differences, in units of the data, so neither large offsets nor extreme scales cost digits. Sparse data are not
centred and their distances come from the expanded square.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg.lapack import dpocon, dpotrf
from scipy.spatial.distance import pdist, squareform
from scipy.special import entr
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from .._types import Array, MatrixLike, Seed
from ..base import labels_from_memberships
from ..engine.blocks import Block, Frame
from ..engine.threads import single_threaded_blas
from ..evidential import credal
from ..inputs.features import naming, validate_matrix
from ..kernels.gauss import gauss_statistics
from ..kernels.reference import squared_distances
from ._validation import check_features, check_matrix, check_real, in_units, ratio, sampled_rows
from .partition import silhouettes

_SINGULAR = 1e-14  # times d: a correlation matrix of a smaller reciprocal condition has dependent features
_TOGETHER = 2**20  # most entries of covariances that are formed together; if there are more, one cluster at a time
_FLAT = 1e-13  # a feature whose standard deviation is a smaller part of its mean is constant up to rounding


# Memberships alone ----------------------------------------------------------------------------------------------------


def partition_coefficient(U: ArrayLike) -> float:
    """Partition coefficient: how crisp the memberships are.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships whose rows sum to 1; taken as they are, not checked for it.

    Returns
    -------
    value : float
        In [1/K, 1]: 1 for a hard partition, 1/K if all memberships are equal.

    Notes
    -----
    PC = 1/n sum_ik u_ik^2. It does not measure how good the clusters are [1]_.

    References
    ----------
    .. [1] J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.

    Examples
    --------
    >>> from soft_clustering.metrics import partition_coefficient
    >>> partition_coefficient([[1, 0], [0.5, 0.5]])
    0.75
    """
    U = check_matrix("U", U, "n_clusters")
    return float((U * U).sum() / len(U))


def modified_partition_coefficient(U: ArrayLike) -> float:
    """Modified partition coefficient: crispness on a scale that does not depend on K.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships whose rows sum to 1; taken as they are, not checked for it.

    Returns
    -------
    value : float
        In [0, 1], 1 for a hard partition; nan for one cluster.

    Notes
    -----
    MPC = (PC - 1/K) / (1 - 1/K) [1]_, with the partition coefficient PC.

    References
    ----------
    .. [1] R. N. Dave (1996). Validating fuzzy partitions obtained through c-shells clustering. Pattern Recognition
       Letters 17(6), 613-623.

    Examples
    --------
    >>> from soft_clustering.metrics import modified_partition_coefficient
    >>> modified_partition_coefficient([[1, 0], [0.5, 0.5]])
    0.5
    """
    U = check_matrix("U", U, "n_clusters")
    K = U.shape[1]
    return math.nan if K == 1 else (partition_coefficient(U) - 1 / K) / (1 - 1 / K)


def partition_entropy(U: ArrayLike) -> float:
    """Partition entropy: how fuzzy the memberships are.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships whose rows sum to 1; taken as they are, not checked for it.

    Returns
    -------
    value : float
        In [0, log K]: 0 for a hard partition, log K if all memberships are equal.

    Notes
    -----
    PE = -1/n sum_ik u_ik log u_ik with the natural logarithm and 0 log 0 = 0 [1]_.

    References
    ----------
    .. [1] J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.

    Examples
    --------
    >>> from soft_clustering.metrics import partition_entropy
    >>> round(partition_entropy([[1, 0], [0.5, 0.5]]), 4)
    0.3466
    """
    U = check_matrix("U", U, "n_clusters")
    return float(entr(U).sum() / len(U))


def nonspecificity(masses: ArrayLike, focal_sets: ArrayLike) -> float:
    """Nonspecificity of a credal partition: how imprecise its masses are, on average.

    Parameters
    ----------
    masses : array-like of shape (n_samples, n_focal_sets)
        Masses of the focal sets; rows sum to 1.
    focal_sets : array-like of shape (n_focal_sets, n_clusters), bool
        Which clusters are in which focal set; a row without any is the empty set.

    Returns
    -------
    value : float
        In [0, 1]: 0 if all mass is on single clusters, 1 if it is on all clusters together or on the empty set.
        Smaller is better if numbers of clusters are compared. 0 for one cluster.

    Notes
    -----
    N = 1/(n log K) sum_k [ sum_A m_k(A) log |A| + m_k(empty) log K ], A over the sets that are not empty: the measure
    of [1]_ as normalised in [2]_. The base of the logarithm cancels.

    References
    ----------
    .. [1] D. Dubois, H. Prade (1985). A note on measures of specificity for fuzzy sets. International Journal of
       General Systems 10(4), 279-283.
    .. [2] M.-H. Masson, T. Denoeux (2008). ECM: an evidential version of the fuzzy c-means algorithm. Pattern
       Recognition 41(4), 1384-1397.

    Examples
    --------
    >>> from soft_clustering.metrics import nonspecificity
    >>> focal_sets = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> nonspecificity([[0, 1, 0, 0], [0, 0.25, 0.25, 0.5]], focal_sets)
    0.25
    """
    masses = check_matrix("masses", masses, "n_focal_sets")
    sets = check_matrix("focal_sets", focal_sets, "n_clusters")
    if not np.isin(sets, (0, 1)).all():
        raise ValueError(f"focal_sets must be True or False, 1 or 0 everywhere. Got {sets[sets != 1].max():g} instead.")
    if len(sets) != masses.shape[1]:
        raise ValueError(
            f"focal_sets must have one row per column of masses, {masses.shape[1]} rows. "
            f"Got shape {sets.shape} instead."
        )
    return credal.nonspecificity(masses, sets)


# Memberships, data and prototypes -------------------------------------------------------------------------------------


def _weights(U: Array, m: float) -> Array:
    """u^m."""
    m = check_real("m", m, 1)
    if U.max() > 1 and m * math.log10(U.max()) > 100:
        raise ValueError(f"U ** m must be at most 1e100. Got a largest entry of {U.max():g} and m={m:g} instead.")
    if m == 1:
        return np.ascontiguousarray(U)
    return np.ascontiguousarray(U * U if m == 2 else U**m)


def _read(X: MatrixLike, U: ArrayLike, centers: ArrayLike) -> tuple[Block, Array, Array]:
    """Rows, memberships and prototypes; rows and prototypes in units of the data."""
    X = check_features(X)
    U = check_matrix("U", U, "n_clusters", X.shape[0])
    V = validate_matrix("centers", centers, (U.shape[1], X.shape[1]))
    block = in_units(X, V)
    return block, U, V * block.frame.scale


def _has_kernels(block: Block) -> bool:
    """Whether the compiled kernels take the rows in full precision."""
    return not sparse.issparse(block.X) and block.X.dtype == np.float64


def _scatter(block: Block, W: Array, V: Array) -> Array:
    """sum_k w_ik |x_k - v_i|^2, (K,)."""
    if _has_kernels(block):
        squares: Array = gauss_statistics(block, V, None, None, full=False, memberships=W).second
        answer: Array = squares.sum(axis=1)
        return answer
    total = np.zeros(len(V))
    for lo, Z, _ in block.pieces():
        D = squared_distances(Z, V)
        total += np.einsum("ki,ki->i", W[lo : lo + len(D)], D)
    return total


def _covariances(block: Block, W: Array, V: Array) -> Iterator[Array]:
    """sum_k w_ik (x_k - v_i)(x_k - v_i)^T of one cluster after the other, (d, d)."""
    if _has_kernels(block) and V.size * block.d <= _TOGETHER:
        yield from gauss_statistics(block, V, None, None, full=True, memberships=W).second
        return
    step = max(block.d, 2**16 // block.d)  # rows at a time: as large as the result, or what fits in a cache
    for w, v in zip(W.T, V, strict=True):
        F = np.zeros((block.d, block.d))
        for lo in range(0, block.n, step):
            C = block.take(slice(lo, lo + step)) - v
            C *= np.sqrt(w[lo : lo + step])[:, None]
            F += C.T @ C
        yield F


def _about_mean(block: Block) -> tuple[Block, Array]:
    """The rows relative to the first one, and their mean there: far from the origin a mean has few digits."""
    if not sparse.issparse(block.X):
        block = Block(block.X, None, Frame(block.X[0].astype(np.float64), block.frame.scale))
    total = np.zeros((1, block.d))
    for _, Z, _ in block.pieces():
        total += Z.sum(axis=0)
    return block, total / block.n


def _from_mean(block: Block, centers: ArrayLike) -> Array:
    """|v_i - mean(X)|^2, (K,)."""
    shifted, mean = _about_mean(block)
    return squared_distances(shifted.frame.from_input(centers), mean)[:, 0]


def _gaps(V: Array) -> Array:
    """Squared distances between the prototypes, (K (K - 1) / 2,)."""
    gaps: Array = pdist(V, "sqeuclidean")
    return gaps


def fuzzy_compactness(X: MatrixLike, U: ArrayLike, centers: ArrayLike, *, m: float = 2.0) -> float:
    """Fuzzy compactness: the scatter about the prototypes, the objective of fuzzy c-means.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)
    m : float, default=2.0
        Fuzzifier, >= 1.

    Returns
    -------
    value : float
        In [0, inf), smaller is better; in squared units of X. It falls as clusters are added, so it cannot choose
        their number.

    Notes
    -----
    FC = J = sum_ik u_ik^m |x_k - v_i|^2 [1]_.

    References
    ----------
    .. [1] J. C. Bezdek (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.

    Examples
    --------
    >>> from soft_clustering.metrics import fuzzy_compactness
    >>> fuzzy_compactness([[0.0], [2.0], [6.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    3.0
    """
    block, U, V = _read(X, U, centers)
    return _in_squared_units(_scatter(block, _weights(U, m), V).sum(), block)


def _in_squared_units(value: float, block: Block) -> float:
    # Divide twice, as floats: the square of the unit may overflow or underflow, and a result too large becomes inf.
    return float(value) / float(block.frame.scale) / float(block.frame.scale)


def xie_beni(X: MatrixLike, U: ArrayLike, centers: ArrayLike, *, m: float = 2.0) -> float:
    """Xie-Beni index: compactness over the separation of the two closest prototypes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)
    m : float, default=2.0
        Fuzzifier, >= 1.

    Returns
    -------
    value : float
        In [0, inf], smaller is better; inf if two prototypes coincide, nan for one cluster.

    Notes
    -----
    XB = J / (n min_{i != j} |v_i - v_j|^2). The original [1]_ has u^2 whatever the fuzzifier, see
    ``separation_index``; here u^m.

    References
    ----------
    .. [1] X. L. Xie, G. Beni (1991). A validity measure for fuzzy clustering. IEEE TPAMI 13(8), 841-847.

    Examples
    --------
    >>> from soft_clustering.metrics import xie_beni
    >>> xie_beni([[0.0], [2.0], [6.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    0.0625
    """
    block, U, V = _read(X, U, centers)
    return _xie_beni(_scatter(block, _weights(U, m), V).sum(), block.n, V)


def _xie_beni(scatter: float, n: int, V: Array) -> float:
    return math.nan if len(V) == 1 else ratio(scatter, n * _gaps(V).min())


def separation_index(X: MatrixLike, U: ArrayLike, centers: ArrayLike) -> float:
    """Separation index S: the Xie-Beni index with squared memberships, whatever the fuzzifier.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)

    Returns
    -------
    value : float
        In [0, inf], smaller is better; inf if two prototypes coincide, nan for one cluster.

    Notes
    -----
    S = sum_ik u_ik^2 |x_k - v_i|^2 / (n min_{i != j} |v_i - v_j|^2), as printed in [2]_ beside the partition index of
    [1]_. The exponent is 2 by definition, so results for different fuzzifiers can be compared; there is no ``m``, with
    which it would be ``xie_beni``. The program that belongs to [2]_ computes something else: the sum of the
    compactnesses of ``partition_index``, over n times the smallest of its separations.

    References
    ----------
    .. [1] A. M. Bensaid, L. O. Hall, J. C. Bezdek, L. P. Clarke, M. L. Silbiger, J. A. Arrington, R. F. Murtagh (1996).
       Validity-guided (re)clustering with applications to image segmentation. IEEE Trans. Fuzzy Systems 4(2), 112-123.
    .. [2] B. Balasko, J. Abonyi, B. Feil (2005). Fuzzy clustering and data analysis toolbox. University of Veszprem.

    Examples
    --------
    >>> from soft_clustering.metrics import separation_index
    >>> separation_index([[0.0], [2.0], [6.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    0.0625
    """
    return xie_beni(X, U, centers, m=2.0)


def partition_index(X: MatrixLike, U: ArrayLike, centers: ArrayLike, *, m: float = 2.0) -> float:
    """Partition index SC: the sum over clusters of compactness over separation.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)
    m : float, default=2.0
        Fuzzifier, >= 1.

    Returns
    -------
    value : float
        In [0, inf], smaller is better; for partitions of the same number of clusters. inf if all prototypes
        coincide, nan for one cluster. A cluster without any membership adds 0.

    Notes
    -----
    SC = sum_i sum_k u_ik^m |x_k - v_i|^2 / (n_i sum_j |v_j - v_i|^2) with n_i = sum_k u_ik [1]_.

    References
    ----------
    .. [1] A. M. Bensaid, L. O. Hall, J. C. Bezdek, L. P. Clarke, M. L. Silbiger, J. A. Arrington, R. F. Murtagh (1996).
       Validity-guided (re)clustering with applications to image segmentation. IEEE Trans. Fuzzy Systems 4(2), 112-123.

    Examples
    --------
    >>> from soft_clustering.metrics import partition_index
    >>> partition_index([[0.0], [2.0], [6.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    0.125
    """
    block, U, V = _read(X, U, centers)
    W = _weights(U, m)
    if len(V) == 1:
        return math.nan
    terms = zip(_scatter(block, W, V), U.sum(axis=0), squareform(_gaps(V)).sum(axis=0), strict=True)
    return float(sum(ratio(scatter, size * gaps) for scatter, size, gaps in terms if size > 0))


def kwon(X: MatrixLike, U: ArrayLike, centers: ArrayLike, *, m: float = 2.0) -> float:
    """Kwon index: Xie-Beni with a penalty that keeps it from falling as K approaches n.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)
    m : float, default=2.0
        Fuzzifier, >= 1.

    Returns
    -------
    value : float
        In [0, inf], smaller is better; inf if two prototypes coincide, nan for one cluster.

    Notes
    -----
    (J + 1/K sum_i |v_i - mean(X)|^2) / min_{i != j} |v_i - v_j|^2. The original [1]_ has u^2, the default here.

    References
    ----------
    .. [1] S. H. Kwon (1998). Cluster validity index for fuzzy clustering. Electronics Letters 34(22), 2176-2177.

    Examples
    --------
    >>> from soft_clustering.metrics import kwon
    >>> kwon([[0.0], [2.0], [7.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    0.625
    """
    block, U, V = _read(X, U, centers)
    W = _weights(U, m)
    if len(V) == 1:
        return math.nan
    penalty = _from_mean(block, centers).mean()
    return ratio(_scatter(block, W, V).sum() + penalty, _gaps(V).min())


def fukuyama_sugeno(X: MatrixLike, U: ArrayLike, centers: ArrayLike, *, m: float = 2.0) -> float:
    """Fukuyama-Sugeno index: compactness minus the scatter of the prototypes about the mean of the data.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)
    m : float, default=2.0
        Fuzzifier, >= 1.

    Returns
    -------
    value : float
        Any number, smaller is better; in squared units of X.

    Notes
    -----
    FS = sum_ik u_ik^m (|x_k - v_i|^2 - |v_i - mean(X)|^2) [1]_. Some authors take the mean of the prototypes in place
    of the mean of the data.

    References
    ----------
    .. [1] Y. Fukuyama, M. Sugeno (1989). A new method of choosing the number of clusters for the fuzzy c-means method.
       Proc. 5th Fuzzy Systems Symposium, 247-250 (in Japanese).

    Examples
    --------
    >>> from soft_clustering.metrics import fukuyama_sugeno
    >>> fukuyama_sugeno([[0.0], [2.0], [7.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    -6.0
    """
    block, U, V = _read(X, U, centers)
    W = _weights(U, m)
    spread = W.sum(axis=0) @ _from_mean(block, centers)
    return _in_squared_units(_scatter(block, W, V).sum() - spread, block)


def pbmf(X: MatrixLike, U: ArrayLike, centers: ArrayLike, *, m: float = 2.0) -> float:
    """PBMF index: scatter of the data times the widest gap between prototypes, over K times the fuzzy scatter.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)
    m : float, default=2.0
        Fuzzifier, >= 1.

    Returns
    -------
    value : float
        In [0, inf], larger is better; in squared units of X. nan for one cluster.

    Notes
    -----
    PBMF = (E max_{i, j} |v_i - v_j| / (K sum_ik u_ik^m |x_k - v_i|))^2 with E = sum_k |x_k - mean(X)|. Distances, not
    their squares, are summed [1]_.

    References
    ----------
    .. [1] M. K. Pakhira, S. Bandyopadhyay, U. Maulik (2004). Validity index for crisp and fuzzy clusters. Pattern
       Recognition 37(3), 487-501.

    Examples
    --------
    >>> from soft_clustering.metrics import pbmf
    >>> pbmf([[0.0], [2.0], [7.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    16.0
    """
    block, U, V = _read(X, U, centers)
    W = _weights(U, m)
    if len(V) == 1:
        return math.nan
    shifted, mean = _about_mean(block)
    around_mean = sum(np.sqrt(squared_distances(Z, mean)).sum() for _, Z, _ in shifted.pieces())
    around_centers = sum(
        (W[lo : lo + Z.shape[0]] * np.sqrt(squared_distances(Z, V))).sum() for lo, Z, _ in block.pieces()
    )
    root = ratio(around_mean * math.sqrt(_gaps(V).max()), len(V) * around_centers)
    return _in_squared_units(root * root, block)


def fuzzy_hypervolume(X: MatrixLike, U: ArrayLike, centers: ArrayLike, *, m: float = 2.0) -> float:
    """Fuzzy hypervolume: the volume that the clusters take up together.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    centers : array-like of shape (n_clusters, n_features)
    m : float, default=2.0
        Fuzzifier, >= 1.

    Returns
    -------
    value : float
        In [0, inf], smaller is better; in units of X to the power of d, for partitions of the same features. inf if
        the volume exceeds the largest float.

    Notes
    -----
    FHV = sum_i sqrt(det F_i), F_i = sum_k u_ik^m (x_k - v_i)(x_k - v_i)^T / sum_k u_ik^m [1]_, [2]_.

    A singular F_i has volume 0. All are singular if d > n. Otherwise F_i counts as singular if a feature is constant
    (a standard deviation of at most 1e-13 times its position) or if features depend on each other (a reciprocal
    condition number of the correlation matrix below 1e-14 d), as its determinant would be rounding only. The units of
    the features do not matter for this. A cluster without weight has volume 0.

    Unless they are small, the covariances are formed one after the other: memory beyond X and U is O(n K + d^2).

    References
    ----------
    .. [1] I. Gath, A. B. Geva (1989). Unsupervised optimal fuzzy clustering. IEEE TPAMI 11(7), 773-781.
    .. [2] I. Gath, A. B. Geva (1989). Fuzzy clustering for the estimation of the parameters of the components of
       mixtures of normal distributions. Pattern Recognition Letters 9(2), 77-86.

    Examples
    --------
    >>> from soft_clustering.metrics import fuzzy_hypervolume
    >>> fuzzy_hypervolume([[0.0], [2.0], [7.0]], [[1, 0], [1, 0], [0, 1]], [[1.0], [5.0]])
    3.0
    """
    block, U, V = _read(X, U, centers)
    return _hypervolume(block, _weights(U, m), V)


def _hypervolume(block: Block, W: Array, V: Array) -> float:
    if block.d > block.n:
        return 0.0
    total = W.sum(axis=0)
    W = W / np.where(total > 0, total, 1)
    with single_threaded_blas():
        logs = [_log_volume(F, v) for F, v in zip(_covariances(block, W, V), V, strict=True)]
    with np.errstate(over="ignore"):
        return float(np.exp(np.array(logs) - block.d * math.log(block.frame.scale)).sum())


def _log_volume(F: Array, v: Array) -> float:
    """Log of sqrt(det F), -inf if F is singular; ``v`` is the centre of the cluster."""
    deviation = np.sqrt(np.diag(F))
    if (deviation <= _FLAT * np.abs(v)).any():
        return -math.inf
    R = F / deviation / deviation[:, None]
    L, failed = dpotrf(R, lower=1)
    if failed or dpocon(L, np.abs(R).sum(axis=0).max(), uplo="L")[0] < _SINGULAR * len(R):
        return -math.inf
    return float(np.log(deviation).sum() + np.log(np.diag(L)).sum())


def separation(centers: ArrayLike) -> float:
    """Mean distance between two prototypes.

    Parameters
    ----------
    centers : array-like of shape (n_clusters, n_features)

    Returns
    -------
    value : float
        In [0, inf), larger is better; in units of X. nan for one cluster.

    Notes
    -----
    2 / (K (K - 1)) sum_{i < j} |v_i - v_j|.

    Examples
    --------
    >>> from soft_clustering.metrics import separation
    >>> separation([[0.0], [1.0], [3.0]])
    2.0
    """
    with naming("centers"), np.errstate(over="ignore", invalid="ignore"):
        V = check_array(centers, dtype=np.float64, input_name="centers")
    if len(V) == 1:
        return math.nan
    unit = float(in_units(V).frame.scale)
    return float(pdist(V * unit).mean()) / unit


def fuzzy_silhouette(
    X: MatrixLike, U: ArrayLike, *, alpha: float = 1.0, max_samples: int | None = None, random_state: Seed = None
) -> float:
    """Fuzzy silhouette: silhouettes of the strongest clusters, weighted by how clearly they are the strongest.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    U : array-like of shape (n_samples, n_clusters)
    alpha : float, default=1.0
        Exponent of the weights, >= 0; 0 gives the plain mean of the silhouettes.
    max_samples : int, default=None
        The mean is over at most this many samples, drawn at random without replacement; their distances to all samples
        count. None takes all.
    random_state : int, RandomState or None, default=None
        Draws the samples if there are more than ``max_samples``.

    Returns
    -------
    value : float
        In [-1, 1], larger is better. nan unless 2 to n - 1 clusters are the strongest one of some sample, or if all
        weights are 0. Samples without any membership are left out.

    Notes
    -----
    FS = sum_k (u_1k - u_2k)^alpha s_k / sum_k (u_1k - u_2k)^alpha, with the two largest memberships of sample k and
    the silhouette s_k of the hard partition by largest membership [1]_. For a hard partition it is the mean silhouette.
    Takes O(n^2 d) time and memory for the rows, a bounded part of their distances and the weights. The mean over s
    drawn samples takes O(s n d) time; its standard error is about that of ``silhouette``, and at most twice as large
    unless few samples have nearly all of the weight.

    References
    ----------
    .. [1] R. J. G. B. Campello, E. R. Hruschka (2006). A fuzzy extension of the silhouette width criterion for cluster
       analysis. Fuzzy Sets and Systems 157(21), 2858-2875.

    Examples
    --------
    >>> from soft_clustering.metrics import fuzzy_silhouette
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> round(fuzzy_silhouette(X, [[1, 0], [0.9, 0.1], [0.1, 0.9], [0, 1]]), 4)
    0.8892
    """
    X = check_features(X)
    U = check_matrix("U", U, "n_clusters", X.shape[0])
    alpha = check_real("alpha", alpha, 0)
    labels = labels_from_memberships(U)
    kept = labels >= 0
    if U.shape[1] == 1 or not kept.any():
        return math.nan
    second, first = np.partition(U[kept], -2, axis=1)[:, -2:].T
    gap = first - second
    # Divide by the largest difference first: a large alpha would make small differences underflow.
    weights = (gap / (gap.max() or 1.0)) ** alpha
    if not weights.any():
        return math.nan
    drawn = sampled_rows(len(weights), max_samples, random_state)
    values = silhouettes(X[kept], np.unique(labels[kept], return_inverse=True)[1], drawn)
    weights = weights if drawn is None else weights[drawn]
    return float(weights @ values / weights.sum()) if weights.any() else math.nan


# The seven measures of the paper --------------------------------------------------------------------------------------


def soft_clustering_metrics(
    X: MatrixLike | None,
    memberships: ArrayLike,
    *,
    centers: ArrayLike | None = None,
    m: float = 2.0,
    partition_constrained: bool = True,
) -> dict[str, float]:
    """Seven measures of a soft clustering under the same names for every estimator, nan if one does not apply.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or None
        The data. Without ``centers`` only their number is used, so they may be of any kind, or None.
    memberships : array-like of shape (n_samples, n_clusters)
        Finite and non-negative.
    centers : array-like of shape (n_clusters, n_features), default=None
        Prototypes. Without them the four measures that need them are nan.
    m : float, default=2.0
        Fuzzifier, >= 1.
    partition_constrained : bool, default=True
        Whether the rows of ``memberships`` sum to 1: ``model.partition_constrained``. If not, the partition
        coefficients and the entropy are nan.

    Returns
    -------
    values : dict
        ``partition_coefficient``, ``modified_partition_coefficient``, ``partition_entropy``, ``fuzzy_hypervolume``,
        ``xie_beni``, ``fuzzy_compactness`` and ``separation``, in this order.

    See Also
    --------
    clustering_metrics : the same for labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.metrics import soft_clustering_metrics
    >>> X = load_iris().data
    >>> model = FCM(n_clusters=3, m=2.0, random_state=0).fit(X)
    >>> values = soft_clustering_metrics(X, model.memberships_, centers=model.centers_, m=2.0)
    >>> round(values["partition_coefficient"], 3), round(values["xie_beni"], 3)
    (0.783, 0.137)
    """
    U = check_matrix("memberships", memberships, "n_clusters", None if X is None else _num_samples(X))
    if X is None and centers is not None:
        raise ValueError("X must be given with centers. Got None instead.")
    values = dict.fromkeys(
        [
            "partition_coefficient",
            "modified_partition_coefficient",
            "partition_entropy",
            "fuzzy_hypervolume",
            "xie_beni",
            "fuzzy_compactness",
            "separation",
        ],
        math.nan,
    )
    if partition_constrained:
        values["partition_coefficient"] = partition_coefficient(U)
        values["modified_partition_coefficient"] = modified_partition_coefficient(U)
        values["partition_entropy"] = partition_entropy(U)
    if centers is not None:
        block, U, V = _read(X, U, centers)
        W = _weights(U, m)
        scatter = _scatter(block, W, V).sum()
        values["fuzzy_hypervolume"] = _hypervolume(block, W, V)
        values["xie_beni"] = _xie_beni(scatter, block.n, V)
        values["fuzzy_compactness"] = _in_squared_units(scatter, block)
        values["separation"] = separation(centers)
    return values
