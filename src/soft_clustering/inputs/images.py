"""Images: grey or with channels, or the rows of their pixels with a shape."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from .features import naming


class Image(NamedTuple):
    """An image in canonical form."""

    pixels: NDArray[Any]  # (n_pixels, n_channels), finite, float64 or float32, row-major order of the pixels
    shape: tuple[int, ...]  # the shape of the grid of pixels


def validate_image(
    estimator: BaseEstimator, X: ArrayLike, *, image_shape: tuple[int, int] | None = None, reset: bool
) -> Image:
    """Validate an image of shape (H, W) or (H, W, C), or with ``image_shape=(H, W)`` its pixels (H * W, C).

    Parameters
    ----------
    estimator : estimator
        ``n_features_in_``, the number of channels, is set on it (``reset=True``) or read from it.
    X : array-like
    image_shape : (int, int), default=None
    reset : bool
        True in ``fit``, False in prediction.
    """
    X = validate_grid(X)
    if image_shape is None:
        if X.ndim not in (2, 3):
            raise ValueError(
                "X must be an image of shape (height, width) or (height, width, n_channels), or with image_shape its "
                f"pixels of shape (n_pixels, n_channels). Got an array of shape {X.shape} instead."
            )
        image = Image(X.reshape(math.prod(X.shape[:2]), -1), X.shape[:2])
    else:
        shape = _validate_shape(image_shape)
        if X.ndim != 2 or len(X) != math.prod(shape):
            raise ValueError(
                f"With image_shape={shape}, X must be the pixels of the image, an array of shape "
                f"({math.prod(shape)}, n_channels). Got an array of shape {X.shape} instead."
            )
        image = Image(X, shape)
    n_channels = image.pixels.shape[1]
    if reset:
        estimator.n_features_in_ = n_channels
    elif n_channels != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_channels} features (channels), but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} as input."
        )
    return image


def validate_grid(X: ArrayLike) -> NDArray[Any]:
    """Return a finite, non-empty C-ordered float array; float32 is kept, and copies are avoided."""
    # check_array sums the entries to look for NaN; entries near the largest float overflow there.
    with naming("X"), np.errstate(over="ignore", invalid="ignore"):
        grid: NDArray[Any] = check_array(
            X,
            dtype=[np.float64, np.float32],
            order="C",
            ensure_2d=False,
            allow_nd=True,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name="X",
        )
    if grid.size == 0:
        raise ValueError(f"X must have at least one pixel. Got an array of shape {grid.shape} instead.")
    return grid


def _validate_shape(image_shape: object) -> tuple[int, int]:
    if not isinstance(image_shape, (tuple, list, np.ndarray)) or len(image_shape) != 2:
        raise ValueError(f"image_shape must be (height, width). Got {image_shape!r} instead.")
    if not all(isinstance(size, (int, np.integer)) and size >= 1 for size in image_shape):
        raise ValueError(f"image_shape must be two integers >= 1. Got {image_shape!r} instead.")
    height, width = image_shape
    return int(height), int(width)


def refuse_shape_as_y(y: object) -> None:
    """Raise an error if a shape is passed as the target, where it would be ignored."""
    if isinstance(y, tuple) and len(y) == 2:
        raise TypeError(f"y is ignored, but got the 2-tuple {y!r}: pass the shape of the image as image_shape={y!r}.")


class ScalarImage(NamedTuple):
    """An image with a number per pixel, of two or three dimensions."""

    values: NDArray[Any]  # finite, float64 or float32, C order
    mask: NDArray[np.bool_] | None  # True where a pixel takes part; None if all do

    @property
    def n_inside(self) -> int:
        """The number of pixels that take part."""
        return int(self.values.size if self.mask is None else self.mask.sum())


def validate_scalar_image(
    estimator: BaseEstimator, X: ArrayLike, *, mask: ArrayLike | None = None, reset: bool
) -> ScalarImage:
    """Validate an image of shape (H, W) or (D, H, W), with a mask of its shape.

    Parameters
    ----------
    estimator : estimator
        In ``fit`` (``reset=True``) its ``n_features_in_`` is set to 1; in prediction its ``image_shape_`` is read.
    X : array-like
    mask : array-like of bool, default=None
        True where a pixel takes part.
    reset : bool
        True in ``fit``, False in prediction.
    """
    X = validate_grid(X)
    if X.ndim not in (2, 3):
        raise ValueError(
            "X must be an image of shape (height, width) or (depth, height, width), a number per pixel. Got an array "
            f"of shape {X.shape} instead."
        )
    if X.ndim == 3 and X.shape[2] in (3, 4) and min(X.shape[:2]) > 4:
        raise ValueError(
            f"X must have a number per pixel, but its shape {X.shape} is that of a colour image. Pass a grey image, as "
            "X.mean(axis=2); if X is a volume, pass np.moveaxis(X, 2, 0)."
        )
    if reset:
        estimator.n_features_in_ = 1
    elif X.shape != estimator.image_shape_:
        raise ValueError(
            f"X must have the shape of the fitted image, {estimator.image_shape_}, whose gain is known. Got an array "
            f"of shape {X.shape} instead."
        )
    if mask is None:
        return ScalarImage(X, None)
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.shape != X.shape:
        raise ValueError(
            f"mask must be a boolean array of the shape of X, {X.shape}. Got an array of dtype {mask.dtype} and shape "
            f"{mask.shape} instead."
        )
    return ScalarImage(X, mask)
