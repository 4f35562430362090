"""Image files: PNG, JPEG, TIFF and whatever else Pillow reads."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ..._extras import require
from ..._text import one_line
from ..._types import Array
from .content import PathLike, read_bytes

#: The types of file that hold an image.
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp")


def read_image(path: PathLike) -> Bunch:
    """Read an image as numbers in [0, 1]. It needs Pillow, which comes with matplotlib.

    Parameters
    ----------
    path : str or path
        A PNG, JPEG or TIFF file, or of another type that Pillow reads.

    Returns
    -------
    image : Bunch
        ``image`` : ndarray of shape (height, width) for a grey image, (height, width, 3) for red, green and blue;
        float64 in [0, 1].

        ``notes`` : list of str, what was recognised, converted and left out, a sentence each.

    Raises
    ------
    FileNotFoundError, ValueError, ImportError
        In one line, with what to do.

    Notes
    -----
    Levels of 8 and 16 bits are divided by 255 and 65535; other levels are scaled so that the smallest is 0 and the
    largest 1, unless they are in [0, 1]. Transparency is left out. A photograph is turned as its camera says. A colour
    image whose three channels are equal is returned as a grey one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import matplotlib.pyplot
    >>> from soft_clustering.inputs import read_image
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "red.png")
    ...     matplotlib.pyplot.imsave(path, [[[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]])
    ...     found = read_image(path)
    >>> found.image
    array([[[1., 0., 0.],
            [1., 1., 1.]]])
    >>> found.notes[0]
    'red.png is a colour image of 1 x 2 pixels.'
    """
    path = Path(path)
    content = read_bytes(path)
    pillow = require("PIL.Image", "Reading images needs Pillow")
    operations = require("PIL.ImageOps", "Reading images needs Pillow")
    notes: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            picture = pillow.open(BytesIO(content))
            n_frames = getattr(picture, "n_frames", 1)
            turned = operations.exif_transpose(picture)
            levels = _levels(turned, notes)
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as error:
        raise ValueError(f"{path} is too large an image: make it smaller first ({one_line(error)}).") from error
    except Exception as error:
        raise ValueError(f"{path} is not an image that Pillow reads ({one_line(error)}): save it as PNG.") from error
    if n_frames > 1:
        notes.append(f"{path.name} has {n_frames} images: the first one is taken.")
    if turned.size != picture.size:
        notes.append("The image was turned as its camera says.")
    image = _in_unit_interval(path, levels, notes)
    if image.ndim == 3 and (image == image[..., :1]).all():
        notes.append("The three channels are equal: it is taken as a grey image.")
        image = np.ascontiguousarray(image[..., 0])
    kind = "grey" if image.ndim == 2 else "colour"
    what = f"{path.name} is a {kind} image of {image.shape[0]} x {image.shape[1]} pixels."
    return Bunch(image=image, notes=[what, *notes])


def _levels(picture: Any, notes: list[str]) -> NDArray[Any]:
    """Return the levels of a picture, (height, width) or (height, width, 3), as the file has them."""
    transparent = "transparency" in picture.info or picture.mode in ("LA", "La", "PA", "RGBA", "RGBa")
    if picture.mode in ("1", "L", "I", "F") or picture.mode.startswith("I;16"):
        levels = np.asarray(picture)
    elif picture.mode in ("LA", "La"):
        levels = np.asarray(picture.convert("LA"))[..., 0]
    else:
        if picture.mode not in ("P", "PA", "RGB", "RGBA", "RGBa"):
            notes.append(f"The colours were converted from {picture.mode} to red, green and blue.")
        levels = np.asarray(picture.convert("RGBA" if transparent else "RGB"))[..., :3]
    if transparent:
        notes.append("The transparency of the pixels is left out.")
    return levels


def _in_unit_interval(path: Path, levels: NDArray[Any], notes: list[str]) -> Array:
    if levels.dtype == bool:
        return levels.astype(np.float64)
    if levels.dtype == np.uint8:
        return levels / 255.0
    values = levels.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{path} has pixels that are NaN or infinite: replace them first.")
    low, high = float(values.min()), float(values.max())
    if levels.dtype.kind in "iu" and low >= 0 and high <= 65535:
        notes.append("The levels have 16 bits.")
        return values / 65535.0
    if low >= 0 and high <= 1:
        return values
    notes.append(f"The levels from {low:g} to {high:g} were scaled to [0, 1].")
    scaled: Array = (values - low) / ((high - low) or 1.0)
    return scaled
