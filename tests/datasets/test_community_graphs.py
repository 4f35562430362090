"""Graphs with known communities: against networkx, against their sources' counts, the planted model, hostile files."""

import os

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom

from soft_clustering.datasets import load_graph, make_lfr_graph, make_overlapping_graph

# nodes, isolated nodes, edges, attributes, communities, nodes in none, most communities of a node
EGO_NETWORKS = {
    "fb_348": (227, 3, 3192, 21, 14, 7, 7),
    "fb_414": (159, 9, 1693, 16, 7, 20, 3),
    "fb_686": (170, 2, 1656, 9, 14, 0, 10),
    "fb_698": (66, 5, 270, 6, 13, 12, 5),
    "fb_1684": (792, 6, 14024, 15, 17, 23, 3),
    "fb_1912": (755, 8, 30025, 29, 46, 45, 6),
    "fb_0": (347, 14, 2519, 30, 24, 61, 2),
    "fb_107": (1045, 11, 26749, 11, 9, 564, 3),
    "fb_3437": (547, 13, 4813, 23, 32, 450, 5),
    "fb_3980": (59, 7, 146, 16, 17, 1, 1),
}
SPLITS = {"karate": [16, 18], "dolphins": [20, 42], "football": None, "polbooks": [43, 49, 13]}


def assert_simple(adjacency, n_nodes, n_edges):
    """Symmetric, 0 and 1, no loops."""
    assert adjacency.format == "csr" and adjacency.dtype == np.float64 and adjacency.indices.dtype == np.int32
    assert adjacency.shape == (n_nodes, n_nodes) and adjacency.nnz == 2 * n_edges
    assert adjacency.has_canonical_format
    assert (adjacency.data == 1).all() and not adjacency.diagonal().any()
    assert (adjacency != adjacency.T).nnz == 0


@pytest.fixture
def nx():
    return pytest.importorskip("networkx")


def through_networkx(nx, path):
    """The graph as networkx reads it, once the file is put right for it."""
    lines = []
    for line in path.read_text().splitlines():
        key, _, value = line.strip().partition(" ")
        quoted = key == "value" and not value.isdigit()
        lines.append(f'{key} "{value}"' if quoted else line)
        if line.strip() == "directed 0":
            lines.append("multigraph 1")
    return nx.Graph(nx.parse_gml(lines, label="id"))


# Published graphs -----------------------------------------------------------------------------------------------------


def test_karate_is_that_of_networkx(nx):
    graph, reference = load_graph("karate"), nx.karate_club_graph()
    assert_simple(graph.adjacency, 34, 78)
    np.testing.assert_array_equal(graph.adjacency.toarray(), nx.to_numpy_array(reference, weight=None))
    officers = np.array([reference.nodes[node]["club"] == "Officer" for node in range(34)])
    assert np.flatnonzero(graph.labels != officers).tolist() == [8]  # member 9: see the docstring
    assert graph.node_names.tolist() == [str(i) for i in range(1, 35)]
    assert graph.features is None


def test_karate_is_that_of_the_file(nx, shared_data):
    graph, reference = load_graph(), through_networkx(nx, shared_data / "graphs" / "karate.gml")
    assert list(reference) == list(range(1, 35))
    np.testing.assert_array_equal(graph.adjacency.toarray(), nx.to_numpy_array(reference))
    assert graph.labels.tolist() == [reference.nodes[node]["groundTruth"] for node in reference]


def test_karate_needs_no_file(monkeypatch, tmp_path):
    (tmp_path / "karate.gml").write_text("graph [")
    monkeypatch.setenv("SOFT_CLUSTERING_DATA", str(tmp_path))
    assert load_graph("karate", data_home=tmp_path).adjacency.nnz == 156


def test_graphs_are_new_in_every_call():
    load_graph().adjacency.data[:] = 0
    load_graph().labels[:] = 0
    assert load_graph().adjacency.sum() == 156 and load_graph().labels.sum() == 18


