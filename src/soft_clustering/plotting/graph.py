"""Graphs whose nodes are pie charts of their memberships."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_array

from .._estimators import Estimator
from .._types import Array, GraphLike, Names
from ..engine.threads import single_threaded_blas
from ..inputs.features import naming
from .data import check_count, check_memberships, check_numbers, estimator_memberships
from .drawing import cluster_legend, import_pyplot, legend_width, note_of_sample, one_axes, plain, title
from .palette import UNASSIGNED, cluster_colors, membership_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GraphDisplay:
    """A graph with a pie chart per node: the shares of its communities.

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (n_nodes, n_nodes), or networkx graph
        Non-negative; drawn as undirected.
    memberships : array-like of shape (n_nodes, n_clusters)
    positions : array-like of shape (n_nodes, 2), default=None
        None stands for :func:`graph_layout`.
    node_names : sequence of str, default=None
        Written beside the nodes.
    name : str, default=None
        The name of the estimator, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    shown_ : ndarray
        The nodes that are drawn.
    positions_ : ndarray of shape (n_shown, 2)
    edges_ : matplotlib LineCollection
    wedges_ : list of list of matplotlib Wedge
        The slices of each drawn node; clusters of share 0 have no slice.
    pies_ : matplotlib PatchCollection
        All slices.
    note_ : matplotlib Text or None
        Says how many nodes are drawn, if not all are.
    legend_ : matplotlib Legend

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering.plotting import GraphDisplay
    >>> adjacency = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    >>> memberships = np.array([[1, 0], [1, 0], [0.5, 0.5], [0, 1]])
    >>> display = GraphDisplay.from_memberships(memberships, adjacency)
    >>> [len(wedges) for wedges in display.wedges_]
    [1, 1, 2, 1]
    """

    def __init__(
        self,
        adjacency: GraphLike,
        memberships: ArrayLike,
        *,
        positions: ArrayLike | None = None,
        node_names: Names | None = None,
        name: str | None = None,
    ) -> None:
        self.adjacency = undirected(adjacency)
        n = self.adjacency.shape[0]
        self.memberships = check_memberships(memberships, n)
        self.positions = None if positions is None else check_numbers("positions", positions, n, 2)
        self.node_names = None if node_names is None else [str(node) for node in node_names]
        if self.node_names is not None and len(self.node_names) != n:
            raise ValueError(f"node_names must have one entry per node: {n}. Got {len(self.node_names)} instead.")
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: GraphLike, *, ax: Axes | None = None, **kwargs: Any
    ) -> GraphDisplay:
        """Draw a graph with the memberships of an estimator fitted to it.

        Parameters
        ----------
        estimator : fitted soft clusterer of graphs
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), or networkx graph
            The graph that the estimator was fitted to.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`from_memberships`.

        Returns
        -------
        display : GraphDisplay
        """
        memberships = estimator_memberships(estimator)
        return cls.from_memberships(memberships, X, name=type(estimator).__name__, ax=ax, **kwargs)

    @classmethod
    def from_memberships(
        cls,
        memberships: ArrayLike,
        adjacency: GraphLike,
        *,
        positions: ArrayLike | None = None,
        node_names: Names | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> GraphDisplay:
        """Draw a graph with given memberships.

        Parameters
        ----------
        memberships : array-like of shape (n_nodes, n_clusters)
        adjacency : array-like or sparse matrix of shape (n_nodes, n_nodes), or networkx graph
        positions : array-like of shape (n_nodes, 2), default=None
        node_names : sequence of str, default=None
        name : str, default=None
            For the title.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : GraphDisplay
        """
        display = cls(adjacency, memberships, positions=positions, node_names=node_names, name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_nodes: int = 1000, node_size: float = 1.0) -> GraphDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        max_nodes : int, default=1000
            If there are more nodes, those of largest degree are drawn, and the plot says so.
        node_size : float, default=1.0
            Multiplies the radius of the nodes.

        Returns
        -------
        self : GraphDisplay
        """
        import_pyplot()
        from matplotlib.collections import LineCollection, PatchCollection
        from matplotlib.patches import Circle, Wedge
        from matplotlib.patheffects import withStroke

        n, K = self.memberships.shape
        check_count("max_nodes", max_nodes)
        check_scalar(node_size, "node_size", Real, min_val=0, include_boundaries="neither")
        degrees = np.asarray(self.adjacency.astype(bool).sum(axis=1)).ravel()
        self.shown_: NDArray[np.intp] = np.sort(np.argsort(-degrees, kind="stable")[:max_nodes])
        adjacency = self.adjacency[self.shown_][:, self.shown_]
        links = sparse.triu(adjacency, 1).tocoo()
        self.positions_ = graph_layout(adjacency) if self.positions is None else self.positions[self.shown_]
        width, height = np.ptp(self.positions_, axis=0)
        extent = max(width, height) or 1.0
        self.ax_ = ax = one_axes(ax, 6.4 + legend_width(K), 1 + 4.8 * max(height / extent, 0.4))
        self.figure_ = ax.figure
        segments = self.positions_[np.column_stack([links.row, links.col])]
        many = len(segments) > 2000
        faint = min(0.9, 15 / np.sqrt(len(segments) + 1))
        self.edges_ = ax.add_collection(
            LineCollection(segments, colors="0.5", linewidths=0.8, alpha=faint, zorder=1, rasterized=many)
        )
        radius = node_size * extent * _radius(len(self.shown_))
        discs = [Circle(center, radius) for center in self.positions_]
        ax.add_collection(PatchCollection(discs, facecolors=UNASSIGNED, edgecolors="0.2", linewidths=1.0, zorder=2))
        shares = membership_shares(self.memberships[self.shown_])
        # Clockwise from the top.
        angles = 90 - 360 * np.cumsum(np.column_stack([np.zeros(len(shares)), shares]), axis=1)
        self.wedges_ = [
            [Wedge(center, radius, turn[k + 1], turn[k]) for k in np.flatnonzero(share)]
            for center, turn, share in zip(self.positions_, angles, shares, strict=True)
        ]
        slices = [wedge for wedges in self.wedges_ for wedge in wedges]
        colors = cluster_colors(K)[np.nonzero(shares)[1]]
        self.pies_ = ax.add_collection(PatchCollection(slices, facecolors=colors, linewidths=0, zorder=3))
        if self.node_names is not None:
            halo = [withStroke(linewidth=2, foreground="white")]
            style: dict[str, Any] = {
                "ha": "center",
                "va": "top",
                "fontsize": "x-small",
                "zorder": 4,
                "path_effects": halo,
            }
            for node, (x, y) in zip(self.shown_, self.positions_, strict=True):
                ax.text(x, y - 1.2 * radius, plain(self.node_names[node]), **style)
        ax.set_aspect("equal")
        ax.autoscale_view()
        ax.margins(0.04)
        ax.set_axis_off()
        ax.set_title(title(self.name, "memberships"))
        self.note_ = note_of_sample(ax, len(self.shown_), n, "nodes", ", those of largest degree")
        self.legend_ = cluster_legend(ax, K, none=not self.memberships[self.shown_].any(axis=1).all())
        return self


