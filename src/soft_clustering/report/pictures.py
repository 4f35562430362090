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
    file = io.BytesIO()
    image.fromarray(pixels).quantize(_N_COLORS).save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
