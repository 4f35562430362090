"""The federated protocol: five functions, and the messages between clients and server.

Round 1: each client sends :func:`client_summary`, and the server answers with :func:`server_plan`. Round 2: each client
sends :func:`client_fit`, and the server answers with :func:`server_aggregate`. Then :func:`client_score` gives a client
the memberships of its rows; nothing of it is sent. No message has a dimension that grows with the rows of a client.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from .._types import Array, MatrixLike, Names
from ..engine.blocks import Block, Frame
from ..fuzzy.fcm import FCM
from ..fuzzy.fuzzifier import resolve_fuzzifier
from ..inputs.clients import Client, align_features, validate_client
from ..inputs.features import check_enough_samples, validate_matrix
from ..kernels import reference
from ..kernels.centers import center_memberships
from .imputation import impute
from .partial import partial_distances, partial_kmeans
from .sammon import place_by_landmarks

CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [None, Interval(Integral, 1, None, closed="left")],
    "m": [StrOptions({"auto"}), Interval(Real, 1, None, closed="neither")],
    "min_clusters": [Interval(Integral, 2, None, closed="left")],
    "max_clusters": [Interval(Integral, 2, None, closed="left")],
    "n_imputations": [Interval(Integral, 1, None, closed="left")],
    "align": [StrOptions({"union", "intersection"})],
    "min_count": [Interval(Real, 0, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}

_CONSTANT = 8 * np.finfo(float).eps  # a standard deviation below this share of the mean is rounding
_LEAST = 1e-300  # the inverse of a smaller standard deviation overflows
_LOG_LIMIT = 100.0  # of a log Xie-Beni index: centroids that coincide, or rows that lie on them


class Settings(NamedTuple):
    """What all parties agree on: parameters of :class:`soft_clustering.FeMIFuzzy`, and a seed."""

    n_clusters: int | None = None
    m: float | str = "auto"
    min_clusters: int = 2
    max_clusters: int = 8
    n_imputations: int = 5
    align: Literal["union", "intersection"] = "union"
    min_count: float = 5
    n_init: int = 3
    max_iter: int = 100
    tol: float = 1e-5
    seed: int = 0


class Summary(NamedTuple):
    """What a client says of its rows in round 1."""

    features: list[str]  # those with at least ``min_count`` values
    n_samples: int  # rows with a value among them
    n_values: Array  # (d_c,) values of each feature
    mean: Array  # (d_c,)
    std: Array  # (d_c,)
    log_xie_beni: Array  # per number of clusters to choose from; NaN where there are too few rows
    n_centroids: Array  # the same: how many would weigh ``min_count``


class Plan(NamedTuple):
    """What the server decides after round 1."""

    features: list[str]
    mean: Array  # (d,) of all rows of all clients
    std: Array  # (d,), 1 for a constant feature
    n_clusters: int
    m: float  # for the memberships
    log_xie_beni: Array  # mean over the clients that took part in the choice; empty if n_clusters was given
    settings: Settings


class Fit(NamedTuple):
    """What a client found in round 2, in standardised units."""

    centers: Array  # (K, d), NaN where the client lacks the feature or the cluster weighs less than ``min_count``
    mass: Array  # (K,) sum of u^m; 0 where it is less than ``min_count``
    n_iter: int  # passes of fuzzy c-means
    converged: bool


class Aggregate(NamedTuple):
    """What the server finds after round 2."""

    centers: Array  # (K, d) in standardised units
    mass: Array  # (K,)
    history: Array  # mass times partial distance of the clients' centroids, per pass of k-means


def client_summary(X: MatrixLike, settings: Settings, *, feature_names: Names | None = None) -> Summary:
    """Round 1, at a client: moments of the features, and how well each number of clusters would do here.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows of the client, NaN where a value is missing.
    settings : Settings
    feature_names : sequence of str, default=None

    Returns
    -------
    summary : Summary
        A feature with fewer than ``min_count`` values is left out.
    """
    _check_settings(settings)
    table = _table(validate_client(X, feature_names), settings.min_count)
    candidates = _candidates(settings)
    scores, n_centroids = np.full(len(candidates), np.nan), np.zeros(len(candidates))
    n, d = table.Z.shape
    feasible = [K for K in candidates if n > K and d > 0]
    if feasible:
        copies = impute(table.Z, settings.n_imputations, np.random.RandomState(settings.seed))
        for i, K in enumerate(feasible):
            models = list(_fuzzy_c_means(copies, K, settings))
            scores[i] = np.mean([_log_xie_beni(model, n) for model in models])
            n_centroids[i] = min(_weighs(_mass(model), settings).sum() for model in models)
    return Summary(list(table.features), n, table.n_values, table.mean, table.std, scores, n_centroids)


def server_plan(summaries: Sequence[Summary], settings: Settings) -> Plan:
    """Round 1, at the server: common units, and the number of clusters.

    The number of clusters has the least mean log Xie-Beni index, weighted by the clients' rows, of the clients that can
    fit the most candidates, among the numbers for which the clients together can send enough centroids.

    Parameters
    ----------
    summaries : sequence of Summary
    settings : Settings

    Returns
    -------
    plan : Plan
    """
    _check_settings(settings)
    taking = [summary for summary in summaries if summary.features]
    if not taking:
        raise ValueError(f"X must have a client with min_count={settings.min_count:g} values of a feature.")
    features = align_features([summary.features for summary in taking], settings.align)
    moments = _moments_of(taking, features)
    there = (moments[0] > 0).astype(float)
    if not (there @ there.T).all():
        raise ValueError(
            "clients must have features in common: every two of them with align='union', all of them with "
            f"align='intersection'. Got feature_names {[summary.features for summary in taking]}."
        )
    mean, std = _pooled(*moments)
    n = sum(summary.n_samples for summary in taking)
    enough = np.sum([summary.n_centroids for summary in taking], axis=0) >= np.array(_candidates(settings))
    scores = np.where(enough, _mean_log_xie_beni(taking), np.nan)
    if settings.n_clusters is not None:
        n_clusters = int(settings.n_clusters)
    elif np.isnan(scores).all():
        raise ValueError(
            f"n_clusters=None needs a client with more than min_clusters={settings.min_clusters} rows, and clusters "
            f"that weigh min_count={settings.min_count:g}. Got clients of {[s.n_samples for s in taking]} rows."
        )
    else:
        n_clusters = settings.min_clusters + int(np.nanargmin(scores))
    check_enough_samples(n, n_clusters)
    m = resolve_fuzzifier(settings.m, n, len(features), n_clusters)
    return Plan(features, mean, std, n_clusters, m, scores, settings)


def client_fit(X: MatrixLike, plan: Plan, *, feature_names: Names | None = None) -> Fit:
    """Round 2, at a client: centroids of its rows, by fuzzy c-means of every imputed copy.

    The centroids of the copies are matched to those of the first, and averaged.

    Parameters
    ----------
    X : array-like of shape (n, d)
    plan : Plan
    feature_names : sequence of str, default=None

    Returns
    -------
    fit : Fit
    """
    settings = plan.settings
    table = _table(validate_client(X, feature_names), settings.min_count, plan.features)
    K = plan.n_clusters
    centers, mass = np.full((K, len(plan.features)), np.nan), np.zeros(K)
    n, d = table.Z.shape
    if n < K or d == 0:
        return Fit(centers, mass, 0, True)
    columns = _columns(table, plan)
    copies = [
        _standardised(table, copy, plan, columns)
        for copy in impute(table.Z, settings.n_imputations, np.random.RandomState(settings.seed))
    ]
    found: list[Array] = []
    weights: list[Array] = []
    n_iter, converged = 0, True
    for model in _fuzzy_c_means(copies, K, settings):
        V = model.centers_
        order = linear_sum_assignment(cdist(found[0], V, "sqeuclidean"))[1] if found else np.arange(K)
        found.append(V[order])
        weights.append(_mass(model)[order])
        n_iter, converged = max(n_iter, model.n_iter_), converged and model.converged_
    told = np.flatnonzero(_weighs(np.min(weights, axis=0), settings))
    mass[told] = np.mean(weights, axis=0)[told]
    centers[told[:, None], columns] = np.mean(found, axis=0)[told]
    return Fit(centers, mass, n_iter, bool(converged))


def server_aggregate(fits: Sequence[Fit], plan: Plan) -> Aggregate:
    """Round 2, at the server: the clients' centroids grouped by k-means, weighted by their mass.

    Distances and means are over the features that are there. If no centroid of a cluster has a feature, it gets the
    mean of all rows. If the number of clusters was chosen and fewer centroids came, these are the clusters.

    Parameters
    ----------
    fits : sequence of Fit
    plan : Plan

    Returns
    -------
    aggregate : Aggregate
    """
    points, mass = told_centers(fits)
    K = plan.n_clusters
    if len(points) < K:
        few = (
            f"n_clusters={K} is too large: the clients sent {len(points)} centroids. A client needs at least "
            f"n_clusters rows, and a centroid a weight of min_count={plan.settings.min_count:g}. Use fewer clusters or "
            "a smaller min_count."
        )
        if plan.settings.n_clusters is not None or not len(points):
            raise ValueError(few)
        warnings.warn(few, ConvergenceWarning, stacklevel=2)
        K = len(points)
    # Sort them, so that the order of the clients does not matter.
    order = np.lexsort(points.T)
    points, mass = points[order], mass[order]
    result = partial_kmeans(points, mass, K, np.random.RandomState(plan.settings.seed))
    unknown = np.isnan(result.centers)
    if unknown.any():
        names = [plan.features[j] for j in np.flatnonzero(unknown.any(axis=0))]
        warnings.warn(
            f"some clusters occur in no client with the features {names}: their centres have the mean of all rows "
            "there. align='intersection' leaves such features out.",
            UserWarning,
            stacklevel=2,
        )
    total = mass @ (result.labels[:, None] == np.arange(K))
    return Aggregate(np.where(unknown, 0.0, result.centers), total, np.array(result.history))


def client_score(
    X: MatrixLike, plan: Plan, aggregate: Aggregate, *, feature_names: Names | None = None
) -> NDArray[Any]:
    """Memberships of a client's rows, the mean over the imputed copies; they stay with the client.

    Parameters
    ----------
    X : array-like of shape (n, d)
    plan : Plan
    aggregate : Aggregate
    feature_names : sequence of str, default=None

    Returns
    -------
    memberships : ndarray of shape (n, n_clusters)
        A row without a value belongs to all clusters equally.
    """
    client = validate_client(X, feature_names)
    table = _table(client, 1, plan.features)
    columns = _columns(table, plan)
    K = len(aggregate.centers)
    memberships = np.full((len(client.X), K), 1 / K)
    if columns:
        V = np.ascontiguousarray(aggregate.centers[:, columns])
        copies = impute(table.Z, plan.settings.n_imputations, np.random.RandomState(plan.settings.seed))
        total = sum(_memberships(_standardised(table, copy, plan, columns), V, plan.m) for copy in copies)
        memberships[table.rows] = total / len(copies)
    return memberships.astype(client.X.dtype)


def client_project(
    X: MatrixLike, plan: Plan, aggregate: Aggregate, landmarks: ArrayLike, *, feature_names: Names | None = None
) -> Array:
    """Positions of a client's rows on the map of the centroids; they stay with the client.

    A row is placed by its partial distances to the centres, so that the maps of all clients have the same axes.

    Parameters
    ----------
    X : array-like of shape (n, d)
    plan : Plan
    aggregate : Aggregate
    landmarks : array-like of shape (n_clusters, 2)
        Positions of the centres, the first rows of ``embedding_``.
    feature_names : sequence of str, default=None

    Returns
    -------
    positions : ndarray of shape (n, 2)
        A row without a value is in the middle of the centres.
    """
    landmarks = validate_matrix("landmarks", landmarks, (len(aggregate.centers), 2))
    client = validate_client(X, feature_names)
    table = _table(client, 1, plan.features)
    positions = np.tile(landmarks.mean(axis=0), (len(client.X), 1))
    columns = _columns(table, plan)
    if columns:
        frame = Frame(plan.mean[columns], 1 / plan.std[columns])
        D = partial_distances(frame.from_input(table.X), aggregate.centers[:, columns])
        # In the units of the map, where distances are those in all features.
        positions[table.rows] = place_by_landmarks(np.sqrt(D * len(plan.features) / len(columns)), landmarks)
    return positions


def predict_rows(X: NDArray[Any], plan: Plan, aggregate: Aggregate) -> NDArray[Any]:
    """Memberships of rows with all features of the plan, by partial distances where values are missing."""
    Z = Frame(plan.mean, 1 / plan.std).from_input(X)
    gaps = np.isnan(Z).any(axis=1)
    memberships = np.empty((len(Z), len(aggregate.centers)))
    if not gaps.all():
        memberships[~gaps] = _memberships(Z[~gaps], aggregate.centers, plan.m)
    if gaps.any():
        memberships[gaps] = reference.fcm_rule(partial_distances(Z[gaps], aggregate.centers), plan.m)[0]
    return memberships.astype(X.dtype)


def told_centers(fits: Sequence[Fit]) -> tuple[Array, Array]:
    """Centroids that the clients told, and their mass."""
    points, mass = np.vstack([fit.centers for fit in fits]), np.concatenate([fit.mass for fit in fits])
    return points[mass > 0], mass[mass > 0]


def _check_settings(settings: Settings) -> None:
    values = {name: value for name, value in settings._asdict().items() if name in CONSTRAINTS}
    validate_parameter_constraints(CONSTRAINTS, values, caller_name="Settings")
    if settings.max_clusters < settings.min_clusters:
        raise ValueError(
            f"max_clusters must be >= min_clusters. Got max_clusters={settings.max_clusters} and "
            f"min_clusters={settings.min_clusters} instead."
        )


def _candidates(settings: Settings) -> range:
    """Numbers of clusters to choose from."""
    return range(settings.min_clusters, settings.max_clusters + 1 if settings.n_clusters is None else 0)


# At a client --------------------------------------------------------------------------------------------------------


class _Table(NamedTuple):
    """The rows and columns of a client that there is something to learn from."""

    X: Array  # (n, d)
    Z: Array  # (n, d), standardised by the client's own moments
    rows: NDArray[np.intp]  # which rows of the client these are
    features: list[str]
    n_values: Array
    mean: Array
    std: Array


def _table(client: Client, min_count: float, features: Sequence[str] | None = None) -> _Table:
    """Features with at least ``min_count`` values (one at least), of the given ones; rows with a value among them."""
    X = client.X.astype(np.float64)
    count = np.sum(~np.isnan(X), axis=0).astype(np.float64)
    wanted = set(client.features if features is None else features)
    there = [j for j, feature in enumerate(client.features) if feature in wanted and count[j] >= max(min_count, 1)]
    X, count = X[:, there], count[there]
    rows = np.flatnonzero(~np.isnan(X).all(axis=1))
    X = X[rows]
    mean, std = _moments(X)
    Z = Frame(mean, 1 / _or_one(std, mean)).from_input(X)
    return _Table(X, Z, rows, [client.features[j] for j in there], count, mean, std)


def _moments(X: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each column with a value.

    About a value of the column and in units of a power of two: no offset costs digits, and no square leaves the range.
    """
    origin = X[(~np.isnan(X)).argmax(axis=0), np.arange(X.shape[1])] if len(X) else np.zeros(X.shape[1])
    deviation = X - origin
    unit = 2.0 ** np.frexp(np.nanmax(np.abs(deviation), axis=0, initial=0.0))[1]
    deviation /= unit
    n = np.sum(~np.isnan(X), axis=0)
    mean = np.nansum(deviation, axis=0) / n
    std = np.sqrt(np.nansum((deviation - mean) ** 2, axis=0) / n)
    return origin + mean * unit, std * unit


