"""Graphs: adjacency matrices, networkx graphs, lists of edges; links of new nodes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from .._types import GraphLike, Matrix, MatrixLike
from .features import is_dask, naming

_LARGEST = 1e90  # largest weight: sums over links stay finite


def validate_graph(estimator: BaseEstimator, X: GraphLike, *, binary: bool) -> Any:
    """Return the adjacency matrix for ``fit``, and set ``n_features_in_`` and ``node_names_`` of the estimator.

    Parameters
    ----------
    estimator : estimator
    X : array-like or sparse matrix of shape (n, n), networkx graph, or list of tuples
        The columns of a table name the nodes. A tuple is an edge (node, node) or (node, node, weight); nodes come in
        the order in which they first appear. Directed input becomes undirected, with the larger weight of both
        directions and a warning; links of a node to itself are dropped.
    binary : bool
        Whether the model has no weights, only links that exist or not: different weights raise an error.

    Returns
    -------
    A : CSR array of shape (n, n)
        Symmetric, without a diagonal or explicit zeros, float64 or float32.
    """
    matrix, names = _read(X)
    A = _canonical(matrix, "X")
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"X must be a square adjacency matrix. Got shape {A.shape} instead; edges come as a list of tuples."
        )
    A = _without_diagonal(A)
    if (abs(A - A.T) > 0).nnz:
        warnings.warn("X is not symmetric: the larger of both directions is used", UserWarning, stacklevel=4)
        A = sparse.csr_array(A.maximum(A.T))
        A.sort_indices()
    if binary:
        A = _binary(estimator, A)
    if A.nnz == 0:
        warnings.warn("X has no link between different nodes", UserWarning, stacklevel=4)
    estimator.n_features_in_ = A.shape[0]
    estimator.node_names_ = np.arange(A.shape[0]) if names is None else names
    return A


def validate_links(estimator: BaseEstimator, X: MatrixLike, *, binary: bool) -> Any:
    """Return the links (n_new, n) of new nodes to the nodes of ``fit`` as canonical CSR."""
    if hasattr(X, "adjacency") and hasattr(X, "nodes"):
        raise TypeError("X must be the links of new nodes, a matrix (n_new, n). Got a graph instead.")
    A = _canonical(_matrix(X), "X")
    names = _columns(X)
    known = estimator.node_names_
    if names is not None and _named(known) and not np.array_equal(names, known):
        raise ValueError("X must have a column for each node of fit, in the order of node_names_. Got other names.")
    if A.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {A.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input: a column for each node of fit."
        )
    return _binary(estimator, A) if binary else A


def validate_node_features(node_features: MatrixLike, n: int) -> Any:
    """Return a finite (n, d) matrix in double precision, an array or CSR."""
    if is_dask(node_features):
        raise TypeError("node_features must be in memory: pass node_features.compute().")
    with naming("node_features"), np.errstate(over="ignore", invalid="ignore"):
        features = check_array(node_features, accept_sparse="csr", dtype=np.float64, input_name="node_features")
    if features.shape[0] != n:
        raise ValueError(f"node_features must have a row for each of the {n} nodes. Got {features.shape[0]} rows.")
    return sparse.csr_array(features) if sparse.issparse(features) else features


def _binary(estimator: BaseEstimator, A: sparse.csr_array) -> Any:
    """Return links of weight 1; raise an error if the weights differ, because they would be lost."""
    if A.nnz and A.data.min() != A.data.max():
        raise ValueError(
            f"X must have links of equal weight: {type(estimator).__name__} models links without weights. Pass "
            "X > 0 to drop the weights, or take a model that uses them: BayesianNMF, CDCGS or DMoN."
        )
    return sparse.csr_array((np.ones_like(A.data), A.indices, A.indptr), shape=A.shape)


def _read(X: Any) -> tuple[Any, NDArray[Any] | None]:
    """Return a matrix, and the names of its nodes if they have names."""
    if hasattr(X, "adjacency") and hasattr(X, "nodes"):
        import networkx

        names = _names(list(X.nodes))
        if len(names) == 0:
            raise ValueError("X must have at least one node. Got a graph with 0 sample(s).")
        with naming("X"):
            return networkx.to_scipy_sparse_array(X, dtype=np.float64, weight="weight", format="csr"), names
    if isinstance(X, (list, tuple)) and len(X) and all(isinstance(edge, tuple) for edge in X):
        return _from_edges(X)
    columns = _columns(X)
    if columns is not None and _named(X.index) and not X.index.equals(X.columns):
        raise ValueError("X must have the same nodes as rows and as columns, in the same order. Got other names.")
    return _matrix(X), columns


def _columns(X: MatrixLike) -> NDArray[Any] | None:
    """Return the names of the columns of a table; None if they are only numbered."""
    if not hasattr(X, "columns") or not hasattr(X, "index") or not _named(X.columns):
        return None
    return _names(list(X.columns))


def _named(index: Any) -> bool:
    """Whether the rows or columns of a table have names of their own."""
    return not np.array_equal(index, np.arange(len(index)))


def _names(nodes: list[Any]) -> NDArray[Any]:
    """Return names as an array of numbers or of strings; otherwise of objects."""
    if all(isinstance(node, (int, np.integer)) for node in nodes) or all(isinstance(node, str) for node in nodes):
        return np.array(nodes)
    names = np.empty(len(nodes), dtype=object)
    names[:] = nodes
    return names


def _from_edges(edges: Sequence[tuple[Any, ...]]) -> tuple[Any, NDArray[Any]]:
    places: dict[Any, int] = {}
    rows, columns, weights = [], [], []
    for i, edge in enumerate(edges):
        if len(edge) not in (2, 3):
            raise ValueError(
                f"X as a list of edges must hold (node, node) or (node, node, weight). Got {edge!r} at {i}."
            )
        try:
            rows.append(places.setdefault(edge[0], len(places)))
            columns.append(places.setdefault(edge[1], len(places)))
        except TypeError as error:
            raise TypeError(f"X as a list of edges must hold hashable nodes. Got {edge!r} at {i}.") from error
        weights.append(edge[2] if len(edge) == 3 else 1.0)
    with naming("X"):
        values = np.asarray(weights, dtype=np.float64)
    both = sparse.coo_array((np.tile(values, 2), (rows + columns, columns + rows)), shape=(len(places), len(places)))
    if not np.isfinite(values).all() or (values < 0).any():
        return both, _names(list(places))  # the checks of matrices refuse it below
    # of an edge that is listed twice, or in both directions, the heavier one is kept
    order = np.lexsort((-both.data, both.col, both.row))
    row, column, data = both.row[order], both.col[order], both.data[order]
    first = np.ones(len(data), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    return sparse.coo_array((data[first], (row[first], column[first])), shape=both.shape), _names(list(places))


def _matrix(X: MatrixLike) -> Any:
    if is_dask(X):
        raise TypeError("X must be in memory: pass X.compute().")
    with naming("X"), np.errstate(over="ignore", invalid="ignore"):
        return check_array(X, accept_sparse=("csr", "csc", "coo"), dtype=[np.float64, np.float32], input_name="X")


def _canonical(X: Matrix, name: str) -> Any:
    """Return a CSR array of non-negative finite floats with sorted indices, without duplicates and explicit zeros."""
    A = sparse.csr_array(X, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    if A.nnz:
        if not np.isfinite(A.data).all():
            raise ValueError(f"{name} must have finite entries. Got NaN or infinity.")
        least, most = float(A.data.min()), float(A.data.max())
        if least < 0:
            raise ValueError(f"{name} must have entries >= 0. Got {least:.3g}.")
        if most > _LARGEST:
            raise ValueError(f"{name} must have entries below {_LARGEST:g}. Got {most:.3g}.")
    return A


def _without_diagonal(A: sparse.csr_array) -> Any:
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    if not (rows == A.indices).any():
        return A
    other = rows != A.indices
    kept = sparse.csr_array((A.data[other], (rows[other], A.indices[other])), shape=A.shape)
    kept.sort_indices()
    return kept
