"""The kernels in NumPy: readable, the reference for the compiled ones, and their replacement if these were not built.

A membership rule turns squared distances (rows, K) into memberships, into the weights of the centre update, and into
the objective of each row. A Gaussian rule turns log densities (rows, K) into memberships, into the weights of the
second moments and those of the means, and into the objective of each row.
``docs/development/kernels.md`` says how to add one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.linalg import lapack
from scipy.spatial.distance import cdist, pdist

from .._types import Array
from ..engine.missing import Gaps, conditional, gaps_of
from ..engine.simplex import project_rows
from . import EMPTY

if TYPE_CHECKING:
    from ..engine.blocks import Block
    from .categories import Densities

PIVOT = 1e-290  # a smaller pivot cannot be inverted safely
_GROUP = 256  # rows whose distances to all others are held at once
RULES: dict[str, Callable[..., tuple[Array, Array, Array]]] = {}
GAUSS_RULES: dict[str, Callable[..., tuple[Array, Array, Array, Array]]] = {}
Function = TypeVar("Function", bound=Callable[..., Any])


def _rule(table: dict[str, Any], name: str) -> Callable[[Function], Function]:
    """Decorator that enters a function into a table of rules, under the name of its C function."""

    def enter(function: Function) -> Function:
        table[name] = function
        return function

    return enter


def squared_distances(Z: Any, V: Array) -> Array:
    """Squared Euclidean distances (rows, K), by direct differences; CSR rows by the expanded form.

    A feature that a row or a point does not have (NaN) does not enter.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0.],
           [25.]])
    """
    if not sparse.issparse(Z):
        differences = (np.where(np.isnan(E), 0.0, E) for E in (Z - v for v in V))
        return np.stack([np.einsum("ij,ij->i", E, E) for E in differences], axis=1)
    z2 = np.asarray(Z.multiply(Z).sum(axis=1)).reshape(-1, 1)
    v2 = (V * V).sum(axis=1)
    D = np.asarray(z2 + v2 - 2 * (Z @ V.T))
    for i, k in np.argwhere(1e3 * np.finfo(float).eps * (z2 + v2) > D):
        difference = Z[[i]].toarray()[0] - V[k]
        D[i, k] = difference @ difference
    return D


@_rule(RULES, "fcm")
def fcm_rule(D: Array, m: float) -> tuple[Array, Array, Array]:
    """Fuzzy c-means: u_ik proportional to D_ik^(-1/(m-1)), never forming an unbounded number.

    Examples
    --------
    >>> memberships, weights, objective = fcm_rule(np.array([[1.0, 3.0], [0.0, 2.0]]), 2.0)
    >>> memberships
    array([[0.75, 0.25],
           [1.  , 0.  ]])
    >>> objective
    array([0.75, 0.  ])
    """
    low = D.min(axis=1, keepdims=True)
    q = np.divide(low, D, out=np.ones_like(D), where=low < D)
    # q ** p underflows quietly: a far prototype has membership 0
    with np.errstate(under="ignore"):
        ratio = q ** (1 / (m - 1))
    s = ratio.sum(axis=1, keepdims=True)
    shrink = s ** (1 - m)
    U = ratio / s
    return U, U * q * shrink, (low * shrink)[:, 0]


@_rule(RULES, "ball")
def ball_rule(D: Array, m: float, radius: float) -> tuple[Array, Array, Array]:
    """Fuzzy c-means with balls as prototypes: by distances to the balls, inside some balls by those to their centres.

    Examples
    --------
    >>> ball_rule(np.array([[1.0, 36.0], [9.0, 16.0], [0.25, 1.0]]), 2.0, 2.0)[0]
    array([[1. , 0. ],
           [0.8, 0.2],
           [0.8, 0.2]])
    """
    beyond = np.maximum(np.sqrt(D) - radius, 0)
    outside = beyond.min(axis=1) > 0
    inside = np.where(beyond > 0, np.inf, D)
    U, W, J = fcm_rule(np.where(outside[:, None], beyond**2, inside), m)
    return U, W, np.where(outside, J, 0.0)


@_rule(RULES, "sparse")
def sparse_rule(D: Array, gamma: float, least: float) -> tuple[Array, Array, Array]:
    """Distances F that are not squared: u >= 0 of sum 1 minimises sum_k u F + gamma u^2; weights u / (2 F).

    The weight of a prototype that is not farther than ``least`` is 0.

    Examples
    --------
    >>> sparse_rule(np.array([[1.0, 4.0, 81.0], [9.0, 9.0, 12.25]]), 1.0, 0.0)[0]
    array([[0.75      , 0.25      , 0.        ],
           [0.41666667, 0.41666667, 0.16666667]])
    """
    F = np.sqrt(D)
    with np.errstate(over="ignore"):
        beyond = (F - F.min(axis=1, keepdims=True)) / (2 * gamma)
    U = project_rows(-np.minimum(beyond, 2))  # a membership is 0 from 1 on
    W = np.divide(U, 2 * F, out=np.zeros_like(U), where=least < F)
    return U, W, (U * (F + gamma * U)).sum(axis=1)


@_rule(RULES, "pull")
def pull_rule(D: Array, gamma: float, least: float) -> tuple[Array, Array, Array]:
    """The weights of the sparse rule, as memberships; -u for a prototype that is not farther than ``least``."""
    U, W, J = sparse_rule(D, gamma, least)
    W = np.where(np.sqrt(D) > least, W, -U)
    return W, W, J


def _typicality(D: Array, bandwidth: Array, m: float) -> tuple[Array, Array]:
    """Typicality t = 1 / (1 + (D / bandwidth)^(1/(m-1))) without overflow, and t^(m-1), exact even if t underflows."""
    near = bandwidth > D
    ratio = np.where(near, D, bandwidth) / np.where(near, bandwidth, D)
    with np.errstate(under="ignore"):
        q = ratio ** (1 / (m - 1))
    return np.where(near, 1, q) / (1 + q), np.where(near, 1, ratio) * (1 + q) ** (1 - m)


@_rule(RULES, "rational")
def rational_rule(D: Array, m: float, *bandwidth: float) -> tuple[Array, Array, Array]:
    """Possibilistic c-means of 1993: t = 1 / (1 + (D / bandwidth)^(1/(m-1))), objective sum_k D t^(m-1).

    Examples
    --------
    >>> rational_rule(np.array([[1.0, 3.0]]), 2.0, 1.0, 1.0)[0]
    array([[0.5 , 0.25]])
    """
    T, power = _typicality(D, np.array(bandwidth), m)
    with np.errstate(under="ignore"):
        return T, T * power, (D * power).sum(axis=1)


@_rule(RULES, "exponential")
def exponential_rule(D: Array, *bandwidth: float) -> tuple[Array, Array, Array]:
    """Possibilistic c-means of 1996: t = exp(-D / bandwidth), objective - sum_k bandwidth t."""
    with np.errstate(under="ignore"):
        T = np.exp(-D / np.array(bandwidth))
    return T, T, -T @ np.array(bandwidth)


@_rule(RULES, "pfcm")
def pfcm_rule(D: Array, m: float, a: float, b: float, exponent: float, *bandwidth: float) -> tuple[Array, Array, Array]:
    """Possibilistic fuzzy c-means: memberships u of fuzzy c-means, weights a u^m + b t^exponent."""
    U, W, J = fcm_rule(D, m)
    if b == 0:
        return U, a * W, a * J
    _, T, typical = rational_rule(b * D, exponent, *bandwidth)
    return U, a * W + b * T, a * J + typical


@_rule(RULES, "sets")
def sets_rule(D: Array, beta: float, noise: float, *parameters: float) -> tuple[Array, Array, Array]:
    """Evidential c-means: fuzzy c-means on the costs penalty_k D_k, and ``noise`` for the first set, the empty one.

    ``parameters`` are the penalties (K,), and the squared distances (K,) up to which D_k is rounding.

    Examples
    --------
    >>> sets_rule(np.array([[7.0, 1.0, 0.5]]), 2.0, 4.0, 1.0, 1.0, 4.0, 0.0, 0.0, 0.0)[0].round(3)
    array([[0.143, 0.571, 0.286]])
    """
    penalty, rounding = np.array(parameters).reshape(2, -1)
    costs = penalty * np.where(rounding < D, D, np.finfo(np.float64).tiny)
    costs[:, 0] = noise
    return fcm_rule(costs, beta)


@_rule(RULES, "entropy")
def entropy_rule(D: Array, weight: float, *log_shares: float) -> tuple[Array, Array, Array]:
    """Entropy c-means: u = softmax(log share - D / weight)."""
    U, likelihood = posteriors(np.array(log_shares) - D / weight)
    return U, U, -weight * likelihood


@_rule(RULES, "softmax")
def softmax_rule(D: Array, *parameters: float) -> tuple[Array, Array, Array]:
    """Softmax of log shares minus rates times D; ``parameters`` are the rates (K,) and the log shares (K,)."""
    rate, log_share = np.array(parameters).reshape(2, -1)
    U, likelihood = posteriors(log_share - rate * D)
    return U, U, -likelihood


@_rule(RULES, "rough")
def rough_rule(D: Array, factor: float, addend: float, part: float, uniform: float) -> tuple[Array, Array, Array]:
    """Rough k-means. A cluster is possible if ``part`` sqrt(D_k) <= ``factor`` sqrt(min_l D_l) + ``addend``.

    Memberships are equal, or proportional to 1 / D, among the possible clusters. The weights are for each centre twice:
    of a row with one possible cluster in the first half, of the others in the second half.

    Examples
    --------
    >>> rough_rule(np.array([[1.0, 4.0], [1.0, 9.0]]), 2.0, 0.0, 1.0, 0.0)[0]
    array([[0.8, 0.2],
           [1. , 0. ]])
    >>> rough_rule(np.array([[1.0, 4.0, 1.0, 4.0], [1.0, 9.0, 1.0, 9.0]]), 2.0, 0.0, 1.0, 0.0)[1]
    array([[0., 0., 1., 1.],
           [1., 0., 0., 0.]])
    """
    nearest = D.min(axis=1, keepdims=True)
    possible = np.sqrt(D) * part <= factor * np.sqrt(nearest) + addend
    share = possible.astype(np.float64)
    if not uniform:
        np.divide(nearest, D, out=share, where=possible & (nearest < D))
    first = possible[:, : D.shape[1] // 2]
    sure = first.sum(axis=1, keepdims=True) == 1
    W = np.hstack([first & sure, first & ~sure]).astype(np.float64)
    return share / share.sum(axis=1, keepdims=True), W, nearest[:, 0]


@_rule(RULES, "bumps")
def bumps_rule(D: Array, alpha: float, *weights: float) -> tuple[Array, Array, Array]:
    """Gaussian bumps weight_k exp(-alpha D); the objective of a row is their sum."""
    with np.errstate(under="ignore"):
        B = np.exp(-alpha * D) * np.array(weights)
    return B, B, B.sum(axis=1)


@_rule(RULES, "kernel")
def kernel_rule(D: Array, m: float, gamma: float) -> tuple[Array, Array, Array]:
    """Kernel fuzzy c-means: fuzzy c-means on 1 - exp(-gamma D), weights u^m exp(-gamma D).

    Examples
    --------
    >>> kernel_rule(np.array([[0.0, 1.0]]), 2.0, 1.0)[0]
    array([[1., 0.]])
    """
    U, W, J = fcm_rule(-np.expm1(-gamma * D), m)
    with np.errstate(under="ignore"):
        return U, W * np.exp(-gamma * D), J


@_rule(RULES, "nearest")
def nearest_rule(D: Array) -> tuple[Array, Array, Array]:
    """Membership 1 in the nearest prototype, the first if several are nearest.

    Examples
    --------
    >>> nearest_rule(np.array([[2.0, 1.0, 1.0]]))
    (array([[0., 1., 0.]]), array([[0., 1., 0.]]), array([1.]))
    """
    U = (np.arange(D.shape[1]) == D.argmin(axis=1)[:, None]).astype(np.float64)
    return U, U, D.min(axis=1)


def beside_noise(D: Array, noise: float) -> Array:
    """Distances with a further column for a cluster of noise, which is equally far from all rows; 0: there is none.

    Examples
    --------
    >>> beside_noise(np.array([[1.0], [9.0]]), 4.0)
    array([[1., 4.],
           [9., 4.]])
    """
    return np.column_stack([D, np.full(len(D), noise)]) if noise > 0 else D


def center_statistics(
    block: Block, V: Array, rule: str, *parameters: float, noise: float = 0.0
) -> tuple[Array, Array, float, float, int | None, Array | None]:
    """(weight, total, objective, worst row objective, its row if a weight underflowed, weight per feature if values are
    missing); see ``kernels.centers``.
    """
    weight, total = np.zeros(len(V)), np.zeros_like(V)
    seen = np.zeros_like(V) if block.frame.gaps else None
    objective, worst, at = 0.0, -1.0, 0
    for lo, Z, w in block.pieces():
        _, W, J = RULES[rule](beside_noise(squared_distances(Z, V), noise), *parameters)
        W = W[:, : len(V)] * w[:, None]
        weight += W.sum(axis=0)
        if seen is not None:
            seen += W.T @ ~np.isnan(Z)
            Z = np.nan_to_num(Z)
        total += (Z.T @ W).T
        objective += float(w @ J)
        if J.max() > worst:
            worst, at = float(J.max()), lo + int(J.argmax())
    return weight, total, objective, worst, at if weight.min() < EMPTY else None, seen


def memberships_and_noise(
    block: Block, V: Array, rule: str, *parameters: float, noise: float = 0.0
) -> tuple[NDArray[Any], Array]:
    """Memberships (n, K) and those (n,) in the noise; see ``kernels.centers.memberships_and_noise``."""
    K = len(V)
    U, masses = np.empty((block.n, K), dtype=block.X.dtype), np.zeros(block.n)
    for lo, Z, _ in block.pieces():
        found = RULES[rule](beside_noise(squared_distances(Z, V), noise), *parameters)[0]
        U[lo : lo + Z.shape[0]] = found[:, :K]
        if noise > 0:
            masses[lo : lo + Z.shape[0]] = found[:, K]
    return U, masses


def center_scatter(block: Block, V: Array, rule: str, *parameters: float, noise: float = 0.0) -> tuple[Array, Array]:
    """Summed weights, and summed weights times squared distances; see ``kernels.centers.center_scatter``."""
    weight, scatter = np.zeros(len(V)), np.zeros(len(V))
    for _, Z, w in block.pieces():
        D = squared_distances(Z, V)
        W = RULES[rule](beside_noise(D, noise), *parameters)[1][:, : len(V)] * w[:, None]
        weight += W.sum(axis=0)
        scatter += (W * D).sum(axis=0)
    return weight, scatter


def center_rows(block: Block, V: Array, rule: str, *parameters: float) -> Array:
    """The objective of each row; see ``kernels.centers.center_rows``."""
    return np.concatenate([RULES[rule](squared_distances(Z, V), *parameters)[2] for _, Z, _ in block.pieces()])


def center_distances(block: Block, V: Array) -> Array:
    """Squared distances (n, K); see ``kernels.centers.center_distances``."""
    return np.concatenate([squared_distances(Z, V) for _, Z, _ in block.pieces()])


def pair_bumps(Z: Array, alpha: float, weight: Array) -> Array:
    """For each row (n,): sum_j weight_j exp(-alpha |z_i - z_j|^2), a group of rows at a time."""
    groups = [Z[lo : lo + _GROUP] for lo in range(0, len(Z), _GROUP)]
    return np.concatenate([np.exp(-alpha * cdist(group, Z, "sqeuclidean")) @ weight for group in groups])


def nearest(points: Array, rows: Array, k: int) -> tuple[Array, NDArray[np.intp]]:
    """Squared distances (n, k) to the nearest points, and which they are; see ``kernels.pairs.nearest``."""
    distances, which = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.intp)
    for lo in range(0, len(rows), _GROUP):
        D = cdist(rows[lo : lo + _GROUP], points, "sqeuclidean")
        here = which[lo : lo + _GROUP] = np.argsort(D, axis=1, kind="stable")[:, :k]
        distances[lo : lo + _GROUP] = np.take_along_axis(D, here, axis=1)
    return distances, which


def reachability_linkage(Z: Array, reach: Array) -> tuple[NDArray[np.intp], Array]:
    """Single linkage by max(|z_i - z_j|, reach_i, reach_j): merged nodes (n - 1, 2), and levels (n - 1,)."""
    i, j = np.triu_indices(len(Z), 1)
    tree = linkage(np.maximum(pdist(Z), np.maximum(reach[i], reach[j])), "single")
    return tree[:, :2].astype(np.intp), tree[:, 2]


def pair_median(Z: Array) -> float:
    """Median distance between two rows that are not equal; nan if all are equal."""
    squared = pdist(Z, "sqeuclidean")
    squared = squared[squared > 0]
    if len(squared) == 0:
        return np.nan
    # The mean of the two in the middle, which are the same if the number is odd.
    middle = [(len(squared) - 1) // 2, len(squared) // 2]
    return float(np.sqrt(np.partition(squared, middle)[middle]).mean())


def draw(mass: Array, order: NDArray[np.intp], uniforms: Array) -> NDArray[np.intp]:
    """Rows with probability proportional to their mass, by inversion along an order of the rows.

    Examples
    --------
    >>> draw(np.array([1.0, 0.0, 3.0]), np.array([2, 1, 0]), np.array([0.1, 0.7, 0.9]))
    array([2, 2, 0])
    """
    cumulated = np.cumsum(mass[order])
    at = np.searchsorted(cumulated, uniforms * cumulated[-1], side="right")
    drawn: NDArray[np.intp] = order[np.minimum(at, len(order) - 1)]
    return drawn


def seed(block: Block, order: NDArray[np.intp], uniforms: Array, most: float = np.inf) -> Array:
    """Greedy k-means++: each centre is the best of the candidates drawn by weight times squared distance.

    A squared distance above ``most`` counts as ``most``. If every row is covered already (fewer distinct rows than
    draws), the draw is by weight alone.
    """
    weight = np.ones(block.n) if block.weight is None else block.weight
    chosen = block.take(draw(weight, order, uniforms[0, :1]))
    closest = np.full(block.n, most)
    for row in uniforms[1:]:
        update_closest(block, chosen[-1:], closest)
        candidates = block.take(draw(weight * closest if closest.any() else weight, order, row))
        left = np.zeros(len(candidates))
        for lo, Z, w in block.pieces():
            left += w @ np.minimum(squared_distances(Z, candidates), closest[lo : lo + Z.shape[0], None])
        chosen = np.concatenate([chosen, candidates[[np.argmin(left)]]])
    return chosen


def update_closest(block: Block, V: Array, closest: Array) -> None:
    """Lower ``closest`` to the squared distance to the one prototype V, in place."""
    for lo, Z, _ in block.pieces():
        piece = closest[lo : lo + Z.shape[0]]
        np.minimum(piece, squared_distances(Z, V)[:, 0], out=piece)


def log_densities(
    Z: Array,
    means: Array,
    factors: Array | None,
    constants: Array,
    full: bool,
    linear: Array | None = None,
    noise: Array | None = None,
) -> Array:
    """log(weight_k N(z | k)) + linear_k . z (rows, K), from inverse Cholesky factors or inverse standard deviations.

    Only what a row has counts. The completed row minimises the squared distance to the mean, so that its distance is
    that of the observed part; log det of the covariance of that part is log det of the whole plus log det(P_gg).
    A further column is that of ``noise``: its log density, and what this gains for each missing feature.
    """
    D = np.tile(constants, (len(Z), 1)) if linear is None else constants + np.nan_to_num(Z) @ linear.T
    with np.errstate(over="ignore", invalid="ignore"):
        for k, factor in enumerate([] if factors is None else factors):
            squares, adjust = _distances_and_volumes(Z, means[k], factor, full)
            D[:, k] += adjust - 0.5 * squares
    # log densities that overflow become -1e300, so that they can still be compared
    D = np.where(D > -1e300, D, -1e300)
    return D if noise is None else np.column_stack([D, noise[0] + np.isnan(Z) @ noise[1:]])


def student_log_densities(
    Z: Array, means: Array, factors: Array, constants: Array, full: bool, tails: Array
) -> tuple[Array, Array, Array]:
    """The same of Student components, the expected precisions u, and E log precision - u; (rows, K) each."""
    D, u, score = np.empty((3, len(Z), len(means)))
    n_gaps = np.isnan(Z).sum(axis=1)
    peaks, log_precisions = np.split(tails[:, 2:], 2, axis=1)
    for k, (nu, most) in enumerate(tails[:, :2]):
        with np.errstate(over="ignore", invalid="ignore"):
            squares, adjust = _distances_and_volumes(Z, means[k], factors[k], full)
        ratio = 1 + squares / nu
        ratio = np.where(ratio < 1e300, ratio, 1e300)
        u[:, k] = (most - n_gaps) / nu / ratio
        D[:, k] = constants[k] + adjust + peaks[k, n_gaps] - 0.5 * (most - n_gaps) * np.log(ratio)
        score[:, k] = log_precisions[k, n_gaps] - np.log(ratio) - u[:, k]
    return D, u, score


def _distances_and_volumes(Z: Array, mean: Array, factor: Array, full: bool) -> tuple[Array, Array]:
    """Squared distances of rows to a mean, and what their log densities gain because only what is there counts."""
    missing = np.isnan(Z)
    E, completed = deviations(Z, mean, factor if full else None)
    Y = E @ factor.T if full else E * factor
    adjust = np.zeros(len(Z))
    for gaps, inverses in completed:
        volumes = np.log(np.abs(np.diagonal(inverses, axis1=1, axis2=2))).sum(axis=1)
        adjust[gaps.rows] += 0.5 * gaps.columns.shape[1] * np.log(2 * np.pi) + volumes[gaps.member]
    if not full and missing.any():
        adjust -= missing @ log_peaks(factor)
    return np.einsum("ij,ij->i", Y, Y), adjust


def deviations(Z: Array, mean: Array, factor: Array | None) -> tuple[Array, list[tuple[Gaps, Array]]]:
    """Rows about a mean, and their groups of gaps with the inverses of :func:`~..engine.missing.conditional`.

    A gap is 0 without a ``factor`` (there are no groups then), otherwise its expected deviation given the rest.
    """
    missing = np.isnan(Z)
    E = np.where(missing, 0.0, Z - mean)
    completed = []
    if factor is not None:
        given = E.copy()
        for gaps in gaps_of(missing):
            expected, inverses = conditional(given, gaps, factor)
            E[gaps.places] = expected
            completed.append((gaps, inverses))
    return E, completed


def precisions(factors: Array) -> Array:
    """Precisions (K, d, d) from inverse Cholesky factors."""
    return np.ascontiguousarray(np.swapaxes(factors, 1, 2) @ factors)


def log_peaks(factors: Array) -> Array:
    """Log densities of single features at their means, from inverse standard deviations; 0 for those without any."""
    known = factors > 0
    peaks: Array = np.where(known, np.log(np.where(known, factors, 1.0)) - 0.5 * np.log(2 * np.pi), 0.0)
    return peaks


def posteriors(D: Array) -> tuple[Array, Array]:
    """Softmax of each row of log densities, and the log of its normaliser.

    Examples
    --------
    >>> posteriors(np.log([[0.3, 0.1]]))
    (array([[0.75, 0.25]]), array([-0.91629073]))
    """
    top = D.max(axis=1, keepdims=True)
    with np.errstate(under="ignore"):
        R = np.exp(D - top)
    s = R.sum(axis=1, keepdims=True)
    return R / s, (top + np.log(s))[:, 0]


@_rule(GAUSS_RULES, "posterior")
def posterior_rule(D: Array) -> tuple[Array, Array, Array, Array]:
    """Posteriors, which are the weights of all moments."""
    R, likelihood = posteriors(D)
    return R, R, R, likelihood


@_rule(GAUSS_RULES, "background")
def background_rule(D: Array) -> tuple[Array, Array, Array, Array]:
    """Posteriors if the last column is noise: memberships of rows that are not noise, weights with noise.

    Examples
    --------
    >>> U, R, _, _ = background_rule(np.log([[0.2, 0.6, 0.8]]))
    >>> U.round(3), R.round(3)
    (array([[0.25, 0.75, 0.5 ]]), array([[0.125, 0.375, 0.5  ]]))
    """
    U, within = posteriors(D[:, :-1])
    with np.errstate(under="ignore"):
        likelihood = np.logaddexp(within, D[:, -1])
        noise = np.exp(D[:, -1:] - likelihood[:, None])
        R = np.hstack([U * np.exp(within - likelihood)[:, None], noise])
    return np.hstack([U, noise]), R, R, likelihood


@_rule(GAUSS_RULES, "tempered")
def tempered_rule(D: Array, m: float, exponent: float) -> tuple[Array, Array, Array, Array]:
    """Memberships u = softmax(D / (m - 1)), second moments under u^exponent, means under u^m; the log likelihood."""
    with np.errstate(over="ignore", under="ignore"):  # for m near 1
        U = posteriors((D - D.max(axis=1, keepdims=True)) / (m - 1))[0]
        return U, U**exponent, U**m, posteriors(D)[1]


@_rule(GAUSS_RULES, "metric")
def metric_rule(D: Array, m: float, *volumes: float) -> tuple[Array, Array, Array, Array]:
    """Fuzzy c-means in the metric of each component: the squared distance is -2 volume D, as the constants are 0."""
    U, _, J = fcm_rule(-2 * D * np.array(volumes), m)
    with np.errstate(under="ignore"):
        W = U**m
    return U, W, W, J


def gauss_statistics(
    block: Block,
    means: Array,
    factors: Array | None,
    constants: Array | None,
    full: bool,
    memberships: Array | None,
    rule: str,
    *parameters: float,
    linear: Array | None = None,
    noise: Array | None = None,
    tails: Array | None = None,
) -> tuple[Any, ...]:
    """Moments about the means; see ``kernels.gauss.gauss_statistics``."""
    K, d = means.shape
    weight, first = np.zeros(K), np.zeros((K, d))
    second = np.zeros((K, d, d) if full else (K, d))
    mean_weight, mean_first, share = np.zeros(K), np.zeros((K, d)), np.zeros(K)
    size, score, seen_size = np.zeros(K), np.zeros(K), np.zeros((K, d)) if block.frame.gaps else None
    seen = None if seen_size is None else seen_size.copy()
    objective = 0.0
    for lo, Z, w in block.pieces():
        if tails is not None:
            assert factors is not None
            assert constants is not None
            D, u, scores = student_log_densities(Z, means, factors, constants, full, tails)
            U, rows = posteriors(D)
            W = M = U * u
            objective += float(w @ rows)
            size += w @ U
            score += w @ (U * scores)
            if seen_size is not None:
                seen_size += (U.T * w) @ ~np.isnan(Z)
        elif memberships is None:
            assert constants is not None
            D = log_densities(Z, means, factors, constants, full, linear, noise)
            U, W, M, rows = GAUSS_RULES[rule](D, *parameters)
            objective += float(w @ rows)
        else:
            U = W = M = memberships[lo : lo + len(Z)]
        share += w @ U[:, :K]
        if seen is not None:
            seen += (W[:, :K].T * w) @ ~np.isnan(Z)
        for k in range(K):
            r, s = W[:, k] * w, M[:, k] * w
            C, completed = deviations(Z, means[k], None if factors is None or not full else factors[k])
            for gaps, inverses in completed:
                of_patterns = np.bincount(gaps.member, (r if tails is None else U[:, k] * w)[gaps.rows])[:, None, None]
                places: Any = gaps.columns[:, :, None], gaps.columns[:, None, :]
                np.add.at(second[k], places, inverses @ inverses.swapaxes(1, 2) * of_patterns)
            weight[k] += r.sum()
            first[k] += r @ C
            second[k] += (C.T * r) @ C if full else r @ (C * C)
            mean_weight[k] += s.sum()
            mean_first[k] += s @ C
    answer = weight, first, second, objective
    if tails is not None:
        return *answer, size, score, seen_size, seen
    return (*answer, mean_weight, mean_first, share, seen) if rule == "tempered" else (*answer, seen)


def gauss_memberships_and_masses(
    block: Block,
    means: Array,
    factors: Array | None,
    constants: Array,
    full: bool,
    rule: str,
    *parameters: float,
    linear: Array | None = None,
    noise: Array | None = None,
    tails: Array | None = None,
) -> tuple[NDArray[Any], Array, Array]:
    """Memberships, log likelihoods, and posteriors of the noise or mean precisions; see ``kernels.gauss``."""
    K = len(means)
    U, rows, masses = np.empty((block.n, K), dtype=block.X.dtype), np.empty(block.n), np.zeros(block.n)
    for lo, Z, _ in block.pieces():
        here = slice(lo, lo + len(Z))
        if tails is not None:
            assert factors is not None
            D, u, _ = student_log_densities(Z, means, factors, constants, full, tails)
            R, rows[here] = posteriors(D)
            U[here], masses[here] = R, (R * u).sum(axis=1)
            continue
        D = log_densities(Z, means, factors, constants, full, linear, noise)
        found, _, _, rows[here] = GAUSS_RULES[rule](D, *parameters)
        U[here] = found[:, :K]
        if noise is not None:
            masses[here] = found[:, K]
    return U, rows, masses


def category_log_densities(Z: Array, densities: Densities) -> Array:
    """log(weight_k p(z | k)) (rows, K) of rows of p numbers and codes of categories; only what a row has counts."""
    means, factors, constants, table, edges = densities
    p = means.shape[1]
    D = log_densities(Z[:, :p], means, factors if p else None, constants, full=False)
    for z, edge in zip(Z[:, p:].T, edges[:-1], strict=True):
        there = ~np.isnan(z)
        D[there] += table[edge + z[there].astype(np.intp)]
    return D


def category_statistics(
    block: Block, densities: Densities, memberships: Array | None = None
) -> tuple[Array, Array, Array, Array, float, Array | None]:
    """(weight, counts, first, second, objective, weight per number); see ``kernels.categories``."""
    means, edges = densities.means, densities.edges
    K, p = means.shape
    weight, counts, objective = np.zeros(K), np.zeros((edges[-1], K)), 0.0
    first, second, seen = np.zeros((3, K, p))
    for lo, Z, w in block.pieces():
        if memberships is None:
            R, likelihood = posteriors(category_log_densities(Z, densities))
            objective += float(w @ likelihood)
        else:
            R = memberships[lo : lo + len(Z)]
        R = R * w[:, None]
        weight += R.sum(axis=0)
        for z, edge in zip(Z[:, p:].T, edges[:-1], strict=True):
            there = ~np.isnan(z)
            np.add.at(counts, edge + z[there].astype(np.intp), R[there])
        there = ~np.isnan(Z[:, :p])
        seen += R.T @ there
        for k in range(K):
            E = np.where(there, Z[:, :p] - means[k], 0.0)
            first[k] += R[:, k] @ E
            second[k] += R[:, k] @ (E * E)
    return weight, counts, first, second, objective, seen if block.frame.gaps else None


def category_memberships(block: Block, densities: Densities) -> tuple[NDArray[Any], Array]:
    """Posteriors (n, K), and the log likelihood of each row; see ``kernels.categories``."""
    U, rows = np.empty((block.n, len(densities.constants)), dtype=block.X.dtype), np.empty(block.n)
    for lo, Z, _ in block.pieces():
        here = slice(lo, lo + len(Z))
        U[here], rows[here] = posteriors(category_log_densities(Z, densities))
    return U, rows


def inverse_cholesky(covariances: Array) -> tuple[Array, int | None]:
    """Inverses (K, d, d) of the lower Cholesky factors, and the first matrix that is not positive definite, if any."""
    factors = np.zeros_like(covariances)
    for k, covariance in enumerate(covariances):
        lower, failed = lapack.dpotrf(covariance, lower=1, clean=1)
        if failed or not lower.diagonal().min() > PIVOT:
            return factors, k
        factors[k] = lapack.dtrtri(lower, lower=1)[0]
    return factors, None