def _columns(table: _Table, plan: Plan) -> list[int]:
    """The columns of a client's features in the plan."""
    place = {feature: j for j, feature in enumerate(plan.features)}
    return [place[feature] for feature in table.features]


def _or_one(std: Array, mean: Array) -> Array:
    """Standard deviations, 1 for a constant feature."""
    return np.where(std > np.maximum(_CONSTANT * np.abs(mean), _LEAST), std, 1.0)


def _standardised(table: _Table, copy: Array, plan: Plan, columns: list[int]) -> Array:
    """An imputed copy in the units of all clients."""
    frame = Frame(plan.mean[columns], 1 / plan.std[columns])
    Z = frame.from_input(table.X)
    gaps = np.isnan(Z)
    if gaps.any():
        Z[gaps] = (copy * (table.std * frame.scale) + frame.from_input(table.mean))[gaps]
    return Z


def _fuzzy_c_means(copies: list[Array], K: int, settings: Settings) -> Iterator[FCM]:
    """Fuzzy c-means of each copy; the first one's centres are the start of the others."""
    init: Any = "k-means++"
    for copy in copies:
        model = FCM(
            K,
            m=settings.m,
            init=init,
            n_init=settings.n_init,
            max_iter=settings.max_iter,
            tol=settings.tol,
            random_state=settings.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the server hears of it
            model.fit(copy)
        init = model.centers_ if isinstance(init, str) else init
        yield model


def _mass(model: FCM) -> Array:
    """Weights of the clusters, sum of u^m."""
    mass: Array = (model.memberships_**model.m_).sum(axis=0)
    return mass


def _weighs(mass: Array, settings: Settings) -> NDArray[np.bool_]:
    """Which clusters are heavy enough to be sent."""
    return mass >= max(settings.min_count, np.finfo(float).tiny)


def _log_xie_beni(model: FCM, n: int) -> float:
    """Log of compactness over separation, J / (n min |v_k - v_l|^2)."""
    separation = float(pdist(model.centers_, "sqeuclidean").min())
    if separation == 0:
        return _LOG_LIMIT
    if model.objective_ == 0:
        return -_LOG_LIMIT
    return float(np.clip(math.log(model.objective_ / n) - math.log(separation), -_LOG_LIMIT, _LOG_LIMIT))


def _memberships(Z: Array, V: Array, m: float) -> Array:
    block = Block(np.ascontiguousarray(Z), None, Frame(np.zeros(Z.shape[1]), 1.0))
    return center_memberships(block, V, "fcm", m)


# At the server ------------------------------------------------------------------------------------------------------


def _sums(parts: Array) -> Array:
    """Sums over the clients, exactly rounded: the order of the clients does not matter."""
    return np.array([math.fsum(column) for column in parts.T])


def _moments_of(summaries: Sequence[Summary], features: list[str]) -> Array:
    """Counts, means and standard deviations (3, clients, features); 0 where a client lacks a feature."""
    moments = np.zeros((3, len(summaries), len(features)))
    place = {feature: j for j, feature in enumerate(features)}
    for c, summary in enumerate(summaries):
        own = [j for j, feature in enumerate(summary.features) if feature in place]
        columns = [place[summary.features[j]] for j in own]
        moments[:, c, columns] = summary.n_values[own], summary.mean[own], summary.std[own]
    return moments


def _pooled(count: Array, mean: Array, std: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of all rows of all clients, from those of each."""
    share = count / count.sum(axis=0)
    center = _sums(share * mean)
    between = np.where(count > 0, mean - center, 0.0)
    size = np.maximum(np.maximum(std, np.abs(between)).max(axis=0), _LEAST)
    spread = size * np.sqrt(_sums(share * ((std / size) ** 2 + (between / size) ** 2)))
    return center, _or_one(spread, center)


def _mean_log_xie_beni(summaries: Sequence[Summary]) -> Array:
    """Mean over the clients that can fit the most candidates, weighted by their rows; NaN where none can."""
    scores = np.array([summary.log_xie_beni for summary in summaries])
    reach = np.isfinite(scores).sum(axis=1)
    taking = (reach == reach.max()) & (reach > 0)
    n = np.array([summary.n_samples for summary in summaries], dtype=float)[taking]
    return _sums(n[:, None] * scores[taking]) / n.sum() if taking.any() else np.full(scores.shape[1], np.nan)
