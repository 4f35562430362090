"""What the mixtures of elliptic components share: starts, covariances in input units, and draws."""

from __future__ import annotations

from functools import reduce
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.utils.validation import check_is_fitted

from .._types import Array
from ..base import as_fitted
from ..engine.alternating import T
from ..engine.blocks import Blocks, Subspace
from ..engine.covariance import to_input_units
from ..engine.initialisation import input_rows, starting_centers, trimmed_rows
from ..engine.threads import threads_that_pay
from ..kernels import EMPTY
from ..kernels.centers import center_memberships
from ..kernels.gauss import GaussStatistics, gauss_statistics
from .gaussian import Components, GaussianClusterer


class Elliptic(Protocol):
    """The state of a mixture of elliptic components."""

    @property
    def weights(self) -> Array:
        """Mixing weights (K,)."""

    @property
    def gaussian(self) -> Components:
        """Weights, centres, and matrices of the components."""


E = TypeVar("E", bound=Elliptic)


class EllipticClusterer(GaussianClusterer[E, T]):
    """Base of the mixtures in which each component is an ellipsoid of all features."""

    def _in_span(self, blocks: Blocks) -> Blocks:
        """The rows in coordinates of their span, if these are fewer and ``reg_covar`` is the variance beyond it."""
        return blocks.in_subspace() if self._full and self.reg_covar > 0 else blocks

    def _resolve(self, blocks: Blocks) -> None:
        self._n_beyond = blocks.n_features - blocks.d

    def _init_of(self, start: int) -> str:
        """The value of ``init`` for one of the starts, which count from 0."""
        return str(self.init)

    def _seeded_memberships(self, blocks: Blocks, rng: np.random.RandomState, start: int) -> Array:
        return seeded_memberships(blocks, self._init_of(start), self.n_clusters, rng)

    def _given_moments(self, blocks: Blocks, memberships: Array) -> tuple[Array, GaussStatistics]:
        """The means of given memberships (n, K), and the moments about them."""

        def moments(means: Array, full: bool) -> GaussStatistics:
            parts = zip(blocks.blocks, blocks.split(memberships), strict=True)
            each = (gauss_statistics(block, means, None, None, full=full, memberships=part) for block, part in parts)
            merged: GaussStatistics = reduce(GaussStatistics.merge, each)
            return merged

        about_zero = moments(np.zeros((self.n_clusters, blocks.d)), False)
        sizes = self._sizes(about_zero.weight, blocks)
        means = about_zero.first / (sizes[:, None] if about_zero.seen is None else np.maximum(about_zero.seen, EMPTY))
        return means, self._with_unseen(moments(means, self._full), blocks)

    def _given_components(self, blocks: Blocks, memberships: Array) -> Components:
        """The Gaussian M-step of given memberships (n, K)."""
        return self._maximise(*self._given_moments(blocks, memberships), blocks, blocks.frame.unit)

    # Derived attributes and draws -----------------------------------------------------------------------------------

    @property
    @as_fitted
    def covariances_(self) -> Array:
        """Covariances: full (K, d, d), tied (d, d), diag (K, d), spherical (K,). Formed when asked for."""
        check_is_fitted(self, "_state")
        covariances, frame = self._state.gaussian.covariances, self._frame
        assert covariances is not None
        if self.covariance_type == "tied":
            tied: Array = to_input_units(covariances[None], frame)[0]
            return tied
        if self.covariance_type == "full":
            return to_input_units(covariances, frame)
        with np.errstate(over="ignore"):  # the squares of data beyond 1e154 overflow
            scaled: Array = covariances / frame.scale / frame.scale
            return scaled

    @property
    @as_fitted
    def precisions_cholesky_(self) -> Array:
        """Upper Cholesky factors of the precisions, in the shapes of ``covariances_``. Formed when asked for."""
        check_is_fitted(self, "_state")
        if isinstance(self._frame, Subspace):
            return np.swapaxes(self._factors_of_covariances(self.covariances_), -1, -2)
        factors = self._state.gaussian.factors * self._frame.scale
        return np.swapaxes(factors, -1, -2) if self._full else factors

    @property
    @as_fitted
    def precisions_(self) -> Array:
        """Inverses of ``covariances_``."""
        P = self.precisions_cholesky_
        return P @ np.swapaxes(P, -1, -2) if self._full else P * P

    def sample(self, n_samples: int = 1) -> tuple[Array, NDArray[np.intp]]:
        """Draw from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default=1

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        labels : ndarray of shape (n_samples,)
            The component that each row was drawn from.
        """
        check_is_fitted(self, "_state")
        rng, labels = self._draw_components(n_samples, self._state.weights)
        return self._rows_of(labels, rng), labels

    def _rows_of(self, labels: NDArray[np.intp], rng: np.random.RandomState) -> Array:
        """A row drawn from each of these components."""
        noise = self._standard_rows(labels, rng)
        means, factors, frame = self._state.gaussian.means, self._state.gaussian.all_factors, self._frame
        if not isinstance(frame, Subspace):
            return frame.to_input(means[labels] + self._scaled(noise, factors, labels))
        # The noise has the covariance of its component within the span, and is a ball outside it.
        within = noise @ frame.basis.T
        ball = (noise - within @ frame.basis) / factors[labels, -1, -1][:, None]
        Z = means[labels, :-1] + self._scaled(within, factors[:, :-1, :-1], labels)
        return frame.inner.to_input(Z @ frame.basis + ball)

    def _standard_rows(self, labels: NDArray[np.intp], rng: np.random.RandomState) -> Array:
        """Rows drawn from these components, about their centres and in their own metric."""
        return rng.standard_normal((len(labels), self.centers_.shape[1]))

    def _scaled(self, noise: Array, factors: Array, labels: NDArray[np.intp]) -> Array:
        """Standard rows scaled to the covariances of their components."""
        if not self._full:
            return noise / factors[labels]
        for k in range(self.n_clusters_):
            noise[labels == k] = np.linalg.solve(factors[k], noise[labels == k].T).T
        return noise