@pytest.mark.parametrize(
    "name, n_nodes, n_edges, n_classes, label",
    [
        ("dolphins", 62, 159, 2, "groundTruth"),
        ("football", 115, 613, 12, "value"),
        ("polbooks", 105, 441, 3, "value"),
    ],
)
def test_classic_graphs(name, n_nodes, n_edges, n_classes, label, nx, shared_data):
    graph = load_graph(name, data_home=shared_data / "graphs")
    assert_simple(graph.adjacency, n_nodes, n_edges)
    reference = through_networkx(nx, shared_data / "graphs" / f"{name}.gml")
    np.testing.assert_array_equal(graph.adjacency.toarray(), nx.to_numpy_array(reference))
    assert graph.labels.tolist() == [reference.nodes[node][label] for node in reference]
    assert graph.node_names.tolist() == [reference.nodes[node]["label"] for node in reference]
    assert graph.cover.shape == (n_nodes, n_classes) and graph.cover.dtype == bool
    np.testing.assert_array_equal(np.unique(graph.labels)[graph.cover.argmax(axis=1)], graph.labels)
    assert (graph.cover.sum(axis=1) == 1).all()
    assert graph.features is None
    if SPLITS[name]:
        assert graph.cover.sum(axis=0).tolist() == SPLITS[name]


@pytest.mark.parametrize("name", EGO_NETWORKS)
def test_ego_networks(name, shared_data, monkeypatch):
    monkeypatch.setenv(
        "SOFT_CLUSTERING_DATA", os.pathsep.join(map(str, [shared_data / "tabular", shared_data / "graphs"]))
    )
    graph = load_graph(name)
    nodes, isolated, edges, attributes, communities, outside, most = EGO_NETWORKS[name]
    assert_simple(graph.adjacency, nodes, edges)
    assert (graph.adjacency.sum(axis=1) == 0).sum() == isolated
    assert graph.features.shape == (nodes, attributes) and graph.features.dtype == np.float64
    assert graph.features.format == "csr"
    assert graph.cover.shape == (nodes, communities) and graph.cover.dtype == bool
    memberships = graph.cover.sum(axis=1)
    assert ((memberships == 0).sum(), memberships.max()) == (outside, most)
    assert graph.labels is None and len(graph.node_names) == nodes
    with np.load(shared_data / "graphs" / f"{name}.npz") as file:
        parts = {key: file[f"attr_matrix.{key}"] for key in ("data", "indices", "indptr", "shape")}
    reference = sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])
    np.testing.assert_array_equal(graph.features.toarray(), reference.toarray())


# What is refused ------------------------------------------------------------------------------------------------------


def test_unknown_graph():
    with pytest.raises(ValueError, match="Unknown graph 'dolphin': did you mean 'dolphins'"):
        load_graph("dolphin")
    with pytest.raises(ValueError, match="Unknown graph 'zzzz': known are karate, dolphins,"):
        load_graph("zzzz")


@pytest.mark.parametrize("name, file", [("dolphins", "dolphins.gml"), ("fb_0", "fb_0.npz")])
def test_missing_file(name, file, tmp_path):
    with pytest.raises(FileNotFoundError, match=f"The graph '{name}' is read from {file}, which is not in:") as caught:
        load_graph(name, data_home=tmp_path)
    assert f"{tmp_path} (data_home)" in str(caught.value)
    assert "data_home or by the environment variable SOFT_CLUSTERING_DATA" in str(caught.value)
    with pytest.raises(FileNotFoundError, match="data_home and SOFT_CLUSTERING_DATA are not set"):
        load_graph(name)


DOLPHINS = (
    'graph [\n node [ id 5 label "a" groundTruth 0 ]\n node [ id 7 groundTruth 1 ]\n edge [ source 5 target 7 ]\n]\n'
)


