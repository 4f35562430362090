"""Quality of communities by the links of the graph alone.

With the adjacency matrix A, degrees d_i = sum_j A_ij and 2m = sum_i d_i. Weights count. A is read as the models read
it: symmetric, by the larger entry of both directions, and without links of a node to itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _num_samples

from .._types import Array, CoverLike, GraphLike, MatrixLike
from ..graphs.network import row_sums, soft_modularity
from ._communities import Communities, quotient, read_graph
from ._covers import is_node_lists, read_cover
from ._validation import check_matrix


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
    A = read_graph(graph)[0]
    U = check_matrix("U", U, "n_clusters", A.shape[0], accept_sparse=True)
    sums = row_sums(U)
    return soft_modularity(A, sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ U) if A.nnz else math.nan


def overlapping_modularity(graph: GraphLike, cover: CoverLike, *, kind: str = "shen") -> float:
    """Modularity of overlapping communities.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).
    kind : {'shen', 'nicosia', 'lazar'}, default='shen'
        See Notes. Values of different kinds do not compare.

    Returns
    -------
    value : float
        In (-1, 1), larger is better; 0 for one community of all nodes (``'shen'``). nan if the graph has no link.

    See Also
    --------
    modularity : of memberships.
    conductance : does not prefer few large communities.

    Notes
    -----
    Let a node be in O_i communities.

    ``'shen'`` [1]_: EQ = 1/2m sum_k sum_{i, j in k} (A_ij - d_i d_j / 2m) / (O_i O_j), a node counting 1 / O_i in
    each of its communities. It is the modularity if no communities overlap. Nested communities have a small one even if
    they are the true ones.

    ``'nicosia'`` [2]_: a link belongs to k by the degree F_ijk = l(a_ik) l(a_jk), with a_ik = 1 / O_i in the
    communities of i, 0 in others, and the logistic function l(a) = 1 / (1 + exp(30 - 60 a)). With the means over all n
    nodes at either end, s_ijk = (1/n sum_h F_ihk) (1/n sum_h F_hjk),

        1/2m sum_k sum_ij [ F_ijk A_ij - s_ijk d_i d_j / 2m ].

    ``'lazar'`` [3]_: the mean over communities of

        1/n_k sum_{i in k} (links to k - other links) / (d_i O_i), times the share of pairs of members that are linked.

    A community of one node counts 0.

    References
    ----------
    .. [1] H. Shen, X. Cheng, K. Cai, M.-B. Hu (2009). Detect overlapping and hierarchical community structure in
       networks. Physica A 388(8), 1706-1712.
    .. [2] V. Nicosia, G. Mangioni, V. Carchiolo, M. Malgeri (2009). Extending the definition of modularity to directed
       graphs with overlapping communities. J. Statistical Mechanics, P03024.
    .. [3] A. Lazar, D. Abel, T. Vicsek (2010). Modularity measure of networks with overlapping communities. EPL 90,
       18001.

    Examples
    --------
    >>> from soft_clustering.metrics import overlapping_modularity
    >>> overlapping_modularity([(0, 1), (2, 3)], [{0, 1}, {2, 3}])
    0.5
    """
    validate_parameter_constraints(
        {"kind": [StrOptions({"shen", "nicosia", "lazar"})]}, {"kind": kind}, "overlapping_modularity"
    )
    return _modularity_of(Communities(graph, cover), kind)


def _modularity_of(found: Communities, kind: str) -> float:
    if found.total == 0:
        return math.nan
    belonging = 1 / np.maximum(found.counts(), 1)
    if kind == "lazar":
        return _lazar(found, belonging)
    if kind == "shen":
        return soft_modularity(found.A, sparse.diags_array(belonging) @ found.C)
    # l(a) = outsider + (l(a) - outsider): the second part is 0 for the nodes that are not in the community
    outsider = expit(-30.0)
    members = sparse.diags_array(expit(60 * belonging - 30) - outsider) @ found.C
    to_all = found.degrees @ members
    linked = members.multiply(found.A @ members).sum(axis=0) + 2 * outsider * to_all + outsider**2 * found.total
    means = outsider + members.sum(axis=0) / len(belonging)
    chance = means * (to_all / found.total + outsider)
    return float((linked / found.total - chance**2).sum())


def _lazar(found: Communities, belonging: Array) -> float:
    if found.C.shape[1] == 0:
        return 0.0
    degrees = found.degrees[found.nodes]
    strength = quotient(2 * found.inside - degrees, degrees, 0.0) * belonging[found.nodes]
    unweighted = found.sums(Communities(found.A.astype(bool), found.C).inside)
    density = quotient(unweighted, found.sizes * (found.sizes - 1), 0.0)
    return float((found.sums(strength) / found.sizes * density).mean())


# Scores of the communities, one by one --------------------------------------------------------------------------------


def _outside(found: Communities) -> Array:
    """The sum of the degrees of the nodes outside each community; what rounding leaves of 0 is 0."""
    rest = found.total - found.volumes
    return np.where(rest > 1e-12 * found.total, rest, 0.0)


def _conductances(found: Communities) -> Array:
    return np.minimum(quotient(found.cuts, np.minimum(found.volumes, _outside(found))), 1.0)


def _normalized_cuts(found: Communities) -> Array:
    return quotient(found.cuts, found.volumes) + quotient(found.cuts, _outside(found))


def _shares_that_leave(found: Communities) -> Array:
    return quotient(found.leaving, found.degrees[found.nodes], 0.0)


# One value per community, nan where it is not defined.
_EACH: dict[str, Callable[[Communities], Array]] = {
    "conductance": _conductances,
    "normalized_cut": _normalized_cuts,
    "cut_ratio": lambda found: quotient(found.cuts, found.sizes * (len(found.degrees) - found.sizes)),
    "expansion": lambda found: quotient(found.cuts, found.sizes),
    "internal_density": lambda found: quotient(found.within, found.sizes * (found.sizes - 1), 0.0),
    "average_internal_degree": lambda found: quotient(found.within, found.sizes),
    "triangle_participation": lambda found: quotient(found.in_triangles(), found.sizes),
    "average_odf": lambda found: quotient(found.sums(_shares_that_leave(found)), found.sizes),
    "max_odf": lambda found: found.largest(_shares_that_leave(found)),
    "flake_odf": lambda found: quotient(found.sums(found.leaving > found.inside * (1 + 1e-12)), found.sizes),
}


def _mean(values: Array) -> float:
    """The mean of the values that are defined; nan if there are none."""
    known = np.isfinite(values)
    return float(values[known].mean()) if known.any() else math.nan


def _mean_of(name: str, graph: GraphLike, cover: CoverLike) -> float:
    return _mean(_EACH[name](Communities(graph, cover)))


def conductance(graph: GraphLike, cover: CoverLike) -> float:
    """Mean conductance of the communities: the share of their links that leave them.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

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
    return _mean_of("conductance", graph, cover)


