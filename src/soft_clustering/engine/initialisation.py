"""Starting centres, over blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Array, Init
from ..inputs.features import validate_matrix
from ..kernels import reference
from ..kernels.centers import center_rows, center_statistics, seed
from .alternating import new_centers
from .blocks import Block, Blocks, Frame, Subspace
from .loop import ROUNDING, center_shift
from .neighbors import Search

_LLOYD_STEPS, _LLOYD_TOL = 100, 1e-4  # a start needs no more
_ROUNDS, _OVERSAMPLING = 5, 2  # of k-means||, as its paper recommends: rounds, and candidates a round for each cluster
_MORE_ROUNDS = 20  # at most, if there are fewer candidates than clusters
TRIMMED, _NEIGHBOR = 0.05, 10  # share of the rows that a trimmed start leaves out, by the distance to this neighbour
_SEARCHED, _SAMPLE = 5000, 2000  # up to so many rows the neighbours are searched among all, beyond in a sample
_RUNS = 10  # of k-means on the candidates, which are few


def starting_centers(blocks: Blocks, init: Init, K: int, rng: np.random.RandomState, most: float = np.inf) -> Array:
    """K starting centres (K, d) in the coordinates of the frame.

    ``init`` is ``"k-means++"`` (k-means|| if the rows are too many to be in one place), ``"k-means||"``, ``"kmeans"``,
    ``"random"`` (rows of the data), an array (K, d) in input units, or a callable ``init(X, K, rng)`` that returns one.
    A squared distance above ``most`` counts as ``most`` in the draws.
    """
    if isinstance(init, str):
        if K == 1:
            return _mean(blocks)
        local = blocks.local(rng)
        if init == "k-means||" or (init == "k-means++" and local.n < blocks.n):
            # Better starts than those of a sample, and as good as k-means++ in memory: benchmarks/scale/seeding.py.
            return kmeans_parallel(blocks, random_rows(local, 1, rng), K, rng, most)
        return _SEEDINGS[init](local, K, rng, most)
    centers = init(input_rows(blocks.local(rng)), K, rng) if callable(init) else init
    return blocks.frame.from_input(validate_matrix("init", centers, (K, blocks.n_features)))


def input_rows(blocks: Blocks) -> Any:
    """The rows in input units."""
    X = blocks.joined().X
    return blocks.frame.to_input(X) if isinstance(blocks.frame, Subspace) else X


def _mean(blocks: Blocks) -> Array:
    statistics = blocks.reduce(center_statistics, np.zeros((1, blocks.d)), "nearest")
    return statistics.total / statistics.mass


def random_rows(blocks: Blocks, K: int, rng: np.random.RandomState, most: float = np.inf) -> Array:
    """K different rows, drawn with probability proportional to their weights; ``most`` does not matter."""
    block = blocks.joined()
    mass = np.ones(block.n) if block.weight is None else block.weight.copy()
    chosen = np.empty(K, dtype=np.intp)
    for k in range(K):
        chosen[k] = reference.draw(mass, block.order, rng.uniform(size=1))[0]
        mass[chosen[k]] = 0
    return block.take(chosen)


def kmeans_plusplus(blocks: Blocks, K: int, rng: np.random.RandomState, most: float = np.inf) -> Array:
    """Greedy k-means++: each centre is the best of 2 + log K candidates drawn by squared distance, at most ``most``.

    The draws invert the distribution along a fixed projection of the rows, so they do not depend on the order of the
    rows, and an integer weight is the same as repeated rows.

    References
    ----------
    D. Arthur, S. Vassilvitskii (2007). k-means++: the advantages of careful seeding. SODA, 1027-1035.
    """
    block = blocks.joined()
    return seed(block, block.order, rng.uniform(size=(K, 2 + int(np.log(K)))), most)


def greedy_seeds(
    distances: Callable[[NDArray[np.intp]], Array],
    weight: Array,
    order: NDArray[np.intp],
    uniforms: Iterable[Array],
    most: float = np.inf,
) -> NDArray[np.intp]:
    """Greedy k-means++ among objects that are known by their distances; returns the indices of the seeds.

    Parameters
    ----------
    distances : callable
        The squared distances, or dissimilarities, (n, t) of all objects to those of t indices.
    weight : ndarray of shape (n,)
    order : ndarray of shape (n,)
        The order of the objects in which draws invert the distribution.
    uniforms : iterable of ndarray
        Uniform numbers: one for the first seed, and for each further one as many as there are candidates.
    most : float, default=inf
        Distances above it count as ``most``.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 5.0])
    >>> uniforms = np.array([0.0]), np.array([0.2, 0.9])
    >>> greedy_seeds(lambda rows: (x[:, None] - x[rows]) ** 2, np.ones(3), np.arange(3), uniforms)
    array([0, 2])
    """
    closest, left = np.full(len(weight), most), weight.copy()
    seeds = list[int]()
    for row in uniforms:
        drawn = reference.draw(weight * closest if seeds and closest.any() else left, order, row)
        nearer = np.minimum(distances(drawn), closest[:, None])
        best = np.argmin(weight @ nearer)
        closest = nearer[:, best]
        seeds.append(int(drawn[best]))
        left[seeds[-1]] = 0  # if all objects are covered, no seed is drawn twice
    return np.array(seeds)


class Candidates(NamedTuple):
    """Rows that a round of k-means|| draws: a row with probability wanted * mass / cost."""

    key: Array  # a uniform number divided by the mass of the row: its weight times the squared distance to the centres
    rows: Array
    cost: float  # the summed mass of all rows
    wanted: int

    def merge(self, other: Candidates) -> Candidates:
        """Those of both blocks together: fewer of each, as the cost is larger."""
        key, rows = np.concatenate([self.key, other.key]), np.concatenate([self.rows, other.rows])
        cost = self.cost + other.cost
        few = key * cost < self.wanted
        return Candidates(key[few], rows[few], cost, self.wanted)


def candidates(block: Block, V: Array, wanted: int, seed: int, most: float = np.inf) -> Candidates:
    """What a block contributes to a round of k-means||: rows drawn by weight times squared distance to V."""
    mass = np.minimum(center_rows(block, V, "nearest"), most)
    if block.weight is not None:
        mass = mass * block.weight
    uniform = np.random.RandomState([seed, block.start % 2**32, block.start >> 32]).random_sample((block.n,))
    cost = float(mass.sum())
    few: NDArray[np.intp] = np.flatnonzero(uniform * cost < wanted * mass)
    return Candidates(uniform[few] / mass[few], block.take(few), cost, wanted)


def kmeans_parallel(blocks: Blocks, first: Array, K: int, rng: np.random.RandomState, most: float = np.inf) -> Array:
    """k-means||: from a ``first`` row (1, d), five passes draw about 2 K candidates each, which k-means joins to K.

    All rows take part, wherever they are, and not only a sample. A round needs one pass: a block draws by its own cost,
    which is at most that of all rows, and what is drawn is thinned out as blocks are merged.

    References
    ----------
    B. Bahmani, B. Moseley, A. Vattani, R. Kumar, S. Vassilvitskii (2012). Scalable k-means++. Proceedings of the VLDB
    Endowment, 5(7), 622-633.
    """
    V = first
    for n_rounds in range(1, _MORE_ROUNDS + 1):
        found = blocks.reduce(candidates, V, _OVERSAMPLING * K, int(rng.randint(2**31 - 1)), most)
        V = np.concatenate([V, found.rows])
        if found.cost == 0 or (n_rounds >= _ROUNDS and len(V) >= K):
            break
    weight = blocks.reduce(center_statistics, V, "nearest").weight
    drawn = Blocks([Block(V, weight, Frame(np.zeros(blocks.d), 1.0))], blocks.mean_variance)
    return best_kmeans(drawn, K, rng, _RUNS, most=most)


def further_rows(block: Block, V: Array, n: int, rng: np.random.RandomState) -> Array:
    """Rows (n, d) drawn as in k-means++: by weight times squared distance to V and to the rows drawn before."""
    weight = np.ones(block.n) if block.weight is None else block.weight
    closest = np.full(block.n, np.inf)
    for v in V:
        reference.update_closest(block, v[None], closest)
    chosen = np.empty((n, block.d))
    for k in range(n):
        mass = weight * closest if closest.any() else weight
        chosen[k] = block.take(reference.draw(mass, block.order, rng.uniform(size=1)))[0]
        reference.update_closest(block, chosen[[k]], closest)
    return chosen


def kmeans(blocks: Blocks, K: int, rng: np.random.RandomState, most: float = np.inf) -> Array:
    """Centres of a k-means run from k-means++ seeds."""
    return lloyd(blocks, kmeans_plusplus(blocks, K, rng, most))


def trimmed_rows(blocks: Blocks, K: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """The rows that a trimmed start begins with: all but the share ``TRIMMED`` of them in the sparsest places.

    Left out are the rows whose distance to the 10th other point is largest (beyond 5000 rows: the 10th among 2000 drawn
    rows), but never so many that fewer than K are left. So outliers neither attract a centre nor widen a covariance.
    Rows at the same distance are left out together or not at all: copies of a row count as one row of their weight.
    """
    block = blocks.joined()
    Z, n = block.take(np.arange(block.n)), block.n
    points = np.unique(Z if n <= _SEARCHED else Z[rng.choice(n, _SAMPLE, replace=False)], axis=0)
    k = min(_NEIGHBOR, len(points) - 1)
    distances = Search(points).nearest(Z, k + 1)[0]
    itself = distances[:, 0] == 0
    reach = np.where(itself, distances[:, k], distances[:, max(k - 1, 0)])
    far_first = np.argsort(-reach, kind="stable")
    weight = np.ones(n) if block.weight is None else block.weight[far_first]
    last_as_far = np.searchsorted(-reach[far_first], -reach[far_first], side="right") - 1
    n_trimmed = int(np.sum(np.cumsum(weight)[last_as_far] <= TRIMMED * weight.sum()))
    return np.sort(far_first[min(n_trimmed, n - K) :])


def lloyd(blocks: Blocks, V: Array) -> Array:
    """Centres of a k-means run from given ones."""
    return settle(blocks, V, _LLOYD_STEPS, _LLOYD_TOL, "nearest")[0]


def best_kmeans(
    blocks: Blocks,
    K: int,
    rng: np.random.RandomState,
    n_runs: int,
    max_passes: int = _LLOYD_STEPS,
    tol: float = _LLOYD_TOL,
    most: float = np.inf,
) -> Array:
    """Centres of the run of least cost among some k-means runs; the first of those that only rounding tells apart."""
    seeds = [kmeans_plusplus(blocks, K, rng, most) for _ in range(n_runs)]
    runs = [settle(blocks, V, max_passes, tol, "nearest")[0] for V in seeds]
    costs = np.array([blocks.reduce(center_statistics, V, "nearest").objective for V in runs])
    return runs[int(np.argmax(costs <= costs.min() * (1 + ROUNDING)))]


def settle(blocks: Blocks, V: Array, max_passes: int, tol: float, rule: str, *parameters: float) -> tuple[Array, Array]:
    """Centres after plain passes under a rule of the kernels, until they move by at most ``tol``, and their weights."""
    for _ in range(max_passes):
        before, statistics = V, blocks.reduce(center_statistics, V, rule, *parameters)
        V = new_centers(V, statistics)
        if center_shift(before, V, [], blocks) <= tol:
            break
    return V, statistics.weight


_SEEDINGS = {"k-means++": kmeans_plusplus, "kmeans": kmeans, "random": random_rows}
