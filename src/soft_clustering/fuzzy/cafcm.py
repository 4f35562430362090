"""Collaborative annealing fuzzy c-means: k-means by way of fuzzy c-means that grows hard, in a swarm.

Minimise the within-cluster sum of squares of k-means, J = sum_i min_k |x_i - v_k|^2. A few modules do so together while
the fuzzifier cools, m_t = 1 + exp(-t) for t = 0..18, or m_t = 1 + 1 / (t + 1) for t = 0..5000. At each m_t every module
begins anew from seeds and k-means, its personal best. Then, until the best of the group has not improved for more than
M rounds, a round is

* for each module: fuzzy c-means at m_t from its memberships W, every sample to its nearest centre, k-means. That gives
  hard memberships W and J; the module keeps its best, P, and the group its best, G;
* the diversity |W_all - G|_F / (N n K) of the N modules. If it is below 1e-3, wavelet mutation: with s uniform in
  [-2.5, 2.5] and eta = exp(-s^2 / 2) cos(5 s) / sqrt(a), a = exp(round / 1000), add eta (1 - W) to W where eta > 0 and
  eta W elsewhere; the velocities are drawn anew and the personal bests forgotten;
* otherwise a step of a particle swarm, each entry with r_1, r_2 uniform in [0, 1]:
  velocity += r_1 (P - W) + r_2 (G - W), W = clip(W + velocity, 0, 1).

References
----------
H. Li, J. Wang (2024). From soft clustering to hard clustering: a collaborative annealing fuzzy c-means algorithm. IEEE
Transactions on Fuzzy Systems 32(3), 1181-1194.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Init, MatrixLike, Seed
from ..base import InductiveSoftClusterer
from ..engine.alternating import PARAMETERS, new_centers
from ..engine.blocks import Blocks, Frame, extent, make_blocks
from ..engine.collapse import collapse
from ..engine.fitting import Fit, say
from ..engine.initialisation import settle, starting_centers
from ..engine.loop import Policy, Run, center_shift, squared_units
from ..inputs.features import check_enough_samples, is_dask, validate_features
from ..kernels import one_thread
from ..kernels.centers import center_memberships, center_statistics

if TYPE_CHECKING:
    from typing import Self

_LEVELS = {"exponential": 19, "polynomial": 5001}
_HARD = 1e-3 * (1 + 1e-9)  # m - 1 up to which fuzzy c-means is k-means
_DIVERSE = 1e-3  # the least diversity without mutation
_MANY = 100_000  # rows beyond which the swarm moves centres instead of memberships
_LLOYD_PASSES = 300
_ROUNDING = 1e-10  # relative change of an objective that does not count as an improvement
_NOTHING = 1e-24  # part of the total sum of squares that is rounding
_SOFT = 2.0  # fuzzifier of soft_memberships_


def cooling(schedule: str, min_m: float) -> Array:
    """The fuzzifiers of a schedule, falling, down to ``min_m``.

    Examples
    --------
    >>> cooling("exponential", 1.1).round(5)
    array([2.     , 1.36788, 1.13534])
    >>> cooling("polynomial", 1.25)
    array([2.        , 1.5       , 1.33333333, 1.25      ])
    """
    t = np.arange(_LEVELS[schedule])
    excess = np.exp(-t) if schedule == "exponential" else 1 / (t + 1)
    return 1 + excess[excess >= (min_m - 1) * (1 - 1e-9)]


class MembershipSpace:
    """The swarm moves memberships (n, K), in single precision."""

    def __init__(self, blocks: Blocks) -> None:
        self.block = blocks.joined()

    def position(self, V: Array) -> NDArray[Any]:
        """The hard memberships of centres."""
        return center_memberships(self.block, V, "nearest").astype(np.float32, copy=False)

    def centers(self, W: NDArray[Any], m: float, rng: np.random.RandomState) -> Array:
        """The means of all rows, weighted with w^m; a row without any membership belongs everywhere."""
        W = np.where((W @ np.ones(W.shape[1], W.dtype) > 0)[:, None], W, np.float32(1 / W.shape[1]))
        with np.errstate(divide="ignore", under="ignore"):
            W = np.exp(m * np.log(W)).astype(np.float64)
        size = W.sum(axis=0)
        V = np.zeros((W.shape[1], self.block.d))
        for lo, Z, _ in self.block.pieces():
            V += W[lo : lo + len(Z)].T @ Z
        empty = size == 0
        V /= np.where(empty, 1, size)[:, None]
        V[empty] = self.block.take(rng.randint(self.block.n, size=empty.sum()))
        return V


class CenterSpace:
    """The swarm moves centres (K, d), in units of the range of each feature."""

    def __init__(self, blocks: Blocks) -> None:
        low, high = (blocks.frame.from_input(end) for end in blocks.reduce(extent))
        self.low, self.span = low, high - low

    def position(self, V: Array) -> NDArray[Any]:
        """Centres in the unit cube."""
        position: Array = (V - self.low) / np.where(self.span > 0, self.span, 1)
        return position

    def centers(self, P: NDArray[Any], m: float, rng: np.random.RandomState) -> Array:
        """Centres in the coordinates of the frame."""
        centers: Array = self.low + P * self.span
        return centers


class Solution(NamedTuple):
    """Centres that k-means has come to."""

    centers: Array
    objective: float
    position: NDArray[Any]


@dataclass
class Module:
    """A particle of the swarm."""

    rng: np.random.RandomState
    best: Solution | None = None
    position: NDArray[Any] = field(init=False)
    velocity: NDArray[Any] = field(init=False)

    def draw(self, low: float, high: float) -> NDArray[Any]:
        """A uniform number for every entry of the position."""
        drawn: NDArray[Any] = self.rng.uniform(low, high, self.position.shape).astype(self.position.dtype)
        return drawn

    def restart(self, solution: Solution) -> None:
        """Begin anew at a solution."""
        self.best = None
        self.arrive(solution)
        self.velocity = self.draw(-1, 1)

    def arrive(self, solution: Solution) -> None:
        """Be at a solution, and remember it if none was better."""
        self.position = solution.position
        if self.best is None or solution.objective < self.best.objective:
            self.best = solution

    def mutate(self, n_round: int) -> None:
        """Wavelet mutation: towards 1 or towards 0, and no memory of the best."""
        s = self.draw(-2.5, 2.5)
        eta = math.exp(-n_round / 2000) * np.exp(-s * s / 2) * np.cos(5 * s)
        self.position = self.position + eta * np.where(eta > 0, 1 - self.position, self.position)
        self.velocity = self.draw(-1, 1)
        self.best = None

    def fly(self, group: Solution) -> None:
        """A step of the particle swarm."""
        assert self.best is not None
        own, common = self.draw(0, 1), self.draw(0, 1)
        self.velocity += own * (self.best.position - self.position) + common * (group.position - self.position)
        self.position = np.clip(self.position + self.velocity, 0, 1)


@dataclass
class Swarm:
    """The modules, and what they do together."""

    modules: list[Module]
    pool: Executor | None  # a thread for each module, or none

    def each(self, step: Callable[[Module], None]) -> None:
        """Do a step with every module."""
        if self.pool is None:
            for module in self.modules:
                step(module)
            return

        def alone(module: Module) -> None:
            with one_thread():
                step(module)

        list(self.pool.map(alone, self.modules))

    def best(self, group: Solution | None) -> Solution:
        """The best of the group so far."""
        found = (group, *(module.best for module in self.modules))
        return min((solution for solution in found if solution is not None), key=lambda solution: solution.objective)

    def move(self, group: Solution, n_round: int) -> None:
        """Move to other positions: by mutation if all are near the best one."""
        apart = sum(float(np.sum((module.position - group.position) ** 2)) for module in self.modules)
        if math.sqrt(apart) < _DIVERSE * len(self.modules) * group.position.size:
            self.each(partial(Module.mutate, n_round=n_round))
        else:
            self.each(partial(Module.fly, group=group))


class CAFCM(InductiveSoftClusterer):
    """Collaborative annealing fuzzy c-means: a search for the best k-means partition.

    Fuzzy c-means smooths the criterion of k-means: for a large fuzzifier it has few poor local optima, for one near 1
    it is k-means. A few fuzzy c-means modules share what they find while the fuzzifier falls.

    Parameters
    ----------
    n_clusters : int, default=3
        Number of clusters K.
    n_modules : int, default=2
        Modules N that search together.
    schedule : {'exponential', 'polynomial'}, default='exponential'
        The fuzzifiers in turn: 1 + exp(-t), t = 0..18, or 1 + 1 / (t + 1), t = 0..5000. Down to the default ``min_m``
        these are 7 levels or a thousand, with at least two rounds each.
    min_m : float, default=1.001
        Least fuzzifier, in [1, 2]: the rest of the schedule is left out. Up to 1.001 a fuzzy c-means run is a k-means
        run.
    max_fcm_iter : int, default=10
        Iterations of a fuzzy c-means run.
    n_iter_no_change : int, default=1
        The fuzzifier falls after more than this many rounds without an improvement of the best partition.
    init : {'k-means++', 'k-means||', 'random'}, array (n_clusters, n_features) or callable, default='k-means++'
        Where modules begin at every fuzzifier. A callable gets ``(X, n_clusters, rng)``. With an array, all begin
        there, and only the moves of the swarm differ. The publication draws ``'random'`` samples. Of more
        than 20,000 rows on Dask, ``'k-means++'`` is ``'k-means||'``, and ``'random'`` draws from a sample of 20,000.
    max_iter : int, default=3000
        Rounds over the whole schedule.
    tol : float, default=1e-4
        A run of fuzzy c-means or k-means inside ends when the centres move by at most ``tol`` times the root mean
        variance of the features.
    n_jobs : int or None, default=None
        Threads for the modules, each of which then runs on one; None is 1, which leaves the threads to the passes over
        the rows. The result is the same.
    random_state : int, RandomState or None, default=None
        Seed of starts and moves.
    verbose : int, default=0
        1 prints a line per fuzzifier, 2 a line per round.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Those of fuzzy c-means at ``centers_`` with the fuzzifier ``m_``: almost hard. Rows sum to 1.
    labels_ : ndarray of shape (n_samples,)
        The cluster of the nearest centre: the best partition.
    soft_memberships_ : ndarray of shape (n_samples, n_clusters)
        Those of fuzzy c-means at ``centers_`` with the fuzzifier 2.
    centers_ : ndarray of shape (n_clusters, n_features)
        The means of the best partition.
    n_clusters_ : int
    m_ : float
        The last fuzzifier.
    m_history_ : ndarray of shape (n_iter,)
        The fuzzifier of each round.
    objective_ : float
        Within-cluster sum of squares at ``centers_``.
    objective_history_ : ndarray of shape (n_iter + 1,)
        The least one so far, before each round and at the end.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Whether the schedule came to its end, or the objective to 0.

    See Also
    --------
    soft_clustering.FCM : fuzzy c-means at one fuzzifier.
    soft_clustering.AFCMSimple : the fuzziness is learnt.

    Notes
    -----
    Follows [1]_ and the program of its authors. Ours are the defaults of ``init``, ``min_m``, ``max_fcm_iter`` and
    ``n_iter_no_change`` (see the example for those of the publication), the sample of largest cost as the new place of
    a centre that k-means leaves empty, and 1e-10 as the least relative improvement.

    The result is a partition of k-means: use it if a low within-cluster sum of squares matters. With clusters that
    are not round, or of very different sizes, that criterion itself is wrong. The search is no proof: where there are
    many clusters, all modules may miss the best partition, most of all with ``init='random'``. ``score`` is minus the
    objective.

    A round costs N (``max_fcm_iter`` + k-means) passes of O(n K d) time, each fuzzifier N further k-means runs. The
    positions of the swarm take O(N n K) memory in single precision. Beyond 100,000 samples, and for Dask arrays, the
    swarm moves the centres in the range of the data instead of the memberships, by the same rules: an approximation of
    ours, in O(N K d) memory.

    The diversity as published falls with the number of samples: with two modules and more than 1e6 / K^2 samples it is
    always below its limit, and every move is a mutation.

    References
    ----------
    .. [1] H. Li, J. Wang (2024). From soft clustering to hard clustering: a collaborative annealing fuzzy c-means
       algorithm. IEEE Transactions on Fuzzy Systems 32(3), 1181-1194.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import CAFCM
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = CAFCM(n_clusters=3, random_state=0).fit(X)
    >>> round(model.objective_, 3)
    78.851
    >>> model.soft_memberships_[0].max().round(3)
    np.float64(0.998)

    The setting of the publication:

    >>> published = CAFCM(n_clusters=3, n_iter_no_change=5, max_fcm_iter=600, min_m=1.0, init="random", random_state=0)
    >>> round(published.fit(X).objective_, 3)
    78.851
    """

    soft_memberships_: NDArray[Any]
    centers_: NDArray[Any]
    m_: float
    m_history_: Array
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    _state: Array
    _frame: Frame
    _policy = Policy(place=None)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: constraint for name, constraint in PARAMETERS.items() if name != "n_init"
    } | {
        "n_modules": [Interval(Integral, 1, None, closed="left")],
        "schedule": [StrOptions({"exponential", "polynomial"})],
        "min_m": [Interval(Real, 1, 2, closed="both")],
        "max_fcm_iter": [Interval(Integral, 1, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "k-means||", "random"}), callable, "array-like"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        n_modules: int = 2,
        schedule: str = "exponential",
        min_m: float = 1.001,
        max_fcm_iter: int = 10,
        n_iter_no_change: int = 1,
        init: Init = "k-means++",
        max_iter: int = 3000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_modules = n_modules
        self.schedule = schedule
        self.min_m = min_m
        self.max_fcm_iter = max_fcm_iter
        self.n_iter_no_change = n_iter_no_change
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Read-only arrays and memory maps are not copied.
        y : ignored

        Returns
        -------
        self : object
        """
        with Fit[Array](self) as fit:
            X = validate_features(self, X, reset=True, accept_sparse=False)
            check_enough_samples(X.shape[0], self.n_clusters)
            rng = check_random_state(self.random_state)
            # Each module has its own draws, so that the number of threads changes nothing.
            modules = [Module(np.random.RandomState(rng.randint(2**31))) for _ in range(self.n_modules)]
            n_threads = effective_n_jobs(self.n_jobs)
            pool = fit.enter(ThreadPoolExecutor(n_threads)) if n_threads > 1 else None
            blocks = make_blocks(X)
            if is_dask(X) or blocks.n > _MANY:
                space: MembershipSpace | CenterSpace = CenterSpace(blocks)
            else:
                blocks = blocks.in_subspace()
                space = MembershipSpace(blocks)

            def store(run: Run[Array]) -> Iterator[str]:
                self._store(run, blocks)
                return self._complaints(run, blocks)

            fit.stores(store, lambda J: squared_units(J, blocks))
            self._anneal(blocks, space, Swarm(modules, pool), fit)
        return self

    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new data: those of fuzzy c-means with the fuzzifier ``m_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        return self._new_blocks(X).map_rows(center_memberships, self._state, "fcm", self.m_)

    def score(self, X: MatrixLike, y: object = None) -> float:
        """Minus the sum of squared distances of new data to their nearest centres: greater is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        score : float
        """
        blocks = self._new_blocks(X)
        return -float(squared_units(_cost(blocks, self._state), blocks))

    # The method -----------------------------------------------------------------------------------------------------

    def _anneal(self, blocks: Blocks, space: MembershipSpace | CenterSpace, swarm: Swarm, fit: Fit[Array]) -> None:
        """Keep a run up to date with the best partition, while the fuzzifier falls."""
        self.m_history_ = np.empty(0)
        group: Solution | None = None
        run = Run(np.empty((0, 0)))
        fit.runs.append(run)

        def polish(V: Array, *known: Solution | None) -> Solution:
            """Where k-means comes to, which is often known already."""
            for _ in range(_LLOYD_PASSES):
                statistics = blocks.reduce(center_statistics, V, "nearest")
                before, V = V, new_centers(V, statistics)
                for solution in known:
                    if solution is not None and np.array_equal(V, solution.centers):
                        return solution
                if center_shift(before, V, [], blocks) <= self.tol:
                    break
            cost = float(statistics.objective) if np.array_equal(V, before) else _cost(blocks, V)
            return Solution(V, cost, space.position(V))

        def restart(module: Module) -> None:
            module.restart(polish(starting_centers(blocks, self.init, self.n_clusters, module.rng)))

        def improve(module: Module) -> None:
            V = space.centers(module.position, self.m_, module.rng)
            if self.m_ - 1 > _HARD and self.max_fcm_iter > 1:
                V, _ = settle(blocks, V, self.max_fcm_iter - 1, self.tol, "fcm", self.m_)
            module.arrive(polish(V, module.best, group))

        for m in cooling(self.schedule, self.min_m):
            if run.n_iter == self.max_iter:
                return
            self.m_ = float(m)
            swarm.each(restart)
            group = swarm.best(group)
            idle = n_round = 0
            while idle <= self.n_iter_no_change:
                if run.n_iter == self.max_iter:
                    return
                if n_round:
                    swarm.move(group, n_round)
                n_round += 1
                run.n_iter += 1
                run.state = group.centers
                run.history.append(group.objective)
                self.m_history_ = np.append(self.m_history_, self.m_)
                swarm.each(improve)
                before, group = group.objective, swarm.best(group)
                run.state = group.centers
                idle = 0 if group.objective < (1 - _ROUNDING) * before else idle + 1
                self._report(f"round {run.n_iter}", group, blocks, 2)
            self._report(f"{n_round} rounds", group, blocks, 1)
            if group.objective <= _NOTHING * blocks.n * blocks.d * blocks.mean_variance:
                break
        run.converged = True

    def _report(self, what: str, group: Solution, blocks: Blocks, level: int) -> None:
        say(self, f"m={self.m_:.6g}, {what}: objective {squared_units(group.objective, blocks):.8g}", level)

    def _new_blocks(self, X: MatrixLike) -> Blocks:
        check_is_fitted(self, "_state")
        return make_blocks(validate_features(self, X, reset=False, accept_sparse=False), None, self._frame)

    def _store(self, run: Run[Array], blocks: Blocks) -> None:
        """Set the fitted attributes; the last objective is that at the stored centres."""
        V, self._frame = run.state, blocks.frame
        self.m_ = float(self.m_history_[-1])  # an interrupted fit may have gone on to the next one
        run.history.append(_cost(blocks, V))
        self.centers_ = blocks.frame.to_input(V).astype(blocks.dtype)
        self.soft_memberships_ = blocks.map_rows(center_memberships, V, "fcm", _SOFT)
        self._set_memberships(blocks.map_rows(center_memberships, V, "fcm", self.m_))
        self._state = V

    def _complaints(self, run: Run[Array], blocks: Blocks) -> Iterator[str]:
        """What to warn of after a fit."""
        if not run.converged and self.max_iter > 1:
            yield (
                f"CAFCM did not reach the end of its schedule in max_iter={self.max_iter} rounds (last m "
                f"{self.m_:.6g}, min_m={self.min_m:g}). Increase max_iter or min_m."
            )
        yield from collapse("CAFCM", run.state, self.memberships_, blocks, "use fewer clusters or another init")


def _cost(blocks: Blocks, V: Array) -> float:
    """Sum of squared distances to the nearest centre."""
    return float(blocks.reduce(center_statistics, V, "nearest").objective)
