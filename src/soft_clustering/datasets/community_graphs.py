"""Graphs with known communities: classic ones, ego networks with overlapping circles, and a generator."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, validate_params

from ..inputs.files.content import reading
from ..inputs.files.gml import parse_gml
from ..inputs.files.graphs import ego_matrices
from .files import VARIABLE, DataHome, check_name, find_file


class _Size(NamedTuple):
    nodes: int
    edges: int
    communities: int
    features: int = 0


_GRAPHS = {
    "karate": _Size(34, 78, 2),
    "dolphins": _Size(62, 159, 2),
    "football": _Size(115, 613, 12),
    "polbooks": _Size(105, 441, 3),
    "fb_0": _Size(347, 2519, 24, 30),
    "fb_107": _Size(1045, 26749, 9, 11),
    "fb_348": _Size(227, 3192, 14, 21),
    "fb_414": _Size(159, 1693, 7, 16),
    "fb_686": _Size(170, 1656, 14, 9),
    "fb_698": _Size(66, 270, 13, 6),
    "fb_1684": _Size(792, 14024, 17, 15),
    "fb_1912": _Size(755, 30025, 46, 29),
    "fb_3437": _Size(547, 4813, 32, 23),
    "fb_3980": _Size(59, 146, 17, 16),
}

# The key of the community of a node, in the graphs that are .gml files.
_GML_LABELS = {"dolphins": "groundTruth", "football": "value", "polbooks": "value"}

# For each member: the friends with a higher number.
_KARATE = {
    1: (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32),
    2: (3, 4, 8, 14, 18, 20, 22, 31),
    3: (4, 8, 9, 10, 14, 28, 29, 33),
    **{4: (8, 13, 14), 5: (7, 11), 6: (7, 11, 17), 7: (17,), 9: (31, 33, 34), 10: (34,), 14: (34,), 15: (33, 34)},
    **{16: (33, 34), 19: (33, 34), 20: (34,), 21: (33, 34), 23: (33, 34), 24: (26, 28, 30, 33, 34), 25: (26, 28, 32)},
    **{26: (32,), 27: (30, 34), 28: (34,), 29: (32, 34), 30: (33, 34), 31: (33, 34), 32: (33, 34), 33: (34,)},
}
_INSTRUCTOR = (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 17, 18, 20, 22)


def load_graph(name: str = "karate", *, data_home: DataHome = None) -> Bunch:
    """Load a graph with known communities.

    ``'karate'`` is built in. The others are read from a file of the user:

    * ``<name>.gml``: ``'dolphins'``, ``'football'``, ``'polbooks'``;
    * ``<name>.npz``, Facebook ego networks: ``'fb_0'``, ``'fb_107'``, ``'fb_348'``, ``'fb_414'``, ``'fb_686'``,
      ``'fb_698'``, ``'fb_1684'``, ``'fb_1912'``, ``'fb_3437'``, ``'fb_3980'``.

    Parameters
    ----------
    name : str, default='karate'
    data_home : str or path, default=None
        The folder of the file. It is searched first, then the folders in the environment variable
        ``SOFT_CLUSTERING_DATA`` (several are separated as in ``PATH``).

    Returns
    -------
    graph : Bunch
        ``adjacency`` : CSR array of shape (n_nodes, n_nodes), float64; symmetric, entries 1, no diagonal.

        ``labels`` : ndarray of shape (n_nodes,), the community of each node, or None if communities overlap.

        ``cover`` : ndarray of shape (n_nodes, n_communities), bool; which node belongs to which communities. A node
        may belong to none.

        ``features`` : CSR array of shape (n_nodes, n_features), float64, or None.

        ``node_names`` : ndarray of shape (n_nodes,), str; numbers if the nodes have no names.

    Raises
    ------
    ValueError
        If the name is unknown, or if a file is damaged or is another graph than the published one (numbers of nodes,
        edges, communities, features). Files are never unpickled.
    FileNotFoundError
        If there is no file.

    Notes
    -----
    The two sides of the karate club have 16 and 18 members. Member 9 is counted among the officers, where most of his
    friends are, although he joined the instructor's new club (networkx records the clubs, 17 and 17).

    Repeated edges of a file count once. Isolated nodes are kept.

    References
    ----------
    .. [1] W. W. Zachary (1977). An information flow model for conflict and fission in small groups. J. Anthropological
       Research 33(4), 452-473.
    .. [2] D. Lusseau et al. (2003). The bottlenose dolphin community of Doubtful Sound features a large proportion of
       long-lasting associations. Behavioral Ecology and Sociobiology 54, 396-405.
    .. [3] M. Girvan, M. E. J. Newman (2002). Community structure in social and biological networks. PNAS 99(12),
       7821-7826. (football)
    .. [4] J. McAuley, J. Leskovec (2014). Discovering social circles in ego networks. ACM TKDD 8(1). The ``.npz`` files
       are those of O. Shchur, S. Guennemann (2019), Overlapping community detection with graph neural networks.

    Examples
    --------
    >>> from soft_clustering.datasets import load_graph
    >>> graph = load_graph("karate")
    >>> graph.adjacency.shape, graph.adjacency.nnz // 2, graph.cover.sum(axis=0)
    ((34, 34), 78, array([16, 18]))
    """
    check_name(name, _GRAPHS, "graph")
    if name == "karate":
        return _karate()
    filename = f"{name}.gml" if name in _GML_LABELS else f"{name}.npz"
    path, places = find_file(filename, data_home)
    if path is None:
        raise FileNotFoundError(
            f"The graph {name!r} is read from {filename}, which is not in: {places}. Put the file into a folder "
            f"named by data_home or by the environment variable {VARIABLE}."
        )
    graph = _gml_graph(path, _GML_LABELS[name]) if name in _GML_LABELS else _ego_network(path)
    n_features = 0 if graph.features is None else graph.features.shape[1]
    found = _Size(graph.adjacency.shape[0], graph.adjacency.nnz // 2, graph.cover.shape[1], n_features)
    expected = _GRAPHS[name]
    if found != expected:
        raise ValueError(f"{path} is not the graph {name!r}: it has {_counts(found)}, expected {_counts(expected)}.")
    return graph


def _counts(size: _Size) -> str:
    return f"{size.nodes} nodes, {size.edges} edges, {size.communities} communities and {size.features} features"


def _karate() -> Bunch:
    edges = np.array([(member, friend) for member, friends in _KARATE.items() for friend in friends])
    members = np.arange(1, 35)
    labels = np.where(np.isin(members, _INSTRUCTOR), 0, 1)
    return _partition_graph(_adjacency(34, edges - 1), labels, members.astype(str))


def _gml_graph(path: Path, label: str) -> Bunch:
    content = path.read_bytes()
    with reading(path):
        graph = parse_gml(content.decode())
        names = np.array([str(node.get("label", node["id"])) for node in graph.nodes])
        labels = np.array([node[label] for node in graph.nodes])
        return _partition_graph(_adjacency(len(graph.nodes), graph.ends), labels, names)


def _partition_graph(adjacency: sparse.csr_array, labels: NDArray[Any], node_names: NDArray[np.str_]) -> Bunch:
    cover = labels[:, None] == np.unique(labels)
    return Bunch(adjacency=adjacency, labels=labels, cover=cover, features=None, node_names=node_names)


def _ego_network(path: Path) -> Bunch:
    links, features, circles = ego_matrices(path, ("attr_matrix", "labels"))
    n = links.shape[0]
    return Bunch(
        adjacency=_adjacency(n, np.column_stack(links.nonzero())),
        labels=None,
        cover=circles.toarray() > 0,
        features=features,
        node_names=np.arange(n).astype(str),
    )


def _adjacency(n_nodes: int, edges: NDArray[np.integer[Any]]) -> sparse.csr_array:
    """Return the symmetric matrix with an entry 1 for each edge, without loops."""
    edges = edges[edges[:, 0] != edges[:, 1]]
    # int32, because parts of scikit-learn refuse int64 indices
    rows, columns = np.concatenate([edges, edges[:, ::-1]]).T.astype(np.int32)
    adjacency = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_nodes, n_nodes)).tocsr()
    adjacency.data[:] = 1
    return adjacency


@validate_params(  # type: ignore[untyped-decorator]
    {
        "n_nodes": [Interval(Integral, 2, None, closed="left")],
        "n_communities": [Interval(Integral, 1, None, closed="left")],
        "overlap": [Interval(Real, 0, 1, closed="both")],
        "degree": [Interval(Real, 0, np.inf, closed="neither")],
        "background_degree": [Interval(Real, 0, np.inf, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_overlapping_graph(
    n_nodes: int = 1000,
    n_communities: int = 10,
    *,
    overlap: float = 0.3,
    degree: float = 15.0,
    background_degree: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw a graph with planted overlapping communities.

    Every node belongs to one community, some to a second one. Communities are of about equal size.

    Parameters
    ----------
    n_nodes : int, default=1000
    n_communities : int, default=10
    overlap : float, default=0.3
        Share of the nodes that belong to a second community.
    degree : float, default=15.0
        Expected number of neighbours that a node has through each of its communities.
    background_degree : float, default=1.0
        Expected number of neighbours that a node has by chance.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    graph : Bunch
        ``adjacency`` : CSR array of shape (n_nodes, n_nodes), float64; symmetric, entries 1, no diagonal.

        ``cover`` : ndarray of shape (n_nodes, n_communities), bool.

        ``strengths`` : ndarray of shape (n_communities,), the affiliation of a member: F = cover * strengths.

        ``background`` : float, the rate eps of edges by chance.

    Notes
    -----
    The affiliation model [1]_: nodes i and j are linked with probability

        1 - exp(-F_i . F_j - eps),

    independently of other pairs. It is the same as linking the members of each community k with probability
    1 - exp(-s_k^2), s_k = ``strengths[k]``, and all nodes with probability 1 - exp(-eps), all independently, which is
    how the graph is drawn. Time and memory are linear in the numbers of edges and of entries of the cover.

    References
    ----------
    .. [1] J. Yang, J. Leskovec (2013). Overlapping community detection at scale: a nonnegative matrix factorization
       approach. WSDM, 587-596.

    Examples
    --------
    >>> from soft_clustering.datasets import make_overlapping_graph
    >>> graph = make_overlapping_graph(200, 4, random_state=0)
    >>> graph.adjacency.shape, int(graph.cover.sum())
    ((200, 200), 260)
    """
    if overlap > 0 and n_communities == 1:
        raise ValueError(f"overlap={overlap} needs n_communities >= 2: with one community it must be 0.")
    rng = check_random_state(random_state)
    cover = np.zeros((n_nodes, n_communities), dtype=bool)
    first = rng.permutation(np.arange(n_nodes) % n_communities)
    cover[np.arange(n_nodes), first] = True
    both = rng.permutation(n_nodes)[: round(overlap * n_nodes)]
    cover[both, (first[both] + rng.randint(1, max(n_communities, 2), len(both))) % n_communities] = True
    rates = _rate(degree, cover.sum(axis=0), "degree", "communities")
    background = float(_rate(background_degree, np.array([n_nodes]), "background_degree", "graphs")[0])
    edges = [_linked_pairs(np.arange(n_nodes), background, rng)]
    edges += [_linked_pairs(np.flatnonzero(members), rate, rng) for members, rate in zip(cover.T, rates, strict=True)]
    adjacency = _adjacency(n_nodes, np.concatenate(edges))
    return Bunch(adjacency=adjacency, cover=cover, strengths=np.sqrt(rates), background=background)