def normalized_cut(graph: GraphLike, cover: CoverLike) -> float:
    """Mean normalised cut of the communities.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 2], smaller is better. Communities that have no link, or all of them, are left out; nan if there are no
        others.

    Notes
    -----
    The mean over communities of cut / volume + cut / (2m - volume) [1]_: the cut in units of the links on either side.

    References
    ----------
    .. [1] J. Shi, J. Malik (2000). Normalized cuts and image segmentation. IEEE TPAMI 22(8), 888-905.

    Examples
    --------
    >>> from soft_clustering.metrics import normalized_cut
    >>> round(normalized_cut([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.4762
    """
    return _mean_of("normalized_cut", graph, cover)


def cut_ratio(graph: GraphLike, cover: CoverLike) -> float:
    """Mean share of the pairs of a member and another node that are linked.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 1] without weights, smaller is better. A community of all nodes is left out; nan if there are no others.

    Notes
    -----
    The mean over communities of cut / (n_k (n - n_k)), with the sum of the links that leave a community of n_k
    nodes [1]_.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import cut_ratio
    >>> round(cut_ratio([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.1667
    """
    return _mean_of("cut_ratio", graph, cover)


def expansion(graph: GraphLike, cover: CoverLike) -> float:
    """Mean number of links by which a member of a community leaves it.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        At least 0, smaller is better; nan if there is no community.

    Notes
    -----
    The mean over communities of cut / n_k, with the sum of the links that leave a community of n_k nodes [1]_.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import expansion
    >>> round(expansion([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.4167
    """
    return _mean_of("expansion", graph, cover)


