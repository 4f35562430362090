"""What the mixtures share: p(x) = sum_k pi_k p_k(x) by expectation maximisation.

The objective is the mean log likelihood, the memberships are the posterior probabilities of the components.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._types import Array, MatrixLike
from ..base import as_fitted
from ..engine.alternating import AlternatingClusterer, T
from ..engine.blocks import Block, Blocks
from ..engine.collapse import duplicates, rows_alike
from ..engine.covariance import log_units, mean_likelihood
from ..engine.initialisation import starting_centers
from ..engine.loop import Policy, Run, Scale, likelihood_change
from ..inputs.features import validate_matrix
from ..kernels.centers import center_memberships
from ..kernels.reference import posteriors

EDGE = 1e-6  # entries nearer to 0 or 1 are moved to this distance: their log odds would outweigh all others
EMPTY_SHARE = 1e-8  # a component of a smaller share of the data is empty
_SAME = 1e-6  # two components whose parameters differ by less are one
_NEARLY_HARD = 1.001  # a fuzzifier: the nearest centre takes all, but centres at the same distance share
_SPREAD = 0.02  # part of a membership that is spread over all components, so that each has a part in every sample


class Mixture(Protocol):
    """The state of a mixture."""

    @property
    def weights(self) -> Array:
        """Mixing weights (K,)."""


S = TypeVar("S", bound=Mixture)


class Reseeded(Protocol):
    """The state of a mixture in which an empty component is seeded again, once."""

    @property
    def fresh(self) -> NDArray[np.bool_]:
        """Whether each component may still be seeded again if it is empty (K,)."""


class LeastLikely(NamedTuple):
    """The row of least likelihood: where an empty component is seeded again."""

    likelihood: float
    row: Array  # as the method needs it

    def merge(self, other: LeastLikely) -> LeastLikely:
        """The less likely of both."""
        return self if self.likelihood <= other.likelihood else other


def seeded_change(old: Reseeded, new: Reseeded, history: list[float], scale: Scale) -> float:
    """Change of the mean log likelihood; infinite if a component was seeded again, as the old value is of no use."""
    return np.inf if (old.fresh != new.fresh).any() else likelihood_change(old, new, history, scale)


LIKELIHOOD = Policy(sense="max", residual=likelihood_change, by_objective=True, place=None, units=mean_likelihood)


class MixtureClusterer(AlternatingClusterer[S, T]):
    """Base of the mixtures.

    A subclass writes ``_seeded_memberships`` and ``_from_memberships``, ``_statistics`` (with the summed log likelihood
    as ``objective``), ``_update``, and ``_log_joint`` or ``_posteriors``.
    """

    _policy = LIKELIHOOD
    weights_: Array

    def _log_joint(self, Z: Array, state: S) -> Array:
        """log(pi_k p_k(z)) (rows, K) of rows in the coordinates of the frame."""
        raise NotImplementedError

    def _seeded_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        """Starting memberships (n, K) for the values of ``init`` that are the method's own; starts count from 0."""
        raise NotImplementedError

    def _from_memberships(self, blocks: Blocks, memberships: Array) -> S:
        """The state that suits given memberships (n, K) of rows in memory."""
        raise NotImplementedError

    def _starts(self, blocks: Blocks, rng: np.random.RandomState) -> Iterator[S]:
        for start in range(self._n_starts()):
            local = blocks.local(rng)
            yield self._from_memberships(local, self._starting_memberships(local, rng, start))

    def _starting_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        """Starting memberships (n, K) of rows in memory."""
        if not isinstance(self.init, str):
            return given_memberships(self.init, blocks, self.n_clusters)
        if self.init == "random":
            memberships: Array = rng.uniform(size=(blocks.n, self.n_clusters))
            memberships /= memberships.sum(axis=1, keepdims=True)
            return memberships
        return self._seeded_memberships(blocks, rng, start)

    def _n_empty(self, state: S, blocks: Blocks) -> int:
        """The number of components that no row belongs to, where this is a fault."""
        return int(np.sum(state.weights * blocks.n < 1e-8))

    def _n_distinct(self, state: S) -> int:
        """The number of distinct components; K if the method does not count them."""
        return int(self.n_clusters)

    def _remedy(self, blocks: Blocks) -> str:
        """What to try if all rows have the same memberships."""
        return "use fewer clusters or another init"

    def _posteriors(self, block: Block, state: S) -> tuple[NDArray[Any], Array]:
        """Posterior probabilities (n, K) in the type of the rows, and the log likelihood of each row."""
        U, rows = np.empty((block.n, self.n_clusters), dtype=block.X.dtype), np.empty(block.n)
        for lo, Z, _ in block.pieces():
            here = slice(lo, lo + len(Z))
            U[here], rows[here] = posteriors(self._log_joint(Z, state))
        return U, rows

    def _memberships(self, block: Block, state: S) -> NDArray[Any]:
        return self._posteriors(block, state)[0]

    def _log_likelihoods(self, block: Block, state: S) -> Array:
        return self._posteriors(block, state)[1]

    def _observed_likelihoods(self, block: Block, state: S) -> Array:
        """Log likelihoods of incomplete rows in input units: the densities of what is there."""
        units: Array = ~np.isnan(block.X) @ log_units(block.frame)
        return self._log_likelihoods(block, state) + units

    def _complaints(self, run: Run[S], blocks: Blocks) -> list[str]:
        complaints, K, name = super()._complaints(run, blocks), self.n_clusters, type(self).__name__
        empty = self._n_empty(run.state, blocks)
        if empty:
            complaints.append(f"{name} left {empty} of {K} components empty; use fewer clusters or another init")
        elif K > 1 and rows_alike(self.memberships_):
            remedy = duplicates(blocks, K) or self._remedy(blocks)
            complaints.append(f"{name} collapsed: all samples have the same memberships; {remedy}")
        elif self._n_distinct(run.state) < K:
            complaints.append(
                f"{name} found {self._n_distinct(run.state)} distinct components, fewer than n_clusters={K}: there may "
                "be duplicate points in X; use fewer clusters"
            )
        return complaints

    # Likelihoods and criteria ---------------------------------------------------------------------------------------

    @as_fitted
    def score_samples(self, X: MatrixLike) -> Array:
        """Log likelihood of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
        """
        blocks = self._new_blocks(X)
        if blocks.frame.gaps:
            return self._map_rows("_observed_likelihoods", blocks)
        likelihoods: Array = self._map_rows("_log_likelihoods", blocks) + log_units(blocks.frame).sum()
        return likelihoods

    def _draw_components(self, n_samples: int, shares: Array) -> tuple[np.random.RandomState, NDArray[np.intp]]:
        """The generator of ``sample``, and the component of each row to draw, in order, by their shares."""
        if n_samples < 1:
            raise ValueError(f"n_samples must be >= 1. Got {n_samples} instead.")
        rng = check_random_state(self.random_state)
        return rng, np.repeat(np.arange(len(shares)), rng.multinomial(n_samples, shares))


