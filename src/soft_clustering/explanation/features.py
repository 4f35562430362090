"""Features that set a cluster apart: differences of numbers, lifts of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit
from sklearn.utils import check_array

from .._types import Array, MatrixLike, Names
from ..inputs.features import is_dask, naming
from ..plotting.data import feature_names as names_of
from .moments import Sums, sums_of_codes, sums_of_rows
from .profile import FeatureProfile
from .weights import cluster_weights

LEVEL = 0.95  # of the intervals
_LARGEST = 1e307  # differences of larger entries would overflow
_NOTHING = 1e-12  # a cluster with a smaller part of the weights has no value of a feature
_ROUNDING = 1e-14  # a smaller part of the second moment is no variance


def profile_features(U: ArrayLike, X: MatrixLike, feature_names: Names | None = None) -> FeatureProfile:
    """Compare the mean of each feature in a cluster with its mean elsewhere.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships of any kind.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Numbers; nan is a missing value, which is left out.
    feature_names : sequence of str, default=None
        None takes the columns of a data frame.

    Returns
    -------
    profile : FeatureProfile

    Notes
    -----
    With weights w_i in the cluster and o_i elsewhere (see :func:`cluster_weights`), a_i = w_i / sum_j w_j and
    b_i = o_i / sum_j o_j, the means are m = sum_i a_i x_i and m' = sum_i b_i x_i. The difference m - m' is divided by
    the standard deviation s of the feature over all samples. This unit is finite unless the feature is constant,
    and the same for all clusters. The variance of m - m' is estimated by

        V = sum_i (a_i (x_i - m) - b_i (x_i - m'))^2 + s^2 / n^2 + s^2 / n'^2,

    with effective sizes n = 1 / sum_i a_i^2 and n' = 1 / sum_i b_i^2. The first term is that of a ratio of sums over
    independent samples, which counts a sample on both sides if its membership is divided. It underestimates the
    variance of n samples by about 1 / n; the other terms correct this as if the cluster was as wide as all data, so
    that intervals of clusters of a few samples are rather too wide, and one sample has an interval, too. The interval
    is m - m' plus or minus a quantile of Student's t, with the degrees of freedom of Welch and Satterthwaite.

    The interval takes the memberships as given: it says how exact the difference is, with these clusters. It is no test
    of whether clusters exist. Any clustering of any data makes differences, as they are what it is made from.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_features
    >>> X = [[1.0, 5.0], [1.2, 4.0], [3.0, 4.4], [3.4, 5.2]]
    >>> profile = profile_features([[1, 0], [1, 0], [0, 1], [0, 1]], X, ["width", "height"])
    >>> profile.inside
    array([[1.1, 4.5],
           [3.2, 4.8]])
    >>> [profile.names[j] for j in profile.order(0)]
    ['width', 'height']
    """
    W = cluster_weights(U)
    names = X
    X = check_numbers_or_gaps(X, len(W))
    d = X.shape[1]
    names = check_names("feature_names", names_of(names, d) if feature_names is None else feature_names, d)
    return compare(sums_of_rows(W, X), names)


def profile_categories(
    U: ArrayLike, values: ArrayLike, name: str = "category", *, max_values: int = 20
) -> FeatureProfile:
    """Compare how frequent each value of a category is in a cluster with how frequent it is elsewhere.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships of any kind.
    values : array-like of shape (n_samples,)
        Values of any type; None and nan are missing, and left out.
    name : str, default='category'
    max_values : int, default=20
        Only this many of the most frequent values are compared.

    Returns
    -------
    profile : FeatureProfile
        A feature for each value, the most frequent first.

    Notes
    -----
    The difference of the shares p and p' is that of the value's indicator, as in :func:`profile_features`, so that
    numbers and categories are on one scale. The lift is

        L = ((n p + 1/2) / (n + 1/2)) / ((n' p' + 1/2) / (n' + 1/2)),

    where n and n' are the effective sizes of the cluster and of the rest. The halves keep it finite if a value does not
    occur, and hardly matter otherwise. The interval is symmetric for log L, whose variance is v + v' - 2 r (v v')^(1/2)
    with v = 1 / (n p + 1/2) - 1 / (n + 1/2), v' likewise, and r the correlation of the two shares, which is not 0 if
    memberships are divided.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_categories
    >>> profile = profile_categories([[1, 0]] * 40 + [[0, 1]] * 40, ["Paris", "Lyon"] * 20 + ["Lyon"] * 40, "city")
    >>> profile.values, profile.inside[0], profile.elsewhere[0]
    (['Lyon', 'Paris'], array([0.5, 0.5]), array([1., 0.]))
    >>> profile.lift[0].round(2)
    array([ 0.51, 41.  ])
    """
    W = cluster_weights(U)
    codes, labels = category_codes(values)
    if len(codes) != len(W):
        raise ValueError(f"values must have one entry per sample, {len(W)} entries. Got {len(codes)} instead.")
    return compare(sums_of_codes(W, codes, min(len(labels), max_values)), [name], labels[:max_values])


def category_codes(values: Any) -> tuple[NDArray[np.intp], list[str]]:
    """Return a number for each value, 0 for the most frequent one and -1 if it is missing, and the values as text.

    Examples
    --------
    >>> category_codes(["b", "a", None, "a"])
    (array([ 1,  0, -1,  0]), ['a', 'b'])
    """
    try:
        first, distinct = values.factorize()  # a column of a data frame
    except (AttributeError, TypeError):  # something else, or values of which no hash exists
        array = np.asarray(values, dtype=object).ravel()
        known = np.array([value is not None and value == value for value in array], dtype=bool)
        distinct, inverse = np.unique([str(value) for value in array[known]], return_inverse=True)
        first = np.full(len(array), -1)
        first[known] = inverse
    labels = [str(value) for value in distinct]
    counts = np.bincount(first[first >= 0], minlength=len(labels))
    order = sorted(range(len(labels)), key=lambda value: (-counts[value], labels[value]))
    rank = np.full(len(labels) + 1, -1)  # the last entry serves the missing values, numbered -1
    rank[order] = np.arange(len(labels))
    return rank[first], [labels[value] for value in order]


def check_numbers_or_gaps(X: MatrixLike, n: int) -> Any:
    """Return a (n, d) float matrix, an array or CSR, whose entries are finite or nan."""
    if is_dask(X):
        X = X.compute()
    with naming("X"), np.errstate(over="ignore", invalid="ignore"):
        X = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", input_name="X"
        )
    if X.shape[0] != n:
        raise ValueError(f"X must have one row per row of the memberships, {n} rows. Got {X.shape[0]} instead.")
    entries = X if isinstance(X, np.ndarray) else X.data
    most = max(
        float(np.fmax.reduce(entries, axis=None, initial=0)), -float(np.fmin.reduce(entries, axis=None, initial=0))
    )
    if most > _LARGEST:
        raise ValueError(f"X must have entries below {_LARGEST:g} in absolute value. Got {most:.3g} instead.")
    return X


def check_names(what: str, names: Names, n: int) -> list[str]:
    """Return n names as text."""
    texts = [str(name) for name in names]
    if len(texts) != n:
        raise ValueError(f"{what} must have {n} entries. Got {len(texts)} instead.")
    return texts


def compare(sums: Sums, names: list[str], values: Sequence[str] | None = None) -> FeatureProfile:
    """Return the profile of numbers; with ``values``, of the indicators of the values of the one category named."""
    w, o, ww, oo, wo = sums.total
    total = w[0] + o[0]
    known = (w > _NOTHING * total) & (o > _NOTHING * total)
    with np.errstate(all="ignore"):  # what is not known becomes nan below
        w1, o1, ww1, oo1, wo1 = sums.first
        w2, o2, ww2, oo2, wo2 = sums.second
        inside, elsewhere = w1 / w, o1 / o
        mean, square = (w1[0] + o1[0]) / total, (w2[0] + o2[0]) / total
        variance = square - mean**2
        variance = np.where(variance > _ROUNDING * square, variance, 0.0)
        n, n_else, n_all = w**2 / ww, o**2 / oo, total**2 / (ww + oo + 2 * wo)[0]
        V = np.maximum(ww2 - 2 * inside * ww1 + inside**2 * ww, 0) / w**2
        V_else = np.maximum(oo2 - 2 * elsewhere * oo1 + elsewhere**2 * oo, 0) / o**2
        common = (wo2 - (inside + elsewhere) * wo1 + inside * elsewhere * wo) / (w * o)
        few, few_else = variance / n**2, variance / n_else**2
        whole = np.maximum(V + V_else - 2 * common, 0) + few + few_else
        freedom = whole**2 / (
            V**2 / np.maximum(n - 1, 1)
            + V_else**2 / np.maximum(n_else - 1, 1)
            + (few**2 + few_else**2) / np.maximum(n_all - 1, 1)
        )
        reach = np.where(whole > 0, stdtrit(np.maximum(freedom, 1), (1 + LEVEL) / 2) * np.sqrt(whole), 0.0)
        difference = inside - elsewhere
        deviation = np.sqrt(variance)

        def standardised(value: Array) -> Array:
            return np.where(known, np.where(variance > 0, value / deviation, 0.0), np.nan)

        low, middle, high = (standardised(difference + sign * reach) for sign in (-1, 0, 1))
        lifts = (np.full(difference.shape, np.nan),) * 3
        if values is not None:
            correlation = np.clip(np.nan_to_num(common / np.sqrt(V * V_else)), -1, 1)
            lifts = _lifts(inside, elsewhere, n, n_else, correlation)
        lift, lift_low, lift_high = (np.where(known, each, np.nan) for each in lifts)
    d = len(total)
    return FeatureProfile(
        names=names if values is None else names * d,
        kinds=["number" if values is None else "category"] * d,
        values=[""] * d if values is None else list(values),
        inside=np.where(w > _NOTHING * total, sums.centre + sums.unit * inside, np.nan),
        elsewhere=np.where(o > _NOTHING * total, sums.centre + sums.unit * elsewhere, np.nan),
        difference=middle,
        low=low,
        high=high,
        lift=lift,
        lift_low=lift_low,
        lift_high=lift_high,
        deviation=sums.unit * deviation,
        missing=sums.missing,
    )


def _lifts(p: Array, p_else: Array, n: Array, n_else: Array, correlation: Array) -> tuple[Array, Array, Array]:
    """Return the lift and its interval."""
    count, count_else = n * p.clip(0, 1) + 0.5, n_else * p_else.clip(0, 1) + 0.5
    n, n_else = n + 0.5, n_else + 0.5
    v, v_else = np.maximum(1 / count - 1 / n, 0), np.maximum(1 / count_else - 1 / n_else, 0)
    log_lift = np.log(count / n) - np.log(count_else / n_else)
    reach = ndtri((1 + LEVEL) / 2) * np.sqrt(np.maximum(v + v_else - 2 * correlation * np.sqrt(v * v_else), 0))
    return np.exp(log_lift), np.exp(log_lift - reach), np.exp(log_lift + reach)
