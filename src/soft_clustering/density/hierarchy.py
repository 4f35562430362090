"""The condensed hierarchy of densities, from a spanning tree to the selected clusters.

A level is a distance: two rows are connected at a level if edges of the spanning tree that are no longer join them. All
edges of one level are one split of as many parts as there are, so that the tree is the same for every minimum spanning
tree, whatever the order of the rows. Edges of data on a grid that are equal but for rounding have to be equal for that:
levels are :func:`snapped`.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from .._types import Array

_BITS = 36  # of the mantissa of a level
_LEAST = 1e-200  # levels below this are 0 to stabilities
_ENOUGH = 1 - 1e-12  # part of a count: sums of weights are rounded
_BETTER = 1 + 1e-12  # a sum of stabilities that is no better by this much is a tie

Labels = NDArray[np.intp]


def snapped(levels: Array) -> Array:
    """Levels rounded to 36 bits.

    Examples
    --------
    >>> levels = snapped(np.array([0.42426406871192810, 0.42426406871192860, 0.4242640688]))
    >>> len(np.unique(levels))
    2
    """
    mantissa, exponent = np.frexp(levels)
    rounded: Array = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return rounded


class Hierarchy(NamedTuple):
    """Clusters, the root first and each before its parts, and where the rows fall out of them."""

    parent: Labels  # (C,) the cluster of which each splits off, -1 for the root
    birth: Array  # (C,) the level at which it does, inf for the root
    size: Array  # (C,) the weight of its rows
    cluster: Labels  # (n,) the last cluster of each row
    exit: Array  # (n,) the level at which the row falls out of it

    def stabilities(self, weight: Array) -> Array:
        """Return sum_j w_j (1 / exit_j - 1 / birth) over the rows of each cluster; a part counts with its own birth.

        The least positive level stands for 0.
        """
        levels = np.append(self.exit, self.birth)
        least = levels[levels > _LEAST].min()
        density, first = 1 / np.maximum(self.exit, least), 1 / np.maximum(self.birth, least)
        order = np.lexsort((weight, self.exit))  # so that the sums are the same for any order of the rows
        cluster = self.cluster[order]
        own = weight[order] * (density[order] - first[cluster])
        answer: Array = np.bincount(cluster, weights=own, minlength=len(self.parent)).astype(np.float64)
        up = self.parent[1:]
        np.add.at(answer, up, self.size[1:] * (first[1:] - first[up]))
        return answer

    def select(self, stabilities: Array, method: str, epsilon: float, root: bool) -> Labels:
        """Select clusters none of which contains another, the largest first.

        Parameters
        ----------
        stabilities : ndarray of shape (C,)
        method : {'eom', 'leaf'}
            The sets of largest total stability, or the clusters without parts.
        epsilon : float
            A selected cluster that is born below this level is replaced by the first one above it that is not.
        root : bool
            Whether the root may be selected.
        """
        C = len(self.parent)
        parts = np.bincount(self.parent[1:], minlength=C)
        chosen = parts == 0
        if method == "eom":
            best, inside = stabilities.copy(), np.zeros(C)
            for c in range(C - 1, -1, -1):
                chosen[c] = parts[c] == 0 or inside[c] <= best[c] * _BETTER
                best[c] = best[c] if chosen[c] else inside[c]
                if c:
                    inside[self.parent[c]] += best[c]
        chosen[0] &= root
        chosen = self._topmost(chosen)
        for c in np.flatnonzero(chosen & (self.birth < epsilon)).tolist():
            chosen[c], above = False, c
            while self.birth[above] < epsilon and (root or self.parent[above] > 0):
                above = int(self.parent[above])
            chosen[above] = True
        selected = np.flatnonzero(self._topmost(chosen))
        return selected[np.argsort(-self.size[selected], kind="stable")]

    def _topmost(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Those of the chosen clusters that are in no other of them."""
        covered = np.zeros(len(chosen), dtype=bool)
        for c in range(1, len(chosen)):
            above = self.parent[c]
            covered[c] = covered[above] or chosen[above]
        return chosen & ~covered

    def labels(self, selected: Labels) -> Labels:
        """Which of the selected clusters each row is in (n,), -1: none."""
        column = np.full(len(self.parent), -1)
        column[selected] = np.arange(len(selected))
        for c in range(1, len(column)):
            if column[c] < 0:
                column[c] = column[self.parent[c]]
        return column[self.cluster]


