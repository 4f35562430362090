"""The kernel of any rows with a fixed set of rows, a bounded piece of the matrix at a time.

A kernel is ``'rbf'``, ``'precomputed'``, or a function ``kernel(X, Y)`` that gives the matrix of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from .._types import Array, Matrix
from ..engine.blocks import Block, Frame

HELD = 1 << 28  # bytes of a kernel matrix that is kept in memory: that of 5792 rows
_PIECE = 1 << 18  # numbers of a kernel matrix that are computed at once
_FAR = 140.0  # a kernel of a larger exponent is treated as 0: exp(-140) = 1e-61
_SAME = 1e-13  # squared distances of CSR rows below this part of their squared lengths are rounding
_GROUP = 64  # rows whose own kernel entries are read off a small matrix


def pieces(n: int, width: int) -> Iterator[slice]:
    """Slices of n rows whose kernel with ``width`` rows takes a bounded amount of memory."""
    step = max(_GROUP, _PIECE // width)
    for lo in range(0, n, step):
        yield slice(lo, min(lo + step, n))


class RBFRows:
    """exp(-gamma |x - y|^2) in the coordinates of a frame, exact to about 1e-12 however far the rows are."""

    def __init__(self, Y: Matrix, frame: Frame, gamma: float) -> None:
        self.frame, self.gamma = frame, gamma
        self._is_sparse = sparse.issparse(Y)
        self._Z, self._square = self._coordinates(Y)

    def _coordinates(self, X: Any) -> tuple[Any, Array]:
        """Rows in the frame, CSR if the fixed rows are, and their squared lengths."""
        if self._is_sparse:
            X = sparse.csr_matrix(X)
            Z = sparse.vstack([piece for _, piece, _ in Block(X, None, self.frame).pieces()], format="csr")
            return Z, np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
        Z = self.frame.from_input(X.toarray() if sparse.issparse(X) else X)
        return Z, np.einsum("ij,ij->i", Z, Z)

    def squared_distances(self, X: Matrix) -> Array:
        """|x_i - y_j|^2 by the expanded form; directly where its rounding could be seen in the kernel."""
        Z, square = self._coordinates(X)
        product = Z @ self._Z.T
        D: Array = product.toarray() if self._is_sparse else product
        D *= -2
        D += square[:, None]
        D += self._square
        if self._is_sparse:
            D[(square[:, None] + self._square) * _SAME >= D] = 0
            return D
        np.maximum(D, 0, out=D)
        # A row far from the origin is far from any row that is not: only the distances of two such rows are at stake.
        with np.errstate(over="ignore"):
            far, far_fixed = self.gamma * square > _FAR, self.gamma * self._square > _FAR
        if far.any() and far_fixed.any():
            D[np.ix_(far, far_fixed)] = cdist(Z[far], self._Z[far_fixed], "sqeuclidean")
        return D

    def __call__(self, X: Matrix) -> Array:
        """The kernel (rows, n)."""
        return rbf(self.squared_distances(X), self.gamma)


def rbf(squared_distances: Array, gamma: float) -> Array:
    """exp(-gamma D), in the memory of D."""
    with np.errstate(over="ignore", under="ignore"):
        squared_distances *= -gamma
        return np.exp(squared_distances, out=squared_distances)


class GivenRows:
    """Rows of a precomputed kernel matrix; the fixed rows are some of its columns."""

    def __init__(self, columns: NDArray[np.intp]) -> None:
        self._columns = columns

    def __call__(self, X: Matrix) -> Array:
        """The columns of the fixed rows (rows, n)."""
        return np.asarray(X[:, self._columns], dtype=np.float64)


class FunctionRows:
    """A function ``kernel(X, Y)`` of the user's."""

    def __init__(self, function: Callable[[Any, Any], Any], Y: Matrix) -> None:
        self._function, self._Y = function, Y

    def _evaluate(self, X: Matrix, Y: Matrix) -> Array:
        result = self._function(X, Y)
        try:
            K = np.array(result, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"kernel(X, Y) must give a matrix of numbers. Got {type(result).__name__} instead."
            ) from error
        if K.shape != (len(X), len(Y)):
            raise ValueError(
                f"kernel(X, Y) must give a matrix of shape (len(X), len(Y)) = {(len(X), len(Y))}. Got shape {K.shape} "
                "instead."
            )
        if not np.isfinite(K).all():
            raise ValueError("kernel(X, Y) must give finite numbers. Got NaN or infinity instead.")
        return K

    def __call__(self, X: Matrix) -> Array:
        """The kernel (rows, n)."""
        return self._evaluate(X, self._Y)

    def diagonal(self, X: Matrix) -> Array:
        """K(x, x) of some rows (rows,), read off small matrices: the function gives all pairs of its rows."""
        parts = [X[lo : lo + _GROUP] for lo in range(0, len(X), _GROUP)]
        return np.concatenate([np.diagonal(self._evaluate(part, part)) for part in parts])
