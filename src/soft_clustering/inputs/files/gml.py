"""GML, the Graph Modelling Language: also files that other readers refuse, with repeated links or unquoted words."""

from __future__ import annotations

import html
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_TOKEN = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Gml(NamedTuple):
    """A graph as its file has it."""

    nodes: list[dict[str, Any]]
    ends: NDArray[np.intp]  # (n_links, 2), positions of the nodes
    links: list[dict[str, Any]]
    directed: bool


def parse_gml(text: str) -> Gml:
    """Return the graph of a GML text; a ValueError says what is wrong with it.

    Examples
    --------
    >>> graph = parse_gml('graph [ node [ id 5 label "a" ] node [ id 7 ] edge [ source 7 target 5 value 2.5 ] ]')
    >>> graph.nodes, graph.ends.tolist(), graph.links[0]["value"]
    ([{'id': 5, 'label': 'a'}, {'id': 7}], [[1, 0]], 2.5)
    """
    parts = dict(_pairs(text)).get("graph")
    if not isinstance(parts, list):
        raise ValueError("it has no graph [ ... ].")
    nodes = [dict(value) for key, value in parts if key == "node"]
    links = [dict(value) for key, value in parts if key == "edge"]
    _require(nodes, "node", "id")
    _require(links, "edge", "source", "target")
    position = {node["id"]: i for i, node in enumerate(nodes)}
    if len(position) < len(nodes):
        raise ValueError("two of its nodes have the same id.")
    ends = [link[end] for link in links for end in ("source", "target")]
    unknown = [end for end in ends if end not in position]
    if unknown:
        raise ValueError(f"an edge names the node {unknown[0]!r}, which it does not have.")
    places = np.array([position[end] for end in ends], dtype=np.intp).reshape(-1, 2)
    return Gml(nodes, places, links, dict(parts).get("directed", 0) == 1)


def _require(parts: list[dict[str, Any]], kind: str, *keys: str) -> None:
    for part in parts:
        for key in keys:
            if isinstance(part.get(key), (list, type(None))):
                raise ValueError(f"one of its parts {kind} [ ... ] has no {key}.")


def _pairs(text: str) -> list[tuple[str, Any]]:
    """Return the pairs (key, value) of a GML text; a value is a number, a str or, in brackets, another such list."""
    text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    if text.count('"') % 2:
        raise ValueError("a quotation mark is not closed.")
    stack: list[list[tuple[str, Any]]] = [[]]
    key = None
    for token in _TOKEN.findall(text):
        if key is None and token == "]" and len(stack) > 1:
            stack.pop()
        elif token == "]" or (key is None and token == "["):
            raise ValueError(f"misplaced {token!r}.")
        elif key is None:
            key = token
        else:
            value = [] if token == "[" else _value(token)
            stack[-1].append((key, value))
            if token == "[":
                stack.append(value)
            key = None
    if key is not None or len(stack) > 1:
        raise ValueError("it ends too early.")
    return stack[0]


def _value(token: str) -> Any:
    if _INTEGER.fullmatch(token):
        return int(token)
    return float(token) if _NUMBER.fullmatch(token) else html.unescape(token.strip('"'))
