"""What the methods share that start from a fuzzy c-means solution: PCM, PFCM, GK, GathGeva."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array
from ..engine.alternating import AlternatingClusterer, S, T
from ..engine.blocks import Blocks
from ..engine.initialisation import starting_centers
from .solver import solve_fcm


class StagedClusterer(AlternatingClusterer[S, T]):
    """An alternating method whose first stage is fuzzy c-means: ``n_init`` starts there, one run of the method."""

    def _first_stage(self, blocks: Blocks, rng: np.random.RandomState, m: float, **noise: Any) -> Array:
        """Centres (K, d) of fuzzy c-means with fuzzifier m, perhaps beside noise, or the given ones of ``init``."""
        K = self.n_clusters
        if not isinstance(self.init, str):
            return starting_centers(blocks, self.init, K, rng)
        return solve_fcm(blocks, K, m, rng, n_init=self.n_init, max_iter=self.max_iter, tol=self.tol, **noise)