def _rate(degree: float, sizes: NDArray[np.integer[Any]], parameter: str, what: str) -> NDArray[np.float64]:
    """Return the rates at which nodes have this many expected neighbours in sets of these sizes."""
    if degree >= sizes.min() - 1:
        raise ValueError(f"{parameter}={degree} needs {what} of more than {degree + 1:g} nodes, got {sizes.min()}.")
    rates: NDArray[np.float64] = -np.log1p(-degree / (sizes - 1))
    return rates


def _linked_pairs(nodes: NDArray[np.intp], rate: float, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw pairs of nodes, each pair with probability 1 - exp(-rate).

    Pairs are numbered (1, 0), (2, 0), (2, 1), (3, 0), ...; the number of pairs skipped before a drawn one is a unit
    exponential variable divided by the rate, rounded down.
    """
    n_pairs = len(nodes) * (len(nodes) - 1) // 2
    drawn: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    last = -1
    while rate > 0 and last < n_pairs:
        expected = (n_pairs - last) * -np.expm1(-rate)
        waits = rng.standard_exponential(int(expected + 5 * np.sqrt(expected)) + 10)
        skips = np.floor(np.minimum(waits, n_pairs * rate) / rate).astype(np.int64)
        drawn.append(last + np.cumsum(skips + 1))
        last = int(drawn[-1][-1])
    numbers = np.concatenate(drawn)
    numbers = numbers[numbers < n_pairs]
    larger = ((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    # the square root may round up or down to the next whole number
    larger -= larger * (larger - 1) // 2 > numbers
    larger += larger * (larger + 1) // 2 <= numbers
    return np.column_stack([nodes[larger], nodes[numbers - larger * (larger - 1) // 2]])
