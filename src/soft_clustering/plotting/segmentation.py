"""Segmented images, with the bias field that was taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._estimators import Estimator
from .._types import Array
from .data import check_count, check_memberships, check_noise, check_numbers, estimator_memberships, estimator_noise
from .drawing import cluster_legend, panels, title, write_note
from .palette import membership_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SegmentationDisplay:
    """An image beside its memberships, the bias field and the corrected image.

    In the picture of the memberships a pixel has the mixture of its clusters' colours, fainter where it is uncertain.
    Of a volume the middle slice along the first axis is drawn.

    Parameters
    ----------
    image : array-like of shape (height, width), (height, width, n_channels) or (depth, height, width)
        Three channels are drawn as colours, other numbers as their mean.
    memberships : array-like of shape (n_pixels, n_clusters)
        In row-major order. Memberships of shape (height, width, n_clusters) are reshaped.
    noise_mass : array-like of shape (n_pixels,) or (height, width), default=None
        Memberships in the noise; noise is grey.
    bias : array-like of shape (height, width) or (depth, height, width), default=None
        The gain by which intensities were multiplied.
    corrected : array-like, of the shape of the image, default=None
    name : str, default=None
        The name of the estimator, for the title.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        The panels: image, memberships, bias field and corrected image where given.
    figure_ : matplotlib Figure
    images_ : list of matplotlib AxesImage
    contours_ : matplotlib QuadContourSet or None
        Lines of equal bias, with their values.
    note_ : matplotlib Text or None
        Says which slice and which pixels are drawn, if not all are.
    legend_ : matplotlib Legend

    Examples
    --------
    >>> from soft_clustering import FCM
    >>> from soft_clustering.datasets import make_phantom
    >>> from soft_clustering.plotting import SegmentationDisplay
    >>> phantom = make_phantom((40, 60), random_state=0)
    >>> model = FCM(3, random_state=0).fit(phantom.image.reshape(-1, 1))
    >>> display = SegmentationDisplay.from_memberships(model.memberships_, phantom.image, bias=phantom.bias)
    >>> [ax.get_title() for ax in display.axes_]
    ['image', 'memberships', 'bias field']
    """

    def __init__(
        self,
        image: ArrayLike,
        memberships: ArrayLike,
        *,
        noise_mass: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        corrected: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        self.image = np.asarray(image)
        if self.image.ndim not in (2, 3):
            raise ValueError(f"image must have 2 or 3 dimensions. Got shape {self.image.shape} instead.")
        check_numbers("image", self.image, *self.image.shape)
        memberships = np.asarray(memberships)
        if memberships.ndim > 2:
            memberships = memberships.reshape(-1, memberships.shape[-1])
        memberships = check_memberships(memberships)
        # One row per pixel; of a volume, one per voxel.
        shape = next((self.image.shape[:d] for d in (2, 3) if np.prod(self.image.shape[:d]) == len(memberships)), None)
        if shape is None:
            raise ValueError(
                f"memberships must have one row per pixel of the image, whose shape is {self.image.shape}. "
                f"Got shape {memberships.shape} instead."
            )
        self.memberships = memberships.reshape(*shape, -1)
        noise = None if noise_mass is None else check_noise(np.ravel(noise_mass), len(memberships))
        self.noise_mass = None if noise is None else noise.reshape(shape)
        self.bias = None if bias is None else check_numbers("bias", bias, *shape)
        self.corrected = None if corrected is None else check_numbers("corrected", corrected, *self.image.shape)
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: ArrayLike, *, ax: Axes | None = None, **kwargs: Any
    ) -> SegmentationDisplay:
        """Draw an image with the memberships of an estimator fitted to it.

        The bias field is the estimator's ``gain_``, the corrected image its ``corrected_image_``, if it has them.

        Parameters
        ----------
        estimator : fitted soft clusterer of images
        X : array-like
            The image that the estimator was fitted to.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : SegmentationDisplay
        """
        return cls(
            X,
            estimator_memberships(estimator),
            noise_mass=estimator_noise(estimator),
            bias=getattr(estimator, "gain_", None),
            corrected=getattr(estimator, "corrected_image_", None),
            name=type(estimator).__name__,
        ).plot(ax, **kwargs)

    @classmethod
    def from_memberships(
        cls,
        memberships: ArrayLike,
        image: ArrayLike,
        *,
        noise_mass: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        corrected: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> SegmentationDisplay:
        """Draw an image with given memberships.

        Parameters
        ----------
        memberships : array-like of shape (n_pixels, n_clusters) or (height, width, n_clusters)
        image : array-like of shape (height, width), (height, width, n_channels) or (depth, height, width)
        noise_mass : array-like of shape (n_pixels,) or (height, width), default=None
            Memberships in the noise; noise is grey.
        bias : array-like of shape (height, width) or (depth, height, width), default=None
        corrected : array-like, of the shape of the image, default=None
        name : str, default=None
            For the title.
        ax : matplotlib Axes, default=None
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : SegmentationDisplay
        """
        display = cls(image, memberships, noise_mass=noise_mass, bias=bias, corrected=corrected, name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Axes | None = None, *, max_side: int = 800, **kwargs: Any) -> SegmentationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Replaced by the panels. None makes a new figure.
        max_side : int, default=800
            If a side of the image is longer, every second (third, ...) pixel is drawn, and the plot says so.
        **kwargs : dict
            Passed to ``Axes.imshow``.

        Returns
        -------
        self : SegmentationDisplay
        """
        *depth, height, width = self.memberships.shape[:-1]
        step = -(-max(height, width) // check_count("max_side", max_side))
        some = (*(size // 2 for size in depth), slice(None, None, step), slice(None, None, step))
        memberships = self.memberships[some]
        noise = None if self.noise_mass is None else self.noise_mass[some].ravel()
        colors = membership_colors(memberships.reshape(-1, memberships.shape[-1]), noise_mass=noise)
        pictures = {"image": _grey_or_color(self.image[some]), "memberships": colors.reshape(*memberships.shape[:2], 4)}
        if self.bias is not None:
            pictures["bias field"] = self.bias[some]
        if self.corrected is not None:
            pictures["corrected image"] = _grey_or_color(self.corrected[some])
        n_columns = min(len(pictures), 4 if ax is None else 2)
        self.axes_ = np.array(panels(ax, len(pictures), n_columns, (3.0, 0.4 + 2.6 * min(height / width, 2.0))))
        self.figure_ = self.axes_[0].figure
        self.images_ = []
        self.contours_ = None
        for panel, (what, picture) in zip(self.axes_, pictures.items(), strict=True):
            style = {"cmap": "cividis" if what == "bias field" else "gray", "interpolation": "nearest"}
            self.images_.append(panel.imshow(picture, **(style | kwargs)))
            panel.set_title(what if what != "memberships" or self.name is None else title(self.name, what))
            panel.set_xticks([])
            panel.set_yticks([])
            if what == "bias field" and np.ptp(picture) > 0:
                self.contours_ = panel.contour(picture, levels=6, colors="white", linewidths=0.8)
                panel.clabel(self.contours_, fontsize="x-small")
        K, none = memberships.shape[2], not memberships.any(axis=2).all()
        place = self.axes_[n_columns - 1]
        self.legend_ = cluster_legend(place, K, none=none, noise=noise is not None, uncertain=True)
        remarks = [f"slice {depth[0] // 2} of 0 to {depth[0] - 1}"] if depth else []
        remarks += [f"1 of {step * step} pixels shown"] if step > 1 else []
        self.note_ = write_note(self.axes_[0], "\n".join(remarks)) if remarks else None
        return self


def _grey_or_color(image: Array) -> Array:
    """Return what imshow takes: a grey level, or three channels in [0, 1], per pixel."""
    if image.ndim == 2:
        return image
    if image.shape[2] != 3:
        grey: Array = image.mean(axis=2)
        return grey
    if image.dtype == np.uint8:
        return image
    low, high = float(image.min()), float(image.max())
    if low >= 0 and high <= 1:
        return image
    return (image - low) / ((high - low) or 1)
