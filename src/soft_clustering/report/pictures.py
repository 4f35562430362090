"""Segmented images as small pictures inside the page: PNG files as text."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._extras import require
from ..plotting.palette import PALETTE, UNASSIGNED, from_hex, mixed_colors

#: The largest width of a picture in pixels.
_WIDTH = 320
#: The number of colours of a picture. With all mixtures of colours it would be four times as large.
_N_COLORS = 64


def segmentation_picture(memberships: NDArray[Any], colors: list[int], height: int, width: int) -> str:
    """Return the picture of a segmentation as a data URI, at most 320 pixels wide.

    Parameters
    ----------
    memberships : array-like of shape (height * width, n_clusters)
        A row per pixel, row by row.
    colors : list of int
        The number of each cluster's colour in the palette; -1 is the grey of noise.
    height, width : int
        The size of the image. Of a wider image every second (third, ...) pixel is shown, in both directions.

    Returns
    -------
    uri : str
        The colour of a pixel is the mixture of its clusters, on white.

    Examples
    --------
    >>> segmentation_picture(np.eye(2)[[0, 1, 1, 0]], [0, 1], 2, 2)[:22]
    'data:image/png;base64,'
    """
    image = require("PIL.Image", "A report of an image needs Pillow")
    step = -(-width // _WIDTH)
    part = memberships.reshape(height, width, -1)[::step, ::step]
    numbers = np.asarray(colors)
    own = np.where(numbers[:, None] < 0, from_hex((UNASSIGNED,)), from_hex(PALETTE)[numbers % len(PALETTE)])
    mixed = mixed_colors(np.asarray(part.reshape(-1, part.shape[2]), dtype=np.float64), own)
    on_white = 1 - mixed[:, 3:] * (1 - mixed[:, :3])
    pixels = np.rint(on_white * 255).astype(np.uint8).reshape(*part.shape[:2], 3)
    return _data_uri(image.fromarray(pixels).quantize(_N_COLORS))


def picture_of(pixels: ArrayLike) -> dict[str, Any]:
    """Return an image as the report takes it: its height and width, and a picture of it, at most 320 pixels wide.

    Parameters
    ----------
    pixels : array-like of shape (height, width) or (height, width, 3)
        Grey levels or colours from 0 to 1.

    Examples
    --------
    >>> found = picture_of(np.zeros((2, 3)))
    >>> found["height"], found["width"], found["picture"][:22]
    (2, 3, 'data:image/png;base64,')
    """
    image = require("PIL.Image", "A report of an image needs Pillow")
    levels = np.rint(np.clip(np.asarray(pixels, dtype=np.float64), 0, 1) * 255).astype(np.uint8)
    height, width = levels.shape[:2]
    step = -(-width // _WIDTH)
    return {"height": height, "width": width, "picture": _data_uri(image.fromarray(levels[::step, ::step]))}


def _data_uri(image: Any) -> str:
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
