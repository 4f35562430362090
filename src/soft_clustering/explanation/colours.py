"""Images: the mean colour of a cluster, and where in the picture it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._types import Array, Names
from ..inputs.images import validate_grid
from .features import check_names, compare
from .moments import sums_of_rows
from .profile import Bar, FeatureProfile
from .weights import cluster_weights

_CHANNELS = {1: ["intensity"], 3: ["red", "green", "blue"], 4: ["red", "green", "blue", "opacity"]}
_COMPACT = 0.2  # a standard deviation, as a part of the side, of which a cluster has a place; evenly spread it is 0.29
_PLACES = ("upper", "middle", "lower"), ("left", "middle", "right")


@dataclass(frozen=True)
class ColourProfile:
    """The mean colour and the place of each cluster of an image.

    Attributes
    ----------
    channels : FeatureProfile
        The comparison of the channels.
    colours : list of str
        The mean colour ``#rrggbb`` of each cluster; grey if there is one channel, '' for 2 or more than 4 channels.
    places : list of str
        Such as ``'upper left'``; '' if the cluster is spread over the image, or the image is a volume.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_colours
    >>> profile_colours([[1, 0], [0, 1], [1, 0], [0, 1]], [[0.0, 1.0], [0.0, 1.0]]).colours
    ['#000000', '#ffffff']
    """

    channels: FeatureProfile
    colours: list[str]
    places: list[str]

    def phrases(self, k: int, n: int) -> list[str]:
        """Return phrases about the colour, the place, and the channels."""
        return [*self._look(k), *self.channels.phrases(k, n)][:n]

    def _look(self, k: int) -> list[str]:
        colour = [f"mean colour {self.colours[k]}"] if self.colours[k] else []
        return [*colour, f"in the {self.places[k]}"] if self.places[k] else colour

    def lines(self, k: int, n: int) -> list[str]:
        """Return a line about the colour and the place, and one for each channel."""
        look = self._look(k)
        return [*([", ".join(look)] if look else []), *self.channels.lines(k, n)]

    def to_dict(self, k: int, n: int) -> dict[str, Any]:
        """Return ``{"features": [...], "colour": "#rrggbb", "place": "upper left"}``."""
        return {**self.channels.to_dict(k, n), "colour": self.colours[k], "place": self.places[k]}

    def columns(self, k: int) -> dict[str, Any]:
        """Return the columns of the table of cluster k."""
        return self.channels.columns(k)

    def bars(self, k: int, n: int) -> list[Bar]:
        """Return a bar per channel."""
        return self.channels.bars(k, n)

    @property
    def unit(self) -> str:
        """What the bars show."""
        return self.channels.unit


class PixelNames(Sequence[str]):
    """The places of the pixels, by their number in row-major order.

    Examples
    --------
    >>> PixelNames((2, 3))[4]
    '(1, 1)'
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return int(np.prod(self.shape))

    def __getitem__(self, pixel: Any) -> Any:
        return str(tuple(int(i) for i in np.unravel_index(pixel, self.shape)))


def read_image(image: ArrayLike, n: int) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Return the pixels (n, n_channels) of an image or a volume of n pixels, and the shape of their grid."""
    X = validate_grid(image)
    shape = next((X.shape[:d] for d in (2, 3) if X.ndim >= d and int(np.prod(X.shape[:d])) == n), None)
    if shape is None:
        raise ValueError(
            f"X must be an image with one pixel per row of the memberships, {n} pixels. Got shape {X.shape} instead."
        )
    return X.reshape(n, -1), shape


def profile_colours(U: ArrayLike, image: ArrayLike, channel_names: Names | None = None) -> ColourProfile:
    """Find the mean colour of each cluster of an image, and where in the image it is.

    Parameters
    ----------
    U : array-like of shape (n_pixels, n_clusters)
        Memberships of any kind; the pixels in row-major order.
    image : array-like of shape (height, width), (height, width, n_channels) or (depth, height, width)
        Colours are numbers from 0 to 1, or from 0 to 255; other intensities are shown from black, the least, to white.
    channel_names : sequence of str, default=None

    Returns
    -------
    profile : ColourProfile

    Notes
    -----
    Neighbouring pixels are alike, so that the intervals of the channels are too narrow: they are those of independent
    samples. A cluster has a place if the standard deviation of its rows, or of its columns, is below 0.2 of the side.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering.explanation import profile_colours
    >>> image = np.zeros((10, 10, 3))
    >>> image[:4, :4] = [1, 0, 0]
    >>> red = image[:, :, 0].ravel()
    >>> profile = profile_colours(np.column_stack([red, 1 - red]), image)
    >>> profile.colours, profile.places
    (['#ff0000', '#000000'], ['upper left', ''])
    """
    W = cluster_weights(U)
    pixels, shape = read_image(image, len(W))
    C = pixels.shape[1]
    known = _CHANNELS.get(C, [f"channel {c}" for c in range(C)])
    names = check_names("feature_names", known if channel_names is None else channel_names, C)
    channels = compare(sums_of_rows(W, pixels), names)
    return ColourProfile(channels, _colours(channels.inside, np.asarray(image), C), _places(W, shape))


def _colours(means: Array, image: NDArray[Any], n_channels: int) -> list[str]:
    if n_channels not in _CHANNELS:
        return [""] * len(means)
    low, high = float(image.min()), float(image.max())
    if low >= 0 and high <= 255:
        low, high = 0.0, 1.0 if high <= 1 and image.dtype.kind == "f" else 255.0
    levels = np.nan_to_num((means - low) / ((high - low) or 1.0)).clip(0, 1)
    rgb = np.rint(255 * (levels[:, :3] if n_channels > 1 else np.repeat(levels, 3, axis=1))).astype(int)
    return ["#" + "".join(f"{level:02x}" for level in colour) for colour in rgb.tolist()]


def _places(W: Array, shape: tuple[int, ...]) -> list[str]:
    if len(shape) != 2:
        return [""] * W.shape[1]
    grid = W.reshape(*shape, -1)
    words = []
    for axis, names in enumerate(_PLACES):
        weights = grid.sum(axis=1 - axis)  # (length of the side, n_clusters)
        side = (np.arange(len(weights)) + 0.5) / len(weights)
        mass = np.where(weights.sum(axis=0) > 0, weights.sum(axis=0), 1.0)
        mean = side @ weights / mass
        spread = np.sqrt(np.maximum(side**2 @ weights / mass - mean**2, 0))
        words.append([names[min(int(3 * m), 2)] if s < _COMPACT else "" for m, s in zip(mean, spread, strict=True)])
    full = W.max(axis=0) > 0
    return [_place(*pair) if full[k] else "" for k, pair in enumerate(zip(*words, strict=True))]


def _place(rows: str, columns: str) -> str:
    if not rows or not columns:
        word = rows or columns
        return f"{word} part" if word not in ("", "middle") else ""
    words = [word for word in (rows, columns) if word != "middle"]
    return f"{words[0]} middle" if len(words) == 1 else " ".join(words) or "middle"
