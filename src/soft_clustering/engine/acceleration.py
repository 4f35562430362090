"""Anderson acceleration of a fixed-point map, with restarts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import lapack

from .._types import Array

_DEPTH = 5
_RCOND = 1e-14
# Below this much work a pass is cheaper than the mixing: acceleration starts only when the plain loop turns out long.
_CHEAP_PASS = 10_000
_PLAIN_STEPS = 12


def first_mixed(work: int) -> int:
    """The first pass to accelerate, for passes of n * K * d = ``work``."""
    return _PLAIN_STEPS if work < _CHEAP_PASS else 1


def to_vector(state: Any) -> Array:
    """A state as a vector.

    It is an array, a named tuple of arrays, or it defines by methods ``to_vector`` and ``from_vector`` of its own which
    of its numbers are mixed.
    """
    if isinstance(state, np.ndarray):
        return state.ravel()
    if hasattr(state, "to_vector"):
        vector: Array = state.to_vector()
        return vector
    return np.concatenate([np.ravel(part) for part in state])


def from_vector(vector: Array, state: Any) -> Any:
    """A state like the given one, from its vector; the inverse of ``to_vector``."""
    if isinstance(state, np.ndarray):
        return vector.reshape(state.shape)
    if hasattr(state, "from_vector"):
        return state.from_vector(vector)
    parts = np.split(vector, np.cumsum([np.size(part) for part in state])[:-1])
    return type(state)(*(part.reshape(np.shape(old)) for part, old in zip(parts, state, strict=True)))


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
        self._last: tuple[Array, Array] | None = None  # residual and image of the previous point
        self._residuals: Array  # differences of consecutive residuals, of length 1, a row each; the oldest is replaced
        self._images: Array  # those of the images, in the same units
        self._seen = 0  # differences since the last rejection
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
        if self._seen == 0:
            return image
        kept = min(self._seen, _DEPTH)
        differences = self._residuals[:kept]
        gram = differences @ differences.T
        gram.flat[:: kept + 1] += _RCOND
        _, mixing, failed = lapack.dposv(gram, differences @ residual)
        if failed:
            return image
        self._proposed = True
        proposed: Array = image - mixing @ self._images[:kept]
        return proposed

    def _remember(self, residual: Array, image: Array) -> None:
        if self._last is None:
            self._residuals, self._images = np.empty((2, _DEPTH, len(image)))
            self._seen = 0
        else:
            difference = residual - self._last[0]
            length = math.sqrt(difference @ difference)
            # Skip a zero difference: it would make the Gram matrix singular.
            if length > 0:
                at = self._seen % _DEPTH
                # They differ by orders of magnitude near convergence: of length 1 their products are comparable.
                np.divide(difference, length, out=self._residuals[at])
                np.divide(image - self._last[1], length, out=self._images[at])
                self._seen += 1
        self._last = residual, image

    def reject(self) -> None:
        """Forget the history; after the r-th rejection in a row, 2^r - 2 plain steps come first, but at most 6."""
        self._last = None
        self._seen = 0
        self._proposed = False
        self._rejections += 1
        self._pause = min(2**self._rejections - 2, 6)
