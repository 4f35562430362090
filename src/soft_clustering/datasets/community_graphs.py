"""Graphs with known communities: classic ones, ego networks with overlapping circles, and a generator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, validate_params

from .._rows import dense_unless_large
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


# LFR graphs -----------------------------------------------------------------------------------------------------------

_ROUNDS = 30  # of joining link ends
_TRIES = 1000  # to find a node to swap a community with


@validate_params(  # type: ignore[untyped-decorator]
    {
        "n_nodes": [Interval(Integral, 2, None, closed="left")],
        "mixing": [Interval(Real, 0, 1, closed="left")],
        "overlap": [Interval(Real, 0, 1, closed="both")],
        "n_memberships": [Interval(Integral, 2, None, closed="left")],
        "degree": [Interval(Real, 1, None, closed="left")],
        "max_degree": [Interval(Integral, 1, None, closed="left")],
        "min_size": [Interval(Integral, 2, None, closed="left")],
        "max_size": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_lfr_graph(
    n_nodes: int = 1000,
    *,
    mixing: float = 0.1,
    overlap: float = 0.1,
    n_memberships: int = 2,
    degree: float = 15.0,
    max_degree: int = 50,
    min_size: int = 20,
    max_size: int = 100,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw a graph with overlapping communities whose sizes, and the degrees of whose nodes, differ widely.

    Parameters
    ----------
    n_nodes : int, default=1000
    mixing : float, default=0.1
        Share of the links of a node that leave all of its communities, in [0, 1).
    overlap : float, default=0.1
        Share of the nodes that belong to ``n_memberships`` communities; the others belong to one.
    n_memberships : int, default=2
    degree : float, default=15.0
        Mean number of neighbours that is aimed at. The graph has a few per cent less, see Notes.
    max_degree : int, default=50
        Largest number of neighbours of a node.
    min_size, max_size : int, default=20 and 100
        Smallest and largest number of nodes of a community.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    graph : Bunch
        ``adjacency`` : CSR array of shape (n_nodes, n_nodes), float64; symmetric, entries 1, no diagonal.

        ``cover`` : ndarray of shape (n_nodes, n_communities), bool; a CSR array if it has more than 1e8 entries.

    Raises
    ------
    ValueError
        If no graph has these properties, such as nodes with more neighbours than the largest community can hold.

    See Also
    --------
    make_overlapping_graph : communities of about equal size, nodes of similar degree.

    Notes
    -----
    This follows the benchmark of Lancichinetti and Fortunato [1]_; it is not their program, and draws other graphs.

    * Degrees follow a power law of exponent 2 from a lower end, chosen to give the mean, to ``max_degree``; sizes one
      of exponent 1.
    * A share 1 - ``mixing`` of the links of a node is divided equally among its communities. Nodes with many links
      inside a community are placed first, in communities with more nodes than that, in each with a probability
      proportional to the places left.
    * The ends of links are joined at random, within each community and, for the other links, between nodes that share
      none. Pairs that are not allowed, or linked already, are drawn again, 30 times; what is left over then is
      dropped.

    Time is linear in the numbers of nodes and links.

    References
    ----------
    .. [1] A. Lancichinetti, S. Fortunato (2009). Benchmarks for testing community detection algorithms on directed and
       weighted graphs with overlapping communities. Physical Review E 80, 016118.

    Examples
    --------
    >>> from soft_clustering.datasets import make_lfr_graph
    >>> graph = make_lfr_graph(1000, mixing=0.1, overlap=0.3, random_state=0)
    >>> graph.adjacency.shape, int((graph.cover.sum(axis=1) == 2).sum())
    ((1000, 1000), 300)
    """
    if max_degree >= n_nodes:
        raise ValueError(f"max_degree={max_degree} must be smaller than n_nodes={n_nodes}.")
    if not min_size <= max_size <= n_nodes:
        raise ValueError(
            f"min_size={min_size} must not be larger than max_size={max_size}, nor that than n_nodes={n_nodes}."
        )
    if np.ceil((1 - mixing) * max_degree) >= max_size:
        raise ValueError(
            f"max_degree={max_degree} with mixing={mixing} needs communities of more than "
            f"{np.ceil((1 - mixing) * max_degree):g} nodes, got max_size={max_size}."
        )
    rng = check_random_state(random_state)
    degrees = _degrees(n_nodes, degree, max_degree, rng)
    n_inside = np.floor((1 - mixing) * degrees + rng.random_sample(n_nodes)).astype(np.intp)
    counts = np.ones(n_nodes, dtype=np.intp)
    counts[rng.permutation(n_nodes)[: round(overlap * n_nodes)]] = n_memberships
    sizes = _sizes(int(counts.sum()), min_size, max_size, rng)
    if len(sizes) < counts.max():
        raise ValueError(f"n_memberships={n_memberships} needs as many communities, got {len(sizes)}: see max_size.")
    if len(sizes) == 1 and mixing > 0:
        raise ValueError(f"mixing={mixing} needs several communities, got one: see max_size.")

    nodes = np.repeat(np.arange(n_nodes), counts)
    position = np.arange(len(nodes)) - np.repeat(np.cumsum(counts) - counts, counts)
    shares = n_inside[nodes] // counts[nodes] + (position < n_inside[nodes] % counts[nodes])
    order = np.argsort(-shares, kind="stable")
    nodes, shares = nodes[order], shares[order]
    communities = _places(nodes, shares, sizes, rng)
    shares = np.minimum(shares, sizes[communities] - 1)
    cover = sparse.coo_array((np.ones(len(nodes), dtype=bool), (nodes, communities)), shape=(n_nodes, len(sizes)))
    cover = cover.tocsr()

    def apart(pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
        none_shared: NDArray[np.bool_] = cover[pairs[:, 0]].multiply(cover[pairs[:, 1]]).sum(axis=1) == 0
        return none_shared

    linked = np.empty(0, dtype=np.int64)
    linked = _joined(np.repeat(nodes, shares), np.repeat(communities, shares), linked, None, n_nodes, rng)
    outside = np.repeat(np.arange(n_nodes), degrees - n_inside)
    linked = _joined(outside, np.zeros(len(outside), dtype=np.intp), linked, apart, n_nodes, rng)
    adjacency = _adjacency(n_nodes, np.column_stack(np.divmod(linked, n_nodes)))
    return Bunch(adjacency=adjacency, cover=dense_unless_large(cover))


def _degrees(n_nodes: int, mean: float, largest: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw degrees from a power law of exponent 2 with this mean: a mixture of two with neighbouring lower ends."""
    values = np.arange(1, largest + 1)
    laws = np.where(values >= values[:, None], values**-2.0, 0.0)
    laws /= laws.sum(axis=1, keepdims=True)
    means = laws @ values
    if not means[0] <= mean <= largest:
        raise ValueError(f"degree={mean} must be in [{means[0]:.3g}, {largest}] for max_degree={largest}.")
    above = min(int(np.searchsorted(means, mean)), largest - 1)
    below = max(above - 1, 0)
    weight = (mean - means[below]) / max(means[above] - means[below], np.finfo(float).tiny)
    drawn: NDArray[np.intp] = rng.choice(values, n_nodes, p=(1 - weight) * laws[below] + weight * laws[above])
    return drawn


def _sizes(total: int, smallest: int, largest: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw sizes from a power law of exponent 1 that add up to the total, the largest first."""
    values = np.arange(smallest, largest + 1)
    drawn = rng.choice(values, -(-total // smallest), p=1 / values / (1 / values).sum())
    n_sizes = int(np.searchsorted(np.cumsum(drawn), total)) + 1
    n_sizes -= n_sizes * smallest > total
    if not n_sizes * smallest <= total <= n_sizes * largest:
        raise ValueError(
            f"No communities of min_size={smallest} to max_size={largest} nodes have {total} members together: "
            "change one of them, n_nodes or overlap."
        )
    sizes = drawn[:n_sizes]
    missing = total - int(sizes.sum())
    # Change sizes by one, at random among all ways that keep them within their bounds.
    room = np.repeat(np.arange(n_sizes), largest - sizes if missing > 0 else sizes - smallest)
    changes = np.bincount(rng.permutation(room)[: abs(missing)], minlength=n_sizes)
    return np.sort(sizes + np.sign(missing) * changes)[::-1]


def _places(
    nodes: NDArray[np.intp], shares: NDArray[np.intp], sizes: NDArray[np.intp], rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Return a community for each membership of a node, no community twice for a node.

    Memberships and sizes come in decreasing order. ``shares`` are the links that a membership needs.
    """
    free: list[int] = []
    communities = np.empty(len(nodes), dtype=np.intp)
    n_open = 0
    for i, (share, draw) in enumerate(zip(shares.tolist(), rng.random_sample(len(nodes)).tolist(), strict=True)):
        while n_open < len(sizes) and (sizes[n_open] > share or not free):
            free += [n_open] * int(sizes[n_open])
            n_open += 1
        place = int(draw * len(free))
        communities[i] = free[place]
        free[place] = free[-1]
        free.pop()
    # Swap what a node has twice with any other membership.
    owned = Counter(zip(nodes.tolist(), communities.tolist(), strict=True))
    for i in [i for i, pair in enumerate(zip(nodes.tolist(), communities.tolist(), strict=True)) if owned[pair] > 1]:
        if owned[nodes[i], communities[i]] == 1:
            continue
        for j in rng.randint(len(nodes), size=_TRIES):
            fits = sizes[communities[j]] > shares[i] and sizes[communities[i]] > shares[j]
            if fits and not owned[nodes[i], communities[j]] and not owned[nodes[j], communities[i]]:
                owned.subtract([(nodes[i], communities[i]), (nodes[j], communities[j])])
                communities[i], communities[j] = communities[j], communities[i]
                owned.update([(nodes[i], communities[i]), (nodes[j], communities[j])])
                break
        else:
            raise ValueError(
                f"{len(sizes)} communities are too few to give each node different ones: lower overlap, n_memberships "
                "or max_size, or raise n_nodes."
            )
    return communities


def _joined(
    ends: NDArray[np.intp],
    groups: NDArray[np.intp],
    linked: NDArray[np.int64],
    allowed: Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None,
    n_nodes: int,
    rng: np.random.RandomState,
) -> NDArray[np.int64]:
    """Join ends of the same group at random; return the pairs ``linked`` before and after, as row * n_nodes + column.

    Pairs are sorted, rows are smaller than columns.
    """
    for _ in range(_ROUNDS):
        order = np.lexsort([rng.random_sample(len(ends)), groups])
        ends, groups = ends[order], groups[order]
        # one end of a group with an odd number has no partner
        first = np.flatnonzero(np.diff(groups, prepend=-1))
        odd = first[np.diff(first, append=len(ends)) % 2 == 1]
        ends, groups = np.delete(ends, odd), np.delete(groups, odd)
        if len(ends) == 0:
            break
        pairs = np.sort(ends.reshape(-1, 2), axis=1)
        keys = pairs[:, 0].astype(np.int64) * n_nodes + pairs[:, 1]
        bounded = np.append(linked, n_nodes**2)
        known = bounded[np.searchsorted(bounded, keys)] == keys
        new = np.zeros(len(keys), dtype=bool)
        new[np.unique(keys, return_index=True)[1]] = True
        new &= ~known & (pairs[:, 0] != pairs[:, 1])
        if allowed is not None:
            new[new] = allowed(pairs[new])
        # mergesort is linear in two sorted parts
        linked = np.sort(np.concatenate([linked, np.sort(keys[new])]), kind="stable")
        again = np.repeat(~new, 2)
        ends, groups = ends[again], groups[again]
    return linked
