"""Communities from the shares that nodes have of many labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._rows import at_least, dense_unless_large, row_maxima
from .._types import MatrixLike
from ..base import as_fitted
from ..engine.fitting import Fit
from .network import GraphClusterer, row_sums

_LEAST_OF_NEW = 0.25  # a smaller share of a new node is dropped


class CommunityFinder(GraphClusterer):
    """A soft clusterer of nodes that finds the number of communities, and whose memberships are shares of labels."""

    min_size: int
    threshold_: float
    _placed: NDArray[np.bool_]  # (n,), whether a node has a way to one with a community

    @property
    def n_clusters(self) -> int:
        """The number of communities found, ``n_clusters_``; an AttributeError before ``fit``."""
        check_is_fitted(self, "n_clusters_")
        return self.n_clusters_

    def _set_communities(
        self, shares: sparse.csr_array, A: sparse.csr_array, fit: Fit[Any], *, nested: bool
    ) -> NDArray[np.intp]:
        """Set the memberships from shares (n, labels) that sum to 1; give the column of each label, -1 for none."""
        rows = cut(shares, self.threshold_)
        columns = communities(rows, self.min_size, nested=nested)
        rows = rows[:, columns]
        if not len(columns):
            rows = sparse.csr_array(np.ones((A.shape[0], 1)))
            if A.nnz:
                fit.warn(
                    f"{type(self).__name__} found no community of at least min_size={self.min_size} nodes, so that all "
                    "nodes are in one. Use a smaller min_size."
                )
        rows, self._placed = spread(divided(rows), A, self.threshold_)
        self._set_memberships(dense_unless_large(rows.astype(A.dtype)))
        column_of = np.full(shares.shape[1], -1)
        column_of[columns] = np.arange(len(columns))
        return column_of

    def _default_cover(self) -> Any:
        """As for other graphs, but a node of which nothing is known is in no community."""
        least = np.minimum(self.threshold_, row_maxima(self.memberships_)) * (1 - 1e-6)
        return at_least(self.memberships_, np.where(self._placed[:, None], least, np.inf))

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
            Without small shares, and divided by the sum of the others; equal ones for a node without links.
        """
        links = self._links(X)
        means = links.astype(np.float64) @ sparse.csr_array(self.memberships_)
        rows = or_equal(divided(cut(divided(means), _LEAST_OF_NEW)))
        answer: NDArray[Any] = dense_unless_large(rows.astype(links.dtype))
        return answer


def cut(rows: sparse.csr_array, least: float) -> sparse.csr_array:
    """The entries that are at least this, or the largest of their row; equal ones however they were rounded."""
    bound = np.minimum(least, row_maxima(rows)[:, 0]) * (1 - 1e-6)
    kept = rows.data >= np.repeat(bound, np.diff(rows.indptr))
    ends = np.append(0, np.cumsum(kept))[rows.indptr]
    return sparse.csr_array((rows.data[kept], rows.indices[kept], ends), shape=rows.shape)


def divided(rows: sparse.csr_array) -> sparse.csr_array:
    """Rows divided by their sums."""
    return sparse.csr_array(
        (rows.data / np.repeat(row_sums(rows), np.diff(rows.indptr)), rows.indices, rows.indptr), rows.shape
    )


def communities(rows: sparse.csr_array, min_size: int, *, nested: bool) -> NDArray[np.intp]:
    """The columns with at least ``min_size`` entries, the fullest first; without those inside another one, if asked.

    Examples
    --------
    >>> rows = sparse.csr_array([[1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 1, 0]])
    >>> communities(rows, 2, nested=True), communities(rows, 3, nested=True)
    (array([1, 0, 2]), array([1]))
    >>> communities(rows, 2, nested=False)
    array([1, 0])
    """
    sizes = np.bincount(rows.indices, minlength=rows.shape[1])
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] >= min_size]
    if not nested:
        members = sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), rows.shape)[:, order]
        common = sparse.coo_array(members.T @ members)
        a, b = common.coords
        inside = (common.data == sizes[order[a]]) & (b < a)  # of equal ones the first stays
        order = np.delete(order, a[inside])
    return order


def spread(rows: sparse.csr_array, A: sparse.csr_array, least: float) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
    """Rows for nodes that have none: means of the rows of their neighbours, those next to nodes with rows first.

    Nodes without any way to a node with a row get equal shares. Gives all rows, and which nodes have such a way.
    """
    A = A.astype(np.float64)
    layer = np.flatnonzero(np.diff(rows.indptr))
    placed = np.zeros(A.shape[0], dtype=bool)
    nodes, found = [], []
    part = rows[layer]
    while len(layer):
        nodes.append(layer)
        found.append(part)
        placed[layer] = True
        following = np.unique(A[layer].indices)
        following = following[~placed[following]]
        part = divided(cut(divided(A[following][:, layer] @ part), least))
        layer = following
    nodes.append(np.flatnonzero(~placed))
    found.append(sparse.csr_array((len(nodes[-1]), rows.shape[1])))
    return or_equal(sparse.csr_array(sparse.vstack(found, format="csr"))[np.argsort(np.concatenate(nodes))]), placed


def or_equal(rows: sparse.csr_array) -> sparse.csr_array:
    """Rows with equal shares in place of empty ones, and with sorted columns."""
    n, K = rows.shape
    empty = np.flatnonzero(np.diff(rows.indptr) == 0)
    if len(empty):
        equal = (np.full(len(empty) * K, 1 / K), (np.repeat(empty, K), np.tile(np.arange(K), len(empty))))
        rows = sparse.csr_array(rows + sparse.csr_array(equal, shape=(n, K)))
    rows.sort_indices()
    return rows