def internal_density(graph: GraphLike, cover: CoverLike) -> float:
    """Mean share of the pairs of members of a community that are linked.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 1] without weights, larger is better; nan if there is no community.

    Notes
    -----
    The mean over communities of the links inside over n_k (n_k - 1) / 2 [1]_; 0 for a community of one node. Small
    communities are dense more easily than large ones.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import internal_density
    >>> round(internal_density([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    1.0
    """
    return _mean_of("internal_density", graph, cover)


def average_internal_degree(graph: GraphLike, cover: CoverLike) -> float:
    """Mean number of neighbours that a member has inside its community.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        At least 0, larger is better; nan if there is no community.

    Notes
    -----
    The mean over communities of twice the links inside over n_k [1]_. It grows with the community.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import average_internal_degree
    >>> round(average_internal_degree([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    1.5
    """
    return _mean_of("average_internal_degree", graph, cover)


def triangle_participation(graph: GraphLike, cover: CoverLike) -> float:
    """Mean share of the members of a community that are in a triangle of members.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 1], larger is better; nan if there is no community.

    Notes
    -----
    Only whether nodes are linked counts, not the weights [1]_. It takes longer than the other scores: time grows with
    the links of a community times their number per node.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import triangle_participation
    >>> round(triangle_participation([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.5
    """
    return _mean_of("triangle_participation", graph, cover)


def average_odf(graph: GraphLike, cover: CoverLike) -> float:
    """Mean share of a member's links that leave its community (out degree fraction).

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 1], smaller is better; nan if there is no community.

    Notes
    -----
    The mean over communities of the mean over members of (links that leave) / d_i [1]_; 0 for a node without links.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import average_odf
    >>> round(average_odf([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.1806
    """
    return _mean_of("average_odf", graph, cover)


def max_odf(graph: GraphLike, cover: CoverLike) -> float:
    """Mean over communities of the largest share of a member's links that leave (out degree fraction).

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 1], smaller is better; nan if there is no community.

    Notes
    -----
    The mean over communities of the largest (links that leave) / d_i of its members [1]_; 0 for a node without links.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2015). Defining and evaluating network communities based on ground-truth. Knowledge and
       Information Systems 42(1), 181-213.

    Examples
    --------
    >>> from soft_clustering.metrics import max_odf
    >>> round(max_odf([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.4167
    """
    return _mean_of("max_odf", graph, cover)


def flake_odf(graph: GraphLike, cover: CoverLike) -> float:
    """Mean share of the members of a community with more links that leave it than links inside.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 1], smaller is better; nan if there is no community.

    Notes
    -----
    A community in the sense of [1]_ has none of them.

    References
    ----------
    .. [1] G. W. Flake, S. Lawrence, C. L. Giles (2000). Efficient identification of web communities. KDD, 150-160.

    Examples
    --------
    >>> from soft_clustering.metrics import flake_odf
    >>> round(flake_odf([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}]), 4)
    0.0
    """
    return _mean_of("flake_odf", graph, cover)


def coverage(graph: GraphLike, cover: CoverLike) -> float:
    """Share of the links whose ends share a community.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    value : float
        In [0, 1], larger is better. nan if the graph has no link.

    See Also
    --------
    node_coverage : share of the nodes.

    Notes
    -----
    The sum of the weights of these links over that of all. It is 1 for one community of all nodes: do not judge covers
    by it alone [1]_.

    References
    ----------
    .. [1] S. Fortunato (2010). Community detection in graphs. Physics Reports 486(3-5), 75-174.

    Examples
    --------
    >>> from soft_clustering.metrics import coverage
    >>> coverage([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}])
    0.8
    """
    return _coverage_of(Communities(graph, cover))


def _coverage_of(found: Communities) -> float:
    return found.covered() / found.total if found.total else math.nan


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
    return float((_counts_of(cover) > 0).mean())


def overlap_share(cover: CoverLike) -> float:
    """Share of the nodes that belong to more than one community.

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
    It describes a cover, and is no quality: compare it with what is known of the data [1]_.

    References
    ----------
    .. [1] J. Xie, S. Kelley, B. K. Szymanski (2013). Overlapping community detection in networks: the state-of-the-art
       and comparative study. ACM Computing Surveys 45(4), 43.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering.metrics import overlap_share
    >>> overlap_share(np.array([[1, 0], [1, 1], [0, 0], [0, 1]]))
    0.25
    """
    return float((_counts_of(cover) > 1).mean())


