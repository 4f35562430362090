"""Agreement of a soft or overlapping clustering with another one, such as the ground truth.

* Membership matrices: :func:`fuzzy_rand`, :func:`adjusted_fuzzy_rand`, :func:`soft_mutual_information`. On one-hot
  memberships they equal scikit-learn's Rand index, adjusted Rand index and (normalised) mutual information.
* Covers (each sample in any number of communities): :func:`overlapping_nmi`, :func:`omega_index`, :func:`average_f1`.

All are symmetric in their two arguments and do not depend on the order of rows or columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from scipy.special import entr
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints
from sklearn.utils.validation import check_array

from .._types import Array, CoverLike, Seed
from ..inputs.features import naming
from ._covers import read_covers
from ._validation import label_codes, sampled_rows

_METHODS = {"method": [StrOptions({"huellermeier", "campello"})]}
_MAX_ROWS = 5000  # adjusted_fuzzy_rand keeps 32 bytes per pair of rows: 0.4 GB
_ZERO = 1e-14  # what rounding leaves of an entropy or a mean distance that is 0
_CHUNK = 2_000_000  # entries of a temporary array

# Reading the arguments ------------------------------------------------------------------------------------------------


def _read_memberships(name: str, value: ArrayLike) -> Array:
    """A membership matrix whose rows sum to 1; one-hot for a vector of labels."""
    with naming(name):
        n_dims = np.ndim(value)
    if n_dims == 1:
        codes, n_clusters = label_codes(name, value)
        one_hot = np.zeros((len(codes), n_clusters))
        one_hot[np.arange(len(codes)), codes] = 1
        return one_hot
    if n_dims != 2:
        raise ValueError(
            f"{name} must be a membership matrix of shape (n_samples, n_clusters) or a vector of labels. "
            f"Got an array of {n_dims} dimensions instead."
        )
    # Entries near the largest float overflow in the sum that looks for NaN.
    with naming(name), np.errstate(over="ignore", invalid="ignore"):
        U: Array = check_array(value, dtype=np.float64, order="C", input_name=name)
    if U.min() < 0:
        raise ValueError(f"{name} must be >= 0 everywhere. Got a smallest entry of {U.min():g} instead.")
    largest = U.max(axis=1, keepdims=True)
    if largest.min() == 0:
        raise ValueError(
            f"Each row of {name} must have a positive entry. Got {(largest == 0).sum()} row(s) of zeros, the first at "
            f"index {largest.argmin()}: drop the samples that belong to no cluster."
        )
    if U.shape[1] == 1 and U.min() < U.max():
        raise ValueError(f"{name} has one column of different values. Pass labels as a vector: {name}.ravel().")
    U = U / largest  # first by the largest entry: the sum of huge ones overflows
    answer: Array = U / U.sum(axis=1, keepdims=True)
    return answer


def _read_both_memberships(U: ArrayLike, V: ArrayLike) -> tuple[Array, Array]:
    U, V = _read_memberships("U", U), _read_memberships("V", V)
    if len(U) != len(V):
        raise ValueError(f"U and V must have the same number of samples. Got {len(U)} and {len(V)} instead.")
    return U, V


# Membership matrices: pairs of samples --------------------------------------------------------------------------------


def _pair_distances(U: Array) -> Iterator[Array]:
    """|u_i - u_j|_1 / 2 of row i and all later rows j, for one i after the other."""
    for i in range(len(U) - 1):
        yield cdist(U[i : i + 1], U[i + 1 :], "cityblock")[0] / 2


def _mean_over_pairs(values: Iterator[Array], n: int) -> float:
    return float(sum(row.sum() for row in values)) / (n * (n - 1) / 2)


def _discordance(U: Array, V: Array) -> float:
    """The mean of |E_U(i, j) - E_V(i, j)| over pairs of samples; see :func:`fuzzy_rand`."""
    rows = zip(_pair_distances(U), _pair_distances(V), strict=True)
    return _mean_over_pairs((np.abs(of_u - of_v) for of_u, of_v in rows), len(U))


def _mean_absolute_difference(x: Array, y: Array) -> float:
    """Mean of |x_p - y_q| over all p and q; sorts x and y.

    This is the integral of F (1 - G) + G (1 - F) for the distribution functions F of x and G of y: only positive terms,
    so no digits are lost.
    """
    x.sort()
    y.sort()
    edges = np.concatenate([x, y])
    edges.sort()
    total = 0.0
    for start in range(0, len(edges) - 1, _CHUNK):
        part = edges[start : start + _CHUNK + 1]
        F = np.searchsorted(x, part[:-1], side="right") / len(x)
        G = np.searchsorted(y, part[:-1], side="right") / len(y)
        total += float(np.diff(part) @ (F * (1 - G) + G * (1 - F)))
    return total


def _is_crisp(U: Array) -> bool:
    return bool((U.max(axis=1) == 1).all())


def _expected_discordance(U: Array, V: Array) -> float:
    """Mean of ``_discordance(U, V[permutation])`` over all permutations: every pair of U meets every pair of V."""
    if _is_crisp(U) or _is_crisp(V):
        # |x - y| = x + y - 2 x y if one of them is 0 or 1, so the means are enough.
        x, y = (_mean_over_pairs(_pair_distances(W), len(W)) for W in (U, V))
        return x + y - 2 * x * y
    return _mean_absolute_difference(pdist(U, "cityblock") / 2, pdist(V, "cityblock") / 2)


def _pair_degrees(U: Array) -> Iterator[tuple[Array, Array]]:
    """To what degree row i and all later rows j are in one cluster and in two, for one i after the other.

    One cluster: max_k min(u_ik, u_jk). Two: max_{k != l} min(u_ik, u_jl), which the two largest entries of each row
    decide.
    """
    top, first = U.argmax(axis=1), U.max(axis=1)
    rest = U.copy()
    rest[np.arange(len(U)), top] = 0
    second = rest.max(axis=1)
    for i in range(len(U) - 1):
        later = slice(i + 1, None)
        together = np.minimum(U[i], U[later]).max(axis=1)
        same_top = np.maximum(np.minimum(first[i], second[later]), np.minimum(second[i], first[later]))
        apart = np.where(top[i] == top[later], same_top, np.minimum(first[i], first[later]))
        yield together, apart


def _fuzzy_pair_counts(U: Array, V: Array) -> tuple[float, float, float, float]:
    """Pairs together in both, in U only, in V only, in none: counted by the minimum of the degrees."""
    counts = np.zeros((2, 2))
    for of_u, of_v in zip(_pair_degrees(U), _pair_degrees(V), strict=True):
        counts += [[np.minimum(u, v).sum() for v in of_v] for u in of_u]
    (a, b), (c, d) = counts.tolist()
    return a, b, c, d


def fuzzy_rand(
    U: ArrayLike,
    V: ArrayLike,
    *,
    method: str = "huellermeier",
    max_samples: int | None = None,
    random_state: Seed = None,
) -> float:
    """Rand index of two soft partitions.

    Parameters
    ----------
    U, V : array-like of shape (n_samples, n_clusters), or of shape (n_samples,)
        Membership matrices, not necessarily with the same number of columns, or vectors of labels of any sortable type
        (-1 is a label like any other). Rows are divided by their sums, so that possibilistic memberships are compared
        by their shares; a row of zeros is refused.
    method : {'huellermeier', 'campello'}, default='huellermeier'
        The generalisation, see Notes.
    max_samples : int, default=None
        Compare the pairs among at most this many samples, drawn at random without replacement. None compares all pairs.
    random_state : int, RandomState or None, default=None
        Draws the samples if there are more than ``max_samples``.

    Returns
    -------
    score : float
        Between 0 and 1. 1 for a single sample, which has no pairs.

    See Also
    --------
    adjusted_fuzzy_rand : corrected for chance; prefer it to compare clusterings of different numbers of clusters.

    Notes
    -----
    ``'huellermeier'`` [1]_: two samples are alike in U to the degree E_U(i, j) = 1 - |u_i - u_j|_1 / 2, and

        score = 1 - mean over pairs i < j of |E_U(i, j) - E_V(i, j)|.

    1 - score is a pseudometric: the score of U with itself is 1.

    ``'campello'`` [2]_: a pair is in one cluster of U to the degree max_k min(u_ik, u_jk), and in two to the degree
    max_{k != l} min(u_ik, u_jl). With a, b, c, d the sums over pairs of the minima of these degrees in U and V
    (together in both, in U only, in V only, in none),

        score = (a + d) / (a + b + c + d).

    It is below 1 for U with itself unless U is crisp, and so ranks the crispness of U together with its agreement.

    Both equal the Rand index if U and V are crisp. O(n^2 K) time, O(n K) memory. The pairs among s drawn samples take
    O(s^2 K); ``'huellermeier'`` is then unbiased, with a standard error of at most 1 / sqrt(s).

    References
    ----------
    .. [1] E. Huellermeier, M. Rifqi, S. Henzgen, R. Senge (2012). Comparing fuzzy partitions: a generalization of the
       Rand index and related measures. IEEE Trans. Fuzzy Systems 20(3), 546-556.
    .. [2] R. J. G. B. Campello (2007). A fuzzy extension of the Rand index and other related indexes for clustering and
       classification assessment. Pattern Recognition Letters 28(7), 833-841.

    Examples
    --------
    >>> from soft_clustering.metrics import fuzzy_rand
    >>> U = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    >>> V = [[0.5, 0.5], [0.3, 0.7], [0.5, 0.5]]
    >>> round(fuzzy_rand(U, V), 4)
    0.4667
    >>> fuzzy_rand(U, U)
    1.0
    >>> fuzzy_rand(["a", "a", "b"], [0, 1, 1])  # one pair of three agrees
    0.33333333333333337
    """
    validate_parameter_constraints(_METHODS, {"method": method}, "fuzzy_rand")
    U, V = _read_both_memberships(U, V)
    rows = sampled_rows(len(U), max_samples, random_state)
    if rows is not None:
        U, V = U[rows], V[rows]
    if len(U) == 1:
        return 1.0
    if method == "huellermeier":
        return max(0.0, 1 - _discordance(U, V))
    a, b, c, d = _fuzzy_pair_counts(U, V)
    return (a + d) / (a + b + c + d)


def adjusted_fuzzy_rand(
    U: ArrayLike,
    V: ArrayLike,
    *,
    method: str = "huellermeier",
    max_samples: int | None = None,
    random_state: Seed = None,
) -> float:
    """Rand index of two soft partitions, corrected for chance: the adjusted Rand index if both are crisp.

    Parameters
    ----------
    U, V : array-like of shape (n_samples, n_clusters), or of shape (n_samples,)
        Membership matrices, not necessarily with the same number of columns, or vectors of labels of any sortable type
        (-1 is a label like any other). Rows are divided by their sums, so that possibilistic memberships are compared
        by their shares; a row of zeros is refused.
    method : {'huellermeier', 'campello'}, default='huellermeier'
        The generalisation of the Rand index, see Notes and :func:`fuzzy_rand`.
    max_samples : int, default=None
        Use at most this many samples, drawn at random without replacement. None uses all; more than 5000 are refused
        if ``method='huellermeier'`` and neither U nor V is crisp, because 16 n^2 bytes are needed then.
    random_state : int, RandomState or None, default=None
        Draws the samples if there are more than ``max_samples``.

    Returns
    -------
    score : float
        At most 1; about 0 for unrelated partitions, negative if they agree less than by chance. 1 if there is
        nothing to tell apart: a single sample, or every pair is alike to one and the same degree in both.

    See Also
    --------
    fuzzy_rand : without the correction.

    Notes
    -----
    ``'huellermeier'``: with D the mean of |E_U(i, j) - E_V(i, j)| over pairs of samples, as in :func:`fuzzy_rand`, and
    E[D] its mean over all n! ways to permute the rows of V [1]_,

        score = 1 - D / E[D].

    It is 1 for U with itself, and 0 on average over permutations. E[D] is exact and not sampled: a random permutation
    sends each pair to each pair with the same probability, so E[D] is the mean of |E_U(p) - E_V(q)| over all pairs p
    and q, which sorting gives [2]_. O(n^2 (K + log n)) time.

    ``'campello'`` [3]_: with the fuzzy counts a, b, c, d of :func:`fuzzy_rand` in the formula of the adjusted Rand
    index,

        score = 2 (a d - b c) / ((a + b) (b + d) + (a + c) (c + d)).

    It is below 1 for U with itself unless U is crisp, and only for crisp partitions 0 on average over permutations.
    O(n^2 K) time, O(n K) memory.

    References
    ----------
    .. [1] A. D'Ambrosio, S. Amodio, C. Iorio, G. Pandolfo, R. Siciliano (2021). Adjusted concordance index: an
       extension of the adjusted Rand index to fuzzy partitions. J. Classification 38, 112-128.
    .. [2] J. L. Andrews, R. Browne, C. D. Hvingelby (2022). On assessments of agreement between fuzzy partitions.
       J. Classification 39, 326-342.
    .. [3] R. J. G. B. Campello (2007). A fuzzy extension of the Rand index and other related indexes for clustering and
       classification assessment. Pattern Recognition Letters 28(7), 833-841.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.metrics import adjusted_fuzzy_rand
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FCM(n_clusters=3, m=2.0, random_state=0).fit(X)
    >>> round(adjusted_fuzzy_rand(model.memberships_, y), 3)
    0.611
    >>> round(adjusted_fuzzy_rand(model.labels_, y), 3)  # the adjusted Rand index
    0.729
    """
    validate_parameter_constraints(_METHODS, {"method": method}, "adjusted_fuzzy_rand")
    P, Q = _read_both_memberships(U, V)
    rows = sampled_rows(len(P), max_samples, random_state)
    if rows is not None:
        P, Q = P[rows], Q[rows]
    if len(P) == 1:
        return 1.0
    if method == "campello":
        a, b, c, d = _fuzzy_pair_counts(P, Q)
        scale = (a + b) * (b + d) + (a + c) * (c + d)
        return 2 * (a * d - b * c) / scale if scale > 0 else 1.0
    if max_samples is None and len(P) > _MAX_ROWS and not (_is_crisp(P) or _is_crisp(Q)):
        raise ValueError(
            f"n_samples={len(P)} is more than {_MAX_ROWS}: {16e-9 * len(P) ** 2:.1f} GB would be needed to compare all "
            f"pairs of two soft partitions. Pass max_samples={_MAX_ROWS} to use that many random samples, or "
            f"max_samples={len(P)} to use all."
        )
    expected = _expected_discordance(P, Q)
    return 1 - _discordance(P, Q) / expected if expected > _ZERO else 1.0


# Membership matrices: information -------------------------------------------------------------------------------------


def soft_mutual_information(U: ArrayLike, V: ArrayLike, *, normalization: str | None = "arithmetic") -> float:
    """Mutual information of two soft partitions, normalised by default.

    Parameters
    ----------
    U, V : array-like of shape (n_samples, n_clusters), or of shape (n_samples,)
        Membership matrices, not necessarily with the same number of columns, or vectors of labels of any sortable type
        (-1 is a label like any other). Rows are divided by their sums; a row of zeros is refused.
    normalization : {'arithmetic', 'geometric', 'min', 'max'} or None, default='arithmetic'
        The mean of H(U) and H(V) to divide by, as ``average_method`` of scikit-learn's
        ``normalized_mutual_info_score``. None: the mutual information itself, in nats.

    Returns
    -------
    score : float
        Between 0 and 1 if normalised, else >= 0. As in scikit-learn the normalised score is 1 if both partitions
        have a single cluster, and otherwise 0 if there is no information.

    Notes
    -----
    The shared part of cluster k of U and cluster l of V is N_kl = (1/n) sum_i u_ik v_il [1]_. With H the entropy of N
    or of its margins,

        I(U, V) = H(U) + H(V) - H(N).

    I(U, U) is smaller than H(U) if U is soft: the samples do not say which of their clusters is meant. Except with
    ``'min'``, a score of 1 is therefore reached by crisp partitions only, and softer memberships score lower.

    References
    ----------
    .. [1] Y. Lei, J. C. Bezdek, J. Chan, N. X. Vinh, S. Romano, J. Bailey (2017). Extending information-theoretic
       validity indices for fuzzy clustering. IEEE Trans. Fuzzy Systems 25(4), 1013-1018.

    Examples
    --------
    >>> from soft_clustering.metrics import soft_mutual_information
    >>> U = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]]
    >>> round(soft_mutual_information(U, [0, 0, 1, 1]), 4)
    0.3902
    >>> round(soft_mutual_information([1, 1, 0, 0], [0, 0, 1, 1], normalization=None), 4)
    0.6931
    """
    means: dict[str, Callable[[float, float], float]] = {
        "arithmetic": lambda u, v: (u + v) / 2,
        "geometric": lambda u, v: math.sqrt(u * v),
        "min": min,
        "max": max,
    }
    validate_parameter_constraints(
        {"normalization": [StrOptions(set(means)), None]}, {"normalization": normalization}, "soft_mutual_information"
    )
    U, V = _read_both_memberships(U, V)
    N = U.T @ V / len(U)
    entropy_u, entropy_v = (float(entr(N.sum(axis=axis)).sum()) for axis in (1, 0))
    information = max(0.0, entropy_u + entropy_v - float(entr(N).sum()))
    if normalization is None:
        return information
    if entropy_u <= _ZERO and entropy_v <= _ZERO:
        return 1.0
    if information <= _ZERO:
        return 0.0
    return min(1.0, information / means[normalization](entropy_u, entropy_v))


# Covers ---------------------------------------------------------------------------------------------------------------


def overlapping_nmi(X: CoverLike, Y: CoverLike, *, normalization: str = "max", n: int | None = None) -> float:
    """Normalised mutual information of two covers, whose communities may overlap and leave nodes out.

    Parameters
    ----------
    X, Y : array or sparse matrix of shape (n, n_communities), list of node collections, or array-like of shape (n,)
        Covers: matrices of True and False or 1 and 0, such as ``get_cover()`` returns; lists of collections of node
        indices 0, ..., n - 1, one per community; or vectors of labels, each of which is a community (-1 too). A list
        of lists is always read as node collections, never as a matrix.
    normalization : {'max', 'lfk'}, default='max'
        ``'max'`` as McDaid et al. [1]_; ``'lfk'`` as Lancichinetti et al. [2]_, community by community.
    n : int, default=None
        Number of nodes; needed if both X and Y are lists.

    Returns
    -------
    score : float
        Between 0 and 1; 1 for equal covers. 0 if the communities of one of them are all empty or hold all nodes.

    See Also
    --------
    omega_index : compares pairs of nodes, corrected for chance.

    Notes
    -----
    A community is a binary variable x over the nodes with entropy H(x). For communities x of X and y of Y let the
    numbers of nodes be a in none, b only in y, c only in x, d in both, and h(w) = -(w/n) log(w/n). Then

        H(x|y) = h(a) + h(b) + h(c) + h(d) - H(y)   if h(a) + h(d) >= h(b) + h(c),   else H(x):

    without the condition, a community and its complement would count as equal. With H(x|Y) = min_y H(x|y), and H(X),
    H(X|Y) the sums of H(x), H(x|Y) over x,

        max: [H(X) - H(X|Y) + H(Y) - H(Y|X)] / (2 max(H(X), H(Y)))
        lfk: 1 - [mean_x H(x|Y) / H(x) + mean_y H(y|X) / H(y)] / 2.

    Communities of no or all nodes have H(x) = 0 and are left out. All n nodes count, also those in no community. Time
    and memory O(K_X K_Y) beyond the sparse product X'Y.

    References
    ----------
    .. [1] A. F. McDaid, D. Greene, N. Hurley (2011). Normalized mutual information to evaluate overlapping community
       finding algorithms. arXiv:1110.2515.
    .. [2] A. Lancichinetti, S. Fortunato, J. Kertesz (2009). Detecting the overlapping and hierarchical community
       structure in complex networks. New J. Physics 11, 033015.

    Examples
    --------
    >>> from soft_clustering.metrics import overlapping_nmi
    >>> X = [{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}]
    >>> Y = [{0, 1, 2, 3, 4, 5}, {5, 6, 7, 8, 9}]
    >>> round(overlapping_nmi(X, Y, n=10), 10)
    0.8049932735
    >>> overlapping_nmi(X, [range(10)], n=10)
    0.0
    """
    validate_parameter_constraints(
        {"normalization": [StrOptions({"max", "lfk"})]}, {"normalization": normalization}, "overlapping_nmi"
    )
    X, Y = read_covers(X, Y, n)
    n_nodes = X.shape[0]
    X, Y = (cover[:, np.flatnonzero(cover.sum(axis=0) < n_nodes)] for cover in (X, Y))
    if X.shape[1] == 0 or Y.shape[1] == 0:
        return 0.0

    def h(count: Array) -> Array:
        answer: Array = entr(count / n_nodes)
        return answer

    x, y = X.sum(axis=0), Y.sum(axis=0)
    entropy_x, entropy_y = h(x) + h(n_nodes - x), h(y) + h(n_nodes - y)
    x_given_y, y_given_x = entropy_x.copy(), entropy_y.copy()
    # All pairs of communities, a block of those of X at a time: disjoint ones count, too, if they are large.
    for start in range(0, len(x), rows := max(1, _CHUNK // len(y))):
        block = slice(start, start + rows)
        both, size = (X[:, block].T @ Y).toarray(), x[block, None]
        alike, different = h(n_nodes - size - y + both) + h(both), h(size - both) + h(y - both)
        joint = np.where(alike >= different, alike + different, np.inf)
        x_given_y[block] = np.minimum(x_given_y[block], (joint - entropy_y).min(axis=1))
        y_given_x = np.minimum(y_given_x, (joint - entropy_x[block, None]).min(axis=0))
    if normalization == "max":
        total_x, total_y = entropy_x.sum(), entropy_y.sum()
        score = (total_x - x_given_y.sum() + total_y - y_given_x.sum()) / (2 * max(total_x, total_y))
    else:
        score = 1 - ((x_given_y / entropy_x).mean() + (y_given_x / entropy_y).mean()) / 2
    return float(np.clip(score, 0, 1))


def omega_index(
    X: CoverLike,
    Y: CoverLike,
    *,
    n: int | None = None,
    max_samples: int | None = None,
    random_state: Seed = None,
) -> float:
    """Omega index: agreement of two covers in how many communities each pair of nodes shares, corrected for chance.

    Parameters
    ----------
    X, Y : array or sparse matrix of shape (n, n_communities), list of node collections, or array-like of shape (n,)
        Covers: matrices of True and False or 1 and 0, such as ``get_cover()`` returns; lists of collections of node
        indices 0, ..., n - 1, one per community; or vectors of labels, each of which is a community (-1 too). A list
        of lists is always read as node collections, never as a matrix.
    n : int, default=None
        Number of nodes; needed if both X and Y are lists.
    max_samples : int, default=None
        Compare the pairs among at most this many nodes, drawn at random without replacement. None compares all pairs.
    random_state : int, RandomState or None, default=None
        Draws the nodes if there are more than ``max_samples``.

    Returns
    -------
    score : float
        At most 1; about 0 for unrelated covers, negative if they agree less than by chance. The adjusted Rand index
        if each node is in exactly one community of X and of Y. 1 if there is nothing to tell apart: a single
        node, or all pairs share one and the same number of communities in both.

    Notes
    -----
    Let t_j(X) be the number of pairs of nodes that share exactly j communities of X, among P = n (n - 1) / 2 pairs, and
    A the number of pairs that share equally many in X and Y [1]_ (used for communities in [2]_). With the agreement
    expected by chance E = sum_j t_j(X) t_j(Y) / P^2,

        score = (A / P - E) / (1 - E).

    The pairs among s drawn nodes estimate both shares; see :func:`fuzzy_rand` for the error.

    Only pairs that share something are visited, a block of nodes at a time: time is proportional to the sum of the
    squared sizes of the communities, and memory does not grow with the number of pairs.

    References
    ----------
    .. [1] L. M. Collins, C. W. Dent (1988). Omega: a general formulation of the Rand index of cluster recovery suitable
       for non-disjoint solutions. Multivariate Behavioral Research 23(2), 231-242.
    .. [2] S. Gregory (2011). Fuzzy overlapping communities in networks. J. Statistical Mechanics, P02017.

    Examples
    --------
    >>> from soft_clustering.metrics import omega_index
    >>> omega_index([{0, 1, 2}, {2, 3}], [{0, 1, 2}, {2, 3}], n=4)
    1.0
    >>> round(omega_index([{0, 1, 2}, {2, 3}], [{0, 1}, {2, 3}], n=4), 4)
    0.4
    """
    X, Y = read_covers(X, Y, n)
    rows = sampled_rows(X.shape[0], max_samples, random_state)
    if rows is not None:
        X, Y = X[rows], Y[rows]
    n_nodes = X.shape[0]
    n_pairs = n_nodes * (n_nodes - 1) // 2
    shared = np.zeros((2, max(X.shape[1], Y.shape[1]) + 1), dtype=np.int64)  # pairs by how many communities they share
    n_different = 0
    entries = np.cumsum(X @ X.sum(axis=0) + Y @ Y.sum(axis=0))  # most entries in the products of the rows so far
    starts = np.flatnonzero(np.diff(entries // _CHUNK, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], n_nodes], strict=True):
        in_x, in_y = (cover[start:stop] @ cover.T for cover in (X, Y))
        for counts, product in zip(shared, (in_x, in_y), strict=True):
            counts += np.bincount(sparse.triu(product, k=start + 1).data, minlength=len(counts))
        n_different += int(sparse.triu(in_x - in_y, k=start + 1).count_nonzero())
    shared[:, 0] = n_pairs - shared[:, 1:].sum(axis=1)
    # Python's integers are exact; the products overflow 64 bits from about 70 000 nodes on.
    by_chance = sum(int(t_x) * int(t_y) for t_x, t_y in shared.T)
    if by_chance == n_pairs**2:
        return 1.0
    return float((n_pairs * (n_pairs - n_different) - by_chance) / (n_pairs**2 - by_chance))


def average_f1(X: CoverLike, Y: CoverLike, *, n: int | None = None) -> float:
    """F1 of each community with its best match in the other cover, averaged over both covers.

    Parameters
    ----------
    X, Y : array or sparse matrix of shape (n, n_communities), list of node collections, or array-like of shape (n,)
        Covers: matrices of True and False or 1 and 0, such as ``get_cover()`` returns; lists of collections of node
        indices 0, ..., n - 1, one per community; or vectors of labels, each of which is a community (-1 too). A list
        of lists is always read as node collections, never as a matrix.
    n : int, default=None
        Number of nodes; needed if both X and Y are lists.

    Returns
    -------
    score : float
        Between 0 and 1; 1 for equal covers, 0 if one of them has no community. Empty communities are left out.

    See Also
    --------
    overlapping_nmi, omega_index : do not reward trivial covers.

    Notes
    -----
    With F1(x, y) = 2 |x and y| / (|x| + |y|) [1]_,

        score = [mean_x max_y F1(x, y) + mean_y max_x F1(x, y)] / 2.

    It is not corrected for chance: one community of all nodes scores high, for example 2/3 against two equal halves,
    where ``overlapping_nmi`` and ``omega_index`` give 0. Do not judge covers by it alone.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2013). Overlapping community detection at scale: a nonnegative matrix factorization
       approach. WSDM, 587-596.

    Examples
    --------
    >>> from soft_clustering.metrics import average_f1
    >>> average_f1([{0, 1, 2}, {2, 3}], [{2, 3}, {0, 1, 2}], n=4)
    1.0
    >>> round(average_f1([{0, 1}, {2, 3}], [{0, 1, 2, 3}], n=4), 4)
    0.6667
    """
    X, Y = read_covers(X, Y, n)
    if X.shape[1] == 0 or Y.shape[1] == 0:
        return 0.0
    both = (X.T @ Y).tocoo()  # disjoint communities have F1 = 0
    f1 = 2 * both.data / (X.sum(axis=0)[both.row] + Y.sum(axis=0)[both.col])
    best_of_x, best_of_y = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    np.maximum.at(best_of_x, both.row, f1)
    np.maximum.at(best_of_y, both.col, f1)
    return float(best_of_x.mean() + best_of_y.mean()) / 2
