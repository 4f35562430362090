"""Estimators that alternate memberships and prototypes.

A method is written as five functions of :class:`AlternatingClusterer`:

* ``_resolve(blocks)``: settle the parameters that depend on the data;
* ``_init_state(blocks, rng)``: prototypes to start from;
* ``_statistics(block, state)``: what a block of rows contributes; statistics merge over blocks;
* ``_update(state, statistics, blocks)``: new prototypes;
* ``_memberships(block, state)``: also the rule for new data.

The engine owns the rest: starts, the loop, stopping, acceleration, history, weights, warnings, interruption. States
live in the coordinates of the blocks' frame, and no (n, K) matrix is kept while iterating.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from hashlib import sha256
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..base import InductiveSoftClusterer, as_fitted
from ..inputs.features import check_enough_samples, validate_features, validate_weights
from ..kernels import EMPTY
from ..kernels.centers import CenterStatistics
from .acceleration import Anderson
from .blocks import Array, Block, Blocks, Frame, distinct_rows, make_blocks
from .threads import single_threaded_blas

State = Any

# Below this much work a pass is cheaper than the mixing: acceleration starts only when the plain loop turns out long.
_CHEAP_PASS = 10_000
_PLAIN_STEPS = 12
_ROUNDING = 1e-10  # part of an objective by which two starts that end in the same place may differ
NEAR = 0.01  # of the root mean variance: centres that differ by less are in the same place
_ACCURACY = 100  # distance of the centres from where they would end, in units of the movement at which they stop
_ALIKE = 0.05  # of the largest membership: smaller differences tell neither two rows nor two clusters apart
_SAME_ROWS = 0.01  # mean change of the memberships of a row: two partitions that differ by less are the same
_SLOW = 0.1  # centres that move by more than this are not yet near any optimum


# Constraints of the parameters that every engine estimator has, in scikit-learn's terms.
PARAMETERS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


@dataclass
class Run:
    """One start of the loop; kept up to date while it runs."""

    state: State
    history: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False
    joined: bool = False
    period: int = 0  # length of the cycle that the run ended in
    residual: float = np.inf


def center_shift(old: Array, new: Array, history: list[float], blocks: Blocks) -> float:
    """Movement of the centres, in units of the root mean variance of the features."""
    step = (new - old).ravel()
    return math.sqrt(step @ step / blocks.mean_variance if blocks.mean_variance > 0 else step @ step)


def state_shift(old: State, new: State, history: list[float], blocks: Blocks) -> float:
    """``new.drift(old, unit)``: the movement of a state of several parts, lengths in root mean variances."""
    return float(new.drift(old, math.sqrt(blocks.mean_variance) or 1.0))


def same_centers(V: Array, other: Array, blocks: Blocks) -> bool:
    """Whether each centre of one set is within a hundredth of the spread of a centre of the other, and vice versa."""
    near = NEAR**2 * blocks.mean_variance
    first = other - V[0]
    if np.einsum("ij,ij->i", first, first).min() > near:  # the usual answer, quickly
        return False
    D = cdist(V, other, "sqeuclidean")
    return bool(max(D.min(axis=0).max(), D.min(axis=1).max()) <= near)


def likelihood_change(old: State, new: State, history: list[float], blocks: Blocks) -> float:
    """Absolute change of the mean log likelihood."""
    return abs(history[-1] - history[-2]) if len(history) > 1 else np.inf


def objective_change(old: State, new: State, history: list[float], blocks: Blocks | None = None) -> float:
    """Relative change of the objective, for one whose zero means something: other units must not move it."""
    if len(history) < 2:
        return np.inf
    change = abs(history[-1] - history[-2])
    return change / abs(history[-1]) if history[-1] != 0 else change


_BY_OBJECTIVE = (likelihood_change, objective_change)


class AlternatingClusterer(InductiveSoftClusterer):
    """Base of the alternating estimators: the engine around the five functions of a method.

    A subclass has at least the parameters ``n_clusters``, ``init``, ``max_iter``, ``tol``, ``random_state``,
    ``verbose``; ``n_init`` and ``accelerate`` where the method has them. ``_residual`` is the stopping rule: the loop
    ends when it is at most ``tol``. A method without starts writes a ``fit`` of its own and keeps the rest.
    """

    _objective_sense: ClassVar[Literal["min", "max"]] = "min"
    _accepts_sparse: ClassVar[bool] = False
    _row_results: ClassVar[tuple[str, ...]] = ("memberships_", "labels_")  # fitted attributes with an entry per row
    _residual: Callable[[State, State, list[float], Blocks], float] = staticmethod(center_shift)

    @property
    def _monotone(self) -> bool:
        """Whether no pass makes the objective worse."""
        return True

    @property
    def _K(self) -> int:
        """Clusters to look for."""
        return int(self.n_clusters)

    _may_cycle: ClassVar[bool] = False  # whether the passes may come round to an earlier state (an array)

    @property
    def _keeps_best(self) -> bool:
        """Whether a run that does not converge ends in its best state, not in its last one."""
        return not (self._monotone or self._may_cycle)

    # The method -----------------------------------------------------------------------------------------------------

    def _resolve(self, blocks: Blocks) -> None:
        """Settle the parameters that depend on the data."""

    def _init_state(self, blocks: Blocks, rng: np.random.RandomState) -> State:
        raise NotImplementedError

    def _statistics(self, block: Block, state: State) -> Any:
        raise NotImplementedError

    def _update(self, state: State, statistics: Any, blocks: Blocks) -> State:
        raise NotImplementedError

    def _memberships(self, block: Block, state: State) -> NDArray[Any]:
        raise NotImplementedError

    def _objective(self, statistics: Any, blocks: Blocks) -> float:
        """The optimised function, in the coordinates of the frame."""
        return float(statistics.objective)

    def _objective_in_input_units(self, objective: float, frame: Frame) -> float:
        """The optimised function of the data as they came; a sum of squared distances by default."""
        return float(objective / frame.scale / frame.scale)

    def _store(self, state: State, statistics: Any, blocks: Blocks) -> None:
        """Set the method's own fitted attributes, in input units; the statistics are those at the state."""
        raise NotImplementedError

    def _place(self, state: State) -> Array | None:
        """The centres of a state where they tell where a run will end, None where more than they does."""
        return state if self._residual is center_shift else None

    def _to_vector(self, state: State) -> Array:
        """The state, an array or a named tuple of arrays, as a vector, for acceleration."""
        return np.concatenate([np.ravel(part) for part in state]) if isinstance(state, tuple) else np.ravel(state)

    def _from_vector(self, vector: Array, like: State) -> State:
        """The inverse of ``_to_vector``."""
        if not isinstance(like, tuple):
            return vector.reshape(like.shape)
        parts = np.split(vector, np.cumsum([np.size(part) for part in like])[:-1])
        return type(like)(*(part.reshape(np.shape(old)) for part, old in zip(parts, like, strict=True)))

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> AlternatingClusterer:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Where the class says so also a sparse matrix. Read-only arrays and memory maps are not copied.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        self._validate_params()
        X = self._validated(X, reset=True)
        return self._fit(X, validate_weights(sample_weight, X))

    @as_fitted
    def predict_memberships(self, X: Any) -> NDArray[Any]:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
        """
        return self._map_memberships(self._new_blocks(X), self._state)

    @as_fitted
    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """The objective on new data, greater is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            The objective where it is maximised, minus the objective where it is minimised.
        """
        objective = self._objective_on(self._new_blocks(X, sample_weight))
        return objective if self._objective_sense == "max" else -objective

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        return tags

    # The engine's own -----------------------------------------------------------------------------------------------

    def _fit(self, X: Any, weight: Array | None) -> AlternatingClusterer:
        """Fit validated data; warnings point at the caller of ``fit``."""
        # A failed fit is no fit, whatever came before it.
        self._forget("_state", *self._row_results)
        with single_threaded_blas():
            blocks = self._make_blocks(X, weight)
            self._check_size(blocks)
            self._resolve(blocks)
            starts = Starts(self, blocks, check_random_state(self.random_state))
            try:
                self._run(starts)
            except KeyboardInterrupt:
                if starts.best is not None:
                    self._finish(starts.best, blocks, X)
                raise
            assert starts.best is not None
            self._finish(starts.best, blocks, X)
            for complaint in self._complaints(starts.best, blocks):
                warnings.warn(complaint, ConvergenceWarning, stacklevel=3)
        return self

    def _map_memberships(self, blocks: Blocks, state: State) -> NDArray[Any]:
        return blocks.map_rows(self._without_rows()._memberships, state)

    def _without_rows(self) -> Any:
        """A copy for lazy results to keep: without the results per row, which would hold themselves."""
        model = copy(self)
        model._forget(*self._row_results)
        return model

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """The data as one feature matrix; ``reset`` in ``fit``, where the estimator learns what its features are."""
        return validate_features(self, X, reset=reset, accept_sparse=self._accepts_sparse)

    def _make_blocks(self, X: Any, weight: Array | None) -> Blocks:
        """The data in the coordinates that the method works in."""
        return make_blocks(X, weight)

    def _all_rows(self, X: Any, frame: Frame) -> Blocks:
        """The data in the coordinates of a frame, rows of weight 0 included."""
        return make_blocks(X, None, frame)

    def _check_size(self, blocks: Blocks) -> None:
        """Refuse more clusters than samples."""
        check_enough_samples(blocks.n, self._K)

    def _n_starts(self) -> int:
        """Starts to run: one where the starting point is given."""
        given = not isinstance(self.init, str) and not callable(self.init)
        return 1 if given else int(getattr(self, "n_init", 1))

    def _run(self, starts: Starts) -> None:
        """Fill ``starts`` with runs."""
        starts.run()

    def _new_blocks(self, X: Any, sample_weight: Any = None) -> Blocks:
        check_is_fitted(self, "_state")
        X = self._validated(X, reset=False)
        return make_blocks(X, validate_weights(sample_weight, X), self._frame)

    def _objective_on(self, blocks: Blocks) -> float:
        """The objective of some rows at the fitted state, in input units."""
        statistics = blocks.reduce(self._statistics, self._state)
        return self._objective_in_input_units(self._objective(statistics, blocks), blocks.frame)

    def _finish(self, run: Run, blocks: Blocks, X: Any) -> None:
        """Store a run: one last look at the data makes memberships, objective and prototypes agree."""
        self._state, self._frame = run.state, blocks.frame
        statistics = blocks.reduce(self._statistics, run.state)
        history = [*run.history, self._objective(statistics, blocks)]
        self.objective_history_ = np.array([self._objective_in_input_units(J, blocks.frame) for J in history])
        self.objective_ = float(self.objective_history_[-1])
        self.n_iter_ = run.n_iter
        self.converged_ = run.converged
        everything = blocks if blocks.kept is None else self._all_rows(X, blocks.frame)
        self._store_rows(everything, run.state)
        self._store(run.state, statistics, blocks)

    def _store_rows(self, blocks: Blocks, state: State) -> None:
        """Set the fitted attributes with an entry per row."""
        self._set_memberships(self._map_memberships(blocks, state))

    def _complaints(self, run: Run, blocks: Blocks) -> list[str]:
        """What to warn of after a fit.

        A single pass that was asked for is no failure to converge, nor is a cycle of states that are almost the same.
        """
        if run.converged or self.max_iter == 1:
            return []
        if run.period:
            if self._cycle_width(run, blocks) <= _SAME_ROWS:
                return []
            return [
                f"{type(self).__name__} did not converge: after {run.n_iter} passes it goes round in a cycle of "
                f"{run.period} states, of which the one of best objective is kept. More passes change nothing."
            ]
        return [
            f"{type(self).__name__} did not converge in max_iter={self.max_iter} passes (last change "
            f"{run.residual:.2g}, tol={self.tol:.2g}). Increase max_iter or tol."
        ]

    def _cycle_width(self, run: Run, blocks: Blocks) -> float:
        """How far the memberships of a row change in a cycle, from those of the state that is kept; mean over rows."""
        kept, state, width = self._map_memberships(blocks, run.state), run.state, 0.0
        for _ in range(run.period - 1):
            state = self._update(state, blocks.reduce(self._statistics, state), blocks)
            change = abs(self._map_memberships(blocks, state) - kept).max(axis=1)
            width = max(width, float(change.mean()))
        return width


def best_run(runs: Sequence[Run], sense: Literal["min", "max"]) -> Run | None:
    """The run of best objective that has begun, the first of those that only rounding tells apart; None if none has."""
    sign = 1 if sense == "min" else -1
    begun = [(sign * run.history[-1] if run.history else np.inf, run) for run in runs if run.n_iter]
    least = min((objective for objective, _ in begun), default=np.inf)
    return next((run for objective, run in begun if objective <= least + _ROUNDING * abs(least)), None)


class Starts:
    """The starts of a model on some blocks; ``best`` is the best run so far, an unfinished one included."""

    def __init__(self, model: Any, blocks: Blocks, rng: np.random.RandomState) -> None:
        self.model, self.blocks, self.rng = model, blocks, rng
        self.runs: list[Run] = []

    @property
    def best(self) -> Run | None:
        """The run of best objective, None before the first pass of the first one."""
        return best_run(self.runs, self.model._objective_sense)

    def run(self) -> Run:
        """Run all starts and return the best."""
        model = self.model
        n_init = model._n_starts()
        for start in range(n_init):
            rival = self.best
            self.runs = [] if rival is None else [rival]  # the others are not needed, and a state may be large
            self.runs.append(Run(model._init_state(self.blocks, self.rng)))
            alternate(model, self.blocks, self.runs[-1], rival)
            if model.verbose:
                self.report(start + 1, n_init)
        best = self.best
        assert best is not None
        return best

    def report(self, start: int, n_init: int) -> None:
        """Say how the last start ended."""
        run = self.runs[-1]
        objective = self.model._objective_in_input_units(run.history[-1], self.blocks.frame)
        ending = "converged" if run.converged else "joined the best start" if run.joined else "not converged"
        ending = f"in a cycle of {run.period} states" if run.period else ending
        name = type(self.model).__name__
        print(f"{name} start {start}/{n_init}: objective {objective:.8g}, {run.n_iter} passes, {ending}")


def alternate(model: Any, blocks: Blocks, run: Run, rival: Run | None = None) -> None:
    """Alternate statistics and updates from ``run.state`` until the model's stopping rule holds.

    Where the centres tell where a run will end, one that has come to the centres of a better ``rival`` joins it.

    An accelerated point is kept only if the objective there is no worse than at the point before; otherwise the loop
    goes on from the plain image of that point. ``run.state`` is always the plain image of the last kept point.

    Where the passes may cycle, a state met again ends the run, in the best state of the cycle: the second round stops
    there. A pass is a function of the state, so that a state repeats just where all that follows does, and its hash is
    all there is to keep.
    """
    sign = 1 if model._objective_sense == "min" else -1
    mixer = Anderson() if getattr(model, "accelerate", False) else None
    keeps_best = getattr(model, "_keeps_best", False)
    first_mixed = _PLAIN_STEPS if blocks.n * blocks.d * model._K < _CHEAP_PASS else 1
    met: dict[bytes, int] | None = {} if getattr(model, "_may_cycle", False) else None
    state, mixed, best = run.state, False, np.inf
    for n_iter in range(1, model.max_iter + 1):
        visited = state
        statistics = blocks.reduce(model._statistics, visited)
        objective = model._objective(statistics, blocks)
        run.n_iter = n_iter
        if mixed and not sign * objective <= sign * run.history[-1] + 1e-12 * abs(run.history[-1]):
            assert mixer is not None
            mixer.reject()
            state, mixed = run.state, False
            continue
        run.history.append(objective)
        image = model._update(visited, statistics, blocks)
        run.residual = model._residual(visited, image, run.history, blocks)
        if not keeps_best or n_iter == 1 or run.residual <= model.tol:
            run.state = image
        elif sign * objective <= best:
            run.state, best = visited, sign * objective
        if model.verbose > 1:
            shown = model._objective_in_input_units(objective, blocks.frame)
            print(f"{type(model).__name__} pass {n_iter}: objective {shown:.8g}, change {run.residual:.3g}")
        # A change of the objective says nothing right after an accelerated step: test it after a plain one.
        if run.residual <= model.tol and not (mixed and model._residual in _BY_OBJECTIVE):
            run.converged = True
            return
        place = model._place(image) if rival is not None and run.residual < _SLOW else None
        if rival is not None and place is not None:
            worse = sign * (objective - rival.history[-1]) >= 0
            run.joined = worse and same_centers(place, model._place(rival.state), blocks)
            if run.joined:
                return
        if met is not None:
            now = len(run.history) - 1
            before = met.setdefault(sha256(visited).digest(), now)
            if before < now and sign * objective <= min(sign * J for J in run.history[before:now]):
                run.state, run.period = visited, now - before
                return
        state, mixed = image, False
        if mixer is not None and n_iter >= first_mixed and run.residual > model.tol:
            vector = model._to_vector(image)
            proposed = mixer.propose(model._to_vector(visited), vector)
            if proposed is not vector:
                state, mixed = model._from_vector(proposed, image), True


def new_centers(V: Array, statistics: CenterStatistics) -> Array:
    """Weighted means. A centre whose weights underflowed stays, or moves to the worst row: one centre a pass."""
    if statistics.worst_row is None:
        return statistics.total / statistics.weight[:, None]
    centers, full = V.copy(), statistics.weight >= EMPTY
    centers[full] = statistics.total[full] / statistics.weight[full, None]
    if statistics.worst > 0 and not full.all():
        centers[np.argmin(full)] = statistics.worst_row
    return centers


def rows_alike(memberships: NDArray[Any]) -> bool:
    """Whether all rows have the same memberships, up to a twentieth of the largest in each column."""

    def alike(rows: NDArray[Any]) -> bool:
        return bool((rows.min(axis=0) >= (1 - _ALIKE) * rows.max(axis=0)).all())

    # A thousand rows settle it in all but the worst fits.
    return alike(memberships[:: max(1, len(memberships) // 1000)]) and alike(memberships)


def columns_alike(memberships: NDArray[Any], k: int, other: int) -> bool:
    """Whether two clusters have the same rows, up to a twentieth of the largest membership."""
    a, b = memberships[:, k], memberships[:, other]
    return bool(abs(a - b).max() <= _ALIKE * a.max())


def coinciding(
    name: str, V: Array, memberships: NDArray[Any], spread: float, remedy: str, tol: float = 0.0
) -> list[str]:
    """A complaint when all rows have the same memberships, or when all or some prototypes coincide.

    Two prototypes coincide if only rounding tells them apart, or if they are within a hundredth of the root mean
    variance and have the same memberships. A large ``tol`` widens the hundredth to what the centres may still be away
    from where they would end.

    Parameters
    ----------
    name : str
        The estimator, for the message.
    V : ndarray of shape (K, d)
        The prototypes.
    memberships : array of shape (n, K)
        In memory or a Dask array.
    spread : float
        The variance of the data, summed over the d features.
    remedy : str
        What to try, with the cause that the estimator can know.
    tol : float, default=0.0
        Where the method stops by :func:`center_shift`, its tolerance.
    """
    finding = _finding(V, memberships, spread, tol)
    return [f"{name} {finding}; {remedy}"] if finding else []


def collapse(
    name: str, V: Array, memberships: NDArray[Any], blocks: Blocks, remedy: str, tol: float = 0.0
) -> list[str]:
    """:func:`coinciding` for prototypes of some blocks; where their rows are duplicates, that is the cause it names."""
    finding = _finding(V, memberships, blocks.mean_variance * blocks.d, tol)
    return [f"{name} {finding}; {duplicates(blocks, len(V)) or remedy}"] if finding else []


def duplicates(blocks: Blocks, K: int) -> str:
    """A remedy where fewer than K samples differ from each other, empty elsewhere."""
    n = blocks.reduce(distinct_rows, K).n
    return f"X has duplicates and only {n} distinct samples: use fewer clusters" if n < K else ""


def _finding(V: Array, memberships: NDArray[Any], spread: float, tol: float) -> str:
    """What is wrong with prototypes and memberships; empty if nothing is."""
    K = len(V)
    if K == 1:
        return ""
    D = cdist(V, V, "sqeuclidean")
    if D.max() < 1e-6 * spread:
        return "collapsed: the prototypes coincide"
    if rows_alike(memberships):
        return "collapsed: all samples have the same memberships"
    near = max(NEAR, _ACCURACY * tol) ** 2 * spread / V.shape[1]
    twins = 0
    for k in range(1, K):
        other = int(D[k, :k].argmin())
        twins += bool(D[k, other] <= 1e-12 * spread or (D[k, other] <= near and columns_alike(memberships, k, other)))
    return f"found {K - twins} distinct prototypes, fewer than n_clusters={K}, which may be too many" if twins else ""
