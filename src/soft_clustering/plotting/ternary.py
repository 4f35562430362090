"""Three clusters as the corners of a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._estimators import Estimator
from .._types import Array, DataLike
from .data import check_memberships, check_noise, estimator_memberships, estimator_noise, sample_rows
from .drawing import one_axes, scatter_memberships, title, write_note
from .palette import cluster_colors, membership_colors, membership_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Clusters 0, 1, 2.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


class TernaryDisplay:
    """Ternary plot of the memberships in three clusters.

    A corner of the triangle is a cluster. A sample is placed at the mean of the corners, weighted by its shares of the
    clusters: near a corner it is certain, on an edge it is between two clusters, in the middle it belongs to all three.

    Parameters
    ----------
    memberships : array-like of shape (n_samples, 3)
        Rows are divided by their sums; a row of zeros is not drawn.
    noise_mass : array-like of shape (n_samples,), default=None
        Memberships in the noise; noise is grey.
    name : str, default=None
        The name of the estimator, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib PathCollection
    shown_ : ndarray
        The rows that are drawn, in drawing order.
    note_ : matplotlib Text or None
        Says how many samples are not drawn, if any.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from soft_clustering import FCM
    >>> from soft_clustering.plotting import TernaryDisplay
    >>> display = TernaryDisplay.from_estimator(FCM(3, random_state=0).fit(load_iris().data))
    >>> len(display.points_.get_offsets())
    150
    """

    def __init__(self, memberships: ArrayLike, *, noise_mass: ArrayLike | None = None, name: str | None = None) -> None:
        self.memberships = check_memberships(memberships)
        self.noise_mass = check_noise(noise_mass, len(self.memberships))
        if self.memberships.shape[1] != 3:
            raise ValueError(f"memberships must have shape (n_samples, 3). Got shape {self.memberships.shape} instead.")
        if not self.memberships.any():
            raise ValueError("memberships must have a positive entry. Got only zeros.")
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: DataLike | None = None, *, ax: Axes | None = None, **kwargs: Any
    ) -> TernaryDisplay:
        """Draw the memberships that a fitted estimator of three clusters gives to X.

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
        display : TernaryDisplay
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
    ) -> TernaryDisplay:
        """Draw given memberships.

        Parameters
        ----------
        memberships : array-like of shape (n_samples, 3)
        noise_mass : array-like of shape (n_samples,), default=None
            Memberships in the noise; noise is grey.
        name : str, default=None
            For the title.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : TernaryDisplay
        """
        return cls(memberships, noise_mass=noise_mass, name=name).plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_points: int = 20_000, **kwargs: Any) -> TernaryDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        max_points : int, default=20000
            If there are more samples, a random choice of them, always the same, is drawn, and the plot says so.
        **kwargs : dict
            Passed to ``Axes.scatter``.

        Returns
        -------
        self : TernaryDisplay
        """
        self.ax_ = ax = one_axes(ax, 5.6, 5.0)
        self.figure_ = ax.figure
        placed = np.flatnonzero(self.memberships.any(axis=1))
        self.shown_ = placed[sample_rows(len(placed), max_points)]
        shown = self.memberships[self.shown_]
        noise = None if self.noise_mass is None else self.noise_mass[self.shown_]
        _triangle(ax)
        self.points_ = scatter_memberships(
            ax,
            membership_shares(shown) @ CORNERS,
            membership_colors(shown, noise_mass=noise),
            **({"zorder": 3} | kwargs),
        )
        n = len(self.memberships)
        remarks = [f"{len(shown):,} of {len(placed):,} samples shown"] if len(shown) < len(placed) else []
        remarks += [f"{n - len(placed):,} samples of no cluster left out"] if len(placed) < n else []
        self.note_ = write_note(ax, "\n".join(remarks)) if remarks else None
        ax.set_ylim(bottom=-0.14 - 0.05 * len(remarks))
        ax.set_title(title(self.name, "memberships"))
        return self


def _triangle(ax: Axes) -> None:
    """Draw the frame, the grid lines of equal share, and names at the corners."""
    ax.fill(*CORNERS.T, facecolor="none", edgecolor="0.3", linewidth=1, zorder=2)
    for k in range(3):
        corner, second, third = CORNERS[[k, (k + 1) % 3, (k + 2) % 3]]
        for share in (0.2, 0.4, 0.6, 0.8):
            ends: Array = share * corner + (1 - share) * np.array([second, third])
            ax.plot(*ends.T, color="0.85", linewidth=0.8, zorder=1)
            # The scale of a cluster runs along the edge from the next corner, where its share is 0.
            away = ends[0] - 0.05 * (third - (corner + second) / 2)
            ax.text(away[0], away[1], f"{share:.1f}", ha="center", va="center", fontsize="small", color=_darker(k))
        place = CORNERS.mean(axis=0) + 1.14 * (corner - CORNERS.mean(axis=0))
        ax.text(place[0], place[1], f"cluster {k}", ha="center", va="center", color=_darker(k), weight="bold")
    ax.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.14, CORNERS[2, 1] + 0.12))
    ax.set_axis_off()


def _darker(k: int) -> tuple[float, float, float]:
    """Return the colour of a cluster, dark enough for text."""
    red, green, blue = 0.8 * cluster_colors(3)[k]
    return red, green, blue