def seeded_memberships(blocks: Blocks, init: str, K: int, rng: np.random.RandomState) -> Array:
    """Memberships (n, K) of a start, with the draws of scikit-learn's mixtures.

    ``init`` is ``"kmeans"``, ``"trimmed"`` (k-means without the rows in the sparsest places, which belong to no
    component), ``"k-means++"`` or ``"random_from_data"`` (one row for each component).
    """
    if blocks.has_gaps and init != "random_from_data":
        return nearest_memberships(blocks, init, K, rng)
    n = blocks.n
    memberships = np.zeros((n, K))
    X, weight = input_rows(blocks), blocks.blocks[0].weight
    if weight is not None and np.ptp(weight) == 0:
        weight = None  # the same draws as without weights
    reach = 1e140 if X.dtype == np.float64 else 1e15
    if not (1 / reach < blocks.frame.unit < reach and -reach < X.min() <= X.max() < reach):
        X = blocks.frame.from_input(X)  # the squares of X itself are out of range
    if init in ("kmeans", "trimmed"):
        rows = np.arange(n)
        if init == "trimmed":
            rows = trimmed_rows(blocks, K, rng)
            X, weight = X[rows], None if weight is None else weight[rows]
        with threads_that_pay(n * X.shape[1] * K):
            labels = KMeans(K, n_init=1, random_state=rng).fit(X, sample_weight=weight).labels_
        memberships[rows, labels] = 1
    elif init == "k-means++":
        memberships[kmeans_plusplus(X, K, random_state=rng, sample_weight=weight)[1], np.arange(K)] = 1
    else:
        share = None if weight is None else weight / weight.sum()
        memberships[rng.choice(n, size=K, replace=False, p=share), np.arange(K)] = 1
    return memberships


def nearest_memberships(blocks: Blocks, init: str, K: int, rng: np.random.RandomState) -> Array:
    """The same with the draws of this library, which do not depend on the order of the rows, for all but the last."""
    memberships = np.zeros((blocks.n, K))
    rows = trimmed_rows(blocks, K, rng) if init == "trimmed" else np.arange(blocks.n)
    part, order = Blocks([blocks.take(rows)], blocks.mean_variance), blocks.joined().order
    part.blocks[0].order = np.searchsorted(rows, order[np.isin(order, rows)])  # the same draws in any coordinates
    V = starting_centers(part, "k-means++" if init == "k-means++" else "kmeans", K, rng)
    memberships[rows] = part.map_rows(center_memberships, V, "nearest")
    return memberships
