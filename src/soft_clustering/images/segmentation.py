"""What the estimators of images share: an image is one block, whose statistics hold the memberships of all pixels."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from .._types import Array
from ..base import ImageResults, Modality
from ..engine.alternating import AlternatingClusterer, S
from ..kernels.reference import fcm_rule


class Segmented(Protocol):
    """The statistics of an image."""

    @property
    def objective(self) -> float:
        """The optimised function at the state."""

    @property
    def memberships(self) -> Array:
        """Memberships (K, n) of the pixels."""


G = TypeVar("G", bound=Segmented)


class ImageClusterer(ImageResults, AlternatingClusterer[S, G]):
    """An alternating method for one image; a subclass writes ``_segment``."""

    modality: ClassVar[Modality] = "image"
    takes_color: ClassVar[bool] = True

    def _segment(self, image: Any, state: S) -> tuple[Any, ...]:
        """Memberships (K, n) of the pixels at a state, and what else the statistics need."""
        raise NotImplementedError

    def _memberships(self, block: Any, state: S) -> NDArray[Any]:
        return np.ascontiguousarray(self._segment(block, state)[0].T, dtype=block.X.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def memberships_at(G: Array, m: float) -> tuple[Array, Array]:
    """Memberships u of fuzzy c-means and u^m, a row per cluster as in the distances G."""
    low = G.min(axis=0)
    if not low.all():
        U, W, _ = fcm_rule(G.T, m)
        return U.T, W.T
    # If no distance is 0, this gives the same several times faster.
    q = low / G
    U = q ** (1 / (m - 1))
    s = U.sum(axis=0)
    U /= s
    q *= U
    q *= s ** (1 - m)
    return U, q


def change_of(old: Array, new: Array) -> float:
    """The largest change of a membership."""
    return max(float(np.abs(a - b).max()) for a, b in zip(old, new, strict=True))
