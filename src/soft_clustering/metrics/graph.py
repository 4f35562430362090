"""Quality of communities by the links of the graph alone.

With the adjacency matrix A, degrees d_i = sum_j A_ij and 2m = sum_i d_i. Weights count. A is read as the models read
it: symmetric, by the larger entry of both directions, and without links of a node to itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples

from .._types import CoverLike, GraphLike, MatrixLike
from ..graphs.network import row_sums, soft_modularity
from ..inputs.graphs import validate_graph
from ._covers import read_cover
from ._validation import check_matrix


def _adjacency(graph: GraphLike) -> Any:
    return validate_graph(BaseEstimator(), graph, binary=False)


def modularity(graph: GraphLike, U: MatrixLike) -> float:
    """Modularity of soft communities: links inside them beyond those expected by chance.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    U : array-like or sparse matrix of shape (n_nodes, n_clusters)
        Memberships; each row is divided by its sum. A row of zeros is a node in no community.

    Returns
    -------
    value : float
        In (-1, 1), larger is better; 0 for one community of all nodes. nan if the graph has no link.

    See Also
    --------
    overlapping_modularity : for a cover, in which a node belongs to a community or not.

    Notes
    -----
    sum_k [ w_k^T A w_k / 2m - (w_k^T d / 2m)^2 ] with the shares w_ik of node i in community k. For memberships of 0
    and 1 it is the modularity of [1]_. Soft memberships have a smaller one than hard ones: do not compare models that
    differ in how soft they are by it alone. It prefers few large communities.

    References
    ----------
    .. [1] M. E. J. Newman (2006). Modularity and community structure in networks. PNAS 103(23), 8577-8582.

    Examples
    --------
    >>> from soft_clustering.metrics import modularity
    >>> modularity([(0, 1), (2, 3)], [[1, 0], [1, 0], [0, 1], [0, 1]])
    0.5
    """
    A = _adjacency(graph)
    U = check_matrix("U", U, "n_clusters", A.shape[0], accept_sparse=True)
    sums = row_sums(U)
    return soft_modularity(A, sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ U) if A.nnz else math.nan


def overlapping_modularity(graph: GraphLike, cover: CoverLike) -> float:
    """Modularity of overlapping communities.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` returns it.

    Returns
    -------
    value : float
        In (-1, 1), larger is better; 0 for one community of all nodes. nan if the graph has no link.

    See Also
    --------
    conductance : does not prefer few large communities.

    Notes
    -----
    EQ = 1/2m sum_k sum_{i, j in k} (A_ij - d_i d_j / 2m) / (O_i O_j), a node in O_i communities counting 1 / O_i in
    each [1]_. It is the modularity if no communities overlap. Nested communities have a small one even if they are the
    true ones.

    References
    ----------
    .. [1] H. Shen, X. Cheng, K. Cai, M.-B. Hu (2009). Detect overlapping and hierarchical community structure in
       networks. Physica A 388(8), 1706-1712.

    Examples
    --------
    >>> from soft_clustering.metrics import overlapping_modularity
    >>> overlapping_modularity([(0, 1), (2, 3)], [{0, 1}, {2, 3}])
    0.5
    """
    A = _adjacency(graph)
    C = read_cover("cover", cover, A.shape[0])
    if A.nnz == 0:
        return math.nan
    counts = C.sum(axis=1)
    W = sparse.diags_array(1 / np.where(counts > 0, counts, 1)) @ C
    degrees = row_sums(A)
    total = degrees.sum()
    inside = float(W.multiply(A.astype(np.float64) @ W).sum())
    return inside / float(total) - float(np.square(W.T @ (degrees / total)).sum())


def conductance(graph: GraphLike, cover: CoverLike) -> float:
    """Mean conductance of the communities: the share of their links that leave them.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` returns it.

    Returns
    -------
    value : float
        In [0, 1], smaller is better. Communities that have no link, or all of them, are left out; nan if there are no
        others.

    Notes
    -----
    The mean over communities of cut / min(volume, 2m - volume), with the sum of the links that leave the community and
    the sum of the degrees of its nodes [1]_. It does not say whether communities are missing or the same.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import conductance
    >>> round(conductance([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.3333
    """
    A = _adjacency(graph)
    C = read_cover("cover", cover, A.shape[0]).astype(np.float64)
    degrees = row_sums(A)
    volumes = C.T @ degrees
    cuts = np.maximum(volumes - C.multiply(A.astype(np.float64) @ C).sum(axis=0), 0.0)
    smaller = np.minimum(volumes, degrees.sum() - volumes)
    known = smaller > 1e-12 * degrees.sum()
    return float(np.minimum(cuts[known] / smaller[known], 1.0).mean()) if known.any() else math.nan


def node_coverage(cover: CoverLike) -> float:
    """Share of the nodes that belong to at least one community.

    Parameters
    ----------
    cover : array or sparse matrix of shape (n_nodes, n_communities)
        As ``get_cover()`` returns it.

    Returns
    -------
    value : float
        In [0, 1].

    Notes
    -----
    It says of how many nodes the other measures speak, and is no quality by itself: a cover of one community has
    coverage 1 [1]_.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2013). Overlapping community detection at scale: a nonnegative matrix factorization
       approach. WSDM, 587-596.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering.metrics import node_coverage
    >>> node_coverage(np.array([[1, 0], [1, 1], [0, 0], [0, 1]]))
    0.75
    """
    C = read_cover("cover", cover, _num_samples(cover))
    return float((C.sum(axis=1) > 0).mean())
