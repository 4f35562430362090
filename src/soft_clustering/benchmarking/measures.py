"""One table of the measures of a run: for which data they are, how they are shown, and by which models are ranked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from ..metrics import METRICS

_TABLES = ("features", "image")
_DISTANCES = ("features", "image", "distances")
_GRAPH = ("graph",)
_DOCUMENTS = ("documents",)


class Measure(NamedTuple):
    """A measure of a fitted model.

    Examples
    --------
    >>> MEASURES["ari"].title, MEASURES["ari"].sense, MEASURES["ari"].needs_truth
    ('ARI', 'max', True)
    """

    name: str  # that of the metric, and of the column of a record
    title: str  # of a column, short
    explanation: str
    modalities: tuple[str, ...] | None = None  # the kinds of data that it is for; None for all
    form: str = ".3f"  # how a value is formatted

    @property
    def sense(self) -> Literal["max", "min"] | None:
        """Whether larger or smaller is better; None for the measures of crispness."""
        return METRICS[self.name].sense if self.name in METRICS else "min"

    @property
    def needs_truth(self) -> bool:
        """Whether it compares with classes or communities that are known."""
        return self.name in METRICS and "y_true" in METRICS[self.name].needs

    def applies_to(self, modality: str) -> bool:
        """Whether it is for data of this kind."""
        return self.modalities is None or modality in self.modalities


#: The measures in the order in which they are computed: those that take the longest, as they look at all pairs, last.
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("ari", "ARI", "Adjusted Rand index of the labels and the classes: 1 is perfect, 0 is chance"),
        Measure("nmi", "NMI", "Normalised mutual information of the labels and the classes, between 0 and 1"),
        Measure(
            "overlapping_nmi",
            "ONMI",
            "Normalised mutual information of the overlapping communities found and known, between 0 and 1",
            _GRAPH,
        ),
        Measure("node_coverage", "Members", "Share of the nodes that belong to a community", _GRAPH),
        Measure("conductance", "Conductance", "Share of the links of a community that leave it, on average", _GRAPH),
        Measure("modularity", "Modularity", "Links inside communities beyond chance, by memberships", _GRAPH),
        Measure(
            "overlapping_modularity",
            "EQ",
            "Modularity of the overlapping communities: links inside them beyond chance",
            _GRAPH,
        ),
        Measure("partition_coefficient", "PC", "Partition coefficient: 1 is crisp, 1 / K equal memberships"),
        Measure(
            "modified_partition_coefficient", "MPC", "Modified partition coefficient: 1 is crisp, 0 equal memberships"
        ),
        Measure("partition_entropy", "Entropy", "Partition entropy: 0 is crisp, log K equal memberships"),
        Measure("separation", "Separation", "Mean distance between two prototypes", ("features",), ".3g"),
        Measure(
            "calinski_harabasz",
            "Calinski-Harabasz",
            "Variance between the clusters over variance within",
            _TABLES,
            ".3g",
        ),
        Measure(
            "davies_bouldin",
            "Davies-Bouldin",
            "Spread of the clusters relative to the distance of their means",
            _TABLES,
        ),
        Measure("fuzzy_compactness", "Compactness", "Scatter about the prototypes", ("features",), ".3g"),
        Measure(
            "xie_beni",
            "Xie-Beni",
            "Compactness relative to separation, comparable between memberships of the same kind",
            ("features",),
            ".3g",
        ),
        Measure("fuzzy_hypervolume", "Hypervolume", "Volume that the clusters take up", ("features",), ".3g"),
        Measure(
            "coherence", "Coherence", "Whether the words of a topic occur in the same documents, up to 1", _DOCUMENTS
        ),
        Measure("perplexity", "Perplexity", "How many words a topic model hesitates between", _DOCUMENTS, ".4g"),
        Measure("omega_index", "Omega", "Agreement of overlapping communities, pair by pair, beyond chance", _GRAPH),
        Measure(
            "silhouette",
            "Silhouette",
            "How much closer samples are to their own cluster than to the next, up to 1",
            _DISTANCES,
        ),
    )
}

#: What :mod:`soft_clustering.recommendation` needs to know of a fit; only comparisons measure it.
EVIDENCE = ("neighbor_agreement", "gain", "valley", "stability")

#: By which measure models are ranked: the first one of the modality that has values.
RANKING = {
    "features": ("ari", "silhouette"),
    "graph": ("overlapping_nmi", "ari", "overlapping_modularity"),
    "documents": ("ari", "coherence"),
    "image": ("ari", "silhouette"),
    "distances": ("ari", "silhouette"),
}

#: The measures of a table that has room for a few, by modality.
COLUMNS = {
    "features": ("ari", "nmi", "silhouette", "xie_beni"),
    "graph": ("overlapping_nmi", "omega_index", "ari", "overlapping_modularity", "conductance", "node_coverage"),
    "documents": ("ari", "nmi", "coherence", "perplexity"),
    "image": ("ari", "nmi", "silhouette", "davies_bouldin"),
    "distances": ("ari", "nmi", "silhouette"),
}


def ranking_measure(modality: str, measured: Collection[str]) -> str | None:
    """Return the measure that ranks models of this modality, of those that have values; None if there is none.

    Examples
    --------
    >>> ranking_measure("graph", {"overlapping_modularity", "conductance"})
    'overlapping_modularity'
    """
    return next((name for name in RANKING.get(modality, ("ari",)) if name in measured), None)
