"""Powers of dissimilarities among the training objects, held as a matrix or computed column by column."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import Array, Matrix
from ..engine.dissimilarities import Dissimilarities, KnownMetric
from ..engine.initialisation import greedy_seeds
from ..kernels import threads_for

MOST_PAIRS = 20_000  # objects up to which the matrix of all pairs is held: 3.2 GB
_ROWS = 256  # that are multiplied at once
_FAR = 1e200  # no power is larger: sums of weighted powers stay finite


class Powers(NamedTuple):
    """Powers of measured dissimilarities, in a unit."""

    scale: float  # measured dissimilarities are multiplied by it first
    exponent: float
    length: float  # the dissimilarity in input units whose power is 1

    def __call__(self, D: Array) -> Array:
        """The powers of D, in its memory."""
        with np.errstate(over="ignore", under="ignore"):
            D *= self.scale
            np.minimum(D, _FAR ** min(1.0, 1 / self.exponent), out=D)
            if self.exponent != 1:
                D **= self.exponent
        return D

    @property
    def unit(self) -> float:
        """The power of 1 in input units."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.float64(self.length) ** self.exponent)


class Relation:
    """R_ij = d_ij^exponent among objects with weights, in a unit in which the largest is about 1.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Validated features, or dissimilarities.
    weight : ndarray of shape (n_samples,) or None
        Samples of weight 0 are no objects, so that they cannot matter.
    metric : str, callable or Gower
    exponent : float
    held : bool
        Whether the matrix of all pairs is computed at once.

    Attributes
    ----------
    kept : ndarray or None
        Which samples are the objects; None: all.
    n_samples : int
        All samples, kept or not.
    weight : ndarray of shape (n,)
        Weights of the objects.
    powers : Powers
        How R follows from the dissimilarities.

    Examples
    --------
    >>> relation = Relation(np.array([[0.0], [1.0], [5.0]]), None, "euclidean", 2.0, held=True)
    >>> relation.columns([0])[:, 0] * relation.powers.unit
    array([ 0.,  1., 25.])
    """

    def __init__(self, X: Matrix, weight: Array | None, metric: KnownMetric, exponent: float, *, held: bool) -> None:
        self.n_samples = X.shape[0]
        self.kept = None if weight is None or weight.all() else np.flatnonzero(weight)
        self.objects = Dissimilarities(X, metric, self.kept)
        self.weight = np.ones(len(self)) if weight is None else weight[weight > 0]
        D = self.objects.between(slice(None), slice(None) if held else [0])
        scale = 2.0 ** -np.clip(np.frexp(D.max())[1], -1000, 1000)  # a power of two causes no rounding
        with np.errstate(over="ignore", under="ignore"):
            self.powers = Powers(float(scale), float(exponent), float(self.objects.metric.unit / scale))
        self._matrix = self.powers(D) if held else None
        if self._matrix is not None:
            np.fill_diagonal(self._matrix, 0)

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def matrix(self) -> Array:
        """R (n, n), if it is held."""
        assert self._matrix is not None
        return self._matrix

    def times(self, C: Array) -> Array:
        """R C (n, K): rows are shared out to threads, and results do not depend on their number."""
        A, edges = np.empty_like(C), range(0, len(C), _ROWS)

        def multiply(lo: int) -> None:
            np.matmul(self.matrix[lo : lo + _ROWS], C, out=A[lo : lo + _ROWS])

        threads = threads_for(self.matrix.size * C.shape[1], len(edges))
        with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
            list((pool.map if pool else map)(multiply, edges))
        return A

    def columns(self, indices: list[int] | NDArray[np.intp]) -> Array:
        """R (n, len(indices)) of all objects and some."""
        if self._matrix is not None:
            return self._matrix[indices].T  # which is symmetric
        R = self.powers(self.objects.between(slice(None), indices))
        R[indices, np.arange(len(indices))] = 0
        return R

    def seeds(self, K: int, rng: np.random.RandomState, most: float = np.inf) -> NDArray[np.intp]:
        """K objects by greedy k-means++: each is the best of 2 + log K drawn by weight times R, at most ``most``.

        If the matrix is held, objects are drawn along an order that does not depend on the order of the samples.

        References
        ----------
        D. Arthur, S. Vassilvitskii (2007). k-means++: the advantages of careful seeding. SODA, 1027-1035.
        """
        held = self._matrix is not None
        order = np.argsort(self.matrix @ self.weight, kind="stable") if held else np.arange(len(self))
        uniforms = [rng.uniform(size=1), *rng.uniform(size=(K - 1, 2 + int(np.log(K))))]
        return greedy_seeds(self.columns, self.weight, order, uniforms, most)

    def random(self, K: int, rng: np.random.RandomState) -> NDArray[np.intp]:
        """K different objects, drawn by weight."""
        return rng.choice(len(self), K, replace=False, p=self.weight / self.weight.sum())
