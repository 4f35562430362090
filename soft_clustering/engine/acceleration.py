"""Anderson acceleration of a fixed-point map, with restarts."""

from __future__ import annotations

import numpy as np

from .blocks import Array

_DEPTH = 5
_RCOND = 1e-10  # relative size below which a direction of the history counts as linearly dependent


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
        self._points: list[tuple[Array, Array]] = []  # (residual, image)
        self._pause = 0
        self._rejections = 0
        self._proposed = False

    def propose(self, x: Array, image: Array) -> Array:
        """The next point: the image, corrected by the least-squares combination of the last differences."""
        if self._proposed:  # and not rejected since
            self._rejections = 0
        self._proposed = False
        self._points.append((image - x, image))
        del self._points[: -_DEPTH - 1]
        if self._pause > 0:
            self._pause -= 1
            return image
        if len(self._points) < 2:
            return image
        residuals = np.stack([residual for residual, _ in self._points])
        images = np.stack([point for _, point in self._points])
        differences = np.diff(residuals, axis=0)
        # The columns differ by orders of magnitude near convergence: solve with unit lengths.
        length = np.sqrt(np.einsum("ij,ij->i", differences, differences))
        keep = length > 0
        if not keep.any():
            return image
        unit = differences[keep] / length[keep, None]
        gram = unit @ unit.T
        gram.flat[:: len(gram) + 1] += _RCOND
        mixing = np.linalg.solve(gram, unit @ residuals[-1]) / length[keep]
        proposed: Array = image - mixing @ np.diff(images, axis=0)[keep]
        self._proposed = True
        return proposed

    def reject(self) -> None:
        """Forget the history; after the r-th rejection in a row, 2^r - 2 plain steps come first."""
        self._points.clear()
        self._proposed = False
        self._rejections += 1
        self._pause = 2 ** min(self._rejections, 6) - 2
