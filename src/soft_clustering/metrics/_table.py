"""One table of the validity indices; whatever chooses, ranks or lists them reads it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from . import documents, external, graph, membership, partition


@dataclass(frozen=True)
class Metric:
    """What is known of a validity index.

    Parameters
    ----------
    name : str
        Also the name of its function in ``soft_clustering.metrics``.
    title : str
    function : callable
    needs : tuple of str
        The arguments of the function, in order: ``"X"`` (features), ``"U"`` (memberships), ``"centers"``, ``"labels"``,
        ``"cover"`` (as of ``get_cover``), ``"graph"`` (adjacency), ``"counts"`` (of words in documents), ``"topics"``
        (their words) and ``"y_true"`` (the truth: labels; memberships or a cover if the index is one of memberships or
        covers).
    sense : {'max', 'min', None}
        Whether larger or smaller is better; None for those that describe, and do not measure quality:
        crispness, overlap.
    bounds : tuple of float
        Smallest and largest value.
    options : tuple of str, default=()
        Keyword arguments that are passed on if they are given: ``"m"``, which depends on the fit; ``"max_samples"`` and
        ``"random_state"`` of the indices that look at all pairs of samples; ``"metric"``.

    Examples
    --------
    >>> from soft_clustering.metrics import METRICS
    >>> METRICS["xie_beni"].sense
    'min'
    >>> METRICS["separation"](X=[[0.0], [1.0]], centers=[[0.0], [4.0]])
    4.0
    >>> METRICS["xie_beni"](X=[[0.0], [1.0]], U=[[1, 0], [0, 1]])
    nan
    """

    name: str
    title: str
    function: Callable[..., float]
    needs: tuple[str, ...]
    sense: Literal["max", "min"] | None
    bounds: tuple[float, float]
    options: tuple[str, ...] = ()

    def __call__(self, **data: Any) -> float:
        """The index from the named data that it needs; nan if some are missing or None."""
        arguments = [data.get(name) for name in self.needs]
        if any(argument is None for argument in arguments):
            return math.nan
        return self.function(*arguments, **{name: data[name] for name in self.options if name in data})


_PROTOTYPES = ("X", "U", "centers")
_INF = math.inf
_SAMPLED = ("max_samples", "random_state")

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "partition_coefficient", "Partition coefficient", membership.partition_coefficient, ("U",), None, (0, 1)
        ),
        Metric(
            "modified_partition_coefficient",
            "Modified partition coefficient",
            membership.modified_partition_coefficient,
            ("U",),
            None,
            (0, 1),
        ),
        Metric("partition_entropy", "Partition entropy", membership.partition_entropy, ("U",), None, (0, _INF)),
        Metric(
            "fuzzy_hypervolume",
            "Fuzzy hypervolume",
            membership.fuzzy_hypervolume,
            _PROTOTYPES,
            "min",
            (0, _INF),
            ("m",),
        ),
        Metric("xie_beni", "Xie-Beni", membership.xie_beni, _PROTOTYPES, "min", (0, _INF), ("m",)),
        Metric(
            "fuzzy_compactness",
            "Fuzzy compactness",
            membership.fuzzy_compactness,
            _PROTOTYPES,
            "min",
            (0, _INF),
            ("m",),
        ),
        Metric("separation", "Mean prototype separation", membership.separation, ("centers",), "max", (0, _INF)),
        Metric(
            "silhouette",
            "Silhouette",
            partition.silhouette,
            ("X", "labels"),
            "max",
            (-1, 1),
            ("metric", *_SAMPLED),
        ),
        Metric(
            "calinski_harabasz", "Calinski-Harabasz", partition.calinski_harabasz, ("X", "labels"), "max", (0, _INF)
        ),
        Metric("davies_bouldin", "Davies-Bouldin", partition.davies_bouldin, ("X", "labels"), "min", (0, _INF)),
        Metric("ari", "Adjusted Rand index", partition.ari, ("labels", "y_true"), "max", (-0.5, 1)),
        Metric("nmi", "Normalised mutual information", partition.nmi, ("labels", "y_true"), "max", (0, 1)),
        Metric(
            "fuzzy_silhouette", "Fuzzy silhouette", membership.fuzzy_silhouette, ("X", "U"), "max", (-1, 1), _SAMPLED
        ),
        Metric(
            "fukuyama_sugeno",
            "Fukuyama-Sugeno",
            membership.fukuyama_sugeno,
            _PROTOTYPES,
            "min",
            (-_INF, _INF),
            ("m",),
        ),
        Metric("kwon", "Kwon", membership.kwon, _PROTOTYPES, "min", (0, _INF), ("m",)),
        Metric("pbmf", "PBMF", membership.pbmf, _PROTOTYPES, "max", (0, _INF), ("m",)),
        Metric(
            "partition_index", "Partition index SC", membership.partition_index, _PROTOTYPES, "min", (0, _INF), ("m",)
        ),
        Metric("separation_index", "Separation index S", membership.separation_index, _PROTOTYPES, "min", (0, _INF)),
        Metric("fuzzy_rand", "Fuzzy Rand index", external.fuzzy_rand, ("U", "y_true"), "max", (0, 1), _SAMPLED),
        Metric(
            "adjusted_fuzzy_rand",
            "Adjusted fuzzy Rand index",
            external.adjusted_fuzzy_rand,
            ("U", "y_true"),
            "max",
            (-_INF, 1),
            _SAMPLED,
        ),
        Metric(
            "soft_mutual_information",
            "Soft mutual information",
            external.soft_mutual_information,
            ("U", "y_true"),
            "max",
            (0, 1),
        ),
        Metric("overlapping_nmi", "Overlapping NMI", external.overlapping_nmi, ("cover", "y_true"), "max", (0, 1)),
        Metric("omega_index", "Omega index", external.omega_index, ("cover", "y_true"), "max", (-_INF, 1), _SAMPLED),
        Metric("average_f1", "Average F1", external.average_f1, ("cover", "y_true"), "max", (0, 1)),
        Metric("modularity", "Modularity", graph.modularity, ("graph", "U"), "max", (-1, 1)),
        Metric(
            "overlapping_modularity",
            "Overlapping modularity",
            graph.overlapping_modularity,
            ("graph", "cover"),
            "max",
            (-1, 1),
        ),
        Metric("conductance", "Mean conductance", graph.conductance, ("graph", "cover"), "min", (0, 1)),
        Metric("normalized_cut", "Normalised cut", graph.normalized_cut, ("graph", "cover"), "min", (0, 2)),
        Metric("cut_ratio", "Cut ratio", graph.cut_ratio, ("graph", "cover"), "min", (0, _INF)),
        Metric("expansion", "Expansion", graph.expansion, ("graph", "cover"), "min", (0, _INF)),
        Metric("internal_density", "Internal density", graph.internal_density, ("graph", "cover"), "max", (0, _INF)),
        Metric(
            "average_internal_degree",
            "Average internal degree",
            graph.average_internal_degree,
            ("graph", "cover"),
            "max",
            (0, _INF),
        ),
        Metric(
            "triangle_participation",
            "Triangle participation",
            graph.triangle_participation,
            ("graph", "cover"),
            "max",
            (0, 1),
        ),
        Metric("average_odf", "Average out degree fraction", graph.average_odf, ("graph", "cover"), "min", (0, 1)),
        Metric("max_odf", "Largest out degree fraction", graph.max_odf, ("graph", "cover"), "min", (0, 1)),
        Metric("flake_odf", "Members with more links out than in", graph.flake_odf, ("graph", "cover"), "min", (0, 1)),
        Metric("coverage", "Links inside communities", graph.coverage, ("graph", "cover"), "max", (0, 1)),
        Metric("node_coverage", "Nodes in a community", graph.node_coverage, ("cover",), "max", (0, 1)),
        Metric("overlap_share", "Nodes in several communities", graph.overlap_share, ("cover",), None, (0, 1)),
        Metric("mean_memberships", "Communities of a node", graph.mean_memberships, ("cover",), None, (0, _INF)),
        Metric("coherence", "NPMI coherence", documents.coherence, ("counts", "topics"), "max", (-1, 1)),
    )
}