class InformationCriteria(MixtureClusterer[S, T]):
    """Base of the mixtures of largest likelihood; a subclass writes ``_n_parameters``."""

    def _n_parameters(self) -> int:
        """Number of free parameters."""
        raise NotImplementedError

    @as_fitted
    def bic(self, X: MatrixLike, *, sample_weight: ArrayLike | None = None) -> float:
        """Bayesian information criterion, smaller is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        bic : float
        """
        likelihood, n = self._log_likelihood(X, sample_weight)
        return -2 * likelihood + self._n_parameters() * float(np.log(n))

    @as_fitted
    def aic(self, X: MatrixLike, *, sample_weight: ArrayLike | None = None) -> float:
        """Akaike information criterion, smaller is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        aic : float
        """
        return -2 * self._log_likelihood(X, sample_weight)[0] + 2 * self._n_parameters()

    def _log_likelihood(self, X: MatrixLike, sample_weight: ArrayLike | None) -> tuple[float, float]:
        """The log likelihood of all rows together, and their total weight."""
        blocks = self._new_blocks(X, sample_weight)
        return blocks.total_weight * self._objective_on(blocks), blocks.total_weight


# Starts ---------------------------------------------------------------------------------------------------------------


def given_memberships(init: ArrayLike, blocks: Blocks, K: int) -> Array:
    """Starting memberships (n, K) of the rows in the blocks, from the user's array for all rows of the input."""
    memberships = validate_matrix("init", init, (blocks.n_input, K))
    if memberships.min() < 0 or np.abs(memberships.sum(axis=1) - 1).max() > 1e-6:
        raise ValueError("init must be non-negative with rows that sum to 1.")
    return memberships if blocks.kept is None else memberships[blocks.kept]


def smoothed_kmeans(blocks: Blocks, K: int, rng: np.random.RandomState) -> Array:
    """Memberships (n, K) of a k-means partition, 2 % of each spread over all components."""
    V = starting_centers(blocks, "kmeans", K, rng)
    memberships = blocks.map_rows(center_memberships, V, "fcm", _NEARLY_HARD).astype(np.float64)
    return (1 - _SPREAD) * memberships + _SPREAD / K


def component_means(sums: Array, weight: Array) -> Array:
    """Weighted means (K, ...) of components, from weighted sums; an empty component gets the mean of all rows.

    The weights are those of the components (K,), or of their values (K, p).

    Examples
    --------
    >>> component_means(np.array([[6.0], [0.0]]), np.array([3.0, 0.0]))
    array([[2.],
           [2.]])
    """
    weight = weight.reshape(*weight.shape, *[1] * (sums.ndim - weight.ndim))
    whole = weight.sum(axis=0)
    full = np.broadcast_to(weight >= EMPTY_SHARE * whole, sums.shape)
    means = np.broadcast_to(sums.sum(axis=0) / whole, sums.shape).copy()
    np.divide(sums, weight, out=means, where=full)
    return means


def count_distinct(parameters: Array) -> int:
    """Number of components that differ, by their parameters (K, q) in comparable units.

    Examples
    --------
    >>> count_distinct(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    2
    """
    near = [np.abs(parameters[:k] - row).max(axis=1) < _SAME for k, row in enumerate(parameters)]
    return len(parameters) - sum(bool(twins.any()) for twins in near)
