"""Communities from the shares that nodes have of many labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._rows import dense_unless_large, entries, row_maxima, with_even_rows, with_sum_1
from .._types import MatrixLike
from ..base import as_fitted
from .network import GraphClusterer, relative_weights

_LEAST_OF_NEW = 0.25  # a smaller share of a new node is dropped


class CommunityFinder(GraphClusterer):
    """A soft clusterer of nodes that finds the number of communities, and whose memberships are shares of labels."""

    min_size: int
    threshold_: float

    @property
    def n_clusters(self) -> int:
        """The number of communities found, ``n_clusters_``; an AttributeError before ``fit``."""
        check_is_fitted(self, "n_clusters_")
        return self.n_clusters_

    def _set_communities(self, A: sparse.csr_array, rows: sparse.csr_array) -> NDArray[np.intp]:
        """Set the memberships from shares (n, labels); gives the column of each label, -1 if it was dropped."""
        rows, labels = communities(A, rows, self.min_size, self.threshold_)
        self._set_memberships(dense_unless_large(with_even_rows(rows).astype(A.dtype)))
        return labels

    @as_fitted
    def predict_memberships(self, X: MatrixLike) -> NDArray[Any]:
        """Memberships of new nodes, each for itself: the mean of those of the nodes that it is linked to.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_nodes)
            Links of the new nodes to the nodes of ``fit``.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
            Without small shares, and divided by the sum of the others; equal ones for a node without links. A CSR array
            if it has more than 1e8 entries.
        """
        links = self._links(X)
        means = with_sum_1(links.astype(np.float64)) @ sparse.csr_array(self.memberships_)
        rows = with_sum_1(cut(with_sum_1(means), _LEAST_OF_NEW))
        memberships: NDArray[Any] = dense_unless_large(with_even_rows(rows).astype(links.dtype))
        return memberships


def cut(rows: sparse.csr_array, least: float) -> sparse.csr_array:
    """The entries that are at least this, or the largest of their row; equal ones however they were rounded."""
    bound = np.minimum(least, row_maxima(rows)[:, 0]) * (1 - 1e-6)
    return entries(rows, rows.data >= np.repeat(bound, np.diff(rows.indptr)))


def without_nested(rows: sparse.csr_array) -> sparse.csr_array:
    """The entries of columns whose rows are not all in another column, too; of equal columns the first one stays.

    Examples
    --------
    >>> without_nested(sparse.csr_array([[1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 1, 0]])).toarray()
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 0],
           [0, 1, 0]])
    """
    members = sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    sizes = np.bincount(rows.indices, minlength=rows.shape[1])
    common = sparse.coo_array(members.T @ members)
    a, b = common.coords
    inside = (common.data == sizes[a]) & ((sizes[b] > sizes[a]) | (b < a))
    kept = np.ones(rows.shape[1], dtype=bool)
    kept[a[inside]] = False
    return entries(rows, kept[rows.indices])


def communities(
    A: sparse.csr_array, rows: sparse.csr_array, min_size: int, least: float = 0.0
) -> tuple[sparse.csr_array, NDArray[np.intp]]:
    """The shares of the labels that enough nodes have, that of the largest sum first, and the column of each label.

    A node that has none of these gets the mean of its neighbours, next to the others first, without shares below
    ``least``. In a part of the graph where no label is held by enough nodes, all are kept. The column of a label that
    is not kept is -1. Nodes without links have empty rows; there is at least one column.
    """
    A, linked = relative_weights(A), np.diff(A.indptr) > 0
    rows = with_sum_1(entries(rows, np.repeat(linked, np.diff(rows.indptr))))
    enough = np.bincount(rows.indices, minlength=rows.shape[1]) >= min_size
    kept = with_sum_1(entries(rows, enough[rows.indices]))
    placed = np.diff(kept.indptr) > 0
    layer, nodes, parts = np.flatnonzero(placed), [], []
    part = kept[layer]
    while True:
        nodes.append(layer)
        parts.append(part)
        placed[layer] = True
        following = np.unique(A[layer].indices)
        following = following[~placed[following]]
        if not len(following):
            break
        part = with_sum_1(cut(with_sum_1(A[following][:, layer] @ part), least))
        layer = following
    nodes.append(np.flatnonzero(~placed))
    parts.append(rows[nodes[-1]])
    kept = sparse.csr_array(sparse.vstack(parts, format="csr"))[np.argsort(np.concatenate(nodes))]
    sums = np.bincount(kept.indices, kept.data, minlength=rows.shape[1])
    order = np.argsort(-sums, kind="stable")[: max(np.count_nonzero(sums), 1)]
    labels = np.full(rows.shape[1], -1)
    labels[order] = np.arange(len(order))
    kept = kept[:, order]
    kept.sort_indices()
    return kept, labels
