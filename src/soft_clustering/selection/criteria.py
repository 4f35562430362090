"""The criteria that choose a number of clusters, and their values for a fitted estimator."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from .._estimators import Estimator
from .._types import Array, CoverLike, DataLike, Matrix, MatrixLike
from ..base import labels_from_memberships
from ..graphs.network import row_sums
from ..inputs.features import is_dask
from ..metrics import METRICS, partition_entropy


class Criterion(NamedTuple):
    """The title of a criterion, and whether its largest or its smallest value is chosen."""

    title: str
    sense: Literal["max", "min"]


# Crispness does not measure the quality of a clustering, but these are the published rules to choose K by it.
_CRISPNESS: dict[str, Literal["max", "min"]] = {
    "partition_coefficient": "max",
    "modified_partition_coefficient": "max",
    "partition_entropy": "min",
}
# These choose no K: two are parts of other indices, the third compares partitions of the same K.
_NO_CHOICE = ("fuzzy_compactness", "separation", "partition_index")

#: These need a graph.
OF_LINKS = ("modularity", "overlapping_modularity", "coverage")

CRITERIA: dict[str, Criterion] = {
    name: Criterion(metric.title, metric.sense or _CRISPNESS[name])
    for name, metric in METRICS.items()
    if ({*metric.needs} <= {"X", "U", "centers", "labels"} and name not in _NO_CHOICE) or name in OF_LINKS
} | {
    "bic": Criterion("BIC", "min"),
    "icl": Criterion("ICL", "min"),
    "gaussian_bic": Criterion("BIC of Gaussian clusters", "min"),
    "held_out": Criterion("Gain on held-out words", "max"),
    "thinned_links": Criterion("Gain on held-out links", "max"),
    "stability": Criterion("Stability", "max"),
}

# The criteria that are computed by default, by modality. For features these are the indices that found planted numbers
# of clusters most often, and one of crispness; silhouettes found no more of them and take O(n^2) time.
_DEFAULTS = {
    "features": (
        "gaussian_bic",
        "fuzzy_hypervolume",
        "calinski_harabasz",
        "xie_beni",
        "modified_partition_coefficient",
    ),
    "graph": ("thinned_links", "overlapping_modularity", "coverage"),
    "documents": ("held_out", "modified_partition_coefficient"),
}
#: These compare all pairs of rows, which takes O(n^2) time.
OF_PAIRS = ("silhouette", "fuzzy_silhouette")
_OTHERS = ("modified_partition_coefficient", "partition_entropy")

# The recommended K is the choice of the first of these criteria that makes one. Prediction of held-out data and the BIC
# of Gaussian clusters come first, then the others by how often they find planted numbers of clusters
# (benchmarks/quality/choose_k.py), and crispness, which does not measure quality, last.
PREFERENCE = (
    "thinned_links",
    "held_out",
    "gaussian_bic",
    "stability",
    "calinski_harabasz",
    "fuzzy_hypervolume",
    "fuzzy_silhouette",
    "silhouette",
    "davies_bouldin",
    "bic",
    "icl",
    "modularity",
    "overlapping_modularity",
    "xie_beni",
    "kwon",
    "separation_index",
    "fukuyama_sugeno",
    "pbmf",
    "modified_partition_coefficient",
    "partition_entropy",
    "partition_coefficient",
    "coverage",
)
# Gains that differ by a smaller share of the largest one count as equal: clusters that a model with a prior leaves
# unused neither raise nor lower its predictions.
SAME = {"held_out": 0.01, "thinned_links": 0.001}


def choice_of(
    name: str, k_values: NDArray[np.intp], values: Array, sense: Literal["max", "min"] | None = None
) -> int | None:
    """Return the K that a criterion chooses by its values; None if no value is finite or all of them are equal.

    A measure that is not a criterion comes with its ``sense``.

    Of equal values the smallest K is chosen; by stability the largest, because few clusters are easily stable. Gains on
    held-out words count as equal if they differ by less than 1 % of the largest, on held-out links by less than 0.1 %.

    Examples
    --------
    >>> choice_of("silhouette", np.array([2, 3, 4]), np.array([0.4, 0.6, np.nan]))
    3
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0 or all_equal(values):
        return None
    best = finite.max() if (sense or CRITERIA[name].sense) == "max" else finite.min()
    equal = np.isfinite(values) & (np.abs(values - best) <= SAME.get(name, 0.0) * abs(best))
    return int(k_values[equal][-1 if name == "stability" else 0])


def all_equal(values: Array) -> bool:
    """Whether several finite values are equal up to rounding, so that they favour no K."""
    finite = values[np.isfinite(values)]
    return finite.size > 1 and bool(np.ptp(finite) <= 1e-12 * np.abs(finite).max())


