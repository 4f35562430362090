"""Passes in which labels travel along links, and ego networks: compiled, or the NumPy twins here.

A graph is a symmetric CSR matrix with sorted indices; its entries are weights.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import kernels
from .._types import Array
from .graphs import _links, scramble

_LEAST_GAIN = 1e-10  # a move must gain this part of the strength of a node: rounding alone moves nothing
_DRAW = 24  # the cost of a number drawn and read from a memory, in multiplications
Labels = NDArray[np.int64]


def listen(
    A: sparse.csr_array,
    memory: NDArray[np.int32],
    round_: int,
    key: int,
    order: Labels | None = None,
    threads: int | None = None,
) -> None:
    """Let every node listen once, and write the label it hears to the column ``round_`` of the memory (n, room).

    Each neighbour says a label drawn from its memory, which counts as much as the link weighs; the label of largest sum
    is heard, one of them if there are several. What is drawn is a hash of the key and of the place of the link.

    Parameters
    ----------
    A : CSR matrix of shape (n, n)
    memory : array of shape (n, room)
        The columns before ``round_`` are filled.
    round_ : int
    key : int
        Of 64 bits.
    order : array of shape (n,), default=None
        The nodes listen in this order, and hear also what those before them have heard in this round. None: they all
        listen at once.
    threads : int, default=None
        At most so many; the result does not depend on it.
    """
    if kernels.use_compiled():
        chunks = 1 if order is not None else max(1, min(256, len(memory) // 64))
        number = kernels.threads_for(A.nnz * _DRAW, chunks, threads)
        kernels.compiled.listen(*_links(A), A.data, memory, round_, order, key, chunks, number)
        return
    if order is None:
        everyone = np.arange(len(memory))
        memory[:, round_] = _heard(A, memory, everyone, np.full(len(memory), round_), key)
        return
    length = np.full(len(memory), round_)
    for u in order:
        memory[u, round_] = _heard(A, memory, np.array([u]), length, key)[0]
        length[u] += 1


def _heard(A: sparse.csr_array, memory: NDArray[np.int32], nodes: Labels, length: Labels, key: int) -> Labels:
    """The labels that some nodes hear from the first ``length`` (n,) labels of each memory."""
    degree = np.diff(A.indptr)[nodes]
    rows = np.repeat(np.arange(len(nodes)), degree)
    places = np.repeat(A.indptr[nodes] - np.append(0, np.cumsum(degree)[:-1]), degree) + np.arange(len(rows))
    speakers = A.indices[places]
    drawn = (_draw(places, key).astype(np.uint64) * length[speakers].astype(np.uint64)) >> np.uint64(32)
    labels = memory[speakers, drawn.astype(np.int64)].astype(np.int64)
    pairs, which = np.unique(rows * len(memory) + labels, return_inverse=True)
    sums = np.bincount(which, A.data[places], len(pairs))
    listener, label = np.divmod(pairs, len(memory))
    chance = scramble(label.astype(np.uint32) ^ _draw(~nodes, key)[listener])
    order = np.lexsort((chance, sums, listener))
    answer = np.array(nodes, dtype=np.int64)  # a node without links hears itself
    answer[listener[order]] = label[order]  # the last one of each node stays
    return answer


def _draw(places: Labels, key: int) -> NDArray[np.uint32]:
    low, high = np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)
    return scramble(scramble(places.astype(np.uint32) ^ low) + high)


def move_nodes(A: sparse.csr_array, strengths: Array, pull: Array, order: Labels, labels: Labels) -> Labels:
    """Communities after moves of single nodes, each to the community next to it that gains most modularity.

    A node u gains w(u, c) - pull_u strength_u strength(c) in a community c, where w(u, c) is the weight of its links
    to c. The nodes have their turns in the given order, then whenever a neighbour has moved to another community.

    Parameters
    ----------
    A : CSR matrix of shape (n, n)
        Its diagonal does not matter.
    strengths : array of shape (n,)
        Sums of the weights of the links of each node.
    pull : array of shape (n,)
        The resolution over the sum of all strengths.
    order : array of shape (n,)
    labels : array of shape (n,)
        Communities to begin with, numbers below n.
    """
    n = A.shape[0]
    labels = labels.astype(np.int64)
    if kernels.use_compiled():
        kernels.compiled.move_nodes(*_links(A), A.data, strengths, pull, order, labels)
        return labels
    total = np.bincount(labels, strengths, n)
    queue, queued = deque(order.tolist()), np.ones(n, dtype=bool)
    while queue:
        u = queue.popleft()
        queued[u] = False
        own, part = labels[u], slice(A.indptr[u], A.indptr[u + 1])
        neighbours, weights = A.indices[part], A.data[part] * (A.indices[part] != u)
        total[own] -= strengths[u]
        found, first, which = np.unique(np.append(own, labels[neighbours]), return_index=True, return_inverse=True)
        gain = np.bincount(which, np.append(0.0, weights)) - pull[u] * strengths[u] * total[found]
        gain[found == own] += _LEAST_GAIN * strengths[u]
        best = max(zip(gain, -first, found, strict=True))[2]
        total[best] += strengths[u]
        if best != own:
            labels[u] = best
            for v in neighbours[(labels[neighbours] != best) & ~queued[neighbours]]:
                queue.append(v)
                queued[v] = True
    return labels


def ego_links(A: sparse.csr_array, lo: int, hi: int, size: int) -> sparse.csr_array:
    """The ego networks of nodes lo to hi, without the egos, side by side in one graph.

    It has a node for each link (u, v) of such a node u, in the order of the links of A, and links (u, v) with (u, w) by
    the weight of (v, w).

    Parameters
    ----------
    A : CSR matrix of shape (n, n)
    lo, hi : int
    size : int
        The number of its links, both directions counted, as ``closed_wedges`` says it.
    """
    if kernels.use_compiled():
        count = int(A.indptr[hi] - A.indptr[lo])
        ptr, to, weights = np.empty(count + 1, np.int64), np.empty(size + 1, np.int64), np.empty(size + 1)
        kernels.compiled.ego_links(*_links(A), A.data, lo, hi, ptr, to, weights)
        return sparse.csr_array((weights[:size], to[:size], ptr), shape=(count, count))
    rows = (A.indices[A.indptr[u] : A.indptr[u + 1]] for u in range(lo, hi))
    blocks = [A[near][:, near] for near in rows if len(near)] or [sparse.csr_array((0, 0))]
    return sparse.csr_array(sparse.block_diag(blocks, format="csr"))


def majority_labels(A: sparse.csr_array, sweeps: int) -> Labels:
    """Labels of nodes that each take, in their order, the label that most weight of their links leads to.

    A node keeps its own label if that is one of the best; otherwise it takes the first of these among its links. Every
    node begins with a label of its own; it ends when nothing changes, or after so many sweeps.
    """
    labels = np.arange(A.shape[0])
    if kernels.use_compiled():
        kernels.compiled.majority_labels(*_links(A), A.data, sweeps, labels)
        return labels
    for _ in range(sweeps):
        before = labels.copy()
        for u in range(A.shape[0]):
            part = slice(A.indptr[u], A.indptr[u + 1])
            heard = np.append(labels[u], labels[A.indices[part]])
            found, first, which = np.unique(heard, return_index=True, return_inverse=True)
            sums = np.bincount(which, np.append(0.0, A.data[part]))
            labels[u] = max(zip(sums, -first, found, strict=True))[2]
        if (labels == before).all():
            break
    return labels