@pytest.mark.parametrize(
    "text, message",
    [
        (DOLPHINS, "is not the graph 'dolphins': it has 2 nodes, 1 edges, 2 communities and 0 features, expected 62"),
        (DOLPHINS[:-3], "it ends too early"),
        (DOLPHINS[:40], "it ends too early"),
        (DOLPHINS + "]", r"misplaced '\]'"),
        (DOLPHINS.replace("id 5", "id [", 1), r"misplaced|ends too early"),
        ("[ " + DOLPHINS, r"misplaced '\['"),
        (DOLPHINS.replace('"a"', '"a'), "a quotation mark is not closed"),
        (DOLPHINS.replace("target 7", "target 8"), "an edge names the node 8, which it does not have"),
        (DOLPHINS.replace("groundTruth", "value"), "groundTruth"),
        (DOLPHINS.replace("source", "sauce"), "source"),
        (DOLPHINS.replace("edge", "egde"), "damaged"),
        ("", "graph"),
        ("graph 3", "damaged"),
        (b"\xff\xfe\x00", "damaged.*decode"),
    ],
)
def test_damaged_gml(text, message, tmp_path):
    path = tmp_path / "dolphins.gml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message) as caught:
        load_graph("dolphins", data_home=tmp_path)
    assert str(path) in str(caught.value)


def ego_network(**changes):
    """Two linked nodes, one circle."""
    link = {"data": np.ones(2, np.float32), "indices": [1, 0], "indptr": [0, 1, 2], "shape": [2, 2]}
    one = {"data": np.ones(1, np.float32), "indices": [0], "indptr": [0, 1, 1], "shape": [2, 1]}
    parts = {"adj_matrix": link, "attr_matrix": one, "labels": one}
    arrays = {f"{matrix}.{key}": np.asarray(value) for matrix, part in parts.items() for key, value in part.items()}
    return arrays | changes


@pytest.mark.parametrize(
    "changes, message",
    [
        ({}, "it has 2 nodes, 1 edges, 1 communities and 1 features, expected 347 nodes"),
        ({"adj_matrix.indices": np.array([1, 5])}, "damaged"),
        ({"adj_matrix.indices": np.array([1, -5])}, "damaged"),
        ({"adj_matrix.indptr": np.array([0, 2])}, "damaged"),
        ({"adj_matrix.shape": np.array([2, 3])}, "different numbers of nodes"),
        ({"labels.shape": np.array([3, 1]), "labels.indptr": np.array([0, 1, 1, 1])}, "different numbers of nodes"),
        ({"attr_matrix.data": np.array([np.nan])}, "its features have NaN or infinite values"),
        ({"labels.data": np.array([None])}, "allow_pickle=False"),
    ],
)
def test_damaged_ego_network(changes, message, tmp_path):
    np.savez(tmp_path / "fb_0.npz", **ego_network(**changes))
    with pytest.raises(ValueError, match=message) as caught:
        load_graph("fb_0", data_home=tmp_path)
    assert str(tmp_path / "fb_0.npz") in str(caught.value)


