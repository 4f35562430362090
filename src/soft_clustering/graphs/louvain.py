"""Communities of large modularity by the Louvain method, to start from.

V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre (2008). Fast unfolding of communities in large networks. J.
Stat. Mech. P10008.
J. Reichardt, S. Bornholdt (2006). When are networks truly modular? Physica D 224, 20-26.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._types import Array
from ..kernels.communities import move_nodes
from .network import one_hot, relative_weights, row_sums, soft_modularity

Labels = NDArray[np.int64]
_LEAST = 1e-300  # in place of a sum of 0
_CLEARLY = 1.2  # times the modularity of a random graph


def louvain_labels(
    A: sparse.csr_array, resolution: float, rng: np.random.RandomState, parts: Labels | None = None
) -> Labels:
    """Communities of the nodes, numbered in the order in which they appear.

    Nodes move to the neighbouring community where most modularity is gained, until none gains; then whole communities
    do, and communities of these, until none can be joined. Ours is that all begins anew from there, with single nodes,
    as long as any of them moves. A pass costs O(nnz).

    Parameters
    ----------
    A : CSR matrix of shape (n, n)
        Symmetric, entries are weights.
    resolution : float
        The larger, the more communities.
    rng : RandomState
        Draws the order in which nodes have their turns.
    parts : array of shape (n,), default=None
        Which of several graphs each node is in, if A holds graphs side by side: modularity is then that of each graph.
        None: A is one graph.

    Examples
    --------
    >>> A = sparse.csr_array(np.kron(np.eye(2), 1 - np.eye(4)))
    >>> louvain_labels(A, 1.0, np.random.RandomState(0))
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    n = A.shape[0]
    A = relative_weights(A)
    strengths = row_sums(A)
    parts = np.zeros(n, dtype=np.int64) if parts is None else parts
    pull: Array = resolution / np.maximum(np.bincount(parts, strengths), _LEAST)[parts]
    labels = np.arange(n)
    while True:
        moved = numbered(move_nodes(A, strengths, pull, rng.permutation(n), labels))
        if (moved == labels).all():
            return labels
        labels, links, strength, rate = moved, A, strengths, pull
        while len(strength) > (K := int(moved.max()) + 1):
            links = joined(links, moved, K)
            strength = row_sums(links)
            rate = rate[np.unique(moved, return_index=True)[1]]
            moved = numbered(move_nodes(links, strength, rate, rng.permutation(K), np.arange(K)))
            labels = moved[labels]


def clearly_better_labels(A: sparse.csr_array, labels: NDArray[np.intp]) -> Labels | None:
    """Communities of large modularity for a graph that has some while these labels run over them; otherwise None.

    Labels run over communities if their modularity is less than the largest one of a random graph, and the graph has
    communities if the Louvain method finds clearly more than that. It finds no more in a random graph, so there the
    result is None. The labels of nodes without links are -1. Draws the same random numbers each time.

    Examples
    --------
    >>> A = sparse.csr_array(np.kron(np.eye(2), 1 - np.eye(6)))
    >>> clearly_better_labels(A, np.zeros(12, dtype=int))
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    >>> clearly_better_labels(sparse.csr_array(1 - np.eye(6)), np.zeros(6, dtype=int)) is None
    True
    """
    chance = chance_modularity(A)
    if A.nnz == 0 or partition_modularity(A, labels) >= chance:
        return None
    found = louvain_labels(A, 1.0, np.random.RandomState(0))
    found[np.diff(A.indptr) == 0] = -1
    found[found >= 0] = numbered(found[found >= 0])
    return found if partition_modularity(A, found) > _CLEARLY * chance else None


def chance_modularity(A: sparse.csr_array) -> float:
    """About the largest modularity of a random graph of as many nodes and with links of such weights.

    That of Reichardt and Bornholdt, 0.97 sqrt((1 - p) / (p n)) for links with probability p, is 0.97 s / (m sqrt(n))
    in the mean m and the standard deviation s of the entries, which are weights or 0. Nodes without links do not count.
    A few links that are much heavier than the others make it too large, even more than 1.
    """
    weights = relative_weights(A).data
    n = int(np.count_nonzero(np.diff(A.indptr)))
    pairs = max(n * (n - 1), 1)
    mean = max(weights.sum() / pairs, _LEAST)
    variance = max(float(np.square(weights).sum() / pairs - mean**2), 0.0)
    return float(0.97 * np.sqrt(variance / max(n, 1)) / mean)


def partition_modularity(A: sparse.csr_array, labels: NDArray[Any]) -> float:
    """The modularity of a partition; the labels of nodes without links may be -1.

    Examples
    --------
    >>> partition_modularity(sparse.csr_array(np.kron(np.eye(2), 1 - np.eye(4))), np.repeat([0, 1], 4))
    0.5
    """
    return soft_modularity(relative_weights(A), one_hot(labels))


def joined(A: sparse.csr_array, labels: Labels, K: int) -> sparse.csr_array:
    """The graph of communities: the weights between them, and inside on the diagonal."""
    nodes = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    links = sparse.csr_array((A.data, (labels[nodes], labels[A.indices])), shape=(K, K))
    links.sort_indices()
    return links


def numbered(labels: Labels) -> Labels:
    """Labels as 0, 1, ... in the order in which they appear.

    Examples
    --------
    >>> numbered(np.array([7, 2, 7, 0]))
    array([0, 1, 0, 2])
    """
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[which]
