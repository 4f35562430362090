"""Graph files: lists of links, GML, GraphML, Pajek, matrices."""

from __future__ import annotations

import ast
import csv
from collections import defaultdict
from collections.abc import Sequence
from io import BytesIO
from itertools import chain, count
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from ..._extras import require
from ..._types import Array
from .content import (
    PathLike,
    data_lines,
    line_number,
    npz_keys,
    read_bytes,
    read_npz,
    read_text,
    reading,
    separator_of,
    suffix_of,
)
from .gml import parse_gml

#: The types of file that always hold a graph; lists of links may also end in .txt, .csv or .tsv.
GRAPH_SUFFIXES = (".edgelist", ".edges", ".gml", ".graphml", ".net", ".mtx")
_LISTS = (".edgelist", ".edges", ".txt", ".csv", ".tsv")
_ENDS = ({"source", "from", "src", "node1", "node_1", "id1"}, {"target", "to", "dst", "node2", "node_2", "id2"})
_WEIGHTS = ("weight", "weights", "w", "value")
# The keys of a node that may hold its community, in this order.
_COMMUNITY = ("groundTruth", "community", "group", "club", "class", "label_true", "value")
_EGO = ("data", "indices", "indptr", "shape")


class _Links(NamedTuple):
    """The links of a file."""

    names: list[str]
    ends: NDArray[np.intp]  # (n_links, 2)
    weights: Array | None
    notes: list[str]
    nodes: Sequence[dict[str, Any]] = ()  # what the file says of each node


def read_graph(path: PathLike) -> Bunch:
    r"""Read a graph from a file.

    Parameters
    ----------
    path : str or path
        The end of the name says what it is; all but ``.npz`` may be compressed, with ``.gz`` at the end.

        * ``.edgelist``, ``.edges``, ``.txt``, ``.csv``, ``.tsv``: a link per line, ``node node`` or ``node node
          weight``, separated by blanks, tabs, commas or semicolons. Nodes have any names. Lines that begin with ``#``
          or ``%`` are comments. A first line with the names of the columns, such as ``source,target,weight``, or any
          text above numbers, is recognised.
        * ``.gml``.
        * ``.graphml``, ``.net`` (Pajek): these need networkx.
        * ``.mtx`` (Matrix Market): an adjacency matrix.
        * ``.npz``: an adjacency matrix of :func:`scipy.sparse.save_npz`, or CSR parts ``adj_matrix.data``,
          ``adj_matrix.indices``, ``adj_matrix.indptr``, ``adj_matrix.shape``, beside ``labels.*`` (the cover) and
          ``attr_matrix.*`` (features of the nodes). Nothing is unpickled.

    Returns
    -------
    graph : Bunch
        ``adjacency`` : CSR array of shape (n_nodes, n_nodes), float64; symmetric, no diagonal.

        ``node_names`` : ndarray of shape (n_nodes,), str, in the order of first appearance; numbers from 0 if the nodes
        have no names.

        ``cover`` : ndarray of shape (n_nodes, n_communities), bool, or None if the file has no communities.

        ``labels`` : ndarray of shape (n_nodes,), the communities if they do not overlap, otherwise None.

        ``features`` : CSR array of shape (n_nodes, n_features), or None.

        ``notes`` : list of str, what was recognised, joined and left out, a sentence each.

    Raises
    ------
    FileNotFoundError, ValueError, ImportError
        In one line, with what to do.

    See Also
    --------
    read_cover : the communities of a file of their own.

    Notes
    -----
    A link that is listed several times, or in both directions, counts once if the file has no weights; otherwise its
    weights are added up. In a matrix the larger of both directions counts, as in the models. Links of a node to itself
    are left out. Nodes without links are kept.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from soft_clustering.inputs import read_graph
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "friends.edgelist")
    ...     _ = path.write_text("# who knows whom\nAnn Bob\nBob Cem\nBob Ann\n")
    ...     graph = read_graph(path)
    >>> graph.node_names, graph.adjacency.toarray()[1]
    (array(['Ann', 'Bob', 'Cem'], dtype='<U3'), array([1., 0., 1.]))
    >>> graph.notes[0]
    'friends.edgelist is a graph without weights: 3 nodes, 2 links.'
    """
    path, suffix = Path(path), suffix_of(path)
    if suffix == ".mtx":
        content = read_bytes(path)
        from scipy.io import mmread

        with reading(path):
            return _from_matrix(path, mmread(BytesIO(content)))
    if suffix == ".npz":
        return _from_npz(path)
    if suffix in _LISTS:
        links = _link_list(path)
    elif suffix == ".gml":
        links = _gml(path)
    elif suffix in (".graphml", ".net"):
        links = _networkx(path, suffix)
    else:
        known = ", ".join([*_LISTS, ".gml", ".graphml", ".net", ".mtx", ".npz"])
        raise ValueError(f"{path} does not end in one of {known}: save the graph as one of these types.")
    A, joined = _adjacency(path, links)
    labels, key = _communities(links.nodes)
    notes = [*links.notes, *joined]
    if key is not None:
        notes.append(f"The communities are the values of {key!r} of the nodes.")
    cover = None if labels is None else labels[:, None] == np.unique(labels)
    return _graph(path, A, notes, names=np.array(links.names), cover=cover, labels=labels, features=None)