def graph_layout(adjacency: GraphLike, *, n_iter: int = 150) -> Array:
    """Place the nodes of a graph by springs along the edges and repulsion between all nodes.

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (n_nodes, n_nodes), or networkx graph
    n_iter : int, default=150
        The number of steps.

    Returns
    -------
    positions : ndarray of shape (n_nodes, 2)
        Coordinates in [0, 1]; the longer side is horizontal.

    Notes
    -----
    The forces of Fruchterman and Reingold [1]_ on node i, with the spacing s = n^(-1/2) and distances d_ij,

        sum_j (s / d_ij)^2 (p_i - p_j) - sum_(j linked to i) (d_ij / s) (p_i - p_j),

    and a weak pull to the middle, which keeps the parts of a disconnected graph together. A step is at most as long as
    a temperature that falls to 0. The start is drawn from a fixed seed. At the end, nodes whose discs would overlap are
    pushed apart. A step takes O(n^2) time and memory.

    References
    ----------
    .. [1] T. M. J. Fruchterman, E. M. Reingold (1991). Graph drawing by force-directed placement. Software: Practice
       and Experience 21(11), 1129-1164.

    Examples
    --------
    >>> from soft_clustering.plotting import graph_layout
    >>> graph_layout([[0, 1], [1, 0]]).max(axis=0).round(2)
    array([1., 0.])
    """
    check_count("n_iter", n_iter)
    links = undirected(adjacency).tocoo()
    n = links.shape[0]
    spacing = n**-0.5
    p = check_random_state(0).uniform(-0.5, 0.5, (n, 2))
    with single_threaded_blas():
        for temperature in np.linspace(0.1, 0, n_iter, endpoint=False):
            push = cdist(p, p, "sqeuclidean")
            np.divide(spacing**2, np.maximum(push, 1e-6, out=push), out=push)
            force = push.sum(axis=1)[:, None] * p - push @ p - p
            springs = p[links.row] - p[links.col]
            np.subtract.at(force, links.row, np.linalg.norm(springs, axis=1)[:, None] / spacing * springs)
            length = np.linalg.norm(force, axis=1, keepdims=True)
            p += force * np.minimum(1, temperature / np.maximum(length, 1e-12))
    p -= p.mean(axis=0)
    p = _fill(p @ np.linalg.eigh(p.T @ p)[1][:, ::-1])
    least = 2.2 * _radius(n)
    for _ in range(100):
        i, j = cKDTree(p).query_pairs(least, output_type="ndarray").T
        apart = p[i] - p[j]
        d = np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-6)
        np.add.at(p, i, (least / d - 1) / 2 * apart)
        np.subtract.at(p, j, (least / d - 1) / 2 * apart)
    return _fill(p)


def _fill(p: Array) -> Array:
    """Move and scale positions so that they begin at 0 and reach 1."""
    p = p - p.min(axis=0)
    return p / (p.max() or 1)


def _radius(n: int) -> float:
    """Return the radius of the discs if this many nodes extend over a unit."""
    return float(min(0.03, 0.25 / np.sqrt(n)))


def undirected(adjacency: GraphLike) -> sparse.csr_array:
    """Return the symmetric CSR matrix of the weights, without loops."""
    if hasattr(adjacency, "adjacency") and hasattr(adjacency, "nodes"):
        import networkx

        adjacency = networkx.to_scipy_sparse_array(adjacency, dtype=np.float64)
    with naming("adjacency"):
        A = sparse.csr_array(check_array(adjacency, accept_sparse="csr", dtype=np.float64, input_name="adjacency"))
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"adjacency must be square. Got shape {A.shape} instead.")
    if A.nnz and A.min() < 0:
        raise ValueError(f"adjacency must be non-negative. Got {A.min():.4g} as its smallest entry.")
    A = A.maximum(A.T).tocoo()
    links = (A.row != A.col) & (A.data > 0)
    return sparse.csr_array((A.data[links], (A.row[links], A.col[links])), shape=A.shape)
