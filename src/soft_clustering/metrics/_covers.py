"""Covers, in which a node may be in several communities: matrices of 0 and 1, lists of nodes, or labels."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import check_array

from .._types import CoverLike, MatrixLike
from ..inputs.features import naming
from ._validation import label_codes


def _is_scalar(entry: object) -> bool:
    return isinstance(entry, str) or not hasattr(entry, "__iter__")


def is_node_lists(cover: object) -> bool:
    """Whether this is a list of communities; a list of scalars holds labels."""
    return isinstance(cover, (list, tuple)) and not (cover and all(map(_is_scalar, cover)))


def _nodes_of(name: str, k: int, community: Any) -> list[Any]:
    if _is_scalar(community):
        raise TypeError(f"{name} must be a list of collections of nodes. Got {community!r} as its entry {k} instead.")
    return list(community)


def _places(name: str, communities: Any, node_names: NDArray[Any]) -> list[list[int]]:
    """The communities with the places of the nodes in the graph instead of their names."""
    place = {node: i for i, node in enumerate(node_names.tolist())}
    places = []
    for k, community in enumerate(communities):
        nodes = _nodes_of(name, k, community)
        unknown = [node for node in nodes if node not in place]
        if unknown:
            raise ValueError(
                f"The nodes of community {k} of {name} must have the names that they have in the graph. "
                f"Got {unknown[0]!r} instead."
            )
        places.append([place[node] for node in nodes])
    return places


def _cover_of_nodes(name: str, communities: Any, n: int) -> sparse.csr_array:
    rows, columns = [], []
    for k, community in enumerate(communities):
        nodes = np.asarray(_nodes_of(name, k, community))
        if nodes.size == 0:
            continue
        if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
            raise TypeError(f"The nodes of community {k} of {name} must be integers. Got {community!r} instead.")
        if nodes.min() < 0 or nodes.max() >= n:
            raise ValueError(
                f"The nodes of community {k} of {name} must be between 0 and n - 1 = {n - 1}. "
                f"Got {nodes.min()} to {nodes.max()} instead."
            )
        if len(np.unique(nodes)) < len(nodes):
            raise ValueError(
                f"Community {k} of {name} names a node twice. A list is read as collections of node indices; "
                f"pass a 0/1 matrix as an array: np.asarray({name})."
            )
        rows.append(nodes)
        columns.append(np.full(len(nodes), k))
    if not rows:
        return sparse.csr_array((n, 0), dtype=np.int64)
    row, column = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=(n, len(communities)))


def _cover_of_array(name: str, value: MatrixLike) -> sparse.csr_array:
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 2) == 1:
        codes, n_communities = label_codes(name, value)
        ones = np.ones(len(codes), dtype=np.int64)
        return sparse.csr_array((ones, (np.arange(len(codes)), codes)), shape=(len(codes), n_communities))
    with naming(name):
        matrix = check_array(
            value, accept_sparse="csr", ensure_all_finite=False, ensure_min_features=0, input_name=name
        )
    cover = sparse.csr_array(matrix, copy=True)
    cover.sum_duplicates()
    cover.eliminate_zeros()
    if not (cover.data == 1).all():
        raise ValueError(
            f"{name} must be a cover: True or False, 1 or 0 everywhere. Got {cover.data[cover.data != 1][0]:g}; "
            "turn memberships into a cover first, see get_cover()."
        )
    return cover.astype(np.int64)


def read_covers(X: CoverLike, Y: CoverLike, n: int | None) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Both covers as (n, K) matrices of 0 and 1 without empty communities."""
    validate_parameter_constraints({"n": [Interval(Integral, 1, None, closed="left"), None]}, {"n": n}, "this metric")
    covers = {"X": X, "Y": Y}
    arrays = {name: _cover_of_array(name, cover) for name, cover in covers.items() if not is_node_lists(cover)}
    sizes = {name: cover.shape[0] for name, cover in arrays.items()} | ({} if n is None else {"n": int(n)})
    if not sizes:
        raise ValueError("n, the number of nodes, must be given when X and Y are both lists of node indices. Got None.")
    if len(set(sizes.values())) > 1:
        raise ValueError(f"X and Y must be covers of the same nodes. Got these numbers of nodes instead: {sizes}.")
    n_nodes = next(iter(sizes.values()))
    x, y = (arrays[name] if name in arrays else _cover_of_nodes(name, covers[name], n_nodes) for name in covers)
    return x[:, np.flatnonzero(x.sum(axis=0))], y[:, np.flatnonzero(y.sum(axis=0))]


def read_cover(
    name: str, cover: CoverLike, n: int, *, node_names: NDArray[Any] | None = None, keep_empty: bool = False
) -> sparse.csr_array:
    """A cover of n nodes as an (n, K) matrix of 0 and 1; without empty communities unless they are kept.

    Lists of nodes hold their names, if these are given, and otherwise the numbers 0, ..., n - 1.
    """
    if not is_node_lists(cover):
        read = _cover_of_array(name, cover)
    elif node_names is None or np.array_equal(node_names, np.arange(n)):
        read = _cover_of_nodes(name, cover, n)
    else:
        read = _cover_of_nodes(name, _places(name, cover, node_names), n)
    if read.shape[0] != n:
        raise ValueError(f"{name} must be a cover of the {n} nodes of the graph. Got one of {read.shape[0]} instead.")
    return read if keep_empty else read[:, np.flatnonzero(read.sum(axis=0))]