def condense(ends: Labels, levels: Array, core: Array, weight: Array, min_cluster_size: int) -> Hierarchy:
    """Build the hierarchy from the edges (n - 1, 2) of a spanning tree, their levels, and the core levels of the rows.

    From below: the parts that edges of one level join are clusters or not yet heavy enough to be one. Two or more
    clusters make a new one, of which they are the parts. A single cluster goes on. Without any, parts that are heavy
    enough together begin a cluster. The rows of the other parts fall out of it at this level.
    """
    order = np.argsort(levels, kind="stable")
    build = kernels.compiled.condense if kernels.use_compiled() else _condense
    parent, birth, last, exits = build(ends[order], levels[order], core, weight, min_cluster_size * _ENOUGH)
    return _ordered(parent, birth, last, exits, weight)


def _condense(
    ends: Labels, levels: Array, core: Array, weight: Array, least: float
) -> tuple[Labels, Array, Labels, Array]:
    """Parents and births of the clusters, and the last cluster and the exit of each row; numbered from below."""
    n = len(weight)
    root, mass = list(range(n)), weight.tolist()
    cluster = [-1] * n  # that a part is, by its root
    waiting = [[i] for i in range(n)]  # rows of a part that is no cluster, by its root
    last, exits = np.full(n, -1), np.empty(n)
    parent: list[int] = []
    birth: list[float] = []

    def begin(rows: list[int], parts: list[int], level: float) -> int:
        parent.append(-1)
        birth.append(np.inf)
        for part in parts:
            parent[part], birth[part] = len(parent) - 1, level
        last[rows], exits[rows] = len(parent) - 1, level
        return len(parent) - 1

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    def below(i: int, level: float) -> tuple[list[int], list[int]]:
        """The cluster that a part is below a level, or its rows."""
        if cluster[i] < 0 and mass[i] >= least and core[i] < level:  # a row that counts as many is dense by itself
            cluster[i], waiting[i] = begin([i], [], core[i]), []
        return [cluster[i]] if cluster[i] >= 0 else [], waiting[i]

    edges = zip(levels.tolist(), *ends.T.tolist(), strict=True)
    for level, group in groupby(edges, key=itemgetter(0)):
        joined: dict[int, tuple[list[int], list[int]]] = {}
        for _, i, j in group:
            one, other = find(i), find(j)
            parts, rows = joined.pop(one) if one in joined else below(one, level)
            more_parts, more_rows = joined.pop(other) if other in joined else below(other, level)
            root[one] = other
            mass[other] += mass[one]
            joined[other] = _joined(parts, more_parts), _joined(rows, more_rows)
        for at, (parts, rows) in joined.items():
            if len(parts) == 1:
                cluster[at], waiting[at] = parts[0], []
                last[rows], exits[rows] = parts[0], level
            elif parts or mass[at] >= least:
                cluster[at], waiting[at] = begin(rows, parts, level), []
            else:
                waiting[at] = rows
    top = find(0)
    if cluster[top] < 0:
        begin(waiting[top], [], float(levels[-1] if n > 1 else core[0]))
    return np.array(parent), np.array(birth), last, exits


def _joined(some: list[int], others: list[int]) -> list[int]:
    """Both lists; the longer one is extended."""
    longer, shorter = (some, others) if len(some) >= len(others) else (others, some)
    longer += shorter
    return longer


def _ordered(parent: Labels, birth: Array, last: Labels, exits: Array, weight: Array) -> Hierarchy:
    """The hierarchy of clusters that are numbered from below: from above, ties by the first row."""
    C = len(parent)
    first = np.full(C, len(last))
    np.minimum.at(first, last, np.arange(len(last)))
    for c in range(C - 1):
        first[parent[c]] = min(first[parent[c]], first[c])
    order = np.lexsort((first, -birth, parent >= 0))
    number = np.empty(C + 1, dtype=np.intp)
    number[order], number[-1] = np.arange(C), -1
    parent, cluster = number[parent[order]], number[last]
    by_weight = np.lexsort((weight, exits))
    size: Array = np.bincount(cluster[by_weight], weight[by_weight], C).astype(np.float64)
    for c in range(C - 1, 0, -1):
        size[parent[c]] += size[c]
    return Hierarchy(parent, birth[order], size, cluster, exits)
