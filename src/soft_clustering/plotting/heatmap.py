"""The membership matrix as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._estimators import Estimator
from .._types import DataLike
from ..base import labels_from_memberships
from .data import check_count, check_memberships, check_noise, estimator_memberships, estimator_noise, with_noise
from .drawing import one_axes, title
from .palette import UNASSIGNED, cluster_colors, from_hex, membership_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MembershipHeatmapDisplay:
    """Heat map of the memberships, samples sorted by cluster.

    Each sample is placed in the cluster of its largest membership; the samples of a cluster are sorted by their share
    of it, and samples without a cluster come last. A strip on the left shows the clusters' colours.

    Parameters
    ----------
    memberships : array-like of shape (n_samples, n_clusters)
    noise_mass : array-like of shape (n_samples,), default=None
        Memberships in the noise, the last column.
    name : str, default=None
        The name of the estimator, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    order_ : ndarray of shape (n_samples,)
        The samples from top to bottom.
    edges_ : ndarray of shape (n_lines + 1,)
        Line i of the picture is the mean of the sorted samples ``edges_[i]`` to ``edges_[i + 1] - 1``.
    heatmap_ : matplotlib QuadMesh
    strip_ : matplotlib QuadMesh
    colorbar_ : matplotlib Colorbar

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.plotting import MembershipHeatmapDisplay
    >>> display = MembershipHeatmapDisplay.from_estimator(FCM(3, random_state=0).fit(load_iris().data))
    >>> display.heatmap_.get_array().size
    450
    """

    def __init__(self, memberships: ArrayLike, *, noise_mass: ArrayLike | None = None, name: str | None = None) -> None:
        self.memberships = check_memberships(memberships)
        self.noise_mass = check_noise(noise_mass, len(self.memberships))
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: DataLike | None = None, *, ax: Axes | None = None, **kwargs: Any
    ) -> MembershipHeatmapDisplay:
        """Draw the memberships that a fitted estimator gives to X.

        Parameters
        ----------
        estimator : fitted soft clusterer
        X : data of the estimator's modality, default=None
            None stands for the training data.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : MembershipHeatmapDisplay
        """
        noise, name = estimator_noise(estimator, X), type(estimator).__name__
        memberships = estimator_memberships(estimator, X)
        return cls.from_memberships(memberships, noise_mass=noise, name=name, ax=ax, **kwargs)

    @classmethod
    def from_memberships(
        cls,
        memberships: ArrayLike,
        *,
        noise_mass: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> MembershipHeatmapDisplay:
        """Draw given memberships.

        Parameters
        ----------
        memberships : array-like of shape (n_samples, n_clusters)
        noise_mass : array-like of shape (n_samples,), default=None
            Memberships in the noise, the last column.
        name : str, default=None
            For the title.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : MembershipHeatmapDisplay
        """
        return cls(memberships, noise_mass=noise_mass, name=name).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_lines: int = 500, **kwargs: Any) -> MembershipHeatmapDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        max_lines : int, default=500
            More samples than this are averaged to about this many lines, none of which mixes two clusters, and the plot
            says so.
        **kwargs : dict
            Passed to ``Axes.pcolormesh``.

        Returns
        -------
        self : MembershipHeatmapDisplay
        """
        self.ax_ = ax = one_axes(ax)
        self.figure_ = ax.figure
        n, K = self.memberships.shape
        labels = labels_from_memberships(self.memberships, 0.0 if self.noise_mass is None else self.noise_mass)
        groups, columns = np.where(labels < 0, K, labels), with_noise(self.memberships, self.noise_mass)
        self.order_ = np.lexsort((-membership_shares(columns).max(axis=1), groups))
        borders = np.cumsum(np.bincount(groups, minlength=K + 1))
        even = np.linspace(0, n, min(n, check_count("max_lines", max_lines)) + 1).round()
        self.edges_ = np.unique(np.concatenate([even, borders])).astype(np.intp)
        sizes = np.diff(self.edges_)
        lines = np.add.reduceat(columns[self.order_], self.edges_[:-1], axis=0) / sizes[:, None]
        largest = max(1.0, float(self.memberships.max()))
        style: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": largest, "rasterized": True}
        n_columns = columns.shape[1]
        self.heatmap_ = ax.pcolormesh(np.arange(n_columns + 1) - 0.5, self.edges_, lines, **(style | kwargs))
        colors = np.vstack([cluster_colors(K), from_hex((UNASSIGNED,))])[groups[self.order_][self.edges_[:-1]]]
        width = n_columns / 30
        left = [-0.5 - 2 * width, -0.5 - width]
        self.strip_ = ax.pcolormesh(left, self.edges_, colors[:, None], rasterized=True)
        ax.hlines(borders[borders < n], -0.5, n_columns - 0.5, colors="0.5", linewidth=0.6)
        mean = f"\n(a line is the mean of up to {sizes.max()})" if sizes.max() > 1 else ""
        ax.set(
            xlim=(left[0], n_columns - 0.5), ylim=(n, 0), xlabel="cluster", ylabel="samples, sorted by cluster" + mean
        )
        ax.set_xticks(range(n_columns), [*map(str, range(K)), *["noise"] * (n_columns - K)])
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.set_title(title(self.name, "memberships"))
        self.colorbar_ = self.figure_.colorbar(self.heatmap_, ax=ax, label="membership")
        return self