def default_criteria(modality: str, has_bic: bool) -> list[str]:
    """Return the names of the default criteria for an estimator of this modality, with a method ``bic`` or without."""
    return [*_DEFAULTS.get(modality, _OTHERS), *(("bic", "icl") if has_bic else ())]


class Sample(NamedTuple):
    """Rows of a Dask collection, in memory, on which the criteria are computed."""

    X: MatrixLike
    rows: NDArray[np.intp] | None  # their numbers in the collection; None if they are all of its rows
    n_samples: int  # rows of the collection


def memberships_of(model: Estimator, X: DataLike, n_clusters: int, sample: Sample | None = None) -> Any:
    """Return the memberships of the rows that the model was fitted to, or of a sample of them.

    They are one-hot if the model only has labels, and CSR if those of the model are. Memberships that are a lazy
    Dask array are predicted for the sample: that gives the same without a pass over all rows.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> X = [[0.0], [1.0], [9.0]]
    >>> memberships_of(KMeans(2, random_state=0).fit(X), X, 2).sum(axis=1)
    array([1., 1., 1.])
    """
    rows: Any = slice(None) if sample is None or sample.rows is None else sample.rows
    memberships: Array
    if hasattr(model, "memberships_"):
        if sample is not None and is_dask(model.memberships_) and hasattr(model, "predict_memberships"):
            return np.asarray(model.predict_memberships(sample.X), dtype=np.float64)
        if sparse.issparse(model.memberships_):
            return model.memberships_.astype(np.float64)
        memberships = np.asarray(model.memberships_, dtype=np.float64)[rows]
        return memberships
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X if sample is None else sample.X), dtype=np.float64)
    if not hasattr(model, "labels_"):
        raise TypeError(
            f"estimator must have memberships_, predict_proba or labels_ after fit. {type(model).__name__} has none."
        )
    labels = np.asarray(model.labels_)
    memberships = (labels[rows, None] == np.arange(max(n_clusters, labels.max() + 1))).astype(np.float64)
    return memberships


def cover_of(model: Estimator, memberships: Matrix) -> CoverLike:
    """Return the communities of a fit: its cover, or labels if it has none."""
    cover: CoverLike = model.get_cover() if hasattr(model, "get_cover") else labels_from_memberships(memberships)
    return cover


def _centers_of(model: Estimator) -> Any:
    """Return the prototypes, by the name of this library or of scikit-learn; None if there are none."""
    names = ("centers_", "cluster_centers_", "means_")
    return next((getattr(model, name) for name in names if hasattr(model, name)), None)


def scores_of(
    model: Estimator,
    X: DataLike,
    U: Matrix,
    n_clusters: int,
    criteria: Iterable[str],
    features: bool,
    graph: sparse.csr_array | None = None,
    rows: NDArray[np.intp] | None = None,
    sample: Sample | None = None,
) -> dict[str, float]:
    """Return the criteria that need only this fit, nan where one does not apply.

    Parameters
    ----------
    model : fitted estimator
    X : what it was fitted to
    U : ndarray of shape (n_rows, n_clusters)
        The memberships of X, or of the sample.
    n_clusters : int
    criteria : iterable of str
    features : bool
        Whether X is a table of features, which most indices need.
    graph : CSR matrix, default=None
        The links, if X is a graph.
    rows : array of int, default=None
        The rows on which criteria that compare all pairs are computed; None stands for all of them.
    sample : Sample, default=None
        The rows on which all criteria but ``bic`` are computed, if X is a Dask collection.
    """
    known, n_samples = (X, U.shape[0]) if sample is None else (sample.X, sample.n_samples)
    data: dict[str, Any] = {
        "X": known if features else None,
        "U": U,
        "labels": labels_from_memberships(U),
        "centers": _centers_of(model),
        "graph": graph,
        "cover": None if graph is None else cover_of(model, U),
        "m": getattr(model, "m_", getattr(model, "m", 2.0)),
    }
    sampled = data
    if rows is not None:
        sampled = data | {"X": _safe_indexing(known, rows) if features else None}
        sampled |= {name: data[name][rows] for name in ("U", "labels")}
    is_partition = bool(np.abs(row_sums(U) - 1).max() < 1e-5)

    @cache  # a pass over all rows, for two criteria
    def bic() -> float:
        return float(model.bic(X)) if hasattr(model, "bic") else math.nan

    def score(name: str) -> float:
        if name in ("bic", "icl"):
            if name == "icl" and not is_partition:
                return math.nan
            return bic() + (2 * n_samples * partition_entropy(U) if name == "icl" else 0)
        if name in _CRISPNESS and not (is_partition and n_clusters > 1):
            return math.nan
        return METRICS[name](**sampled if name in OF_PAIRS else data)

    return {name: score(name) for name in criteria}
