"""Graphs and matrices of all pairs: central nodes, and how close the samples of a cluster are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from .._types import Array, GraphLike, MatrixLike, Names
from ..inputs.features import is_dask, naming
from ..inputs.graphs import validate_graph
from .features import check_names
from .profile import Bar
from .weights import cluster_weights
from .wording import number_pair, percent, short


@dataclass(frozen=True)
class NodeProfile:
    """The central nodes of each cluster of a graph, and how dense its links are.

    Attributes
    ----------
    names : list of str
        The names of the nodes.
    membership : ndarray of shape (n_nodes, n_clusters)
        The weights of the nodes.
    degree : ndarray of shape (n_nodes, n_clusters)
        The sum of the weights of a node's links to the members of each cluster, times their memberships.
    density, density_elsewhere : ndarray of shape (n_clusters,)
        The share of the pairs of members that are linked, and of the pairs of a member and a node elsewhere.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_nodes
    >>> profile_nodes([[1, 0], [1, 0], [0, 1]], [("Ann", "Bob"), ("Bob", "Cem")]).phrases(0, 2)
    ['around Ann, Bob', '100 % of its pairs linked, 50 % with the rest']
    """

    names: list[str]
    membership: Array
    degree: Array
    density: Array
    density_elsewhere: Array

    @property
    def strength(self) -> Array:
        """Membership times degree within the cluster, of shape (n_nodes, n_clusters)."""
        return self.membership * self.degree

    def order(self, k: int) -> NDArray[np.intp]:
        """Return the nodes from the most central one of cluster k: by strength, then by membership."""
        order: NDArray[np.intp] = np.lexsort((-self.membership[:, k], -self.membership[:, k] * self.degree[:, k]))
        return order

    def _top(self, k: int, n: int) -> list[int]:
        return [int(i) for i in self.order(k)[:n] if self.membership[i, k] > 0]

    def phrases(self, k: int, n: int) -> list[str]:
        """Return a phrase with the central nodes, and one with the densities."""
        central = [short(self.names[i], 24) for i in self._top(k, n)]
        if not central:
            return []
        return [f"around {', '.join(central)}", self._linked(k)]

    def _linked(self, k: int) -> str:
        return f"{percent(self.density[k])} of its pairs linked, {percent(self.density_elsewhere[k])} with the rest"

    def lines(self, k: int, n: int) -> list[str]:
        """Return the central nodes, and the densities."""
        central = [
            f"{short(self.names[i], 24)} ({self.membership[i, k] * self.degree[i, k]:.3g})" for i in self._top(k, n)
        ]
        return [f"central: {', '.join(central) or 'none'}", self._linked(k)]

    def to_dict(self, k: int, n: int) -> dict[str, Any]:
        """Return ``{"features": [], "nodes": [...], "density": ..., "density_elsewhere": ...}``."""
        strength = self.membership[:, k] * self.degree[:, k]
        return {
            "features": [],
            "nodes": [{"node": self.names[i], "strength": float(strength[i])} for i in self._top(k, n)],
            "density": float(self.density[k]),
            "density_elsewhere": float(self.density_elsewhere[k]),
        }

    def columns(self, k: int) -> dict[str, Any]:
        """Return the columns of the table of cluster k."""
        order = self.order(k)
        membership, degree = self.membership[order, k], self.degree[order, k]
        names = [self.names[i] for i in order]
        return {"node": names, "strength": membership * degree, "membership": membership, "degree": degree}

    def bars(self, k: int, n: int) -> list[Bar]:
        """Return a bar per central node."""
        strength = self.membership[:, k] * self.degree[:, k]
        return [Bar(short(self.names[i], 24), "", float(strength[i]), None, None) for i in self._top(k, n)]

    unit = "membership times degree within the cluster"


class _Reader(BaseEstimator):
    """Holds what the validation of a graph finds."""


def profile_nodes(U: ArrayLike, graph: GraphLike, sample_names: Names | None = None) -> NodeProfile:
    """Find the central nodes of each cluster of a graph, and how dense its links are.

    Parameters
    ----------
    U : array-like of shape (n_nodes, n_clusters)
        Memberships of any kind.
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of edges
    sample_names : sequence of str, default=None
        Names of the nodes; None takes those of the graph.

    Returns
    -------
    profile : NodeProfile

    Notes
    -----
    With weights w (see :func:`cluster_weights`) and links A, the strength of node i in cluster k is
    w_ik sum_j A_ij w_jk. The density of cluster k is the mean of [A_ij > 0] over pairs i != j, weighted by w_ik w_jk;
    elsewhere, by w_ik (sum_l w_jl - w_jk).

    Examples
    --------
    >>> from soft_clustering.explanation import profile_nodes
    >>> edges = [("Ann", "Bob"), ("Ann", "Cem"), ("Cem", "Dora"), ("Dora", "Eve")]
    >>> profile = profile_nodes([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], edges)
    >>> [profile.names[profile.order(k)[0]] for k in range(2)], profile.density.round(2)
    (['Ann', 'Dora'], array([0.67, 1.  ]))
    """
    W = cluster_weights(U)
    reader: Any = _Reader()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit has said so already
        A = validate_graph(reader, graph, binary=False).astype(np.float64)
    if A.shape[0] != len(W):
        raise ValueError(f"X must have one node per row of the memberships, {len(W)} nodes. Got {A.shape[0]} instead.")
    names = check_names("sample_names", reader.node_names_ if sample_names is None else sample_names, len(W))
    links = A.astype(bool).astype(np.float64)
    elsewhere = W.sum(axis=1, keepdims=True) - W
    return NodeProfile(names, W, A @ W, _mean_of_pairs(links, W, W), _mean_of_pairs(links, W, elsewhere))


def _mean_of_pairs(M: Any, W: Array, V: Array) -> Array:
    """Return the mean of M_ij over pairs i != j weighted by w_ik v_jk, for each k; 0 if there are no pairs."""
    own = np.einsum("ik,ik->k", W, V)
    pairs = W.sum(axis=0) * V.sum(axis=0) - own
    total = np.einsum("ik,ik->k", W, M @ V) - np.einsum("i,ik,ik->k", M.diagonal(), W, V)
    means: Array = np.divide(total, pairs, out=np.zeros(W.shape[1]), where=pairs > 1e-9)
    return means


@dataclass(frozen=True)
class PairProfile:
    """How close the samples of each cluster are to each other, and to the rest.

    Attributes
    ----------
    measure : {'distance', 'similarity'}
    inside, elsewhere : ndarray of shape (n_clusters,)
        The mean over pairs of members, and over pairs of a member and a sample elsewhere; 0 if there are no pairs.
    to_members : ndarray of shape (n_samples, n_clusters)
        The mean of each sample to the members of each cluster.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_pairs
    >>> profile_pairs([[1, 0], [1, 0], [0, 1]], [[0, 1, 4], [1, 0, 3], [4, 3, 0]]).phrases(0, 1)
    ['mean distance 1.0 within, 3.5 to the rest']
    """

    measure: str
    inside: Array
    elsewhere: Array
    to_members: Array

    def phrases(self, k: int, n: int) -> list[str]:
        """Return one phrase with the two means."""
        if not self.inside[k] and not self.elsewhere[k]:
            return []
        pair = number_pair(self.inside[k], self.elsewhere[k]).replace(" against ", " within, ")
        return [f"mean {self.measure} {pair} to the rest"]

    def lines(self, k: int, n: int) -> list[str]:
        """Return the two means."""
        return self.phrases(k, n)

    def to_dict(self, k: int, n: int) -> dict[str, Any]:
        """Return ``{"features": [], "distance": ..., "distance_elsewhere": ...}``, or of the similarity."""
        means = {self.measure: float(self.inside[k]), f"{self.measure}_elsewhere": float(self.elsewhere[k])}
        return {"features": [], **means}

    def columns(self, k: int) -> dict[str, Any]:
        """Return the columns of the table of cluster k, which has one row."""
        return {"feature": [self.measure], "inside": [self.inside[k]], "elsewhere": [self.elsewhere[k]]}

    def bars(self, k: int, n: int) -> list[Bar]:
        """Return a bar for either mean."""
        named = (("within", self.inside[k]), ("to the rest", self.elsewhere[k]))
        return [Bar(name, "", float(value), None, None) for name, value in named]

    @property
    def unit(self) -> str:
        """What the bars show."""
        return f"mean {self.measure}"


def profile_pairs(U: ArrayLike, pairs: MatrixLike, measure: str = "distance") -> PairProfile:
    """Measure how close the samples of each cluster are to each other, and to the rest.

    Parameters
    ----------
    U : array-like of shape (n_samples, n_clusters)
        Memberships of any kind.
    pairs : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Distances or similarities.
    measure : {'distance', 'similarity'}, default='distance'

    Returns
    -------
    profile : PairProfile

    Examples
    --------
    >>> from soft_clustering.explanation import profile_pairs
    >>> profile = profile_pairs([[1, 0], [1, 0], [0, 1]], [[0, 1, 4], [1, 0, 3], [4, 3, 0]])
    >>> profile.inside, profile.elsewhere
    (array([1., 0.]), array([3.5, 3.5]))
    """
    W = cluster_weights(U)
    if is_dask(pairs):
        raise TypeError("X must be in memory: pass X.compute().")
    with naming("X"), np.errstate(over="ignore", invalid="ignore"):
        D = check_array(pairs, accept_sparse="csr", dtype=np.float64, input_name="X")
    if D.shape != (len(W), len(W)):
        raise ValueError(f"X must be a square matrix of {len(W)} samples, as the memberships. Got shape {D.shape}.")
    D = sparse.csr_array(D) if sparse.issparse(D) else D
    unit = float(abs(D).max()) or 1.0  # the sum of huge entries would overflow
    D = D / unit
    mass = W.sum(axis=0)
    to_members = np.divide(D @ W, mass, out=np.zeros(W.shape), where=mass > 0)
    elsewhere = W.sum(axis=1, keepdims=True) - W
    within, between = (_mean_of_pairs(D, W, V) * unit for V in (W, elsewhere))
    return PairProfile(measure, within, between, to_members * unit)
