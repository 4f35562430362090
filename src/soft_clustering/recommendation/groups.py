"""Which models say the same, and where two of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from .._types import Array
from ..plotting.palette import membership_shares

#: Models whose mean agreement is at least this say the same.
SAME = 0.9


def agreements(labels: Sequence[NDArray[Any]]) -> Array:
    """Return the adjusted Rand index of each two partitions of the same samples."""
    values = np.eye(len(labels))
    for a in range(len(labels)):
        for b in range(a):
            values[a, b] = values[b, a] = adjusted_rand_score(labels[a], labels[b])
    return values


def groups_of(agreement: Array) -> list[list[int]]:
    """Return groups of models that say the same: average linkage, as long as the mean agreement is at least 0.9.

    Examples
    --------
    >>> import numpy as np
    >>> groups_of(np.array([[1.0, 0.2, 0.95], [0.2, 1.0, 0.3], [0.95, 0.3, 1.0]]))
    [[0, 2], [1]]
    """
    if len(agreement) < 2:
        return [list(range(len(agreement)))] if len(agreement) else []
    distances = np.clip(1 - agreement, 0, None)
    numbers = fcluster(linkage(squareform(distances, checks=False), "average"), 1 - SAME, "distance")
    groups = [np.flatnonzero(numbers == number).tolist() for number in np.unique(numbers)]
    return sorted(groups)


def differing(U: Array, V: Array) -> NDArray[np.intp]:
    """Return the samples that two models put into different clusters, those of which both are surest first.

    The clusters are matched one to one, so that the common memberships are largest; a cluster without a match is
    different from all.

    Examples
    --------
    >>> import numpy as np
    >>> U = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    >>> V = np.array([[0.2, 0.8], [0.1, 0.9], [0.9, 0.1], [0.1, 0.9]])
    >>> differing(U, V)
    array([3])
    """
    U, V = membership_shares(U), membership_shares(V)
    left, right = linear_sum_assignment(U.T @ V, maximize=True)
    names = np.full(V.shape[1], -2)
    names[right] = left
    first = np.where(U.any(axis=1), U.argmax(axis=1), -1)
    second = np.where(V.any(axis=1), names[V.argmax(axis=1)], -1)
    rows = np.flatnonzero(first != second)
    sure = U[rows].max(axis=1) * V[rows].max(axis=1)
    return rows[np.argsort(-sure, kind="stable")]