def mean_memberships(cover: CoverLike) -> float:
    """Mean number of communities of a node.

    Parameters
    ----------
    cover : array or sparse matrix of shape (n_nodes, n_communities)
        As ``get_cover()`` returns it.

    Returns
    -------
    value : float
        At least 0; nodes in no community count.

    Notes
    -----
    It describes a cover, and is no quality: compare it with what is known of the data [1]_.

    References
    ----------
    .. [1] J. Xie, S. Kelley, B. K. Szymanski (2013). Overlapping community detection in networks: the state-of-the-art
       and comparative study. ACM Computing Surveys 45(4), 43.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering.metrics import mean_memberships
    >>> mean_memberships(np.array([[1, 0], [1, 1], [0, 0], [0, 1]]))
    1.0
    """
    return float(_counts_of(cover).mean())


def _counts_of(cover: CoverLike) -> NDArray[Any]:
    if is_node_lists(cover):
        raise TypeError(
            "cover must be a matrix or a vector of labels. Got lists, which do not say how many nodes there are; "
            "pass a matrix as an array: np.asarray(cover)."
        )
    return np.diff(read_cover("cover", cover, _num_samples(cover)).indptr)


# All at once ----------------------------------------------------------------------------------------------------------


def cover_metrics(graph: GraphLike, cover: CoverLike) -> dict[str, float]:
    """All scores of a cover that need no truth, by the names of their functions.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    scores : dict
        ``n_communities`` without empty ones; ``node_coverage``, ``overlap_share``, ``mean_memberships``; ``coverage``;
        ``overlapping_modularity`` of each kind, ``"overlapping_modularity_nicosia"`` and ``"..._lazar"`` beside the
        default; and the means over communities that are not empty: ``conductance``, ``normalized_cut``, ``cut_ratio``,
        ``expansion``, ``internal_density``, ``average_internal_degree``, ``triangle_participation``, ``average_odf``,
        ``max_odf``, ``flake_odf``. nan where a function says so.

    See Also
    --------
    cover_table : the same for each community.

    Examples
    --------
    >>> from soft_clustering.datasets import load_graph
    >>> from soft_clustering.metrics import cover_metrics
    >>> karate = load_graph("karate")
    >>> scores = cover_metrics(karate.adjacency, karate.cover)
    >>> {name: round(scores[name], 3) for name in ("overlapping_modularity", "conductance", "internal_density")}
    {'overlapping_modularity': 0.371, 'conductance': 0.132, 'internal_density': 0.252}
    """
    found = Communities(graph, cover)
    counts = found.counts()
    kinds = {"": "shen", "_nicosia": "nicosia", "_lazar": "lazar"}
    return {
        "n_communities": found.C.shape[1],
        "node_coverage": float((counts > 0).mean()),
        "overlap_share": float((counts > 1).mean()),
        "mean_memberships": float(counts.mean()),
        "coverage": _coverage_of(found),
        **{f"overlapping_modularity{end}": _modularity_of(found, kind) for end, kind in kinds.items()},
        **{name: _mean(each(found)) for name, each in _EACH.items()},
    }


def cover_table(graph: GraphLike, cover: CoverLike) -> dict[str, NDArray[Any]]:
    """The scores of each community.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).

    Returns
    -------
    table : dict of ndarray of shape (n_communities,)
        Columns by name, in the order of the communities; ``pandas.DataFrame(table)`` makes a table of it. ``size``:
        number of members; ``shared``: share of the members that are in another community, too; ``conductance``,
        ``normalized_cut``, ``cut_ratio``, ``expansion``, ``internal_density``, ``average_internal_degree``,
        ``triangle_participation``, ``average_odf``, ``max_odf``, ``flake_odf``: see the functions. nan where the
        function leaves a community out, and everything but the size of an empty community.

    See Also
    --------
    cover_metrics : scores of the whole cover.

    Examples
    --------
    >>> from soft_clustering.metrics import cover_table
    >>> table = cover_table([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], [{0, 1, 2}, {3, 4}])
    >>> table["size"], table["conductance"].round(3)
    (array([3, 2]), array([0.333, 0.333]))
    """
    found = Communities(graph, cover, keep_empty=True)
    shared = quotient(found.sums(found.counts()[found.nodes] > 1), found.sizes)
    scores = {name: np.where(found.sizes > 0, each(found), np.nan) for name, each in _EACH.items()}
    return {"size": found.sizes, "shared": shared, **scores}
