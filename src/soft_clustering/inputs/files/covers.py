"""Files of communities, which may overlap: read for the nodes of a graph, and written."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from ..._rows import dense_unless_large
from .content import PathLike, data_lines, read_text, suffix_of

_TABLE = ({"node", "id", "name", "vertex"}, {"community", "communities", "label", "class", "group", "cluster"})


def read_cover(path: PathLike, node_names: Sequence[Any] | NDArray[Any]) -> Bunch:
    r"""Read the communities of the nodes of a graph.

    Parameters
    ----------
    path : str or path
        A community per line: its nodes, separated by tabs, commas, semicolons or blanks (``.cmty`` of SNAP). The first
        field of a line is the name of the community if it is not a node, or in a ``.circles`` file. Alternatively a
        node per line, ``node,community``, with a first line such as ``node,community`` or with one line for each node.
        Lines that begin with ``#`` or ``%`` are comments; the file may be compressed, with ``.gz`` at the end.
    node_names : sequence of length n_nodes
        The names of the nodes, as of :func:`read_graph`.

    Returns
    -------
    communities : Bunch
        ``cover`` : ndarray of shape (n_nodes, n_communities), bool; a CSR array if it has more than 1e8 entries.

        ``names`` : list of str, of the communities; numbers from 0 if they have none.

        ``notes`` : list of str, what was recognised and left out, a sentence each.

    Raises
    ------
    FileNotFoundError, ValueError
        In one line, with what to do; among others if most of the names are not nodes of the graph.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from soft_clustering.inputs import read_cover
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "friends.circles")
    ...     _ = path.write_text("school\tAnn\tBob\nchoir\tBob\tCem\n")
    ...     found = read_cover(path, ["Ann", "Bob", "Cem"])
    >>> found.names, found.cover.sum(axis=1)
    (['school', 'choir'], array([1, 2, 1]))
    """
    path = Path(path)
    text, notes = read_text(path)
    places = {str(node): i for i, node in enumerate(node_names)}
    lines = data_lines(text)
    if not lines:
        raise ValueError(f"{path} has only comments: it must have a community per line, with its nodes.")
    if lines[0].split()[0] not in places and lines[0].lstrip()[0] in "[{":
        raise ValueError(f"{path} has brackets, as JSON and Python's lists have: a line must name a community's nodes.")
    rows = _rows(lines, places)
    if not rows:
        raise ValueError(f"{path} has no names: it must have a community per line, with its nodes.")
    pairs = _table(rows, places)
    if pairs is not None:
        names = list(dict.fromkeys(community for _, community in pairs))
        number = {name: k for k, name in enumerate(names)}
        entries = [(node, number[community]) for node, community in pairs]
        notes.append(f"{path.name} has a node per line, with its community.")
    else:
        named = suffix_of(path) == ".circles" or all(row[0] not in places and len(row) > 1 for row in rows)
        names = [row[0] if named else str(k) for k, row in enumerate(rows)]
        entries = [(node, k) for k, row in enumerate(rows) for node in row[named:] if node]
        notes.append(f"{path.name} has a community per line{', its name first' if named else ''}.")
    return _cover(path, entries, names, places, notes)


def _rows(lines: list[str], places: dict[str, int]) -> list[list[str]]:
    """Split all lines in the way in which most of their fields are nodes."""
    ways = [_split(lines, mark) for mark in ("\t", ";", ",") if any(mark in line for line in lines)]
    ways += [[line.split() for line in lines], _split(lines, "\0")]  # by blanks, or not at all: a line is a node
    return max(ways, key=lambda rows: sum(field in places for row in rows for field in row))


def _split(lines: list[str], separator: str) -> list[list[str]]:
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [fields for row in rows if any(fields := [field.strip() for field in row])]


def _table(rows: list[list[str]], places: dict[str, int]) -> list[tuple[str, str]] | None:
    """Return the pairs (node, community) of a file with a node per line; None if it has a community per line."""
    if any(len(row) != 2 for row in rows):
        return None
    head = [field.lower() for field in rows[0]]
    if head[0] in _TABLE[0] and head[1] in _TABLE[1]:
        return [(node, community) for node, community in rows[1:]]
    nodes = {node for node, _ in rows}
    one_line_each = len(rows) == len(places) and nodes == places.keys()
    return [(node, community) for node, community in rows] if one_line_each else None


def _cover(
    path: Path, entries: list[tuple[str, int]], names: list[str], places: dict[str, int], notes: list[str]
) -> Bunch:
    unknown = list(dict.fromkeys(node for node, _ in entries if node not in places))
    known = [(places[node], k) for node, k in entries if node in places]
    if 2 * len(known) < len(entries) or not known:
        raise ValueError(
            f"{path} names {len(unknown)} nodes that the graph does not have, such as {(unknown or [''])[0]!r}: check "
            "that it belongs to this graph."
        )
    if unknown:
        notes.append(f"{path.name} names {len(unknown)} nodes that the graph does not have; they are left out.")
    nodes, columns = np.array(known).T
    kept = np.unique(columns)
    if len(kept) < len(names):
        notes.append(f"{len(names) - len(kept)} communities of {path.name} without a node of the graph are left out.")
    entry = (nodes, np.searchsorted(kept, columns))
    cover = sparse.coo_array((np.ones(len(nodes), dtype=bool), entry), shape=(len(places), len(kept))).tocsr()
    outside = int((np.diff(cover.indptr) == 0).sum())
    notes.insert(0, f"{path.name}: {len(kept)} communities, {outside} of {len(places)} nodes in none.")
    return Bunch(cover=dense_unless_large(cover), names=[names[k] for k in kept], notes=notes)


def write_cover(path: PathLike, communities: Iterable[Iterable[Any]]) -> None:
    r"""Write communities, a line each, so that :func:`read_cover` reads them again.

    Parameters
    ----------
    path : str or path
        Nodes are separated by commas in a ``.csv`` file, by tabs otherwise; the file is compressed if its name ends in
        ``.gz``.
    communities : iterable of iterables of nodes
        Such as ``get_communities()`` of a model returns. Communities without nodes are not written.

    Raises
    ------
    TypeError
        If ``communities`` is a cover, a matrix of True and False.
    ValueError
        If the name of a node cannot be written: one that is empty or holds a line break or a tab, or one that begins a
        line with the mark of a comment.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from soft_clustering.inputs import write_cover
    >>> with TemporaryDirectory() as folder:
    ...     write_cover(Path(folder, "found.cmty"), [["Ann", "Bob"], ["Bob", "Cem"]])
    ...     Path(folder, "found.cmty").read_text()
    'Ann\tBob\nBob\tCem\n'
    """
    if sparse.issparse(communities) or (isinstance(communities, np.ndarray) and communities.dtype.kind == "b"):
        raise TypeError("communities must be lists of nodes, as of get_communities(). Got a cover instead.")
    path = Path(path)
    rows = [[str(node) for node in community] for community in communities]
    for row in rows:
        for node in row:
            if not node.strip() or node != node.strip() or any(mark in node for mark in "\t\n\r"):
                raise ValueError(
                    f"The node {node!r} cannot be written: rename it, without tabs, line breaks and blanks at its ends."
                )
        if row and row[0][0] in "#%":
            raise ValueError(f"The node {row[0]!r} would begin a line, which makes it a comment: rename it.")
    text = StringIO()
    delimiter = "," if suffix_of(path) == ".csv" else "\t"
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(row for row in rows if row)
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content)
