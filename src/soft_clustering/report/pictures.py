"""Segmented images as small pictures inside the page: PNG files as text."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import require
from ..plotting.palette import PALETTE, from_hex, mixed_colors

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
        The number of each cluster's colour in the palette.
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
    own = from_hex(PALETTE)[np.asarray(colors) % len(PALETTE)]
    mixed = mixed_colors(np.asarray(part.reshape(-1, part.shape[2]), dtype=np.float64), own)
    on_white = 1 - mixed[:, 3:] * (1 - mixed[:, :3])
    pixels = np.rint(on_white * 255).astype(np.uint8).reshape(*part.shape[:2], 3)
    return _uri(image.fromarray(pixels).quantize(_N_COLORS))


def image_details(image: NDArray[Any]) -> dict[str, Any]:
    """Return what a report shows of an image: its size, and a picture of it as a data URI, at most 320 pixels wide.

    Parameters
    ----------
    image : ndarray of shape (height, width) or (height, width, 3)
        Grey levels or colours in [0, 1].

    Examples
    --------
    >>> details = image_details(np.zeros((2, 3)))
    >>> details["height"], details["width"], details["picture"][:22]
    (2, 3, 'data:image/png;base64,')
    """
    pillow = require("PIL.Image", "A report of an image needs Pillow")
    height, width = image.shape[:2]
    step = -(-width // _WIDTH)
    levels = np.rint(image[::step, ::step].clip(0, 1) * 255).astype(np.uint8)
    return {"height": int(height), "width": int(width), "picture": _uri(pillow.fromarray(levels))}


def _uri(picture: Any) -> str:
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
