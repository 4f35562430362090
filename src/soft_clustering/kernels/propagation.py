"""Label propagation on the links of a graph: compiled if the extension was built, otherwise the twins here.

A graph is a symmetric CSR matrix without a diagonal, with sorted columns and positive weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import kernels
from .._rows import entries_at
from .._types import Array
from .graphs import _links

EQUAL = 1 - 1e-9  # sums that differ by less than this are equal but for rounding
_CHUNK = 256  # nodes that a thread takes at a time
_WEDGES = 1 << 20  # pairs of links at a node that the NumPy twin looks at together


def walks(A: sparse.csr_array, passable: NDArray[np.bool_]) -> tuple[Array, Array]:
    """For each link (u, v) the weights of the walks from u to v over one node and over two nodes, (links,) each.

    Of the walks over two nodes those that come back to u are left out. ``passable`` says over which nodes walks are
    made; it does not restrict where they begin and end.
    """
    two, three = np.zeros(A.nnz), np.zeros(A.nnz)
    if A.nnz == 0:
        return two, three
    squares = sparse.csr_array((np.square(A.data), A.indices, A.indptr), shape=A.shape)
    back = np.where(passable, squares @ passable.astype(np.float64), 0)
    nodes = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    if kernels.use_compiled():
        work = int(np.square(np.diff(A.indptr), dtype=np.float64).sum())
        threads = kernels.threads_for(work, max(1, A.shape[0] // _CHUNK))
        kernels.compiled.walks(*_links(A), A.data, passable.astype(np.float64), two, three, threads)
        # Where the other direction was not walked, the result is that of the reverse link.
        number = sparse.csr_array((np.arange(A.nnz), A.indices, A.indptr), shape=A.shape)
        three = np.maximum(three, three[sparse.csc_array(number).data])
    else:
        two, three = walks_from(A, A, passable)
    return two, np.maximum(three - back[nodes] * A.data, 0)


def walks_from(X: sparse.csr_array, A: sparse.csr_array, passable: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Weights of all walks along the links X (m, n) of other nodes, that go on in the graph A; see :func:`walks`."""
    two, three = np.empty(X.nnz), np.empty(X.nnz)
    over = sparse.diags_array(passable.astype(np.float64)) @ A
    ones = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    wedges = np.append(0, np.cumsum(ones @ np.diff(A.indptr)))
    lo = 0
    while lo < X.shape[0]:
        hi = max(lo + 1, int(np.searchsorted(wedges, wedges[lo] + _WEDGES, side="right")) - 1)
        part = slice(X.indptr[lo], X.indptr[hi])
        once = X[lo:hi] @ over
        two[part], three[part] = entries_at(once, X[lo:hi]), entries_at(once @ over, X[lo:hi])
        lo = hi
    return two, three


@dataclass
class Labels:
    """The labels of each node and their shares, from the place of its first link on; the one of largest share first."""

    count: NDArray[np.int64]  # (n,) labels of each node
    label: NDArray[np.int64]  # (links,)
    share: Array  # (links,)

    @classmethod
    def of_nodes(cls, A: sparse.csr_array) -> Labels:
        """A label of its own for each node that has links: its number."""
        linked = np.diff(A.indptr) > 0
        label, share = np.zeros(A.nnz, dtype=np.int64), np.zeros(A.nnz)
        label[A.indptr[:-1][linked]] = np.flatnonzero(linked)
        share[A.indptr[:-1][linked]] = 1
        return cls(linked.astype(np.int64), label, share)

    def rows(self, A: sparse.csr_array) -> sparse.csr_array:
        """The shares of the labels as a matrix (n, n)."""
        held = np.arange(A.nnz) - np.repeat(A.indptr[:-1], np.diff(A.indptr)) < np.repeat(self.count, np.diff(A.indptr))
        ends = np.append(0, np.cumsum(self.count))
        rows = sparse.csr_array((self.share[held], self.label[held], ends), shape=A.shape)
        rows.sort_indices()
        return rows


def propagate(A: sparse.csr_array, influence: Array, order: NDArray[np.int64], labels: Labels) -> int:
    """A sweep over the nodes in this order, in place; gives the number of nodes whose first label changed.

    A node hears the first label of each linked node, with its share times the influence of the link. It keeps the
    labels that it hears at least as much as the mean one, with shares in proportion. Of equal labels the present first
    one comes first, or else the one heard first.
    """
    if A.nnz and kernels.use_compiled():
        changed: int = kernels.compiled.propagate(
            *_links(A), influence, order, labels.count, labels.label, labels.share
        )
        return changed
    changed = 0
    for u in order:
        first, end = A.indptr[u], A.indptr[u + 1]
        heard: dict[int, float] = {}
        for p in range(first, end):
            at = A.indptr[A.indices[p]]
            c = int(labels.label[at])
            heard[c] = heard.get(c, 0.0) + influence[p] * labels.share[at]
        if not heard:
            continue
        least, present = sum(heard.values()) / len(heard) * EQUAL, int(labels.label[first])
        most = present if present in heard else next(iter(heard))
        for c, x in heard.items():
            most = c if x * EQUAL > heard[most] else most
        changed += most != present
        kept = [most, *(c for c, x in heard.items() if c != most and x >= least)]
        shares = np.array([heard[c] for c in kept])
        places = slice(first, first + len(kept))
        labels.count[u], labels.label[places], labels.share[places] = len(kept), kept, shares / shares.sum()
    return changed
