"""Test images with known regions, noise and shading."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch, check_array, check_random_state
from sklearn.utils._param_validation import Interval, validate_params


@validate_params(  # type: ignore[untyped-decorator]
    {
        "shape": [tuple, list],
        "intensities": ["array-like"],
        "noise": [Interval(Real, 0, np.inf, closed="left")],
        "bias": [Interval(Real, 0, 0.8, closed="both")],
        "impulses": [Interval(Real, 0, 1, closed="both")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_phantom(
    shape: tuple[int, int] = (128, 128),
    *,
    intensities: ArrayLike = (0.25, 0.6, 1.0),
    noise: float = 0.03,
    bias: float = 0.4,
    impulses: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw an image of curved regions of constant intensity, with noise under a smooth shading.

    Parameters
    ----------
    shape : (int, int), default=(128, 128)
        Rows and columns.
    intensities : array-like of shape (n_classes,), default=(0.25, 0.6, 1.0)
        The intensity of each class of regions.
    noise : float, default=0.03
        Standard deviation of the Gaussian noise.
    bias : float, default=0.4
        Strength of the shading, 0 to 0.8; with 0 there is none.
    impulses : float, default=0.0
        Share of pixels, drawn at random, that take the lowest or the highest intensity instead (salt and pepper).
    random_state : int, RandomState or None, default=None

    Returns
    -------
    phantom : Bunch
        ``image`` : ndarray of the given shape, float64.

        ``labels`` : ndarray of the given shape, int; the class of each pixel, an index into ``intensities``.

        ``bias`` : ndarray of the given shape, float64, positive; the shading.

    Notes
    -----
    With x to the right and y downwards, both in [-0.5, 0.5],

        image = intensities[labels] * g + noise * N(0, 1),   g = 1 + bias (1.2 x + 0.8 sin(2.5 y) + 0.6 x y).

    The classes are the level ranges of sin(7 x + 2 y) + cos(8 y - 3 x) that hold equally many pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from soft_clustering.datasets import make_phantom
    >>> phantom = make_phantom((90, 120), random_state=0)
    >>> phantom.image.shape, np.bincount(phantom.labels.ravel()).tolist()
    ((90, 120), [3600, 3600, 3600])
    """
    if len(shape) != 2 or not all(isinstance(size, (int, np.integer)) and size >= 1 for size in shape):
        raise ValueError(f"shape must be two integers >= 1. Got {shape!r} instead.")
    levels = check_array(intensities, ensure_2d=False, dtype=np.float64, input_name="intensities")
    n_pixels = int(np.prod(shape))
    if levels.ndim != 1 or len(levels) > n_pixels:
        raise ValueError(f"intensities must be 1 to {n_pixels} numbers for shape={shape}. Got {intensities!r} instead.")
    rng = check_random_state(random_state)
    y, x = np.meshgrid(*(np.linspace(-0.5, 0.5, size) for size in shape), indexing="ij")
    labels = np.empty(n_pixels, dtype=np.intp)
    order = np.argsort((np.sin(7 * x + 2 * y) + np.cos(8 * y - 3 * x)).ravel(), kind="stable")
    labels[order] = np.arange(n_pixels) * len(levels) // n_pixels
    labels = labels.reshape(shape)
    field = 1 + bias * (1.2 * x + 0.8 * np.sin(2.5 * y) + 0.6 * x * y)
    image = levels[labels] * field + noise * rng.standard_normal(shape)
    hit = rng.uniform(size=shape) < impulses
    image[hit] = rng.choice([levels.min(), levels.max()], hit.sum())
    return Bunch(image=image, labels=labels, bias=field)
