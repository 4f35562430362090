"""What a hierarchy of densities asks of pairs of rows: neighbours, the spanning tree, and contact with clusters.

:class:`Boxes` answers for squared Euclidean distances by trees of boxes, in C; :class:`AllPairs`, in NumPy, for any
dissimilarities. Both are exact, so without compiled kernels the second one serves for the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from .._types import Array

_AT_ONCE = 1 << 21  # dissimilarities that are in memory together
_SEARCH = 10  # the work of a search, in distances
_ROWS = 2500  # of a thread: below twice as many a second one costs more than it saves

Places = NDArray[np.intp]


class Clusters(NamedTuple):
    """Disjoint sets of points, with the level up to which each point is still in its cluster."""

    points: Places  # cluster by cluster
    starts: Places  # (K + 1,) where they begin
    floor: Array  # of these points


class Pairs(Protocol):
    """Dissimilarities to some points."""

    points: Array

    def nearest(self, rows: Array, k: int) -> tuple[Array, Places]:
        """The dissimilarities (rows, k) to the nearest points, ascending, and which they are."""

    def spanning_tree(self, core: Array, near: Array, which: Places) -> tuple[Places, Array]:
        """A minimum spanning tree of the points by max(d_ij, core_i, core_j): edges (n - 1, 2) and their lengths.

        ``near`` and ``which`` are what ``nearest`` says of the points.
        """

    def contacts(self, rows: Array, core: Array, member: Places, clusters: Clusters) -> Array:
        """Return max(core_i, min_j max(d_ij, floor_j)) for rows i and the points j of each cluster, (rows, K).

        The entry of a row in the cluster of which it is a member (-1: none) may be anything.
        """


class Boxes:
    """Squared Euclidean distances of rows of features."""

    def __init__(self, points: Array) -> None:
        self.points = points
        self._tree = kernels.compiled.Tree(points)

    def nearest(self, rows: Array, k: int) -> tuple[Array, Places]:
        """See :class:`Pairs`."""
        near, which = self._place(rows).nearest(self._tree, k, _threads(rows, k))
        return near, which

    def spanning_tree(self, core: Array, near: Array, which: Places) -> tuple[Places, Array]:
        """See :class:`Pairs`."""
        ends, lengths = self._tree.spanning_tree(core, near, which, _threads(self.points, near.shape[1]))
        return ends, lengths

    def contacts(self, rows: Array, core: Array, member: Places, clusters: Clusters) -> Array:
        """See :class:`Pairs`."""
        points, starts, floor = clusters
        threads = _threads(rows, len(starts) - 1)
        levels: Array = self._place(rows).contacts(self.points[points], starts, floor, core, member, threads)
        return levels

    def _place(self, rows: Array) -> kernels.compiled.Tree:
        return self._tree if rows is self.points else kernels.compiled.Tree(rows)


def _threads(rows: Array, times: int) -> int:
    n, d = rows.shape
    return kernels.threads_for(n * (d + 4) * times * _SEARCH // 4, n // _ROWS)


class AllPairs:
    """Dissimilarities that a function gives for some rows and all points."""

    def __init__(self, points: Array, measure: Callable[[Array], Array]) -> None:
        self.points, self._measure = points, measure

    def _parts(self, rows: Array) -> Iterator[tuple[slice, Array]]:
        step = max(1, _AT_ONCE // len(self.points))
        for low in range(0, len(rows), step):
            part = slice(low, low + step)
            yield part, self._measure(rows[part])

    def nearest(self, rows: Array, k: int) -> tuple[Array, Places]:
        """See :class:`Pairs`."""
        near, which = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.intp)
        for part, D in self._parts(rows):
            found = np.argpartition(D, k - 1, axis=1)[:, :k]
            order = np.argsort(np.take_along_axis(D, found, axis=1), axis=1)
            which[part] = np.take_along_axis(found, order, axis=1)
            near[part] = np.take_along_axis(D, which[part], axis=1)
        return near, which

    def spanning_tree(self, core: Array, near: Array, which: Places) -> tuple[Places, Array]:
        """See :class:`Pairs`; Prim's algorithm."""
        n = len(core)
        ends, lengths = np.empty((n - 1, 2), dtype=np.intp), np.empty(n - 1)
        left, edge, start, at = np.arange(1, n), np.full(n - 1, np.inf), np.zeros(n - 1, dtype=np.intp), 0
        for step in range(n - 1):
            length = np.maximum(self._measure(self.points[at : at + 1])[0, left], np.maximum(core[at], core[left]))
            start[length < edge] = at
            np.minimum(edge, length, out=edge)
            best = int(edge.argmin())
            at = int(left[best])
            ends[step], lengths[step] = (start[best], at), edge[best]
            for array in (left, edge, start):
                array[best] = array[-1]
            left, edge, start = left[:-1], edge[:-1], start[:-1]
        return ends, lengths

    def contacts(self, rows: Array, core: Array, member: Places, clusters: Clusters) -> Array:
        """See :class:`Pairs`."""
        points, starts, floor = clusters
        levels = np.empty((len(rows), len(starts) - 1))
        for part, D in self._parts(rows):
            least = np.minimum.reduceat(np.maximum(D[:, points], floor), starts[:-1], axis=1)
            levels[part] = np.maximum(least, core[part, None])
        return levels
