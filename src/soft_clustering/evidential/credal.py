"""Credal partitions: masses on sets of clusters, and what follows from them.

A mass function m of a sample distributes a unit of belief over subsets A of the K clusters, the focal sets. Mass on a
single cluster is certain, mass on a larger set is shared doubt, mass on the empty set says that the sample is in none
of the clusters.

* plausibility of cluster k: the sum of m(A) over the sets that contain k; belief: m({k});
* pignistic probability: the sum of m(A) / |A| over the sets that contain k, divided by 1 - m(empty).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..base import MembershipKind

_MOST_FULL = 12  # clusters of which all subsets are taken: 4096

FOCAL_SETS = {"full", "pairs", "simple"}


def make_focal_sets(kind: str | Sequence[Iterable[int]], n_clusters: int) -> NDArray[np.bool_]:
    """The focal sets (f, K): the empty set first, then by size, then in the order of the clusters.

    ``kind`` is ``'full'`` (all subsets), ``'pairs'`` (single clusters, pairs, all clusters), ``'simple'`` (single
    clusters, all clusters) or a list of sets of cluster indices; the empty set is always one of them.

    Examples
    --------
    >>> make_focal_sets("simple", 3).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [0, 1, 0],
           [0, 0, 1],
           [1, 1, 1]])
    >>> make_focal_sets([(0,), (2,), (1,), (0, 2)], 3).sum(axis=1)
    array([0, 1, 1, 1, 2])
    """
    K = n_clusters
    if not isinstance(kind, str):
        sets = {_index_set(members, K) for members in kind} - {()}
    elif kind == "full" and K > _MOST_FULL:
        raise ValueError(
            f"focal_sets='full' takes n_clusters <= {_MOST_FULL}, as there are 2^n_clusters sets. Got n_clusters={K} "
            "instead: use focal_sets='pairs' or 'simple'."
        )
    else:
        sizes = {"full": range(1, K + 1), "pairs": (1, 2, K), "simple": (1, K)}[kind]
        sets = {members for size in sizes for members in combinations(range(K), size)}
    uncovered = set(range(K)).difference(*sets)
    if uncovered:
        raise ValueError(f"focal_sets must contain every cluster. Got none with cluster {min(uncovered)}.")
    ordered = [(), *sorted(sets, key=lambda members: (len(members), members))]
    F = np.zeros((len(ordered), K), dtype=bool)
    for row, members in zip(F, ordered, strict=True):
        row[list(members)] = True
    return F


def _index_set(members: Iterable[int], n_clusters: int) -> tuple[int, ...]:
    """A set of cluster indices as a sorted tuple."""
    indices: list[Any] = list(members) if np.iterable(members) else [None]
    if not all(isinstance(k, (int, np.integer)) and 0 <= k < n_clusters for k in indices):
        raise ValueError(
            "focal_sets must be the name of a kind or a list of sets of cluster indices from 0 to "
            f"n_clusters - 1 = {n_clusters - 1}. Got the set {members!r} instead."
        )
    return tuple(sorted({int(k) for k in indices}))


def singletons(focal_sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The focal sets of one cluster; the others empty, in their places."""
    single: NDArray[np.bool_] = focal_sets & (focal_sets.sum(axis=1, keepdims=True) == 1)
    return single


def pignistic(masses: NDArray[Any], focal_sets: NDArray[np.bool_]) -> NDArray[Any]:
    """Pignistic probabilities (n, K) from the masses of the sets that are not empty, in any unit; 1 / K of none.

    There is no 1 - m(empty) in it, which would lose all digits where nearly all mass is on the empty set.

    Examples
    --------
    >>> pignistic(np.array([[2e-300, 0.0, 2e-300], [0.0, 0.0, 0.0]]), make_focal_sets("full", 2)[1:])
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    shares = masses @ (focal_sets / focal_sets.sum(axis=1, keepdims=True))
    total = shares.sum(axis=1, keepdims=True)
    probabilities: NDArray[Any] = np.divide(
        shares, total, out=np.full_like(shares, 1 / shares.shape[1]), where=total > 0
    )
    return probabilities


def nonspecificity(masses: NDArray[Any], focal_sets: NDArray[Any]) -> float:
    """Mean of m(A) log |A| / log K, the empty set counting like all clusters; 0 for one cluster."""
    K = focal_sets.shape[1]
    if K == 1:
        return 0.0
    sizes = focal_sets.sum(axis=1)
    sizes = np.where(sizes == 0, K, sizes)  # no cluster is as little information as all of them
    return float((masses @ np.log(sizes)).mean() / np.log(K))


class CredalMixin:
    """What follows from ``masses_`` (n, f) on ``focal_sets_`` (f, K), computed when it is asked for.

    The estimator sets these two, and ``memberships_`` to the pignistic probabilities. Results are lazy if the masses
    are a Dask array.
    """

    membership_kind: ClassVar[MembershipKind] = "credal"
    masses_: Any
    focal_sets_: NDArray[np.bool_]

    @property
    def belief_(self) -> Any:
        """Mass of each single cluster, (n, K): what is certainly its own."""
        return self._summed(singletons(self.focal_sets_))

    @property
    def plausibility_(self) -> Any:
        """Mass of all sets that contain a cluster, (n, K): what may be its own."""
        return self._summed(self.focal_sets_)

    @property
    def outlier_mass_(self) -> Any:
        """Mass of the empty set, (n,)."""
        return self.masses_[:, 0]

    @property
    def ignorance_(self) -> Any:
        """Mass of the set of all clusters, (n,)."""
        return self._summed(np.all(self.focal_sets_, axis=1))

    @property
    def hard_credal_(self) -> Any:
        """The focal set of largest mass, (n,): a row of ``focal_sets_``, 0 for an outlier."""
        return self.masses_.argmax(axis=1)

    @property
    def lower_approximation_(self) -> Any:
        """Which samples are surely in a cluster, (n, K) bool: its set of largest mass is that cluster alone."""
        return self._of_hard(singletons(self.focal_sets_))

    @property
    def upper_approximation_(self) -> Any:
        """Which samples may be in a cluster, (n, K) bool: its set of largest mass contains that cluster."""
        return self._of_hard(self.focal_sets_)

    @property
    def nonspecificity_(self) -> float:
        """How imprecise the masses are, in [0, 1]; of several numbers of clusters the one of least is best."""
        return nonspecificity(self.masses_, self.focal_sets_)

    def _summed(self, sets: NDArray[np.bool_]) -> Any:
        return self.masses_ @ sets.astype(self.masses_.dtype)

    def _of_hard(self, sets: NDArray[np.bool_]) -> Any:
        """The row of ``sets`` that belongs to the set of largest mass of each sample."""
        hard = self.hard_credal_
        if isinstance(hard, np.ndarray):
            return sets[hard]
        return hard.map_blocks(lambda rows: sets[rows], new_axis=1, chunks=(*hard.chunks, sets.shape[1]), dtype=bool)

    def _default_cover(self) -> NDArray[np.bool_]:
        # A largest mass is positive, and so are the memberships of the clusters of its set.
        cover: NDArray[np.bool_] = self.upper_approximation_
        return cover
