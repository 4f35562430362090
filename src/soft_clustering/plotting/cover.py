"""Communities as rows: how large they are, how dense, and how apart from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import CoverLike, GraphLike
from ..base import BaseSoftClusterer
from ..metrics import cover_table
from ..metrics._communities import read_graph
from ..metrics._covers import read_cover
from .data import check_count
from .drawing import note_of_sample, panels, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CoverDisplay:
    """The communities of a cover as rows, the largest first, and how many of them a node belongs to.

    The first panel has a bar for the members of each community, the darker part for those that are in another one,
    too. The second has its internal density, better if larger, and its conductance, better if smaller. The third
    counts nodes by their number of communities.

    Parameters
    ----------
    graph : array-like or sparse matrix of shape (n_nodes, n_nodes), networkx graph, or list of tuples
    cover : array or sparse matrix of shape (n_nodes, n_communities), list of node collections, or labels
        As ``get_cover()`` or ``get_communities()`` returns it: collections hold the names that the nodes have in the
        graph, labels are in the order of its nodes (-1 is a label like any other).
    name : str, default=None
        The name of the estimator, for the title.

    Attributes
    ----------
    table : dict of ndarray
        :func:`~soft_clustering.metrics.cover_table` of all communities.
    axes_ : ndarray of matplotlib Axes
        The three panels.
    figure_ : matplotlib Figure
    shown_ : ndarray
        The communities that are drawn, from top to bottom.
    bars_ : list of matplotlib BarContainer
        All members of the communities, those of them that are in another community, and the nodes by their number of
        communities.
    dots_ : list of matplotlib Line2D
        Internal density and conductance.
    note_ : matplotlib Text or None
        Says how many communities are drawn, if not all are.

    Examples
    --------
    >>> from soft_clustering import BIGCLAM
    >>> from soft_clustering.datasets import make_lfr_graph
    >>> from soft_clustering.plotting import CoverDisplay
    >>> graph = make_lfr_graph(300, random_state=0)
    >>> model = BIGCLAM(graph.cover.shape[1], random_state=0).fit(graph.adjacency)
    >>> display = CoverDisplay.from_estimator(model, graph.adjacency)
    >>> len(display.bars_[0]) == graph.cover.shape[1]
    True
    """

    def __init__(self, graph: GraphLike, cover: CoverLike, *, name: str | None = None) -> None:
        adjacency, names = read_graph(graph)
        members = read_cover("cover", cover, adjacency.shape[0], node_names=names, keep_empty=True)
        self.table = cover_table(adjacency, members)
        # nodes in no community, in one, in two, ...
        self.counts = np.bincount(np.diff(members.indptr))
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: BaseSoftClusterer, X: GraphLike, *, ax: Axes | None = None, **kwargs: Any
    ) -> CoverDisplay:
        """Draw the cover of an estimator fitted to a graph.

        Parameters
        ----------
        estimator : fitted soft clusterer of graphs
        X : array-like or sparse matrix of shape (n_nodes, n_nodes), or networkx graph
            The graph that the estimator was fitted to.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : CoverDisplay
        """
        return cls(X, estimator.get_cover(), name=type(estimator).__name__).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_communities: int = 30) -> CoverDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Replaced by three panels. None makes a new figure.
        max_communities : int, default=30
            If there are more communities, the largest are drawn, and the plot says so.

        Returns
        -------
        self : CoverDisplay
        """
        check_count("max_communities", max_communities)
        sizes = self.table["size"]
        self.shown_ = np.argsort(-sizes, kind="stable")[:max_communities]
        n = len(self.shown_)
        places, rows = np.arange(n), self.shown_
        height = min(1.4 + 0.24 * max(n, 6), 9.0)
        self.axes_ = np.array(panels(ax, 3, 3, (3.4, height)))
        self.figure_ = self.axes_[0].figure
        members, quality, nodes = self.axes_

        shared = self.table["shared"][rows] * sizes[rows]
        self.bars_ = [
            members.barh(places, sizes[rows], height=0.7, color="0.75", label="in this one only"),
            members.barh(places, shared, height=0.7, color="0.4", label="in others, too"),
            nodes.bar(np.arange(len(self.counts)), self.counts, width=0.7, color="0.6"),
        ]
        members.set(xlabel="members", ylabel="community")
        self.dots_ = [
            quality.plot(self.table[name][rows], places, linestyle="none", marker=marker, color=color, label=label)[0]
            for name, label, marker, color in (
                ("internal_density", "internal density", "o", "C0"),
                ("conductance", "conductance", "D", "C1"),
            )
        ]
        quality.set(xlim=(-0.03, max(1.03, 1.03 * np.nanmax(self.table["internal_density"], initial=0.0))))
        quality.grid(axis="y", color="0.92")
        names = [str(k) for k in rows]
        for panel in (members, quality):
            panel.set(ylim=(max(n, 1) - 0.5, -0.5), yticks=places)
            panel.set_yticklabels(names if panel is members else [], fontsize="x-small")
            panel.tick_params(axis="y", length=0)
            panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize="x-small", frameon=False)
        members.set_title(title(self.name, "communities"), pad=22)
        nodes.set(xlabel="communities of a node", ylabel="nodes")
        for panel in (members, nodes):
            panel.xaxis.get_major_locator().set_params(integer=True)
        for panel in self.axes_:
            panel.spines[["top", "right"]].set_visible(False)
            panel.tick_params(labelsize="x-small")
        self.note_ = note_of_sample(members, n, len(sizes), "communities", ", the largest")
        return self
