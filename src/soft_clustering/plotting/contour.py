"""The membership surface over the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import QhullError
from sklearn.utils._set_output import _get_adapter_from_container

from .._estimators import Estimator
from .._types import Array, MatrixLike
from ..inputs.features import is_dask
from .data import (
    check_axis_names,
    check_count,
    check_features,
    check_memberships,
    check_noise,
    check_numbers,
    estimator_memberships,
    estimator_noise,
    feature_names,
    sample_rows,
    with_noise,
)
from .drawing import (
    cluster_legend,
    dot_size,
    draw_centers,
    legend_width,
    note_of_sample,
    one_axes,
    plain,
    title,
)
from .palette import cluster_colors, membership_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MembershipContourDisplay:
    """Contours of the memberships as functions of two features, a colour per cluster, over a tinted background.

    Use :meth:`from_estimator`, or :meth:`from_memberships` for an estimator that cannot predict.

    Parameters
    ----------
    x, y : array-like of shape (n_x,) and (n_y,)
        The grid: at least two numbers, increasing by equal steps.
    memberships : array-like of shape (n_y, n_x, n_clusters)
        The memberships on the grid; NaN where the surface is unknown.
    noise_mass : array-like of shape (n_y, n_x), default=None
        Memberships in the noise on the grid; noise is grey.
    points : array-like of shape (n_samples, 2), default=None
        Drawn as dots.
    centers : array-like of shape (n_clusters, 2), default=None
        Drawn as crosses.
    axis_names : sequence of str, default=None
    name : str, default=None
        The name of the estimator, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    background_ : matplotlib AxesImage
        The mixture of the clusters' colours, fainter where it is uncertain.
    contours_ : list of matplotlib QuadContourSet or None
        One per cluster; None if its membership reaches no level.
    points_, centers_ : matplotlib PathCollection or None
    shown_ : ndarray
        The rows of ``points`` that are drawn.
    note_ : matplotlib Text or None
        Says how many samples are drawn, if not all are.
    legend_ : matplotlib Legend

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import GMM
    >>> from soft_clustering.plotting import MembershipContourDisplay
    >>> X = load_iris().data[:, 2:]
    >>> display = MembershipContourDisplay.from_estimator(GMM(3, random_state=0).fit(X), X)
    >>> display.contours_[0].levels
    array([0.5, 0.7, 0.9])
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        memberships: ArrayLike,
        *,
        noise_mass: ArrayLike | None = None,
        points: ArrayLike | None = None,
        centers: ArrayLike | None = None,
        axis_names: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.x = _axis("x", x)
        self.y = _axis("y", y)
        self.memberships = np.asarray(memberships, dtype=np.float64)
        shape = (len(self.y), len(self.x))
        if self.memberships.ndim != 3 or self.memberships.shape[:2] != shape:
            raise ValueError(
                f"memberships must have shape ({shape[0]}, {shape[1]}, n_clusters). "
                f"Got shape {self.memberships.shape} instead."
            )
        check_memberships(self._known(self.memberships))
        self.noise_mass = None if noise_mass is None else np.asarray(noise_mass, dtype=np.float64).reshape(shape)
        K = self.memberships.shape[2]
        self.points = None if points is None else check_numbers("points", points, "n_samples", 2)
        self.centers = None if centers is None else check_numbers("centers", centers, K, 2)
        self.axis_names = check_axis_names(axis_names, 2)
        self.name = name

    def _known(self, values: Array) -> Array:
        """Return values of the grid points where the memberships are known, an entry for each point."""
        known: Array = values[~np.isnan(self.memberships).any(axis=2)]
        return known

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: MatrixLike, *, grid_resolution: int = 200, ax: Axes | None = None, **kwargs: Any
    ) -> MembershipContourDisplay:
        """Draw the surface that a fitted estimator predicts around the samples of X.

        Parameters
        ----------
        estimator : fitted soft clusterer that can predict
        X : array-like or data frame of shape (n_samples, 2)
        grid_resolution : int, default=200
            Grid points along an axis.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : MembershipContourDisplay
        """
        if not hasattr(estimator, "predict_memberships"):
            raise TypeError(
                f"estimator must be able to predict. Got a {type(estimator).__name__} instead; use from_memberships."
            )
        X = X.compute() if is_dask(X) else X
        points, x, y = _grid(X, grid_resolution)
        grid: Any = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        if hasattr(X, "columns") and hasattr(estimator, "feature_names_in_"):
            # the estimator warns unless the columns have the names that it was fitted with
            adapter = _get_adapter_from_container(X)
            grid = adapter.create_container(grid, grid, columns=X.columns)
        surface = check_memberships(estimator_memberships(estimator, grid))
        return cls(
            x,
            y,
            surface.reshape(len(y), len(x), -1),
            noise_mass=estimator_noise(estimator, grid),
            points=points,
            centers=getattr(estimator, "centers_", None),
            axis_names=feature_names(X, 2),
            name=type(estimator).__name__,
        ).plot(ax, **kwargs)

    @classmethod
    def from_memberships(
        cls,
        memberships: ArrayLike,
        X: MatrixLike,
        *,
        noise_mass: ArrayLike | None = None,
        grid_resolution: int = 200,
        centers: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        max_points: int = 20_000,
        **kwargs: Any,
    ) -> MembershipContourDisplay:
        """Draw the surface that interpolates the memberships of the samples, linearly between neighbours.

        Parameters
        ----------
        memberships : array-like of shape (n_samples, n_clusters)
        X : array-like or data frame of shape (n_samples, 2)
            At least three different samples, not all on a line.
        noise_mass : array-like of shape (n_samples,), default=None
            Memberships in the noise; noise is grey.
        grid_resolution : int, default=200
            Grid points along an axis.
        centers : array-like of shape (n_clusters, 2), default=None
        name : str, default=None
            For the title.
        ax : matplotlib Axes, default=None
        max_points : int, default=20000
            If there are more samples, only this many are interpolated and drawn.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : MembershipContourDisplay
        """
        points, x, y = _grid(X, grid_resolution)
        memberships, noise = check_memberships(memberships, len(points)), check_noise(noise_mass, len(points))
        rows = sample_rows(len(points), max_points)
        try:
            columns = with_noise(memberships, noise)[rows]
            surface = LinearNDInterpolator(points[rows], columns, rescale=True)(*np.meshgrid(x, y))
        except (QhullError, ValueError) as error:
            raise ValueError("X must have at least three different samples, not all on a line.") from error
        display = cls(
            x,
            y,
            surface[..., : memberships.shape[1]],
            noise_mass=None if noise is None else surface[..., -1],
            points=points,
            centers=centers,
            axis_names=feature_names(X, 2),
            name=name,
        )
        return display.plot(ax, max_points=max_points, **kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        levels: Sequence[float] = (0.5, 0.7, 0.9),
        max_points: int = 20_000,
        **kwargs: Any,
    ) -> MembershipContourDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        levels : sequence of float, default=(0.5, 0.7, 0.9)
            The memberships at which contours are drawn, increasing.
        max_points : int, default=20000
            If there are more samples, a random choice of them, always the same, is drawn, and the plot says so.
        **kwargs : dict
            Passed to ``Axes.contour``.

        Returns
        -------
        self : MembershipContourDisplay
        """
        if len(levels) == 0 or not np.all(np.diff(levels) > 0):
            raise ValueError(f"levels must be increasing numbers. Got {levels!r} instead.")
        K = self.memberships.shape[2]
        self.ax_ = ax = one_axes(ax, 6.4 + legend_width(K))
        self.figure_ = ax.figure
        colors = np.zeros((*self.memberships.shape[:2], 4))
        known = ~np.isnan(self.memberships).any(axis=2)
        noise = None if self.noise_mass is None else self._known(self.noise_mass)
        colors[known] = membership_colors(self._known(self.memberships), noise_mass=noise, min_opacity=0)
        colors[..., 3] *= 0.45 * self.memberships.any(axis=2)
        half = (self.x[1] - self.x[0]) / 2, (self.y[1] - self.y[0]) / 2
        extent = (self.x[0] - half[0], self.x[-1] + half[0], self.y[0] - half[1], self.y[-1] + half[1])
        self.background_ = ax.imshow(colors, extent=extent, origin="lower", aspect="auto", interpolation="bilinear")
        widths = np.linspace(0.6, 2.0, len(levels))
        self.contours_ = [
            self._contour(k, {"levels": levels, "colors": [color], "linewidths": widths} | kwargs)
            for k, color in enumerate(cluster_colors(K))
        ]
        self.points_ = self.centers_ = self.note_ = None
        self.shown_ = np.empty(0, dtype=np.intp)
        if self.points is not None:
            self.shown_ = sample_rows(len(self.points), max_points)
            shown = self.points[self.shown_]
            self.points_ = ax.scatter(
                shown[:, 0],
                shown[:, 1],
                s=0.3 * dot_size(len(shown)),
                c="0.2",
                alpha=0.6,
                linewidths=0,
                rasterized=True,
            )
            self.note_ = note_of_sample(ax, len(shown), len(self.points), "samples")
        if self.centers is not None:
            self.centers_ = draw_centers(ax, self.centers)
        ax.set(xlim=(self.x[0], self.x[-1]), ylim=(self.y[0], self.y[-1]))
        ax.set_xlabel(plain(self.axis_names[0]))
        ax.set_ylabel(plain(self.axis_names[1]))
        ax.set_title(title(self.name, "contours of the memberships"))
        from matplotlib.lines import Line2D

        lines = [
            Line2D([], [], color="0.3", linewidth=width, label=f"membership {level:g}")
            for level, width in zip(levels, widths, strict=True)
        ]
        shows = {"noise": noise is not None, "centers": self.centers is not None}
        self.legend_ = cluster_legend(ax, K, **shows, further=lines)
        return self

    def _contour(self, k: int, style: dict[str, Any]) -> Any:
        surface = np.ma.masked_invalid(self.memberships[..., k])
        if not any(surface.min() < level < surface.max() for level in style["levels"]):
            return None
        return self.ax_.contour(self.x, self.y, surface, **style)


def _axis(name: str, value: ArrayLike) -> Array:
    numbers = check_numbers(name, value, f"n_{name}")
    steps = np.diff(numbers)
    if len(steps) < 1 or steps.min() <= 0 or steps.max() > 1.001 * steps.min():
        raise ValueError(f"{name} must have at least two numbers that increase by equal steps. Got {value!r} instead.")
    return numbers


def _grid(X: MatrixLike, resolution: int) -> tuple[Array, Array, Array]:
    """Return the samples, and the coordinates of a grid that reaches a tenth of their range beyond them."""
    points = check_features(X)
    if points.shape[1] != 2:
        raise ValueError(f"X must have 2 features, the axes of the plot. Got {points.shape[1]} instead.")
    points = np.asarray(points.toarray() if hasattr(points, "toarray") else points)
    check_count("grid_resolution", resolution, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, (high - low) / 10, np.maximum(abs(low) / 10, 0.5))
    return points, *np.linspace(low - margin, high + margin, resolution).T
