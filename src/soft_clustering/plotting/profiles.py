"""What sets each cluster apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .data import check_count
from .drawing import panels, plain
from .palette import cluster_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..explanation import Explanation


class ClusterProfilesDisplay:
    """Bars of what sets each cluster apart, a panel per cluster on one scale.

    For features the bars are differences from the rest in standard deviations, with their 95 % intervals; for documents
    the same of words; for graphs the strengths of the central nodes; for distances the means within and to the rest.

    Parameters
    ----------
    explanation : Explanation
        From :func:`soft_clustering.explanation.explain`.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, one per cluster.
    figure_ : matplotlib Figure
    bars_ : list of matplotlib BarContainer
        The bars of each cluster, from the feature that sets it apart most.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM, explain
    >>> from soft_clustering.plotting import ClusterProfilesDisplay
    >>> X = load_iris(as_frame=True).data
    >>> display = ClusterProfilesDisplay(explain(FCM(3, random_state=0).fit(X), X)).plot(n_top=2)
    >>> [label.get_text() for label in display.axes_[1].get_yticklabels()]
    ['petal length (cm)', 'petal width (cm)']
    """

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    def plot(self, ax: Axes | None = None, *, n_top: int | None = None, **kwargs: Any) -> ClusterProfilesDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Replaced by the panels, if there are several. None makes a new figure.
        n_top : int, default=None
            The largest number of bars of a panel; None takes that of the explanation.
        **kwargs : dict
            Passed to ``Axes.barh``.

        Returns
        -------
        self : ClusterProfilesDisplay
        """
        n_top = self.explanation.n_top if n_top is None else check_count("n_top", n_top)
        sizes, profile = self.explanation.sizes, self.explanation.profile
        K = len(sizes.size)
        bars = [profile.bars(k, n_top) for k in range(K)]
        if not bars:
            raise ValueError("explanation must have clusters. Got none: no cluster was found.")
        n_bars = max(1, *map(len, bars))
        self.axes_ = np.array(panels(ax, K, 3, (4.2, 0.9 + 0.34 * n_bars)))
        self.figure_ = self.axes_[0].figure
        self.bars_ = []
        ends = [end for each in bars for bar in each for end in (bar.value, bar.low, bar.high) if end is not None]
        low, high = min([0.0, *ends]), max([0.0, *ends])
        if low < 0:  # both sides of 0 are equally wide, so that there is room for text beside each bar
            low, high = min(low, -high), max(high, -low)
        margin = 0.05 * ((high - low) or 1.0)
        colors = cluster_colors(K)
        for k, (panel, lines) in enumerate(zip(self.axes_, bars, strict=True)):
            places, values = np.arange(len(lines)), np.array([bar.value for bar in lines])
            self.bars_.append(panel.barh(places, values, **({"color": colors[k], "height": 0.62} | kwargs)))
            for place, bar in enumerate(lines):
                if bar.low is not None and bar.high is not None:
                    panel.plot([bar.low, bar.high], [place, place], color="0.2", linewidth=1.2, solid_capstyle="butt")
                if low < 0:
                    beside = 0.02 * (low if bar.value > 0 else high)
                    style: dict[str, Any] = {"fontsize": "x-small", "color": "0.35", "va": "center"}
                    panel.text(beside, place, plain(bar.detail), ha="right" if beside < 0 else "left", **style)
            panel.axvline(0, color="0.2", linewidth=0.8)
            panel.set_yticks(places, [plain(bar.label) for bar in lines], fontsize="small")
            panel.set(ylim=(n_bars - 0.5, -0.5), xlim=(low - margin * (low < 0), high + margin))
            panel.tick_params(axis="y", length=0)
            panel.tick_params(axis="x", labelsize="x-small")
            panel.spines[["top", "right", "left"]].set_visible(False)
            panel.set_title(f"cluster {k}: {sizes.share[k]:.0%}", fontsize="medium")
            if not lines:
                panel.text(0.5, 0.5, "nothing sets it apart", transform=panel.transAxes, ha="center", color="0.35")
        self.axes_[(K - 1) // 3 * 3].set_xlabel(profile.unit, fontsize="small", loc="left")
        return self
