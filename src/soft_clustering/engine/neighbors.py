"""The search for neighbours, and the graph of nearest neighbours, with weights that need no scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import KDTree

from .._types import Array
from ..kernels.centers import center_distances
from ..kernels.pairs import nearest
from .blocks import Block, Frame

_SCANNED = 1000  # rows of two features up to which looking at all of them is faster than a tree
_AT_ONCE = 1 << 21  # distances that are in memory together
_TIE = 1e-6  # part of the mean weight: a neighbour of smaller weight is as far as the last


Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


class Search:
    """Neighbours among rows (n, d): by a tree, or by looking at all rows where that is faster, as in many features."""

    def __init__(self, Z: Array, n_jobs: int | None = None) -> None:
        n, d = Z.shape
        self._given = Z, n_jobs
        self._tree = KDTree(Z) if n > _SCANNED * max(1, (d - 2) ** 2) else None

    def __getstate__(self) -> dict[str, Any]:
        return {"given": self._given}  # the tree is built again

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["given"])  # type: ignore[misc]

    def nearest(self, rows: Array, k: int) -> tuple[Array, NDArray[np.intp]]:
        """Ascending distances (rows, k) to the nearest, and which they are."""
        Z, n_jobs = self._given
        if self._tree is not None:
            distances, indices = self._tree.query(rows, np.arange(1, k + 1), workers=effective_n_jobs(n_jobs))
            return distances, indices
        squared, indices = nearest(Z, rows, k)
        return np.sqrt(squared), indices

    def pairs(self, radius: float) -> Pairs:
        """The pairs i, j of different rows within a radius, each once."""
        if self._tree is not None:
            i, j = self._tree.query_pairs(radius, output_type="ndarray").T
            return i, j
        return _pairs_within(self._given[0], radius)


def _pairs_within(Z: Array, radius: float) -> Pairs:
    """The pairs i < j of rows that are within a radius of each other."""
    (n, d), found = Z.shape, []
    for low in range(0, n, max(1, _AT_ONCE // n)):
        part = Block(Z[low : low + max(1, _AT_ONCE // n)], None, Frame(np.zeros(d), 1.0))
        i, j = np.nonzero(center_distances(part, Z[low:]) <= radius * radius)
        later = j > i
        found.append((i[later] + low, j[later] + low))
    i, j = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i, j


def adaptive_weights(D: Array) -> Array:
    """Weights (n, k) that sum to 1 from ascending squared distances (n, k + 1) to the nearest others.

    They are (d_k+1 - d_j) / sum_l (d_k+1 - d_l), or 1 / k if all are equally far. A single distance has weight 1.

    References
    ----------
    F. Nie, X. Wang, H. Huang (2014). Clustering and projected clustering with adaptive neighbors. KDD, 977-986.

    Examples
    --------
    >>> adaptive_weights(np.array([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0]]))
    array([[0.66666667, 0.33333333],
           [0.5       , 0.5       ]])
    """
    if D.shape[1] == 1:
        return np.ones_like(D)
    gaps = D[:, -1:] - D[:, :-1]
    total = gaps.sum(axis=1, keepdims=True)
    distinct = total > 1e-12 * D[:, -1:]
    return np.where(distinct, gaps / np.where(distinct, total, 1.0), 1 / gaps.shape[1])


def graph_weights(D: Array) -> Array:
    """The mean of the adaptive weights and of equal ones, from ascending squared distances (n, k + 1).

    Neighbours that are as far as the last get weight 0 if others are nearer: which of them are among the k is a matter
    of chance.

    Examples
    --------
    >>> graph_weights(np.array([[0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 9.0, 9.0]]).round(3)).round(3)
    array([[0.389, 0.333, 0.278],
           [0.515, 0.485, 0.   ]])
    """
    weights = adaptive_weights(D)
    nearer = weights > _TIE / weights.shape[1]
    mean: Array = (weights + nearer / nearer.sum(axis=1, keepdims=True)) / 2
    return mean


class Neighbors:
    """The k nearest of some points (m, d), and the weights of the graph between a row and them."""

    def __init__(self, points: Array, k: int) -> None:
        self._points, self._k, self._search = points, k, Search(points)
        self.may_have_copies = False  # set by graph()

    def nearest(self, Z: Array | None = None) -> tuple[NDArray[np.intp], Array]:
        """Indices of the k + 1 nearest points, and their ascending squared distances, by direct differences.

        Without Z the rows are the points themselves, none of which is its own neighbour.
        """
        rows, others = (self._points, len(self._points) - 1) if Z is None else (Z, len(self._points))
        k = min(self._k + 1, others)
        if Z is None:
            indices = self._search.nearest(rows, k + 1)[1]
            kept = indices != np.arange(len(rows))[:, None]
            kept[kept.all(axis=1), -1] = False  # a row with so many copies that it is not among them
            indices = indices[kept].reshape(-1, k)
        else:
            indices = self._search.nearest(rows, k)[1]
        D = np.empty(indices.shape)
        for j, column in enumerate(indices.T):
            difference = rows - self._points[column]
            D[:, j] = np.einsum("ij,ij->i", difference, difference)
        order = np.argsort(D, axis=1, kind="stable")
        return np.take_along_axis(indices, order, axis=1), np.take_along_axis(D, order, axis=1)

    def rows(self, indices: NDArray[np.intp], weights: Array) -> Any:
        """The weights (n, k) at the first k indices, as a CSR array (n, m)."""
        n, k = weights.shape
        index = np.int32 if n * k < 2**31 else np.int64  # scikit-learn accepts only int32 if that is enough
        columns, ends = indices[:, :k].astype(index), np.arange(0, n * k + 1, k, dtype=index)
        return sparse.csr_array((weights.ravel(), columns.ravel(), ends), shape=(n, len(self._points)))

    def graph(self) -> Any:
        """The affinity (m, m) of the points: the mean of their weights and the transpose."""
        if len(self._points) == 1:
            return sparse.csr_array((1, 1))
        indices, D = self.nearest()
        self.may_have_copies = not D[:, 0].all()
        S = self.rows(indices, graph_weights(D))
        return sparse.csr_array((S + S.T) * 0.5)  # a sum of sparse arrays holds no zeros
