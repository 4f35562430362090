"""What all displays use: axes, legends, notes and labels. matplotlib is imported only when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from .._extras import require
from .._types import Array
from .palette import UNASSIGNED, cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text
    from matplotlib.typing import ColorType


def import_pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or raise an error that says what to install."""
    return require("matplotlib.pyplot", "Plotting needs matplotlib")


def check_axes(ax: object) -> None:
    """Raise an error if ``ax`` is not matplotlib Axes."""
    import_pyplot()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib Axes or None. Got {ax!r} instead.")


def one_axes(ax: Axes | None, width: float = 6.4, height: float = 4.8) -> Axes:
    """Return the axes to draw in: those given, or those of a new figure of this size in inches."""
    if ax is None:
        new: Axes = import_pyplot().subplots(figsize=(width, height), layout="constrained")[1]
        return new
    check_axes(ax)
    return ax


def panels(ax: Axes | None, n: int, n_columns: int, size: tuple[float, float]) -> list[Any]:
    """Return ``n`` axes in a grid: in a new figure, each of this size in inches, or in the place of ``ax``."""
    n_columns = min(n, n_columns)
    n_rows = ceil(n / n_columns)
    if ax is None:
        figure = import_pyplot().figure(figsize=(size[0] * n_columns, size[1] * n_rows), layout="constrained")
        grid = figure.add_gridspec(n_rows, n_columns)
    else:
        check_axes(ax)
        if n == 1:
            return [ax]
        figure = ax.figure
        ax.remove()
        place = ax.get_subplotspec()
        if place is not None:
            grid = place.subgridspec(n_rows, n_columns)
        else:
            box = ax.get_position()
            grid = figure.add_gridspec(n_rows, n_columns, left=box.x0, right=box.x1, bottom=box.y0, top=box.y1)
    return [figure.add_subplot(grid[divmod(i, n_columns)]) for i in range(n)]


def plain(text: object) -> str:
    r"""Return text that matplotlib shows as it is: it takes text between dollar signs as a formula.

    Examples
    --------
    >>> print(plain("price in $ or US$"))
    price in \$ or US\$
    """
    return str(text).replace("$", r"\$")


def title(name: str | None, what: str) -> str:
    """Return a title: ``what``, after the name of the estimator if there is one."""
    return what.capitalize() if name is None else f"{plain(name)}: {what}"


def write_note(ax: Axes, text: str) -> Text:
    """Write a small remark in the lower right corner."""
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2}
    style: dict[str, Any] = {
        "ha": "right",
        "va": "bottom",
        "fontsize": "small",
        "color": "0.35",
        "bbox": box,
        "zorder": 10,
    }
    return ax.text(0.99, 0.01, text, transform=ax.transAxes, **style)


def note_of_sample(ax: Axes, shown: int, n: int, what: str, which: str = "") -> Text | None:
    """Write how many are shown, and which; write nothing if all are."""
    return write_note(ax, f"{shown:,} of {n:,} {what} shown{which}") if shown < n else None


def cluster_legend(
    ax: Axes,
    n_clusters: int,
    *,
    none: bool = False,
    noise: bool = False,
    uncertain: bool = False,
    centers: bool = False,
    further: Sequence[Line2D] = (),
) -> Legend:
    """Draw the legend right of the axes: a dot per cluster, and entries for what else the plot shows."""
    from matplotlib.lines import Line2D

    def entry(label: str, color: ColorType, marker: str = "o") -> Line2D:
        style: dict[str, Any] = {"linestyle": "none", "markersize": 7, "markeredgewidth": 0}
        return Line2D([], [], color=color, marker=marker, label=label, **style)

    handles = [entry(f"cluster {k}", color) for k, color in enumerate(cluster_colors(n_clusters))]
    handles += [entry("noise" if noise else "no cluster", UNASSIGNED)] if none or noise else []
    handles += [entry("uncertain", (0.3, 0.3, 0.3, 0.25))] if uncertain else []
    handles += [entry("centre", "0.3", "X")] if centers else []
    handles += further
    style: dict[str, Any] = {
        "frameon": False,
        "borderaxespad": 0.2,
        "handlelength": 1.4,
        "handletextpad": 0.5,
        "fontsize": "small",
    }
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "ncols": ceil(len(handles) / 14)}
    return ax.legend(handles=handles, **place, **style)


def legend_width(n_clusters: int) -> float:
    """Return the inches that the legend of this many clusters needs beyond the usual width of a figure."""
    return 1.2 if n_clusters > 11 else 0.0


def dot_size(n: int) -> float:
    """Return the area of a dot, in points squared, at which this many dots stay readable."""
    return float(min(36.0, max(4.0, 600 / n**0.5)))


def scatter_memberships(ax: Axes, points: Array, colors: Array, **kwargs: Any) -> PathCollection:
    """Draw dots without outlines, rasterised: in PDF and SVG they are one picture instead of thousands of shapes."""
    style: dict[str, Any] = {"s": dot_size(len(points)), "linewidths": 0, "rasterized": True}
    return ax.scatter(points[:, 0], points[:, 1], c=colors, **(style | kwargs))


def draw_centers(ax: Axes, centers: Array) -> PathCollection:
    """Draw crosses in the clusters' colours, with a double outline to stand out from dots of the same colour."""
    from matplotlib.patheffects import Normal, withStroke

    outline = [withStroke(linewidth=2.6, foreground="black"), Normal()]
    style: dict[str, Any] = {
        "marker": "X",
        "s": 100,
        "edgecolors": "white",
        "linewidths": 1.0,
        "zorder": 5,
        "path_effects": outline,
    }
    return ax.scatter(centers[:, 0], centers[:, 1], c=cluster_colors(len(centers)), **style)
