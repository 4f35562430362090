"""Benchmarks: every model on every data set, each run in a process of its own.

The data sets and measures that a benchmark uses can be imported from here, too.
"""

from ..datasets import (
    available_datasets,
    available_groups,
    benchmark_suite,
    dataset_info,
    datasets_in_group,
    get_dataset,
)
from ..metrics import clustering_metrics, soft_clustering_metrics
from .benchmarks import (
    ClusteringBenchmark,
    ClusteringQualityBenchmark,
    MemoryBenchmark,
    RuntimeBenchmark,
    ScalabilityBenchmark,
)
from .machine import environment
from .summaries import scaling_exponents, summarize

__all__ = [
    "ClusteringBenchmark",
    "ClusteringQualityBenchmark",
    "MemoryBenchmark",
    "RuntimeBenchmark",
    "ScalabilityBenchmark",
    "available_datasets",
    "available_groups",
    "benchmark_suite",
    "clustering_metrics",
    "dataset_info",
    "datasets_in_group",
    "environment",
    "get_dataset",
    "scaling_exponents",
    "soft_clustering_metrics",
    "summarize",
]
