"""What the measures of covers by links count: links of the communities, and of each member inside its communities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from .._types import Array, CoverLike, GraphLike
from ..graphs.network import row_sums
from ..inputs.graphs import validate_graph
from ._covers import read_cover


def read_graph(graph: GraphLike) -> tuple[Any, NDArray[Any]]:
    """The adjacency matrix as the models read it, symmetric CSR without a diagonal, and the names of its nodes."""
    reader = BaseEstimator()
    return validate_graph(reader, graph, binary=False), reader.node_names_


class Communities:
    """Sums of links by community; a membership is a pair of a node and a community that it belongs to.

    With A @ C for the cover C everything takes time linear in the links times the communities of a node, except
    ``in_triangles``.

    Attributes
    ----------
    A : CSR array of shape (n, n), float64
    C : CSR array of shape (n, K), float64
        Entries 0 and 1. ``nodes`` and ``columns`` are its rows and columns, one of each per membership.
    degrees : ndarray of shape (n,)
    total : float
        2m, the sum of the degrees.
    inside : ndarray, one entry per membership
        The sum of the links of the node to other members.
    sizes, volumes, cuts, within : ndarray of shape (K,)
        Members, the sum of their degrees, of their links that leave the community, and of those that do not (each link
        counts at both ends).
    """

    def __init__(self, graph: GraphLike, cover: CoverLike, *, keep_empty: bool = False) -> None:
        A, names = read_graph(graph)
        self.A = A.astype(np.float64)
        C = read_cover("cover", cover, A.shape[0], node_names=names, keep_empty=keep_empty)
        self.C = C.astype(np.float64)
        self.C.sort_indices()
        self.degrees = row_sums(self.A)
        self.total = float(self.degrees.sum())
        K = self.C.shape[1]
        self.nodes: NDArray[np.intp] = np.repeat(np.arange(self.C.shape[0]), np.diff(self.C.indptr))
        self.columns = self.C.indices
        self.inside = self._at_members(self.A @ self.C)
        self.sizes = np.bincount(self.columns, minlength=K)
        self.volumes = self.sums(self.degrees[self.nodes])
        self.within = self.sums(self.inside)
        self.cuts = self.sums(self.leaving)

    @property
    def leaving(self) -> Array:
        """The sum of the links of a member that leave the community, one entry per membership."""
        # what rounding leaves of equal sums is no link
        outside = self.degrees[self.nodes] - self.inside
        return np.where(outside > 1e-12 * self.degrees[self.nodes], outside, 0.0)

    def _at_members(self, rows: sparse.csr_array) -> Array:
        """Return the entries of a matrix at the memberships, zeros included."""
        found = sparse.csr_array(rows.multiply(self.C))
        found.sort_indices()
        K = self.C.shape[1]
        keys = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr)) * K + found.indices
        values = np.zeros(self.C.nnz)
        values[np.searchsorted(self.nodes * K + self.columns, keys)] = found.data
        return values

    def sums(self, values: NDArray[Any]) -> Array:
        """Sum over the members of each community; one value per membership."""
        return np.bincount(self.columns, weights=values, minlength=self.C.shape[1]).astype(np.float64)

    def largest(self, values: Array) -> Array:
        """Return the largest value >= 0 of the members of each community."""
        found = np.zeros(self.C.shape[1])
        np.maximum.at(found, self.columns, values)
        return found

    def counts(self) -> NDArray[Any]:
        """Return the number of communities of each node."""
        return np.diff(self.C.indptr)

    def covered(self) -> float:
        """Return the sum of the links, at both ends, of nodes that share a community."""
        links = self.A.tocoo()
        shared = self.C[links.row].multiply(self.C[links.col]).sum(axis=1) > 0
        return float(links.data[shared].sum())

    def in_triangles(self) -> NDArray[np.intp]:
        """Return how many members of each community are in a triangle of members."""
        members = self.C.tocsc()
        members.sort_indices()
        counts = np.zeros(self.C.shape[1], dtype=np.intp)
        for k, (start, stop) in enumerate(zip(members.indptr[:-1], members.indptr[1:], strict=True)):
            nodes = members.indices[start:stop]
            counts[k] = _nodes_in_triangles(self.A[nodes][:, nodes])
        return counts


def _nodes_in_triangles(A: sparse.csr_array) -> int:
    """Return how many nodes of a graph are in a triangle.

    Links point to the node of larger degree, so that few nodes follow on any: the triangle i -> j -> k, i -> k is found
    at its link i -> k, as a path of two links, and at j -> k, as two nodes that follow on i.

    Examples
    --------
    >>> _nodes_in_triangles(sparse.csr_array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]))
    3
    """
    order = np.argsort(np.diff(A.indptr), kind="stable")
    links = sparse.triu(A[order][:, order], 1).tocsr().astype(bool).astype(np.int64)
    long = (links @ links).multiply(links).tocoo()
    beside = (links.T @ links).multiply(links).tocoo()
    return len(np.unique(np.concatenate([long.row, long.col, beside.row])))


def quotient(numerator: NDArray[Any], denominator: NDArray[Any], otherwise: float = np.nan) -> Array:
    """Divide; where the denominator is 0 the result is ``otherwise``.

    Examples
    --------
    >>> quotient(np.array([1.0, 0.0]), np.array([4.0, 0.0]), 1.0)
    array([0.25, 1.  ])
    """
    defined = denominator > 0
    answer: Array = np.where(defined, numerator / np.where(defined, denominator, 1.0), otherwise)
    return answer