def test_truncated_ego_network(shared_data, tmp_path):
    content = (shared_data / "graphs" / "fb_698.npz").read_bytes()
    for size in (0, 100, len(content) // 2, len(content) - 1):
        (tmp_path / "fb_698.npz").write_bytes(content[:size])
        with pytest.raises(ValueError, match="is damaged or not what its name says"):
            load_graph("fb_698", data_home=tmp_path)


# Planted communities --------------------------------------------------------------------------------------------------


def test_planted_cover():
    graph = make_overlapping_graph(1003, 10, overlap=0.3, random_state=0)
    assert_simple(graph.adjacency, 1003, graph.adjacency.nnz // 2)
    assert graph.cover.shape == (1003, 10) and graph.cover.dtype == bool
    memberships = graph.cover.sum(axis=1)
    assert memberships.min() == 1 and memberships.max() == 2
    assert (memberships == 2).sum() == round(0.3 * 1003)
    # 100 or 101 first memberships each, and a binomial number of second ones
    assert np.all(np.abs(graph.cover.sum(axis=0) - 130) < 25)
    # the second community is any of the others: no pair of communities is left out
    assert ((graph.cover.T.astype(int) @ graph.cover) > 0).all()


@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_overlap_of_none_and_all(overlap):
    memberships = make_overlapping_graph(60, 3, overlap=overlap, degree=5, random_state=0).cover.sum(axis=1)
    assert (memberships == 1 + overlap).all()


def test_links_follow_the_model():
    """Over many graphs each pair is linked as often as 1 - exp(-F_i . F_j - eps) says."""
    repeats = 4000
    rng = np.random.RandomState(0)
    first = make_overlapping_graph(14, 2, overlap=0.5, degree=3, background_degree=2, random_state=1)
    rates = np.log1p(-3 / (first.cover.sum(axis=0) - 1))
    np.testing.assert_allclose(first.strengths**2, -rates, rtol=1e-14)
    assert first.background == pytest.approx(-np.log(1 - 2 / 13), rel=1e-14)
    linked, expected = {}, {}
    for _ in range(repeats):
        graph = make_overlapping_graph(14, 2, overlap=0.5, degree=3, background_degree=2, random_state=rng)
        F = graph.cover * graph.strengths
        probability = -np.expm1(-F @ F.T - graph.background)
        rows, columns = np.triu_indices(14, 1)
        for p, link in zip(probability[rows, columns].round(12), graph.adjacency.toarray()[rows, columns], strict=True):
            linked[p] = linked.get(p, 0) + link
            expected[p] = expected.get(p, 0) + 1
    assert len(linked) > 5  # pairs that share none, one, both, in communities of several sizes
    for p, trials in expected.items():
        low, high = binom.interval(1 - 1e-5, trials, p)
        assert low <= linked[p] <= high


def test_every_pair_is_reached_equally_often():
    """One community of all nodes, no chance edges: each pair of a small graph, counted."""
    repeats, counts = 3000, np.zeros((9, 9))
    rng = np.random.RandomState(0)
    for _ in range(repeats):
        counts += make_overlapping_graph(
            9, 1, overlap=0, degree=3, background_degree=0, random_state=rng
        ).adjacency.toarray()
    low, high = binom.interval(1 - 1e-5, repeats, 3 / 8)
    pairs = counts[np.triu_indices(9, 1)]
    assert low <= pairs.min() and pairs.max() <= high


def test_degrees_of_a_large_graph():
    graph = make_overlapping_graph(100_000, 50, overlap=0.2, degree=15, background_degree=2, random_state=0)
    degrees = graph.adjacency.sum(axis=1)
    memberships = graph.cover.sum(axis=1)
    # a pair linked twice counts once: at these sizes that is rare
    assert degrees[memberships == 1].mean() == pytest.approx(17, rel=0.01)
    assert degrees[memberships == 2].mean() == pytest.approx(32, rel=0.01)
    assert 0.9e6 < graph.adjacency.nnz / 2 < 1.1e6


def test_almost_complete_communities():
    """Two disjoint communities, all but 1e-9 of the pairs linked, no others."""
    graph = make_overlapping_graph(40, 2, overlap=0, degree=19 * (1 - 1e-9), background_degree=0, random_state=0)
    labels = graph.cover.argmax(axis=1)
    np.testing.assert_array_equal(graph.adjacency.toarray(), (labels[:, None] == labels) & ~np.eye(40, dtype=bool))


def test_background_only_is_a_random_graph():
    graph = make_overlapping_graph(2000, 4, degree=1e-12, background_degree=10, random_state=0)
    assert graph.adjacency.sum() / 2000 == pytest.approx(10, abs=0.4)


def test_planted_graphs_are_reproducible():
    graphs = [make_overlapping_graph(300, 5, random_state=7) for _ in range(2)]
    assert (graphs[0].adjacency != graphs[1].adjacency).nnz == 0
    np.testing.assert_array_equal(graphs[0].cover, graphs[1].cover)
    other = make_overlapping_graph(300, 5, random_state=8)
    assert (graphs[0].adjacency != other.adjacency).nnz > 0


def test_global_random_state_is_left_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    make_overlapping_graph(100, 2, random_state=0)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n_nodes": 1}, "'n_nodes' parameter of make_overlapping_graph must be an int in the range"),
        ({"n_communities": 0}, "'n_communities' parameter"),
        ({"n_communities": 2.0}, "'n_communities' parameter"),
        ({"overlap": 1.1}, "'overlap' parameter"),
        ({"overlap": np.nan}, "'overlap' parameter"),
        ({"degree": 0}, "'degree' parameter"),
        ({"degree": np.inf}, "'degree' parameter"),
        ({"background_degree": -1}, "'background_degree' parameter"),
        ({"random_state": "x"}, "'random_state' parameter"),
        ({"n_communities": 1}, "overlap=0.3 needs n_communities >= 2"),
        ({"degree": 90}, "degree=90 needs communities of more than 91 nodes, got 6"),
        ({"background_degree": 99}, "background_degree=99 needs graphs of more than 100 nodes, got 100"),
        ({"n_communities": 100, "overlap": 0}, "degree=15.0 needs communities of more than 16 nodes, got 1"),
        ({"n_communities": 101, "overlap": 0}, "degree=15.0 needs communities of more than 16 nodes, got 0"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_overlapping_graph(**({"n_nodes": 100, "n_communities": 2, "random_state": 0} | arguments))


# LFR graphs -----------------------------------------------------------------------------------------------------------

SETTINGS = [(0.1, 0.1), (0.1, 0.3), (0.3, 0.1), (0.3, 0.3)]


def share_of_links_outside(graph):
    A = graph.adjacency.tocoo()
    together = [(graph.cover[i] & graph.cover[j]).any() for i, j in zip(A.row, A.col, strict=True)]
    return 1 - np.mean(together)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("mixing, overlap", SETTINGS)
def test_lfr_graph_has_what_was_asked_for(mixing, overlap, seed):
    graph = make_lfr_graph(mixing=mixing, overlap=overlap, random_state=seed)
    assert_simple(graph.adjacency, 1000, graph.adjacency.nnz // 2)
    assert graph.cover.dtype == bool and graph.cover.shape[0] == 1000
    memberships, sizes = graph.cover.sum(axis=1), graph.cover.sum(axis=0)
    assert set(memberships) == {1, 2} and (memberships == 2).sum() == round(1000 * overlap)
    assert sizes.min() >= 20 and sizes.max() <= 100
    degrees = graph.adjacency.sum(axis=1)
    # a twentieth of the links finds no partner
    assert degrees.max() <= 50 and 14 < degrees.mean() < 15.5
    assert share_of_links_outside(graph) == pytest.approx(mixing, abs=0.015)


def test_links_of_lfr_nodes_are_divided_equally_among_their_communities():
    graph = make_lfr_graph(5000, mixing=0.2, overlap=0.5, n_memberships=4, random_state=0)
    assert set(graph.cover.sum(axis=1)) == {1, 4}
    inside = graph.adjacency @ graph.cover  # links of a node into each community
    several = graph.cover.sum(axis=1) == 4
    shares = inside[several][graph.cover[several]].reshape(-1, 4)
    degrees = graph.adjacency.sum(axis=1)[several]
    # up to the rounding of a quarter of the links, dropped ends, and pairs that share two communities
    assert np.abs(shares.mean(axis=0) - 0.2 * degrees.mean()).max() < 0.4
    assert np.abs(shares - 0.2 * degrees[:, None]).mean() < 1


def test_lfr_degrees_and_sizes_follow_power_laws():
    """Shares of the drawn ones against k^-2 and s^-1, where the ends of the range play no part."""
    graph = make_lfr_graph(20_000, mixing=0.3, overlap=0, degree=12, min_size=10, max_size=200, random_state=0)
    degrees = graph.adjacency.sum(axis=1)
    assert (degrees >= 20).sum() / (degrees >= 10).sum() == pytest.approx(
        (1 / 20 - 1 / 50) / (1 / 10 - 1 / 50), rel=0.1
    )
    sizes = graph.cover.sum(axis=0)
    assert (sizes > 60).mean() == pytest.approx(np.log(200 / 60) / np.log(200 / 10), abs=0.06)


@pytest.mark.parametrize(
    "arguments",
    [
        {"mixing": 0, "overlap": 0},
        {"overlap": 1},
        {"overlap": 1, "n_memberships": 5, "mixing": 0.5},
        {"min_size": 46, "max_size": 50},
        {"degree": 50},
        {"degree": 5, "mixing": 0.9},
        {"n_nodes": 110, "max_size": 60, "overlap": 0.2},
    ],
)
def test_lfr_graph_at_the_ends_of_its_parameters(arguments):
    graph = make_lfr_graph(**({"n_nodes": 600, "random_state": 0} | arguments))
    assert_simple(graph.adjacency, len(graph.cover), graph.adjacency.nnz // 2)
    sizes = graph.cover.sum(axis=0)
    assert sizes.min() >= arguments.get("min_size", 20) and sizes.max() <= arguments.get("max_size", 100)
    memberships = np.full(len(graph.cover), 1)
    memberships[: round(arguments.get("overlap", 0.1) * len(memberships))] = arguments.get("n_memberships", 2)
    assert np.sort(graph.cover.sum(axis=1)).tolist() == np.sort(memberships).tolist()
    if arguments.get("mixing") == 0:
        assert share_of_links_outside(graph) == 0


def test_large_lfr_graph_has_a_sparse_cover():
    graph = make_lfr_graph(80_000, random_state=0)
    assert_simple(graph.adjacency, 80_000, graph.adjacency.nnz // 2)
    assert graph.cover.format == "csr" and graph.cover.dtype == bool and graph.cover.has_canonical_format
    assert np.unique(graph.cover.sum(axis=1)).tolist() == [1, 2] and graph.cover.nnz == 88_000


def test_lfr_graphs_are_reproducible():
    graphs = [make_lfr_graph(300, random_state=seed) for seed in (7, np.random.RandomState(7), 8)]
    for same in graphs[:2]:
        assert (graphs[0].adjacency != same.adjacency).nnz == 0
        np.testing.assert_array_equal(graphs[0].cover, same.cover)
    assert (graphs[0].adjacency != graphs[2].adjacency).nnz > 0


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n_nodes": 1}, "'n_nodes' parameter of make_lfr_graph must be an int in the range"),
        ({"mixing": 1}, "'mixing' parameter"),
        ({"overlap": 1.1}, "'overlap' parameter"),
        ({"n_memberships": 1}, "'n_memberships' parameter"),
        ({"degree": np.inf}, "'degree' parameter"),
        ({"degree": np.nan}, "'degree' parameter"),
        ({"max_degree": 0}, "'max_degree' parameter"),
        ({"min_size": 1}, "'min_size' parameter"),
        ({"max_size": 20.0}, "'max_size' parameter"),
        ({"random_state": "x"}, "'random_state' parameter"),
        ({"n_nodes": 50}, "max_degree=50 must be smaller than n_nodes=50"),
        ({"n_nodes": 60}, "min_size=20 must not be larger than max_size=100, nor that than n_nodes=60"),
        ({"min_size": 101}, "min_size=101 must not be larger than max_size=100"),
        ({"degree": 51}, r"degree=51 must be in \[2.77, 50\] for max_degree=50"),
        ({"degree": 2}, r"degree=2 must be in \[2.77, 50\]"),
        (
            {"max_degree": 120},
            "max_degree=120 with mixing=0.1 needs communities of more than 108 nodes, got max_size=",
        ),
        ({"min_size": 99}, "No communities of min_size=99 to max_size=100 nodes have 220 members together"),
        ({"n_nodes": 100, "overlap": 0, "min_size": 60}, "mixing=0.1 needs several communities, got one"),
        ({"n_memberships": 12, "min_size": 60}, "n_memberships=12 needs as many communities, got"),
        (
            {"n_nodes": 100, "overlap": 0.3, "n_memberships": 8, "min_size": 2, "degree": 5, "max_degree": 20},
            "communities are too few to give each node different ones",
        ),
    ],
)
def test_bad_lfr_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_lfr_graph(**({"n_nodes": 200, "random_state": 0} | arguments))
