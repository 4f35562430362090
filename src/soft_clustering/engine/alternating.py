"""Estimators that alternate memberships and prototypes.

The table of :class:`AlternatingClusterer` lists what a method may write; ``fuzzy/fcm.py`` is the model to follow. The
engine does the rest: starts, the loop, stopping, acceleration, history, weights, warnings, interruption. States are in
the coordinates of the blocks' frame, and no (n, K) matrix is kept while iterating.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._types import Array, Init, MatrixLike, Memberships, Seed
from ..base import InductiveSoftClusterer, as_fitted, check_top_k
from ..inputs.features import check_enough_samples, validate_rows, validate_weights
from ..kernels import EMPTY
from ..kernels.centers import CenterStatistics
from .acceleration import first_mixed
from .blocks import Block, Blocks, Frame, make_blocks
from .fitting import Fit, not_converged
from .loop import Policy, Run, iterate
from .prediction import check_out, largest_entries

if TYPE_CHECKING:
    from typing import Self

_SAME_ROWS = 0.01  # mean change of the memberships of a row: two partitions that differ by less are the same

# Constraints of the parameters that every engine estimator has, in scikit-learn's terms.
PARAMETERS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    # scikit-learn would make these of the words "random_state" and "verbose" anew at every fit.
    "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both"), np.random.RandomState, None],
    "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
}


class Contribution(Protocol):
    """What a block of rows contributes to new prototypes; if there may be several blocks, it has ``merge``, too."""

    @property
    def objective(self) -> float:
        """The optimised function at the state, in the coordinates of the frame."""


S = TypeVar("S")
T = TypeVar("T", bound=Contribution)


class AlternatingClusterer(InductiveSoftClusterer, Generic[S, T]):
    """Base of the alternating estimators: the engine around the functions of a method.

    A method of state ``S`` and statistics ``T`` may override these, and nothing else of the engine:

    ======================================  =========================================================================
    ``_policy``                             the :class:`~.loop.Policy`: sense, residual, units, what is kept
    ``_blocks(X, weight, frame)``           validated data in the coordinates that the method works in
    ``_resolve(blocks)``                    settle the parameters that depend on the data
    ``_starts(blocks, rng)``                the states to start from, one after the other
    ``_statistics(block, state)``           what a block of rows contributes: an ``objective``, and sums that merge
    ``_update(state, statistics, blocks)``  the next state
    ``_memberships(block, state)``          memberships of rows, also the rule for new data
    ``_noise_masses(block, state)``         memberships of rows in the noise, if the kind is ``"subpartition"``
    ``_store(state, statistics, blocks)``   set the method's own fitted attributes, in input units
    ``_store_fit(statistics, blocks)``      set what a fit stores and a further batch of rows does not
    ``_complaints(run, blocks)``            what to warn of after a fit
    ``_run(fit, blocks, rng)``              how the runs of a fit go, if not from each start to its end
    ======================================  =========================================================================

    A subclass has at least the parameters ``n_clusters``, ``max_iter``, ``tol``, ``random_state``, ``verbose``;
    ``init``, ``n_init`` and ``accelerate`` if the method has them.
    """

    accelerate: bool = False
    centers_: NDArray[Any]
    objective_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool
    max_iter: int
    tol: float
    random_state: Seed
    verbose: int
    _state: S
    _frame: Frame

    # The method -----------------------------------------------------------------------------------------------------

    @property
    def _policy(self) -> Policy:
        """How the runs go: an attribute of the class, or a property if a parameter decides."""
        return Policy()

    def _blocks(self, X: Any, sample_weight: ArrayLike | None = None, frame: Frame | None = None) -> Blocks:
        """Validated data in the coordinates that the method works in.

        ``frame`` is None in ``fit``, where the estimator learns its features and their frame.
        """
        policy = self._policy
        X, gaps = validate_rows(
            self, X, reset=frame is None, accept_sparse=policy.sparse, accept_missing=policy.missing
        )
        blocks = make_blocks(X, validate_weights(sample_weight, X), frame, policy.scaling, gaps)
        return blocks.in_subspace() if policy.subspace and frame is None else blocks

    def _resolve(self, blocks: Blocks) -> None:
        """Settle the parameters that depend on the data."""

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterable[S]:
        """The states to start from."""
        raise NotImplementedError

    def _statistics(self, block: Block, state: S) -> T:
        """What a block of rows contributes to the next state."""
        raise NotImplementedError

    def _update(self, state: S, statistics: T, blocks: Blocks) -> S:
        """The next state."""
        raise NotImplementedError

    def _memberships(self, block: Block, state: S) -> NDArray[Any]:
        """Memberships (n, K) of rows."""
        raise NotImplementedError

    def _noise_masses(self, block: Block, state: S) -> NDArray[Any]:
        """Memberships (n,) of rows in the noise."""
        raise NotImplementedError

    def _store(self, state: S, statistics: T, blocks: Blocks) -> None:
        """Set the method's own fitted attributes, in input units; the statistics are those at the state."""
        raise NotImplementedError

    def _store_fit(self, statistics: T, blocks: Blocks) -> None:
        """Set what a fit stores and a further batch of rows does not, before ``_store``."""

    def _complaints(self, run: Run[S], blocks: Blocks) -> list[str]:
        """What to warn of after a fit.

        A cycle of states that are almost the same counts as convergence.
        """
        if run.period and self._cycle_width(run, blocks) <= _SAME_ROWS:
            return []
        return not_converged(self, run)

    def _run(self, fit: Fit[S], blocks: Blocks, rng: np.random.RandomState) -> None:
        """Run the loop from each start."""
        fit.run_starts(self._starts(blocks, rng), self._loop(fit, blocks, self.n_clusters))

    # The protocol ---------------------------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A sparse matrix, too, if the class accepts one. Read-only arrays and memory maps are not copied.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        return self._fit(X, sample_weight)

    @as_fitted
    def predict_memberships(
        self, X: MatrixLike, *, out: NDArray[Any] | None = None, top_k: int | None = None
    ) -> Memberships:
        """Memberships of new data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        out : ndarray or memory map of shape (n_samples, n_clusters), default=None
            Where to write the memberships, of dtype float32 or float64. Rows are computed and written a part at a time,
            so that little memory is used beyond ``out``. It is checked before the first row is written; if an error or
            an interruption ends the work later, the rows that are missing are NaN.
        top_k : int, default=None
            Keep only so many memberships of each sample, the largest ones (of equal ones those of smaller columns), in
            a sparse matrix. No dense matrix is made. Where the rows of the method sum to 1, the memberships that are
            kept are divided by their sum; 1 minus this sum is the mass that is left out. Zeros are not stored.

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)
            ``out`` if it is given, a ``scipy.sparse.csr_array`` with ``top_k``. For a Dask array it is a lazy Dask
            array without these two; with them, the chunks are computed, a few at a time.
        """
        if top_k is not None:
            check_top_k(top_k)
            if out is not None:
                raise ValueError("out and top_k must not both be given: top_k makes a sparse matrix of its own.")
        blocks = self._new_blocks(X)
        if out is not None:
            check_out(out, (blocks.n, self.n_clusters_), X)
            blocks.write_rows(out, self._row_function("_memberships"), self._state)
            return out
        if top_k is not None:
            largest = partial(_largest, self._row_function("_memberships"), top_k, self.partition_constrained)
            return sparse.vstack(list(blocks.row_parts(largest, self._state)), format="csr")
        return self._map_rows("_memberships", blocks)

    @as_fitted
    def score(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> float:
        """The objective on new data, greater is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            The objective if it is maximised, minus the objective if it is minimised.
        """
        return -self._policy.sign * self._objective_on(self._new_blocks(X, sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.allow_nan = self._policy.sparse, self._policy.missing
        return tags

    # The engine's own -----------------------------------------------------------------------------------------------

    def _fit(self, X: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit data of any kind that ``_blocks`` takes."""
        with Fit[S](self) as fit:
            blocks = self._blocks(X, sample_weight)
            if self._policy.needs_rows:
                check_enough_samples(blocks.n, self.n_clusters)
            self._resolve(blocks)
            fit.stores(partial(self._finish, blocks=blocks, X=X), lambda J: self._policy.units(J, blocks))
            self._run(fit, blocks, check_random_state(self.random_state))
        return self

    def _loop(self, fit: Fit[S], blocks: Blocks, n_clusters: int) -> Callable[..., None]:
        """The loop on some blocks, to be called with a run and a rival."""

        def step(state: S) -> tuple[S, float]:
            statistics = blocks.reduce(self._statistics, state)
            return self._update(state, statistics, blocks), float(statistics.objective)

        return partial(
            iterate,
            step=step,
            policy=self._policy,
            max_iter=self.max_iter,
            tol=self.tol,
            scale=blocks,
            accelerate=self.accelerate,
            first_mixed=first_mixed(blocks.n * blocks.d * n_clusters),
            report=fit.report,
        )

    def _finish(self, run: Run[S], blocks: Blocks, X: Any) -> list[str]:
        """Store a run: one last look at the data makes memberships, objective and prototypes agree."""
        run.state = self._policy.final(run.state)
        self._state, self._frame = run.state, blocks.frame
        statistics = blocks.reduce(self._statistics, run.state)
        run.history.append(float(statistics.objective))
        self._store_rows(blocks if blocks.kept is None else self._blocks(X, None, blocks.frame), statistics)
        self._store_fit(statistics, blocks)
        self._store(run.state, statistics, blocks)
        return self._complaints(run, blocks)

    def _store_rows(self, blocks: Blocks, statistics: Any) -> None:
        """Set the fitted attributes with an entry per row, including rows of weight 0."""
        if self._policy.holds_rows:
            self._set_memberships(np.ascontiguousarray(statistics.memberships.T, dtype=blocks.dtype))
        else:
            noise = self._map_rows("_noise_masses", blocks) if self.membership_kind == "subpartition" else None
            self._set_memberships(self._map_rows("_memberships", blocks), noise)
        for name, method in self._policy.rows.items():
            setattr(self, name, self._map_rows(method, blocks))

    def _map_rows(self, method: str, blocks: Blocks) -> NDArray[Any]:
        """The results per row of a method of (block, state), at the fitted state."""
        function = self._row_function(method) if blocks.lazy else getattr(self, method)
        return blocks.map_rows(function, self._state)

    def _row_function(self, method: str) -> Callable[..., NDArray[Any]]:
        """A method of (block, state) that gives results per row.

        Lazy results keep a reference to the estimator, so they get a copy of it without the results per row: otherwise
        these would refer to themselves.
        """
        model = copy(self)
        model._forget("memberships_", "labels_", "noise_mass_", *self._policy.rows)
        function: Callable[..., NDArray[Any]] = getattr(model, method)
        return function

    def _n_starts(self) -> int:
        """The number of starts: one if the starting point is given."""
        return int(self.n_init) if is_drawn(self.init) else 1

    def _new_blocks(self, X: Any, sample_weight: ArrayLike | None = None) -> Blocks:
        check_is_fitted(self, "_state")
        return self._blocks(X, sample_weight, self._frame)

    def _objective_on(self, blocks: Blocks) -> float:
        """The objective of some rows at the fitted state, in input units."""
        return float(self._policy.units(float(blocks.reduce(self._statistics, self._state).objective), blocks))

    def _cycle_width(self, run: Run[S], blocks: Blocks) -> float:
        """How far the memberships in a cycle differ from the memberships of the state that is kept, mean over rows."""
        kept, state, width = blocks.map_rows(self._memberships, run.state), run.state, 0.0
        for _ in range(run.period - 1):
            state = self._update(state, blocks.reduce(self._statistics, state), blocks)
            change = abs(blocks.map_rows(self._memberships, state) - kept).max(axis=1)
            width = max(width, float(change.mean()))
        return width


def _largest(
    memberships: Callable[..., NDArray[Any]], top_k: int, normalise: bool, block: Block, state: object
) -> sparse.csr_array:
    """The largest memberships of the rows of a block."""
    return largest_entries(memberships(block, state), top_k, normalise)


def is_drawn(init: Init) -> bool:
    """Whether ``init`` draws a starting point, instead of being one."""
    return isinstance(init, str) or callable(init)


def new_centers(V: Array, statistics: CenterStatistics) -> Array:
    """Weighted means. A centre whose weights underflowed stays, or moves to the worst row: one centre a pass.

    A centre also stays in a feature that none of its rows has.
    """
    mass = statistics.mass
    if statistics.worst_row is None and (statistics.seen is None or mass.min() >= EMPTY):
        return statistics.total / mass
    centers = np.divide(statistics.total, mass, out=V.copy(), where=mass >= EMPTY)
    empty = statistics.weight < EMPTY
    if statistics.worst_row is not None and statistics.worst > 0 and empty.any():
        centers[np.argmax(empty)] = statistics.worst_row
    return centers
