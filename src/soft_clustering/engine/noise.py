"""Noise clustering: one more cluster, as far from every row, for methods whose memberships come from distances.

The cluster of noise adds a column of the constant delta^2 to the squared distances, and has no centre. An outlier
belongs to it instead of dividing itself among clusters that are all far away, and so it hardly moves their centres.

delta is fixed before the loop, so that the objective is a function of the centres as ever. The seeds of the starts see
no distance above delta: otherwise outliers would be drawn first, and a centre on an outlier is a local optimum, in
which all else is noise to it.

References
----------
R. N. Dave (1991). Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11), 657-664.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from .._types import Array, MatrixLike
from ..base import InductiveSoftClusterer, MembershipKind, as_fitted
from .alternating import AlternatingClusterer, S, T
from .blocks import Block, Blocks, Sums
from .fitting import Fit, say
from .loop import Run, squared_units

_LEAST_CAP = 4.0  # medians: rows of one cluster are about twice as far from each other (squared) as from its centre
_TOO_NOISY = 0.5  # a larger share of noise says that the noise is too near
_RANGE = 1e-200, 1e200  # of noise distances to the power of the objective

NOISE: dict[str, list[Any]] = {
    "noise_distance": [None, StrOptions({"auto"}), Interval(Real, 0, np.inf, closed="neither")],
    "noise_scale": [Interval(Real, 0, np.inf, closed="neither")],
}


def _has_noise(estimator: Any) -> bool:
    return bool(estimator.membership_kind == "subpartition")


class NoiseOption(InductiveSoftClusterer):
    """A clusterer with the parameters ``noise_distance`` and ``noise_scale``, and what follows from them.

    ``fit`` calls ``_fix_noise``; a subclass writes ``_predict_noise``.
    """

    noise_distance: Literal["auto"] | float | None
    noise_scale: float
    noise_distance_: float
    _noise = 0.0  # the distance in the units and to the power of the objective; 0: there is no noise
    _most = np.inf  # the largest such distance that counts in the seeding

    @property
    def membership_kind(self) -> MembershipKind:  # type: ignore[override]
        """``"subpartition"`` with a ``noise_distance``, otherwise ``"partition"``."""
        return "partition" if self._as_fitted().noise_distance is None else "subpartition"

    @available_if(_has_noise)  # type: ignore[untyped-decorator]
    @as_fitted
    def predict_noise_mass(self, X: MatrixLike) -> NDArray[Any]:
        """Membership of each sample in the noise; only with a ``noise_distance``.

        Parameters
        ----------
        X : as for ``predict_memberships``

        Returns
        -------
        noise_mass : ndarray of shape (n_samples,)
        """
        return self._predict_noise(X)

    def _predict_noise(self, X: MatrixLike) -> NDArray[Any]:
        """The masses (n,) of new data in the noise."""
        raise NotImplementedError

    def _fix_noise(self, median: Callable[[], float], length: float, power: float = 2.0) -> None:
        """Fix the noise distance: the given one, or a multiple of the median distance in a fit without noise.

        ``noise_scale`` is a multiple of squared distances, whatever power of them the objective takes.

        Parameters
        ----------
        median : callable
            Fits without noise, and gives the median distance of a sample to the nearest prototype, to the ``power``.
        length : float
            The unit of length while fitting, in input units.
        power : float, default=2.0
            To which the objective takes distances.
        """
        self._noise, self._most = 0.0, np.inf
        if self.noise_distance is None:
            return
        self.noise_distance_ = np.inf  # of a fit that is interrupted before it is settled
        with np.errstate(over="ignore", under="ignore"):
            if self.noise_distance != "auto":
                given = np.float64(self.noise_distance) / length
                self._noise = self._most = float(np.clip(given**power, *_RANGE))
            else:
                typical = median()
                scale, cap = (squared ** (power / 2) for squared in (self.noise_scale, _LEAST_CAP))
                self._noise = float(np.clip(scale * typical, *_RANGE))
                self._most = max(self._noise, cap * typical)
            self.noise_distance_ = float(np.float64(self._noise) ** (1 / power) * length)
        say(self, f"noise distance {self.noise_distance_:.6g}")

    def _too_noisy(self, share: float) -> list[str]:
        """A complaint if the noise took most of the rows."""
        if share <= _TOO_NOISY:
            return []
        remedy = "noise_scale" if self.noise_distance == "auto" else "noise_distance"
        return [f"{type(self).__name__}: noise took {share:.0%} of the rows; increase {remedy} or n_clusters"]


class NoiseClusterer(NoiseOption, AlternatingClusterer[S, T]):
    """Base of the alternating methods with a cluster of noise.

    A subclass writes ``_nearest`` and ``_noise_masses``, and gives ``self._noise`` to the kernels and ``self._most`` to
    the seeding.
    """

    def _predict_noise(self, X: MatrixLike) -> NDArray[Any]:
        return self._map_rows("_noise_masses", self._new_blocks(X))

    # The method -----------------------------------------------------------------------------------------------------

    def _nearest(self, block: Block, state: S) -> Array:
        """The squared distance (n,) of each row to the nearest prototype."""
        raise NotImplementedError

    def _squared_units(self, squared: Any, blocks: Blocks) -> Any:
        """A squared distance of the method in input units."""
        return squared_units(squared, blocks)

    def _runs(self, fit: Fit[S], blocks: Blocks, rng: np.random.RandomState) -> None:
        """The runs of a fit, at a noise distance."""
        super()._run(fit, blocks, rng)

    # Its part of a fit ----------------------------------------------------------------------------------------------

    def _run(self, fit: Fit[S], blocks: Blocks, rng: np.random.RandomState) -> None:
        def without_noise() -> S:
            self._runs(fit, blocks, rng)
            assert fit.best is not None
            state: S = self._policy.final(fit.best.state)
            return state

        self._settle_noise(blocks, rng, without_noise)
        fit.runs.clear()
        self._runs(fit, blocks, rng)

    def _settle_noise(self, blocks: Blocks, rng: np.random.RandomState, without_noise: Callable[[], S]) -> None:
        """Fix the noise distance, by a fit without noise if it is not given."""

        def median() -> float:
            state, local = without_noise(), blocks.local(rng)
            return middle(local.map_rows(self._nearest, state), local.joined().weight)

        self._fix_noise(median, float(np.sqrt(self._squared_units(1.0, blocks))))

    def _complaints(self, run: Run[S], blocks: Blocks) -> list[str]:
        complaints = super()._complaints(run, blocks)
        if self._noise > 0:
            mass = float(blocks.reduce(self._summed_noise, run.state).values)
            complaints += self._too_noisy(mass / blocks.total_weight)
        return complaints

    def _summed_noise(self, block: Block, state: S) -> Sums:
        masses = self._noise_masses(block, state).astype(np.float64)
        return Sums(np.array(masses.sum() if block.weight is None else block.weight @ masses))


def middle(squared: Array, weight: Array | None) -> float:
    """The weighted median of squared distances; if it is 0, the smallest positive one, and 1 if there is none.

    Examples
    --------
    >>> middle(np.array([4.0, 1.0, 9.0]), None), middle(np.array([4.0, 1.0, 9.0]), np.array([1.0, 1.0, 3.0]))
    (4.0, 9.0)
    >>> middle(np.array([0.0, 0.0, 9.0]), None)
    9.0
    """
    order = np.argsort(squared, kind="stable")
    cumulated = np.cumsum(np.ones(len(squared)) if weight is None else weight[order])
    median = float(squared[order[np.searchsorted(cumulated, cumulated[-1] / 2)]])
    if median > 0:
        return median
    positive = squared[squared > 0]
    return float(positive.min()) if len(positive) else 1.0
