"""Anderson acceleration of a fixed-point map, with restarts."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from .blocks import Array

_DEPTH = 5
_RCOND = 1e-14


class Anderson:
    """Extrapolate the iteration x -> g(x) from its last residuals.

    ``propose(x, g)`` gives the next point to visit; ``reject()`` forgets the history after a point that made the
    objective worse, and lets a growing number of plain steps pass before the next proposal.

    References
    ----------
    D. G. Anderson (1965). Iterative procedures for nonlinear integral equations. J. ACM 12(4), 547-560.

    Examples
    --------
    The fixed point of cos, which plain iteration reaches in about 90 steps:

    >>> mixer, x = Anderson(), np.array([1.0])
    >>> for _ in range(8):
    ...     x = mixer.propose(x, np.cos(x))
    >>> bool(abs(np.cos(x) - x) < 1e-12)
    True
    """

    def __init__(self) -> None:
        self._last: tuple[Array, Array] | None = None  # residual and image of the point before
        self._residuals: Array  # their last differences, a row each
        self._images: Array
        self._kept = 0
        self._pause = 0
        self._rejections = 0
        self._proposed = False

    def propose(self, x: Array, image: Array) -> Array:
        """The next point: the image, corrected by the least-squares combination of the last differences."""
        if self._proposed:  # and not rejected since
            self._rejections = 0
        self._proposed = False
        residual = image - x
        self._remember(residual, image)
        if self._pause > 0:
            self._pause -= 1
            return image
        if self._kept == 0:
            return image
        differences = self._residuals[: self._kept]
        gram = differences @ differences.T
        # The rows differ by orders of magnitude near convergence: solve with unit lengths.
        length = np.sqrt(gram.diagonal())
        gram /= length
        gram /= length[:, None]
        gram.flat[:: self._kept + 1] += _RCOND
        _, mixing, failed = lapack.dposv(gram, differences @ residual / length)
        if failed:
            return image
        self._proposed = True
        proposed: Array = image - (mixing / length) @ self._images[: self._kept]
        return proposed

    def _remember(self, residual: Array, image: Array) -> None:
        if self._last is None:
            self._residuals, self._images = np.empty((2, _DEPTH, len(image)))
            self._kept = 0
        else:
            difference = residual - self._last[0]
            # A difference of nothing says nothing.
            if difference @ difference > 0:
                if self._kept == _DEPTH:
                    self._residuals[:-1], self._images[:-1] = self._residuals[1:], self._images[1:]
                    self._kept -= 1
                self._residuals[self._kept], self._images[self._kept] = difference, image - self._last[1]
                self._kept += 1
        self._last = residual, image

    def reject(self) -> None:
        """Forget the history; after the r-th rejection in a row, 2^r - 2 plain steps come first, but at most 6."""
        self._last = None
        self._kept = 0
        self._proposed = False
        self._rejections += 1
        self._pause = min(2**self._rejections - 2, 6)
