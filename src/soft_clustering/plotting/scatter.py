"""Samples in the plane, coloured by their memberships."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._estimators import Estimator
from .._types import MatrixLike
from .data import (
    check_axis_names,
    check_memberships,
    check_noise,
    check_numbers,
    estimator_memberships,
    estimator_noise,
    in_the_plane,
    sample_rows,
    with_noise,
)
from .drawing import (
    cluster_legend,
    draw_centers,
    legend_width,
    note_of_sample,
    one_axes,
    plain,
    scatter_memberships,
    title,
)
from .palette import UNASSIGNED, cluster_colors, from_hex, membership_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MembershipScatterDisplay:
    """Scatter plot of samples: the colour is a mixture of the clusters' colours, the opacity the certainty.

    Use :meth:`from_estimator` or :meth:`from_memberships`, which project more than two features on their first two
    principal components. One feature is drawn as curves of the memberships over its values.

    Parameters
    ----------
    points : array-like of shape (n_samples, 2) or (n_samples, 1)
    memberships : array-like of shape (n_samples, n_clusters)
    noise_mass : array-like of shape (n_samples,), default=None
        Memberships in the noise; noise is grey.
    centers : array-like of shape (n_clusters, 2) or (n_clusters, 1), default=None
        Drawn as crosses.
    axis_names : sequence of str, default=None
    name : str, default=None
        The name of the estimator, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib PathCollection
        The samples; for one feature a list of Line2D, the curves of the clusters.
    centers_ : matplotlib PathCollection or None
    shown_ : ndarray
        The rows that are drawn, in drawing order.
    note_ : matplotlib Text or None
        Says how many samples are drawn, if not all are.
    legend_ : matplotlib Legend

    See Also
    --------
    soft_clustering.plotting.membership_colors : the colours.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.plotting import MembershipScatterDisplay
    >>> X = load_iris().data
    >>> display = MembershipScatterDisplay.from_estimator(FCM(3, random_state=0).fit(X), X)
    >>> display.ax_.get_xlabel()
    'PC 1 (92% of the variance)'
    """

    def __init__(
        self,
        points: ArrayLike,
        memberships: ArrayLike,
        *,
        noise_mass: ArrayLike | None = None,
        centers: ArrayLike | None = None,
        axis_names: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.points = check_numbers("points", points, "n_samples", "1 or 2")
        n, d = self.points.shape
        if d not in (1, 2):
            raise ValueError(f"points must have 1 or 2 columns. Got {d} instead.")
        self.memberships = check_memberships(memberships, n)
        self.noise_mass = check_noise(noise_mass, n)
        self.centers = None if centers is None else check_numbers("centers", centers, self.memberships.shape[1], d)
        self.axis_names = check_axis_names(axis_names, d)
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: MatrixLike, *, ax: Axes | None = None, **kwargs: Any
    ) -> MembershipScatterDisplay:
        """Draw the samples of X with the memberships that a fitted estimator gives them.

        Parameters
        ----------
        estimator : fitted soft clusterer
            Predicts the memberships. One that cannot predict shows those of its training data.
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training data if the estimator cannot predict.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : MembershipScatterDisplay
        """
        return cls.from_memberships(
            estimator_memberships(estimator, X),
            X,
            noise_mass=estimator_noise(estimator, X),
            centers=getattr(estimator, "centers_", None),
            name=type(estimator).__name__,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_memberships(
        cls,
        memberships: ArrayLike,
        X: MatrixLike,
        *,
        noise_mass: ArrayLike | None = None,
        centers: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> MembershipScatterDisplay:
        """Draw the samples of X with given memberships.

        Parameters
        ----------
        memberships : array-like of shape (n_samples, n_clusters)
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        noise_mass : array-like of shape (n_samples,), default=None
            Memberships in the noise; noise is grey.
        centers : array-like of shape (n_clusters, n_features), default=None
        name : str, default=None
            For the title.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : MembershipScatterDisplay
        """
        points, centers, axis_names = in_the_plane(X, centers)
        display = cls(points, memberships, noise_mass=noise_mass, centers=centers, axis_names=axis_names, name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_points: int = 20_000, **kwargs: Any) -> MembershipScatterDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        max_points : int, default=20000
            If there are more samples, a random choice of them, always the same, is drawn, and the plot says so.
        **kwargs : dict
            Passed to ``Axes.scatter`` (two coordinates) or ``Axes.plot`` (one).

        Returns
        -------
        self : MembershipScatterDisplay
        """
        K = self.memberships.shape[1]
        self.ax_ = ax = one_axes(ax, 6.4 + legend_width(K))
        self.figure_ = ax.figure
        self.shown_: NDArray[np.intp] = sample_rows(len(self.points), max_points)
        points, memberships = self.points[self.shown_], self.memberships[self.shown_]
        noise = None if self.noise_mass is None else self.noise_mass[self.shown_]
        axis_names, centers = self.axis_names, self.centers
        self.points_: Any
        if points.shape[1] == 1:
            order = np.argsort(points[:, 0], kind="stable")
            style = {"marker": ".", "markersize": 4, "linewidth": 1.2, "rasterized": True} | kwargs
            colors = cluster_colors(K) if noise is None else np.vstack([cluster_colors(K), from_hex((UNASSIGNED,))])
            self.points_ = [
                ax.plot(points[order, 0], column, **({"color": color} | style))[0]
                for color, column in zip(colors, with_noise(memberships, noise)[order].T, strict=True)
            ]
            axis_names = [*axis_names, "membership"]
            centers = None if centers is None else np.column_stack([centers, np.zeros(K)])
            self.legend_ = cluster_legend(ax, K, noise=noise is not None, centers=centers is not None)
        else:
            self.points_ = scatter_memberships(ax, points, membership_colors(memberships, noise_mass=noise), **kwargs)
            shows = {"none": not memberships.any(axis=1).all(), "noise": noise is not None, "uncertain": K > 1}
            self.legend_ = cluster_legend(ax, K, **shows, centers=centers is not None)
        self.centers_ = None if centers is None else draw_centers(ax, centers)
        self.note_ = note_of_sample(ax, len(points), len(self.points), "samples")
        ax.set_xlabel(plain(axis_names[0]))
        ax.set_ylabel(plain(axis_names[1]))
        ax.set_title(title(self.name, "memberships"))
        return self
