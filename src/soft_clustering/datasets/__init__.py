"""Data: the 20 benchmark sets behind one loader, example graphs, and generators with a planted truth."""

from .collection import (
    available_datasets,
    available_groups,
    benchmark_suite,
    dataset_info,
    datasets_in_group,
    get_dataset,
)
from .community_graphs import load_graph, make_lfr_graph, make_overlapping_graph
from .phantoms import make_phantom
from .topic_corpora import make_topic_corpus

__all__ = [
    "available_datasets",
    "available_groups",
    "benchmark_suite",
    "dataset_info",
    "datasets_in_group",
    "get_dataset",
    "load_graph",
    "make_lfr_graph",
    "make_overlapping_graph",
    "make_phantom",
    "make_topic_corpus",
]
