"""Colours: sRGB, and CIELAB, where equal distances look about equally different.

sRGB (IEC 61966-2-1) is decoded to linear light, which a matrix transforms to XYZ. L*, a* and b* are linear in the cube
roots of X, Y, Z relative to the white point D65; near black, straight lines replace the cube roots.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._types import MatrixLike

_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = _TO_XYZ.sum(axis=1)  # D65: white has a* = b* = 0 exactly
_EDGE = 6 / 29  # the cube root of X / X_white below which the straight line replaces it
_TO_LAB = np.array([[0.0, 116.0, 0.0], [500.0, -500.0, 0.0], [0.0, 200.0, -200.0]])  # from the cube roots
_BLACK = np.array([-16.0, 0.0, 0.0])  # L*, a*, b* of cube roots 0


def rgb_to_lab(rgb: ArrayLike) -> NDArray[np.float64]:
    """Convert sRGB colours (n, 3) in [0, 1] to CIELAB (n, 3).

    Examples
    --------
    >>> rgb_to_lab([[1.0, 0.0, 0.0]]).round(2) + 0.0
    array([[53.24, 80.09, 67.2 ]])
    """
    rgb = np.asarray(rgb, dtype=np.float64)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T / _WHITE
    roots = np.where(xyz > _EDGE**3, np.cbrt(xyz), xyz / (3 * _EDGE**2) + 4 / 29)
    lab: NDArray[np.float64] = roots @ _TO_LAB.T + _BLACK
    return lab


def lab_to_rgb(lab: ArrayLike) -> NDArray[np.float64]:
    """Convert CIELAB colours (n, 3) to sRGB (n, 3); colours outside sRGB are clipped to [0, 1].

    Examples
    --------
    >>> lab_to_rgb(rgb_to_lab([[0.2, 0.4, 0.6]])).round(3)
    array([[0.2, 0.4, 0.6]])
    """
    roots = (np.asarray(lab, dtype=np.float64) - _BLACK) @ np.linalg.inv(_TO_LAB).T
    xyz = np.where(roots > _EDGE, roots**3, 3 * _EDGE**2 * (roots - 4 / 29)) * _WHITE
    linear = np.clip(xyz @ np.linalg.inv(_TO_XYZ).T, 0, 1)
    rgb: NDArray[np.float64] = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return rgb


def is_color_image(X: MatrixLike) -> bool:
    """Whether X is an image with channels, rather than a feature matrix."""
    return len(getattr(X, "shape", ())) == 3


def pixels(X: Any) -> Any:
    """Return the pixels (height * width, 3) of a colour image in row-major order; other data are returned unchanged."""
    if not is_color_image(X):
        return X
    if X.shape[2] != 3:
        raise ValueError(
            "X must be a feature matrix of shape (n_samples, n_features) or an image of shape (height, width, 3). Got "
            f"an array of shape {X.shape} instead."
        )
    return X.reshape(-1, 3)


def validate_rgb(rows: NDArray[Any], whole: bool) -> NDArray[Any]:
    """Check sRGB colours and return them in [0, 1]; ``whole`` means that they were integers from 0 to 255."""
    top = 255 if whole else 1
    low, high = rows.min(), rows.max()
    if low < 0 or high > top:
        raise ValueError(
            f"X must hold sRGB colours with color_space='rgb': integers from 0 to 255 or floats from 0 to 1. Got "
            f"{'integers' if whole else 'floats'} from {low:g} to {high:g} instead."
        )
    return rows / 255 if whole else rows
