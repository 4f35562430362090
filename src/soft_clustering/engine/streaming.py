"""Rows that come in batches: ``partial_fit``.

The prototypes are those of all rows seen, each with the membership that it had when it came. No row is kept, only the
state and the weight of the rows behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._types import Array, MatrixLike
from ..base import continues_fit
from ..inputs.features import check_enough_samples
from ..kernels.centers import CenterStatistics
from .alternating import AlternatingClusterer, S
from .blocks import Blocks
from .fitting import Fit
from .threads import single_threaded_blas

if TYPE_CHECKING:
    from typing import Self


class WeightedContribution(Protocol):
    """What a block of rows contributes to prototypes, with the weight that these are divided by."""

    @property
    def objective(self) -> float:
        """The optimised function at the state, in the coordinates of the frame."""

    @property
    def mass(self) -> Array:
        """Summed weights: of the rows, of their values, or of a linear system that the prototypes solve."""


W = TypeVar("W", bound=WeightedContribution)


class StreamingClusterer(AlternatingClusterer[S, W]):
    """Base of the alternating estimators that learn from batches of rows; a subclass writes ``_moved``."""

    #: Fitted attributes that say something of the rows of a fit, and so do not outlive it.
    _of_rows: ClassVar[tuple[str, ...]] = (
        *("memberships_", "labels_", "noise_mass_"),
        *("objective_", "objective_history_", "converged_"),
    )
    _seen: Array  # the mass of the rows that the state was computed from

    def _moved(self, state: S, statistics: W, weight: Array, blocks: Blocks) -> S:
        """The state after one more batch.

        The statistics are those of the batch at the state, ``weight`` is the mass of all rows seen, the batch included.
        """
        raise NotImplementedError

    def _check_stream(self, blocks: Blocks) -> None:
        """Raise an error if the parameters, or the coordinates, do not suit batches."""

    def _solution(self, blocks: Blocks, rng: np.random.RandomState) -> S:
        """The state of an ordinary fit of a first batch."""
        fit = Fit[S](self)
        fit.stores(lambda run: (), lambda J: self._policy.units(J, blocks))  # the units of what it prints
        self._run(fit, blocks, rng)
        assert fit.best is not None
        state: S = self._policy.final(fit.best.state)
        return state

    def _store_fit(self, statistics: W, blocks: Blocks) -> None:
        self._seen = statistics.mass

    @continues_fit
    def partial_fit(self, X: MatrixLike, y: object = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Move the prototypes by one batch of rows.

        The first call, unless the model is fitted, solves its batch, which needs at least ``n_clusters`` rows and
        settles whatever depends on the data: parameters that are ``'auto'``, bandwidths, kernel widths, the scaling of
        the features. Each later call adds its batch to the rows seen, with the memberships that it has now; the notes
        of the class say with which weight. There are no ``memberships_`` after it: use ``predict_memberships``.
        Parameters set after the first call, or after ``fit``, do not matter.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A sparse matrix, too, if ``fit`` accepts one.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the same as the row twice, weight 0 the same as no row.

        Returns
        -------
        self : object
        """
        self._validate_params()
        first = not hasattr(self, "_state")
        blocks = self._blocks(X, sample_weight, None if first else self._frame)
        if first:
            check_enough_samples(blocks.n, self.n_clusters)
        self._check_stream(blocks)
        with single_threaded_blas():
            if first:
                self._resolve(blocks)
                state, n_batches = self._solution(blocks, check_random_state(self.random_state)), 0
            else:
                state, n_batches = self._state, self.n_iter_
            statistics = blocks.reduce(self._statistics, state)
            weight = statistics.mass if first else self._seen + statistics.mass
            # Only now is anything changed: a batch that is refused leaves the model as it was.
            self._state = self._moved(state, statistics, weight, blocks)
        self._frame, self._seen, self.n_iter_ = blocks.frame, weight, n_batches + 1
        self._store(self._state, statistics, blocks)
        self.n_clusters_ = self.n_clusters
        self._forget(*self._of_rows, *self._policy.rows)
        return self


def moved_centers(V: Array, statistics: CenterStatistics, weight: Array) -> Array:
    """Centres as the running weighted mean of all rows seen, of which ``weight`` is the summed mass: (K, 1) or (K, d).

    This is single-pass fuzzy c-means: what the centres were computed from so far keeps its full weight.

    Examples
    --------
    >>> batch = CenterStatistics(np.array([1.0]), np.array([[8.0]]), 0.0, 0.0, None)
    >>> moved_centers(np.array([[2.0]]), batch, np.array([[3.0]]))  # two rows about 2, and one at 8
    array([[4.]])
    """
    step = statistics.total - statistics.mass * V
    centers: Array = V + step / np.maximum(weight, np.finfo(float).tiny)
    return centers
