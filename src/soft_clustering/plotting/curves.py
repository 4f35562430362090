"""Curves: validity indices over the number of clusters, and objectives over iterations."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._estimators import Estimator
from .._types import Array
from .data import check_numbers
from .drawing import one_axes, panels, plain
from .palette import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..selection import NClustersResult

_BETTER = {"min": "\n(smaller is better)", "max": "\n(larger is better)", None: ""}


class IndexCurvesDisplay:
    r"""Validity indices over the number of clusters: a panel per index, its choice marked.

    Parameters
    ----------
    k_values : array-like of shape (n_k,)
        The numbers of clusters.
    scores : mapping of str to array-like of shape (n_k,)
        The values of each index by its name; NaN where there is none.
    best : mapping of str to int or None, default=None
        The choice of each index.
    senses : mapping of str to {'min', 'max', None}, default=None
        Whether smaller or larger is better, for the titles.
    spreads : mapping of str to array-like of shape (n_k,), default=None
        Standard deviations, drawn as error bars.
    recommended : int, default=None
        The K to take, shaded in every panel.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels, in the order of ``scores``.
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib ErrorbarContainer
        The curves of the indices that have a finite value.
    best_ : dict of str to matplotlib Line2D
        The marks of the choices.
    recommended_ : list of matplotlib Rectangle
        The shades, one per panel; empty if no K is recommended.

    See Also
    --------
    soft_clustering.selection.choose_n_clusters : computes the curves.

    Examples
    --------
    >>> from soft_clustering.plotting import IndexCurvesDisplay
    >>> scores = {"Xie-Beni": [0.06, 0.14, 0.18], "Silhouette": [0.68, 0.55, 0.50]}
    >>> display = IndexCurvesDisplay([2, 3, 4], scores, best={"Xie-Beni": 2}, senses={"Xie-Beni": "min"}).plot()
    >>> print(*[ax.get_title() for ax in display.axes_], sep="\n")
    Xie-Beni
    (smaller is better)
    Silhouette
    """

    def __init__(
        self,
        k_values: ArrayLike,
        scores: Mapping[str, Any],
        *,
        best: Mapping[str, int | None] | None = None,
        senses: Mapping[str, Literal["min", "max"] | None] | None = None,
        spreads: Mapping[str, Any] | None = None,
        recommended: int | None = None,
    ) -> None:
        self.k_values = check_numbers("k_values", k_values, "n_k").astype(int)
        if not isinstance(scores, Mapping) or not scores:
            raise ValueError(f"scores must be a mapping of at least one name to values. Got {scores!r} instead.")
        self.scores = {name: self._curve("scores", name, values) for name, values in scores.items()}
        self.spreads = {name: self._curve("spreads", name, values) for name, values in (spreads or {}).items()}
        self.best = dict(best or {})
        self.senses = dict(senses or {})
        for name, sense in self.senses.items():
            if sense not in _BETTER:
                raise ValueError(f"senses[{name!r}] must be 'min', 'max' or None. Got {sense!r} instead.")
        for name, K in self.best.items():
            if K is not None and K not in self.k_values:
                raise ValueError(f"best[{name!r}] must be one of k_values or None. Got {K!r} instead.")
        if recommended is not None and recommended not in self.k_values:
            raise ValueError(f"recommended must be one of k_values or None. Got {recommended!r} instead.")
        self.recommended = recommended

    def _curve(self, parameter: str, name: str, values: ArrayLike) -> Array:
        curve = np.asarray(values, dtype=np.float64)
        if curve.shape != self.k_values.shape:
            raise ValueError(
                f"{parameter}[{name!r}] must have a value for each of the {len(self.k_values)} k_values. "
                f"Got shape {curve.shape} instead."
            )
        return curve

    @classmethod
    def from_result(cls, result: NClustersResult, *, ax: Axes | None = None, **kwargs: Any) -> IndexCurvesDisplay:
        """Draw what ``choose_n_clusters`` found.

        Parameters
        ----------
        result : NClustersResult
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : IndexCurvesDisplay
        """
        from ..selection import CRITERIA

        titles = {name: CRITERIA[name].title for name in result.scores}
        return cls(
            result.k_values,
            {titles[name]: values for name, values in result.scores.items()},
            best={titles[name]: K for name, K in result.best.items()},
            senses={titles[name]: CRITERIA[name].sense for name in result.scores},
            spreads={titles["stability"]: result.stability_std} if "stability" in result.scores else None,
            recommended=result.recommended,
        ).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> IndexCurvesDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Replaced by the panels, if there are several. None makes a new figure.
        **kwargs : dict
            Passed to ``Axes.errorbar``.

        Returns
        -------
        self : IndexCurvesDisplay
        """
        n = len(self.scores)
        self.axes_ = np.array(panels(ax, n, n if n <= 3 else min(ceil(sqrt(n)), 4), (3.0, 2.6)))
        self.figure_ = self.axes_[0].figure
        self.lines_: dict[str, Any] = {}
        self.best_: dict[str, Any] = {}
        self.recommended_: list[Any] = []
        for panel, (name, values) in zip(self.axes_, self.scores.items(), strict=True):
            panel.set_title(plain(name) + _BETTER[self.senses.get(name)], fontsize="medium" if n == 1 else "small")
            panel.set_xlabel("number of clusters", fontsize="small")
            panel.set_xlim(self.k_values.min() - 0.5, self.k_values.max() + 0.5)
            panel.xaxis.get_major_locator().set_params(integer=True)
            panel.tick_params(labelsize="small")
            panel.spines[["top", "right"]].set_visible(False)
            if self.recommended is not None:
                where = self.recommended - 0.35, self.recommended + 0.35
                self.recommended_.append(panel.axvspan(*where, color="0.9", zorder=-1))
            if not np.isfinite(values).any():
                panel.set_yticks([])
                panel.text(0.5, 0.5, "does not apply", transform=panel.transAxes, ha="center", color="0.4")
                continue
            style = {"color": PALETTE[0], "marker": "o", "markersize": 4, "capsize": 2}
            self.lines_[name] = panel.errorbar(self.k_values, values, self.spreads.get(name), **(style | kwargs))
            panel.margins(y=0.12)
            K = self.best.get(name)
            if K is not None:
                panel.axvline(K, color=PALETTE[3], linestyle=":", linewidth=1.2, zorder=0)
                mark = {"color": PALETTE[3], "marker": "D", "markersize": 8, "linestyle": "none", "zorder": 3}
                (self.best_[name],) = panel.plot(K, values[self.k_values == K], label=f"K = {K}", **mark)
                panel.legend(fontsize="small", frameon=False, handletextpad=0.1)
        return self


