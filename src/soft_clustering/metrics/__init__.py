"""Validity of soft clusterings: 29 indices, most of them functions of the data, the memberships and the prototypes.

The table ``METRICS`` says what each needs, its bounds, and whether larger or smaller is better. In addition,
``nonspecificity`` measures the imprecision of credal partitions.
"""

from ._table import METRICS, Metric
from .documents import coherence
from .external import (
    adjusted_fuzzy_rand,
    average_f1,
    fuzzy_rand,
    omega_index,
    overlapping_nmi,
    soft_mutual_information,
)
from .graph import conductance, modularity, node_coverage, overlapping_modularity
from .membership import (
    fukuyama_sugeno,
    fuzzy_compactness,
    fuzzy_hypervolume,
    fuzzy_silhouette,
    kwon,
    modified_partition_coefficient,
    nonspecificity,
    partition_coefficient,
    partition_entropy,
    partition_index,
    pbmf,
    separation,
    separation_index,
    soft_clustering_metrics,
    xie_beni,
)
from .partition import ari, calinski_harabasz, clustering_metrics, davies_bouldin, nmi, silhouette

__all__ = [
    "METRICS",
    "Metric",
    "adjusted_fuzzy_rand",
    "ari",
    "average_f1",
    "calinski_harabasz",
    "clustering_metrics",
    "coherence",
    "conductance",
    "davies_bouldin",
    "fukuyama_sugeno",
    "fuzzy_compactness",
    "fuzzy_hypervolume",
    "fuzzy_rand",
    "fuzzy_silhouette",
    "kwon",
    "modified_partition_coefficient",
    "modularity",
    "nmi",
    "node_coverage",
    "nonspecificity",
    "omega_index",
    "overlapping_modularity",
    "overlapping_nmi",
    "partition_coefficient",
    "partition_entropy",
    "partition_index",
    "pbmf",
    "separation",
    "separation_index",
    "silhouette",
    "soft_clustering_metrics",
    "soft_mutual_information",
    "xie_beni",
]
