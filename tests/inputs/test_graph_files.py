"""Graph files: every format against networkx or the matrix it was written from, notes, and what is refused."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from soft_clustering import inputs
from soft_clustering.datasets import load_graph
from soft_clustering.inputs import read_cover, read_graph, write_cover


@pytest.fixture
def nx():
    return pytest.importorskip("networkx")


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def links(graph):
    """The links by the names of their nodes."""
    A = sparse.coo_array(sparse.triu(graph.adjacency))
    assert (graph.adjacency != graph.adjacency.T).nnz == 0 and not graph.adjacency.diagonal().any()
    assert graph.adjacency.dtype == np.float64 and graph.adjacency.indices.dtype == np.int32
    rows, columns = A.coords
    pairs = zip(graph.node_names[rows], graph.node_names[columns], A.data.tolist(), strict=True)
    return {(str(u), str(v)): weight for u, v, weight in pairs}


# Lists of links -------------------------------------------------------------------------------------------------------

PLAIN = {("b", "a"): 1, ("b", "c"): 1}
WEIGHTED = {("b", "a"): 2.5, ("b", "c"): 1}


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("g.edgelist", "b a\nb c\n", PLAIN),
        ("g.edges", "b\ta\nb\tc", PLAIN),
        ("g.txt", "# comment\n% another\n\n  b   a \n b c\r\n", PLAIN),
        ("g.csv", "b,a\nb,c\n", PLAIN),
        ("g.csv", "Source,Target\nb,a\nb,c\n", PLAIN),
        ("g.csv", "Id,Source,Target,Type\n0,b,a,x\n1,b,c,x\n", PLAIN),
        ("g.csv", '"b" , "a"\nb,c\n', PLAIN),
        ("g.txt", "  # a comment behind blanks\nb a\nb c\n", PLAIN),
        ("g.tsv", "b\ta\t2.5\nb\tc\t1\n", WEIGHTED),
        ("g.csv", "b;a;2.5\nb;c;1\n", WEIGHTED),
        ("g.csv", "one,two,strength\nb,a,2.5\nb,c,1\n", WEIGHTED),
        ("g.csv", "weight,to,from\n2.5,a,b\n1,c,b\n", WEIGHTED),
        ("g.edgelist", "b a {'weight': 2.5}\nb c {'weight': 1}\n", WEIGHTED),
        ("g.edgelist", "b a {}\nb c {}\n", PLAIN),
        ("g.edgelist", "% sym weighted\nb a 2.5 1083883\nb c 1 1083884\n", WEIGHTED),  # KONECT
        ("g.edgelist", b"\xef\xbb\xbfb a\nb c\n", PLAIN),
    ],
)
def test_lists_of_links(name, text, expected, tmp_path):
    graph = read_graph(write(tmp_path, name, text))
    assert links(graph) == expected
    assert graph.node_names.tolist() == ["b", "a", "c"]  # in the order of first appearance
    assert graph.cover is None and graph.labels is None and graph.features is None
    weights = "with" if expected is WEIGHTED else "without"
    assert graph.notes[0] == f"{name} is a graph {weights} weights: 3 nodes, 2 links."


def test_any_names_of_columns_above_numbers(tmp_path):
    graph = read_graph(write(tmp_path, "g.csv", "id_1,id_2\n7,3\n3,5\n"))
    assert graph.node_names.tolist() == ["7", "3", "5"]
    assert graph.notes[1] == "The first line was read as the names of the columns."
    for text in ("Ann Bob\n1 2\n3 Cem\n", "source target\nAnn Bob\n1 2\n"):  # Ann and Bob are nodes
        assert links(read_graph(write(tmp_path, "g.txt", text)))[("Ann", "Bob")] == 1


def test_names_are_any_text(tmp_path):
    graph = read_graph(write(tmp_path, "g.tsv", "New York\tÅrhus\nÅrhus\t007\nNew York\t7\n"))
    assert graph.node_names.tolist() == ["New York", "Århus", "007", "7"]
    graph = read_graph(write(tmp_path, "g.csv", '"Doe, Ann",Bob\nBob,"Doe, Cem"\n'))
    assert graph.node_names.tolist() == ["Doe, Ann", "Bob", "Doe, Cem"]


def test_compressed_and_other_encodings(tmp_path):
    path = tmp_path / "g.edgelist.gz"
    path.write_bytes(gzip.compress(b"a b\nb c\n"))
    assert len(links(read_graph(path))) == 2
    graph = read_graph(write(tmp_path, "g.edgelist", "Århus Malmö\n".encode("cp1252")))
    assert graph.node_names.tolist() == ["Århus", "Malmö"]
    assert "g.edgelist is not in UTF-8: it was read as cp1252." in graph.notes


def test_repeated_links_count_once_without_weights(tmp_path):
    graph = read_graph(write(tmp_path, "g.edgelist", "a b\nb a\na b\nb c\nc c\n"))
    assert links(graph) == {("a", "b"): 1, ("b", "c"): 1}
    assert graph.notes[1:] == [
        "The graph leaves out 1 link of a node to itself.",
        "Links that are listed more than once, in any direction, count once: 2 such lines.",
    ]


def test_weights_of_repeated_links_are_added_up(tmp_path):
    graph = read_graph(write(tmp_path, "g.edgelist", "a b 1\nb a 2\nb c 4\nc d 0\n"))
    assert links(graph) == {("a", "b"): 3, ("b", "c"): 4}
    assert graph.notes[1:] == [
        "The graph leaves out 1 link of weight 0.",
        "Links that are listed more than once, in any direction, are added up: 1 such lines.",
        "The graph has 1 node without a link.",
    ]


def test_columns_left_out_are_named(tmp_path):
    notes = read_graph(write(tmp_path, "g.csv", "source,target,year\na,b,2001\nb,c,2002\n")).notes
    assert "The graph leaves out 1 column: 'year'." in notes
    assert "The first line was read as the names of the columns." in notes


def test_random_lists_are_those_of_networkx(tmp_path, nx):
    reference = nx.gnm_random_graph(60, 300, seed=0)
    for u, v in reference.edges:
        reference.edges[u, v]["weight"] = (u * v) % 5 + 0.5
    nx.write_weighted_edgelist(reference, tmp_path / "g.edgelist")
    graph = read_graph(tmp_path / "g.edgelist")
    expected = nx.to_numpy_array(reference, nodelist=[int(name) for name in graph.node_names])
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)


# GML, GraphML, Pajek --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, classes", [("karate", 2), ("dolphins", 2), ("football", 12), ("polbooks", 3)])
def test_gml_of_the_classic_graphs(name, classes, shared_data):
    graph, known = (
        read_graph(shared_data / "graphs" / f"{name}.gml"),
        load_graph(name, data_home=shared_data / "graphs"),
    )
    assert (graph.adjacency != known.adjacency).nnz == 0
    assert graph.node_names.tolist() == known.node_names.tolist()
    np.testing.assert_array_equal(graph.cover, known.cover)
    assert graph.cover.shape[1] == classes and graph.labels.tolist() == known.labels.tolist()
    assert any("The communities are the values of" in note for note in graph.notes)


def test_gml_with_weights_directions_and_entities(tmp_path):
    text = """
    # a comment
    Creator "someone"
    graph [ directed 1
      node [ id 3 label "A &amp; B" graphics [ x 1.5 y -2e3 ] ]
      node [ id 1 label "C" ]
      node [ id 2 label "D" ]
      edge [ source 3 target 1 value 0.5 ]
      edge [ source 1 target 3 value 1 ]
    ]"""
    graph = read_graph(write(tmp_path, "g.gml", text))
    assert links(graph) == {("A & B", "C"): 1.5}
    assert graph.node_names.tolist() == ["A & B", "C", "D"] and graph.cover is None
    assert "The directions of the links are left out." in graph.notes
    assert "The graph has 1 node without a link." in graph.notes


@pytest.mark.parametrize("suffix", ["graphml", "net"])
def test_through_networkx(suffix, tmp_path, nx):
    reference = nx.Graph()
    reference.add_weighted_edges_from([("b", "a", 2.0), ("b", "c", 1.0)])
    (nx.write_graphml if suffix == "graphml" else nx.write_pajek)(reference, str(tmp_path / f"g.{suffix}"))
    graph = read_graph(tmp_path / f"g.{suffix}")
    assert links(graph) == {("b", "a"): 2, ("b", "c"): 1} and graph.node_names.tolist() == ["b", "a", "c"]


def test_graphml_with_communities(tmp_path, nx):
    nx.write_graphml(nx.karate_club_graph(), tmp_path / "karate.graphml")
    graph = read_graph(tmp_path / "karate.graphml")
    assert sorted(graph.cover.sum(axis=0)) == [17, 17]
    assert "The communities are the values of 'club' of the nodes." in graph.notes


def test_without_networkx(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    path = write(tmp_path, "g.graphml", "<graphml/>")
    with pytest.raises(ImportError, match=r"Reading .graphml files needs networkx: pip install"):
        read_graph(path)


# Matrices -------------------------------------------------------------------------------------------------------------

MATRIX = sparse.csr_array(np.array([[7.0, 2, 0, 0], [2, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))


@pytest.mark.parametrize("suffix", ["mtx", "npz"])
def test_matrices(suffix, tmp_path):
    path = tmp_path / f"g.{suffix}"
    mmwrite(path, MATRIX) if suffix == "mtx" else sparse.save_npz(path, MATRIX)
    graph = read_graph(path)
    assert links(graph) == {("0", "1"): 2, ("1", "2"): 1}
    assert graph.notes == [
        f"g.{suffix} is a graph with weights: 4 nodes, 2 links.",
        "The graph leaves out 1 link of a node to itself.",
        "The matrix is not symmetric: the larger entry of both directions counts.",
        "The graph has 1 node without a link.",
    ]


def test_pattern_matrix(tmp_path):
    text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"
    assert links(read_graph(write(tmp_path, "g.mtx", text))) == {("0", "1"): 1, ("1", "2"): 1}


@pytest.mark.parametrize("name", ["fb_348", "fb_698", "fb_3980"])
def test_ego_networks(name, shared_data):
    graph, known = (
        read_graph(shared_data / "graphs" / f"{name}.npz"),
        load_graph(name, data_home=shared_data / "graphs"),
    )
    assert (graph.adjacency != known.adjacency).nnz == 0
    np.testing.assert_array_equal(graph.cover, known.cover)
    assert (graph.features != known.features).nnz == 0 and graph.labels is None


def test_no_pickles(tmp_path):
    np.savez(
        tmp_path / "g.npz",
        **{f"adj_matrix.{field}": np.array([{}]) for field in ("data", "indices", "indptr", "shape")},
    )
    with pytest.raises(ValueError, match=r"g.npz is damaged or not what its name says: .*allow_pickle=False"):
        read_graph(tmp_path / "g.npz")


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("g.edgelist", "", "is empty: check that it was saved completely"),
        ("g.edgelist", "# only\n% comments\n", "has only comments"),
        ("g.edgelist", "a b\nb c d\n", "has 2 fields in its first line and 3 in line 2, 'b c d'"),
        ("g.edgelist", "# x\n\na b\r\nb c d\n", "has 2 fields in its first line and 3 in line 4, 'b c d'"),
        ("g.edgelist.gz", gzip.compress(b"a b 1\n% x\nb c y\n"), "the weight. Got 'y' in line 3"),
        ("g.csv", "a,b\n,c\n", "without the name of a node in line 2, ',c'"),
        ("g.edgelist", "a b c d\n", "has 4 fields per line: a list of links has"),
        ("g.edgelist", "a\nb\n", "has 1 field per line"),
        ("g.edgelist", "a b 1\nb c x\n", "must have a number as the third field of each line, the weight. Got 'x'"),
        ("g.edgelist", "a b 1\nb c -2\n", "must have finite weights >= 0. Got -2 in line 2"),
        ("g.edgelist", "a b nan\nb c 1\n", "must have finite weights >= 0. Got nan in line 1"),
        ("g.edgelist", "a a\nb b\n", "has no link between different nodes"),
        ("g.csv", "a,\nb,c\n", "has a link without the name of a node"),
        ("g.csv", "source,target\n", "has no link below the names of its columns"),
        ("g.csv", "source,year,target\na,b\n", "names 3 columns in its first line, but the others have 2 fields"),
        ("g.edgelist", "a b {'weight': __import__('os')}\n", "is damaged or not what its name says"),
        ("g.edgelist", "a b c {'weight': 1}\n", "each line must be 'node node {...}'"),
        ("g.edgelist.gz", b"\x1f\x8b\x08broken", "is damaged: it cannot be decompressed"),
        ("g.gml", "graph [ node [ id 1 ] node [ id 1 ] ]", "two of its nodes have the same id"),
        ("g.gml", "graph [ node [ id 1 ] node [ id 2 ] ]", "has no link between different nodes"),
        ("g.gml", "graph [ node [ label 1 ] ]", r"one of its parts node \[ ... \] has no id"),
        ("g.gml", "nothing here", r"it has no graph \[ ... \]"),
        ("g.graphml", "no xml", "is damaged or not what its name says"),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n", r"it has shape \(2, 3\)"),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -1\n", "negative or not finite"),
        ("g.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n", "its entries are complex"),
        ("g.mtx", "garbage", "is damaged or not what its name says"),
        ("g.npz", "garbage", "is damaged or not what its name says"),
        ("g.doc", "a b", "does not end in one of .edgelist, .edges, .txt"),
    ],
)
def test_refused(name, text, message, tmp_path):
    path = write(tmp_path, name, text)
    if name.endswith("graphml"):
        pytest.importorskip("networkx")
    with pytest.raises(ValueError, match=message) as caught:
        read_graph(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_other_arrays(tmp_path):
    np.savez(tmp_path / "g.npz", X=np.eye(3))
    with pytest.raises(ValueError, match=r"has no adjacency matrix, only X: write it with scipy.sparse.save_npz"):
        read_graph(tmp_path / "g.npz")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nowhere.edgelist: check the name and the folder"):
        read_graph(tmp_path / "nowhere.edgelist")
    with pytest.raises(IsADirectoryError, match="is a folder: name a file in it"):
        read_cover(tmp_path, ["a"])


# Communities ----------------------------------------------------------------------------------------------------------

NODES = ["a", "b", "c", "d"]
COVER = np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool)


@pytest.mark.parametrize(
    "name, text, names",
    [
        ("g.cmty", "a\tb\nb\tc\n", ["0", "1"]),
        ("g.cmty", "# Nodes\na b\n\nb c\n", ["0", "1"]),
        ("g.csv", "a,b\nb,c\n", ["0", "1"]),
        ("g.circles", "one\ta\tb\ntwo\tb\tc\n", ["one", "two"]),
        ("g.circles", "a\ta\tb\nb\tb\tc\n", ["a", "b"]),  # the names are those of nodes
        ("g.txt", "one a b\ntwo b c\n", ["one", "two"]),
        ("g.csv", "node,community\na,one\nb,one\nb,two\nc,two\n", ["one", "two"]),
    ],
)
def test_covers(name, text, names, tmp_path):
    found = read_cover(write(tmp_path, name, text), NODES)
    np.testing.assert_array_equal(found.cover, COVER)
    assert found.cover.dtype == bool and found.names == names
    assert found.notes[0] == f"{name}: 2 communities, 1 of 4 nodes in none."


def test_a_line_for_each_node(tmp_path):
    found = read_cover(write(tmp_path, "g.txt", "0 1\n1 1\n2 0\n"), np.arange(3))
    np.testing.assert_array_equal(found.cover, [[True, False], [True, False], [False, True]])
    assert found.names == ["1", "0"]
    assert "g.txt has a node per line, with its community." in found.notes


def test_unknown_nodes_are_noted(tmp_path):
    found = read_cover(write(tmp_path, "g.cmty", "a b x\nb c\ny\n"), NODES)
    np.testing.assert_array_equal(found.cover, COVER)
    assert "g.cmty names 2 nodes that the graph does not have; they are left out." in found.notes
    assert "1 communities of g.cmty without a node of the graph are left out." in found.notes


@pytest.mark.parametrize(
    "text, message",
    [
        ("x y\nz w\n", "names 2 nodes that the graph does not have, such as 'y'"),
        ("# none\n", "has only comments"),
        (",,\n;\n", "has no names|does not have"),
        ("[[1, 2], [3]]\n", "has brackets, as JSON and Python's lists"),
        ("['a', 'b']\n['c', 'd']\n", "has brackets, as JSON and Python's lists"),
    ],
)
def test_refused_covers(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_cover(write(tmp_path, "g.cmty", text), NODES)


@pytest.mark.parametrize("name", ["g.cmty", "g.csv", "g.cmty.gz", "g.txt"])
@pytest.mark.parametrize(
    "communities",
    [
        [["a", "b"], ["b", "c"]],
        [["New York", "b"], ['say "x"', "x, y"]],
        [["New York"], ['say "x"'], ["x, y"]],
        [["x;y", "a"], ["b"]],
    ],
)
def test_what_is_written_is_read(name, communities, tmp_path):
    nodes = sorted({node for community in communities for node in community} | {"other"})
    write_cover(tmp_path / name, [*communities, []])
    found = read_cover(tmp_path / name, nodes)
    assert [sorted(np.array(nodes)[column]) for column in found.cover.T] == [sorted(c) for c in communities]


@pytest.mark.parametrize("node", ["", " a", "a\tb", "a\nb", "#a"])
def test_nodes_that_cannot_be_written(node, tmp_path):
    with pytest.raises(ValueError, match=r"cannot be written: rename it|would begin a line"):
        write_cover(tmp_path / "g.cmty", [[node, "b"]])


# The package ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_matrix_is_no_list_of_communities(tmp_path, form):
    with pytest.raises(TypeError, match=r"lists of nodes, as of get_communities\(\). Got a cover"):
        write_cover(tmp_path / "g.cmty", form(np.eye(3, dtype=bool)))


def test_readers_are_lazy():
    code = "import soft_clustering.inputs, sys; assert not [m for m in sys.modules if '.files' in m and 'soft' in m]"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(inputs.__all__) <= set(dir(inputs))
    with pytest.raises(AttributeError, match="no attribute 'read_minds'"):
        inputs.read_minds  # noqa: B018


def test_many_communities_are_read_sparse(tmp_path):
    """More than 1e8 entries: a community of three nodes for each of 10,001 nodes."""
    names = [f"n{i}" for i in range(10_001)]
    path = tmp_path / "many.cmty"
    write_cover(path, [[names[i - 2], names[i - 1], names[i]] for i in range(10_001)])
    cover = read_cover(path, names).cover
    assert cover.format == "csr" and cover.dtype == bool and cover.shape == (10_001, 10_001)
    assert (cover.sum(axis=0) == 3).all() and cover.toarray()[0, [0, 1, 2, 3]].tolist() == [True, True, True, False]


def test_communities_of_cdlib(tmp_path):
    """A community per line, its nodes separated by commas, as ``write_community_csv`` writes them."""
    path = tmp_path / "communities.csv"
    path.write_text("0,1,2\n2,3\n")
    found = read_cover(path, ["0", "1", "2", "3", "4"])
    assert found.cover.astype(int).tolist() == [[1, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    assert found.notes[0] == "communities.csv: 2 communities, 1 of 5 nodes in none."
