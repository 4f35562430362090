"""What the methods share that start from a fuzzy c-means solution: PCM, PFCM, GK, GathGeva."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array
from ..engine.alternating import AlternatingClusterer, Starts
from ..engine.blocks import Blocks
from ..engine.initialisation import starting_centers
from .fcm import FCM


class StagedClusterer(AlternatingClusterer):
    """An alternating method whose first stage is fuzzy c-means: ``n_init`` starts there, one run of the method."""

    def _n_starts(self) -> int:
        return 1

    def _first_stage(self, blocks: Blocks, rng: np.random.RandomState, m: Any = "auto") -> tuple[Array, float]:
        """Centres (K, d) of fuzzy c-means, or the given ones of ``init``, and the fuzzifier used."""
        fcm = FCM(self.n_clusters, m=m, n_init=self.n_init, max_iter=self.max_iter, tol=self.tol)
        fcm._resolve(blocks)
        if isinstance(self.init, str):
            return Starts(fcm, blocks, rng).run().state, fcm.m_
        return starting_centers(blocks, self.init, self.n_clusters, rng), fcm.m_