class ObjectiveHistoryDisplay:
    """The objective over the iterations of a fit. Several may be drawn into the same axes.

    Parameters
    ----------
    history : array-like of shape (n_values,)
    name : str, default=None
        For the legend.
    sense : {'min', 'max'}, default=None
        Whether the objective is minimised or maximised, for the label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.plotting import ObjectiveHistoryDisplay
    >>> model = FCM(3, random_state=0).fit(load_iris().data)
    >>> display = ObjectiveHistoryDisplay.from_estimator(model)
    >>> bool(display.line_.get_ydata()[-1] == model.objective_)
    True
    """

    def __init__(
        self, history: ArrayLike, *, name: str | None = None, sense: Literal["min", "max"] | None = None
    ) -> None:
        self.history = check_numbers("history", history, "n_values")
        self.name = name
        if sense not in _BETTER:
            raise ValueError(f"sense must be 'min', 'max' or None. Got {sense!r} instead.")
        self.sense = sense

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, *, name: str | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> ObjectiveHistoryDisplay:
        """Draw the ``objective_history_`` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted soft clusterer
        name : str, default=None
            For the legend; None takes the name of the class.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ObjectiveHistoryDisplay
        """
        check_is_fitted(estimator)
        kind = type(estimator).__name__
        if not hasattr(estimator, "objective_history_"):
            raise TypeError(f"estimator must have objective_history_. Got a {kind} instead.")
        sense = estimator._policy.sense if hasattr(estimator, "_policy") else None
        return cls(estimator.objective_history_, name=kind if name is None else name, sense=sense).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> ObjectiveHistoryDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        **kwargs : dict
            Passed to ``Axes.plot``.

        Returns
        -------
        self : ObjectiveHistoryDisplay
        """
        self.ax_ = ax = one_axes(ax)
        self.figure_ = ax.figure
        style: dict[str, Any] = {"color": PALETTE[len(ax.get_lines()) % 8], "marker": "o", "markersize": 3.5}
        if self.name is not None:
            # matplotlib leaves labels that begin with an underscore out of legends
            style["label"] = (" " if str(self.name).startswith("_") else "") + plain(self.name)
        line: Line2D
        (line,) = ax.plot(self.history, **(style | kwargs))
        self.line_ = line
        locator: Any = ax.xaxis.get_major_locator()
        locator.set_params(integer=True)
        ax.set_xlabel("iteration")
        ax.set_ylabel({"min": "objective (minimised)", "max": "objective (maximised)", None: "objective"}[self.sense])
        ax.set_title("Objective history")
        ax.spines[["top", "right"]].set_visible(False)
        if self.name is not None:
            ax.legend(frameon=False)
        return self