# From links to a matrix -----------------------------------------------------------------------------------------------


def _adjacency(path: Path, links: _Links) -> tuple[sparse.csr_array, list[str]]:
    """Return the symmetric matrix of the links, and notes about those that were joined or left out."""
    n, notes = len(links.names), []
    weights = np.ones(len(links.ends)) if links.weights is None else links.weights
    if not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(f"{path} must have finite weights >= 0. Got {wrong:g}: correct it or delete the weights.")
    low, high = links.ends.min(axis=1, initial=n), links.ends.max(axis=1, initial=0)
    apart = (low != high) & (weights > 0)
    n_loops = int((low == high).sum())
    if n_loops:
        notes.append(f"The graph leaves out {_count(n_loops, 'link')} of a node to itself.")
    n_zero = int((weights == 0).sum())
    if n_zero:
        notes.append(f"The graph leaves out {_count(n_zero, 'link')} of weight 0.")
    pairs, which = np.unique(low[apart].astype(np.int64) * n + high[apart], return_inverse=True)
    n_repeated = int(apart.sum()) - len(pairs)
    values = np.bincount(which, weights[apart], minlength=len(pairs)) if links.weights is not None else 1.0
    if n_repeated:
        rule = "count once" if links.weights is None else "are added up"
        notes.append(f"Links that are listed more than once, in any direction, {rule}: {n_repeated} such lines.")
    # int32, because parts of scikit-learn refuse int64 indices
    low, high = (pairs // n).astype(np.int32), (pairs % n).astype(np.int32)
    both = (np.concatenate([low, high]), np.concatenate([high, low]))
    data = np.tile(np.broadcast_to(values, pairs.shape), 2).astype(np.float64)
    return sparse.coo_array((data, both), shape=(n, n)).tocsr(), notes


def _graph(path: Path, A: sparse.csr_array, notes: list[str], **parts: Any) -> Bunch:
    """Return the graph with its notes; raise an error if it has no link."""
    if A.nnz == 0:
        raise ValueError(f"{path} has no link between different nodes: check that it is the right file.")
    weighted = A.data.min() != A.data.max()
    cover = parts["cover"]
    communities = "" if cover is None else f", {_count(cover.shape[1], 'communit', 'y', 'ies')}"
    what = (
        f"{path.name} is a graph {'with' if weighted else 'without'} weights: {_count(A.shape[0], 'node')}, "
        f"{_count(A.nnz // 2, 'link')}{communities}."
    )
    isolated = int((np.diff(A.indptr) == 0).sum())
    ending = [f"The graph has {_count(isolated, 'node')} without a link."] if isolated else []
    names = parts.pop("names")
    return Bunch(adjacency=A, node_names=names, **parts, notes=[what, *notes, *ending])


def _count(number: int, noun: str, one: str = "", many: str = "s") -> str:
    return f"{number} {noun}{one if number == 1 else many}"


def _communities(nodes: Sequence[dict[str, Any]]) -> tuple[NDArray[Any] | None, str | None]:
    """Return the community of each node, and the key that holds it; None if no key does."""
    for key in _COMMUNITY:
        values = [node.get(key) for node in nodes]
        if not values or any(isinstance(value, (list, type(None))) for value in values):
            continue
        if 1 < len(set(values)) < len(values):
            return np.array(values), key
    return None, None


def _weights_of(links: Sequence[dict[str, Any]], notes: list[str]) -> Array | None:
    """Return the weights that a file gives its links, if it gives them to all; None without weights."""
    for key in _WEIGHTS:
        values = [link.get(key) for link in links]
        known = [value for value in values if isinstance(value, (int, float))]
        if known and len(known) == len(values):
            return np.array(known, dtype=np.float64)
        if known:
            notes.append(f"Only {len(known)} of {len(values)} links have a number as {key!r}: it is left out.")
    return None


# Lists of links -------------------------------------------------------------------------------------------------------


def _link_list(path: Path) -> _Links:
    text, notes = read_text(path)
    lines = data_lines(text)
    if not lines:
        raise ValueError(f"{path} has only comments: a list of links has a line 'node node' for each.")
    if lines[0].rstrip().endswith("}"):
        return _with_dictionaries(path, lines, notes)
    separator = separator_of(lines[0])
    first, second = ([field for (field,) in fields_of(path, [line], separator)] for line in (lines[0], lines[-1]))
    (source, target, weight), header = _columns(path, first, second, konect=text.startswith("%"), notes=notes)
    if header:
        del lines[0]
    if not lines:
        raise ValueError(f"{path} has no link below the names of its columns.")
    columns = fields_of(path, lines, separator)
    if len(columns) != len(first):
        raise ValueError(
            f"{path} names {_count(len(first), 'column')} in its first line, but the others have "
            f"{_count(len(columns), 'field')}: make them the same number."
        )
    if not header and len(columns) == 2 and all(map(_is_named, columns)):
        notes.append("The first line was read as the names of the columns.")
        del lines[0]
        columns = [column[1:] for column in columns]
    names, ends = _numbered(columns[source], columns[target])
    if "" in names:
        wrong = next(i for i, pair in enumerate(zip(columns[source], columns[target], strict=True)) if "" in pair)
        raise ValueError(
            f"{path} has a link without the name of a node in line {line_number(path, lines[wrong])}, "
            f"{lines[wrong][:40]!r}: each line must be 'node node [weight]'."
        )
    return _Links(names, ends, None if weight is None else _numbers(path, lines, columns[weight]), notes)


def fields_of(path: Path, lines: list[str], separator: str | None) -> list[list[str]]:
    """Return the columns of a text whose lines all have the same number of fields, separated by blanks for None."""
    blank = " " if separator is None else separator
    counts = set(map(methodcaller("count", blank), lines))
    text = "\n".join(lines)
    if len(counts) == 1 and '"' not in text:
        # all fields at once, several times faster than line by line
        width = counts.pop() + 1
        fields = text.split() if separator is None else text.replace(separator, "\n").split("\n")
        if len(fields) == width * len(lines):
            if separator is not None:
                fields = list(map(str.strip, fields))
            return [fields[i::width] for i in range(width)]
    if separator is None:
        rows = [line.split() for line in lines]
    else:
        rows = [
            [field.strip() for field in row] for row in csv.reader(lines, delimiter=separator, skipinitialspace=True)
        ]
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if wrong is not None:
        raise ValueError(
            f"{path} has {len(rows[0])} fields in its first line and {len(rows[wrong])} in line "
            f"{line_number(path, lines[wrong])}, {lines[wrong][:40]!r}: all lines must have the same number."
        )
    return [list(column) for column in zip(*rows, strict=True)]


def _columns(
    path: Path, first: list[str], second: list[str], konect: bool, notes: list[str]
) -> tuple[tuple[int, int, int | None], bool]:
    """Return the columns of both nodes and of the weight, and whether the first line has names of columns."""
    lower = [field.lower() for field in first]
    ends = [next((i for i, field in enumerate(lower) if field in names), None) for names in _ENDS]
    if ends[0] is not None and ends[1] is not None:
        weight = next((lower.index(name) for name in _WEIGHTS if name in lower), None)
        unused = [repr(field) for i, field in enumerate(first) if i not in (*ends, weight)]
        notes.append("The first line was read as the names of the columns.")
        if unused:
            notes.append(f"The graph leaves out {_count(len(unused), 'column')}: {', '.join(unused)}.")
        return (ends[0], ends[1], weight), True
    if len(first) == 2:
        return (0, 1, None), False
    if len(first) == 3 or (len(first) == 4 and konect):
        header = not is_number(first[2]) and len(second) > 2 and is_number(second[2])
        if header:
            notes.append("The first line was read as the names of the columns.")
        if len(first) == 4:
            notes.append("The graph leaves out the fourth column, the times of the links.")
        return (0, 1, 2), header
    raise ValueError(
        f"{path} has {_count(len(first), 'field')} per line: a list of links has 'node node' or 'node node weight', or "
        "a first line with the names source, target and weight. Delete the other columns."
    )


def _is_named(column: list[str]) -> bool:
    """Whether the first field of a column is its name: all others are numbers, and it is none."""
    return len(column) > 1 and not is_number(column[0]) and all(map(is_number, column[1:]))


def is_number(text: str) -> bool:
    """Whether a field is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbered(sources: list[str], targets: list[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the names in the order of their first appearance, and the positions (n_links, 2) of the ends."""
    places: defaultdict[str, int] = defaultdict(count().__next__)  # a new name gets the next number
    ends = chain.from_iterable(zip(sources, targets, strict=True))
    positions = np.fromiter(map(places.__getitem__, ends), dtype=np.intp, count=2 * len(sources))
    return list(places), positions.reshape(-1, 2)


def _numbers(path: Path, lines: list[str], fields: list[str]) -> Array:
    """Return the weights of the links of these lines."""
    try:
        weights = np.fromiter(map(float, fields), dtype=np.float64, count=len(fields))
    except ValueError:
        wrong = next(i for i, field in enumerate(fields) if not is_number(field))
        raise ValueError(
            f"{path} must have a number as the third field of each line, the weight. Got {fields[wrong]!r} in line "
            f"{line_number(path, lines[wrong])}: correct it, or delete the third column."
        ) from None
    allowed = (weights >= 0) & (weights < np.inf)
    if not allowed.all():
        wrong = int(allowed.argmin())
        raise ValueError(
            f"{path} must have finite weights >= 0. Got {weights[wrong]:g} in line {line_number(path, lines[wrong])}: "
            "correct it or delete the weights."
        )
    return weights


def _with_dictionaries(path: Path, lines: list[str], notes: list[str]) -> _Links:
    """Read lines such as ``a b {'weight': 2}``, which networkx writes."""
    heads, tails = zip(*[(line.partition("{")[0], "{" + line.partition("{")[2]) for line in lines], strict=True)
    rows = [head.split() for head in heads]
    with reading(path):
        if any(len(row) != 2 for row in rows):
            raise ValueError("each line must be 'node node {...}'.")
        found = [{} if tail.strip() == "{}" else ast.literal_eval(tail.strip()) for tail in tails]
    names, ends = _numbered([row[0] for row in rows], [row[1] for row in rows])
    return _Links(names, ends, _weights_of(found, notes), notes)


# Files that say more of the nodes -------------------------------------------------------------------------------------


def _gml(path: Path) -> _Links:
    text, notes = read_text(path)
    with reading(path):
        graph = parse_gml(text)
    if graph.directed:
        notes.append("The directions of the links are left out.")
    names = [str(node.get("label", node["id"])) for node in graph.nodes]
    if len(set(names)) < len(names):
        notes.append("Two nodes have the same label: the nodes are named by their ids.")
        names = [str(node["id"]) for node in graph.nodes]
    return _Links(names, graph.ends, _weights_of(graph.links, notes), notes, graph.nodes)


def _networkx(path: Path, suffix: str) -> _Links:
    networkx = require("networkx", f"Reading {suffix} files needs networkx", extra="graphs")
    content = read_bytes(path)
    with reading(path):
        if suffix == ".graphml":
            graph = networkx.read_graphml(BytesIO(content))
        else:
            graph = networkx.parse_pajek(read_text(path)[0])
    notes = ["The directions of the links are left out."] if graph.is_directed() else []
    nodes = [dict(data) for _, data in graph.nodes(data=True)]
    names = [str(node) for node in graph.nodes]
    labels = [str(data.get("label", data.get("name", ""))) for data in nodes]
    if "" not in labels and len(set(labels)) == len(labels):
        names = labels
    places = {node: i for i, node in enumerate(graph.nodes)}
    edges = list(graph.edges(data=True))
    ends = np.array([(places[u], places[v]) for u, v, _ in edges], dtype=np.intp).reshape(-1, 2)
    weights = _weights_of([data for _, _, data in edges], notes)
    # networkx gives every link of a Pajek file a weight, 1 if it has none
    if suffix == ".net" and weights is not None and (weights == 1).all():
        weights = None
    return _Links(names, ends, weights, notes, nodes)


# Matrices -------------------------------------------------------------------------------------------------------------


def _from_matrix(path: Path, matrix: Any, **parts: Any) -> Bunch:
    """Return the graph of an adjacency matrix."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"it has shape {matrix.shape}: an adjacency matrix is square.")
    if np.iscomplexobj(matrix):
        raise ValueError("its entries are complex: an adjacency matrix has entries >= 0.")
    A = sparse.csr_array(matrix, dtype=np.float64)
    A.sum_duplicates()
    if not np.isfinite(A.data).all() or A.data.min(initial=0.0) < 0:
        raise ValueError("it has entries that are negative or not finite: an adjacency matrix has entries >= 0.")
    notes, n = [], A.shape[0]
    rows = np.repeat(np.arange(n), np.diff(A.indptr))
    apart = (rows != A.indices) & (A.data > 0)
    n_loops = int(((rows == A.indices) & (A.data > 0)).sum())
    if n_loops:
        notes.append(f"The graph leaves out {_count(n_loops, 'link')} of a node to itself.")
    ends = (rows[apart].astype(np.int32), A.indices[apart].astype(np.int32))
    A = sparse.coo_array((A.data[apart], ends), shape=(n, n)).tocsr()
    if (A != A.T).nnz:
        notes.append("The matrix is not symmetric: the larger entry of both directions counts.")
        A = sparse.csr_array(A.maximum(A.T))
        A.sort_indices()
    parts = {"cover": None, "labels": None, "features": None, "names": np.arange(n).astype(str)} | parts
    return _graph(path, A, notes, **parts)


def _from_npz(path: Path) -> Bunch:
    read_bytes(path)  # raises an error if there is no such file
    keys = npz_keys(path)
    if "adj_matrix.data" in keys:
        optional = [name for name in ("attr_matrix", "labels") if f"{name}.data" in keys]
        links, features, circles = ego_matrices(path, optional)
        cover = None if circles is None else circles.toarray() > 0
        with reading(path):
            return _from_matrix(path, links, cover=cover, features=features)
    if "format" not in keys:
        raise ValueError(
            f"{path} has no adjacency matrix, only {', '.join(keys)[:80]}: write it with scipy.sparse.save_npz."
        )
    with reading(path):
        matrix = sparse.load_npz(path)  # refuses pickled arrays
        return _from_matrix(path, matrix)


def ego_matrices(path: Path, optional: Sequence[str]) -> tuple[Any, Any, Any]:
    """Return the matrices ``adj_matrix``, ``attr_matrix`` and ``labels`` of such a file; None for those not asked for.

    The other arrays of these files are pickled objects, which are not read.
    """
    wanted = ["adj_matrix", *optional]
    arrays = read_npz(path, [f"{matrix}.{field}" for matrix in wanted for field in _EGO])
    with reading(path):
        found = {matrix: _csr(*(arrays[f"{matrix}.{field}"] for field in _EGO)) for matrix in wanted}
        links, features = found["adj_matrix"], found.get("attr_matrix")
        n = links.shape[0]
        if links.shape != (n, n) or any(matrix.shape[0] != n for matrix in found.values()):
            raise ValueError("its matrices have different numbers of nodes.")
        if features is not None and not np.isfinite(features.data).all():
            raise ValueError("its features have NaN or infinite values.")
    return links, features, found.get("labels")


def _csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any]) -> sparse.csr_array:
    matrix = sparse.csr_array((data.astype(np.float64), indices, indptr), shape=tuple(shape.tolist()))
    matrix.check_format(full_check=True)
    return matrix
