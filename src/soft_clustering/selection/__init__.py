"""Choosing the number of clusters."""

from .criteria import CRITERIA, Criterion
from .n_clusters import choose_n_clusters
from .result import NClustersResult

__all__ = ["CRITERIA", "Criterion", "NClustersResult", "choose_n_clusters"]
